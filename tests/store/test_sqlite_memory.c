/* tests/store/test_sqlite_memory.c - the store in memory: who shares it, how long it lives, and how
 * its transactions wait for each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"
#include "store/sqlite/sqlite.h"

#include <pthread.h>

TEST(each_open_is_a_store_of_its_own_and_has_no_name)
{
    cleanup(rig_closep) struct rig *one = rig_open_url("memory:");
    cleanup(rig_closep) struct rig *other = rig_open_url("memory:");
    begin_write(one);
    add(one, job_of(one, "a"));
    commit(one);
    begin_read(other);
    list(other, (struct list_filter){0}, 1);
    CHECK_INT(other->count, 0);

    struct store_config config = {.url = "memory:orders", .clock = &one->clock};
    struct store *store;
    CHECK_INT(store_open(&config, &store, &one->error), CAIRN_E_BAD_INPUT);
}

TEST(a_new_store_in_memory_is_made_even_if_none_should_be)
{
    struct clock clock;
    clock_init_virtual(&clock, RIG_START_US);
    struct store_config config = {
        .url = "memory:", .clock = &clock, .no_create = true, .no_migrate = true};
    struct store *store;
    cairn_error error;
    CHECK_OK(store_open(&config, &store, &error));
    store->ops->close(store);
}

TEST(it_lives_as_long_as_it_is_open_whatever_its_sessions_do)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url("memory:");
    struct job_row row = job_of(rig, "a");
    begin_write(rig);
    add(rig, row);
    commit(rig);
    rig->ops->session_close(rig->reader);
    rig->ops->session_close(rig->writer);
    MUST(rig, rig->ops->session_open(rig->store, SESSION_WRITER, &rig->writer, &rig->error));
    MUST(rig, rig->ops->session_open(rig->store, SESSION_READER, &rig->reader, &rig->error));
    begin_read(rig);
    CHECK_STR(get(rig, row.id).type, "a");
}

TEST(a_reader_waits_for_the_writer_and_is_then_told_that_the_store_is_busy)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url("memory:");
    struct arena arena = {0};
    struct store_tx *tx;
    struct job_row row;
    begin_write(rig);
    const char *id = add(rig, job_of(rig, "a"));
    MUST(rig, rig->ops->begin(rig->reader, &arena, &tx, &rig->error));
    CHECK_INT(rig->ops->get_job(tx, id, &row, &rig->error), CAIRN_E_BUSY);
    rig->ops->rollback(tx);
    commit(rig);
    begin_read(rig);
    CHECK_STR(get(rig, id).id, id);
    arena_done(&arena);
}

static void *insert_with_one_key(void *arg)
{
    struct rig *rig = arg;
    struct arena arena = {0};
    struct store_session *session = NULL;
    struct store_tx *tx;
    char id[ID_TEXT];
    struct rng rng;
    rng_init(&rng, (uint64_t)(uintptr_t)&rng);
    id_make(&rng, RIG_START_US, id);
    struct job_row row = {.id = id,
                          .type = "one",
                          .key = "the key",
                          .payload = "{}",
                          .status = JOB_PENDING,
                          .max_attempts = 3,
                          .is_ready = true,
                          .run_at_us = RIG_START_US,
                          .created_at_us = RIG_START_US,
                          .updated_at_us = RIG_START_US};
    enum insert_result result;
    cairn_code code = rig->ops->session_open(rig->store, SESSION_WRITER, &session, NULL);
    if (!code)
        code = rig->ops->begin(session, &arena, &tx, NULL);
    if (!code) {
        code = rig->ops->insert_jobs(tx, &row, 1, &result, NULL);
        cairn_code end = rig->ops->commit(tx, true, NULL);
        code = code ? code : end;
    }
    rig->ops->session_close(session);
    arena_done(&arena);
    return (void *)(uintptr_t)(code ? 99 : result == INSERT_DONE);
}

TEST(threads_take_turns)
{
    enum { THREADS = 16 };
    cleanup(rig_closep) struct rig *rig = rig_open_url("memory:");
    pthread_t threads[THREADS];
    uintptr_t made = 0;
    ((struct sqlite_store *)rig->store)->lock_wait_ms = 60000;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, insert_with_one_key, rig) == 0, "no thread");
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        made += (uintptr_t)result;
    }
    CHECK_INT(made, 1);
}
