/* tests/api/test_schema.c - what the OpenAPI description allows is never a bad request, every answer is as described, and
 * what GET says PUT accepts.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Requests are drawn from the description: every route, with any of its parameters and fields.  They meet a store with
 * something of everything, so most of them do something.
 */
#include "api/api.h"
#include "calling.h"
#include "schema.h"

#include <ctype.h>
#include <stdlib.h>

/* So many of each route; fewer where each is a transaction of a server's. */
enum { DRAWS = 60, DRAWS_POSTGRES = 6, TARGET_ROOM = 2000 };

struct described {
    struct caller caller;
    json_t *document;
    const char *job, *instance;
};

/* ---- texts ------------------------------------------------------------------------------------ */

/* What a schema does not say of a text: its form. */
static const struct {
    const char *name, *texts[4];
} forms[] = {
    {"cron", {"0 3 * * *", "@hourly"}},
    {"timezone", {"UTC"}},
    {"runtime", {"go", "python", "c"}},
    {"status", {"failed", "failed,cancelled"}},
    {"group", {"0123456789ab"}},
    {"parent", {"none"}},
    {"level", {"info"}},
    {"tag", {"a:b"}},
    {"id", {"01a3185c-5000-7000-875c-3d964f482cd2"}},
};

/* What it does not say of several fields together, or of one beside what the store holds.  Nothing else may be a bad
 * request. */
static const char *const rules[] = {
    "on_existing needs a key",
    "debounce_ms needs a key",
    "cron or every_ms must be given, and only one of them",
    "workflow or task must be given, and only one of them",
    "timezone is for cron only",
    "version is for workflows only",
    "concurrency or rate must be given",
    "rate needs both n and per_ms, from 1",
    "only the steps of workflows can",
    "belongs to no instance",
    "field \"by\" is missing", /* there are no tokens here, whose name it could be */
    "by is missing",
    "older_than_ms or status, workflow or type must be given",
    "cursor is not one of",
    "kind needs view=summary",
    "is for jobs only; see workflow",
    "workflow is not for jobs; see type",
    "by stand needs a workflow",
    "by cannot be stand with",
    "does not exist for ", /* an action, by what it is done to */
    "field \"results[",    /* which fields a result has depends on its outcome */
    "tell_event is missing",
    "tell_instance is missing",
    "from_version is ",
    "seq is ",
};

static const char *text_of(const char *name, unsigned turn)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].name, name) == 0) {
            size_t count = 0;
            while (count < 4 && forms[i].texts[count])
                count++;
            return forms[i].texts[turn % count];
        }
    return turn % 4 ? "a" : "some text";
}

/* ---- requests --------------------------------------------------------------------------------- */

static const char *method_of(const char *key)
{
    static char text[16];
    size_t i = 0;
    for (; key[i] && i + 1 < sizeof text; i++)
        text[i] = (char)toupper((unsigned char)key[i]);
    text[i] = '\0';
    return text;
}

static void add_escaped(char *target, const char *text)
{
    size_t used = strlen(target);
    for (; *text && used + 4 < TARGET_ROOM; text++)
        used += (size_t)sprintf(target + used, isalnum((unsigned char)*text) ? "%c" : "%%%02X",
                                (unsigned char)*text);
}

static void add_value(char *target, const json_t *value)
{
    if (json_is_string(value)) {
        add_escaped(target, json_string_value(value));
        return;
    }
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    add_escaped(target, text);
    free(text);
}

