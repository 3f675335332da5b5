/* core/condition_parse.c - the tree of a condition.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     action   = "{{" call "}}"
 *     call     = function argument ... | argument
 *     argument = literal | field | "(" call ")"
 *
 * Arguments are separated by white space.
 */
#include "core/condition_inside.h"

#include "base/error.h"

#include <string.h>

enum { ANY_NUMBER = 0 };

static const struct {
    const char *name;
    size_t least, most; /* how many arguments */
} functions[FUNCTION_COUNT] = {
    [FUNCTION_EQ] = {"eq", 2, ANY_NUMBER},
    [FUNCTION_NE] = {"ne", 2, 2},
    [FUNCTION_GT] = {"gt", 2, 2},
    [FUNCTION_LT] = {"lt", 2, 2},
    [FUNCTION_GE] = {"ge", 2, 2},
    [FUNCTION_LE] = {"le", 2, 2},
    [FUNCTION_AND] = {"and", 2, ANY_NUMBER},
    [FUNCTION_OR] = {"or", 2, ANY_NUMBER},
    [FUNCTION_NOT] = {"not", 1, 1},
};

const char *function_name(enum function function)
{
    return functions[function].name;
}

struct parser {
    struct scanner scanner;
    struct token token; /* the one looked at */
    int depth;
};

static cairn_code advance(struct parser *parser)
{
    return scan_next(&parser->scanner, &parser->token);
}

static cairn_code parse_call(struct parser *parser, struct node **ret_node);

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_word(const struct parser *parser, const char *word)
{
    const struct token *token = &parser->token;
    return token->kind == TOKEN_WORD && token->len == strlen(word) &&
           memcmp(parser->scanner.text + token->at, word, token->len) == 0;
}

static bool is_function(const struct parser *parser, enum function *ret_function)
{
    for (enum function f = 0; f < FUNCTION_COUNT; f++)
        if (is_word(parser, functions[f].name)) {
            *ret_function = f;
            return true;
        }
    return false;
}

static bool is_action(const struct parser *parser)
{
    static const char *const actions[] = {"if",     "else",  "end",   "range",    "with",
                                          "define", "block", "break", "template", "continue"};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (is_word(parser, actions[i]))
            return true;
    return false;
}

/* A word where a value should be. */
static cairn_code refuse_word(const struct parser *parser)
{
    const struct scanner *scanner = &parser->scanner;
    const struct token *token = &parser->token;
    const char *word = scanner->text + token->at;
    enum function function;
    if (is_function(parser, &function))
        return scan_refuse(scanner, token->at,
                           "function \"%s\" must begin a pair of parentheses to be an argument",
                           functions[function].name);
    if (is_action(parser))
        return scan_refuse(scanner, token->at, "the action \"%.*s\" is not supported",
                           (int)token->len, word);
    if (is_word(parser, "nil"))
        return scan_refuse(scanner, token->at,
                           "\"nil\" is not supported, a missing field is 0, \"\" or false: "
                           "found");
    return scan_refuse(scanner, token->at, "unknown function \"%.*s\"",
                       scan_quotable(scanner, token), word);
}

/* ---- the grammar ---------------------------------------------------------------------------- */

static struct node *new_node(struct parser *parser, enum node_kind kind)
{
    struct node *node = arena_zalloc(parser->scanner.arena, sizeof *node);
    if (node) {
        node->kind = kind;
        node->column = scan_column(parser->scanner.text, parser->token.at);
    }
    return node;
}

static cairn_code parse_leaf(struct parser *parser, struct node **ret_node)
{
    bool is_field = parser->token.kind == TOKEN_FIELD;
    struct node *node = new_node(parser, is_field ? NODE_FIELD : NODE_VALUE);
    NEED(node, parser->scanner.reterr);
    node->path = parser->token.path;
    node->value = parser->token.value;
    *ret_node = node;
    return advance(parser);
}

