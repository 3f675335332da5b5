/* store/postgres/keyed.c - rows with an id and perhaps a key, jobs and instances: inserting them
 * unless they exist, and locking them by their ids.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <string.h>

static const char **id_of(const struct keyed_rows *kind, void *row)
{
    return (const char **)((char *)row + kind->id_offset);
}

static const char **key_of(const struct keyed_rows *kind, void *row)
{
    return (const char **)((char *)row + kind->key_offset);
}

static int64_t *seq_of(const struct keyed_rows *kind, void *row)
{
    return (int64_t *)((char *)row + kind->seq_offset);
}

/* ---- inserting ------------------------------------------------------------------------------ */

/* What is known of each row while they are inserted. */
struct inserting {
    const struct keyed_rows *kind;
    char *rows;
    size_t count;
    enum insert_result *results;
    bool *is_settled;
    size_t open; /* how many are not settled */
};

static char *row_at(const struct inserting *in, size_t place)
{
    return in->rows + place * in->kind->type->size;
}

static bool is_open_row(const struct inserting *in, size_t place, const char *id)
{
    return !in->is_settled[place] && strcmp(*id_of(in->kind, row_at(in, place)), id) == 0;
}

static void settle(struct inserting *in, size_t place, enum insert_result result, int64_t seq)
{
    *seq_of(in->kind, row_at(in, place)) = seq;
    in->results[place] = result;
    in->is_settled[place] = true;
    in->open--;
}

/* Notes which rows were new.  They come back in the order sent, but PostgreSQL does not promise it:
 * so the search continues where it last succeeded, and around. */
static cairn_code note_inserted(struct store_tx *tx, struct postgres_reader *reader,
                                struct inserting *in, cairn_error *reterr)
{
    size_t at = 0;
    for (; reader->row < reader->count; reader->row++) {
        const char *id = PQgetvalue(reader->result, reader->row, 0);
        size_t looked = 0;
        while (looked++ < in->count && !is_open_row(in, at, id))
            at = (at + 1) % in->count;
        if (!is_open_row(in, at, id))
            return fail(reterr, CAIRN_E_STORE, "could not insert %s: id %s is unknown",
                        in->kind->noun, id);
        settle(in, at, INSERT_DONE, value_int(reader, 1));
        in->kind->note(tx, row_at(in, at));
    }
    return CAIRN_OK;
}

/* The rows that are not settled, from *at on, as many as go at once. */
static void add_open(const struct inserting *in, size_t *at, struct postgres_columns *columns)
{
    columns_reset(columns);
    for (; *at < in->count && columns_size(columns) < POSTGRES_PORTION; ++*at)
        if (!in->is_settled[*at])
            columns_row(columns, in->kind->type, COLUMNS_INSERT, row_at(in, *at));
}

/* Inserts the rows that are not settled. */
static cairn_code insert_open(struct store_tx *tx, struct inserting *in, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    for (size_t at = 0; at < in->count;) {
        cleanup(reader_done) struct postgres_reader reader = {0};
        struct postgres_params params = {.arena = tx->arena};
        add_open(in, &at, &columns);
        if (columns_size(&columns) == 0)
            break;
        param_columns(&params, &columns);
        TRY(postgres_ask(tx, in->kind->insert, &params, &reader, reterr));
        TRY(note_inserted(tx, &reader, in, reterr));
    }
    return CAIRN_OK;
}

/* What was sent before. */
static cairn_code take_sent(struct store_tx *tx, struct inserting *in, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    TRY(postgres_take(tx, in->kind->insert, &reader, reterr));
    TRY(note_inserted(tx, &reader, in, reterr));
    return CAIRN_OK;
}

/* The answer for one row that was left out; the row that was in its way may be gone. */
static void settle_existing(struct inserting *in, size_t place, struct postgres_reader *reader)
{
    bool is_again = !PQgetisnull(reader->result, reader->row, 1);
    if (!is_again && PQgetisnull(reader->result, reader->row, 2))
        return;
    if (!is_again)
        *id_of(in->kind, row_at(in, place)) = value_text(reader, 2);
    settle(in, place, is_again ? INSERT_AGAIN : INSERT_EXISTING,
           value_int(reader, is_again ? 1 : 3));
}

