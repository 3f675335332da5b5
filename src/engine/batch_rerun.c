/* engine/batch_rerun.c - what an instance is run again from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/workset.h"

#include <string.h>

static cairn_code read_steps(struct batch *batch, struct workset_instance *source,
                             struct rerun *rerun)
{
    struct step_list steps;
    TRY(source->flow.source->between(&source->flow, STEP_NONE, 0, INT32_MAX, &steps));
    rerun->step_count = steps.count ? (size_t)steps.items[steps.count - 1]->row.seq + 1 : 0;
    rerun->steps = arena_zalloc(&batch->arena, (rerun->step_count + 1) * sizeof *rerun->steps);
    NEED(rerun->steps, batch->error);
    for (size_t i = 0; i < steps.count; i++)
        rerun->steps[steps.items[i]->row.seq] = &steps.items[i]->row;
    return CAIRN_OK;
}

static const struct step_row *find_step(const struct rerun *rerun, const char *name)
{
    for (size_t i = 0; i < rerun->step_count; i++)
        if (rerun->steps[i] && strcmp(rerun->steps[i]->name, name) == 0)
            return rerun->steps[i];
    return NULL;
}

/* The step that has sent its output to this one; NULL: there is none. */
static const struct step_row *find_before(const struct rerun *rerun,
                                          const struct step_row *step)
{
    for (size_t i = 0; i < rerun->step_count; i++)
        if (rerun->steps[i] && rerun->steps[i]->next == step->seq &&
            step_has_passed(rerun->steps[i]))
            return rerun->steps[i];
    return NULL;
}

/* The other branches of a fork around it begin with what the fork was given. */
static bool are_forks_passed(const struct rerun *rerun, const struct step_row *step,
                             const char **ret_fork)
{
    while (step->scope_fork >= 0) {
        const struct step_row *fork = (size_t)step->scope_fork < rerun->step_count
                                          ? rerun->steps[step->scope_fork]
                                          : NULL;
        *ret_fork = fork ? fork->name : "";
        if (!fork || !step_has_passed(fork))
            return false;
        step = fork;
    }
    return true;
}

/* What had arrived at it.  A step whose file makes its input keeps that in its row, not what it was made of;
 * so this is what the step before has handed on. */
static const char *find_arrived(const struct step_row *step, const struct step_row *before,
                                const char *instance_input)
{
    bool is_made = step->config && strstr(step->config, "\"input\"");
    if (step->input && !is_made)
        return step->input;
    return step->seq == 0 ? instance_input : before ? step_passed(before) : step->input;
}

/* A source that began at the step itself knows what it had got, which the step before did not send perhaps. */
static cairn_code choose_input(struct request *request, struct rerun *rerun,
                               const struct step_row *step, const struct instance_row *source)
{
    const struct step_row *before = find_before(rerun, step);
    bool is_same = source->rerun_from == step->seq + 1;
    rerun->signal = is_same ? source->rerun_signal : before ? step_passed_signal(before) : NULL;
    rerun->input = is_same ? source->rerun_input : find_arrived(step, before, source->input);
    rerun->made = request->in.rerun.input ? request->in.rerun.input
                  : is_same               ? source->rerun_made
                                          : NULL;
    if (!rerun->input)
        rerun->input = rerun->made;
    if (rerun->input)
        return CAIRN_OK;
    request->code =
        fail(&request->error, CAIRN_E_BAD_INPUT,
             "cannot run instance \"%s\" again from step \"%.64s\": the step has no input",
             rerun->source, step->name);
    fail_hint(&request->error, request->code, "it was not reached: give its input");
    return CAIRN_OK;
}

/* A function finds its steps by asking for them: none of them is a place to begin at. */
static cairn_code read_from(struct batch *batch, struct request *request,
                            struct workset_instance *source, struct rerun *rerun)
{
    const char *name = request->in.rerun.from, *fork = "";
    if (source->row.is_function)
        return REFUSE(
            request, CAIRN_E_BAD_INPUT,
            "cannot run function \"%.64s\" again from a step: only from its beginning",
            source->row.workflow);
    TRY(read_steps(batch, source, rerun));
    const struct step_row *step = find_step(rerun, name);
    if (!step)
        return REFUSE(request, CAIRN_E_NOT_FOUND, "instance \"%s\" has no step \"%.64s\"",
                      rerun->source, name);
    if (step->kind == KIND_JOIN)
        return REFUSE(request, CAIRN_E_BAD_INPUT,
                      "cannot run instance \"%s\" again from join \"%.64s\": name the fork, or "
                      "the step behind it",
                      rerun->source, name);
    if (!are_forks_passed(rerun, step, &fork))
        return REFUSE(
            request, CAIRN_E_WRONG_STATE,
            "cannot run instance \"%s\" again from step \"%.64s\": fork \"%.64s\" was "
            "not reached",
            rerun->source, name, fork);
    rerun->from = step->seq + 1;
    return choose_input(request, rerun, step, &source->row);
}

cairn_code rerun_read(struct batch *batch, struct request *request, struct rerun *ret_rerun)
{
    const struct rerun_input *in = &request->in.rerun;
    struct workset_instance *source;
    TRY(batch_take_instance(batch, request, &source));
    if (!source)
        return CAIRN_OK;
    *ret_rerun = (struct rerun){.source = source->row.id,
                                .token = request->token_name,
                                .start = {.size = sizeof ret_rerun->start,
                                          .workflow = source->row.workflow,
                                          .version = source->row.version,
                                          .input = source->row.input,
                                          .metadata = source->row.metadata,
                                          .group = source->row.group,
                                          .tags = source->row.tags}};
    if (in->from)
        return read_from(batch, request, source, ret_rerun);
    if (in->input)
        ret_rerun->start.input = in->input;
    return CAIRN_OK;
}
