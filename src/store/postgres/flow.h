/* store/postgres/flow.h - what the files for workflows share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_POSTGRES_FLOW_H
#define STORE_POSTGRES_FLOW_H

#include "store/postgres/postgres.h"

/* ---- timers --------------------------------------------------------------------------------
 */

/* Timers that this transaction sets. */
void postgres_note_flow_due(struct store_tx *tx, int64_t due_us);
void postgres_note_instance(struct store_tx *tx, const struct instance_row *row);
void postgres_note_step(struct store_tx *tx, const struct step_row *row);

/* How a step is marked: rank is what the index of ready steps has between type and next_run_at. */
enum { STEP_PRIORITY_BITS = 7, STEP_PRIORITY_MASK = 127 };
int64_t step_rank(int32_t version, int32_t priority);
int64_t step_key(int64_t next_run_at_us);

/* ---- rows ----------------------------------------------------------------------------------
 */

/* How many columns a row has when it is read whole. */
enum { INSTANCE_COLUMNS = 38, STEP_COLUMNS = 46 };

/* The columns in the order that every query lists them, from `first` on. */
void postgres_read_instance(struct postgres_reader *reader, int first,
                            struct instance_row *ret_row);
void postgres_read_step(struct postgres_reader *reader, int first, struct step_row *ret_row);

/* Runs a query whose rows are instances, or steps, and reads all of them. */
cairn_code postgres_run_instances(struct store_tx *tx, enum postgres_query query,
                                  const struct postgres_params *params,
                                  struct instance_row *ret_rows, size_t room, size_t *ret_count,
                                  cairn_error *reterr);
cairn_code postgres_run_steps(struct store_tx *tx, enum postgres_query query,
                              const struct postgres_params *params, struct step_row *ret_rows,
                              size_t room, size_t *ret_count, cairn_error *reterr);

/* ---- operations of store.h -----------------------------------------------------------------
 */

cairn_code postgres_put_definition(struct store_tx *tx, const struct definition_row *row,
                                   enum put_result *ret_result, cairn_error *reterr);
cairn_code postgres_insert_instances(struct store_tx *tx, struct instance_row *rows,
                                     size_t count, enum insert_result *ret_results,
                                     cairn_error *reterr);
cairn_code postgres_insert_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                                 cairn_error *reterr);
cairn_code postgres_lock_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                   bool may_wait, struct instance_row *ret_rows,
                                   enum lock_result *ret_results, cairn_error *reterr);
cairn_code postgres_update_instances(struct store_tx *tx, const struct instance_row *rows,
                                     size_t count, cairn_error *reterr);
cairn_code postgres_lock_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                               struct step_row *ret_rows, bool *ret_is_found,
                               cairn_error *reterr);
cairn_code postgres_lock_current_steps(struct store_tx *tx, const char *instance_id,
                                       int32_t after, struct step_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr);
cairn_code postgres_lock_steps_between(struct store_tx *tx, const char *instance_id,
                                       enum step_status status, int32_t from, int32_t to,
                                       struct step_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr);
cairn_code postgres_lock_committed_steps(struct store_tx *tx, const char *instance_id,
                                         int64_t below, int32_t from, int32_t to,
                                         struct step_row *ret_rows, size_t room,
                                         size_t *ret_count, cairn_error *reterr);
cairn_code postgres_update_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                                 cairn_error *reterr);
cairn_code postgres_delete_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                                 cairn_error *reterr);
cairn_code postgres_send_step_claim(struct store_tx *tx, const struct step_claim *claim,
                                    size_t room, cairn_error *reterr);
cairn_code postgres_list_ready_types(struct store_tx *tx, struct ready_type *ret_types,
                                     size_t room, size_t *ret_count, cairn_error *reterr);
cairn_code postgres_claim_steps(struct store_tx *tx, const struct step_claim *claim,
                                struct step_row *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr);
cairn_code postgres_find_claimed_steps(struct store_tx *tx, const char *worker,
                                       const char *token, struct step_row *ret_rows,
                                       size_t room, size_t *ret_count, cairn_error *reterr);
cairn_code postgres_promote_steps(struct store_tx *tx, size_t limit, size_t *ret_count,
                                  cairn_error *reterr);
cairn_code postgres_find_due_steps(struct store_tx *tx, struct step_ref *ret_refs, size_t room,
                                   size_t *ret_count, cairn_error *reterr);
cairn_code postgres_find_due_instances(struct store_tx *tx, const char **ret_ids, size_t room,
                                       size_t *ret_count, cairn_error *reterr);
cairn_code postgres_insert_signal(struct store_tx *tx, struct signal_row *row,
                                  enum insert_result *ret_result, cairn_error *reterr);
