/* store/postgres/session.c - connections and transactions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <assert.h>
#include <string.h>

static cairn_code connect_session(struct postgres_session *session, cairn_error *reterr)
{
    struct postgres_store *store = postgres_store_of(&session->base);
    bool is_pooled = false;
    postgres_lose(session);
    cairn_code code = postgres_connect(store->url, &session->conn, reterr);
    if (code)
        return code;
    code = postgres_ask_pooled(session->conn, &is_pooled, reterr);
    if (!code && !PQenterPipelineMode(session->conn))
        code = postgres_refused(session->conn, NULL, "connect to PostgreSQL", reterr);
    if (code) {
        postgres_lose(session);
        return code;
    }
    /* Once a pooler was seen there may be one again: unnamed statements are right with and
     * without it. */
    if (is_pooled)
        atomic_store(&store->is_pooled, true);
    return CAIRN_OK;
}

cairn_code postgres_session_open(struct store *store, enum session_kind kind,
                                 struct store_session **ret_session, cairn_error *reterr)
{
    struct postgres_session *session = mem_zalloc(sizeof *session);
    if (!session)
        return fail_memory(reterr);
    session->base.store = store;
    session->base.kind = kind;
    session->sent = POSTGRES_QUERY_COUNT;
    cairn_code code = connect_session(session, reterr);
    if (code) {
        mem_free(session);
        return code;
    }
    *ret_session = &session->base;
    return CAIRN_OK;
}

void postgres_session_close(struct store_session *session)
{
    if (!session)
        return;
    postgres_lose((struct postgres_session *)session);
    mem_free(session);
}

/* The transaction's time: the database's, unless the engine's clock is virtual. */
static int64_t time_of(const struct postgres_session *session, const PGresult *result)
{
    struct clock *clock = session->base.store->clock;
    if (clock->is_virtual)
        return clock_now_us(clock);
    return value_time(&(struct postgres_reader){.result = result}, 0);
}

static cairn_code try_begin(struct postgres_session *session, struct arena *arena,
                            cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = arena};
    enum postgres_query begin =
        session->base.kind == SESSION_READER ? PG_BEGIN_READ_ONLY : PG_BEGIN;

    param_text(&params, postgres_store_of(&session->base)->lock_wait);
    cairn_code code = postgres_queue(session, begin, NULL, reterr);
    if (!code)
        code = postgres_run(session, PG_BEGIN_SETTINGS, &params, &result, reterr);
    if (code)
        return code;
    session->tx = (struct postgres_tx){
        .base = {.session = &session->base, .arena = arena, .now_us = time_of(session, result)},
    };
    return CAIRN_OK;
}

/* Leaves the connection outside of any transaction, or without connection. */
static void end_transaction(struct postgres_session *session)
{
    cairn_error ignored;
    if (session->conn && session->queue_len > 0)
        postgres_run(session, PG_CLOCK, NULL, NULL, &ignored); /* read what is under way */
    if (session->conn && PQtransactionStatus(session->conn) != PQTRANS_IDLE)
        postgres_run(session, PG_ROLLBACK, NULL, NULL, &ignored);
    if (session->conn && PQtransactionStatus(session->conn) != PQTRANS_IDLE)
        postgres_lose(session);
    postgres_forget_sent(session);
}

cairn_code postgres_begin(struct store_session *base, struct arena *arena,
                          struct store_tx **ret_tx, cairn_error *reterr)
{
    struct postgres_session *session = (struct postgres_session *)base;
    postgres_left(session);
    bool is_old = session->conn != NULL;
    cairn_code code = is_old ? CAIRN_OK : connect_session(session, reterr);
    if (!code)
        code = try_begin(session, arena, reterr);
    if (code == CAIRN_E_UNREACHABLE && is_old) {
        /* It was lost since it was last used: nothing has happened yet, so once more. */
        code = connect_session(session, reterr);
        if (!code)
            code = try_begin(session, arena, reterr);
    }
    if (code) {
        end_transaction(session);
        return code;
    }
    *ret_tx = &session->tx.base;
    return CAIRN_OK;
}

static cairn_code queue_notify(struct postgres_session *session, struct arena *arena,
                               cairn_error *reterr)
{
    struct postgres_params params = {.arena = arena};
    param_text(&params, postgres_store_of(&session->base)->name);
    return postgres_queue(session, PG_NOTIFY, &params, reterr);
}

cairn_code postgres_commit(struct store_tx *tx, bool is_ready_made, cairn_error *reterr)
{
    struct postgres_session *session = postgres_session_of(tx);
    cleanup(postgres_result_done) PGresult *result = NULL;
    cairn_code code = CAIRN_OK;

    if (is_ready_made || session->tx.is_news)
        code = queue_notify(session, tx->arena, reterr);
    if (!code)
        code = postgres_run(session, PG_COMMIT, NULL, &result, reterr);
    /* The server answers COMMIT of a broken transaction with ROLLBACK. */
    if (!code && strcmp(PQcmdStatus(result), "COMMIT") != 0)
        code = fail(reterr, CAIRN_E_STORE, "could not commit: the transaction had failed");
    end_transaction(session);
    return code;
}

void postgres_rollback(struct store_tx *tx)
{
    struct postgres_session *session = postgres_session_of(tx);
    bool is_plain = session->base.kind == SESSION_READER && session->conn &&
                    session->queue_len == 0 && session->sent == POSTGRES_QUERY_COUNT &&
                    PQtransactionStatus(session->conn) == PQTRANS_INTRANS;
    if (is_plain)
        postgres_leave(session);
    else
        end_transaction(session);
}
