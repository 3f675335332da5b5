/* cli/job_control.c - cairn job cancel, retry, delete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/ids.h"
#include "cli/print.h"
#include "cli/say.h"

#include <string.h>

struct control {
    const struct args *args;
    cairn_engine *engine;
    const char *method, *suffix; /* of the route */
    const char *done;            /* what has happened to the job, in a word */
    size_t count;                /* JSON items printed so far */
};

/* A refusal among several, in the form that a batch of reports has. */
static void print_refused(const char *id, const struct answer *answer)
{
    cleanup(buf_donep) struct buf text = {0};
    struct json_out out = {.buf = &text};
    json_open(&out, '{');
    json_key(&out, "id");
    json_str(&out, id);
    json_key(&out, "code");
    json_str(&out, text_of(answer->tree, "code"));
    json_key(&out, "message");
    json_str(&out, text_of(answer->tree, "message"));
    json_close(&out, '}');
    fputs(buf_text(&text), stdout);
}

static void print_one(struct control *control, const char *id, const struct answer *answer,
                      bool is_done)
{
    if (args_wants(control->args, "json")) {
        if (!is_done && (!ids_are_many(control->args) || !answer->tree))
            return;
        fputs(control->count++ ? "," : "", stdout);
        if (is_done)
            fwrite(answer->body, 1, answer->len, stdout);
        else
            print_refused(id, answer);
    } else if (is_done && args_wants(control->args, "ids")) {
        puts(id);
    } else if (is_done) {
        printf("%s  %s\n", id, control->done);
    }
}

static int control_one(const char *id, void *arg)
{
    struct control *control = arg;
    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    buf_str(&target, "/v1/jobs/");
    target_path(&target, id);
    buf_str(&target, control->suffix);
    int exit_code = call(control->engine, control->method, buf_text(&target), NULL, &answer);
    print_one(control, id, &answer, exit_code == EXIT_DONE);
    return exit_code;
}

static int run_control(const struct args *args, const char *method, const char *suffix,
                       const char *done)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;

    struct control control = {
        .args = args, .engine = engine, .method = method, .suffix = suffix, .done = done};
    bool is_json = args_wants(args, "json");
    bool is_list = is_json && ids_are_many(args);
    fputs(is_list ? "{\"items\":[" : "", stdout);
    exit_code = ids_each(args, control_one, &control);
    fputs(is_list ? "],\"next\":null}" : "", stdout);
    fputs(is_list || (is_json && control.count) ? "\n" : "", stdout);
    return exit_code;
}

static int run_cancel(const struct args *args)
{
    return run_control(args, "POST", "/cancel", "cancelled");
}

static int run_retry(const struct args *args)
{
    return run_control(args, "POST", "/retry", "pending");
}

static int run_delete(const struct args *args)
{
    return run_control(args, "DELETE", "", "deleted");
}

#define MANY_IDS                                                                          \
    " \"-\" reads ids from standard input. After a refusal the others are still done, "   \
    "and the exit code is 1. With -o json one id gives the job; several, or \"-\", give " \
    "{\"items\": [...], \"next\": null}, where a refused one is {\"id\", \"code\", "      \
    "\"message\"}."

const struct command command_job_cancel = {
    .name = "job cancel",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "cancel jobs that have not ended",
    .about =
        "A job is cancelled at once: no later result of its worker can change that, and "
        "the worker is told at its next heartbeat. A job that has ended is refused." MANY_IDS,
    .example = "cairn job cancel 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f\n"
               "cairn job list --type 'mail.%' --status pending -o ids | cairn job cancel -",
    .outputs = "table json ids",
    .has_url = true,
    .run = run_cancel,
};

const struct command command_job_retry = {
    .name = "job retry",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "make failed or cancelled jobs pending again",
    .about = "The job starts with fresh attempts. Only failed and cancelled jobs can be "
             "retried." MANY_IDS,
    .example = "cairn job list -o ids --status failed | cairn job retry -",
    .outputs = "table json ids",
    .has_url = true,
    .run = run_retry,
};

const struct command command_job_delete = {
    .name = "job delete",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "delete jobs: neither claimed nor listed again",
    .about =
        "The row stays, marked as deleted, and is still shown by its id. A job that had not "
        "ended is cancelled. Deleting twice is the same as once." MANY_IDS,
    .example = "cairn job delete 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f",
    .outputs = "table json ids",
    .has_url = true,
    .run = run_delete,
};
