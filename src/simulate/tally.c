/* simulate/tally.c - makes runs in parallel, each thread in a world of its own, and sums them up.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A run depends on nothing but its seed, and counts and smallest seeds do not depend on the order of runs: so the
 * sum is the same however many threads there are.
 */
#include "simulate/tally.h"

#include "base/error.h"
#include "base/mem.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum {
    THREADS_MAX = 16,
    PORTION = 16,      /* seeds that a thread takes at a time */
    WORLD_RUNS = 2000, /* a world is replaced after so many runs, which bounds its memory */
    ORDERS_MAX = 1000, /* different orders of undo that are told apart */
};

struct work {
    struct sim_tally *tally;
    const struct sim_plan *plan;
    uint64_t first, count, next;
    void (*progress)(uint64_t done, uint64_t count);
    pthread_mutex_t lock;
    cairn_error error; /* of the first thread that failed */
};

/* ---- counting ---------------------------------------------------------------------------------- */

static void count_one(struct sim_count *counted, uint64_t seed)
{
    if (counted->n++ == 0 || seed < counted->seed)
        counted->seed = seed;
}

static struct sim_count *find_count(struct sim_count *items, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(items[i].what, what) == 0)
            return &items[i];
    return NULL;
}

static bool count_end(struct sim_tally *tally, const char *word, uint64_t seed)
{
    struct sim_count *counted = find_count(tally->ends.items, tally->ends.count, word);
    if (!counted) {
        counted = list_add(&tally->arena, &tally->ends);
        if (counted)
            counted->what = arena_strdup(&tally->arena, word);
    }
    if (!counted || !counted->what)
        return false;
    count_one(counted, seed);
    return true;
}

static bool count_undone(struct sim_tally *tally, const char *order, uint64_t seed)
{
    bool is_full = tally->undone.count >= ORDERS_MAX;
    struct sim_count *counted = find_count(tally->undone.items, tally->undone.count, order);
    if (!counted && is_full)
        order = "(other orders)";
    if (!counted && is_full)
        counted = find_count(tally->undone.items, tally->undone.count, order);
    if (!counted) {
        counted = list_add(&tally->arena, &tally->undone);
        if (counted)
            counted->what = arena_strdup(&tally->arena, order);
    }
    if (!counted || !counted->what)
        return false;
    count_one(counted, seed);
    return true;
}

static void write_order(const struct sim_tally *tally, const struct sim_end *end,
                        struct buf *order)
{
    for (size_t i = 0; i < end->undone_count; i++)
        buf_printf(order, "%s%s", i ? ", " : "", tally->steps[end->undone[i]]);
}

static cairn_code count_run(struct sim_tally *tally, const struct sim_end *end, uint64_t seed,
                            cairn_error *reterr)
{
    struct buf order = {0};
    write_order(tally, end, &order);
    bool is_counted = !buf_failed(&order) && count_end(tally, end->word, seed) &&
                      count_undone(tally, buf_text(&order), seed);
    buf_done(&order);
    NEED(is_counted, reterr);
    for (size_t i = 0; i < tally->step_count; i++)
        tally->reached[i] += end->is_reached[i];
    for (size_t i = 0; i < tally->law_count; i++)
        if (!law_holds(&tally->laws[i], end->steps, end->status))
            count_one(&tally->broken[i], seed);
    tally->runs++;
    return CAIRN_OK;
}

/* ---- threads ----------------------------------------------------------------------------------- */

static bool take_portion(struct work *work, uint64_t *ret_from, uint64_t *ret_to)
{
    pthread_mutex_lock(&work->lock);
    uint64_t left = work->error.code ? 0 : work->count - work->next;
    *ret_from = work->next;
    work->next += left < PORTION ? left : PORTION;
    *ret_to = work->next;
    if (work->progress && left)
        work->progress(work->next, work->count);
    pthread_mutex_unlock(&work->lock);
    return left > 0;
}

static cairn_code make_run(struct work *work, struct sim_world *world, uint64_t seed,
                           cairn_error *reterr)
{
    struct sim_end end = {0};
    cairn_code code = sim_run(world, seed, NULL, &end, reterr);
    if (!code) {
        pthread_mutex_lock(&work->lock);
        code = count_run(work->tally, &end, seed, reterr);
        pthread_mutex_unlock(&work->lock);
    }
    sim_end_done(&end);
    return code;
}

static cairn_code make_portions(struct work *work, struct sim_world *world, cairn_error *reterr)
{
    uint64_t from, to, runs = 0;
    while (take_portion(work, &from, &to)) {
        if (!world->engine || runs >= WORLD_RUNS) {
            sim_world_close(world);
            TRY(sim_world_open(world, work->plan, reterr));
            runs = 0;
        }
        for (uint64_t i = from; i < to; i++, runs++)
            TRY(make_run(work, world, work->first + i, reterr));
    }
    return CAIRN_OK;
}

static void *run_thread(void *arg)
{
    struct work *work = arg;
    struct sim_world world = {0};
    cairn_error error = {0};
    if (make_portions(work, &world, &error)) {
        pthread_mutex_lock(&work->lock);
        if (!work->error.code)
            work->error = error;
        pthread_mutex_unlock(&work->lock);
    }
    sim_world_close(&world);
    return NULL;
}

static size_t thread_count(uint64_t runs)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t useful = (runs + PORTION - 1) / PORTION;
    size_t count = processors < 1 ? 1 : (size_t)processors;
    if (count > THREADS_MAX)
        count = THREADS_MAX;
    return count < useful ? count : (size_t)useful;
}

/* This thread is one of them; who cannot be started leaves its share to the others. */
static void run_threads(struct work *work)
{
    pthread_t threads[THREADS_MAX];
    size_t wanted = thread_count(work->count), count = 0;
    while (count + 1 < wanted && pthread_create(&threads[count], NULL, run_thread, work) == 0)
        count++;
    run_thread(work);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

cairn_code sim_tally_runs(struct sim_tally *tally, const struct sim_world *world,
                          const struct law *laws, size_t law_count, uint64_t first,
                          uint64_t count, void (*progress)(uint64_t done, uint64_t count),
                          cairn_error *reterr)
{
    struct work work = {.tally = tally,
                        .plan = world->plan,
                        .first = first,
                        .count = count,
                        .progress = progress,
                        .lock = PTHREAD_MUTEX_INITIALIZER};
    *tally = (struct sim_tally){.workflow = world->workflow,
                                .version = world->version,
                                .steps = world->steps,
                                .step_count = world->step_count,
                                .laws = laws,
                                .law_count = law_count};
    tally->reached = arena_array(&tally->arena, world->step_count, sizeof *tally->reached);
    tally->broken = arena_array(&tally->arena, law_count + 1, sizeof *tally->broken);
    NEED(tally->reached && tally->broken, reterr);
    for (size_t i = 0; i < law_count; i++)
        tally->broken[i].what = laws[i].text;
    run_threads(&work);
    if (work.error.code && reterr)
        *reterr = work.error;
    return work.error.code;
}

void sim_tally_done(struct sim_tally *tally)
{
    arena_done(&tally->arena);
    *tally = (struct sim_tally){0};
}
