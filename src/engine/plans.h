/* engine/plans.h - plans of workflows that were started lately, so that they need not be read again.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A definition never changes, so name, version and hash say which it is.  The store is asked for
 * these at every start; only reading the text and making the plan is spared.  Each committer has
 * its own, and no other thread uses it.
 */
#ifndef ENGINE_PLANS_H
#define ENGINE_PLANS_H

#include "definition/definition.h"

struct kept_plan;

/* A zeroed struct is empty. */
struct plans {
    struct kept_plan *first;
    size_t count, rows;
};

/* Forgets all if the bound is reached.  Between batches only: what was found is used until then. */
void plans_trim(struct plans *plans);
void plans_done(struct plans *plans);

/* NULL: not kept.  What comes back has no content and no elements. */
const struct definition *plans_find(const struct plans *plans, const char *name,
                                    int32_t version, const char *hash);

/* Keeps a copy under the hash that the store knows, if there is room and memory for it. */
void plans_keep(struct plans *plans, const struct definition *definition, const char *hash);

#endif
