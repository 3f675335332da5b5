/* bench/raw.h - bare statements: the least that a store must do for the same rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * They know their ids, so they search nothing and check nothing.  As the engine, they insert in
 * batches; then, in one commit each, they finish the batch before and lease the next.
 */
#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include "bench/bench.h"

/* A job or an instance as the bare statements know it. */
struct raw_item {
    char id[ID_TEXT];
    int64_t seq;
    int64_t last_event, event_count; /* of its chain */
};

/* What is executed one after the other, counted from 0: items, or their pieces in the order in
 * which the engine executes them. */
struct raw_range {
    uint64_t at;
    size_t count;
};

struct raw_plan {
    const char *workflow, *type;
    int32_t steps;  /* of an item */
    int32_t pieces; /* that an item is executed in: of a workflow its steps, of a job one */
    struct raw_item *items;
    uint64_t count; /* of items */
    size_t batch;
};

/* The changes of one kind of work on one store; each store has its own struct. */
struct raw_changes;

/* Bare statements on one store.  Each call but the first and last is one transaction.  False: it
 * failed, and an error was printed. */
struct raw_ops {
    bool (*open)(const char *url, const struct raw_plan *plan,
                 const struct raw_changes *changes, void **ret_raw);
    bool (*start)(void *raw, struct raw_range items);
    bool (*turn)(void *raw, struct raw_range done, struct raw_range next);
    void (*close)(void *raw);
};

extern const struct raw_ops raw_sqlite, raw_postgres;
extern const struct raw_changes raw_jobs_sqlite, raw_jobs_postgres, raw_flow_sqlite,
    raw_flow_postgres, raw_function_sqlite, raw_function_postgres;

/* A way to do it, each item in so many pieces. */
int bench_raw(struct bench *bench, int32_t pieces, uint64_t count, size_t batch,
              struct bench_cost *ret_cost);

#define RAW_TOKEN "benchbenchbenchbench-1"
#define RAW_STEP_NAME "s%05d"
#define RAW_RUNNING_DATA "{\"status\":\"running\"}"
#define RAW_READY_DATA "{\"status\":\"ready\"}"
#define RAW_COMPLETED_DATA "{\"status\":\"completed\"}"
#define RAW_STARTED_DATA \
    "{\"status\":\"running\",\"retry_count\":0,\"worker\":\"" BENCH_WORKER "\"}"

/* Bytes of write-ahead log that the server at this URL has written; -1: it did not say. */
int64_t raw_postgres_written(const char *url);

/* A transaction that holds its snapshot open until it is released; NULL: there is none. */
void *raw_postgres_hold(const char *url);
void raw_postgres_release(void *snapshot);

#endif
