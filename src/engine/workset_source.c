/* engine/workset_source.c - what core asks of the workset.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "core/condition.h"
#include "definition/definition.h"
#include "engine/join.h"
#include "engine/workset.h"

#include <stdlib.h>
#include <string.h>

enum { PORTION = 256 };

static struct workset_instance *to_workset(struct flow *flow)
{
    return (struct workset_instance *)flow;
}

/* ---- events --------------------------------------------------------------------------------- */

/* A step that was given back since its handler is missing: one event tells its new status, and is
 * the louder one only now and then.  A compensation keeps its status: that needs no telling. */
static const char *event_of_missing(struct batch *batch, const struct flow_step *step)
{
    if (batch_may_tell_missing(batch, step->row.task_type))
        return "step_skipped_missing_handler";
    return step->row.status == STEP_COMPENSATION ? NULL : "step_ready";
}

static cairn_code source_note(struct flow *flow, const char *type, const struct flow_step *step,
                              const struct flow_facts *facts, cairn_error *reterr)
{
    struct workset_instance *instance = to_workset(flow);
    struct batch *batch = instance->batch;
    if (strcmp(type, "step_skipped_missing_handler") == 0)
        type = event_of_missing(batch, step);
    if (!type)
        return CAIRN_OK;
    struct flow_facts told = *facts;
    if (!told.status)
        told.status = step ? step_status_name(step->row.status)
                           : instance_status_name(instance->row.status);
    struct event_list *list = instance->is_adopted ? &batch->events : &instance->events;
    return batch_add_event(batch, list, instance->row.id, type, step ? step->row.name : NULL,
                           &told, reterr);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static cairn_code source_step(struct flow *flow, int32_t seq, struct flow_step **ret_step,
                              cairn_error *reterr)
{
    return workset_step(to_workset(flow), seq, ret_step, reterr);
}

static cairn_code source_config(struct flow *flow, struct flow_step *step, cairn_error *reterr)
{
    if (step->config)
        return CAIRN_OK;
    struct step_config *config = arena_zalloc(flow->arena, sizeof *config);
    if (!config)
        return fail_memory(reterr);
    TRY(step_config_read(flow->arena, step->row.config, config, reterr));
    step->config = config;
    return CAIRN_OK;
}

/* The steps that a question found. */
struct found {
    struct flow_step **steps;
    size_t count, room;
};

static cairn_code add_found(struct workset_instance *instance, struct found *found,
                            const struct step_row *rows, size_t count, cairn_error *reterr)
{
    struct flow_step **steps = arena_grow(&instance->batch->arena, found->steps, found->count,
                                          count, &found->room, sizeof *steps);
    if (!steps)
        return fail_memory(reterr);
    found->steps = steps;
    for (size_t i = 0; i < count; i++) {
        struct flow_step *step = workset_keep(instance, &rows[i]);
        if (!step)
            return fail_memory(reterr);
        if (!step->is_gone)
            steps[found->count++] = step;
    }
    return CAIRN_OK;
}

/* Which steps are wanted. */
struct wanted {
    enum { WANT_CURRENT, WANT_BETWEEN, WANT_COMMITTED } kind;
    enum step_status status; /* between: NONE: any */
    int32_t from, to;        /* between, committed: places */
    int64_t below;           /* committed: commit numbers */
};

static bool is_wanted(const struct step_row *row, const struct wanted *wanted)
{
    bool is_inside = row->seq >= wanted->from && row->seq <= wanted->to;
    switch (wanted->kind) {
    case WANT_CURRENT:
        return step_is_current(row->status) || row->locked_by || row->is_held;
    case WANT_BETWEEN:
        return is_inside && (!wanted->status || row->status == wanted->status);
    default:
        return is_inside && row->commit_no && row->commit_no < wanted->below;
    }
}

/* Of an instance that is not in the store yet, in order of place. */
static cairn_code find_new(struct workset_instance *instance, const struct wanted *wanted,
                           struct found *found, cairn_error *reterr)
{
    found->steps =
        arena_array(&instance->batch->arena, instance->step_count, sizeof *found->steps);
    if (!found->steps)
        return fail_memory(reterr);
    for (size_t seq = 0; seq < instance->step_count; seq++) {
        struct flow_step *step;
        TRY(workset_step(instance, (int32_t)seq, &step, reterr));
        if (is_wanted(&step->row, wanted))
            found->steps[found->count++] = step;
    }
    return CAIRN_OK;
}

/* Asks the store for a portion, from place `from` on. */
static cairn_code ask(struct workset_instance *instance, const struct wanted *wanted,
                      int32_t from, struct step_row *rows, size_t *ret_count,
                      cairn_error *reterr)
{
    const struct store_ops *ops = instance->batch->ops;
    struct store_tx *tx = instance->batch->tx;
    const char *id = instance->row.id;
    switch (wanted->kind) {
    case WANT_CURRENT:
        return ops->lock_current_steps(tx, id, from - 1, rows, PORTION, ret_count, reterr);
    case WANT_BETWEEN:
        return ops->lock_steps_between(tx, id, wanted->status, from, wanted->to, rows, PORTION,
                                       ret_count, reterr);
    default:
        return ops->lock_committed_steps(tx, id, wanted->below, from, wanted->to, rows, PORTION,
                                         ret_count, reterr);
    }
}

/* All of them; of committed ones a portion is enough. */
static cairn_code find_stored(struct workset_instance *instance, const struct wanted *wanted,
                              struct found *found, cairn_error *reterr)
{
    struct arena *arena = &instance->batch->arena;
    size_t count = PORTION;
    TRY(workset_flush(instance, reterr));
    for (int32_t from = wanted->from; count == PORTION && from <= wanted->to;) {
        struct step_row *rows = arena_array(arena, PORTION, sizeof *rows);
        if (!rows)
            return fail_memory(reterr);
        TRY(ask(instance, wanted, from, rows, &count, reterr));
        TRY(add_found(instance, found, rows, count, reterr));
        if (wanted->kind == WANT_COMMITTED)
            return CAIRN_OK;
        if (count)
            from = rows[count - 1].seq + 1;
    }
    return CAIRN_OK;
}

static cairn_code find_steps(struct flow *flow, const struct wanted *wanted,
                             struct flow_step ***ret_steps, size_t *ret_count,
                             cairn_error *reterr)
{
    struct workset_instance *instance = to_workset(flow);
    struct found found = {0};
    TRY(instance->is_new ? find_new(instance, wanted, &found, reterr)
                         : find_stored(instance, wanted, &found, reterr));
    *ret_steps = found.steps;
    *ret_count = found.count;
    return CAIRN_OK;
}

static cairn_code source_current(struct flow *flow, struct flow_step ***ret_steps,
                                 size_t *ret_count, cairn_error *reterr)
{
    struct wanted wanted = {.kind = WANT_CURRENT, .to = INT32_MAX};
    return find_steps(flow, &wanted, ret_steps, ret_count, reterr);
}

static cairn_code source_between(struct flow *flow, enum step_status status, int32_t from,
                                 int32_t to, struct flow_step ***ret_steps, size_t *ret_count,
                                 cairn_error *reterr)
{
    struct wanted wanted = {.kind = WANT_BETWEEN, .status = status, .from = from, .to = to};
    return find_steps(flow, &wanted, ret_steps, ret_count, reterr);
}

static int compare_committed(const void *a, const void *b)
{
    const struct flow_step *left = *(struct flow_step *const *)a;
    const struct flow_step *right = *(struct flow_step *const *)b;
    return (left->row.commit_no < right->row.commit_no) -
           (left->row.commit_no > right->row.commit_no);
}

static cairn_code source_committed(struct flow *flow, int64_t below, int32_t from, int32_t to,
                                   struct flow_step ***ret_steps, size_t *ret_count,
                                   cairn_error *reterr)
{
    struct wanted wanted = {.kind = WANT_COMMITTED, .below = below, .from = from, .to = to};
    TRY(find_steps(flow, &wanted, ret_steps, ret_count, reterr));
    if (*ret_count)
        qsort(*ret_steps, *ret_count, sizeof **ret_steps, compare_committed);
    return CAIRN_OK;
}

static cairn_code source_insert(struct flow *flow, const struct step_row *row,
                                struct flow_step **ret_step, cairn_error *reterr)
{
    *ret_step = workset_insert(to_workset(flow), row);
    return *ret_step ? CAIRN_OK : fail_memory(reterr);
}

static cairn_code source_forget(struct flow *flow, struct flow_step **steps, size_t count,
                                cairn_error *reterr)
{
    return workset_forget(to_workset(flow), steps, count, reterr);
}

/* ---- signals -------------------------------------------------------------------------------- */

static const char *signal_to_json(struct batch *batch, const struct signal_row *signal)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    json_key(&out, "id");
    json_str(&out, signal->id);
    json_key(&out, "event");
    json_str(&out, signal->event);
    json_key(&out, "payload");
    json_raw(&out, signal->payload);
    json_close(&out, '}');
    return buf_keep(&buf, &batch->arena);
}

