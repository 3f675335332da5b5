/* engine/batch_claim_steps.c - handing steps and compensations to workers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "core/effect.h"
#include "core/rows.h"
#include "definition/definition.h"
#include "engine/workset.h"

#include <string.h>

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
    enum task_kind kind = is_undo                      ? TASK_COMPENSATION
                          : row->kind == KIND_FUNCTION ? TASK_FUNCTION
                                                       : TASK_STEP;
    *ret_task = (cairn_task){
        .id = step_id_make(arena, row->instance_id, row->seq),
        .token = request->token,
        .kind = task_kind_name(kind),
        .kind_code = (cairn_task_kind)kind,
        .type = row->task_type,
        .input = is_undo      ? undo_input(arena, row)
                 : row->input ? row->input
                              : "null",
        .key = effect_key(arena, row->instance_id, row->name, row->past_effects, is_undo),
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
    batch_note_due(batch, row->due_at_us);
    batch->tally.claimed++;
    batch->tally.passages += row->kind == KIND_FUNCTION;
    facts.status = step_status_name(row->status);
    facts.retry_count = is_undo ? row->compensation_attempts : row->attempts;
    facts.worker = request_claim(request)->worker;
    cairn_code code =
        workset_note(batch, row->instance_id, "step_started", row->name, &facts, reterr);
    return code ? code : workset_put_claimed(batch, step, reterr);
}

/* ---- for whom ------------------------------------------------------------------------------- */

static size_t all_room(const struct claim_share *shares, size_t count)
{
    size_t room = 0;
    for (size_t i = 0; i < count; i++)
        room += shares[i].room;
    return room;
}

/* One for each row that there is room for; of one claim alone, nothing is to be said. */
static cairn_code make_holders(struct batch *batch, const struct claim_share *shares,
                               size_t count, const struct step_holder **ret_holders,
                               cairn_error *reterr)
{
    size_t at = 0;
    *ret_holders = NULL;
    if (count == 1)
        return CAIRN_OK;
    struct step_holder *holders =
        arena_array(&batch->arena, all_room(shares, count), sizeof *holders);
    if (!holders)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < shares[i].room; k++)
            holders[at++] = (struct step_holder){
                .worker = request_claim(shares[i].request)->worker,
                .token = shares[i].request->token,
            };
    *ret_holders = holders;
    return CAIRN_OK;
}

/* Rows come in the order of the holders, nearly always: so the search goes on where it ended.  NULL:
 * nobody's. */
static struct claim_share *find_share(struct claim_share *shares, size_t count, size_t *at,
                                      const struct step_row *row)
{
    for (size_t looked = 0; looked < count; looked++, *at = (*at + 1) % count) {
        struct claim_share *share = &shares[*at];
        if (share->count < share->room && strcmp(share->request->token, row->token) == 0)
            return share;
    }
    return NULL;
}

/* ---- taking --------------------------------------------------------------------------------- */

/* The functions that a claim names, as a store takes them. */
static cairn_code join_functions(struct batch *batch, const cairn_claim_options *claim,
                                 struct step_claim *wanted, cairn_error *reterr)
{
    struct function_range *ranges =
        arena_array(&batch->arena, claim->function_count, sizeof *ranges);
    if (!ranges)
        return fail_memory(reterr);
    for (size_t i = 0; i < claim->function_count; i++) {
        const cairn_function_code *code = &claim->functions[i];
        ranges[i] = (struct function_range){
            .name = code->name,
            .from = code->from_version ? code->from_version : code->version,
            .to = code->version,
        };
    }
    wanted->functions = ranges;
    wanted->function_count =
        function_ranges_join(ranges, claim->function_count, claim->types, claim->type_count);
    return CAIRN_OK;
}

static cairn_code take_rows(struct batch *batch, const struct claim_share *shares, size_t count,
                            struct step_row *rows, size_t room, size_t *ret_count,
                            cairn_error *reterr)
{
    struct request *request = shares->request;
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
    if (request->was_unsure)
        return batch->ops->find_claimed_steps(batch->tx, claim->worker, request->token, rows,
                                              room, ret_count, reterr);
    cairn_code code = make_holders(batch, shares, count, &wanted.holders, reterr);
    if (!code && claim->function_count)
        code = join_functions(batch, claim, &wanted, reterr);
    if (!code && batch->ops->send_step_claim) {
        code = batch->ops->send_step_claim(batch->tx, &wanted, room, reterr);
        if (!code)
            code = workset_write(batch, reterr); /* while the store is at it */
    }
    return code ? code
                : batch->ops->claim_steps(batch->tx, &wanted, rows, room, ret_count, reterr);
}

/* The texts that a task is made of, where its request's answer lives. */
static bool keep_texts(struct arena *arena, struct step_row *row)
{
    const char **texts[] = {&row->instance_id, &row->name,   &row->task_type,
                            &row->config,      &row->input,  &row->metadata,
                            &row->output,      &row->signal, &row->function_effects};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!*texts[i])
            continue;
        *texts[i] = arena_strdup(arena, *texts[i]);
        if (!*texts[i])
            return false;
    }
    return true;
}

static cairn_code give(struct batch *batch, struct claim_share *share, struct step_row *row,
                       cairn_error *reterr)
{
    struct request *request = share->request;
    struct step_config config;
    cairn_task *task = &share->tasks[share->count++];
    cairn_code code = step_config_read(&request->arena, row->config, &config, reterr);
    struct flow_step step = {.row = *row, .config = &config};
    if (!code && !request->was_unsure)
        code = note_claimed(batch, request, &step, reterr);
    if (!code)
        code = fill_task(request, &step, task, reterr);
    if (!code && row->kind == KIND_FUNCTION)
        code = batch_add_passage(batch, request, row, &task->memory, reterr);
    return code;
}

cairn_code claim_take_steps_together(struct batch *batch, struct claim_share *shares,
                                     size_t count, cairn_error *reterr)
{
    size_t room = all_room(shares, count), found = 0, at = 0;
    struct step_row *rows = arena_array(&batch->arena, room, sizeof *rows);
    if (!rows)
        return fail_memory(reterr);
    struct arena *arena = batch->tx->arena;
    if (count == 1)
        batch->tx->arena = &shares->request->arena; /* nothing needs to be copied */
    cairn_code code = take_rows(batch, shares, count, rows, room, &found, reterr);
    batch->tx->arena = arena;
    for (size_t i = 0; i < found && !code; i++) {
        struct claim_share *share = find_share(shares, count, &at, &rows[i]);
        if (!share)
            code = fail(reterr, CAIRN_E_INTERNAL, "a step was leased to nobody");
        else if (count > 1 && !keep_texts(&share->request->arena, &rows[i]))
            code = fail_memory(reterr);
        else
            code = give(batch, share, &rows[i], reterr);
    }
    return code;
}

cairn_code claim_take_steps(struct batch *batch, struct request *request, size_t room,
                            cairn_task *ret_tasks, size_t *ret_count, cairn_error *reterr)
{
    struct claim_share share = {.request = request, .room = room, .tasks = ret_tasks};
    cairn_code code = claim_take_steps_together(batch, &share, 1, reterr);
    *ret_count = share.count;
    return code;
}
