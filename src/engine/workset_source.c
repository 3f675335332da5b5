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

/* ---- JSON ----------------------------------------------------------------------------------- */

/* The buf's text in the batch's arena; NULL: memory ran out. */
static const char *keep_text(struct batch *batch, struct buf *buf)
{
    const char *text =
        buf_failed(buf) ? NULL : arena_strndup(&batch->arena, buf->text, buf->len);
    buf_done(buf);
    return text;
}

static void add_text(struct json_out *out, const char *key, const char *text)
{
    if (!text)
        return;
    json_key(out, key);
    json_str(out, text);
}

static const char *facts_to_json(struct batch *batch, const struct flow_facts *facts)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    add_text(&out, "step_name", facts->step_name);
    add_text(&out, "status", facts->status);
    if (facts->retry_count >= 0) {
        json_key(&out, "retry_count");
        json_int(&out, facts->retry_count);
    }
    add_text(&out, "error", facts->error);
    add_text(&out, "worker", facts->worker);
    add_text(&out, facts->decision ? "decided_by" : "requested_by", facts->by);
    add_text(&out, "decision", facts->decision);
    add_text(&out, "comment", facts->comment);
    add_text(&out, "reason", facts->reason);
    add_text(&out, "event", facts->event);
    add_text(&out, "signal", facts->signal_id);
    if (facts->run_at_us) {
        json_key(&out, "at");
        json_time(&out, facts->run_at_us);
    }
    json_close(&out, '}');
    return keep_text(batch, &buf);
}

/* ---- events --------------------------------------------------------------------------------- */

static bool append_event(struct batch *batch, struct flow_event_row **events, size_t *count,
                         size_t *room, const struct flow_event_row *event)
{
    if (*count == *room) {
        size_t more = *room ? *room * 2 : 8;
        struct flow_event_row *grown = arena_array(&batch->arena, more, sizeof *grown);
        if (!grown)
            return false;
        if (*count)
            memcpy(grown, *events, *count * sizeof *grown);
        *events = grown;
        *room = more;
    }
    (*events)[(*count)++] = *event;
    return true;
}

cairn_code workset_note(struct batch *batch, const char *instance_id, const char *type,
                        const char *step, const struct flow_facts *facts, cairn_error *reterr)
{
    struct flow_event_row event = {.instance_id = instance_id,
                                   .type = type,
                                   .step = step,
                                   .data = facts_to_json(batch, facts),
                                   .at_us = batch->tx->now_us};
    if (!event.data || !append_event(batch, &batch->flow_events, &batch->flow_event_count,
                                     &batch->flow_event_room, &event))
        return fail_memory(reterr);
    return CAIRN_OK;
}

/* Whether the trail is to tell that a handler is missing, for all committers of this engine. */
static bool is_worth_telling(struct batch *batch, const char *task_type)
{
    struct local_engine *engine = batch->engine;
    int64_t quiet_us = engine->base.options.missing_throttle_ms * US_PER_MS;
    uint32_t hash = 2166136261u;
    for (const char *at = task_type; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    int64_t *noted_us = &engine->missing_noted_us[hash % MISSING_NOTED];
    pthread_mutex_lock(&engine->lock);
    bool is_quiet = *noted_us && batch->tx->now_us - *noted_us < quiet_us;
    if (!is_quiet)
        *noted_us = batch->tx->now_us;
    pthread_mutex_unlock(&engine->lock);
    return !is_quiet;
}

/* A step that was given back since its handler is missing: one event tells its new status, and is
 * the louder one only now and then.  A compensation keeps its status: that needs no telling. */
static const char *event_of_missing(struct batch *batch, const struct flow_step *step)
{
    if (is_worth_telling(batch, step->row.task_type))
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
    struct flow_event_row event = {.instance_id = instance->row.id,
                                   .type = type,
                                   .step = step ? step->row.name : NULL,
                                   .data = facts_to_json(batch, &told),
                                   .at_us = batch->tx->now_us};
    if (!event.data || !append_event(batch, &instance->events, &instance->event_count,
                                     &instance->event_room, &event))
        return fail_memory(reterr);
    return CAIRN_OK;
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
    cairn_code code = step_config_read(flow->arena, step->row.config, config, reterr);
    if (!code)
        step->config = config;
    return code;
}

/* What a question found: rows, and their steps in the workset. */
struct found {
    struct flow_step **steps;
    size_t count, room;
};

static cairn_code add_found(struct workset_instance *instance, struct found *found,
                            const struct step_row *rows, size_t count, cairn_error *reterr)
{
    if (found->count + count > found->room) {
        size_t room = (found->count + count) * 2;
        struct flow_step **steps = arena_array(&instance->batch->arena, room, sizeof *steps);
        if (!steps)
            return fail_memory(reterr);
        if (found->count)
            memcpy(steps, found->steps, found->count * sizeof *steps);
        found->steps = steps;
        found->room = room;
    }
    for (size_t i = 0; i < count; i++) {
        struct flow_step *step = workset_keep(instance, &rows[i]);
        if (!step)
            return fail_memory(reterr);
        if (!step->is_gone)
            found->steps[found->count++] = step;
    }
    return CAIRN_OK;
}

/* All steps of an instance that is not in the store yet, in order of place. */
static cairn_code all_new(struct workset_instance *instance, struct found *found,
                          cairn_error *reterr)
{
    found->steps =
        arena_array(&instance->batch->arena, instance->step_count + 1, sizeof *found->steps);
    if (!found->steps)
        return fail_memory(reterr);
    cairn_code code = CAIRN_OK;
    for (size_t seq = 0; seq < instance->step_count && !code; seq++)
        code = workset_step(instance, (int32_t)seq, &found->steps[seq], reterr);
    found->count = instance->step_count;
    return code;
}

static void keep_those(struct found *found,
                       bool (*is_meant)(const struct step_row *, const void *), const void *arg)
{
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++)
        if (is_meant(&found->steps[i]->row, arg))
            found->steps[count++] = found->steps[i];
    found->count = count;
}

