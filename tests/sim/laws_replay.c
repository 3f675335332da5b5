/* tests/sim/laws_replay.c - who replays the events knows every status after every commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each event carries the status of its step, or of its instance, after what it tells.  By induction
 * it is enough to replay what has been written since the snapshot before, from the rows of then.
 */
#include "sim.h"

#include <jansson.h>
#include <string.h>

struct replayed_step {
    const char *name;
    enum step_status status;
};

struct replay {
    enum instance_status status;
    struct replayed_step steps[2 * STEPS_MAX]; /* those of before, and new ones */
    size_t step_count;
};

/* A step that nothing was said of is planned. */
static struct replayed_step *replay_step(struct sim *sim, struct replay *replay,
                                         const char *name)
{
    for (size_t i = 0; i < replay->step_count; i++)
        if (strcmp(replay->steps[i].name, name) == 0)
            return &replay->steps[i];
    if (replay->step_count == 2 * STEPS_MAX)
        sim_broken(sim, "events tell of more steps than there can be");
    struct replayed_step *step = &replay->steps[replay->step_count++];
    *step = (struct replayed_step){.name = name, .status = STEP_PENDING};
    return step;
}

static void replay_begin(struct sim *sim, struct replay *replay,
                         const struct seen_instance *before)
{
    replay->status = before ? before->row.status : INSTANCE_PENDING;
    replay->step_count = 0;
    for (size_t i = 0; before && i < before->step_count; i++)
        replay_step(sim, replay, before->steps[i].name)->status = before->steps[i].status;
}

static void replay_event(struct sim *sim, struct replay *replay, const struct event_row *event)
{
    json_t *data = json_loads(event->data, 0, NULL);
    const char *word = json_string_value(json_object_get(data, "status"));
    enum step_status step = word && event->step ? step_status_from(word) : STEP_NONE;
    enum instance_status instance =
        word && !event->step ? instance_status_from(word) : INSTANCE_NONE;
    if (!step && !instance)
        sim_broken(sim, "the event %s carries no status: %s", event->type, event->data);
    if (event->step)
        replay_step(sim, replay, event->step)->status = step;
    else
        replay->status = instance;
    json_decref(data);
}

/* Whether a commit may hold more than one turn of an instance: of its timers, of each of its relatives, then of each
 * request. */
static bool may_turn_twice(const struct sim *sim, const struct seen_instance *before,
                           const struct seen_instance *now)
{
    bool has_relatives = now->row.parent || (now->row.is_function && sim->has_families);
    bool is_due = before && before->row.start_at_us;
    for (size_t i = 0; i < now->step_count && !has_relatives; i++)
        has_relatives = now->steps[i].kind == KIND_START;
    for (size_t i = 0; before && i < before->step_count && !is_due; i++)
        is_due = before->steps[i].due_at_us && before->steps[i].due_at_us <= sim->now->now_us;
    return has_relatives || sim->asked > 1 || (sim->asked == 1 && is_due);
}

/* Every event of the instance itself carries the status that the commit has left. */
static void law_of_one_status(struct sim *sim, const struct seen_instance *before,
                              const struct seen_instance *now)
{
    const char *wanted = instance_status_name(now->row.status);
    for (size_t i = 0; i < now->event_count; i++) {
        const struct event_row *event = &now->events[i];
        if (event->step || may_turn_twice(sim, before, now))
            continue;
        json_t *data = json_loads(event->data, 0, NULL);
        const char *word = json_string_value(json_object_get(data, "status"));
        if (!word || strcmp(word, wanted) != 0)
            sim_broken(sim, "%s says %s of %s, which its commit has left %s", event->type, word,
                       now->row.id, wanted);
        json_decref(data);
    }
}

void law_of_replay(struct sim *sim, const struct seen_instance *before,
                   const struct seen_instance *now)
{
    struct replay replay;
    law_of_one_status(sim, before, now);
    replay_begin(sim, &replay, before);
    for (size_t i = 0; i < now->event_count; i++)
        replay_event(sim, &replay, &now->events[i]);
    if (replay.status != now->row.status)
        sim_broken(sim, "%s is %s, but its events say %s", now->row.id,
                   instance_status_name(now->row.status), instance_status_name(replay.status));
    for (size_t i = 0; i < now->step_count; i++) {
        const struct step_row *row = &now->steps[i];
        enum step_status told = replay_step(sim, &replay, row->name)->status;
        if (told != row->status)
            sim_broken(sim, "%s is %s, but its events say %s", row->name,
                       step_status_name(row->status), step_status_name(told));
    }
    for (size_t i = 0; i < replay.step_count; i++) {
        const struct replayed_step *step = &replay.steps[i];
        if (step->status != STEP_PENDING && !seen_key(now, step->name))
            sim_broken(sim, "%s is forgotten, but its events say %s", step->name,
                       step_status_name(step->status));
    }
}
