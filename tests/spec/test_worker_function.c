/* tests/spec/test_worker_function.c - durable functions in a worker, on the real engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Functions run in other threads, so they only note what they see; the test looks afterwards.
 * Time is virtual: what sleeps or is tried again goes on when the test says so.
 */
#include "cairn.h"
#include "scratch.h"
#include "test.h"

#include <stdatomic.h>

struct world {
    cairn_engine *engine;
    cairn_worker *worker;
    char id[64];
};

static cairn_worker *make_worker(struct world *world)
{
    cairn_error error;
    cairn_worker *worker;
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    options.concurrency = 2;
    options.until_idle = true;
    CHECK_OK(cairn_worker_new(world->engine, &options, &worker, &error));
    return worker;
}

static struct world open_world(void)
{
    struct world world = {0};
    cairn_error error;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = scratch_store();
    open.virtual_clock = true;
    CHECK_OK(cairn_open(&open, &world.engine, &error));
    world.worker = make_worker(&world);
    return world;
}

static void close_world(struct world *world)
{
    cairn_worker_free(world->worker);
    cairn_close(world->engine);
}

static void add_function_from(struct world *world, int32_t version, int32_t from_version,
                              cairn_commit_mode mode, cairn_function run, void *arg)
{
    cairn_error error;
    cairn_function_options options = CAIRN_FUNCTION_DEFAULTS;
    options.name = "f";
    options.version = version;
    options.run = run;
    options.arg = arg;
    options.commit = mode;
    options.from_version = from_version;
    CHECK_OK(cairn_worker_function(world->worker, &options, &error));
}

static void add_function(struct world *world, int32_t version, cairn_commit_mode mode,
                         cairn_function run, void *arg)
{
    add_function_from(world, version, 0, mode, run, arg);
}

static void start(struct world *world)
{
    cairn_error error;
    cairn_enqueued started;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    options.workflow = "f";
    options.input = "{\"n\": 1}";
    CHECK_OK(cairn_instance_start(world->engine, &options, &started, &error));
    snprintf(world->id, sizeof world->id, "%s", started.id);
}

static void run(struct world *world)
{
    cairn_error error;
    CHECK_OK(cairn_worker_run(world->worker, &error));
}

static void advance(struct world *world, int64_t ms)
{
    cairn_error error;
    CHECK_OK(cairn_clock_advance(world->engine, ms, NULL, &error));
}

static void check_status(struct world *world, const char *status)
{
    cairn_error error;
    cairn_page *found;
    CHECK_OK(cairn_instance_get(world->engine, world->id, &found, &error));
    const cairn_instance *instance = cairn_page_instance(found, 0);
    CHECK(strcmp(instance->status, status) == 0, "the status is %s, not %s; %s",
          instance->status, status, instance->last_error ? instance->last_error : "");
    cairn_page_free(found);
}

static void check_last_error(struct world *world, const char *part)
{
    cairn_error error;
    cairn_page *found;
    CHECK_OK(cairn_instance_get(world->engine, world->id, &found, &error));
    const char *last = cairn_page_instance(found, 0)->last_error;
    CHECK(last && strstr(last, part), "%s has no %s", last, part);
    cairn_page_free(found);
}

/* ---- a function of many parts ---------------------------------------------------------------
 */

/* Who was called, in order: "reserve charge charge". */
struct story {
    struct world *world;
    char calls[256];
    int failures;                               /* of charge, before it works */
    cairn_code (*between)(struct story *story); /* called by reserve's code */
    char compensation_input[256];
};

static void note(struct story *story, const char *name)
{
    size_t len = strlen(story->calls);
    snprintf(story->calls + len, sizeof story->calls - len, "%s%s", len ? " " : "", name);
}

static cairn_outcome reserve(cairn_work *work, void *arg)
{
    struct story *story = arg;
    note(story, cairn_work_task(work)->step);
    if (story->between && story->between(story))
        return CAIRN_DEAD;
    cairn_work_set_output(work, "{\"place\": 4}");
    return CAIRN_COMPLETE;
}

static cairn_outcome charge(cairn_work *work, void *arg)
{
    struct story *story = arg;
    note(story, cairn_work_task(work)->step);
    if (cairn_work_task(work)->attempt > story->failures)
        return CAIRN_COMPLETE;
    cairn_work_set_error(work, "the bank is closed");
    return CAIRN_FAIL;
}

static cairn_outcome undo(cairn_work *work, void *arg)
{
    struct story *story = arg;
    note(story, cairn_work_task(work)->type);
    snprintf(story->compensation_input, sizeof story->compensation_input, "%s",
             cairn_work_task(work)->input);
    return CAIRN_COMPLETE;
}

