/* store/postgres/query.c - statements: prepared once for each connection, sent in a pipeline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "postgres_queries.h"
#include "store/postgres/postgres.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *name, *sql;
    const char *doing; /* completes "could not ..." */
} queries[POSTGRES_QUERY_COUNT] = {
    [PG_BEGIN] = {"begin", "BEGIN ISOLATION LEVEL READ COMMITTED", "begin a transaction"},
    [PG_BEGIN_READ_ONLY] = {"begin_read_only", "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY",
                            "begin a transaction"},
    [PG_COMMIT] = {"commit", "COMMIT", "commit"},
    [PG_ROLLBACK] = {"rollback", "ROLLBACK", "roll back"},
    [PG_APPEND_EVENTS] = {"append_events", SQL_APPEND_EVENTS, "write events"},
    [PG_BEGIN_SETTINGS] = {"begin_settings", SQL_BEGIN_SETTINGS, "begin a transaction"},
    [PG_CHECK_JOBS] = {"check_jobs", SQL_CHECK_JOBS, "claim jobs"},
    [PG_CHECK_STEPS] = {"check_steps", SQL_CHECK_STEPS, "claim steps"},
    [PG_CHECK_TIMERS] = {"check_timers", SQL_CHECK_TIMERS, "find the next timer"},
    [PG_CLAIM_JOBS] = {"claim_jobs", SQL_CLAIM_JOBS, "claim jobs"},
    [PG_CLOCK] = {"clock", SQL_CLOCK, "read the clock"},
    [PG_COUNT_JOBS] = {"count_jobs", SQL_COUNT_JOBS, "count jobs"},
    [PG_FIND_CLAIMED] = {"find_claimed", SQL_FIND_CLAIMED, "find claimed jobs"},
    [PG_FIND_EXISTING] = {"find_existing", SQL_FIND_EXISTING, "find jobs by key"},
    [PG_FIND_JOBS] = {"find_jobs", SQL_FIND_JOBS, "find jobs"},
    [PG_GET_JOB] = {"get_job", SQL_GET_JOB, "read a job"},
    [PG_GET_REGISTRY] = {"get_registry", SQL_GET_REGISTRY, "read the registry"},
    [PG_INSERT_JOBS] = {"insert_jobs", SQL_INSERT_JOBS, "insert jobs"},
    [PG_INSPECT] = {"inspect", SQL_INSPECT, "inspect the database"},
    [PG_LIST_EVENTS] = {"list_events", SQL_LIST_EVENTS, "list events"},
    [PG_LIST_JOBS] = {"list_jobs", SQL_LIST_JOBS, "list jobs"},
    [PG_LIST_JOBS_BY_KEY] = {"list_jobs_by_key", SQL_LIST_JOBS_BY_KEY, "list jobs"},
    [PG_LIST_REGISTRY] = {"list_registry", SQL_LIST_REGISTRY, "list the registry"},
    [PG_LIST_TYPES] = {"list_types", SQL_LIST_TYPES, "list types"},
    [PG_LOCK_EXPIRED_JOBS] = {"lock_expired_jobs", SQL_LOCK_EXPIRED_JOBS,
                              "find expired leases"},
    [PG_LOCK_JOBS] = {"lock_jobs", SQL_LOCK_JOBS, "lock jobs"},
    [PG_LOCK_JOBS_WAITING] = {"lock_jobs_waiting", SQL_LOCK_JOBS_WAITING, "lock jobs"},
    [PG_NEXT_DUE] = {"next_due", SQL_NEXT_DUE, "find the next timer"},
    [PG_NOTIFY] = {"notify", SQL_NOTIFY, "notify others"},
    [PG_PROMOTE_JOBS] = {"promote_jobs", SQL_PROMOTE_JOBS, "mark jobs ready"},
    [PG_PUT_REGISTRY] = {"put_registry", SQL_PUT_REGISTRY, "write the registry"},
    [PG_UPDATE_JOBS] = {"update_jobs", SQL_UPDATE_JOBS, "write jobs"},

    [PG_ACK_OUTBOX] = {"ack_outbox", SQL_ACK_OUTBOX, "acknowledge an outbox event"},
    [PG_APPEND_ALIKE_EVENTS] = {"append_alike_events", SQL_APPEND_ALIKE_EVENTS, "write events"},
    [PG_APPEND_DLQ] = {"append_dlq", SQL_APPEND_DLQ, "write DLQ records"},
    [PG_APPEND_FLOW_EVENTS] = {"append_flow_events", SQL_APPEND_FLOW_EVENTS, "write events"},
    [PG_APPEND_LOGS] = {"append_logs", SQL_APPEND_LOGS, "write logs"},
    [PG_APPEND_OUTBOX] = {"append_outbox", SQL_APPEND_OUTBOX, "write outbox events"},
    [PG_CLAIM_OUTBOX] = {"claim_outbox", SQL_CLAIM_OUTBOX, "claim outbox events"},
    [PG_LIST_READY_TYPES] = {"list_ready_types", SQL_LIST_READY_TYPES, "list ready types"},
    [PG_CLAIM_STEPS] = {"claim_steps", SQL_CLAIM_STEPS, "claim steps"},
    [PG_CLOSE_DLQ] = {"close_dlq", SQL_CLOSE_DLQ, "write DLQ records"},
    [PG_COUNT_INSTANCES] = {"count_instances", SQL_COUNT_INSTANCES, "count instances"},
    [PG_COUNT_STEPS] = {"count_steps", SQL_COUNT_STEPS, "count steps"},
    [PG_DELETE_STEPS] = {"delete_steps", SQL_DELETE_STEPS, "delete steps"},
    [PG_FIND_CLAIMED_STEPS] = {"find_claimed_steps", SQL_FIND_CLAIMED_STEPS,
                               "find claimed steps"},
    [PG_FIND_DUE_INSTANCES] = {"find_due_instances", SQL_FIND_DUE_INSTANCES,
                               "find delayed starts"},
    [PG_FIND_DUE_STEPS] = {"find_due_steps", SQL_FIND_DUE_STEPS, "find due steps"},
    [PG_FIND_EXISTING_INSTANCES] = {"find_existing_instances", SQL_FIND_EXISTING_INSTANCES,
                                    "find instances by key"},
    [PG_FIND_INSTANCES] = {"find_instances", SQL_FIND_INSTANCES, "find instances"},
    [PG_FIND_SIGNAL] = {"find_signal", SQL_FIND_SIGNAL, "find a signal"},
    [PG_FIND_SIGNAL_ID] = {"find_signal_id", SQL_FIND_SIGNAL_ID, "find a signal"},
    [PG_GET_DEFINITION] = {"get_definition", SQL_GET_DEFINITION, "read a definition"},
    [PG_GET_DLQ] = {"get_dlq", SQL_GET_DLQ, "read a DLQ record"},
    [PG_GET_INSTANCE] = {"get_instance", SQL_GET_INSTANCE, "read an instance"},
    [PG_GET_STEP] = {"get_step", SQL_GET_STEP, "read a step"},
    [PG_INSERT_DECISION] = {"insert_decision", SQL_INSERT_DECISION, "write a decision"},
    [PG_INSERT_INSTANCES] = {"insert_instances", SQL_INSERT_INSTANCES, "insert instances"},
    [PG_KEEP_SIGNAL_TAKEN] = {"keep_signal_taken", SQL_KEEP_SIGNAL_TAKEN, "write a signal"},
    [PG_INSERT_SIGNAL] = {"insert_signal", SQL_INSERT_SIGNAL, "write a signal"},
    [PG_INSERT_STEPS] = {"insert_steps", SQL_INSERT_STEPS, "insert steps"},
    [PG_LIST_ALL_EVENTS] = {"list_all_events", SQL_LIST_ALL_EVENTS, "list events"},
    [PG_LIST_CURRENT_STEPS] = {"list_current_steps", SQL_LIST_CURRENT_STEPS, "list steps"},
    [PG_LIST_DECISIONS] = {"list_decisions", SQL_LIST_DECISIONS, "list decisions"},
    [PG_LIST_DEFINITIONS] = {"list_definitions", SQL_LIST_DEFINITIONS, "list definitions"},
    [PG_LIST_DLQ] = {"list_dlq", SQL_LIST_DLQ, "list DLQ records"},
    [PG_LIST_DLQ_OF_INSTANCE] = {"list_dlq_of_instance", SQL_LIST_DLQ_OF_INSTANCE,
                                 "list DLQ records"},
    [PG_LIST_FLOW_EVENTS] = {"list_flow_events", SQL_LIST_FLOW_EVENTS, "list events"},
    [PG_LIST_INSTANCES] = {"list_instances", SQL_LIST_INSTANCES, "list instances"},
    [PG_LIST_INSTANCES_BY_KEY] = {"list_instances_by_key", SQL_LIST_INSTANCES_BY_KEY,
                                  "list instances"},
    [PG_LIST_INSTANCES_BY_STATUS] = {"list_instances_by_status", SQL_LIST_INSTANCES_BY_STATUS,
                                     "list instances"},
    [PG_LIST_INSTANCES_BY_WORKFLOW] = {"list_instances_by_workflow",
                                       SQL_LIST_INSTANCES_BY_WORKFLOW, "list instances"},
    [PG_LIST_LOGS] = {"list_logs", SQL_LIST_LOGS, "list logs"},
    [PG_LIST_MEMOS] = {"list_memos", SQL_LIST_MEMOS, "list steps"},
    [PG_LIST_SIGNALS] = {"list_signals", SQL_LIST_SIGNALS, "list signals"},
    [PG_LIST_STEPS] = {"list_steps", SQL_LIST_STEPS, "list steps"},
    [PG_LOCK_COMMITTED_STEPS] = {"lock_committed_steps", SQL_LOCK_COMMITTED_STEPS,
                                 "lock steps"},
    [PG_LOCK_CURRENT_STEPS] = {"lock_current_steps", SQL_LOCK_CURRENT_STEPS, "lock steps"},
    [PG_LOCK_INSTANCES] = {"lock_instances", SQL_LOCK_INSTANCES, "lock instances"},
    [PG_LOCK_INSTANCES_WAITING] = {"lock_instances_waiting", SQL_LOCK_INSTANCES_WAITING,
                                   "lock instances"},
    [PG_LOCK_STEPS] = {"lock_steps", SQL_LOCK_STEPS, "lock steps"},
    [PG_LOCK_STEPS_BETWEEN] = {"lock_steps_between", SQL_LOCK_STEPS_BETWEEN, "lock steps"},
    [PG_MARK_SIGNAL] = {"mark_signal", SQL_MARK_SIGNAL, "write a signal"},
    [PG_NEXT_FLOW_DUE] = {"next_flow_due", SQL_NEXT_FLOW_DUE, "find the next timer"},
    [PG_PROMOTE_STEPS] = {"promote_steps", SQL_PROMOTE_STEPS, "mark steps ready"},
    [PG_PUT_DEFINITION] = {"put_definition", SQL_PUT_DEFINITION, "write a definition"},
    [PG_READ_INSTANCES] = {"read_instances", SQL_READ_INSTANCES, "read instances"},
    [PG_READ_STEPS] = {"read_steps", SQL_READ_STEPS, "read steps"},
    [PG_SETTLED_EVENT] = {"settled_event", SQL_SETTLED_EVENT, "list events"},
    [PG_UNTAKE_SIGNALS] = {"untake_signals", SQL_UNTAKE_SIGNALS, "write signals"},
    [PG_UPDATE_INSTANCES] = {"update_instances", SQL_UPDATE_INSTANCES, "write instances"},
    [PG_UPDATE_STEPS] = {"update_steps", SQL_UPDATE_STEPS, "write steps"},
};

