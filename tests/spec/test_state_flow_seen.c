/* tests/spec/test_state_flow_seen.c - durable functions where instances are seen: lists, steps,
 * events, figures and logs; limits; and which version is run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#include "function_world.h"
#include "scratch.h"

static cairn_code a_wait_b(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    PASS_ON(fn_step(world, "a"));
    PASS_ON(cairn_passage_wait_event(passage, NULL, "go", HOUR_MS, &world->heard, NULL));
    return fn_step(world, "b");
}

static cairn_stats stats(struct function_world *world)
{
    cairn_stats stats = {.size = sizeof stats};
    struct world *w = &world->flow.world;
    CHECK_DONE(w, cairn_stats_get(w->engine, &stats, &w->error));
    return stats;
}

TEST(a_function_is_listed_among_the_instances)
{
    struct function_world world;
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    cairn_page *instances = NULL;
    struct world *w = &world.flow.world;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    filter.status = "waiting_signal";
    filter.workflow = "f";
    CHECK_DONE(w, cairn_instance_list(w->engine, &filter, &instances, &w->error));
    CHECK_INT(cairn_page_count(instances), 1);
    const cairn_instance *instance = cairn_page_instance(instances, 0);
    CHECK_STR(instance->id, world.flow.id);
    CHECK_STR(instance->workflow, "f");
    CHECK_INT(instance->version, 1);
    cairn_page_free(instances);
    fn_end(&world);
}

/* A step that is tried again, a sleep and a wait. */
static cairn_code try_sleep_wait(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = "a";
    options.retries = 1;
    options.base_ms = MINUTE_MS;
    PASS_ON(fn_step_as(world, &options, NULL));
    PASS_ON(cairn_passage_sleep(passage, NULL, HOUR_MS, NULL));
    return cairn_passage_wait_event(passage, NULL, "go", -1, &world->heard, NULL);
}

/* It is found by one of the words, which says the same as the reason that is told. */
static void check_stand(struct function_world *world, const char *wanted, const char *why)
{
    static const char *const stands[] = {"lost", "running", "retrying", "sleeping", "waiting"};
    struct world *w = &world->flow.world;
    cairn_page *page;
    for (size_t i = 0; i < sizeof stands / sizeof *stands; i++) {
        cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
        filter.workflow = "f";
        filter.stand = stands[i];
        CHECK_DONE(w, cairn_instance_list(w->engine, &filter, &page, &w->error));
        size_t count = wanted && strcmp(stands[i], wanted) == 0;
        CHECK(cairn_page_count(page) == count, "%zu %s, not %zu", cairn_page_count(page),
              stands[i], count);
        cairn_page_free(page);
    }
    CHECK_DONE(w, cairn_instance_get(w->engine, world->flow.id, &page, &w->error));
    CHECK_STR(cairn_page_instance(page, 0)->why->code, why);
    cairn_page_free(page);
}

static void check_held(struct function_world *world)
{
    check_stand(world, "running", "working");
}

TEST(a_function_is_found_by_where_it_stands)
{
    struct function_world world;
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    cairn_page *page;
    fn_begin(&world, try_sleep_wait, CAIRN_COMMIT_STEP);
    check_stand(&world, "running", "unserved");
    fn_fails(&world, "a", CAIRN_FAIL, 1);
    fn_during(&world, "a", check_held);
    fn_passage(&world, "ready");
    check_stand(&world, "retrying", "retry_later");
    wf_advance(&world.flow, MINUTE_MS);
    fn_passage(&world, "waiting");
    check_stand(&world, "sleeping", "sleep");
    wf_advance(&world.flow, HOUR_MS);
    fn_passage(&world, "waiting");
    check_stand(&world, "waiting", "event");
    fn_pause(&world);
    check_stand(&world, NULL, "paused_by");
    filter.stand = "standing";
    CHECK_INT(
        cairn_instance_list(world.flow.world.engine, &filter, &page, &world.flow.world.error),
        CAIRN_E_BAD_INPUT);
    fn_end(&world);
}

