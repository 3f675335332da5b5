/* engine/read_flow.c - questions about workflows and instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/read.h"

#include <stdlib.h>
#include <string.h>

enum { CURRENT_MAX = 1000, CURRENT_PORTION = 8 };

/* ---- pages ---------------------------------------------------------------------------------- */

int64_t page_cursor(const char *cursor)
{
    return cursor ? strtoll(cursor, NULL, 10) : 0;
}

cairn_code page_end(struct question *q, size_t found, uint32_t limit, int64_t last,
                    size_t *ret_count, const char **ret_next)
{
    *ret_next = NULL;
    *ret_count = found;
    if (found <= limit)
        return CAIRN_OK;
    *ret_count = limit;
    *ret_next = arena_printf(q->arena, "%lld", (long long)last);
    return *ret_next ? CAIRN_OK : fail_memory(q->error);
}

/* ---- definitions ---------------------------------------------------------------------------- */

static void definition_to_public(const struct definition_row *row, cairn_workflow *ret)
{
    *ret = (cairn_workflow){.name = row->name,
                            .version = row->version,
                            .hash = row->hash,
                            .content = row->content,
                            .created_at_us = row->created_at_us};
}

static cairn_code get_definition(struct question *q)
{
    const struct definition_input *in = &q->request->in.definition;
    struct definition_row row;
    cairn_code code = q->ops->get_definition(q->tx, in->name, in->version, &row, q->error);
    if (code == CAIRN_E_NOT_FOUND && in->version == 0)
        return fail(q->error, code, "workflow \"%.64s\" does not exist", in->name);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(q->error, code, "workflow \"%.64s\" version %d does not exist", in->name,
                    (int)in->version);
    cairn_workflow *item = code ? NULL : arena_zalloc(q->arena, sizeof *item);
    if (!item)
        return code ? code : fail_memory(q->error);
    definition_to_public(&row, item);
    q->request->out.page = (struct page_output){.items = item, .count = 1};
    return CAIRN_OK;
}

/* A cursor is "version/name". */
static cairn_code list_definitions(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    const char *slash = in->cursor ? strchr(in->cursor, '/') : NULL;
    size_t count, room = in->limit + 1;
    if (in->cursor && !slash)
        return fail(q->error, CAIRN_E_BAD_INPUT, "cursor is not one of ours");
    struct definition_row *rows = arena_array(q->arena, room, sizeof *rows);
    cairn_workflow *items = arena_array(q->arena, room, sizeof *items);
    if (!rows || !items)
        return fail_memory(q->error);
    cairn_code code = q->ops->list_definitions(
        q->tx, slash ? slash + 1 : NULL, slash ? (int32_t)strtol(in->cursor, NULL, 10) : 0,
        rows, room, &count, q->error);
    if (code)
        return code;
    struct page_output *out = &q->request->out.page;
    *out = (struct page_output){.items = items, .count = count < room ? count : in->limit};
    for (size_t i = 0; i < out->count; i++)
        definition_to_public(&rows[i], &items[i]);
    if (count == room) {
        const struct definition_row *last = &rows[in->limit - 1];
        out->next = arena_printf(q->arena, "%d/%s", (int)last->version, last->name);
        if (!out->next)
            return fail_memory(q->error);
    }
    return CAIRN_OK;
}

/* ---- instances ------------------------------------------------------------------------------ */

/* Never fork, join, condition or save point; a function that waits is told by what it waits for. */
static bool is_shown(const struct step_row *row)
{
    if (row->kind == KIND_FUNCTION)
        return row->status != STEP_WAITING;
    return row->kind == KIND_TASK || row->kind == KIND_SLEEP || row->kind == KIND_WAIT ||
           row->kind == KIND_HUMAN;
}

/* Room for more names; they are doubled, since most instances have one current step. */
static bool grow_names(struct arena *arena, const char ***names, size_t count, size_t *room)
{
    if (count < *room)
        return true;
    size_t more = *room ? *room * 2 : 4;
    const char **grown = arena_array(arena, more, sizeof *grown);
    if (!grown)
        return false;
    if (count)
        memcpy(grown, *names, count * sizeof *grown);
    *names = grown;
    *room = more;
    return true;
}

static cairn_code add_current(struct question *q, cairn_instance *instance)
{
    struct step_row rows[CURRENT_PORTION];
    const char **names = NULL;
    size_t count = CURRENT_PORTION, shown = 0, room = 0;
    for (int32_t after = -1; count == CURRENT_PORTION && shown < CURRENT_MAX;) {
        cairn_code code = q->ops->list_steps(q->tx, instance->id, after, true, rows,
                                             CURRENT_PORTION, &count, q->error);
        if (code)
            return code;
        for (size_t i = 0; i < count; i++) {
            after = rows[i].seq;
            if (!is_shown(&rows[i]))
                continue;
            if (!grow_names(q->arena, &names, shown, &room))
                return fail_memory(q->error);
            names[shown++] = rows[i].name;
        }
    }
    instance->current_steps = names;
    instance->current_step_count = shown;
    return CAIRN_OK;
}

