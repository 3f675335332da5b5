/* tests/spec/test_metadata.c - what goes to handlers beside the input, on every URL: metadata of jobs
 * and instances, and the deadline of a call.
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
#include <stdlib.h>

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

static const cairn_task *take(struct world *world, const char *type)
{
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "w";
    claim.types = &type;
    claim.type_count = 1;
    claim.wait_ms = 30000;
    done(world, cairn_claim(world->engine, &claim, next_page(world), &world->error));
    CHECK_INT(cairn_page_count(world->page), 1);
    return cairn_page_task(world->page, 0);
}

static void check_json(const char *seen, const char *wanted)
{
    json_t *a =
        json_loads(seen ? seen : "null", JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    json_t *b = json_loads(wanted, JSON_DECODE_ANY, NULL);
    CHECK(a && json_equal(a, b), "it is %s, not %s", seen, wanted);
    json_decref(a);
    json_decref(b);
}

static void deploy(struct world *world, const char *text)
{
    done(world, cairn_workflow_deploy(world->engine, "w", text, NULL, &world->error));
}

static cairn_enqueued start(struct world *world, const char *workflow, const char *metadata)
{
    cairn_enqueued started;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    options.workflow = workflow;
    options.metadata = metadata;
    done(world, cairn_instance_start(world->engine, &options, &started, &world->error));
    return started;
}

/* ---- jobs ----------------------------------------------------------------------------------- */

TEST(metadata_of_a_job_goes_to_its_handler_and_is_shown)
{
    struct world world;
    cairn_enqueued jobs[2];
    cairn_job_spec specs[2] = {CAIRN_JOB_DEFAULTS, CAIRN_JOB_DEFAULTS};
    open_world(&world);
    specs[0].type = "with";
    specs[0].metadata = " {\"traceparent\": \"00-1\", \"n\": 0.1}";
    specs[1].type = "without";
    done(&world, cairn_enqueue(world.engine, specs, 2, jobs, &world.error));
    const cairn_task *task = take(&world, "with");
    check_json(task->metadata, "{\"traceparent\": \"00-1\", \"n\": 0.1}");
    CHECK_INT(task->deadline_us, 0);
    CHECK(!take(&world, "without")->metadata, "there is none");
    done(&world, cairn_job_get(world.engine, jobs[0].id, next_page(&world), &world.error));
    check_json(cairn_page_job(world.page, 0)->metadata,
               "{\"traceparent\": \"00-1\", \"n\": 0.1}");
    done(&world, cairn_job_get(world.engine, jobs[1].id, next_page(&world), &world.error));
    CHECK(!cairn_page_job(world.page, 0)->metadata, "there is none");
    close_world(&world);
}

TEST(metadata_is_an_object_of_at_most_8_kib)
{
    struct world world;
    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    char large[8194] = "{\"k\":\"";
    open_world(&world);
    deploy(&world, "{workflow: w, version: 1, steps: [{step: a}]}");
    memset(large + 6, 'x', 8192 - 8);
    memcpy(large + 8190, "\"}", 3);
    CHECK_INT(strlen(large), 8192);
    job.type = "t";
    options.workflow = "w";
    job.metadata = options.metadata = large;
    done(&world, cairn_enqueue(world.engine, &job, 1, NULL, &world.error));
    done(&world, cairn_instance_start(world.engine, &options, NULL, &world.error));
    memcpy(large + 8190, "x\"}", 4);
    CHECK_INT(cairn_enqueue(world.engine, &job, 1, NULL, &world.error), CAIRN_E_TOO_LARGE);
    CHECK_INT(cairn_instance_start(world.engine, &options, NULL, &world.error),
              CAIRN_E_TOO_LARGE);
    static const char *const bad[] = {"[1]", "1", "\"text\"", "true"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        job.metadata = options.metadata = bad[i];
        CHECK_INT(cairn_enqueue(world.engine, &job, 1, NULL, &world.error), CAIRN_E_BAD_INPUT);
        CHECK_INT(cairn_instance_start(world.engine, &options, NULL, &world.error),
                  CAIRN_E_BAD_INPUT);
    }
    job.metadata = "{";
    CHECK_INT(cairn_enqueue(world.engine, &job, 1, NULL, &world.error), CAIRN_E_BAD_JSON);
    close_world(&world);
}

