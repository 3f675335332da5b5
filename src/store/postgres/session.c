/* store/postgres/session.c - connections and transactions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <assert.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static cairn_code connect_session(struct postgres_session *session, cairn_error *reterr)
{
    struct postgres_store *store = postgres_store_of(&session->base);
    bool is_pooled = false;
    postgres_lose(session);
    TRY(postgres_connect(store->url, &session->patience, &session->conn, reterr));
    cairn_code code =
        postgres_ask_pooled(session->conn, &session->patience, &is_pooled, reterr);
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
    *ret_session = &session->base; /* the first begin connects */
    return CAIRN_OK;
}

void postgres_session_close(struct store_session *session)
{
    if (!session)
        return;
    postgres_lose((struct postgres_session *)session);
    mem_free(session);
}

/* A socket that stayed open here would keep the parent's session, and its locks, after its end. */
void postgres_forget(struct store *store, struct store_session *session)
{
    PGconn *conn = session ? ((struct postgres_session *)session)->conn
                           : ((struct postgres_store *)store)->watch.conn;
    if (conn && PQsocket(conn) >= 0)
        close(PQsocket(conn));
}

/* The server waits for a lock, and its answer must come before our own time is over. */
#define AFTER_LOCK_US US_PER_SEC

/* How long a connection that is not used is taken to be there. */
#define IN_USE_US US_PER_SEC

/* If the caller has no deadline. */
#define NO_HURRY_US (30 * US_PER_SEC)

/* What is left of the caller's time, in the words of lock_timeout. */
static void lock_wait_text(const struct postgres_session *session, char text[24])
{
    int64_t left_ms = (session->base.deadline_us - monotonic_us()) / US_PER_MS;
    int64_t wait_ms = postgres_store_of(&session->base)->lock_wait_ms;
    if (session->base.deadline_us && left_ms < wait_ms)
        wait_ms = left_ms;
    snprintf(text, 24, "%" PRId64 "ms", wait_ms < 1 ? 1 : wait_ms);
}

static void set_patience(struct postgres_session *session, int64_t until_us)
{
    session->patience = (struct postgres_patience){.until_us = until_us,
                                                   .stop_fd = session->base.store->stop_fd};
}

/* How long the server may be silent once it has begun. */
static int64_t silence_us(const struct postgres_session *session)
{
    int64_t wait_us = postgres_store_of(&session->base)->lock_wait_ms * US_PER_MS;
    int64_t least_us = session->base.deadline_us ? US_PER_SEC : NO_HURRY_US;
    return (wait_us < least_us ? least_us : wait_us) + AFTER_LOCK_US;
}

/* Sends what begins a transaction; its time is that of a virtual clock, or to be told. */
static cairn_code send_begin(struct postgres_session *session, struct arena *arena,
                             cairn_error *reterr)
{
    struct clock *clock = session->base.store->clock;
    struct postgres_params params = {.arena = arena};
    char lock_wait[24];
    enum postgres_query begin =
        session->base.kind == SESSION_READER ? PG_BEGIN_READ_ONLY : PG_BEGIN;

    session->tx = (struct postgres_tx){
        .base = {.session = &session->base, .arena = arena, .own_event = EVENT_OPEN},
        .asked_us = monotonic_us(),
    };
    if (clock->is_virtual)
        session->tx.base.now_us = clock_now_us(clock);
    lock_wait_text(session, lock_wait);
    param_text(&params, lock_wait);
    TRY(postgres_queue(session, begin, NULL, reterr));
    return postgres_queue(session, PG_BEGIN_SETTINGS, &params, reterr);
}

void postgres_begun(struct postgres_session *session, PGresult *result)
{
    struct store_tx *tx = &session->tx.base;
    struct postgres_reader reader = {.result = result, .count = 1};
    postgres_clock_read(&postgres_store_of(&session->base)->clock, session->tx.asked_us,
                        value_time(&reader, 0));
    postgres_move_clock(tx, &reader);
    tx->own_event = value_int(&reader, 1) << EVENT_SLOT_BITS;
}

static cairn_code try_begin(struct postgres_session *session, struct arena *arena,
                            cairn_error *reterr)
{
    TRY(send_begin(session, arena, reterr));
    return postgres_settle(session, reterr);
}

/* A connection that was in use a moment ago, and on which nothing has come since, is there. */
static bool is_in_use(struct postgres_session *session)
{
    struct pollfd news = {.fd = PQsocket(session->conn), .events = POLLIN};
    bool is_recent = monotonic_us() - session->heard_us < IN_USE_US;
    return is_recent && PQstatus(session->conn) == CONNECTION_OK && poll(&news, 1, 0) == 0;
}

/* Begins a transaction whose first answer comes with that of its first question: under load it costs no
 * round trip.  *ret_is_begun: false if the database must be waited for. */
static cairn_code begin_ahead(struct postgres_session *session, struct arena *arena,
                              bool *ret_is_begun, cairn_error *reterr)
{
    struct postgres_store *store = postgres_store_of(&session->base);
    int64_t now_us;
    bool is_known = postgres_clock_guess(&store->clock, &now_us);
    *ret_is_begun = session->base.kind == SESSION_WRITER && session->conn &&
                    (is_known || store->base.clock->is_virtual) && is_in_use(session);
    if (!*ret_is_begun)
        return CAIRN_OK;
    TRY(send_begin(session, arena, reterr));
    if (!store->base.clock->is_virtual)
        session->tx.base.now_us = now_us;
    return CAIRN_OK;
}