static cairn_code instance_to_public(struct question *q, const struct instance_row *row,
                                     cairn_instance *ret)
{
    *ret = (cairn_instance){
        .id = row->id,
        .workflow = row->workflow,
        .key = row->key,
        .input = row->input,
        .output = row->output,
        .version = row->version,
        .status = instance_status_name(row->status),
        .status_code = (cairn_instance_status)row->status,
        .last_error = row->last_error,
        .generation = row->generation,
        .created_at_us = row->created_at_us,
        .started_at_us = row->started_at_us,
        .finished_at_us = row->finished_at_us,
        .start_at_us = row->start_at_us,
        .undo_error = row->undo_error,
    };
    return instance_is_final(row->status) ? CAIRN_OK : add_current(q, ret);
}

static cairn_code instance_is_missing(struct question *q, const char *id)
{
    return fail(q->error, CAIRN_E_NOT_FOUND, "instance \"%.64s\" does not exist", id ? id : "");
}

cairn_code question_instance(struct question *q, const char *id, struct instance_row *ret_row)
{
    if (!id || !id_is_valid(id))
        return instance_is_missing(q, id);
    cairn_code code = q->ops->get_instance(q->tx, id, ret_row, q->error);
    return code == CAIRN_E_NOT_FOUND ? instance_is_missing(q, id) : code;
}

static cairn_code get_instance(struct question *q, const char *id)
{
    struct instance_row row;
    cairn_code code = question_instance(q, id, &row);
    cairn_instance *item = code ? NULL : arena_zalloc(q->arena, sizeof *item);
    if (!item)
        return code ? code : fail_memory(q->error);
    q->request->out.page = (struct page_output){.items = item, .count = 1};
    return instance_to_public(q, &row, item);
}

static cairn_code list_instances(struct question *q)
{
    const cairn_instance_filter *in = &q->request->in.instance_list;
    struct instance_filter filter = {
        .status = in->status ? instance_status_from(in->status) : INSTANCE_NONE,
        .workflow = in->workflow,
        .key = in->key,
        .before_seq = page_cursor(in->cursor),
    };
    size_t count, room = in->limit + 1;
    struct instance_row *rows = arena_array(q->arena, room, sizeof *rows);
    cairn_instance *items = arena_array(q->arena, room, sizeof *items);
    if (!rows || !items)
        return fail_memory(q->error);
    cairn_code code = q->ops->list_instances(q->tx, &filter, rows, room, &count, q->error);
    struct page_output *out = &q->request->out.page;
    *out = (struct page_output){.items = items};
    if (!code)
        code = page_end(q, count, in->limit, count > in->limit ? rows[in->limit - 1].seq : 0,
                        &out->count, &out->next);
    for (size_t i = 0; i < out->count && !code; i++)
        code = instance_to_public(q, &rows[i], &items[i]);
    return code;
}

cairn_code flow_read_run(struct local_engine *engine, struct store_tx *tx,
                         struct request *request)
{
    struct question q = {.ops = engine->store->ops,
                         .tx = tx,
                         .request = request,
                         .arena = &request->arena,
                         .error = &request->error};
    switch (request->op) {
    case OP_DEFINITION_GET:
        return get_definition(&q);
    case OP_DEFINITION_LIST:
        return list_definitions(&q);
    case OP_INSTANCE_GET:
        return get_instance(&q, request->in.id);
    case OP_INSTANCE_LIST:
        return list_instances(&q);
    case OP_STEP_LIST:
        return list_steps(&q);
    case OP_INSTANCE_EVENTS:
        return list_instance_events(&q);
    case OP_ALL_EVENTS:
        return list_all_events(&q);
    case OP_PAUSE:
    case OP_RESUME:
    case OP_RESTART:
    case OP_RETRY:
    case OP_CANCEL:
    case OP_ABORT:
    case OP_DECIDE: /* the answer to control is the instance as it is now */
        return get_instance(&q, request->op == OP_DECIDE ? request->in.decide.id
                                                         : request->in.control.id);
    case OP_DLQ_REQUEUE:
        return get_instance(&q, request->instance_id);
    case OP_DLQ_LIST:
        return list_dlq(&q);
    case OP_DLQ_GET:
        return get_dlq(&q);
    case OP_LOG_LIST:
        return list_logs(&q);
    case OP_DECISION_LIST:
        return list_decisions(&q);
    case OP_TASK_CONTEXT:
        return read_context(&q);
    default:
        return fail(q.error, CAIRN_E_INTERNAL, "request %d is no question", (int)request->op);
    }
}