/* ---- instances ------------------------------------------------------------------------------ */

TEST(tasks_carry_the_metadata_of_the_instance_with_their_own_over_it)
{
    struct world world;
    open_world(&world);
    deploy(&world, "{workflow: w, version: 1, steps: [{step: a, metadata: {team: x, n: 1}, "
                   "compensation: {handler: undo.a, metadata: {n: 2}}}, "
                   "{step: b, compensation: {handler: undo.b}}, {step: c, max_attempts: 1}]}");
    cairn_enqueued started = start(&world, "w", "{\"tenant\": 7, \"n\": 0, \"\\u0074eam\": 0}");
    const cairn_task *task = take(&world, "a");
    check_json(task->metadata, "{\"tenant\": 7, \"team\": \"x\", \"n\": 1}");
    done(&world, cairn_task_complete(world.engine, "w", task, NULL, &world.error));
    task = take(&world, "b");
    check_json(task->metadata, "{\"tenant\": 7, \"n\": 0, \"team\": 0}");
    done(&world, cairn_task_complete(world.engine, "w", task, NULL, &world.error));
    done(&world, cairn_task_fail(world.engine, "w", take(&world, "c"), "no", &world.error));
    task = take(&world, "undo.b");
    check_json(task->metadata, "{\"tenant\": 7, \"n\": 0, \"team\": 0}");
    done(&world, cairn_task_complete(world.engine, "w", task, NULL, &world.error));
    check_json(take(&world, "undo.a")->metadata, "{\"tenant\": 7, \"n\": 2, \"team\": 0}");

    done(&world, cairn_instance_get(world.engine, started.id, next_page(&world), &world.error));
    check_json(cairn_page_instance(world.page, 0)->metadata,
               "{\"tenant\": 7, \"n\": 0, \"team\": 0}");
    done(&world, cairn_instance_steps(world.engine, started.id, NULL, 100, next_page(&world),
                                      &world.error));
    check_json(cairn_page_step(world.page, 0)->metadata, "{\"team\": \"x\", \"n\": 1}");
    CHECK(!cairn_page_step(world.page, 1)->metadata, "the step has none of its own");
    close_world(&world);
}

TEST(an_instance_without_metadata_leaves_the_step_its_own)
{
    struct world world;
    open_world(&world);
    deploy(&world, "{workflow: w, version: 1, steps: [{step: a, metadata: {team: x}}]}");
    start(&world, "w", NULL);
    check_json(take(&world, "a")->metadata, "{\"team\": \"x\"}");
    close_world(&world);
}

/* ---- functions ------------------------------------------------------------------------------ */

TEST(a_function_its_steps_and_their_undo_carry_the_metadata)
{
    struct world world;
    cairn_passage *passage = NULL;
    cairn_work *work = NULL;
    int64_t before_us, after_us;
    open_world(&world);
    deploy(&world, "{\"function\": \"f\", \"version\": 1}");
    start(&world, "f", "{\"tenant\": 7}");
    const cairn_task *task = take(&world, "f");
    check_json(task->metadata, "{\"tenant\": 7}");
    done(&world, cairn_passage_open(world.engine, "w", task, CAIRN_COMMIT_STEP, 30000, &passage,
                                    &world.error));
    cairn_step_options step = CAIRN_STEP_DEFAULTS;
    step.key = "charge";
    step.compensation = "refund";
    step.timeout_ms = 60000;
    done(&world, cairn_clock_now(world.engine, &before_us, &world.error));
    done(&world, cairn_passage_begin_step(passage, &step, &work, NULL, &world.error));
    done(&world, cairn_clock_now(world.engine, &after_us, &world.error));
    check_json(cairn_work_task(work)->metadata, "{\"tenant\": 7}");
    int64_t deadline_us = cairn_work_task(work)->deadline_us;
    CHECK(deadline_us >= before_us + 60000000 && deadline_us <= after_us + 60000000,
          "the deadline is %lld", (long long)(deadline_us - before_us));
    done(&world, cairn_passage_end_step(passage, work, CAIRN_COMPLETE, NULL, &world.error));

    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    job.type = "mail";
    job.metadata = "[]";
    CHECK_INT(cairn_passage_start_job(passage, NULL, &job, NULL, &world.error),
              CAIRN_E_BAD_INPUT);
    job.metadata = "{\"of\": \"f\"}";
    done(&world, cairn_passage_start_job(passage, NULL, &job, NULL, &world.error));
    cairn_start_options other = CAIRN_START_DEFAULTS;
    other.workflow = "f";
    other.metadata = "{\"of\": \"g\"}";
    done(&world, cairn_passage_start_workflow(passage, NULL, &other, NULL, &world.error));
    done(&world, cairn_passage_end(passage, CAIRN_E_STEP_FAILED, (char[24]){0}, &world.error));
    cairn_passage_free(passage);
    check_json(take(&world, "refund")->metadata, "{\"tenant\": 7}");
    check_json(take(&world, "mail")->metadata, "{\"of\": \"f\"}");
    check_json(take(&world, "f")->metadata, "{\"of\": \"g\"}");
    close_world(&world);
}

