/* store/postgres/store.c - the PostgreSQL back end: opening and closing it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

void postgres_close(struct store *base)
{
    struct postgres_store *store = (struct postgres_store *)base;
    if (!store)
        return;
    postgres_conn_done(&store->watch.conn);
    pthread_mutex_destroy(&store->clock.lock);
    mark_set_done(&store->job_marks);
    mark_set_done(&store->step_marks);
    for (int i = 0; i < POSTGRES_TIMER_COUNT; i++)
        mark_set_done(&store->timers[i]);
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
    pthread_mutex_init(&store->clock.lock, NULL);
    mark_set_init(&store->job_marks);
    mark_set_init(&store->step_marks);
    for (int i = 0; i < POSTGRES_TIMER_COUNT; i++)
        mark_set_init(&store->timers[i]);
    atomic_init(&store->due.job_us, INT64_MAX);
    atomic_init(&store->due.flow_us, INT64_MAX);
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

static cairn_code connect_first(const struct store_config *config,
                                struct postgres_patience *ret_patience, PGconn **ret_conn,
                                cairn_error *reterr)
{
    int64_t wait_ms = config->lock_wait_ms < OPEN_WAIT_MS ? OPEN_WAIT_MS : config->lock_wait_ms;
    *ret_patience =
        (struct postgres_patience){.until_us = monotonic_us() + wait_ms * US_PER_MS};
    TRY(postgres_check_url(config->url, reterr));
    return postgres_connect(config->url, ret_patience, ret_conn, reterr);
}

cairn_code postgres_plan(const struct store_config *config, struct store_plan *ret_plan,
                         cairn_error *reterr)
{
    cleanup(postgres_conn_done) PGconn *conn = NULL;
    struct postgres_patience patience;
    TRY(connect_first(config, &patience, &conn, reterr));
    return postgres_migrate_plan(conn, config, ret_plan, reterr);
}

cairn_code postgres_open(const struct store_config *config, struct store **ret_store,
                         cairn_error *reterr)
{
    cleanup(postgres_conn_done) PGconn *conn = NULL;
    bool is_pooled = false;
    struct store_schema schema = {0};
    struct postgres_patience patience;

    TRY(connect_first(config, &patience, &conn, reterr));
    TRY(postgres_ask_pooled(conn, &patience, &is_pooled, reterr));
    TRY(postgres_migrate(conn, is_pooled, config, &schema, reterr));

    struct postgres_store *store = store_new(config);
    if (!store)
        return fail_memory(reterr);
    store->base.schema = schema;
    atomic_store(&store->is_pooled, is_pooled);
    *ret_store = &store->base;
    return CAIRN_OK;
}

/* Others may commit at any moment, and the database does not say. */
bool postgres_is_changed_elsewhere(struct store_session *session)
{
    (void)session;
    return true;
}

#define ENTRY(name) .name = postgres_##name,
const struct store_ops postgres_store_ops = {.name = "postgres",
                                             .writers = 2,
                                             .ask_due_ms = 1000,
                                             STORE_FUNCTIONS(ENTRY) POSTGRES_FUNCTIONS(ENTRY)};
