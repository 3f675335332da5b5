/* engine/read_context.c - what a handler may read of its instance: the input, and outputs of steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Only who holds the lease of a task may ask: whoever has lost it is told so, and stops.
 */
#include "base/error.h"
#include "engine/read.h"
#include "engine/workset.h"

#include <string.h>

enum { CONTEXT_PORTION = 64, CONTEXT_BYTES_MAX = 16 << 20 };

static bool is_finished(const struct step_row *row)
{
    return row->status == STEP_COMPLETED || row->status == STEP_CONFIRMED;
}

/* The lease is the worker's still; *ret_id is then the instance's. */
static cairn_code check_lease(struct question *q, char ret_id[ID_TEXT])
{
    const struct context_input *in = &q->request->in.context;
    struct step_ref ref = {.instance_id = ret_id};
    struct flow_step step = {0};
    bool is_found = false;
    if (!is_step_id(in->task_id))
        return fail(q->error, CAIRN_E_BAD_INPUT, "task \"%.64s\" belongs to no instance",
                    in->task_id);
    cairn_code code = CAIRN_OK;
    if (step_id_split(in->task_id, ret_id, &ref.seq))
        code = q->ops->read_steps(q->tx, &ref, 1, &step.row, &is_found, q->error);
    if (code)
        return code;
    if (is_found && !flow_heartbeat(&step, in->worker, in->token, 0, q->tx->now_us).code)
        return CAIRN_OK;
    return lease_lost(q->error, in->task_id, in->worker,
                      is_found ? step_status_name(step.row.status) : NULL,
                      is_found ? step.row.locked_by : NULL);
}

static cairn_code add_output(struct question *q, const struct step_row *row, size_t *room)
{
    struct context_output *out = &q->request->out.context;
    if (out->count == *room) {
        size_t more = *room ? *room * 2 : 8;
        struct step_output *grown = arena_array(q->arena, more, sizeof *grown);
        if (!grown)
            return fail_memory(q->error);
        if (out->count)
            memcpy(grown, out->items, out->count * sizeof *grown);
        out->items = grown;
        *room = more;
    }
    out->items[out->count++] =
        (struct step_output){.step = row->name, .output = row->output ? row->output : "null"};
    return CAIRN_OK;
}

static cairn_code too_large(struct question *q)
{
    cairn_code code =
        fail(q->error, CAIRN_E_TOO_LARGE,
             "the outputs of the instance's steps are larger than %d bytes", CONTEXT_BYTES_MAX);
    return fail_hint(q->error, code, "ask for one step by its name");
}

static cairn_code read_all(struct question *q, const char *id)
{
    struct step_row rows[CONTEXT_PORTION];
    size_t count = CONTEXT_PORTION, room = 0, bytes = strlen(q->request->out.context.input);
    cairn_code code = CAIRN_OK;
    for (int32_t after = -1; !code && count == CONTEXT_PORTION;) {
        code = q->ops->list_steps(q->tx, id, after, false, rows, CONTEXT_PORTION, &count,
                                  q->error);
        for (size_t i = 0; i < count && !code; i++) {
            after = rows[i].seq;
            if (!is_finished(&rows[i]))
                continue;
            bytes += strlen(rows[i].name) + (rows[i].output ? strlen(rows[i].output) : 4);
            code = bytes > CONTEXT_BYTES_MAX ? too_large(q) : add_output(q, &rows[i], &room);
        }
    }
    return code;
}

static cairn_code read_one(struct question *q, const char *id, const char *name)
{
    struct step_row row;
    size_t room = 0;
    cairn_code code = q->ops->get_step(q->tx, id, name, &row, q->error);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(q->error, code, "instance \"%s\" has no step \"%.64s\"", id, name);
    return code || !is_finished(&row) ? code : add_output(q, &row, &room);
}

cairn_code read_context(struct question *q)
{
    const struct context_input *in = &q->request->in.context;
    struct instance_row instance;
    char id[ID_TEXT];
    cairn_code code = check_lease(q, id);
    if (!code)
        code = question_instance(q, id, &instance);
    if (code)
        return code;
    q->request->out.context =
        (struct context_output){.input = instance.input ? instance.input : "null"};
    return in->step ? read_one(q, instance.id, in->step) : read_all(q, instance.id);
}
