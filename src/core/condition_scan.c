/* core/condition_scan.c - the text of a condition, token by token.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/condition_inside.h"

#include "base/error.h"
#include "base/json.h"
#include "base/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { QUOTED_MAX = 40 };

/* ---- characters ----------------------------------------------------------------------------- */

/* By hand: the functions of <ctype.h> ask the locale. */
static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_ascii_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* The bytes of a character, by its first. */
static size_t character_size(char first)
{
    unsigned char c = (unsigned char)first;
    return c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
}

/* Of valid UTF-8. */
static uint32_t character_code(const char *text)
{
    size_t size = character_size(*text);
    uint32_t code = (unsigned char)*text;
    if (size > 1)
        code &= 0x7Fu >> size;
    for (size_t i = 1; i < size; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3F);
    return code;
}

/* Beyond ASCII everything may be part of a name, except what only looks like a space, a quote
 * or a sign: a pasted no-break space must be noticed, not become part of a name. */
static bool is_foreign_letter(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } signs[] = {
        {0x80, 0xA9},     {0xAB, 0xB4},     {0xB6, 0xB9},     {0xBB, 0xBF},
        {0xD7, 0xD7},     {0xF7, 0xF7},     {0x1680, 0x1680}, {0x2000, 0x2BFF},
        {0x2E00, 0x2E7F}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0xE000, 0xF8FF},
        {0xFE00, 0xFE6F}, {0xFEFF, 0xFF0F}, {0xFFF0, 0xFFFF}, {0x1F000, 0x1FAFF},
    };
    if (code < 0x80)
        return false;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (code >= signs[i].first && code <= signs[i].last)
            return false;
    return true;
}

/* The bytes of the letter at a place; 0: there is none. */
static size_t letter_size(const struct scanner *scanner, size_t at)
{
    if (at >= scanner->len)
        return 0;
    if (is_ascii_letter(scanner->text[at]))
        return 1;
    return is_foreign_letter(character_code(scanner->text + at))
               ? character_size(scanner->text[at])
               : 0;
}

/* The bytes of the name that begins at a place; 0: none does. */
static size_t name_size(const struct scanner *scanner, size_t begin)
{
    size_t at = begin, size;
    while ((size = letter_size(scanner, at)) > 0 ||
           (at > begin && at < scanner->len && is_digit(scanner->text[at])))
        at += size > 0 ? size : 1;
    return at - begin;
}

static bool begins_with(const struct scanner *scanner, size_t at, const char *text)
{
    size_t len = strlen(text);
    return at <= scanner->len && scanner->len - at >= len &&
           memcmp(scanner->text + at, text, len) == 0;
}

static char byte_at(const struct scanner *scanner, size_t at)
{
    return at < scanner->len ? scanner->text[at] : '\0';
}

static void skip_space(struct scanner *scanner)
{
    while (scanner->at < scanner->len && is_space(scanner->text[scanner->at]))
        scanner->at++;
}

/* ---- refusals ------------------------------------------------------------------------------- */

size_t scan_column(const char *text, size_t at)
{
    size_t column = 1;
    for (size_t i = 0; i < at; i++)
        column += !is_continuation(text[i]);
    return column;
}

cairn_code scan_refuse(const struct scanner *scanner, size_t at, const char *format, ...)
{
    char message[200];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return fail(scanner->reterr, CAIRN_E_BAD_INPUT, "%s at column %zu", message,
                scan_column(scanner->text, at));
}

int scan_quotable(const struct scanner *scanner, const struct token *token)
{
    if (token->len <= QUOTED_MAX)
        return (int)token->len;
    size_t len = QUOTED_MAX;
    while (is_continuation(scanner->text[token->at + len]))
        len--;
    return (int)len;
}

static cairn_code refuse_character(const struct scanner *scanner)
{
    static const struct {
        uint32_t code;
        const char *why;
    } known[] = {
        {'\'', "strings stand in \" or ` quotes: found a single quote"},
        {'"', "unexpected quote"},
        {'=', "a comparison is written as eq a b: found \"=\""},
        {'>', "a comparison is written as gt a b, or ge a b: found \">\""},
        {'<', "a comparison is written as lt a b, or le a b: found \"<\""},
        {'!', "a negation is written as ne a b, or not a: found \"!\""},
        {'&', "both are asked for with and a b: found \"&\""},
    };
    const char *text = scanner->text + scanner->at;
    uint32_t code = character_code(text);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == code)
            return scan_refuse(scanner, scanner->at, "%s", known[i].why);
    if (code < 0x20 || (code >= 0x7F && !is_foreign_letter(code)))
        return scan_refuse(scanner, scanner->at, "unexpected character U+%04X", code);
    return scan_refuse(scanner, scanner->at, "unexpected \"%.*s\"", (int)character_size(*text),
                       text);
}

