/* store/postgres/connection.c - connecting, waiting for the database, and what its errors mean.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * libpq's own calls block for as long as the server is silent, which may be for ever: a server whose
 * processes are stopped still has its connections open.  So every connection is non-blocking, and
 * everything that waits for an answer waits here.
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ------------------------------------------------------------------------------ */

/* The beginning of an SQLSTATE and what it means for us; the first that fits. */
static const struct {
    const char *state;
    cairn_code code;
} states[] = {
    {"08", CAIRN_E_UNREACHABLE},      /* connection exception; also a pooler's own errors */
    {"57014", CAIRN_E_BUSY},          /* query_canceled: a statement_timeout of the server's */
    {"57P", CAIRN_E_UNREACHABLE},     /* shut down, crashed, starting up, dropped */
    {"25P03", CAIRN_E_UNREACHABLE},   /* idle_in_transaction_session_timeout: it hung up */
    {"53300", CAIRN_E_UNREACHABLE},   /* too_many_connections */
    {"53100", CAIRN_E_STORE_FULL},    /* disk_full */
    {"53200", CAIRN_E_OUT_OF_MEMORY}, /* out_of_memory */
    {"55P03", CAIRN_E_BUSY},          /* lock_not_available */
    {"40", CAIRN_E_BUSY},             /* serialization failure, deadlock */
    {"25006", CAIRN_E_READ_ONLY},     /* read_only_sql_transaction: a standby */
};

static cairn_code code_of(const char *state)
{
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strncmp(state, states[i].state, strlen(states[i].state)) == 0)
            return states[i].code;
    return CAIRN_E_STORE;
}

static const struct {
    cairn_code code;
    const char *text;
} reasons[] = {
    {CAIRN_E_UNREACHABLE, "the database could not be reached"},
    {CAIRN_E_BUSY, "another transaction holds a lock"},
    {CAIRN_E_STORE_FULL, "the database's disk is full"},
    {CAIRN_E_OUT_OF_MEMORY, "the database has run out of memory"},
    {CAIRN_E_READ_ONLY, "the database is read-only"},
};

static const char *reason_of(cairn_code code, const char *state)
{
    if (state && strcmp(state, "57014") == 0)
        return "the database did not answer in time";
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].code == code)
            return reasons[i].text;
    return "the database rejected it";
}

/* The first line: libpq adds hints and context of its own below. */
static int line_length(const char *text)
{
    return (int)strcspn(text, "\n");
}

cairn_code postgres_refused(PGconn *conn, const PGresult *result, const char *doing,
                            cairn_error *reterr)
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *words = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *more = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL) : NULL;
    bool is_lost = PQstatus(conn) != CONNECTION_OK;

    /* Without a state it is libpq that speaks: the line is broken, though PQstatus() may not say
     * so yet when a write has failed. */
    cairn_code code = state ? code_of(state) : CAIRN_E_UNREACHABLE;
    if (is_lost && code == CAIRN_E_STORE)
        code = CAIRN_E_UNREACHABLE;

    fail(reterr, code, "could not %s: %s", doing, reason_of(code, state));
    if (!words)
        words = PQerrorMessage(conn);
    if (state)
        return fail_detail(reterr, code, "%.*s%s%s (SQLSTATE %s)", line_length(words), words,
                           more ? ": " : "", more ? more : "", state);
    return fail_detail(reterr, code, "%.*s", line_length(words), words);
}

/* ---- waiting ----------------------------------------------------------------------------- */

/* An engine that closes lets a commit under way end, if that is quick. */
#define CLOSING_US US_PER_SEC

/* Once the engine closes, little time is left. */
static void note_closing(struct postgres_patience *patience)
{
    int64_t end_us = monotonic_us() + CLOSING_US;
    patience->stop_fd = 0;
    if (end_us < patience->until_us)
        patience->until_us = end_us;
}

bool postgres_await(PGconn *conn, short events, struct postgres_patience *patience)
{
    for (;;) {
        struct pollfd fds[] = {
            {.fd = PQsocket(conn), .events = events},
            {.fd = patience->stop_fd ? patience->stop_fd : -1, .events = POLLIN}};
        int64_t left_us = patience->until_us - monotonic_us();
        if (left_us <= 0)
            return poll(fds, 1, 0) > 0;
        int64_t left_ms = (left_us + US_PER_MS - 1) / US_PER_MS;
        int ready = poll(fds, 2, left_ms > INT32_MAX ? INT32_MAX : (int)left_ms);
        if (ready > 0 && fds[0].revents)
            return true;
        if (ready > 0 && fds[1].revents)
            note_closing(patience);
    }
}

/* A broken connection counts as an answer: PQgetResult() then tells what has happened. */
bool postgres_has_answer(PGconn *conn, struct postgres_patience *patience)
{
    for (;;) {
        int unsent = PQflush(conn);
        if (unsent < 0 || !PQisBusy(conn))
            return true;
        short events = unsent ? POLLIN | POLLOUT : POLLIN;
        if (!postgres_await(conn, events, patience))
            return false;
        if (!PQconsumeInput(conn))
            return true;
    }
}

cairn_code postgres_silent(const char *doing, cairn_error *reterr)
{
    fail(reterr, CAIRN_E_UNREACHABLE, "could not %s: the database did not answer in time",
         doing);
    return fail_detail(reterr, CAIRN_E_UNREACHABLE,
                       "the connection was given up; the server may be stopped or overloaded");
}

cairn_code postgres_exec(PGconn *conn, const char *sql, const char *doing,
                         struct postgres_patience *patience, PGresult **ret_result,
                         cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *latest = NULL;
    if (!PQsendQuery(conn, sql))
        return postgres_refused(conn, NULL, doing, reterr);
    for (;;) {
        if (!postgres_has_answer(conn, patience))
            return postgres_silent(doing, reterr);
        PGresult *result = PQgetResult(conn);
        if (!result)
            break;
        postgres_result_done(&latest);
        latest = result;
        if (PQstatus(conn) != CONNECTION_OK)
            break;
    }
    ExecStatusType status = PQresultStatus(latest);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        return postgres_refused(conn, latest, doing, reterr);
    if (ret_result) {
        *ret_result = latest;
        latest = NULL;
    }
    return CAIRN_OK;
}

/* ---- connecting -------------------------------------------------------------------------- */

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
                     "characters percent-encoded and only options that libpq has");
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
        return fail_hint(reterr, postgres_refused(conn, NULL, doing, reterr),
                         "check the URL; the database must exist and accept its user");

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
