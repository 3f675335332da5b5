/* engine/purge.h - removing history: of jobs and instances that have ended, and everything that is theirs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A purge reads jobs and instances in the order of their numbers, a bounded portion at a time, locks those that are
 * to go and looks again before it removes them.  Nothing but the numbers that a walk has come to is remembered, so
 * whoever goes on after a crash loses nothing.
 */
#ifndef ENGINE_PURGE_H
#define ENGINE_PURGE_H

#include "core/retention.h"
#include "engine/workset.h"

/* What one portion reads, and how many jobs or instances it removes; one instance may have large a family. */
enum { PURGE_SCAN = 500, PURGE_JOBS = 200, PURGE_INSTANCES = 50 };

/* Whether one that has ended is to go, and when it will be (INT64_MAX: never). */
struct purge;
typedef bool purge_wants(struct purge *purge, enum list_kind kind, const struct past_row *row,
                         int64_t *ret_due_us);

struct purge {
    struct batch *batch;
    struct retention_row policy; /* locked; of it the keys count */
    purge_wants *wants;
    const struct purge_input *input; /* of a purge by hand */
    bool is_dry_run;                 /* count only */

    /* What a portion has found. */
    size_t purged, seen; /* removed; left */
    size_t read;         /* how many numbers it has looked at */
    int64_t earliest_us; /* when one that was left is due; INT64_MAX: none is */
    int64_t created_us;  /* when the first of all that were read was created */
};

/* A portion behind the number *place, which moves on.  *ret_is_over: there was no more. */
cairn_code purge_portion(struct purge *purge, enum list_kind kind, int64_t *place,
                         bool *ret_is_over);

/* Removes an instance and its family.  *ret_why: why it must stay; NULL: it was removed. */
cairn_code purge_instance(struct purge *purge, const struct past_row *row,
                          const char **ret_why);

#endif
