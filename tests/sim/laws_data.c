/* tests/sim/laws_data.c - what expressions have made is a function of what they name.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * workflows.c writes templates of one form.  A step's input has what arrived as `of`, the instance's
 * input as `start`, and a step's output under that step's name; `got` of what goes on is the handler's answer.  Inputs
 * of another form were given by a requeue.
 */
#include "sim.h"

#include <jansson.h>
#include <string.h>

static json_t *tree_of(const char *text)
{
    return text ? json_loads(text, JSON_DECODE_ANY, NULL) : json_null();
}

/* Whether a member of an object is this text. */
static bool is_member(const json_t *object, const char *name, const char *text)
{
    json_t *wanted = tree_of(text);
    bool is_same = json_equal(json_object_get(object, name), wanted);
    json_decref(wanted);
    return is_same;
}

static bool has(const struct step_row *row, const char *key)
{
    return row->config && strstr(row->config, key);
}

static const char *read_of(const struct step_row *row)
{
    return row && (row->status == STEP_COMPLETED || row->status == STEP_CONFIRMED)
               ? row->passed ? row->passed : row->output
               : NULL;
}

/* Nothing has happened to it in this commit, not even something that was undone again. */
static bool is_untouched(const struct step_row *before, const struct step_row *now)
{
    return before && now && before->status == now->status &&
           before->updated_at_us == now->updated_at_us && before->commit_no == now->commit_no;
}

/* Of a step whose input was made in this commit, as far as what it has read did not change with it. */
static void law_of_read(struct sim *sim, const struct seen_instance *instance,
                        const struct step_row *before, const struct step_row *now,
                        const json_t *input)
{
    const struct seen_instance *then = snapshot_find(sim->before, instance->row.id);
    const char *name;
    json_t *value;
    if (!before || before->status != STEP_PENDING || now->status == STEP_PENDING || !then)
        return;
    json_object_foreach((json_t *)input, name, value)
    {
        if (name[0] != 's' || strcmp(name, "start") == 0)
            continue;
        const struct step_row *row = seen_key(instance, name);
        const char *is = read_of(row);
        if (is_untouched(seen_key(then, name), row) && !is_member(input, name, is))
            sim_broken(sim, "%s was given another output of %s than %s: %s", now->name, name,
                       is ? is : "none", now->input);
    }
}

static void law_of_input(struct sim *sim, const struct seen_instance *instance,
                         const struct step_row *before, const struct step_row *now)
{
    json_t *input = tree_of(now->input);
    bool is_made = json_is_object(input) && json_object_get(input, "start");
    bool is_open =
        now->status == STEP_READY || now->status == STEP_RUNNING || now->status == STEP_WAITING;
    if (is_made && is_open && !is_member(input, "of", now->passed))
        sim_broken(sim, "%s was given %s, but %s has arrived", now->name, now->input,
                   now->passed ? now->passed : "nothing");
    if (is_made && is_open && !is_member(input, "start", instance->row.input))
        sim_broken(sim, "%s was given %s, but the instance's input is %s", now->name,
                   now->input, instance->row.input);
    if (is_made)
        law_of_read(sim, instance, before, now, input);
    json_decref(input);
}

static void law_of_output(struct sim *sim, const struct step_row *now)
{
    json_t *passed = tree_of(now->passed);
    if (!json_is_object(passed) || !is_member(passed, "got", now->output))
        sim_broken(sim, "%s answered %s, and %s goes on", now->name, now->output,
                   now->passed ? now->passed : "that");
    json_decref(passed);
}

void law_of_data(struct sim *sim, const struct seen_instance *instance,
                 const struct step_row *before, const struct step_row *now)
{
    if (has(now, "$.input"))
        law_of_input(sim, instance, before, now);
    if (has(now, "\"got\"") && now->status == STEP_COMPLETED)
        law_of_output(sim, now);
    if (!has(now, "\"input\"") && !has(now, "\"output\"") && now->passed)
        sim_broken(sim, "%s passes on %s, though its file does not say so", now->name,
                   now->passed);
}
