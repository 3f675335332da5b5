/* tests/sim/laws_join.c - the lists of a join equal what the rows of its branches say.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Looked at when a join has got its output.  The structure is read from the rows' configurations, not from what
 * the engine made of it.  What was undone in the same commit says no more how it had ended.
 */
#include "sim.h"

#include <jansson.h>
#include <string.h>

struct join_seen {
    struct sim *sim;
    const struct seen_instance *instance;
    const struct step_row *join;
    json_t *output, *config, *fork;
    bool is_any, is_won;
    size_t branch_count;
    bool is_named[STEPS_MAX]; /* by branch */
};

static bool is_undone(const struct join_seen *seen, const struct step_row *row)
{
    return row->status == STEP_COMPENSATION || row->status == STEP_ROLLED_BACK ||
           has_event(seen->instance, "compensation_started", row->name);
}

static bool has_passed(const struct step_row *row)
{
    return row->status == STEP_COMPLETED || row->status == STEP_CONFIRMED ||
           (row->status == STEP_SKIPPED && row->commit_no && !row->stop);
}

/* -1: in none. */
static int branch_of(const struct join_seen *seen, const struct step_row *row)
{
    size_t i;
    json_t *range;
    json_array_foreach(json_object_get(seen->fork, "branches"), i, range)
    {
        if (row->seq >= json_integer_value(json_array_get(range, 0)) &&
            row->seq <= json_integer_value(json_array_get(range, 1)))
            return (int)i;
    }
    return -1;
}

/* Whether a condition went on in one of its lists. */
static bool has_list(const struct join_seen *seen, const struct step_row *condition)
{
    static const char *const lists[] = {"then", "else"};
    json_t *config = json_loads(condition->config, 0, NULL);
    bool is_taken = false;
    for (int i = 0; i < 2; i++) {
        json_t *list = json_object_get(config, lists[i]);
        int first = (int)json_integer_value(json_array_get(list, 0));
        if (!list || first < 0)
            continue;
        const struct step_row *row = seen_step(seen->instance, first);
        is_taken |= row->status != STEP_SKIPPED || row->stop || row->commit_no;
    }
    json_decref(config);
    return is_taken;
}

static bool ends_branch(const struct join_seen *seen, const struct step_row *row)
{
    int32_t fork = (int32_t)json_integer_value(json_object_get(seen->config, "fork"));
    return row->next == seen->join->seq && row->scope_fork == fork &&
           (row->kind != KIND_CONDITION || !has_list(seen, row));
}

static void check_name(struct join_seen *seen, const char *name, bool is_completed)
{
    const struct step_row *row = seen_key(seen->instance, name);
    int branch = row ? branch_of(seen, row) : -1;
    if (branch < 0)
        sim_broken(seen->sim, "%s names %s, which is in none of its branches", seen->join->name,
                   name);
    if (seen->is_named[branch])
        sim_broken(seen->sim, "%s names two steps of the branch of %s", seen->join->name, name);
    seen->is_named[branch] = true;
    if (is_undone(seen, row))
        return;
    if (is_completed && !(has_passed(row) && ends_branch(seen, row)))
        sim_broken(seen->sim, "%s says that %s has completed its branch, but it is %s",
                   seen->join->name, name, step_status_name(row->status));
    if (!is_completed && row->status != STEP_FAILED)
        sim_broken(seen->sim, "%s says that %s has failed, but it is %s", seen->join->name,
                   name, step_status_name(row->status));
}

static size_t check_names(struct join_seen *seen, const char *key, bool is_completed)
{
    size_t i;
    json_t *name, *list = json_object_get(seen->output, key),
                  *outputs = json_object_get(seen->output, "outputs");
    json_array_foreach(list, i, name)
    {
        check_name(seen, json_string_value(name), is_completed);
        if (is_completed && !json_object_get(outputs, json_string_value(name)))
            sim_broken(seen->sim, "%s has no output of %s", seen->join->name,
                       json_string_value(name));
    }
    if (is_completed && json_object_size(outputs) != json_array_size(list))
        sim_broken(seen->sim, "%s has outputs of others than it names", seen->join->name);
    return json_array_size(list);
}

