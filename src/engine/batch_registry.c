/* engine/batch_registry.c - which runtime owns a type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/pattern.h"
#include "engine/batch.h"

#include <string.h>

static bool is_same(const struct registry_row *a, const struct registry_row *b)
{
    return strcmp(a->runtime, b->runtime) == 0 && a->is_enabled == b->is_enabled &&
           (a->description && b->description ? strcmp(a->description, b->description) == 0
                                             : a->description == b->description);
}

/* What is asked for again changes nothing. */
static cairn_code write_entry(struct batch *batch, const struct registry_row *row,
                              struct registry_row *ret_now)
{
    cairn_code code = STORE(batch, get_registry, row->name, ret_now);
    if (code && code != CAIRN_E_NOT_FOUND)
        return code;
    if (!code && is_same(ret_now, row))
        return CAIRN_OK;
    TRY(STORE(batch, put_registry, row));
    return STORE(batch, get_registry, row->name, ret_now);
}

cairn_code batch_put_registry(struct batch *batch, struct request *request)
{
    const cairn_registry_spec *in = &request->in.registry;
    struct registry_row now, row = {
                                 .name = in->workflow_name,
                                 .intent_type = "workflow",
                                 .runtime = in->runtime,
                                 .description = in->description,
                                 .is_enabled = in->is_enabled,
                                 .created_at_us = batch->tx->now_us,
                                 .updated_at_us = batch->tx->now_us,
                             };
    TRY(write_entry(batch, &row, &now));
    cairn_registry_entry *entry = arena_zalloc(&request->arena, sizeof *entry);
    NEED(entry, batch->error);
    *entry = (cairn_registry_entry){
        .workflow_name = row.name,
        .intent_type = arena_strdup(&request->arena, now.intent_type),
        .runtime = row.runtime,
        .description = row.description,
        .is_enabled = row.is_enabled,
        .created_at_us = now.created_at_us,
        .updated_at_us = now.updated_at_us,
    };
    request->out.page = (struct page_output){.items = entry, .count = 1};
    batch_note_ready(batch, CLAIM_JOBS, NULL, 0); /* waiting claims may now be given its jobs */
    batch_note_ready(batch, CLAIM_STEPS, NULL, 0);
    return CAIRN_OK;
}

/* Naming a type that another runtime owns is an error; a prefix leaves such types out. */
cairn_code batch_check_runtime(struct batch *batch, struct request *request)
{
    const cairn_claim_options *claim = request_claim(request);
    for (size_t i = 0; claim->runtime && i < claim_name_count(claim); i++) {
        struct registry_row entry;
        const char *name = claim_name(claim, i);
        if (i < claim->type_count && pattern_is_prefix(name))
            continue;
        cairn_code code = STORE(batch, get_registry, name, &entry);
        if (code && code != CAIRN_E_NOT_FOUND)
            return code;
        if (code || strcmp(entry.runtime, claim->runtime) == 0)
            continue;
        request->code =
            fail(&request->error, CAIRN_E_WRONG_RUNTIME,
                 "runtime \"%.64s\" cannot claim type \"%.64s\": it belongs to \"%.64s\"",
                 claim->runtime, name, entry.runtime);
        fail_hint(&request->error, request->code,
                  "change the owner with: cairn registry set %.128s --runtime %.64s", name,
                  claim->runtime);
        return CAIRN_OK;
    }
    return CAIRN_OK;
}
