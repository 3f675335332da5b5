/* cli/retention.c - cairn retention and cairn purge: how long history is kept, and removing it by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/print.h"
#include "cli/say.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAY_MS (INT64_C(24) * 3600 * 1000)

/* ---- ages ---------------------------------------------------------------------------------- */

/* "7d", "1y" or "never"; *ret_ms -1: never. */
static bool read_age(const char *text, int64_t *ret_ms)
{
    enum { YEARS_MAX = 100, DAYS_A_YEAR = 365 };
    char *end;
    *ret_ms = -1;
    if (strcmp(text, "never") == 0 || durations_parse(text, ret_ms))
        return true;
    long years = strtol(text, &end, 10);
    *ret_ms = years * DAYS_A_YEAR * DAY_MS;
    return end != text && text[0] >= '0' && text[0] <= '9' && strcmp(end, "y") == 0 &&
           years <= YEARS_MAX;
}

/* As it is given, in the largest unit that has no rest. */
static void write_age(const json_t *age, struct buf *text)
{
    static const struct {
        int64_t ms;
        const char *unit;
    } units[] = {{DAY_MS, "d"}, {3600 * 1000, "h"}, {60 * 1000, "m"}, {1000, "s"}, {1, "ms"}};
    int64_t ms = json_integer_value(age);
    size_t i = 0;
    if (!json_is_integer(age)) {
        buf_str(text, "never");
        return;
    }
    while (ms % units[i].ms)
        i++;
    buf_printf(text, "%" PRId64 "%s", ms / units[i].ms, units[i].unit);
}

static int refuse_age(const char *option, const char *text)
{
    say_error("--%s cannot be \"%s\": an age is a duration such as 7d or 12h, a number of "
              "years such as "
              "1y, or never",
              option, text);
    return EXIT_USAGE;
}

static void json_age(struct json_out *out, int64_t ms)
{
    if (ms < 0)
        json_raw(out, NULL);
    else
        json_int(out, ms);
}

/* ---- retention ----------------------------------------------------------------------------- */

static void print_ages(struct grid *grid, const char *what, const json_t *ages)
{
    const char *status;
    json_t *age;
    json_object_foreach((json_t *)ages, status, age)
    {
        cleanup(buf_donep) struct buf text = {0};
        write_age(age, &text);
        grid_row(grid, (const char *[]){what, status, buf_text(&text)}, 3);
    }
}

static int print_policy(const struct args *args, const struct answer *answer)
{
    cleanup(grid_done) struct grid grid = {0};
    cleanup(buf_donep) struct buf keys = {0};
    if (args_wants(args, "json")) {
        print_body(answer);
        return EXIT_DONE;
    }
    write_age(json_object_get(answer->tree, "keys_ms"), &keys);
    grid_row(&grid, (const char *[]){"WHAT", "STATUS", "KEPT"}, 3);
    print_ages(&grid, "jobs", json_object_get(answer->tree, "jobs"));
    print_ages(&grid, "instances", json_object_get(answer->tree, "instances"));
    grid_row(&grid, (const char *[]){"keys", "-", buf_text(&keys)}, 3);
    grid_print(&grid);
    return EXIT_DONE;
}

int run_retention_show(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    cleanup(answer_done) struct answer answer = {0};
    TRY(store_open_for(args, &engine));
    TRY(call(engine, "GET", "/v1/retention", NULL, &answer));
    return print_policy(args, &answer);
}

/* "succeeded=7d,failed=never" as an object. */
static int write_ages(const struct args *args, const char *option, struct json_out *out)
{
    const char *at = args_text(args, option);
    if (!at)
        return EXIT_DONE;
    json_open(json_key(out, option), '{');
    for (bool is_last = false; !is_last;) {
        char part[64];
        int64_t ms;
        size_t len = strcspn(at, ",");
        is_last = !at[len];
        snprintf(part, sizeof part, "%.*s", (int)(len < sizeof part ? len : sizeof part - 1),
                 at);
        char *equals = strchr(part, '=');
        if (len >= sizeof part || !equals || equals == part || !read_age(equals + 1, &ms))
            return refuse_age(option, args_text(args, option));
        *equals = '\0';
        json_age(json_key(out, part), ms);
        at += len + 1;
    }
    json_close(out, '}');
    return EXIT_DONE;
}

