/* worker/work.c - a task in the hands of a handler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "worker/worker.h"

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

static bool copy_task(struct cairn_work *work, const cairn_task *task)
{
    struct arena *arena = &work->arena;
    cairn_task *copy = &work->task;
    *copy = *task;
    copy->id = arena_strdup(arena, task->id);
    copy->token = arena_strdup(arena, task->token);
    copy->kind = arena_strdup(arena, task->kind);
    copy->type = arena_strdup(arena, task->type);
    copy->input = arena_strdup(arena, task->input);
    copy->key = arena_strdup(arena, task->key);
    copy->instance_id = arena_strdup(arena, task->instance_id);
    copy->step = arena_strdup(arena, task->step);
    copy->metadata = arena_strdup(arena, task->metadata);
    copy->reason = arena_strdup(arena, task->reason);
    copy->signal = arena_strdup(arena, task->signal);
    return copy->id && copy->token && copy->kind && copy->type && copy->input &&
           (copy->key || !task->key) && (copy->instance_id || !task->instance_id) &&
           (copy->step || !task->step) && (copy->metadata || !task->metadata) &&
           (copy->reason || !task->reason) && (copy->signal || !task->signal);
}

struct cairn_work *work_new(const cairn_task *task)
{
    struct cairn_work *work = mem_zalloc(sizeof *work);
    if (!work)
        return NULL;
    work->delay_ms = -1;
    work->timeout_ms = -1;
    if (!copy_task(work, task)) {
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
    work->outbound_count = 0;
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

/* ---- what handlers call ---------------------------------------------------------------------
 */

const cairn_task *cairn_work_task(const cairn_work *work)
{
    return &work->task;
}

const char *cairn_work_stop(const cairn_work *work)
{
    return atomic_load(&work->stop);
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

/* The whole story in one line, for last_error. */
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
    cairn_code code = keep_text(&work->output, json);
    if (code)
        return code;
    mem_free(work->bad_output);
    work->bad_output = NULL;
    if (!json)
        return CAIRN_OK;
    code = json_check(json, strlen(json), "output", &error);
    if (code) {
        work->bad_output = tell(&error);
        keep_text(&work->output, NULL);
        if (!work->bad_output)
            code = CAIRN_E_OUT_OF_MEMORY;
    }
    return code;
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

static bool make_room(struct cairn_work *work)
{
    if (work->outbound_count < work->outbound_room)
        return true;
    size_t room = work->outbound_room ? work->outbound_room * 2 : 4;
    cairn_outbound *more = arena_array(&work->arena, room, sizeof *more);
    if (!more)
        return false;
    if (work->outbound_count)
        memcpy(more, work->outbound, work->outbound_count * sizeof *more);
    work->outbound = more;
    work->outbound_room = room;
    return true;
}

cairn_code cairn_work_emit(cairn_work *work, const char *event, const char *payload)
{
    if (!event || !event[0])
        return CAIRN_E_BAD_INPUT;
    cairn_code code =
        payload ? json_check(payload, strlen(payload), "payload", NULL) : CAIRN_OK;
    if (code)
        return code;
    cairn_outbound one = CAIRN_OUTBOUND_DEFAULTS;
    one.event = arena_strdup(&work->arena, event);
    one.payload = arena_strdup(&work->arena, payload);
    if (!one.event || (payload && !one.payload) || !make_room(work))
        return CAIRN_E_OUT_OF_MEMORY;
    work->outbound[work->outbound_count++] = one;
    return CAIRN_OK;
}
