/* store/memory/memory.c - a store that lives in this process: opening, turns, transactions.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One transaction at a time, readers included: whoever begins takes the turn and keeps it to
 * the end.  Nothing outlives the store, and nobody else can change it.
 */
#include "store/memory/memory.h"

#include "base/error.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>

static bool init_turn(struct memory_store *store)
{
    pthread_condattr_t attributes;
    if (pthread_mutex_init(&store->mutex, NULL))
        return false;
    if (pthread_condattr_init(&attributes) == 0) {
        bool is_done = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                       pthread_cond_init(&store->freed, &attributes) == 0;
        pthread_condattr_destroy(&attributes);
        if (is_done)
            return true;
    }
    pthread_mutex_destroy(&store->mutex);
    return false;
}

static cairn_code memory_open(const struct store_config *config, struct store **ret_store,
                              cairn_error *reterr)
{
    if (strcmp(config->url, "memory:") != 0) {
        fail(reterr, CAIRN_E_BAD_INPUT, "cannot open \"%s\": a memory store has no name",
             config->url);
        return fail_hint(reterr, CAIRN_E_BAD_INPUT, "use memory: alone, or sqlite:FILE");
    }

    struct memory_store *store = mem_zalloc(sizeof *store);
    if (!store)
        return fail_memory(reterr);
    store->base =
        (struct store){.ops = &memory_store_ops, .clock = config->clock, .schema.to = 1};
    store->lock_wait_ms = config->lock_wait_ms;
    if (!table_init(&store->table)) {
        mem_free(store);
        return fail_memory(reterr);
    }
    if (!init_turn(store)) {
        table_done(&store->table);
        mem_free(store);
        return fail_memory(reterr);
    }
    *ret_store = &store->base;
    return CAIRN_OK;
}

static void memory_close(struct store *base)
{
    struct memory_store *store = (struct memory_store *)base;
    assert(!store->is_taken);
    table_done(&store->table);
    pthread_cond_destroy(&store->freed);
    pthread_mutex_destroy(&store->mutex);
    mem_free(store);
}

static cairn_code memory_session_open(struct store *store, enum session_kind kind,
                                      struct store_session **ret_session, cairn_error *reterr)
{
    struct memory_session *session = mem_zalloc(sizeof *session);
    if (!session)
        return fail_memory(reterr);
    session->base = (struct store_session){.store = store, .kind = kind};
    *ret_session = &session->base;
    return CAIRN_OK;
}

static void memory_session_close(struct store_session *base)
{
    struct memory_session *session = (struct memory_session *)base;
    assert(!session->is_in_tx);
    mem_free(session);
}

/* ---- turns ------------------------------------------------------------------------------- */

static struct timespec wait_end(uint32_t wait_ms)
{
    int64_t end_us = instant_add(monotonic_us(), (int64_t)wait_ms * US_PER_MS);
    return (struct timespec){.tv_sec = (time_t)(end_us / US_PER_SEC),
                             .tv_nsec = (long)(end_us % US_PER_SEC) * 1000};
}

/* False if somebody else kept it for too long. */
static bool take_turn(struct memory_store *store)
{
    struct timespec end = wait_end(store->lock_wait_ms);
    int result = 0;
    pthread_mutex_lock(&store->mutex);
    while (store->is_taken && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&store->freed, &store->mutex, &end);
    bool is_mine = !store->is_taken;
    if (is_mine)
        store->is_taken = true;
    pthread_mutex_unlock(&store->mutex);
    return is_mine;
}

static void give_turn(struct memory_store *store)
{
    pthread_mutex_lock(&store->mutex);
    store->is_taken = false;
    pthread_cond_signal(&store->freed);
    pthread_mutex_unlock(&store->mutex);
}

static cairn_code memory_begin(struct store_session *base, struct arena *arena,
                               struct store_tx **ret_tx, cairn_error *reterr)
{
    struct memory_session *session = (struct memory_session *)base;
    struct memory_store *store = (struct memory_store *)base->store;
    assert(!session->is_in_tx);

    if (!take_turn(store))
        return fail(reterr, CAIRN_E_BUSY,
                    "could not begin: another transaction held the store for over %u ms",
                    (unsigned)store->lock_wait_ms);
    session->is_in_tx = true;
    session->tx = (struct store_tx){
        .session = base, .arena = arena, .now_us = clock_now_us(store->base.clock)};
    *ret_tx = &session->tx;
    return CAIRN_OK;
}

