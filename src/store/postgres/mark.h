/* store/postgres/mark.h - where the walk of an index may begin.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A claim takes the first rows of an index.  What was taken stays there as dead entries until a
 * vacuum, and while another session holds an old snapshot (a dump, a report) no vacuum removes them: every
 * claim would walk over all of them again.  So a walk that has become slow begins at a mark, below
 * which nothing was found.
 *
 * A mark may be wrong: entries can appear below it (a retry, a transaction that ends late, a row
 * written by plain SQL).  What this process writes lowers its marks.  A mark rises only to what a
 * walk saw before every transaction of that moment had ended (or a second had passed), so what was
 * under way then is seen.  For the rest, what lies below a mark is looked through again and again, in
 * portions: a full claim spends at most a twentieth of the time on it, a claim that found too little a
 * fifth.  So an entry below a mark is found after at most 20 times what it takes to read all dead
 * entries once, and a second more.
 *
 * Pure but for the memory of a set: no clock, no database.  Keys are numbers from 0, and 0 is
 * before everything; time is monotonic and in microseconds.
 */
#ifndef STORE_POSTGRES_MARK_H
#define STORE_POSTGRES_MARK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one walk told of the transactions around it. */
struct walk_facts {
    int64_t open_xid; /* every transaction below it had ended */
    int64_t own_xid;  /* of the transaction that walked; 0: it has none yet */
    int64_t now_us;
    int64_t settle_us; /* a transaction that takes longer does not hold back a mark */
};

struct mark {
    int64_t low; /* a walk may begin here */

    /* What low becomes once every transaction below next_xid has ended.  A snapshot does not say how
     * many transactions have begun; so this is the number of a later one of ours (0: none yet), with
     * a number above seen_xid. */
    bool has_next;
    int64_t next, next_xid, next_at_us, seen_xid;

    int64_t checked; /* this round has looked at what lies from here up to low */
    int64_t stride;  /* how many keys the next portion has */
};

void mark_init(struct mark *mark);

/* A walk that began at `from` found the first entry at `seen` (or none below it). */
void mark_saw(struct mark *mark, int64_t from, int64_t seen, const struct walk_facts *facts);

/* An entry was written at `key`, or found there. */
void mark_lower(struct mark *mark, int64_t key);

/* The portion to look through next: from <= key < to.  False: the round is over. */
bool mark_portion(const struct mark *mark, int64_t *ret_from, int64_t *ret_to);

/* This portion held nothing, and reading it took so long. */
void mark_checked(struct mark *mark, int64_t from, int64_t to, int64_t took_us);
void mark_begin_round(struct mark *mark);

/* ---- when marks are used -------------------------------------------------------------------- */

/* Whether a walk is slow enough to need marks, and when to look below them. */
struct mark_pace {
    bool is_marking;
    bool is_forced;        /* by a test: marks are used whatever a walk takes */
    int slow_walks;        /* in a row, without marks */
    bool is_in_round;      /* of looking below the marks */
    int64_t round_us;      /* what this round has taken so far */
    int64_t last_round_us; /* what the last whole round took */
    int64_t portion_us;    /* what the last portion took */
    int64_t checked_at_us; /* when it ended */
    int64_t began_at_us;   /* when the round began */
};

bool walk_is_slow(int64_t took_us, size_t rows);

/* A walk from the very beginning took so long, for so many rows. */
void pace_walked(struct mark_pace *pace, int64_t took_us, size_t rows);

/* Whether to look at a portion now.  is_short: a claim has found too little. */
bool pace_may_check(const struct mark_pace *pace, bool is_short, int64_t now_us);
void pace_checked(struct mark_pace *pace, int64_t took_us, int64_t now_us);

/* May end the use of marks.  is_telling: it has looked at something, or there is nothing at all. */
void pace_round_ended(struct mark_pace *pace, bool is_telling);

/* ---- marks of types and ranks ---------------------------------------------------------- */

struct pair_mark {
    char *type;
    int64_t rank;
    struct mark mark;
};

/* Sorted by type (bytes), then rank: a number that stands for what comes between the type and the key
 * in the index, such as a priority. */
struct mark_set {
    pthread_mutex_t lock; /* the caller takes it around every call below */
    struct mark_pace pace;
    int64_t settle_us; /* of its walks; a second, but for tests */
    struct pair_mark *items;
    size_t count, room;
    size_t turn;        /* whose portion is next */
    int64_t gaps_at_us; /* not before this are types and ranks looked for that are not here */
};

void mark_set_init(struct mark_set *set);
void mark_set_done(struct mark_set *set);
void mark_set_clear(struct mark_set *set); /* and no longer in use */

/* Where the pair is, or would be. */
size_t mark_set_find(const struct mark_set *set, const char *type, int64_t rank,
                     bool *ret_is_found);

/* The pair's mark, a new one if it was not there; NULL: memory ran out, or there are too many
 * pairs, and the set was cleared. */
struct mark *mark_set_add(struct mark_set *set, const char *type, int64_t rank);

/* A row of this pair can be claimed from now on. */
void mark_set_lower(struct mark_set *set, const char *type, int64_t rank, int64_t key);

/* The next portion of this set's round; false: the round is over. */
bool mark_set_portion(struct mark_set *set, struct pair_mark **ret_pair, int64_t *ret_from,
                      int64_t *ret_to);

#endif
