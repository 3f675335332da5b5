/* tests/faulty/faulty.h - a store around another one that fails on cue, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * It passes every verb on unchanged, except that a call fails when a rule says so, or when the seeded
 * plan draws it.  It also checks its user: after an error in a transaction only rollback() may follow,
 * and only a writer may call the verbs of writers.  The functions that pass verbs on are made from
 * spec/verbs.txt.
 *
 *     struct store *store = faulty_wrap(inner, 0, 0);
 *     faulty_add(store, &(struct faulty_rule){.verb = FAULTY_COMMIT, .call = 3,
 *                                             .moment = FAULTY_AFTER,
 *                                             .code = CAIRN_E_UNREACHABLE});
 *
 * lets the third commit from now reach the store, and reports that its end is unknown.  Every way in
 * which one call can fail is tried by FAULTY_ANY with call = 1, 2, 3, ... on a fresh
 * store each, until faulty_failures() stays 0.
 *
 * There is no URL for it; close() of the wrapper closes the inner store, too.
 */
#ifndef TESTS_FAULTY_H
#define TESTS_FAULTY_H

#include "faulty/faulty_names.h"
#include "store/store.h"

/* Before: the inner store is not called (a commit becomes its rollback).  After: it has done its part,
 * and its answer is lost; what a begin or session_open made is undone. */
enum faulty_moment { FAULTY_BEFORE, FAULTY_AFTER };

struct faulty_rule {
    enum faulty_verb verb;
    uint64_t call;  /* which call of that verb, counted from when the rule is added; from 1 */
    uint64_t times; /* how many in a row; 0: one, UINT64_MAX: it stays broken */
    enum faulty_moment moment;
    cairn_code code; /* CAIRN_OK only if something happens meanwhile */

    /* Called before the call goes on to the inner store: what others do at that moment. */
    void (*meanwhile)(void *arg);
    void *arg;
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
uint64_t
faulty_round_trips(const struct store_session *session); /* to the store that it wraps */
const char *faulty_verb_name(enum faulty_verb verb);

#endif
