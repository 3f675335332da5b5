/* cli/bench_function_engine.c - functions through the engine: start, then claim and run passages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/bench_function.h"

#include <pthread.h>
#include <stdio.h>

enum { LEASE_MS = 30000 };

int function_deploy(struct function_bench *bench)
{
    char text[BENCH_TYPE + 64];
    snprintf(text, sizeof text, "{\"function\":\"%s\",\"version\":1}", bench->base.workflow);
    return bench_deploy(&bench->base, text);
}

/* ---- passages ------------------------------------------------------------------------------- */

/* Claimed tasks, taken one by one by the lanes; who finds none left claims the next batch. */
struct passages {
    struct bench *bench;
    uint64_t count;
    size_t batch;
    cairn_commit_mode commit;
    pthread_mutex_t lock;                 /* of what follows */
    cairn_tasks **claimed;                /* kept until the end: a lane may still read one */
    size_t claim_count, claim_room, next; /* next: of the latest claim */
    bool is_over;
    struct function_trips trips;
};

static cairn_code claim_more(struct passages *passages, cairn_error *reterr)
{
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    cairn_tasks *tasks;
    claim.worker = BENCH_WORKER;
    claim.types = (const char *[]){passages->bench->type};
    claim.type_count = 1;
    claim.max = (uint32_t)passages->batch;
    claim.lease_ms = LEASE_MS;
    cairn_code code = cairn_claim(passages->bench->engine, &claim, &tasks, reterr);
    if (code)
        return code;
    passages->claimed[passages->claim_count++] = tasks;
    passages->next = 0;
    passages->is_over =
        cairn_tasks_count(tasks) == 0 || passages->claim_count == passages->claim_room;
    passages->trips.claims += cairn_tasks_count(tasks) > 0; /* the last one finds nothing */
    return CAIRN_OK;
}

static const cairn_task *take_one(struct passages *passages)
{
    const cairn_tasks *latest =
        passages->claim_count ? passages->claimed[passages->claim_count - 1] : NULL;
    if (!latest || passages->next == cairn_tasks_count(latest))
        return NULL;
    return cairn_tasks_at(latest, passages->next++);
}

/* *ret_task NULL: there is nothing left. */
static cairn_code next_task(struct passages *passages, const cairn_task **ret_task,
                            cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    pthread_mutex_lock(&passages->lock);
    *ret_task = take_one(passages);
    if (!*ret_task && !passages->is_over) {
        code = claim_more(passages, reterr);
        passages->is_over |= code != CAIRN_OK;
        *ret_task = code ? NULL : take_one(passages);
    }
    pthread_mutex_unlock(&passages->lock);
    return code;
}

static cairn_outcome do_nothing(cairn_work *work, void *arg)
{
    (void)arg;
    return cairn_work_set_output(work, BENCH_PAYLOAD) ? CAIRN_FAIL : CAIRN_COMPLETE;
}

static cairn_code run_steps(cairn_passage *passage, int32_t count, cairn_error *reterr)
{
    char key[16];
    cairn_step_options step = CAIRN_STEP_DEFAULTS;
    cairn_code code = CAIRN_OK;
    step.key = key;
    step.run = do_nothing;
    for (int32_t i = 0; i < count && !code; i++) {
        snprintf(key, sizeof key, RAW_STEP_NAME, (int)i + 1);
        code = cairn_passage_step(passage, &step, NULL, reterr);
    }
    return code ? code : cairn_passage_set_output(passage, BENCH_PAYLOAD, reterr);
}

static cairn_code run_passage(struct passages *passages, const cairn_task *task,
                              cairn_error *reterr)
{
    cairn_passage *passage;
    cairn_passage_costs costs = {.size = sizeof costs};
    cairn_error why;
    cairn_code code = cairn_passage_open(passages->bench->engine, BENCH_WORKER, task,
                                         passages->commit, LEASE_MS, &passage, reterr);
    if (code)
        return code;
    code = run_steps(passage, passages->bench->steps, reterr);
    cairn_passage_count(passage, &costs);
    cairn_code ended = cairn_passage_end(passage, code, NULL, code ? &why : reterr);
    pthread_mutex_lock(&passages->lock);
    passages->trips.passages++;
    passages->trips.commits += costs.commits + 1; /* its end is one */
    passages->trips.heartbeats += costs.heartbeats;
    pthread_mutex_unlock(&passages->lock);
    return code ? code : ended;
}

static void *run_some(void *arg)
{
    struct bench_lane *lane = arg;
    const cairn_task *task;
    do {
        lane->code = next_task(lane->arg, &task, &lane->error);
        if (!lane->code && task)
            lane->code = run_passage(lane->arg, task, &lane->error);
    } while (!lane->code && task);
    return NULL;
}

/* ---- measuring ------------------------------------------------------------------------------ */

static int start_all(void *arg)
{
    struct passages *passages = arg;
    return bench_start_all(passages->bench, passages->bench->workflow, passages->count,
                           passages->batch);
}

static int work_all(void *arg)
{
    struct passages *passages = arg;
    cleanup(mem_freep) struct bench_lane *lanes = mem_zalloc(passages->batch * sizeof *lanes);
    passages->claim_room = (size_t)passages->count + 1;
    passages->claimed = mem_zalloc(passages->claim_room * sizeof *passages->claimed);
    int exit_code = lanes && passages->claimed ? EXIT_DONE : bench_no_memory();
    for (size_t i = 0; i < passages->batch && !exit_code; i++)
        lanes[i] = (struct bench_lane){.bench = passages->bench, .arg = passages};
    if (!exit_code)
        exit_code = bench_run_lanes(lanes, passages->batch, run_some);
    for (size_t i = 0; i < passages->claim_count; i++)
        cairn_tasks_free(passages->claimed[i]);
    mem_free(passages->claimed);
    return exit_code;
}

static int run_mode(struct bench *base, uint64_t count, size_t batch, int mode,
                    struct bench_cost *ret_cost)
{
    struct function_bench *bench = (struct function_bench *)base;
    struct function_trips *trips = &bench->trips[base->run_count - 1][mode];
    struct passages passages = {.bench = base,
                                .count = count,
                                .batch = batch,
                                .commit = mode == FUNCTION_BY_STEP ? CAIRN_COMMIT_STEP
                                                                   : CAIRN_COMMIT_PASSAGE,
                                .lock = PTHREAD_MUTEX_INITIALIZER};
    int exit_code = bench_measure(base, start_all, work_all, &passages, ret_cost);
    trips->passages += passages.trips.passages;
    trips->claims += passages.trips.claims;
    trips->commits += passages.trips.commits;
    trips->heartbeats += passages.trips.heartbeats;
    return exit_code;
}

int function_by_step(struct bench *bench, uint64_t count, size_t batch,
                     struct bench_cost *ret_cost)
{
    return run_mode(bench, count, batch, FUNCTION_BY_STEP, ret_cost);
}

int function_by_passage(struct bench *bench, uint64_t count, size_t batch,
                        struct bench_cost *ret_cost)
{
    return run_mode(bench, count, batch, FUNCTION_BY_PASSAGE, ret_cost);
}