/* On the connection that there is, or on a new one. */
static cairn_code begin_and_wait(struct postgres_session *session, struct arena *arena,
                                 int64_t until_us, cairn_error *reterr)
{
    bool is_old = session->conn != NULL;
    cairn_code code = is_old ? try_begin(session, arena, reterr) : CAIRN_E_UNREACHABLE;
    if (code != CAIRN_E_UNREACHABLE)
        return code;
    /* It was lost since it was last used: nothing has happened yet, so once more. */
    set_patience(session, until_us);
    TRY(connect_session(session, reterr));
    return try_begin(session, arena, reterr);
}

/* Leaves the connection outside of any transaction, or without connection. */
static void end_transaction(struct postgres_session *session)
{
    cairn_error ignored;
    session->tx.announced = (struct announced_jobs){0};
    if (session->patience.until_us < monotonic_us() + AFTER_LOCK_US)
        set_patience(session, monotonic_us() + AFTER_LOCK_US);
    if (session->conn && session->queue_len > 0)
        postgres_run(session, PG_CLOCK, NULL, NULL, &ignored); /* read what is under way */
    if (session->conn && PQtransactionStatus(session->conn) != PQTRANS_IDLE)
        postgres_run(session, PG_ROLLBACK, NULL, NULL, &ignored);
    if (session->conn && PQtransactionStatus(session->conn) != PQTRANS_IDLE)
        postgres_lose(session);
    postgres_forget_sent(session);
    for (int kind = 0; kind < CLAIMED_KINDS; kind++) {
        atomic_fetch_add(&postgres_store_of(&session->base)->claimed[kind].ended,
                         session->tx.claimed[kind]);
        session->tx.claimed[kind] = 0;
    }
}

cairn_code postgres_begin(struct store_session *base, struct arena *arena,
                          struct store_tx **ret_tx, cairn_error *reterr)
{
    struct postgres_session *session = (struct postgres_session *)base;
    int64_t now_us = monotonic_us();
    int64_t until_us = base->deadline_us ? base->deadline_us : now_us + NO_HURRY_US;
    session->silence_us = silence_us(session);
    /* A connection that is silent is given up while there is time left for another one. */
    set_patience(session, now_us + (until_us - now_us) / 2);
    postgres_left(session);
    bool is_begun;
    cairn_code code = begin_ahead(session, arena, &is_begun, reterr);
    if (code == CAIRN_E_UNREACHABLE || (!code && !is_begun))
        code = begin_and_wait(session, arena, until_us, reterr);
    set_patience(session, monotonic_us() + session->silence_us);
    if (code) {
        end_transaction(session);
        return code;
    }
    *ret_tx = &session->tx.base;
    return CAIRN_OK;
}

/* Tells others what has happened.  Where something is ready they are told anyway, and of ends in the same notice. */
static cairn_code queue_notify(struct postgres_session *session, struct arena *arena,
                               unsigned news, cairn_error *reterr)
{
    const struct postgres_store *store = postgres_store_of(&session->base);
    struct postgres_params params = {.arena = arena};
    char notice[NOTICE_TEXT];
    postgres_write_notice(store, news, notice);
    param_text(&params, notice);
    if (news & NEWS_READY)
        return postgres_queue(session, PG_NOTIFY, &params, reterr);
    param_text(&params, store->name);
    return postgres_queue(session, PG_NOTIFY_ENDS, &params, reterr);
}

cairn_code postgres_commit(struct store_tx *tx, unsigned news, cairn_error *reterr)
{
    struct postgres_session *session = postgres_session_of(tx);
    cleanup(postgres_result_done) PGresult *result = NULL;

    if (session->tx.is_news)
        news |= NEWS_READY;
    cairn_code code = postgres_send_due(tx, reterr);
    if (!code)
        code = postgres_send_version(tx, reterr);
    if (!code && news) /* last: who begins to wait meanwhile is seen for as long as possible */
        code = queue_notify(session, tx->arena, news, reterr);
    if (!code)
        code = postgres_run(session, PG_COMMIT, NULL, &result, reterr);
    /* The server answers COMMIT of a broken transaction with ROLLBACK. */
    if (!code && strcmp(PQcmdStatus(result), "COMMIT") != 0)
        code = fail(reterr, CAIRN_E_STORE, "could not commit: the transaction had failed");
    if (!code)
        postgres_take_due(tx);
    if (!code)
        postgres_take_version(tx);
    if (!code)
        postgres_looked(tx);
    end_transaction(session);
    return code;
}

void postgres_rollback(struct store_tx *tx)
{
    struct postgres_session *session = postgres_session_of(tx);
    bool is_plain = session->base.kind == SESSION_READER && session->conn &&
                    session->queue_len == 0 &&
                    PQtransactionStatus(session->conn) == PQTRANS_INTRANS;
    if (is_plain)
        postgres_leave(session);
    else
        end_transaction(session);
}
