/* store/sqlite/flow_step.c - steps: insert, read, lock, update, delete, list.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Steps are found by their id, which is made of their instance's number and their place: a step
 * is one probe and a stretch of a plan is one range, however long the plan is.
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/flow.h"

#include <assert.h>
#include <string.h>

int64_t step_id(int64_t instance_seq, int64_t place)
{
    return instance_seq * PLACES_MAX + place;
}

/* A place that a caller named, within what an id has room for. */
static int64_t step_id_within(int64_t instance_seq, int32_t place)
{
    if (place < 0)
        place = 0;
    return step_id(instance_seq, place < PLACES_MAX ? place : PLACES_MAX - 1);
}

/* ---- Reading --------------------------------------------------------------------------------
 */

/* The columns of every query that reads steps, in their order. */
static void read_columns(struct row_reader *reader, struct step_row *row)
{
    int64_t id = read_int(reader);
    row->instance_seq = id / PLACES_MAX;
    row->seq = (int32_t)(id % PLACES_MAX);
    row->name = read_text(reader);
    const char *kind = read_text(reader);
    row->kind = kind ? step_kind_from(kind) : KIND_NONE;
    row->handler = read_text(reader);
    row->max_attempts = (int32_t)read_int(reader);
    row->priority = (int32_t)read_int(reader);
    row->next = read_place(reader);
    row->scope_fork = read_place(reader);
    row->scope_from = read_place(reader);
    row->scope_to = read_place(reader);
    const char *status = read_text(reader);
    row->status = status ? step_status_from(status) : STEP_NONE;
    row->attempts = (int32_t)read_int(reader);
    row->compensation_attempts = (int32_t)read_int(reader);
    row->commit_no = read_int(reader);
    row->next_run_at_us = read_int(reader);
    row->started_at_us = read_int(reader);
    row->finished_at_us = read_int(reader);
    row->is_ready = read_int(reader) != 0;
    row->is_held = read_int(reader) != 0;
    row->task_type = read_text(reader);
    row->due_at_us = read_int(reader);
    row->locked_by = read_text(reader);
    row->token = read_text(reader);
    row->locked_until_us = read_int(reader);
    row->call_until_us = read_int(reader);
    row->ended_by = read_text(reader);
    row->ended_token = read_text(reader);
    row->stop = (enum step_stop)read_int(reader);
    row->waiting_event = read_text(reader);
    row->deadline_at_us = read_int(reader);
    row->is_timed_out = read_int(reader) != 0;
    row->remaining = (int32_t)read_int(reader);
    row->updated_at_us = read_int(reader);
    row->signal = read_text(reader);
    row->error = read_text(reader);
    row->config = read_text(reader);
    row->metadata = read_text(reader);
    row->input = read_text(reader);
    row->output = read_text(reader);
    row->ended_outcome = read_text(reader);
    row->past_effects = (int32_t)read_int(reader);
    row->is_effect_begun = read_int(reader) != 0;
    row->function_effects = read_text(reader);
    row->undo_error = read_text(reader);
}

cairn_code read_step(struct query *query, struct arena *arena, const char *instance_id,
                     struct step_row *ret_row, cairn_error *reterr)
{
    struct row_reader reader = {.query = query, .arena = arena};
    *ret_row = (struct step_row){0};
    read_columns(&reader, ret_row);
    ret_row->instance_id = instance_id ? instance_id : read_text(&reader);
    assert(reader.column == sqlite3_column_count(query->statement));
    if (reader.failed)
        return fail_memory(reterr);
    assert(ret_row->status != STEP_NONE && ret_row->kind != KIND_NONE); /* by CHECKs */
    return CAIRN_OK;
}

cairn_code read_steps(struct query *query, struct store_tx *tx, const char *instance_id,
                      const char *what, struct step_row *ret_rows, size_t room,
                      size_t *ret_count, cairn_error *reterr)
{
    size_t count = 0;
    while (count < room && query_step(query) == SQLITE_ROW) {
        cairn_code code = read_step(query, tx->arena, instance_id, &ret_rows[count], reterr);
        if (code)
            return code;
        count++;
    }
    *ret_count = count;
    return query_ended(query, what, reterr);
}

