/* engine/waits.c - requests of the local engine that wait for the end of a job or an instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *                 read: it has not ended
 *     reads ---------------------------> waiting <--.
 *       ^                                   |  |      | no
 *       '-----------------------------------'  '------'
 *          it has ended here, its time is over;       a look: has it ended?
 *          a look says that it has ended
 *
 * A look asks the store for all of them in one question: after news from another process, and by the clock where
 * news may be late or missing.  All of it with the engine's lock held, but for the question.
 */
#include "engine/local.h"

#include "base/hash.h"
#include "base/random.h"
#include "engine/await.h"

#include <string.h>
#include <sys/eventfd.h>

static struct request_queue *bucket_of(struct end_waits *waits, const char *id)
{
    return &waits->buckets[hash_text(HASH_START, id) % WAIT_BUCKETS];
}

static void read_again(struct local_engine *engine, struct request *request)
{
    int64_t now_us = clock_monotonic_us(&engine->clock);
    await_again(request);
    request->give_up_us = now_us + engine->base.options.retry_ms * US_PER_MS;
    queue_push(&engine->reads, request);
    pthread_cond_signal(&engine->read_work);
}

/* ---- when to look --------------------------------------------------------------------------- */

/* After others were asked to tell of ends: a commit that had all but ended then has not told. */
static const int64_t hearing_looks_us[] = {0, 5 * US_PER_MS, 20 * US_PER_MS, 100 * US_PER_MS};
enum { HEARING_LOOKS = sizeof hearing_looks_us / sizeof *hearing_looks_us };

/* Where nobody tells of ends: those who have waited for less than YOUNG_US are asked for more often. */
#define YOUNG_US (2 * US_PER_SEC)
#define YOUNG_LOOK_US (100 * US_PER_MS)

static bool is_young(const struct request *request, int64_t now_us)
{
    return now_us - request->await_from_us < YOUNG_US;
}

static bool is_hearing(const struct local_engine *engine)
{
    return engine->store->ops->is_hearing(engine->store);
}

static void look_at(struct end_waits *waits, int64_t at_us)
{
    if (!waits->look_us || at_us < waits->look_us)
        waits->look_us = at_us;
}

/* When to look for the sake of one that begins to wait, or goes on to. */
static void plan_look(struct local_engine *engine, const struct request *request)
{
    int64_t now_us = clock_monotonic_us(&engine->clock);
    bool is_told_all = engine->store->ops->ask_due_ms == 0;
    if (!is_told_all && !is_hearing(engine) && is_young(request, now_us))
        look_at(&engine->waits, now_us + YOUNG_LOOK_US);
    else if (!is_told_all || request->code)
        look_at(&engine->waits, now_us + AWAIT_LONGEST_US);
}

static void plan_hearing_look(struct end_waits *waits)
{
    if (waits->hearing_us && waits->hearing_looks < HEARING_LOOKS)
        look_at(waits, waits->hearing_us + hearing_looks_us[waits->hearing_looks]);
}

void waits_look(struct local_engine *engine)
{
    struct end_waits *waits = &engine->waits;
    waits->epoch++;
    if (!waits->count)
        return;
    waits->looked_us = 0;
    waits->look_us = clock_monotonic_us(&engine->clock);
    pthread_cond_signal(&engine->read_work);
}

void waits_hearing(struct local_engine *engine)
{
    engine->waits.hearing_us = clock_monotonic_us(&engine->clock);
    engine->waits.hearing_looks = 0;
    waits_look(engine);
}

/* ---- waiting -------------------------------------------------------------------------------- */

void waits_add(struct local_engine *engine, struct request *request, uint64_t epoch)
{
    struct end_waits *waits = &engine->waits;
    bool is_woken = request->wakes != park_wakes(engine, request);
    if (is_woken)
        request->wait_until_us = 0;
    if (waits->epoch != epoch || is_woken) {
        read_again(engine, request);
        return;
    }
    queue_push(bucket_of(waits, request->await_id), request);
    if (waits->count++ == 0)
        pthread_cond_signal(&engine->watch_work);
    if (!waits->is_watched)
        eventfd_write(engine->wake_fd, 1);
    if (!waits->first_us || request->wait_until_us < waits->first_us)
        waits->first_us = request->wait_until_us;
    plan_look(engine, request);
    plan_hearing_look(waits);
}

/* Takes from a bucket the requests for an id, or those whose time is over (NULL). */
static void take(struct local_engine *engine, struct request_queue *bucket, const char *id,
                 int64_t now_us)
{
    struct request_queue rest = {0};
    struct request *request;
    while ((request = queue_pop(bucket)) != NULL) {
        bool is_meant =
            id ? strcmp(request->await_id, id) == 0 : request->wait_until_us <= now_us;
        if (!is_meant) {
            queue_push(&rest, request);
            continue;
        }
        engine->waits.count--;
        read_again(engine, request);
    }
    *bucket = rest;
}

void waits_ended(struct local_engine *engine, const char *const *ids, size_t count)
{
    struct end_waits *waits = &engine->waits;
    waits->epoch++;
    for (size_t i = 0; i < count && waits->count; i++)
        take(engine, bucket_of(waits, ids[i]), ids[i], 0);
}

/* Each is read by itself. */
static void read_all(struct local_engine *engine)
{
    struct end_waits *waits = &engine->waits;
    waits->epoch++;
    waits->look_us = waits->first_us = 0;
    for (size_t i = 0; i < WAIT_BUCKETS && waits->count; i++)
        take(engine, &waits->buckets[i], NULL, INT64_MAX);
}

