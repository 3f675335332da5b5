/* tests/api/test_reading.c - slices, fields, targets and routes: how a call is taken apart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "base/error.h"
#include "base/mem.h"
#include "test.h"

/* ---- the bytes of a value --------------------------------------------------------------- */

static struct slice value_of(const char *text, size_t len)
{
    struct slice value;
    CHECK(scan_text(text, len, &value), "%s is not JSON", text);
    return value;
}

static void check_member(const char *text, const char *key, const char *wanted)
{
    struct slice found = scan_find(value_of(text, strlen(text)), key);
    bool is_there = found.text != NULL;
    CHECK(is_there == (wanted != NULL), "%s: \"%s\" was %sfound", text, key,
          is_there ? "" : "not ");
    if (wanted)
        CHECK(slice_is(found, wanted), "%s: \"%s\" is %.*s, not %s", text, key, (int)found.len,
              found.text, wanted);
}

TEST(a_member_is_found_as_the_bytes_that_were_sent)
{
    check_member("{\"payload\":1}", "payload", "1");
    check_member(" {\n\"payload\" :\t 1.50 \r\n} ", "payload", "1.50");
    check_member("{\"a\":1,\"payload\":{\"x\": [1, 2 ]},\"b\":2}", "payload",
                 "{\"x\": [1, 2 ]}");
    check_member("{\"a\":[{},[]],\"payload\":[ ]}", "payload", "[ ]");
    check_member("{\"payload\":\"}\\\"{\\\\\"}", "payload", "\"}\\\"{\\\\\"");
    check_member("{\"payload\":null}", "payload", "null");
    check_member("{\"payload\":-1e-7,\"b\":true}", "payload", "-1e-7");
    check_member("{\"payload\":{}}", "payload", "{}");
    check_member("{\"payload\":\"\"}", "payload", "\"\"");
}

TEST(a_key_that_only_looks_like_it_is_not_taken)
{
    check_member("{}", "payload", NULL);
    check_member("{\"a\":{\"payload\":1}}", "payload", NULL);
    check_member("{\"a\":\"payload\",\"b\":\"\\\"payload\\\":1\"}", "payload", NULL);
    check_member("{\"payloads\":1,\"payloa\":2,\"Payload\":3}", "payload", NULL);
    check_member("{\"\":1}", "payload", NULL);
    check_member("{\"payload\\u00e4\":1}", "payload", NULL);
    check_member("{\"a\":[\"payload\",{\"payload\":1}],\"payload\":2}", "payload", "2");
    check_member("{\"x\\\"\":0,\"payload\":2}", "payload", "2");
}

TEST(a_key_may_be_written_with_escapes)
{
    check_member("{\"p\\u0061yload\":7}", "payload", "7");
    check_member("{\"\\u0070\\u0061\\u0079\\u006C\\u006f\\u0061\\u0064\":7}", "payload", "7");
    check_member("{\"a\\/b\":7}", "a/b", "7");
    check_member("{\"p\\u0161yload\":7}", "payload", NULL);
}

TEST(the_entries_of_an_array_come_in_order)
{
    static const char text[] = " [ 1,{\"a\":[2,\"],\"]} , \"x,y\",[] ,null ] ";
    static const char *const wanted[] = {"1", "{\"a\":[2,\"],\"]}", "\"x,y\"", "[]", "null"};
    struct scan items;
    struct slice item;
    CHECK(scan_list(value_of(text, strlen(text)), &items), "%s is no list", text);
    for (size_t i = 0; i < 5; i++) {
        CHECK(scan_item(&items, &item), "entry %zu is missing", i);
        CHECK(slice_is(item, wanted[i]), "entry %zu is %.*s", i, (int)item.len, item.text);
    }
    CHECK(!scan_item(&items, &item), "a sixth entry: %.*s", (int)item.len, item.text);

    CHECK(scan_list(value_of("[]", 2), &items), "[] is no list");
    CHECK(!scan_item(&items, &item), "an empty array has an entry");
    CHECK(scan_list(value_of("[ \n]", 4), &items), "[ ] is no list");
    CHECK(!scan_item(&items, &item), "an empty array has an entry");
}

