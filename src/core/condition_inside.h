/* core/condition_inside.h - what the files of expressions share: values, tokens, the tree.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Text becomes tokens (condition_scan.c), tokens become a tree (condition_parse.c), the tree and
 * a scope become a value (condition_value.c, condition_call.c).  condition.c asks for a boolean,
 * template.c for JSON.  All memory comes from the arena of one call.
 */
#ifndef CORE_CONDITION_INSIDE_H
#define CORE_CONDITION_INSIDE_H

#include "base/arena.h"
#include "base/json.h"
#include "core/expression.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CONDITION_BYTES_MAX = 4096,
    CONDITION_DEPTH_MAX = 64, /* parentheses inside each other */
    CONDITION_PIPES_MAX = 64, /* in one expression */
};

/* ---- values --------------------------------------------------------------------------------- */

enum value_kind {
    VALUE_MISSING, /* an absent field, or null */
    VALUE_BOOL,
    VALUE_INTEGER,
    VALUE_DECIMAL, /* any other number: its text */
    VALUE_TEXT,
    VALUE_OBJECT,
    VALUE_ARRAY,
};

struct value {
    enum value_kind kind;
    bool is_true;
    int64_t integer;
    const char *text; /* bytes, and how many: an escape may have made any of them */
    size_t len;
    const json_t *json; /* of an object or an array */
};

/* Makes a string that is a JSON number that number.  False: it is none, and stays as it was. */
bool value_read_number(struct value *value);

bool value_is_number(const struct value *value);
int value_order_numbers(const struct value *a, const struct value *b); /* exactly */

/* A number that may count elements: false, if it has a fraction; held within 64 bits. */
bool value_whole(const struct value *value, int64_t *ret_whole);

/* How an error names a number or a string: 5, 1.5, "many". */
enum { VALUE_NAME_ROOM = 64 };
void value_name(const struct value *value, char ret_name[VALUE_NAME_ROOM]);

/* ---- tokens --------------------------------------------------------------------------------- */

enum token_kind {
    TOKEN_END,   /* the closing braces */
    TOKEN_OPEN,  /* ( */
    TOKEN_CLOSE, /* ) */
    TOKEN_PIPE,  /* | */
    TOKEN_WORD,  /* a function, or what should be one */
    TOKEN_FIELD,
    TOKEN_VALUE, /* a literal */
};

struct token {
    enum token_kind kind;
    size_t at; /* byte of the expression */
    size_t len;
    bool is_spaced;     /* white space comes before it */
    bool is_global;     /* TOKEN_FIELD: begins with $ */
    bool is_trimming;   /* TOKEN_END: white space behind it does not count */
    const char *path;   /* TOKEN_FIELD: names, each followed by a NUL, the last by two */
    struct value value; /* TOKEN_VALUE */
};

struct scanner {
    const char *text; /* valid UTF-8 without a NUL */
    size_t len;
    size_t at;
    bool is_amid_text; /* text may follow the closing braces */
    struct arena *arena;
    cairn_error *reterr;
};

/* Puts the scanner before a text, which is valid UTF-8 afterwards, or refused. */
cairn_code scan_open(struct scanner *scanner, const char *text, size_t len);

/* Steps over the opening braces of an action; false: there are none here. */
bool scan_action(struct scanner *scanner, bool *ret_is_trimming);

/* Puts the scanner behind the opening braces of a condition.  Refuses what is too long, empty or broken. */
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
    FUNCTION_LEN,
    FUNCTION_INDEX,
    FUNCTION_CONTAINS,
    FUNCTION_HAS_PREFIX,
    FUNCTION_HAS_SUFFIX,
    FUNCTION_DEFAULT,
    FUNCTION_JSON,
    FUNCTION_COUNT
};

const char *function_name(enum function function);

enum node_kind {
    NODE_VALUE,
    NODE_FIELD,
    NODE_ACCESS, /* (call).field */
    NODE_CALL,
};

/* What a field belongs to. */
enum field_root {
    ROOT_DATA,  /* . */
    ROOT_INPUT, /* $.input, and so on */
    ROOT_INSTANCE_ID,
    ROOT_KEY,
    ROOT_TAGS,
    ROOT_STEPS,  /* $.steps alone: the first argument of index, and nothing else */
    ROOT_STEP,   /* index $.steps "name": its output must be asked for */
    ROOT_OUTPUT, /* $.steps.name.output */
};