static void end_tx(struct store_tx *tx)
{
    struct memory_session *session = (struct memory_session *)tx->session;
    assert(session->is_in_tx);
    session->is_in_tx = false;
    give_turn((struct memory_store *)tx->session->store);
}

static cairn_code memory_commit(struct store_tx *tx, bool is_ready_made, cairn_error *reterr)
{
    (void)is_ready_made, (void)reterr; /* there is no other process to tell */
    table_keep(tx_table(tx));
    end_tx(tx);
    return CAIRN_OK;
}

static void memory_rollback(struct store_tx *tx)
{
    table_undo(tx_table(tx));
    end_tx(tx);
}

static bool memory_is_changed_elsewhere(struct store_session *session)
{
    (void)session;
    return false;
}

const struct store_ops memory_store_ops = {
    .name = "memory",
    .open = memory_open,
    .close = memory_close,
    .session_open = memory_session_open,
    .session_close = memory_session_close,
    .writers = 1,
    .begin = memory_begin,
    .commit = memory_commit,
    .rollback = memory_rollback,
    .insert_jobs = memory_insert_jobs,
    .lock_jobs = memory_lock_jobs,
    .lock_expired_jobs = memory_lock_expired_jobs,
    .update_jobs = memory_update_jobs,
    .claim_jobs = memory_claim_jobs,
    .find_claimed = memory_find_claimed,
    .promote_jobs = memory_promote_jobs,
    .append_events = memory_append_events,
    .put_registry = memory_put_registry,
    .next_due = memory_next_due,
    .get_job = memory_get_job,
    .list_jobs = memory_list_jobs,
    .list_events = memory_list_events,
    .get_registry = memory_get_registry,
    .list_registry = memory_list_registry,
    .count_jobs = memory_count_jobs,
    .list_types = memory_list_types,
    .inspect = memory_inspect,
    .put_definition = memory_put_definition,
    .insert_instances = memory_insert_instances,
    .insert_steps = memory_insert_steps,
    .lock_instances = memory_lock_instances,
    .update_instances = memory_update_instances,
    .lock_steps = memory_lock_steps,
    .lock_current_steps = memory_lock_current_steps,
    .lock_steps_between = memory_lock_steps_between,
    .lock_committed_steps = memory_lock_committed_steps,
    .update_steps = memory_update_steps,
    .delete_steps = memory_delete_steps,
    .claim_steps = memory_claim_steps,
    .list_ready_types = memory_list_ready_types,
    .find_claimed_steps = memory_find_claimed_steps,
    .promote_steps = memory_promote_steps,
    .find_due_steps = memory_find_due_steps,
    .find_due_instances = memory_find_due_instances,
    .insert_signal = memory_insert_signal,
    .find_signal = memory_find_signal,
    .mark_signal = memory_mark_signal,
    .keep_signal_taken = memory_keep_signal_taken,
    .get_signal = memory_get_signal,
    .list_signals = memory_list_signals,
    .append_outbox = memory_append_outbox,
    .claim_outbox = memory_claim_outbox,
    .ack_outbox = memory_ack_outbox,
    .append_flow_events = memory_append_flow_events,
    .append_dlq = memory_append_dlq,
    .append_logs = memory_append_logs,
    .insert_decision = memory_insert_decision,
    .list_decisions = memory_list_decisions,
    .close_dlq = memory_close_dlq,
    .next_flow_due = memory_next_flow_due,
    .get_definition = memory_get_definition,
    .list_definitions = memory_list_definitions,
    .get_instance = memory_get_instance,
    .read_instances = memory_read_instances,
    .list_instances = memory_list_instances,
    .list_steps = memory_list_steps,
    .read_steps = memory_read_steps,
    .list_memos = memory_list_memos,
    .get_step = memory_get_step,
    .list_flow_events = memory_list_flow_events,
    .list_logs = memory_list_logs,
    .list_dlq = memory_list_dlq,
    .get_dlq = memory_get_dlq,
    .count_instances = memory_count_instances,
    .count_steps = memory_count_steps,
    .is_changed_elsewhere = memory_is_changed_elsewhere,
};
