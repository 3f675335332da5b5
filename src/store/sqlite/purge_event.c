/* store/sqlite/purge_event.c - removes chains of events from the rows of the log.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row of the log holds events of many subjects, and reading one reads it whole.  Ids in a chain fall on the
 * way back, so all chains are walked together, from the highest row down: each row is read once.
 */
#include "store/sqlite/purge_event.h"

#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#include <stdlib.h>
#include <string.h>

/* Of a slot; see 0011_event_log and 0023_retention. */
enum { PREV_DIGITS = 16, CELL = 5, SLOT_MASK = EVENT_SLOTS - 1 };

/* A row with fewer than one event in so many left is written anew. */
enum { LEFT_PART = 10 };

/* The events that are yet to be removed: a heap, the highest first. */
struct pending {
    int64_t *ids;
    size_t count;
};

static void swap_ids(int64_t *a, int64_t *b)
{
    int64_t kept = *a;
    *a = *b;
    *b = kept;
}

static void pending_add(struct pending *pending, int64_t id)
{
    size_t at = pending->count++;
    pending->ids[at] = id;
    for (; at && pending->ids[(at - 1) / 2] < pending->ids[at]; at = (at - 1) / 2)
        swap_ids(&pending->ids[at], &pending->ids[(at - 1) / 2]);
}

static int64_t pending_take(struct pending *pending)
{
    int64_t first = pending->ids[0];
    pending->ids[0] = pending->ids[--pending->count];
    for (size_t at = 0, high; 2 * at + 1 < pending->count; at = high) {
        high = 2 * at + 1;
        if (high + 1 < pending->count && pending->ids[high + 1] > pending->ids[high])
            high++;
        if (pending->ids[at] >= pending->ids[high])
            break;
        swap_ids(&pending->ids[at], &pending->ids[high]);
    }
    return first;
}

/* A row of the log, while events are removed from it. */
struct log_row_parts {
    int64_t id;
    const char *prev, *slots; /* NULL: all 0; every slot is there */
    size_t prev_len;
    int64_t used, gone; /* events */
    const char *cells;  /* the slots that go */
    int64_t going;
};

/* How many ids a JSON array has; null is none. */
static int64_t count_ids(const char *array)
{
    int64_t quotes = 0;
    for (const char *at = array; at && (at = strchr(at, '"')); at++)
        quotes += at[-1] != '\\';
    return quotes / 2;
}

/* Four digits and a comma. */
static void write_cell(char *cell, int64_t event)
{
    int slot = (int)(event & SLOT_MASK);
    for (int place = CELL - 2; place >= 0; place--, slot /= 10)
        cell[place] = (char)('0' + slot % 10);
    cell[CELL - 1] = ',';
}

static cairn_code read_parts(struct store_tx *tx, int64_t id, struct arena *arena,
                             struct log_row_parts *ret, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_READ_LOG_CHAIN, reterr);
    query.arena = arena;
    bind_int(&query, ":id", id);
    *ret = (struct log_row_parts){.id = id};
    TRY(query_find(&query));
    ret->prev = result_text(&query, 0);
    ret->prev_len = ret->prev ? strlen(ret->prev) : 0;
    ret->slots = result_text(&query, 1);
    ret->used = sqlite3_column_int64(query.handle, 2);
    ret->gone = sqlite3_column_int64(query.handle, 3);
    if (!ret->used)
        ret->used = count_ids((const char *)sqlite3_column_text(query.handle, 4));
    return query_ended(&query);
}

/* Where the numbers of an event stand in the row; -1: it is not in it. */
static long place_of(const struct log_row_parts *log, int64_t event)
{
    char cell[CELL + 1] = "";
    if (!log->slots)
        return (long)(event & SLOT_MASK);
    write_cell(cell, event);
    const char *found = strstr(log->slots, cell);
    return found ? (found - log->slots) / CELL : -1;
}

/* The event before it in its chain; 0: there is none. */
static int64_t event_before(const struct log_row_parts *log, int64_t event)
{
    char digits[PREV_DIGITS + 1] = "";
    long place = place_of(log, event);
    if (place < 0 || log->prev_len < ((size_t)place + 1) * PREV_DIGITS)
        return 0;
    memcpy(digits, log->prev + (size_t)place * PREV_DIGITS, PREV_DIGITS);
    return strtoll(digits, NULL, 10);
}

static cairn_code run_on_log(struct store_tx *tx, enum query_number number, int64_t id,
                             cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    bind_int(&query, ":id", id);
    return query_run(&query);
}

static cairn_code mark(struct store_tx *tx, const struct log_row_parts *log,
                       cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_MARK_LOG, reterr);
    bind_int(&query, ":id", log->id);
    bind_int(&query, ":used", log->used);
    bind_int(&query, ":gone", log->going);
    bind_text(&query, ":slots", log->cells);
    return query_run(&query);
}

/* Removes, marks or rewrites the row, by what is left of it. */
static cairn_code write_rest(struct store_tx *tx, struct log_row_parts *log,
                             cairn_error *reterr)
{
    int64_t left = log->used - log->gone - log->going;
    if (left > 0)
        TRY(mark(tx, log, reterr));
    if (left > 0 && left * LEFT_PART >= log->used)
        return CAIRN_OK;
    TRY(run_on_log(tx, left > 0 ? Q_REWRITE_LOG : Q_DROP_LOG, log->id, reterr));
    return left > 0 || log->gone ? run_on_log(tx, Q_UNMARK_LOG, log->id, reterr) : CAIRN_OK;
}

/* Removes all pending events of the highest row. */
static cairn_code purge_log(struct store_tx *tx, struct pending *pending, struct buf *cells,
                            cairn_error *reterr)
{
    cleanup(arena_done) struct arena scratch = {0};
    struct log_row_parts log;
    int64_t id = pending->ids[0] >> EVENT_SLOT_BITS;
    cairn_code code = read_parts(tx, id, &scratch, &log, reterr);
    if (code && code != CAIRN_E_NOT_FOUND)
        return code;
    buf_reset(cells);
    while (pending->count && pending->ids[0] >> EVENT_SLOT_BITS == id) {
        int64_t event = pending_take(pending);
        int64_t before = code ? 0 : event_before(&log, event);
        char cell[CELL];
        write_cell(cell, event);
        buf_add(cells, cell, CELL);
        log.going++;
        if (before > 0 && before < event)
            pending_add(pending, before); /* in the room of the one that was taken */
    }
    if (buf_failed(cells))
        return fail_memory(reterr);
    log.cells = cells->text;
    return code ? CAIRN_OK : write_rest(tx, &log, reterr);
}

cairn_code sqlite_purge_events(struct store_tx *tx, const int64_t *last_events, size_t count,
                               cairn_error *reterr)
{
    cleanup(buf_done) struct buf cells = {0};
    struct pending pending = {.ids = arena_array(tx->arena, count, sizeof *pending.ids)};
    if (!pending.ids)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        if (last_events[i] > 0)
            pending_add(&pending, last_events[i]);
    while (pending.count)
        TRY(purge_log(tx, &pending, &cells, reterr));
    return CAIRN_OK;
}