/* Writes a random value, and into `wanted` the bytes of the member "payload" if it is one. */
static void add_random(struct buf *buf, unsigned *seed, int depth)
{
    static const char *const scalars[] = {"0",         "-1.5e+3", "true",
                                          "null",      "\"\"",    "\"a\\\\\"",
                                          "\"\\\"{\"", "\"]\"",   "\"\\u00fc\""};
    unsigned kind = (unsigned)rand_r(seed) % (depth > 3 ? 1 : 3);
    unsigned count = (unsigned)rand_r(seed) % 4;
    if (kind == 0) {
        buf_str(buf, scalars[(unsigned)rand_r(seed) % 9]);
        return;
    }
    buf_char(buf, kind == 1 ? '[' : '{');
    for (unsigned i = 0; i < count; i++) {
        buf_str(buf, i ? " , " : "\n");
        if (kind == 2)
            buf_printf(buf, "\"k%u\" :", i);
        add_random(buf, seed, depth + 1);
    }
    buf_char(buf, kind == 1 ? ']' : '}');
}

TEST(in_any_document_the_slice_is_what_jansson_reads_there)
{
    for (unsigned round = 0; round < 2000; round++) {
        unsigned seed = round;
        struct buf text = {0};
        cairn_error error;
        json_t *tree, *part;
        buf_str(&text, "{\"first\": ");
        add_random(&text, &seed, 0);
        buf_str(&text, " ,\"payload\":  ");
        add_random(&text, &seed, 0);
        buf_str(&text, "  , \"last\":");
        add_random(&text, &seed, 0);
        buf_str(&text, "}");
        CHECK_OK(json_read(text.text, text.len, "text", &tree, &error));
        struct slice found = scan_find(value_of(text.text, text.len), "payload");
        CHECK(found.text, "%s", text.text);
        CHECK_OK(json_read(found.text, found.len, "slice", &part, &error));
        CHECK(json_equal(json_object_get(tree, "payload"), part), "%s: %.*s", text.text,
              (int)found.len, found.text);
        json_decref(part);
        json_decref(tree);
        buf_done(&text);
    }
}

/* ---- fields ----------------------------------------------------------------------------- */

/* Text t, number n (1 to 9), truth b, time at, JSON j, texts ts, object o {m}, objects of
 * {payload, n} in jobs. */
struct sample_job {
    const char *payload;
    int64_t n;
};

struct sample {
    const char *t, *j;
    int64_t n, m, at_us;
    bool b;
    const char *const *ts;
    size_t ts_count;
    struct sample_job *jobs;
    size_t job_count;
};

static const struct object inner_object = {
    .count = 1,
    .fields = (const struct field[]){
        {FIELD(struct sample, m, INT, "m"), NEEDED, LIMITS(0, 1, 0)},
    }};

static const struct object job_object = {
    .size = sizeof(struct sample_job),
    .count = 2,
    .fields = (const struct field[]){
        {FIELD(struct sample_job, payload, JSON, "payload")},
        {FIELD(struct sample_job, n, INT, "n"), LIMITS(0, 9, 0)},
    }};

static const struct object sample_object = {
    .count = 8,
    .fields = (const struct field[]){
        {FIELD(struct sample, t, TEXT, "t")},
        {FIELD(struct sample, n, INT, "n"), LIMITS(1, 9, 5)},
        {FIELD(struct sample, b, BOOL, "b"), .fallback = true},
        {FIELD(struct sample, at_us, TIME, "at")},
        {FIELD(struct sample, j, JSON, "j")},
        {FIELD(struct sample, ts, TEXTS, "ts"), LIMITS(1, 2, 0),
         COUNT(struct sample, ts_count)},
        {.name = "o", .kind = FIELD_OBJECT, .inner = &inner_object},
        {FIELD(struct sample, jobs, LIST, "jobs"), LIMITS(0, 3, 0), .inner = &job_object,
         COUNT(struct sample, job_count)},
    }};

