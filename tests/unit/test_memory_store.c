/* tests/unit/test_memory_store.c - what is particular to the memory store: undoing, volume, and
 * memory that runs out.  What it shares with the others is in tests/store/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/mem.h"
#include "memory_rig.h"

#include <pthread.h>
#include <stdlib.h>

static void name_job(size_t number, char id[ID_TEXT])
{
    snprintf(id, ID_TEXT, "00000000-0000-7000-8000-%012zx", number);
}

static struct job_row new_job(const char *id, const char *type, int64_t run_at_us)
{
    return (struct job_row){.id = id,
                            .type = type,
                            .payload = "{}",
                            .status = JOB_PENDING,
                            .priority = 100,
                            .max_attempts = 3,
                            .is_ready = run_at_us <= START_US,
                            .run_at_us = run_at_us,
                            .created_at_us = START_US,
                            .updated_at_us = START_US};
}

static void insert(struct fixture *f, size_t number, const char *type, const char *key,
                   int64_t run_at_us)
{
    char id[ID_TEXT];
    enum insert_result result;
    name_job(number, id);
    struct job_row row = new_job(id, type, run_at_us);
    row.key = key;
    CHECK_OK(ops->insert_jobs(f->tx, &row, 1, &result, &error));
    CHECK_INT(result, INSERT_DONE);
}

static cairn_code claim(struct fixture *f, const char *pattern, const char *token,
                        struct job_row *ret_rows, size_t room, size_t *ret_count)
{
    struct job_claim wish = {.worker = "w",
                             .token = token,
                             .patterns = &pattern,
                             .pattern_count = 1,
                             .lease_until_us = f->tx->now_us + US_PER_MIN};
    return ops->claim_jobs(f->tx, &wish, ret_rows, room, ret_count, &error);
}

/* ---- a picture of everything that can be asked ------------------------------------------- */

static void picture_job(struct buf *out, const struct job_row *row)
{
    buf_printf(out, "%lld %s %s %s %s %s %d/%d %d ready %d by %s/%s ended %s/%s %s %s",
               (long long)row->seq, row->id, row->type, row->payload, row->key ? row->key : "-",
               job_status_name(row->status), row->attempt, row->max_attempts, row->priority,
               row->is_ready, row->leased_by ? row->leased_by : "-",
               row->token ? row->token : "-", row->ended_by ? row->ended_by : "-",
               row->ended_token ? row->ended_token : "-",
               row->last_error ? row->last_error : "-", row->result ? row->result : "-");
    buf_printf(out, " %lld %lld %lld %lld\n", (long long)row->run_at_us,
               (long long)row->lease_until_us, (long long)row->updated_at_us,
               (long long)row->deleted_at_us);
}

static void picture_events(struct fixture *f, struct buf *out, const char *id)
{
    struct job_event_row events[20];
    size_t count;
    CHECK_OK(ops->list_events(f->tx, id, 0, events, 20, &count, &error));
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "  %lld %s %s %lld\n", (long long)events[i].id, events[i].type_name,
                   events[i].data, (long long)events[i].at_us);
}

static char *picture(struct fixture *f)
{
    struct buf out = {0};
    struct job_row rows[50];
    struct registry_row entries[10];
    struct job_counts counts;
    const char *types[20];
    int64_t due_us;
    size_t count;
    begin(f);
    CHECK_OK(ops->list_jobs(f->tx, &(struct job_filter){0}, rows, 50, &count, &error));
    for (size_t i = 0; i < count; i++) {
        picture_job(&out, &rows[i]);
        picture_events(f, &out, rows[i].id);
    }
    CHECK_OK(ops->list_registry(f->tx, NULL, entries, 10, &count, &error));
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "%s %s %d %s\n", entries[i].name, entries[i].runtime,
                   entries[i].is_enabled,
                   entries[i].description ? entries[i].description : "-");
    CHECK_OK(ops->list_types(f->tx, types, 20, &count, &error));
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "%s\n", types[i]);
    CHECK_OK(ops->count_jobs(f->tx, &counts, &error));
    CHECK_OK(ops->next_due(f->tx, &due_us, &error));
    buf_printf(&out, "%llu %llu %llu %lld %lld\n", (unsigned long long)counts.pending,
               (unsigned long long)counts.ready, (unsigned long long)counts.leased,
               (long long)counts.oldest_ready_us, (long long)due_us);

    /* What a claim would get, which is rolled back again. */
    CHECK_OK(claim(f, "%", "look", rows, 50, &count));
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "claims %s\n", rows[i].id);
    roll_back(f);
    CHECK(!buf_failed(&out), "no memory for a picture");
    return buf_take(&out, NULL);
}

