/* worker/keeper.c - leases that are kept by a thread of the library, whatever the program does.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A handler in another language may keep its whole interpreter busy for longer than its lease.  This
 * thread runs no code of the program: it extends each lease at a third of its length, asks in between
 * whether the task is still wanted, and writes down which is not, for the program to take.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "engine/engine.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

enum {
    LEAST_US = 5 * 1000,  /* between two heartbeats of a task */
    AGAIN_US = 50 * 1000, /* after one that could not be sent */
    BATCH_MAX = 1000
};

/* A task that is kept.  Its place names it, together with the number of times that the place was given. */
struct kept {
    char *id, *token; /* NULL: the place is free */
    uint32_t round;
    bool is_told; /* that it is not wanted: nothing more is sent for it */
    int64_t lease_until_us, beat_at_us, look_at_us; /* monotonic */
};

struct cairn_keeper {
    cairn_engine *engine;
    char *worker;
    uint32_t lease_ms;
    int64_t third_us, look_us;
    size_t max_batch;

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* for the thread */
    pthread_cond_t told;    /* for who takes stops */
    bool is_over;           /* it ends */
    bool is_idle;           /* the thread waits for a task */
    struct kept *items;
    size_t count, room;
    size_t first_free; /* no place before it is */
    cairn_kept_stop *stops;
    size_t stop_count, stop_room;
};

static uint64_t name_of(const struct cairn_keeper *keeper, size_t place)
{
    return (uint64_t)keeper->items[place].round << 32 | place;
}

static struct kept *find(struct cairn_keeper *keeper, uint64_t name)
{
    size_t place = (size_t)(name & UINT32_MAX);
    if (place >= keeper->count || name_of(keeper, place) != name || !keeper->items[place].id)
        return NULL;
    return &keeper->items[place];
}

static void give_back(struct kept *kept)
{
    mem_free(kept->id);
    mem_free(kept->token);
    kept->id = kept->token = NULL;
    kept->round++;
}

/* ---- stops --------------------------------------------------------------------------------- */

/* Without memory it is told at the next look. */
static void tell_stop(struct cairn_keeper *keeper, size_t place, const char *stop,
                      cairn_code code)
{
    if (keeper->stop_count == keeper->stop_room) {
        size_t room = keeper->stop_room ? 2 * keeper->stop_room : 16;
        cairn_kept_stop *stops = mem_realloc(keeper->stops, room * sizeof *stops);
        if (!stops)
            return;
        keeper->stops = stops;
        keeper->stop_room = room;
    }
    keeper->stops[keeper->stop_count++] =
        (cairn_kept_stop){.task = name_of(keeper, place), .stop = stop, .code = code};
    keeper->items[place].is_told = true;
    pthread_cond_broadcast(&keeper->told);
}

static bool may_pass(cairn_code code)
{
    return code == CAIRN_E_BUSY || code == CAIRN_E_UNREACHABLE || code == CAIRN_E_TOO_MANY ||
           code == CAIRN_E_STORE_FULL || code == CAIRN_E_OUT_OF_MEMORY;
}

static void take_failure(struct cairn_keeper *keeper, size_t place, cairn_code code)
{
    struct kept *kept = &keeper->items[place];
    int64_t now_us = monotonic_us();
    if (!may_pass(code) || now_us >= kept->lease_until_us) {
        tell_stop(keeper, place, "lease_lost", code);
        return;
    }
    kept->beat_at_us = now_us + AGAIN_US;
    kept->look_at_us = now_us + (keeper->look_us > AGAIN_US ? keeper->look_us : AGAIN_US);
}

static void take_beat(struct cairn_keeper *keeper, size_t place, const cairn_beat *beat,
                      int64_t sent_us)
{
    struct kept *kept = &keeper->items[place];
    if (beat->ret_code) {
        take_failure(keeper, place, beat->ret_code);
        return;
    }
    if (beat->ret_stop && strcmp(beat->ret_stop, "paused") != 0) { /* what runs may finish */
        tell_stop(keeper, place, beat->ret_stop, CAIRN_OK);
        return;
    }
    kept->look_at_us = sent_us + keeper->look_us;
    if (beat->extend_ms) {
        kept->lease_until_us = sent_us + (int64_t)beat->extend_ms * US_PER_MS;
        kept->beat_at_us = sent_us + keeper->third_us;
    }
}

/* ---- the thread ---------------------------------------------------------------------------- */

/* What is sent together; texts are copies, since a task may be removed meanwhile. */
struct round {
    struct arena arena;
    cairn_beat *beats;
    uint64_t *names;
    size_t count;
};

