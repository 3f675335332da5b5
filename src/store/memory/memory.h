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

/* Copies a row into the transaction's arena; parts: whether payload and result come along. */
enum row_parts { ROW_LEAN, ROW_WHOLE };
bool memory_copy_job(struct store_tx *tx, const struct job *job, enum row_parts parts,
                     struct job_row *ret_row);

#endif
