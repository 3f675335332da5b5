/* store/sqlite/registry.c - which runtime owns a type, and whether it is enabled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#include <assert.h>

cairn_code sqlite_put_registry(struct store_tx *tx, const struct registry_row *row,
                               cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_PUT_REGISTRY);
    bind_text(&query, ":name", row->name);
    bind_text(&query, ":intent_type", row->intent_type ? row->intent_type : "workflow");
    bind_text(&query, ":runtime", row->runtime);
    bind_int(&query, ":is_enabled", row->is_enabled);
    bind_text(&query, ":description", row->description);
    bind_int(&query, ":now", tx->now_us);
    return query_run(&query, "write to the registry", reterr);
}

static cairn_code read_entry(struct query *query, struct arena *arena,
                             struct registry_row *ret_row, cairn_error *reterr)
{
    struct row_reader reader = {.query = query, .arena = arena};
    ret_row->name = read_text(&reader);
    ret_row->intent_type = read_text(&reader);
    ret_row->runtime = read_text(&reader);
    ret_row->is_enabled = read_int(&reader) != 0;
    ret_row->description = read_text(&reader);
    ret_row->created_at_us = read_int(&reader);
    ret_row->updated_at_us = read_int(&reader);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code sqlite_get_registry(struct store_tx *tx, const char *name,
                               struct registry_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_GET_REGISTRY);
    bind_text(&query, ":name", name);
    switch (query_step(&query)) {
    case SQLITE_ROW:
        return read_entry(&query, tx->arena, ret_row, reterr);
    case SQLITE_DONE:
        return CAIRN_E_NOT_FOUND; /* an answer: reterr stays as it was */
    default:
        return query_refused(&query, "read the registry", reterr);
    }
}

cairn_code sqlite_list_registry(struct store_tx *tx, const char *after,
                                struct registry_row *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_LIST_REGISTRY);
    bind_text(&query, ":after", after ? after : ""); /* names are not empty */
    bind_size(&query, ":room", room);

    size_t count = 0;
    while (count < room && query_step(&query) == SQLITE_ROW) {
        cairn_code code = read_entry(&query, tx->arena, &ret_rows[count], reterr);
        if (code)
            return code;
        count++;
    }
    if (query.rc != SQLITE_OK && query.rc != SQLITE_ROW && query.rc != SQLITE_DONE)
        return query_refused(&query, "list the registry", reterr);
    *ret_count = count;
    return CAIRN_OK;
}
