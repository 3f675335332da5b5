/* store/sqlite/step.c - steps: insert, read, lock, update, delete, list, count.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Steps are found by their id, which is made of their instance's number and their place: a step
 * is one probe and a stretch of a plan is one range, however long the plan is.
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/known.h"

#include <assert.h>
#include <string.h>

/* ---- Some steps, by their places --------------------------------------------------------- */

/* The instance of the latest step that was asked for. */
struct owner {
    const char *id; /* in the arena, for the rows; NULL: none yet */
    int64_t seq;
};

static cairn_code find_owner(struct store_tx *tx, const char *instance_id, struct owner *owner,
                             cairn_error *reterr)
{
    if (owner->id && strcmp(owner->id, instance_id) == 0)
        return CAIRN_OK;
    cairn_code code = CAIRN_OK;
    owner->seq = known_instance_seq(tx, instance_id);
    if (!owner->seq) {
        cleanup(query_end) struct query query = query_begin(tx, Q_FIND_INSTANCE_SEQ, reterr);
        bind_text(&query, ":id", instance_id);
        code = query_int(&query, &owner->seq);
    }
    owner->id = code ? NULL : arena_strdup(tx->arena, instance_id);
    return code || owner->id ? code : fail_memory(reterr);
}

/* The number of a step.  CAIRN_E_NOT_FOUND: no such instance or place. */
static cairn_code find_number(struct store_tx *tx, const struct step_ref *ref,
                              struct owner *owner, int64_t *ret_number, cairn_error *reterr)
{
    TRY(find_owner(tx, ref->instance_id, owner, reterr));
    *ret_number = owner->seq * PLACES_MAX + ref->seq;
    return ref->seq < 0 || ref->seq >= PLACES_MAX ? CAIRN_E_NOT_FOUND : CAIRN_OK;
}

static cairn_code read_step(struct store_tx *tx, const struct step_ref *ref,
                            struct owner *owner, struct step_row *ret_row, cairn_error *reterr)
{
    int64_t number = 0;
    TRY(find_number(tx, ref, owner, &number, reterr));
    if (!known_step(tx, number, ret_row)) {
        cleanup(query_end) struct query query = query_begin(tx, Q_READ_STEP, reterr);
        bind_int(&query, ":id", number);
        TRY(row_find(&query, &step_row_type, ret_row));
        known_put_step(tx, ret_row);
    }
    ret_row->instance_id = owner->id;
    return CAIRN_OK;
}

cairn_code sqlite_read_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found, cairn_error *reterr)
{
    struct owner owner = {0};
    for (size_t i = 0; i < count; i++) {
        cairn_code code = read_step(tx, &refs[i], &owner, &ret_rows[i], reterr);
        if (code && code != CAIRN_E_NOT_FOUND)
            return code;
        ret_is_found[i] = !code;
    }
    return CAIRN_OK;
}

/* begin() has waited: no other process can hold a row now. */
cairn_code sqlite_lock_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found, cairn_error *reterr)
{
    return sqlite_read_steps(tx, refs, count, ret_rows, ret_is_found, reterr);
}

cairn_code sqlite_delete_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                               cairn_error *reterr)
{
    struct owner owner = {0};
    for (size_t i = 0; i < count; i++) {
        int64_t number = 0;
        cairn_code code = find_number(tx, &refs[i], &owner, &number, reterr);
        if (code == CAIRN_E_NOT_FOUND)
            continue;
        TRY(code);
        cleanup(query_end) struct query query = query_begin(tx, Q_DELETE_STEP, reterr);
        bind_int(&query, ":id", number);
        TRY(query_run(&query));
    }
    return CAIRN_OK;
}

/* ---- Lists, of one instance -------------------------------------------------------------- */

