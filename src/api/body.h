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
    size_t max_batch;    /* of the engine: entries of a list that names no other limit */
    struct slice object; /* as it was sent; none: nothing was */
    const struct fields *parent; /* what it stands in, which outlives it; NULL: nothing */
    const char *name;            /* of the field it stands in; NULL: it is the body itself */
    long index;                  /* in that field's array; -1: it is no array */
    const char *asked[FIELDS_MAX];
    size_t asked_count;
    const char *const *ignored; /* names that may be there, too; ends with NULL; NULL: none */
    const char *missing;        /* the first needed field that was left out; NULL: none was */
    bool is_partial; /* the reader gave up, so what it did not ask for may still be known */
};

/* How the objects of an array are read, into structs of this size. */
struct list_reader {
    size_t size;
    void (*read)(struct fields *fields, const struct object *object, void *to);
    const struct object *object;
};

/* Reads a body, which outlives the fields.  No bytes, or none but white space: an object without
 * fields. */
cairn_code body_read(const char *text, size_t len, struct request *request,
                     struct fields *ret_fields);

const char *field_text(struct fields *fields, const char *name, enum need need);
bool field_bool(struct fields *fields, const char *name, bool fallback);

/* Another object.  False if it was left out. */
bool field_object(struct fields *fields, const char *name, struct fields *ret_inner);

/* An array of objects, at most `most`; none if it was left out.  NULL: memory ran out. */
void *field_list(struct fields *fields, const char *name, enum need need, size_t most,
                 const struct list_reader *reader, size_t *ret_count);

/* Whether the object has a field of this name; does not count as asking for it. */
bool field_is_there(const struct fields *fields, const char *name);

/* Refuses a list that has no entry, because it was left out or because it is empty. */
void field_refuse_empty(struct fields *fields, const char *name, size_t most);

/* Reads all fields of a table into a zeroed struct. */
void fields_read(struct fields *fields, const struct object *object, void *to);

/* Refuses a field that was not asked for, and answers the request's code. */
cairn_code fields_end(struct fields *fields);

#endif
