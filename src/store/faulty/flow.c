/* store/faulty/flow.c - the verbs of workflows, passed on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/faulty/pass.h"

/* ---- changes ----------------------------------------------------------------------------- */

cairn_code faulty_put_definition(struct store_tx *tx, const struct definition_row *row,
                                 enum put_result *ret_result, cairn_error *reterr)
{
    pass_on(FAULTY_PUT_DEFINITION, put_definition(inner, row, ret_result, reterr));
}

cairn_code faulty_insert_instances(struct store_tx *tx, struct instance_row *rows, size_t count,
                                   enum insert_result *ret_results, cairn_error *reterr)
{
    pass_on(FAULTY_INSERT_INSTANCES, insert_instances(inner, rows, count, ret_results, reterr));
}

cairn_code faulty_insert_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr)
{
    pass_on(FAULTY_INSERT_STEPS, insert_steps(inner, rows, count, reterr));
}

cairn_code faulty_lock_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                 bool may_wait, struct instance_row *ret_rows,
                                 enum lock_result *ret_results, cairn_error *reterr)
{
    pass_on(FAULTY_LOCK_INSTANCES,
            lock_instances(inner, ids, count, may_wait, ret_rows, ret_results, reterr));
}

cairn_code faulty_update_instances(struct store_tx *tx, const struct instance_row *rows,
                                   size_t count, cairn_error *reterr)
{
    pass_on(FAULTY_UPDATE_INSTANCES, update_instances(inner, rows, count, reterr));
}

cairn_code faulty_lock_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found, cairn_error *reterr)
{
    pass_on(FAULTY_LOCK_STEPS, lock_steps(inner, refs, count, ret_rows, ret_is_found, reterr));
}

cairn_code faulty_lock_current_steps(struct store_tx *tx, const char *instance_id,
                                     int32_t after, struct step_row *ret_rows, size_t room,
                                     size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_LOCK_CURRENT_STEPS,
            lock_current_steps(inner, instance_id, after, ret_rows, room, ret_count, reterr));
}

cairn_code faulty_lock_steps_between(struct store_tx *tx, const char *instance_id,
                                     enum step_status status, int32_t from, int32_t to,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr)
{
    pass_on(FAULTY_LOCK_STEPS_BETWEEN, lock_steps_between(inner, instance_id, status, from, to,
                                                          ret_rows, room, ret_count, reterr));
}

cairn_code faulty_lock_committed_steps(struct store_tx *tx, const char *instance_id,
                                       int64_t below, int32_t from, int32_t to,
                                       struct step_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_LOCK_COMMITTED_STEPS,
            lock_committed_steps(inner, instance_id, below, from, to, ret_rows, room, ret_count,
                                 reterr));
}

cairn_code faulty_update_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr)
{
    pass_on(FAULTY_UPDATE_STEPS, update_steps(inner, rows, count, reterr));
}

cairn_code faulty_delete_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                               cairn_error *reterr)
{
    pass_on(FAULTY_DELETE_STEPS, delete_steps(inner, refs, count, reterr));
}

cairn_code faulty_send_step_claim(struct store_tx *tx, const struct step_claim *claim,
                                  size_t room, cairn_error *reterr)
{
    pass_on(FAULTY_SEND_STEP_CLAIM, send_step_claim(inner, claim, room, reterr));
}

cairn_code faulty_list_ready_types(struct store_tx *tx, struct ready_type *ret_types,
                                   size_t room, size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_LIST_READY_TYPES,
            list_ready_types(inner, ret_types, room, ret_count, reterr));
}

cairn_code faulty_claim_steps(struct store_tx *tx, const struct step_claim *claim,
                              struct step_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    pass_on(FAULTY_CLAIM_STEPS, claim_steps(inner, claim, ret_rows, room, ret_count, reterr));
}

cairn_code faulty_find_claimed_steps(struct store_tx *tx, const char *worker, const char *token,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr)
{
    pass_on(FAULTY_FIND_CLAIMED_STEPS,
            find_claimed_steps(inner, worker, token, ret_rows, room, ret_count, reterr));
}

cairn_code faulty_promote_steps(struct store_tx *tx, size_t limit, size_t *ret_count,
                                cairn_error *reterr)
{
    pass_on(FAULTY_PROMOTE_STEPS, promote_steps(inner, limit, ret_count, reterr));
}

