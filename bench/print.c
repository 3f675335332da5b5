/* bench/print.c - the figures of a bench, for eyes and as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/print.h"
#include "base/buf.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "cli/call.h"

#include <inttypes.h>
#include <stdio.h>

enum { COLUMNS = 6, CELL = 48 };

double per_second(uint64_t count, int64_t us)
{
    return us > 0 ? (double)count * 1e6 / (double)us : 0;
}

double ratio(int64_t of, int64_t to)
{
    return to > 0 ? (double)of / (double)to : 0;
}

static int64_t total_us(const struct bench_cost *cost)
{
    return cost->start_us + cost->work_us;
}

static bool is_shown(const struct bench *bench, int way)
{
    return bench->raw_ops || !bench->kind->ways[way].is_raw;
}

/* ---- for eyes ------------------------------------------------------------------------------- */

static const char *held_words(const struct bench_run *run)
{
    return run->is_held ? ", snapshot held" : "";
}

static void add_cost(struct grid *grid, const struct bench *bench, const struct bench_run *run,
                     size_t way)
{
    const struct bench_cost *cost = &run->costs[way];
    char texts[COLUMNS][CELL];
    snprintf(texts[0], CELL, "%s, batch %zu%s", bench->kind->ways[way].name, run->batch,
             held_words(run));
    snprintf(texts[1], CELL, "%.0f/s", per_second(cost->items, cost->start_us));
    snprintf(texts[2], CELL, "%.0f/s", per_second(cost->steps, cost->work_us));
    snprintf(texts[3], CELL, "%.0f/s", per_second(cost->items, total_us(cost)));
    snprintf(texts[4], CELL, "%" PRIu64, cost->commits);
    if (cost->bytes < 0)
        snprintf(texts[5], CELL, "-");
    else
        snprintf(texts[5], CELL, "%" PRId64 " (%.0f a %s)", cost->bytes,
                 (double)cost->bytes / (double)cost->steps, bench->kind->unit);
    const char *cells[] = {texts[0], texts[1], texts[2], texts[3], texts[4], texts[5]};
    grid_row(grid, cells, COLUMNS);
}

static void put_ratio_row(struct grid *grid, const char *title, const struct bench_cost *of,
                          const struct bench_cost *to)
{
    char texts[4][CELL];
    snprintf(texts[0], CELL, "%s", title);
    snprintf(texts[1], CELL, "%.2f", ratio(to->start_us, of->start_us));
    snprintf(texts[2], CELL, "%.2f", ratio(to->work_us, of->work_us));
    snprintf(texts[3], CELL, "%.2f", ratio(total_us(to), total_us(of)));
    const char *cells[] = {texts[0], texts[1], texts[2], texts[3], "", ""};
    grid_row(grid, cells, COLUMNS);
}

static void add_ratio(struct grid *grid, const struct bench_run *run,
                      const struct bench_pair *pair)
{
    char title[CELL];
    snprintf(title, sizeof title, "%s, batch %zu%s", pair->name, run->batch, held_words(run));
    put_ratio_row(grid, title, &run->costs[pair->of], &run->costs[pair->to]);
}

/* The latest run, if a snapshot was held; the one before it is the same without. */
static const struct bench_run *held_run(const struct bench *bench)
{
    const struct bench_run *last = &bench->runs[bench->run_count - 1];
    return bench->run_count > 1 && last->is_held ? last : NULL;
}

static void add_held_ratio(struct grid *grid, const struct bench *bench)
{
    const struct bench_run *held = held_run(bench);
    for (size_t i = 0; held && i < bench->kind->way_count; i++) {
        char title[CELL];
        snprintf(title, sizeof title, "%s, held / without", bench->kind->ways[i].name);
        if (is_shown(bench, (int)i))
            put_ratio_row(grid, title, &held->costs[i], &held[-1].costs[i]);
    }
}

static void add_run(struct grid *grid, const struct bench *bench, const struct bench_run *run)
{
    const struct bench_kind *kind = bench->kind;
    for (size_t i = 0; i < kind->way_count; i++)
        if (is_shown(bench, (int)i))
            add_cost(grid, bench, run, i);
    for (size_t i = 0; i < kind->pair_count; i++)
        if (is_shown(bench, kind->pairs[i].of) && is_shown(bench, kind->pairs[i].to))
            add_ratio(grid, run, &kind->pairs[i]);
}

/* "5 steps, "; nothing for none. */
static void print_count(size_t count, const char *what)
{
    if (count)
        printf("%zu %s%s, ", count, what, count == 1 ? "" : "s");
}

