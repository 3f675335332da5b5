/* engine/read_context.c - what a handler may read of its instance: the input, and outputs of steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Only the holder of the lease may ask: a worker that has lost it is told so, and stops.
 */
#include "engine/batch.h"
#include "engine/read.h"

#include <string.h>

enum { CONTEXT_PORTION = 64, CONTEXT_BYTES_MAX = 16 << 20 };

/* The lease is the worker's still; *ret_id is then the instance's. */
static cairn_code check_holder(struct question *q, char ret_id[ID_TEXT])
{
    const struct context_input *in = &q->request->in.context;
    struct step_ref ref = {.instance_id = ret_id};
    struct flow_step step = {0};
    bool is_found = false;
    if (!is_step_id(in->task_id))
        return fail(q->error, CAIRN_E_BAD_INPUT, "task \"%.64s\" belongs to no instance",
                    in->task_id);
    if (step_id_split(in->task_id, ret_id, &ref.seq))
        TRY(STORE(q, read_steps, &ref, 1, &step.row, &is_found));
    if (is_found && !flow_heartbeat(&step, in->worker, in->token, 0, q->tx->now_us).code)
        return CAIRN_OK;
    return step_lease_lost(q->error, in->task_id, in->worker, is_found ? &step.row : NULL);
}

static cairn_code add_output(struct question *q, const struct step_row *row)
{
    struct step_output *added = list_add(q->arena, &q->request->out.context);
    const char *output = step_passed(row);
    NEED(added, q->error);
    *added = (struct step_output){.step = row->name, .output = output ? output : "null"};
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
    size_t count = CONTEXT_PORTION, bytes = strlen(q->request->out.context.input);
    for (int32_t after = -1; count == CONTEXT_PORTION;) {
        TRY(STORE(q, list_steps, id, after, false, rows, CONTEXT_PORTION, &count));
        for (size_t i = 0; i < count; i++) {
            after = rows[i].seq;
            if (!step_is_readable(&rows[i]))
                continue;
            const char *output = step_passed(&rows[i]);
            bytes += strlen(rows[i].name) + (output ? strlen(output) : 4);
            TRY(bytes > CONTEXT_BYTES_MAX ? too_large(q) : add_output(q, &rows[i]));
        }
    }
    return CAIRN_OK;
}

static cairn_code read_one(struct question *q, const char *id, const char *name)
{
    struct step_row row;
    cairn_code code = STORE(q, get_step, id, name, &row);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(q->error, code, "instance \"%s\" has no step \"%.64s\"", id, name);
    return code || !step_is_readable(&row) ? code : add_output(q, &row);
}

cairn_code answer_context(struct question *q)
{
    const struct context_input *in = &q->request->in.context;
    struct instance_row instance;
    char id[ID_TEXT];
    TRY(check_holder(q, id));
    TRY(question_instance(q, id, &instance));
    q->request->out.context =
        (struct context_output){.input = instance.input ? instance.input : "null"};
    return in->step ? read_one(q, instance.id, in->step) : read_all(q, instance.id);
}
