/* cli/job_list.c - cairn job list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/print.h"
#include "cli/say.h"

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
    char attempts[48], priority[24], due[RELATIVE_TEXT], created[RELATIVE_TEXT];
    snprintf(attempts, sizeof attempts, "%" PRId64 "/%" PRId64, int_of(job, "attempt"),
             int_of(job, "max_attempts"));
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

static void print_ids(const json_t *items)
{
    size_t i;
    json_t *job;
    json_array_foreach(items, i, job) puts(text_of(job, "id"));
}

/* The items of a page as they stand in the answer, so that all pages make one document. */
static void print_items(const struct answer *answer, bool is_first)
{
    size_t len = 0;
    const char *items = body_member(answer, "items", &len);
    fputs(is_first ? "{\"items\":[" : "", stdout);
    if (items && json_array_size(json_object_get(answer->tree, "items"))) {
        fputs(is_first ? "" : ",", stdout);
        fwrite(items + 1, 1, len - 2, stdout);
    }
}

static void print_page(const struct args *args, cairn_engine *engine,
                       const struct answer *answer, bool is_first)
{
    const json_t *items = json_object_get(answer->tree, "items");
    int64_t now_us = 0;
    if (args_wants(args, "ids")) {
        print_ids(items);
    } else if (args_wants(args, "json")) {
        print_items(answer, is_first);
    } else {
        cairn_clock_now(engine, &now_us, NULL);
        print_table(items, now_us, is_first);
    }
}

/* What follows the last page that was printed. */
static void print_end(const struct args *args, const char *next)
{
    if (args_wants(args, "json")) {
        if (*next)
            printf("],\"next\":\"%s\"}\n", next);
        else
            puts("],\"next\":null}");
    } else if (*next) {
        fprintf(stderr, "There are more: add --cursor %s or --all\n", next);
    }
}

static int run_list(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;

    char cursor[256];
    const char *given = args_text(args, "cursor");
    for (bool is_first = true;; is_first = false) {
        cleanup(buf_donep) struct buf target = {0};
        cleanup(answer_done) struct answer answer = {0};
        list_target(args, is_first ? given : cursor, &target);
        exit_code = call(engine, "GET", buf_text(&target), NULL, &answer);
        if (exit_code)
            return exit_code;
        print_page(args, engine, &answer, is_first);
        snprintf(cursor, sizeof cursor, "%s", text_of(answer.tree, "next"));
        if (!*cursor || !args_has(args, "all"))
            break;
    }
    print_end(args, cursor);
    return EXIT_DONE;
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
    {.name = "limit",
     .kind = OPTION_INT,
     .value = "N",
     .help = "at most so many, 1 to 1000; 100 if not given",
     .min = 1,
     .max = 1000},
    {.name = "cursor",
     .kind = OPTION_TEXT,
     .value = "CURSOR",
     .help = "go on where a page ended: its \"next\""},
    {.name = "all", .kind = OPTION_FLAG, .help = "all pages, not only the first"},
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