/* The path with ids of what there is, or of nothing, and any of the parameters. */
static void draw_target(struct described *d, const char *path, const json_t *what,
                        unsigned *seed, char target[TARGET_ROOM])
{
    size_t index;
    json_t *entry;
    bool is_first = true;
    const char *of = strstr(path, "instances") ? d->instance : d->job;
    size_t used = 0;
    for (const char *at = path; *at; at++) {
        if (*at != '{') {
            target[used++] = *at;
            continue;
        }
        bool is_id = strncmp(at, "{id}", 4) == 0;
        const char *other = strncmp(at, "{version}", 9) == 0 ? "1" : "a";
        used += (size_t)sprintf(target + used, "%s",
                                is_id && *seed % 3 ? of
                                : is_id            ? "x"
                                                   : other);
        at = strchr(at, '}');
    }
    target[used] = '\0';
    json_array_foreach(json_object_get(what, "parameters"), index, entry)
    {
        const json_t *parameter = schema_resolve(d->document, entry);
        const char *name = json_string_value(json_object_get(parameter, "name"));
        *seed = *seed * 1664525U + 1013904223U;
        if (strcmp(json_string_value(json_object_get(parameter, "in")), "query") != 0 ||
            (!json_object_get(parameter, "required") && (*seed >> 10) % 3) ||
            strcmp(name, "cursor") == 0)
            continue;
        json_t *value =
            schema_draw(d->document, json_object_get(parameter, "schema"), name, text_of, seed);
        size_t count = json_is_array(value) ? json_array_size(value) : 1;
        for (size_t i = 0; i < count; i++, is_first = false) {
            sprintf(target + strlen(target), "%c%s=", is_first ? '?' : '&', name);
            add_value(target, json_is_array(value) ? json_array_get(value, i) : value);
        }
        json_decref(value);
    }
}

static const json_t *schema_in(const json_t *content)
{
    return json_object_get(json_object_get(content, "application/json"), "schema");
}

static bool is_rule(const char *message)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strstr(message, rules[i]))
            return true;
    return false;
}

/* The answer must be described, and as it is described. */
static void check_answer(struct described *d, const char *method, const char *target,
                         const char *body, const json_t *what)
{
    char status[8], why[300] = "";
    snprintf(status, sizeof status, "%d", d->caller.status);
    CHECK(d->caller.status != 400 || is_rule(text_at(&d->caller, "message")), "%s %s %s: %s",
          method, target, body ? body : "", d->caller.text);
    const json_t *response = schema_resolve(
        d->document, json_object_get(json_object_get(what, "responses"), status));
    CHECK(response, "%s %s %s: status %s is not described: %s", method, target,
          body ? body : "", status, d->caller.text);
    const json_t *schema = schema_in(json_object_get(response, "content"));
    if (schema)
        CHECK(schema_fits(d->document, schema, d->caller.body, why), "%s %s %s: %s in %s",
              method, target, body ? body : "", why, d->caller.text);
}

static void draw_call(struct described *d, const char *method, const char *path,
                      const json_t *what, unsigned *seed)
{
    char target[TARGET_ROOM], *body = NULL;
    draw_target(d, path, what, seed, target);
    const json_t *schema =
        schema_in(json_object_get(json_object_get(what, "requestBody"), "content"));
    if (schema) {
        json_t *value = schema_draw(d->document, schema, "", text_of, seed);
        body = json_dumps(value, 0);
        json_decref(value);
    }
    call(&d->caller, method, target, body ? "%s" : NULL, body);
    check_answer(d, method, target, body, what);
    free(body);
}

/* Something of everything. */
static void open_described(struct described *d)
{
    caller_open(&d->caller);
    call_for(&d->caller, 200, "GET", "/openapi.json", NULL);
    d->document = json_incref(d->caller.body);
    call_for(&d->caller, 201, "POST", "/v1/workflows",
             "workflow: a\nversion: 1\nsteps:\n  - step: a\n    handler: a\n");
    call_for(&d->caller, 201, "POST", "/v1/instances", "{\"workflow\":\"a\",\"key\":\"k\"}");
    d->instance = kept_id(&d->caller);
    d->job = add_job(&d->caller, "a");
}

static void close_described(struct described *d)
{
    json_decref(d->document);
    caller_close(&d->caller);
}

/* Not drawn: a file of its own form, the stream, which does not end, and what waits in real time. */
static bool is_drawn(const char *path, const char *method)
{
    return strcmp(path, "/v1/stream") != 0 &&
           !(strcmp(path, "/v1/workflows") == 0 && strcmp(method, "POST") == 0);
}

TEST(what_the_schema_allows_is_no_bad_request_and_answers_are_as_described)
{
    struct described d;
    const char *path, *key;
    json_t *methods, *what;
    unsigned seed = 1;
    const char *store = getenv("CAIRN_TEST_STORE");
    int draws = store && strcmp(store, "postgres") == 0 ? DRAWS_POSTGRES : DRAWS;
    open_described(&d);
    json_object_foreach(json_object_get(d.document, "paths"), path, methods)
        json_object_foreach(methods, key,
                            what) for (int i = 0; i < draws && is_drawn(path, method_of(key));
                                       i++) draw_call(&d, method_of(key), path, what, &seed);
    close_described(&d);
}

