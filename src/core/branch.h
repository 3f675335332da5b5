/* core/branch.h - how the branches of a fork have ended, as their rows say.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Pure: the same answer for the engine, which decides on rows that it has locked, and for whoever reads them.
 *
 * A branch arrives when the element that ends it has ended well.  That is the last element of its list; if that
 * one is a condition, the last of the list that was taken, and the condition itself only if none was.  A branch
 * that has not arrived was lost by the failure of a step, or has only been stopped.
 */
#ifndef CORE_BRANCH_H
#define CORE_BRANCH_H

#include "core/instance.h"
#include "core/step_config.h"

struct branch_row {
    const struct step_row *row;
    const struct step_config
        *config; /* of a condition, a fork or a join; else it may be NULL */
};

/* The rows between a fork and its join, in order of place; those that were deleted are missing. */
struct branch_rows {
    struct branch_row *items;
    size_t count;
    int32_t fork, join; /* their places */
    bool is_any;
    const struct place_range *branches;
    size_t branch_count;
};

/* Whether the list that begins with this row was taken; its condition is decided. */
bool list_is_taken(const struct step_row *first);

/* The same rows, seen from a fork among them. */
struct branch_rows branch_rows_of(const struct branch_rows *rows,
                                  const struct branch_row *fork);

/* The element that ends a branch.  NULL: its row was deleted. */
const struct branch_row *branch_end(const struct branch_rows *rows, struct place_range branch);

/* Whether the element that ends a branch is known, that is not a condition which is yet to be decided. */
bool branch_is_decided(const struct branch_row *end);

/* The step whose failure lost a branch; NULL: none did.  is_parked: a step in the dead letter queue counts
 * as failed, since its branch does not go on by itself. */
const struct step_row *branch_loser(const struct branch_rows *rows, struct place_range branch,
                                    bool is_parked);

/* The same of the fork: under `all` the failure that came first, under `any` the one that lost the last of its
 * branches. */
const struct step_row *fork_loser(const struct branch_rows *rows, bool is_parked);

/* Whether a place is in an `any` within the fork that was won, whose branches no longer matter. */
bool branch_is_won(const struct branch_rows *rows, int32_t place);

#endif
