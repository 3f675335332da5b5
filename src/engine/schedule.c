/* engine/schedule.c - schedules: what may be asked, and what it changes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/schedule.h"

#include "base/error.h"
#include "base/json.h"

#include <string.h>

/* How many runs are shown with a schedule that was changed. */
enum { RUNS_SHOWN = 20 };

/* The zone of a schedule that was given none; equal distances have it, too. */
#define NO_ZONE "UTC"

/* ---- checks ---------------------------------------------------------------------------------- */

static cairn_code check_when(struct check *check, const cairn_schedule_spec *in)
{
    struct cron cron;
    cleanup(zone_closep) struct zone *zone = NULL;
    if (!in->cron == !in->every_ms)
        return check_bad(check, "cron", "or every_ms must be given, and only one of them");
    if (in->every_ms)
        TRY(check_range(check, "every_ms", in->every_ms, SCHEDULE_EVERY_MIN_MS,
                        SCHEDULE_EVERY_MAX_MS));
    if (in->every_ms && in->timezone && strcmp(in->timezone, NO_ZONE) != 0)
        return check_bad(check, "timezone", "is for cron only");
    if (in->cron) {
        TRY(check_text(check, "cron", in->cron, check->limits->max_name));
        TRY(cron_read(in->cron, &cron, check->error));
    }
    if (!in->timezone)
        return CAIRN_OK;
    TRY(check_text(check, "timezone", in->timezone, ZONE_NAME_MAX));
    return zone_open(in->timezone, &zone, check->error);
}

static cairn_code check_what(struct check *check, const cairn_schedule_spec *in)
{
    if (!in->workflow == !in->task)
        return check_bad(check, "workflow", "or task must be given, and only one of them");
    TRY(check_optional(check, "workflow", in->workflow));
    TRY(check_optional(check, "task", in->task));
    if (in->task && in->version)
        return check_bad(check, "version", "is for workflows only");
    TRY(check_range(check, "version", in->version, 0, INT32_MAX));
    return check_json(check, "input", in->input);
}

static cairn_code check_word(struct check *check, const char *field, const char *word,
                             const struct words *words, const char *why)
{
    return !word || word_from(words, word) ? CAIRN_OK : check_bad(check, field, why);
}

cairn_code check_schedule(struct check *check)
{
    const cairn_schedule_spec *in = &check->request->in.schedule;
    TRY(check_text(check, "name", in->name, SCHEDULE_NAME_MAX));
    TRY(check_when(check, in));
    TRY(check_what(check, in));
    TRY(check_word(check, "overlap", in->overlap, &schedule_overlap_words,
                   "must be skip, allow, queue or cancel"));
    TRY(check_word(check, "catch_up", in->catch_up, &schedule_catch_up_words,
                   "must be none, last or all"));
    return check_range(check, "paused", in->paused, -1, 1);
}

cairn_code check_schedule_next(struct check *check)
{
    const struct schedule_next_input *in = &check->request->in.schedule_next;
    TRY(check_present(check, "name", in->name));
    return check_range(check, "count", in->count, 1, SCHEDULE_NEXT_MAX);
}

/* ---- times ----------------------------------------------------------------------------------- */

cairn_code schedule_clock_open(const struct schedule_row *row, struct schedule_clock *ret_clock,
                               cairn_error *reterr)
{
    *ret_clock = (struct schedule_clock){
        .times = {.every_us = row->every_ms * US_PER_MS, .anchor_us = row->anchor_at_us}};
    if (!row->cron)
        return CAIRN_OK;
    TRY(cron_read(row->cron, &ret_clock->times.cron, reterr));
    TRY(zone_open(row->timezone, &ret_clock->zone, reterr));
    ret_clock->times.zone =
        (struct cron_zone){.offset_s = zone_offset_s, .place = ret_clock->zone};
    return CAIRN_OK;
}

void schedule_clock_close(struct schedule_clock *clock)
{
    zone_close(clock->zone);
}