static cairn_code parse_parentheses(struct parser *parser, struct node **ret_node)
{
    size_t open = parser->token.at;
    if (parser->depth == CONDITION_DEPTH_MAX)
        return scan_refuse(&parser->scanner, open, "parentheses are nested more than %d deep",
                           CONDITION_DEPTH_MAX);
    parser->depth++;
    TRY(advance(parser));
    TRY(parse_call(parser, ret_node));
    if (parser->token.kind != TOKEN_CLOSE)
        return scan_refuse(&parser->scanner, open, "\")\" is missing for the \"(\"");
    parser->depth--;
    return advance(parser);
}

static cairn_code parse_argument(struct parser *parser, struct node **ret_node)
{
    switch (parser->token.kind) {
    case TOKEN_VALUE:
    case TOKEN_FIELD:
        return parse_leaf(parser, ret_node);
    case TOKEN_OPEN:
        return parse_parentheses(parser, ret_node);
    case TOKEN_WORD:
        return refuse_word(parser);
    case TOKEN_END:
    case TOKEN_CLOSE:
        break;
    }
    return scan_refuse(&parser->scanner, parser->token.at, "a value is missing");
}

static bool is_at_end(const struct parser *parser)
{
    return parser->token.kind == TOKEN_END || parser->token.kind == TOKEN_CLOSE;
}

static cairn_code parse_arguments(struct parser *parser, struct node **ret_first,
                                  size_t *ret_count)
{
    struct node **next = ret_first;
    size_t count = 0;
    for (; !is_at_end(parser); count++, next = &(*next)->next) {
        if (!parser->token.is_spaced)
            return scan_refuse(&parser->scanner, parser->token.at, "white space is missing");
        TRY(parse_argument(parser, next));
    }
    *ret_count = count;
    return CAIRN_OK;
}

static cairn_code check_count(const struct parser *parser, enum function function, size_t at,
                              size_t count)
{
    size_t least = functions[function].least, most = functions[function].most;
    if (count >= least && (most == ANY_NUMBER || count <= most))
        return CAIRN_OK;
    return scan_refuse(&parser->scanner, at, "function \"%s\" takes %zu%s argument%s, not %zu,",
                       functions[function].name, least, most == ANY_NUMBER ? " or more" : "",
                       least == 1 && most == 1 ? "" : "s", count);
}

static cairn_code parse_function(struct parser *parser, enum function function,
                                 struct node **ret_node)
{
    size_t at = parser->token.at, count = 0;
    struct node *node = new_node(parser, NODE_CALL);
    NEED(node, parser->scanner.reterr);
    node->function = function;
    TRY(advance(parser));
    TRY(parse_arguments(parser, &node->arguments, &count));
    TRY(check_count(parser, function, at, count));
    *ret_node = node;
    return CAIRN_OK;
}

static cairn_code parse_call(struct parser *parser, struct node **ret_node)
{
    enum function function;
    if (is_function(parser, &function))
        return parse_function(parser, function, ret_node);
    cairn_code code = parse_argument(parser, ret_node);
    if (code || is_at_end(parser))
        return code;
    return scan_refuse(&parser->scanner, parser->token.at,
                       "a value without a function takes no arguments: found one");
}

cairn_code condition_parse(const char *expression, struct arena *arena, struct node **ret_tree,
                           cairn_error *reterr)
{
    struct parser parser = {.scanner = {.arena = arena, .reterr = reterr}};
    TRY(scan_begin(&parser.scanner, expression ? expression : ""));
    TRY(advance(&parser));
    if (parser.token.kind == TOKEN_END)
        return fail(reterr, CAIRN_E_BAD_INPUT, "the expression is empty");
    TRY(parse_call(&parser, ret_tree));
    if (parser.token.kind != TOKEN_END)
        return scan_refuse(&parser.scanner, parser.token.at, "unexpected \")\"");
    return CAIRN_OK;
}