/* Binds the instance and reads the steps; other parameters are bound. */
static cairn_code read_steps_of(struct query *query, const char *instance_id,
                                struct step_row *ret_rows, size_t room, size_t *ret_count)
{
    bind_text(query, ":instance_id", instance_id);
    cairn_code code = rows_read(query, &step_row_type, ret_rows, room, ret_count);
    if (code || *ret_count == 0)
        return code;
    const char *id = arena_strdup(query->arena, instance_id); /* one for all rows */
    for (size_t i = 0; i < *ret_count; i++)
        ret_rows[i].instance_id = id;
    return id ? CAIRN_OK : fail_memory(query->reterr);
}

static cairn_code list_current(struct store_tx *tx, enum query_number number,
                               const char *instance_id, int32_t after,
                               struct step_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    bind_int(&query, ":after", after);
    return read_steps_of(&query, instance_id, ret_rows, room, ret_count);
}

cairn_code sqlite_lock_current_steps(struct store_tx *tx, const char *instance_id,
                                     int32_t after, struct step_row *ret_rows, size_t room,
                                     size_t *ret_count, cairn_error *reterr)
{
    return list_current(tx, Q_LIST_CURRENT_STEPS, instance_id, after, ret_rows, room, ret_count,
                        reterr);
}

cairn_code sqlite_list_open_steps(struct store_tx *tx, const char *const *ids, size_t count,
                                  int32_t after, struct step_row *ret_rows, size_t room,
                                  size_t *ret_count, cairn_error *reterr)
{
    size_t found = 0, more = 0;
    for (size_t i = 0; i < count && found < room; i++, after = -1, found += more)
        TRY(list_current(tx, Q_LIST_OPEN_STEPS, ids[i], after, ret_rows + found, room - found,
                         &more, reterr));
    *ret_count = found;
    return CAIRN_OK;
}

cairn_code sqlite_lock_steps_between(struct store_tx *tx, const char *instance_id,
                                     enum step_status status, int32_t from, int32_t to,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_STEPS, reterr);
    bind_int(&query, ":from", from);
    bind_int(&query, ":to", to);
    bind_text(&query, ":status", step_status_name(status));
    return read_steps_of(&query, instance_id, ret_rows, room, ret_count);
}

cairn_code sqlite_lock_committed_steps(struct store_tx *tx, const char *instance_id,
                                       int64_t below, int32_t from, int32_t to,
                                       struct step_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_COMMITTED_STEPS, reterr);
    bind_int(&query, ":below", below);
    bind_int(&query, ":from", from);
    bind_int(&query, ":to", to);
    return read_steps_of(&query, instance_id, ret_rows, room, ret_count);
}

cairn_code sqlite_list_steps(struct store_tx *tx, const char *instance_id, int32_t after,
                             bool is_current, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr)
{
    if (is_current)
        return list_current(tx, Q_LIST_SHOWN_STEPS, instance_id, after, ret_rows, room,
                            ret_count, reterr);
    int32_t from = after < PLACES_MAX ? after + 1 : PLACES_MAX;
    return sqlite_lock_steps_between(tx, instance_id, STEP_NONE, from, PLACES_MAX - 1, ret_rows,
                                     room, ret_count, reterr);
}

cairn_code sqlite_list_memos(struct store_tx *tx, const struct step_ref *after, size_t count,
                             struct step_row *ret_rows, size_t room, size_t *ret_count,
                             cairn_error *reterr)
{
    size_t found = 0, more = 0;
    cairn_code code = CAIRN_OK;
    for (size_t i = 0; i < count && found < room && !code; i++, found += more)
        code = sqlite_list_steps(tx, after[i].instance_id, after[i].seq, false,
                                 ret_rows + found, room - found, &more, reterr);
    *ret_count = found;
    return code;
}

cairn_code sqlite_get_step(struct store_tx *tx, const char *instance_id, const char *name,
                           struct step_row *ret_row, cairn_error *reterr)
{
    size_t count = 0;
    cleanup(query_end) struct query query = query_begin(tx, Q_GET_STEP, reterr);
    bind_text(&query, ":name", name);
    cairn_code code = read_steps_of(&query, instance_id, ret_row, 1, &count);
    return code || count ? code : CAIRN_E_NOT_FOUND;
}

