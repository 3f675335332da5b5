/* tests/spec/test_worker_flow.c - the callback style with steps: waits, events, compensations.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Handlers run in other threads, so they only note what they see; the test looks afterwards.
 */
#include "cairn.h"
#include "scratch.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATIENCE_S = 60 }; /* only for the day that something is broken */

struct world {
    cairn_engine *engine;
    cairn_worker *worker;
    char id[64];
};

static struct world open_world(const char *workflow)
{
    struct world world = {0};
    cairn_error error;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    open.url = scratch_store();
    options.concurrency = 2;
    options.until_idle = true;
    CHECK_OK(cairn_open(&open, &world.engine, &error));
    CHECK_OK(cairn_worker_new(world.engine, &options, &world.worker, &error));
    CHECK_OK(cairn_workflow_deploy(world.engine, "w.yaml", workflow, NULL, &error));
    start.workflow = "w";
    start.input = "{\"n\": 1}";
    CHECK_OK(cairn_instance_start(world.engine, &start, &started, &error));
    snprintf(world.id, sizeof world.id, "%s", started.id);
    return world;
}

static void close_world(struct world *world)
{
    cairn_worker_free(world->worker);
    cairn_close(world->engine);
}

static void handle(struct world *world, const char *type, cairn_handler handler, void *arg)
{
    cairn_error error;
    CHECK_OK(cairn_worker_handle(world->worker, type, handler, arg, &error));
}

static void run(struct world *world)
{
    cairn_error error;
    CHECK_OK(cairn_worker_run(world->worker, &error));
}

static void check_status(struct world *world, const char *status)
{
    cairn_error error;
    cairn_page *found;
    CHECK_OK(cairn_instance_get(world->engine, world->id, &found, &error));
    CHECK_STR(cairn_page_instance(found, 0)->status, status);
    cairn_page_free(found);
}

static void send_signal(struct world *world, const char *event)
{
    cairn_error error;
    cairn_signal_options options = CAIRN_SIGNAL_DEFAULTS;
    options.instance_id = world->id;
    options.event = event;
    options.payload = "7";
    CHECK_OK(cairn_instance_signal(world->engine, &options, NULL, &error));
}

/* What a handler was given, in order. */
struct notes {
    atomic_int calls;
    char text[4][400];
};

static void note(struct notes *notes, const cairn_task *task)
{
    int call = atomic_fetch_add(&notes->calls, 1);
    if (call < 4)
        snprintf(notes->text[call], sizeof notes->text[0], "%s %s %s %s reason=%s signal=%s",
                 task->kind, task->type, task->step, task->metadata ? task->metadata : "-",
                 task->reason ? task->reason : "-", task->signal ? "yes" : "no");
}

static cairn_outcome note_and_complete(cairn_work *work, void *arg)
{
    note(arg, cairn_work_task(work));
    return CAIRN_COMPLETE;
}

static cairn_outcome wait_once(cairn_work *work, void *arg)
{
    const cairn_task *task = cairn_work_task(work);
    note(arg, task);
    if (task->signal) {
        cairn_work_emit(work, "second", NULL);
        return CAIRN_COMPLETE;
    }
    cairn_work_emit(work, "first", "{\"a\":1}");
    cairn_work_wait(work, "go", 60000);
    return CAIRN_WAIT;
}

TEST(a_handler_waits_and_is_called_again_with_what_came)
{
    struct world world = open_world(
        "workflow: w\nversion: 1\nsteps: [{step: a, handler: x.v1, metadata: {t: 1}}]\n");
    struct notes notes = {0};
    cairn_error error;
    cairn_page *outbox;
    handle(&world, "x.%", wait_once, &notes);
    run(&world);
    CHECK_INT(notes.calls, 1);
    check_status(&world, "running");
    send_signal(&world, "go");
    run(&world);
    CHECK_INT(notes.calls, 2);
    check_status(&world, "completed");
    CHECK(strncmp(notes.text[0], "step x.v1 a {", 13) == 0, "%s", notes.text[0]);
    CHECK(strstr(notes.text[0], "reason=- signal=no"), "%s", notes.text[0]);
    CHECK(strstr(notes.text[1], "reason=- signal=yes"), "%s", notes.text[1]);

    CHECK_OK(cairn_outbox_claim(world.engine, "d", 10, 1000, &outbox, &error));
    CHECK_INT(cairn_page_count(outbox), 2);
    CHECK_STR(cairn_page_outbox_event(outbox, 0)->event, "first");
    CHECK_STR(cairn_page_outbox_event(outbox, 0)->payload, "{\"a\":1}");
    CHECK_STR(cairn_page_outbox_event(outbox, 1)->event, "second");
    CHECK_STR(cairn_page_outbox_event(outbox, 1)->payload, "null");
    cairn_page_free(outbox);
    close_world(&world);
}