/* An instance whose steps are asked for; its id is in the arena, for the rows. */
struct owner {
    const char *id;
    int64_t seq;
};

/* CAIRN_E_NOT_FOUND, with reterr as it was. */
static cairn_code find_owner(struct store_tx *tx, const char *instance_id,
                             struct owner *ret_owner, cairn_error *reterr)
{
    cairn_code code = find_instance_seq(tx, instance_id, &ret_owner->seq, reterr);
    if (code)
        return code;
    ret_owner->id = arena_strdup(tx->arena, instance_id);
    return ret_owner->id ? CAIRN_OK : fail_memory(reterr);
}

/* The same for a list, which has no rows if there is no such instance. */
static cairn_code find_owner_of_list(struct store_tx *tx, const char *instance_id,
                                     struct owner *ret_owner, size_t *ret_count,
                                     cairn_error *reterr)
{
    cairn_code code = find_owner(tx, instance_id, ret_owner, reterr);
    *ret_count = 0;
    if (code == CAIRN_E_NOT_FOUND)
        ret_owner->id = NULL;
    return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
}

static cairn_code read_one(struct store_tx *tx, const struct owner *owner, int32_t seq,
                           struct step_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_READ_STEP);
    bind_int(&query, ":id", step_id(owner->seq, seq));
    switch (query_step(&query)) {
    case SQLITE_ROW:
        return read_step(&query, tx->arena, owner->id, ret_row, reterr);
    case SQLITE_DONE:
        return CAIRN_E_NOT_FOUND;
    default:
        return query_refused(&query, "read a step", reterr);
    }
}

cairn_code sqlite_lock_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found, cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    return sqlite_read_steps(tx, refs, count, ret_rows, ret_is_found, reterr);
}

cairn_code sqlite_read_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found, cairn_error *reterr)
{
    struct owner owner = {0};
    for (size_t i = 0; i < count; i++) {
        cairn_code code = CAIRN_OK;
        if (!owner.id || strcmp(owner.id, refs[i].instance_id) != 0)
            code = find_owner(tx, refs[i].instance_id, &owner, reterr);
        if (!code && (refs[i].seq < 0 || refs[i].seq >= PLACES_MAX))
            code = CAIRN_E_NOT_FOUND;
        if (!code)
            code = read_one(tx, &owner, refs[i].seq, &ret_rows[i], reterr);
        if (code && code != CAIRN_E_NOT_FOUND)
            return code;
        ret_is_found[i] = !code;
    }
    return CAIRN_OK;
}

static cairn_code list_current(struct store_tx *tx, enum query_number number,
                               const char *instance_id, int32_t after,
                               struct step_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    struct owner owner;
    cairn_code code = find_owner_of_list(tx, instance_id, &owner, ret_count, reterr);
    if (code || !owner.id)
        return code;
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), number);
    bind_int(&query, ":instance_seq", owner.seq);
    bind_int(&query, ":after", step_id(owner.seq, after));
    bind_size(&query, ":room", room);
    return read_steps(&query, tx, owner.id, "find current steps", ret_rows, room, ret_count,
                      reterr);
}

static cairn_code list_between(struct store_tx *tx, const char *instance_id,
                               enum step_status status, int32_t from, int32_t to,
                               struct step_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    struct owner owner;
    cairn_code code = find_owner_of_list(tx, instance_id, &owner, ret_count, reterr);
    if (code || !owner.id || to < 0 || from >= PLACES_MAX)
        return code;
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_LIST_STEPS);
    bind_int(&query, ":from", step_id_within(owner.seq, from));
    bind_int(&query, ":to", step_id_within(owner.seq, to));
    if (status != STEP_NONE)
        bind_text(&query, ":status", step_status_name(status));
    bind_size(&query, ":room", room);
    return read_steps(&query, tx, owner.id, "list steps", ret_rows, room, ret_count, reterr);
}