void postgres_forget_sent(struct postgres_session *session)
{
    postgres_result_done(&session->sent_result);
    session->sent = POSTGRES_QUERY_COUNT;
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
    cairn_code code = postgres_refused(session->conn, NULL, queries[query].doing, reterr);
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
    if (!PQsendPrepare(session->conn, queries[query].name, queries[query].sql, 0, NULL))
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
        return PQsendQueryParams(session->conn, queries[query].sql, given->count, NULL,
                                 given->values, given->lengths, given->formats, 1);
    return PQsendQueryPrepared(session->conn, queries[query].name, given->count, given->values,
                               given->lengths, given->formats, 1);
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
    const char *doing = queries[sent.query].doing;
    bool is_silent;
    PGresult *result = take_result(session, &is_silent);
    if (is_good(result))
        return result;
    if (sent.is_prepare)
        session->is_prepared[sent.query] = false;
    if (!*code)
        *code = is_silent ? postgres_silent(doing, reterr)
                          : postgres_refused(session->conn, result, doing, reterr);
    PQclear(result);
    return NULL;
}

static bool is_sent_at(const struct postgres_session *session, int place)
{
    return session->sent != POSTGRES_QUERY_COUNT && !session->sent_result &&
           session->queue[place].query == session->sent && !session->queue[place].is_prepare;
}