static cairn_code source_take_signal(struct flow *flow, struct flow_step *step,
                                     const char *event, int64_t until_us,
                                     struct taken_signal *ret_signal, cairn_error *reterr)
{
    struct workset_instance *instance = to_workset(flow);
    struct batch *batch = instance->batch;
    struct signal_row signal;
    struct flow_facts facts = NO_FACTS;
    *ret_signal = (struct taken_signal){0};
    if (instance->is_new)
        return CAIRN_OK;
    cairn_code code =
        batch->ops->find_signal(batch->tx, instance->row.id, event, until_us, &signal, reterr);
    if (code)
        return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
    TRY(batch->ops->mark_signal(batch->tx, instance->row.id, signal.seq, step->row.seq,
                                reterr));
    *ret_signal = (struct taken_signal){
        .json = signal_to_json(batch, &signal), .id = signal.id, .payload = signal.payload};
    if (!ret_signal->json)
        return fail_memory(reterr);
    facts.event = event;
    facts.signal_id = signal.id;
    return source_note(flow, "signal_taken", step, &facts, reterr);
}

static cairn_code source_untake_signals(struct flow *flow, const struct flow_step *step,
                                        cairn_error *reterr)
{
    struct batch *batch = to_workset(flow)->batch;
    return batch->ops->mark_signal(batch->tx, flow->instance->id, 0, step ? step->row.seq : -1,
                                   reterr);
}

