/* cli/store.c - the commands about the store, and cairn version.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/cells.h"
#include "cli/say.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <string.h>

static void print_migrated_json(const char *url, const cairn_schema *schema)
{
    json_t *applied = json_array();
    for (size_t i = 0; i < schema->applied_count; i++)
        json_array_append_new(applied, json_string(schema->applied[i]));
    json_t *all = json_pack("{s:s, s:i, s:i, s:o}", "url", url, "from", schema->from, "to",
                            schema->to, "applied", applied);
    json_dumpf(all, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(all);
}

static void print_migrated(const char *url, const cairn_schema *schema)
{
    if (schema->to == 0)
        printf("%s: nothing to do; the server brings its tables up to date itself\n", url);
    else if (schema->from == 0)
        printf("%s: created the tables, version %d\n", url, schema->to);
    else if (schema->from < schema->to)
        printf("%s: brought the tables from version %d to version %d\n", url, schema->from,
               schema->to);
    else
        printf("%s: nothing to do; the tables have version %d\n", url, schema->to);
    for (size_t i = 0; i < schema->applied_count; i++)
        printf("  applied %s\n", schema->applied[i]);
}

static void print_plan(const json_t *plan)
{
    const json_t *list = json_object_get(plan, "would_apply"), *item;
    long long from = int_of(plan, "from"), to = int_of(plan, "to");
    size_t i;
    if (from == 0)
        printf("%s: would create the tables, version %lld\n", text_of(plan, "url"), to);
    else if (from < to)
        printf("%s: would bring the tables from version %lld to version %lld\n",
               text_of(plan, "url"), from, to);
    else
        printf("%s: nothing to do; the tables have version %lld\n", text_of(plan, "url"), to);
    json_array_foreach(list, i, item)
    {
        printf("  %s: %s\n", text_of(item, "name"), text_of(item, "does"));
        if (from > 0)
            printf("      locks: %s\n", text_of(item, "locks"));
        if (from > 0 && int_of(item, "oldest") < int_of(item, "number"))
            printf("      programs that know version %lld may go on\n",
                   (long long)int_of(item, "oldest"));
    }
}

/* Without a database of its own (a server's URL) `ret_is_told` stays false: there is nothing to plan. */
static int tell_plan(const struct args *args, bool *ret_is_told)
{
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    cairn_error error = {0};
    char *text = NULL;
    options.url = args_text(args, "url");
    if (cairn_migrate_plan(&options, &text, &error))
        return say_unopened(options.url, &error);
    json_t *plan = json_loads(text, 0, NULL);
    *ret_is_told = int_of(plan, "to") > 0;
    if (*ret_is_told && args_wants(args, "json"))
        puts(text);
    else if (*ret_is_told)
        print_plan(plan);
    json_decref(plan);
    cairn_text_free(text);
    return EXIT_DONE;
}

int run_migrate(const struct args *args)
{
    bool is_told = false;
    if (args_has(args, "dry-run"))
        TRY(tell_plan(args, &is_told));
    if (is_told)
        return EXIT_DONE;
    cleanup(store_closep) cairn_engine *engine = NULL;
    cleanup(answer_done) struct answer answer = {0};
    cairn_schema schema = CAIRN_SCHEMA_DEFAULTS;
    TRY(store_open_for(args, &engine));
    TRY(call(engine, "GET", "/v1/clock", NULL,
             &answer)); /* another program may be at the URL */
    cairn_schema_get(engine, &schema, NULL);
    if (args_wants(args, "json"))
        print_migrated_json(cairn_url(engine), &schema);
    else
        print_migrated(cairn_url(engine), &schema);
    return EXIT_DONE;
}

int run_doctor(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    cleanup(answer_done) struct answer answer = {0};
    TRY(store_open_for(args, &engine));
    TRY(call(engine, "GET", "/v1/doctor", NULL, &answer));
    int exit_code = EXIT_DONE;
    if (args_wants(args, "json"))
        print_body(&answer);
    else
        print_rows(columns_doctor, json_object_get(answer.tree, "items"), 0, true);

    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(answer.tree, "items"), i, item)
    {
        if (is_word(item, "result", "error"))
            exit_code = EXIT_NO;
    }
    return exit_code;
}

int run_version(const struct args *args)
{
    char libpq[32];
    int version = PQlibVersion();
    snprintf(libpq, sizeof libpq, "%d.%d", version / 10000, version % 10000);
    const char *parts[][2] = {{"cairn", CAIRN_VERSION},
                              {"libcairn", cairn_version()},
                              {"sqlite", sqlite3_libversion()},
                              {"libpq", libpq}};

    bool is_json = args->command && args_wants(args, "json");
    fputs(is_json ? "{" : "", stdout);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        printf(is_json ? "%s\"%s\":\"%s\"" : "%s%s %s\n", is_json && i ? "," : "", parts[i][0],
               parts[i][1]);
    fputs(is_json ? "}\n" : "", stdout);
    return EXIT_DONE;
}
