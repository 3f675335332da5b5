/* engine/batch_family.c - parents and children: an end is told to the parent, a stop to the children.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What ends or stops an instance holds its lock alone.  It leaves a mark (is_telling), which is due at
 * once: so relatives are locked in a commit of its own, parents before children, and before the next
 * claim is answered.  A step of a workflow that wants children to be started or rolled back
 * (batch_children.c) leaves the same mark; those that are to be started are started in the same commit, a portion
 * of them.  Who has stopped an instance is answered when all its descendants were told (held.h).
 */
#include "base/json.h"
#include "engine/workset.h"

#include <string.h>

/* One end leads to others, as in the undo of a chain of children, and all are told before a claim is answered; but
 * a commit stays short. */
enum { AT_ONCE = 256, TOLD_MOST = 4 * AT_ONCE };

/* Generations that begin in one commit. */
enum { ROUNDS_MOST = 4 };

/* {id, status, output, last_error} */
static const char *end_to_json(struct batch *batch, const struct instance_row *row)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    json_key(&out, "id");
    json_str(&out, row->id);
    json_key(&out, "status");
    json_str(&out, instance_status_name(row->status));
    json_key(&out, "output");
    json_raw(&out, row->output);
    json_key(&out, "last_error");
    json_raw(&out, row->last_error);
    json_close(&out, '}');
    return buf_keep(&buf, &batch->arena);
}

/* The child's own words for why it did not complete. */
static cairn_code end_to_error(struct batch *batch, const struct instance_row *row,
                               const char **ret_error)
{
    json_t *tree = NULL;
    *ret_error = instance_status_name(row->status);
    if (row->status != INSTANCE_FAILED || !row->last_error)
        return CAIRN_OK;
    TRY(json_read(row->last_error, strlen(row->last_error), "the latest error", &tree,
                  batch->error));
    const char *message = json_string_value(json_object_get(tree, "message"));
    *ret_error = arena_strdup(&batch->arena, message ? message : *ret_error);
    json_decref(tree);
    return *ret_error ? CAIRN_OK : fail_memory(batch->error);
}

static cairn_code read_end(struct batch *batch, const struct instance_row *child,
                           struct child_end *ret_end)
{
    *ret_end = (struct child_end){.status = child->status,
                                  .round = child->parent_round,
                                  .output = child->output,
                                  .element = child->element};
    return child->status == INSTANCE_COMPLETED ? CAIRN_OK
                                               : end_to_error(batch, child, &ret_end->error);
}

static cairn_code tell_parent(struct batch *batch, struct workset_instance *child,
                              bool *ret_is_done)
{
    struct workset_instance *parent = workset_find(batch, child->row.parent);
    struct flow_step *step = NULL;
    struct child_end end;
    enum insert_result result;
    bool is_taken;
    *ret_is_done = !parent || !parent->is_busy;
    if (!*ret_is_done)
        return CAIRN_OK;
    child->row.is_told = true;
    if (!parent)
        return CAIRN_OK;
    workset_revise(parent);
    TRY(read_end(batch, &child->row, &end));
    if (child->row.parent_seq >= 0) {
        TRY(workset_step(parent, child->row.parent_seq, &step));
        return flow_child_told(&parent->flow, step, &end);
    }
    struct signal_row signal = {.instance_id = parent->row.id,
                                .id = child->row.id,
                                .event = child->row.parent_event,
                                .payload = end_to_json(batch, &child->row),
                                .received_at_us = batch->tx->now_us,
                                .taken_by = -1};
    NEED(signal.payload, batch->error);
    if (!instance_is_final(parent->row.status))
        TRY(batch_put_signal(parent, &signal, &result, &is_taken));
    TRY(flow_child_ended(&parent->flow));
    return flow_call_told(&parent->flow, child->row.id, &end);
}

static cairn_code stop_children(struct batch *batch, const struct instance_row *parent,
                                bool *ret_is_done)
{
    size_t count = 0;
    bool is_abort = parent->status == INSTANCE_ABORTED;
    const char **ids = arena_array(&batch->arena, AT_ONCE, sizeof *ids);
    NEED(ids, batch->error);
    TRY(STORE(batch, list_children, parent->id, -1, is_abort, ids, AT_ONCE, &count));
    TRY(workset_load(batch, ids, count));
    *ret_is_done = count < AT_ONCE;
    const struct flow_who who = {.by = parent->stop_by, .reason = parent->stop_reason};
    for (size_t i = 0; i < count; i++) {
        struct workset_instance *child = workset_find(batch, ids[i]);
        cairn_code verdict = CAIRN_OK;
        if (!child || child->is_busy) {
            *ret_is_done = false;
            continue;
        }
        TRY(is_abort ? flow_abort(&child->flow, &who, &verdict)
                     : flow_cancel(&child->flow, &who, &verdict));
        if (!verdict)
            workset_revise(child);
    }
    return CAIRN_OK;
}

static bool is_stopped(const struct instance_row *row)
{
    return row->child_count && (row->status == INSTANCE_ABORTED || row->goal == GOAL_CANCEL ||
                                row->status == INSTANCE_CANCELLED);
}

/* Steps that were stopped, or have got what they wanted. */
static bool has_ending_steps(const struct workset_instance *instance)
{
    for (size_t i = 0; i < instance->children.count; i++)
        if (instance->children.items[i]->row.is_ending &&
            instance->children.items[i]->row.living)
            return true;
    return false;
}

