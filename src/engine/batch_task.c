/* engine/batch_task.c - tasks for claims: rows that are leased, as workers see them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json.h"
#include "base/scan.h"
#include "core/claim_order.h"
#include "core/counter.h"
#include "core/effect.h"
#include "core/rows.h"
#include "definition/definition.h"
#include "engine/limit.h"
#include "engine/workset.h"

#include <string.h>

/* Room for one more task of a share; NULL: memory ran out. */
static cairn_task *add_task(struct claim_group *group, struct claim_share *share,
                            enum claim_kind kind)
{
    cairn_task *task = list_add(&share->request->arena, &share->of[kind]);
    group->taken[kind] += task != NULL;
    return task;
}

/* A claim is told how long the longest value is, before it asks for many. */
static void note_bytes(struct batch *batch, struct claim_group *group, const cairn_task *task)
{
    struct local_engine *engine = batch->engine;
    size_t bytes = (task->input ? strlen(task->input) : 0) +
                   (task->metadata ? strlen(task->metadata) : 0) +
                   (task->signal ? strlen(task->signal) : 0);
    group->bytes += bytes;
    if (bytes > atomic_load_explicit(&engine->value_largest, memory_order_relaxed))
        atomic_store(&engine->value_largest, bytes);
}

static size_t share_room(const struct claim_share *share)
{
    return share->room - share->of[CLAIM_JOBS].count - share->of[CLAIM_STEPS].count;
}

/* A holder for each row that there is room for. */
static cairn_code make_holders(struct batch *batch, const struct claim_group *group,
                               const struct claim_holder **ret_holders)
{
    size_t at = 0;
    struct claim_holder *holders = arena_array(&batch->arena, group->room, sizeof *holders);
    NEED(holders, batch->error);
    for (size_t i = 0; i < group->count; i++)
        for (size_t k = share_room(&group->shares[i]); k > 0; k--)
            holders[at++] = (struct claim_holder){
                .worker = request_claim(group->shares[i].request)->worker,
                .token = group->shares[i].request->token,
            };
    *ret_holders = holders;
    return CAIRN_OK;
}

static int64_t lease_end(const struct batch *batch, const cairn_claim_options *claim)
{
    return instant_add(batch->tx->now_us, claim->lease_ms * US_PER_MS);
}

static cairn_code to_store_claim(struct batch *batch, const struct claim_group *group,
                                 struct job_claim *ret_claim)
{
    const struct request *request = group->shares->request;
    const cairn_claim_options *claim = request_claim(request);
    *ret_claim = (struct job_claim){
        .worker = claim->worker,
        .token = request->token,
        .patterns = claim->types,
        .pattern_count = claim->type_count,
        .runtime = claim->runtime,
        .lease_until_us = lease_end(batch, claim),
        .is_final = request->demand->is_final,
    };
    return group->count > 1 ? make_holders(batch, group, &ret_claim->holders) : CAIRN_OK;
}

/* Rows come in the order of the holders, nearly always: so the search goes on where it ended.  NULL:
 * the row is leased to none of them. */
static struct claim_share *find_share(const struct claim_group *group, size_t *at,
                                      const char *token)
{
    for (size_t i = 0; i < group->count; i++, *at = (*at + 1) % group->count) {
        struct claim_share *share = &group->shares[*at];
        if (share_room(share) && strcmp(share->request->token, token) == 0)
            return share;
    }
    return NULL;
}

/* ---- jobs ----------------------------------------------------------------------------------- */

static cairn_code note_job(struct batch *batch, const char *worker, const struct job_row *row)
{
    struct job_facts facts = {.worker = worker, .attempt = counter_after(row->attempt)};
    batch_note_due(batch, row->lease_until_us + 1);
    batch->tally.claimed++;
    TRY(figures_note_job_claimed(batch, row));
    batch_used_events(batch, row->last_event);
    /* A claimed task starts at once, so both are written here (docs/decisions/0005). */
    TRY(batch_tell_job_event(batch, row, EVENT_LEASED, &facts, row->last_event - 1,
                             row->prev_event, row->event_count - 1));
    return batch_tell_job_event(batch, row, EVENT_STARTED, &facts, row->last_event,
                                row->last_event - 1, row->event_count);
}

/* is_laned: set if there are types that have lanes. */
static cairn_code lease_jobs(struct batch *batch, const struct claim_group *group,
                             struct job_row *rows, size_t room, size_t *ret_count,
                             bool *is_laned)
{
    const struct request *request = group->shares->request;
    struct job_claim claim;
    TRY(to_store_claim(batch, group, &claim));
    if (request->was_unsure)
        return STORE(batch, find_claimed, claim.worker, claim.token, rows, room, ret_count);
    claim.events_each = EVENTS_OF_CLAIM;
    claim.is_laned = is_laned;
    TRY(batch_take_open_events(batch, room * EVENTS_OF_CLAIM, &claim.event_id));
    return STORE(batch, claim_jobs, &claim, rows, room, ret_count);
}

