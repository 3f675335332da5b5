/* simulate/story.c - tells a run: what handlers and people did, and what the engine made of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/story.h"
#include "simulate/run.h"

#include "base/error.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 600 };

void story_time(char text[STORY_TIME_TEXT], int64_t us)
{
    int64_t tenths = us / (US_PER_SEC / 10);
    int64_t seconds = tenths / 10, days = seconds / 86400;
    int used = days ? snprintf(text, STORY_TIME_TEXT, "%" PRId64 "d ", days) : 0;
    snprintf(text + used, (size_t)(STORY_TIME_TEXT - used), "%02d:%02d:%02d.%d",
             (int)(seconds / 3600 % 24), (int)(seconds / 60 % 60), (int)(seconds % 60),
             (int)(tenths % 10));
}

void tell(struct run *run, const char *format, ...)
{
    char line[LINE_MAX_BYTES], time[STORY_TIME_TEXT];
    va_list list;
    if (!run->story)
        return;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    story_time(time, run->now_us - run->began_us);
    buf_printf(run->story, "%s  %s\n", time, line);
}

/* ---- what the engine did ----------------------------------------------------------------------- */

/* {} is the step.  Of invented handlers the calls are told when they are made. */
static const struct sentence {
    const char *type, *text;
    bool is_of_call;
} sentences[] = {
    {"step_started", "{} is called", true},
    {"step_retry", "{} fails, and will be called again", true},
    {"step_failed", "{} has failed for good", false},
    {"step_skipped", "{} is left out", false},
    {"step_paused", "{} is put into the dead letter queue", false},
    {"compensation_started", "{} is being undone", true},
    {"compensation_retry", "the undo of {} fails, and will be called again", true},
    {"compensation_success", "{} is undone", true},
    {"compensation_max_retries_exceeded", "{} cannot be undone: no call is left", false},
    {"workflow_compensating", "what was done is undone, the last first", false},
    {"workflow_paused", "the instance is paused", false},
    {"workflow_dlq", "the instance waits in the dead letter queue for somebody to look at it",
     false},
    {"workflow_completed", "the instance has completed", false},
    {"workflow_failed", "the instance has failed", false},
    {"workflow_cancelled", "the instance is cancelled", false},
    {"workflow_aborted", "the instance is aborted: nothing is undone", false},
    {"step_completed", "{} completes", true},
};

static const struct sentence *sentence_of(const char *type)
{
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (strcmp(sentences[i].type, type) == 0)
            return &sentences[i];
    return NULL;
}

bool story_sentence(char *line, size_t room, const char *type, const char *step, bool has_calls)
{
    const struct sentence *sentence = sentence_of(type);
    if (!sentence || (sentence->is_of_call && !has_calls))
        return false;
    const char *place = strstr(sentence->text, "{}");
    if (place)
        snprintf(line, room, "%.*s%s%s", (int)(place - sentence->text), sentence->text,
                 step ? step : "", place + 2);
    else
        snprintf(line, room, "%s", sentence->text);
    return true;
}

/* A rollback has come to a step that is done and that nothing undoes. */
static bool is_left_done(struct run *run, const cairn_event *event)
{
    int step = strcmp(event->type, "compensation_success") == 0 && event->step
                   ? run_step_number(run, run->id, event->step)
                   : -1;
    return step >= 0 && run->end->steps[step].is_done && strstr(event->data, "nothing to undo");
}

static void tell_event(struct run *run, const cairn_event *event)
{
    char line[LINE_MAX_BYTES];
    /* One that ends in its own commit is told by what it has rolled back. */
    run->is_rolled_back |= strcmp(event->type, "workflow_compensating") == 0 ||
                           strcmp(event->type, "compensation_success") == 0;
    if (is_left_done(run, event))
        snprintf(line, sizeof line, "%s has no compensation, and stays done", event->step);
    else if (!story_sentence(line, sizeof line, event->type, event->step,
                             run->world->plan->work != NULL))
        return;
    int64_t now_us = run->now_us;
    run->now_us = event->at_us; /* the clock has passed it on its way */
    tell(run, "%s", line);
    run->now_us = now_us;
}

/* Real handlers are called by a worker, so that only the events know of it. */
static cairn_code note_event(struct run *run, const char *id, const cairn_event *event)
{
    int step = event->step ? run_step_number(run, id, event->step) : -1;
    if (step < 0)
        return CAIRN_OK;
    if (strcmp(event->type, "step_started") == 0)
        run->end->steps[step].is_called = true;
    if (strcmp(event->type, "step_completed") == 0)
        return run_note_success(run, step, false);
    /* A step without a compensation is rolled back with the same event, and nothing is called. */
    bool is_undone = strcmp(event->type, "compensation_success") == 0 && run->is_undoing[step];
    if (strcmp(event->type, "compensation_started") == 0)
        run->is_undoing[step] = true;
    if (!is_undone)
        return CAIRN_OK;
    run->is_undoing[step] = false;
    return run_note_success(run, step, true);
}

