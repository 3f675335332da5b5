/* store/postgres/query.c - statements: prepared once for each connection, sent in a pipeline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"
#include "store/postgres/postgres_sql.h"

#include <assert.h>
#include <string.h>

void postgres_forget_sent(struct postgres_session *session)
{
    for (int i = 0; i < POSTGRES_SENT_MAX; i++) {
        postgres_result_done(&session->sent[i].result);
        session->sent[i] = (struct sent_query){0};
    }
    for (int i = 0; i < session->queue_len; i++)
        session->queue[i].sent = NULL;
}

void postgres_lose(struct postgres_session *session)
{
    postgres_forget_sent(session);
    postgres_conn_done(&session->conn);
    memset(session->is_prepared, 0, sizeof session->is_prepared);
    session->queue_len = 0;
    session->is_leaving = false;
}

/* A connection that failed us in `query`; what it said stands in libpq's own message. */
static cairn_code lost(struct postgres_session *session, enum postgres_query query,
                       cairn_error *reterr)
{
    cairn_code code = postgres_refused(session->conn, NULL, sql_queries[query].doing, reterr);
    postgres_lose(session);
    return code;
}

static void add_to_queue(struct postgres_session *session, enum postgres_query query,
                         bool is_prepare)
{
    assert(session->queue_len < POSTGRES_QUEUE_MAX);
    session->queue[session->queue_len++] =
        (struct queued_query){.query = query, .is_prepare = is_prepare};
}

static cairn_code send_prepare(struct postgres_session *session, enum postgres_query query,
                               cairn_error *reterr)
{
    if (session->is_prepared[query])
        return CAIRN_OK;
    if (!PQsendPrepare(session->conn, sql_queries[query].name, sql_queries[query].sql, 0, NULL))
        return lost(session, query, reterr);
    session->is_prepared[query] = true;
    add_to_queue(session, query, true);
    return CAIRN_OK;
}

static bool send_query(struct postgres_session *session, enum postgres_query query,
                       const struct postgres_params *params)
{
    static const struct postgres_params none;
    const struct postgres_params *given = params ? params : &none;
    if (atomic_load(&postgres_store_of(&session->base)->is_pooled))
        return PQsendQueryParams(session->conn, sql_queries[query].sql, given->count, NULL,
                                 given->values, given->lengths, given->formats, 1);
    return PQsendQueryPrepared(session->conn, sql_queries[query].name, given->count,
                               given->values, given->lengths, given->formats, 1);
}

/* The server lives: whatever it does next may take as long again, unless the engine closes. */
static void be_patient_again(struct postgres_session *session)
{
    int64_t until_us = monotonic_us() + session->silence_us;
    bool is_closing = session->base.store->stop_fd && !session->patience.stop_fd;
    if (!is_closing && until_us > session->patience.until_us)
        session->patience.until_us = until_us;
}

/* The result of one statement, the latest that it gave; *ret_is_silent: the time is over. */
static PGresult *take_result(struct postgres_session *session, bool *ret_is_silent)
{
    PGresult *latest = NULL;
    *ret_is_silent = false;
    for (;;) {
        if (!postgres_has_answer(session->conn, &session->patience)) {
            *ret_is_silent = true;
            PQclear(latest);
            return NULL;
        }
        PGresult *result = PQgetResult(session->conn);
        if (!result)
            return latest;
        be_patient_again(session);
        PQclear(latest);
        latest = result;
        if (PQstatus(session->conn) != CONNECTION_OK)
            return latest;
    }
}