static void set_over(struct request_queue *queue)
{
    for (struct request *it = queue->first; it; it = it->next)
        if (it->await_ms)
            it->wait_until_us = 0;
}

void waits_end(struct local_engine *engine)
{
    for (size_t i = 0; i < WAIT_BUCKETS; i++)
        set_over(&engine->waits.buckets[i]);
    set_over(&engine->reads);
    read_all(engine);
}

int64_t waits_next_us(const struct local_engine *engine)
{
    const struct end_waits *waits = &engine->waits;
    if (waits->count == 0)
        return INT64_MAX;
    if (waits->look_us && waits->look_us < waits->first_us)
        return waits->look_us;
    return waits->first_us;
}

/* Those whose time is over are read once more: the answer says what they are then. */
void waits_run(struct local_engine *engine)
{
    struct end_waits *waits = &engine->waits;
    int64_t now_us = clock_monotonic_us(&engine->clock);
    if (!waits->count || waits->first_us > now_us)
        return;
    waits->first_us = INT64_MAX;
    for (size_t i = 0; i < WAIT_BUCKETS; i++) {
        take(engine, &waits->buckets[i], NULL, now_us);
        for (struct request *at = waits->buckets[i].first; at; at = at->next)
            if (at->wait_until_us < waits->first_us)
                waits->first_us = at->wait_until_us;
    }
}

/* ---- asking the store ----------------------------------------------------------------------- */

/* The ids that a look is about. */
struct look {
    struct arena arena;
    LIST(const char *) ids;
    bool *is_ended;
};

static bool note_id(struct look *look, const char *id)
{
    const char **place = list_add(&look->arena, &look->ids);
    if (place)
        *place = arena_strdup(&look->arena, id);
    return place && *place;
}

/* Notes whom to ask for of a bucket, and when to look again.  One that the store could not be asked for before
 * may be known by a key, so it is read by itself.  False: memory ran out. */
static bool note_bucket(struct local_engine *engine, struct request_queue *bucket,
                        struct look *look, bool is_all, int64_t now_us)
{
    bool has_room = true;
    struct request_queue rest = {0};
    struct request *request;
    while ((request = queue_pop(bucket)) != NULL) {
        if (request->code || !id_is_valid(request->await_id)) {
            engine->waits.count--;
            read_again(engine, request);
            continue;
        }
        queue_push(&rest, request);
        plan_look(engine, request);
        if (is_all || is_young(request, now_us))
            has_room = has_room && note_id(look, request->await_id);
    }
    *bucket = rest;
    return has_room;
}

static bool begin_look(struct local_engine *engine, struct look *look)
{
    struct end_waits *waits = &engine->waits;
    int64_t now_us = clock_monotonic_us(&engine->clock);
    bool is_all = now_us - waits->looked_us >= AWAIT_LONGEST_US || is_hearing(engine);
    bool has_room = true;
    waits->look_us = 0;
    if (is_all)
        waits->looked_us = now_us;
    while (waits->hearing_looks < HEARING_LOOKS &&
           waits->hearing_us + hearing_looks_us[waits->hearing_looks] <= now_us)
        waits->hearing_looks++;
    for (size_t i = 0; i < WAIT_BUCKETS; i++)
        has_room &= note_bucket(engine, &waits->buckets[i], look, is_all, now_us);
    plan_hearing_look(waits);
    look->is_ended = arena_array(&look->arena, look->ids.count, sizeof *look->is_ended);
    return has_room && look->is_ended;
}

static cairn_code ask(struct local_engine *engine, struct look *look, cairn_error *reterr)
{
    const struct store_ops *ops = engine->store->ops;
    struct request_queue none = {0};
    struct store_tx *tx;
    if (!engine->read_session)
        TRY(ops->session_open(engine->store, SESSION_READER, &engine->read_session, reterr));
    engine->read_session->deadline_us = store_deadline_us(engine, &none);
    TRY(ops->begin(engine->read_session, &look->arena, &tx, reterr));
    cairn_code code =
        ops->find_ended(tx, look->ids.items, look->ids.count, look->is_ended, reterr);
    ops->rollback(tx); /* it has changed nothing */
    return code;
}

void waits_ask(struct local_engine *engine)
{
    struct end_waits *waits = &engine->waits;
    struct look look = {0};
    cairn_error why;
    cairn_code code = CAIRN_OK;
    if (!waits->count || !waits->look_us || waits->look_us > clock_monotonic_us(&engine->clock))
        return;
    bool has_room = begin_look(engine, &look);
    if (has_room && look.ids.count) {
        pthread_mutex_unlock(&engine->lock);
        pthread_mutex_lock(&engine->read_lock);
        code = ask(engine, &look, &why);
        pthread_mutex_unlock(&engine->read_lock);
        pthread_mutex_lock(&engine->lock);
        for (size_t i = 0; i < look.ids.count && !code; i++)
            if (look.is_ended[i])
                take(engine, bucket_of(waits, look.ids.items[i]), look.ids.items[i], 0);
    }
    if (code || !has_room)
        read_all(engine); /* which has the patience for a store that is away */
    arena_done(&look.arena);
}

void waits_take(struct local_engine *engine, struct request_queue *ret_all)
{
    for (size_t i = 0; i < WAIT_BUCKETS; i++)
        queue_append(ret_all, &engine->waits.buckets[i]);
    engine->waits.count = 0;
}