static cairn_code give_job(struct batch *batch, struct claim_group *group,
                           struct claim_share *share, struct job_row *row)
{
    struct request *request = share->request;
    if (group->count > 1 && !row_keep_texts(&job_row_type, row, &request->arena))
        return fail_memory(batch->error);
    cairn_task *task = add_task(group, share, CLAIM_JOBS);
    NEED(task, batch->error);
    *task = (cairn_task){
        .id = row->id,
        .token = request->token,
        .kind = task_kind_name(TASK_JOB),
        .kind_code = CAIRN_TASK_JOB,
        .type = row->type,
        .input = row->payload,
        .key = row->key,
        .attempt = counter_after(row->attempt),
        .max_attempts = row->max_attempts,
        .lease_until_us = row->lease_until_us,
        .metadata = row->metadata,
        .deadline_us = row->timeout_ms ? row->call_until_us : 0,
    };
    note_bytes(batch, group, task);
    return request->was_unsure ? CAIRN_OK
                               : note_job(batch, request_claim(request)->worker, row);
}

/* Of the rows just leased, those with a timeout are written once more, with the end of the call.  The others
 * cost nothing here. */
static cairn_code limit_calls(struct batch *batch, struct job_row *rows, size_t count)
{
    size_t limited_count = 0;
    struct job_row *limited = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!job_claimed(&rows[i], batch->tx->now_us))
            continue;
        if (!limited)
            limited = arena_array(&batch->arena, count - i, sizeof *limited);
        NEED(limited, batch->error);
        limited[limited_count++] = rows[i];
    }
    return limited_count ? STORE(batch, update_jobs, limited, limited_count) : CAIRN_OK;
}

/* Where the texts of rows go that are leased: if there is one claim, nothing needs to be copied. */
static struct arena *swap_arena(struct batch *batch, const struct claim_group *group)
{
    struct arena *arena = batch->tx->arena;
    if (group->count == 1)
        batch->tx->arena = &group->shares->request->arena;
    return arena;
}

static cairn_code give_jobs(struct batch *batch, struct claim_group *group,
                            struct job_row *rows, size_t count)
{
    size_t at = 0;
    if (!group->shares->request->was_unsure)
        TRY(limit_calls(batch, rows, count));
    for (size_t i = 0; i < count; i++) {
        struct claim_share *share = find_share(group, &at, rows[i].token);
        if (!share)
            return fail(batch->error, CAIRN_E_INTERNAL, "a job was leased to no claim");
        TRY(give_job(batch, group, share, &rows[i]));
    }
    return CAIRN_OK;
}

static cairn_code take_plain_jobs(struct batch *batch, struct claim_group *group, size_t room,
                                  bool *is_laned)
{
    size_t count = 0;
    struct job_row *rows = arena_room(&batch->arena, room, sizeof *rows);
    NEED(rows, batch->error);
    struct arena *arena = swap_arena(batch, group);
    cairn_code code = lease_jobs(batch, group, rows, room, &count, is_laned);
    batch->tx->arena = arena;
    return code ? code : give_jobs(batch, group, rows, count);
}

cairn_code claim_lease_job_lanes(struct batch *batch, struct claim_group *group,
                                 const struct lane *lanes, size_t lane_count,
                                 struct job_row *rows, size_t room, size_t *ret_count)
{
    struct job_claim claim;
    TRY(to_store_claim(batch, group, &claim));
    claim.events_each = EVENTS_OF_CLAIM;
    TRY(batch_take_open_events(batch, room * EVENTS_OF_CLAIM, &claim.event_id));
    struct arena *arena = swap_arena(batch, group);
    cairn_code code =
        STORE(batch, claim_job_lanes, &claim, lanes, lane_count, rows, room, ret_count);
    batch->tx->arena = arena;
    return code ? code : give_jobs(batch, group, rows, *ret_count);
}

