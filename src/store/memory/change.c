/* store/memory/change.c - the verbs that change a memory store, but for the claim.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

#include "base/error.h"

#include <assert.h>

static void assert_writer(const struct store_tx *tx)
{
    assert(tx->session->kind == SESSION_WRITER);
}

static cairn_code insert_job(struct store_tx *tx, struct job_row *row,
                             enum insert_result *ret_result, cairn_error *reterr)
{
    struct table *table = tx_table(tx);
    if (table_find_job(table, row->id)) {
        *ret_result = INSERT_AGAIN;
        return CAIRN_OK;
    }
    struct job *existing = row->key ? table_find_key(table, row->key) : NULL;
    if (existing) {
        row->id = arena_strdup(tx->arena, existing->now->row.id);
        *ret_result = INSERT_EXISTING;
        return row->id ? CAIRN_OK : fail_memory(reterr);
    }
    *ret_result = INSERT_DONE;
    return table_insert_job(table, row) ? CAIRN_OK : fail_memory(reterr);
}

cairn_code memory_insert_jobs(struct store_tx *tx, struct job_row *rows, size_t count,
                              enum insert_result *ret_results, cairn_error *reterr)
{
    assert_writer(tx);
    for (size_t i = 0; i < count; i++) {
        cairn_code code = insert_job(tx, &rows[i], &ret_results[i], reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

cairn_code memory_lock_jobs(struct store_tx *tx, const char *const *ids, size_t count,
                            bool may_wait, struct job_row *ret_rows,
                            enum lock_result *ret_results, cairn_error *reterr)
{
    (void)may_wait; /* whoever has the turn holds every row */
    assert_writer(tx);
    for (size_t i = 0; i < count; i++) {
        struct job *job = table_find_job(tx_table(tx), ids[i]);
        ret_results[i] = job ? LOCK_DONE : LOCK_ABSENT;
        if (!job)
            ret_rows[i] = (struct job_row){0};
        else if (!memory_copy_job(tx, job, ROW_LEAN, &ret_rows[i]))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

cairn_code memory_lock_expired_jobs(struct store_tx *tx, struct job_row *ret_rows, size_t room,
                                    size_t *ret_count, cairn_error *reterr)
{
    assert_writer(tx);
    size_t count = 0;
    for (struct job *job = timed_first(&tx_table(tx)->leased); job && count < room;
         job = timed_next(job)) {
        if (job->now->row.lease_until_us >= tx->now_us)
            break;
        if (!memory_copy_job(tx, job, ROW_LEAN, &ret_rows[count]))
            return fail_memory(reterr);
        count++;
    }
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code memory_update_jobs(struct store_tx *tx, const struct job_row *rows, size_t count,
                              cairn_error *reterr)
{
    assert_writer(tx);
    for (size_t i = 0; i < count; i++) {
        struct job *job = table_find_job(tx_table(tx), rows[i].id);
        assert(job);
        if (!table_update_job(tx_table(tx), job, &rows[i]))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

cairn_code memory_promote_jobs(struct store_tx *tx, size_t limit, size_t *ret_count,
                               cairn_error *reterr)
{
    assert_writer(tx);
    struct table *table = tx_table(tx);
    size_t count = 0;
    while (count < limit) {
        struct job *job = timed_first(&table->waiting);
        if (!job || job->now->row.run_at_us > tx->now_us)
            break;
        struct job_row row = job->now->row;
        row.is_ready = true;
        if (!table_update_job(table, job, &row))
            return fail_memory(reterr);
        count++;
    }
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code memory_append_events(struct store_tx *tx, const struct job_event_row *events,
                                size_t count, cairn_error *reterr)
{
    assert_writer(tx);
    for (size_t i = 0; i < count; i++) {
        struct job *job = table_find_job(tx_table(tx), events[i].job_id);
        if (!job)
            return fail(reterr, CAIRN_E_STORE, "cannot add an event: job \"%s\" does not exist",
                        events[i].job_id);
        struct event event = {.row = {.instance_id = job->now->row.id,
                                      .type = job_event_name(events[i].type),
                                      .data = events[i].data,
                                      .at_us = tx->now_us},
                              .job_type = events[i].type};
        if (!table_append_event(tx_table(tx), &job->events, &event))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

cairn_code memory_put_registry(struct store_tx *tx, const struct registry_row *row,
                               cairn_error *reterr)
{
    assert_writer(tx);
    struct registry_row stamped = *row;
    stamped.created_at_us = stamped.updated_at_us = tx->now_us;
    return table_put_registry(tx_table(tx), &stamped) ? CAIRN_OK : fail_memory(reterr);
}