cairn_code faulty_find_due_steps(struct store_tx *tx, struct step_ref *ret_refs, size_t room,
                                 size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_FIND_DUE_STEPS, find_due_steps(inner, ret_refs, room, ret_count, reterr));
}

cairn_code faulty_find_due_instances(struct store_tx *tx, const char **ret_ids, size_t room,
                                     size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_FIND_DUE_INSTANCES,
            find_due_instances(inner, ret_ids, room, ret_count, reterr));
}

cairn_code faulty_insert_signal(struct store_tx *tx, struct signal_row *row,
                                enum insert_result *ret_result, cairn_error *reterr)
{
    pass_on(FAULTY_INSERT_SIGNAL, insert_signal(inner, row, ret_result, reterr));
}

cairn_code faulty_find_signal(struct store_tx *tx, const char *instance_id, const char *event,
                              int64_t until_us, struct signal_row *ret_row, cairn_error *reterr)
{
    pass_on(FAULTY_FIND_SIGNAL,
            find_signal(inner, instance_id, event, until_us, ret_row, reterr));
}

cairn_code faulty_mark_signal(struct store_tx *tx, const char *instance_id, int64_t signal_seq,
                              int32_t taken_by, cairn_error *reterr)
{
    pass_on(FAULTY_MARK_SIGNAL, mark_signal(inner, instance_id, signal_seq, taken_by, reterr));
}

cairn_code faulty_keep_signal_taken(struct store_tx *tx, const char *instance_id,
                                    int64_t signal_seq, cairn_error *reterr)
{
    pass_on(FAULTY_KEEP_SIGNAL_TAKEN,
            keep_signal_taken(inner, instance_id, signal_seq, reterr));
}

cairn_code faulty_get_signal(struct store_tx *tx, const char *instance_id, const char *id,
                             struct signal_row *ret_row, cairn_error *reterr)
{
    pass_on(FAULTY_GET_SIGNAL, get_signal(inner, instance_id, id, ret_row, reterr));
}

cairn_code faulty_list_signals(struct store_tx *tx, const char *const *ids, size_t count,
                               int64_t after, struct signal_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_LIST_SIGNALS,
            list_signals(inner, ids, count, after, ret_rows, room, ret_count, reterr));
}

cairn_code faulty_append_outbox(struct store_tx *tx, const struct outbox_row *rows,
                                size_t count, cairn_error *reterr)
{
    pass_on(FAULTY_APPEND_OUTBOX, append_outbox(inner, rows, count, reterr));
}

cairn_code faulty_claim_outbox(struct store_tx *tx, const char *worker, int64_t until_us,
                               struct outbox_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    pass_on(FAULTY_CLAIM_OUTBOX,
            claim_outbox(inner, worker, until_us, ret_rows, room, ret_count, reterr));
}

cairn_code faulty_ack_outbox(struct store_tx *tx, int64_t id, int64_t *ret_earlier,
                             cairn_error *reterr)
{
    pass_on(FAULTY_ACK_OUTBOX, ack_outbox(inner, id, ret_earlier, reterr));
}

cairn_code faulty_append_flow_events(struct store_tx *tx, const struct flow_event_row *events,
                                     size_t count, cairn_error *reterr)
{
    pass_on(FAULTY_APPEND_FLOW_EVENTS, append_flow_events(inner, events, count, reterr));
}

cairn_code faulty_append_dlq(struct store_tx *tx, const struct dlq_row *rows, size_t count,
                             cairn_error *reterr)
{
    pass_on(FAULTY_APPEND_DLQ, append_dlq(inner, rows, count, reterr));
}

cairn_code faulty_append_logs(struct store_tx *tx, const struct log_row *rows, size_t count,
                              cairn_error *reterr)
{
    pass_on(FAULTY_APPEND_LOGS, append_logs(inner, rows, count, reterr));
}

cairn_code faulty_insert_decision(struct store_tx *tx, const struct decision_row *row,
                                  cairn_error *reterr)
{
    pass_on(FAULTY_INSERT_DECISION, insert_decision(inner, row, reterr));
}

cairn_code faulty_list_decisions(struct store_tx *tx, const char *instance_id, int64_t after,
                                 struct decision_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    pass_on(FAULTY_LIST_DECISIONS,
            list_decisions(inner, instance_id, after, ret_rows, room, ret_count, reterr));
}

cairn_code faulty_close_dlq(struct store_tx *tx, const char *instance_id, int32_t seq,
                            cairn_error *reterr)
{
    pass_on(FAULTY_CLOSE_DLQ, close_dlq(inner, instance_id, seq, reterr));
}

