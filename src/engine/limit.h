/* engine/limit.h - limits: who is held back, and what is asked about them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Types that a limit matches, or that have had a group, have lanes: one for each group.  Their tasks are not given
 * by an ordinary claim (batch_task.c) but lane by lane, in turns (batch_lane.c).  Places are the leases that are
 * there, counted in the same transaction; so none is ever lost (docs/decisions/0023).
 */
#ifndef ENGINE_LIMIT_H
#define ENGINE_LIMIT_H

#include "core/limit.h"
#include "engine/batch.h"

/* limit.c: reads all limits of the store. */
cairn_code limits_list(const struct store_ops *ops, struct store_tx *tx,
                       struct limit_row **ret_rows, size_t *ret_count, cairn_error *reterr);

/* Which group was served last, of claims that are alike; while limits are locked. */
struct lane_turn {
    const char *group; /* NULL: none was */
    bool is_changed;
};
enum { TURNS = HABITS * CLAIM_KINDS };

/* batch_limit.c: the limits that may matter to tasks that a claim names, or to tokens that went back; locked if
 * there are any.  They are read once in a batch.  *is_limited: whether there probably are some; then, whether there
 * are. */
cairn_code batch_limits_for_claim(struct batch *batch, const cairn_claim_options *claim,
                                  bool *is_limited, struct limits **ret_limits);
/* All limits, with what leases and rates have used of them. */
cairn_code limits_read(const struct store_ops *ops, struct store_tx *tx, struct limits *limits,
                       cairn_error *reterr);

/* limit_use.c: what is used of limits now.  Of `waiting` at most TYPE_COUNT_MAX are counted of each type. */
struct limit_figures {
    int64_t taken, waiting;
    int64_t oldest_us; /* since when the oldest task that waits has been ready; 0: none waits */
    bool is_full;      /* no place is free, in one group at least */
};
struct question;
cairn_code question_limits(struct question *q, const struct limit_row *rows, size_t count,
                           struct limit_figures *ret_figures);
/* The same for metrics: names after the first TOTAL_NAMES_MAX count as "other". */
cairn_code question_limit_items(struct question *q, struct limit_item **ret_items,
                                size_t *ret_count);
/* Limits that are full for long, or match nothing. */
cairn_code doctor_limits(struct question *q);

/* A place is free. */
void batch_note_free(struct batch *batch);
/* The lease of a task that counts has ended. */
cairn_code batch_note_place(struct batch *batch, const char *type, const char *group,
                            bool is_released);
/* Writes what is spent of rates, and whose turn it was. */
cairn_code batch_write_limits(struct batch *batch);

/* batch_lane.c: how much of a claim's room is for types that have lanes, as far as it is known that there are any;
 * and that there are, or are not. */
size_t lanes_part(struct batch *batch, const struct demand *demand, enum claim_kind kind,
                  size_t room);
bool lanes_are_known(struct batch *batch, const struct demand *demand, enum claim_kind kind);
void lanes_seen(struct batch *batch, const struct demand *demand, enum claim_kind kind,
                bool has_lanes, bool has_others);

/* Leases at most `room` tasks of lanes to the claims of a group. */
cairn_code claim_take_lanes(struct batch *batch, struct claim_group *group,
                            enum claim_kind kind, size_t room);

#endif