cairn_code sqlite_lock_current_steps(struct store_tx *tx, const char *instance_id,
                                     int32_t after, struct step_row *ret_rows, size_t room,
                                     size_t *ret_count, cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    return list_current(tx, Q_LIST_CURRENT_STEPS, instance_id, after, ret_rows, room, ret_count,
                        reterr);
}

cairn_code sqlite_lock_steps_between(struct store_tx *tx, const char *instance_id,
                                     enum step_status status, int32_t from, int32_t to,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    return list_between(tx, instance_id, status, from, to, ret_rows, room, ret_count, reterr);
}

cairn_code sqlite_lock_committed_steps(struct store_tx *tx, const char *instance_id,
                                       int64_t below, int32_t from, int32_t to,
                                       struct step_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    struct owner owner;
    cairn_code code = find_owner_of_list(tx, instance_id, &owner, ret_count, reterr);
    if (code || !owner.id || to < 0 || from >= PLACES_MAX)
        return code;
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_LIST_COMMITTED_STEPS);
    bind_int(&query, ":instance_seq", owner.seq);
    bind_int(&query, ":below", below);
    bind_int(&query, ":from", step_id_within(owner.seq, from));
    bind_int(&query, ":to", step_id_within(owner.seq, to));
    bind_size(&query, ":room", room);
    return read_steps(&query, tx, owner.id, "find steps to undo", ret_rows, room, ret_count,
                      reterr);
}

cairn_code sqlite_list_steps(struct store_tx *tx, const char *instance_id, int32_t after,
                             bool is_current, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr)
{
    if (is_current)
        return list_current(tx, Q_LIST_SHOWN_STEPS, instance_id, after, ret_rows, room,
                            ret_count, reterr);
    if (after >= PLACES_MAX) {
        *ret_count = 0;
        return CAIRN_OK;
    }
    return list_between(tx, instance_id, STEP_NONE, after + 1, PLACES_MAX - 1, ret_rows, room,
                        ret_count, reterr);
}

cairn_code sqlite_list_memos(struct store_tx *tx, const char *const *ids, size_t count,
                             int32_t after, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr)
{
    size_t found = 0, more;
    cairn_code code = CAIRN_OK;
    for (size_t i = 0; i < count && found < room && !code; i++, after = 0) {
        more = 0;
        if (after < PLACES_MAX)
            code = list_between(tx, ids[i], STEP_NONE, after + 1, PLACES_MAX - 1,
                                ret_rows + found, room - found, &more, reterr);
        found += more;
    }
    *ret_count = found;
    return code;
}

cairn_code sqlite_get_step(struct store_tx *tx, const char *instance_id, const char *name,
                           struct step_row *ret_row, cairn_error *reterr)
{
    struct owner owner;
    cairn_code code = find_owner(tx, instance_id, &owner, reterr);
    if (code)
        return code;
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_GET_STEP);
    bind_int(&query, ":from", step_id(owner.seq, 0));
    bind_int(&query, ":to", step_id(owner.seq, PLACES_MAX - 1));
    bind_text(&query, ":name", name);
    switch (query_step(&query)) {
    case SQLITE_ROW:
        return read_step(&query, tx->arena, owner.id, ret_row, reterr);
    case SQLITE_DONE:
        return CAIRN_E_NOT_FOUND;
    default:
        return query_refused(&query, "read a step", reterr);
    }
}

/* ---- Writing --------------------------------------------------------------------------------
 */

