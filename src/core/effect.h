/* core/effect.h - which effect the key of a task names.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A handler hands its task's key to the outside world, so that an effect happens once.  The key
 * stays the same for every call that wants the same effect.  It changes when the effect was undone
 * by the step's compensation, and after a restart, which wants everything anew:
 *
 *   first effect      ID:step           its compensation   ID:step:undo
 *   second effect     ID:step~2         its compensation   ID:step~2:undo
 *
 * A step's row counts the effects that are past.  What a function has undone is forgotten, and its
 * row deleted; the count is then kept in the row of the function itself (place 0), as a text of
 * entries.  Steps that are not in that text have as many past effects as the function.
 */
#ifndef CORE_EFFECT_H
#define CORE_EFFECT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL: memory ran out. */
char *effect_key(struct arena *arena, const char *instance_id, const char *step,
                 int32_t past_effects, bool is_undo);

/* Ends in "~" and a number: such a name could be taken for another step's later key. */
bool effect_is_reserved(const char *name);

/* ---- the text of entries: function_effects of a step row, NULL if there are none ------------- */

struct effect_entry {
    const char *step; /* not terminated */
    size_t step_len;
    int32_t past_effects;
};

/* The entry at *at, which is moved to the next one.  False: there is none left. */
bool effect_next(const char **at, struct effect_entry *ret_entry);

/* The past effects of a step; `otherwise` if no entry names it. */
int32_t effect_find(const char *entries, const char *step, int32_t otherwise);

/* The entries with this one added, or in place of the step's earlier one.  Sets *entries; false:
 * memory ran out. */
bool effect_put(struct arena *arena, const char **entries, const char *step,
                int32_t past_effects);

#endif
