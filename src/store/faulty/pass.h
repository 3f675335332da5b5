/* store/faulty/pass.h - how a verb is passed on, for the wrapper's own files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_FAULTY_PASS_H
#define STORE_FAULTY_PASS_H

#include "store/faulty/faulty.h"

struct faulty_tx {
    struct store_tx base;
    struct store_tx *inner;
    bool is_broken; /* an error has been reported: only rollback() may follow */
};

/* What happens to a call; code CAIRN_OK: nothing does. */
struct fault {
    cairn_code code;
    enum faulty_moment moment;
};

/* Counts the call and says how it goes. */
struct fault faulty_next(struct store *store, enum faulty_verb verb);

/* The transaction inside, with what may have changed outside; and the inner store's verbs. */
struct store_tx *faulty_inner_tx(struct store_tx *tx);
const struct store_ops *faulty_inner_ops(struct store_tx *tx);

/* Fails a call that is not passed on. */
cairn_code faulty_refuse(struct store_tx *tx, enum faulty_verb verb, struct fault fault,
                         cairn_error *reterr);

/* Ends a call that was passed on: an absent row is an answer, all else breaks the
 * transaction. */
cairn_code faulty_end_call(struct store_tx *tx, enum faulty_verb verb, struct fault fault,
                           cairn_code code, cairn_error *reterr);

/* The body of a verb: `call` is the inner store's, on the transaction `inner`. */
#define pass_on(verb, call)                                     \
    struct store_tx *inner = faulty_inner_tx(tx);               \
    struct fault fault = faulty_next(tx->session->store, verb); \
    if (fault.code && fault.moment == FAULTY_BEFORE)            \
        return faulty_refuse(tx, verb, fault, reterr);          \
    return faulty_end_call(tx, verb, fault, faulty_inner_ops(tx)->call, reterr)

/* The verbs of workflows, in flow.c. */
cairn_code faulty_put_definition(struct store_tx *tx, const struct definition_row *row,
                                 enum put_result *ret_result, cairn_error *reterr);
cairn_code faulty_insert_instances(struct store_tx *tx, struct instance_row *rows, size_t count,
                                   enum insert_result *ret_results, cairn_error *reterr);
cairn_code faulty_insert_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr);
cairn_code faulty_lock_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                 bool may_wait, struct instance_row *ret_rows,
                                 enum lock_result *ret_results, cairn_error *reterr);
cairn_code faulty_update_instances(struct store_tx *tx, const struct instance_row *rows,
                                   size_t count, cairn_error *reterr);
cairn_code faulty_lock_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found,
                             cairn_error *reterr);
cairn_code faulty_lock_current_steps(struct store_tx *tx, const char *instance_id,
                                     int32_t after, struct step_row *ret_rows, size_t room,
                                     size_t *ret_count, cairn_error *reterr);
cairn_code faulty_lock_steps_between(struct store_tx *tx, const char *instance_id,
                                     enum step_status status, int32_t from, int32_t to,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr);
cairn_code faulty_lock_committed_steps(struct store_tx *tx, const char *instance_id,
                                       int64_t below, int32_t from, int32_t to,
                                       struct step_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr);
cairn_code faulty_update_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr);
cairn_code faulty_delete_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                               cairn_error *reterr);
cairn_code faulty_send_step_claim(struct store_tx *tx, const struct step_claim *claim,
                                  size_t room, cairn_error *reterr);
cairn_code faulty_list_ready_types(struct store_tx *tx, struct ready_type *ret_types,
                                   size_t room, size_t *ret_count, cairn_error *reterr);
cairn_code faulty_claim_steps(struct store_tx *tx, const struct step_claim *claim,
                              struct step_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr);
cairn_code faulty_find_claimed_steps(struct store_tx *tx, const char *worker, const char *token,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr);
cairn_code faulty_promote_steps(struct store_tx *tx, size_t limit, size_t *ret_count,
                                cairn_error *reterr);
cairn_code faulty_find_due_steps(struct store_tx *tx, struct step_ref *ret_refs, size_t room,
                                 size_t *ret_count, cairn_error *reterr);
cairn_code faulty_find_due_instances(struct store_tx *tx, const char **ret_ids, size_t room,
                                     size_t *ret_count, cairn_error *reterr);
cairn_code faulty_insert_signal(struct store_tx *tx, struct signal_row *row,
                                enum insert_result *ret_result, cairn_error *reterr);
