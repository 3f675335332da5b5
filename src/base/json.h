/* base/json.h - JSON in (checked by jansson) and JSON out (written straight into a buf).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Texts of users are checked, then kept as their own bytes; we never print a tree of theirs
 * again. That is why there is a writer here: it can put such bytes in as they are.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"
#include "cairn.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_DEPTH_MAX = 64 };

/* Reads a JSON text whole.  Refused, with the place named: anything that is not JSON, broken
 * UTF-8, duplicate keys, \u0000 (no store can keep it) and nesting beyond JSON_DEPTH_MAX.
 * `what` names the text in the error, such as "payload".  Free the tree with json_decref().
 *
 * A number that is no integer of 64 bits is a node of its own kind, which keeps its text; jansson
 * takes it for a string, so ask json_is_text() whether something is one. */
cairn_code json_read(const char *text, size_t len, const char *what, json_t **ret_tree,
                     cairn_error *reterr);

/* Such a tree of a text that is known to be JSON, however deep; NULL: it is not, or memory ran out. */
json_t *json_tree(const char *text, size_t len);

bool json_is_text(const json_t *json);
/* The text of such a number, which is not terminated; NULL: it is none. */
const char *json_number_text(const json_t *json, size_t *ret_len);
void json_print(struct buf *buf, const json_t *json); /* without blanks */

/* Whether a text can be stored.  As json_read(); refused as well: a number beyond what a double
 * holds, or with more than NUMBER_FRACTION_MAX digits behind its point. */
cairn_code json_check(const char *text, size_t len, const char *what, cairn_error *reterr);

/* The same; *ret_grown: the bytes that are added if its numbers are written without exponents. */
cairn_code json_check_size(const char *text, size_t len, const char *what, size_t *ret_grown,
                           cairn_error *reterr);

/* The same; refused as well: what has more than `max` bytes, as it is or as json_written() counts them.
 * PostgreSQL keeps numbers without exponents, so that this is what a value may become. */
cairn_code json_check_max(const char *text, size_t len, const char *what, size_t max,
                          cairn_error *reterr);

/* The bytes of a JSON text without blanks outside strings, and with each number written without an
 * exponent. */
size_t json_written(const char *text, size_t len);

/* Without blanks outside strings, and with numbers in their normal form (number_normal()), or as they
 * are; `to` has room for `len` bytes.  The length of what was written. */
size_t json_normal(const char *text, size_t len, char *to);
size_t json_compact(const char *text, size_t len, char *to);

/* Metadata of a job or an instance: NULL, or an object of at most METADATA_MAX bytes. */
enum { METADATA_MAX = 8192 };
cairn_code metadata_check(const char *text, cairn_error *reterr);

/* Whether two texts are the same JSON, however they are written; NULL is only the same as NULL. */
bool json_is_same(const char *a, const char *b);

/* Broken UTF-8 or a NUL inside? */
bool utf8_is_valid(const char *text, size_t len);

/* Writing.  Keys and values alternate as in JSON itself; commas are put in by the writer:
 *
 *     struct json_out out = {.buf = &buf};
 *     json_open(&out, '{');
 *     json_str(json_key(&out, "id"), id);
 *     json_close(&out, '}');
 */
struct json_out {
    struct buf *buf;
    bool needs_comma;
};

void json_open(struct json_out *out, char bracket);  /* '{' or '[' */
void json_close(struct json_out *out, char bracket); /* '}' or ']' */
struct json_out *json_key(struct json_out *out,
                          const char *key);            /* returns out, for the value */
void json_str(struct json_out *out, const char *text); /* NULL: null */
void json_strn(struct json_out *out, const char *text, size_t len);
void json_int(struct json_out *out, int64_t value);
void json_bool(struct json_out *out, bool value);
void json_raw(struct json_out *out, const char *json); /* JSON as it is; NULL: null */
void json_rawn(struct json_out *out, const char *json, size_t len);
void json_time(struct json_out *out, int64_t us); /* RFC 3339; 0: null */

/* The shortest text that is read back as the same number; never like an integer. */
void json_fraction(struct json_out *out, double value);

/* A number as JSON and YAML write it, whatever the locale.  False: not a number, or beyond a double. */
bool fraction_read(const char *text, double *ret_value);

/* An error's text: it may come from a database, in any encoding, so what is not UTF-8 is replaced. */
void json_error_text(struct json_out *out, const char *key, const char *text);

/* {"code", "message", "detail", "hint"} */
void json_error(struct json_out *out, const cairn_error *error);

#endif
