/* store/postgres/failure.c - errors of the database, sorted into codes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "store/postgres/postgres.h"

#include <string.h>

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

static const char *reason_of(cairn_code code)
{
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

    fail(reterr, code, "could not %s: %s", doing, reason_of(code));
    if (!words)
        words = PQerrorMessage(conn);
    if (state)
        return fail_detail(reterr, code, "%.*s%s%s (SQLSTATE %s)", line_length(words), words,
                           more ? ": " : "", more ? more : "", state);
    return fail_detail(reterr, code, "%.*s", line_length(words), words);
}