TEST(what_a_function_remembers_is_shown_as_its_steps)
{
    struct function_world world;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_STEP);
    wf_advance(&world.flow, SECOND_MS);
    fn_passage(&world, "waiting");
    const cairn_step *row = fn_row(&world, "f");
    CHECK_INT(row->seq, 0);
    CHECK_STR(row->kind, "function");
    CHECK_STR(row->handler, "f");
    row = fn_row(&world, "a");
    CHECK_INT(row->seq, 1);
    CHECK_STR(row->kind, "task");
    CHECK(!row->handler, "the handler is %s", row->handler);
    CHECK_INT(row->max_attempts, 3);
    CHECK_INT(row->started_at_us, START_US + SECOND_US);
    CHECK_INT(row->finished_at_us, START_US + SECOND_US);
    sg_check_json(row->output, "{\"by\": \"a\"}");
    row = fn_row(&world, "go");
    CHECK_STR(row->kind, "wait");
    CHECK_STR(row->waiting_event, "go");
    CHECK_INT(row->deadline_at_us, START_US + SECOND_US + HOUR_MS * 1000);
    fn_end(&world);
}

TEST(a_remembered_step_cannot_be_claimed_nor_reported_on)
{
    struct function_world world;
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_STEP);
    fn_fails(&world, "a", CAIRN_FAIL, 1);
    fn_passage(&world, "ready");
    struct task task = {.worker = "w", .token = "none"};
    snprintf(task.id, sizeof task.id, "%s", fn_row(&world, "a")->id);
    CHECK_REFUSED(&world.flow.world, wf_report_as(&world.flow, &task, &report),
                  CAIRN_E_LEASE_LOST);
    wf_advance(&world.flow, HOUR_MS);
    struct task tasks[4];
    CHECK_INT(wf_take_many(&world.flow, "w", "%", 4, tasks), 1);
    CHECK_STR(tasks[0].kind, "function");
    fn_end(&world);
}

TEST(the_events_of_a_function_tell_its_whole_life)
{
    struct function_world world;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_STEP);
    fn_fails(&world, "a", CAIRN_FAIL, 1);
    fn_passage(&world, "ready");
    wf_advance(&world.flow, SECOND_MS);
    fn_passage(&world, "waiting");
    wf_signal(&world.flow, "go", NULL);
    fn_passage(&world, "completed");
    wf_check_events(&world.flow,
                    "workflow_started step_ready:f step_started:f step_retry:a step_ready:f "
                    "step_started:f step_completed:a step_waiting:go step_waiting:f "
                    "workflow_waiting signal_received signal_taken:go step_completed:go "
                    "step_ready:f workflow_running "
                    "step_started:f step_completed:b step_completed:f workflow_completed");
    fn_end(&world);
}

TEST(functions_are_counted_in_the_figures)
{
    struct function_world world;
    struct runner runner;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_STEP);
    CHECK_INT(stats(&world).steps_ready, 1);
    CHECK_INT(stats(&world).instances_running, 1);
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    CHECK_INT(stats(&world).steps_ready, 0);
    CHECK_INT(stats(&world).steps_leased, 1);
    CHECK_INT(stats(&world).passages, 1);
    CHECK_INT(stats(&world).passage_commits, 0);
    fn_play(&world, &runner);
    CHECK_DONE(&world.flow.world, fn_finish(&world, &runner, NULL));
    CHECK_INT(stats(&world).passage_commits, 1);
    CHECK_INT(stats(&world).steps_leased, 0);
    CHECK_INT(stats(&world).instances_waiting_signal, 1);
    fn_end(&world);
}

/* ---- logs ----------------------------------------------------------------------------------- */

static cairn_outcome logging_step(cairn_work *work, void *arg)
{
    struct function_world *world = arg;
    struct fn_step *step = fn_of(world, "s");
    cairn_passage_log(world->passage, "warn", "inside", "{\"k\": [1, 2]}", NULL);
    cairn_work_set_error(work, "not yet");
    return ++step->calls < 2 ? CAIRN_FAIL : CAIRN_COMPLETE;
}

static cairn_code logging(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = "s";
    options.run = logging_step;
    cairn_passage_log(passage, "debug", "begin", NULL, NULL);
    PASS_ON(fn_step_as(world, &options, NULL));
    cairn_passage_log(passage, "info", "middle", NULL, NULL);
    PASS_ON(cairn_passage_sleep(passage, NULL, 1000, NULL));
    cairn_passage_log(passage, "error", "end", NULL, NULL);
    return CAIRN_OK;
}

TEST(logs_are_kept_once_over_all_passages)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, logging, mode);
        fn_passage(&world, "ready");
        wf_advance(&world.flow, SECOND_MS);
        fn_passage(&world, "waiting");
        wf_advance(&world.flow, SECOND_MS);
        fn_passage(&world, "completed");
        fn_check_logs(&world, "debug:begin warn:inside warn:inside info:middle error:end");
        fn_end(&world);
    }
}

