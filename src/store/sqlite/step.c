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

cairn_code sqlite_list_fork_steps(struct store_tx *tx, const char *instance_id, int32_t from,
                                  int32_t to, struct step_row *ret_rows, size_t room,
                                  size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_FORK_STEPS, reterr);
    bind_int(&query, ":from", from);
    bind_int(&query, ":to", to);
    return read_steps_of(&query, instance_id, ret_rows, room, ret_count);
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

/* The number of a step has its instance's and its place. */
static bool is_in_number(const struct column *column)
{
    return column->offset == offsetof(struct step_row, instance_seq) ||
           column->offset == offsetof(struct step_row, seq);
}

static int64_t number_or_current(const void *row, size_t i)
{
    const struct step_row *step = row;
    return i == 0 ? step->instance_seq * PLACES_MAX + step->seq : is_current(step);
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
    static const struct insert_how how = {.type = &step_row_type,
                                          .head = {"id", "is_current"},
                                          .head_value = number_or_current,
                                          .is_left_out = is_in_number,
                                          .tail = "",
                                          .doing = "insert a step"};
    size_t inserted;
    TRY(insert_rows(tx, &how, rows, count, &inserted, reterr));
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