/* What the lists leave out has neither arrived nor failed. */
static void check_unnamed(const struct join_seen *seen)
{
    for (size_t i = 0; i < seen->instance->step_count; i++) {
        const struct step_row *row = &seen->instance->steps[i];
        int branch = branch_of(seen, row);
        if (branch < 0 || seen->is_named[branch] || is_undone(seen, row))
            continue;
        bool is_own =
            row->scope_fork == json_integer_value(json_object_get(seen->config, "fork"));
        bool is_lost = is_own && row->status == STEP_FAILED && !row->is_held;
        if (is_lost || (has_passed(row) && ends_branch(seen, row)))
            sim_broken(seen->sim, "%s does not name %s, which is %s", seen->join->name,
                       row->name, step_status_name(row->status));
    }
}

static void check_output(struct join_seen *seen)
{
    const char *strategy = json_string_value(json_object_get(seen->output, "strategy"));
    size_t completed = check_names(seen, "completed", true);
    size_t failed = check_names(seen, "failed", false);
    check_unnamed(seen);
    if (strcmp(strategy, seen->is_any ? "any" : "all") != 0)
        sim_broken(seen->sim, "the strategy of %s is %s", seen->join->name, strategy);
    bool is_won = seen->is_any ? completed > 0 : completed == seen->branch_count;
    bool is_lost = seen->is_any ? failed == seen->branch_count : failed > 0;
    if (seen->is_won ? !is_won : !is_lost)
        sim_broken(seen->sim, "%s says %s of %zu branches, %zu completed and %zu failed",
                   seen->join->name, seen->is_won ? "success" : "failed", seen->branch_count,
                   completed, failed);
}

static void look_at(struct sim *sim, const struct seen_instance *instance,
                    const struct step_row *join)
{
    struct join_seen seen = {.sim = sim, .instance = instance, .join = join};
    seen.output = json_loads(join->output, 0, NULL);
    seen.config = json_loads(join->config, 0, NULL);
    const struct step_row *fork =
        seen_step(instance, (int32_t)json_integer_value(json_object_get(seen.config, "fork")));
    seen.fork = json_loads(fork->config, 0, NULL);
    seen.is_any = json_is_true(json_object_get(seen.config, "any"));
    seen.is_won =
        strcmp(json_string_value(json_object_get(seen.output, "status")), "success") == 0;
    seen.branch_count = json_array_size(json_object_get(seen.fork, "branches"));
    if (seen.is_won == (join->status == STEP_SKIPPED))
        sim_broken(sim, "%s is %s and says %s", join->name, step_status_name(join->status),
                   seen.is_won ? "success" : "failed");
    check_output(&seen);
    json_decref(seen.output);
    json_decref(seen.config);
    json_decref(seen.fork);
}

/* When the failure of a step has been settled, a fork around it that is joined by `all` says so.  If something was
 * undone, a step may have failed for that. */
static void law_of_lost(struct sim *sim, const struct seen_instance *now,
                        const struct step_row *failed)
{
    const struct step_row *fork =
        failed->scope_fork < 0 ? NULL : seen_step(now, failed->scope_fork);
    bool has_failed = now->row.undo_first == UNDO_FIRST_NONE
                          ? failed->status == STEP_FAILED
                          : now->row.undo_first == failed->seq;
    if (!fork || !has_failed || failed->is_copied)
        return;
    const struct step_row *join = seen_step(now, fork->next);
    bool is_all = !strstr(join->config, "\"any\"");
    if (is_all && join->status == STEP_SKIPPED && !join->output && !join->is_copied)
        sim_broken(sim, "%s has failed, but %s does not tell", failed->name, join->name);
}

void laws_of_joins(struct sim *sim, const struct seen_instance *before,
                   const struct seen_instance *now)
{
    bool is_over = now->row.status == INSTANCE_FAILED && now->row.finished_at_us;
    for (size_t i = 0; i < now->step_count; i++) {
        const struct step_row *row = &now->steps[i];
        const struct step_row *old = before ? seen_step(before, row->seq) : NULL;
        bool is_new = row->output && (!old || !old->output || old->status != row->status);
        if (is_over)
            law_of_lost(sim, now, row);
        if (row->kind != KIND_JOIN || row->is_copied)
            continue;
        if (is_new && (row->status == STEP_COMPLETED || row->status == STEP_SKIPPED))
            look_at(sim, now, row);
        if (row->output && row->status == STEP_PENDING)
            sim_broken(sim, "%s waits, and has an output", row->name);
    }
}
