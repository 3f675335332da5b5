/* cli/bench.h - the parts of cairn bench jobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The engine and the bare statements ("raw") do the same row changes in the same batches:
 * insert a batch; then, in one commit each, complete the batch before and lease the next.
 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "base/random.h"
#include "cairn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_BATCH_MAX = 1000, BENCH_TYPE = 64, BENCH_LANES_MAX = 256 };

#define BENCH_WORKER "bench-worker-1"

/* What one way of doing it took. */
struct bench_cost {
    uint64_t jobs;
    int64_t enqueue_us, work_us;
    uint64_t commits;
    int64_t bytes; /* written; -1: nobody here knows */
};

struct bench_run {
    size_t batch;
    struct bench_cost engine, raw;
};

struct bench_latency {
    size_t samples;
    int64_t call_p50_us, call_p99_us;     /* from the call that enqueues to the start */
    int64_t commit_p50_us, commit_p99_us; /* from its answer to the start */
};

/* What a claim costs with few and with many jobs waiting: medians. */
struct bench_backlog {
    uint64_t few, many;
    int64_t one_few_us, one_many_us;     /* a claim of one */
    int64_t batch_few_us, batch_many_us; /* a claim of a batch */
};

/* The job's row as the bare statements need it. */
struct raw_job {
    char id[ID_TEXT];
    char token[TOKEN_TEXT];
    int64_t seq;
};

/* Bare statements on one back end.  Each call but the first and last is one transaction. False:
 * it failed, and standard error says why. */
struct raw_ops {
    bool (*open)(const char *url, const char *type, void **ret_raw);
    bool (*insert)(void *raw, struct raw_job *jobs, size_t count);
    bool (*turn)(void *raw, const struct raw_job *done, size_t done_count,
                 const struct raw_job *next, size_t next_count);
    void (*close)(void *raw);
};

extern const struct raw_ops raw_sqlite, raw_postgres;

/* Bytes of write-ahead log that the server at this URL has written; -1: it did not say. */
int64_t raw_postgres_written(const char *url);

/* The library makes the tables, so that they are the same.  False: standard error says why. */
bool raw_sqlite_tables(const char *url);

/* The settings of the engine's own writer. */
#define RAW_SQLITE_SETTINGS                                   \
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "  \
    "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2048; " \
    "PRAGMA journal_size_limit = 16777216;"

#define RAW_PAYLOAD "{\"n\":1}"
#define RAW_CLAIM_DATA "{\"attempt\":1,\"worker\":\"" BENCH_WORKER "\"}"

/* What the measurements share. */
struct bench {
    cairn_engine *engine;
    const char *url;               /* as it was opened */
    const char *raw_url;           /* where the bare statements go */
    const struct raw_ops *raw_ops; /* NULL: no --raw */
    char type[BENCH_TYPE];         /* of this run's jobs alone: bench.SEED.noop */
    char backlog[BENCH_TYPE];
    size_t workers;
    uint64_t seed;
};

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

void *bench_work_lane(void *lane); /* completes and claims in one call until nothing comes */
int bench_run_lanes(struct bench_lane *lanes, size_t count, void *(*run)(void *));

/* Each answers an exit code. */
int bench_engine(struct bench *bench, uint64_t count, size_t batch,
                 struct bench_cost *ret_cost);
int bench_raw(struct bench *bench, uint64_t count, size_t batch, struct bench_cost *ret_cost);
int bench_latency(struct bench *bench, size_t samples, struct bench_latency *ret_latency);
int bench_backlog(struct bench *bench, uint64_t many, size_t batch,
                  struct bench_backlog *ret_backlog);
int bench_drain(struct bench *bench); /* completes what a backlog has left */

int64_t bench_bytes(const struct bench *bench);
uint64_t bench_commits(const struct bench *bench);
int64_t bench_cpu_us(void);                                     /* of this process, so far */
int64_t percentile(int64_t *values, size_t count, int percent); /* sorts them */

#endif
