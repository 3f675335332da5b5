/* api/raw.h - finds a value's own bytes in a JSON text.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * jansson checks a body and reads our own fields; a user's payload is kept as it was sent, so
 * its place in the text is looked up here.  The text must be JSON that json_read() has
 * accepted: that is what makes so small a scanner safe.
 */
#ifndef API_RAW_H
#define API_RAW_H

#include <stdbool.h>
#include <stddef.h>

/* A value in somebody else's text, without the white space around it. */
struct raw {
    const char *text;
    size_t len;
};

/* The value of a whole text. */
struct raw raw_of(const char *text, size_t len);

/* The value of an object's member; `key` is ASCII and may be written with escapes in the text.
 * False if the object has none. */
bool raw_member(struct raw object, const char *key, struct raw *ret_value);

/* The entries of an array, in order. */
struct raw_items {
    const char *at, *end;
};
struct raw_items raw_items_of(struct raw array);
bool raw_items_next(struct raw_items *items, struct raw *ret_item); /* false: that was all */

#endif
