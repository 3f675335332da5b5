/* cli/decide.c - cairn approve, cairn reject.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/say.h"

#include <stdio.h>

#define EXAMPLE_ID "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f"

static void write_decision(const struct args *args, const char *decision, struct buf *body)
{
    struct json_out out = {.buf = body};
    json_open(&out, '{');
    json_key(&out, "decision");
    json_str(&out, decision);
    json_key(&out, "by");
    json_str(&out, args_text(args, "by"));
    if (args_has(args, "comment")) {
        json_key(&out, "comment");
        json_str(&out, args_text(args, "comment"));
    }
    json_close(&out, '}');
}

static int decide(const struct args *args, const char *decision)
{
    if (!args_has(args, "by")) {
        say_error("%s needs --by WHO: it is kept with the decision", args->command->name);
        return EXIT_USAGE;
    }
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;

    cleanup(buf_donep) struct buf target = {0}, body = {0};
    cleanup(answer_done) struct answer answer = {0};
    write_decision(args, decision, &body);
    buf_str(&target, "/v1/instances/");
    target_path(&target, args->operands[0]);
    buf_str(&target, "/steps/");
    target_path(&target, args->operands[1]);
    buf_str(&target, "/decision");
    exit_code = call(engine, "POST", buf_text(&target), buf_text(&body), &answer);
    if (exit_code)
        return exit_code;
    if (args_wants(args, "json"))
        print_body(&answer);
    else
        printf("%s  %s\n", args->operands[0], text_of(answer.tree, "status"));
    return EXIT_DONE;
}

static int run_approve(const struct args *args)
{
    return decide(args, "confirmed");
}

static int run_reject(const struct args *args)
{
    return decide(args, "rejected");
}

static const struct option decide_options[] = {
    {.name = "by", .kind = OPTION_TEXT, .value = "WHO", .help = "who decides"},
    {.name = "comment", .kind = OPTION_TEXT, .value = "TEXT", .help = "why, or anything else"},
    {0},
};

const struct command command_approve = {
    .name = "approve",
    .operands = "ID STEP",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "decide about a human step: the instance goes on",
    .about = "What follows is ready in the same commit. A step is decided about once. Prints "
             "what the instance is then.",
    .example = "cairn approve " EXAMPLE_ID " approval --by ann --comment 'well done'",
    .options = decide_options,
    .outputs = "table json",
    .has_url = true,
    .run = run_approve,
};

const struct command command_reject = {
    .name = "reject",
    .operands = "ID STEP",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "decide about a human step: the instance is aborted",
    .about = "Nothing is undone. A step is decided about once. Prints what the instance is "
             "then.",
    .example = "cairn reject " EXAMPLE_ID " approval --by ann --comment 'too expensive'",
    .options = decide_options,
    .outputs = "table json",
    .has_url = true,
    .run = run_reject,
};
