/* core/condition_inside.h - what the files of the condition share: values, tokens, the tree.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Text becomes tokens (condition_scan.c), tokens become a tree (condition_parse.c), the tree
 * and an input become a value (condition.c).  All memory comes from the arena of one call.
 */
#ifndef CORE_CONDITION_INSIDE_H
#define CORE_CONDITION_INSIDE_H

#include "base/arena.h"
#include "cairn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CONDITION_BYTES_MAX = 4096,
    CONDITION_DEPTH_MAX = 64, /* parentheses inside each other */
};

/* ---- values --------------------------------------------------------------------------------- */

enum value_kind {
    VALUE_MISSING, /* an absent field, or null */
    VALUE_BOOL,
    VALUE_INTEGER,
    VALUE_REAL, /* never NaN; infinite only if a string is a number beyond every real */
    VALUE_TEXT,
    VALUE_OBJECT,
    VALUE_ARRAY,
};

struct value {
    enum value_kind kind;
    bool is_true;
    int64_t integer;
    double real;
    const char *text; /* bytes, and how many: an escape may have made any of them */
    size_t len;
};

/* Makes a string that is a JSON number that number.  False: it is none, and stays as it was. */
bool value_read_number(struct value *value);

/* How an error names a number or a string: 5, 1.5, "many". */
enum { VALUE_NAME_ROOM = 64 };
void value_name(const struct value *value, char ret_name[VALUE_NAME_ROOM]);

/* ---- tokens --------------------------------------------------------------------------------- */

enum token_kind {
    TOKEN_END,   /* the closing braces */
    TOKEN_OPEN,  /* ( */
    TOKEN_CLOSE, /* ) */
    TOKEN_WORD,  /* a function, or what should be one */
    TOKEN_FIELD,
    TOKEN_VALUE, /* a literal */
};

struct token {
    enum token_kind kind;
    size_t at; /* byte of the expression */
    size_t len;
    bool is_spaced;     /* white space comes before it */
    const char *path;   /* TOKEN_FIELD: names, each followed by a NUL, the last by two */
    struct value value; /* TOKEN_VALUE */
};

struct scanner {
    const char *text; /* valid UTF-8 without a NUL */
    size_t len;
    size_t at;
    struct arena *arena;
    cairn_error *reterr;
};

/* Puts the scanner behind the opening braces.  Refuses what is too long, empty or broken. */
cairn_code scan_begin(struct scanner *scanner, const char *expression);

/* The next token.  After TOKEN_END only white space may follow, which is checked with it. */
cairn_code scan_next(struct scanner *scanner, struct token *ret_token);

/* CAIRN_E_BAD_INPUT: the message, then " at column 7". */
cairn_code scan_refuse(const struct scanner *scanner, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The column of a byte: characters, counted from 1. */
size_t scan_column(const char *text, size_t at);

/* How much of a token fits into a message, without cutting a character. */
int scan_quotable(const struct scanner *scanner, const struct token *token);

/* Text in quotes, `token` being all of it; sets the token's value. */
cairn_code scan_quoted(struct scanner *scanner, struct token *token);

/* ---- the tree ------------------------------------------------------------------------------- */

enum function {
    FUNCTION_EQ,
    FUNCTION_NE,
    FUNCTION_GT,
    FUNCTION_LT,
    FUNCTION_GE,
    FUNCTION_LE,
    FUNCTION_AND,
    FUNCTION_OR,
    FUNCTION_NOT,
    FUNCTION_COUNT
};

const char *function_name(enum function function);

enum node_kind { NODE_VALUE, NODE_FIELD, NODE_CALL };

struct node {
    enum node_kind kind;
    size_t column;
    struct value value;     /* NODE_VALUE */
    const char *path;       /* NODE_FIELD, as in a token */
    enum function function; /* NODE_CALL */
    struct node *arguments; /* as many as the function takes */
    struct node *next;      /* the argument after this one */
};

cairn_code condition_parse(const char *expression, struct arena *arena, struct node **ret_tree,
                           cairn_error *reterr);

#endif
