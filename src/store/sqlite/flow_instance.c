/* store/sqlite/flow_instance.c - instances: insert, read, lock, update, list, count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/flow.h"

#include <assert.h>
#include <string.h>

/* ---- Reading --------------------------------------------------------------------------------
 */

/* The columns of every query that reads instances, in their order. */
static void read_columns(struct row_reader *reader, struct instance_row *row)
{
    row->seq = read_int(reader);
    row->id = read_text(reader);
    row->workflow = read_text(reader);
    row->version = (int32_t)read_int(reader);
    row->key = read_text(reader);
    const char *status = read_text(reader);
    row->status = status ? instance_status_from(status) : INSTANCE_NONE;
    row->generation = (int32_t)read_int(reader);
    row->start_at_us = read_int(reader);
    row->created_at_us = read_int(reader);
    row->updated_at_us = read_int(reader);
    row->started_at_us = read_int(reader);
    row->finished_at_us = read_int(reader);
    row->is_dlq = read_int(reader) != 0;
    row->has_compensation = read_int(reader) != 0;
    row->goal = (enum instance_goal)read_int(reader);
    row->is_undo_failed = read_int(reader) != 0;
    row->undo_first = read_place(reader);
    row->undo_from = read_place(reader);
    row->undo_to = read_place(reader);
    row->undo_below = read_int(reader);
    row->commits = read_int(reader);
    row->active_count = (int32_t)read_int(reader);
    row->wait_count = (int32_t)read_int(reader);
    row->sleep_count = (int32_t)read_int(reader);
    row->decision_count = (int32_t)read_int(reader);
    row->parked_count = (int32_t)read_int(reader);
    row->awaited_count = (int32_t)read_int(reader);
    row->is_function = read_int(reader) != 0;
    row->revision = read_int(reader);
    row->places = (int32_t)read_int(reader);
    row->is_forced = read_int(reader) != 0;
    row->is_woken = read_int(reader) != 0;
    row->stop_by = read_text(reader);
    row->stop_reason = read_text(reader);
    row->last_error = read_text(reader);
    row->undo_error = read_text(reader);
    row->input = read_text(reader);
    row->output = read_text(reader);
}

static cairn_code read_instance(struct query *query, struct arena *arena,
                                struct instance_row *ret_row, cairn_error *reterr)
{
    struct row_reader reader = {.query = query, .arena = arena};
    *ret_row = (struct instance_row){0};
    read_columns(&reader, ret_row);
    assert(reader.column == sqlite3_column_count(query->statement));
    if (reader.failed)
        return fail_memory(reterr);
    assert(ret_row->status != INSTANCE_NONE); /* the table has a CHECK */
    return CAIRN_OK;
}

cairn_code sqlite_get_instance(struct store_tx *tx, const char *id,
                               struct instance_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_GET_INSTANCE);
    bind_text(&query, ":id", id);
    switch (query_step(&query)) {
    case SQLITE_ROW:
        return read_instance(&query, tx->arena, ret_row, reterr);
    case SQLITE_DONE:
        return CAIRN_E_NOT_FOUND; /* an answer: reterr stays as it was */
    default:
        return query_refused(&query, "read an instance", reterr);
    }
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
    (void)may_wait; /* begin() has waited: nobody else can hold a row now */
    assert(tx->session->kind == SESSION_WRITER);
    for (size_t i = 0; i < count; i++) {
        cairn_code code = sqlite_get_instance(tx, ids[i], &ret_rows[i], reterr);
        if (code && code != CAIRN_E_NOT_FOUND)
            return code;
        ret_results[i] = code ? LOCK_ABSENT : LOCK_DONE;
    }
    return CAIRN_OK;
}

cairn_code find_instance_seq(struct store_tx *tx, const char *id, int64_t *ret_seq,
                             cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_FIND_INSTANCE_SEQ);
    bind_text(&query, ":id", id);
    switch (query_step(&query)) {
    case SQLITE_ROW:
        *ret_seq = sqlite3_column_int64(query.statement, 0);
        return CAIRN_OK;
    case SQLITE_DONE:
        return CAIRN_E_NOT_FOUND;
    default:
        return query_refused(&query, "find an instance", reterr);
    }
}

/* ---- Writing --------------------------------------------------------------------------------
 */

/* What insert and update have in common after their first columns, in the order of both. */
static void write_changing(struct row_writer *writer, const struct instance_row *row)
{
    write_int(writer, row->is_dlq);
    write_int(writer, row->has_compensation);
    write_int(writer, row->goal);
    write_int(writer, row->is_undo_failed);
    write_place(writer, row->undo_first);
    write_place(writer, row->undo_from);
    write_place(writer, row->undo_to);
    write_int(writer, row->undo_below);
    write_int(writer, row->commits);
    write_int(writer, row->active_count);
    write_int(writer, row->wait_count);
    write_int(writer, row->sleep_count);
    write_int(writer, row->decision_count);
    write_int(writer, row->parked_count);
    write_int(writer, row->awaited_count);
    write_int(writer, row->is_function);
    write_int(writer, row->revision);
    write_int(writer, row->places);
    write_int(writer, row->is_forced);
    write_int(writer, row->is_woken);
    write_text(writer, row->stop_by);
    write_text(writer, row->stop_reason);
    write_text(writer, row->last_error);
    write_text(writer, row->undo_error);
}

