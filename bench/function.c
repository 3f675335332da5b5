/* bench/function.c - cairn bench functions: what a remembered step costs, in both modes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/function.h"

#include <stdio.h>

enum { SINGLES_MAX = 200 };

static int measure(struct bench *base, const struct args *args)
{
    uint64_t count = (uint64_t)args_number(args, "count", 2000);
    size_t batch = (size_t)args_number(args, "batch", 100);
    if (batch > count)
        batch = (size_t)count;
    int exit_code = function_deploy(base);
    if (!exit_code)
        exit_code = bench_take_turns(base, count < SINGLES_MAX ? count : SINGLES_MAX, 1);
    if (!exit_code && batch > 1)
        exit_code = bench_take_turns(base, count, batch);
    return exit_code;
}

/* Tasks are called after their function. */
static void name_tasks(struct bench *base)
{
    snprintf(base->type, sizeof base->type, "%s", base->workflow);
}

/* ---- bare statements ------------------------------------------------------------------------ */

struct raw_piece raw_piece_at(const struct raw_plan *plan, uint64_t at)
{
    uint64_t full = plan->batch * (uint64_t)plan->pieces; /* pieces of a group */
    uint64_t first = at / full * plan->batch, rest = at % full;
    uint64_t size = plan->count - first < plan->batch ? plan->count - first : plan->batch;
    return (struct raw_piece){.item = first + rest % size, .piece = (int32_t)(rest / size)};
}

static int raw_by_step(struct bench *bench, uint64_t count, size_t batch,
                       struct bench_cost *ret_cost)
{
    return bench_raw(bench, bench->steps, count, batch, ret_cost);
}

static int raw_by_passage(struct bench *bench, uint64_t count, size_t batch,
                          struct bench_cost *ret_cost)
{
    return bench_raw(bench, 1, count, batch, ret_cost);
}

/* ---- requests ------------------------------------------------------------------------------- */

static const char *const mode_names[FUNCTION_MODES] = {"step mode", "passage mode"};
static const char *const mode_keys[FUNCTION_MODES] = {"step", "passage"};

static double each(const struct function_trips *trips, uint64_t of)
{
    return trips->passages ? (double)of / (double)trips->passages : 0;
}

static uint64_t sum(const struct function_trips *trips)
{
    return trips->claims + trips->commits + trips->heartbeats;
}

static void print_more(const struct bench *base)
{
    const struct function_bench *bench = (const struct function_bench *)base;
    printf("\nrequests to the engine for a passage of %d steps:\n", (int)base->steps);
    for (size_t i = 0; i < base->run_count; i++)
        for (int mode = 0; mode < FUNCTION_MODES; mode++) {
            const struct function_trips *trips = &bench->trips[i][mode];
            printf("  %-12s batch %-5zu %5.2f: claims %.2f, commits %.2f, heartbeats %.2f\n",
                   mode_names[mode], base->runs[i].batch, each(trips, sum(trips)),
                   each(trips, trips->claims), each(trips, trips->commits),
                   each(trips, trips->heartbeats));
        }
}

static void put_trips(struct json_out *out, const char *key, const struct function_trips *trips)
{
    json_key(out, key);
    json_open(out, '{');
    figure_real(out, "all", each(trips, sum(trips)));
    figure_real(out, "claims", each(trips, trips->claims));
    figure_real(out, "commits", each(trips, trips->commits));
    figure_real(out, "heartbeats", each(trips, trips->heartbeats));
    json_close(out, '}');
}

static void put_more(const struct bench *base, struct json_out *out)
{
    const struct function_bench *bench = (const struct function_bench *)base;
    json_key(out, "round_trips");
    json_open(out, '[');
    for (size_t i = 0; i < base->run_count; i++) {
        json_open(out, '{');
        figure_int(out, "batch", (int64_t)base->runs[i].batch);
        for (int mode = 0; mode < FUNCTION_MODES; mode++)
            put_trips(out, mode_keys[mode], &bench->trips[i][mode]);
        json_close(out, '}');
    }
    json_close(out, ']');
}

/* ---- the command ---------------------------------------------------------------------------- */

enum { STEP, PASSAGE, RAW_STEP, RAW_PASSAGE };

static const struct bench_kind kind = {
    .ways = {[STEP] = {.name = "step mode", .key = "step", .run = function_by_step},
             [PASSAGE] = {.name = "passage mode", .key = "passage", .run = function_by_passage},
             [RAW_STEP] =
                 {.name = "raw by step", .key = "raw_step", .is_raw = true, .run = raw_by_step},
             [RAW_PASSAGE] = {.name = "raw by passage",
                              .key = "raw_passage",
                              .is_raw = true,
                              .run = raw_by_passage}},
    .way_count = 4,
    .pairs = {{"passage / step", "passage_to_step", PASSAGE, STEP},
              {"step mode / raw", "step_to_raw", STEP, RAW_STEP},
              {"passage mode / raw", "passage_to_raw", PASSAGE, RAW_PASSAGE}},
    .pair_count = 3,
    .raw_sqlite = &raw_function_sqlite,
    .raw_postgres = &raw_function_postgres,
    .has_steps = true,
    BENCH_INSTANCE_WORDS,
    .name_more = name_tasks,
    .measure = measure,
    .drain = function_drain,
    .print_more = print_more,
    .put_more = put_more,
};

int bench_functions(const struct args *args)
{
    struct function_bench bench = {.base = {.steps = (int32_t)args_number(args, "steps", 5)}};
    return bench_main(&bench.base, &kind, args);
}