cairn_code sqlite_count_steps(struct store_tx *tx, struct step_counts *ret_counts,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_COUNT_STEPS, reterr);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query);
    ret_counts->ready = (uint64_t)sqlite3_column_int64(query.handle, 0);
    ret_counts->leased = (uint64_t)sqlite3_column_int64(query.handle, 1);
    return CAIRN_OK;
}

/* ---- Writing ----------------------------------------------------------------------------- */

static bool is_current(const struct step_row *row)
{
    return step_is_current(row->status) || row->locked_by || row->is_held;
}

/* Most columns of a new step are NULL, 0 or ''.  An INSERT has parameters for the others only, and writes many steps, so
 * that its cursors and checks are made ready once for all. */
static const int insert_sizes[INSERT_SIZES] = {20, 5, 1};

void step_insert_done(struct step_insert *insert)
{
    for (int i = 0; i < INSERT_SIZES; i++)
        statement_finalize(&insert->statements[i]);
    *insert = (struct step_insert){0};
}

static bool may_be_null(const struct column *column)
{
    return column->flags & (COLUMN_NULL | COLUMN_NULL_IN_SQLITE);
}

/* Whether it needs no parameter. */
static bool is_blank(const struct column *column, const struct step_row *row)
{
    if (column->kind <= UUID_COLUMN)
        return !member_text(column, row) &&
               (may_be_null(column) || column->flags & COLUMN_EMPTY);
    return column->kind != WORD_COLUMN &&
           member_int(column, row) == (column->kind == PLACE_COLUMN ? -1 : 0);
}

/* The number of a step has its instance's and its place. */
static bool is_in_number(const struct column *column)
{
    return column->flags & COLUMN_POSTGRES_ONLY ||
           column->offset == offsetof(struct step_row, instance_seq) ||
           column->offset == offsetof(struct step_row, seq);
}

/* The columns in which one of the steps has a value.  A member that is blank is all zeros, but for a place: so are all of
 * them in the steps laid over each other. */
static uint64_t find_columns(const struct step_row *rows, size_t count)
{
    uint64_t columns = 0;
    struct step_row all;
    memset(&all, 0, sizeof all);
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < sizeof all; i++)
            ((unsigned char *)&all)[i] |= ((const unsigned char *)&rows[k])[i];
    for (size_t i = 0; i < step_row_type.count; i++) {
        const struct column *column = &step_row_type.columns[i];
        bool has_value = false;
        if (column->kind != PLACE_COLUMN)
            has_value = !is_blank(column, &all);
        for (size_t k = 0; column->kind == PLACE_COLUMN && k < count && !has_value; k++)
            has_value = !is_blank(column, &rows[k]);
        columns |= (uint64_t)(has_value && !is_in_number(column)) << i;
    }
    return columns;
}

/* The parameters of a row: its number, whether it is current, its columns.  OR FAIL as in known.c. */
static int prepare_insert(sqlite3 *db, uint64_t columns, int rows, sqlite3_stmt **ret_handle)
{
    cleanup(buf_done) struct buf sql = {0}, values = {0};
    buf_str(&sql, "INSERT OR FAIL INTO workflow_step (id, is_current");
    for (size_t i = 0; i < step_row_type.count; i++) {
        const struct column *column = &step_row_type.columns[i];
        bool has_value = columns >> i & 1;
        if (is_in_number(column) || (!has_value && may_be_null(column)))
            continue;
        buf_printf(&sql, ", \"%s\"", column->name);
        buf_str(&values, has_value ? ", ?" : column->kind <= UUID_COLUMN ? ", ''" : ", 0");
    }
    for (int i = 0; i < rows && !buf_failed(&values); i++)
        buf_printf(&sql, "%s (?, ?%s)", i ? "," : ") VALUES", buf_text(&values));
    if (buf_failed(&sql) || buf_failed(&values))
        return SQLITE_NOMEM;
    return sqlite3_prepare_v3(db, sql.text, -1, SQLITE_PREPARE_PERSISTENT, ret_handle, NULL);
}