/* ---- what GET says, PUT accepts --------------------------------------------------------------- */

static const struct {
    const char *path, *name, *body; /* no body: as it is from the beginning */
} kept[] = {
    {"/v1/retention", NULL, NULL},
    {"/v1/retention", NULL, "{\"jobs\":{\"failed\":1000},\"keys_ms\":5000}"},
    {"/v1/limits/{name}", "one", "{\"types\":\"mail.%\",\"concurrency\":3}"},
    {"/v1/limits/{name}", "two",
     "{\"types\":\"a\",\"rate\":{\"n\":5,\"per_ms\":1000},\"per_group\":true}"},
    {"/v1/schedules/{name}", "one", "{\"cron\":\"0 3 * * *\",\"task\":\"a\"}"},
    {"/v1/schedules/{name}", "two",
     "{\"every_ms\":60000,\"workflow\":\"a\",\"input\":{\"b\":[1,2.50],\"a\":null},"
     "\"overlap\":\"queue\",\"catch_up\":\"all\",\"paused\":true}"},
    {"/v1/schedules/{name}", "three",
     "{\"cron\":\"@daily\",\"timezone\":\"Europe/Berlin\",\"workflow\":\"a\",\"version\":1}"},
    {"/v1/registry/{name}", "a.v1", "{\"runtime\":\"go\"}"},
    {"/v1/registry/{name}", "b.v1",
     "{\"runtime\":\"c\",\"is_enabled\":false,\"description\":\"of b\"}"},
};

/* By its own route, or as the item of a list. */
static json_t *get_kept(struct caller *caller, const char *path, const char *name)
{
    char target[200];
    const char *brace = strchr(path, '{');
    int len = (int)(brace ? brace - path : (long)strlen(path));
    snprintf(target, sizeof target, "%.*s%s", len, path, name ? name : "");
    call(caller, "GET", target, NULL);
    if (caller->status == 200)
        return json_incref(caller->body);
    snprintf(target, sizeof target, "%.*s", len - 1, path);
    call_for(caller, 200, "GET", target, NULL);
    size_t index;
    json_t *item;
    json_array_foreach(json_object_get(caller->body, "items"), index, item)
    {
        const char *its = json_string_value(json_object_get(item, "workflow_name"));
        if (its && strcmp(its, name) == 0)
            return json_incref(item);
    }
    CHECK(false, "%s has no \"%s\"", target, name);
    return NULL;
}

static void put_back(struct caller *caller, const char *path, const char *name,
                     const char *body)
{
    char target[200];
    const char *brace = strchr(path, '{');
    snprintf(target, sizeof target, "%.*s%s", (int)(brace ? brace - path : (long)strlen(path)),
             path, name ? name : "");
    if (body)
        call_for(caller, 200, "PUT", target, "%s", body);
    call_for(caller, 200, "POST", "/v1/clock/advance", "{\"ms\":1500}");
    json_t *before = get_kept(caller, path, name);
    char *text = json_dumps(before, 0);
    call_for(caller, 200, "PUT", target, "%s", text);
    json_t *after = get_kept(caller, path, name);
    CHECK(json_equal(before, after), "PUT %s of %s changed it", target, text);
    call_for(caller, 400, "PUT", target, "{\"surplus\":1,%s", text + 1);
    CHECK(strstr(caller->text, "surplus"), "%s", caller->text);
    free(text);
    json_decref(before);
    json_decref(after);
}

TEST(what_get_says_put_accepts_and_it_changes_nothing)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "workflow: a\nversion: 1\nsteps:\n  - step: a\n    handler: a\n");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        put_back(&caller, kept[i].path, kept[i].name, kept[i].body);
    caller_close(&caller);
}

TEST(every_put_is_among_those_that_take_what_get_says)
{
    for (size_t i = 0; i < operation_count; i++) {
        bool is_there = strcmp(operations[i].method, "PUT") != 0;
        for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
            is_there |= strcmp(kept[k].path, operations[i].path) == 0;
        CHECK(is_there, "PUT %s has no example", operations[i].path);
    }
}