TEST(a_log_has_its_level_message_data_step_attempt_and_time)
{
    struct function_world world;
    struct world *w = &world.flow.world;
    cairn_page *logs = NULL;
    fn_begin(&world, logging, CAIRN_COMMIT_STEP);
    fn_passage(&world, "ready");
    wf_advance(&world.flow, SECOND_MS);
    fn_passage(&world, "waiting");
    CHECK_DONE(w, cairn_instance_logs(w->engine, world.flow.id, NULL, 2, &logs, &w->error));
    CHECK_INT(cairn_page_count(logs), 2);
    const cairn_log *log = cairn_page_log(logs, 0);
    CHECK_STR(log->level, "debug");
    CHECK_STR(log->message, "begin");
    CHECK(!log->data && !log->step, "data %s, step %s", log->data, log->step);
    CHECK_INT(log->attempt, 0);
    log = cairn_page_log(logs, 1);
    CHECK_STR(log->level, "warn");
    sg_check_json(log->data, "{\"k\": [1, 2]}");
    CHECK_STR(log->step, "s");
    CHECK_INT(log->attempt, 1);
    CHECK_INT(log->at_us, START_US);
    char cursor[64];
    snprintf(cursor, sizeof cursor, "%s", cairn_page_next(logs));
    cairn_page_free(logs);
    CHECK_DONE(w, cairn_instance_logs(w->engine, world.flow.id, cursor, 2, &logs, &w->error));
    CHECK_INT(cairn_page_count(logs), 2);
    CHECK_INT(cairn_page_log(logs, 0)->attempt, 2);
    CHECK_INT(cairn_page_log(logs, 0)->at_us, START_US + SECOND_US);
    CHECK_STR(cairn_page_log(logs, 1)->message, "middle");
    cairn_page_free(logs);
    fn_end(&world);
}

TEST(logs_of_an_instance_that_does_not_exist_are_not_found)
{
    struct function_world world;
    struct world *w = &world.flow.world;
    cairn_page *logs = NULL;
    fn_begin(&world, logging, CAIRN_COMMIT_STEP);
    CHECK_REFUSED(w,
                  cairn_instance_logs(w->engine, "01890000-0000-7000-8000-000000000000", NULL,
                                      10, &logs, &w->error),
                  CAIRN_E_NOT_FOUND);
    fn_end(&world);
}

TEST(a_level_that_does_not_exist_is_refused)
{
    struct function_world world;
    struct runner runner;
    fn_begin(&world, logging, CAIRN_COMMIT_STEP);
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    CHECK_REFUSED(&world.flow.world,
                  cairn_passage_log(runner.passage, "loud", "x", NULL, &world.flow.world.error),
                  CAIRN_E_BAD_INPUT);
    CHECK_REFUSED(&world.flow.world,
                  cairn_passage_log(runner.passage, "info", "x", "{", &world.flow.world.error),
                  CAIRN_E_BAD_JSON);
    fn_drop(&runner);
    fn_end(&world);
}

/* ---- limits --------------------------------------------------------------------------------- */

static cairn_outcome do_nothing(cairn_work *work, void *arg)
{
    (void)work;
    ++*(int *)arg;
    return CAIRN_COMPLETE;
}

/* More steps than are allowed, half of them values. */
static cairn_code endless(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    double chance;
    options.key = "a";
    options.run = do_nothing;
    options.arg = world->mine;
    for (int i = 0; i < 6000; i++) {
        PASS_ON(cairn_passage_random(passage, &chance, NULL));
        PASS_ON(fn_step_as(world, &options, NULL));
    }
    return CAIRN_OK;
}

TEST(a_function_remembers_10000_steps_and_fails_at_the_next)
{
    struct function_world world;
    int calls = 0;
    fn_begin(&world, endless, CAIRN_COMMIT_PASSAGE);
    world.mine = &calls;
    fn_passage(&world, "failed");
    fn_check_status(&world, "failed");
    CHECK(strstr(wf_instance(&world.flow)->last_error, "too many steps"), "the error is %s",
          wf_instance(&world.flow)->last_error);
    CHECK_INT(calls, 5000); /* none was executed that could not be remembered */
    CHECK_INT(fn_row(&world, "f")->commit_no, 10001);
    fn_end(&world);
}