cairn_code faulty_find_signal(struct store_tx *tx, const char *instance_id, const char *event,
                              int64_t until_us, struct signal_row *ret_row,
                              cairn_error *reterr);
cairn_code faulty_mark_signal(struct store_tx *tx, const char *instance_id, int64_t signal_seq,
                              int32_t taken_by, cairn_error *reterr);
cairn_code faulty_list_signals(struct store_tx *tx, const char *const *ids, size_t count,
                               int64_t after, struct signal_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr);
cairn_code faulty_append_outbox(struct store_tx *tx, const struct outbox_row *rows,
                                size_t count, cairn_error *reterr);
cairn_code faulty_claim_outbox(struct store_tx *tx, const char *worker, int64_t until_us,
                               struct outbox_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr);
cairn_code faulty_ack_outbox(struct store_tx *tx, int64_t id, int64_t *ret_earlier,
                             cairn_error *reterr);
cairn_code faulty_keep_signal_taken(struct store_tx *tx, const char *instance_id,
                                    int64_t signal_seq, cairn_error *reterr);
cairn_code faulty_get_signal(struct store_tx *tx, const char *instance_id, const char *id,
                             struct signal_row *ret_row, cairn_error *reterr);
cairn_code faulty_append_flow_events(struct store_tx *tx, const struct flow_event_row *events,
                                     size_t count, cairn_error *reterr);
cairn_code faulty_append_dlq(struct store_tx *tx, const struct dlq_row *rows, size_t count,
                             cairn_error *reterr);
cairn_code faulty_append_logs(struct store_tx *tx, const struct log_row *rows, size_t count,
                              cairn_error *reterr);
cairn_code faulty_insert_decision(struct store_tx *tx, const struct decision_row *row,
                                  cairn_error *reterr);
cairn_code faulty_list_decisions(struct store_tx *tx, const char *instance_id, int64_t after,
                                 struct decision_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr);
cairn_code faulty_close_dlq(struct store_tx *tx, const char *instance_id, int32_t seq,
                            cairn_error *reterr);
cairn_code faulty_next_flow_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr);
cairn_code faulty_get_definition(struct store_tx *tx, const char *name, int32_t version,
                                 struct definition_row *ret_row, cairn_error *reterr);
cairn_code faulty_list_definitions(struct store_tx *tx, const char *after_name,
                                   int32_t after_version, struct definition_row *ret_rows,
                                   size_t room, size_t *ret_count, cairn_error *reterr);
cairn_code faulty_get_instance(struct store_tx *tx, const char *id,
                               struct instance_row *ret_row, cairn_error *reterr);
cairn_code faulty_list_instances(struct store_tx *tx, const struct instance_filter *filter,
                                 struct instance_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr);
cairn_code faulty_list_steps(struct store_tx *tx, const char *instance_id, int32_t after,
                             bool is_current, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr);
cairn_code faulty_read_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found,
                             cairn_error *reterr);
cairn_code faulty_list_memos(struct store_tx *tx, const char *const *ids, size_t count,
                             int32_t after, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr);
cairn_code faulty_read_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                 struct instance_row *ret_rows, bool *ret_is_found,
                                 cairn_error *reterr);
cairn_code faulty_get_step(struct store_tx *tx, const char *instance_id, const char *name,
                           struct step_row *ret_row, cairn_error *reterr);
cairn_code faulty_list_flow_events(struct store_tx *tx, const char *instance_id, int64_t after,
                                   struct flow_event_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr);
cairn_code faulty_list_logs(struct store_tx *tx, const char *instance_id, int64_t after,
                            struct log_row *ret_rows, size_t room, size_t *ret_count,
                            cairn_error *reterr);
cairn_code faulty_list_dlq(struct store_tx *tx, const char *instance_id, int64_t before_id,
                           struct dlq_row *ret_rows, size_t room, size_t *ret_count,
                           cairn_error *reterr);
cairn_code faulty_get_dlq(struct store_tx *tx, int64_t id, struct dlq_row *ret_row,
                          cairn_error *reterr);
cairn_code faulty_count_instances(struct store_tx *tx, uint64_t *ret_counts,
                                  cairn_error *reterr);
cairn_code faulty_count_steps(struct store_tx *tx, struct step_counts *ret_counts,
                              cairn_error *reterr);

#endif