cairn_code note_events_of(struct run *run, const char *id)
{
    for (char *cursor = NULL;;) {
        cleanup(free_pagep) cairn_page *page = NULL;
        TRY(cairn_instance_events(run->world->engine, id, cursor, 100, &page, run->reterr));
        for (size_t i = 0; i < cairn_page_count(page); i++)
            TRY(note_event(run, id, cairn_page_event(page, i)));
        if (!cairn_page_next(page))
            return CAIRN_OK;
        cursor = arena_strdup(run->arena, cairn_page_next(page));
        NEED(cursor, run->reterr);
    }
}

cairn_code note_events_of_children(struct run *run)
{
    for (size_t i = 1; run->world->plan->work && i < run->members.count; i++)
        TRY(note_events_of(run, run->members.items[i].id));
    return CAIRN_OK;
}

cairn_code tell_events(struct run *run)
{
    for (bool is_more = run->story != NULL; is_more;) {
        cleanup(free_pagep) cairn_page *page = NULL;
        char cursor[32];
        snprintf(cursor, sizeof cursor, "%" PRId64, run->told_to);
        TRY(cairn_instance_events(run->world->engine, run->id, run->told_to ? cursor : NULL,
                                  100, &page, run->reterr));
        size_t count = cairn_page_count(page);
        for (size_t i = 0; i < count; i++) {
            tell_event(run, cairn_page_event(page, i));
            if (run->world->plan->work)
                TRY(note_event(run, run->id, cairn_page_event(page, i)));
        }
        if (count)
            run->told_to = cairn_page_event(page, count - 1)->id;
        is_more = cairn_page_next(page) != NULL;
    }
    return CAIRN_OK;
}

/* ---- the end ----------------------------------------------------------------------------------- */

/* "Done: charge, reserve." of the steps with this fact, which is a member of struct law_step. */
static void list_steps(struct run *run, const char *head, size_t fact)
{
    bool is_any = false;
    for (size_t i = 0; i < run->world->step_count; i++) {
        const char *facts = (const char *)&run->end->steps[i];
        if (!*(const bool *)(facts + fact) || run->end->steps[i].is_save_point)
            continue;
        buf_printf(run->story, "%s%s", is_any ? ", " : head, run->world->steps[i]);
        is_any = true;
    }
    buf_str(run->story, is_any ? "\n" : "");
}

/* Without the ids of children, which depend on the runs that were made before this one. */
static void add_without_ids(struct run *run, const char *text)
{
    while (*text) {
        char id[sizeof run->id] = "";
        if (*text == ' ')
            snprintf(id, sizeof id, "%.36s", text + 1);
        if (*id && member_find(run, id)) {
            text += 1 + strlen(id);
            continue;
        }
        buf_char(run->story, *text++);
    }
}

static cairn_code tell_why(struct run *run)
{
    cleanup(free_pagep) cairn_page *page = NULL;
    TRY(cairn_instance_why(run->world->engine, run->id, &page, run->reterr));
    for (size_t i = 0; i < cairn_page_count(page); i++) {
        const cairn_why *why = cairn_page_why(page, i);
        buf_printf(run->story, "%s%s", why->step ? why->step : "", why->step ? ": " : "");
        add_without_ids(run, why->text);
        buf_char(run->story, '\n');
    }
    return CAIRN_OK;
}

/* Where a rollback has stopped. */
static void tell_save_point(struct run *run)
{
    for (size_t i = run->world->own_count; run->is_rolled_back && i > 0; i--)
        if (run->end->steps[i - 1].is_save_point && run->end->steps[i - 1].is_done) {
            buf_printf(
                run->story,
                "The undo stopped at the save point %s: what came before it stays done.\n",
                run->world->steps[i - 1]);
            return;
        }
}

cairn_code tell_end(struct run *run)
{
    if (!run->story)
        return CAIRN_OK;
    if (run->end->status) {
        buf_printf(run->story, "It ended as %s.\n", run->end->word);
    } else {
        buf_printf(run->story, "It does not end by itself: it is %s.\n", run->end->word);
        TRY(tell_why(run));
    }
    tell_save_point(run);
    list_steps(run, "Done at the end: ", offsetof(struct law_step, is_done));
    list_steps(run, "Undone: ", offsetof(struct law_step, is_undone));
    return CAIRN_OK;
}