struct reading {
    struct request *request;
    struct fields fields;
    struct sample sample;
};

static struct reading read_sample(const char *body)
{
    struct reading reading = {.request = request_new(OP_ENQUEUE), .sample.m = -1};
    body_read(body, body ? strlen(body) : 0, reading.request, &reading.fields);
    fields_read(&reading.fields, &sample_object, &reading.sample);
    fields_end(&reading.fields);
    return reading;
}

static void end(struct reading *reading)
{
    request_free(reading->request);
}

static void check_refused(const char *body, cairn_code wanted, const char *message)
{
    struct reading reading = read_sample(body);
    cairn_code code = reading.request->code;
    CHECK(code == wanted, "%s: %s", body, cairn_code_name(code));
    CHECK(strstr(reading.request->error.message, message), "%s: \"%s\" does not say \"%s\"",
          body, reading.request->error.message, message);
    end(&reading);
}

TEST(what_is_wrong_is_named)
{
    check_refused("{\"t\":1}", CAIRN_E_BAD_INPUT, "field \"t\" must be a string, not a number");
    check_refused("{\"n\":\"1\"}", CAIRN_E_BAD_INPUT,
                  "field \"n\" must be an integer, not a string");
    check_refused("{\"n\":1.0}", CAIRN_E_BAD_INPUT, "must be an integer");
    check_refused("{\"n\":0}", CAIRN_E_BAD_INPUT, "field \"n\" must be from 1 to 9, not 0");
    check_refused("{\"n\":-9223372036854775808}", CAIRN_E_BAD_INPUT, "from 1 to 9");
    check_refused("{\"b\":1}", CAIRN_E_BAD_INPUT, "field \"b\" must be true or false");
    check_refused("{\"at\":\"tomorrow\"}", CAIRN_E_BAD_INPUT, "field \"at\" must be a time");
    check_refused("{\"at\":5}", CAIRN_E_BAD_INPUT, "field \"at\" must be a time");
    check_refused("{\"ts\":\"a\"}", CAIRN_E_BAD_INPUT, "an array of strings");
    check_refused("{\"ts\":[1]}", CAIRN_E_BAD_INPUT, "an array of strings");
    check_refused("{\"ts\":[]}", CAIRN_E_BAD_INPUT, "must have 1 to 2 entries, not 0");
    check_refused("{\"ts\":[\"a\",\"b\",\"c\"]}", CAIRN_E_TOO_LARGE, "not 3");
    check_refused("{\"o\":[]}", CAIRN_E_BAD_INPUT,
                  "field \"o\" must be an object, not an array");
    check_refused("{\"o\":{}}", CAIRN_E_BAD_INPUT, "field \"o.m\" is missing");
    check_refused("{\"o\":{\"m\":1,\"x\":1}}", CAIRN_E_BAD_INPUT, "field \"o.x\" is unknown");
    check_refused("{\"t\":\"a\",\"what\":1}", CAIRN_E_BAD_INPUT, "field \"what\" is unknown");
    check_refused("{\"t\":\"a\",\"t\":\"b\"}", CAIRN_E_BAD_JSON, "same key twice");
    check_refused("[]", CAIRN_E_BAD_INPUT, "body must be a JSON object, not an array");
    check_refused("{\"t\":", CAIRN_E_BAD_JSON, "body is not JSON");
    check_refused("{\"t\":\"\xff\"}", CAIRN_E_BAD_JSON, "body is not UTF-8");
    check_refused("{} {}", CAIRN_E_BAD_JSON, "body is not JSON");
}