/* ---- questions --------------------------------------------------------------------------- */

cairn_code faulty_next_flow_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr)
{
    pass_on(FAULTY_NEXT_FLOW_DUE, next_flow_due(inner, ret_due_us, reterr));
}

cairn_code faulty_get_definition(struct store_tx *tx, const char *name, int32_t version,
                                 struct definition_row *ret_row, cairn_error *reterr)
{
    pass_on(FAULTY_GET_DEFINITION, get_definition(inner, name, version, ret_row, reterr));
}

cairn_code faulty_list_definitions(struct store_tx *tx, const char *after_name,
                                   int32_t after_version, struct definition_row *ret_rows,
                                   size_t room, size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_LIST_DEFINITIONS, list_definitions(inner, after_name, after_version,
                                                      ret_rows, room, ret_count, reterr));
}

cairn_code faulty_get_instance(struct store_tx *tx, const char *id,
                               struct instance_row *ret_row, cairn_error *reterr)
{
    pass_on(FAULTY_GET_INSTANCE, get_instance(inner, id, ret_row, reterr));
}

cairn_code faulty_list_instances(struct store_tx *tx, const struct instance_filter *filter,
                                 struct instance_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    pass_on(FAULTY_LIST_INSTANCES,
            list_instances(inner, filter, ret_rows, room, ret_count, reterr));
}

cairn_code faulty_list_steps(struct store_tx *tx, const char *instance_id, int32_t after,
                             bool is_current, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_LIST_STEPS, list_steps(inner, instance_id, after, is_current, ret_rows, room,
                                          ret_count, reterr));
}

cairn_code faulty_read_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                 struct instance_row *ret_rows, bool *ret_is_found,
                                 cairn_error *reterr)
{
    pass_on(FAULTY_READ_INSTANCES,
            read_instances(inner, ids, count, ret_rows, ret_is_found, reterr));
}

cairn_code faulty_read_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found, cairn_error *reterr)
{
    pass_on(FAULTY_READ_STEPS, read_steps(inner, refs, count, ret_rows, ret_is_found, reterr));
}

cairn_code faulty_list_memos(struct store_tx *tx, const char *const *ids, size_t count,
                             int32_t after, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_LIST_MEMOS,
            list_memos(inner, ids, count, after, ret_rows, room, ret_count, reterr));
}

cairn_code faulty_get_step(struct store_tx *tx, const char *instance_id, const char *name,
                           struct step_row *ret_row, cairn_error *reterr)
{
    pass_on(FAULTY_GET_STEP, get_step(inner, instance_id, name, ret_row, reterr));
}

cairn_code faulty_list_flow_events(struct store_tx *tx, const char *instance_id, int64_t after,
                                   struct flow_event_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_LIST_FLOW_EVENTS,
            list_flow_events(inner, instance_id, after, ret_rows, room, ret_count, reterr));
}

cairn_code faulty_list_logs(struct store_tx *tx, const char *instance_id, int64_t after,
                            struct log_row *ret_rows, size_t room, size_t *ret_count,
                            cairn_error *reterr)
{
    pass_on(FAULTY_LIST_LOGS,
            list_logs(inner, instance_id, after, ret_rows, room, ret_count, reterr));
}

cairn_code faulty_list_dlq(struct store_tx *tx, const char *instance_id, int64_t before_id,
                           struct dlq_row *ret_rows, size_t room, size_t *ret_count,
                           cairn_error *reterr)
{
    pass_on(FAULTY_LIST_DLQ,
            list_dlq(inner, instance_id, before_id, ret_rows, room, ret_count, reterr));
}

cairn_code faulty_get_dlq(struct store_tx *tx, int64_t id, struct dlq_row *ret_row,
                          cairn_error *reterr)
{
    pass_on(FAULTY_GET_DLQ, get_dlq(inner, id, ret_row, reterr));
}

cairn_code faulty_count_instances(struct store_tx *tx, uint64_t *ret_counts,
                                  cairn_error *reterr)
{
    pass_on(FAULTY_COUNT_INSTANCES, count_instances(inner, ret_counts, reterr));
}

cairn_code faulty_count_steps(struct store_tx *tx, struct step_counts *ret_counts,
                              cairn_error *reterr)
{
    pass_on(FAULTY_COUNT_STEPS, count_steps(inner, ret_counts, reterr));
}
