/* tests/fuzz/fuzz_workflow.c - workflow files: read, checked, planned, drawn.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file that is accepted must stay accepted in its canonical form, with the same hash, and
 * every row of its plan must be readable.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "definition/definition.h"
#include "fuzz.h"

#include <string.h>

enum { FLAWS = 8 };

static void check_plan(const struct definition *definition)
{
    cairn_error error;
    for (size_t i = 0; i < definition->plan_count; i++) {
        cleanup(arena_done) struct arena arena = {0};
        struct step_config config;
        const char *text = definition->plan[i].config;
        MUST(!text || step_config_read(&arena, text, &config, &error) == CAIRN_OK);
    }
}

static void check_drawings(const struct definition *definition)
{
    cairn_error error;
    for (enum graph_form form = GRAPH_DOT; form <= GRAPH_TERMINAL; form++) {
        cleanup(buf_done) struct buf out = {0};
        MUST(definition_draw(definition, form, &out, &error) == CAIRN_OK);
        MUST(out.len > 0);
    }
}

static void check_canonical(const struct definition *definition)
{
    cleanup(arena_done) struct arena arena = {0};
    struct definition again;
    cairn_error error;
    MUST(definition_read(&arena, "canonical", definition->content, strlen(definition->content),
                         &again, NULL, 0, NULL, &error) == CAIRN_OK);
    MUST(strcmp(again.hash, definition->hash) == 0);
    MUST(again.plan_count == definition->plan_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    cleanup(arena_done) struct arena arena = {0};
    struct definition definition;
    cairn_flaw flaws[FLAWS];
    size_t count = 0;
    cairn_error error;
    cairn_code code = definition_read(&arena, "fuzz", (const char *)bytes, len, &definition,
                                      flaws, FLAWS, &count, &error);
    if (code) {
        MUST(error.message[0]);
        return 0;
    }
    check_plan(&definition);
    check_drawings(&definition);
    check_canonical(&definition);
    return 0;
}
