/* core/effect.c - which effect the key of a task names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/effect.h"

#include <stdlib.h>
#include <string.h>

char *effect_key(struct arena *arena, const char *instance_id, const char *step,
                 int32_t past_effects, bool is_undo)
{
    const char *undo = is_undo ? ":undo" : "";
    if (past_effects == 0)
        return arena_concat(arena, instance_id, ":", step, undo);
    return arena_printf(arena, "%s:%s~%lld%s", instance_id, step, (long long)past_effects + 1,
                        undo);
}

bool effect_is_reserved(const char *name)
{
    const char *tilde = strrchr(name, '~');
    return tilde && tilde[1] && strspn(tilde + 1, "0123456789") == strlen(tilde + 1);
}

/* An entry is "PAST:LENGTH:STEP". */
bool effect_next(const char **at, struct effect_entry *ret_entry)
{
    char *end;
    if (!*at || !**at)
        return false;
    ret_entry->past_effects = (int32_t)strtol(*at, &end, 10);
    if (*end != ':')
        return false;
    ret_entry->step_len = (size_t)strtoul(end + 1, &end, 10);
    if (*end != ':' || strlen(end + 1) < ret_entry->step_len)
        return false;
    ret_entry->step = end + 1;
    *at = ret_entry->step + ret_entry->step_len;
    return true;
}

static bool is_of(const struct effect_entry *entry, const char *step)
{
    return strlen(step) == entry->step_len && memcmp(entry->step, step, entry->step_len) == 0;
}

int32_t effect_find(const char *entries, const char *step, int32_t otherwise)
{
    struct effect_entry entry;
    while (effect_next(&entries, &entry))
        if (is_of(&entry, step))
            return entry.past_effects;
    return otherwise;
}

bool effect_put(struct arena *arena, const char **entries, const char *step,
                int32_t past_effects)
{
    const char *all = *entries ? *entries : "", *at = all, *before = all;
    size_t head = strlen(all);
    struct effect_entry entry;
    const char *tail = "";
    while (effect_next(&at, &entry)) {
        if (is_of(&entry, step)) {
            head = (size_t)(before - all);
            tail = at;
            break;
        }
        before = at;
    }
    *entries = arena_printf(arena, "%.*s%s%d:%zu:%s", (int)head, all, tail, (int)past_effects,
                            strlen(step), step);
    return *entries != NULL;
}