TEST(a_compensation_of_a_function_may_have_metadata_of_its_own)
{
    struct world world;
    cairn_passage *passage = NULL;
    cairn_work *work = NULL;
    open_world(&world);
    deploy(&world, "{\"function\": \"f\", \"version\": 1}");
    start(&world, "f", "{\"tenant\": 7, \"team\": \"x\"}");
    done(&world, cairn_passage_open(world.engine, "w", take(&world, "f"), CAIRN_COMMIT_STEP,
                                    30000, &passage, &world.error));
    cairn_step_options step = CAIRN_STEP_DEFAULTS;
    step.key = "charge";
    step.compensation = "refund";
    step.compensation_metadata = "{\"team\": \"refunds\", \"n\": 0.5}";
    step.compensation_backoff = "quadratic"; /* all of it goes the same way, also over HTTP */
    step.compensation_base_ms = 3600000;
    step.compensation_jitter = 0.25;
    step.compensation_max_ms = 0;
    done(&world, cairn_passage_begin_step(passage, &step, &work, NULL, &world.error));
    done(&world, cairn_passage_end_step(passage, work, CAIRN_COMPLETE, NULL, &world.error));
    done(&world, cairn_passage_end(passage, CAIRN_E_STEP_FAILED, (char[24]){0}, &world.error));
    cairn_passage_free(passage);
    const cairn_task *task = take(&world, "refund");
    check_json(task->metadata, "{\"tenant\": 7, \"team\": \"refunds\", \"n\": 0.5}");
    CHECK_INT(task->max_attempts, 3);
    close_world(&world);
}

/* ---- deadlines ------------------------------------------------------------------------------ */

TEST(a_task_tells_when_its_call_times_out)
{
    struct world world;
    int64_t before_us, after_us;
    open_world(&world);
    deploy(&world, "{workflow: w, version: 1, steps: [{step: a, timeout: 10m, "
                   "compensation: {handler: undo.a, timeout: 20m}}, "
                   "{step: b, max_attempts: 1}]}");
    start(&world, "w", NULL);
    done(&world, cairn_clock_now(world.engine, &before_us, &world.error));
    const cairn_task *task = take(&world, "a");
    done(&world, cairn_clock_now(world.engine, &after_us, &world.error));
    CHECK(task->deadline_us >= before_us + 600000000 &&
              task->deadline_us <= after_us + 600000000,
          "the deadline is %lld", (long long)(task->deadline_us - before_us));
    done(&world, cairn_task_complete(world.engine, "w", task, NULL, &world.error));
    task = take(&world, "b");
    CHECK_INT(task->deadline_us, 0);
    done(&world, cairn_task_fail(world.engine, "w", task, "no", &world.error));
    CHECK(take(&world, "undo.a")->deadline_us >= before_us + 1200000000,
          "the compensation has its own");
    close_world(&world);
}
