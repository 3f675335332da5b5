/* engine/cairn_workflow.c - the calls of cairn.h about workflow files and deployed workflows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"

#include "definition/definition.h"
#include "engine/calling.h"

#include <string.h>

enum { FLAWS_MAX = 100 };

cairn_code cairn_workflow_validate(const char *file, const char *text, cairn_page **ret_flaws,
                                   cairn_error *reterr)
{
    if (!text)
        return fail(reterr, CAIRN_E_BAD_INPUT, "text is missing");
    cleanup(page_freep) cairn_page *page = page_new(PAGE_FLAW);
    cairn_flaw *flaws = page ? arena_array(&page->arena, FLAWS_MAX, sizeof *flaws) : NULL;
    NEED(flaws, reterr);
    struct definition definition;
    cairn_code code = definition_read(&page->arena, file, text, strlen(text), &definition,
                                      flaws, FLAWS_MAX, &page->count, reterr);
    page->items = flaws;
    if (!ret_flaws || (code && !page->count))
        return code;
    *ret_flaws = page;
    page = NULL;
    return code;
}

static bool form_from(const char *word, enum graph_form *ret_form)
{
    static const char *const words[] = {
        [GRAPH_DOT] = "dot", [GRAPH_MERMAID] = "mermaid", [GRAPH_TERMINAL] = "terminal"};
    for (enum graph_form form = GRAPH_DOT; form <= GRAPH_TERMINAL; form++)
        if (word && strcmp(word, words[form]) == 0) {
            *ret_form = form;
            return true;
        }
    return false;
}

cairn_code cairn_workflow_draw(const char *file, const char *text, const char *form,
                               char **ret_text, cairn_error *reterr)
{
    enum graph_form wanted;
    if (!text)
        return fail(reterr, CAIRN_E_BAD_INPUT, "text is missing");
    if (!form_from(form, &wanted))
        return fail(reterr, CAIRN_E_BAD_INPUT, "form must be dot, mermaid or terminal");

    cleanup(arena_done) struct arena arena = {0};
    cleanup(buf_done) struct buf out = {0};
    struct definition definition;
    TRY(definition_read(&arena, file, text, strlen(text), &definition, NULL, 0, NULL, reterr));
    TRY(definition_draw(&definition, wanted, &out, reterr));
    char *drawn = buf_take(&out, NULL);
    NEED(drawn, reterr);
    *ret_text = drawn;
    return CAIRN_OK;
}

void cairn_text_free(char *text)
{
    mem_free(text);
}

cairn_code cairn_workflow_deploy(cairn_engine *engine, const char *file, const char *text,
                                 bool *ret_existing, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_DEPLOY);
    request->in.deploy =
        (struct deploy_input){.file = file, .text = text, .len = text ? strlen(text) : 0};
    TRY(run_request(engine, request, reterr));
    if (ret_existing)
        *ret_existing = request->out.is_existing;
    return CAIRN_OK;
}

cairn_code cairn_workflow_get(cairn_engine *engine, const char *name, int32_t version,
                              cairn_page **ret_workflows, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_DEFINITION_GET);
    request->in.definition = (struct definition_input){.name = name, .version = version};
    return run_for_page(engine, &request, PAGE_WORKFLOW, ret_workflows, reterr);
}

CALL_TO_LIST(cairn_workflow_list, OP_DEFINITION_LIST, PAGE_WORKFLOW)