static cairn_outcome give_much(cairn_work *work, void *arg)
{
    static char text[3000] = "\"";
    (void)arg;
    memset(text + 1, 'x', sizeof text - 3);
    text[sizeof text - 2] = '"';
    cairn_work_set_output(work, text);
    return CAIRN_COMPLETE;
}

static cairn_code too_much(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    (void)passage;
    PASS_ON(fn_step_undoable(world, "a"));
    options.key = "big";
    options.run = give_much;
    options.retries = 0;
    PASS_ON(fn_step_as(world, &options, NULL));
    return fn_step(world, "b");
}

static void begin_limited(struct function_world *world, cairn_function run,
                          cairn_commit_mode mode, size_t max_payload, size_t max_batch)
{
    struct world *w = &world->flow.world;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    *world = (struct function_world){.run = run, .mode = mode, .lease_ms = LEASE_MS};
    w->url = options.url = scratch_store();
    options.virtual_clock = true;
    options.start_us = START_US;
    options.max_payload = max_payload;
    options.max_batch = max_batch;
    CHECK_DONE(w, cairn_open(&options, &w->engine, &w->error));
    CHECK_DONE(w, wf_deploy(&world->flow, "{\"function\": \"f\", \"version\": 1}"));
    fn_start(world, "f", 0);
}

static cairn_code many(cairn_passage *passage, void *arg)
{
    (void)passage;
    for (int i = 0; i < 12; i++)
        PASS_ON(fn_step(arg, "a"));
    return CAIRN_OK;
}

TEST(a_passage_may_commit_more_steps_than_a_report_may_have_results)
{
    struct function_world world;
    begin_limited(&world, many, CAIRN_COMMIT_PASSAGE, 1 << 20, 10);
    fn_passage(&world, "completed");
    fn_end(&world);
}

/* Its outcome cannot be kept; what went before is, and can be undone. */
TEST(an_output_beyond_the_limit_fails_the_function_and_keeps_the_steps_before_it)
{
    struct function_world world;
    MODES(mode)
    {
        begin_limited(&world, too_much, mode, 2000, 1000);
        fn_passage(&world, "rolled_back");
        CHECK(strstr(wf_instance(&world.flow)->last_error, "2000"), "the error is %s",
              wf_instance(&world.flow)->last_error);
        fn_undo_all(&world, "a");
        fn_check_status(&world, "failed");
        fn_end(&world);
    }
}

/* The same code, which can live without. */
static cairn_code much_or_nothing(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_error *error = &world->flow.world.error;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    (void)passage;
    options.key = "big";
    options.run = give_much;
    options.retries = 1;
    cairn_code code = fn_step_as(world, &options, NULL);
    if (code != CAIRN_E_STEP_FAILED)
        return code ? code : CAIRN_E_INTERNAL;
    world->heard = strstr(error->message, "2000") ? "too large" : "otherwise";
    return fn_step(world, "b");
}

TEST(an_output_beyond_the_limit_is_a_failed_call_that_code_can_catch)
{
    struct function_world world;
    MODES(mode)
    {
        begin_limited(&world, much_or_nothing, mode, 2000, 1000);
        fn_passage(&world, "ready"); /* it is called once more */
        wf_advance(&world.flow, SECOND_MS);
        fn_passage(&world, "completed");
        fn_check_steps(&world, "f:completed big:failed b:completed");
        CHECK_INT(fn_row(&world, "big")->attempts, 2);
        fn_end(&world);
    }
}

static cairn_outcome count_call(cairn_work *work, void *arg)
{
    (void)work;
    ++*(int *)arg;
    return CAIRN_COMPLETE;
}

/* A key, an input or a compensation that cannot be kept: nothing is called. */
static cairn_code beyond_limits(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_error error;
    static char name[300], input[3000];
    memset(name, 'k', sizeof name - 1);
    memset(input, '1', sizeof input - 1);
    cairn_step_options key = CAIRN_STEP_DEFAULTS;
    key.run = count_call;
    key.arg = world->mine;
    cairn_step_options given = key, undo = key;
    key.key = name;
    given.key = undo.key = "a";
    given.input = input;
    undo.compensation = name;
    CHECK_INT(fn_step_as(world, &key, NULL), CAIRN_E_TOO_LARGE);
    CHECK_INT(fn_step_as(world, &given, NULL), CAIRN_E_TOO_LARGE);
    CHECK_INT(fn_step_as(world, &undo, NULL), CAIRN_E_TOO_LARGE);
    CHECK_INT(cairn_passage_sleep(passage, name, 1, &error), CAIRN_E_TOO_LARGE);
    CHECK(strstr(error.message, "kkkk") && strstr(error.detail, "256"), "%s: %s", error.message,
          error.detail);
    name[254] = '\0'; /* the second use has two bytes more */
    key.key = name;
    PASS_ON(fn_step_as(world, &key, NULL));
    PASS_ON(fn_step_as(world, &key, NULL));
    name[254] = 'k';
    name[255] = '\0';
    PASS_ON(fn_step_as(world, &key, NULL));
    CHECK_INT(fn_step_as(world, &key, NULL), CAIRN_E_TOO_LARGE);
    return CAIRN_OK;
}