/* reserve, charge (tried again), a nap, and the customer's word. */
static cairn_code order(cairn_passage *passage, void *arg)
{
    cairn_step_options first = CAIRN_STEP_DEFAULTS, second = CAIRN_STEP_DEFAULTS;
    const char *word;
    first.key = "reserve";
    first.run = reserve;
    first.arg = arg;
    first.input = "{\"seat\": 1}";
    first.compensation = "undo.reserve";
    second.key = "charge";
    second.run = charge;
    second.arg = arg;
    cairn_code code = cairn_passage_step(passage, &first, NULL, NULL);
    if (!code)
        code = cairn_passage_log(passage, "info", "reserved", NULL, NULL);
    if (!code)
        code = cairn_passage_step(passage, &second, NULL, NULL);
    if (!code)
        code = cairn_passage_sleep(passage, "nap", 3600000, NULL);
    if (!code)
        code = cairn_passage_wait_event(passage, NULL, "word", -1, &word, NULL);
    return code ? code : cairn_passage_set_output(passage, word, NULL);
}

static void check_logged_once(struct world *world)
{
    cairn_error error;
    cairn_page *logs;
    CHECK_OK(cairn_instance_logs(world->engine, world->id, NULL, 10, &logs, &error));
    CHECK_INT(cairn_page_count(logs), 1);
    CHECK_STR(cairn_page_log(logs, 0)->message, "reserved");
    cairn_page_free(logs);
}

static void tell_order(cairn_commit_mode mode)
{
    struct world world = open_world();
    struct story story = {.failures = 2};
    cairn_error error;
    cairn_signal_options signal = CAIRN_SIGNAL_DEFAULTS;
    add_function(&world, 1, mode, order, &story);
    start(&world);
    run(&world);
    CHECK_STR(story.calls, "reserve charge");
    check_status(&world, "running");
    advance(&world, 999);
    run(&world);
    CHECK_STR(story.calls, "reserve charge");
    advance(&world, 1);
    run(&world);
    advance(&world, 2000);
    run(&world);
    CHECK_STR(story.calls, "reserve charge charge charge");
    advance(&world, 3600000 - 1);
    run(&world);
    check_status(&world, "running");
    advance(&world, 1);
    run(&world);
    check_status(&world, "waiting_signal");
    signal.instance_id = world.id;
    signal.event = "word";
    signal.payload = "[7]";
    CHECK_OK(cairn_instance_signal(world.engine, &signal, NULL, &error));
    run(&world);
    check_status(&world, "completed");
    CHECK_STR(story.calls, "reserve charge charge charge");
    check_logged_once(&world);

    cairn_page *found;
    CHECK_OK(cairn_instance_get(world.engine, world.id, &found, &error));
    CHECK_STR(cairn_page_instance(found, 0)->output, "[7]");
    cairn_page_free(found);
    close_world(&world);
}

TEST(a_function_goes_on_where_it_was_in_step_mode)
{
    tell_order(CAIRN_COMMIT_STEP);
}

TEST(a_function_goes_on_where_it_was_in_passage_mode)
{
    tell_order(CAIRN_COMMIT_PASSAGE);
}

TEST(a_function_whose_step_fails_for_good_has_failed_and_is_undone)
{
    struct world world = open_world();
    struct story story = {.failures = 9};
    cairn_error error;
    add_function(&world, 1, CAIRN_COMMIT_STEP, order, &story);
    CHECK_OK(cairn_worker_handle(world.worker, "undo.%", undo, &story, &error));
    start(&world);
    for (int i = 0; i < 3; i++) {
        run(&world);
        advance(&world, 2000);
    }
    check_status(&world, "failed");
    CHECK_STR(story.calls, "reserve charge charge charge undo.reserve");
    CHECK(strstr(story.compensation_input, "\"seat\""), "%s", story.compensation_input);
    CHECK(strstr(story.compensation_input, "\"place\""), "%s", story.compensation_input);
    check_last_error(&world, "the bank is closed");
    check_last_error(&world, "\"charge\"");
    close_world(&world);
}

/* ---- told to stop in the middle of a step ---------------------------------------------------
 */

static cairn_code pause_it(struct story *story)
{
    return cairn_instance_pause(story->world->engine, story->world->id, NULL);
}

static cairn_code cancel_it(struct story *story)
{
    return cairn_instance_cancel(story->world->engine, story->world->id, "me", "why not", NULL);
}

static cairn_code abort_it(struct story *story)
{
    return cairn_instance_abort(story->world->engine, story->world->id, "me", "why not", NULL);
}

