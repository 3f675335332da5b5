/* cli/workflows.c - the commands about workflows and their files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/input.h"
#include "cli/route.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A function is code that workers have; a workflow has its steps in the file. */
static void cell_kind(const struct item *item, const char *key, struct buf *text)
{
    const json_t *definition = json_object_get(item->tree, key);
    buf_str(text, json_object_get(definition, "function") ? "function" : "workflow");
}

static void cell_hash(const struct item *item, const char *key, struct buf *text)
{
    buf_printf(text, "%.12s", text_of(item->tree, key));
}

static const struct column list_columns[] = {
    {"NAME", .key = "name"},
    {"VERSION", .key = "version", .write = cell_int},
    {"KIND", .key = "definition", .write = cell_kind},
    {"DEPLOYED", .key = "created_at", .write = cell_ago},
    {"HASH", .key = "hash", .write = cell_hash},
    {0},
};

/* ---- graph ------------------------------------------------------------------------------ */

/* The text of a deployed workflow. */
static int read_deployed(const struct args *args, struct buf *ret_text)
{
    cairn_error error = {0};
    cairn_page *found = NULL;
    cleanup(store_closep) cairn_engine *engine = NULL;
    TRY(store_open_for(args, &engine));
    int32_t version = (int32_t)args_number(args, "version", 0);
    if (cairn_workflow_get(engine, args->operands[0], version, &found, &error))
        return say_failure(&error);
    buf_str(ret_text, cairn_page_workflow(found, 0)->content);
    cairn_page_free(found);
    return EXIT_DONE;
}

/* The operand is a file if there is such a file, unless --version is given. */
static int read_workflow(const struct args *args, struct buf *ret_text)
{
    const char *operand = args->operands[0];
    bool is_file =
        strcmp(operand, "-") == 0 || (!args_has(args, "version") && access(operand, F_OK) == 0);
    if (!is_file)
        return read_deployed(args, ret_text);
    return file_read(operand, ret_text) ? EXIT_DONE : EXIT_USAGE;
}

static int run_graph(const struct args *args)
{
    cairn_error error = {0};
    char *drawing = NULL;
    cleanup(buf_donep) struct buf text = {0};
    TRY(read_workflow(args, &text));
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
    {"form", OPTION_CHOICE, "FORM", .choices = "terminal dot mermaid",
     .help = "form of the drawing (default terminal)"},
    {"version", OPTION_INT, "N", .min = 1, .max = INT32_MAX,
     .help = "draw this version of the deployed workflow (default: the highest)"},
    {0},
};

/* ---- commands --------------------------------------------------------------------------- */

const struct command workflow_commands[] = {
    {"deploy", "FILE...", "deploy workflows from files", .aliases = "apply register",
     .about = "All files are checked before the first is deployed. Deploying the same content "
              "again changes nothing; different content under a known name and version is "
              "rejected: raise the version. \"-\" reads standard input. With -o json one file "
              "gives {\"name\", \"version\", \"hash\", \"existing\"}; several files give "
              "{\"items\": [...]}.",
     .example = "cairn deploy order.yaml\ncairn deploy workflows/*.yaml",
     .outputs = "table json", .has_url = true, .creates_store = true, .run = deploy_run},
    {"validate", "FILE...", "check workflow files", .aliases = "check lint",
     .about =
         "Prints every error as FILE:LINE:COLUMN: REASON; the exit code is then 1. Needs no "
         "store. \"-\" reads standard input. With -o json it prints {\"items\": [{\"file\", "
         "\"flaws\": [{\"line\", \"column\", \"message\"}]}]}.",
     .example = "cairn validate order.yaml", .outputs = "table json", .run = validate_run},
    {"workflows", NULL, "list deployed workflows and functions, by name and version",
     .aliases = "definitions workflow",
     .about = "With -o json the items include the whole definition.",
     .example = "cairn workflows", .more_options = page_options, .outputs = "table json",
     .route = {"GET", "/v1/workflows", .answer = ANSWER_LIST, .columns = list_columns}},
    {"graph", "NAME|FILE", "draw a workflow", .aliases = "diagram dot draw",
     .about = "Draws the file if there is one of that name, else the deployed workflow. \"-\" "
              "reads standard input.",
     .example = "cairn graph order.yaml\ncairn graph order --form dot | dot -Tsvg > order.svg",
     .options = graph_options, .has_url = true, .run = run_graph},
    {0},
};
