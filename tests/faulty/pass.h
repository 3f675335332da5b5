/* tests/faulty/pass.h - how a verb is passed on, for the wrapper's own files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_FAULTY_PASS_H
#define TESTS_FAULTY_PASS_H

#include "faulty/faulty.h"

struct faulty_tx;

/* What happens to a call; code CAIRN_OK: it does not fail. */
struct fault {
    cairn_code code;
    enum faulty_moment moment;
};

/* A verb under way. */
struct faulty_call {
    struct faulty_tx *tx;
    enum faulty_verb verb;
    struct fault fault;
    cairn_code code;             /* not CAIRN_OK: the inner store is not called */
    const struct store_ops *ops; /* of the inner store, and its transaction */
    struct store_tx *inner;
};

/* Counts the call, and decides whether it fails.  The second is for verbs that only writers may call. */
struct faulty_call faulty_enter(struct store_tx *tx, enum faulty_verb verb,
                                cairn_error *reterr);
struct faulty_call faulty_enter_as_writer(struct store_tx *tx, enum faulty_verb verb,
                                          cairn_error *reterr);

/* Ends a call.  CAIRN_E_NOT_FOUND is an answer; any other error breaks the transaction. */
cairn_code faulty_leave(struct faulty_call *call, cairn_error *reterr);

/* faulty.c: what is not called in a transaction. */
store_open_fn faulty_open;
store_close_fn faulty_close;
store_session_open_fn faulty_session_open;
store_session_close_fn faulty_session_close;
store_forget_fn faulty_forget;
store_begin_fn faulty_begin;
store_commit_fn faulty_commit;
store_rollback_fn faulty_rollback;
store_watch_fn faulty_watch;
store_is_hearing_fn faulty_is_hearing;
store_is_changed_elsewhere_fn faulty_is_changed_elsewhere;

/* faulty_verbs.c, which is generated. */
extern const struct store_ops faulty_ops;
extern const char *const faulty_verb_names[FAULTY_VERB_COUNT];

#endif