/* Finds the rows that are in the way of those that were left out. */
static cairn_code find_existing(struct store_tx *tx, struct inserting *in, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    size_t *places = arena_array(tx->arena, in->count, sizeof *places), asked = 0;
    if (!places)
        return fail_memory(reterr);
    for (size_t i = 0; i < in->count; i++) {
        if (in->is_settled[i])
            continue;
        places[asked++] = i;
        in->kind->add_keys(&columns, row_at(in, i));
        columns_end_row(&columns);
    }
    param_columns(&params, &columns);
    TRY(postgres_ask(tx, in->kind->find_existing, &params, &reader, reterr));

    for (; reader.row < reader.count; reader.row++)
        settle_existing(in, places[value_int(&reader, 0) - 1], &reader);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

/* A row whose key was kept while its insert waited for the purge of the owner: the insert has not seen it, since
 * it was not committed when that statement began.  A statement of its own does, and then refuses the transaction,
 * which is tried again.  Nobody waits for it: its error comes with the next answer. */
static cairn_code refuse_kept(struct store_tx *tx, const struct inserting *in,
                              cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    struct postgres_params params = {.arena = tx->arena};
    size_t keyed = 0;
    for (size_t i = 0; i < in->count; i++) {
        if (in->results[i] != INSERT_DONE || !*key_of(in->kind, row_at(in, i)))
            continue;
        in->kind->add_keys(&columns, row_at(in, i));
        columns_end_row(&columns);
        keyed++;
    }
    if (keyed == 0)
        return CAIRN_OK;
    param_columns(&params, &columns);
    return postgres_queue(postgres_session_of(tx), in->kind->refuse_kept, &params, reterr);
}

static cairn_code begin_inserting(struct store_tx *tx, struct inserting *in,
                                  cairn_error *reterr)
{
    in->open = in->count;
    in->is_settled = arena_array(tx->arena, in->count, sizeof *in->is_settled);
    return in->is_settled ? CAIRN_OK : fail_memory(reterr);
}

cairn_code postgres_send_keyed(struct store_tx *tx, const struct keyed_rows *kind, void *rows,
                               size_t count, bool *ret_is_sent, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    struct postgres_params params = {.arena = tx->arena};
    struct inserting in = {.kind = kind, .rows = rows, .count = count};
    size_t at = 0;
    TRY(begin_inserting(tx, &in, reterr));
    add_open(&in, &at, &columns);
    *ret_is_sent = at == count;
    if (!*ret_is_sent)
        return CAIRN_OK;
    param_columns(&params, &columns);
    return postgres_send(postgres_session_of(tx), kind->insert, &params, reterr);
}

cairn_code postgres_insert_keyed(struct store_tx *tx, const struct keyed_rows *kind, void *rows,
                                 size_t count, enum insert_result *ret_results,
                                 cairn_error *reterr)
{
    enum { TRIES = 3 };
    struct inserting in = {.kind = kind, .rows = rows, .count = count, .results = ret_results};
    bool is_sent = postgres_is_sent(postgres_session_of(tx), kind->insert);
    TRY(begin_inserting(tx, &in, reterr));
    for (int try = 0; in.open > 0 && try < TRIES; try++) {
        TRY(is_sent && try == 0 ? take_sent(tx, &in, reterr) : insert_open(tx, &in, reterr));
        if (in.open > 0)
            TRY(find_existing(tx, &in, reterr));
    }
    if (in.open > 0)
        return fail(reterr, CAIRN_E_BUSY,
                    "could not insert %s: others keep inserting and deleting the same keys",
                    kind->noun);
    return refuse_kept(tx, &in, reterr);
}

/* ---- locking -------------------------------------------------------------------------------- */

/* Locks take time to get. */
void postgres_move_clock(struct store_tx *tx, struct postgres_reader *reader)
{
    int64_t now_us = value_time(reader, 0);
    if (!tx->session->store->clock->is_virtual && now_us > tx->now_us)
        tx->now_us = now_us;
}

/* Tells rows that another transaction holds from rows that do not exist. */
static cairn_code find_busy(struct store_tx *tx, const struct keyed_rows *kind,
                            const char *const *ids, size_t count, enum lock_result *results,
                            cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    const char **missing = arena_array(tx->arena, count, sizeof *missing);
    size_t missing_count = 0;
    if (!missing)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        if (results[i] != LOCK_DONE)
            missing[missing_count++] = ids[i];
    if (missing_count == 0)
        return CAIRN_OK;

    param_uuids(&params, missing, missing_count);
    TRY(postgres_ask(tx, kind->find, &params, &reader, reterr));
    /* Both are in order of id. */
    int row = 0;
    for (size_t i = 0; i < count && row < reader.count; i++) {
        if (results[i] == LOCK_DONE || strcmp(ids[i], PQgetvalue(reader.result, row, 0)) != 0)
            continue;
        results[i] = LOCK_BUSY;
        row++;
    }
    return CAIRN_OK;
}

cairn_code postgres_lock_keyed(struct store_tx *tx, const struct keyed_rows *kind,
                               const char *const *ids, size_t count, bool may_wait,
                               void *ret_rows, enum lock_result *ret_results,
                               cairn_error *reterr)
{
    enum { ID_COLUMN = 2 }; /* after the clock and seq */
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    if (count == 0)
        return CAIRN_OK;
    param_uuids(&params, ids, count);
    if (!may_wait && postgres_is_sent(postgres_session_of(tx), kind->lock))
        TRY(postgres_take(tx, kind->lock, &reader, reterr));
    else
        TRY(postgres_ask(tx, may_wait ? kind->lock_waiting : kind->lock, &params, &reader,
                         reterr));
    if (may_wait) /* others may have written events meanwhile */
        tx->own_event = 0;

    for (size_t i = 0; i < count; i++) {
        ret_results[i] = LOCK_ABSENT;
        if (reader.row >= reader.count ||
            strcmp(ids[i], PQgetvalue(reader.result, reader.row, ID_COLUMN)) != 0)
            continue;
        postgres_read_row(&reader, 1, kind->type, (char *)ret_rows + i * kind->type->size);
        postgres_move_clock(tx, &reader);
        ret_results[i] = LOCK_DONE;
        reader.row++;
    }
    if (reader.failed)
        return fail_memory(reterr);
    return find_busy(tx, kind, ids, count, ret_results, reterr);
}
