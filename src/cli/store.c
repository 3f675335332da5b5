/* cli/store.c - about the store itself: cairn migrate, cairn doctor, cairn version.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/print.h"
#include "cli/say.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <string.h>

static void print_migrated_json(const char *url, const cairn_schema *schema)
{
    cleanup(buf_donep) struct buf text = {0};
    struct json_out out = {.buf = &text};
    json_open(&out, '{');
    json_key(&out, "url");
    json_str(&out, url);
    json_key(&out, "from");
    json_int(&out, schema->from);
    json_key(&out, "to");
    json_int(&out, schema->to);
    json_key(&out, "applied");
    json_open(&out, '[');
    for (size_t i = 0; i < schema->applied_count; i++)
        json_str(&out, schema->applied[i]);
    json_close(&out, ']');
    json_close(&out, '}');
    puts(buf_text(&text));
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

static int run_migrate(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    cleanup(answer_done) struct answer answer = {0};
    cairn_schema schema;
    int exit_code = store_open_for(args, &engine);
    if (!exit_code) /* a server may be another thing than its URL says */
        exit_code = call(engine, "GET", "/v1/clock", NULL, &answer);
    if (exit_code)
        return exit_code;
    cairn_schema_get(engine, &schema);
    if (args_wants(args, "json"))
        print_migrated_json(cairn_url(engine), &schema);
    else
        print_migrated(cairn_url(engine), &schema);
    return EXIT_DONE;
}

const struct command command_migrate = {
    .name = "migrate",
    .summary = "bring the store's tables up to this version",
    .about =
        "Creates the file and the tables if there are none, brings older tables up to date, "
        "and prints the versions before and after and the migrations that were applied; "
        "with -o json {\"url\", \"from\", \"to\", \"applied\"}. Every command "
        "brings older tables up to date when it opens a store. A store written by a newer "
        "Cairn is refused and left as it is.",
    .example = "cairn migrate --url postgres://localhost/orders",
    .outputs = "table json",
    .has_url = true,
    .creates_store = true,
    .run = run_migrate,
};

/* ---- doctor ----------------------------------------------------------------------------- */

static int run_doctor(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    cleanup(answer_done) struct answer answer = {0};
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;
    exit_code = call(engine, "GET", "/v1/doctor", NULL, &answer);
    if (exit_code)
        return exit_code;

    static const char *const head[] = {"CHECK", "RESULT", "FINDING"};
    size_t i;
    json_t *item;
    struct grid grid = {0};
    grid_row(&grid, head, 3);
    json_array_foreach(json_object_get(answer.tree, "items"), i, item)
    {
        const char *cells[] = {text_of(item, "check"), text_of(item, "result"),
                               text_of(item, "text")};
        grid_row(&grid, cells, 3);
        if (strcmp(cells[1], "error") == 0)
            exit_code = EXIT_NO;
    }
    if (args_wants(args, "json"))
        print_body(&answer);
    else
        grid_print(&grid);
    grid_done(&grid);
    return exit_code;
}

const struct command command_doctor = {
    .name = "doctor",
    .summary = "look the store over and say what is wrong",
    .about =
        "Checks the store, its version, clock skew, leases, the registry and the names of "
        "types; overdue timers, steps that no worker claims, decisions that are long "
        "awaited, open DLQ records, paused instances and failed compensations. Of running, "
        "paused and failed instances the newest 100 are read. The exit code is 1 if "
        "anything is an error.",
    .example = "cairn doctor --url postgres://localhost/orders",
    .outputs = "table json",
    .has_url = true,
    .run = run_doctor,
};

/* ---- version ---------------------------------------------------------------------------- */

static int run_version(const struct args *args)
{
    char libpq[32];
    int version = PQlibVersion();
    snprintf(libpq, sizeof libpq, "%d.%d", version / 10000, version % 10000);
    const char *parts[][2] = {{"cairn", CAIRN_VERSION},
                              {"libcairn", cairn_version()},
                              {"sqlite", sqlite3_libversion()},
                              {"libpq", libpq}};

    cleanup(buf_donep) struct buf text = {0};
    struct json_out out = {.buf = &text};
    json_open(&out, '{');
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        json_key(&out, parts[i][0]);
        json_str(&out, parts[i][1]);
    }
    json_close(&out, '}');
    if (args->command && args_wants(args, "json")) {
        puts(buf_text(&text));
        return EXIT_DONE;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        printf("%s %s\n", parts[i][0], parts[i][1]);
    return EXIT_DONE;
}

const struct command command_version = {
    .name = "version",
    .summary = "print the versions of the program and of what it stands on",
    .example = "cairn version -o json",
    .outputs = "table json",
    .run = run_version,
};
