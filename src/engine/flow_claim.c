/* engine/flow_claim.c - handing steps and compensations to workers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "definition/definition.h"
#include "engine/world.h"

/* A compensation is told what the step was given and what it gave. */
static const char *undo_input(struct arena *arena, const struct step_row *row)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    json_key(&out, "input");
    json_raw(&out, row->input);
    json_key(&out, "output");
    json_raw(&out, row->output);
    json_close(&out, '}');
    const char *text = buf_failed(&buf) ? NULL : arena_strndup(arena, buf.text, buf.len);
    buf_done(&buf);
    return text;
}

static cairn_code fill_task(struct request *request, const struct flow_step *step,
                            cairn_task *ret_task, cairn_error *reterr)
{
    const struct step_row *row = &step->row;
    bool is_undo = row->status == STEP_COMPENSATION;
    struct arena *arena = &request->arena;
    *ret_task = (cairn_task){
        .id = step_id_make(arena, row->instance_id, row->seq),
        .token = request->token,
        .kind = is_undo                      ? "compensation"
                : row->kind == KIND_FUNCTION ? "function"
                                             : "step",
        .type = row->task_type,
        .input = is_undo      ? undo_input(arena, row)
                 : row->input ? row->input
                              : "null",
        .key =
            arena_printf(arena, "%s:%s%s", row->instance_id, row->name, is_undo ? ":undo" : ""),
        .attempt = (is_undo ? row->compensation_attempts : row->attempts) + 1,
        .max_attempts = is_undo ? step->config->compensation.max_attempts : row->max_attempts,
        .lease_until_us = row->locked_until_us,
        .instance_id = row->instance_id,
        .step = row->name,
        .metadata = is_undo ? step->config->compensation.metadata : row->metadata,
        .reason = row->is_timed_out && !is_undo ? "WAITING_TIMEOUT" : NULL,
        .signal = is_undo ? NULL : row->signal,
    };
    return ret_task->id && ret_task->input && ret_task->key ? CAIRN_OK : fail_memory(reterr);
}

/* A step that the claim has brought: its limit, its event, its timer. */
static cairn_code note_claimed(struct batch *batch, struct request *request,
                               struct flow_step *step, cairn_error *reterr)
{
    struct step_row *row = &step->row;
    struct flow_facts facts = NO_FACTS;
    bool is_undo = row->status == STEP_COMPENSATION;
    flow_claimed(step, batch->tx->now_us);
    batch_due(batch, row->due_at_us);
    batch->tally.claimed++;
    batch->tally.passages += row->kind == KIND_FUNCTION;
    facts.status = step_status_name(row->status);
    facts.retry_count = is_undo ? row->compensation_attempts : row->attempts;
    facts.worker = request_claim(request)->worker;
    cairn_code code =
        world_note(batch, row->instance_id, "step_started", row->name, &facts, reterr);
    if (!code && step->is_dirty)
        code = batch->ops->update_steps(batch->tx, row, 1, reterr);
    return code;
}

static cairn_code take_rows(struct batch *batch, struct request *request, struct step_row *rows,
                            size_t room, size_t *ret_count, bool *ret_is_new,
                            cairn_error *reterr)
{
    const cairn_claim_options *claim = request_claim(request);
    struct step_claim wanted = {
        .base = {.worker = claim->worker,
                 .token = request->token,
                 .patterns = claim->types,
                 .pattern_count = claim->type_count,
                 .runtime = claim->runtime,
                 .lease_until_us = instant_add(batch->tx->now_us, claim->lease_ms * US_PER_MS)},
        .aging_rate = batch->engine->base.options.aging_rate,
    };
    *ret_is_new = !request->was_unsure;
    if (request->was_unsure)
        return batch->ops->find_claimed_steps(batch->tx, claim->worker, request->token, rows,
                                              room, ret_count, reterr);
    cairn_code code = CAIRN_OK;
    if (batch->ops->send_step_claim) {
        code = batch->ops->send_step_claim(batch->tx, &wanted, room, reterr);
        if (!code)
            code = world_write(batch, reterr); /* while the store is at it */
    }
    return code ? code
                : batch->ops->claim_steps(batch->tx, &wanted, rows, room, ret_count, reterr);
}

cairn_code flow_claim(struct batch *batch, struct request *request, size_t room,
                      cairn_task *ret_tasks, size_t *ret_count, cairn_error *reterr)
{
    size_t count = 0;
    bool is_new;
    struct step_row *rows = arena_array(&batch->arena, room, sizeof *rows);
    if (!rows)
        return fail_memory(reterr);
    struct arena *arena = batch->tx->arena;
    batch->tx->arena = &request->arena;
    cairn_code code = take_rows(batch, request, rows, room, &count, &is_new, reterr);
    batch->tx->arena = arena;
    for (size_t i = 0; i < count && !code; i++) {
        struct step_config config;
        struct flow_step step = {.row = rows[i], .config = &config};
        code = step_config_read(&request->arena, rows[i].config, &config, reterr);
        if (!code && is_new)
            code = note_claimed(batch, request, &step, reterr);
        if (!code)
            code = fill_task(request, &step, &ret_tasks[i], reterr);
        if (!code && rows[i].kind == KIND_FUNCTION)
            code =
                flow_memory(batch, request, rows[i].instance_id, &ret_tasks[i].memory, reterr);
    }
    *ret_count = count;
    return code;
}
