/* bench/bench.c - what every bench does around its measurements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/bench.h"

#include "base/clock.h"
#include "base/mem.h"
#include "bench/raw.h"
#include "bench/scratch.h"
#include "cli/call.h"
#include "cli/say.h"

#include <inttypes.h>
#include <string.h>

enum { ROUNDS = 5 };

/* ---- turns ---------------------------------------------------------------------------------- */

static void add_cost(struct bench_cost *sum, const struct bench_cost *more)
{
    sum->items += more->items;
    sum->steps += more->steps;
    sum->start_us += more->start_us;
    sum->work_us += more->work_us;
    sum->commits += more->commits;
    sum->bytes = more->bytes < 0 ? -1 : sum->bytes + more->bytes;
}

static int take_turn(struct bench *bench, uint64_t count, struct bench_run *run)
{
    const struct bench_kind *kind = bench->kind;
    for (size_t i = 0; i < kind->way_count; i++) {
        struct bench_cost cost = {.items = count, .steps = count * (uint64_t)bench->steps};
        if (kind->ways[i].is_raw && !bench->raw_ops)
            continue;
        say_progress("%s: %" PRIu64 " in batches of %zu", kind->ways[i].name, count,
                     run->batch);
        int exit_code = kind->ways[i].run(bench, count, run->batch, &cost);
        if (exit_code)
            return exit_code;
        add_cost(&run->costs[i], &cost);
    }
    return EXIT_DONE;
}

static int take_turns(struct bench *bench, uint64_t count, size_t batch, bool is_held)
{
    struct bench_run *run = &bench->runs[bench->run_count++];
    uint64_t rounds = count >= ROUNDS * batch ? ROUNDS : 1;
    int exit_code = EXIT_DONE;
    run->batch = batch;
    run->is_held = is_held;
    for (uint64_t i = 0; i < rounds && !exit_code; i++)
        exit_code = take_turn(bench, count / rounds + (i < count % rounds), run);
    return exit_code;
}

/* Once more, while another transaction keeps the server from removing dead rows. */
static int take_turns_held(struct bench *bench, uint64_t count, size_t batch)
{
    void *snapshot = raw_postgres_hold(bench->url);
    if (!snapshot) {
        say_error("could not hold a snapshot of \"%s\"", cairn_url(bench->engine));
        return EXIT_STORE;
    }
    int exit_code = take_turns(bench, count, batch, true);
    raw_postgres_release(snapshot);
    return exit_code;
}

int bench_take_turns(struct bench *bench, uint64_t count, size_t batch)
{
    int exit_code = take_turns(bench, count, batch, false);
    return exit_code || batch == 1 || !bench->wants_held ? exit_code
                                                         : take_turns_held(bench, count, batch);
}

int bench_work(struct bench *bench, const struct bench_order *order,
               struct bench_share *ret_share)
{
    *ret_share = (struct bench_share){0};
    if (!bench->workers)
        return bench->kind->drain(bench, order, ret_share);
    int exit_code = workers_run(bench->workers, order, ret_share);
    bench->others = *ret_share;
    return exit_code;
}

int bench_measure(struct bench *bench, int (*start)(void *), int (*work)(void *), void *arg,
                  struct bench_cost *cost)
{
    bench->others = (struct bench_share){0};
    int64_t bytes = bench_bytes(bench);
    uint64_t commits = bench_commits(bench);
    int64_t begin_us = monotonic_us();
    int exit_code = start(arg);
    int64_t middle_us = monotonic_us();
    if (!exit_code)
        exit_code = work(arg);
    cost->start_us = middle_us - begin_us;
    cost->work_us = monotonic_us() - middle_us;
    cost->commits = bench_commits(bench) - commits + bench->others.commits;
    cost->bytes = bytes < 0 ? -1 : bench_bytes(bench) - bytes + bench->others.bytes;
    return exit_code;
}

/* ---- from the options to the figures -------------------------------------------------------- */

static int run_open(struct bench *bench, const struct args *args)
{
    const struct bench_kind *kind = bench->kind;
    if (!bench->is_own)
        fprintf(stderr, "Using %s: its own %s %s stay behind, %s.\n", cairn_url(bench->engine),
                kind->own_words, kind->has_steps ? bench->workflow : bench->type,
                kind->ended_word);

    int exit_code = kind->measure(bench, args);
    end_progress();
    if (exit_code)
        return exit_code;
    if (args_wants(args, "json"))
        bench_print_json(bench);
    else
        bench_print_table(bench);
    return EXIT_DONE;
}

static int run_on(struct bench *bench, const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    cairn_error error = {0};
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = bench->url;
    if (cairn_open(&options, &engine, &error))
        return say_unopened(bench->url, &error);
    bench->engine = engine;
    return run_open(bench, args);
}

static bool is_sqlite(const char *url)
{
    return strncmp(url, "sqlite:", 7) == 0;
}

/* The bare statements go to a file of their own on SQLite, and to the same server on PostgreSQL. */
static void use_raw(struct bench *bench, const char *file_url)
{
    bool is_file = is_sqlite(bench->url);
    bench->raw_ops = is_file ? &raw_sqlite : &raw_postgres;
    bench->raw_changes = is_file ? bench->kind->raw_sqlite : bench->kind->raw_postgres;
    bench->raw_url = is_file ? file_url : bench->url;
}

static bool is_postgres(const char *url)
{
    return url && strncmp(url, "postgres", 8) == 0;
}

/* Names that are known before there are other processes. */
static void name_all(struct bench *bench)
{
    snprintf(bench->type, sizeof bench->type, "bench.%" PRIx64 ".noop", bench->seed);
    snprintf(bench->workflow, sizeof bench->workflow, "bench.%" PRIx64, bench->seed);
    if (bench->kind->name_more)
        bench->kind->name_more(bench);
}

static int run_with_workers(struct bench *bench, const struct args *args)
{
    bench->worker_count = (size_t)args_number(args, "workers", 0);
    if (bench->worker_count) {
        bench->workers = workers_start(bench, bench->worker_count);
        if (!bench->workers)
            return EXIT_NO;
    }
    int exit_code = run_on(bench, args);
    workers_end(bench->workers);
    return exit_code;
}

int bench_main(struct bench *bench, const struct bench_kind *kind, const struct args *args)
{
    cleanup(scratch_done) struct scratch scratch = {0};
    const char *url = args_text(args, "url");
    bool has_turns = kind->raw_sqlite != NULL; /* the options belong to those who take turns */
    bool wants_raw = has_turns && args_has(args, "raw");
    bench->wants_held = has_turns && args_has(args, "held-snapshot");
    if (bench->wants_held && !is_postgres(url)) {
        say_error("--held-snapshot needs --url postgres://...: only PostgreSQL keeps dead rows "
                  "for an old snapshot");
        return EXIT_USAGE;
    }
    if (wants_raw && url && !is_sqlite(url) && !is_postgres(url)) {
        say_error("--raw cannot be used with \"%s\": it speaks to sqlite: and postgres: only",
                  url);
        return EXIT_USAGE;
    }
    if (!scratch_make(&scratch, url))
        return EXIT_NO;
    bench->kind = kind;
    bench->seed = bench_seed(args);
    bench->is_own = url == NULL;
    bench->url = url ? url : scratch.url;
    if (wants_raw)
        use_raw(bench, scratch.raw_url);
    name_all(bench);
    return run_with_workers(bench, args);
}
