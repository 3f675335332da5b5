/* tests/fuzz/fuzz_route.c - calls of every route, with any body, on a store in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The input is a list of calls with an empty line between them.  The first line of a call chooses
 * the route, the rest is the body:
 *
 *     POST /v1/tasks/{id}/complete?query
 *     {"worker": "w", "token": "$TOKEN"}
 *
 * A first line that names no route chooses one by its hash, so that every input calls something.
 * {id} and $ID stand for the last id that was answered, $TOKEN for the last token; any other
 * {name} for the word after a # in the first line, or the id.  Each input has an engine of its
 * own, whose clock is virtual and whose randomness is seeded: an input always does the same.
 */
#include "api/api.h"
#include "base/buf.h"
#include "base/mem.h"
#include "fuzz.h"

#include <pthread.h>
#include <string.h>

enum { CALLS_MAX = 24, WORD_MAX = 80, BODY_MAX = 64 << 10 };

/* What the answers of one input have taught. */
struct session {
    cairn_engine *engine;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t asked, answered, unawaited;
    char id[WORD_MAX], token[WORD_MAX];
};

static void keep_word(const char *body, const char *key, char *to)
{
    const char *at = strstr(body, key);
    if (!at)
        return;
    at += strlen(key);
    size_t len = strcspn(at, "\"");
    if (len == 0 || len >= WORD_MAX)
        return;
    memcpy(to, at, len);
    to[len] = '\0';
}

static void check_response(const cairn_response *response)
{
    MUST(response);
    size_t len;
    const char *body = cairn_response_body(response, &len);
    int status = cairn_response_status(response);
    MUST(status >= 200 && status < 600);
    MUST(status != 500);
    MUST(body && body[len] == '\0');
    if (strcmp(cairn_response_content_type(response), "application/json") != 0)
        return;
    json_error_t why;
    json_t *tree = json_loadb(body, len, JSON_ALLOW_NUL, &why);
    if (!tree)
        fprintf(stderr, "not JSON: %s: %s\n", why.text, body);
    MUST(tree);
    json_decref(tree);
}

static void on_done(void *arg, cairn_response *response)
{
    struct session *session = arg;
    check_response(response);
    pthread_mutex_lock(&session->lock);
    keep_word(cairn_response_body(response, NULL), "\"id\":\"", session->id);
    keep_word(cairn_response_body(response, NULL), "\"token\":\"", session->token);
    session->answered++;
    pthread_cond_signal(&session->changed);
    pthread_mutex_unlock(&session->lock);
    cairn_response_free(response);
}

/* The route whose method and path the line begins with, else one by the line's hash. */
static const struct operation *choose_route(const char *line, size_t len, size_t *ret_used)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)line[i]) * 16777619u;
    for (size_t i = 0; i < operation_count; i++) {
        const struct operation *route = &operations[i];
        size_t method = strlen(route->method), path = strlen(route->path);
        size_t whole = method + 1 + path;
        bool is_end = len == whole || (len > whole && strchr("?# ", line[whole]));
        if (len < whole || !is_end || line[method] != ' ')
            continue;
        if (memcmp(line, route->method, method) == 0 &&
            memcmp(line + method + 1, route->path, path) == 0) {
            *ret_used = whole;
            return route;
        }
    }
    *ret_used = len;
    return &operations[hash % operation_count];
}

/* Writes a text with $ID and $TOKEN replaced. */
static void write_filled(const struct session *session, const char *text, size_t len,
                         struct buf *out)
{
    for (size_t i = 0; i < len;) {
        if (len - i >= 6 && memcmp(text + i, "$TOKEN", 6) == 0) {
            buf_str(out, session->token);
            i += 6;
        } else if (len - i >= 3 && memcmp(text + i, "$ID", 3) == 0) {
            buf_str(out, session->id);
            i += 3;
        } else {
            buf_add(out, text + i++, 1);
        }
    }
}

static void write_target(const struct session *session, const struct operation *route,
                         const char *rest, size_t len, struct buf *out)
{
    const char *word = memchr(rest, '#', len);
    size_t word_len = word ? len - (size_t)(word - rest) - 1 : 0;
    size_t query_len = word ? (size_t)(word - rest) : len;
    for (const char *at = route->path; *at; at++) {
        if (*at != '{') {
            buf_add(out, at, 1);
            continue;
        }
        if (word_len && strncmp(at, "{id}", 4) != 0)
            write_filled(session, word + 1, word_len, out);
        else
            buf_str(out, session->id[0] ? session->id : "x");
        at = strchr(at, '}');
    }
    write_filled(session, rest, query_len, out);
}

/* A call that waits on purpose is answered at the latest when the engine is closed, so it is not
 * waited for here; nor, since answers are only counted, are as many others after it. */
static void await_answer(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    while (session->answered + session->unawaited < session->asked)
        pthread_cond_wait(&session->changed, &session->lock);
    pthread_mutex_unlock(&session->lock);
}

static void call(struct session *session, const char *text, size_t len)
{
    cleanup(buf_done) struct buf target = {0};
    cleanup(buf_done) struct buf body = {0};
    const char *end = memchr(text, '\n', len);
    size_t line = end ? (size_t)(end - text) : len, used;
    const struct operation *route = choose_route(text, line, &used);
    pthread_mutex_lock(&session->lock);
    write_target(session, route, text + used, line - used, &target);
    if (end)
        write_filled(session, end + 1, len - line - 1, &body);
    pthread_mutex_unlock(&session->lock);
    MUST(!buf_failed(&target) && !buf_failed(&body));
    if (target.len && memchr(target.text, '\0', target.len))
        return;

    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    request.method = route->method;
    request.target = buf_text(&target);
    request.body = body.text;
    request.body_len = body.len;
    request.arg = session;
    bool may_wait = strstr(buf_text(&body), "wait") || strstr(request.target, "wait");
    session->asked++;
    session->unawaited += may_wait;
    cairn_call_async(session->engine, &request, on_done);
    await_answer(session);
}

static void call_all(struct session *session, const char *text, size_t len)
{
    size_t at = 0;
    for (int i = 0; at < len && i < CALLS_MAX; i++) {
        size_t end = at;
        while (end < len && !(end + 1 < len && text[end] == '\n' && text[end + 1] == '\n'))
            end++;
        call(session, text + at, end - at);
        at = end + 2;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct session session = {.lock = PTHREAD_MUTEX_INITIALIZER,
                              .changed = PTHREAD_COND_INITIALIZER};
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_error error;
    open.url = "memory:";
    open.seed = 1;
    open.virtual_clock = true;
    open.start_us = INT64_C(1700000000000000);
    MUST(cairn_open(&open, &session.engine, &error) == CAIRN_OK);
    call_all(&session, (const char *)bytes, len < BODY_MAX ? len : BODY_MAX);
    cairn_close(session.engine);
    MUST(session.answered == session.asked);
    return 0;
}
