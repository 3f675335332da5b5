/* core/pattern.c - which types a worker takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/pattern.h"

#include <string.h>

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

bool pattern_matches_any(const char *const *patterns, size_t count, const char *type)
{
    for (size_t i = 0; i < count; i++)
        if (pattern_matches(patterns[i], type))
            return true;
    return false;
}
