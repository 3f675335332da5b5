/* base/scan.h - reads JSON where it lies, without building a tree.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tree would print 0.1 as 0.10000000000000001 and refuse numbers that a database keeps; a
 * slice of a request, of an answer or of a row is what was sent or stored, byte for byte.
 * scan_text() (or json_read()) checks the form once; all the others may then rely on it.
 */
#ifndef BASE_SCAN_H
#define BASE_SCAN_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One value inside a JSON text, without the white space around it.  A zeroed slice is none. */
struct slice {
    const char *text;
    size_t len;
};

/* The members of an object or the items of a list that are still to come. */
struct scan {
    const char *at, *end;
};

/* False: not JSON, not UTF-8, or nested beyond what a server sends. */
bool scan_text(const char *text, size_t len, struct slice *ret_value);

bool scan_object(struct slice value, struct scan *ret_scan); /* false: not an object */
bool scan_list(struct slice value, struct scan *ret_scan);   /* false: not a list */

/* The next one; false: there was none left.  The key is as it is written, without quotes. */
bool scan_member(struct scan *scan, struct slice *ret_key, struct slice *ret_value);
bool scan_item(struct scan *scan, struct slice *ret_value);

size_t scan_count(struct slice list);                         /* 0 if it is not a list */
struct slice scan_find(struct slice object, const char *key); /* zeroed: not there; the key may
                                                               * be written with escapes */

bool slice_is(struct slice slice, const char *text);
bool slice_is_string(struct slice value);

/* The characters that a string stands for; at most `room` bytes with the NUL are written, cut
 * between two characters.  False: not a string. */
bool slice_unescape(struct slice value, char *to, size_t room);

/* The same in an arena, or the value's own bytes.  NULL: memory ran out. */
char *slice_string(struct slice value, struct arena *arena);
char *slice_json(struct slice value, struct arena *arena);

bool slice_int(struct slice value, int64_t *ret_number); /* false: not a whole number */
bool slice_uint(struct slice value, uint64_t *ret_number);

#endif
