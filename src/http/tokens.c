/* http/tokens.c - the token file, and a comparison that says nothing by the time it takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "http/access.h"
#include "http/secret.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TOKENS_MAX = 10000 };

struct token {
    char secret[SECRET_MAX];   /* filled up with NUL, so that all are compared in full */
    char name[TOKEN_NAME_MAX]; /* "": it has none */
    unsigned role;
};

struct tokens {
    struct token *items;
    size_t count, room;
};

static const struct {
    const char *name;
    unsigned role;
} roles[] = {
    {"view", ROLE_VIEW},
    {"produce", ROLE_PRODUCE},
    {"work", ROLE_WORK},
    {"operate", ROLE_OPERATE},
};

unsigned access_role_find(const char *name)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].name, name) == 0)
            return roles[i].role;
    return 0;
}

void access_role_names(unsigned wanted, const char *between, char ret_names[ROLES_TEXT])
{
    size_t used = 0;
    ret_names[0] = '\0';
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (wanted & roles[i].role)
            used += (size_t)snprintf(ret_names + used, ROLES_TEXT - used, "%s%s",
                                     used ? between : "", roles[i].name);
}

static cairn_code add_token(struct tokens *tokens, const char *secret, unsigned role,
                            const char *name, cairn_error *reterr)
{
    if (tokens->count == tokens->room) {
        size_t room = tokens->room ? tokens->room * 2 : 8;
        struct token *items = mem_realloc(tokens->items, room * sizeof *items);
        if (!items)
            return fail_memory(reterr);
        tokens->items = items;
        tokens->room = room;
    }
    struct token *token = &tokens->items[tokens->count++];
    *token = (struct token){.role = role};
    memcpy(token->secret, secret, strlen(secret));
    memcpy(token->name, name, strlen(name));
    return CAIRN_OK;
}

/* Without white space at its ends. */
static const char *trim(char *text)
{
    size_t len = strlen(text);
    while (len > 0 && strchr(" \t\r\n", text[len - 1]))
        text[--len] = '\0';
    return text + strspn(text, " \t");
}

struct token_line token_line_split(char *line)
{
    char *rest = NULL;
    struct token_line parts = {.role = strtok_r(line, " \t\r\n", &rest), .name = ""};
    if (parts.role && *parts.role == '#')
        parts.role = NULL;
    if (parts.role)
        parts.secret = strtok_r(NULL, " \t\r\n", &rest);
    if (parts.secret)
        parts.name = trim(rest);
    return parts;
}

/* Errors name the line, never what stands in it. */
static cairn_code read_line(char *line, const char *path, int number, struct tokens *tokens,
                            cairn_error *reterr)
{
    struct token_line parts = token_line_split(line);
    if (!parts.role)
        return CAIRN_OK;
    unsigned role = access_role_find(parts.role);
    if (!role || !parts.secret) {
        fail(reterr, CAIRN_E_BAD_INPUT, "token file \"%s\", line %d: cannot be read", path,
             number);
        return fail_hint(
            reterr, CAIRN_E_BAD_INPUT,
            "a line is ROLE TOKEN [NAME]; a role is view, produce, work or operate");
    }
    if (strlen(parts.secret) >= SECRET_MAX)
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "token file \"%s\", line %d: the token is longer than %d bytes", path,
                    number, SECRET_MAX - 1);
    if (strlen(parts.name) >= TOKEN_NAME_MAX)
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "token file \"%s\", line %d: the name is longer than %d bytes", path,
                    number, TOKEN_NAME_MAX - 1);
    if (!utf8_is_valid(parts.name, strlen(parts.name))) /* events have it */
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "token file \"%s\", line %d: the name is not UTF-8", path, number);
    if (tokens->count == TOKENS_MAX)
        return fail(reterr, CAIRN_E_BAD_INPUT, "token file \"%s\" has more than %d tokens",
                    path, TOKENS_MAX);
    return add_token(tokens, parts.secret, role, parts.name, reterr);
}

static cairn_code read_lines(FILE *file, const char *path, struct tokens *tokens,
                             cairn_error *reterr)
{
    char line[1024];
    cairn_code code = CAIRN_OK;
    for (int number = 1; !code && fgets(line, sizeof line, file); number++) {
        if (!strchr(line, '\n') && !feof(file))
            code = fail(reterr, CAIRN_E_BAD_INPUT,
                        "token file \"%s\", line %d: the line is too long", path, number);
        else
            code = read_line(line, path, number, tokens, reterr);
    }
    explicit_bzero(line, sizeof line);
    if (!code && ferror(file))
        code = fail(reterr, CAIRN_E_BAD_INPUT, "could not read token file \"%s\": %s", path,
                    strerror(errno));
    return code;
}

cairn_code tokens_read(const char *path, struct tokens **ret_tokens, cairn_error *reterr)
{
    cleanup(secret_closep) FILE *file = NULL;
    TRY(secret_open("token file", path, &file, reterr));
    cleanup(tokens_freep) struct tokens *tokens = mem_zalloc(sizeof *tokens);
    if (!tokens)
        return fail_memory(reterr);
    TRY(read_lines(file, path, tokens, reterr));
    *ret_tokens = tokens;
    tokens = NULL;
    return CAIRN_OK;
}

size_t tokens_count(const struct tokens *tokens)
{
    return tokens->count;
}

void tokens_free(struct tokens *tokens)
{
    if (!tokens)
        return;
    if (tokens->items)
        explicit_bzero(tokens->items, tokens->count * sizeof *tokens->items);
    mem_free(tokens->items);
    mem_free(tokens);
}

void tokens_freep(struct tokens **tokens)
{
    tokens_free(*tokens);
}

/* 1 if all bytes are equal, else 0, without a branch on any of them. */
static unsigned is_equal(const char *a, const char *b)
{
    volatile unsigned char difference = 0;
    for (size_t i = 0; i < SECRET_MAX; i++)
        difference = (unsigned char)(difference | (a[i] ^ b[i]));
    return ((unsigned)difference - 1u) >> 31;
}

unsigned tokens_roles(const struct tokens *tokens, const char *secret, const char **ret_name)
{
    char padded[SECRET_MAX] = "";
    unsigned found = 0;
    size_t len = strlen(secret),
           place = 0; /* 0: none; else of the last that is equal, from 1 */
    *ret_name = NULL;
    if (len == 0 || len >= SECRET_MAX)
        return 0;
    memcpy(padded, secret, len);
    for (size_t i = 0; i < tokens->count; i++) {
        unsigned mask = 0u - is_equal(padded, tokens->items[i].secret);
        size_t wide = (size_t)0 - (mask & 1);
        found |= tokens->items[i].role & mask;
        place = (place & ~wide) | ((i + 1) & wide);
    }
    if (place && tokens->items[place - 1].name[0])
        *ret_name = tokens->items[place - 1].name;
    return found;
}