TEST(what_is_left_out_or_null_takes_its_default)
{
    static const char *const bodies[] = {
        NULL, "", " \n ", "{}", "{\"t\":null,\"n\":null,\"b\":null,\"at\":null,\"o\":null}"};
    for (size_t i = 0; i < 5; i++) {
        struct reading reading = read_sample(bodies[i]);
        CHECK(reading.sample.t == NULL, "body %zu", i);
        CHECK_INT(reading.sample.n, 5);
        CHECK(reading.sample.b, "body %zu", i);
        CHECK_INT(reading.sample.at_us, 0);
        CHECK_INT(reading.sample.m, -1);
        CHECK_INT(reading.request->code, CAIRN_OK);
        end(&reading);
    }
}

TEST(a_json_field_is_kept_as_sent_even_null)
{
    struct reading reading = read_sample("{\"j\" : {\"b\": 0.10, \"a\":1e2 }, \"n\":3}");
    CHECK_STR(reading.sample.j, "{\"b\": 0.10, \"a\":1e2 }");
    CHECK_INT(reading.sample.n, 3);
    CHECK_INT(reading.request->code, CAIRN_OK);
    end(&reading);

    reading = read_sample("{\"j\":null}");
    CHECK_STR(reading.sample.j, "null");
    end(&reading);
}

TEST(each_object_of_an_array_has_its_own_fields_and_bytes)
{
    struct reading reading =
        read_sample("{\"jobs\":[{\"payload\":[ 1 ],\"n\":1},{\"n\":2},{\"payload\": \"x\"}]}");
    static const char *const wanted[] = {"[ 1 ]", NULL, "\"x\""};
    CHECK_INT(reading.request->code, CAIRN_OK);
    CHECK_INT(reading.sample.job_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const char *payload = reading.sample.jobs[i].payload;
        CHECK(wanted[i] ? payload && strcmp(payload, wanted[i]) == 0 : !payload, "entry %zu",
              i);
    }
    end(&reading);

    reading = read_sample("{\"jobs\":[{},{\"n\":true}]}");
    CHECK(strstr(reading.request->error.message, "\"jobs[1].n\""), "%s",
          reading.request->error.message);
    end(&reading);
}

TEST(a_key_with_escapes_is_the_field_that_it_names)
{
    struct reading reading = read_sample("{\"\\u0074\":\"a\",\"\\u006e\":7}");
    CHECK_INT(reading.request->code, CAIRN_OK);
    CHECK_STR(reading.sample.t, "a");
    CHECK_INT(reading.sample.n, 7);
    end(&reading);
    check_refused("{\"\\u0078\":1}", CAIRN_E_BAD_INPUT, "field \"x\" is unknown");
}

/* ---- targets and routes ----------------------------------------------------------------- */

static cairn_code read_limit(const struct target *target, struct request *request,
                             uint32_t *ret_limit)
{
    struct page_input page = {0};
    target_read_query(target, request, operation_of(OP_REGISTRY_LIST)->query, &page);
    *ret_limit = page.limit;
    return request->code;
}

TEST(a_target_is_split_before_it_is_decoded)
{
    struct request *request = request_new(OP_JOB_LIST);
    struct target target;
    CHECK_INT(target_read("/v1/registry/a%2Fb%3Fc+d?type=x%25&key=a+b%2B&cursor=&limit=7",
                          request, &target),
              CAIRN_OK);
    CHECK_INT(target.segment_count, 3);
    CHECK_STR(target.segments[2], "a/b?c+d");
    CHECK_STR(target_param(&target, "type"), "x%");
    CHECK_STR(target_param(&target, "key"), "a b+");
    CHECK(!target_param(&target, "cursor"), "an empty parameter counts as given");
    uint32_t limit;
    CHECK_INT(read_limit(&target, request, &limit), CAIRN_OK);
    CHECK_INT(limit, 7);
    request_free(request);
}

TEST(a_bad_target_is_refused)
{
    static const char *const bad[] = {"/v1/%",   "/v1/%4",    "/v1/%zz", "/v1/%00",
                                      "/v1/%ff", "/v1?a=%c3", "/\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct request *request = request_new(OP_JOB_LIST);
        struct target target;
        CHECK(target_read(bad[i], request, &target) == CAIRN_E_BAD_INPUT, "%s", bad[i]);
        request_free(request);
    }
}

