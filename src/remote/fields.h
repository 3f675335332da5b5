/* remote/fields.h - objects of an answer, read by tables of fields.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fields that a table does not name are passed over, so that a newer server can say more than
 * this library knows.
 */
#ifndef REMOTE_FIELDS_H
#define REMOTE_FIELDS_H

#include "remote/remote.h"

enum field_kind {
    FIELD_TEXT,   /* const char *, in the arena; null: NULL */
    FIELD_JSON,   /* const char *, the value as it was sent; null: NULL */
    FIELD_VALUE,  /* the same, but null is the JSON text null */
    FIELD_CHARS,  /* char[size] */
    FIELD_WORD,   /* const char *, as long as the engine lives; null: NULL */
    FIELD_INT32,  /* int32_t */
    FIELD_UINT64, /* uint64_t */
    FIELD_NUMBER, /* int64_t, sent as a string */
    FIELD_BOOL,   /* int */
    FIELD_TIME,   /* int64_t in microseconds; null: 0 */
};

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset, size;
    bool is_needed; /* a text that is never left out nor null; of the first five kinds */
};

#define FIELD(type, member, json_name, field_kind)                               \
    {                                                                            \
        .name = json_name, .kind = field_kind, .offset = offsetof(type, member), \
        .size = sizeof(((type *)NULL)->member)                                   \
    }
#define NEEDED(type, member, json_name, field_kind)                              \
    {                                                                            \
        .name = json_name, .kind = field_kind, .offset = offsetof(type, member), \
        .size = sizeof(((type *)NULL)->member), .is_needed = true                \
    }
#define END_OF_FIELDS \
    {                 \
        .name = NULL  \
    }

struct reader {
    struct remote_engine *engine;
    struct arena *arena;
    cairn_error *error;
};

/* The answer is not what a server of ours would send. */
cairn_code not_understood(struct reader *reader, const char *what);

/* Puts a pointer, not bytes, into a struct whose type only the table knows.  NULL: memory ran
 * out. */
cairn_code put_pointer(struct reader *reader, void *to, const void *pointer);

bool read_time(struct slice value, int64_t *ret_us);
cairn_code read_object(struct reader *reader, struct slice object, const struct field *fields,
                       void *ret);

/* Objects that stand in a list: what they are, and where they go. */
struct objects {
    const struct field *fields;
    size_t size; /* of one */
    void *items; /* a pointer to the first, whose type only the table knows */
    size_t *count;
};

/* The list `member` of a struct that has a `count`, such as struct page_output. */
#define OBJECTS(out, member, field_table)            \
    ((struct objects){.fields = (field_table),       \
                      .size = sizeof *(out)->member, \
                      .items = &(out)->member,       \
                      .count = &(out)->count})

cairn_code read_list(struct reader *reader, struct slice list, struct objects objects);

/* {items, next} */
cairn_code read_page(struct reader *reader, struct slice answer, struct objects objects,
                     const char **ret_next);

/* One object where a list of one is wanted. */
cairn_code read_single(struct reader *reader, struct slice answer, struct objects objects);

extern const struct field enqueued_fields[], step_fields[];

/* The tasks of a claim: {tasks}. */
cairn_code read_tasks(struct reader *reader, struct slice answer,
                      struct page_output *ret_tasks);

/* decode_function.c: what a function's task remembers, the answer to a commit, logs. */
cairn_code read_memory(struct reader *reader, struct slice object, cairn_task *task);
cairn_code decode_commit(struct reader *reader, struct slice answer, struct request *request);
cairn_code decode_logs(struct reader *reader, struct slice answer, struct request *request);
cairn_code decode_context(struct reader *reader, struct slice answer, struct request *request);
cairn_code decode_decisions(struct reader *reader, struct slice answer,
                            struct request *request);

/* decode_flow.c: answers about workflows and their instances. */
cairn_code decode_flow(struct reader *reader, struct slice answer, struct request *request);

#endif