/* ---- tokens --------------------------------------------------------------------------------- */

/* Dots become the NULs behind the names; one more ends the list. */
static const char *copy_path(struct scanner *scanner, size_t begin, size_t end)
{
    size_t len = end - begin;
    char *path = arena_zalloc(scanner->arena, len + 1);
    for (size_t i = 1; path && i < len; i++)
        path[i - 1] = scanner->text[begin + i] == '.' ? '\0' : scanner->text[begin + i];
    return path;
}

/* ".user.age"; "." alone is all of it. */
static cairn_code scan_field(struct scanner *scanner, struct token *token)
{
    size_t begin = scanner->at, dot = begin, size;
    while (byte_at(scanner, dot) == '.' && (size = name_size(scanner, dot + 1)) > 0)
        dot += size + 1;
    /* Now at a dot that is alone or has no name behind it, or at none. */
    bool is_alone = dot == begin;
    scanner->at = is_alone ? dot + 1 : dot;
    char next = byte_at(scanner, dot + 1);
    if (byte_at(scanner, dot) == '.' && is_digit(next))
        return scan_refuse(scanner, dot,
                           "a name begins with a letter, a number with a digit: found \".%c\"",
                           next);
    if (byte_at(scanner, dot) == '.' && (!is_alone || next == '.'))
        return scan_refuse(scanner, dot, "a field's name is missing after \".\"");
    token->kind = TOKEN_FIELD;
    token->path = copy_path(scanner, begin, dot);
    return token->path ? CAIRN_OK : fail_memory(scanner->reterr);
}

/* "$.input.user": the same behind a dollar sign. */
static cairn_code scan_global(struct scanner *scanner, struct token *token)
{
    if (byte_at(scanner, scanner->at + 1) != '.')
        return scan_refuse(scanner, scanner->at,
                           "variables are not supported, only fields such as $.input: found "
                           "\"$\"");
    scanner->at++;
    TRY(scan_field(scanner, token));
    token->is_global = true;
    return CAIRN_OK;
}

/* Numbers are written as in JSON; their digits stay where they are. */
static cairn_code scan_number(struct scanner *scanner, struct token *token)
{
    const char *text = scanner->text;
    size_t begin = scanner->at;
    if (text[begin] == '+')
        begin++;
    size_t end = begin + 1;
    while (end < scanner->len &&
           (is_digit(text[end]) || is_ascii_letter(text[end]) || text[end] == '.' ||
            ((text[end] == '+' || text[end] == '-') &&
             (text[end - 1] == 'e' || text[end - 1] == 'E'))))
        end++;
    token->len = end - token->at;
    struct number number;
    bool is_read = number_read(text + begin, end - begin, &number);
    if (!is_read || number_fit(&number))
        return scan_refuse(scanner, token->at, "\"%.*s\" is %s", scan_quotable(scanner, token),
                           text + token->at,
                           !is_read                              ? "not a number"
                           : number_fit(&number) == NUMBER_LARGE ? "too large"
                                                                 : "too fine");
    token->kind = TOKEN_VALUE;
    token->value =
        (struct value){.kind = VALUE_DECIMAL, .text = text + begin, .len = end - begin};
    scanner->at = end;
    return CAIRN_OK;
}

static cairn_code scan_word(struct scanner *scanner, struct token *token)
{
    const char *word = scanner->text + scanner->at;
    token->len = name_size(scanner, scanner->at);
    scanner->at += token->len;
    bool is_true = token->len == 4 && memcmp(word, "true", 4) == 0;
    bool is_false = token->len == 5 && memcmp(word, "false", 5) == 0;
    token->kind = is_true || is_false ? TOKEN_VALUE : TOKEN_WORD;
    if (token->kind == TOKEN_VALUE)
        token->value = (struct value){.kind = VALUE_BOOL, .is_true = is_true};
    return CAIRN_OK;
}

static cairn_code scan_string(struct scanner *scanner, struct token *token)
{
    const char *text = scanner->text;
    char quote = text[scanner->at];
    size_t end = scanner->at + 1;
    while (end < scanner->len && text[end] != quote) {
        if (quote == '"' && text[end] == '\n')
            break;
        end += quote == '"' && text[end] == '\\' ? 2 : 1;
    }
    if (end >= scanner->len || text[end] != quote)
        return scan_refuse(scanner, scanner->at, "the string has no end: it begins");
    token->kind = TOKEN_VALUE;
    token->len = end + 1 - scanner->at;
    scanner->at = end + 1;
    return scan_quoted(scanner, token);
}

