/* store/postgres/await.c - waiting for the database, but never without an end.
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