static cairn_code restart_it(struct story *story)
{
    story->between = NULL;
    return cairn_instance_restart(story->world->engine, story->world->id, NULL);
}

static cairn_code stop_worker(struct story *story)
{
    cairn_worker_stop(story->world->worker);
    return CAIRN_OK;
}

static const cairn_commit_mode modes[] = {CAIRN_COMMIT_STEP, CAIRN_COMMIT_PASSAGE};

TEST(a_pause_takes_effect_before_the_next_step)
{
    for (int i = 0; i < 2; i++) {
        struct world world = open_world();
        struct story story = {.world = &world, .between = pause_it};
        cairn_error error;
        add_function(&world, 1, modes[i], order, &story);
        start(&world);
        run(&world);
        check_status(&world, "paused");
        CHECK_STR(story.calls, "reserve");
        CHECK_OK(cairn_instance_resume(world.engine, world.id, 0, &error));
        run(&world);
        CHECK_STR(story.calls, "reserve charge");
        check_status(&world, "running");
        check_logged_once(&world);
        close_world(&world);
    }
}

TEST(a_cancelled_function_keeps_what_is_finished_and_undoes_it)
{
    for (int i = 0; i < 2; i++) {
        struct world world = open_world();
        struct story story = {.world = &world, .between = cancel_it};
        cairn_error error;
        add_function(&world, 1, modes[i], order, &story);
        CHECK_OK(cairn_worker_handle(world.worker, "undo.%", undo, &story, &error));
        start(&world);
        run(&world);
        check_status(&world, "cancelled");
        CHECK_STR(story.calls, "reserve undo.reserve");
        CHECK(strstr(story.compensation_input, "\"place\""), "%s", story.compensation_input);
        close_world(&world);
    }
}

TEST(an_aborted_function_does_nothing_more)
{
    for (int i = 0; i < 2; i++) {
        struct world world = open_world();
        struct story story = {.world = &world, .between = abort_it};
        cairn_error error;
        cairn_page *steps;
        add_function(&world, 1, modes[i], order, &story);
        start(&world);
        run(&world);
        check_status(&world, "aborted");
        CHECK_STR(story.calls, "reserve");
        CHECK_OK(cairn_instance_steps(world.engine, world.id, NULL, 10, &steps, &error));
        CHECK_INT(cairn_page_count(steps), 1);
        cairn_page_free(steps);
        close_world(&world);
    }
}

TEST(a_restarted_function_begins_anew_and_the_old_passage_is_refused)
{
    for (int i = 0; i < 2; i++) {
        struct world world = open_world();
        struct story story = {.world = &world, .between = restart_it};
        add_function(&world, 1, modes[i], order, &story);
        start(&world);
        run(&world);
        CHECK_STR(story.calls, "reserve reserve charge");
        check_status(&world, "running");
        close_world(&world);
    }
}

/* A claim that waited may have been given the next passage while its worker was ending; it is given
 * back by a commit of its own.  Each turn here is a commit behind that one. */
static cairn_page *steps_once_given_back(struct world *world)
{
    cairn_error error;
    cairn_page *steps = NULL;
    for (int turns = 0; turns < 1000; turns++) {
        cairn_page_free(steps);
        CHECK_OK(cairn_instance_steps(world->engine, world->id, NULL, 10, &steps, &error));
        if (strcmp(cairn_page_step(steps, 0)->status, "running") != 0)
            return steps;
        CHECK_OK(cairn_clock_advance(world->engine, 0, NULL, &error));
    }
    return steps;
}

TEST(a_worker_that_is_stopped_suspends_its_passages_at_no_cost)
{
    for (int i = 0; i < 2; i++) {
        struct world world = open_world();
        struct story story = {.world = &world, .between = stop_worker};
        add_function(&world, 1, modes[i], order, &story);
        start(&world);
        run(&world);
        CHECK_STR(story.calls, "reserve");
        cairn_page *steps = steps_once_given_back(&world);
        CHECK_INT(cairn_page_count(steps), 2);
        CHECK_STR(cairn_page_step(steps, 0)->status, "ready");
        CHECK_INT(cairn_page_step(steps, 0)->attempts, 0);
        CHECK_STR(cairn_page_step(steps, 1)->status, "completed");
        cairn_page_free(steps);
        run(&world);
        CHECK_STR(story.calls, "reserve charge");
        check_logged_once(&world);
        close_world(&world);
    }
}

/* ---- versions -------------------------------------------------------------------------------
 */

static cairn_code note_version(cairn_passage *passage, void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
    return cairn_passage_sleep(passage, NULL, 1000, NULL);
}

