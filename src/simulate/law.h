/* simulate/law.h - what must be true at the end of a run, such as done(charge) => done(ship) or undone(charge).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A fact is done(STEP), undone(STEP), called(STEP) or ended(STATUS).  Facts are joined by not, and, or and =>,
 * which bind in this order, and by parentheses.  A name with a parenthesis in it stands in double quotes.
 */
#ifndef SIMULATE_LAW_H
#define SIMULATE_LAW_H

#include "cairn.h"

#include <stdbool.h>
#include <stddef.h>

enum law_op {
    LAW_DONE,
    LAW_UNDONE,
    LAW_CALLED,
    LAW_ENDED,
    LAW_NOT,
    LAW_AND,
    LAW_OR,
    LAW_IMPLIES
};

enum { LAW_NODES_MAX = 256, LAW_TEXT_MAX = 4096, LAW_DEPTH_MAX = 64 };

struct law_node {
    enum law_op op;
    int what; /* of a fact: the number of its step, or a status */
    int left, right;
};

struct law {
    const char *text; /* the caller's */
    struct law_node nodes[LAW_NODES_MAX];
    int count, root;
};

/* What happened to a step until the end of a run. */
struct law_step {
    bool is_called; /* a handler was called for it */
    bool is_done;   /* it completed, and no compensation of it has succeeded since */
    bool is_undone; /* its compensation has succeeded */
    bool is_save_point;
};

/* Reads a law.  The names of the steps are those of the workflow; a fact keeps the number of its step.
 * CAIRN_E_BAD_INPUT: the text cannot be read, or names a step or status that does not exist. */
cairn_code law_read(const char *text, const char *const *steps, size_t step_count,
                    struct law *ret_law, cairn_error *reterr);

/* status 0: it has not ended. */
bool law_holds(const struct law *law, const struct law_step *steps,
               cairn_instance_status status);

#endif
