/* store/postgres/store.c - the PostgreSQL back end: opening it, and the table of operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/flow.h"

static void postgres_close(struct store *base)
{
    struct postgres_store *store = (struct postgres_store *)base;
    if (!store)
        return;
    postgres_conn_done(&store->watch.conn);
    mark_set_done(&store->job_marks);
    mark_set_done(&store->step_marks);
    pthread_mutex_destroy(&store->timer_lock);
    mem_free(store->url);
    mem_free(store);
}

static struct postgres_store *store_new(const struct store_config *config)
{
    struct postgres_store *store = mem_zalloc(sizeof *store);
    if (!store)
        return NULL;
    store->base = (struct store){.ops = &postgres_store_ops, .clock = config->clock};
    store->url = mem_strdup(config->url);
    if (!store->url) {
        mem_free(store);
        return NULL;
    }
    mark_set_init(&store->job_marks);
    mark_set_init(&store->step_marks);
    pthread_mutex_init(&store->timer_lock, NULL);
    for (int i = 0; i < POSTGRES_TIMER_COUNT; i++)
        mark_init(&store->timers[i].mark);
    atomic_init(&store->job_due.due_us, INT64_MAX);
    atomic_init(&store->flow_due.due_us, INT64_MAX);
    store->lock_wait_ms = config->lock_wait_ms ? config->lock_wait_ms : 1;
    if (store->lock_wait_ms > INT32_MAX)
        store->lock_wait_ms = INT32_MAX;

    struct rng rng;
    rng_init(&rng, 0);
    token_make(&rng, store->name);
    return store;
}

/* How long a database may take to answer when it is opened, at least. */
enum { OPEN_WAIT_MS = 10000 };

static cairn_code postgres_open(const struct store_config *config, struct store **ret_store,
                                cairn_error *reterr)
{
    cleanup(postgres_conn_done) PGconn *conn = NULL;
    bool is_pooled = false;
    struct store_schema schema = {0};
    int64_t wait_ms = config->lock_wait_ms < OPEN_WAIT_MS ? OPEN_WAIT_MS : config->lock_wait_ms;
    struct postgres_patience patience = {.until_us = monotonic_us() + wait_ms * US_PER_MS};

    cairn_code code = postgres_check_url(config->url, reterr);
    if (!code)
        code = postgres_connect(config->url, &patience, &conn, reterr);
    if (!code)
        code = postgres_ask_pooled(conn, &patience, &is_pooled, reterr);
    if (!code)
        code = postgres_migrate(conn, config, &schema, reterr);
    if (code)
        return code;

    struct postgres_store *store = store_new(config);
    if (!store)
        return fail_memory(reterr);
    store->base.schema = schema;
    atomic_store(&store->is_pooled, is_pooled);
    *ret_store = &store->base;
    return CAIRN_OK;
}

/* Others may commit at any moment, and the database does not say. */
static bool postgres_is_changed_elsewhere(struct store_session *session)
{
    (void)session;
    return true;
}

const struct store_ops postgres_store_ops = {
    .name = "postgres",
    .open = postgres_open,
    .close = postgres_close,
    .session_open = postgres_session_open,
    .session_close = postgres_session_close,
    .writers = 2,
    .ask_due_ms = 2000,
    .begin = postgres_begin,
    .commit = postgres_commit,
    .rollback = postgres_rollback,
    .insert_jobs = postgres_insert_jobs,
    .lock_jobs = postgres_lock_jobs,
    .lock_expired_jobs = postgres_lock_expired_jobs,
    .update_jobs = postgres_update_jobs,
    .claim_jobs = postgres_claim_jobs,
    .find_claimed = postgres_find_claimed,
    .promote_jobs = postgres_promote_jobs,
    .append_events = postgres_append_events,
    .put_registry = postgres_put_registry,
    .next_due = postgres_next_due,
    .get_job = postgres_get_job,
    .list_jobs = postgres_list_jobs,
    .list_events = postgres_list_events,
    .get_registry = postgres_get_registry,
    .list_registry = postgres_list_registry,
    .count_jobs = postgres_count_jobs,
    .list_types = postgres_list_types,
    .inspect = postgres_inspect,
    .put_definition = postgres_put_definition,
    .insert_instances = postgres_insert_instances,
    .insert_steps = postgres_insert_steps,
    .lock_instances = postgres_lock_instances,
    .update_instances = postgres_update_instances,
    .lock_steps = postgres_lock_steps,
    .lock_current_steps = postgres_lock_current_steps,
    .lock_steps_between = postgres_lock_steps_between,
    .lock_committed_steps = postgres_lock_committed_steps,
    .update_steps = postgres_update_steps,
    .delete_steps = postgres_delete_steps,
    .send_step_claim = postgres_send_step_claim,
    .claim_steps = postgres_claim_steps,
    .list_ready_types = postgres_list_ready_types,
    .find_claimed_steps = postgres_find_claimed_steps,
    .promote_steps = postgres_promote_steps,
    .find_due_steps = postgres_find_due_steps,
    .find_due_instances = postgres_find_due_instances,
    .insert_signal = postgres_insert_signal,
    .find_signal = postgres_find_signal,
    .mark_signal = postgres_mark_signal,
    .keep_signal_taken = postgres_keep_signal_taken,
    .get_signal = postgres_get_signal,
    .list_signals = postgres_list_signals,
    .append_outbox = postgres_append_outbox,
    .claim_outbox = postgres_claim_outbox,
    .ack_outbox = postgres_ack_outbox,
    .append_flow_events = postgres_append_flow_events,
    .append_dlq = postgres_append_dlq,
    .append_logs = postgres_append_logs,
    .insert_decision = postgres_insert_decision,
    .close_dlq = postgres_close_dlq,
    .next_flow_due = postgres_next_flow_due,
    .get_definition = postgres_get_definition,
    .list_definitions = postgres_list_definitions,
    .get_instance = postgres_get_instance,
    .read_instances = postgres_read_instances,
    .list_instances = postgres_list_instances,
    .list_steps = postgres_list_steps,
    .read_steps = postgres_read_steps,
    .list_memos = postgres_list_memos,
    .get_step = postgres_get_step,
    .list_flow_events = postgres_list_flow_events,
    .list_logs = postgres_list_logs,
    .list_dlq = postgres_list_dlq,
    .get_dlq = postgres_get_dlq,
    .list_decisions = postgres_list_decisions,
    .count_instances = postgres_count_instances,
    .count_steps = postgres_count_steps,
    .watch = postgres_watch,
    .is_changed_elsewhere = postgres_is_changed_elsewhere,
};
