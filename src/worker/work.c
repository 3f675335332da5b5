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
    return copy->id && copy->token && copy->kind && copy->type && copy->input &&
           (copy->key || !task->key);
}

struct cairn_work *work_new(const cairn_task *task)
{
    struct cairn_work *work = mem_zalloc(sizeof *work);
    if (!work)
        return NULL;
    work->delay_ms = -1;
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