cairn_code postgres_find_signal(struct store_tx *tx, const char *instance_id, const char *event,
                                int64_t until_us, struct signal_row *ret_row,
                                cairn_error *reterr);
cairn_code postgres_mark_signal(struct store_tx *tx, const char *instance_id,
                                int64_t signal_seq, int32_t taken_by, cairn_error *reterr);
cairn_code postgres_keep_signal_taken(struct store_tx *tx, const char *instance_id,
                                      int64_t signal_seq, cairn_error *reterr);
cairn_code postgres_get_signal(struct store_tx *tx, const char *instance_id, const char *id,
                               struct signal_row *ret_row, cairn_error *reterr);
cairn_code postgres_list_signals(struct store_tx *tx, const char *const *ids, size_t count,
                                 int64_t after, struct signal_row *ret_rows, size_t room,
                                 size_t *ret_count, cairn_error *reterr);
cairn_code postgres_append_outbox(struct store_tx *tx, const struct outbox_row *rows,
                                  size_t count, cairn_error *reterr);
cairn_code postgres_claim_outbox(struct store_tx *tx, const char *worker, int64_t until_us,
                                 struct outbox_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr);
cairn_code postgres_ack_outbox(struct store_tx *tx, int64_t id, int64_t *ret_earlier,
                               cairn_error *reterr);
cairn_code postgres_append_flow_events(struct store_tx *tx, const struct flow_event_row *events,
                                       size_t count, cairn_error *reterr);
cairn_code postgres_append_dlq(struct store_tx *tx, const struct dlq_row *rows, size_t count,
                               cairn_error *reterr);
cairn_code postgres_append_logs(struct store_tx *tx, const struct log_row *rows, size_t count,
                                cairn_error *reterr);
cairn_code postgres_insert_decision(struct store_tx *tx, const struct decision_row *row,
                                    cairn_error *reterr);
cairn_code postgres_close_dlq(struct store_tx *tx, const char *instance_id, int32_t seq,
                              cairn_error *reterr);
cairn_code postgres_next_flow_due(struct store_tx *tx, int64_t *ret_due_us,
                                  cairn_error *reterr);
cairn_code postgres_get_definition(struct store_tx *tx, const char *name, int32_t version,
                                   struct definition_row *ret_row, cairn_error *reterr);
cairn_code postgres_list_definitions(struct store_tx *tx, const char *after_name,
                                     int32_t after_version, struct definition_row *ret_rows,
                                     size_t room, size_t *ret_count, cairn_error *reterr);
cairn_code postgres_get_instance(struct store_tx *tx, const char *id,
                                 struct instance_row *ret_row, cairn_error *reterr);
cairn_code postgres_list_instances(struct store_tx *tx, const struct instance_filter *filter,
                                   struct instance_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr);
cairn_code postgres_list_steps(struct store_tx *tx, const char *instance_id, int32_t after,
                               bool is_current, struct step_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr);
cairn_code postgres_read_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                               struct step_row *ret_rows, bool *ret_is_found,
                               cairn_error *reterr);
cairn_code postgres_list_memos(struct store_tx *tx, const char *const *ids, size_t count,
                               int32_t after, struct step_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr);
cairn_code postgres_read_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                   struct instance_row *ret_rows, bool *ret_is_found,
                                   cairn_error *reterr);
cairn_code postgres_get_step(struct store_tx *tx, const char *instance_id, const char *name,
                             struct step_row *ret_row, cairn_error *reterr);
cairn_code postgres_list_flow_events(struct store_tx *tx, const char *instance_id,
                                     int64_t after, struct flow_event_row *ret_rows,
                                     size_t room, size_t *ret_count, cairn_error *reterr);
cairn_code postgres_list_logs(struct store_tx *tx, const char *instance_id, int64_t after,
                              struct log_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr);
cairn_code postgres_list_dlq(struct store_tx *tx, const char *instance_id, int64_t before_id,
                             struct dlq_row *ret_rows, size_t room, size_t *ret_count,
                             cairn_error *reterr);
cairn_code postgres_get_dlq(struct store_tx *tx, int64_t id, struct dlq_row *ret_row,
                            cairn_error *reterr);
cairn_code postgres_list_decisions(struct store_tx *tx, const char *instance_id, int64_t after,
                                   struct decision_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr);
cairn_code postgres_count_instances(struct store_tx *tx, uint64_t *ret_counts,
                                    cairn_error *reterr);
cairn_code postgres_count_steps(struct store_tx *tx, struct step_counts *ret_counts,
                                cairn_error *reterr);

#endif
