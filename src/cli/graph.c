/* cli/graph.c - cairn graph: draws a workflow.
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

int run_graph(const struct args *args)
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
