/* engine/join.c - what a join hands on, or tells of a fork that has failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json.h"
#include "engine/workset.h"

#include <stdlib.h>

/* The steps that ended branches, or lost them, each in the order of commits. */
struct ends {
    const struct step_row **items;
    size_t count;
};

struct arrivals {
    struct ends completed, failed;
};

static int compare_commits(const void *a, const void *b)
{
    const struct step_row *left = *(const struct step_row *const *)a;
    const struct step_row *right = *(const struct step_row *const *)b;
    return (left->commit_no > right->commit_no) - (left->commit_no < right->commit_no);
}

static void sort_by_commits(struct ends *ends)
{
    if (ends->count)
        qsort(ends->items, ends->count, sizeof *ends->items, compare_commits);
}

/* A branch that has neither arrived nor failed has only been stopped. */
static void add_branch(struct arrivals *arrivals, const struct branch_rows *rows,
                       struct place_range branch)
{
    const struct branch_row *end = branch_end(rows, branch);
    if (end && branch_is_decided(end) && step_has_passed(end->row)) {
        arrivals->completed.items[arrivals->completed.count++] = end->row;
        return;
    }
    const struct step_row *failed = branch_loser(rows, branch, false);
    if (failed)
        arrivals->failed.items[arrivals->failed.count++] = failed;
}

static cairn_code collect(struct flow *flow, const struct flow_step *join,
                          struct arrivals *ret_arrivals)
{
    struct branch_rows rows;
    struct flow_step *fork;
    *ret_arrivals = (struct arrivals){0};
    TRY(flow->source->step(flow, join->config->fork, &fork));
    if (!fork)
        return CAIRN_OK; /* its row was deleted, so the branches are unknown */
    TRY(flow_branches(flow, fork, join, &rows));
    struct ends *lists[] = {&ret_arrivals->completed, &ret_arrivals->failed};
    for (int i = 0; i < 2; i++) {
        lists[i]->items =
            arena_array(flow->arena, rows.branch_count + 1, sizeof *lists[i]->items);
        NEED(lists[i]->items, flow->error);
    }
    for (size_t i = 0; i < rows.branch_count; i++)
        add_branch(ret_arrivals, &rows, rows.branches[i]);
    sort_by_commits(&ret_arrivals->completed);
    sort_by_commits(&ret_arrivals->failed);
    return CAIRN_OK;
}

static void write_names(struct json_out *out, const char *key, const struct ends *ends)
{
    json_open(json_key(out, key), '[');
    for (size_t i = 0; i < ends->count; i++)
        json_str(out, ends->items[i]->name);
    json_close(out, ']');
}

static void write_output(struct json_out *out, const struct flow_step *join, bool is_won,
                         const struct arrivals *arrivals)
{
    json_open(out, '{');
    json_str(json_key(out, "status"), is_won ? "success" : "failed");
    json_str(json_key(out, "strategy"), join->config->is_any ? "any" : "all");
    write_names(out, "completed", &arrivals->completed);
    write_names(out, "failed", &arrivals->failed);
    json_open(json_key(out, "outputs"), '{');
    for (size_t i = 0; i < arrivals->completed.count; i++)
        json_raw(json_key(out, arrivals->completed.items[i]->name),
                 step_passed(arrivals->completed.items[i]));
    json_close(out, '}');
    json_close(out, '}');
}

cairn_code join_output(struct flow *flow, const struct flow_step *join, bool is_won,
                       const char **ret_output)
{
    struct arrivals arrivals;
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    TRY(collect(flow, join, &arrivals));
    write_output(&out, join, is_won, &arrivals);
    *ret_output = buf_keep(&buf, flow->arena);
    return *ret_output ? CAIRN_OK : fail_memory(flow->error);
}
