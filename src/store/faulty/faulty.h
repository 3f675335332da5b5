/* store/faulty/faulty.h - a store around another one that fails on cue, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * It passes every verb on and adds nothing, except that a call fails when a rule says so, or
 * when the seeded plan draws it.  It also watches its user: after an error in a transaction
 * anything but rollback() is an assertion.
 *
 *     struct store *store = faulty_wrap(inner, 0, 0);
 *     faulty_add(store, &(struct faulty_rule){.verb = FAULTY_COMMIT, .call = 3,
 *                                             .moment = FAULTY_AFTER,
 *                                             .code = CAIRN_E_UNREACHABLE});
 *
 * lets the third commit from now reach the store and tells its caller that nobody knows.  Every
 * way in which one call can fail is tried by FAULTY_ANY with call = 1, 2, 3, ... on a fresh
 * store each, until faulty_failures() stays 0.
 *
 * There is no URL for it; close() of the wrapper closes the inner store, too.
 */
#ifndef STORE_FAULTY_FAULTY_H
#define STORE_FAULTY_FAULTY_H

#include "store/store.h"

/* The verbs that can fail. */
enum faulty_verb {
    FAULTY_ANY, /* whichever is called; counted over all of them */
    FAULTY_SESSION_OPEN,
    FAULTY_BEGIN,
    FAULTY_COMMIT,
    FAULTY_INSERT_JOBS,
    FAULTY_LOCK_JOBS,
    FAULTY_LOCK_EXPIRED_JOBS,
    FAULTY_UPDATE_JOBS,
    FAULTY_CLAIM_JOBS,
    FAULTY_FIND_CLAIMED,
    FAULTY_PROMOTE_JOBS,
    FAULTY_APPEND_EVENTS,
    FAULTY_PUT_REGISTRY,
    FAULTY_NEXT_DUE,
    FAULTY_GET_JOB,
    FAULTY_LIST_JOBS,
    FAULTY_LIST_EVENTS,
    FAULTY_GET_REGISTRY,
    FAULTY_LIST_REGISTRY,
    FAULTY_COUNT_JOBS,
    FAULTY_LIST_TYPES,
    FAULTY_INSPECT,
    FAULTY_PUT_DEFINITION,
    FAULTY_INSERT_INSTANCES,
    FAULTY_INSERT_STEPS,
    FAULTY_LOCK_INSTANCES,
    FAULTY_UPDATE_INSTANCES,
    FAULTY_LOCK_STEPS,
    FAULTY_LOCK_CURRENT_STEPS,
    FAULTY_LOCK_STEPS_BETWEEN,
    FAULTY_LOCK_COMMITTED_STEPS,
    FAULTY_UPDATE_STEPS,
    FAULTY_DELETE_STEPS,
    FAULTY_SEND_STEP_CLAIM,
    FAULTY_CLAIM_STEPS,
    FAULTY_LIST_READY_TYPES,
    FAULTY_FIND_CLAIMED_STEPS,
    FAULTY_PROMOTE_STEPS,
    FAULTY_FIND_DUE_STEPS,
    FAULTY_FIND_DUE_INSTANCES,
    FAULTY_INSERT_SIGNAL,
    FAULTY_FIND_SIGNAL,
    FAULTY_MARK_SIGNAL,
    FAULTY_KEEP_SIGNAL_TAKEN,
    FAULTY_GET_SIGNAL,
    FAULTY_LIST_SIGNALS,
    FAULTY_APPEND_OUTBOX,
    FAULTY_CLAIM_OUTBOX,
    FAULTY_ACK_OUTBOX,
    FAULTY_APPEND_FLOW_EVENTS,
    FAULTY_APPEND_DLQ,
    FAULTY_APPEND_LOGS,
    FAULTY_INSERT_DECISION,
    FAULTY_LIST_DECISIONS,
    FAULTY_CLOSE_DLQ,
    FAULTY_NEXT_FLOW_DUE,
    FAULTY_GET_DEFINITION,
    FAULTY_LIST_DEFINITIONS,
    FAULTY_GET_INSTANCE,
    FAULTY_READ_INSTANCES,
    FAULTY_LIST_INSTANCES,
    FAULTY_LIST_STEPS,
    FAULTY_READ_STEPS,
    FAULTY_LIST_MEMOS,
    FAULTY_GET_STEP,
    FAULTY_LIST_FLOW_EVENTS,
    FAULTY_LIST_LOGS,
    FAULTY_LIST_DLQ,
    FAULTY_GET_DLQ,
    FAULTY_COUNT_INSTANCES,
    FAULTY_COUNT_STEPS,
    FAULTY_VERB_COUNT
};

/* Before: the inner store hears nothing of it (a commit becomes its rollback).  After: it has
 * done what was asked, and its answer gets lost; what a begin or session_open made is undone.
 */
enum faulty_moment { FAULTY_BEFORE, FAULTY_AFTER };

struct faulty_rule {
    enum faulty_verb verb;
    uint64_t call;  /* which call of that verb, counted from when the rule is added; from 1 */
    uint64_t times; /* how many in a row; 0: one, UINT64_MAX: it stays broken */
    enum faulty_moment moment;
    cairn_code code; /* not CAIRN_OK */
};

/* Takes over `inner`.  With chance > 0 each call fails with that probability, drawn from the
 * seed (0: the system's): with CAIRN_E_BUSY or CAIRN_E_UNREACHABLE before, or a commit after
 * with CAIRN_E_UNREACHABLE; all of them worth another try.  NULL: memory ran out, and `inner`
 * is still the caller's. */
struct store *faulty_wrap(struct store *inner, uint64_t seed, double chance);

/* These may be called at any time and from any thread.  False: memory ran out. */
bool faulty_add(struct store *store, const struct faulty_rule *rule);
void faulty_calm(struct store *store); /* forgets all rules, and the plan: no more faults */
uint64_t faulty_calls(struct store *store, enum faulty_verb verb); /* since it was wrapped */
uint64_t faulty_failures(struct store *store);                     /* that were our doing */
const char *faulty_verb_name(enum faulty_verb verb);

#endif