/* Some jobs in every status, events and registry entries. */
static void fill(struct fixture *f)
{
    struct job_row rows[8];
    char id[ID_TEXT];
    size_t count;
    begin(f);
    insert(f, 1, "a.one.v1", "key-1", START_US);
    insert(f, 2, "a.two.v1", NULL, START_US);
    insert(f, 3, "b.one.v1", "key-3", START_US - 5);
    insert(f, 4, "b.one.v1", NULL, START_US + US_PER_MIN);
    insert(f, 5, "b.one.v1", NULL, START_US);
    CHECK_OK(claim(f, "a.two.v1", "t1", rows, 1, &count));
    CHECK_INT(count, 1);
    name_job(1, id);
    struct job_event_row event = {.job_id = id, .type = EVENT_CREATED, .data = "{}"};
    CHECK_OK(ops->append_events(f->tx, &event, 1, &error));
    struct registry_row entry = {
        .name = "a.one.v1", .intent_type = "workflow", .runtime = "go", .is_enabled = true};
    CHECK_OK(ops->put_registry(f->tx, &entry, &error));
    commit(f);
}

/* One of everything that a transaction can change. */
static cairn_code change_everything(struct fixture *f)
{
    enum insert_result results[2];
    struct job_row rows[10];
    enum lock_result lock;
    size_t count;
    char ids[3][ID_TEXT];
    name_job(6, ids[0]);
    name_job(7, ids[1]);
    name_job(3, ids[2]);

    struct job_row fresh[2] = {new_job(ids[0], "c.new.v1", START_US),
                               new_job(ids[1], "c.new.v1", START_US + 1)};
    fresh[0].key = "key-6";
    cairn_code code = ops->insert_jobs(f->tx, fresh, 2, results, &error);
    if (!code)
        code = ops->promote_jobs(f->tx, 10, &count, &error);
    if (!code)
        code = claim(f, "%", "t2", rows, 10, &count);
    const char *wanted = ids[2];
    if (!code)
        code = ops->lock_jobs(f->tx, &wanted, 1, false, rows, &lock, &error);
    if (code)
        return code;
    rows[0].status = JOB_SUCCEEDED;
    rows[0].result = "{\"done\":1}";
    rows[0].leased_by = rows[0].token = NULL;
    rows[0].ended_by = "w";
    rows[0].ended_token = "t2";
    code = ops->update_jobs(f->tx, rows, 1, &error);
    struct job_event_row events[2] = {
        {.job_id = ids[0], .type = EVENT_CREATED, .data = "{}"},
        {.job_id = ids[2], .type = EVENT_SUCCEEDED, .data = "{\"n\":1}"}};
    if (!code)
        code = ops->append_events(f->tx, events, 2, &error);
    struct registry_row entries[2] = {
        {.name = "a.one.v1", .intent_type = "workflow", .runtime = "python"},
        {.name = "z.new.v1", .intent_type = "workflow", .runtime = "c", .description = "d"}};
    for (int i = 0; i < 2 && !code; i++)
        code = ops->put_registry(f->tx, &entries[i], &error);
    return code;
}

TEST(a_rollback_leaves_no_trace)
{
    struct fixture f;
    set_up(&f);
    fill(&f);
    clock_set_us(&f.clock, START_US + US_PER_MIN);
    cleanup(mem_freep) char *before = picture(&f);
    begin(&f);
    CHECK_OK(change_everything(&f));
    roll_back(&f);
    cleanup(mem_freep) char *after = picture(&f);
    CHECK_STR(after, before);

    begin(&f);
    CHECK_OK(change_everything(&f));
    commit(&f);
    cleanup(mem_freep) char *changed = picture(&f);
    CHECK(strcmp(changed, before) != 0, "the same transaction changes nothing when committed");
    tear_down(&f);
}

TEST(a_transaction_that_runs_out_of_memory_anywhere_leaves_no_trace)
{
    struct fixture f;
    set_up(&f);
    fill(&f);
    clock_set_us(&f.clock, START_US + US_PER_MIN);
    cleanup(mem_freep) char *before = picture(&f);
    long failures = 0;
    for (cairn_code code = CAIRN_E_OUT_OF_MEMORY; code; failures++) {
        begin(&f);
        mem_fail_after(failures);
        code = change_everything(&f);
        mem_fail_after(-1);
        CHECK(code == CAIRN_OK || code == CAIRN_E_OUT_OF_MEMORY, "%s", cairn_code_name(code));
        roll_back(&f);
        cleanup(mem_freep) char *after = picture(&f);
        CHECK_STR(after, before);
    }
    CHECK(failures > 10, "only %ld allocations were tried", failures);
    tear_down(&f);
}

TEST(opening_runs_out_of_memory_cleanly)
{
    struct clock clock;
    clock_init_virtual(&clock, START_US);
    struct store_config config = {.url = "memory:", .clock = &clock};
    struct store *store = NULL;
    struct store_session *session = NULL;
    for (long count = 0; count < 3; count++) {
        mem_fail_after(count);
        cairn_code code = ops->open(&config, &store, &error);
        mem_fail_after(-1);
        CHECK_INT(code, CAIRN_E_OUT_OF_MEMORY);
        CHECK(!store, "a store was made though memory ran out");
    }
    CHECK_OK(ops->open(&config, &store, &error));
    mem_fail_after(0);
    cairn_code code = ops->session_open(store, SESSION_READER, &session, &error);
    mem_fail_after(-1);
    CHECK_INT(code, CAIRN_E_OUT_OF_MEMORY);
    ops->close(store);
}

