/* definition/public.c - what cairn.h offers for workflow files without an engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "definition/definition.h"

#include <assert.h>
#include <string.h>

/* A flaw is an error of a definition under its public name. */
static_assert(sizeof(cairn_flaw) == sizeof(struct definition_error), "they are one struct");
static_assert(offsetof(cairn_flaw, message) == offsetof(struct definition_error, message),
              "they are one struct");

cairn_code cairn_validate(const char *file, const char *text, cairn_flaw *ret_flaws,
                          size_t room, size_t *ret_count, cairn_error *reterr)
{
    if (!text)
        return fail(reterr, CAIRN_E_BAD_INPUT, "text is missing");
    cleanup(arena_done) struct arena arena = {0};
    struct definition definition;
    return definition_read(&arena, file, text, strlen(text), &definition,
                           (struct definition_error *)ret_flaws, ret_flaws ? room : 0,
                           ret_count, reterr);
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

cairn_code cairn_draw(const char *file, const char *text, const char *form, char **ret_text,
                      cairn_error *reterr)
{
    enum graph_form wanted;
    if (!text)
        return fail(reterr, CAIRN_E_BAD_INPUT, "text is missing");
    if (!form_from(form, &wanted))
        return fail(reterr, CAIRN_E_BAD_INPUT, "form must be dot, mermaid or terminal");

    cleanup(arena_done) struct arena arena = {0};
    cleanup(buf_done) struct buf out = {0};
    struct definition definition;
    cairn_code code =
        definition_read(&arena, file, text, strlen(text), &definition, NULL, 0, NULL, reterr);
    if (!code)
        code = definition_draw(&definition, wanted, &out, reterr);
    if (code)
        return code;
    char *drawn = buf_take(&out, NULL);
    if (!drawn)
        return fail_memory(reterr);
    *ret_text = drawn;
    return CAIRN_OK;
}

void cairn_text_free(char *text)
{
    mem_free(text);
}
