/* core/flow_rerun.c - running an instance again, from the beginning or from a step on.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Places are in the order of the file, so that what comes before a step has a lower place; but not all that has
 * one comes before it:
 *
 *      0  reserve            copied
 *      1  fork               copied
 *      2    pack             executed: another branch
 *      3    condition        copied
 *      4      wrap           skipped: the list that is not taken
 *      5      label          <- begins here
 *      6  fork_join          executed
 */
#include "core/flow_inside.h"

#include "core/instance.h"

#include <assert.h>

bool step_has_passed(const struct step_row *row)
{
    bool is_continued = row->status == STEP_SKIPPED && !row->stop && row->commit_no;
    return row->status == STEP_COMPLETED || row->status == STEP_CONFIRMED || is_continued;
}

const char *step_passed_signal(const struct step_row *row)
{
    return row->kind == KIND_TASK ? NULL : row->signal;
}

/* ---- where it begins ------------------------------------------------------------------------- */

/* The other branches of a fork begin with what it was given; one of them is the rerun's own. */
static cairn_code begin_branches(struct flow *flow, struct flow_step *fork, int32_t own)
{
    TRY(flow->source->config(flow, fork));
    for (size_t i = 0; i < fork->config->branch_count; i++)
        if (!place_is_inside(fork->config->branches[i], own))
            TRY(token_add(flow, fork->config->branches[i].first, step_passed(&fork->row), NULL,
                          fork));
    return CAIRN_OK;
}

const char *rerun_given(const struct flow *flow, const struct flow_step *step)
{
    bool is_first = step->row.seq + 1 == flow->instance->rerun_from;
    return is_first ? flow->instance->rerun_made : NULL;
}

static cairn_code send(struct flow *flow, int32_t place, const char *made, const char *arrived,
                       const char *signal)
{
    return token_put(flow, &(struct flow_token){.seq = place,
                                                .input = made ? made : arrived,
                                                .signal = signal,
                                                .is_made = made != NULL,
                                                .arrived = arrived});
}

cairn_code rerun_send(struct flow *flow)
{
    const struct instance_row *instance = flow->instance;
    return send(flow, instance->rerun_from - 1, instance->rerun_made, instance->rerun_input,
                instance->rerun_signal);
}

cairn_code step_send_again(struct flow *flow, const struct flow_step *step)
{
    return send(flow, step->row.seq, rerun_given(flow, step), step_arrived(step), NULL);
}

cairn_code flow_begin(struct flow *flow)
{
    const struct instance_row *instance = flow->instance;
    int32_t place = instance->rerun_from - 1;
    struct flow_step *step;
    if (!instance->rerun_from)
        return token_add(flow, 0, instance->input, NULL, NULL);
    TRY(rerun_send(flow));
    TRY(flow->source->step(flow, place, &step));
    while (step && step->row.scope_fork >= 0) {
        struct flow_step *fork;
        TRY(flow->source->step(flow, step->row.scope_fork, &fork));
        if (fork)
            TRY(begin_branches(flow, fork, place));
        step = fork;
    }
    return CAIRN_OK;
}

/* ---- what comes before ----------------------------------------------------------------------- */

/* What becomes of a step of the new instance. */
enum fate { FATE_ANEW, FATE_COPIED, FATE_SKIPPED };

static void mark(enum fate *fates, size_t count, struct place_range range, enum fate fate)
{
    for (int32_t i = range.first; i >= 0 && i <= range.last && (size_t)i < count; i++)
        fates[i] = fate;
}

/* Of forks around the step: the other branches, which are executed. */
static cairn_code mark_forks(struct flow *flow, int32_t place, enum fate *fates, size_t count)
{
    struct flow_step *step;
    TRY(flow->source->step(flow, place, &step));
    while (step && step->row.scope_fork >= 0) {
        struct flow_step *fork;
        TRY(flow->source->step(flow, step->row.scope_fork, &fork));
        if (fork)
            TRY(flow->source->config(flow, fork));
        for (size_t i = 0; fork && i < fork->config->branch_count; i++)
            if (!place_is_inside(fork->config->branches[i], place))
                mark(fates, count, fork->config->branches[i], FATE_ANEW);
        step = fork;
    }
    return CAIRN_OK;
}

/* Of conditions around the step: the other list. */
static cairn_code mark_conditions(struct flow *flow, int32_t place, enum fate *fates,
                                  size_t count)
{
    for (int32_t i = 0; i < place; i++) {
        struct flow_step *step;
        TRY(flow->source->step(flow, i, &step));
        if (!step || step->row.kind != KIND_CONDITION)
            continue;
        TRY(flow->source->config(flow, step));
        if (place_is_inside(step->config->then_list, place))
            mark(fates, count, step->config->else_list, FATE_SKIPPED);
        if (place_is_inside(step->config->else_list, place))
            mark(fates, count, step->config->then_list, FATE_SKIPPED);
    }
    return CAIRN_OK;
}

static bool has_ended(const struct step_row *row)
{
    switch (row->status) {
    case STEP_COMPLETED:
    case STEP_CONFIRMED:
    case STEP_REJECTED:
    case STEP_FAILED:
    case STEP_ROLLED_BACK:
    case STEP_SKIPPED:
        return !row->locked_by;
    default:
        return false;
    }
}

/* As it ended there; one that had not ended is not executed here either. */
static cairn_code copy(struct flow *flow, struct flow_step *step, const struct step_row *from)
{
    struct step_row *row = &step->row;
    row->is_copied = true;
    row->status = STEP_SKIPPED;
    if (from && has_ended(from)) {
        row->status = from->status;
        row->attempts = from->attempts;
        row->compensation_attempts = from->compensation_attempts;
        row->commit_no = from->commit_no;
        row->started_at_us = from->started_at_us;
        row->finished_at_us = from->finished_at_us;
        row->stop = from->stop;
        row->signal = from->signal;
        row->remaining = from->remaining;
        row->error = from->error;
        row->undo_error = from->undo_error;
        row->input = from->input;
        row->output = from->output;
        row->passed = from->passed;
    }
    if (row->commit_no > flow->instance->commits)
        flow->instance->commits = row->commit_no;
    step_touch(flow, step);
    return flow_note(flow, "step_copied", step, FACTS(.status = step_status_name(row->status)));
}

static cairn_code copy_before(struct flow *flow, const struct step_row *const *source,
                              size_t count)
{
    int32_t place = flow->instance->rerun_from - 1;
    enum fate *fates = arena_array(flow->arena, count, sizeof *fates);
    NEED(fates, flow->error);
    for (size_t i = 0; i < count; i++)
        fates[i] = (int32_t)i < place ? FATE_COPIED : FATE_ANEW;
    TRY(mark_conditions(flow, place, fates, count));
    TRY(mark_forks(flow, place, fates, count));
    for (size_t i = 0; i < count; i++) {
        struct flow_step *step;
        TRY(flow->source->step(flow, (int32_t)i, &step));
        if (step && fates[i] != FATE_ANEW)
            TRY(copy(flow, step, fates[i] == FATE_COPIED ? source[i] : NULL));
    }
    return CAIRN_OK;
}

cairn_code flow_rerun(struct flow *flow, const struct flow_who *who,
                      const struct step_row *const *source, size_t count)
{
    flow->instance->started_at_us = flow->now_us;
    instance_set(flow, INSTANCE_RUNNING, false);
    TRY(flow_note_asked(flow, "workflow_started", who));
    if (flow->instance->rerun_from)
        TRY(copy_before(flow, source, count));
    TRY(flow_begin(flow));
    return flow_settle(flow);
}
