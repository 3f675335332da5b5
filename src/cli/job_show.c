/* cli/job_show.c - cairn job show, cairn job events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/events.h"
#include "cli/ids.h"
#include "cli/job.h"
#include "cli/print.h"

#include <inttypes.h>
#include <string.h>

/* What an action on each id needs to know. */
struct showing {
    const struct args *args;
    cairn_engine *engine;
    int64_t now_us;
    size_t count; /* shown so far */
};

static void print_time(const json_t *job, const char *key, int64_t now_us)
{
    char text[BOTH_TEXT];
    int64_t at_us = time_of(job, key);
    if (!at_us)
        return;
    both_times(at_us, now_us, text);
    print_line(key, text);
}

/* JSON of the user's, as its own bytes. */
static void print_json(const struct answer *answer, const char *key)
{
    size_t len = 0;
    const char *text = body_member(answer, key, &len);
    if (text && !(len == 4 && memcmp(text, "null", 4) == 0))
        print_field(key, text, len);
}

static void print_job(const struct answer *answer, int64_t now_us)
{
    static const char *const texts[] = {"id", "type", "status", "idempotency_key"};
    static const char *const times[] = {"run_at", "created_at", "updated_at", "deleted_at"};
    const json_t *job = answer->tree;
    char number[64];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        print_line(i == 3 ? "key" : texts[i], text_of(job, texts[i]));
    snprintf(number, sizeof number, "%" PRId64, int_of(job, "priority"));
    print_line("priority", number);
    calls_text(int_of(job, "attempt"), job_is_called(job), int_of(job, "max_attempts"), number);
    print_line("attempts", number);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        print_time(job, times[i], now_us);
    print_line("leased_by", text_of(job, "leased_by"));
    print_time(job, "lease_until", now_us);
    print_line("last_error", text_of(job, "last_error"));
    print_json(answer, "payload");
    print_json(answer, "result");
}

bool job_is_called(const json_t *job)
{
    const char *status = text_of(job, "status");
    return strcmp(status, "succeeded") == 0 || *text_of(job, "leased_by");
}

static int show_one(const char *id, void *arg)
{
    struct showing *showing = arg;
    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    buf_str(&target, "/v1/jobs/");
    target_path(&target, id);
    int exit_code = call(showing->engine, "GET", buf_text(&target), NULL, &answer);
    if (exit_code)
        return exit_code;

    bool is_next = showing->count++ > 0;
    if (args_wants(showing->args, "json")) {
        fputs(is_next ? "," : "", stdout);
        fwrite(answer.body, 1, answer.len, stdout);
    } else if (args_wants(showing->args, "ids")) {
        puts(text_of(answer.tree, "id"));
    } else {
        fputs(is_next ? "\n" : "", stdout);
        print_job(&answer, showing->now_us);
    }
    return EXIT_DONE;
}

static int run_show(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;

    struct showing showing = {.args = args, .engine = engine};
    cairn_clock_now(engine, &showing.now_us, NULL);
    bool is_json = args_wants(args, "json");
    bool is_list = is_json && ids_are_many(args);
    fputs(is_list ? "{\"items\":[" : "", stdout);
    exit_code = ids_each(args, show_one, &showing);
    fputs(is_list ? "],\"next\":null}" : "", stdout);
    fputs(is_list || (is_json && showing.count) ? "\n" : "", stdout);
    return exit_code;
}

const struct command command_job_show = {
    .name = "job show",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "show jobs whole",
    .about = "With -o json one id gives the job; several, or \"-\", give {\"items\": [...], "
             "\"next\": null} with those that were found.",
    .example = "cairn job show 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f",
    .outputs = "table json ids",
    .has_url = true,
    .run = run_show,
};

/* ---- events ----------------------------------------------------------------------------- */

static int run_events(const struct args *args)
{
    return feed_run(args, &job_events);
}

const struct command command_job_events = {
    .name = "job events",
    .operands = "ID",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "tell what happened to a job, oldest first",
    .example = "cairn job events 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f --follow",
    .options = feed_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_events,
};