static cairn_code insert_row(struct store_tx *tx, const struct instance_row *row,
                             cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_INSERT_INSTANCE);
    struct row_writer writer = {.query = &query};
    write_text(&writer, row->id);
    write_text(&writer, row->workflow);
    write_int(&writer, row->version);
    write_text(&writer, row->key);
    write_text(&writer, instance_status_name(row->status));
    write_int(&writer, row->generation);
    write_time(&writer, row->start_at_us);
    write_int(&writer, row->created_at_us);
    write_int(&writer, row->updated_at_us);
    write_time(&writer, row->started_at_us);
    write_time(&writer, row->finished_at_us);
    write_changing(&writer, row);
    write_text(&writer, row->input);
    write_text(&writer, row->output);
    write_end(&writer);
    return query_run(&query, "insert an instance", reterr);
}

/* The row was not inserted: because of its id, or because of its key. */
static cairn_code find_known(struct store_tx *tx, struct instance_row *row,
                             enum insert_result *ret_result, cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_FIND_KNOWN_INSTANCE);
    bind_text(&query, ":id", row->id);
    bind_text(&query, ":workflow", row->workflow);
    bind_text(&query, ":key", row->key);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query, "find the instance of a key", reterr);

    struct row_reader reader = {.query = &query, .arena = tx->arena};
    row->seq = read_int(&reader);
    const char *id = read_text(&reader);
    if (!id)
        return fail_memory(reterr);
    *ret_result = strcmp(id, row->id) == 0 ? INSERT_AGAIN : INSERT_EXISTING;
    row->id = id;
    return CAIRN_OK;
}

cairn_code sqlite_insert_instances(struct store_tx *tx, struct instance_row *rows, size_t count,
                                   enum insert_result *ret_results, cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    sqlite3 *db = sqlite_session_of(tx)->connection->db;
    for (size_t i = 0; i < count; i++) {
        cairn_code code = insert_row(tx, &rows[i], reterr);
        if (code)
            return code;
        bool is_new = sqlite3_changes(db) > 0;
        ret_results[i] = INSERT_DONE;
        if (is_new)
            rows[i].seq = sqlite3_last_insert_rowid(db);
        else
            code = find_known(tx, &rows[i], &ret_results[i], reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

static cairn_code update_row(struct store_tx *tx, const struct instance_row *row,
                             cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_UPDATE_INSTANCE);
    struct row_writer writer = {.query = &query};
    write_int(&writer, row->generation);
    write_time(&writer, row->start_at_us);
    write_int(&writer, row->updated_at_us);
    write_time(&writer, row->started_at_us);
    write_time(&writer, row->finished_at_us);
    write_changing(&writer, row);
    write_text(&writer, row->output);
    write_text(&writer, row->id);
    write_end(&writer);
    return query_run(&query, "update an instance", reterr);
}

static cairn_code update_status(struct store_tx *tx, const struct instance_row *row,
                                cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_UPDATE_INSTANCE_STATUS);
    bind_text(&query, ":id", row->id);
    bind_text(&query, ":status", instance_status_name(row->status));
    return query_run(&query, "update an instance", reterr);
}

cairn_code sqlite_update_instances(struct store_tx *tx, const struct instance_row *rows,
                                   size_t count, cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    for (size_t i = 0; i < count; i++) {
        cairn_code code = update_row(tx, &rows[i], reterr);
        if (!code)
            code = update_status(tx, &rows[i], reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

/* ---- Lists and counts -----------------------------------------------------------------------
 */

/* The query whose index fits the filter best. */
static enum query_number choose_query(const struct instance_filter *filter)
{
    if (filter->key)
        return Q_LIST_INSTANCES_BY_KEY;
    if (filter->status != INSTANCE_NONE && filter->status != INSTANCE_COMPLETED)
        return Q_LIST_INSTANCES_BY_STATUS;
    return filter->workflow ? Q_LIST_INSTANCES_BY_WORKFLOW : Q_LIST_INSTANCES;
}

cairn_code sqlite_list_instances(struct store_tx *tx, const struct instance_filter *filter,
                                 struct instance_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), choose_query(filter));
    if (filter->key)
        bind_text(&query, ":key", filter->key);
    if (filter->workflow)
        bind_text(&query, ":workflow", filter->workflow);
    if (filter->status != INSTANCE_NONE)
        bind_text(&query, ":status", instance_status_name(filter->status));
    bind_int(&query, ":before", filter->before_seq ? filter->before_seq : INT64_MAX);
    bind_size(&query, ":room", room);

    size_t count = 0;
    while (count < room && query_step(&query) == SQLITE_ROW) {
        cairn_code code = read_instance(&query, tx->arena, &ret_rows[count], reterr);
        if (code)
            return code;
        count++;
    }
    *ret_count = count;
    return query_ended(&query, "list instances", reterr);
}

cairn_code sqlite_count_instances(struct store_tx *tx, uint64_t *ret_counts,
                                  cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_COUNT_INSTANCES);
    memset(ret_counts, 0, INSTANCE_STATUS_COUNT * sizeof *ret_counts);
    while (query_step(&query) == SQLITE_ROW) {
        struct row_reader reader = {.query = &query, .arena = tx->arena};
        const char *status = read_text(&reader);
        if (!status)
            return fail_memory(reterr);
        ret_counts[instance_status_from(status)] = (uint64_t)read_int(&reader);
    }
    return query_ended(&query, "count instances", reterr);
}