struct node {
    enum node_kind kind;
    size_t at;              /* byte of the text */
    struct value value;     /* NODE_VALUE */
    enum field_root root;   /* NODE_FIELD */
    const char *step;       /* ROOT_STEP, ROOT_OUTPUT: its name */
    const char *path;       /* NODE_FIELD, NODE_ACCESS, as in a token */
    enum function function; /* NODE_CALL */
    struct node *arguments; /* as many as the function takes; of NODE_ACCESS: one */
    struct node *next;      /* the argument after this one */
};

/* A condition: one action, and white space around it. */
cairn_code condition_parse(const char *expression, struct arena *arena, struct node **ret_tree,
                           cairn_error *reterr);

/* The action whose opening braces the scanner has just passed, up to and with its closing ones.
 * *ret_is_trimming: white space behind it does not count. */
cairn_code action_parse(struct scanner *scanner, struct node **ret_tree, bool *ret_is_trimming);

/* Adds the names of the steps whose output it asks for, as far as they are not there yet. */
cairn_code node_steps(const struct node *node, struct arena *arena,
                      struct expression_steps *steps, cairn_error *reterr);

/* ---- values of trees ------------------------------------------------------------------------ */

/* What one call of the interface works on: the texts of the scope are read when first asked for. */
struct evaluation {
    const struct expression_scope *scope;
    const char *text;    /* of the expression, for columns */
    bool is_condition;   /* .instance_id and .step_name are not the data's */
    size_t work;         /* bytes looked at or made so far, beyond the data itself */
    struct arena *arena; /* temporary */
    json_t *data, *input, *tags;
    json_t **outputs;
    cairn_error *reterr;
};

/* More work in one call is refused, so that no expression stops the engine. */
enum { EXPRESSION_WORK_MAX = 32 * 1024 * 1024 };

void evaluation_done(struct evaluation *evaluation);
cairn_code evaluate(struct evaluation *evaluation, const struct node *node,
                    struct value *ret_value);
struct value value_of_json(const json_t *json);
struct value value_of_bool(bool is_true);
const char *value_kind_name(enum value_kind kind); /* "a number" */

/* Notes work; CAIRN_E_BAD_INPUT beyond the limit. */
cairn_code evaluation_charge(struct evaluation *evaluation, size_t bytes);

/* CAIRN_E_BAD_INPUT: the message, then " at column 7". */
cairn_code evaluation_refuse(const struct evaluation *evaluation, const struct node *node,
                             const char *format, ...) __attribute__((format(printf, 3, 4)));

/* condition_call.c: eq ne gt lt ge le; the others that yield values. */
cairn_code evaluate_comparison(struct evaluation *evaluation, const struct node *call,
                               bool *ret_is_true);
cairn_code evaluate_len(struct evaluation *evaluation, const struct node *call,
                        struct value *ret_value);
cairn_code evaluate_index(struct evaluation *evaluation, const struct node *call,
                          struct value *ret_value);
cairn_code evaluate_search(struct evaluation *evaluation, const struct node *call,
                           struct value *ret_value);
cairn_code evaluate_default(struct evaluation *evaluation, const struct node *call,
                            struct value *ret_value);
cairn_code evaluate_json(struct evaluation *evaluation, const struct node *call,
                         struct value *ret_value);

/* condition_compare.c: how a stands to b, as strcmp() says it. */
cairn_code value_compare(struct evaluation *evaluation, const struct node *call, struct value a,
                         struct value b, int *ret_order);

/* condition_print.c: a value as JSON.  is_sorted: the same text for the same value on every store,
 * with sorted keys and whole numbers without a fraction.  Beyond `max` bytes, `depth` included
 * beyond JSON_DEPTH_MAX, or with bytes that are no UTF-8 it is refused. */
struct printing {
    struct evaluation *evaluation;
    struct buf *buf;
    size_t max;
    bool is_sorted;
};
cairn_code print_json(struct printing *printing, const struct value *value, int depth);
/* The same within a string: a string as it is, what is missing as nothing. */
cairn_code print_text(struct printing *printing, const struct value *value);
cairn_code print_check(const struct printing *printing); /* whether it is within its limits */

#endif
