/* core/why.h - why something has not ended, or how it ended: one sentence, and the commands that help.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Pure: the engine reads the facts, and the sentences follow from them.  For an instance, and for each
 * step that it is at, the first row of a table whose condition holds gives the sentence; there is always
 * one.  Texts are in the arena.
 */
#ifndef CORE_WHY_H
#define CORE_WHY_H

#include "base/arena.h"
#include "cairn.h"
#include "core/instance.h"
#include "core/step_config.h"

struct why_list {
    cairn_why *items;
    size_t count, room;
};

/* ---- facts ---------------------------------------------------------------------------------- */

/* A type that waits to be claimed, and the workers that could take it. */
struct why_type {
    bool is_off;           /* the registry says that it is not claimed */
    const char *runtime;   /* that the registry gives it to; NULL: any */
    bool is_runtime_there; /* a live worker has that runtime */
    bool is_judged;        /* it is known that no other worker is there */
    int32_t live;          /* workers that may take it */
    const char *roomy;     /* one of them that has room; NULL: none */
    const char *last;      /* the latest that served it; NULL: none */
    int64_t last_seen_us;
    int64_t ahead;     /* tasks of the type that were ready before */
    int64_t oldest_us; /* since when the oldest of them has been ready; 0: there is none */
    const struct limit_row *limit; /* that lets no more of them begin now; NULL: none */
    const char *limit_group;       /* for which it counts; NULL: for all */
    bool is_limit_rate;            /* it is the limit's rate, not its concurrency */
};

struct why_step {
    const struct step_row *row;
    const struct step_config *config;
    const struct why_type
        *type;          /* of a step that can be claimed now; NULL: nothing is known of it */
    const char *record; /* the id of its open DLQ record; NULL: none */
    const struct instance_row
        *child;                 /* that it waits for, or that is rolled back; NULL: none */
    const cairn_why *child_why; /* NULL: not looked for */
    const struct children_row *children; /* of a map; NULL: not known */
};

struct why_facts {
    int64_t now_us;
    int64_t opened_us; /* since when this process has seen workers */
    const struct instance_row *instance;
    const struct why_step *steps; /* current, leased or held, by place */
    size_t step_count;
    const char *undo_record; /* the id of the open DLQ record of a compensation; NULL: none */
    const char *save_point;  /* to which the instance was undone; NULL: none */
    int32_t undone, to_undo; /* steps; to_undo 0: not counted */
    bool is_rejected;        /* a decision has aborted it */
};

/* A step of any status, for a look at it alone. */
struct why_other {
    int64_t now_us, opened_us;
    const struct instance_row *instance;
    const struct why_step *step;
    const char *previous; /* the step before it; NULL: none */
    const char *decided_by, *comment;
    bool is_confirmed;
    int64_t decided_us;
    const char *condition; /* that did not take its list; NULL: none */
    bool is_condition_true;
    const char *branches; /* a join: the names of its open branches */
    int32_t branch_count;
};

struct why_job_facts {
    int64_t now_us, opened_us;
    const struct job_row *job;
    const struct why_type *type; /* of one that can be claimed; NULL: nothing is known of it */
};

/* ---- sentences ------------------------------------------------------------------------------ */

/* All of an instance, most urgent first, at least one.  False: memory ran out. */
bool why_instance(struct arena *arena, const struct why_facts *facts,
                  struct why_list *ret_list);

bool why_step(struct arena *arena, const struct why_other *facts, cairn_why *ret_item);
bool why_job(struct arena *arena, const struct why_job_facts *facts, cairn_why *ret_item);

#endif
