/* bench/bench.h - what the benches share: their stores, their turns, their threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each bench does the same work in several ways, which take turns in one run: by the engine, and
 * with bare statements ("raw") that make the same row changes in the same batches.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "base/json.h"
#include "base/random.h"
#include "cairn.h"
#include "cli/args.h"
#include "cli/bench.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_TYPE = 64, BENCH_WAYS = 4, BENCH_MORE = 4 };

#define BENCH_WORKER "bench-worker-1"
#define BENCH_PAYLOAD "{\"n\":1}"

/* What one way of doing it took. */
struct bench_cost {
    uint64_t items, steps; /* items: jobs, instances; a job is its own only step */
    int64_t start_us, work_us;
    uint64_t commits;
    int64_t bytes; /* written; -1: unknown here */
};

/* What the ways took in all their turns. */
struct bench_run {
    size_t batch;
    bool is_held; /* another transaction held a snapshot open meanwhile */
    struct bench_cost costs[BENCH_WAYS];
};

/* Work that is there to be done, and how one process does it. */
struct bench_order {
    size_t batch;
    size_t lanes; /* threads */
    int mode;     /* of functions */
    int64_t
        *stamps; /* when each was completed, then CPU; NULL: not kept, as by a worker process */
};

/* What one process has done of it, or several. */
struct bench_share {
    uint64_t done, commits;
    int64_t bytes;             /* written by the process itself, if that is known */
    uint64_t more[BENCH_MORE]; /* what the kind of bench wants to know */
    int exit_code;
};

/* The first member of every bench. */
struct bench {
    const struct bench_kind *kind;
    cairn_engine *engine;
    const char *url;               /* as it was opened */
    bool is_own;                   /* a store made for this run; removed afterwards */
    const char *raw_url;           /* where the bare statements go */
    const struct raw_ops *raw_ops; /* NULL: no --raw */
    const struct raw_changes *raw_changes;
    char type[BENCH_TYPE];         /* of this run's tasks alone: bench.SEED.noop */
    char workflow[BENCH_TYPE];     /* of its instances: bench.SEED */
    int32_t steps;                 /* of an instance; 1: jobs */
    size_t threads;                /* of each process that works */
    struct bench_workers *workers; /* NULL: this process works by itself */
    size_t worker_count;
    struct bench_share others; /* what the worker processes have done in the turn under way */
    bool wants_held;
    uint64_t seed;
    size_t run_count;
    struct bench_run runs[3]; /* one at a time, in batches, in batches with a held snapshot */
};

/* A way of doing so many items; answers an exit code. */
struct bench_way {
    const char *name; /* as it is printed */
    const char *key;  /* of it in JSON */
    bool is_raw;      /* only with --raw */
    int (*run)(struct bench *bench, uint64_t count, size_t batch, struct bench_cost *ret_cost);
};

/* A ratio of two ways that is worth printing. */
struct bench_pair {
    const char *name; /* as it is printed */
    const char *key;  /* of an object of its own in JSON; NULL: not in one */
    int of, to;       /* ways; the ratio is in speed */
};

/* What is particular to one bench. */
struct bench_kind {
    struct bench_way ways[BENCH_WAYS];
    size_t way_count;
    struct bench_pair pairs[BENCH_WAYS];
    size_t pair_count;
    const struct raw_changes *raw_sqlite, *raw_postgres;
    bool has_steps; /* its items are instances with steps */

    /* For eyes: heads of columns, what bytes are counted by, what becomes of a user's store. */
    const char *start_head, *work_head, *all_head, *unit, *own_words, *ended_word;

    /* In JSON. */
    const char *items_key, *start_key, *work_key, *all_key, *start_us_key, *start_ratio_key;

    void (*name_more)(struct bench *bench); /* beside type and workflow; may be NULL */
    int (*measure)(struct bench *bench, const struct args *args);
    /* Does what an order says with the engine of this process; answers an exit code. */
    int (*drain)(struct bench *bench, const struct bench_order *order,
                 struct bench_share *ret_share);
    void (*print_more)(const struct bench *bench); /* under the table */
    void (*put_more)(const struct bench *bench, struct json_out *out);
};

