/* store/sqlite/flow_definition.c - workflow files, as they were deployed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/flow.h"

#include <assert.h>
#include <string.h>

static cairn_code read_definition(struct query *query, struct arena *arena,
                                  struct definition_row *ret_row, cairn_error *reterr)
{
    struct row_reader reader = {.query = query, .arena = arena};
    *ret_row = (struct definition_row){0};
    ret_row->name = read_text(&reader);
    ret_row->version = (int32_t)read_int(&reader);
    ret_row->hash = read_text(&reader);
    ret_row->created_at_us = read_int(&reader);
    ret_row->content = read_text(&reader);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code sqlite_get_definition(struct store_tx *tx, const char *name, int32_t version,
                                 struct definition_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(
        sqlite_session_of(tx), version ? Q_GET_DEFINITION : Q_GET_LATEST_DEFINITION);
    bind_text(&query, ":name", name);
    if (version)
        bind_int(&query, ":version", version);
    switch (query_step(&query)) {
    case SQLITE_ROW:
        return read_definition(&query, tx->arena, ret_row, reterr);
    case SQLITE_DONE:
        return CAIRN_E_NOT_FOUND; /* an answer: reterr stays as it was */
    default:
        return query_refused(&query, "read a definition", reterr);
    }
}

/* What stands under this name and version. */
static cairn_code compare_known(struct store_tx *tx, const struct definition_row *row,
                                enum put_result *ret_result, cairn_error *reterr)
{
    struct definition_row known;
    cairn_code code = sqlite_get_definition(tx, row->name, row->version, &known, reterr);
    assert(code != CAIRN_E_NOT_FOUND); /* it is why the insert did nothing */
    if (!code)
        *ret_result = strcmp(known.hash, row->hash) == 0 ? PUT_SAME : PUT_OTHER;
    return code;
}

cairn_code sqlite_put_definition(struct store_tx *tx, const struct definition_row *row,
                                 enum put_result *ret_result, cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    struct sqlite_session *session = sqlite_session_of(tx);
    cleanup(query_end) struct query query = query_begin(session, Q_PUT_DEFINITION);
    bind_text(&query, ":name", row->name);
    bind_int(&query, ":version", row->version);
    bind_text(&query, ":hash", row->hash);
    bind_int(&query, ":created_at", row->created_at_us);
    bind_text(&query, ":content", row->content);
    cairn_code code = query_run(&query, "keep a definition", reterr);
    if (code)
        return code;
    if (sqlite3_changes(session->connection->db) == 0)
        return compare_known(tx, row, ret_result, reterr);
    *ret_result = PUT_DONE;
    return CAIRN_OK;
}

cairn_code sqlite_list_definitions(struct store_tx *tx, const char *after_name,
                                   int32_t after_version, struct definition_row *ret_rows,
                                   size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_LIST_DEFINITIONS);
    bind_text(&query, ":after_name", after_name ? after_name : ""); /* names are not empty */
    bind_int(&query, ":after_version", after_name ? after_version : 0);
    bind_size(&query, ":room", room);

    size_t count = 0;
    while (count < room && query_step(&query) == SQLITE_ROW) {
        cairn_code code = read_definition(&query, tx->arena, &ret_rows[count], reterr);
        if (code)
            return code;
        count++;
    }
    *ret_count = count;
    return query_ended(&query, "list definitions", reterr);
}
