/* bench/function.h - the parts of cairn bench functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Passages run one after the other, or many in flight, each in a thread of its own: those who
 * commit at the same time share a commit.  The bare statements write the same rows in batches of
 * as many passages: by step, a commit for each step, which also moves the lease and the revision;
 * by passage, one commit for all.
 */
#ifndef BENCH_FUNCTION_H
#define BENCH_FUNCTION_H

#include "bench/raw.h"

/* Requests to the store. */
struct function_trips {
    uint64_t passages, claims, commits, heartbeats;
};

enum { FUNCTION_BY_STEP, FUNCTION_BY_PASSAGE, FUNCTION_MODES };

struct function_bench {
    struct bench base;
    struct function_trips trips[3][FUNCTION_MODES]; /* of each run */
};

/* Where the piece at `at` belongs: passages go in groups of a batch, of a group first the first
 * piece of each, then the second, and so on. */
struct raw_piece {
    uint64_t item;
    int32_t piece;
};

struct raw_piece raw_piece_at(const struct raw_plan *plan, uint64_t at);

/* Each answers an exit code. */
int function_deploy(struct bench *bench);
int function_drain(struct bench *bench, const struct bench_order *order,
                   struct bench_share *ret_share);
int function_by_step(struct bench *bench, uint64_t count, size_t batch,
                     struct bench_cost *ret_cost);
int function_by_passage(struct bench *bench, uint64_t count, size_t batch,
                        struct bench_cost *ret_cost);

#endif
