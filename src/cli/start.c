/* cli/start.c - cairn start: an instance of a workflow, to its end if wanted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/say.h"
#include "cli/source.h"
#include "cli/wait.h"

#include <string.h>

static int write_start(const struct args *args, cairn_engine *engine, const char *input,
                       struct buf *body)
{
    cairn_error error = {0};
    struct json_out out = {.buf = body};
    int64_t at_us = args_number(args, "at", 0);
    if (args_has(args, "in")) {
        if (cairn_clock_now(engine, &at_us, &error))
            return say_failure(&error);
        at_us = instant_add(at_us, args_number(args, "in", 0) * US_PER_MS);
    }
    json_open(&out, '{');
    json_key(&out, "workflow");
    json_str(&out, args->operands[0]);
    if (args_has(args, "version")) {
        json_key(&out, "version");
        json_int(&out, args_number(args, "version", 0));
    }
    if (input) {
        json_key(&out, "input");
        json_raw(&out, input);
    }
    if (args_has(args, "key")) {
        json_key(&out, "key");
        json_str(&out, args_text(args, "key"));
    }
    if (at_us) {
        json_key(&out, "start_at");
        json_time(&out, at_us);
    }
    json_close(&out, '}');
    return EXIT_DONE;
}

static int start(const struct args *args, cairn_engine *engine, const char *input)
{
    cleanup(buf_donep) struct buf body = {0};
    cleanup(answer_done) struct answer answer = {0};
    int exit_code = write_start(args, engine, input, &body);
    if (!exit_code)
        exit_code = call(engine, "POST", "/v1/instances", buf_text(&body), &answer);
    if (exit_code)
        return exit_code;
    bool is_waiting = args_has(args, "wait");
    if (!args_wants(args, "json"))
        puts(text_of(answer.tree, "id"));
    else if (!is_waiting)
        print_body(&answer);
    if (json_is_true(json_object_get(answer.tree, "existing")) && !args_wants(args, "json"))
        fprintf(stderr, "existing: the key \"%s\" was known, nothing was written\n",
                args_text(args, "key"));
    fflush(stdout);
    return is_waiting ? wait_for_instance(args, engine, text_of(answer.tree, "id")) : EXIT_DONE;
}

static int run_start(const struct args *args)
{
    cairn_error error = {0};
    if (args_has(args, "at") && args_has(args, "in")) {
        say_error("--at and --in exclude each other");
        return EXIT_USAGE;
    }
    if (args_has(args, "timeout") && !args_has(args, "wait")) {
        say_error("--timeout needs --wait");
        return EXIT_USAGE;
    }
    cleanup(buf_donep) struct buf input = {0};
    const char *given = args_text(args, "input");
    if (given && !source_read(given, &input))
        return EXIT_USAGE;
    if (given && json_check(buf_text(&input), input.len, "input", &error)) {
        say_failure(&error);
        return EXIT_USAGE;
    }
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    return exit_code ? exit_code : start(args, engine, given ? buf_text(&input) : NULL);
}

static const struct option start_options[] = {
    {.name = "version",
     .kind = OPTION_INT,
     .value = "N",
     .help = "the version of the workflow; the highest if not given",
     .min = 1,
     .max = INT32_MAX},
    {.name = "input",
     .kind = OPTION_FILE,
     .value = "JSON|@FILE|-",
     .help = "the instance's input; {} if not given"},
    {.name = "key",
     .kind = OPTION_TEXT,
     .value = "KEY",
     .help = "if an instance of the workflow has this key, print its id and start nothing"},
    {.name = "at", .kind = OPTION_INSTANT, .value = "TIME", .help = "not before, in RFC 3339"},
    {.name = "in",
     .kind = OPTION_DURATION,
     .value = "DURATION",
     .help = "not before this much time has passed, such as 90s or 1h30m",
     .min = 0,
     .max = INSTANT_MAX / US_PER_MS},
    {.name = "wait",
     .kind = OPTION_FLAG,
     .help = "wait until it has ended; the exit code is 0 if it completed, else 1"},
    WAIT_TIMEOUT_OPTION,
    {0},
};

const struct command command_start = {
    .name = "start",
    .operands = "WORKFLOW",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "start an instance of a workflow, and print its id",
    .about =
        "When the id is printed, the instance is recorded and will go on to its end, whatever "
        "happens to the processes on this machine. With -o json it prints {\"id\", "
        "\"existing\"}; with --wait the instance as it ended.\n\n"
        "--wait prints what the instance waits for to standard error after 3 seconds, and "
        "whenever that changes. --timeout ends the waiting, not the instance: exit code 4.",
    .example = "cairn start order --input '{\"order\": 17}' --key order-17\n"
               "cairn start order --input @order.json --wait --timeout 1m30s",
    .options = start_options,
    .outputs = "table json ids",
    .has_url = true,
    .creates_store = true,
    .run = run_start,
};
