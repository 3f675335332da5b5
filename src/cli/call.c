/* cli/call.c - calls the engine in JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/call.h"

#include "base/clock.h"
#include "cli/say.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void buf_donep(struct buf *buf)
{
    buf_done(buf);
}

int say_unopened(const char *url, const cairn_error *error)
{
    if (!url)
        url = getenv("CAIRN_URL");
    bool is_file = url && strncmp(url, "sqlite:", 7) == 0 && url[7];
    return say_failure(error) == EXIT_USAGE && !is_file ? EXIT_USAGE : EXIT_STORE;
}

int store_open_as(const struct args *args, cairn_open_options *options,
                  cairn_engine **ret_engine)
{
    cairn_error error = {0};
    options->url = args_text(args, "url");
    options->no_create = !args->command->creates_store;
    if (cairn_open(options, ret_engine, &error))
        return say_unopened(options->url, &error);
    return EXIT_DONE;
}

int store_open_for(const struct args *args, cairn_engine **ret_engine)
{
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    return store_open_as(args, &options, ret_engine);
}

void store_closep(cairn_engine **engine)
{
    cairn_close(*engine);
}

static int say_rejected(const struct answer *answer)
{
    char status[64];
    const char *message = text_of(answer->tree, "message"),
               *hint = text_of(answer->tree, "hint");
    snprintf(status, sizeof status, "the server answered %d", answer->status);
    return say_rejection(answer->status, *message ? message : status,
                         text_of(answer->tree, "detail"),
                         answer->status == 401 ? "put the token into $CAIRN_TOKEN" : hint);
}

int call(cairn_engine *engine, const char *method, const char *target, const char *body,
         struct answer *ret_answer)
{
    cairn_error error = {0};
    struct answer answer = {0};
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    request.method = method;
    request.target = target;
    request.body = body;
    request.body_len = body ? strlen(body) : 0;

    *ret_answer = answer;
    if (cairn_call(engine, &request, &answer.response, &error))
        return say_failure(&error);
    answer.status = cairn_response_status(answer.response);
    answer.body = cairn_response_body(answer.response, &answer.len);
    answer.tree = json_loadb(answer.body, answer.len, JSON_DECODE_ANY, NULL);
    *ret_answer = answer;
    if (answer.status >= 400)
        return say_rejected(&answer);
    if (!answer.tree) {
        say_error("could not understand the answer of %s: it is not JSON", cairn_url(engine));
        return EXIT_STORE;
    }
    return EXIT_DONE;
}

void answer_done(struct answer *answer)
{
    json_decref(answer->tree);
    cairn_response_free(answer->response);
}

void print_body(const struct answer *answer)
{
    fwrite(answer->body, 1, answer->len, stdout);
    if (answer->len == 0 || answer->body[answer->len - 1] != '\n')
        putchar('\n');
}

void print_created(const struct args *args, const struct answer *answer)
{
    if (args_wants(args, "json")) {
        print_body(answer);
        return;
    }
    puts(text_of(answer->tree, "id"));
    if (is_true(answer->tree, "existing"))
        fprintf(stderr, "existing: the key \"%s\" is known, nothing was written\n",
                args_text(args, "key"));
}

void print_items(const struct answer *answer, bool *is_continued)
{
    size_t len = 0;
    const char *items = body_member(answer, "items", &len);
    if (!items || len <= 2)
        return;
    fputs(*is_continued ? "," : "", stdout);
    fwrite(items + 1, 1, len - 2, stdout);
    *is_continued = true;
}

void print_ids(const json_t *items, const char *key)
{
    size_t i;
    json_t *item;
    json_array_foreach(items, i, item)
    {
        puts(text_of(item, key));
    }
    fflush(stdout);
}

void target_part(struct buf *target, const char *part)
{
    for (const unsigned char *at = (const unsigned char *)part; *at; at++) {
        if (isalnum(*at) || strchr("-._~", *at))
            buf_char(target, (char)*at);
        else
            buf_printf(target, "%%%02X", *at);
    }
}

void target_add(struct buf *target, const char *name, const char *value)
{
    if (!value)
        return;
    buf_char(target, strchr(buf_text(target), '?') ? '&' : '?');
    buf_str(target, name);
    buf_char(target, '=');
    target_part(target, value);
}

void target_path(struct buf *target, const char *path, const char *first,
                 const char *const *others)
{
    const char *gap;
    for (; (gap = strstr(path, "{}")); path = gap + 2) {
        buf_add(target, path, (size_t)(gap - path));
        target_part(target, first ? first : *others++);
        first = NULL;
    }
    buf_str(target, path);
}

/* The end of the JSON value at `at`; the text is known to be JSON. */
static const char *skip_value(const char *at, const char *end)
{
    int depth = 0;
    bool is_string = false;
    for (; at < end; at++) {
        if (is_string) {
            if (*at == '\\')
                at++;
            else if (*at == '"')
                is_string = false;
        } else if (*at == '"') {
            is_string = true;
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']') {
            if (depth-- == 0)
                return at;
        } else if ((*at == ',' || *at == ':') && depth == 0) {
            return at;
        }
    }
    return end;
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    return at;
}

const char *body_member(const struct answer *answer, const char *key, size_t *ret_len)
{
    const char *at = answer->body, *end = answer->body + answer->len;
    size_t key_len = strlen(key);
    at = skip_space(at, end);
    if (at == end || *at != '{')
        return NULL;
    while (at < end && *at != '}') {
        const char *name = skip_space(at + 1, end);
        const char *colon = skip_value(name, end);
        const char *value = skip_space(colon + 1, end);
        if (colon >= end)
            return NULL;
        at = skip_value(value, end);
        if (strncmp(name + 1, key, key_len) == 0 && name[1 + key_len] == '"') {
            while (at > value && isspace((unsigned char)at[-1]))
                at--;
            *ret_len = (size_t)(at - value);
            return value;
        }
    }
    return NULL;
}

const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

int64_t int_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

int64_t time_of(const json_t *object, const char *key)
{
    int64_t us = 0;
    return instant_parse(text_of(object, key), &us) ? us : 0;
}

bool is_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

bool is_word(const json_t *object, const char *key, const char *word)
{
    return strcmp(text_of(object, key), word) == 0;
}

bool status_is_final(const char *status)
{
    return word_in("succeeded completed failed cancelled aborted", status);
}

int read_delay(const struct args *args, cairn_engine *engine, int64_t *ret_us)
{
    cairn_error error = {0};
    int64_t now_us = 0;
    if (!args_has(args, "in"))
        return EXIT_DONE;
    if (cairn_clock_now(engine, &now_us, &error))
        return say_failure(&error);
    *ret_us = instant_add(now_us, args_number(args, "in", 0) * US_PER_MS);
    return EXIT_DONE;
}

void pause_ms(int ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}