static bool is_good(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

/* Reads the result of the statement at this place in the queue; NULL: it failed.  The first failure
 * counts: what came after it in the pipeline was skipped by the server. */
static PGresult *read_result(struct postgres_session *session, int place, cairn_code *code,
                             cairn_error *reterr)
{
    struct queued_query sent = session->queue[place];
    const char *doing = sql_queries[sent.query].doing;
    bool is_silent;
    PGresult *result = take_result(session, &is_silent);
    if (is_good(result)) {
        if (sent.query == PG_BEGIN_SETTINGS && !sent.is_prepare)
            postgres_begun(session, result);
        return result;
    }
    if (sent.is_prepare)
        session->is_prepared[sent.query] = false;
    if (!*code)
        *code = is_silent ? postgres_silent(doing, reterr)
                          : postgres_refused(session->conn, result, doing, reterr);
    PQclear(result);
    return NULL;
}

/* Reads the results of everything sent, whose end is sent too; those that
 * postgres_take() gets are kept. */
static cairn_code read_all(struct postgres_session *session, PGresult **ret_result,
                           cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *last = NULL;
    cairn_code code = CAIRN_OK;
    for (int i = 0; i < session->queue_len; i++) {
        PQclear(last);
        last = read_result(session, i, &code, reterr);
        if (session->queue[i].sent) {
            session->queue[i].sent->result = last;
            session->queue[i].sent->is_read = true;
            last = NULL;
        }
        if (code == CAIRN_E_UNREACHABLE || PQstatus(session->conn) != CONNECTION_OK)
            break;
    }
    bool is_silent = false;
    if (code != CAIRN_E_UNREACHABLE && PQstatus(session->conn) == CONNECTION_OK)
        PQclear(take_result(session, &is_silent)); /* the end of the pipeline */
    session->heard_us = monotonic_us();
    if (is_silent)
        code = postgres_silent("end a statement", reterr);
    session->queue_len = 0;
    if (code == CAIRN_E_UNREACHABLE || PQstatus(session->conn) != CONNECTION_OK) {
        postgres_lose(session);
        return code ? code : CAIRN_E_UNREACHABLE;
    }
    if (!code && ret_result) {
        *ret_result = last;
        last = NULL;
    }
    return code;
}

static cairn_code settle(struct postgres_session *session, PGresult **ret_result,
                         cairn_error *reterr)
{
    if (!PQpipelineSync(session->conn))
        return lost(session, session->queue[0].query, reterr);
    session->base.round_trips++;
    return read_all(session, ret_result, reterr);
}

cairn_code postgres_settle(struct postgres_session *session, cairn_error *reterr)
{
    if (session->conn)
        return settle(session, NULL, reterr);
    return fail(reterr, CAIRN_E_UNREACHABLE, "the connection was lost");
}

void postgres_leave(struct postgres_session *session)
{
    cairn_error ignored;
    if (postgres_queue(session, PG_ROLLBACK, NULL, &ignored))
        return; /* lost, which is as good */
    if (!PQpipelineSync(session->conn) || PQflush(session->conn) < 0)
        postgres_lose(session);
    else
        session->is_leaving = true;
}

void postgres_left(struct postgres_session *session)
{
    cairn_error ignored;
    if (!session->is_leaving)
        return;
    session->is_leaving = false;
    cairn_code code = read_all(session, NULL, &ignored);
    if (session->conn && (code || PQtransactionStatus(session->conn) != PQTRANS_IDLE))
        postgres_lose(session);
}

cairn_code postgres_queue(struct postgres_session *session, enum postgres_query query,
                          const struct postgres_params *params, cairn_error *reterr)
{
    if (!session->conn)
        return fail(reterr, CAIRN_E_UNREACHABLE, "could not %s: the connection was lost",
                    sql_queries[query].doing);
    if (params && params->failed)
        return fail_memory(reterr);
    if (params && params->is_absent)
        return CAIRN_OK;
    TRY(postgres_send_announced(session, reterr));
    if (session->queue_len > POSTGRES_QUEUE_MAX - 4)
        TRY(settle(session, NULL, reterr));
    if (!atomic_load(&postgres_store_of(&session->base)->is_pooled))
        TRY(send_prepare(session, query, reterr));
    if (!send_query(session, query, params))
        return lost(session, query, reterr);
    add_to_queue(session, query, false);
    return CAIRN_OK;
}

cairn_code postgres_run(struct postgres_session *session, enum postgres_query query,
                        const struct postgres_params *params, PGresult **ret_result,
                        cairn_error *reterr)
{
    TRY(postgres_queue(session, query, params, reterr));
    return settle(session, ret_result, reterr);
}

static struct sent_query *find_sent(const struct postgres_session *session,
                                    enum postgres_query query)
{
    for (int i = 0; i < POSTGRES_SENT_MAX; i++)
        if (session->sent[i].is_there && session->sent[i].query == query)
            return (struct sent_query *)&session->sent[i];
    return NULL;
}

bool postgres_is_sent(const struct postgres_session *session, enum postgres_query query)
{
    return find_sent(session, query) != NULL;
}

static struct sent_query *free_sent(struct postgres_session *session)
{
    int at = 0;
    while (session->sent[at].is_there)
        at++;
    assert(at < POSTGRES_SENT_MAX);
    return &session->sent[at];
}

cairn_code postgres_send(struct postgres_session *session, enum postgres_query query,
                         const struct postgres_params *params, cairn_error *reterr)
{
    assert(!postgres_is_sent(session, query));
    TRY(postgres_queue(session, query, params, reterr));
    struct sent_query *sent = free_sent(session);
    *sent = (struct sent_query){.query = query, .is_there = true};
    session->queue[session->queue_len - 1].sent = sent;
    return CAIRN_OK;
}

void postgres_keep(struct postgres_session *session, enum postgres_query query,
                   struct postgres_reader *reader)
{
    *free_sent(session) = (struct sent_query){query, true, true, reader->result};
    reader->result = NULL;
}

static struct postgres_reader reader_of(struct store_tx *tx, PGresult *result)
{
    return (struct postgres_reader){
        .result = result, .count = PQntuples(result), .arena = tx->arena};
}

cairn_code postgres_take(struct store_tx *tx, enum postgres_query query,
                         struct postgres_reader *ret_reader, cairn_error *reterr)
{
    struct postgres_session *session = postgres_session_of(tx);
    struct sent_query *sent = find_sent(session, query);
    assert(sent);
    if (!sent->is_read)
        TRY(postgres_settle(session, reterr));
    *ret_reader = reader_of(tx, sent->result);
    *sent = (struct sent_query){0};
    return CAIRN_OK;
}

cairn_code postgres_take_or_ask(struct store_tx *tx, enum postgres_query query,
                                const struct postgres_params *params,
                                struct postgres_reader *ret_reader, cairn_error *reterr)
{
    return postgres_is_sent(postgres_session_of(tx), query)
               ? postgres_take(tx, query, ret_reader, reterr)
               : postgres_ask(tx, query, params, ret_reader, reterr);
}

cairn_code postgres_ask(struct store_tx *tx, enum postgres_query query,
                        const struct postgres_params *params,
                        struct postgres_reader *ret_reader, cairn_error *reterr)
{
    PGresult *result = NULL;
    if (!params || !params->is_absent)
        TRY(postgres_run(postgres_session_of(tx), query, params, &result, reterr));
    *ret_reader = reader_of(tx, result);
    return CAIRN_OK;
}
