/* engine/workset_source.c - what core asks of the workset.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json.h"
#include "definition/definition.h"
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
                              const struct flow_facts *facts)
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
    return batch_add_event(batch, instance, instance->row.id, type,
                           step ? step->row.name : NULL, &told);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static cairn_code source_step(struct flow *flow, int32_t seq, struct flow_step **ret_step)
{
    return workset_step(to_workset(flow), seq, ret_step);
}

static cairn_code source_read_ahead(struct flow *flow, const int32_t *places, size_t count)
{
    struct batch *batch = to_workset(flow)->batch;
    struct step_ref *refs = arena_array(&batch->arena, count, sizeof *refs);
    NEED(refs, flow->error);
    for (size_t i = 0; i < count; i++)
        refs[i] = (struct step_ref){flow->instance->id, places[i]};
    return workset_prefetch(batch, refs, count);
}

static cairn_code source_config(struct flow *flow, struct flow_step *step)
{
    if (step->config)
        return CAIRN_OK;
    struct step_config *config = arena_zalloc(flow->arena, sizeof *config);
    NEED(config, flow->error);
    TRY(step_config_read(flow->arena, step->row.config, config, flow->error));
    step->config = config;
    return CAIRN_OK;
}

/* Those of an instance that is not in the store yet are not there, either. */
static cairn_code source_children(struct flow *flow, const struct flow_step *step,
                                  struct step_children **ret_children)
{
    struct workset_instance *instance = to_workset(flow);
    struct batch *batch = instance->batch;
    for (size_t i = 0; i < instance->children.count; i++) {
        *ret_children = instance->children.items[i];
        if ((*ret_children)->row.seq == step->row.seq)
            return CAIRN_OK;
    }
    struct step_children *children = arena_zalloc(&batch->arena, sizeof *children);
    struct step_children **added = list_add(&batch->arena, &instance->children);
    NEED(children && added, flow->error);
    cairn_code code = instance->is_new ? CAIRN_E_NOT_FOUND
                                       : STORE(batch, get_step_children, instance->row.id,
                                               step->row.seq, &children->row);
    if (code && code != CAIRN_E_NOT_FOUND) {
        instance->children.count--;
        return code;
    }
    children->row.instance_id = instance->row.id;
    children->row.seq = step->row.seq;
    *ret_children = *added = children;
    return CAIRN_OK;
}

static cairn_code add_found(struct workset_instance *instance, struct step_list *found,
                            const struct step_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct flow_step *step = workset_keep(instance, &rows[i]);
        NEED(step, instance->batch->error);
        instance->batch->has_seen_lease |= rows[i].locked_by != NULL;
        if (step->is_gone)
            continue;
        struct flow_step **added = list_add(&instance->batch->arena, found);
        NEED(added, instance->batch->error);
        *added = step;
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
                           struct step_list *found)
{
    found->items =
        arena_array(&instance->batch->arena, instance->step_count, sizeof *found->items);
    NEED(found->items, instance->batch->error);
    for (size_t seq = 0; seq < instance->step_count; seq++) {
        struct flow_step *step;
        TRY(workset_step(instance, (int32_t)seq, &step));
        if (is_wanted(&step->row, wanted))
            found->items[found->count++] = step;
    }
    return CAIRN_OK;
}

/* A portion of the rows in the store, from place `from` on. */
static cairn_code lock_portion(struct workset_instance *instance, const struct wanted *wanted,
                               int32_t from, struct step_row *rows, size_t *ret_count)
{
    const struct store_ops *ops = instance->batch->ops;
    struct store_tx *tx = instance->batch->tx;
    const char *id = instance->row.id;
    switch (wanted->kind) {
    case WANT_CURRENT:
        return ops->lock_current_steps(tx, id, from - 1, rows, PORTION, ret_count,
                                       instance->batch->error);
    case WANT_BETWEEN:
        return ops->lock_steps_between(tx, id, wanted->status, from, wanted->to, rows, PORTION,
                                       ret_count, instance->batch->error);
    default:
        return ops->lock_committed_steps(tx, id, wanted->below, from, wanted->to, rows, PORTION,
                                         ret_count, instance->batch->error);
    }
}

