/* cli/instance_list.c - cairn list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/pages.h"
#include "cli/print.h"

static void list_target(const struct args *args, const char *cursor, struct buf *target)
{
    buf_str(target, "/v1/instances");
    target_add(target, "status", args_text(args, "status"));
    target_add(target, "workflow", args_text(args, "workflow"));
    target_add(target, "key", args_text(args, "key"));
    target_add(target, "limit", args_has(args, "all") ? "1000" : args_text(args, "limit"));
    target_add(target, "cursor", cursor);
}

static void join_names(const json_t *names, struct buf *ret_text)
{
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name)
        buf_printf(ret_text, "%s%s", i ? "," : "", json_string_value(name));
}

static void add_row(struct grid *grid, const json_t *instance, int64_t now_us)
{
    char version[24], created[RELATIVE_TEXT];
    cleanup(buf_donep) struct buf steps = {0};
    snprintf(version, sizeof version, "%lld", (long long)int_of(instance, "version"));
    relative_time(time_of(instance, "created_at"), now_us, created);
    join_names(json_object_get(instance, "current_steps"), &steps);
    const char *cells[] = {
        text_of(instance, "id"),     text_of(instance, "workflow"),      version,
        text_of(instance, "status"), steps.len ? buf_text(&steps) : "-", created,
        text_of(instance, "key")};
    grid_row(grid, cells, 7);
}

static void print_table(const json_t *items, int64_t now_us, bool is_first)
{
    static const char *const head[] = {"ID",    "WORKFLOW", "VERSION", "STATUS",
                                       "STEPS", "CREATED",  "KEY"};
    size_t i;
    json_t *instance;
    struct grid grid = {0};
    if (is_first)
        grid_row(&grid, head, 7);
    json_array_foreach(items, i, instance) add_row(&grid, instance, now_us);
    grid_print(&grid);
    grid_done(&grid);
}

static int run_list(const struct args *args)
{
    static const struct pages pages = {.target = list_target, .table = print_table};
    return pages_run(args, &pages);
}

static const struct option list_options[] = {
    {.name = "status",
     .kind = OPTION_CHOICE,
     .value = "STATUS",
     .help = "only instances in this status",
     .choices = "pending running waiting_signal paused compensating dlq completed failed "
                "cancelled aborted"},
    {.name = "workflow",
     .kind = OPTION_TEXT,
     .value = "NAME",
     .help = "only instances of this workflow"},
    {.name = "key", .kind = OPTION_TEXT, .value = "KEY", .help = "only those with this key"},
    PAGE_OPTIONS,
    {0},
};

const struct command command_list = {
    .name = "list",
    .summary = "list instances, newest first",
    .about = "With -o json the answer is one object, {\"items\": [...], \"next\": CURSOR or "
             "null}; with --all it holds every page and next is null.",
    .example = "cairn list --status failed --workflow order\n"
               "cairn list --status failed --all -o ids | cairn retry -",
    .options = list_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_list,
};
