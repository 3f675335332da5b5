/* core/claim_order.h - in which order steps are claimed, and what a claim makes of one: the same rules
 * for every store, and for steps that never wait in a store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CORE_CLAIM_ORDER_H
#define CORE_CLAIM_ORDER_H

#include "core/aging.h"
#include "core/rows.h"

#include <stdbool.h>

/* Where a step stands: the highest effective priority leads, then the one that has waited longest. */
struct claim_key {
    int64_t priority; /* effective */
    int64_t since_us; /* next_run_at */
    int64_t instance_seq;
    int32_t seq;
};

/* Before and behind every step. */
#define CLAIM_FIRST ((struct claim_key){.priority = INT64_MAX})
#define CLAIM_LAST ((struct claim_key){.priority = INT64_MIN})

static inline bool claim_is_before(const struct claim_key *a, const struct claim_key *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->since_us != b->since_us)
        return a->since_us < b->since_us;
    if (a->instance_seq != b->instance_seq)
        return a->instance_seq < b->instance_seq;
    return a->seq < b->seq;
}

static inline struct claim_key claim_key_of(const struct step_row *row, int64_t now_us,
                                            double aging_rate)
{
    return (struct claim_key){
        .priority =
            step_effective_priority(row->priority, row->next_run_at_us, now_us, aging_rate),
        .since_us = row->next_run_at_us,
        .instance_seq = row->instance_seq,
        .seq = row->seq,
    };
}

/* A ready step runs now, one in compensation stays so. */
static inline void step_lease(struct step_row *row, const char *worker, const char *token,
                              int64_t until_us, int64_t now_us)
{
    if (row->status == STEP_READY)
        row->status = STEP_RUNNING;
    row->is_ready = false;
    row->locked_by = worker;
    row->token = token;
    row->locked_until_us = until_us;
    row->due_at_us = until_us + 1;
    if (!row->started_at_us)
        row->started_at_us = now_us;
    row->updated_at_us = now_us;
}

#endif
