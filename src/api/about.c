/* api/about.c - who is calling, and what this server is.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * By hand, because the answers are put together from the tables of routes, the engine and its options.
 */
#include "api/api.h"

#include <string.h>

static unsigned role_of(const char *word)
{
    static const struct {
        const char *word;
        unsigned role;
    } roles[] = {{"view", ROLE_VIEW}, {"produce", ROLE_PRODUCE}, {"work", ROLE_WORK}};
    for (size_t i = 0; word && i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].word, word) == 0)
            return roles[i].role;
    return ROLE_OPERATE;
}

/* "POST /v1/instances/{}/cancel" */
static void write_route(struct json_out *out, const struct operation *operation)
{
    struct buf text = {0};
    buf_printf(&text, "%s ", operation->method);
    for (const char *at = operation->path; *at; at++) {
        buf_char(&text, *at);
        if (*at != '{')
            continue;
        at += strcspn(at, "}");
        buf_char(&text, '}');
    }
    json_str(out, buf_text(&text));
    out->buf->failed |= buf_failed(&text);
    buf_done(&text);
}

void write_me(const struct request *request, struct answer *answer)
{
    struct json_out *out = &answer->out;
    unsigned role = role_of(request->role);
    json_open(out, '{');
    json_str(json_key(out, "name"), request->token_name);
    json_str(json_key(out, "role"), request->role ? request->role : "operate");
    json_str(json_key(out, "auth"), request->role ? "token" : "none");
    json_open(json_key(out, "may"), '[');
    for (size_t i = 0; i < operation_count; i++)
        if (operations[i].roles & role)
            write_route(out, &operations[i]);
    json_close(out, ']');
    json_close(out, '}');
}

/* What a client may ask for, beside what every server has. */
static const char *const features[] = {"why",       "workers",  "approvals", "digest",
                                       "errors",    "overview", "bulk",      "tags",
                                       "retention", "schedules"};

static void write_limits(struct json_out *out, const cairn_open_options *options)
{
    json_open(json_key(out, "limits"), '{');
    json_int(json_key(out, "max_payload"), (int64_t)options->max_payload);
    json_int(json_key(out, "max_name"), (int64_t)options->max_name);
    json_int(json_key(out, "max_error"), (int64_t)options->max_error);
    json_int(json_key(out, "max_batch"), (int64_t)options->max_batch);
    json_close(out, '}');
}

void write_about(const struct request *request, struct answer *answer)
{
    const struct about_output *about = &request->out.about;
    const struct call *call = request->arg;
    struct json_out *out = &answer->out;
    json_open(out, '{');
    json_str(json_key(out, "version"), cairn_version());
    json_open(json_key(out, "store"), '{');
    json_str(json_key(out, "kind"), about->kind);
    json_str(json_key(out, "product"), about->product);
    json_int(json_key(out, "schema"), about->schema);
    json_close(out, '}');
    json_str(json_key(out, "clock"), about->is_clock_virtual ? "virtual" : "real");
    json_time(json_key(out, "now"), request->out.now_us);
    json_time(json_key(out, "started_at"), about->started_us);
    json_open(json_key(out, "features"), '[');
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        json_str(out, features[i]);
    json_close(out, ']');
    json_str(json_key(out, "page"), request->page);
    write_limits(out, &call->engine->options);
    json_str(json_key(out, "waits"), about->is_hearing ? "notify" : "poll");
    json_close(out, '}');
}
