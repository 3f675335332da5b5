/* trial/story.c - tells what happened in a trial.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trial/trial.h"

#include "base/mem.h"
#include "simulate/story.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 600, EVENTS_PAGE = 100, STORY_BYTES = 1 << 20 };

static void tell_at(struct trial *trial, int64_t at_us, const char *line)
{
    char time[STORY_TIME_TEXT];
    if (trial->story.len > STORY_BYTES)
        return; /* nobody reads so much */
    story_time(time, at_us - trial->began_us);
    buf_printf(&trial->story, "%s  %s\n", time, line);
}

void trial_tell(struct trial *trial, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    tell_at(trial, trial->now_us, line);
}

int32_t trial_instance(struct trial *trial, const char *id)
{
    for (size_t i = 0; i < trial->instances.count; i++)
        if (strcmp(trial->instances.items[i], id) == 0)
            return (int32_t)i + 1;
    const char *kept = arena_strdup(&trial->arena, id);
    const char **added = kept ? list_add(&trial->arena, &trial->instances) : NULL;
    if (added)
        *added = kept;
    return (int32_t)trial->instances.count;
}

static void tell_event(struct trial *trial, const struct stream_event *item)
{
    char line[LINE_BYTES / 2];
    const cairn_event *event = &item->event;
    if (strncmp(event->type, "workflow_", strlen("workflow_")) == 0)
        trial_instance(
            trial, item->subject); /* so that a parent has a lower number than its children */
    if (!story_sentence(line, sizeof line, event->type, event->step, false))
        return;
    char whole[LINE_BYTES];
    int32_t number = trial_instance(trial, item->subject);
    if (number == 1)
        snprintf(whole, sizeof whole, "%s", line);
    else
        snprintf(whole, sizeof whole, "(instance %" PRId32 ") %s", number, line);
    tell_at(trial, event->at_us, whole);
}

void trial_tell_events(struct trial *trial)
{
    for (size_t count = EVENTS_PAGE; count == EVENTS_PAGE;) {
        cleanup(request_freep) struct request *request = request_new(OP_ALL_EVENTS);
        char cursor[32];
        if (!request)
            return;
        snprintf(cursor, sizeof cursor, "%" PRId64, trial->told_to);
        request->in.page =
            (struct page_input){.cursor = trial->told_to ? cursor : NULL, .limit = EVENTS_PAGE};
        if (trial_forward(trial, request))
            return;
        count = request->out.page.count;
        for (size_t i = 0; i < count; i++)
            tell_event(trial, &request->out.page.stream[i]);
        if (count)
            trial->told_to = request->out.page.stream[count - 1].event.id;
    }
}
