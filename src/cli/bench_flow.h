/* cli/bench_flow.h - the parts of cairn bench workflows.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The engine and the bare statements ("raw") do the same row changes in the same batches: insert
 * a batch of instances with their plans; then, in one commit each, complete the batch of steps
 * before (which makes the next steps ready) and lease the next batch.
 */
#ifndef CLI_BENCH_FLOW_H
#define CLI_BENCH_FLOW_H

#include "cli/bench.h"

/* What one way of doing it took. */
struct flow_cost {
    uint64_t instances, steps;
    int64_t start_us, work_us;
    uint64_t commits;
    int64_t bytes; /* written; -1: nobody here knows */
};

struct flow_run {
    size_t batch;
    struct flow_cost engine, raw;
};

enum { FLOW_PORTION = 1000 };

/* What a step of a long instance costs, at its beginning and at its end. */
struct flow_length {
    int64_t first_us, last_us;         /* medians of the first and the last FLOW_PORTION */
    int64_t first_cpu_us, last_cpu_us; /* of CPU, for all of them */
    int64_t peak_bytes;                /* of this process's memory */
};

/* Bytes of the database, by table, indexes included; all -1: nobody here knows. */
struct flow_sizes {
    int64_t instances, steps, events;
};

/* What instances cost that sleep. */
struct flow_sleep {
    uint64_t count;
    int64_t start_us;
    struct flow_sizes grown;
    int64_t payload; /* bytes of input, all together */
    int64_t idle_us, cpu_us;
};

struct flow_bench {
    struct bench base;                  /* its type is the handler of all steps */
    const struct raw_flow_ops *raw_ops; /* NULL: no --raw */
    char workflow[BENCH_TYPE], sleeper[BENCH_TYPE];
    int32_t steps;
};

/* Instances as the bare statements know them. */
struct raw_instance {
    char id[ID_TEXT];
    int64_t seq;
};

/* The step at `at` of all that a run executes: of each instance the first, then of each the
 * second, and so on, as the engine claims them. */
struct raw_steps {
    uint64_t at;
    size_t count;
};

struct raw_plan {
    const char *workflow, *type;
    int32_t steps;
    struct raw_instance *instances;
    uint64_t count;
};

static inline struct raw_instance *raw_instance_at(const struct raw_plan *plan, uint64_t at)
{
    return &plan->instances[at % plan->count];
}

static inline int32_t raw_place_at(const struct raw_plan *plan, uint64_t at)
{
    return (int32_t)(at / plan->count);
}

/* Bare statements on one back end; as raw_ops. */
struct raw_flow_ops {
    bool (*open)(const char *url, const struct raw_plan *plan, void **ret_raw);
    bool (*start)(void *raw, uint64_t from, size_t count);
    bool (*turn)(void *raw, struct raw_steps done, struct raw_steps next);
    void (*close)(void *raw);
    bool (*sizes)(const char *url, struct flow_sizes *ret_sizes);
};

extern const struct raw_flow_ops raw_flow_sqlite, raw_flow_postgres;

#define RAW_TOKEN "benchbenchbenchbench-1"
#define RAW_STEP_NAME "s%05d"
#define RAW_RUNNING_DATA "{\"status\":\"running\"}"
#define RAW_READY_DATA "{\"status\":\"ready\"}"
#define RAW_COMPLETED_DATA "{\"status\":\"completed\"}"
#define RAW_STARTED_DATA \
    "{\"status\":\"running\",\"retry_count\":0,\"worker\":\"" BENCH_WORKER "\"}"

/* Which back end the bare statements speak to; NULL: there is none for this URL. */
const struct raw_flow_ops *raw_flow_for(const char *url);

/* Each answers an exit code. */
int flow_deploy(struct flow_bench *bench);
int flow_engine(struct flow_bench *bench, uint64_t count, size_t batch,
                struct flow_length *ret_length, struct flow_cost *ret_cost);
int flow_raw(struct flow_bench *bench, uint64_t count, size_t batch,
             struct flow_cost *ret_cost);
int flow_sleep(struct flow_bench *bench, uint64_t count, bool is_own,
               struct flow_sleep *ret_sleep);

/* Starts instances of a workflow, so many callers at a time. */
int flow_start_all(struct flow_bench *bench, const char *workflow, uint64_t count,
                   size_t callers);

struct flow_report {
    const struct flow_bench *bench;
    bool is_raw;
    size_t run_count;
    struct flow_run runs[2];    /* one at a time, in batches */
    struct flow_length length;  /* last_us 0: not measured */
    struct flow_sleep sleeping; /* count 0: not measured */
};

void flow_print_table(const struct flow_report *report);
void flow_print_json(const struct flow_report *report);

#endif
