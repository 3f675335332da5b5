/* engine/join.c - what a join hands on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/join.h"

#include "base/error.h"
#include "base/json.h"

#include <stdlib.h>

/* How the branches of a fork have ended; each list in the order of commits. */
struct arrivals {
    struct flow_step **completed, **failed;
    size_t completed_count, failed_count;
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
static void add_branch(struct arrivals *arrivals, const struct flow_step *join,
                       struct flow_step **steps, size_t count)
{
    struct flow_step *arrived = NULL, *failed = NULL;
    for (size_t i = 0; i < count; i++) {
        if (has_arrived(steps[i], join))
            arrived = later_of(arrived, steps[i]);
        else if (steps[i]->row.status == STEP_FAILED)
            failed = later_of(failed, steps[i]);
    }
    if (arrived)
        arrivals->completed[arrivals->completed_count++] = arrived;
    else if (failed)
        arrivals->failed[arrivals->failed_count++] = failed;
}

static cairn_code collect(struct flow *flow, const struct flow_step *join,
                          struct arrivals *ret_arrivals, cairn_error *reterr)
{
    struct flow_step **steps, *fork;
    size_t count, at = 0;
    *ret_arrivals = (struct arrivals){0};
    cairn_code code = flow->source->step(flow, join->config->fork, &fork, reterr);
    if (!code && !fork)
        return CAIRN_OK; /* its row was deleted, so the branches are unknown */
    if (!code)
        code = flow->source->config(flow, fork, reterr);
    if (!code)
        code = flow->source->between(flow, STEP_NONE, fork->row.seq + 1, join->row.seq - 1,
                                     &steps, &count, reterr);
    if (code)
        return code;
    size_t branch_count = fork->config->branch_count;
    *ret_arrivals = (struct arrivals){
        .completed = arena_array(flow->arena, branch_count, sizeof(struct flow_step *)),
        .failed = arena_array(flow->arena, branch_count, sizeof(struct flow_step *))};
    if (!ret_arrivals->completed || !ret_arrivals->failed)
        return fail_memory(reterr);
    for (size_t i = 0; i < branch_count; i++) { /* steps and branches are in order of place */
        size_t begin = at;
        while (at < count && steps[at]->row.seq <= fork->config->branches[i].last)
            at++;
        add_branch(ret_arrivals, join, steps + begin, at - begin);
    }
    qsort(ret_arrivals->completed, ret_arrivals->completed_count, sizeof *steps,
          compare_commits);
    qsort(ret_arrivals->failed, ret_arrivals->failed_count, sizeof *steps, compare_commits);
    return CAIRN_OK;
}

static void write_names(struct json_out *out, const char *key, struct flow_step *const *steps,
                        size_t count)
{
    json_key(out, key);
    json_open(out, '[');
    for (size_t i = 0; i < count; i++)
        json_str(out, steps[i]->row.name);
    json_close(out, ']');
}

static void write_output(struct json_out *out, const struct flow_step *join,
                         const struct arrivals *arrivals)
{
    json_open(out, '{');
    json_key(out, "status");
    json_str(out, "success"); /* a join that has failed passes nothing on */
    json_key(out, "strategy");
    json_str(out, join->config->is_any ? "any" : "all");
    write_names(out, "completed", arrivals->completed, arrivals->completed_count);
    write_names(out, "failed", arrivals->failed, arrivals->failed_count);
    json_key(out, "outputs");
    json_open(out, '{');
    for (size_t i = 0; i < arrivals->completed_count; i++) {
        json_key(out, arrivals->completed[i]->row.name);
        json_raw(out, arrivals->completed[i]->row.output);
    }
    json_close(out, '}');
    json_close(out, '}');
}

cairn_code join_output(struct flow *flow, const struct flow_step *join, struct buf *out,
                       cairn_error *reterr)
{
    struct arrivals arrivals;
    struct json_out writer = {.buf = out};
    cairn_code code = collect(flow, join, &arrivals, reterr);
    if (code)
        return code;
    write_output(&writer, join, &arrivals);
    return buf_failed(out) ? fail_memory(reterr) : CAIRN_OK;
}
