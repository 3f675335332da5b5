/* cli/dlq.c - cairn dlq list, dlq show, dlq requeue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/control.h"
#include "cli/ids.h"
#include "cli/pages.h"
#include "cli/print.h"
#include "cli/say.h"
#include "cli/source.h"

#include <string.h>

/* ---- list ------------------------------------------------------------------------------- */

static void list_target(const struct args *args, const char *cursor, struct buf *target)
{
    buf_str(target, "/v1/dlq");
    target_add(target, "limit", args_has(args, "all") ? "1000" : args_text(args, "limit"));
    target_add(target, "cursor", cursor);
}

static void print_table(const json_t *items, int64_t now_us, bool is_first)
{
    static const char *const head[] = {"ID",      "INSTANCE", "WORKFLOW", "STEP",
                                       "CREATED", "REASON",   "ERROR"};
    size_t i;
    json_t *record;
    struct grid grid = {0};
    if (is_first)
        grid_row(&grid, head, 7);
    json_array_foreach(items, i, record)
    {
        char created[RELATIVE_TEXT];
        relative_time(time_of(record, "created_at"), now_us, created);
        bool is_undo = strncmp(text_of(record, "reason"), "compensation", 12) == 0;
        const char *cells[] = {text_of(record, "id"),
                               text_of(record, "instance_id"),
                               text_of(record, "workflow_id"),
                               text_of(record, "step_name"),
                               created,
                               is_undo ? "not undone" : "failed",
                               text_of(record, "error")};
        grid_row(&grid, cells, 7);
    }
    grid_print(&grid);
    grid_done(&grid);
}

static int run_list(const struct args *args)
{
    static const struct pages pages = {.target = list_target, .table = print_table};
    return pages_run(args, &pages);
}

static const struct option list_options[] = {
    PAGE_OPTIONS,
    {0},
};

const struct command command_dlq_list = {
    .name = "dlq list",
    .summary = "list what waits in the dead letter queue, newest first",
    .about = "Open records: steps that have failed for good in a workflow with dlq: true, and "
             "compensations that could not be done (\"not undone\").",
    .example = "cairn dlq list",
    .options = list_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_list,
};

/* ---- show ------------------------------------------------------------------------------- */

static void print_record(cairn_engine *engine, const struct answer *answer)
{
    static const char *const texts[] = {"id",        "instance_id", "workflow_id", "step_id",
                                        "step_name", "step_type",   "reason",      "error"};
    char created[BOTH_TEXT];
    int64_t now_us = 0;
    size_t len = 0;
    cairn_clock_now(engine, &now_us, NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        print_line(texts[i], text_of(answer->tree, texts[i]));
    bool is_open = json_is_true(json_object_get(answer->tree, "is_open"));
    print_line("is_open", is_open ? "yes" : "no");
    both_times(time_of(answer->tree, "created_at"), now_us, created);
    print_line("created_at", created);
    const char *input = body_member(answer, "input", &len);
    if (input)
        print_field("input", input, len);
}

static int run_show(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;

    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    buf_str(&target, "/v1/dlq/");
    target_path(&target, args->operands[0]);
    exit_code = call(engine, "GET", buf_text(&target), NULL, &answer);
    if (exit_code)
        return exit_code;
    if (args_wants(args, "json"))
        print_body(&answer);
    else
        print_record(engine, &answer);
    return EXIT_DONE;
}

const struct command command_dlq_show = {
    .name = "dlq show",
    .operands = "N",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "show a record of the dead letter queue whole",
    .example = "cairn dlq show 17",
    .outputs = "table json",
    .has_url = true,
    .run = run_show,
};

/* ---- requeue ---------------------------------------------------------------------------- */

static int run_requeue(const struct args *args)
{
    cairn_error error = {0};
    cleanup(buf_donep) struct buf input = {0}, body = {0};
    const char *given = args_text(args, "input");
    if (given && strcmp(given, "-") == 0 && ids_are_many(args)) {
        say_error("standard input cannot be both the ids and the input");
        return EXIT_USAGE;
    }
    if (given && !source_read(given, &input))
        return EXIT_USAGE;
    if (given && json_check(buf_text(&input), input.len, "input", &error)) {
        say_failure(&error);
        return EXIT_USAGE;
    }
    if (given) {
        struct json_out out = {.buf = &body};
        json_open(&out, '{');
        json_key(&out, "input");
        json_raw(&out, buf_text(&input));
        json_close(&out, '}');
    }
    struct control control = {.path = "/v1/dlq/",
                              .method = "POST",
                              .suffix = "/requeue",
                              .body = given ? buf_text(&body) : NULL};
    return control_run(args, &control);
}

static const struct option requeue_options[] = {
    {.name = "input",
     .kind = OPTION_FILE,
     .value = "JSON|@FILE|-",
     .help = "the step's new input; the one it had if not given"},
    {0},
};

const struct command command_dlq_requeue = {
    .name = "dlq requeue",
    .operands = "N...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "try what waits in the dead letter queue again",
    .about =
        "The step, or the compensation, is called again with fresh attempts, and everything "
        "that was held back goes on. Twice is refused. Prints what the instance is "
        "then." CONTROL_MANY("instance"),
    .example = "cairn dlq requeue 17 --input '{\"file\": \"prices.csv\"}'\n"
               "cairn dlq list --all -o ids | cairn dlq requeue -",
    .options = requeue_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_requeue,
};
