/* store/sqlite/event_read.c - a page of the history of one job or instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row of the log may hold thousands of events of many subjects.  So a page is read in two passes, each of which
 * loads a row once: the first follows the subject's chain backwards and notes which events are on the page; the
 * second takes what these events say, and nothing else, out of their rows.
 */
#include "base/error.h"
#include "base/mem.h"
#include "base/scan.h"
#include "store/sqlite/event_digits.h"
#include "store/sqlite/sqlite.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

enum { SLOT_MASK = EVENT_SLOTS - 1 };

/* Which events are wanted.  They are found newest first. */
struct walk {
    struct store_tx *tx;
    const char *subject_id;
    int64_t after, before; /* between these ids, without them */
    bool is_newest;        /* the first that are found; else the last */
    struct place *places;  /* a ring: `found` are noted, of which it has the last `room` */
    size_t room, found;
    cairn_error *reterr;
};

struct place {
    int64_t id;
    size_t kind;
};

/* ---- the chain -------------------------------------------------------------------------------- */

/* One number of a column of digits; 0 if the column is NULL, or too short for it. */
static int64_t digits_at(struct query *query, int column, size_t at, size_t width)
{
    const char *digits = sqlite3_column_blob(query->handle, column);
    size_t len = (size_t)sqlite3_column_bytes(query->handle, column);
    int64_t number = 0;
    if (!digits || at > len || len - at < width)
        return 0;
    for (size_t i = 0; i < width; i++)
        number = number * 10 + (digits[at + i] - '0');
    return number;
}

/* Where the numbers of a slot stand; a row that was written anew has only the slots that it names. */
static size_t place_of(struct query *query, int column, int64_t id)
{
    char name[SLOT_WIDTH + 8];
    const char *slots = (const char *)sqlite3_column_text(query->handle, column);
    if (!slots)
        return (size_t)(id & SLOT_MASK);
    snprintf(name, sizeof name, "%04d,", (int)(id & SLOT_MASK));
    const char *found = strstr(slots, name);
    return found ? (size_t)(found - slots) / SLOT_WIDTH : SIZE_MAX / PREV_DIGITS;
}

static bool is_over(const struct walk *walk, int64_t id)
{
    return id <= walk->after || (walk->is_newest && walk->found == walk->room);
}

/* Follows the chain through one row of the log; *id is then an event of another row, or 0. */
static cairn_code walk_row(struct walk *walk, int64_t *id)
{
    enum { PREV, KINDS, SLOTS };
    int64_t log_id = *id >> EVENT_SLOT_BITS;
    cleanup(query_end) struct query query = query_begin(walk->tx, Q_EVENT_LINKS, walk->reterr);
    bind_int(&query, ":id", log_id);
    if (query_step(&query) != SQLITE_ROW) {
        *id = 0; /* the chain ends where its rows do */
        return query_ended(&query);
    }
    while (*id >> EVENT_SLOT_BITS == log_id && !is_over(walk, *id)) {
        size_t at = place_of(&query, SLOTS, *id);
        if (*id < walk->before)
            walk->places[walk->found++ % walk->room] = (struct place){
                .id = *id,
                .kind = (size_t)digits_at(&query, KINDS, at * KIND_DIGITS, KIND_DIGITS)};
        int64_t prev = digits_at(&query, PREV, at * PREV_DIGITS, PREV_DIGITS);
        *id = prev < *id ? prev : 0;
    }
    return CAIRN_OK;
}

static cairn_code walk_chain(struct walk *walk)
{
    int64_t id = 0;
    cleanup(query_end) struct query query = query_begin(
        walk->tx, walk->is_newest ? Q_FIRST_EVENT_BEFORE : Q_FIRST_EVENT, walk->reterr);
    bind_text(&query, ":instance_id", walk->subject_id);
    if (walk->is_newest) {
        bind_int(&query, ":before", walk->before);
    } else {
        bind_int(&query, ":after", walk->after);
        bind_size(&query, ":room", walk->room);
    }
    cairn_code code = query_int(&query, &id);
    if (code)
        return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
    while (!is_over(walk, id))
        TRY(walk_row(walk, &id));
    return CAIRN_OK;
}

