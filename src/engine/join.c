/* engine/join.c - what a join hands on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/join.h"

#include "base/error.h"
#include "base/json.h"

#include <stdlib.h>

static int compare_commits(const void *a, const void *b)
{
    const struct flow_step *left = *(struct flow_step *const *)a;
    const struct flow_step *right = *(struct flow_step *const *)b;
    return (left->row.commit_no > right->row.commit_no) -
           (left->row.commit_no < right->row.commit_no);
}

static int compare_branches(const void *a, const void *b)
{
    const struct flow_step *left = *(struct flow_step *const *)a;
    const struct flow_step *right = *(struct flow_step *const *)b;
    int order = (left->row.scope_from > right->row.scope_from) -
                (left->row.scope_from < right->row.scope_from);
    return order ? order : compare_commits(a, b);
}

/* It goes on with the join, and has ended by itself. */
static bool has_arrived(const struct flow_step *step, const struct flow_step *join)
{
    return step->row.next == join->row.seq && step->row.commit_no && !step->row.stop &&
           step->row.scope_fork == join->config->fork;
}

/* Of each branch the one that ended last: a condition gives way to the list that was taken. */
static size_t last_of_each(struct flow_step **steps, size_t count)
{
    size_t kept = 0;
    qsort(steps, count, sizeof *steps, compare_branches);
    for (size_t i = 0; i < count; i++)
        if (i + 1 == count || steps[i + 1]->row.scope_from != steps[i]->row.scope_from)
            steps[kept++] = steps[i];
    qsort(steps, kept, sizeof *steps, compare_commits);
    return kept;
}

static void write_names(struct json_out *out, struct flow_step *const *steps, size_t count,
                        bool is_failed)
{
    json_open(out, '[');
    for (size_t i = 0; i < count; i++)
        if ((steps[i]->row.status == STEP_FAILED) == is_failed)
            json_str(out, steps[i]->row.name);
    json_close(out, ']');
}

static void write_output(struct json_out *out, const struct flow_step *join,
                         struct flow_step *const *steps, size_t count)
{
    json_open(out, '{');
    json_key(out, "status");
    json_str(out, "success");
    json_key(out, "strategy");
    json_str(out, join->config->is_any ? "any" : "all");
    json_key(out, "completed");
    write_names(out, steps, count, false);
    json_key(out, "failed");
    write_names(out, steps, count, true);
    json_key(out, "outputs");
    json_open(out, '{');
    for (size_t i = 0; i < count; i++) {
        if (steps[i]->row.status == STEP_FAILED)
            continue;
        json_key(out, steps[i]->row.name);
        json_raw(out, steps[i]->row.output);
    }
    json_close(out, '}');
    json_close(out, '}');
}

cairn_code join_output(struct flow *flow, const struct flow_step *join, struct buf *out,
                       cairn_error *reterr)
{
    struct flow_step **steps;
    size_t count, arrived = 0;
    cairn_code code = flow->source->between(flow, STEP_NONE, join->config->fork + 1,
                                            join->row.seq - 1, &steps, &count, reterr);
    if (code)
        return code;
    for (size_t i = 0; i < count; i++)
        if (has_arrived(steps[i], join))
            steps[arrived++] = steps[i];
    if (arrived)
        arrived = last_of_each(steps, arrived);
    struct json_out writer = {.buf = out};
    write_output(&writer, join, steps, arrived);
    return buf_failed(out) ? fail_memory(reterr) : CAIRN_OK;
}