static cairn_outcome wait_for_nothing(cairn_work *work, void *arg)
{
    note(arg, cairn_work_task(work));
    return cairn_work_wait(work, "", 1) == CAIRN_E_BAD_INPUT &&
                   cairn_work_emit(work, "e", "{") == CAIRN_E_BAD_JSON
               ? CAIRN_WAIT
               : CAIRN_COMPLETE;
}

TEST(a_wait_for_nothing_is_a_failed_attempt)
{
    struct world world =
        open_world("workflow: w\nversion: 1\nsteps: [{step: a, max_attempts: 1}]\n");
    struct notes notes = {0};
    cairn_error error;
    cairn_page *found;
    handle(&world, "a", wait_for_nothing, &notes);
    run(&world);
    check_status(&world, "failed");
    CHECK_OK(cairn_instance_get(world.engine, world.id, &found, &error));
    const char *why = cairn_page_instance(found, 0)->last_error;
    CHECK(strstr(why, "did not say for which event"), "%s", why);
    cairn_page_free(found);
    close_world(&world);
}

TEST(a_job_whose_handler_waits_has_failed_an_attempt)
{
    struct world world = open_world("workflow: w\nversion: 1\nsteps: [{step: unused}]\n");
    struct notes notes = {0};
    cairn_error error;
    cairn_page *jobs;
    cairn_enqueued enqueued;
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "j.v1";
    CHECK_OK(cairn_enqueue(world.engine, &spec, 1, &enqueued, &error));
    handle(&world, "j.v1", wait_once, &notes);
    run(&world);
    CHECK_OK(cairn_job_get(world.engine, enqueued.id, &jobs, &error));
    CHECK_STR(cairn_page_job(jobs, 0)->status, "pending");
    CHECK_INT(cairn_page_job(jobs, 0)->attempt, 1);
    const char *why = cairn_page_job(jobs, 0)->last_error;
    CHECK(why && strstr(why, "cannot wait"), "%s", why);
    cairn_page_free(jobs);
    close_world(&world);
}

static cairn_outcome fail_for_good(cairn_work *work, void *arg)
{
    note(arg, cairn_work_task(work));
    cairn_work_set_error(work, "no van");
    return CAIRN_DEAD;
}

TEST(compensations_run_through_the_same_handlers)
{
    struct world world = open_world("workflow: w\nversion: 1\nsteps:\n"
                                    "  - step: a\n    compensation: {handler: undo.a}\n"
                                    "  - step: b\n");
    struct notes forward = {0}, undo = {0}, failing = {0};
    handle(&world, "a", note_and_complete, &forward);
    handle(&world, "b", fail_for_good, &failing);
    handle(&world, "undo.%", note_and_complete, &undo);
    run(&world);
    check_status(&world, "failed");
    CHECK_INT(forward.calls, 1);
    CHECK_INT(failing.calls, 1);
    CHECK_INT(undo.calls, 1);
    CHECK(strncmp(undo.text[0], "compensation undo.a a ", 22) == 0, "%s", undo.text[0]);
    close_world(&world);
}

static void *run_beside(void *arg)
{
    struct world *world = arg;
    return cairn_worker_run(world->worker, NULL) ? world : NULL;
}

/* Until the worker has asked in vain, more than once. */
static void await_claims(struct world *world, uint64_t before)
{
    cairn_error error;
    cairn_stats stats = {.size = sizeof stats};
    for (time_t since = time(NULL);
         stats.commit_requests < before + 2 && time(NULL) - since < PATIENCE_S;)
        CHECK_OK(cairn_stats_get(world->engine, &stats, &error));
}

/* A step of another type, whose end makes one of ours ready. */
TEST(until_idle_waits_for_steps_that_others_hold)
{
    struct world world = open_world(
        "workflow: w\nversion: 1\nsteps: [{step: a, handler: theirs.v1}, {step: b}]\n");
    struct notes notes = {0};
    cairn_error error;
    cairn_page *tasks;
    cairn_stats stats = {.size = sizeof stats};
    pthread_t thread;
    void *failed = NULL;
    handle(&world, "b", note_and_complete, &notes);
    run(&world); /* a is ready, but not for us, and nobody works on it */
    CHECK_INT(notes.calls, 0);

    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "somebody else";
    claim.types = (const char *[]){"theirs.v1"};
    claim.type_count = 1;
    CHECK_OK(cairn_claim(world.engine, &claim, &tasks, &error));
    CHECK_INT(cairn_page_count(tasks), 1);
    CHECK_OK(cairn_stats_get(world.engine, &stats, &error));
    CHECK_INT(stats.steps_leased, 1);
    CHECK_INT(pthread_create(&thread, NULL, run_beside, &world), 0);
    await_claims(&world, stats.commit_requests);
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.task_id = cairn_page_task(tasks, 0)->id;
    report.token = cairn_page_task(tasks, 0)->token;
    report.outcome = CAIRN_COMPLETE;
    CHECK_OK(
        cairn_report_many(world.engine, "somebody else", &report, 1, NULL, NULL, NULL, &error));
    pthread_join(thread, &failed);
    CHECK(!failed, "the worker failed");
    CHECK_INT(notes.calls, 1);
    check_status(&world, "completed");
    cairn_page_free(tasks);
    close_world(&world);
}