TEST(only_a_list_of_texts_is_given_twice)
{
    static const struct field fields[] = {{.name = "q", .kind = FIELD_TEXT},
                                          {.name = "tag", .kind = FIELD_TEXTS}};
    static const struct object query = {.count = 2, .fields = fields};
    static const char *const targets[] = {"/v1?q=1&q=2", "/v1?q=1&%71=2", "/v1?a=1&a=2",
                                          "/v1?tag=a:b&q=1&tag=c:d"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct request *request = request_new(OP_JOB_LIST);
        struct target target;
        CHECK_INT(target_read(targets[i], request, &target), CAIRN_OK);
        cairn_code code = target_allow(&target, request, &query);
        CHECK(code == (i < 3 ? CAIRN_E_BAD_INPUT : CAIRN_OK), "%s", targets[i]);
        request_free(request);
    }
}

TEST(limit_is_an_integer_from_1_to_1000)
{
    static const char *const bad[] = {
        "0", "1001", "-1", "+5", "1e2", "0x5", "5 ", "a", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct request *request = request_new(OP_JOB_LIST);
        struct target target = {.params = {{"limit", bad[i]}}, .param_count = 1};
        uint32_t limit;
        CHECK(read_limit(&target, request, &limit) == CAIRN_E_BAD_INPUT, "%s", bad[i]);
        request_free(request);
    }
}

static cairn_code find(const char *method, const char *path, const struct operation **ret_route,
                       cairn_error *ret_error)
{
    struct request *request = request_new(OP_JOB_LIST);
    struct target target;
    target_read(path, request, &target);
    *ret_route = route_find(method, &target, request);
    cairn_code code = request->code;
    *ret_error = request->error;
    request_free(request);
    return code;
}

TEST(routes_are_found_by_method_and_path)
{
    const struct operation *route;
    cairn_error error;
    CHECK_INT(find("GET", "/v1/jobs/abc", &route, &error), CAIRN_OK);
    CHECK_STR(route->path, "/v1/jobs/{id}");
    CHECK_INT(find("POST", "/v1/tasks/abc/dead", &route, &error), CAIRN_OK);
    CHECK_STR(route->path, "/v1/tasks/{id}/dead");
    CHECK_INT(find("POST", "/v1/tasks/claim", &route, &error), CAIRN_OK);
    CHECK_INT(route->op, OP_CLAIM);
    CHECK_INT(find("PUT", "/v1/registry/%2F", &route, &error), CAIRN_OK);

    static const char *const unknown[] = {"/",
                                          "",
                                          "/v1",
                                          "/v1/job",
                                          "/v1/jobs//",
                                          "/v1/jobs/a/b",
                                          "//v1/jobs",
                                          "/v1/jobs/a/events/b",
                                          "/v2/jobs",
                                          "/a/b/c/d/e/f/g/h/i/j/k",
                                          "/v1/tasks/a/complet"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        CHECK(find("GET", unknown[i], &route, &error) == CAIRN_E_NOT_FOUND, "%s", unknown[i]);

    CHECK_INT(find("DELETE", "/v1/jobs/", &route, &error), CAIRN_E_BAD_INPUT);
    CHECK_STR(error.message, "the id is empty");
    CHECK_INT(find("POST", "/v1/instances//steps//decision", &route, &error),
              CAIRN_E_BAD_INPUT);
    CHECK_STR(error.message, "the id is empty");

    CHECK_INT(find("PATCH", "/v1/jobs/abc", &route, &error), CAIRN_E_METHOD_NOT_ALLOWED);
    CHECK_STR(error.hint, "allowed: GET, DELETE");
    CHECK_INT(find("get", "/v1/jobs", &route, &error), CAIRN_E_METHOD_NOT_ALLOWED);
}
