/* core/tag.h - tags: names and texts by which a job or an instance is found.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row keeps them as a JSON object of texts, in a filter each is "name:value".
 */
#ifndef CORE_TAG_H
#define CORE_TAG_H

#include "base/arena.h"
#include "cairn.h"

enum { TAGS_MAX = 16, TAG_NAME_MAX = 64, TAG_VALUE_MAX = 256 };

struct tag {
    const char *name, *value;
};

/* NULL is none. */
cairn_code tags_check(const char *json, cairn_error *reterr);

/* NULL if there are none: {} as well. */
const char *tags_or_null(const char *json);

/* "name:value"; a value may have colons, a name has none. */
cairn_code tag_read(const char *text, struct arena *arena, struct tag *ret_tag,
                    cairn_error *reterr);

/* Whether an object that tags_check() has accepted, or NULL, has all of these. */
bool tags_have(const char *json, const struct tag *tags, size_t count);

#endif
