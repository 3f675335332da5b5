/* engine/plans.c - plans of workflows that were started lately.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A definition never changes, so name, version and hash say which it is.  The store is asked for
 * these at every start; only reading the text and making the plan is spared.  Each committer has
 * its own, and no other thread uses it.
 */
#include "engine/local.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

/* About two megabytes. */
enum { PLANS_MAX = 64, ROWS_MAX = 4096 };

struct kept_plan {
    struct definition definition;
    struct arena arena;
    struct kept_plan *next;
};

static void free_plan(struct kept_plan *kept)
{
    arena_done(&kept->arena);
    mem_free(kept);
}

void plans_done(struct plans *plans)
{
    while (plans->first) {
        struct kept_plan *kept = plans->first;
        plans->first = kept->next;
        free_plan(kept);
    }
    *plans = (struct plans){0};
}

void plans_trim(struct plans *plans)
{
    if (plans->count >= PLANS_MAX || plans->rows >= ROWS_MAX)
        plans_done(plans);
}

const struct definition *plans_find(const struct plans *plans, const char *name,
                                    int32_t version, const char *hash)
{
    for (const struct kept_plan *kept = plans->first; kept; kept = kept->next) {
        const struct definition *definition = &kept->definition;
        if (definition->version == version && strcmp(definition->hash, hash) == 0 &&
            strcmp(definition->name, name) == 0)
            return definition;
    }
    return NULL;
}

static bool copy_plan(struct kept_plan *kept)
{
    struct definition *definition = &kept->definition;
    size_t count = definition->plan_count;
    struct step_row *rows = arena_array(&kept->arena, count, sizeof *rows);
    definition->name = arena_strdup(&kept->arena, definition->name);
    if (!rows || !definition->name)
        return false;
    memcpy(rows, definition->plan, count * sizeof *rows);
    definition->plan = rows;
    definition->content = NULL;
    definition->workflow = NULL;
    for (size_t i = 0; i < count; i++)
        if (!row_keep_texts(&step_row_type, &rows[i], &kept->arena))
            return false;
    return true;
}

void plans_keep(struct plans *plans, const struct definition *definition, const char *hash)
{
    if (plans->count >= PLANS_MAX || plans->rows + definition->plan_count > ROWS_MAX)
        return;
    struct kept_plan *kept = mem_zalloc(sizeof *kept);
    if (!kept)
        return;
    kept->definition = *definition;
    snprintf(kept->definition.hash, sizeof kept->definition.hash, "%s", hash);
    if (!copy_plan(kept)) {
        free_plan(kept);
        return;
    }
    kept->next = plans->first;
    plans->first = kept;
    plans->count++;
    plans->rows += definition->plan_count;
}
