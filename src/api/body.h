/* api/body.h - reads the fields of a JSON object, strictly.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first mistake is kept in request->code and request->error, naming the field and what was
 * expected; after it the readers only answer their fallbacks.  So ask for all fields, then call
 * fields_end() once.  Texts are copied into the request's arena.  A null field counts as left
 * out, except where any JSON is allowed.
 */
#ifndef API_BODY_H
#define API_BODY_H

#include "api/operation.h"
#include "base/scan.h"

enum need { OPTIONAL, REQUIRED };

enum { FIELDS_MAX = 16 };

/* An object being read. */
struct fields {
    struct request *request;
    size_t max_batch;     /* of the engine: entries of a list that names no other limit */
    const json_t *object; /* NULL: nothing was sent */
    struct slice text;    /* the same as it was sent */
    const struct fields *parent; /* what it stands in, which outlives it; NULL: nothing */
    const char *name;            /* of the field it stands in; NULL: it is the body itself */
    long index;                  /* in that field's array; -1: it is no array */
    const char *asked[FIELDS_MAX];
    size_t asked_count, found;
    const char *missing; /* the first needed field that was left out; NULL: none was */
    bool is_partial;     /* the reader gave up, so what it did not ask for may still be known */
};

/* An array of objects being read. */
struct field_items {
    const json_t *array;
    struct scan texts; /* the same as they were sent */
    const char *name;
    size_t index, count;
};

/* Reads a body.  No bytes, or none but white space: an object without fields.  The tree belongs
 * to the caller (json_decref), outlives the fields, and may be NULL. */
cairn_code body_read(const char *text, size_t len, struct request *request,
                     struct fields *ret_fields, json_t **ret_tree);

const char *field_text(struct fields *fields, const char *name, enum need need);

/* One of the words, which end with NULL. */
const char *field_word(struct fields *fields, const char *name, const char *const *words,
                       enum need need);

int64_t field_int(struct fields *fields, const char *name, int64_t least, int64_t most,
                  int64_t fallback);
int64_t field_int_needed(struct fields *fields, const char *name, int64_t least, int64_t most);
bool field_bool(struct fields *fields, const char *name, bool fallback);
int64_t field_time(struct fields *fields, const char *name);     /* us; 0: left out */
const char *field_json(struct fields *fields, const char *name); /* as sent; NULL: left out */

/* An array of texts with `least` to `most` entries, which must be there. */
const char *const *field_texts(struct fields *fields, const char *name, size_t least,
                               size_t most, size_t *ret_count);

/* Another object.  False if it was left out. */
bool field_object(struct fields *fields, const char *name, struct fields *ret_inner);

/* An array of objects, at most `most`; none if it was left out. */
struct field_items field_items(struct fields *fields, const char *name, size_t most,
                               enum need need);
bool field_items_next(struct fields *fields, struct field_items *items,
                      struct fields *ret_inner);

/* Whether the object has a field of this name; does not count as asking for it. */
bool field_is_there(const struct fields *fields, const char *name);

/* Refuses a list that has no entry, because it was left out or because it is empty. */
void field_refuse_empty(struct fields *fields, const char *name, size_t most);

/* Reads all fields of a table into a zeroed struct. */
void fields_read(struct fields *fields, const struct object *object, void *to);

/* Refuses a field that was not asked for, and answers the request's code. */
cairn_code fields_end(struct fields *fields);

#endif
