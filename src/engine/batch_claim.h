/* engine/batch_claim.h - what the files of claiming share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_BATCH_CLAIM_H
#define ENGINE_BATCH_CLAIM_H

#include "engine/workset.h"

enum claim_kind { CLAIM_JOBS, CLAIM_STEPS, CLAIM_KINDS };

/* The claims that name the same types, functions and runtime ask for the same tasks. */
struct demand {
    const cairn_claim_options *claim; /* the first of them */
    bool is_exhausted[CLAIM_KINDS];   /* the store has no more of this kind for them */
    bool *is_steps_turn;              /* which kind gets the odd task; kept over batches */
    struct demand *next;
};

/* One claim, and the tasks that it has been given.  They live in the request's arena. */
struct claim_share {
    struct request *request;
    size_t room;
    LIST(cairn_task) of[CLAIM_KINDS];
};

/* Claims that are answered by the same questions. */
struct claim_group {
    struct claim_share *shares; /* of several only steps are asked */
    size_t count, room;         /* room: of all of them */
    size_t taken[CLAIM_KINDS];
};

/* batch_task.c: lease at most `room` tasks of a kind to the claims of a group.  A claim whose commit
 * had an unknown end finds what is already leased under its token. */
cairn_code claim_take_jobs(struct batch *batch, struct claim_group *group, size_t room);
cairn_code claim_take_steps(struct batch *batch, struct claim_group *group, size_t room);

#endif
