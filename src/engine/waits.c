/* engine/waits.c - requests of the local engine that wait for the end of a job or an instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *                 read: it has not ended
 *     reads ---------------------------> waiting
 *       ^                                   |
 *       '-----------------------------------'
 *          it has ended here, news from another process, time to look, its time is over
 *
 * All of it with the engine's lock held.
 */
#include "engine/local.h"

#include "base/hash.h"
#include "engine/await.h"

#include <string.h>

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
    if (!waits->first_us || request->wait_until_us < waits->first_us)
        waits->first_us = request->wait_until_us;
    bool is_told_all = engine->store->ops->ask_due_ms == 0;
    if (!waits->look_us && (!is_told_all || request->code))
        waits->look_us = clock_monotonic_us(&engine->clock) + AWAIT_LONGEST_US;
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

void waits_look(struct local_engine *engine)
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
    waits_look(engine);
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
    if (waits_next_us(engine) > now_us)
        return;
    if (waits->look_us && waits->look_us <= now_us) {
        waits_look(engine);
        return;
    }
    waits->first_us = INT64_MAX;
    for (size_t i = 0; i < WAIT_BUCKETS; i++) {
        take(engine, &waits->buckets[i], NULL, now_us);
        for (struct request *at = waits->buckets[i].first; at; at = at->next)
            if (at->wait_until_us < waits->first_us)
                waits->first_us = at->wait_until_us;
    }
}

void waits_take(struct local_engine *engine, struct request_queue *ret_all)
{
    for (size_t i = 0; i < WAIT_BUCKETS; i++)
        queue_append(ret_all, &engine->waits.buckets[i]);
    engine->waits.count = 0;
}
