/* store/sqlite/flow_timer.c - what time brings about in workflows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/flow.h"

#include <assert.h>

cairn_code sqlite_promote_steps(struct store_tx *tx, size_t limit, size_t *ret_count,
                                cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    struct sqlite_session *session = sqlite_session_of(tx);
    cleanup(query_end) struct query query = query_begin(session, Q_PROMOTE_STEPS);
    bind_int(&query, ":now", tx->now_us);
    bind_size(&query, ":limit", limit);
    cairn_code code = query_run(&query, "make due steps ready", reterr);
    if (!code)
        *ret_count = (size_t)sqlite3_changes64(session->connection->db);
    return code;
}

cairn_code sqlite_find_due_steps(struct store_tx *tx, struct step_ref *ret_refs, size_t room,
                                 size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_FIND_DUE_STEPS);
    bind_int(&query, ":now", tx->now_us);
    bind_size(&query, ":room", room);
    size_t count = 0;
    while (count < room && query_step(&query) == SQLITE_ROW) {
        struct row_reader reader = {.query = &query, .arena = tx->arena};
        ret_refs[count].instance_id = read_text(&reader);
        ret_refs[count++].seq = (int32_t)read_int(&reader);
        if (reader.failed)
            return fail_memory(reterr);
    }
    *ret_count = count;
    return query_ended(&query, "find due steps", reterr);
}

cairn_code sqlite_find_due_instances(struct store_tx *tx, const char **ret_ids, size_t room,
                                     size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_FIND_DUE_INSTANCES);
    bind_int(&query, ":now", tx->now_us);
    bind_size(&query, ":room", room);
    size_t count = 0;
    while (count < room && query_step(&query) == SQLITE_ROW) {
        struct row_reader reader = {.query = &query, .arena = tx->arena};
        ret_ids[count++] = read_text(&reader);
        if (reader.failed)
            return fail_memory(reterr);
    }
    *ret_count = count;
    return query_ended(&query, "find instances to start", reterr);
}

cairn_code sqlite_next_flow_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_NEXT_FLOW_DUE);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query, "find the next timer", reterr);
    *ret_due_us = sqlite3_column_int64(query.statement, 0); /* NULL reads as 0: never */
    return CAIRN_OK;
}

cairn_code sqlite_count_steps(struct store_tx *tx, struct step_counts *ret_counts,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_COUNT_STEPS);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query, "count steps", reterr);
    struct row_reader reader = {.query = &query};
    ret_counts->ready = (uint64_t)read_int(&reader);
    ret_counts->leased = (uint64_t)read_int(&reader);
    return CAIRN_OK;
}