/* ---- reading the instance -------------------------------------------------------------------- */

struct reading {
    cairn_code codes[6];
    char input[64], output[64], context[160];
};

static cairn_outcome first(cairn_work *work, void *arg)
{
    struct reading *reading = arg;
    const char *text = NULL;
    reading->codes[0] = cairn_work_output_of(work, "b", &text, NULL); /* not finished */
    cairn_work_set_output(work, "{\"a\": [1, 2]}");
    return CAIRN_COMPLETE;
}

static cairn_outcome second(cairn_work *work, void *arg)
{
    struct reading *reading = arg;
    cairn_error error = {0};
    const char *input = NULL, *output = NULL, *none = NULL, *context = NULL;
    reading->codes[5] = cairn_work_context(work, &context, &error);
    snprintf(reading->context, sizeof reading->context, "%s", context ? context : "");
    reading->codes[1] = cairn_work_instance_input(work, &input, &error);
    reading->codes[2] = cairn_work_output_of(work, "a", &output, &error);
    reading->codes[3] = cairn_work_output_of(work, "none", &none, &error);
    reading->codes[4] = cairn_work_output_of(work, "", &none, &error);
    snprintf(reading->input, sizeof reading->input, "%s", input ? input : "");
    snprintf(reading->output, sizeof reading->output, "%s", output ? output : "");
    return CAIRN_COMPLETE;
}

/* PostgreSQL keeps JSON without its spaces, others as it came. */
static void strip(char *text)
{
    size_t len = 0;
    for (size_t i = 0; text[i]; i++)
        if (text[i] != ' ')
            text[len++] = text[i];
    text[len] = '\0';
}

TEST(a_handler_reads_the_instances_input_and_earlier_outputs)
{
    struct reading reading = {0};
    struct world world =
        open_world("{workflow: w, version: 1, steps: [{step: a, output: {last: \"{{ index .a 1 "
                   "}}\"}}, {step: m}, {step: b}]}");
    handle(&world, "a", first, &reading);
    handle(&world, "b", second, &reading);
    handle(&world, "m", first, &(struct reading){0});
    run(&world);
    check_status(&world, "completed");
    CHECK_INT(reading.codes[0], CAIRN_E_NOT_FOUND);
    CHECK_INT(reading.codes[1], CAIRN_OK);
    CHECK_INT(reading.codes[2], CAIRN_OK);
    CHECK_INT(reading.codes[3], CAIRN_E_NOT_FOUND);
    CHECK_INT(reading.codes[4], CAIRN_E_BAD_INPUT);
    strip(reading.input);
    strip(reading.output);
    CHECK_STR(reading.input, "{\"n\":1}");
    CHECK_STR(reading.output, "{\"last\":2}"); /* what the file makes of it */
    CHECK_INT(reading.codes[5], CAIRN_OK);
    strip(reading.context);
    CHECK_STR(reading.context,
              "{\"input\":{\"n\":1},\"outputs\":{\"a\":{\"last\":2},\"m\":{\"a\":[1,2]}}}");
    close_world(&world);
}

static cairn_outcome of_a_job(cairn_work *work, void *arg)
{
    const char *text = NULL;
    *(cairn_code *)arg = cairn_work_instance_input(work, &text, NULL);
    return CAIRN_COMPLETE;
}

TEST(a_job_has_no_instance_to_read)
{
    cairn_error error;
    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    cairn_code code = CAIRN_OK;
    struct world world = open_world("{workflow: w, version: 1, steps: [{step: a}]}");
    job.type = "j";
    CHECK_OK(cairn_enqueue(world.engine, &job, 1, NULL, &error));
    handle(&world, "j", of_a_job, &code);
    handle(&world, "a", of_a_job, &(cairn_code){0});
    run(&world);
    CHECK_INT(code, CAIRN_E_BAD_INPUT);
    close_world(&world);
}
