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

int run_migrate(const struct args *args)
{
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
