/* cli/dlq.c - cairn dlq list, cairn dlq show, cairn dlq requeue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/pages.h"
#include "cli/print.h"
#include "cli/say.h"
#include "cli/source.h"

#include <stdio.h>

/* ---- list ------------------------------------------------------------------------------- */

static void list_target(const struct args *args, const char *cursor, struct buf *target)
{
    buf_str(target, "/v1/dlq");
    target_add(target, "limit", args_has(args, "all") ? "1000" : args_text(args, "limit"));
    target_add(target, "cursor", cursor);
}

static void print_table(const json_t *items, int64_t now_us, bool is_first)
{
    static const char *const head[] = {"N",       "INSTANCE", "WORKFLOW", "STEP",
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
        const char *cells[] = {text_of(record, "id"),
                               text_of(record, "instance_id"),
                               text_of(record, "workflow_id"),
                               text_of(record, "step_name"),
                               created,
                               text_of(record, "reason"),
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

/* ---- show ------------------------------------------------------------------------------- */

static void print_record(const struct answer *answer)
{
    static const char *const texts[] = {"id",      "instance_id", "workflow_id",
                                        "step_id", "step_name",   "step_type",
                                        "reason",  "error",       "created_at"};
    size_t len = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        print_line(texts[i], text_of(answer->tree, texts[i]));
    print_line("is_open",
               json_is_true(json_object_get(answer->tree, "is_open")) ? "yes" : "no");
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
        print_record(&answer);
    return EXIT_DONE;
}

/* ---- requeue ---------------------------------------------------------------------------- */

static int read_input(const struct args *args, struct buf *ret_body)
{
    cairn_error error = {0};
    cleanup(buf_donep) struct buf input = {0};
    struct json_out out = {.buf = ret_body};
    const char *given = args_text(args, "input");
    if (!given)
        return EXIT_DONE;
    if (!source_read(given, &input))
        return EXIT_USAGE;
    if (json_check(buf_text(&input), input.len, "input", &error)) {
        say_failure(&error);
        return EXIT_USAGE;
    }
    json_open(&out, '{');
    json_key(&out, "input");
    json_raw(&out, buf_text(&input));
    json_close(&out, '}');
    return EXIT_DONE;
}

static int run_requeue(const struct args *args)
{
    cleanup(buf_donep) struct buf target = {0}, body = {0};
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = read_input(args, &body);
    if (!exit_code)
        exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;

    cleanup(answer_done) struct answer answer = {0};
    buf_str(&target, "/v1/dlq/");
    target_path(&target, args->operands[0]);
    buf_str(&target, "/requeue");
    exit_code =
        call(engine, "POST", buf_text(&target), body.len ? buf_text(&body) : NULL, &answer);
    if (exit_code)
        return exit_code;
    if (args_wants(args, "json"))
        print_body(&answer);
    else
        printf("%s  %s\n", text_of(answer.tree, "id"), text_of(answer.tree, "status"));
    return EXIT_DONE;
}

/* ---- commands --------------------------------------------------------------------------- */

static const struct option list_options[] = {
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

static const struct option requeue_options[] = {
    {.name = "input",
     .kind = OPTION_FILE,
     .value = "JSON|@FILE|-",
     .help = "what the step is given this time; its own input if not given"},
    {0},
};

const struct command command_dlq_list = {
    .name = "dlq list",
    .summary = "list failed steps that wait for somebody to look at them",
    .about = "The newest first: steps of workflows with \"dlq: true\", and compensations that "
             "ran out of attempts.",
    .example = "cairn dlq list",
    .options = list_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_list,
};

const struct command command_dlq_show = {
    .name = "dlq show",
    .operands = "N",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "show one record of the dead letter queue",
    .example = "cairn dlq show 7",
    .outputs = "table json",
    .has_url = true,
    .run = run_show,
};

const struct command command_dlq_requeue = {
    .name = "dlq requeue",
    .operands = "N",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "try a failed step, or a failed compensation, again",
    .about = "It gets fresh attempts, and everything that was held back with it goes on. "
             "Prints what the instance is then. A record can be requeued once.",
    .example = "cairn dlq requeue 7\n"
               "cairn dlq requeue 7 --input '{\"customer\": 42}'",
    .options = requeue_options,
    .outputs = "table json",
    .has_url = true,
    .run = run_requeue,
};
