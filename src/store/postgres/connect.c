/* store/postgres/connect.c - from a URL to a connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Of one attempt to connect, unless the URL says otherwise. */
enum { CONNECT_SECONDS = 5 };

void postgres_conn_done(PGconn **conn)
{
    PQfinish(*conn);
    *conn = NULL;
}

void postgres_result_done(PGresult **result)
{
    PQclear(*result);
    *result = NULL;
}

/* libpq would print notices to stderr. */
static void ignore_notice(void *arg, const PGresult *result)
{
    (void)arg, (void)result;
}

cairn_code postgres_check_url(const char *url, cairn_error *reterr)
{
    char *reason = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &reason);
    if (options) {
        PQconninfoFree(options);
        return CAIRN_OK;
    }
    fail(reterr, CAIRN_E_BAD_INPUT, "cannot read the PostgreSQL URL");
    /* libpq quotes what it could not read, which may be a password. */
    if (reason && !strchr(url, '@') && !strstr(url, "password"))
        fail_detail(reterr, CAIRN_E_BAD_INPUT, "%s", reason);
    PQfreemem(reason);
    return fail_hint(reterr, CAIRN_E_BAD_INPUT,
                     "write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special "
                     "characters percent-encoded");
}

/* What the URL says of connecting. */
struct url_facts {
    int64_t timeout_s;   /* of one attempt: of the URL or the environment, else ours */
    bool has_many_hosts; /* libpq tries the next one by itself only when it does the waiting */
};

static struct url_facts read_url(const char *url)
{
    const char *timeout = getenv("PGCONNECT_TIMEOUT");
    struct url_facts facts = {.timeout_s = timeout ? strtol(timeout, NULL, 10) : 0};
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    for (PQconninfoOption *it = options; it && it->keyword; it++) {
        if (it->val && strcmp(it->keyword, "connect_timeout") == 0)
            facts.timeout_s = strtol(it->val, NULL, 10);
        if (it->val && strncmp(it->keyword, "host", 4) == 0) /* or hostaddr */
            facts.has_many_hosts |= strchr(it->val, ',') != NULL;
    }
    PQconninfoFree(options);
    if (facts.timeout_s <= 0)
        facts.timeout_s = CONNECT_SECONDS;
    return facts;
}

/* False: the time is over. */
static bool connect_within(PGconn *conn, struct postgres_patience *patience)
{
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    while (PQstatus(conn) != CONNECTION_BAD && status != PGRES_POLLING_OK) {
        if (!postgres_await(conn, status == PGRES_POLLING_READING ? POLLIN : POLLOUT, patience))
            return false;
        status = PQconnectPoll(conn);
    }
    return true;
}

cairn_code postgres_connect(const char *url, struct postgres_patience *patience,
                            PGconn **ret_conn, cairn_error *reterr)
{
    static const char doing[] = "connect to PostgreSQL";
    /* What stands before dbname is our default, and the URL overrides it; what stands behind it
     * is what we rely on.  A server that vanishes is noticed within about half a minute. */
    static const char *const keywords[] = {"fallback_application_name",
                                           "connect_timeout",
                                           "keepalives_idle",
                                           "keepalives_interval",
                                           "keepalives_count",
                                           "tcp_user_timeout",
                                           "dbname",
                                           "client_encoding",
                                           NULL};
    const char *timeout = getenv("PGCONNECT_TIMEOUT") ? NULL : "5";
    const char *const values[] = {"cairn", timeout, "15", "5", "3", "30000", url, "UTF8", NULL};
    struct url_facts facts = read_url(url);
    bool is_plain = !facts.has_many_hosts;
    cleanup(postgres_conn_done) PGconn *conn = is_plain
                                                   ? PQconnectStartParams(keywords, values, 1)
                                                   : PQconnectdbParams(keywords, values, 1);
    if (!conn)
        return fail_memory(reterr);

    struct postgres_patience attempt = *patience;
    int64_t end_us = monotonic_us() + facts.timeout_s * US_PER_SEC;
    if (end_us < attempt.until_us)
        attempt.until_us = end_us;
    if (is_plain && !connect_within(conn, &attempt))
        return postgres_silent(doing, reterr);
    if (PQstatus(conn) != CONNECTION_OK || PQsetnonblocking(conn, 1))
        return postgres_refused(conn, NULL, doing, reterr);

    PQsetNoticeReceiver(conn, ignore_notice, NULL);
    *ret_conn = conn;
    conn = NULL;
    return CAIRN_OK;
}

cairn_code postgres_ask_pooled(PGconn *conn, struct postgres_patience *patience,
                               bool *ret_is_pooled, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    cairn_code code = postgres_exec(conn, "SELECT pg_backend_pid()", "connect to PostgreSQL",
                                    patience, &result, reterr);
    if (!code)
        *ret_is_pooled = atoi(PQgetvalue(result, 0, 0)) != PQbackendPID(conn);
    return code;
}