/* What insert and update have in common, in the order of both. */
static void write_changing(struct row_writer *writer, const struct step_row *row)
{
    bool is_current = step_is_current(row->status) || row->locked_by || row->is_held;
    write_text(writer, step_status_name(row->status));
    write_int(writer, row->attempts);
    write_int(writer, row->compensation_attempts);
    write_time(writer, row->commit_no); /* 0: none yet */
    write_time(writer, row->next_run_at_us);
    write_time(writer, row->started_at_us);
    write_time(writer, row->finished_at_us);
    write_int(writer, row->is_ready);
    write_int(writer, row->is_held);
    write_int(writer, is_current);
    write_text(writer, row->task_type);
    write_time(writer, row->due_at_us);
    write_text(writer, row->locked_by);
    write_text(writer, row->token);
    write_time(writer, row->locked_until_us);
    write_time(writer, row->call_until_us);
    write_text(writer, row->ended_by);
    write_text(writer, row->ended_token);
    write_int(writer, row->stop);
    write_text(writer, row->waiting_event);
    write_time(writer, row->deadline_at_us);
    write_int(writer, row->is_timed_out);
    write_int(writer, row->remaining);
    write_int(writer, row->updated_at_us);
    write_text(writer, row->signal);
    write_text(writer, row->error);
    write_text(writer, row->input);
    write_text(writer, row->output);
    write_text(writer, row->ended_outcome);
    write_int(writer, row->past_effects);
    write_int(writer, row->is_effect_begun);
    write_text(writer, row->function_effects);
    write_text(writer, row->undo_error);
}

static cairn_code insert_one(struct store_tx *tx, const struct step_row *row,
                             cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_INSERT_STEP);
    struct row_writer writer = {.query = &query};
    write_int(&writer, step_id(row->instance_seq, row->seq));
    write_text(&writer, row->name);
    write_text(&writer, step_kind_name(row->kind));
    write_text(&writer, row->handler);
    write_int(&writer, row->max_attempts);
    write_int(&writer, row->priority);
    write_place(&writer, row->next);
    write_place(&writer, row->scope_fork);
    write_place(&writer, row->scope_from);
    write_place(&writer, row->scope_to);
    write_text(&writer, row->config);
    write_text(&writer, row->metadata);
    write_changing(&writer, row);
    write_int(&writer, row->version);
    write_end(&writer);
    return query_run(&query, "insert a step", reterr);
}

cairn_code sqlite_insert_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    for (size_t i = 0; i < count; i++) {
        assert(rows[i].instance_seq > 0 && rows[i].seq >= 0);
        if (rows[i].seq >= PLACES_MAX)
            return fail(reterr, CAIRN_E_TOO_LARGE,
                        "cannot add a step to instance \"%s\": SQLite holds %d of one instance",
                        rows[i].instance_id, (int)PLACES_MAX);
        cairn_code code = insert_one(tx, &rows[i], reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

static cairn_code update_one(struct store_tx *tx, const struct step_row *row,
                             cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_UPDATE_STEP);
    struct row_writer writer = {.query = &query};
    write_changing(&writer, row);
    write_int(&writer, step_id(row->instance_seq, row->seq));
    write_end(&writer);
    return query_run(&query, "update a step", reterr);
}

cairn_code sqlite_update_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    for (size_t i = 0; i < count; i++) {
        assert(rows[i].instance_seq > 0); /* it was read or inserted in this transaction */
        cairn_code code = update_one(tx, &rows[i], reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

static cairn_code delete_one(struct store_tx *tx, int64_t id, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_DELETE_STEP);
    bind_int(&query, ":id", id);
    return query_run(&query, "forget a step", reterr);
}

cairn_code sqlite_delete_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                               cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    const char *owner = NULL; /* whose number owner_seq is; 0: nobody's */
    int64_t owner_seq = 0;
    for (size_t i = 0; i < count; i++) {
        cairn_code code = CAIRN_OK;
        if (!owner || strcmp(owner, refs[i].instance_id) != 0) {
            owner = refs[i].instance_id;
            owner_seq = 0;
            code = find_instance_seq(tx, owner, &owner_seq, reterr);
            if (code == CAIRN_E_NOT_FOUND)
                code = CAIRN_OK;
        }
        bool is_place = refs[i].seq >= 0 && refs[i].seq < PLACES_MAX;
        if (!code && owner_seq && is_place)
            code = delete_one(tx, step_id(owner_seq, refs[i].seq), reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}