int run_retention_set(const struct args *args)
{
    cleanup(buf_donep) struct buf body = {0};
    cleanup(store_closep) cairn_engine *engine = NULL;
    cleanup(answer_done) struct answer answer = {0};
    struct json_out out = {.buf = &body};
    int64_t ms;
    if (!args_has(args, "jobs") && !args_has(args, "instances") && !args_has(args, "keys")) {
        say_error("say what: --jobs, --instances or --keys");
        return EXIT_USAGE;
    }
    json_open(&out, '{');
    TRY(write_ages(args, "jobs", &out));
    TRY(write_ages(args, "instances", &out));
    if (args_has(args, "keys")) {
        if (!read_age(args_text(args, "keys"), &ms))
            return refuse_age("keys", args_text(args, "keys"));
        json_age(json_key(&out, "keys_ms"), ms);
    }
    json_close(&out, '}');
    TRY(store_open_for(args, &engine));
    TRY(call(engine, "PUT", "/v1/retention", buf_text(&body), &answer));
    return print_policy(args, &answer);
}

/* ---- purge --------------------------------------------------------------------------------- */

/* What several answers come to. */
struct purged {
    int64_t jobs, instances;
};

static void write_purge(const struct args *args, bool is_dry_run, const char *cursor,
                        struct buf *body)
{
    static const char *const texts[] = {"status", "workflow", "type"};
    struct json_out out = {.buf = body};
    json_open(&out, '{');
    if (args_has(args, "older-than"))
        json_int(json_key(&out, "older_than_ms"), args_number(args, "older-than", 0));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (args_has(args, texts[i]))
            json_str(json_key(&out, texts[i]), args_text(args, texts[i]));
    json_bool(json_key(&out, "dry_run"), is_dry_run);
    if (cursor)
        json_str(json_key(&out, "cursor"), cursor);
    json_close(&out, '}');
}

/* "[=====     ] 1200 of 5000 removed" */
static void show_progress(const struct purged *done, const struct purged *all)
{
    char bar[BAR_TEXT];
    int64_t n = done->jobs + done->instances, of = all->jobs + all->instances;
    if (of)
        say_progress("[%s] %" PRId64 " of %" PRId64 " removed", progress_bar(bar, n, of), n,
                     of);
    else
        say_progress("%" PRId64 " found", n);
}

/* Portion after portion, until there is no more. */
static int purge_all(const struct args *args, cairn_engine *engine, bool is_dry_run,
                     const struct purged *expected, struct purged *ret)
{
    cleanup(buf_donep) struct buf cursor = {0};
    *ret = (struct purged){0};
    do {
        cleanup(buf_donep) struct buf body = {0};
        cleanup(answer_done) struct answer answer = {0};
        write_purge(args, is_dry_run, cursor.len ? buf_text(&cursor) : NULL, &body);
        TRY(call(engine, "POST", "/v1/purge", buf_text(&body), &answer));
        ret->jobs += int_of(answer.tree, "jobs");
        ret->instances += int_of(answer.tree, "instances");
        buf_reset(&cursor);
        buf_str(&cursor, text_of(answer.tree, "next"));
        show_progress(ret, expected);
    } while (cursor.len);
    end_progress();
    return EXIT_DONE;
}

int run_purge(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    bool is_dry_run = args_has(args, "dry-run");
    struct purged expected = {0}, done;
    if (!args_has(args, "older-than") && !args_has(args, "status") &&
        !args_has(args, "workflow") && !args_has(args, "type")) {
        say_error("say which: --older-than, --status, --workflow or --type");
        return EXIT_USAGE;
    }
    TRY(store_open_for(args, &engine));
    if (!is_dry_run && isatty(STDERR_FILENO)) /* the bar must know how many there are */
        TRY(purge_all(args, engine, true, &(struct purged){0}, &expected));
    TRY(purge_all(args, engine, is_dry_run, &expected, &done));
    if (args_wants(args, "json"))
        printf("{\"jobs\":%" PRId64 ",\"instances\":%" PRId64 ",\"next\":null}\n", done.jobs,
               done.instances);
    else
        printf("%s%" PRId64 " jobs and %" PRId64 " instances\n",
               is_dry_run ? "would remove " : "removed ", done.jobs, done.instances);
    return EXIT_DONE;
}
