/* tests/sim/laws_effect.c - two calls of a step have the same key exactly if they want one effect.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The events tell when a step was called, when it was undone and when everything began anew; from
 * them alone follows which effect a call of a workflow's step is for, and so its key.  A function's
 * passage may call a step and never say so: there the number is only known to stay the same, or to
 * be a new one.
 */
#include "core/effect.h"
#include "sim.h"

#include <stdio.h>
#include <string.h>

static bool is_type(const struct event_row *event, const char *type)
{
    return strcmp(event->type, type) == 0;
}

static struct effect_seen *find_effect(struct sim *sim, struct effects_seen *effects,
                                       const char *name)
{
    for (size_t i = 0; i < effects->count; i++)
        if (strcmp(effects->steps[i].name, name) == 0)
            return &effects->steps[i];
    if (effects->count == EFFECTS_MAX)
        sim_broken(sim, "more steps were called than there can be");
    struct effect_seen *effect = &effects->steps[effects->count++];
    *effect = (struct effect_seen){.past_seen = -1};
    snprintf(effect->name, sizeof effect->name, "%s", name);
    return effect;
}

static void begin_anew(struct sim *sim, struct effects_seen *effects,
                       const struct seen_instance *now)
{
    bool is_function = now->row.is_function;
    bool is_called = is_function && find_effect(sim, effects, now->steps[0].name)->is_called;
    for (size_t i = 0; i < effects->count; i++) {
        struct effect_seen *effect = &effects->steps[i];
        effect->is_new |= is_called;
        effect->past += effect->is_called;
        effect->is_called = false;
    }
}

static void note_event(struct sim *sim, struct effects_seen *effects,
                       const struct seen_instance *now, const struct event_row *event)
{
    bool is_undo = strstr(event->data, "\"nothing to undo\"") == NULL;
    if (is_type(event, "workflow_restarted"))
        begin_anew(sim, effects, now);
    if (!event->step)
        return;
    struct effect_seen *effect = find_effect(sim, effects, event->step);
    if (is_type(event, "step_started") && strstr(event->data, "\"running\""))
        effect->is_called = true;
    if (is_type(event, "step_pending"))
        effect->is_undone = false;
    if (is_type(event, "compensation_success") && is_undo) {
        effect->past++;
        effect->is_new = effect->is_undone = true;
        effect->is_called = false;
    }
}

/* Of what a function remembers or calls: as many past effects as at the last look, or more. */
static void observe(struct sim *sim, struct effect_seen *effect, int32_t past)
{
    bool is_known = effect->past_seen >= 0;
    if (is_known && !effect->is_new && past != effect->past_seen)
        sim_broken(sim,
                   "%s was neither undone nor begun anew, its key counts %d past effects "
                   "after %d",
                   effect->name, past, effect->past_seen);
    if (is_known && effect->is_new && past <= effect->past_seen)
        sim_broken(sim, "%s wants a new effect, its key counts %d past ones as before",
                   effect->name, past);
    effect->past_seen = past;
    effect->is_new = false;
}

static void law_of_row(struct sim *sim, struct effects_seen *effects,
                       const struct seen_instance *now, const struct step_row *row)
{
    struct effect_seen *effect = find_effect(sim, effects, row->name);
    /* What was undone is counted when the step is planned again. */
    bool is_old = effect->is_undone && row->status == STEP_ROLLED_BACK;
    bool is_remembered = now->row.is_function && row->seq > 0;
    if (is_remembered && !is_old)
        observe(sim, effect, row->past_effects);
    if (!is_remembered && row->past_effects != effect->past - is_old)
        sim_broken(sim, "%s has %d past effects, its key counts %d", row->name,
                   effect->past - is_old, row->past_effects);
}

void law_of_effects(struct sim *sim, size_t index)
{
    const struct seen_instance *now = &sim->now->instances[index];
    struct effects_seen *effects = &sim->effects[index];
    for (size_t i = 0; i < now->event_count; i++)
        note_event(sim, effects, now, &now->events[i]);
    for (size_t i = 0; i < now->step_count; i++)
        if (now->steps[i].kind == KIND_TASK || now->steps[i].kind == KIND_FUNCTION)
            law_of_row(sim, effects, now, &now->steps[i]);
}

void law_of_key(struct sim *sim, const cairn_task *task)
{
    const struct step_row *row = snapshot_step(sim->now, task->id);
    if (!row || !row->token || strcmp(row->token, task->token) != 0)
        return; /* others have been at it since */
    struct arena arena = {0};
    const char *wanted = effect_key(&arena, task->instance_id, row->name, row->past_effects,
                                    strcmp(task->kind, "compensation") == 0);
    if (!wanted || strcmp(wanted, task->key) != 0)
        sim_broken(sim, "the key of %s is %s, not %s", row->name, task->key, wanted);
    arena_done(&arena);
}

void law_of_called_key(struct sim *sim, const char *instance_id, const char *step,
                       const char *key)
{
    size_t at = strlen(instance_id) + 1 + strlen(step);
    int number = 1;
    if (strncmp(key, instance_id, strlen(instance_id)) != 0 || strlen(key) < at ||
        (key[at] && sscanf(key + at, "~%d", &number) != 1))
        sim_broken(sim, "the key of %s is %s", step, key);
    for (size_t i = 0; i < sim->now->instance_count; i++)
        if (strcmp(sim->now->instances[i].row.id, instance_id) == 0)
            observe(sim, find_effect(sim, &sim->effects[i], step), number - 1);
}
