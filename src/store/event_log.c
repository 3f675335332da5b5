/* store/event_log.c - sorts the events of a commit into rows of the log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/event_log.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

enum { SLOT_MASK = EVENT_SLOTS - 1 };

/* ---- what events say ------------------------------------------------------------------------ */

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool says_the_same(const struct event_row *a, const struct event_row *b)
{
    return is_same(a->type, b->type) && is_same(a->step, b->step) && is_same(a->data, b->data);
}

/* A hash table: 1 + an index of `said`, or 0. */
struct said_table {
    uint16_t *entries;
    size_t mask;
};

static bool said_table_init(struct said_table *table, struct arena *arena, size_t count)
{
    size_t room = 4;
    while (room < count * 2)
        room *= 2;
    table->mask = room - 1;
    table->entries = arena_zalloc(arena, room * sizeof *table->entries);
    return table->entries != NULL;
}

static uint16_t find_kind(struct said_table *table, struct event_log *log,
                          const struct event_row *event)
{
    uint32_t hash = hash_text(hash_text(HASH_START, event->type), event->step);
    size_t at = hash_text(hash, event->data) & table->mask;
    for (; table->entries[at]; at = (at + 1) & table->mask)
        if (says_the_same(log->said[table->entries[at] - 1], event))
            return (uint16_t)(table->entries[at] - 1);
    log->said[log->said_count++] = event;
    table->entries[at] = (uint16_t)log->said_count;
    return (uint16_t)(log->said_count - 1);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* A row of `count` events. */
static cairn_code fill_log(struct arena *arena, const struct event_row *const *events,
                           size_t count, struct event_log *ret_log, cairn_error *reterr)
{
    struct said_table table;
    size_t slots = (size_t)(events[count - 1]->id & SLOT_MASK) + 1;
    uint16_t *kinds = arena_zalloc(arena, slots * sizeof *kinds);
    *ret_log = (struct event_log){
        .id = events[0]->id >> EVENT_SLOT_BITS,
        .slots = slots,
        .events = arena_zalloc(arena, slots * sizeof *ret_log->events),
        .kinds = kinds,
        .said = arena_room(arena, count, sizeof *ret_log->said),
    };
    if (!kinds || !ret_log->events || !ret_log->said || !said_table_init(&table, arena, count))
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        size_t slot = (size_t)(events[i]->id & SLOT_MASK);
        assert(!ret_log->events[slot] && slot < slots);
        ret_log->events[slot] = events[i];
        kinds[slot] = find_kind(&table, ret_log, events[i]);
        ret_log->has_prevs |= events[i]->prev != 0;
    }
    ret_log->is_plain = ret_log->said_count == 1 && slots == count;
    return CAIRN_OK;
}

static cairn_code write_logs(struct store_tx *tx, const struct event_writer *writer,
                             const struct event_row *const *events, size_t count,
                             cairn_error *reterr)
{
    for (size_t done = 0, end; done < count; done = end) {
        struct event_log log;
        int64_t id = events[done]->id >> EVENT_SLOT_BITS;
        for (end = done; end < count && events[end]->id >> EVENT_SLOT_BITS == id; end++)
            ;
        TRY(fill_log(tx->arena, events + done, end - done, &log, reterr));
        TRY(writer->log(tx, &log, reterr));
    }
    return CAIRN_OK;
}

static cairn_code write_posts(struct store_tx *tx, const struct event_writer *writer,
                              const struct event_row **events, size_t count,
                              cairn_error *reterr)
{
    size_t posts = 0;
    for (size_t i = 0; i < count; i++)
        if (events[i]->number % EVENTS_A_POST == 0)
            events[posts++] = events[i];
    return posts ? writer->posts(tx, events, posts, reterr) : CAIRN_OK;
}

cairn_code event_log_append(struct store_tx *tx, const struct event_writer *writer,
                            const struct event_row *events, size_t count, cairn_error *reterr)
{
    size_t chained_count = 0, loose_count = 0;
    const struct event_row **chained = arena_room(tx->arena, count, sizeof *chained);
    struct event_row *loose = arena_room(tx->arena, count, sizeof *loose);
    if (!chained || !loose)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        if (events[i].number)
            chained[chained_count++] = &events[i];
        else
            loose[loose_count++] = events[i];
    }
    TRY(write_logs(tx, writer, chained, chained_count, reterr));
    TRY(write_posts(tx, writer, chained, chained_count, reterr));
    return loose_count ? writer->loose(tx, loose, loose_count, reterr) : CAIRN_OK;
}
