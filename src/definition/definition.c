/* definition/definition.c - a workflow file, from its text to its plan.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "definition/definition.h"

#include "base/json.h"
#include "base/mem.h"
#include "definition/element.h"

#include <string.h>

static bool has_compensation(const struct element_list *list)
{
    for (const struct element *element = list->first; element; element = element->next) {
        if (element->config.compensation.handler)
            return true;
        for (size_t i = 0; i < element->list_count; i++)
            if (has_compensation(&element->lists[i]))
                return true;
    }
    return false;
}

/* The place of the first byte that is NUL or not UTF-8. */
static struct place broken_place(const char *text, size_t len)
{
    struct place at = {1, 1};
    for (size_t i = 0; i < len;) {
        unsigned char lead = (unsigned char)text[i];
        size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
        if (i + size > len || !utf8_is_valid(text + i, size))
            break;
        at.column++;
        if (text[i] == '\n')
            at = (struct place){at.line + 1, 1};
        i += size;
    }
    return at;
}

/* Whether the text has an allowed size and is UTF-8. */
static bool check_text(const char *text, size_t len, struct flaws *flaws)
{
    if (len > FILE_BYTES_MAX)
        flaw_limit(flaws, (struct place){0}, "the file is too large: %zu bytes, %d are allowed",
                   len, FILE_BYTES_MAX);
    else if (!utf8_is_valid(text, len))
        flaw_add(flaws, broken_place(text, len), "the text is not UTF-8, or contains a NUL");
    return flaws->count == 0 && !flaws->is_out_of_memory;
}

static cairn_code read_workflow(struct arena *arena, const char *text, size_t len,
                                struct flaws *flaws, struct workflow *ret_workflow,
                                cairn_error *reterr)
{
    struct reading reading = {.arena = arena, .flaws = flaws};
    struct node *root = NULL;
    if (!check_text(text, len, flaws))
        return CAIRN_OK;
    cairn_code code = node_read(flaws->arena, text, len, flaws, &root, reterr);
    if (code || !root)
        return code;
    workflow_parse(&reading, root, ret_workflow);
    if (!reading.is_out_of_memory)
        workflow_check_names(&reading, ret_workflow);
    return reading.is_out_of_memory ? fail_memory(reterr) : CAIRN_OK;
}

static cairn_code make_definition(struct arena *arena, struct workflow *workflow,
                                  struct definition *ret_definition, cairn_error *reterr)
{
    struct definition definition = {
        .name = workflow->name,
        .version = workflow->version,
        .is_function = workflow->is_function,
        .is_dlq = workflow->is_dlq,
        .has_compensation = has_compensation(&workflow->elements),
        .input_example = workflow->input_example,
        .workflow = workflow,
    };
    plan_places(workflow);
    definition.plan_count = (size_t)workflow->rows;
    TRY(canonical_write(arena, workflow, &definition.content, definition.hash, reterr));
    TRY(plan_rows(arena, workflow, &definition.plan, reterr));
    *ret_definition = definition;
    return CAIRN_OK;
}

cairn_code definition_read(struct arena *arena, const char *file, const char *text, size_t len,
                           struct definition *ret_definition, cairn_flaw *ret_errors,
                           size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(arena_done) struct arena scratch = {0};
    struct flaws flaws = {.arena = &scratch};
    if (ret_count)
        *ret_count = 0;
    struct workflow *workflow = arena_zalloc(arena, sizeof *workflow);
    if (!workflow)
        return fail_memory(reterr);
    TRY(read_workflow(arena, text, len, &flaws, workflow, reterr));
    TRY(flaws_tell(&flaws, file ? file : "workflow", ret_errors, room, ret_count, reterr));
    return make_definition(arena, workflow, ret_definition, reterr);
}

static const struct element *find_map(const struct element_list *list, const char *name)
{
    for (const struct element *element = list->first; element; element = element->next) {
        if (element->kind == ELEMENT_MAP && strcmp(element->name, name) == 0)
            return element;
        const struct element *inside = find_map(&element->each, name);
        for (size_t i = 0; i < element->list_count && !inside; i++)
            inside = find_map(&element->lists[i], name);
        if (inside)
            return inside;
    }
    return NULL;
}

cairn_code definition_of_map(struct arena *arena, const struct definition *whole,
                             const char *map, struct definition *ret_definition,
                             cairn_error *reterr)
{
    const struct element *element = find_map(&whole->workflow->elements, map);
    struct workflow *each = arena_zalloc(arena, sizeof *each);
    const char *name = arena_printf(arena, "%s:%s", whole->name, map);
    if (!each || !name)
        return fail_memory(reterr);
    if (!element)
        return fail(reterr, CAIRN_E_NOT_FOUND, "workflow \"%.64s\" has no map \"%.64s\"",
                    whole->name, map);
    *each = (struct workflow){.name = name,
                              .version = whole->version,
                              .is_dlq = whole->is_dlq,
                              .elements = element->each};
    return make_definition(arena, each, ret_definition, reterr);
}
