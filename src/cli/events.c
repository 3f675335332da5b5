/* cli/events.c - what happened to a job or an instance, or was logged, and what comes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/events.h"

#include "base/mem.h"
#include "cli/call.h"
#include "cli/pages.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void feed_target(const struct args *args, const struct feed *feed, const char *cursor,
                 struct buf *target)
{
    buf_str(target, feed->path);
    target_path(target, args->operands[0]);
    buf_str(target, feed->part);
    target_add(target, "limit", args_has(args, "all") ? "1000" : args_text(args, "limit"));
    target_add(target, "cursor", cursor);
}

void print_entry(const struct buf *start, const json_t *data)
{
    char *text = json_dumps(data, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    cleanup(buf_donep) struct buf line = {0}, clean = {0};
    buf_add(&line, buf_text(start), start->len);
    buf_str(&line, text && strcmp(text, "null") != 0 ? text : "");
    buf_clean(&clean, buf_text(&line), line.len);
    puts(buf_text(&clean));
    free(text);
}

static void print_job_event(const json_t *event)
{
    cleanup(buf_donep) struct buf start = {0};
    buf_printf(&start, "%s  %-9s  ", text_of(event, "at"), text_of(event, "type"));
    print_entry(&start, json_object_get(event, "data"));
}

static void print_flow_event(const json_t *event)
{
    cleanup(buf_donep) struct buf start = {0};
    buf_printf(&start, "%s  %-20s  %-16s  ", text_of(event, "at"), text_of(event, "type"),
               text_of(event, "step"));
    print_entry(&start, json_object_get(event, "data"));
}

const struct feed job_events = {"/v1/jobs/", "/events", print_job_event};
const struct feed instance_events = {"/v1/instances/", "/events", print_flow_event};

static void print_entries(const struct args *args, const struct feed *feed, const json_t *items)
{
    size_t i;
    json_t *entry;
    json_array_foreach(items, i, entry)
    {
        if (args_wants(args, "ids"))
            puts(text_of(entry, "id"));
        else
            feed->print(entry);
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
static int has_ended(const struct args *args, cairn_engine *engine, const struct feed *feed,
                     bool *ret_ended)
{
    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    buf_str(&target, feed->path);
    target_path(&target, args->operands[0]);
    int exit_code = call(engine, "GET", buf_text(&target), NULL, &answer);
    *ret_ended = status_is_final(text_of(answer.tree, "status"));
    return exit_code;
}

void pause_ms(int ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}

/* Prints what comes until it has ended.  It is asked before its entries, so that the
 * last of them is not missed.  An answer on the last page names no cursor: the id of the last
 * entry is one. */
static int follow(const struct args *args, cairn_engine *engine, const struct feed *feed)
{
    char cursor[64] = "";
    const char *given = args_text(args, "cursor");
    if (given)
        snprintf(cursor, sizeof cursor, "%s", given);
    for (bool is_ended = false;;) {
        size_t count;
        int exit_code = has_ended(args, engine, feed, &is_ended);
        if (exit_code)
            return exit_code;
        do {
            cleanup(buf_donep) struct buf target = {0};
            cleanup(answer_done) struct answer answer = {0};
            feed_target(args, feed, *cursor ? cursor : NULL, &target);
            exit_code = call(engine, "GET", buf_text(&target), NULL, &answer);
            if (exit_code)
                return exit_code;
            const json_t *items = json_object_get(answer.tree, "items");
            count = json_array_size(items);
            print_entries(args, feed, items);
            if (count)
                snprintf(cursor, sizeof cursor, "%s",
                         text_of(json_array_get(items, count - 1), "id"));
        } while (count);
        if (is_ended)
            return EXIT_DONE;
        pause_ms(1000);
    }
}

int feed_run(const struct args *args, const struct feed *feed)
{
    if (args_has(args, "follow") && args_wants(args, "json")) {
        say_error("--follow cannot print one JSON document: leave one of them out");
        return EXIT_USAGE;
    }
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;
    if (args_has(args, "follow"))
        return follow(args, engine, feed);

    const struct pages pages = {.feed = feed};
    return pages_print(args, engine, &pages);
}

const struct option feed_options[] = {
    {.name = "follow",
     .letter = 'f',
     .kind = OPTION_FLAG,
     .help = "keep printing new entries until it has ended"},
    PAGE_OPTIONS,
    {0},
};
