/* cli/call.c - calls the engine in JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/call.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/scan.h"
#include "cli/say.h"
#include "cli/short_id.h"

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

/* A number from 0 to `most`, if it was given. */
static bool read_number(const struct args *args, const char *name, double most,
                        double *ret_number)
{
    char *end;
    if (!args_has(args, name))
        return true;
    const char *text = args_text(args, name);
    double number = strtod(text, &end);
    if (end == text || *end || !(number >= 0 && number <= most)) {
        say_error("--%s must be a number from 0 to %.0f, not \"%s\"", name, most, text);
        return false;
    }
    *ret_number = number;
    return true;
}

bool tuning_read(const struct args *args, cairn_open_options *options)
{
    options->missing_cooldown_ms =
        (uint32_t)args_number(args, "missing-cooldown", options->missing_cooldown_ms);
    options->missing_throttle_ms =
        (uint32_t)args_number(args, "missing-throttle", options->missing_throttle_ms);
    return read_number(args, "aging-rate", 1e6, &options->aging_rate) &&
           read_number(args, "missing-jitter", 1, &options->missing_jitter);
}

void store_closep(cairn_engine **engine)
{
    cairn_close(*engine);
}

int say_rejected(const struct answer *answer)
{
    char status[64];
    const char *message = text_of(answer->tree, "message"),
               *hint = text_of(answer->tree, "hint");
    snprintf(status, sizeof status, "the server answered %d", answer->status);
    return say_rejection(answer->status, *message ? message : status,
                         text_of(answer->tree, "detail"),
                         answer->status == 401 ? "put the token into $CAIRN_TOKEN" : hint);
}

int call_unsaid(cairn_engine *engine, const char *method, const char *target, const char *body,
                struct answer *ret_answer)
{
    cairn_error error = {0};
    struct answer answer = {0};
    cleanup(buf_donep) struct buf full = {0};
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    *ret_answer = answer;
    TRY(target_complete(engine, target, &full, ret_answer));
    if (ret_answer->status)
        return EXIT_DONE;
    request.method = method;
    request.target = full.len ? buf_text(&full) : target;
    request.body = body;
    request.body_len = body ? strlen(body) : 0;

    if (cairn_call(engine, &request, &answer.response, &error))
        return say_failure(&error);
    answer.status = cairn_response_status(answer.response);
    answer.body = cairn_response_body(answer.response, &answer.len);
    answer.tree = json_tree(answer.body, answer.len);
    *ret_answer = answer;
    if (answer.status == 404)
        target_hint(engine, request.target, ret_answer);
    if (!answer.tree && answer.status < 400) {
        say_error("could not understand the answer of %s: it is not JSON", cairn_url(engine));
        return EXIT_STORE;
    }
    return EXIT_DONE;
}

int call(cairn_engine *engine, const char *method, const char *target, const char *body,
         struct answer *ret_answer)
{
    TRY(call_unsaid(engine, method, target, body, ret_answer));
    return ret_answer->status >= 400 ? say_rejected(ret_answer) : EXIT_DONE;
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

void print_created(const struct args *args, const struct answer *answer, bool may_change)
{
    if (args_wants(args, "json")) {
        print_body(answer);
        return;
    }
    puts(text_of(answer->tree, "id"));
    if (is_true(answer->tree, "existing"))
        fprintf(stderr, "existing: the key \"%s\" is known%s\n", args_text(args, "key"),
                may_change ? "" : ", nothing was written");
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

void target_path(struct buf *target, const char *path, const char *first,
                 const char *const *others)
{
    const char *gap;
    for (; (gap = strchr(path, '{')); path = strchr(gap, '}') + 1) {
        buf_add(target, path, (size_t)(gap - path));
        buf_url(target, first ? first : *others++);
        first = NULL;
    }
    buf_str(target, path);
}

const char *body_member(const struct answer *answer, const char *key, size_t *ret_len)
{
    struct slice whole = {0};
    scan_text(answer->body, answer->len, &whole);
    struct slice member = scan_find(whole, key);
    *ret_len = member.len;
    return member.text;
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
    return instant_read(text_of(object, key), &us) ? us : 0;
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
