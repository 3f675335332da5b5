/* tests/spec/test_trial.c - trials: calls of real handlers that go wrong, as a seed says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"
#include "scratch.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static const char order[] =
    "{workflow: order, version: 1, steps: [{step: charge, timeout: 20s, compensation: "
    "{handler: "
    "refund, max_attempts: 20}}, {step: ship, max_attempts: 2, on_failure: compensate}]}";

struct trial {
    cairn_engine *engine;
    cairn_error error;
    char id[40];
    int calls[3]; /* of charge, refund and ship */
};

static void done(struct trial *trial, cairn_code code)
{
    CHECK(code == CAIRN_OK, "%s: %s (%s)", cairn_code_name(code), trial->error.message,
          trial->error.detail);
}

static void begin(struct trial *trial, const cairn_trial_options *options)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    *trial = (struct trial){0};
    open.url = scratch_store();
    open.start_us = INT64_C(1893456000000000);
    done(trial, cairn_trial_open(&open, options, &trial->engine, &trial->error));
    done(trial, cairn_workflow_deploy(trial->engine, "order", order, NULL, &trial->error));
    start.workflow = "order";
    done(trial, cairn_instance_start(trial->engine, &start, &started, &trial->error));
    memcpy(trial->id, started.id, sizeof trial->id);
}

static void call(struct trial *trial, const cairn_task *task)
{
    static const char *const types[] = {"charge", "refund", "ship"};
    for (size_t i = 0; i < 3; i++)
        trial->calls[i] += strcmp(task->type, types[i]) == 0;
    cairn_task_complete(trial->engine, "w", task, "{}", &trial->error);
}

static void work(struct trial *trial)
{
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "w";
    claim.types = (const char *[]){"%"};
    claim.type_count = 1;
    for (size_t count = 1; count;) {
        cairn_page *tasks = NULL;
        done(trial, cairn_claim(trial->engine, &claim, &tasks, &trial->error));
        count = cairn_page_count(tasks);
        for (size_t i = 0; i < count; i++)
            call(trial, cairn_page_task(tasks, i));
        cairn_page_free(tasks);
    }
}

static void run(struct trial *trial)
{
    for (int64_t next_us = 1, now_us = 0; next_us;) {
        int is_idle = 0;
        work(trial);
        done(trial,
             cairn_idle(trial->engine, (const char *[]){"%"}, 1, &is_idle, &trial->error));
        CHECK(is_idle, "a lease that nobody holds any more is waited for");
        done(trial, cairn_clock_next(trial->engine, &next_us, &trial->error));
        done(trial, cairn_clock_now(trial->engine, &now_us, &trial->error));
        if (next_us)
            done(trial,
                 cairn_clock_advance(trial->engine,
                                     next_us > now_us ? (next_us - now_us + 999) / 1000 : 0,
                                     NULL, &trial->error));
    }
}

/* What cairn_trial_check() says of the instance; cairn_response_free() it. */
static cairn_response *check(struct trial *trial, const char *law)
{
    cairn_response *verdict = NULL;
    done(trial, cairn_trial_check(trial->engine, trial->id, &law, law != NULL, &verdict,
                                  &trial->error));
    return verdict;
}

static void expect(struct trial *trial, const char *law, const char *text, bool is_there)
{
    cairn_response *verdict = check(trial, law);
    const char *body = cairn_response_body(verdict, NULL);
    CHECK((strstr(body, text) != NULL) == is_there, "%s is %s in %s", text,
          is_there ? "missing" : "not wanted", body);
    cairn_response_free(verdict);
}

static cairn_trial_options nothing_wrong(void)
{
    cairn_trial_options options = CAIRN_TRIAL_DEFAULTS;
    options.fail = options.crash = options.timeout = options.late = options.twice = 0;
    return options;
}

TEST(without_faults_it_completes)
{
    struct trial trial;
    cairn_trial_options options = nothing_wrong();
    begin(&trial, &options);
    run(&trial);
    expect(&trial, "done(charge) and done(ship)", "\"broken\":[]", true);
    expect(&trial, "undone(charge)", "\"broken\":[\"undone(charge)\"]", true);
    cairn_close(trial.engine);
}

/* A step that never succeeds, and one kind of fault for all other calls. */
static void undo_under(void (*set)(cairn_trial_options *), const char *told)
{
    struct trial trial;
    cairn_trial_options options = nothing_wrong();
    set(&options);
    begin(&trial, &options);
    run(&trial);
    expect(&trial, "ended(completed) or ended(failed)", "\"broken\":[]", true);
    expect(&trial, NULL, told, true);
    cairn_close(trial.engine);
}

static void set_fail(cairn_trial_options *options)
{
    options->fail_of = "ship=1";
}

static void set_crash(cairn_trial_options *options)
{
    options->crash = 1;
}

static void set_timeout(cairn_trial_options *options)
{
    options->timeout = 1;
}

static void set_late(cairn_trial_options *options)
{
    options->late = 1;
}

static void set_twice(cairn_trial_options *options)
{
    options->twice = 1;
}

static void set_restart(cairn_trial_options *options)
{
    options->restart = 1;
}

TEST(each_fault_happens)
{
    undo_under(set_fail, "\"undone\":[\"charge\"]");
    undo_under(set_crash, "the worker crashes");
    undo_under(set_timeout, "does not answer until its timeout");
    undo_under(set_late, "arrives late, and is refused");
    undo_under(set_twice, "the outcome of ship arrives a second time");
    undo_under(set_restart, "the engine is restarted");
}

TEST(many_seeds_keep_the_laws)
{
    int failed = 0, repeated = 0;
    for (uint64_t seed = 1; seed <= 15; seed++) {
        struct trial trial;
        cairn_trial_options options = {.size = sizeof options,
                                       .seed = seed,
                                       .fail = 0.3,
                                       .crash = 0.15,
                                       .timeout = 0.1,
                                       .late = 0.1,
                                       .twice = 0.1,
                                       .restart = 0.1};
        options.fail_of = "charge:undo=0.1";
        begin(&trial, &options);
        run(&trial);
        expect(&trial, "done(charge) => done(ship) or undone(charge)", "\"broken\":[]", true);
        failed += trial.calls[1] > 0;
        repeated += trial.calls[0] > 1;
        cairn_close(trial.engine);
    }
    CHECK(failed && repeated, "%d were undone, %d were called again", failed, repeated);
}

TEST(what_cannot_be_is_refused)
{
    cairn_engine *engine = NULL;
    cairn_error error;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_trial_options options = nothing_wrong();
    cairn_response *verdict = NULL;
    options.fail = 1.5;
    CHECK(cairn_trial_open(NULL, &options, &engine, &error) == CAIRN_E_BAD_INPUT, "%s",
          error.message);
    options = nothing_wrong();
    options.fail_of = "ship";
    CHECK(cairn_trial_open(NULL, &options, &engine, &error) == CAIRN_E_BAD_INPUT, "%s",
          error.message);
    options = nothing_wrong();
    open.url = "http://127.0.0.1:1";
    CHECK(cairn_trial_open(&open, &options, &engine, &error) == CAIRN_E_BAD_INPUT, "%s",
          error.message);
    open.url = "memory:";
    CHECK(cairn_open(&open, &engine, &error) == CAIRN_OK, "%s", error.message);
    CHECK(cairn_trial_check(engine, NULL, NULL, 0, &verdict, &error) == CAIRN_E_WRONG_STATE,
          "%s", error.message);
    cairn_close(engine);
}
