/* cli/events.c - what happened to a job or an instance, and what happens to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/events.h"

#include "base/mem.h"
#include "cli/call.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Whose events they are. */
struct subject {
    const char *path, *id;
};

static void events_target(const struct args *args, const struct subject *of, const char *cursor,
                          struct buf *target)
{
    buf_str(target, of->path);
    target_path(target, of->id);
    buf_str(target, "/events");
    target_add(target, "limit", args_text(args, "limit"));
    target_add(target, "cursor", cursor);
}

static void print_event(const json_t *event, bool is_flow)
{
    const json_t *data = json_object_get(event, "data");
    char *text = json_dumps(data, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    cleanup(buf_donep) struct buf line = {0};
    if (is_flow)
        buf_printf(&line, "%s  %-20s  %-16s  ", text_of(event, "at"), text_of(event, "type"),
                   text_of(event, "step"));
    else
        buf_printf(&line, "%s  %-9s  ", text_of(event, "at"), text_of(event, "type"));
    buf_str(&line, text && strcmp(text, "null") != 0 ? text : "");
    cleanup(buf_donep) struct buf clean = {0};
    buf_clean(&clean, buf_text(&line), line.len);
    puts(buf_text(&clean));
    free(text);
}

static void print_events(const struct subject *of, const json_t *items, bool are_ids)
{
    size_t i;
    json_t *event;
    json_array_foreach(items, i, event)
    {
        if (are_ids)
            puts(text_of(event, "id"));
        else
            print_event(event, strcmp(of->path, "/v1/jobs/") != 0);
    }
    fflush(stdout);
}

bool status_is_final(const char *status)
{
    static const char *const words[] = {"succeeded", "completed", "failed", "cancelled",
                                        "aborted"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], status) == 0)
            return true;
    return false;
}

/* Whether nothing more will happen to it by itself. */
static int has_ended(cairn_engine *engine, const struct subject *of, bool *ret_ended)
{
    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    buf_str(&target, of->path);
    target_path(&target, of->id);
    int exit_code = call(engine, "GET", buf_text(&target), NULL, &answer);
    *ret_ended = status_is_final(text_of(answer.tree, "status"));
    return exit_code;
}

void pause_ms(int ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}

/* Prints what comes until it has ended.  It is asked before its events, so that the
 * last of them is not missed.  An answer on the last page names no cursor: the id of the last
 * event is one. */
static int follow(const struct args *args, cairn_engine *engine, const struct subject *of)
{
    char cursor[64] = "";
    const char *given = args_text(args, "cursor");
    if (given)
        snprintf(cursor, sizeof cursor, "%s", given);
    for (bool is_ended = false;;) {
        size_t count;
        int exit_code = has_ended(engine, of, &is_ended);
        if (exit_code)
            return exit_code;
        do {
            cleanup(buf_donep) struct buf target = {0};
            cleanup(answer_done) struct answer answer = {0};
            events_target(args, of, *cursor ? cursor : NULL, &target);
            exit_code = call(engine, "GET", buf_text(&target), NULL, &answer);
            if (exit_code)
                return exit_code;
            const json_t *items = json_object_get(answer.tree, "items");
            count = json_array_size(items);
            print_events(of, items, args_wants(args, "ids"));
            if (count)
                snprintf(cursor, sizeof cursor, "%s",
                         text_of(json_array_get(items, count - 1), "id"));
        } while (count);
        if (is_ended)
            return EXIT_DONE;
        pause_ms(1000);
    }
}

int events_run(const struct args *args, const char *path)
{
    const struct subject subject = {.path = path, .id = args->operands[0]};
    const struct subject *of = &subject;
    if (args_has(args, "follow") && args_wants(args, "json")) {
        say_error("--follow cannot print one JSON document: leave one of them out");
        return EXIT_USAGE;
    }
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;
    if (args_has(args, "follow"))
        return follow(args, engine, of);

    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    events_target(args, of, args_text(args, "cursor"), &target);
    exit_code = call(engine, "GET", buf_text(&target), NULL, &answer);
    if (exit_code)
        return exit_code;
    if (args_wants(args, "json")) {
        print_body(&answer);
        return EXIT_DONE;
    }
    print_events(of, json_object_get(answer.tree, "items"), args_wants(args, "ids"));
    if (*text_of(answer.tree, "next"))
        fprintf(stderr, "There are more: add --cursor %s\n", text_of(answer.tree, "next"));
    return EXIT_DONE;
}

const struct option events_options[] = {
    {.name = "follow",
     .letter = 'f',
     .kind = OPTION_FLAG,
     .help = "print what comes, until it has ended"},
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
