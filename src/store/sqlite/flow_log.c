/* store/sqlite/flow_log.c - what functions log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/flow.h"

#include <assert.h>

static cairn_code append_one(struct store_tx *tx, const struct log_row *row,
                             cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_APPEND_LOG);
    struct row_writer writer = {.query = &query};
    write_text(&writer, row->instance_id);
    write_text(&writer, row->level);
    write_text(&writer, row->step);
    if (row->attempt)
        write_int(&writer, row->attempt);
    else
        writer.parameter++; /* NULL: the function itself */
    write_int(&writer, tx->now_us);
    write_text(&writer, row->message);
    write_text(&writer, row->data);
    write_end(&writer);
    return query_run(&query, "append to a log", reterr);
}

cairn_code sqlite_append_logs(struct store_tx *tx, const struct log_row *rows, size_t count,
                              cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    cairn_code code = CAIRN_OK;
    for (size_t i = 0; i < count && !code; i++)
        code = append_one(tx, &rows[i], reterr);
    return code;
}

static cairn_code read_log(struct query *query, struct arena *arena, struct log_row *ret_row,
                           cairn_error *reterr)
{
    struct row_reader reader = {.query = query, .arena = arena};
    *ret_row = (struct log_row){0};
    ret_row->id = read_int(&reader);
    ret_row->instance_id = read_text(&reader);
    ret_row->level = read_text(&reader);
    ret_row->step = read_text(&reader);
    ret_row->attempt = (int32_t)read_int(&reader);
    ret_row->at_us = read_int(&reader);
    ret_row->message = read_text(&reader);
    ret_row->data = read_text(&reader);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code sqlite_list_logs(struct store_tx *tx, const char *instance_id, int64_t after,
                            struct log_row *ret_rows, size_t room, size_t *ret_count,
                            cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_LIST_LOGS);
    bind_text(&query, ":instance_id", instance_id);
    bind_int(&query, ":after", after);
    bind_size(&query, ":room", room);
    size_t count = 0;
    while (count < room && query_step(&query) == SQLITE_ROW) {
        cairn_code code = read_log(&query, tx->arena, &ret_rows[count], reterr);
        if (code)
            return code;
        count++;
    }
    *ret_count = count;
    return query_ended(&query, "list a log", reterr);
}
