/* store/postgres/step.c - rows of workflow_step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <string.h>

cairn_code postgres_insert_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                                 cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++)
        postgres_note_step(tx, &rows[i]);
    return postgres_write_rows(tx, PG_INSERT_STEPS, &step_row_type, COLUMNS_INSERT, rows, count,
                               reterr);
}

cairn_code postgres_update_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                                 cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++)
        postgres_note_step(tx, &rows[i]);
    return postgres_write_rows(tx, PG_UPDATE_STEPS, &step_row_type, COLUMNS_UPDATE, rows, count,
                               reterr);
}

/* Portions are not needed: a place is a few bytes. */
cairn_code postgres_delete_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                                 cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    struct postgres_params params = {.arena = tx->arena};
    if (count == 0)
        return CAIRN_OK;
    for (size_t i = 0; i < count; i++) {
        columns_uuid(&columns, refs[i].instance_id);
        columns_int(&columns, refs[i].seq);
        columns_end_row(&columns);
    }
    param_columns(&params, &columns);
    return postgres_queue(postgres_session_of(tx), PG_DELETE_STEPS, &params, reterr);
}

/* ---- by place ------------------------------------------------------------------------------- */

/* How many refs from `refs` on are neighbours: places of one instance, one after the other. */
static size_t count_neighbours(const struct step_ref *refs, size_t count)
{
    size_t run = 1;
    while (run < count && refs[run].seq == refs[run - 1].seq + 1 &&
           strcmp(refs[run].instance_id, refs[0].instance_id) == 0)
        run++;
    return run;
}

/* Ranges of places, one for each run of neighbours. */
static void add_ranges(struct postgres_params *params, const struct step_ref *refs,
                       size_t count)
{
    struct postgres_columns columns = {0};
    for (size_t i = 0, run; i < count; i += run) {
        run = count_neighbours(refs + i, count - i);
        columns_uuid(&columns, refs[i].instance_id);
        columns_int(&columns, refs[i].seq);
        columns_int(&columns, refs[i + run - 1].seq);
        columns_end_row(&columns);
    }
    param_columns_copied(params, &columns);
}

/* The steps at these places, by a query whose first column says of which range a row is; it may have been sent
 * before. */
static cairn_code run_places(struct store_tx *tx, enum postgres_query query,
                             const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    size_t *firsts = arena_array(tx->arena, count, sizeof *firsts), range = 0; /* refs */
    if (count == 0)
        return CAIRN_OK;
    if (!firsts)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i += count_neighbours(refs + i, count - i))
        firsts[range++] = i;
    memset(ret_is_found, 0, count * sizeof *ret_is_found);
    if (postgres_is_sent(postgres_session_of(tx), query)) {
        TRY(postgres_take(tx, query, &reader, reterr));
    } else {
        add_ranges(&params, refs, count);
        TRY(postgres_ask(tx, query, &params, &reader, reterr));
    }

    for (; reader.row < reader.count; reader.row++) {
        struct step_row row;
        size_t first = firsts[value_int(&reader, 0) - 1];
        postgres_read_row(&reader, 1, &step_row_type, &row);
        size_t place = first + (size_t)(row.seq - refs[first].seq);
        ret_rows[place] = row;
        ret_is_found[place] = true;
    }
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_lock_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                               struct step_row *ret_rows, bool *ret_is_found,
                               cairn_error *reterr)
{
    return run_places(tx, PG_LOCK_STEPS, refs, count, ret_rows, ret_is_found, reterr);
}

cairn_code postgres_send_lock_flow(struct store_tx *tx, const struct flow_lock *lock,
                                   cairn_error *reterr)
{
    struct postgres_session *session = postgres_session_of(tx);
    struct postgres_params named = {.arena = tx->arena}, ranges = {.arena = tx->arena};
    param_uuids(&named, lock->ids, lock->count);
    add_ranges(&ranges, lock->refs, lock->ref_count);
    if (lock->known_count)
        TRY(postgres_send_lock_known(tx, lock->known, lock->known_count, reterr));
    if (lock->count)
        TRY(postgres_send(session, PG_LOCK_INSTANCES, &named, reterr));
    return lock->ref_count ? postgres_send(session, PG_LOCK_FREE_STEPS, &ranges, reterr)
                           : CAIRN_OK;
}

cairn_code postgres_lock_flow(struct store_tx *tx, const struct flow_lock *lock,
                              cairn_error *reterr)
{
    const struct postgres_session *session = postgres_session_of(tx);
    if (!postgres_is_sent(session, PG_LOCK_KNOWN) &&
        !postgres_is_sent(session, PG_LOCK_INSTANCES))
        TRY(postgres_send_lock_flow(tx, lock, reterr));
    if (lock->known_count)
        TRY(postgres_take_lock_known(tx, lock->known, reterr));
    TRY(postgres_lock_instances(tx, lock->ids, lock->count, false, lock->rows, lock->results,
                                reterr));
    TRY(run_places(tx, PG_LOCK_FREE_STEPS, lock->refs, lock->ref_count, lock->steps,
                   lock->is_found, reterr));
    postgres_looked(tx);
    return CAIRN_OK;
}