/* All of them; of committed ones a portion is enough. */
static cairn_code find_stored(struct workset_instance *instance, const struct wanted *wanted,
                              struct step_list *found)
{
    struct arena *arena = &instance->batch->arena;
    size_t count = PORTION;
    TRY(workset_flush(instance));
    for (int32_t from = wanted->from; count == PORTION && from <= wanted->to;) {
        struct step_row *rows = arena_room(arena, PORTION, sizeof *rows);
        NEED(rows, instance->batch->error);
        TRY(lock_portion(instance, wanted, from, rows, &count));
        TRY(add_found(instance, found, rows, count));
        if (wanted->kind == WANT_COMMITTED)
            return CAIRN_OK;
        if (count)
            from = rows[count - 1].seq + 1;
    }
    return CAIRN_OK;
}

static cairn_code find_steps(struct flow *flow, const struct wanted *wanted,
                             struct step_list *ret_steps)
{
    struct workset_instance *instance = to_workset(flow);
    *ret_steps = (struct step_list){0};
    return instance->is_new ? find_new(instance, wanted, ret_steps)
                            : find_stored(instance, wanted, ret_steps);
}

static cairn_code source_current(struct flow *flow, struct step_list *ret_steps)
{
    struct wanted wanted = {.kind = WANT_CURRENT, .to = INT32_MAX};
    return find_steps(flow, &wanted, ret_steps);
}

static cairn_code source_between(struct flow *flow, enum step_status status, int32_t from,
                                 int32_t to, struct step_list *ret_steps)
{
    struct wanted wanted = {.kind = WANT_BETWEEN, .status = status, .from = from, .to = to};
    return find_steps(flow, &wanted, ret_steps);
}

static int compare_committed(const void *a, const void *b)
{
    const struct flow_step *left = *(struct flow_step *const *)a;
    const struct flow_step *right = *(struct flow_step *const *)b;
    return (left->row.commit_no < right->row.commit_no) -
           (left->row.commit_no > right->row.commit_no);
}

static cairn_code source_committed(struct flow *flow, int64_t below, int32_t from, int32_t to,
                                   struct step_list *ret_steps)
{
    struct wanted wanted = {.kind = WANT_COMMITTED, .below = below, .from = from, .to = to};
    TRY(find_steps(flow, &wanted, ret_steps));
    if (ret_steps->count)
        qsort(ret_steps->items, ret_steps->count, sizeof *ret_steps->items, compare_committed);
    return CAIRN_OK;
}

static cairn_code source_insert(struct flow *flow, const struct step_row *row,
                                struct flow_step **ret_step)
{
    *ret_step = workset_keep(to_workset(flow), row);
    NEED(*ret_step, flow->error);
    **ret_step = (struct flow_step){.row = *row, .is_dirty = true, .is_new = true};
    return CAIRN_OK;
}

static cairn_code source_forget(struct flow *flow, struct flow_step **steps, size_t count)
{
    struct batch *batch = to_workset(flow)->batch;
    size_t written = 0;
    struct step_ref *refs = arena_array(&batch->arena, count, sizeof *refs);
    NEED(refs, flow->error);
    for (size_t i = 0; i < count; i++) {
        if (!steps[i]->is_new)
            refs[written++] = (struct step_ref){flow->instance->id, steps[i]->row.seq};
        steps[i]->is_gone = true;
    }
    return written ? STORE(batch, delete_steps, refs, written) : CAIRN_OK;
}

/* ---- signals -------------------------------------------------------------------------------- */

