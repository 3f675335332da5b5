/* tests/api/calling.c - calls in one line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"

#include "scratch.h"

#include <stdlib.h>

enum { TRIES = 20 };

void caller_open(struct caller *caller)
{
    cairn_error error;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    *caller = (struct caller){0};
    open.url = scratch_store();
    open.virtual_clock = true;
    open.start_us = START_US;
    open.seed = 7;
    CHECK_OK(cairn_open(&open, &caller->engine, &error));
}

static void forget(struct caller *caller)
{
    json_decref(caller->body);
    free(caller->text);
    caller->body = NULL;
    caller->text = NULL;
}

void caller_close(struct caller *caller)
{
    forget(caller);
    cairn_close(caller->engine);
}

static void call_once(struct caller *caller, const char *method, const char *target,
                      const char *body)
{
    cairn_error error;
    cairn_response *response;
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    size_t len;
    request.method = method;
    request.target = target;
    request.body = body;
    request.body_len = body ? strlen(body) : 0;
    forget(caller);
    CHECK_OK(cairn_call(caller->engine, &request, &response, &error));
    caller->status = cairn_response_status(response);
    const char *text = cairn_response_body(response, &len);
    caller->text = strndup(text, len);
    snprintf(caller->type, sizeof caller->type, "%s", cairn_response_content_type(response));
    caller->body = json_loadb(text, len, JSON_DECODE_ANY, NULL);
    bool is_json = strcmp(caller->type, "application/json") == 0;
    cairn_response_free(response);
    CHECK(!is_json || caller->body, "%s %s: not JSON: %s", method, target, caller->text);
}

/* PostgreSQL has two seconds for a list: a machine that does much else may need longer, and a client that is told so asks again. */
static void call_text(struct caller *caller, const char *method, const char *target,
                      const char *body)
{
    int tries = 0;
    do
        call_once(caller, method, target, body);
    while (caller->status == 503 && strcmp(method, "GET") == 0 &&
           strstr(caller->text, "statement timeout") && ++tries < TRIES);
}

static char *format_body(const char *format, va_list args)
{
    char *body = NULL;
    if (format && vasprintf(&body, format, args) < 0)
        abort();
    return body;
}

const json_t *call(struct caller *caller, const char *method, const char *target,
                   const char *body, ...)
{
    va_list args;
    va_start(args, body);
    char *text = format_body(body, args);
    va_end(args);
    call_text(caller, method, target, text);
    free(text);
    return caller->body;
}

const json_t *call_for(struct caller *caller, int status, const char *method,
                       const char *target, const char *body, ...)
{
    va_list args;
    va_start(args, body);
    char *text = format_body(body, args);
    va_end(args);
    call_text(caller, method, target, text);
    free(text);
    CHECK(caller->status == status, "%s %s: %d, not %d: %s", method, target, caller->status,
          status, caller->text);
    return caller->body;
}

const json_t *part(const struct caller *caller, const char *path)
{
    const json_t *at = caller->body;
    for (const char *step = path; at && *step;) {
        char name[64];
        size_t len = strcspn(step, ".");
        snprintf(name, sizeof name, "%.*s", (int)len, step);
        at = json_is_array(at) ? json_array_get(at, strtoul(name, NULL, 10))
                               : json_object_get(at, name);
        step += len + (step[len] == '.');
    }
    CHECK(at, "there is no %s in %s", path, caller->text);
    return at;
}

const char *text_at(const struct caller *caller, const char *path)
{
    const json_t *value = part(caller, path);
    CHECK(json_is_string(value) || json_is_null(value), "%s is no string in %s", path,
          caller->text);
    return json_string_value(value);
}

long long int_at(const struct caller *caller, const char *path)
{
    const json_t *value = part(caller, path);
    CHECK(json_is_integer(value), "%s is no integer in %s", path, caller->text);
    return json_integer_value(value);
}

const char *kept_id(const struct caller *caller)
{
    static char ids[4096][40];
    static size_t count;
    snprintf(ids[count % 4096], sizeof ids[0], "%s", text_at(caller, "id"));
    return ids[count++ % 4096];
}

const char *add_job(struct caller *caller, const char *type)
{
    call_for(caller, 201, "POST", "/v1/jobs", "{\"type\":\"%s\"}", type);
    return kept_id(caller);
}

struct task_held take(struct caller *caller, const char *type)
{
    struct task_held held;
    call_for(caller, 200, "POST", "/v1/tasks/claim", "{\"worker\":\"w\",\"types\":[\"%s\"]}",
             type);
    snprintf(held.id, sizeof held.id, "%s", text_at(caller, "tasks.0.id"));
    snprintf(held.token, sizeof held.token, "%s", text_at(caller, "tasks.0.token"));
    return held;
}