static bool add_beat(struct round *round, const struct kept *kept, uint64_t name,
                     uint32_t extend_ms)
{
    cairn_beat *beat = &round->beats[round->count];
    *beat = (cairn_beat){.size = sizeof *beat,
                         .task_id = arena_strdup(&round->arena, kept->id),
                         .token = arena_strdup(&round->arena, kept->token),
                         .extend_ms = extend_ms};
    round->names[round->count] = name;
    bool is_added = beat->task_id && beat->token;
    round->count += is_added;
    return is_added;
}

/* What is due now; *ret_next_us: when the next is, 0: nothing is kept. */
static void collect(struct cairn_keeper *keeper, struct round *round, int64_t *ret_next_us)
{
    int64_t now_us = monotonic_us();
    *ret_next_us = 0;
    round->beats = arena_array(&round->arena, keeper->max_batch, sizeof *round->beats);
    round->names = arena_array(&round->arena, keeper->max_batch, sizeof *round->names);
    bool has_room = round->beats && round->names;
    for (size_t i = 0; i < keeper->count; i++) {
        const struct kept *kept = &keeper->items[i];
        if (!kept->id || kept->is_told)
            continue;
        int64_t at_us =
            kept->beat_at_us < kept->look_at_us ? kept->beat_at_us : kept->look_at_us;
        bool is_added = at_us <= now_us && has_room && round->count < keeper->max_batch &&
                        add_beat(round, kept, name_of(keeper, i),
                                 kept->beat_at_us <= now_us ? keeper->lease_ms : 0);
        if (!is_added && (!*ret_next_us || at_us < *ret_next_us))
            *ret_next_us = at_us;
    }
}

/* Without the lock. */
static void send(struct cairn_keeper *keeper, struct round *round)
{
    int64_t sent_us = monotonic_us();
    cairn_code code =
        cairn_heartbeat_many(keeper->engine, keeper->worker, round->beats, round->count, NULL);
    pthread_mutex_lock(&keeper->lock);
    for (size_t i = 0; i < round->count; i++) {
        size_t place = (size_t)(round->names[i] & UINT32_MAX);
        if (!find(keeper, round->names[i]))
            continue;
        if (code)
            take_failure(keeper, place, code);
        else
            take_beat(keeper, place, &round->beats[i], sent_us);
    }
    pthread_mutex_unlock(&keeper->lock);
}

static void wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t at_us)
{
    const int64_t second_us = 1000 * US_PER_MS;
    struct timespec at = {.tv_sec = at_us / second_us,
                          .tv_nsec = (long)(at_us % second_us) * 1000};
    (void)pthread_cond_timedwait(cond, lock, &at);
}

static void *keep_leases(void *arg)
{
    struct cairn_keeper *keeper = arg;
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->is_over) {
        struct round round = {.count = 0};
        int64_t next_us;
        collect(keeper, &round, &next_us);
        if (round.count) {
            pthread_mutex_unlock(&keeper->lock);
            send(keeper, &round);
            pthread_mutex_lock(&keeper->lock);
        } else if (next_us) {
            int64_t least_us = monotonic_us() + LEAST_US; /* memory may have run out */
            wait_until(&keeper->changed, &keeper->lock,
                       next_us > least_us ? next_us : least_us);
        } else {
            keeper->is_idle = true;
            pthread_cond_wait(&keeper->changed, &keeper->lock);
            keeper->is_idle = false;
        }
        arena_done(&round.arena);
    }
    pthread_mutex_unlock(&keeper->lock);
    return NULL;
}

/* ---- the program's ------------------------------------------------------------------------- */

static void keeper_done(struct cairn_keeper *keeper)
{
    for (size_t i = 0; i < keeper->count; i++)
        if (keeper->items[i].id)
            give_back(&keeper->items[i]);
    pthread_cond_destroy(&keeper->told);
    pthread_cond_destroy(&keeper->changed);
    pthread_mutex_destroy(&keeper->lock);
    mem_free(keeper->items);
    mem_free(keeper->stops);
    mem_free(keeper->worker);
    mem_free(keeper);
}

