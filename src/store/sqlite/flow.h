/* store/sqlite/flow.h - the verbs of workflows, and what their files share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_SQLITE_FLOW_H
#define STORE_SQLITE_FLOW_H

#include "store/sqlite/sqlite.h"

/* ---- Shared ---------------------------------------------------------------------------------
 */

/* A step's id: its instance's number, then its place.  The queries and the table know it, too.
 */
enum { PLACE_BITS = 20, PLACES_MAX = 1 << PLACE_BITS };

int64_t step_id(int64_t instance_seq, int64_t place);

/* The number of an instance.  CAIRN_E_NOT_FOUND, with reterr as it was. */
cairn_code find_instance_seq(struct store_tx *tx, const char *id, int64_t *ret_seq,
                             cairn_error *reterr);

/* A row of a query that selects the columns of a step; instance_id lives in the arena, or is
 * NULL if the query selects it as well. */
cairn_code read_step(struct query *query, struct arena *arena, const char *instance_id,
                     struct step_row *ret_row, cairn_error *reterr);
cairn_code read_steps(struct query *query, struct store_tx *tx, const char *instance_id,
                      const char *what, struct step_row *ret_rows, size_t room,
                      size_t *ret_count, cairn_error *reterr);

/* ---- Definitions (flow_definition.c) --------------------------------------------------------
 */

cairn_code sqlite_put_definition(struct store_tx *tx, const struct definition_row *row,
                                 enum put_result *ret_result, cairn_error *reterr);
cairn_code sqlite_get_definition(struct store_tx *tx, const char *name, int32_t version,
                                 struct definition_row *ret_row, cairn_error *reterr);
cairn_code sqlite_list_definitions(struct store_tx *tx, const char *after_name,
                                   int32_t after_version, struct definition_row *ret_rows,
                                   size_t room, size_t *ret_count, cairn_error *reterr);

/* ---- Instances (flow_instance.c) ------------------------------------------------------------
 */

cairn_code sqlite_insert_instances(struct store_tx *tx, struct instance_row *rows, size_t count,
                                   enum insert_result *ret_results, cairn_error *reterr);
cairn_code sqlite_lock_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                 bool may_wait, struct instance_row *ret_rows,
                                 enum lock_result *ret_results, cairn_error *reterr);
cairn_code sqlite_update_instances(struct store_tx *tx, const struct instance_row *rows,
                                   size_t count, cairn_error *reterr);
cairn_code sqlite_get_instance(struct store_tx *tx, const char *id,
                               struct instance_row *ret_row, cairn_error *reterr);
cairn_code sqlite_list_instances(struct store_tx *tx, const struct instance_filter *filter,
                                 struct instance_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr);
cairn_code sqlite_count_instances(struct store_tx *tx, uint64_t *ret_counts,
                                  cairn_error *reterr);

/* ---- Steps (flow_step.c) --------------------------------------------------------------------
 */

cairn_code sqlite_insert_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr);
cairn_code sqlite_lock_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found,
                             cairn_error *reterr);
cairn_code sqlite_lock_current_steps(struct store_tx *tx, const char *instance_id,
                                     int32_t after, struct step_row *ret_rows, size_t room,
                                     size_t *ret_count, cairn_error *reterr);
cairn_code sqlite_lock_steps_between(struct store_tx *tx, const char *instance_id,
                                     enum step_status status, int32_t from, int32_t to,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr);
cairn_code sqlite_lock_committed_steps(struct store_tx *tx, const char *instance_id,
                                       int64_t below, int32_t from, int32_t to,
                                       struct step_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr);
cairn_code sqlite_update_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr);
cairn_code sqlite_delete_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                               cairn_error *reterr);
cairn_code sqlite_list_steps(struct store_tx *tx, const char *instance_id, int32_t after,
                             bool is_current, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr);
cairn_code sqlite_read_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found,
                             cairn_error *reterr);
cairn_code sqlite_list_memos(struct store_tx *tx, const char *const *ids, size_t count,
                             int32_t after, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr);
cairn_code sqlite_read_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                 struct instance_row *ret_rows, bool *ret_is_found,
                                 cairn_error *reterr);
cairn_code sqlite_get_step(struct store_tx *tx, const char *instance_id, const char *name,
                           struct step_row *ret_row, cairn_error *reterr);

