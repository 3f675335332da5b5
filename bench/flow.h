/* bench/flow.h - the parts of cairn bench workflows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_FLOW_H
#define BENCH_FLOW_H

#include "bench/raw.h"

enum { FLOW_PORTION = 1000 };

/* What a step of a long instance costs, at its beginning and at its end. */
struct flow_length {
    int64_t first_us, last_us; /* medians of the first and the last FLOW_PORTION; last 0: not
                                * measured */
    int64_t first_cpu_us, last_cpu_us; /* of CPU, for all of them */
    int64_t peak_bytes;                /* of this process's memory */
};

/* Bytes of the database, by table, indexes included; all -1: unknown here. */
struct flow_sizes {
    int64_t instances, steps, events;
};

/* What instances cost that sleep. */
struct flow_sleep {
    uint64_t count; /* 0: not measured */
    int64_t start_us;
    struct flow_sizes grown;
    int64_t payload; /* bytes of input, all together */
    int64_t idle_us, cpu_us;
};

struct flow_bench {
    struct bench base; /* its type is the handler of all steps */
    char sleeper[BENCH_TYPE];
    struct flow_length length;
    struct flow_sleep sleeping;
};

/* The step at `at` of all that a run executes: of each instance the first, then of each the
 * second, and so on, as the engine claims them. */
static inline struct raw_item *raw_instance_at(const struct raw_plan *plan, uint64_t at)
{
    return &plan->items[at % plan->count];
}

static inline int32_t raw_place_at(const struct raw_plan *plan, uint64_t at)
{
    return (int32_t)(at / plan->count);
}

bool flow_sizes_sqlite(const char *url, struct flow_sizes *ret_sizes);
bool flow_sizes_postgres(const char *url, struct flow_sizes *ret_sizes);

/* Each answers an exit code. */
int flow_deploy(struct bench *bench);
int flow_engine(struct bench *bench, uint64_t count, size_t batch, struct bench_cost *ret_cost);
int flow_sleep(struct flow_bench *bench, uint64_t count);

void flow_print_more(const struct bench *bench);
void flow_put_more(const struct bench *bench, struct json_out *out);

#endif
