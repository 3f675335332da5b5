/* cli/registry.c - cairn registry list, cairn registry set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/print.h"
#include "cli/say.h"

#include <string.h>

static void print_entries(const json_t *items, bool is_first)
{
    static const char *const head[] = {"TYPE", "RUNTIME", "ENABLED", "DESCRIPTION"};
    size_t i;
    json_t *entry;
    struct grid grid = {0};
    if (is_first)
        grid_row(&grid, head, 4);
    json_array_foreach(items, i, entry)
    {
        bool is_enabled = json_is_true(json_object_get(entry, "is_enabled"));
        const char *cells[] = {text_of(entry, "workflow_name"), text_of(entry, "runtime"),
                               is_enabled ? "yes" : "no", text_of(entry, "description")};
        grid_row(&grid, cells, 4);
    }
    grid_print(&grid);
    grid_done(&grid);
}

static void print_page(const struct args *args, const struct answer *answer)
{
    const json_t *items = json_object_get(answer->tree, "items");
    size_t i;
    json_t *entry;
    if (args_wants(args, "json")) {
        print_body(answer);
    } else if (args_wants(args, "ids")) {
        json_array_foreach(items, i, entry) puts(text_of(entry, "workflow_name"));
    } else {
        print_entries(items, true);
    }
    if (*text_of(answer->tree, "next"))
        fprintf(stderr, "There are more: add --cursor '%s'\n", text_of(answer->tree, "next"));
}

static int run_list(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;

    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    buf_str(&target, "/v1/registry");
    target_add(&target, "limit", args_text(args, "limit"));
    target_add(&target, "cursor", args_text(args, "cursor"));
    exit_code = call(engine, "GET", buf_text(&target), NULL, &answer);
    if (exit_code == EXIT_DONE)
        print_page(args, &answer);
    return exit_code;
}

static int run_set(const struct args *args)
{
    if (args_has(args, "enable") && args_has(args, "disable")) {
        say_error("--enable and --disable exclude each other");
        return EXIT_USAGE;
    }
    if (!args_has(args, "runtime")) {
        say_error("registry set needs --runtime RUNTIME");
        return EXIT_USAGE;
    }
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;

    cleanup(buf_donep) struct buf target = {0};
    cleanup(buf_donep) struct buf body = {0};
    cleanup(answer_done) struct answer answer = {0};
    struct json_out out = {.buf = &body};
    buf_str(&target, "/v1/registry/");
    target_path(&target, args->operands[0]);
    json_open(&out, '{');
    json_key(&out, "runtime");
    json_str(&out, args_text(args, "runtime"));
    json_key(&out, "is_enabled");
    json_bool(&out, !args_has(args, "disable"));
    if (args_has(args, "description")) {
        json_key(&out, "description");
        json_str(&out, args_text(args, "description"));
    }
    json_close(&out, '}');
    exit_code = call(engine, "PUT", buf_text(&target), buf_text(&body), &answer);
    if (exit_code)
        return exit_code;
    if (args_wants(args, "json"))
        print_body(&answer);
    else
        printf("%s  %s  %s\n", args->operands[0], text_of(answer.tree, "runtime"),
               json_is_true(json_object_get(answer.tree, "is_enabled")) ? "enabled"
                                                                        : "disabled");
    return EXIT_DONE;
}

static const struct option list_options[] = {
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

static const struct option set_options[] = {
    {.name = "runtime",
     .kind = OPTION_TEXT,
     .value = "RUNTIME",
     .help = "who executes this type, such as go, python or c"},
    {.name = "enable", .kind = OPTION_FLAG, .help = "it may be claimed (the default)"},
    {.name = "disable", .kind = OPTION_FLAG, .help = "it is not claimed until enabled again"},
    {.name = "description", .kind = OPTION_TEXT, .value = "TEXT", .help = "what it is for"},
    {0},
};

const struct command command_registry_list = {
    .name = "registry list",
    .summary = "list types and the runtimes that own them",
    .about = "With -o json the answer is one object, {\"items\": [...], \"next\": CURSOR or "
             "null}; -o ids prints the types.",
    .example = "cairn registry list",
    .options = list_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_list,
};

const struct command command_registry_set = {
    .name = "registry set",
    .operands = "TYPE",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "say which runtime owns a type, and whether it is enabled",
    .about =
        "Writes the whole entry: what is not given goes back to its default. A type without "
        "an entry belongs to everyone. Workers that name another runtime are refused.",
    .example = "cairn registry set billing.invoice.v1 --runtime go\n"
               "cairn registry set billing.invoice.v1 --runtime go --disable",
    .options = set_options,
    .outputs = "table json",
    .has_url = true,
    .run = run_set,
};
