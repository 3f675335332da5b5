/* bench/raw_log.c - the events of a commit, gathered for one row of the log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/raw_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool raw_log_has_room(const struct raw_log *log, size_t count)
{
    return log->slot_count + count <= RAW_SLOTS && log->said_count + 1 < RAW_SAID_MAX;
}

void raw_log_clear(struct raw_log *log)
{
    log->slot_count = log->said_count = 0;
}

/* The latest is the likeliest. */
static uint16_t find_said(struct raw_log *log, const char *type, const char *step,
                          const char *data)
{
    for (size_t i = log->said_count; i > 0; i--) {
        const struct raw_said *said = &log->said[i - 1];
        if (said->type == type && said->data == data && strcmp(said->step, step) == 0)
            return (uint16_t)(i - 1);
    }
    struct raw_said *said = &log->said[log->said_count];
    *said = (struct raw_said){.type = type, .data = data};
    snprintf(said->step, sizeof said->step, "%s", step);
    return (uint16_t)log->said_count++;
}

static int64_t add(struct raw_log *log, const char *id, int64_t prev, const char *type,
                   const char *step, const char *data)
{
    uint16_t kind = find_said(log, type, step ? step : "", data);
    size_t slot = log->slot_count++;
    log->slots[slot] = (struct raw_slot){.id = id, .prev = prev, .kind = kind};
    return log->number << RAW_SLOT_BITS | (int64_t)slot;
}

void raw_log_add(struct raw_log *log, struct raw_item *item, const char *type, const char *step,
                 const char *data)
{
    item->last_event = add(log, item->id, item->last_event, type, step, data);
    item->event_count++;
}

void raw_log_add_loose(struct raw_log *log, const struct raw_item *item, const char *type,
                       const char *step, const char *data)
{
    add(log, item->id, 0, type, step, data);
}

/* ---- as PostgreSQL reads it -------------------------------------------------------------------- */

/* An element of an array, quoted; "": NULL. */
static void add_element(struct buf *buf, const char *text, bool is_first)
{
    buf_char(buf, is_first ? '{' : ',');
    if (!text[0]) {
        buf_str(buf, "NULL");
        return;
    }
    buf_char(buf, '"');
    for (; *text; text++) {
        if (*text == '"')
            buf_char(buf, '\\');
        buf_char(buf, *text);
    }
    buf_char(buf, '"');
}

static void make_said(const struct raw_log *log, struct raw_log_arrays *row)
{
    buf_reset(&row->types);
    buf_reset(&row->steps);
    buf_reset(&row->data);
    for (size_t i = 0; i < log->said_count; i++) {
        const struct raw_said *said = &log->said[i];
        add_element(&row->types, said->type, i == 0);
        add_element(&row->steps, said->step, i == 0);
        add_element(&row->data, said->data, i == 0);
    }
    buf_char(&row->types, '}');
    buf_char(&row->steps, '}');
    buf_char(&row->data, '}');
}

static void make_slots(const struct raw_log *log, struct raw_log_arrays *row)
{
    buf_reset(&row->subjects);
    buf_reset(&row->prev);
    buf_reset(&row->kinds);
    buf_str(&row->subjects, "\\x");
    buf_str(&row->prev, "\\x");
    buf_str(&row->kinds, "\\x");
    for (size_t i = 0; i < log->slot_count; i++) {
        const struct raw_slot *slot = &log->slots[i];
        for (const char *c = slot->id; *c; c++)
            if (*c != '-')
                buf_char(&row->subjects, *c);
        buf_printf(&row->prev, "%016" PRIx64, (uint64_t)slot->prev);
        buf_printf(&row->kinds, "%04x", slot->kind);
    }
}

void raw_log_make(const struct raw_log *log, struct raw_log_arrays *row)
{
    make_said(log, row);
    make_slots(log, row);
}

void raw_log_arrays_done(struct raw_log_arrays *row)
{
    buf_done(&row->subjects);
    buf_done(&row->prev);
    buf_done(&row->kinds);
    buf_done(&row->types);
    buf_done(&row->steps);
    buf_done(&row->data);
}
