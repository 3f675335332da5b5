/* engine/known_lease.h - leases of functions, as this engine has last written or read them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A run of a function checks its lease before each of its steps.  The engine answers from memory if
 * it has written or read the runner row within KNOWN_FOR_US; otherwise it asks the store.
 *
 *   What this engine commits     is known: a row that a batch holds locked is forgotten right before
 *                                the commit, and learnt again after it, before anyone is answered.
 *   What other processes commit  is seen KNOWN_FOR_US later at the latest: knowledge counts from before it was read.
 *                                Whoever stops a run that another engine has leased out is answered after that time
 *                                (held.h).  So an engine answers from memory only for the leases that it has given.
 *   Time                         is the store's at the latest look, and what has passed since then by
 *                                the clock that ran faster: a lease is never answered as held after
 *                                its end.
 *
 * Only "it is held" is answered, with the reason to stop if there is one.  Anything else is left to the
 * store.
 *
 * Where a store tells versions of rows, both rows of a run are kept, the instance's and the runner's.  The next commit of
 * the run then locks the instance without reading it: as long as the version is the same nobody has written it, and whoever
 * stops a run, or takes its lease away, writes it.  Only a heartbeat does not, which makes the lease longer.
 */
#ifndef ENGINE_KNOWN_LEASE_H
#define ENGINE_KNOWN_LEASE_H

#include "core/rows.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct local_engine;
struct request;

enum { KNOWN_FOR_US = 50 * 1000 };

/* When a transaction was about to begin, by the engine's clock and by the monotonic one. */
struct moment {
    int64_t wall_us, monotonic_us;
};

struct moment moment_of(struct local_engine *engine);

struct known_lease;
struct known_leases {
    pthread_mutex_t lock;
    struct known_lease
        *slots; /* by the hash of the instance's id; NULL: nothing was learnt yet */
    uint64_t turns;
};

/* The rows of a run as they were after a commit. */
struct kept_run {
    struct instance_row instance;
    struct step_row runner;
    int64_t version; /* of the instance's row */
    struct arena arena;
};

void kept_run_free(struct kept_run *run); /* may be NULL */

/* Takes what is kept of a run; NULL: nothing. */
struct kept_run *known_run_take(struct known_leases *known, const char *instance_id);

void known_leases_init(struct known_leases *known);
void known_leases_done(struct known_leases *known);

/* A runner row that a transaction reads or holds locked. */
struct lease_view {
    const char *instance_id;
    const struct step_row *row;          /* NULL: nothing is to be learnt */
    const struct instance_row *instance; /* as it is in the store; NULL: it is not to be kept */
    uint64_t turn;                       /* of its slot, as known_leases_begin() has found it */
};

/* Before rows are read, or before a commit that may change them; then they are also forgotten. */
void known_leases_begin(struct local_engine *engine, struct lease_view *views, size_t count,
                        bool is_change);

/* Afterwards.  moment and now_us: when the transaction began, here and in the store.  A view that another
 * transaction has overtaken teaches nothing.  is_good: the rows were read or committed.  version: of the instances that
 * were written; 0: unknown. */
void known_leases_end(struct local_engine *engine, const struct lease_view *views, size_t count,
                      bool is_change, bool is_good, const struct moment *moment, int64_t now_us,
                      int64_t version);

/* This engine has leased out the run with this token; and whether it was this one.  If memory ran out, or there were too many
 * since, nobody knows. */
void known_lease_is_given(struct local_engine *engine, const char *instance_id,
                          const char *token);
bool known_lease_is_ours(struct local_engine *engine, const char *instance_id,
                         const char *token);

/* Answers a heartbeat that extends nothing, if its lease is known to be held. */
bool known_lease_answer(struct local_engine *engine, struct request *request);

#endif
