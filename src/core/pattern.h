/* core/pattern.h - which types a worker takes: exact names, and prefixes that end in %.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CORE_PATTERN_H
#define CORE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

bool pattern_is_prefix(const char *pattern); /* only a trailing % makes one */
bool pattern_matches(const char *pattern, const char *type);
bool pattern_matches_any(const char *const *patterns, size_t count, const char *type);

#endif
