/* core/pattern.h - which types a worker takes: exact names, prefixes that end in %, and functions in
 * some versions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CORE_PATTERN_H
#define CORE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool pattern_is_valid(const char *pattern);  /* a % stands at its end, or nowhere */
bool pattern_is_prefix(const char *pattern); /* only a trailing % makes one */
bool pattern_matches(const char *pattern, const char *type);
bool pattern_overlaps(const char *a, const char *b); /* some type could match both */
bool pattern_matches_any(const char *const *patterns, size_t count, const char *type);

/* The name of a runtime: a small letter, then at most 63 of a-z, 0-9, _, . and -. */
#define RUNTIME_MAX 64
#define RUNTIME_RULE "must be 1 to 64 of a-z, 0-9, _, . and -, and begin with a letter"
bool runtime_is_valid(const char *name);

/* Versions of a function, both ends included. */
struct function_range {
    const char *name;
    int32_t from, to;
};

/* Sorts, joins those that overlap or touch, and leaves out names that a pattern matches: how many
 * are left. */
size_t function_ranges_join(struct function_range *ranges, size_t count,
                            const char *const *patterns, size_t pattern_count);

#endif