TEST(each_open_is_a_store_of_its_own_and_has_no_name)
{
    struct fixture a, b;
    set_up(&a);
    set_up(&b);
    fill(&a);
    size_t count;
    struct job_row row;
    begin(&b);
    CHECK_OK(ops->list_jobs(b.tx, &(struct job_filter){0}, &row, 1, &count, &error));
    CHECK_INT(count, 0);
    roll_back(&b);
    struct store_config config = {.url = "memory:orders", .clock = &a.clock};
    struct store *store;
    CHECK_INT(ops->open(&config, &store, &error), CAIRN_E_BAD_INPUT);
    tear_down(&a);
    tear_down(&b);
}

TEST(a_second_transaction_is_told_that_the_store_is_busy)
{
    struct fixture f;
    struct store_session *reader;
    struct arena arena = {0};
    struct store_tx *tx;
    set_up(&f);
    CHECK_OK(ops->session_open(f.store, SESSION_READER, &reader, &error));
    begin(&f);
    CHECK_INT(ops->begin(reader, &arena, &tx, &error), CAIRN_E_BUSY);
    commit(&f);
    CHECK_OK(ops->begin(reader, &arena, &tx, &error));
    ops->rollback(tx);
    ops->session_close(reader);
    tear_down(&f);
}

/* Quick enough only if no call looks at every row: with a look at all of them this is 10^10
 * steps, and the runner's time limit notices. */
TEST(a_hundred_thousand_jobs_go_through)
{
    enum { JOBS = 100000, BATCH = 100 };
    struct fixture f;
    set_up(&f);
    char type[32], key[32];
    for (size_t i = 0; i < JOBS; i++) {
        if (i % BATCH == 0)
            begin(&f);
        snprintf(type, sizeof type, "t%zu.v1", (i * 7919) % 97);
        snprintf(key, sizeof key, "key-%zu", i);
        insert(&f, i, type, key, START_US + (int64_t)(i % 3) * US_PER_SEC);
        if (i % BATCH == BATCH - 1)
            commit(&f);
    }

    clock_set_us(&f.clock, START_US + 2 * US_PER_SEC);
    struct job_row rows[BATCH];
    size_t count, done = 0, promoted = 0;
    int64_t last_seq = 0;
    do {
        begin(&f);
        CHECK_OK(ops->promote_jobs(f.tx, BATCH, &count, &error));
        promoted += count;
        commit(&f);
    } while (count);
    CHECK_INT(promoted, JOBS - (JOBS + 2) / 3);

    for (;;) {
        begin(&f);
        CHECK_OK(claim(&f, "t%", "token", rows, BATCH, &count));
        for (size_t i = 0; i < count; i++) {
            CHECK(rows[i].seq > last_seq, "%lld after %lld", (long long)rows[i].seq,
                  (long long)last_seq);
            last_seq = rows[i].seq;
            rows[i].status = JOB_SUCCEEDED;
            rows[i].leased_by = rows[i].token = NULL;
            rows[i].lease_until_us = 0;
            rows[i].result = "1";
        }
        CHECK_OK(ops->update_jobs(f.tx, rows, count, &error));
        commit(&f);
        done += count;
        if (!count)
            break;
    }
    CHECK_INT(done, JOBS);
    tear_down(&f);
}

static void *insert_with_one_key(void *arg)
{
    struct fixture *f = arg;
    struct arena arena = {0};
    struct store_session *session = NULL;
    struct store_tx *tx;
    char id[ID_TEXT];
    struct rng rng;
    rng_init(&rng, (uint64_t)(uintptr_t)&rng);
    id_make(&rng, START_US, id);
    struct job_row row = new_job(id, "one.v1", START_US);
    row.key = "the key";
    enum insert_result result;
    cairn_code code = ops->session_open(f->store, SESSION_WRITER, &session, NULL);
    if (!code)
        code = ops->begin(session, &arena, &tx, NULL);
    if (!code) {
        code = ops->insert_jobs(tx, &row, 1, &result, NULL);
        cairn_code end = ops->commit(tx, true, NULL);
        code = code ? code : end;
    }
    ops->session_close(session);
    arena_done(&arena);
    return (void *)(uintptr_t)(code ? 99 : result == INSERT_DONE);
}

TEST(threads_take_turns)
{
    enum { THREADS = 16 };
    struct fixture f = {0};
    clock_init_virtual(&f.clock, START_US);
    struct store_config config = {.url = "memory:", .clock = &f.clock, .lock_wait_ms = 60000};
    CHECK_OK(ops->open(&config, &f.store, &error));
    pthread_t threads[THREADS];
    uintptr_t made = 0;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, insert_with_one_key, &f) == 0, "no thread");
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        made += (uintptr_t)result;
    }
    CHECK_INT(made, 1);
    ops->close(f.store);
}