/* ---- what events say -------------------------------------------------------------------------- */

/* Of a row of the log, by kind; those that the page needs. */
struct said {
    bool is_needed;
    const char *type, *step, *data;
};

static bool read_said(struct slice item, struct arena *arena, struct said *ret_said)
{
    struct scan parts;
    struct slice type = {0}, step = {0}, data = {0};
    if (!scan_list(item, &parts) || !scan_item(&parts, &type) || !scan_item(&parts, &step) ||
        !scan_item(&parts, &data))
        return false;
    ret_said->type = slice_string(type, arena);
    ret_said->step = slice_is_string(step) ? slice_string(step, arena) : NULL;
    ret_said->data = slice_json(data, arena);
    return ret_said->type && ret_said->data && (ret_said->step || !slice_is_string(step));
}

static bool read_kinds(struct query *query, int column, struct said *said, size_t needed)
{
    struct slice text, item;
    struct scan items;
    if (!scan_text((const char *)sqlite3_column_text(query->handle, column),
                   (size_t)sqlite3_column_bytes(query->handle, column), &text) ||
        !scan_list(text, &items))
        return false;
    for (size_t kind = 0; needed > 0 && kind < EVENT_SLOTS && scan_item(&items, &item); kind++)
        if (said[kind].is_needed) {
            if (!read_said(item, query->arena, &said[kind]))
                return false;
            said[kind].is_needed = false;
            needed--;
        }
    return needed == 0;
}

/* Fills in `count` events of the same row. */
static cairn_code say_row(const struct walk *walk, struct said *said,
                          const struct place *places, size_t count, struct event_row *ret_rows)
{
    enum { AT, SAID };
    size_t needed = 0;
    cleanup(query_end) struct query query = query_begin(walk->tx, Q_EVENT_SAID, walk->reterr);
    for (size_t i = 0; i < count; i++)
        said[places[i].kind % EVENT_SLOTS] = (struct said){0};
    for (size_t i = 0; i < count; i++) {
        needed += !said[places[i].kind % EVENT_SLOTS].is_needed;
        said[places[i].kind % EVENT_SLOTS].is_needed = true;
    }
    bind_int(&query, ":id", places[0].id >> EVENT_SLOT_BITS);
    TRY(query_find(&query));
    if (!read_kinds(&query, SAID, said, needed))
        return fail(walk->reterr, CAIRN_E_STORE,
                    "could not list events: row %lld of the log cannot be read",
                    (long long)(places[0].id >> EVENT_SLOT_BITS));
    for (size_t i = 0; i < count; i++) {
        const struct said *its = &said[places[i].kind % EVENT_SLOTS];
        ret_rows[i] = (struct event_row){.id = places[i].id,
                                         .subject_id = walk->subject_id,
                                         .type = its->type,
                                         .step = its->step,
                                         .data = its->data,
                                         .at_us = sqlite3_column_int64(query.handle, AT)};
    }
    return CAIRN_OK;
}

/* The events of the page in its order: places newest first, or the ring from its last one back. */
static size_t order_places(const struct walk *walk, struct place *ret_places)
{
    size_t count = walk->found < walk->room ? walk->found : walk->room;
    for (size_t i = 0; i < count; i++)
        ret_places[i] = walk->places[walk->is_newest ? i : (walk->found - 1 - i) % walk->room];
    return count;
}

