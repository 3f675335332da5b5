/* core/condition_parse.c - the tree of an expression.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     action   = "{{" pipeline "}}"
 *     pipeline = call [ "|" function argument ... ] ...
 *     call     = function argument ... | argument
 *     argument = literal | field | "(" pipeline ")" [ field ]
 *
 * Arguments are separated by white space; a field behind a parenthesis is not.
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
    [FUNCTION_LEN] = {"len", 1, 1},
    [FUNCTION_INDEX] = {"index", 2, ANY_NUMBER},
    [FUNCTION_CONTAINS] = {"contains", 2, 2},
    [FUNCTION_HAS_PREFIX] = {"hasPrefix", 2, 2},
    [FUNCTION_HAS_SUFFIX] = {"hasSuffix", 2, 2},
    [FUNCTION_DEFAULT] = {"default", 2, 2},
    [FUNCTION_JSON] = {"json", 1, 1},
};

const char *function_name(enum function function)
{
    return functions[function].name;
}

struct parser {
    struct scanner *scanner;
    struct token token; /* the one looked at */
    int depth, pipes;
};

static cairn_code advance(struct parser *parser)
{
    return scan_next(parser->scanner, &parser->token);
}

static cairn_code parse_pipeline(struct parser *parser, struct node **ret_node);

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_word(const struct parser *parser, const char *word)
{
    const struct token *token = &parser->token;
    return token->kind == TOKEN_WORD && token->len == strlen(word) &&
           memcmp(parser->scanner->text + token->at, word, token->len) == 0;
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
    const struct scanner *scanner = parser->scanner;
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

/* ---- fields behind $ ------------------------------------------------------------------------ */

/* The name behind this one in a path; "": there is none. */
static const char *after(const char *path)
{
    return path + strlen(path) + 1;
}

/* $.steps.charge.output.card: behind "steps". */
static cairn_code resolve_step(const struct parser *parser, struct node *node)
{
    const char *name = node->path;
    if (!*name) {
        node->root = ROOT_STEPS;
        return CAIRN_OK;
    }
    node->root = ROOT_OUTPUT;
    node->step = name;
    node->path = after(name);
    if (strcmp(node->path, "output") != 0)
        return scan_refuse(
            parser->scanner, node->at,
            "of a step only its output is known, as in $.steps.NAME.output: found "
            "something else");
    node->path = after(node->path);
    return CAIRN_OK;
}

static cairn_code resolve_global(const struct parser *parser, struct node *node)
{
    static const struct {
        const char *name;
        enum field_root root;
    } known[] = {
        {"input", ROOT_INPUT}, {"steps", ROOT_STEPS}, {"instance_id", ROOT_INSTANCE_ID},
        {"key", ROOT_KEY},     {"tags", ROOT_TAGS},
    };
    const char *first = node->path;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, first) == 0) {
            node->root = known[i].root;
            node->path = after(first);
            return node->root == ROOT_STEPS ? resolve_step(parser, node) : CAIRN_OK;
        }
    return scan_refuse(
        parser->scanner, node->at,
        "$ has the fields input, steps, instance_id, key and tags: found another "
        "one or none");
}

static bool is_text_node(const struct node *node)
{
    return node && node->kind == NODE_VALUE && node->value.kind == VALUE_TEXT &&
           strlen(node->value.text) == node->value.len;
}

static bool is_steps(const struct node *node)
{
    return node->kind == NODE_FIELD && node->root == ROOT_STEPS;
}

/* index $.steps "charge-card" ["output" k ...]: which step is known before anything is executed, so
 * that only its output is read. */
static cairn_code resolve_index(const struct parser *parser, struct node *call)
{
    struct node *steps = call->arguments, *name = steps->next;
    if (!is_steps(steps))
        return CAIRN_OK;
    if (!is_text_node(name))
        return scan_refuse(
            parser->scanner, name->at,
            "the name of a step must be written as a string: found something else");
    steps->root = ROOT_STEP;
    steps->step = name->value.text;
    steps->next = name->next;
    if (!steps->next) { /* its output must follow in parentheses */
        *call = *steps;
        return CAIRN_OK;
    }
    if (!is_text_node(steps->next) || strcmp(steps->next->value.text, "output") != 0)
        return scan_refuse(parser->scanner, steps->next->at,
                           "of a step only its \"output\" is known: found something else");
    steps->root = ROOT_OUTPUT;
    struct node *keys = steps->next->next;
    if (!keys)
        *call = *steps;
    steps->next = keys;
    call->next = NULL;
    return CAIRN_OK;
}