cairn_code postgres_read_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                               struct step_row *ret_rows, bool *ret_is_found,
                               cairn_error *reterr)
{
    return run_places(tx, PG_READ_STEPS, refs, count, ret_rows, ret_is_found, reterr);
}

/* ---- of an instance ------------------------------------------------------------------------- */

cairn_code postgres_lock_current_steps(struct store_tx *tx, const char *instance_id,
                                       int32_t after, struct step_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    return postgres_list_after(tx, PG_LOCK_CURRENT_STEPS, instance_id, after, &step_row_type,
                               ret_rows, room, ret_count, reterr);
}

cairn_code postgres_list_steps(struct store_tx *tx, const char *instance_id, int32_t after,
                               bool is_current, struct step_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    return postgres_list_after(tx, is_current ? PG_LIST_CURRENT_STEPS : PG_LIST_STEPS,
                               instance_id, after, &step_row_type, ret_rows, room, ret_count,
                               reterr);
}

cairn_code postgres_list_fork_steps(struct store_tx *tx, const char *instance_id, int32_t from,
                                    int32_t to, struct step_row *ret_rows, size_t room,
                                    size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(instance_id), INT(from), INT(to), INT(room));
    return postgres_read_rows(tx, PG_LIST_FORK_STEPS, &params, &step_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_list_open_steps(struct store_tx *tx, const char *const *ids, size_t count,
                                    int32_t after, struct step_row *ret_rows, size_t room,
                                    size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    param_uuids(&params, ids, count);
    param_int(&params, after);
    param_int(&params, (int64_t)room);
    return postgres_read_rows(tx, PG_LIST_OPEN_STEPS, &params, &step_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_lock_steps_between(struct store_tx *tx, const char *instance_id,
                                       enum step_status status, int32_t from, int32_t to,
                                       struct step_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    const char *word = status ? step_status_name(status) : NULL;
    struct postgres_params params =
        PARAMS(tx, ID(instance_id), TEXT(word), INT(from), INT(to), INT(room));
    return postgres_read_rows(tx, PG_LOCK_STEPS_BETWEEN, &params, &step_row_type, ret_rows,
                              room, ret_count, reterr);
}

cairn_code postgres_lock_committed_steps(struct store_tx *tx, const char *instance_id,
                                         int64_t below, int32_t from, int32_t to,
                                         struct step_row *ret_rows, size_t room,
                                         size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params =
        PARAMS(tx, ID(instance_id), INT(below), INT(from), INT(to), INT(room));
    return postgres_read_rows(tx, PG_LOCK_COMMITTED_STEPS, &params, &step_row_type, ret_rows,
                              room, ret_count, reterr);
}

cairn_code postgres_list_memos(struct store_tx *tx, const struct step_ref *after, size_t count,
                               struct step_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    struct postgres_params params = {.arena = tx->arena};
    *ret_count = 0;
    if (count == 0)
        return CAIRN_OK;
    TRY(postgres_drop_signals(tx, reterr));
    for (size_t i = 0; i < count; i++) {
        columns_uuid(&columns, after[i].instance_id);
        columns_int(&columns, after[i].seq);
        columns_end_row(&columns);
    }
    param_columns(&params, &columns);
    param_int(&params, (int64_t)room);
    return postgres_read_rows(tx, PG_LIST_MEMOS, &params, &step_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_get_step(struct store_tx *tx, const char *instance_id, const char *name,
                             struct step_row *ret_row, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(instance_id), TEXT(name));
    return postgres_read_one(tx, PG_GET_STEP, &params, &step_row_type, ret_row, reterr);
}

/* ---- of all instances ----------------------------------------------------------------------- */

cairn_code postgres_list_ready_types(struct store_tx *tx, struct ready_type *ret_types,
                                     size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, INT(room));
    TRY(postgres_ask(tx, PG_LIST_READY_TYPES, &params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++)
        ret_types[reader.row] = (struct ready_type){
            .name = value_text(&reader, 0),
            .version = (int32_t)value_int(&reader, 1),
            .since_us = value_time(&reader, 2),
            .instance_id = value_text(&reader, 3),
        };
    *ret_count = (size_t)reader.count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_count_steps(struct store_tx *tx, struct step_counts *ret_counts,
                                cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    TRY(postgres_ask(tx, PG_COUNT_STEPS, NULL, &reader, reterr));
    *ret_counts = (struct step_counts){.ready = (uint64_t)value_int(&reader, 0),
                                       .leased = (uint64_t)value_int(&reader, 1)};
    return CAIRN_OK;
}

cairn_code postgres_read_statuses(struct store_tx *tx, const char *instance_id, int32_t below,
                                  enum step_status *ret_statuses, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, ID(instance_id), INT(below));
    memset(ret_statuses, 0, (size_t)below * sizeof *ret_statuses);
    TRY(postgres_ask(tx, PG_READ_STATUSES, &params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++)
        ret_statuses[value_int(&reader, 0)] =
            (enum step_status)word_from(&step_status_words, value_text(&reader, 1));
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}
