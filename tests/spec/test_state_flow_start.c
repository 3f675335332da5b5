/* tests/spec/test_state_flow_start.c - jobs and workflows that a durable function starts, and the
 * events that its steps send out: once, and only with the commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#include "function_world.h"

struct ids {
    char job[40], child[40];
};

static const char *key_of_job, *key_of_child;

static cairn_code starting(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    struct ids *ids = (struct ids *)world->mine + world->passages - 1;
    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    cairn_start_options child = CAIRN_START_DEFAULTS;
    job.type = "mail";
    job.payload = "{\"to\": \"ann\"}";
    job.priority = 7;
    job.key = key_of_job;
    child.workflow = "g";
    child.input = "{\"of\": \"f\"}";
    child.key = key_of_child;
    PASS_ON(cairn_passage_start_job(passage, NULL, &job, ids->job, &world->flow.world.error));
    PASS_ON(cairn_passage_start_workflow(passage, NULL, &child, ids->child,
                                         &world->flow.world.error));
    PASS_ON(fn_step(world, "a"));
    return cairn_passage_sleep(passage, NULL, 1000, NULL);
}

static size_t count_instances(struct function_world *world, const char *workflow)
{
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    cairn_page *instances = NULL;
    struct world *w = &world->flow.world;
    filter.workflow = workflow;
    CHECK_DONE(w, cairn_instance_list(w->engine, &filter, &instances, &w->error));
    size_t count = cairn_page_count(instances);
    cairn_page_free(instances);
    return count;
}

static void begin_starting(struct function_world *world, cairn_commit_mode mode,
                           struct ids *ids)
{
    memset(ids, 0, 8 * sizeof *ids);
    key_of_job = key_of_child = NULL;
    fn_begin(world, starting, mode);
    world->mine = ids;
    CHECK_DONE(&world->flow.world, wf_deploy(&world->flow, "{workflow: g, version: 1, steps: "
                                                           "[{step: x}]}"));
}

TEST(start_job_and_start_workflow_start_exactly_once_over_all_passages)
{
    struct function_world world;
    struct ids ids[8];
    MODES(mode)
    {
        begin_starting(&world, mode, ids);
        fn_passage(&world, "waiting");
        wf_advance(&world.flow, SECOND_MS);
        fn_passage(&world, "completed");
        CHECK_INT(world_count_jobs(&world.flow.world), 1);
        CHECK_INT(count_instances(&world, "g"), 1);
        CHECK_STR(ids[1].job, ids[0].job); /* the same answer in every passage */
        CHECK_STR(ids[1].child, ids[0].child);
        const cairn_job *job = world_job(&world.flow.world, ids[0].job);
        CHECK_STR(job->type, "mail");
        CHECK_STR(job->status, "pending");
        CHECK_INT(job->priority, 7);
        sg_check_json(job->payload, "{\"to\": \"ann\"}");
        world_check_events(&world.flow.world, ids[0].job, "created");
        fn_check_steps(&world, "f:completed mail:completed g:completed a:completed "
                               "sleep:completed");
        CHECK_STR(fn_row(&world, "mail")->kind, "start");
        snprintf(world.flow.id, sizeof world.flow.id, "%s", ids[0].child);
        fn_check_status(&world, "running");
        sg_check_json(wf_instance(&world.flow)->input, "{\"of\": \"f\"}");
        wf_check_steps(&world.flow, "x:ready");
        wf_check_events(&world.flow, "workflow_started step_ready:x");
        fn_end(&world);
    }
}

static void nothing_is_started(struct function_world *world)
{
    CHECK_INT(world_count_jobs(&world->flow.world), 0);
    CHECK_INT(count_instances(world, "g"), 0);
}

TEST(in_passage_mode_nothing_is_started_before_the_commit)
{
    struct function_world world;
    struct ids ids[8];
    begin_starting(&world, CAIRN_COMMIT_PASSAGE, ids);
    fn_during(&world, "a", nothing_is_started);
    fn_passage_crashed(&world);
    nothing_is_started(&world); /* a passage that is lost has started nothing */
    fn_passage(&world, "waiting");
    CHECK_INT(world_count_jobs(&world.flow.world), 1);
    CHECK_INT(count_instances(&world, "g"), 1);
    fn_end(&world);
}

TEST(a_commit_that_is_refused_starts_nothing)
{
    struct function_world world;
    struct ids ids[8];
    begin_starting(&world, CAIRN_COMMIT_PASSAGE, ids);
    fn_during(&world, "a", fn_lose_lease);
    fn_passage_refused(&world, CAIRN_E_LEASE_LOST);
    nothing_is_started(&world);
    fn_end(&world);
}

