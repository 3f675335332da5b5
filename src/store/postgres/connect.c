/* store/postgres/connect.c - from a URL to a connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <stdlib.h>
#include <string.h>

struct postgres_target postgres_target(const char *url)
{
    /* What stands before dbname is our default, and the URL overrides it; what stands behind it
     * is what we rely on.  A server that vanishes is noticed within about half a minute. */
    struct postgres_target target = {
        .keywords = {"fallback_application_name", "connect_timeout", "keepalives_idle",
                     "keepalives_interval", "keepalives_count", "tcp_user_timeout", "dbname",
                     "client_encoding"},
        .values = {"cairn", getenv("PGCONNECT_TIMEOUT") ? NULL : "5", "15", "5", "3", "30000",
                   url, "UTF8"},
    };
    return target;
}

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

static void ignore_notice(void *arg, const PGresult *result)
{
    (void)arg, (void)result;
}

void postgres_silence(PGconn *conn)
{
    PQsetNoticeReceiver(conn, ignore_notice, NULL);
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

cairn_code postgres_connect(const char *url, PGconn **ret_conn, cairn_error *reterr)
{
    struct postgres_target target = postgres_target(url);
    cleanup(postgres_conn_done) PGconn *conn =
        PQconnectdbParams(target.keywords, target.values, 1);
    if (!conn)
        return fail_memory(reterr);
    if (PQstatus(conn) != CONNECTION_OK)
        return postgres_refused(conn, NULL, "connect to PostgreSQL", reterr);

    postgres_silence(conn);
    *ret_conn = conn;
    conn = NULL;
    return CAIRN_OK;
}

cairn_code postgres_ask_pooled(PGconn *conn, bool *ret_is_pooled, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = PQexec(conn, "SELECT pg_backend_pid()");
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        return postgres_refused(conn, result, "connect to PostgreSQL", reterr);
    *ret_is_pooled = atoi(PQgetvalue(result, 0, 0)) != PQbackendPID(conn);
    return CAIRN_OK;
}