static const char *signal_to_json(struct batch *batch, const struct signal_row *signal)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    json_str(json_key(&out, "id"), signal->id);
    json_str(json_key(&out, "event"), signal->event);
    json_raw(json_key(&out, "payload"), signal->payload);
    json_close(&out, '}');
    return buf_keep(&buf, &batch->arena);
}

static cairn_code source_take_signal(struct flow *flow, struct flow_step *step,
                                     const char *event, int64_t until_us,
                                     struct taken_signal *ret_signal)
{
    struct workset_instance *instance = to_workset(flow);
    struct batch *batch = instance->batch;
    struct signal_row signal;
    struct flow_facts facts = NO_FACTS;
    *ret_signal = (struct taken_signal){0};
    if (instance->is_new)
        return CAIRN_OK;
    cairn_code code = STORE(batch, find_signal, instance->row.id, event, until_us, &signal);
    if (code)
        return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
    TRY(STORE(batch, mark_signal, instance->row.id, signal.seq, step->row.seq));
    *ret_signal = (struct taken_signal){
        .json = signal_to_json(batch, &signal), .id = signal.id, .payload = signal.payload};
    NEED(ret_signal->json, flow->error);
    facts.event = event;
    facts.signal_id = signal.id;
    return source_note(flow, "signal_taken", step, &facts);
}

static cairn_code source_untake_signals(struct flow *flow, const struct flow_step *step)
{
    struct batch *batch = to_workset(flow)->batch;
    return STORE(batch, mark_signal, flow->instance->id, 0, step ? step->row.seq : -1);
}

/* ---- failures ------------------------------------------------------------------------------- */

/* The record of an instance that is not in the store yet waits: it may turn out to be known. */
static cairn_code source_park(struct flow *flow, const struct flow_step *step,
                              const char *reason)
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
    if (!instance->is_new)
        return STORE(batch, append_dlq, &row, 1);
    struct dlq_row *parked = list_add(&batch->arena, &instance->parked);
    NEED(parked, flow->error);
    *parked = row;
    return CAIRN_OK;
}

static cairn_code source_unpark(struct flow *flow, int32_t seq)
{
    struct batch *batch = to_workset(flow)->batch;
    return STORE(batch, close_dlq, flow->instance->id, seq);
}

static cairn_code source_has_parked(struct flow *flow, bool *ret_has)
{
    struct batch *batch = to_workset(flow)->batch;
    struct dlq_row row;
    size_t count = 0;
    cairn_code code = STORE(batch, list_dlq, flow->instance->id, 0, &row, 1, &count);
    *ret_has = count > 0;
    return code;
}

/* {step, message, attempt, at} */
static cairn_code source_set_error(struct flow *flow, const char **error, const char *step_name,
                                   const char *message, int32_t attempt)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    json_str(json_key(&out, "step"), step_name);
    json_str(json_key(&out, "message"), message);
    json_int(json_key(&out, "attempt"), attempt);
    json_time(json_key(&out, "at"), flow->now_us);
    json_close(&out, '}');
    flow->is_dirty = true;
    *error = buf_keep(&buf, flow->arena);
    return *error ? CAIRN_OK : fail_memory(flow->error);
}

static cairn_code source_clear_error(struct flow *flow, const char **error,
                                     const char *step_name)
{
    json_t *tree;
    if (!*error)
        return CAIRN_OK;
    TRY(json_read(*error, strlen(*error), "the latest error", &tree, flow->error));
    const char *name = json_string_value(json_object_get(tree, "step"));
    if (name && strcmp(name, step_name) == 0) {
        *error = NULL;
        flow->is_dirty = true;
    }
    json_decref(tree);
    return CAIRN_OK;
}

const struct flow_source workset_source = {
    .step = source_step,
    .read_ahead = source_read_ahead,
    .current = source_current,
    .between = source_between,
    .committed = source_committed,
    .config = source_config,
    .children = source_children,
    .elements = map_elements,
    .collect = map_collect,
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
    .join_output = join_output,
};
