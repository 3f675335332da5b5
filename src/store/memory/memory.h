/* store/memory/memory.h - a store that lives in this process, as its own files see it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_MEMORY_MEMORY_H
#define STORE_MEMORY_MEMORY_H

#include "store/memory/table.h"
#include "store/store.h"

#include <pthread.h>

struct memory_store {
    struct store base;
    struct table table; /* whose transaction it is may touch it */
    uint32_t lock_wait_ms;

    /* The turn: a flag rather than the mutex itself, since a session, and a transaction in it,
     * may move from thread to thread. */
    pthread_mutex_t mutex;
    pthread_cond_t freed;
    bool is_taken;
};

struct memory_session {
    struct store_session base;
    struct store_tx tx; /* the one transaction that a session can have */
    bool is_in_tx;
};

static inline struct table *tx_table(struct store_tx *tx)
{
    return &((struct memory_store *)tx->session->store)->table;
}

/* memory.c's operations come from here: change.c and question.c. */
cairn_code memory_insert_jobs(struct store_tx *tx, struct job_row *rows, size_t count,
                              enum insert_result *ret_results, cairn_error *reterr);
cairn_code memory_lock_jobs(struct store_tx *tx, const char *const *ids, size_t count,
                            bool may_wait, struct job_row *ret_rows,
                            enum lock_result *ret_results, cairn_error *reterr);
cairn_code memory_lock_expired_jobs(struct store_tx *tx, struct job_row *ret_rows, size_t room,
                                    size_t *ret_count, cairn_error *reterr);
cairn_code memory_update_jobs(struct store_tx *tx, const struct job_row *rows, size_t count,
                              cairn_error *reterr);
cairn_code memory_claim_jobs(struct store_tx *tx, const struct job_claim *claim,
                             struct job_row *ret_rows, size_t room, size_t *ret_count,
                             cairn_error *reterr);
cairn_code memory_find_claimed(struct store_tx *tx, const char *worker, const char *token,
                               struct job_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr);
cairn_code memory_promote_jobs(struct store_tx *tx, size_t limit, size_t *ret_count,
                               cairn_error *reterr);
cairn_code memory_append_events(struct store_tx *tx, const struct job_event_row *events,
                                size_t count, cairn_error *reterr);
cairn_code memory_put_registry(struct store_tx *tx, const struct registry_row *row,
                               cairn_error *reterr);
cairn_code memory_next_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr);
cairn_code memory_get_job(struct store_tx *tx, const char *id, struct job_row *ret_row,
                          cairn_error *reterr);
cairn_code memory_list_jobs(struct store_tx *tx, const struct job_filter *filter,
                            struct job_row *ret_rows, size_t room, size_t *ret_count,
                            cairn_error *reterr);
cairn_code memory_list_events(struct store_tx *tx, const char *job_id, int64_t after,
                              struct job_event_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr);
cairn_code memory_get_registry(struct store_tx *tx, const char *name,
                               struct registry_row *ret_row, cairn_error *reterr);
cairn_code memory_list_registry(struct store_tx *tx, const char *after,
                                struct registry_row *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr);
cairn_code memory_count_jobs(struct store_tx *tx, struct job_counts *ret_counts,
                             cairn_error *reterr);
cairn_code memory_list_types(struct store_tx *tx, const char **ret_types, size_t room,
                             size_t *ret_count, cairn_error *reterr);
cairn_code memory_inspect(struct store_tx *tx, struct store_facts *ret_facts,
                          cairn_error *reterr);

/* Workflows: flow_change.c, flow_claim.c, flow_mail.c and flow_question.c. */
cairn_code memory_put_definition(struct store_tx *tx, const struct definition_row *row,
                                 enum put_result *ret_result, cairn_error *reterr);
cairn_code memory_insert_instances(struct store_tx *tx, struct instance_row *rows, size_t count,
                                   enum insert_result *ret_results, cairn_error *reterr);
cairn_code memory_insert_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr);
cairn_code memory_lock_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                 bool may_wait, struct instance_row *ret_rows,
                                 enum lock_result *ret_results, cairn_error *reterr);
cairn_code memory_update_instances(struct store_tx *tx, const struct instance_row *rows,
                                   size_t count, cairn_error *reterr);
cairn_code memory_lock_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found,
                             cairn_error *reterr);
cairn_code memory_lock_current_steps(struct store_tx *tx, const char *instance_id,
                                     int32_t after, struct step_row *ret_rows, size_t room,
                                     size_t *ret_count, cairn_error *reterr);
cairn_code memory_lock_steps_between(struct store_tx *tx, const char *instance_id,
                                     enum step_status status, int32_t from, int32_t to,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr);
cairn_code memory_lock_committed_steps(struct store_tx *tx, const char *instance_id,
                                       int64_t below, int32_t from, int32_t to,
                                       struct step_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr);
cairn_code memory_update_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr);
cairn_code memory_list_ready_types(struct store_tx *tx, struct ready_type *ret_types,
                                   size_t room, size_t *ret_count, cairn_error *reterr);
cairn_code memory_claim_steps(struct store_tx *tx, const struct step_claim *claim,
                              struct step_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr);
cairn_code memory_find_claimed_steps(struct store_tx *tx, const char *worker, const char *token,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr);
cairn_code memory_promote_steps(struct store_tx *tx, size_t limit, size_t *ret_count,
                                cairn_error *reterr);
cairn_code memory_find_due_steps(struct store_tx *tx, struct step_ref *ret_refs, size_t room,
                                 size_t *ret_count, cairn_error *reterr);
