/* cli/instance_control.c - cairn signal, pause, resume, restart, retry, cancel, abort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/control.h"
#include "cli/say.h"
#include "cli/source.h"

#include <string.h>

#define EXAMPLE_ID "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f"

/* ---- signal ----------------------------------------------------------------------------- */

static void write_signal(const struct args *args, const char *payload, struct buf *body)
{
    struct json_out out = {.buf = body};
    json_open(&out, '{');
    json_key(&out, "event");
    json_str(&out, args->operands[1]);
    if (payload) {
        json_key(&out, "payload");
        json_raw(&out, payload);
    }
    if (args_has(args, "id")) {
        json_key(&out, "id");
        json_str(&out, args_text(args, "id"));
    }
    if (args_has(args, "no-latch")) {
        json_key(&out, "latch");
        json_bool(&out, false);
    }
    json_close(&out, '}');
}

/* What became of it, in a word. */
static const char *signal_word(const json_t *answer)
{
    if (json_is_true(json_object_get(answer, "existing")))
        return "existing";
    if (json_is_true(json_object_get(answer, "taken")))
        return "taken";
    return json_is_true(json_object_get(answer, "kept")) ? "kept" : "dropped";
}

static int run_signal(const struct args *args)
{
    cairn_error error = {0};
    cleanup(buf_donep) struct buf payload = {0};
    const char *given = args_text(args, "payload");
    if (given && !source_read(given, &payload))
        return EXIT_USAGE;
    if (given && json_check(buf_text(&payload), payload.len, "payload", &error)) {
        say_failure(&error);
        return EXIT_USAGE;
    }
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;

    cleanup(buf_donep) struct buf target = {0}, body = {0};
    cleanup(answer_done) struct answer answer = {0};
    write_signal(args, given ? buf_text(&payload) : NULL, &body);
    buf_str(&target, "/v1/instances/");
    target_path(&target, args->operands[0]);
    buf_str(&target, "/signal");
    exit_code = call(engine, "POST", buf_text(&target), buf_text(&body), &answer);
    if (exit_code)
        return exit_code;
    if (args_wants(args, "json"))
        print_body(&answer);
    else
        printf("%s  %s\n", args->operands[0], signal_word(answer.tree));
    return EXIT_DONE;
}

static const struct option signal_options[] = {
    {.name = "payload",
     .kind = OPTION_FILE,
     .value = "JSON|@FILE|-",
     .help = "what the signal carries; null if not given"},
    {.name = "id",
     .kind = OPTION_TEXT,
     .value = "ID",
     .help = "the signal's own id: sending a known one again changes nothing"},
    {.name = "no-latch", .kind = OPTION_FLAG, .help = "drop it if nobody waits for it now"},
    {0},
};

const struct command command_signal = {
    .name = "signal",
    .operands = "ID EVENT",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "send a signal to an instance",
    .about =
        "Prints what became of it: taken (somebody waited and goes on), kept (for the first "
        "to wait for it), existing (its id was known, nothing was written) or dropped. An "
        "instance that has ended refuses signals.",
    .example = "cairn signal " EXAMPLE_ID " payment.settled --payload '{\"amount\": 12}'",
    .options = signal_options,
    .outputs = "table json",
    .has_url = true,
    .run = run_signal,
};

/* ---- control ---------------------------------------------------------------------------- */

static int run_verb(const struct args *args, const char *suffix, const char *body)
{
    struct control control = {
        .path = "/v1/instances/", .method = "POST", .suffix = suffix, .body = body};
    return control_run(args, &control);
}

static int run_pause(const struct args *args)
{
    return run_verb(args, "/pause", NULL);
}

static int run_resume(const struct args *args)
{
    return run_verb(args, "/resume", args_has(args, "force") ? "{\"force\":true}" : NULL);
}

static int run_restart(const struct args *args)
{
    return run_verb(args, "/restart", NULL);
}

static int run_retry(const struct args *args)
{
    return run_verb(args, "/retry", NULL);
}

static int run_stop(const struct args *args, const char *suffix)
{
    cleanup(buf_donep) struct buf body = {0};
    struct json_out out = {.buf = &body};
    if (!args_has(args, "by") || !args_has(args, "reason")) {
        say_error("%s needs --by WHO and --reason TEXT: both are kept with the instance",
                  args->command->name);
        return EXIT_USAGE;
    }
    json_open(&out, '{');
    json_key(&out, "by");
    json_str(&out, args_text(args, "by"));
    json_key(&out, "reason");
    json_str(&out, args_text(args, "reason"));
    json_close(&out, '}');
    return run_verb(args, suffix, buf_text(&body));
}

static int run_cancel(const struct args *args)
{
    return run_stop(args, "/cancel");
}

static int run_abort(const struct args *args)
{
    return run_stop(args, "/abort");
}

static const struct option resume_options[] = {
    {.name = "force",
     .kind = OPTION_FLAG,
     .help = "accept code that no longer matches what was remembered"},
    {0},
};

static const struct option stop_options[] = {
    {.name = "by", .kind = OPTION_TEXT, .value = "WHO", .help = "who stops it"},
    {.name = "reason", .kind = OPTION_TEXT, .value = "TEXT", .help = "why"},
    {0},
};

#define MANY_IDS " Prints what the instance is then." CONTROL_MANY("instance")

const struct command command_pause = {
    .name = "pause",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "let nothing new start in instances",
    .about = "What runs may finish, timers go on counting, signals are kept." MANY_IDS,
    .example = "cairn pause " EXAMPLE_ID,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_pause,
};

const struct command command_resume = {
    .name = "resume",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "let paused instances go on",
    .about = "A step whose failure paused its instance is tried again with fresh attempts. A "
             "function that is paused with version_mismatch goes on if its code matches again, "
             "or with --force: what matches answers from memory, the rest is executed "
             "anew." MANY_IDS,
    .example = "cairn list --status paused -o ids | cairn resume -",
    .options = resume_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_resume,
};

const struct command command_restart = {
    .name = "restart",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "begin instances anew, from their original input",
    .about = "Nothing is undone: every step is executed again." MANY_IDS,
    .example = "cairn restart " EXAMPLE_ID,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_restart,
};

const struct command command_retry = {
    .name = "retry",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "try the failed steps of failed instances again",
    .about = "Failed, rolled-back and stopped steps get fresh attempts; completed ones stay as "
             "they are." MANY_IDS,
    .example = "cairn list --status failed --all -o ids | cairn retry -",
    .outputs = "table json ids",
    .has_url = true,
    .run = run_retry,
};

const struct command command_cancel = {
    .name = "cancel",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "stop instances, and undo what they have done",
    .about =
        "Running workers are told at their next heartbeat; then completed steps are undone "
        "by their compensations, the latest first." MANY_IDS,
    .example = "cairn cancel " EXAMPLE_ID " --by ann --reason 'ordered twice'",
    .options = stop_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_cancel,
};

const struct command command_abort = {
    .name = "abort",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "stop instances, and undo nothing",
    .about =
        "Running workers are told at their next heartbeat. An instance that is being undone "
        "can be aborted, too." MANY_IDS,
    .example = "cairn abort " EXAMPLE_ID " --by ann --reason 'will be done by hand'",
    .options = stop_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_abort,
};
