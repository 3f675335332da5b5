/* tests/sim/laws_events.c - events are in order; signals are taken once, in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Somebody has asked for it. */
static void law_of_reopening(struct sim *sim, const struct seen_instance *before,
                             const struct seen_instance *now)
{
    bool is_revived = before && instance_is_final(before->row.status) &&
                      before->row.status != now->row.status;
    if (is_revived && !has_event(now, "workflow_restarted", NULL) &&
        !has_event(now, "workflow_retried", NULL) && !has_event(now, "dlq_requeued", NULL) &&
        !is_rolled_back_child(now))
        sim_broken(sim, "no event tells that %s was reopened", now->row.id);
}

/* ---- signals ----------------------------------------------------------------------------- */

static void receive(struct sim *sim, size_t index, const char *id, const char *event,
                    int64_t at_us)
{
    size_t count = sim->signal_counts[index];
    for (size_t i = 0; i < count; i++)
        if (strcmp(sim->signals[index][i].id, id) == 0)
            sim_broken(sim, "signal %s was received twice", id);
    if (count == SIGNALS_MAX)
        sim_broken(sim, "more signals than were sent");
    struct signal_seen *signal = &sim->signals[index][sim->signal_counts[index]++];
    *signal = (struct signal_seen){.at_us = at_us};
    snprintf(signal->id, sizeof signal->id, "%s", id);
    snprintf(signal->event, sizeof signal->event, "%s", event);
}

/* Whoever waits until a deadline takes nothing that came after it. */
static void law_of_deadline(struct sim *sim, size_t index, const struct seen_instance *before,
                            const struct signal_seen *signal, const char *step)
{
    bool is_new = !before || has_event(&sim->now->instances[index], "step_waiting", step);
    const struct step_row *row = is_new ? NULL : seen_key(before, step);
    bool is_limited = row && row->status == STEP_WAITING && row->deadline_at_us;
    if (is_limited && signal->at_us > row->deadline_at_us)
        sim_broken(sim, "%s took signal %s, which came too late", step, signal->id);
}

static void take(struct sim *sim, size_t index, const struct seen_instance *before,
                 const char *id, const char *step)
{
    struct signal_seen *signals = sim->signals[index], *taken = NULL;
    size_t count = sim->signal_counts[index];
    for (size_t i = 0; i < count; i++)
        if (strcmp(signals[i].id, id) == 0)
            taken = &signals[i];
    if (!taken || (taken->is_taken && !taken->is_unsure))
        sim_broken(sim, "signal %s was taken %s", id, taken ? "twice" : "and never came");
    for (struct signal_seen *older = signals; older < taken; older++)
        if (!older->is_taken && !older->is_unsure && strcmp(older->event, taken->event) == 0)
            sim_broken(sim, "signal %s was taken before %s", id, older->id);
    law_of_deadline(sim, index, before, taken, step);
    taken->is_taken = true;
    taken->is_unsure = false;
    snprintf(taken->by, sizeof taken->by, "%s", step);
}

static void forget_taken(struct sim *sim, size_t index, bool is_restart)
{
    for (size_t i = 0; i < sim->signal_counts[index]; i++) {
        struct signal_seen *signal = &sim->signals[index][i];
        signal->is_unsure = !is_restart && (signal->is_taken || signal->is_unsure);
        signal->is_taken = false;
    }
}

/* What a requeued step had taken counts as not taken. */
static void free_taken(struct sim *sim, size_t index, const char *step)
{
    for (size_t i = 0; i < sim->signal_counts[index]; i++) {
        struct signal_seen *signal = &sim->signals[index][i];
        if (strcmp(signal->by, step) == 0)
            signal->is_taken = signal->is_unsure = false;
    }
}

/* So does what a forgotten step had taken. */
static void free_forgotten(struct sim *sim, size_t index, const struct seen_instance *before,
                           const struct seen_instance *now)
{
    for (size_t i = 0; i < before->step_count; i++) {
        const struct step_row *row = seen_step(now, before->steps[i].seq);
        if (!row || strcmp(row->name, before->steps[i].name) != 0)
            free_taken(sim, index, before->steps[i].name);
    }
}

/* And what a step had taken that came and went between two looks. */
static void free_gone(struct sim *sim, size_t index, const struct seen_instance *now)
{
    for (size_t i = 0; i < sim->signal_counts[index]; i++) {
        struct signal_seen *signal = &sim->signals[index][i];
        if (signal->is_taken && !seen_key(now, signal->by))
            signal->is_taken = signal->is_unsure = false;
    }
}

static bool is_begun_anew(const struct seen_instance *now)
{
    return has_event(now, "workflow_restarted", NULL) ||
           has_event(now, "workflow_retried", NULL) || has_event(now, "dlq_requeued", NULL);
}

static void law_of_signals(struct sim *sim, size_t index, const struct seen_instance *before,
                           const struct event_row *event)
{
    json_t *data = json_loads(event->data, 0, NULL);
    const char *id = json_string_value(json_object_get(data, "signal"));
    const char *name = json_string_value(json_object_get(data, "event"));
    if (!id || !name)
        sim_broken(sim, "the event %s says only %s", event->type, event->data);
    if (strcmp(event->type, "signal_received") == 0)
        receive(sim, index, id, name, event->at_us);
    else
        take(sim, index, before, id, event->step);
    json_decref(data);
}

void laws_of_events(struct sim *sim, size_t index, const struct seen_instance *before,
                    bool is_reopened)
{
    const struct seen_instance *now = &sim->now->instances[index];
    int64_t last = before ? before->last_event : 0;
    (void)is_reopened;
    bool is_function = before && now->row.is_function;
    if (is_function && !is_begun_anew(now)) /* by a commit that takes signals after that */
        free_forgotten(sim, index, before, now);
    law_of_replay(sim, before, now);
    law_of_effects(sim, index);
    law_of_reopening(sim, before, now);
    for (size_t i = 0; i < now->event_count; i++) {
        const struct event_row *event = &now->events[i];
        if (event->id <= last || event->at_us > sim->now->now_us)
            sim_broken(sim, "event %s is out of order", event->type);
        last = event->id;
        if (strncmp(event->type, "signal_", 7) == 0)
            law_of_signals(sim, index, before, event);
        bool is_restart = strcmp(event->type, "workflow_restarted") == 0;
        bool is_retry = strcmp(event->type, "workflow_retried") == 0;
        if (is_restart || (is_retry && !now->row.is_function))
            forget_taken(sim, index, is_restart);
        if (is_function && (is_retry || strcmp(event->type, "dlq_requeued") == 0)) {
            free_forgotten(sim, index, before, now);
            free_gone(sim, index, now);
        }
        bool is_undo = strstr(event->data, "\"compensation\"") != NULL;
        if (strcmp(event->type, "dlq_requeued") == 0 && !is_undo)
            free_taken(sim, index, event->step);
    }
}
