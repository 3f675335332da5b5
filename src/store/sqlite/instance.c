/* store/sqlite/instance.c - instances: insert, read, lock, update, list, count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/known.h"

#include <assert.h>
#include <string.h>

/* ---- Reading ----------------------------------------------------------------------------- */

cairn_code sqlite_get_instance(struct store_tx *tx, const char *id,
                               struct instance_row *ret_row, cairn_error *reterr)
{
    if (known_instance(tx, id, ret_row))
        return CAIRN_OK;
    cleanup(query_end) struct query query = query_begin(tx, Q_GET_INSTANCE, reterr);
    bind_text(&query, ":id", id);
    TRY(row_find(&query, &instance_row_type, ret_row));
    known_put_instance(tx, ret_row);
    return CAIRN_OK;
}

cairn_code sqlite_read_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                 struct instance_row *ret_rows, bool *ret_is_found,
                                 cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        cairn_code code = sqlite_get_instance(tx, ids[i], &ret_rows[i], reterr);
        if (code && code != CAIRN_E_NOT_FOUND)
            return code;
        ret_is_found[i] = !code;
    }
    return CAIRN_OK;
}

cairn_code sqlite_lock_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                 bool may_wait, struct instance_row *ret_rows,
                                 enum lock_result *ret_results, cairn_error *reterr)
{
    (void)may_wait; /* begin() has waited: no other process can hold a row now */
    for (size_t i = 0; i < count; i++) {
        cairn_code code = sqlite_get_instance(tx, ids[i], &ret_rows[i], reterr);
        if (code && code != CAIRN_E_NOT_FOUND)
            return code;
        ret_results[i] = code ? LOCK_ABSENT : LOCK_DONE;
    }
    return CAIRN_OK;
}

/* ---- Writing ----------------------------------------------------------------------------- */

/* Unless its id or its key is known. */
static cairn_code insert_one(struct store_tx *tx, struct instance_row *row,
                             enum insert_result *ret_result, cairn_error *reterr)
{
    static const struct row_insert how = {.type = &instance_row_type,
                                          .insert = Q_INSERT_INSTANCE,
                                          .find = Q_FIND_KNOWN_INSTANCE,
                                          .is_kept = Q_IS_INSTANCE_KEY_KEPT,
                                          .kind = "instance",
                                          .seq_offset = offsetof(struct instance_row, seq),
                                          .id_offset = offsetof(struct instance_row, id),
                                          .key_offset = offsetof(struct instance_row, key),
                                          .tags_offset = offsetof(struct instance_row, tags)};
    return rows_insert(tx, &how, row, 1, ret_result, reterr);
}

/* Of rows some were there.  Those that were not have the largest numbers, each once. */
static cairn_code find_inserted(struct store_tx *tx, struct instance_row *rows, size_t count,
                                size_t inserted, enum insert_result *ret_results,
                                cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        cleanup(query_end) struct query query = query_begin(tx, Q_FIND_INSTANCE_SEQ, reterr);
        bind_text(&query, ":id", rows[i].id);
        cairn_code code = query_int(&query, &rows[i].seq);
        if (code)
            return code == CAIRN_E_NOT_FOUND ? query_refused(&query) : code;
        ret_results[i] = INSERT_AGAIN;
    }
    for (int64_t below = INT64_MAX; inserted > 0; inserted--) {
        size_t last = count;
        for (size_t i = 0; i < count; i++)
            if (rows[i].seq < below && (last == count || rows[i].seq > rows[last].seq))
                last = i;
        assert(last < count);
        ret_results[last] = INSERT_DONE;
        below = rows[last].seq;
    }
    return CAIRN_OK;
}

/* Rows without keys and tags; their numbers follow each other. */
static cairn_code insert_plain(struct store_tx *tx, struct instance_row *rows, size_t count,
                               enum insert_result *ret_results, cairn_error *reterr)
{
    static const struct insert_how how = {.type = &instance_row_type,
                                          .tail = " ON CONFLICT DO NOTHING",
                                          .doing = "insert an instance"};
    size_t inserted;
    TRY(insert_rows(tx, &how, rows, count, &inserted, reterr));
    if (inserted < count)
        return find_inserted(tx, rows, count, inserted, ret_results, reterr);
    int64_t last = sqlite3_last_insert_rowid(sqlite_session_of(tx)->connection->db);
    for (size_t i = 0; i < count; i++) {
        rows[i].seq = last - (int64_t)(count - 1 - i);
        ret_results[i] = INSERT_DONE;
    }
    return CAIRN_OK;
}

/* Those that are inserted together, from the first on. */
static size_t count_plain(const struct instance_row *rows, size_t count)
{
    size_t plain = 0;
    while (plain < count && !rows[plain].key && !rows[plain].tags)
        plain++;
    return plain;
}