/* ---- Claims (flow_claim.c) and timers (flow_timer.c) ----------------------------------------
 */

cairn_code sqlite_list_ready_types(struct store_tx *tx, struct ready_type *ret_types,
                                   size_t room, size_t *ret_count, cairn_error *reterr);
cairn_code sqlite_claim_steps(struct store_tx *tx, const struct step_claim *claim,
                              struct step_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr);
cairn_code sqlite_find_claimed_steps(struct store_tx *tx, const char *worker, const char *token,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr);
cairn_code sqlite_promote_steps(struct store_tx *tx, size_t limit, size_t *ret_count,
                                cairn_error *reterr);
cairn_code sqlite_find_due_steps(struct store_tx *tx, struct step_ref *ret_refs, size_t room,
                                 size_t *ret_count, cairn_error *reterr);
cairn_code sqlite_find_due_instances(struct store_tx *tx, const char **ret_ids, size_t room,
                                     size_t *ret_count, cairn_error *reterr);
cairn_code sqlite_next_flow_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr);
cairn_code sqlite_count_steps(struct store_tx *tx, struct step_counts *ret_counts,
                              cairn_error *reterr);

/* ---- Messages (flow_signal.c, flow_outbox.c, flow_event.c, flow_dlq.c, flow_log.c) ----------
 */

cairn_code sqlite_insert_signal(struct store_tx *tx, struct signal_row *row,
                                enum insert_result *ret_result, cairn_error *reterr);
cairn_code sqlite_find_signal(struct store_tx *tx, const char *instance_id, const char *event,
                              int64_t until_us, struct signal_row *ret_row,
                              cairn_error *reterr);
cairn_code sqlite_mark_signal(struct store_tx *tx, const char *instance_id, int64_t signal_seq,
                              int32_t taken_by, cairn_error *reterr);
cairn_code sqlite_keep_signal_taken(struct store_tx *tx, const char *instance_id,
                                    int64_t signal_seq, cairn_error *reterr);
cairn_code sqlite_get_signal(struct store_tx *tx, const char *instance_id, const char *id,
                             struct signal_row *ret_row, cairn_error *reterr);
cairn_code sqlite_list_signals(struct store_tx *tx, const char *const *ids, size_t count,
                               int64_t after, struct signal_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr);
cairn_code sqlite_append_outbox(struct store_tx *tx, const struct outbox_row *rows,
                                size_t count, cairn_error *reterr);
cairn_code sqlite_claim_outbox(struct store_tx *tx, const char *worker, int64_t until_us,
                               struct outbox_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr);
cairn_code sqlite_ack_outbox(struct store_tx *tx, int64_t id, int64_t *ret_earlier,
                             cairn_error *reterr);
cairn_code sqlite_append_flow_events(struct store_tx *tx, const struct flow_event_row *events,
                                     size_t count, cairn_error *reterr);
cairn_code sqlite_list_flow_events(struct store_tx *tx, const char *instance_id, int64_t after,
                                   struct flow_event_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr);
cairn_code sqlite_append_dlq(struct store_tx *tx, const struct dlq_row *rows, size_t count,
                             cairn_error *reterr);
cairn_code sqlite_insert_decision(struct store_tx *tx, const struct decision_row *row,
                                  cairn_error *reterr);
cairn_code sqlite_list_decisions(struct store_tx *tx, const char *instance_id, int64_t after,
                                 struct decision_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr);
cairn_code sqlite_close_dlq(struct store_tx *tx, const char *instance_id, int32_t seq,
                            cairn_error *reterr);
cairn_code sqlite_list_dlq(struct store_tx *tx, const char *instance_id, int64_t before_id,
                           struct dlq_row *ret_rows, size_t room, size_t *ret_count,
                           cairn_error *reterr);
cairn_code sqlite_get_dlq(struct store_tx *tx, int64_t id, struct dlq_row *ret_row,
                          cairn_error *reterr);
cairn_code sqlite_append_logs(struct store_tx *tx, const struct log_row *rows, size_t count,
                              cairn_error *reterr);
cairn_code sqlite_list_logs(struct store_tx *tx, const char *instance_id, int64_t after,
                            struct log_row *ret_rows, size_t room, size_t *ret_count,
                            cairn_error *reterr);

#endif
