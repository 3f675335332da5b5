/* engine/join.c - what a join hands on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json.h"
#include "engine/workset.h"

#include <stdlib.h>

/* How the branches of a fork have ended; each list in the order of commits. */
struct arrivals {
    struct step_list completed, failed;
};

static int compare_commits(const void *a, const void *b)
{
    const struct flow_step *left = *(struct flow_step *const *)a;
    const struct flow_step *right = *(struct flow_step *const *)b;
    return (left->row.commit_no > right->row.commit_no) -
           (left->row.commit_no < right->row.commit_no);
}

/* It goes on with the join, and has ended by itself. */
static bool has_arrived(const struct flow_step *step, const struct flow_step *join)
{
    return step->row.next == join->row.seq && step->row.commit_no && !step->row.stop &&
           step->row.scope_fork == join->config->fork && step->row.status != STEP_FAILED;
}

static struct flow_step *later_of(struct flow_step *a, struct flow_step *b)
{
    return a && a->row.commit_no > b->row.commit_no ? a : b;
}

/* A branch is named by the step that ended it: of those that go on with the join the one that ended
 * last (a condition gives way to the list that was taken), else the one whose failure lost it. */
static cairn_code add_branch(struct flow *flow, struct arrivals *arrivals,
                             const struct flow_step *join, const struct step_list *steps,
                             size_t from, size_t to)
{
    struct flow_step *arrived = NULL, *failed = NULL;
    for (size_t i = from; i < to; i++) {
        if (has_arrived(steps->items[i], join))
            arrived = later_of(arrived, steps->items[i]);
        else if (steps->items[i]->row.status == STEP_FAILED)
            failed = later_of(failed, steps->items[i]);
    }
    if (!arrived && !failed)
        return CAIRN_OK;
    struct flow_step **added =
        list_add(flow->arena, arrived ? &arrivals->completed : &arrivals->failed);
    NEED(added, flow->error);
    *added = arrived ? arrived : failed;
    return CAIRN_OK;
}

static void sort_by_commits(struct step_list *steps)
{
    if (steps->count)
        qsort(steps->items, steps->count, sizeof *steps->items, compare_commits);
}

static cairn_code collect(struct flow *flow, const struct flow_step *join,
                          struct arrivals *ret_arrivals)
{
    struct step_list steps;
    struct flow_step *fork;
    size_t at = 0;
    *ret_arrivals = (struct arrivals){0};
    TRY(flow->source->step(flow, join->config->fork, &fork));
    if (!fork)
        return CAIRN_OK; /* its row was deleted, so the branches are unknown */
    TRY(flow->source->config(flow, fork));
    TRY(flow->source->between(flow, STEP_NONE, fork->row.seq + 1, join->row.seq - 1, &steps));
    for (size_t i = 0; i < fork->config->branch_count; i++) { /* in order of place, as steps */
        size_t begin = at;
        while (at < steps.count && steps.items[at]->row.seq <= fork->config->branches[i].last)
            at++;
        TRY(add_branch(flow, ret_arrivals, join, &steps, begin, at));
    }
    sort_by_commits(&ret_arrivals->completed);
    sort_by_commits(&ret_arrivals->failed);
    return CAIRN_OK;
}

static void write_names(struct json_out *out, const char *key, const struct step_list *steps)
{
    json_open(json_key(out, key), '[');
    for (size_t i = 0; i < steps->count; i++)
        json_str(out, steps->items[i]->row.name);
    json_close(out, ']');
}

static void write_output(struct json_out *out, const struct flow_step *join,
                         const struct arrivals *arrivals)
{
    json_open(out, '{');
    json_str(json_key(out, "status"), "success"); /* a join that has failed passes nothing on */
    json_str(json_key(out, "strategy"), join->config->is_any ? "any" : "all");
    write_names(out, "completed", &arrivals->completed);
    write_names(out, "failed", &arrivals->failed);
    json_open(json_key(out, "outputs"), '{');
    for (size_t i = 0; i < arrivals->completed.count; i++)
        json_raw(json_key(out, arrivals->completed.items[i]->row.name),
                 step_passed(&arrivals->completed.items[i]->row));
    json_close(out, '}');
    json_close(out, '}');
}

cairn_code join_output(struct flow *flow, const struct flow_step *join, const char **ret_output)
{
    struct arrivals arrivals;
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    TRY(collect(flow, join, &arrivals));
    write_output(&out, join, &arrivals);
    *ret_output = buf_keep(&buf, flow->arena);
    return *ret_output ? CAIRN_OK : fail_memory(flow->error);
}