TEST(what_cannot_be_kept_is_refused_before_anything_is_called)
{
    struct function_world world;
    MODES(mode)
    {
        int calls = 0;
        begin_limited(&world, beyond_limits, mode, 2000, 1000);
        world.mine = &calls;
        fn_passage(&world, "completed");
        CHECK_INT(calls, 3);
        fn_end(&world);
    }
}

/* ---- versions ------------------------------------------------------------------------------- */

static cairn_code tell_version(cairn_passage *passage, void *arg)
{
    char text[20];
    snprintf(text, sizeof text, "%d", *(int *)arg);
    PASS_ON(cairn_passage_sleep(passage, NULL, 0, NULL));
    return cairn_passage_set_output(passage, text, NULL);
}

static void check_version(struct function_world *world, int32_t version, const char *code)
{
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    cairn_function_options function = CAIRN_FUNCTION_DEFAULTS;
    struct world *w = &world->flow.world;
    int one = 1, two = 2;
    cairn_worker *worker = NULL;
    options.until_idle = true;
    options.concurrency = 1;
    CHECK_DONE(w, cairn_worker_new(w->engine, &options, &worker, &w->error));
    function.name = "v";
    function.run = tell_version;
    function.version = 2;
    function.arg = &two;
    CHECK_DONE(w, cairn_worker_function(worker, &function, &w->error));
    function.version = 1;
    function.arg = &one;
    CHECK_DONE(w, cairn_worker_function(worker, &function, &w->error));
    fn_start(world, "v", version);
    CHECK_DONE(w, cairn_worker_run(worker, &w->error));
    cairn_worker_free(worker);
    fn_check_status(world, code ? "completed" : "running");
    if (code)
        CHECK_STR(wf_instance(&world->flow)->output, code);
}

TEST(an_instance_is_given_to_the_code_of_its_own_version_and_no_other)
{
    struct function_world world;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_STEP);
    fn_abort(&world);
    CHECK_DONE(&world.flow.world,
               wf_deploy(&world.flow, "{\"function\": \"v\", \"version\": 3}"));
    check_version(&world, 1, "1");
    check_version(&world, 2, "2");
    check_version(&world, 3, NULL); /* nobody has registered its code */
    check_version(&world, 0, NULL); /* that is version 3 as well */
    CHECK_INT(wf_instance(&world.flow)->version, 3);
    fn_end(&world);
}

TEST(doctor_names_a_version_that_nobody_serves)
{
    struct function_world world;
    struct world *w = &world.flow.world;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_STEP);
    for (int i = 0; i < 2; i++) {
        bool is_named = false;
        cairn_page *findings;
        CHECK_DONE(w, cairn_doctor(w->engine, &findings, &w->error));
        for (size_t k = 0; k < cairn_page_count(findings); k++) {
            const cairn_finding *finding = cairn_page_finding(findings, k);
            is_named |= strcmp(finding->check, "functions") == 0 &&
                        strstr(finding->text, "version 1 of \"f\"") != NULL;
        }
        cairn_page_free(findings);
        CHECK_INT(is_named, i);
        wf_advance(&world.flow, 3601 * SECOND_MS);
    }
    fn_end(&world);
}

TEST(the_version_that_was_started_stays_with_the_instance)
{
    struct function_world world;
    struct runner runner;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    CHECK_DONE(&world.flow.world,
               wf_deploy(&world.flow, "{\"function\": \"f\", \"version\": 2}"));
    wf_signal(&world.flow, "go", NULL);
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    CHECK_INT(cairn_passage_task(runner.passage)->memory->version, 1);
    fn_play(&world, &runner);
    CHECK_DONE(&world.flow.world, fn_finish(&world, &runner, NULL));
    fn_start(&world, "f", 0);
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    CHECK_INT(cairn_passage_task(runner.passage)->memory->version, 2);
    fn_drop(&runner);
    fn_end(&world);
}
