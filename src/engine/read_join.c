/* engine/read_join.c - what a join waits for, computed from the rows of its branches when it is read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/scan.h"
#include "core/branch.h"
#include "definition/definition.h"
#include "engine/read.h"

#include <string.h>

enum { PORTION = 500 };

/* ---- the rows ------------------------------------------------------------------------------- */

/* Conditions, forks and joins tell by their configs how the rows belong together. */
static cairn_code add_row(struct question *q, const struct step_row *row,
                          struct branch_row *ret_row)
{
    *ret_row = (struct branch_row){.row = row};
    if (row->kind != KIND_CONDITION && row->kind != KIND_FORK && row->kind != KIND_JOIN)
        return CAIRN_OK;
    struct step_config *config = arena_zalloc(q->arena, sizeof *config);
    NEED(config, q->error);
    ret_row->config = config;
    return step_config_read(q->arena, row->config, config, q->error);
}

static cairn_code read_rows(struct question *q, const char *id, struct branch_rows *rows)
{
    LIST(struct branch_row) found = {0};
    size_t count = PORTION;
    for (int32_t from = rows->fork; count == PORTION && from < rows->join;) {
        struct step_row *portion = arena_array(q->arena, PORTION, sizeof *portion);
        NEED(portion, q->error);
        TRY(STORE(q, list_fork_steps, id, from, rows->join - 1, portion, PORTION, &count));
        for (size_t i = 0; i < count; i++) {
            struct branch_row *added = list_add(q->arena, &found);
            NEED(added, q->error);
            TRY(add_row(q, &portion[i], added));
            from = portion[i].seq + 1;
        }
    }
    rows->items = found.items;
    rows->count = found.count;
    return CAIRN_OK;
}

/* ---- the names ------------------------------------------------------------------------------ */

/* What is known of a join. */
struct join_look {
    const struct step_row *join;
    struct branch_rows rows;
    struct {
        const char **items;
        size_t count, room;
    } failed; /* names, of its output */
};

/* Once a join has an output, that says which steps failed, also when they have been undone since. */
static cairn_code read_failed(struct question *q, struct join_look *look)
{
    const char *text = look->join->output;
    struct slice output, item;
    struct scan scan;
    if (!text || !scan_text(text, strlen(text), &output) ||
        !scan_list(scan_find(output, "failed"), &scan))
        return CAIRN_OK;
    while (scan_item(&scan, &item)) {
        const char **name = list_add(q->arena, &look->failed);
        NEED(name, q->error);
        *name = slice_is_string(item) ? slice_string(item, q->arena) : "";
        NEED(*name, q->error);
    }
    return CAIRN_OK;
}

/* The step whose failure lost a branch. */
static const struct step_row *find_loser(const struct join_look *look,
                                         struct place_range branch)
{
    const struct branch_rows *rows = &look->rows;
    if (!look->join->output)
        return branch_loser(rows, branch, false);
    for (size_t i = 0; rows->items && i < rows->count; i++)
        for (size_t k = 0; k < look->failed.count; k++)
            if (place_is_inside(branch, rows->items[i].row->seq) &&
                strcmp(rows->items[i].row->name, look->failed.items[k]) == 0)
                return rows->items[i].row;
    return NULL;
}

static cairn_code name_branch(struct question *q, const struct join_look *look,
                              struct place_range branch, const char **ret_name)
{
    const struct step_row *loser = find_loser(look, branch);
    const struct branch_row *end = branch_end(&look->rows, branch);
    if (loser)
        *ret_name = loser->name;
    else if (!end)
        *ret_name = ""; /* its row was deleted */
    else if (branch_is_decided(end))
        *ret_name = end->row->name;
    else
        *ret_name = arena_printf(q->arena, "cond#%s", end->row->name);
    return *ret_name ? CAIRN_OK : fail_memory(q->error);
}

cairn_code question_wait_for(struct question *q, const struct step_row *row,
                             cairn_step *ret_item)
{
    struct step_config config;
    struct join_look look = {.join = row};
    struct branch_rows *rows = &look.rows;
    if (row->kind != KIND_JOIN)
        return CAIRN_OK;
    TRY(step_config_read(q->arena, row->config, &config, q->error));
    *rows =
        (struct branch_rows){.fork = config.fork, .join = row->seq, .is_any = config.is_any};
    TRY(read_rows(q, row->instance_id, rows));
    TRY(read_failed(q, &look));
    const struct branch_row *fork = rows->count ? &rows->items[0] : NULL;
    if (fork && fork->row->seq == config.fork && fork->row->kind == KIND_FORK) {
        rows->branches = fork->config->branches;
        rows->branch_count = fork->config->branch_count;
    }
    const char **names = arena_array(q->arena, rows->branch_count + 1, sizeof *names);
    NEED(names, q->error);
    for (size_t i = 0; i < rows->branch_count; i++)
        TRY(name_branch(q, &look, rows->branches[i], &names[i]));
    ret_item->wait_for = names;
    ret_item->wait_for_count = rows->branch_count;
    return CAIRN_OK;
}