bool instance_must_tell(const struct workset_instance *instance)
{
    const struct instance_row *row = &instance->row;
    bool is_lost =
        row->status == INSTANCE_FAILED && row->parent && row->parent_seq >= 0 && !row->is_told;
    bool has_children = row->child_count && (is_stopped(row) || has_ending_steps(instance));
    return row->is_telling && (is_lost || has_children);
}

/* What a restart leaves behind is not undone. */
static cairn_code abort_own(struct batch *batch, struct workset_instance *parent,
                            bool *ret_is_done)
{
    struct instance_row stopped = parent->row;
    stopped.status = INSTANCE_ABORTED;
    stopped.stop_by = NULL;
    stopped.stop_reason = "its parent was restarted";
    for (int32_t left = parent->row.own_child_count; left > 0; left -= AT_ONCE)
        TRY(stop_children(batch, &stopped, ret_is_done));
    return CAIRN_OK;
}

cairn_code batch_stop_children(struct batch *batch, struct workset_instance *parent,
                               bool *ret_is_done)
{
    *ret_is_done = true;
    if (parent->row.own_child_count && parent->row.status != INSTANCE_COMPENSATING)
        return abort_own(batch, parent, ret_is_done);
    if (!parent->row.is_telling || !is_stopped(&parent->row))
        return CAIRN_OK;
    return stop_children(batch, &parent->row, ret_is_done);
}

/* ---- in the commit that wants them ----------------------------------------------------------- */

/* New children are in nobody's hands, and their parents are locked: so these need no commit of their own. */
static bool may_start(const struct workset_instance *instance)
{
    const struct instance_row *row = &instance->row;
    return row->is_telling && !row->is_function && !row->goal && !instance->has_started &&
           !instance->is_busy && !instance->is_bare && !instance_is_final(row->status);
}

/* One that has nothing else to tell is done, unless it wants more of them. */
static cairn_code start_wanted_by(struct wishes *wishes, struct workset_instance *instance,
                                  bool *ret_is_any)
{
    instance->has_started = true;
    TRY(batch_add_starts(wishes, instance, ret_is_any));
    if (*ret_is_any && !instance->was_telling && !has_ending_steps(instance)) {
        instance->row.is_telling = false;
        instance->flow.is_dirty = true;
    }
    return CAIRN_OK;
}

static bool is_any_to_start(const struct batch *batch)
{
    for (size_t i = 0; i < batch->instances.count; i++)
        if (may_start(batch->instances.entries[i].value))
            return true;
    return false;
}

/* Children may want some themselves. */
cairn_code batch_start_wanted(struct batch *batch)
{
    for (int round = 0; round < ROUNDS_MOST && is_any_to_start(batch); round++) {
        struct wishes *wishes;
        TRY(workset_write_rows(batch));
        TRY(batch_begin_wishes(batch, &wishes));
        for (size_t i = 0; i < batch->instances.count; i++) {
            struct workset_instance *instance = batch->instances.entries[i].value;
            bool is_any;
            if (may_start(instance))
                TRY(start_wanted_by(wishes, instance, &is_any));
        }
        TRY(batch_grant_wishes(wishes));
    }
    return CAIRN_OK;
}

/* ---- in commits of their own ------------------------------------------------------------------ */

/* The mark is cleared before: what is done here may set it again. */
static cairn_code tell(struct batch *batch, struct workset_instance *instance,
                       struct wishes *wishes, bool *ret_is_done)
{
    const struct instance_row *row = &instance->row;
    bool is_ended = instance_is_final(row->status), are_told = true, are_granted = true;
    *ret_is_done = true;
    instance->row.is_telling = false;
    instance->flow.is_dirty = true;
    if (is_ended && row->parent && !row->is_told)
        TRY(tell_parent(batch, instance, ret_is_done));
    if (is_stopped(row))
        TRY(stop_children(batch, row, &are_told));
    else if (row->own_child_count)
        TRY(batch_end_children(batch, instance, &are_told));
    if (!is_ended && (!row->is_function || row->status == INSTANCE_COMPENSATING))
        TRY(batch_add_wishes(wishes, instance, &are_granted));
    *ret_is_done &= are_told && are_granted;
    instance->row.is_telling |= !*ret_is_done;
    return CAIRN_OK;
}

/* Parents before those whose end they are told. */
static cairn_code load(struct batch *batch, const struct instance_row *rows, size_t count)
{
    size_t parents = 0;
    const char **ids = arena_array(&batch->arena, count, sizeof *ids);
    NEED(ids, batch->error);
    for (size_t i = 0; i < count; i++)
        if (rows[i].parent)
            ids[parents++] = rows[i].parent;
    TRY(workset_load(batch, ids, parents));
    for (size_t i = 0; i < count; i++)
        ids[i] = rows[i].id;
    return workset_load(batch, ids, count);
}

cairn_code batch_tell_relatives(struct batch *batch)
{
    size_t told = 1;
    for (size_t all = 0; all < TOLD_MOST && told; all += told) {
        size_t count = 0;
        struct wishes *wishes;
        struct instance_row *rows = arena_room(&batch->arena, AT_ONCE, sizeof *rows);
        NEED(rows, batch->error);
        TRY(workset_write_rows(batch));
        TRY(STORE(batch, find_telling, rows, AT_ONCE, &count));
        TRY(load(batch, rows, count));
        TRY(batch_begin_wishes(batch, &wishes));
        told = 0;
        for (size_t i = 0; i < count; i++) {
            struct workset_instance *instance = workset_find(batch, rows[i].id);
            bool is_done;
            if (!instance || instance->is_busy)
                continue;
            TRY(tell(batch, instance, wishes, &is_done));
            told += is_done;
        }
        TRY(batch_grant_wishes(wishes));
    }
    return workset_write_rows(batch);
}
