/* cli/job_show.c - cairn job show, cairn job events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/ids.h"
#include "cli/print.h"
#include "cli/say.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    snprintf(number, sizeof number, "%" PRId64 " failed of %" PRId64, int_of(job, "attempt"),
             int_of(job, "max_attempts"));
    print_line("attempts", number);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        print_time(job, times[i], now_us);
    print_line("leased_by", text_of(job, "leased_by"));
    print_time(job, "lease_until", now_us);
    print_line("last_error", text_of(job, "last_error"));
    print_json(answer, "payload");
    print_json(answer, "result");
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

static void events_target(const struct args *args, const char *id, const char *cursor,
                          struct buf *target)
{
    buf_str(target, "/v1/jobs/");
    target_path(target, id);
    buf_str(target, "/events");
    target_add(target, "limit", args_text(args, "limit"));
    target_add(target, "cursor", cursor);
}

static void print_event(const json_t *event)
{
    const json_t *data = json_object_get(event, "data");
    char *text = json_dumps(data, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    cleanup(buf_donep) struct buf line = {0};
    buf_printf(&line, "%s  %-9s  ", text_of(event, "at"), text_of(event, "type"));
    buf_str(&line, text && strcmp(text, "null") != 0 ? text : "");
    cleanup(buf_donep) struct buf clean = {0};
    buf_clean(&clean, buf_text(&line), line.len);
    puts(buf_text(&clean));
    free(text);
}

static void print_events(const json_t *items, bool are_ids)
{
    size_t i;
    json_t *event;
    json_array_foreach(items, i, event)
    {
        if (are_ids)
            puts(text_of(event, "id"));
        else
            print_event(event);
    }
    fflush(stdout);
}

/* Whether nothing more will happen to the job by itself. */
static int job_has_ended(cairn_engine *engine, const char *id, bool *ret_ended)
{
    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    buf_str(&target, "/v1/jobs/");
    target_path(&target, id);
    int exit_code = call(engine, "GET", buf_text(&target), NULL, &answer);
    const char *status = text_of(answer.tree, "status");
    *ret_ended = strcmp(status, "pending") != 0 && strcmp(status, "leased") != 0;
    return exit_code;
}

static void pause_a_second(void)
{
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
}

/* Prints what comes until the job has ended.  The job is asked before its events, so that the
 * last of them is not missed.  An answer on the last page names no cursor: the id of the last
 * event is one. */
static int follow(const struct args *args, cairn_engine *engine, const char *id)
{
    char cursor[64] = "";
    const char *given = args_text(args, "cursor");
    if (given)
        snprintf(cursor, sizeof cursor, "%s", given);
    for (bool is_ended = false;;) {
        size_t count;
        int exit_code = job_has_ended(engine, id, &is_ended);
        if (exit_code)
            return exit_code;
        do {
            cleanup(buf_donep) struct buf target = {0};
            cleanup(answer_done) struct answer answer = {0};
            events_target(args, id, *cursor ? cursor : NULL, &target);
            exit_code = call(engine, "GET", buf_text(&target), NULL, &answer);
            if (exit_code)
                return exit_code;
            const json_t *items = json_object_get(answer.tree, "items");
            count = json_array_size(items);
            print_events(items, args_wants(args, "ids"));
            if (count)
                snprintf(cursor, sizeof cursor, "%s",
                         text_of(json_array_get(items, count - 1), "id"));
        } while (count);
        if (is_ended)
            return EXIT_DONE;
        pause_a_second();
    }
}

static int run_events(const struct args *args)
{
    const char *id = args->operands[0];
    if (args_has(args, "follow") && args_wants(args, "json")) {
        say_error("--follow cannot print one JSON document: leave one of them out");
        return EXIT_USAGE;
    }
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;
    if (args_has(args, "follow"))
        return follow(args, engine, id);

    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    events_target(args, id, args_text(args, "cursor"), &target);
    exit_code = call(engine, "GET", buf_text(&target), NULL, &answer);
    if (exit_code)
        return exit_code;
    if (args_wants(args, "json")) {
        print_body(&answer);
        return EXIT_DONE;
    }
    print_events(json_object_get(answer.tree, "items"), args_wants(args, "ids"));
    if (*text_of(answer.tree, "next"))
        fprintf(stderr, "There are more: add --cursor %s\n", text_of(answer.tree, "next"));
    return EXIT_DONE;
}

static const struct option events_options[] = {
    {.name = "follow",
     .letter = 'f',
     .kind = OPTION_FLAG,
     .help = "print what comes, until the job has ended"},
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
    {0},
};

const struct command command_job_events = {
    .name = "job events",
    .operands = "ID",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "tell what happened to a job, oldest first",
    .example = "cairn job events 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f --follow",
    .options = events_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_events,
};
