/* core/limit.h - how many tasks of a lane may begin, as limits say.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A limit has places, of which every lease that counts takes one, and a bucket of tokens, of which every claim
 * takes one; for the whole store, or for each group.  A bucket holds `rate_n` tokens and is filled evenly, so many in
 * `rate_per_ms`.  What is missing of it is kept as a level: a token taken adds the length of the time in
 * microseconds, and each microsecond takes rate_n away.  So the bucket is empty at rate_n times that length, and
 * nothing is ever rounded.
 */
#ifndef CORE_LIMIT_H
#define CORE_LIMIT_H

#include "base/arena.h"
#include "core/rows.h"

enum { LIMITS_MAX = 1000, LIMIT_N_MAX = 1000000, GROUP_MAX = 128 /* bytes of its name */ };
#define LIMIT_PER_MAX_MS INT64_C(2678400000) /* 31 days: a level fits into 63 bits */

/* What is left of a level at a later time. */
int64_t bucket_level(const struct limit_row *limit, int64_t level, int64_t at_us,
                     int64_t now_us);
/* How many tokens there are at a level. */
int64_t bucket_tokens(const struct limit_row *limit, int64_t level);
/* In how long there will be a token; 0: there is one. */
int64_t bucket_wait_us(const struct limit_row *limit, int64_t level);

/* What is used of one limit by one group, or by the whole store (group ""). */
struct limit_use {
    const char *group;
    int64_t leased;
    int64_t level;  /* at `now_us` of struct limits */
    bool is_spent;  /* its bucket was changed */
    bool is_stored; /* it was in the store */
};

struct limit_state {
    const struct limit_row *row;
    struct limit_use **slots; /* by group, a hash table */
    size_t slot_count, use_count;
};

/* All limits of a store, at one moment. */
struct limits {
    struct arena *arena;
    int64_t now_us;
    struct limit_state *items;
    size_t count;
};

/* rows live as long as the limits.  False: memory ran out; so below. */
bool limits_begin(struct limits *limits, struct arena *arena, const struct limit_row *rows,
                  size_t count, int64_t now_us);

bool limits_match(const struct limits *limits, const char *type); /* whether one does */

/* Leases that count, and what is spent of a rate. */
bool limits_add_leases(struct limits *limits, const char *type, const char *group,
                       int64_t count);
bool limits_add_bucket(struct limits *limits, struct limit_state *limit,
                       const struct bucket_row *row);

/* Which limit does not let a task of this type and group begin; NULL: none.  *ret_wait_us: in how long it may have a
 * token; 0: that is not a question of time. */
bool limits_refuse(struct limits *limits, const char *type, const char *group,
                   const struct limit_row **ret_limit, int64_t *ret_wait_us);

/* A task begins; or one that was claimed goes back, with its token. */
bool limits_take(struct limits *limits, const char *type, const char *group);
bool limits_untake(struct limits *limits, const char *type, const char *group);
bool limits_give_token(struct limits *limits, const char *type, const char *group);

/* How many places are taken in all; and whether there is none left, in one group at least. */
void limit_sum(const struct limit_state *limit, int64_t *ret_taken, bool *ret_is_full);

/* The next bucket that was changed, as it is to be written; false: there is no more.  *at begins at 0. */
bool limits_next_spent(struct limits *limits, size_t *at, struct bucket_row *ret_row);

#endif