TEST(a_known_key_gives_the_existing_id_and_starts_nothing_new)
{
    struct function_world world;
    struct ids ids[8];
    MODES(mode)
    {
        begin_starting(&world, mode, ids);
        key_of_job = "mail-1";
        key_of_child = "child-1";
        char own[40];
        snprintf(own, sizeof own, "%s", world.flow.id);
        cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
        spec.type = "mail";
        spec.key = "mail-1";
        cairn_enqueued job = world_add_spec(&world.flow.world, &spec);
        cairn_start_options options = CAIRN_START_DEFAULTS;
        cairn_enqueued child;
        options.workflow = "g";
        options.key = "child-1";
        CHECK_DONE(&world.flow.world, wf_start(&world.flow, &options, &child));
        snprintf(world.flow.id, sizeof world.flow.id, "%s", own);

        fn_passage(&world, "waiting");
        wf_advance(&world.flow, SECOND_MS);
        fn_passage(&world, "completed");
        CHECK_INT(world_count_jobs(&world.flow.world), 1);
        CHECK_INT(count_instances(&world, "g"), 1);
        CHECK_STR(ids[1].job, job.id);
        CHECK_STR(ids[1].child, child.id);
        fn_end(&world);
    }
}

static cairn_code start_unknown(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_start_options child = CAIRN_START_DEFAULTS;
    char id[40];
    child.workflow = "nobody";
    PASS_ON(fn_step(world, "a"));
    PASS_ON(cairn_passage_start_workflow(passage, NULL, &child, id, NULL));
    return fn_step(world, "b");
}

TEST(a_workflow_that_does_not_exist_fails_the_function_and_says_so)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, start_unknown, mode);
        struct runner runner;
        CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
        fn_play(&world, &runner);
        CHECK_DONE(&world.flow.world, fn_finish(&world, &runner, NULL));
        fn_check_status(&world, "failed");
        CHECK(strstr(wf_instance(&world.flow)->last_error, "nobody"), "the error is %s",
              wf_instance(&world.flow)->last_error);
        CHECK_STR(fn_row(&world, "a")->status, "completed"); /* what went well is kept */
        fn_check_idle(&world);
        fn_end(&world);
    }
}

/* ---- the outbox ----------------------------------------------------------------------------- */

static cairn_outcome emit(cairn_work *work, void *arg)
{
    struct function_world *world = arg;
    char payload[40];
    struct fn_step *step = fn_of(world, cairn_work_task(work)->step);
    snprintf(payload, sizeof payload, "{\"call\": %d}", ++step->calls);
    cairn_work_emit(work, "order.paid", payload);
    fn_act act = step->during;
    step->during = NULL;
    if (act)
        act(world);
    return CAIRN_COMPLETE;
}

static cairn_code emitting(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.run = emit;
    options.key = "a";
    PASS_ON(fn_step_as(world, &options, NULL));
    options.key = "b";
    PASS_ON(fn_step_as(world, &options, NULL));
    return cairn_passage_sleep(passage, NULL, 1000, NULL);
}

/* Takes and acknowledges all: "a:order.paid b:order.paid". */
static void check_outbox(struct function_world *world, const char *wanted)
{
    struct world *w = &world->flow.world;
    char seen[300] = "";
    for (int i = 0; i < 10; i++) {
        cairn_page *outbox = NULL;
        CHECK_DONE(w, cairn_outbox_claim(w->engine, "o", 10, 60000, &outbox, &w->error));
        for (size_t k = 0; k < cairn_page_count(outbox); k++) {
            const cairn_outbox_event *event = cairn_page_outbox_event(outbox, k);
            size_t len = strlen(seen);
            CHECK_STR(event->instance_id, world->flow.id);
            snprintf(seen + len, sizeof seen - len, "%s%s:%s", len ? " " : "", event->step,
                     event->event);
            CHECK_DONE(w, cairn_outbox_ack(w->engine, event->id, &w->error));
        }
        cairn_page_free(outbox);
    }
    CHECK(strcmp(seen, wanted) == 0, "the outbox has \"%s\", not \"%s\"", seen, wanted);
}

TEST(what_steps_emit_is_sent_once_with_the_commit)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, emitting, mode);
        fn_passage(&world, "waiting");
        check_outbox(&world, "a:order.paid b:order.paid");
        wf_advance(&world.flow, SECOND_MS);
        fn_passage(&world, "completed");
        check_outbox(&world, "");
        fn_end(&world);
    }
}

TEST(what_a_lost_passage_emitted_is_not_sent)
{
    struct function_world world;
    fn_begin(&world, emitting, CAIRN_COMMIT_PASSAGE);
    fn_during(&world, "b", fn_lose_lease);
    fn_passage_refused(&world, CAIRN_E_LEASE_LOST);
    check_outbox(&world, "");
    fn_passage(&world, "waiting");
    check_outbox(&world, "a:order.paid b:order.paid");
    fn_end(&world);
}