TEST(an_instance_is_given_to_its_own_version_or_else_to_the_highest_that_accepts_it)
{
    struct world world = open_world();
    atomic_int one = 0, two = 0, three = 0;
    add_function(&world, 1, CAIRN_COMMIT_STEP, note_version, &one);
    start(&world);
    run(&world);
    CHECK_INT(one, 1);

    cairn_worker_free(world.worker);
    world.worker = make_worker(&world);
    add_function(&world, 3, CAIRN_COMMIT_STEP, note_version, &three);
    add_function(&world, 1, CAIRN_COMMIT_STEP, note_version, &one);
    add_function(&world, 2, CAIRN_COMMIT_STEP, note_version, &two);
    advance(&world, 1000);
    run(&world);
    CHECK_INT(one, 2);
    check_status(&world, "completed");

    add_function(&world, 4, CAIRN_COMMIT_STEP, note_version, &one);
    start(&world); /* the highest that is deployed: 4 */
    cairn_worker_free(world.worker);
    world.worker = make_worker(&world);
    add_function(&world, 3, CAIRN_COMMIT_STEP, note_version, &three);
    add_function_from(&world, 5, 5, CAIRN_COMMIT_STEP, note_version, &two);
    run(&world); /* it has no code for this one: it is left alone */
    CHECK_INT(one, 2);
    CHECK_INT(two, 0);
    CHECK_INT(three, 0);

    add_function_from(&world, 6, 2, CAIRN_COMMIT_STEP, note_version, &three);
    add_function_from(&world, 7, 4, CAIRN_COMMIT_STEP, note_version, &two);
    run(&world);
    CHECK_INT(one, 2);
    CHECK_INT(two, 1);
    CHECK_INT(three, 0);
    close_world(&world);
}

TEST(code_cannot_begin_with_a_version_above_its_own)
{
    struct world world = open_world();
    cairn_error error;
    cairn_function_options options = CAIRN_FUNCTION_DEFAULTS;
    options.name = "f";
    options.version = 2;
    options.run = note_version;
    options.from_version = 3;
    CHECK_INT(cairn_worker_function(world.worker, &options, &error), CAIRN_E_BAD_INPUT);
    CHECK(strstr(error.message, "from_version"), "%s", error.message);
    close_world(&world);
}

static cairn_code other_order(cairn_passage *passage, void *arg)
{
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = "other";
    options.run = reserve;
    options.arg = arg;
    return cairn_passage_step(passage, &options, NULL, NULL);
}

TEST(a_code_that_does_not_match_pauses_and_a_forced_resume_accepts_it)
{
    struct world world = open_world();
    struct story story = {.failures = 1};
    cairn_error error;
    add_function(&world, 1, CAIRN_COMMIT_STEP, order, &story);
    start(&world);
    run(&world);
    cairn_worker_free(world.worker);
    world.worker = make_worker(&world);
    add_function(&world, 1, CAIRN_COMMIT_STEP, other_order, &story);
    advance(&world, 1000);
    run(&world);
    check_status(&world, "paused");
    check_last_error(&world, "version_mismatch: remembered is the step");
    check_last_error(&world, "other");
    CHECK_OK(cairn_instance_resume(world.engine, world.id, 1, &error));
    run(&world);
    check_status(&world, "completed");
    CHECK_STR(story.calls, "reserve charge other");
    close_world(&world);
}

/* ---- starting others ------------------------------------------------------------------------
 */

static cairn_code start_others(cairn_passage *passage, void *arg)
{
    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    cairn_start_options child = CAIRN_START_DEFAULTS;
    job.type = "mail.v1";
    child.workflow = arg;
    cairn_code code = cairn_passage_start_job(passage, NULL, &job, NULL, NULL);
    if (!code)
        code = cairn_passage_start_workflow(passage, NULL, &child, NULL, NULL);
    return code ? code : cairn_passage_sleep(passage, NULL, 1000, NULL);
}

static size_t count_jobs(struct world *world)
{
    cairn_error error;
    cairn_page *jobs;
    CHECK_OK(cairn_job_list(world->engine, NULL, &jobs, &error));
    size_t count = cairn_page_count(jobs);
    cairn_page_free(jobs);
    return count;
}

TEST(what_a_function_starts_is_started_once)
{
    struct world world = open_world();
    cairn_error error;
    cairn_page *found;
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    char child[] = "child";
    filter.workflow = child;
    CHECK_OK(cairn_workflow_deploy(
        world.engine, "c", "{workflow: child, version: 1, steps: [{step: a}]}", NULL, &error));
    add_function(&world, 1, CAIRN_COMMIT_STEP, start_others, child);
    start(&world);
    run(&world);
    advance(&world, 1000);
    run(&world);
    check_status(&world, "completed");
    CHECK_INT(count_jobs(&world), 1);
    CHECK_OK(cairn_instance_list(world.engine, &filter, &found, &error));
    CHECK_INT(cairn_page_count(found), 1);
    cairn_page_free(found);
    close_world(&world);
}

