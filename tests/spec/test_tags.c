/* tests/spec/test_tags.c - jobs and instances are found by their tags, on every URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * $CAIRN_TEST_STORE is a kind of store, or "http": a server on a SQLite file.
 */
#include "cairn.h"
#include "scratch.h"
#include "server.h"
#include "test.h"

#include <jansson.h>

struct world {
    struct server server;
    cairn_engine *engine;
    cairn_error error;
    cairn_page *page; /* what was asked for last */
};

static void done(struct world *world, cairn_code code)
{
    CHECK(code == CAIRN_OK, "%s: %s (%s)", cairn_code_name(code), world->error.message,
          world->error.detail);
}

static void open_world(struct world *world)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    bool is_http = strcmp(scratch_kind(), "http") == 0;
    *world = (struct world){0};
    open.url = is_http ? scratch_store_of("sqlite") : scratch_store();
    if (is_http) {
        server_start(&world->server, open.url, "0", NULL);
        open.url = world->server.url;
    }
    done(world, cairn_open(&open, &world->engine, &world->error));
    done(world,
         cairn_workflow_deploy(world->engine, "w",
                               "{workflow: w, version: 1, steps: [{step: a, handler: h}]}",
                               NULL, &world->error));
}

static void close_world(struct world *world)
{
    cairn_page_free(world->page);
    cairn_close(world->engine);
    if (world->server.pid)
        server_stop(&world->server);
}

static cairn_page **next_page(struct world *world)
{
    cairn_page_free(world->page);
    world->page = NULL;
    return &world->page;
}

static void check_json(const char *seen, const char *wanted)
{
    json_t *a = json_loads(seen ? seen : "null", JSON_DECODE_ANY, NULL);
    json_t *b = json_loads(wanted, JSON_DECODE_ANY, NULL);
    CHECK(a && json_equal(a, b), "it is %s, not %s", seen, wanted);
    json_decref(a);
    json_decref(b);
}

static cairn_enqueued add_job(struct world *world, const char *key, const char *tags)
{
    cairn_enqueued job;
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    spec.key = key;
    spec.tags = tags;
    done(world, cairn_enqueue(world->engine, &spec, 1, &job, &world->error));
    return job;
}

static cairn_enqueued start(struct world *world, const char *key, const char *tags)
{
    cairn_enqueued started;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    options.workflow = "w";
    options.key = key;
    options.tags = tags;
    done(world, cairn_instance_start(world->engine, &options, &started, &world->error));
    return started;
}

/* The keys of what has these tags, newest first. */
static const char *jobs_with(struct world *world, const char *const *tags, size_t count)
{
    static char keys[128];
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    filter.tags = tags;
    filter.tag_count = count;
    done(world, cairn_job_list(world->engine, &filter, next_page(world), &world->error));
    keys[0] = '\0';
    for (size_t i = 0; i < cairn_page_count(world->page); i++)
        snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%s%s", i ? " " : "",
                 cairn_page_job(world->page, i)->idempotency_key);
    return keys;
}

static const char *instances_with(struct world *world, const char *const *tags, size_t count)
{
    static char keys[128];
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    filter.tags = tags;
    filter.tag_count = count;
    done(world, cairn_instance_list(world->engine, &filter, next_page(world), &world->error));
    keys[0] = '\0';
    for (size_t i = 0; i < cairn_page_count(world->page); i++)
        snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%s%s", i ? " " : "",
                 cairn_page_instance(world->page, i)->key);
    return keys;
}

#define JOBS(...)                                    \
    jobs_with(&world, (const char *[]){__VA_ARGS__}, \
              sizeof(const char *[]){__VA_ARGS__} / sizeof(const char *))
#define INSTANCES(...)                                    \
    instances_with(&world, (const char *[]){__VA_ARGS__}, \
                   sizeof(const char *[]){__VA_ARGS__} / sizeof(const char *))