/* What stands for itself, not as the first argument of index. */
static cairn_code refuse_whole_steps(const struct parser *parser, const struct node *node)
{
    if (node->kind == NODE_FIELD && (node->root == ROOT_STEPS || node->root == ROOT_STEP))
        return scan_refuse(parser->scanner, node->at,
                           "one step's output must be named, as in $.steps.NAME.output: found "
                           "less");
    return CAIRN_OK;
}

/* ---- the grammar ---------------------------------------------------------------------------- */

static struct node *new_node(struct parser *parser, enum node_kind kind)
{
    struct node *node = arena_zalloc(parser->scanner->arena, sizeof *node);
    if (node) {
        node->kind = kind;
        node->at = parser->token.at;
    }
    return node;
}

static cairn_code parse_leaf(struct parser *parser, struct node **ret_node)
{
    const struct token *token = &parser->token;
    struct node *node = new_node(parser, token->kind == TOKEN_FIELD ? NODE_FIELD : NODE_VALUE);
    NEED(node, parser->scanner->reterr);
    node->path = token->path;
    node->value = token->value;
    if (token->is_global)
        TRY(resolve_global(parser, node));
    *ret_node = node;
    return advance(parser);
}

/* (call).field */
static cairn_code parse_access(struct parser *parser, struct node **node)
{
    const struct token *token = &parser->token;
    if (token->kind != TOKEN_FIELD || token->is_spaced || token->is_global || !*token->path)
        return CAIRN_OK;
    if ((*node)->kind == NODE_FIELD && (*node)->root == ROOT_STEP) {
        if (strcmp(token->path, "output") != 0)
            return scan_refuse(parser->scanner, token->at,
                               "of a step only its output is known: found another field");
        (*node)->root = ROOT_OUTPUT;
        (*node)->path = after(token->path);
        return advance(parser);
    }
    TRY(refuse_whole_steps(parser, *node));
    struct node *access = new_node(parser, NODE_ACCESS);
    NEED(access, parser->scanner->reterr);
    access->path = token->path;
    access->arguments = *node;
    *node = access;
    return advance(parser);
}

static cairn_code parse_parentheses(struct parser *parser, struct node **ret_node)
{
    size_t open = parser->token.at;
    if (parser->depth == CONDITION_DEPTH_MAX)
        return scan_refuse(parser->scanner, open, "parentheses are nested more than %d deep",
                           CONDITION_DEPTH_MAX);
    parser->depth++;
    TRY(advance(parser));
    TRY(parse_pipeline(parser, ret_node));
    if (parser->token.kind != TOKEN_CLOSE)
        return scan_refuse(parser->scanner, open, "\")\" is missing for the \"(\"");
    parser->depth--;
    TRY(advance(parser));
    TRY(parse_access(parser, ret_node));
    return refuse_whole_steps(parser, *ret_node);
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
    case TOKEN_PIPE:
        break;
    }
    return scan_refuse(parser->scanner, parser->token.at, "a value is missing");
}

static bool is_at_end(const struct parser *parser)
{
    return parser->token.kind == TOKEN_END || parser->token.kind == TOKEN_CLOSE ||
           parser->token.kind == TOKEN_PIPE;
}

