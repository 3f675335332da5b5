/* engine/batch_timer_steps.c - what falls due in instances: starts, leases, waits, sleeps, retries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/workset.h"

enum { DUE_AT_ONCE = 256, PROMOTE_AT_ONCE = 2000 };

static cairn_code promote(struct batch *batch, cairn_error *reterr)
{
    size_t count = 0;
    cairn_code code = batch->ops->promote_steps(batch->tx, PROMOTE_AT_ONCE, &count, reterr);
    if (!code && count)
        batch_note_ready(batch, NULL);
    return code;
}

/* Leaves out the instances that others hold: they are left for the next time. */
static size_t drop_busy(const struct batch *batch, struct step_ref *refs, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct workset_instance *instance = workset_find(batch, refs[i].instance_id);
        if (instance && !instance->is_busy)
            refs[kept++] = refs[i];
    }
    return kept;
}

static cairn_code apply_steps(struct batch *batch, cairn_error *reterr)
{
    size_t count = 0;
    struct step_ref *refs = arena_array(&batch->arena, DUE_AT_ONCE, sizeof *refs);
    const char **ids = arena_array(&batch->arena, DUE_AT_ONCE, sizeof *ids);
    if (!refs || !ids)
        return fail_memory(reterr);
    cairn_code code = batch->ops->find_due_steps(batch->tx, refs, DUE_AT_ONCE, &count, reterr);
    for (size_t i = 0; i < count; i++)
        ids[i] = refs[i].instance_id;
    if (!code && count)
        code = workset_load(batch, ids, count, reterr);
    if (!code)
        count = drop_busy(batch, refs, count);
    if (!code && count)
        code = workset_prefetch(batch, refs, count, reterr);
    for (size_t i = 0; i < count && !code; i++) {
        struct workset_instance *instance = workset_find(batch, refs[i].instance_id);
        struct flow_step *step = NULL;
        code = workset_step(instance, refs[i].seq, &step, reterr);
        if (code || !step)
            continue;
        batch->tally.lease_expiries +=
            step->row.locked_by && step->row.due_at_us <= batch->tx->now_us;
        code = flow_timer(&instance->flow, step, reterr);
        workset_revise(instance);
    }
    return code;
}

static cairn_code apply_starts(struct batch *batch, cairn_error *reterr)
{
    size_t count = 0;
    const char **ids = arena_array(&batch->arena, DUE_AT_ONCE, sizeof *ids);
    if (!ids)
        return fail_memory(reterr);
    cairn_code code =
        batch->ops->find_due_instances(batch->tx, ids, DUE_AT_ONCE, &count, reterr);
    if (!code && count)
        code = workset_load(batch, ids, count, reterr);
    for (size_t i = 0; i < count && !code; i++) {
        struct workset_instance *instance = workset_find(batch, ids[i]);
        bool is_due = instance && !instance->is_busy &&
                      instance->row.status == INSTANCE_PENDING &&
                      instance->row.start_at_us <= batch->tx->now_us;
        if (is_due)
            code = flow_start(&instance->flow, reterr);
    }
    return code;
}

cairn_code timers_apply_steps(struct batch *batch, int64_t *ret_due_us, cairn_error *reterr)
{
    int64_t due_us = 0;
    cairn_code code = batch->ops->next_flow_due(batch->tx, &due_us, reterr);
    if (!code && due_us && due_us <= batch->tx->now_us) {
        batch_late(batch, due_us);
        /* First, since it changes rows in the store and not in the workset. */
        code = promote(batch, reterr);
        if (!code)
            code = apply_starts(batch, reterr);
        if (!code)
            code = apply_steps(batch, reterr);
        if (!code)
            code = workset_write_steps(batch, reterr);
        if (!code)
            code = workset_write_instances(batch, reterr);
        if (!code)
            code = batch->ops->next_flow_due(batch->tx, &due_us, reterr);
    }
    if (!code)
        *ret_due_us = due_us;
    return code;
}