/* Types with lanes and others share the room, and what one part leaves goes to the other. */
cairn_code claim_take_jobs(struct batch *batch, struct claim_group *group, size_t room)
{
    const struct request *first = group->shares->request;
    size_t end = group->taken[CLAIM_JOBS] + room;
    bool is_laned = false;
    if (first->was_unsure)
        return take_plain_jobs(batch, group, room, NULL);
    size_t part = lanes_part(batch, first->demand, CLAIM_JOBS, room);
    TRY(claim_take_lanes(batch, group, CLAIM_JOBS, part));
    if (group->taken[CLAIM_JOBS] == end)
        return CAIRN_OK;
    size_t before = group->taken[CLAIM_JOBS];
    TRY(take_plain_jobs(batch, group, end - before, &is_laned));
    lanes_seen(batch, first->demand, CLAIM_JOBS, is_laned, group->taken[CLAIM_JOBS] > before);
    if (is_laned && batch->is_sending) /* lanes are asked for after what was sent is answered */
        return batch_spoil(batch);
    return is_laned ? claim_take_lanes(batch, group, CLAIM_JOBS, end - group->taken[CLAIM_JOBS])
                    : CAIRN_OK;
}

/* ---- steps: the question -------------------------------------------------------------------- */

/* The functions that a claim names, as a store takes them. */
static cairn_code join_functions(struct batch *batch, const cairn_claim_options *claim,
                                 struct step_claim *wanted)
{
    struct function_range *ranges =
        arena_array(&batch->arena, claim->function_count, sizeof *ranges);
    NEED(ranges, batch->error);
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

cairn_code claim_want_steps(struct batch *batch, const struct claim_group *group,
                            struct step_claim *ret_wanted)
{
    const cairn_claim_options *claim = request_claim(group->shares->request);
    *ret_wanted = (struct step_claim){.aging_rate = batch->engine->base.options.aging_rate};
    TRY(to_store_claim(batch, group, &ret_wanted->base));
    return claim->function_count ? join_functions(batch, claim, ret_wanted) : CAIRN_OK;
}

static cairn_code lease_steps(struct batch *batch, const struct claim_group *group,
                              struct steps_in_hand *in_hand, struct step_row *rows, size_t room,
                              size_t *ret_count)
{
    const struct request *request = group->shares->request;
    struct step_claim wanted;
    if (request->was_unsure)
        return STORE(batch, find_claimed_steps, request_claim(request)->worker, request->token,
                     rows, room, ret_count);
    TRY(claim_want_steps(batch, group, &wanted));
    wanted.in_hand = in_hand;
    wanted.base.is_laned = &request->demand->has_step_lanes;
    return STORE(batch, claim_steps, &wanted, rows, room, ret_count);
}

/* ---- steps: the answer ---------------------------------------------------------------------- */

/* A compensation is given the step's input and output. */
static const char *undo_input(struct arena *arena, const struct step_row *row)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    json_raw(json_key(&out, "input"), row->input);
    json_raw(json_key(&out, "output"), row->output);
    json_close(&out, '}');
    return buf_keep(&buf, arena);
}

/* The members of an object, but for those that another one has. */
static bool write_members(struct json_out *out, struct arena *arena, struct slice from,
                          struct slice but)
{
    struct slice key, value;
    struct scan members;
    bool is_good = scan_object(from, &members);
    while (is_good && scan_member(&members, &key, &value)) {
        const char *name = slice_string((struct slice){key.text - 1, key.len + 2}, arena);
        const char *json = slice_json(value, arena);
        is_good = name && json;
        if (is_good && !scan_find(but, name).text) {
            json_key(out, name);
            json_raw(out, json);
        }
    }
    return is_good;
}

/* An object with the members of another over it; either may be NULL. */
static bool lay_over(struct arena *arena, const char *base, const char *over, const char **ret)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    struct slice below, above;
    *ret = base ? base : over;
    if (!base || !over)
        return true;
    json_open(&out, '{');
    bool is_good = scan_text(base, strlen(base), &below) &&
                   scan_text(over, strlen(over), &above) &&
                   write_members(&out, arena, below, above) &&
                   write_members(&out, arena, above, (struct slice){0});
    json_close(&out, '}');
    *ret = buf_keep(&buf, arena);
    return is_good && *ret;
}

static cairn_code fill_task(struct batch *batch, struct request *request,
                            const struct flow_step *step, cairn_task *ret_task)
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
        .attempt = counter_after(is_undo ? row->compensation_attempts : row->attempts),
        .max_attempts = is_undo ? step->config->compensation.max_attempts : row->max_attempts,
        .lease_until_us = row->locked_until_us,
        .instance_id = row->instance_id,
        .step = row->name,
        .reason = row->is_timed_out && !is_undo ? "WAITING_TIMEOUT" : NULL,
        .signal = is_undo ? NULL : row->signal,
        .deadline_us = row->call_until_us,
    };
    bool is_laid = lay_over(arena, row->instance_metadata,
                            is_undo ? step->config->compensation.metadata : row->metadata,
                            &ret_task->metadata);
    return is_laid && ret_task->id && ret_task->input && ret_task->key
               ? CAIRN_OK
               : fail_memory(batch->error);
}