/* ---- setting --------------------------------------------------------------------------------- */

static cairn_code tell(struct batch *batch, const struct request *request,
                       const struct schedule_row *row, const char *type,
                       const struct control_input *who)
{
    struct flow_facts facts = NO_FACTS;
    facts.schedule = row->name;
    facts.status = row->is_paused ? "paused" : "active";
    facts.by = who && who->by ? who->by : request->token_name;
    facts.reason = who ? who->reason : NULL;
    facts.token = request->token_name;
    return batch_add_event(batch, NULL, row->id, type, NULL, &facts);
}

static cairn_code answer_with(struct batch *batch, struct request *request,
                              const struct schedule_row *row)
{
    cairn_schedule *item = arena_zalloc(&request->arena, sizeof *item);
    NEED(item, batch->error);
    request->out.page = (struct page_output){.items = item, .count = 1};
    return schedule_show(batch->ops, batch->tx, &request->arena, row, RUNS_SHOWN, item,
                         batch->error);
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_same_when(const struct schedule_row *a, const struct schedule_row *b)
{
    return is_same_text(a->cron, b->cron) && is_same_text(a->timezone, b->timezone) &&
           a->every_ms == b->every_ms;
}

static bool is_same(const struct schedule_row *a, const struct schedule_row *b)
{
    return is_same_when(a, b) && is_same_text(a->workflow, b->workflow) &&
           is_same_text(a->task, b->task) && json_is_same(a->input, b->input) &&
           a->version == b->version && a->overlap == b->overlap && a->catch_up == b->catch_up &&
           a->is_paused == b->is_paused;
}

static struct schedule_row row_of(const struct batch *batch, const cairn_schedule_spec *in,
                                  const struct schedule_row *old)
{
    int64_t now_us = batch->tx->now_us;
    return (struct schedule_row){
        .name = in->name,
        .cron = in->cron,
        .every_ms = in->every_ms,
        .timezone = in->timezone ? in->timezone : NO_ZONE,
        .workflow = in->workflow,
        .task = in->task,
        .version = in->version,
        .input = in->input && strcmp(in->input, "null") != 0 ? in->input : NULL,
        .overlap = in->overlap ? schedule_overlap_from(in->overlap) : OVERLAP_SKIP,
        .catch_up = in->catch_up ? schedule_catch_up_from(in->catch_up) : CATCH_UP_LAST,
        .is_paused = in->paused < 0 ? old && old->is_paused : in->paused == 1,
        .anchor_at_us = now_us,
        .created_at_us = old ? old->created_at_us : now_us,
        .updated_at_us = now_us,
    };
}

/* Times go on as they were, unless others are asked for. */
static cairn_code plan_times(struct batch *batch, struct schedule_row *row,
                             const struct schedule_row *old)
{
    cleanup(schedule_clock_close) struct schedule_clock clock = {0};
    row->last_at_us = old ? old->last_at_us : 0;
    row->waiting_at_us = old ? old->waiting_at_us : 0;
    if (old && is_same_when(row, old)) {
        row->anchor_at_us = old->anchor_at_us;
        row->next_at_us = old->next_at_us;
    } else {
        TRY(schedule_clock_open(row, &clock, batch->error));
        row->next_at_us = schedule_next_us(&clock.times, batch->tx->now_us);
    }
    row->due_at_us = row->is_paused ? 0 : row->next_at_us;
    return CAIRN_OK;
}

cairn_code batch_put_schedule(struct batch *batch, struct request *request)
{
    const cairn_schedule_spec *in = &request->in.schedule;
    struct schedule_row stored, row, *old = &stored;
    cairn_code code = STORE(batch, lock_schedule, in->name, &stored);
    if (code == CAIRN_E_NOT_FOUND)
        old = NULL;
    else
        TRY(code);
    row = row_of(batch, in, old);
    if (old && is_same(&row, old))
        return answer_with(batch, request, old);
    TRY(batch_make_ids(batch, request, 1));
    row.id = old ? old->id : request->out.enqueued[0].id;
    TRY(plan_times(batch, &row, old));
    TRY(STORE(batch, put_schedule, &row));
    TRY(tell(batch, request, &row, "schedule_set", NULL));
    if (row.due_at_us)
        batch_note_due(batch, row.due_at_us);
    return answer_with(batch, request, &row);
}

/* ---- control --------------------------------------------------------------------------------- */

/* False: there is none, and the request is refused. */
static cairn_code take(struct batch *batch, struct request *request,
                       struct schedule_row *ret_row, bool *ret_is_there)
{
    cairn_code code = STORE(batch, lock_schedule, request->in.id, ret_row);
    *ret_is_there = !code;
    if (code == CAIRN_E_NOT_FOUND)
        return REFUSE(request, code, "schedule \"%.128s\" does not exist", request->in.id);
    return code;
}

/* Stopped or going on, as it may be already. */
static cairn_code set_paused(struct batch *batch, struct request *request, bool is_paused,
                             const char *event)
{
    struct schedule_row row;
    bool is_there;
    TRY(take(batch, request, &row, &is_there));
    if (!is_there)
        return CAIRN_OK;
    if (row.is_paused == is_paused)
        return answer_with(batch, request, &row);
    row.is_paused = is_paused;
    row.due_at_us = is_paused ? 0 : row.next_at_us;
    row.updated_at_us = batch->tx->now_us;
    TRY(STORE(batch, put_schedule, &row));
    TRY(tell(batch, request, &row, event, &request->in.control));
    if (!is_paused) /* times have been missed, or a run waits */
        batch_note_due(batch,
                       row.due_at_us && !row.waiting_at_us ? row.due_at_us : batch->tx->now_us);
    return answer_with(batch, request, &row);
}

cairn_code batch_stop_schedule(struct batch *batch, struct request *request)
{
    return set_paused(batch, request, true, "schedule_paused");
}

cairn_code batch_resume_schedule(struct batch *batch, struct request *request)
{
    return set_paused(batch, request, false, "schedule_resumed");
}

/* The id and the time are kept over tries, so that a second try finds the run of the first. */
cairn_code batch_trigger_schedule(struct batch *batch, struct request *request)
{
    struct schedule_row row;
    struct schedule_run_row run;
    bool is_there;
    TRY(take(batch, request, &row, &is_there));
    if (!is_there)
        return CAIRN_OK;
    TRY(batch_make_ids(batch, request, 1));
    int64_t *at_us = &request->out.now_us;
    if (!*at_us)
        *at_us = batch->tx->now_us > row.last_at_us ? batch->tx->now_us : row.last_at_us + 1;
    TRY(schedule_start(batch, &row, *at_us, request->out.enqueued[0].id, &run));
    if (!run.run_id)
        return REFUSE(request, CAIRN_E_NOT_FOUND, "could not trigger schedule \"%.64s\": %s",
                      row.name, run.error);
    row.updated_at_us = batch->tx->now_us;
    TRY(STORE(batch, put_schedule_runs, &run, 1));
    TRY(STORE(batch, put_schedule, &row));
    TRY(tell(batch, request, &row, "schedule_triggered", &request->in.control));
    cairn_schedule_run *item = arena_zalloc(&request->arena, sizeof *item);
    NEED(item, batch->error);
    request->out.page = (struct page_output){.items = item, .count = 1};
    return schedule_show_run(&request->arena, &run, item, batch->error);
}

cairn_code batch_delete_schedule(struct batch *batch, struct request *request)
{
    struct schedule_row row;
    bool is_there;
    TRY(take(batch, request, &row, &is_there));
    if (!is_there)
        return CAIRN_OK;
    TRY(answer_with(batch, request, &row));
    TRY(STORE(batch, delete_schedule, row.name));
    return tell(batch, request, &row, "schedule_removed", NULL);
}
