/* tests/sim/laws_rerun.c - what a rerun has copied stays as it ended: it is neither called nor undone.  The
 * step that it begins at is given the rerun's input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include <jansson.h>
#include <string.h>

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_copy(const struct step_row *row, const struct step_row *of)
{
    return of && row->status == of->status && row->attempts == of->attempts &&
           row->compensation_attempts == of->compensation_attempts &&
           is_same(row->output, of->output) && is_same(row->input, of->input);
}

/* As it ended there; what had not ended, or is in a list that is not taken, is skipped. */
static void law_of_copy(struct sim *sim, const struct seen_instance *now,
                        const struct step_row *row)
{
    const struct seen_instance *then = snapshot_find(sim->before, now->row.source);
    const struct seen_instance *source = snapshot_find(sim->now, now->row.source);
    if (!source)
        sim_broken(sim, "%s was copied from an instance that is not there", row->name);
    bool is_skipped = row->status == STEP_SKIPPED && !row->output && !row->attempts;
    bool is_copied = is_copy(row, seen_step(source, row->seq)) ||
                     (then && is_copy(row, seen_step(then, row->seq)));
    bool is_unsure = source->event_count > 0; /* it has changed in this run */
    if (!is_skipped && !is_copied && !is_unsure)
        sim_broken(sim, "%s of %s is not as it ended in %s", row->name, now->row.id,
                   now->row.source);
}

static bool is_json(const char *text, const char *other)
{
    json_t *a = json_loads(text, JSON_DECODE_ANY, NULL);
    json_t *b = json_loads(other, JSON_DECODE_ANY, NULL);
    bool is_same = json_equal(a, b);
    json_decref(a);
    json_decref(b);
    return is_same;
}

/* The step that it begins at has the input that it was given, unless a requeue has brought another. */
static void law_of_given(struct sim *sim, const struct seen_instance *now)
{
    const struct step_row *row =
        now->row.rerun_made ? seen_step(now, now->row.rerun_from - 1) : NULL;
    if (row && row->status != STEP_PENDING && row->input &&
        !is_json(row->input, now->row.rerun_made) && !is_json(row->input, "{\"n\": 2}"))
        sim_broken(sim, "%s was given %s by a rerun, and has %s", row->name,
                   now->row.rerun_made, row->input);
}

void laws_of_rerun(struct sim *sim, const struct seen_instance *before,
                   const struct seen_instance *now)
{
    law_of_given(sim, now);
    for (size_t i = 0; i < now->step_count; i++) {
        const struct step_row *row = &now->steps[i];
        const struct step_row *old = before ? seen_step(before, row->seq) : NULL;
        if (old && old->is_copied != row->is_copied)
            sim_broken(sim, "%s was%s copied, and now it is otherwise", row->name,
                       old->is_copied ? "" : " not");
        if (!row->is_copied)
            continue;
        /* Behind it is the list of a condition that is not taken. */
        bool is_behind = row->seq >= now->row.rerun_from - 1;
        if (!now->row.source || (is_behind && row->status != STEP_SKIPPED))
            sim_broken(sim, "%s was copied and should not be", row->name);
        if (row->is_ready || row->token || row->due_at_us)
            sim_broken(sim, "%s was copied, and somebody may be given it", row->name);
        if (!old)
            law_of_copy(sim, now, row);
        else if (!is_copy(row, old))
            sim_broken(sim, "%s was copied as %s, and is %s", row->name,
                       step_status_name(old->status), step_status_name(row->status));
        for (size_t k = 0; k < now->event_count; k++)
            if (now->events[k].step && strcmp(now->events[k].step, row->name) == 0 &&
                strcmp(now->events[k].type, "step_copied") != 0)
                sim_broken(sim, "%s was copied, and there is a %s", row->name,
                           now->events[k].type);
    }
}
