/* cli/workflows.c - cairn workflows, cairn graph.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/pages.h"
#include "cli/print.h"
#include "cli/say.h"
#include "cli/source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- workflows -------------------------------------------------------------------------- */

static void list_target(const struct args *args, const char *cursor, struct buf *target)
{
    buf_str(target, "/v1/workflows");
    target_add(target, "limit", args_has(args, "all") ? "1000" : args_text(args, "limit"));
    target_add(target, "cursor", cursor);
}

/* Code that workers have, or steps that the file says. */
static const char *kind_of(const json_t *item)
{
    const json_t *definition = json_object_get(item, "definition");
    return json_object_get(definition, "function") ? "function" : "workflow";
}

static void print_table(const json_t *items, int64_t now_us, bool is_first)
{
    static const char *const head[] = {"NAME", "VERSION", "KIND", "DEPLOYED", "HASH"};
    size_t i;
    json_t *item;
    struct grid grid = {0};
    if (is_first)
        grid_row(&grid, head, 5);
    json_array_foreach(items, i, item)
    {
        char version[24], created[RELATIVE_TEXT], hash[16];
        snprintf(version, sizeof version, "%lld", (long long)int_of(item, "version"));
        snprintf(hash, sizeof hash, "%.12s", text_of(item, "hash"));
        relative_time(time_of(item, "created_at"), now_us, created);
        const char *cells[] = {text_of(item, "name"), version, kind_of(item), created, hash};
        grid_row(&grid, cells, 5);
    }
    grid_print(&grid);
    grid_done(&grid);
}

static int run_workflows(const struct args *args)
{
    static const struct pages pages = {.target = list_target, .table = print_table};
    return pages_run(args, &pages);
}

static const struct option workflows_options[] = {
    PAGE_OPTIONS,
    {0},
};

const struct command command_workflows = {
    .name = "workflows",
    .summary = "list deployed workflows and functions, by name and version",
    .about = "With -o json the items carry the whole definition.",
    .example = "cairn workflows",
    .options = workflows_options,
    .outputs = "table json",
    .has_url = true,
    .run = run_workflows,
};

/* ---- graph ------------------------------------------------------------------------------ */

/* The text of a deployed workflow. */
static int read_deployed(const struct args *args, struct buf *ret_text)
{
    cairn_error error = {0};
    cairn_page *found = NULL;
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;
    int32_t version = (int32_t)args_number(args, "version", 0);
    if (cairn_workflow_get(engine, args->operands[0], version, &found, &error))
        return say_failure(&error);
    buf_str(ret_text, cairn_page_workflow(found, 0)->content);
    cairn_page_free(found);
    return EXIT_DONE;
}

/* A file that is there is meant, unless a version is asked for. */
static int read_workflow(const struct args *args, struct buf *ret_text)
{
    char given[4096];
    const char *operand = args->operands[0];
    bool is_input = strcmp(operand, "-") == 0;
    if (!is_input && (args_has(args, "version") || access(operand, F_OK) != 0))
        return read_deployed(args, ret_text);
    snprintf(given, sizeof given, "@%s", operand);
    return source_read(is_input ? "-" : given, ret_text) ? EXIT_DONE : EXIT_USAGE;
}

static int run_graph(const struct args *args)
{
    cairn_error error = {0};
    char *drawing = NULL;
    cleanup(buf_donep) struct buf text = {0};
    int exit_code = read_workflow(args, &text);
    if (exit_code)
        return exit_code;
    const char *form = args_text(args, "form");
    if (cairn_workflow_draw(args->operands[0], buf_text(&text), form ? form : "terminal",
                            &drawing, &error)) {
        say_failure(&error);
        return EXIT_NO;
    }
    fputs(drawing, stdout);
    cairn_text_free(drawing);
    return EXIT_DONE;
}

static const struct option graph_options[] = {
    {.name = "form",
     .kind = OPTION_CHOICE,
     .value = "FORM",
     .help = "how it is drawn; terminal if not given",
     .choices = "terminal dot mermaid"},
    {.name = "version",
     .kind = OPTION_INT,
     .value = "N",
     .help = "this version of the deployed workflow; the highest if not given",
     .min = 1,
     .max = INT32_MAX},
    {0},
};

const struct command command_graph = {
    .name = "graph",
    .operands = "NAME|FILE",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "draw a workflow",
    .about =
        "Draws a file if there is one of that name, else the deployed workflow. \"-\" reads "
        "standard input.",
    .example = "cairn graph order.yaml\ncairn graph order --form dot | dot -Tsvg > order.svg",
    .options = graph_options,
    .has_url = true,
    .run = run_graph,
};