/* A step that a claim is given: its limit, its event, its timer. */
static cairn_code note_step(struct batch *batch, const char *worker, struct flow_step *step)
{
    struct step_row *row = &step->row;
    struct flow_facts facts = NO_FACTS;
    bool is_undo = row->status == STEP_COMPENSATION;
    TRY(figures_note_step_claimed(batch, row));
    flow_claimed(step, batch->tx->now_us);
    batch_note_due(batch, row->due_at_us);
    batch->tally.claimed++;
    batch->tally.passages += row->kind == KIND_FUNCTION;
    facts.status = step_status_name(row->status);
    facts.has_retry_count = true;
    facts.retry_count = is_undo ? row->compensation_attempts : row->attempts;
    facts.worker = worker;
    struct workset_instance *instance = workset_find(batch, row->instance_id);
    return batch_add_event(batch, instance && !instance->is_busy ? instance : NULL,
                           row->instance_id, "step_started", row->name, &facts);
}

/* The task of a leased step, whose texts are the request's; `row` lives as long as the batch. */
static cairn_code give_task(struct batch *batch, struct claim_group *group,
                            struct claim_share *share, const struct flow_step *step,
                            const struct step_row *row)
{
    struct request *request = share->request;
    cairn_task *task = add_task(group, share, CLAIM_STEPS);
    NEED(task, batch->error);
    TRY(fill_task(batch, request, step, task));
    note_bytes(batch, group, task);
    if (row->kind == KIND_FUNCTION)
        TRY(batch_add_passage(batch, request, row, &task->memory));
    return CAIRN_OK;
}

static cairn_code give_leased(struct batch *batch, struct claim_group *group,
                              struct claim_share *share, struct step_row *row)
{
    struct request *request = share->request;
    struct step_config config;
    if (group->count > 1 && !row_keep_texts(&step_row_type, row, &request->arena))
        return fail_memory(batch->error);
    TRY(step_config_read(&request->arena, row->config, &config, batch->error));
    struct flow_step step = {.row = *row, .config = &config};
    if (!request->was_unsure) {
        TRY(note_step(batch, request_claim(request)->worker, &step));
        TRY(workset_put_claimed(batch, &step));
    }
    *row = step.row;
    return give_task(batch, group, share, &step, row);
}

cairn_code claim_lease_steps(struct batch *batch, const struct claim_group *group,
                             struct steps_in_hand *in_hand, struct step_row *rows, size_t room,
                             size_t *ret_count)
{
    struct arena *arena = swap_arena(batch, group);
    cairn_code code = lease_steps(batch, group, in_hand, rows, room, ret_count);
    batch->tx->arena = arena;
    return code;
}

cairn_code claim_lease_step_lanes(struct batch *batch, struct claim_group *group,
                                  const struct step_claim *wanted, const struct lane *lanes,
                                  size_t lane_count, struct step_row *rows, size_t room,
                                  size_t *ret_count)
{
    struct arena *arena = swap_arena(batch, group);
    cairn_code code =
        STORE(batch, claim_step_lanes, wanted, lanes, lane_count, rows, room, ret_count);
    batch->tx->arena = arena;
    return code ? code : claim_give_leased(batch, group, rows, *ret_count);
}

cairn_code claim_give_leased(struct batch *batch, struct claim_group *group,
                             struct step_row *rows, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        struct claim_share *share = find_share(group, &at, rows[i].token);
        if (!share)
            return fail(batch->error, CAIRN_E_INTERNAL, "a step was leased to no claim");
        TRY(give_leased(batch, group, share, &rows[i]));
    }
    return CAIRN_OK;
}

cairn_code claim_give_in_hand(struct batch *batch, struct claim_group *group,
                              struct step_in_hand *in_hand)
{
    struct flow_step *step = in_hand->step;
    struct claim_share *share = group->shares;
    while (!share_room(share))
        share++;
    struct request *request = share->request;
    const cairn_claim_options *claim = request_claim(request);
    struct step_config config;
    TRY(step_config_read(&request->arena, step->row.config, &config, batch->error));
    struct flow_step given = {.row = step->row, .config = &config};
    step_lease(&given.row, claim->worker, request->token, lease_end(batch, claim),
               batch->tx->now_us);
    TRY(note_step(batch, claim->worker, &given));
    step->row = given.row;
    step->is_dirty = in_hand->is_given = true;
    if (!row_keep_texts(&step_row_type, &given.row, &request->arena))
        return fail_memory(batch->error);
    return give_task(batch, group, share, &given, &step->row);
}
