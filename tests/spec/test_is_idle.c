/* tests/spec/test_is_idle.c - cairn_idle(): whether anything is left to do for a worker, on every URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "everywhere.h"

static bool is_idle_for(struct world *world, const char *type)
{
    int is_idle = -1;
    CHECK_DONE(world, cairn_idle(world->engine, &type, 1, &is_idle, &world->error));
    CHECK(is_idle == 0 || is_idle == 1, "%d", is_idle);
    return is_idle == 1;
}

#define CHECK_IDLE(world, type) CHECK(is_idle_for(world, type), "%s is not idle", type)
#define CHECK_BUSY(world, type) CHECK(!is_idle_for(world, type), "%s is idle", type)

static cairn_page *claim_one(struct world *world, const char *type)
{
    cairn_page *tasks;
    cairn_claim_options claim = claim_by("w", 1, 0);
    claim.types = &type;
    CHECK_DONE(world, cairn_claim(world->engine, &claim, &tasks, &world->error));
    CHECK_INT(cairn_page_count(tasks), 1);
    return tasks;
}

static void complete(struct world *world, cairn_page *tasks)
{
    CHECK_DONE(world, cairn_task_complete(world->engine, "w", cairn_page_task(tasks, 0), "{}",
                                          &world->error));
    cairn_page_free(tasks);
}

TEST(a_job_is_work_until_it_has_ended)
{
    struct world world;
    cairn_enqueued job;
    open_world(&world);
    CHECK_IDLE(&world, "%");
    add_jobs(&world, &job, 1);
    CHECK_BUSY(&world, "t.v1");
    CHECK_BUSY(&world, "t.%");
    CHECK_IDLE(&world, "other");
    CHECK_IDLE(&world, "t.v");
    cairn_page *tasks = claim_one(&world, "t.v1");
    CHECK_BUSY(&world, "t.%");
    CHECK_IDLE(&world, "other");
    complete(&world, tasks);
    CHECK_IDLE(&world, "t.%");
    close_world(&world);
}

TEST(what_is_planned_for_later_is_no_work_yet)
{
    struct world world;
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    int64_t now_us;
    open_virtual_world(&world);
    CHECK_DONE(&world, cairn_clock_now(world.engine, &now_us, &world.error));
    spec.type = "t.v1";
    spec.run_at_us = now_us + 60 * 1000 * 1000;
    CHECK_DONE(&world, cairn_enqueue(world.engine, &spec, 1, NULL, &world.error));
    CHECK_IDLE(&world, "t.v1");
    CHECK_DONE(&world, cairn_clock_advance(world.engine, 60 * 1000, NULL, &world.error));
    CHECK_BUSY(&world, "t.v1");
    close_world(&world);
}

TEST(a_step_that_is_leased_may_bring_work_for_anybody)
{
    struct world world;
    open_world(&world);
    start_instance(&world);
    CHECK_BUSY(&world, "t.v1");
    CHECK_IDLE(&world, "other");
    cairn_page *tasks = claim_one(&world, "t.v1");
    CHECK_BUSY(&world, "other");
    complete(&world, tasks);
    CHECK_IDLE(&world, "t.v1");
    close_world(&world);
}

TEST(what_the_registry_keeps_from_claims_is_no_work)
{
    struct world world;
    cairn_enqueued job;
    cairn_registry_spec entry = CAIRN_REGISTRY_DEFAULTS;
    open_world(&world);
    add_jobs(&world, &job, 1);
    start_instance(&world);
    entry.workflow_name = "t.v1";
    entry.runtime = "go";
    entry.is_enabled = false;
    CHECK_DONE(&world, cairn_registry_put(world.engine, &entry, &world.error));
    CHECK_IDLE(&world, "t.%");
    entry.is_enabled = true;
    CHECK_DONE(&world, cairn_registry_put(world.engine, &entry, &world.error));
    CHECK_BUSY(&world, "t.%");
    close_world(&world);
}

/* ---- with functions and a runtime, as JSON --------------------------------------------------- */

static void check_answer(struct world *world, const char *body, const char *answer)
{
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    cairn_response *response;
    request.method = "POST";
    request.target = "/v1/tasks/idle";
    request.body = body;
    request.body_len = strlen(body);
    CHECK_DONE(world, cairn_call(world->engine, &request, &response, &world->error));
    const char *seen = cairn_response_body(response, NULL);
    CHECK(strstr(seen, answer), "%s: %s", body, seen);
    cairn_response_free(response);
}

TEST(a_function_is_work_for_those_who_have_its_version)
{
    struct world world;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    open_world(&world);
    CHECK_DONE(&world, cairn_workflow_deploy(world.engine, "f", "{function: f, version: 3}",
                                             NULL, &world.error));
    start.workflow = "f";
    CHECK_DONE(&world, cairn_instance_start(world.engine, &start, &started, &world.error));
    CHECK_BUSY(&world, "f");
    check_answer(&world, "{\"functions\":[{\"name\":\"f\",\"version\":2}]}", "\"idle\":true");
    check_answer(&world, "{\"functions\":[{\"name\":\"f\",\"version\":3}]}", "\"idle\":false");
    check_answer(&world, "{\"functions\":[{\"name\":\"f\",\"version\":4,\"from_version\":3}]}",
                 "\"idle\":false");
    close_world(&world);
}

TEST(another_runtimes_types_are_no_work_for_a_runtime)
{
    struct world world;
    cairn_enqueued job;
    cairn_registry_spec entry = CAIRN_REGISTRY_DEFAULTS;
    open_world(&world);
    add_jobs(&world, &job, 1);
    entry.workflow_name = "t.v1";
    entry.runtime = "go";
    CHECK_DONE(&world, cairn_registry_put(world.engine, &entry, &world.error));
    check_answer(&world, "{\"types\":[\"t.%\"],\"runtime\":\"c\"}", "\"idle\":true");
    check_answer(&world, "{\"types\":[\"t.%\"],\"runtime\":\"go\"}", "\"idle\":false");
    check_answer(&world, "{}", "\"code\":\"bad_input\"");
    check_answer(&world, "{\"types\":[\"a%b\"]}", "\"code\":\"bad_input\"");
    close_world(&world);
}
