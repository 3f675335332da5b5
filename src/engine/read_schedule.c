/* engine/read_schedule.c - schedules as callers see them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/schedule.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* How many runs are shown of a schedule, alone and in a list. */
enum { RUNS_OF_ONE = 20, RUNS_IN_LIST = 5 };

/* Texts of rows that are to outlive them; *failed once memory has run out. */
static const char *keep(struct arena *arena, const char *text, bool *failed)
{
    const char *copy = text ? arena_strdup(arena, text) : NULL;
    *failed |= text && !copy;
    return copy;
}

cairn_code schedule_show_run(struct arena *arena, const struct schedule_run_row *row,
                             cairn_schedule_run *ret_item, cairn_error *reterr)
{
    bool failed = false;
    *ret_item = (cairn_schedule_run){.id = keep(arena, row->run_id, &failed),
                                     .kind = row->is_job ? "job" : "instance",
                                     .status = keep(arena, row->status, &failed),
                                     .error = keep(arena, row->error, &failed),
                                     .at_us = row->at_us};
    return failed ? fail_memory(reterr) : CAIRN_OK;
}

static cairn_code show_runs(const struct store_ops *ops, struct store_tx *tx,
                            struct arena *arena, const char *name, size_t room,
                            cairn_schedule *item, cairn_error *reterr)
{
    size_t count = 0;
    struct schedule_run_row *rows = arena_array(arena, room, sizeof *rows);
    cairn_schedule_run *runs = arena_array(arena, room, sizeof *runs);
    NEED(rows && runs, reterr);
    TRY(ops->list_schedule_runs(tx, name, false, rows, room, &count, reterr));
    for (size_t i = 0; i < count; i++)
        TRY(schedule_show_run(arena, &rows[i], &runs[i], reterr));
    item->runs = runs;
    item->run_count = count;
    return CAIRN_OK;
}

cairn_code schedule_show(const struct store_ops *ops, struct store_tx *tx, struct arena *arena,
                         const struct schedule_row *row, size_t runs, cairn_schedule *ret_item,
                         cairn_error *reterr)
{
    bool failed = false;
    *ret_item = (cairn_schedule){
        .name = keep(arena, row->name, &failed),
        .cron = keep(arena, row->cron, &failed),
        .every_ms = row->every_ms,
        .timezone = keep(arena, row->timezone, &failed),
        .workflow = keep(arena, row->workflow, &failed),
        .task = keep(arena, row->task, &failed),
        .version = row->version,
        .input = keep(arena, row->input, &failed),
        .overlap = schedule_overlap_name(row->overlap),
        .catch_up = schedule_catch_up_name(row->catch_up),
        .paused = row->is_paused,
        .next_at_us = row->is_paused ? 0 : row->next_at_us,
        .waiting_at_us = row->waiting_at_us,
        .last_at_us = row->last_at_us,
        .created_at_us = row->created_at_us,
        .updated_at_us = row->updated_at_us,
    };
    return failed ? fail_memory(reterr)
                  : show_runs(ops, tx, arena, row->name, runs, ret_item, reterr);
}

static cairn_code find_schedule(struct question *q, const char *name,
                                struct schedule_row *ret_row)
{
    cairn_code code = STORE(q, get_schedule, name, ret_row);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(q->error, code, "schedule \"%.128s\" does not exist", name);
    return code;
}

cairn_code answer_schedule(struct question *q)
{
    struct schedule_row row;
    cairn_schedule *item = arena_zalloc(q->arena, sizeof *item);
    NEED(item, q->error);
    TRY(find_schedule(q, q->request->in.id, &row));
    q->request->out.page = (struct page_output){.items = item, .count = 1};
    return schedule_show(q->ops, q->tx, q->arena, &row, RUNS_OF_ONE, item, q->error);
}

cairn_code answer_schedules(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    size_t room = in->limit + 1, count = 0;
    struct page_output *page = &q->request->out.page;
    struct schedule_row *rows = arena_array(q->arena, room, sizeof *rows);
    cairn_schedule *items = arena_array(q->arena, room, sizeof *items);
    NEED(rows && items, q->error);
    TRY(STORE(q, list_schedules, in->cursor, rows, room, &count));
    *page = (struct page_output){.items = items, .count = count < room ? count : in->limit};
    for (size_t i = 0; i < page->count; i++)
        TRY(schedule_show(q->ops, q->tx, q->arena, &rows[i], RUNS_IN_LIST, &items[i],
                          q->error));
    if (count == room)
        page->next = items[in->limit - 1].name;
    return CAIRN_OK;
}

/* An instant as the clock of the zone shows it: RFC 3339 with its offset. */
static const char *local_text(struct arena *arena, const struct schedule_clock *clock,
                              int64_t at_us)
{
    char text[INSTANT_TEXT];
    int64_t offset_s = clock->zone ? zone_offset_s(clock->zone, at_us / US_PER_SEC) : 0;
    int minutes = (int)(offset_s < 0 ? -offset_s : offset_s) / 60;
    instant_format(instant_add(at_us, offset_s * US_PER_SEC), text);
    text[strlen("2026-11-15T06:30:00")] = '\0';
    return arena_printf(arena, "%s%c%02d:%02d", text, offset_s < 0 ? '-' : '+', minutes / 60,
                        minutes % 60);
}

/* As if it were not paused. */
cairn_code answer_schedule_next(struct question *q)
{
    const struct schedule_next_input *in = &q->request->in.schedule_next;
    cleanup(schedule_clock_close) struct schedule_clock clock = {0};
    struct schedule_row row;
    struct page_output *page = &q->request->out.page;
    cairn_schedule_time *times = arena_array(q->arena, (size_t)in->count, sizeof *times);
    NEED(times, q->error);
    TRY(find_schedule(q, in->name, &row));
    TRY(schedule_clock_open(&row, &clock, q->error));
    *page = (struct page_output){.items = times};
    int64_t at_us = q->tx->now_us;
    while (page->count < (size_t)in->count &&
           (at_us = schedule_next_us(&clock.times, at_us)) != 0) {
        times[page->count] =
            (cairn_schedule_time){.at_us = at_us, .local = local_text(q->arena, &clock, at_us)};
        NEED(times[page->count++].local, q->error);
    }
    return CAIRN_OK;
}
