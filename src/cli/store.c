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

static const char *finding_of(const json_t *items, const char *check)
{
    size_t i;
    json_t *item;
    json_array_foreach(items, i, item)
    {
        if (strcmp(text_of(item, "check"), check) == 0)
            return text_of(item, "text");
    }
    return "";
}

static int run_migrate(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    cleanup(answer_done) struct answer answer = {0};
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;
    exit_code = call(engine, "GET", "/v1/doctor", NULL, &answer);
    if (exit_code)
        return exit_code;

    const char *schema = finding_of(json_object_get(answer.tree, "items"), "schema");
    if (args_wants(args, "json")) {
        cleanup(buf_donep) struct buf text = {0};
        struct json_out out = {.buf = &text};
        json_open(&out, '{');
        json_key(&out, "url");
        json_str(&out, cairn_url(engine));
        json_key(&out, "schema");
        json_str(&out, schema);
        json_close(&out, '}');
        puts(buf_text(&text));
    } else {
        printf("%s is up to date: %s\n", cairn_url(engine), schema);
    }
    return EXIT_DONE;
}

const struct command command_migrate = {
    .name = "migrate",
    .summary = "bring the store's tables up to this version",
    .about = "Creates the tables if there are none. Every command does this by itself when it "
             "opens a store; migrate does nothing else and reports the versions. A store "
             "written by a "
             "newer Cairn is refused and left as it is.",
    .example = "cairn migrate --url postgres://localhost/orders",
    .outputs = "table json",
    .has_url = true,
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
    .about = "Checks the store, its version, clock skew, leases, the registry and the names of "
             "types. The exit code is 1 if anything is an error.",
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
