/* core/row.h - how core/rows.h describes rows, so that code can walk over their columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * spec/rows.txt and spec/words.txt list every row, column and word.  Code that treats all columns
 * alike (reading a row from a database, writing it) goes through `struct row_type`.
 */
#ifndef CORE_ROW_H
#define CORE_ROW_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The words of an enum.  A number without a word has NULL. */
struct words {
    int count;
    const char *names[16];
};

/* Whether both texts are given, and equal. */
static inline bool text_is(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

int word_from(const struct words *words, const char *word); /* 0: NULL, or no such word */

/* For an enum: the table of its words, and the word of a value. */
#define DECLARE_NAMES(type)                                \
    extern const struct words type##_words;                \
    static inline const char *type##_name(enum type value) \
    {                                                      \
        return type##_words.names[value];                  \
    }

/* The same, and the value of a word. */
#define DECLARE_WORDS(type)                               \
    DECLARE_NAMES(type)                                   \
    static inline enum type type##_from(const char *word) \
    {                                                     \
        return (enum type)word_from(&type##_words, word); \
    }

enum column_kind {
    TEXT_COLUMN,
    JSON_COLUMN,
    EXACTJSON_COLUMN, /* JSON that is kept byte for byte */
    UUID_COLUMN,
    INT32_COLUMN,
    INT64_COLUMN,
    BOOL_COLUMN,
    TIME_COLUMN,  /* microseconds since 1970 */
    PLACE_COLUMN, /* a step's place in its plan; -1: none */
    WORD_COLUMN,  /* an enum, kept as its word */
    CODE_COLUMN,  /* an enum, kept as its number in SQLite and as its word in PostgreSQL */
};

enum column_flag {
    COLUMN_PLAN = 1 << 0,           /* written when the row is inserted, then never again */
    COLUMN_CHANGE = 1 << 1,         /* written by INSERT and by every UPDATE */
    COLUMN_SERIAL = 1 << 2,         /* given by the database */
    COLUMN_NULL = 1 << 3,           /* NULL in the table while it is NULL, 0 or -1 in C */
    COLUMN_NULL_IN_SQLITE = 1 << 4, /* the same, in SQLite only */
    COLUMN_POSTGRES_ONLY = 1 << 5,  /* no column of its own in SQLite */
    COLUMN_KEY = 1 << 6,            /* by which PostgreSQL finds the row for an UPDATE */
    COLUMN_NOW = 1 << 7,            /* the time of the transaction, whatever the member says */
    COLUMN_EMPTY = 1 << 8,          /* '' in the table while it is NULL in C */
};

struct column {
    const char *name; /* in SQL */
    enum column_kind kind;
    size_t offset;             /* of the member in the struct */
    unsigned flags;            /* of enum column_flag */
    const struct words *words; /* WORD_COLUMN, CODE_COLUMN */
};

struct row_type {
    const char *table;
    size_t size; /* of the struct */
    size_t count;
    const struct column *columns;
};

/* Whether the member is a text or, for WORD_COLUMN and CODE_COLUMN, can be said by one. */
bool column_is_text(const struct column *column);

/* The text of a member; of an enum its word.  May be NULL. */
const char *member_text(const struct column *column, const void *row);
void member_set_text(const struct column *column, void *row, const char *text);

/* Copies the texts of a row to an arena.  False: memory ran out. */
bool row_keep_texts(const struct row_type *type, void *row, struct arena *arena);

/* The number of a member that is not a text; of an enum its number. */
int64_t member_int(const struct column *column, const void *row);
void member_set_int(const struct column *column, void *row, int64_t value);

#endif