cairn_code memory_find_due_instances(struct store_tx *tx, const char **ret_ids, size_t room,
                                     size_t *ret_count, cairn_error *reterr);
cairn_code memory_insert_signal(struct store_tx *tx, struct signal_row *row,
                                enum insert_result *ret_result, cairn_error *reterr);
cairn_code memory_find_signal(struct store_tx *tx, const char *instance_id, const char *event,
                              int64_t until_us, struct signal_row *ret_row,
                              cairn_error *reterr);
cairn_code memory_mark_signal(struct store_tx *tx, const char *instance_id, int64_t signal_seq,
                              int32_t taken_by, cairn_error *reterr);
cairn_code memory_keep_signal_taken(struct store_tx *tx, const char *instance_id,
                                    int64_t signal_seq, cairn_error *reterr);
cairn_code memory_get_signal(struct store_tx *tx, const char *instance_id, const char *id,
                             struct signal_row *ret_row, cairn_error *reterr);
cairn_code memory_append_outbox(struct store_tx *tx, const struct outbox_row *rows,
                                size_t count, cairn_error *reterr);
cairn_code memory_claim_outbox(struct store_tx *tx, const char *worker, int64_t until_us,
                               struct outbox_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr);
cairn_code memory_ack_outbox(struct store_tx *tx, int64_t id, int64_t *ret_earlier,
                             cairn_error *reterr);
cairn_code memory_append_flow_events(struct store_tx *tx, const struct flow_event_row *events,
                                     size_t count, cairn_error *reterr);
cairn_code memory_append_dlq(struct store_tx *tx, const struct dlq_row *rows, size_t count,
                             cairn_error *reterr);
cairn_code memory_delete_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                               cairn_error *reterr);
cairn_code memory_list_signals(struct store_tx *tx, const char *const *ids, size_t count,
                               int64_t after, struct signal_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr);
cairn_code memory_append_logs(struct store_tx *tx, const struct log_row *rows, size_t count,
                              cairn_error *reterr);
cairn_code memory_list_logs(struct store_tx *tx, const char *instance_id, int64_t after,
                            struct log_row *ret_rows, size_t room, size_t *ret_count,
                            cairn_error *reterr);
cairn_code memory_insert_decision(struct store_tx *tx, const struct decision_row *row,
                                  cairn_error *reterr);
cairn_code memory_list_decisions(struct store_tx *tx, const char *instance_id, int64_t after,
                                 struct decision_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr);
cairn_code memory_close_dlq(struct store_tx *tx, const char *instance_id, int32_t seq,
                            cairn_error *reterr);
cairn_code memory_next_flow_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr);
cairn_code memory_get_definition(struct store_tx *tx, const char *name, int32_t version,
                                 struct definition_row *ret_row, cairn_error *reterr);
cairn_code memory_list_definitions(struct store_tx *tx, const char *after_name,
                                   int32_t after_version, struct definition_row *ret_rows,
                                   size_t room, size_t *ret_count, cairn_error *reterr);
cairn_code memory_get_instance(struct store_tx *tx, const char *id,
                               struct instance_row *ret_row, cairn_error *reterr);
cairn_code memory_list_instances(struct store_tx *tx, const struct instance_filter *filter,
                                 struct instance_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr);
cairn_code memory_list_steps(struct store_tx *tx, const char *instance_id, int32_t after,
                             bool is_current, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr);
cairn_code memory_read_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found,
                             cairn_error *reterr);
cairn_code memory_list_memos(struct store_tx *tx, const char *const *ids, size_t count,
                             int32_t after, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr);
cairn_code memory_read_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                 struct instance_row *ret_rows, bool *ret_is_found,
                                 cairn_error *reterr);
cairn_code memory_get_step(struct store_tx *tx, const char *instance_id, const char *name,
                           struct step_row *ret_row, cairn_error *reterr);
cairn_code memory_list_flow_events(struct store_tx *tx, const char *instance_id, int64_t after,
                                   struct flow_event_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr);
cairn_code memory_list_dlq(struct store_tx *tx, const char *instance_id, int64_t before_id,
                           struct dlq_row *ret_rows, size_t room, size_t *ret_count,
                           cairn_error *reterr);
cairn_code memory_get_dlq(struct store_tx *tx, int64_t id, struct dlq_row *ret_row,
                          cairn_error *reterr);
cairn_code memory_count_instances(struct store_tx *tx, uint64_t *ret_counts,
                                  cairn_error *reterr);
uint64_t memory_count_expired_steps(struct store_tx *tx); /* leases past their time */
cairn_code memory_count_steps(struct store_tx *tx, struct step_counts *ret_counts,
                              cairn_error *reterr);

/* The types that a claim may take from, once each, in the transaction's arena.  False: memory
 * ran out. */
bool memory_choose_types(struct store_tx *tx, const struct job_claim *claim,
                         struct type ***ret_types, size_t *ret_count);

/* The type of that name, if there is one and the claim may take from it; else NULL. */
struct type *memory_find_type(struct store_tx *tx, const struct job_claim *claim,
                              const char *name);

/* These copy rows into the transaction's arena.  False: memory ran out. */
bool memory_copy_instance(struct store_tx *tx, const struct instance *instance,
                          struct instance_row *ret_row);
bool memory_copy_step(struct store_tx *tx, const struct step *step, struct step_row *ret_row);

/* Copies a row into the transaction's arena; parts: whether payload and result come along. */
enum row_parts { ROW_LEAN, ROW_WHOLE };
bool memory_copy_job(struct store_tx *tx, const struct job *job, enum row_parts parts,
                     struct job_row *ret_row);

#endif
