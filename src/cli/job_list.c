/* cli/job_list.c - cairn job list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/call.h"
#include "cli/job.h"
#include "cli/pages.h"
#include "cli/print.h"

#include <inttypes.h>
#include <string.h>

static void list_target(const struct args *args, const char *cursor, struct buf *target)
{
    buf_str(target, "/v1/jobs");
    target_add(target, "status", args_text(args, "status"));
    target_add(target, "type", args_text(args, "type"));
    target_add(target, "key", args_text(args, "key"));
    target_add(target, "limit", args_has(args, "all") ? "1000" : args_text(args, "limit"));
    target_add(target, "cursor", cursor);
}

/* When a pending job will be due. */
static void due_text(const json_t *job, int64_t now_us, char text[RELATIVE_TEXT])
{
    int64_t run_at_us = time_of(job, "run_at");
    if (strcmp(text_of(job, "status"), "pending") != 0)
        snprintf(text, RELATIVE_TEXT, "-");
    else if (run_at_us <= now_us)
        snprintf(text, RELATIVE_TEXT, "now");
    else
        relative_time(run_at_us, now_us, text);
}

static void add_row(struct grid *grid, const json_t *job, int64_t now_us)
{
    char attempts[CALLS_TEXT], priority[24], due[RELATIVE_TEXT], created[RELATIVE_TEXT];
    calls_text(int_of(job, "attempt"), job_is_called(job), int_of(job, "max_attempts"),
               attempts);
    snprintf(priority, sizeof priority, "%" PRId64, int_of(job, "priority"));
    due_text(job, now_us, due);
    relative_time(time_of(job, "created_at"), now_us, created);
    const char *cells[] = {text_of(job, "id"),
                           text_of(job, "type"),
                           text_of(job, "status"),
                           attempts,
                           priority,
                           due,
                           created,
                           text_of(job, "idempotency_key")};
    grid_row(grid, cells, 8);
}

static void print_table(const json_t *items, int64_t now_us, bool is_first)
{
    static const char *const head[] = {"ID",       "TYPE", "STATUS",  "ATTEMPT",
                                       "PRIORITY", "DUE",  "CREATED", "KEY"};
    size_t i;
    json_t *job;
    struct grid grid = {0};
    if (is_first)
        grid_row(&grid, head, 8);
    json_array_foreach(items, i, job) add_row(&grid, job, now_us);
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
     .help = "only jobs in this status",
     .choices = "pending leased succeeded failed cancelled"},
    {.name = "type",
     .kind = OPTION_TEXT,
     .value = "TYPE",
     .help = "only jobs of this type, or of a prefix such as billing.%"},
    {.name = "key", .kind = OPTION_TEXT, .value = "KEY", .help = "only the job with this key"},
    PAGE_OPTIONS,
    {0},
};

const struct command command_job_list = {
    .name = "job list",
    .summary = "list jobs, newest first",
    .about =
        "Deleted jobs are left out. With -o json the answer is one object, {\"items\": "
        "[...], \"next\": CURSOR or null}; with --all it holds every page and next is null.",
    .example = "cairn job list --status failed --type 'billing.%'\n"
               "cairn job list --status failed --all -o ids | cairn job retry -",
    .options = list_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_list,
};