static void init_waits(struct cairn_keeper *keeper)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&keeper->lock, NULL);
    pthread_cond_init(&keeper->changed, &monotonic);
    pthread_cond_init(&keeper->told, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static int64_t at_least(int64_t us)
{
    return us < LEAST_US ? LEAST_US : us;
}

cairn_code cairn_keeper_start(cairn_engine *engine, const char *worker, uint32_t lease_ms,
                              uint32_t look_ms, cairn_keeper **ret_keeper, cairn_error *reterr)
{
    error_clear(reterr);
    if (!worker || !worker[0])
        return fail(reterr, CAIRN_E_BAD_INPUT, "worker is empty");
    if (lease_ms < 1)
        return fail(reterr, CAIRN_E_BAD_INPUT, "lease_ms is 0; it must be from 1");
    struct cairn_keeper *keeper = mem_zalloc(sizeof *keeper);
    NEED(keeper, reterr);
    init_waits(keeper);
    keeper->engine = engine;
    keeper->worker = mem_strdup(worker);
    keeper->lease_ms = lease_ms;
    keeper->third_us = at_least(lease_ms * US_PER_MS / 3);
    keeper->look_us = at_least(look_ms * US_PER_MS);
    size_t batch = engine->options.max_batch;
    keeper->max_batch = batch && batch < BATCH_MAX ? batch : BATCH_MAX;
    if (!keeper->worker || pthread_create(&keeper->thread, NULL, keep_leases, keeper)) {
        keeper_done(keeper);
        return fail_memory(reterr);
    }
    *ret_keeper = keeper;
    return CAIRN_OK;
}

static bool make_place(struct cairn_keeper *keeper, size_t *ret_place)
{
    size_t i = keeper->first_free;
    while (i < keeper->count && keeper->items[i].id)
        i++;
    keeper->first_free = *ret_place = i;
    if (i < keeper->count)
        return true;
    if (keeper->count == keeper->room) {
        size_t room = keeper->room ? 2 * keeper->room : 16;
        struct kept *items = mem_realloc(keeper->items, room * sizeof *items);
        if (!items)
            return false;
        keeper->items = items;
        keeper->room = room;
    }
    *ret_place = keeper->count++;
    keeper->items[*ret_place] = (struct kept){.round = 1};
    return true;
}

static cairn_code add(struct cairn_keeper *keeper, char *id, char *token, uint64_t *ret_task)
{
    size_t place;
    if (!make_place(keeper, &place))
        return CAIRN_E_OUT_OF_MEMORY;
    int64_t now_us = monotonic_us();
    keeper->items[place] =
        (struct kept){.id = id,
                      .token = token,
                      .round = keeper->items[place].round,
                      .lease_until_us = now_us + keeper->lease_ms * US_PER_MS,
                      .beat_at_us = now_us + keeper->third_us,
                      .look_at_us = now_us + keeper->look_us};
    *ret_task = name_of(keeper, place);
    if (keeper->is_idle)
        pthread_cond_signal(&keeper->changed);
    return CAIRN_OK;
}

cairn_code cairn_keeper_add(cairn_keeper *keeper, const char *task_id, const char *token,
                            uint64_t *ret_task, cairn_error *reterr)
{
    error_clear(reterr);
    char *id = task_id ? mem_strdup(task_id) : NULL, *copy = token ? mem_strdup(token) : NULL;
    cairn_code code = CAIRN_E_OUT_OF_MEMORY;
    if (id && copy) {
        pthread_mutex_lock(&keeper->lock);
        code = add(keeper, id, copy, ret_task);
        pthread_mutex_unlock(&keeper->lock);
    }
    if (!code)
        return CAIRN_OK;
    mem_free(id);
    mem_free(copy);
    return task_id && token ? fail_memory(reterr)
                            : fail(reterr, CAIRN_E_BAD_INPUT, "task_id or token is missing");
}

int64_t cairn_keeper_remove(cairn_keeper *keeper, uint64_t task)
{
    int64_t left_ms = 0;
    pthread_mutex_lock(&keeper->lock);
    struct kept *kept = find(keeper, task);
    if (kept) {
        left_ms = (kept->lease_until_us - monotonic_us()) / US_PER_MS;
        give_back(kept);
        size_t place = (size_t)(kept - keeper->items);
        keeper->first_free = place < keeper->first_free ? place : keeper->first_free;
    }
    pthread_mutex_unlock(&keeper->lock);
    return left_ms > 0 ? left_ms : 0;
}

size_t cairn_keeper_take(cairn_keeper *keeper, uint32_t wait_ms, cairn_kept_stop *ret_stops,
                         size_t room)
{
    int64_t until_us = monotonic_us() + (int64_t)wait_ms * US_PER_MS;
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->stop_count && !keeper->is_over && monotonic_us() < until_us)
        wait_until(&keeper->told, &keeper->lock, until_us);
    size_t count = keeper->stop_count < room ? keeper->stop_count : room;
    if (count) {
        memcpy(ret_stops, keeper->stops, count * sizeof *ret_stops);
        keeper->stop_count -= count;
        memmove(keeper->stops, keeper->stops + count,
                keeper->stop_count * sizeof *keeper->stops);
    }
    pthread_mutex_unlock(&keeper->lock);
    return count;
}

void cairn_keeper_stop(cairn_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    bool is_first = !keeper->is_over;
    keeper->is_over = true;
    pthread_cond_broadcast(&keeper->changed);
    pthread_cond_broadcast(&keeper->told);
    pthread_mutex_unlock(&keeper->lock);
    if (is_first)
        pthread_join(keeper->thread, NULL);
}

void cairn_keeper_free(cairn_keeper *keeper)
{
    if (!keeper)
        return;
    cairn_keeper_stop(keeper);
    keeper_done(keeper);
}
