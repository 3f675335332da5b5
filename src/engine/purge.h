/* engine/purge.h - removing history: of jobs and instances that have ended, and everything that is theirs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A purge reads jobs and instances in the order of their numbers, a bounded portion at a time, locks those that are
 * to go and looks again before it removes them.  Nothing but the numbers that a walk has come to is remembered, so
 * whoever goes on after a crash loses nothing.
 *
 * An instance goes with its descendants.  If these are many, they go in several commits, from the leaves up.  The first one
 * marks the instance: what is marked cannot be restarted, and every sweep first goes on with it, so that it is
 * finished whoever began it.
 */
#ifndef ENGINE_PURGE_H
#define ENGINE_PURGE_H

#include "core/retention.h"
#include "engine/workset.h"

/* What one portion reads, and how many jobs or instances it removes; beyond that, the family of the last one. */
enum { PURGE_SCAN = 1000, PURGE_JOBS = 1000, PURGE_INSTANCES = 100 };

/* Instances of a family that go in one commit; of a larger one, so many at a time. */
enum { PURGE_FAMILY = 100 };

/* When to look again at one that is old and must stay: what holds it may end at any time. */
#define PURGE_HELD_AGAIN_US (60 * US_PER_MIN)

/* Whether one that has ended is to go, and when it will be (INT64_MAX: never). */
struct purge;
typedef bool purge_wants(struct purge *purge, enum list_kind kind, const struct past_row *row,
                         int64_t *ret_due_us);

struct purge {
    struct batch *batch;
    struct retention_row policy; /* locked; of it the keys count */
    purge_wants *wants;
    const struct purge_input *input; /* of a purge by hand */
    uint32_t statuses;               /* which of them it names; see retention_policy.c */
    bool is_dry_run;                 /* count only */

    /* What a portion has found. */
    size_t purged, seen; /* removed; left */
    size_t read;         /* how many numbers it has looked at */
    size_t marked;       /* instances whose descendants it has begun to remove */
    int64_t earliest_us; /* when one that was left is due; INT64_MAX: none is */
    int64_t created_us;  /* when the first of all that were read was created */
};

/* A portion behind the number *place, which moves on.  *ret_is_over: there was no more. */
cairn_code purge_portion(struct purge *purge, enum list_kind kind, int64_t *place,
                         bool *ret_is_over);

/* Removes an instance and its family.  *ret_why: why it must stay; NULL: it was removed, or, if *ret_is_left, a part of
 * its family was. */
cairn_code purge_instance(struct purge *purge, const struct past_row *row, const char **ret_why,
                          bool *ret_is_left);

/* A portion of what an earlier purge has begun.  *ret_is_left: something is left of it. */
cairn_code purge_begun(struct purge *purge, bool *ret_is_left);

/* ---- purge.c for purge_family.c, and the other way round ---------------------------------------- */

/* What is to go. */
struct picked {
    struct past_row past;
    size_t family;  /* those of one family go together, or not at all */
    bool is_marked; /* it stays for now: its descendants go */
};
struct picked_list {
    struct picked *items;
    size_t count, room;
    size_t families;
};

/* Why it must stay; NULL: it need not. */
const char *why_past_stays(const struct past_row *row, bool is_first);

/* Removes or marks the families of which no member has changed. */
cairn_code purge_picked(struct purge *purge, struct picked_list *picked);

/* A portion of a large family.  *ret_is_left: the instance is still there. */
cairn_code purge_large(struct purge *purge, const struct past_row *row, bool *ret_is_left);

/* Whether a large family may go, and how many instances it has, the first included. */
cairn_code purge_look_at_large(struct purge *purge, const struct past_row *row,
                               const char **ret_why, size_t *ret_members);

#endif