void bench_print_table(const struct bench *bench)
{
    const struct bench_kind *kind = bench->kind;
    const char *head[COLUMNS] = {"",        kind->start_head, kind->work_head, kind->all_head,
                                 "COMMITS", "BYTES WRITTEN"};
    struct grid grid = {0};
    grid_row(&grid, head, COLUMNS);
    for (size_t i = 0; i < bench->run_count; i++)
        add_run(&grid, bench, &bench->runs[i]);
    add_held_ratio(&grid, bench);
    printf("%s, ", cairn_url(bench->engine));
    print_count(kind->has_steps ? (size_t)bench->steps : 0, "step");
    print_count(bench->threads, "thread");
    print_count(bench->worker_count, "worker");
    printf("seed %" PRIu64 "\n\n", bench->seed);
    grid_print(&grid);
    grid_done(&grid);
    kind->print_more(bench);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

void figure_int(struct json_out *out, const char *key, int64_t value)
{
    json_key(out, key);
    json_int(out, value);
}

void figure_real(struct json_out *out, const char *key, double value)
{
    char text[48];
    snprintf(text, sizeof text, "%.3f", value);
    json_key(out, key);
    json_raw(out, text);
}

void figure_known(struct json_out *out, const char *key, int64_t value)
{
    json_key(out, key);
    if (value < 0)
        json_raw(out, NULL);
    else
        json_int(out, value);
}

static void put_cost(struct json_out *out, const struct bench_kind *kind, const char *key,
                     const struct bench_cost *cost)
{
    json_key(out, key);
    json_open(out, '{');
    figure_real(out, kind->start_key, per_second(cost->items, cost->start_us));
    figure_real(out, kind->work_key, per_second(cost->steps, cost->work_us));
    figure_real(out, kind->all_key, per_second(cost->items, total_us(cost)));
    figure_int(out, kind->start_us_key, cost->start_us);
    figure_int(out, "work_us", cost->work_us);
    figure_int(out, "commits", (int64_t)cost->commits);
    figure_known(out, "bytes_written", cost->bytes);
    json_close(out, '}');
}

static void put_ratios(struct json_out *out, const struct bench_kind *kind,
                       const struct bench_cost *of, const struct bench_cost *to)
{
    figure_real(out, kind->start_ratio_key, ratio(to->start_us, of->start_us));
    figure_real(out, "work_ratio", ratio(to->work_us, of->work_us));
    figure_real(out, "ratio", ratio(total_us(to), total_us(of)));
}

/* Beside the ways of engine and raw, or, if there are several pairs, in objects of their own. */
static void put_ratio(struct json_out *out, const struct bench_kind *kind,
                      const struct bench_run *run, const struct bench_pair *pair)
{
    if (pair->key) {
        json_key(out, pair->key);
        json_open(out, '{');
    }
    put_ratios(out, kind, &run->costs[pair->of], &run->costs[pair->to]);
    if (pair->key)
        json_close(out, '}');
}

static void put_held_ratio(struct json_out *out, const struct bench *bench)
{
    const struct bench_run *held = held_run(bench);
    if (!held)
        return;
    json_open(json_key(out, "held_to_without"), '{');
    for (size_t i = 0; i < bench->kind->way_count; i++) {
        if (!is_shown(bench, (int)i))
            continue;
        json_open(json_key(out, bench->kind->ways[i].key), '{');
        put_ratios(out, bench->kind, &held->costs[i], &held[-1].costs[i]);
        json_close(out, '}');
    }
    json_close(out, '}');
}

static void put_run(struct json_out *out, const struct bench *bench,
                    const struct bench_run *run)
{
    const struct bench_kind *kind = bench->kind;
    json_open(out, '{');
    figure_int(out, "batch", (int64_t)run->batch);
    json_bool(json_key(out, "held_snapshot"), run->is_held);
    figure_int(out, kind->items_key, (int64_t)run->costs[0].items);
    if (kind->has_steps)
        figure_int(out, "steps", (int64_t)run->costs[0].steps);
    for (size_t i = 0; i < kind->way_count; i++)
        if (is_shown(bench, (int)i))
            put_cost(out, kind, kind->ways[i].key, &run->costs[i]);
    for (size_t i = 0; i < kind->pair_count; i++)
        if (is_shown(bench, kind->pairs[i].of) && is_shown(bench, kind->pairs[i].to))
            put_ratio(out, kind, run, &kind->pairs[i]);
    json_close(out, '}');
}

void bench_print_json(const struct bench *bench)
{
    cleanup(buf_donep) struct buf text = {0};
    struct json_out out = {.buf = &text};
    json_open(&out, '{');
    json_key(&out, "url");
    json_str(&out, cairn_url(bench->engine));
    figure_int(&out, "seed", (int64_t)bench->seed);
    figure_int(&out, "workers", bench->worker_count ? (int64_t)bench->worker_count : 1);
    if (bench->threads)
        figure_int(&out, "threads", (int64_t)bench->threads);
    if (bench->kind->has_steps)
        figure_int(&out, "steps", bench->steps);
    json_key(&out, "runs");
    json_open(&out, '[');
    for (size_t i = 0; i < bench->run_count; i++)
        put_run(&out, bench, &bench->runs[i]);
    json_close(&out, ']');
    put_held_ratio(&out, bench);
    bench->kind->put_more(bench, &out);
    json_close(&out, '}');
    puts(buf_text(&text));
}
