/* tests/store/rig.c - an open store with sessions and a virtual clock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

#include "faulty/faulty.h"

#include <jansson.h>
#include <stdlib.h>

struct rig *rig_open_url(const char *url)
{
    struct rig *rig = calloc(1, sizeof *rig);
    CHECK(rig, "no memory");
    rig->url = url;
    rng_init(&rig->rng, 42);
    clock_init_virtual(&rig->clock, RIG_START_US);
    struct store_config config = {.url = url, .clock = &rig->clock, .lock_wait_ms = 200};
    MUST(rig, store_open(&config, &rig->store, &rig->error));
    const char *wrapped = getenv("CAIRN_TEST_WRAPPED");
    if (wrapped && wrapped[0]) { /* without faults, a wrapper must not be noticed */
        rig->store = faulty_wrap(rig->store, 0, 0);
        CHECK(rig->store, "no memory");
    }
    rig->ops = rig->store->ops;
    MUST(rig, rig->ops->session_open(rig->store, SESSION_WRITER, &rig->writer, &rig->error));
    MUST(rig, rig->ops->session_open(rig->store, SESSION_READER, &rig->reader, &rig->error));
    return rig;
}

struct rig *rig_open(void)
{
    return rig_open_url(scratch_store());
}

void rig_close(struct rig *rig)
{
    if (rig->tx)
        roll_back(rig);
    rig->ops->session_close(rig->reader);
    rig->ops->session_close(rig->writer);
    rig->ops->close(rig->store);
    arena_done(&rig->arena);
    free(rig);
}

void rig_closep(struct rig **rig)
{
    if (*rig)
        rig_close(*rig);
}

void begin_write(struct rig *rig)
{
    CHECK(!rig->tx, "a transaction is open");
    MUST(rig, rig->ops->begin(rig->writer, &rig->arena, &rig->tx, &rig->error));
}

void begin_read(struct rig *rig)
{
    CHECK(!rig->tx, "a transaction is open");
    MUST(rig, rig->ops->begin(rig->reader, &rig->arena, &rig->tx, &rig->error));
}

void commit(struct rig *rig)
{
    struct store_tx *tx = rig->tx;
    rig->tx = NULL;
    MUST(rig, rig->ops->commit(tx, true, &rig->error));
}

void roll_back(struct rig *rig)
{
    rig->ops->rollback(rig->tx);
    rig->tx = NULL;
}

void pass_us(struct rig *rig, int64_t us)
{
    CHECK(!rig->tx, "a transaction is open");
    clock_set_us(&rig->clock, clock_now_us(&rig->clock) + us);
}

struct job_row job_of(struct rig *rig, const char *type)
{
    int64_t now_us = clock_now_us(&rig->clock);
    char id[ID_TEXT];
    id_make(&rig->rng, now_us, id);
    return (struct job_row){.id = arena_strdup(&rig->arena, id),
                            .type = type,
                            .payload = "{}",
                            .status = JOB_PENDING,
                            .priority = 100,
                            .max_attempts = 3,
                            .is_ready = true,
                            .run_at_us = now_us,
                            .created_at_us = now_us,
                            .updated_at_us = now_us};
}

const char *add(struct rig *rig, struct job_row row)
{
    enum insert_result result;
    MUST(rig, rig->ops->insert_jobs(rig->tx, &row, 1, &result, &rig->error));
    CHECK(result == INSERT_DONE, "result is %d", result);
    return row.id;
}

struct job_row get(struct rig *rig, const char *id)
{
    struct job_row row;
    MUST(rig, rig->ops->get_job(rig->tx, id, &row, &rig->error));
    return row;
}

struct job_row lock_one(struct rig *rig, const char *id)
{
    struct job_row row;
    enum lock_result result;
    MUST(rig, rig->ops->lock_jobs(rig->tx, &id, 1, false, &row, &result, &rig->error));
    CHECK(result == LOCK_DONE, "result is %d", result);
    return row;
}

void purge(struct rig *rig, enum list_kind kind, const char *const *ids, size_t count)
{
    struct past_row *rows = arena_array(&rig->arena, count, sizeof *rows);
    size_t found = 0, locked, read = 1;
    for (int64_t after = 0; found < count && read;) {
        struct past_row row;
        MUST(rig, rig->ops->scan_past(rig->tx, kind, after, &row, 1, &read, &rig->error));
        after = row.seq;
        for (size_t i = 0; i < count && read; i++)
            if (strcmp(ids[i], row.id) == 0)
                rows[found++] = row;
    }
    CHECK_INT(found, count);
    locked = found;
    MUST(rig, rig->ops->lock_past(rig->tx, kind, rows, &locked, &rig->error));
    CHECK_INT(locked, count);
    MUST(rig, rig->ops->purge(rig->tx, kind, rows, count, &rig->error));
}

static void claim_by(struct rig *rig, size_t room, size_t pattern_count,
                     const char *const *patterns, const char *runtime)
{
    struct job_claim wish = {.worker = "w",
                             .token = "t",
                             .patterns = patterns,
                             .pattern_count = pattern_count,
                             .runtime = runtime,
                             .lease_until_us = rig->tx->now_us + US_PER_MIN};
    CHECK(room <= ROWS_MAX, "room is %zu", room);
    rig->count = SIZE_MAX;
    MUST(rig, rig->ops->claim_jobs(rig->tx, &wish, rig->rows, room, &rig->count, &rig->error));
    CHECK(rig->count <= room, "%zu jobs came into room for %zu", rig->count, room);
}

void claim(struct rig *rig, size_t room, size_t pattern_count, const char *const *patterns)
{
    claim_by(rig, room, pattern_count, patterns, NULL);
}

void claim_as(struct rig *rig, size_t room, const char *pattern, const char *runtime)
{
    claim_by(rig, room, 1, &pattern, runtime);
}

struct due_times next_due(struct rig *rig)
{
    struct due_times due = {-1, -1};
    MUST(rig, rig->ops->next_due(rig->tx, &due, &rig->error));
    return due;
}

void list(struct rig *rig, struct list_filter filter, size_t room)
{
    CHECK(room <= ROWS_MAX, "room is %zu", room);
    struct list_end end = {.count = SIZE_MAX};
    MUST(rig, list_jobs(rig->tx, &filter, rig->rows, room, &end, &rig->error));
    rig->count = end.count;
}

void check_rows(struct rig *rig, size_t count, const char *const *ids)
{
    CHECK(rig->count == count, "%zu rows came, not %zu", rig->count, count);
    for (size_t i = 0; i < count; i++)
        CHECK(strcmp(rig->rows[i].id, ids[i]) == 0, "row %zu is %s of type %s, not %s", i,
              rig->rows[i].id, rig->rows[i].type, ids[i]);
}

bool is_same_json(const char *a, const char *b)
{
    if (!a || !b)
        return a == b;
    json_t *left = json_loads(a, JSON_DECODE_ANY, NULL);
    json_t *right = json_loads(b, JSON_DECODE_ANY, NULL);
    bool is_same = left && right && json_equal(left, right);
    json_decref(left);
    json_decref(right);
    return is_same;
}
