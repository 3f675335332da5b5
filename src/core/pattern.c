/* core/pattern.c - which types a worker takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/pattern.h"

#include <stdlib.h>
#include <string.h>

bool pattern_is_valid(const char *pattern)
{
    const char *percent = strchr(pattern, '%');
    return !percent || !percent[1];
}

bool runtime_is_valid(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.-");
    return name[0] >= 'a' && name[0] <= 'z' && !name[len] && len <= RUNTIME_MAX;
}

bool pattern_is_prefix(const char *pattern)
{
    size_t len = strlen(pattern);
    return len > 0 && pattern[len - 1] == '%';
}

bool pattern_matches(const char *pattern, const char *type)
{
    if (pattern_is_prefix(pattern))
        return strncmp(pattern, type, strlen(pattern) - 1) == 0;
    return strcmp(pattern, type) == 0;
}

bool pattern_overlaps(const char *a, const char *b)
{
    if (!pattern_is_prefix(b))
        return pattern_matches(a, b);
    if (!pattern_is_prefix(a))
        return pattern_matches(b, a);
    size_t shorter = strlen(a) < strlen(b) ? strlen(a) : strlen(b);
    return strncmp(a, b, shorter - 1) == 0;
}

bool pattern_matches_any(const char *const *patterns, size_t count, const char *type)
{
    for (size_t i = 0; i < count; i++)
        if (pattern_matches(patterns[i], type))
            return true;
    return false;
}

/* ---- functions ------------------------------------------------------------------------------ */

static int compare_ranges(const void *left, const void *right)
{
    const struct function_range *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->from > b->from) - (a->from < b->from);
}

static bool is_joined(const struct function_range *a, const struct function_range *b)
{
    return strcmp(a->name, b->name) == 0 && b->from - 1 <= a->to;
}

size_t function_ranges_join(struct function_range *ranges, size_t count,
                            const char *const *patterns, size_t pattern_count)
{
    size_t kept = 0;
    if (count)
        qsort(ranges, count, sizeof *ranges, compare_ranges);
    for (size_t i = 0; i < count; i++) {
        struct function_range *last = kept ? &ranges[kept - 1] : NULL;
        if (pattern_matches_any(patterns, pattern_count, ranges[i].name))
            continue;
        if (!last || !is_joined(last, &ranges[i]))
            ranges[kept++] = ranges[i];
        else if (ranges[i].to > last->to)
            last->to = ranges[i].to;
    }
    return kept;
}