cairn_code sqlite_insert_instances(struct store_tx *tx, struct instance_row *rows, size_t count,
                                   enum insert_result *ret_results, cairn_error *reterr)
{
    for (size_t i = 0, some; i < count; i += some) {
        some = count_plain(rows + i, count - i);
        if (some > 0) {
            TRY(insert_plain(tx, rows + i, some, ret_results + i, reterr));
        } else {
            TRY(insert_one(tx, &rows[i], &ret_results[i], reterr));
            some = 1;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (ret_results[i] == INSERT_DONE)
            known_put_instance(tx, &rows[i]);
    return CAIRN_OK;
}

/* The status apart from the rest: see update_instance_status. */
static cairn_code update_instance(struct store_tx *tx, const struct instance_row *row,
                                  cairn_error *reterr)
{
    TRY(rows_write(tx, Q_UPDATE_INSTANCE, &instance_row_type, row, 1, reterr));
    return rows_write(tx, Q_UPDATE_INSTANCE_STATUS, &instance_row_type, row, 1, reterr);
}

cairn_code sqlite_update_instances(struct store_tx *tx, const struct instance_row *rows,
                                   size_t count, cairn_error *reterr)
{
    bool *is_known = arena_room(tx->arena, count, sizeof *is_known);
    if (count && !is_known)
        return fail_memory(reterr);
    TRY(known_change_instances(tx, rows, count, is_known, reterr));
    for (size_t i = 0; i < count; i++)
        if (!is_known[i])
            TRY(update_instance(tx, &rows[i], reterr));
    return CAIRN_OK;
}

/* ---- Lists and counts -------------------------------------------------------------------- */

cairn_code sqlite_count_instances(struct store_tx *tx, uint64_t *ret_counts,
                                  cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_COUNT_INSTANCES, reterr);
    memset(ret_counts, 0, INSTANCE_STATUS_COUNT * sizeof *ret_counts);
    while (query_step(&query) == SQLITE_ROW) {
        const char *status = (const char *)sqlite3_column_text(query.handle, 0);
        if (!status)
            query.rc = SQLITE_NOMEM;
        else
            ret_counts[instance_status_from(status)] =
                (uint64_t)sqlite3_column_int64(query.handle, 1);
    }
    return query_ended(&query);
}

/* ---- Children ------------------------------------------------------------------------------ */

cairn_code sqlite_find_telling(struct store_tx *tx, struct instance_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_FIND_TELLING, reterr);
    return rows_read(&query, &instance_row_type, ret_rows, room, ret_count);
}

cairn_code sqlite_list_children(struct store_tx *tx, const char *parent, int32_t seq,
                                bool is_compensating, const char **ret_ids, size_t room,
                                size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_CHILDREN, reterr);
    bind_text(&query, ":parent", parent);
    bind_place(&query, ":seq", seq);
    bind_int(&query, ":compensating", is_compensating);
    return texts_read(&query, ret_ids, room, ret_count);
}

cairn_code sqlite_list_done_children(struct store_tx *tx, const struct children_row *step,
                                     const char **ret_ids, size_t room, size_t *ret_count,
                                     cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_DONE_CHILDREN, reterr);
    bind_text(&query, ":parent", step->instance_id);
    bind_int(&query, ":seq", step->seq);
    bind_int(&query, ":round", step->round);
    bind_int(&query, ":below", step->undo_below);
    return texts_read(&query, ret_ids, room, ret_count);
}

cairn_code sqlite_get_step_children(struct store_tx *tx, const char *instance_id, int32_t seq,
                                    struct children_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_GET_STEP_CHILDREN, reterr);
    bind_text(&query, ":instance_id", instance_id);
    bind_int(&query, ":seq", seq);
    return row_find(&query, &children_row_type, ret_row);
}

cairn_code sqlite_put_step_children(struct store_tx *tx, const struct children_row *rows,
                                    size_t count, cairn_error *reterr)
{
    return rows_write(tx, Q_PUT_STEP_CHILDREN, &children_row_type, rows, count, reterr);
}

cairn_code sqlite_count_untold(struct store_tx *tx, const char *id, int64_t *ret_count,
                               cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_COUNT_UNTOLD, reterr);
    bind_text(&query, ":id", id);
    bind_int(&query, ":cancel", GOAL_CANCEL);
    return query_int(&query, ret_count);
}

cairn_code sqlite_find_ending_children(struct store_tx *tx, const char *instance_id,
                                       struct children_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_FIND_ENDING_CHILDREN, reterr);
    bind_text(&query, ":instance_id", instance_id);
    return rows_read(&query, &children_row_type, ret_rows, room, ret_count);
}

cairn_code sqlite_put_elements(struct store_tx *tx, const struct elements_row *rows,
                               size_t count, cairn_error *reterr)
{
    return rows_write(tx, Q_PUT_ELEMENTS, &elements_row_type, rows, count, reterr);
}

cairn_code sqlite_get_elements(struct store_tx *tx, const struct children_row *step,
                               int32_t first, struct elements_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_GET_ELEMENTS, reterr);
    bind_text(&query, ":instance_id", step->instance_id);
    bind_int(&query, ":seq", step->seq);
    bind_int(&query, ":round", step->round);
    bind_int(&query, ":first", first);
    return row_find(&query, &elements_row_type, ret_row);
}

cairn_code sqlite_list_child_outputs(struct store_tx *tx, const struct children_row *step,
                                     int64_t after, struct child_output_row *ret_rows,
                                     size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_CHILD_OUTPUTS, reterr);
    bind_text(&query, ":parent", step->instance_id);
    bind_int(&query, ":seq", step->seq);
    bind_int(&query, ":round", step->round);
    bind_int(&query, ":after", after);
    return rows_read(&query, &child_output_row_type, ret_rows, room, ret_count);
}