/* The words of those whose items are instances. */
#define BENCH_INSTANCE_WORDS                                                             \
    .start_head = "INSTANCES STARTED", .work_head = "STEPS", .all_head = "INSTANCES",    \
    .unit = "step", .own_words = "work stays as it is; instances of workflow",           \
    .ended_word = "ended", .items_key = "instances", .start_key = "started_per_s",       \
    .work_key = "steps_per_s", .all_key = "instances_per_s", .start_us_key = "start_us", \
    .start_ratio_key = "start_ratio"

/* All that a bench does.  The caller has set what only its own options say. */
int bench_main(struct bench *bench, const struct bench_kind *kind, const struct args *args);

/* All ways, in turns, so that what else happens on the machine meets them alike. */
int bench_take_turns(struct bench *bench, uint64_t count, size_t batch);

/* Fills in what both parts took.  Each answers an exit code. */
int bench_measure(struct bench *bench, int (*start)(void *), int (*work)(void *), void *arg,
                  struct bench_cost *cost);

/* Has an order carried out, by this process or by the worker processes. */
int bench_work(struct bench *bench, const struct bench_order *order,
               struct bench_share *ret_share);

/* The benches; each answers an exit code. */
int bench_jobs(const struct args *args);
int bench_workflows(const struct args *args);
int bench_functions(const struct args *args);
int bench_mixed(const struct args *args);

/* ---- workers.c ------------------------------------------------------------------------ */

/* Processes that wait for orders, forked before this one has threads.  NULL: it has said why not. */
struct bench_workers *workers_start(struct bench *bench, size_t count);
void workers_end(struct bench_workers *workers); /* may be NULL */
int workers_run(struct bench_workers *workers, const struct bench_order *order,
                struct bench_share *ret_share); /* of all together */

/* ---- lane.c --------------------------------------------------------------------------- */

/* One of the threads that do the same. */
struct bench_lane {
    struct bench *bench;
    uint64_t count; /* its share */
    size_t batch;
    cairn_report *reports;      /* room for a batch */
    const char *output;         /* of what it completes; NULL: null */
    int64_t *stamps;            /* when each was completed, monotonic; NULL: not kept */
    int64_t *cpu_stamps;        /* and how much CPU this process had used by then */
    uint64_t done, stamps_room; /* how many were */
    void *arg;                  /* for a run of its own kind */
    cairn_code code;
    cairn_error error;
};

/* Completes and claims in one call until there is nothing more. */
int bench_drain_tasks(struct bench *bench, const struct bench_order *order,
                      struct bench_share *ret_share);
int bench_run_lanes(struct bench_lane *lanes, size_t count, void *(*run)(void *));

/* A claim that went with a report may be given nothing though tasks wait: this one makes sure. */
cairn_code bench_claim_if_none(struct bench *bench, const cairn_claim_options *claim,
                               cairn_page **tasks, cairn_error *reterr);

/* Starts instances of a workflow, so many callers at a time. */
int bench_start_all(struct bench *bench, const char *workflow, uint64_t count, size_t callers);

int bench_deploy(struct bench *bench, const char *text);
int bench_no_memory(void);                      /* says so */
int64_t bench_bytes(const struct bench *bench); /* by all */
int64_t
bench_own_bytes(const struct bench *bench); /* by this process; -1: it does not matter */
uint64_t bench_commits(const struct bench *bench);
int64_t bench_cpu_us(void);                                     /* of this process, so far */
int64_t percentile(int64_t *values, size_t count, int percent); /* sorts them */

/* ---- print.c -------------------------------------------------------------------------- */

void bench_print_table(const struct bench *bench);
void bench_print_json(const struct bench *bench);

double per_second(uint64_t count, int64_t us);
double ratio(int64_t of, int64_t to);
void figure_int(struct json_out *out, const char *key, int64_t value);
void figure_real(struct json_out *out, const char *key, double value);
void figure_known(struct json_out *out, const char *key, int64_t value); /* -1: null */

#endif