static cairn_code say_chain(const struct walk *walk, struct event_row **ret_rows,
                            size_t *ret_count)
{
    struct arena *arena = walk->tx->arena;
    struct place *places = arena_room(arena, walk->room, sizeof *places);
    struct event_row *rows = arena_room(arena, walk->room, sizeof *rows);
    if (!places || !rows)
        return fail_memory(walk->reterr);
    size_t count = order_places(walk, places), kinds = 1;
    for (size_t i = 0; i < count; i++)
        if (places[i].kind % EVENT_SLOTS >= kinds)
            kinds = places[i].kind % EVENT_SLOTS + 1;
    struct said *said = arena_zalloc(arena, kinds * sizeof *said);
    if (!said)
        return fail_memory(walk->reterr);
    for (size_t done = 0, end; done < count; done = end) {
        int64_t log_id = places[done].id >> EVENT_SLOT_BITS;
        for (end = done; end < count && places[end].id >> EVENT_SLOT_BITS == log_id; end++)
            continue;
        TRY(say_row(walk, said, places + done, end - done, rows + done));
    }
    *ret_rows = rows;
    *ret_count = count;
    return CAIRN_OK;
}

/* ---- a page ----------------------------------------------------------------------------------- */

static cairn_code list_loose(const struct walk *walk, struct event_row **ret_rows,
                             size_t *ret_count)
{
    cleanup(query_end) struct query query = query_begin(
        walk->tx, walk->is_newest ? Q_LIST_LOOSE_BEFORE : Q_LIST_LOOSE, walk->reterr);
    *ret_rows = arena_room(walk->tx->arena, walk->room, sizeof **ret_rows);
    NEED(*ret_rows, walk->reterr);
    bind_text(&query, ":instance_id", walk->subject_id);
    if (walk->is_newest)
        bind_int(&query, ":before", walk->before);
    else
        bind_int(&query, ":after", walk->after);
    return rows_read(&query, &event_row_type, *ret_rows, walk->room, ret_count);
}

static cairn_code read_page(struct walk *walk, struct event_row *ret_rows, size_t *ret_count)
{
    struct event_row *chained = NULL, *loose = NULL;
    size_t chained_count = 0, loose_count = 0, i = 0, j = 0, count = 0;
    *ret_count = 0;
    if (walk->room == 0)
        return CAIRN_OK;
    walk->places = arena_room(walk->tx->arena, walk->room, sizeof *walk->places);
    NEED(walk->places, walk->reterr);
    TRY(walk_chain(walk));
    TRY(say_chain(walk, &chained, &chained_count));
    TRY(list_loose(walk, &loose, &loose_count));
    while (count < walk->room && (i < chained_count || j < loose_count)) {
        bool is_chained =
            j == loose_count ||
            (i < chained_count && (chained[i].id < loose[j].id) == !walk->is_newest);
        ret_rows[count++] = is_chained ? chained[i++] : loose[j++];
    }
    *ret_count = count;
    return CAIRN_OK;
}

static cairn_code list_all(struct store_tx *tx, int64_t after, struct event_row *ret_rows,
                           size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_ALL_EVENTS, reterr);
    bind_page(&query, NULL, after);
    return rows_read(&query, &event_row_type, ret_rows, room, ret_count);
}

cairn_code sqlite_list_events(struct store_tx *tx, const char *subject_id, int64_t after,
                              struct event_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    struct walk walk = {.tx = tx,
                        .subject_id = subject_id,
                        .after = after,
                        .before = INT64_MAX,
                        .room = room,
                        .reterr = reterr};
    return subject_id ? read_page(&walk, ret_rows, ret_count)
                      : list_all(tx, after, ret_rows, room, ret_count, reterr);
}

cairn_code sqlite_list_events_before(struct store_tx *tx, const char *subject_id,
                                     int64_t before, struct event_row *ret_rows, size_t room,
                                     size_t *ret_count, cairn_error *reterr)
{
    struct walk walk = {.tx = tx,
                        .subject_id = subject_id,
                        .before = before ? before : INT64_MAX,
                        .is_newest = true,
                        .room = room,
                        .reterr = reterr};
    return read_page(&walk, ret_rows, ret_count);
}
