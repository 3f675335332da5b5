/* store/sqlite/timer.c - what is due, of jobs, steps and instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

static cairn_code promote(struct store_tx *tx, enum query_number number, size_t limit,
                          size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    bind_size(&query, ":limit", limit);
    return query_change(&query, ret_count);
}

cairn_code sqlite_promote_jobs(struct store_tx *tx, size_t limit, size_t *ret_count,
                               cairn_error *reterr)
{
    return promote(tx, Q_PROMOTE_JOBS, limit, ret_count, reterr);
}

cairn_code sqlite_promote_steps(struct store_tx *tx, size_t limit, size_t *ret_count,
                                cairn_error *reterr)
{
    return promote(tx, Q_PROMOTE_STEPS, limit, ret_count, reterr);
}

cairn_code sqlite_find_due_steps(struct store_tx *tx, struct step_ref *ret_refs, size_t room,
                                 size_t *ret_count, cairn_error *reterr)
{
    size_t count = 0;
    cleanup(query_end) struct query query = query_begin(tx, Q_FIND_DUE_STEPS, reterr);
    bind_size(&query, ":room", room);
    while (count < room && query_step(&query) == SQLITE_ROW) {
        ret_refs[count].instance_id = result_text(&query, 0);
        ret_refs[count++].seq = sqlite3_column_int(query.handle, 1);
    }
    *ret_count = count;
    return query_ended(&query);
}

cairn_code sqlite_find_due_instances(struct store_tx *tx, const char **ret_ids, size_t room,
                                     size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_FIND_DUE_INSTANCES, reterr);
    return texts_read(&query, ret_ids, room, ret_count);
}

/* NULL reads as 0: never. */
cairn_code sqlite_next_due(struct store_tx *tx, struct due_times *ret_due, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_NEXT_DUE, reterr);
    TRY(query_int(&query, &ret_due->job_us));
    ret_due->flow_us = sqlite3_column_int64(query.handle, 1);
    return CAIRN_OK;
}