TEST(jobs_show_their_tags_and_are_found_by_them)
{
    struct world world;
    open_world(&world);
    cairn_enqueued first = add_job(&world, "j1", "{\"customer\": \"4711\", \"env\": \"a:b\"}");
    add_job(&world, "j2", "{\"customer\":\"4711\"}");
    cairn_enqueued none = add_job(&world, "j3", "{}");
    add_job(&world, "j4", NULL);
    add_job(&world, "j5", "{\"customer\":\"47\", \"env\":\"\"}");
    done(&world, cairn_job_get(world.engine, first.id, next_page(&world), &world.error));
    check_json(cairn_page_job(world.page, 0)->tags,
               "{\"customer\": \"4711\", \"env\": \"a:b\"}");
    done(&world, cairn_job_get(world.engine, none.id, next_page(&world), &world.error));
    CHECK(!cairn_page_job(world.page, 0)->tags, "there are none");
    CHECK_STR(JOBS("customer:4711"), "j2 j1");
    CHECK_STR(JOBS("customer:4711", "env:a:b"), "j1");
    CHECK_STR(JOBS("env:a:b", "customer:4711"), "j1");
    CHECK_STR(JOBS("customer:47"), "j5");
    CHECK_STR(JOBS("env:"), "j5");
    CHECK_STR(JOBS("customer:471"), "");
    CHECK_STR(JOBS("Customer:4711"), "");
    CHECK_STR(jobs_with(&world, NULL, 0), "j5 j4 j3 j2 j1");
    close_world(&world);
}

TEST(instances_show_their_tags_and_are_found_by_them)
{
    struct world world;
    open_world(&world);
    cairn_enqueued first = start(&world, "i1", "{\"customer\": \"4711\", \"env\": \"a\"}");
    start(&world, "i2", NULL);
    start(&world, "i3", "{\"customer\":\"4711\"}");
    add_job(&world, "j1", "{\"customer\":\"4711\"}");
    done(&world, cairn_instance_get(world.engine, first.id, next_page(&world), &world.error));
    check_json(cairn_page_instance(world.page, 0)->tags,
               "{\"customer\": \"4711\", \"env\": \"a\"}");
    CHECK_STR(INSTANCES("customer:4711"), "i3 i1");
    CHECK_STR(INSTANCES("env:a", "customer:4711"), "i1");
    CHECK_STR(JOBS("customer:4711"), "j1");
    /* A known key keeps the tags of the first. */
    cairn_enqueued again = start(&world, "i3", "{\"customer\":\"9\"}");
    CHECK(again.existing, "it was started twice");
    CHECK_STR(INSTANCES("customer:9"), "");
    close_world(&world);
}

TEST(tags_outlive_what_happens_to_their_owner)
{
    struct world world;
    open_world(&world);
    cairn_enqueued one = start(&world, "i1", "{\"a\":\"b\"}");
    done(&world, cairn_instance_abort(world.engine, one.id, "x", "y", &world.error));
    CHECK_STR(INSTANCES("a:b"), "i1");
    done(&world, cairn_instance_restart(world.engine, one.id, &world.error));
    CHECK_STR(INSTANCES("a:b"), "i1");
    check_json(cairn_page_instance(world.page, 0)->tags, "{\"a\":\"b\"}");
    close_world(&world);
}

TEST(what_is_no_tag_is_refused)
{
    struct world world;
    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_job_filter jobs = CAIRN_JOB_FILTER_DEFAULTS;
    open_world(&world);
    job.type = "t";
    options.workflow = "w";
    static const char *const bad[] = {"[1]", "{\"a\":1}", "{\"a:b\":\"c\"}", "{\"\":\"c\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        job.tags = options.tags = bad[i];
        CHECK_INT(cairn_enqueue(world.engine, &job, 1, NULL, &world.error), CAIRN_E_BAD_INPUT);
        CHECK_INT(cairn_instance_start(world.engine, &options, NULL, &world.error),
                  CAIRN_E_BAD_INPUT);
    }
    job.tags = "{";
    CHECK_INT(cairn_enqueue(world.engine, &job, 1, NULL, &world.error), CAIRN_E_BAD_JSON);
    const char *many[17];
    for (size_t i = 0; i < 17; i++)
        many[i] = "a:b";
    jobs.tags = many;
    jobs.tag_count = 17;
    CHECK_INT(cairn_job_list(world.engine, &jobs, next_page(&world), &world.error),
              CAIRN_E_BAD_INPUT);
    jobs.tag_count = 16;
    done(&world, cairn_job_list(world.engine, &jobs, next_page(&world), &world.error));
    jobs.tags = &(const char *){"nothing"};
    jobs.tag_count = 1;
    CHECK_INT(cairn_job_list(world.engine, &jobs, next_page(&world), &world.error),
              CAIRN_E_BAD_INPUT);
    close_world(&world);
}
