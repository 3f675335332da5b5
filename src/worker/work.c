/* worker/work.c - a task in the hands of a handler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "worker/worker.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

/* Copies a text in place; false: memory ran out. */
static bool keep(struct arena *arena, const char **text)
{
    const char *from = *text;
    *text = arena_strdup(arena, from);
    return !from || *text;
}

static bool keep_event(struct arena *arena, cairn_received *event)
{
    return keep(arena, &event->id) && keep(arena, &event->event) &&
           keep(arena, &event->payload);
}

/* Of functions: everything that is remembered. */
static bool keep_memory(struct arena *arena, const cairn_memory **memory)
{
    const cairn_memory *from = *memory;
    cairn_memory *copy = arena_alloc(arena, sizeof *copy);
    cairn_step *steps = arena_array(arena, from->step_count, sizeof *steps);
    cairn_received *events = arena_array(arena, from->event_count, sizeof *events);
    cairn_effect *effects = arena_array(arena, from->effect_count, sizeof *effects);
    if (!copy || !steps || !events || !effects)
        return false;
    for (size_t i = 0; i < from->effect_count; i++) {
        effects[i] = *from->effects[i];
        if (!keep(arena, &effects[i].step))
            return false;
    }
    for (size_t i = 0; i < from->step_count; i++) {
        steps[i] = *from->steps[i];
        if (!step_keep_texts(arena, &steps[i]))
            return false;
    }
    for (size_t i = 0; i < from->event_count; i++) {
        events[i] = *from->events[i];
        if (!keep_event(arena, &events[i]))
            return false;
    }
    *copy = *from;
    copy->steps = arena_pointers(arena, steps, from->step_count, sizeof *steps);
    copy->events = arena_pointers(arena, events, from->event_count, sizeof *events);
    copy->effects = arena_pointers(arena, effects, from->effect_count, sizeof *effects);
    *memory = copy;
    return copy->steps && copy->events && copy->effects;
}

bool task_copy(struct arena *arena, const cairn_task *task, cairn_task *ret_copy)
{
    *ret_copy = *task;
    return keep(arena, &ret_copy->id) && keep(arena, &ret_copy->token) &&
           keep(arena, &ret_copy->kind) && keep(arena, &ret_copy->type) &&
           keep(arena, &ret_copy->input) && keep(arena, &ret_copy->key) &&
           keep(arena, &ret_copy->instance_id) && keep(arena, &ret_copy->step) &&
           keep(arena, &ret_copy->metadata) && keep(arena, &ret_copy->reason) &&
           keep(arena, &ret_copy->signal) &&
           (!task->memory || keep_memory(arena, &ret_copy->memory));
}

struct cairn_work *work_new(const cairn_task *task)
{
    struct cairn_work *work = mem_zalloc(sizeof *work);
    if (!work)
        return NULL;
    work->delay_ms = -1;
    work->timeout_ms = -1;
    if (!task_copy(&work->arena, task, &work->task)) {
        work_free(work);
        return NULL;
    }
    return work;
}

void work_free(struct cairn_work *work)
{
    if (!work)
        return;
    arena_done(&work->arena);
    mem_free(work->output);
    mem_free(work->error);
    mem_free(work->bad_output);
    mem_free(work);
}

void work_set_refused(struct cairn_work *work, const char *why)
{
    struct buf text = {0};
    buf_printf(&text, "the outcome was refused: %s", why);
    mem_free(work->error);
    work->error = buf_take(&text, NULL);
    work->outcome = CAIRN_FAIL;
    work->outbound.count = 0;
    work->is_refused = true;
    buf_done(&text);
}

void works_push(struct work_list *list, struct cairn_work *work)
{
    work->next = NULL;
    if (list->last)
        list->last->next = work;
    else
        list->first = work;
    list->last = work;
    list->count++;
}

struct cairn_work *works_pop(struct work_list *list)
{
    struct cairn_work *work = list->first;
    if (!work)
        return NULL;
    list->first = work->next;
    if (!list->first)
        list->last = NULL;
    list->count--;
    work->next = NULL;
    return work;
}

void works_append(struct work_list *list, struct work_list *more)
{
    struct cairn_work *work;
    while ((work = works_pop(more)))
        works_push(list, work);
}

/* ---- what handlers call -------------------------------------------------------------------- */

const cairn_task *cairn_work_task(const cairn_work *work)
{
    return &work->task;
}

const char *cairn_work_stop(const cairn_work *work)
{
    const char *stop = work->host ? atomic_load(&work->host->stop) : atomic_load(&work->stop);
    if (work->host && stop && strcmp(stop, "paused") == 0)
        return NULL; /* what runs may finish: a pause acts at the next step */
    return stop;
}

static cairn_code keep_text(char **kept, const char *text)
{
    char *copy = text ? mem_strdup(text) : NULL;
    if (text && !copy)
        return CAIRN_E_OUT_OF_MEMORY;
    mem_free(*kept);
    *kept = copy;
    return CAIRN_OK;
}

/* Message and detail in one line, for last_error. */
static char *tell(const cairn_error *error)
{
    struct buf text = {0};
    buf_printf(&text, "the handler's %s", error->message);
    if (error->detail[0])
        buf_printf(&text, " (%s)", error->detail);
    char *told = buf_take(&text, NULL);
    buf_done(&text);
    return told;
}

cairn_code cairn_work_set_output(cairn_work *work, const char *json)
{
    cairn_error error;
    TRY(keep_text(&work->output, json));
    mem_free(work->bad_output);
    work->bad_output = NULL;
    if (!json)
        return CAIRN_OK;
    cairn_code code = json_check(json, strlen(json), "output", &error);
    if (!code)
        return CAIRN_OK;
    work->bad_output = tell(&error);
    keep_text(&work->output, NULL);
    return work->bad_output ? code : CAIRN_E_OUT_OF_MEMORY;
}

cairn_code cairn_work_set_error(cairn_work *work, const char *text)
{
    return keep_text(&work->error, text);
}

void cairn_work_set_delay(cairn_work *work, int64_t delay_ms)
{
    work->delay_ms = delay_ms < 0 ? -1 : delay_ms;
}

cairn_code cairn_work_wait(cairn_work *work, const char *event, int64_t timeout_ms)
{
    if (!event || !event[0])
        return CAIRN_E_BAD_INPUT;
    work->event = arena_strdup(&work->arena, event);
    work->timeout_ms = timeout_ms < 0 ? -1 : timeout_ms;
    return work->event ? CAIRN_OK : CAIRN_E_OUT_OF_MEMORY;
}

cairn_code cairn_work_emit(cairn_work *work, const char *event, const char *payload)
{
    if (!event || !event[0])
        return CAIRN_E_BAD_INPUT;
    if (payload)
        TRY(json_check(payload, strlen(payload), "payload", NULL));
    cairn_outbound one = CAIRN_OUTBOUND_DEFAULTS;
    one.event = arena_strdup(&work->arena, event);
    one.payload = arena_strdup(&work->arena, payload);
    if (!one.event || (payload && !one.payload))
        return CAIRN_E_OUT_OF_MEMORY;
    cairn_outbound *added = list_add(&work->arena, &work->outbound);
    if (!added)
        return CAIRN_E_OUT_OF_MEMORY;
    *added = one;
    return CAIRN_OK;
}