/* Reads the results of everything sent, whose end is sent too; the one that somebody comes for later
 * is kept. */
static cairn_code read_all(struct postgres_session *session, PGresult **ret_result,
                           cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *last = NULL;
    cairn_code code = CAIRN_OK;
    for (int i = 0; i < session->queue_len; i++) {
        PQclear(last);
        last = read_result(session, i, &code, reterr);
        if (is_sent_at(session, i)) {
            session->sent_result = last;
            last = NULL;
        }
        if (code == CAIRN_E_UNREACHABLE || PQstatus(session->conn) != CONNECTION_OK)
            break;
    }
    bool is_silent = false;
    if (code != CAIRN_E_UNREACHABLE && PQstatus(session->conn) == CONNECTION_OK)
        PQclear(take_result(session, &is_silent)); /* the end of the pipeline */
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
    return read_all(session, ret_result, reterr);
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
                    queries[query].doing);
    if (params && params->failed)
        return fail_memory(reterr);

    cairn_code code = CAIRN_OK;
    if (session->queue_len > POSTGRES_QUEUE_MAX - 4)
        code = settle(session, NULL, reterr);
    if (!code && !atomic_load(&postgres_store_of(&session->base)->is_pooled))
        code = send_prepare(session, query, reterr);
    if (code)
        return code;
    if (!send_query(session, query, params))
        return lost(session, query, reterr);
    add_to_queue(session, query, false);
    return CAIRN_OK;
}