static struct step_insert *find_insert(struct sqlite_session *session, uint64_t columns)
{
    for (size_t i = 0; i < STEP_INSERTS_MAX; i++)
        if (session->step_inserts[i].columns == columns)
            return &session->step_inserts[i];
    struct step_insert *insert = &session->step_inserts[session->next_step_insert];
    session->next_step_insert = (session->next_step_insert + 1) % STEP_INSERTS_MAX;
    step_insert_done(insert);
    insert->columns = columns;
    return insert;
}

/* As many of the steps as one INSERT takes. */
static cairn_code insert_some(struct sqlite_session *session, uint64_t columns,
                              const struct step_row *rows, size_t left, int *ret_count,
                              cairn_error *reterr)
{
    int size = 0, parameter = 1, rc = SQLITE_OK;
    while ((size_t)insert_sizes[size] > left)
        size++;
    int count = *ret_count = insert_sizes[size];
    struct statement *statement = &find_insert(session, columns)->statements[size];
    if (!statement->handle)
        rc = prepare_insert(session->connection->db, columns, count, &statement->handle);
    cleanup(query_end) struct query query = {.session = session,
                                             .statement = statement,
                                             .handle = statement->handle,
                                             .doing = "insert a step",
                                             .reterr = reterr,
                                             .rc = rc};
    for (int k = 0; k < count; k++) {
        bind_int_at(&query, parameter++, rows[k].instance_seq * PLACES_MAX + rows[k].seq);
        bind_int_at(&query, parameter++, is_current(&rows[k]));
        for (size_t i = 0; columns >> i; i++)
            if (columns >> i & 1)
                column_bind(&query, parameter++, &step_row_type.columns[i], &rows[k]);
    }
    return query_run(&query);
}

static cairn_code update_step(struct store_tx *tx, const struct step_row *row,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_UPDATE_STEP, reterr);
    bind_int(&query, ":is_current", is_current(row));
    row_bind(&query, &step_row_type, row);
    return query_run(&query);
}

cairn_code sqlite_insert_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        assert(rows[i].instance_seq > 0 && rows[i].seq >= 0);
        if (rows[i].seq >= PLACES_MAX)
            return fail(reterr, CAIRN_E_TOO_LARGE,
                        "cannot add a step to instance \"%s\": SQLite holds %d of one instance",
                        rows[i].instance_id, (int)PLACES_MAX);
    }
    uint64_t columns = find_columns(rows, count);
    int some = 0;
    for (size_t i = 0; i < count; i += (size_t)some)
        TRY(insert_some(sqlite_session_of(tx), columns, rows + i, count - i, &some, reterr));
    for (size_t i = 0; i < count; i++)
        known_put_step(tx, &rows[i]);
    return CAIRN_OK;
}

cairn_code sqlite_update_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr)
{
    bool *is_known = arena_room(tx->arena, count, sizeof *is_known);
    if (count && !is_known)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        assert(rows[i].instance_seq > 0); /* it was read or inserted in this transaction */
    TRY(known_change_steps(tx, rows, count, is_known, reterr));
    for (size_t i = 0; i < count; i++)
        if (!is_known[i])
            TRY(update_step(tx, &rows[i], reterr));
    return CAIRN_OK;
}

cairn_code sqlite_read_statuses(struct store_tx *tx, const char *instance_id, int32_t below,
                                enum step_status *ret_statuses, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_READ_STATUSES, reterr);
    memset(ret_statuses, 0, (size_t)below * sizeof *ret_statuses);
    bind_text(&query, ":instance_id", instance_id);
    bind_int(&query, ":below", below);
    while (query_step(&query) == SQLITE_ROW) {
        const char *status = (const char *)sqlite3_column_text(query.handle, 1);
        ret_statuses[sqlite3_column_int64(query.handle, 0)] =
            (enum step_status)word_from(&step_status_words, status);
    }
    return query_ended(&query);
}
