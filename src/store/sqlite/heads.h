/* store/sqlite/heads.h - the parts of a claim that are the same for jobs and steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_SQLITE_HEADS_H
#define STORE_SQLITE_HEADS_H

#include "store/sqlite/sqlite.h"

/* Something to claim: lowest rank first, then the earliest, then the lowest id. */
struct head {
    double rank;
    int64_t at_us, id;
};

/* The best heads so far: a heap with the worst on top, so that it is the one to give way. */
struct heads {
    struct head *items;
    size_t count, room;
};

/* False: it is no better than what is there. */
bool heads_offer(struct heads *heads, struct head head);

/* Puts the best first, which ends the heap. */
void heads_sort(struct heads *heads);

/* Calls `visit` for each type that a claim names: an exact one whether or not it has anything
 * waiting; of a prefix those that the query `next_type` finds.  Each once.  Stops at a code. */
cairn_code heads_visit_types(struct store_tx *tx, const struct job_claim *claim,
                             enum query_number next_type,
                             cairn_code (*visit)(void *arg, const char *type), void *arg,
                             cairn_error *reterr);

#endif