cairn_code postgres_run(struct postgres_session *session, enum postgres_query query,
                        const struct postgres_params *params, PGresult **ret_result,
                        cairn_error *reterr)
{
    cairn_code code = postgres_queue(session, query, params, reterr);
    return code ? code : settle(session, ret_result, reterr);
}

cairn_code postgres_send(struct postgres_session *session, enum postgres_query query,
                         const struct postgres_params *params, cairn_error *reterr)
{
    assert(session->sent == POSTGRES_QUERY_COUNT);
    cairn_code code = postgres_queue(session, query, params, reterr);
    if (code)
        return code;
    if (!PQsendFlushRequest(session->conn) || PQflush(session->conn) < 0)
        return lost(session, query, reterr);
    session->sent = query;
    return CAIRN_OK;
}

/* Reads as far as the statement that was sent; what was queued behind it goes on. */
static cairn_code read_sent(struct postgres_session *session, cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    int place = 0;
    for (bool is_read = false; !is_read && !code; place++) {
        PGresult *result = read_result(session, place, &code, reterr);
        is_read = is_sent_at(session, place);
        if (is_read)
            session->sent_result = result;
        else
            PQclear(result);
    }
    session->queue_len -= place;
    memmove(session->queue, session->queue + place,
            (size_t)session->queue_len * sizeof *session->queue);
    if (code && code != CAIRN_E_UNREACHABLE && PQstatus(session->conn) == CONNECTION_OK)
        settle(session, NULL, NULL); /* passed over by the server, all of it */
    else if (code)
        postgres_lose(session);
    return code;
}

cairn_code postgres_take(struct postgres_session *session, PGresult **ret_result,
                         cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    assert(session->sent != POSTGRES_QUERY_COUNT);
    if (!session->sent_result && session->conn && PQflush(session->conn) < 0)
        code = lost(session, session->sent, reterr);
    else if (!session->sent_result)
        code = session->conn ? read_sent(session, reterr)
                             : fail(reterr, CAIRN_E_UNREACHABLE, "the connection was lost");
    if (!code) {
        *ret_result = session->sent_result;
        session->sent_result = NULL;
    }
    postgres_forget_sent(session);
    return code;
}
