/* cli/count.c - list and job list: with --count only how many there are of each status.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/help.h"
#include "cli/route.h"
#include "cli/say.h"

#include <string.h>

static const struct column count_columns[] = {
    {"STATUS", .key = "status"}, {"COUNT", .key = "count"}, {0}};
static const struct column stand_columns[] = {
    {"STAND", .key = "status"}, {"COUNT", .key = "count"}, {0}};

/* Counts of stands; a list of jobs has none. */
static bool is_by_stand(const struct args *args)
{
    const char *by = takes_option(args, "by") ? args_text(args, "by") : NULL;
    return by && strcmp(by, "stand") == 0;
}

/* A word of --status; the next one begins behind its comma. */
static bool is_one(const char *word, size_t len, const char *status)
{
    const char *group = status_is_final(status) ? "ended" : "active";
    return (len == strlen(status) && memcmp(word, status, len) == 0) ||
           (len == strlen(group) && memcmp(word, group, len) == 0);
}

/* Whether --status asks for it: a list of words, among them the groups `active` and `ended`. */
static bool is_wanted(const char *list, const char *status)
{
    for (const char *word = list; word;) {
        size_t len = strcspn(word, ",");
        if (is_one(word, len, status))
            return true;
        word = word[len] ? word + len + 1 : NULL;
    }
    return !list;
}

static void print_counts(const struct args *args, const json_t *counts)
{
    const char *status, *wanted = args_text(args, "status");
    json_t *count, *items = json_array(), *kept = json_object();
    json_object_foreach((json_t *)counts, status, count)
    {
        if (!is_wanted(wanted, status))
            continue;
        cleanup(buf_donep) struct buf text = {0};
        buf_printf(&text, "%lld%s", (long long)int_of(count, "n"),
                   is_true(count, "is_more") ? "+" : "");
        json_object_set(kept, status, count);
        json_array_append_new(
            items, json_pack("{s:s, s:s}", "status", status, "count", buf_text(&text)));
    }
    if (args_wants(args, "json")) {
        fputs("{\"counts\":", stdout);
        json_dumpf(kept, stdout, JSON_COMPACT);
        puts("}");
    } else {
        print_rows(is_by_stand(args) ? stand_columns : count_columns, items, 0, true);
    }
    json_decref(items);
    json_decref(kept);
}

/* What counts cannot be asked with; NULL: all can be. */
static const char *find_excluded(const struct args *args)
{
    static const char *const excluded[] = {"has", "group", "limit", "cursor", "stand"};
    for (size_t i = 0; i < sizeof excluded / sizeof *excluded; i++)
        if (takes_option(args, excluded[i]) && args_has(args, excluded[i]))
            return excluded[i];
    return is_by_stand(args) && args_has(args, "status") ? "status" : NULL;
}

int run_listing(const struct args *args)
{
    if (!args_has(args, "count"))
        return route_run(args);
    const char *excluded = find_excluded(args);
    if (excluded || args_wants(args, "ids")) {
        say_error("--count%s cannot be used with %s%s", is_by_stand(args) ? " --by stand" : "",
                  excluded ? "--" : "", excluded ? excluded : "-o ids");
        return EXIT_USAGE;
    }
    cleanup(store_closep) cairn_engine *engine = NULL;
    TRY(store_open_for(args, &engine));
    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    buf_printf(&target, "%s/counts", args->command->route.path);
    write_params(args, "status", &target);
    if (is_by_stand(args))
        buf_param(&target, "by", "stand");
    TRY(call(engine, "GET", buf_text(&target), NULL, &answer));
    print_counts(args, json_object_get(answer.tree, "counts"));
    return EXIT_DONE;
}
