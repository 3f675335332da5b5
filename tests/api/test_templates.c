/* tests/api/test_templates.c - hostile expressions: at deploy nothing is written, at run time the step fails with a
 * reason, and both are bounded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"
#include "scratch.h"

#include "base/buf.h"

#include <string.h>

static void repeat(struct buf *buf, const char *text, int count)
{
    for (int i = 0; i < count; i++)
        buf_str(buf, text);
}

/* {"workflow": "w", ...} whose step c has this input, a JSON value. */
static void write_flow(struct buf *flow, int version, const char *input)
{
    buf_printf(flow,
               "{\"workflow\":\"w\",\"version\":%d,\"steps\":[{\"step\":\"a\"},"
               "{\"step\":\"c\",\"max_attempts\":1,\"input\":",
               version);
    buf_str(flow, input);
    buf_str(flow, "}]}");
}

static void deploy_for(struct caller *caller, int status, int version, const char *input)
{
    struct buf flow = {0};
    write_flow(&flow, version, input);
    call_for(caller, status, "POST", "/v1/workflows?file=w.json", "%s", buf_text(&flow));
    buf_done(&flow);
}

/* Refused, with a text that says why in a few lines, and nothing is there. */
static void check_refused(struct caller *caller, const char *input, const char *why)
{
    deploy_for(caller, 400, 1, input);
    const char *detail = text_at(caller, "detail");
    const char *message = text_at(caller, "message");
    CHECK(strstr(detail ? detail : "", why) || strstr(message, why), "%s: %s: %s", why, message,
          detail);
    CHECK(strlen(message) < 256, "the message has %zu bytes", strlen(message));
    call_for(caller, 404, "GET", "/v1/workflows/w/1", NULL);
}

static void check_refused_many(struct caller *caller, const char *begin, const char *text,
                               int count, const char *end, const char *why)
{
    struct buf input = {0};
    buf_str(&input, begin);
    repeat(&input, text, count);
    buf_str(&input, end);
    check_refused(caller, buf_text(&input), why);
    buf_done(&input);
}

TEST(what_is_malformed_or_too_large_is_refused_at_deploy)
{
    struct caller caller;
    caller_open(&caller);
    check_refused(&caller, "\"{{ \"", "");
    check_refused(&caller, "\"{{ range .x }}\"", "range"); /* there are no loops */
    check_refused(&caller, "\"{{ call .x }}\"", "call");
    check_refused(&caller, "\"{{ $.steps.none.output }}\"", "none");
    check_refused(&caller, "\"{{ index .x }}\"", "index");
    check_refused(&caller, "\"{{ $.secret }}\"", "$ has the fields input, steps");
    check_refused_many(&caller, "\"{{ ", "(", 65, ".x }}\"", "");
    check_refused_many(&caller, "\"{{ ", "not (", 3000, ".x }}\"", "");
    check_refused_many(&caller, "\"{{ .", "x", 5000, " }}\"", "");
    check_refused_many(&caller, "", "[", 200, "", "");
    caller_close(&caller);
}

TEST(bytes_that_are_no_text_are_refused_and_nothing_is_written)
{
    struct caller caller;
    caller_open(&caller);
    check_refused(&caller, "\"{{ .\xff\xfe }}\"", "");
    check_refused(&caller, "\"{{ \\\"\xc3\\\" }}\"", "");
    check_refused(&caller, "\"{{ .a\\u0000b }}\"", "");
    caller_close(&caller);
}

/* Starts one that has such an input, lets its first step answer, and looks at what became of the second. */
static void run(struct caller *caller, int version, const char *input, const char *output)
{
    deploy_for(caller, 201, version, input);
    call_for(caller, 201, "POST", "/v1/instances",
             "{\"workflow\":\"w\",\"version\":%d,\"input\":{\"n\":1}}", version);
    char id[64];
    snprintf(id, sizeof id, "%s", text_at(caller, "id"));
    struct task_held held = take(caller, "a");
    char target[160];
    snprintf(target, sizeof target, "/v1/tasks/%s/complete", held.id);
    call_for(caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\",\"output\":%s}",
             held.token, output);
    snprintf(target, sizeof target, "/v1/instances/%s", id);
    call_for(caller, 200, "GET", target, NULL);
}

static void check_fails(struct caller *caller, int version, const char *input,
                        const char *output)
{
    run(caller, version, input, output);
    CHECK_STR(text_at(caller, "status"), "failed");
    call_for(caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"c\"],\"max\":1}");
    CHECK_INT((int)json_array_size(part(caller, "tasks")), 0);
}

TEST(what_fails_at_run_time_fails_the_step_without_a_call)
{
    struct caller caller;
    struct buf large = {0};
    caller_open(&caller);
    check_fails(&caller, 1, "\"{{ index .list \\\"x\\\" }}\"", "{\"list\":[1]}");
    check_fails(&caller, 2, "\"{{ index .n 0 }}\"", "{\"n\":1}");
    check_fails(&caller, 3, "\"{{ len .n }}\"", "{\"n\":1}");
    /* Each doubles nothing, but all together are more than a payload may have. */
    buf_str(&large, "[");
    repeat(&large, "\"{{ .x }}\",", 40);
    buf_str(&large, "null]");
    struct buf output = {0};
    buf_str(&output, "{\"x\":\"");
    repeat(&output, "0123456789", 5000);
    buf_str(&output, "\"}");
    check_fails(&caller, 4, buf_text(&large), buf_text(&output));
    buf_done(&output);
    buf_done(&large);
    caller_close(&caller);
}

TEST(what_is_missing_is_null)
{
    struct caller caller;
    caller_open(&caller);
    run(&caller, 1,
        "[\"{{ .no.such.field }}\", \"{{ $.steps.a.output.none }}\", \"{{ index .list "
        "99999999999999 }}\", "
        "\"{{ index .list 9223372036854775807 }}\", \"{{ index .list -1 }}\"]",
        "{\"list\":[1]}");
    CHECK_STR(text_at(&caller, "status"), "running");
    call_for(&caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"c\"],\"max\":1}");
    CHECK_INT((int)json_array_size(part(&caller, "tasks")), 1);
    for (int i = 0; i < 5; i++)
        CHECK(json_is_null(json_array_get(part(&caller, "tasks.0.input"), (size_t)i)), "%s",
              caller.text);
    caller_close(&caller);
}