/* Its own key is known from before: the id is that of the first, in this passage and later. */
static cairn_code start_known(cairn_passage *passage, void *arg)
{
    char id[40];
    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    job.type = "mail.v1";
    job.key = "known";
    cairn_code code = cairn_passage_start_job(passage, NULL, &job, id, NULL);
    if (!code)
        note(arg, id);
    return code ? code : cairn_passage_sleep(passage, NULL, 1000, NULL);
}

TEST(a_start_whose_key_is_known_answers_the_first_ones_id_in_every_passage)
{
    for (int i = 0; i < 2; i++) {
        struct world world = open_world();
        struct story story = {0};
        cairn_error error;
        cairn_enqueued first;
        cairn_job_spec job = CAIRN_JOB_DEFAULTS;
        char wanted[128];
        job.type = "mail.v1";
        job.key = "known";
        CHECK_OK(cairn_enqueue(world.engine, &job, 1, &first, &error));
        add_function(&world, 1, modes[i], start_known, &story);
        start(&world);
        run(&world);
        advance(&world, 1000);
        run(&world);
        check_status(&world, "completed");
        snprintf(wanted, sizeof wanted, "%s %s", first.id, first.id);
        CHECK_STR(story.calls, wanted);
        CHECK_INT(count_jobs(&world), 1);
        close_world(&world);
    }
}

TEST(a_function_that_starts_what_does_not_exist_has_failed_and_started_nothing)
{
    struct world world = open_world();
    char child[] = "nobody";
    add_function(&world, 1, CAIRN_COMMIT_STEP, start_others, child);
    start(&world);
    run(&world);
    check_status(&world, "failed");
    check_last_error(&world, "nobody");
    CHECK_INT(count_jobs(&world), 0);
    close_world(&world);
}

/* ---- registering ----------------------------------------------------------------------------
 */

TEST(a_function_is_registered_once_and_deployed_as_it_is)
{
    struct world world = open_world();
    cairn_error error;
    cairn_function_options options = CAIRN_FUNCTION_DEFAULTS;
    options.name = "f";
    CHECK_INT(cairn_worker_function(world.worker, &options, &error), CAIRN_E_BAD_INPUT);
    options.run = order;
    CHECK_OK(cairn_worker_function(world.worker, &options, &error));
    CHECK_INT(cairn_worker_function(world.worker, &options, &error), CAIRN_E_CONFLICT);
    options.name = "";
    CHECK_INT(cairn_worker_function(world.worker, &options, &error), CAIRN_E_BAD_INPUT);
    options.name = "g";
    options.commit = 0;
    CHECK_INT(cairn_worker_function(world.worker, &options, &error), CAIRN_E_BAD_INPUT);

    cairn_worker_free(world.worker);
    world.worker = make_worker(&world);
    options.name = "f";
    options.commit = CAIRN_COMMIT_PASSAGE; /* how it commits is the worker's own business */
    CHECK_OK(cairn_worker_function(world.worker, &options, &error));
    cairn_worker_free(world.worker);
    world.worker = make_worker(&world);
    options.max_attempts = 9;
    CHECK_INT(cairn_worker_function(world.worker, &options, &error), CAIRN_E_CONFLICT);
    options.version = 0;
    CHECK_INT(cairn_worker_function(world.worker, &options, &error), CAIRN_E_BAD_INPUT);
    close_world(&world);
}

/* A worker that claims everything and does not know the function gives it back. */
TEST(a_function_without_code_is_released_at_no_cost)
{
    struct world world = open_world();
    struct story story = {0};
    cairn_error error;
    cairn_page *steps;
    add_function(&world, 1, CAIRN_COMMIT_STEP, order, &story);
    start(&world);
    cairn_worker_free(world.worker);
    world.worker = make_worker(&world);
    CHECK_OK(cairn_worker_handle(world.worker, "%", undo, &story, &error));
    run(&world);
    CHECK_STR(story.calls, "");
    CHECK_OK(cairn_instance_steps(world.engine, world.id, NULL, 10, &steps, &error));
    CHECK_STR(cairn_page_step(steps, 0)->status, "ready");
    CHECK_INT(cairn_page_step(steps, 0)->attempts, 0);
    cairn_page_free(steps);
    close_world(&world);
}