static cairn_code scan_sign(struct scanner *scanner, struct token *token, enum token_kind kind)
{
    token->kind = kind;
    token->len = 1;
    scanner->at++;
    return CAIRN_OK;
}

/* What follows the closing braces of a condition. */
static cairn_code scan_end(struct scanner *scanner, struct token *token)
{
    token->kind = TOKEN_END;
    token->is_trimming = !begins_with(scanner, scanner->at, "}}");
    scanner->at += token->is_trimming ? 3 : 2;
    if (scanner->is_amid_text)
        return CAIRN_OK;
    skip_space(scanner);
    if (scanner->at == scanner->len)
        return CAIRN_OK;
    if (begins_with(scanner, scanner->at, "{{"))
        return scan_refuse(scanner, scanner->at,
                           "a condition is one action: found a second \"{{\"");
    return scan_refuse(scanner, scanner->at, "unexpected text after \"}}\"");
}

cairn_code scan_next(struct scanner *scanner, struct token *ret_token)
{
    size_t before = scanner->at;
    skip_space(scanner);
    struct token *token = ret_token;
    *token = (struct token){.at = scanner->at, .is_spaced = scanner->at > before};
    char c = byte_at(scanner, scanner->at), next = byte_at(scanner, scanner->at + 1);
    if (scanner->at == scanner->len)
        return scan_refuse(scanner, scanner->at, "\"}}\" is missing");
    if (begins_with(scanner, scanner->at, "}}") ||
        (token->is_spaced && begins_with(scanner, scanner->at, "-}}")))
        return scan_end(scanner, token);
    if (c == '(')
        return scan_sign(scanner, token, TOKEN_OPEN);
    if (c == ')')
        return scan_sign(scanner, token, TOKEN_CLOSE);
    if (c == '|')
        return scan_sign(scanner, token, TOKEN_PIPE);
    if (c == '"' || c == '`')
        return scan_string(scanner, token);
    if (c == '.')
        return scan_field(scanner, token);
    if (c == '$')
        return scan_global(scanner, token);
    if (is_digit(c) || ((c == '-' || c == '+') && is_digit(next)))
        return scan_number(scanner, token);
    if (letter_size(scanner, scanner->at) > 0)
        return scan_word(scanner, token);
    return refuse_character(scanner);
}

/* ---- the beginning -------------------------------------------------------------------------- */

static cairn_code check_utf8(const struct scanner *scanner)
{
    for (size_t at = 0, size; at < scanner->len; at += size) {
        size = character_size(scanner->text[at]);
        if (size > scanner->len - at || !utf8_is_valid(scanner->text + at, size))
            return scan_refuse(scanner, at, "the expression has broken UTF-8");
    }
    return CAIRN_OK;
}

cairn_code scan_open(struct scanner *scanner, const char *text, size_t len)
{
    scanner->text = text;
    scanner->len = len;
    scanner->at = 0;
    return check_utf8(scanner);
}

bool scan_action(struct scanner *scanner, bool *ret_is_trimming)
{
    *ret_is_trimming = false;
    if (!begins_with(scanner, scanner->at, "{{"))
        return false;
    scanner->at += 2;
    /* A dash is a trim marker only before white space: {{-1}} is a number. */
    *ret_is_trimming =
        byte_at(scanner, scanner->at) == '-' && is_space(byte_at(scanner, scanner->at + 1));
    scanner->at += *ret_is_trimming;
    return true;
}

cairn_code scan_begin(struct scanner *scanner, const char *expression)
{
    bool is_trimming;
    size_t len = strnlen(expression, CONDITION_BYTES_MAX + 1);
    if (len > CONDITION_BYTES_MAX)
        return fail(scanner->reterr, CAIRN_E_BAD_INPUT,
                    "the expression is longer than %d bytes", CONDITION_BYTES_MAX);
    TRY(scan_open(scanner, expression, len));
    skip_space(scanner);
    if (scanner->at == scanner->len)
        return fail(scanner->reterr, CAIRN_E_BAD_INPUT, "the expression is empty");
    if (!scan_action(scanner, &is_trimming))
        return scan_refuse(scanner, scanner->at,
                           "the expression must stand in {{ and }}: \"{{\" is missing");
    return CAIRN_OK;
}