static bool is_current_row(const struct step_row *row, const void *arg)
{
    (void)arg;
    return step_is_current(row->status) || row->locked_by || row->is_held;
}

static cairn_code source_current(struct flow *flow, struct flow_step ***ret_steps,
                                 size_t *ret_count, cairn_error *reterr)
{
    struct workset_instance *instance = to_workset(flow);
    const struct store_ops *ops = instance->batch->ops;
    struct found found = {0};
    cairn_code code = CAIRN_OK;
    if (instance->is_new) {
        code = all_new(instance, &found, reterr);
        keep_those(&found, is_current_row, NULL);
    } else {
        code = workset_flush(instance, reterr);
        size_t count = PORTION;
        for (int32_t after = -1; !code && count == PORTION;) {
            struct step_row *rows = arena_array(flow->arena, PORTION, sizeof *rows);
            if (!rows)
                return fail_memory(reterr);
            code = ops->lock_current_steps(instance->batch->tx, instance->row.id, after, rows,
                                           PORTION, &count, reterr);
            if (!code)
                code = add_found(instance, &found, rows, count, reterr);
            if (!code && count)
                after = rows[count - 1].seq;
        }
    }
    *ret_steps = found.steps;
    *ret_count = found.count;
    return code;
}

struct between {
    enum step_status status;
    int32_t from, to;
};

static bool is_between(const struct step_row *row, const void *arg)
{
    const struct between *wanted = arg;
    return row->seq >= wanted->from && row->seq <= wanted->to &&
           (!wanted->status || row->status == wanted->status);
}

static cairn_code source_between(struct flow *flow, enum step_status status, int32_t from,
                                 int32_t to, struct flow_step ***ret_steps, size_t *ret_count,
                                 cairn_error *reterr)
{
    struct workset_instance *instance = to_workset(flow);
    const struct store_ops *ops = instance->batch->ops;
    struct found found = {0};
    cairn_code code = CAIRN_OK;
    if (instance->is_new) {
        struct between wanted = {status, from, to};
        code = all_new(instance, &found, reterr);
        keep_those(&found, is_between, &wanted);
    } else {
        code = workset_flush(instance, reterr);
        size_t count = PORTION;
        while (!code && count == PORTION && from <= to) {
            struct step_row *rows = arena_array(flow->arena, PORTION, sizeof *rows);
            if (!rows)
                return fail_memory(reterr);
            code = ops->lock_steps_between(instance->batch->tx, instance->row.id, status, from,
                                           to, rows, PORTION, &count, reterr);
            if (!code)
                code = add_found(instance, &found, rows, count, reterr);
            if (!code && count)
                from = rows[count - 1].seq + 1;
        }
    }
    *ret_steps = found.steps;
    *ret_count = found.count;
    return code;
}

static int compare_committed(const void *a, const void *b)
{
    const struct flow_step *left = *(struct flow_step *const *)a;
    const struct flow_step *right = *(struct flow_step *const *)b;
    return (left->row.commit_no < right->row.commit_no) -
           (left->row.commit_no > right->row.commit_no);
}