/* ---- failures ------------------------------------------------------------------------------- */

/* A record of an instance that is not in the store yet, and may turn out to be known already. */
static cairn_code park_later(struct workset_instance *instance, const struct dlq_row *row,
                             cairn_error *reterr)
{
    struct dlq_row *rows =
        arena_grow(&instance->batch->arena, instance->parked, instance->parked_count, 1,
                   &instance->parked_room, sizeof *rows);
    if (!rows)
        return fail_memory(reterr);
    rows[instance->parked_count++] = *row;
    instance->parked = rows;
    return CAIRN_OK;
}

static cairn_code source_park(struct flow *flow, const struct flow_step *step,
                              const char *reason, cairn_error *reterr)
{
    struct workset_instance *instance = to_workset(flow);
    struct batch *batch = instance->batch;
    struct dlq_row row = {
        .instance_id = flow->instance->id,
        .workflow = flow->instance->workflow,
        .version = flow->instance->version,
        .step_seq = step->row.seq,
        .step_name = step->row.name,
        .step_type = step_kind_name(step->row.kind),
        .input = step->row.input,
        .error = step->row.undo_error ? step->row.undo_error : step->row.error,
        .reason = reason,
        .created_at_us = batch->tx->now_us,
        .is_open = true,
    };
    return instance->is_new ? park_later(instance, &row, reterr)
                            : batch->ops->append_dlq(batch->tx, &row, 1, reterr);
}

static cairn_code source_unpark(struct flow *flow, int32_t seq, cairn_error *reterr)
{
    struct batch *batch = to_workset(flow)->batch;
    return batch->ops->close_dlq(batch->tx, flow->instance->id, seq, reterr);
}

static cairn_code source_has_parked(struct flow *flow, bool *ret_has, cairn_error *reterr)
{
    struct batch *batch = to_workset(flow)->batch;
    struct dlq_row row;
    size_t count = 0;
    cairn_code code =
        batch->ops->list_dlq(batch->tx, flow->instance->id, 0, &row, 1, &count, reterr);
    *ret_has = count > 0;
    return code;
}

/* {step, message, attempt, at} */
static cairn_code source_set_error(struct flow *flow, const char **error, const char *step_name,
                                   const char *message, int32_t attempt, cairn_error *reterr)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    json_key(&out, "step");
    json_str(&out, step_name);
    json_key(&out, "message");
    json_str(&out, message);
    json_key(&out, "attempt");
    json_int(&out, attempt);
    json_key(&out, "at");
    json_time(&out, flow->now_us);
    json_close(&out, '}');
    flow->is_dirty = true;
    *error = buf_keep(&buf, flow->arena);
    return *error ? CAIRN_OK : fail_memory(reterr);
}

static cairn_code source_clear_error(struct flow *flow, const char **error,
                                     const char *step_name, cairn_error *reterr)
{
    json_t *tree;
    if (!*error)
        return CAIRN_OK;
    TRY(json_read(*error, strlen(*error), "the latest error", &tree, reterr));
    const char *name = json_string_value(json_object_get(tree, "step"));
    if (name && strcmp(name, step_name) == 0) {
        *error = NULL;
        flow->is_dirty = true;
    }
    json_decref(tree);
    return CAIRN_OK;
}

/* ---- conditions and joins ------------------------------------------------------------------- */

static cairn_code source_evaluate(struct flow *flow, const struct flow_step *step,
                                  bool *ret_is_true, cairn_error *reterr)
{
    return condition_evaluate(step->config->when, step->row.input, flow->instance->id,
                              step->row.name, ret_is_true, reterr);
}

static cairn_code source_join_output(struct flow *flow, const struct flow_step *join,
                                     const char **ret_output, cairn_error *reterr)
{
    struct buf buf = {0};
    cairn_code code = join_output(flow, join, &buf, reterr);
    if (code) {
        buf_done(&buf);
        return code;
    }
    *ret_output = buf_keep(&buf, flow->arena);
    return *ret_output ? CAIRN_OK : fail_memory(reterr);
}

static void source_ready(struct flow *flow, const struct flow_step *step)
{
    bool is_function = step->row.kind == KIND_FUNCTION;
    batch_note_ready(to_workset(flow)->batch, step->row.task_type,
                     is_function ? flow->instance->version : 0);
}

const struct flow_source workset_source = {
    .step = source_step,
    .current = source_current,
    .between = source_between,
    .committed = source_committed,
    .config = source_config,
    .insert = source_insert,
    .forget = source_forget,
    .take_signal = source_take_signal,
    .untake_signals = source_untake_signals,
    .note = source_note,
    .park = source_park,
    .unpark = source_unpark,
    .has_parked = source_has_parked,
    .set_error = source_set_error,
    .clear_error = source_clear_error,
    .evaluate = source_evaluate,
    .join_output = source_join_output,
    .ready = source_ready,
};