/* `before` is the value before a pipe, which comes last; NULL: there is none. */
static cairn_code parse_arguments(struct parser *parser, enum function function,
                                  struct node *before, struct node **ret_first,
                                  size_t *ret_count)
{
    struct node **next = ret_first;
    size_t count = 0;
    for (; !is_at_end(parser); count++, next = &(*next)->next) {
        if (!parser->token.is_spaced)
            return scan_refuse(parser->scanner, parser->token.at, "white space is missing");
        TRY(parse_argument(parser, next));
        if (function != FUNCTION_INDEX || count > 0)
            TRY(refuse_whole_steps(parser, *next));
    }
    if (before) {
        *next = before;
        count++;
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
    return scan_refuse(parser->scanner, at, "function \"%s\" takes %zu%s argument%s, not %zu,",
                       functions[function].name, least, most == ANY_NUMBER ? " or more" : "",
                       least == 1 && most == 1 ? "" : "s", count);
}

static cairn_code parse_function(struct parser *parser, enum function function,
                                 struct node *before, struct node **ret_node)
{
    size_t count = 0;
    struct node *node = new_node(parser, NODE_CALL);
    NEED(node, parser->scanner->reterr);
    node->function = function;
    TRY(advance(parser));
    TRY(parse_arguments(parser, function, before, &node->arguments, &count));
    TRY(check_count(parser, function, node->at, count));
    if (function == FUNCTION_INDEX)
        TRY(resolve_index(parser, node));
    *ret_node = node;
    return CAIRN_OK;
}

static cairn_code parse_call(struct parser *parser, struct node **ret_node)
{
    enum function function;
    if (is_function(parser, &function))
        return parse_function(parser, function, NULL, ret_node);
    TRY(parse_argument(parser, ret_node));
    if (!is_at_end(parser))
        return scan_refuse(parser->scanner, parser->token.at,
                           "a value without a function takes no arguments: found one");
    return CAIRN_OK;
}

static cairn_code parse_pipeline(struct parser *parser, struct node **ret_node)
{
    TRY(parse_call(parser, ret_node));
    while (parser->token.kind == TOKEN_PIPE) {
        enum function function;
        struct node *before = *ret_node;
        TRY(refuse_whole_steps(parser, before));
        if (++parser->pipes > CONDITION_PIPES_MAX)
            return scan_refuse(parser->scanner, parser->token.at,
                               "the expression has more than %d pipes", CONDITION_PIPES_MAX);
        TRY(advance(parser));
        if (parser->token.kind == TOKEN_WORD && !is_function(parser, &function))
            return refuse_word(parser);
        if (parser->token.kind != TOKEN_WORD)
            return scan_refuse(parser->scanner, parser->token.at,
                               "a pipe leads to a function: found something else");
        TRY(parse_function(parser, function, before, ret_node));
    }
    return CAIRN_OK;
}

cairn_code action_parse(struct scanner *scanner, struct node **ret_tree, bool *ret_is_trimming)
{
    struct parser parser = {.scanner = scanner};
    TRY(advance(&parser));
    if (parser.token.kind == TOKEN_END)
        return fail(scanner->reterr, CAIRN_E_BAD_INPUT, "the expression is empty");
    TRY(parse_pipeline(&parser, ret_tree));
    TRY(refuse_whole_steps(&parser, *ret_tree));
    if (parser.token.kind != TOKEN_END)
        return scan_refuse(scanner, parser.token.at, "unexpected \")\"");
    *ret_is_trimming = parser.token.is_trimming;
    return CAIRN_OK;
}

cairn_code condition_parse(const char *expression, struct arena *arena, struct node **ret_tree,
                           cairn_error *reterr)
{
    bool is_trimming;
    struct scanner scanner = {.arena = arena, .reterr = reterr};
    TRY(scan_begin(&scanner, expression ? expression : ""));
    return action_parse(&scanner, ret_tree, &is_trimming);
}

/* ---- what it asks for ----------------------------------------------------------------------- */

static cairn_code add_step(const char *name, struct arena *arena,
                           struct expression_steps *steps, cairn_error *reterr)
{
    for (size_t i = 0; i < steps->count; i++)
        if (strcmp(steps->items[i], name) == 0)
            return CAIRN_OK;
    const char *copy = arena_strdup(arena, name);
    const char **item = copy ? list_add(arena, steps) : NULL;
    NEED(item, reterr);
    *item = copy;
    return CAIRN_OK;
}

cairn_code node_steps(const struct node *node, struct arena *arena,
                      struct expression_steps *steps, cairn_error *reterr)
{
    if (node->kind == NODE_FIELD && node->root == ROOT_OUTPUT)
        TRY(add_step(node->step, arena, steps, reterr));
    for (const struct node *n = node->arguments; n; n = n->next)
        TRY(node_steps(n, arena, steps, reterr));
    return CAIRN_OK;
}