/* A new instance has only executed what needs no worker: all of it in one portion. */
static cairn_code committed_new(struct workset_instance *instance, int64_t below, int32_t from,
                                int32_t to, struct found *found, cairn_error *reterr)
{
    size_t count = 0;
    cairn_code code = all_new(instance, found, reterr);
    if (code)
        return code;
    for (size_t i = 0; i < found->count; i++) {
        const struct step_row *row = &found->steps[i]->row;
        if (row->commit_no && row->commit_no < below && row->seq >= from && row->seq <= to)
            found->steps[count++] = found->steps[i];
    }
    found->count = count;
    qsort(found->steps, count, sizeof *found->steps, compare_committed);
    return CAIRN_OK;
}

static cairn_code source_committed(struct flow *flow, int64_t below, int32_t from, int32_t to,
                                   struct flow_step ***ret_steps, size_t *ret_count,
                                   cairn_error *reterr)
{
    struct workset_instance *instance = to_workset(flow);
    struct found found = {0};
    size_t count = 0;
    cairn_code code;
    if (instance->is_new) {
        code = committed_new(instance, below, from, to, &found, reterr);
    } else {
        struct step_row *rows = arena_array(flow->arena, PORTION, sizeof *rows);
        if (!rows)
            return fail_memory(reterr);
        code = workset_flush(instance, reterr);
        if (!code)
            code = instance->batch->ops->lock_committed_steps(instance->batch->tx,
                                                              instance->row.id, below, from, to,
                                                              rows, PORTION, &count, reterr);
        if (!code)
            code = add_found(instance, &found, rows, count, reterr);
    }
    *ret_steps = found.steps;
    *ret_count = found.count;
    return code;
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
    return keep_text(batch, &buf);
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
    code =
        batch->ops->mark_signal(batch->tx, instance->row.id, signal.seq, step->row.seq, reterr);
    if (code)
        return code;
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
    size_t room = instance->parked_count + 1;
    struct dlq_row *rows = arena_array(&instance->batch->arena, room, sizeof *rows);
    if (!rows)
        return fail_memory(reterr);
    if (instance->parked_count)
        memcpy(rows, instance->parked, instance->parked_count * sizeof *rows);
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

/* {step, message, attempt, at}; NULL: memory ran out. */
static const char *failure_to_json(struct flow *flow, const char *step_name,
                                   const char *message, int32_t attempt)
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
    return keep_text(to_workset(flow)->batch, &buf);
}

static cairn_code source_set_last_error(struct flow *flow, const char *step_name,
                                        const char *message, int32_t attempt,
                                        cairn_error *reterr)
{
    flow->is_dirty = true;
    flow->instance->last_error = failure_to_json(flow, step_name, message, attempt);
    return flow->instance->last_error ? CAIRN_OK : fail_memory(reterr);
}

static cairn_code source_set_undo_error(struct flow *flow, const char *step_name,
                                        const char *message, int32_t attempt,
                                        cairn_error *reterr)
{
    flow->is_dirty = true;
    flow->instance->undo_error = failure_to_json(flow, step_name, message, attempt);
    return flow->instance->undo_error ? CAIRN_OK : fail_memory(reterr);
}

/* Forgets an error, if it is that of the step. */
static cairn_code clear_error(struct flow *flow, const char **error, const char *step_name,
                              cairn_error *reterr)
{
    json_t *tree;
    if (!*error)
        return CAIRN_OK;
    cairn_code code = json_read(*error, strlen(*error), "the latest error", &tree, reterr);
    if (code)
        return code;
    const char *name = json_string_value(json_object_get(tree, "step"));
    if (name && strcmp(name, step_name) == 0) {
        *error = NULL;
        flow->is_dirty = true;
    }
    json_decref(tree);
    return CAIRN_OK;
}

static cairn_code source_clear_last_error(struct flow *flow, const char *step_name,
                                          cairn_error *reterr)
{
    return clear_error(flow, &flow->instance->last_error, step_name, reterr);
}

static cairn_code source_clear_undo_error(struct flow *flow, const char *step_name,
                                          cairn_error *reterr)
{
    return clear_error(flow, &flow->instance->undo_error, step_name, reterr);
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
    *ret_output = keep_text(to_workset(flow)->batch, &buf);
    return *ret_output ? CAIRN_OK : fail_memory(reterr);
}

static void source_ready(struct flow *flow, const struct flow_step *step)
{
    bool is_function = step->row.kind == KIND_FUNCTION;
    batch_note_ready_version(to_workset(flow)->batch, step->row.task_type,
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
    .set_last_error = source_set_last_error,
    .set_undo_error = source_set_undo_error,
    .clear_last_error = source_clear_last_error,
    .clear_undo_error = source_clear_undo_error,
    .evaluate = source_evaluate,
    .join_output = source_join_output,
    .ready = source_ready,
};
