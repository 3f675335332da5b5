/* tests/unit/test_passage.c - a passage of a function, against an engine that only writes down.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "fake_engine.h"
#include "test.h"

/* ---- steps of the tests ---------------------------------------------------------------------
 */

/* What a step's code does, and how often it was called. */
struct code {
    cairn_outcome outcome;
    const char *output, *error;
    int64_t delay_ms;
    int calls;
    struct fake_engine *fake; /* said so far is kept at each call */
    char said[256];
    cairn_task seen;
    char seen_key[64];
    int64_t takes_us;
    const char *emits;
};

static cairn_outcome run_code(cairn_work *work, void *arg)
{
    struct code *code = arg;
    code->calls++;
    code->seen = *cairn_work_task(work);
    snprintf(code->seen_key, sizeof code->seen_key, "%s", code->seen.key);
    if (code->fake) {
        snprintf(code->said, sizeof code->said, "%.255s", code->fake->said);
        code->fake->now_us += code->takes_us;
    }
    if (code->output)
        cairn_work_set_output(work, code->output);
    if (code->error)
        cairn_work_set_error(work, code->error);
    if (code->delay_ms)
        cairn_work_set_delay(work, code->delay_ms);
    if (code->emits)
        cairn_work_emit(work, code->emits, "1");
    return code->outcome;
}

static cairn_step_options options_of(const char *key, struct code *code)
{
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = key;
    options.run = run_code;
    options.arg = code;
    if (!code->outcome)
        code->outcome = CAIRN_COMPLETE;
    return options;
}

static cairn_code do_step(cairn_passage *passage, const char *key, struct code *code,
                          const char **ret_output, cairn_error *reterr)
{
    cairn_step_options options = options_of(key, code);
    return cairn_passage_step(passage, &options, ret_output, reterr);
}

static void check_end(cairn_passage *passage, cairn_code code, const char *status)
{
    char seen[24];
    cairn_error error;
    CHECK_OK(cairn_passage_end(passage, code, seen, &error));
    CHECK_STR(seen, status);
}

/* ---- when it is committed -------------------------------------------------------------------
 */

TEST(one_step_and_the_end_are_one_commit)
{
    struct fake_engine fake;
    struct code a = {.output = "1"};
    const char *output;
    cairn_passage_costs costs = {.size = sizeof costs};
    cairn_error error;
    fake_init(&fake);
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_OK(do_step(passage, "a", &a, &output, &error));
    CHECK_STR(output, "1");
    CHECK_OK(cairn_passage_set_output(passage, "[2]", &error));
    cairn_passage_count(passage, &costs);
    CHECK_INT(costs.commits, 0);
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(fake.said, "complete 1.a task completed 1; output [2]\n");
    CHECK_INT(fake.revision, 7);
    CHECK_INT(a.calls, 1);
    CHECK_STR(a.seen_key, "i:a");
    CHECK_INT(a.seen.attempt, 1);
    CHECK_INT(a.seen.max_attempts, 3);
}

TEST(in_step_mode_a_finished_step_is_committed_before_the_next_ones_code_is_called)
{
    struct fake_engine fake;
    fake_init(&fake);
    struct code a = {.fake = &fake}, b = {.fake = &fake}, c = {.fake = &fake};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    do_step(passage, "a", &a, NULL, NULL);
    do_step(passage, "b", &b, NULL, NULL);
    do_step(passage, "c", &c, NULL, NULL);
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(a.said, "");
    CHECK_STR(b.said, "go_on 1.a task completed null;\n");
    CHECK_STR(c.said, "go_on 1.a task completed null;\ngo_on 2.b task completed null;\n");
    CHECK_STR(fake.said, "go_on 1.a task completed null;\ngo_on 2.b task completed null;\n"
                         "complete 3.c task completed null;\n");
    CHECK_INT(fake.revision, 9);
}

TEST(in_passage_mode_everything_is_committed_at_the_end_and_boundaries_only_look)
{
    struct fake_engine fake;
    fake_init(&fake);
    struct code a = {0}, b = {.fake = &fake}, c = {0};
    cairn_passage_costs costs = {.size = sizeof costs};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_PASSAGE);
    do_step(passage, "a", &a, NULL, NULL);
    do_step(passage, "b", &b, NULL, NULL);
    do_step(passage, "c", &c, NULL, NULL);
    cairn_passage_count(passage, &costs);
    CHECK_INT(costs.heartbeats, 2);
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(b.said, "look\n");
    CHECK_STR(fake.said, "look\nlook\ncomplete 1.a task completed null; 2.b task completed "
                         "null; 3.c task completed null;\n");
    CHECK_INT(fake.extended, 0);
}

TEST(a_heartbeat_extends_the_lease_when_a_third_of_it_has_passed)
{
    struct fake_engine fake;
    fake_init(&fake);
    struct code a = {0};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_PASSAGE);
    do_step(passage, "a", &a, NULL, NULL);
    passage->extended_at_us -= 1201 * (int64_t)1000000; /* of an hour */
    do_step(passage, "b", &a, NULL, NULL);
    do_step(passage, "c", &a, NULL, NULL);
    check_end(passage, CAIRN_OK, "completed");
    CHECK(strncmp(fake.said, "extend\nlook\n", 12) == 0, "%s", fake.said);
}

TEST(values_are_committed_before_a_steps_code_sees_them_but_not_by_themselves)
{
    struct fake_engine fake;
    fake_init(&fake);
    struct code a = {.fake = &fake};
    int64_t now_us;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_now(passage, &now_us, NULL), CAIRN_OK);
    CHECK_INT(now_us, 1000000);
    CHECK_INT(cairn_passage_now(passage, &now_us, NULL), CAIRN_OK);
    CHECK_STR(fake.said, "");
    do_step(passage, "a", &a, NULL, NULL);
    CHECK_STR(a.said,
              "go_on 1.now value completed 1000000; 2.now#2 value completed 1000000;\n");
    check_end(passage, CAIRN_OK, "completed");
}

TEST(a_buffer_is_committed_when_it_is_full)
{
    struct fake_engine fake;
    fake_init(&fake);
    double value;
    cairn_passage_costs costs = {.size = sizeof costs};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_PASSAGE);
    for (int i = 0; i < BUFFER_STEPS; i++)
        CHECK_INT(cairn_passage_random(passage, &value, NULL), CAIRN_OK);
    cairn_passage_count(passage, &costs);
    CHECK_INT(costs.commits, 0);
    CHECK_INT(cairn_passage_random(passage, &value, NULL), CAIRN_OK);
    cairn_passage_count(passage, &costs);
    CHECK_INT(costs.commits, 1);
    fake.said[0] = '\0';
    check_end(passage, CAIRN_OK, "completed");
    CHECK(strncmp(fake.said, "complete 501.random#501 value", 29) == 0, "%.60s", fake.said);
}

TEST(a_buffer_is_full_by_its_bytes_as_well)
{
    struct fake_engine fake;
    fake_init(&fake);
    static char large[(BUFFER_BYTES / 2) + 3];
    memset(large, 'x', sizeof large - 1);
    large[0] = large[sizeof large - 2] = '"';
    struct code a = {.output = large};
    cairn_passage_costs costs = {.size = sizeof costs};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_PASSAGE);
    for (int i = 0; i < 3; i++)
        CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK);
    cairn_passage_count(passage, &costs);
    CHECK_INT(costs.commits, 1);
    CHECK_INT(costs.heartbeats, 1);
    check_end(passage, CAIRN_OK, "completed");
}

/* ---- remembering ----------------------------------------------------------------------------
 */

TEST(what_is_remembered_is_not_executed_again)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake_remember(&fake, "a", "task", "completed", "[1]");
    fake_remember(&fake, "a#2", "task", "completed", NULL);
    cairn_step *failed = fake_remember(&fake, "b", "task", "failed", NULL);
    failed->error = "no card";
    failed->attempts = 3;
    struct code a = {0}, c = {0};
    const char *output;
    cairn_error error;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_OK(do_step(passage, "a", &a, &output, &error));
    CHECK_STR(output, "[1]");
    CHECK_OK(do_step(passage, "a", &a, &output, &error));
    CHECK_STR(output, "null");
    CHECK_INT(do_step(passage, "b", &a, &output, &error), CAIRN_E_STEP_FAILED);
    CHECK_STR(error.message, "no card");
    CHECK_STR(error.detail, "step \"b\", call 3");
    CHECK_OK(do_step(passage, "a", &c, &output, &error));
    CHECK_INT(a.calls, 0);
    CHECK_INT(c.calls, 1);
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(fake.said, "complete 4.a#3 task completed null;\n");
}

TEST(keys_are_refused_that_cannot_be_told_apart_from_numbered_ones)
{
    struct fake_engine fake;
    fake_init(&fake);
    struct code a = {0};
    cairn_error error;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(do_step(passage, "a#2", &a, NULL, &error), CAIRN_E_BAD_INPUT);
    CHECK(strstr(error.message, "a#2"), "%s", error.message);
    CHECK_INT(do_step(passage, "", &a, NULL, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(do_step(passage, NULL, &a, NULL, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(do_step(passage, "\xff", &a, NULL, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_passage_sleep(passage, "s#1", 5, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_passage_wait_event(passage, NULL, "e#1", 5, NULL, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(a.calls, 0);
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK); /* none of them has ended it */
    check_end(passage, CAIRN_OK, "completed");
}

TEST(options_out_of_range_are_refused)
{
    struct fake_engine fake;
    fake_init(&fake);
    struct code a = {0};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    cairn_step_options bad = options_of("a", &a);
    bad.retries = -1;
    CHECK_INT(cairn_passage_step(passage, &bad, NULL, NULL), CAIRN_E_BAD_INPUT);
    bad = options_of("a", &a);
    bad.backoff = "random";
    CHECK_INT(cairn_passage_step(passage, &bad, NULL, NULL), CAIRN_E_BAD_INPUT);
    bad = options_of("a", &a);
    bad.input = "{";
    CHECK_INT(cairn_passage_step(passage, &bad, NULL, NULL), CAIRN_E_BAD_JSON);
    bad = options_of("a", &a);
    bad.jitter = 2;
    CHECK_INT(cairn_passage_step(passage, &bad, NULL, NULL), CAIRN_E_BAD_INPUT);
    bad = options_of("a", &a);
    bad.timeout_ms = -1;
    CHECK_INT(cairn_passage_step(passage, &bad, NULL, NULL), CAIRN_E_BAD_INPUT);
    bad = options_of("a", &a);
    bad.run = NULL;
    CHECK_INT(cairn_passage_step(passage, &bad, NULL, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(a.calls, 0);
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(fake.said, "complete\n");
}

/* ---- a code that does not match -------------------------------------------------------------
 */

TEST(another_kind_under_a_remembered_key_is_a_mismatch)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake_remember(&fake, "a", "task", "completed", "1");
    struct code b = {0};
    cairn_error error;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_sleep(passage, "a", 5, &error), CAIRN_E_VERSION_MISMATCH);
    CHECK_STR(error.message,
              "remembered is the step \"a\", but the code asks for the sleep \"a\"");
    CHECK_INT(do_step(passage, "b", &b, NULL, NULL), CAIRN_E_VERSION_MISMATCH);
    check_end(passage, CAIRN_OK, "ready");
    CHECK_INT(b.calls, 0);
    CHECK_STR(fake.said, "mismatch error version_mismatch: remembered is the step \"a\", but "
                         "the code asks for the sleep \"a\" of a\n");
}

TEST(a_new_step_before_all_remembered_ones_is_a_mismatch)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake_remember(&fake, "a", "task", "completed", "1");
    fake_remember(&fake, "b", "task", "completed", "1");
    struct code code = {0};
    cairn_error error;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(do_step(passage, "a", &code, NULL, NULL), CAIRN_OK);
    CHECK_INT(do_step(passage, "x", &code, NULL, &error), CAIRN_E_VERSION_MISMATCH);
    CHECK_STR(error.message,
              "remembered is the step \"b\", but the code asks for the step \"x\"");
    check_end(passage, CAIRN_E_VERSION_MISMATCH, "ready");
    CHECK_INT(code.calls, 0);
}

TEST(a_forced_code_keeps_what_matches_and_executes_the_rest)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake.memory.is_forced = 1;
    fake_remember(&fake, "a", "task", "completed", "1");
    fake_remember(&fake, "b", "sleep", "completed", NULL);
    fake_remember(&fake, "gone", "task", "completed", NULL);
    fake_remember(&fake, "c", "task", "completed", "3");
    struct code code = {.output = "9"};
    const char *output;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_PASSAGE);
    CHECK_INT(do_step(passage, "x", &code, &output, NULL), CAIRN_OK);
    CHECK_INT(do_step(passage, "b", &code, &output, NULL), CAIRN_OK);
    CHECK_INT(do_step(passage, "c", &code, &output, NULL), CAIRN_OK);
    CHECK_STR(output, "3");
    CHECK_INT(code.calls, 2);
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(fake.said, "look\ncomplete 5.x task completed 9; 2.b sleep forgotten; 6.b task "
                         "completed 9;\n");
}

/* A retry has forgotten the step that failed: what came after it is no longer the only way. */
TEST(after_a_retry_has_forgotten_steps_new_ones_may_come_before_remembered_ones)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake_remember(&fake, "a", "task", "completed", "1");
    fake.memory.places++; /* "try" stood there */
    fake_remember(&fake, "fallback", "task", "completed", "1");
    struct code code = {0};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(do_step(passage, "a", &code, NULL, NULL), CAIRN_OK);
    CHECK_INT(do_step(passage, "try", &code, NULL, NULL), CAIRN_OK);
    CHECK_INT(code.calls, 1);
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(fake.said, "complete 4.try task completed null;\n");
}

/* ---- outcomes of steps ----------------------------------------------------------------------
 */

TEST(a_failed_call_suspends_until_the_next)
{
    struct fake_engine fake;
    fake_init(&fake);
    struct code a = {.outcome = CAIRN_FAIL, .error = "busy"}, b = {0};
    cairn_error error;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(do_step(passage, "a", &a, NULL, &error), CAIRN_E_SUSPENDED);
    CHECK(strstr(error.message, "\"a\""), "%s", error.message);
    CHECK_INT(do_step(passage, "b", &b, NULL, NULL), CAIRN_E_SUSPENDED);
    CHECK_INT(b.calls, 0);
    check_end(passage, CAIRN_OK, "waiting"); /* whatever it returns */
    CHECK_STR(fake.said, "suspend 1.a task ready attempts 1/3 error busy delay 1000;\n");
}

TEST(the_backoff_grows_and_a_code_may_name_its_own_delay)
{
    struct fake_engine fake;
    fake_init(&fake);
    cairn_step *row = fake_remember(&fake, "a", "task", "ready", NULL);
    row->attempts = 1;
    struct code a = {.outcome = CAIRN_FAIL, .error = "busy"};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    cairn_step_options options = options_of("a", &a);
    options.base_ms = 10000;
    options.compensation = "undo.a";
    options.input = "[5]";
    CHECK_INT(cairn_passage_step(passage, &options, NULL, NULL), CAIRN_E_SUSPENDED);
    CHECK_INT(a.seen.attempt, 2);
    check_end(passage, CAIRN_E_SUSPENDED, "waiting");
    CHECK_STR(fake.said,
              "suspend 1.a task ready attempts 2/3 error busy delay 20000 undo undo.a/3;\n");

    fake.said[0] = '\0';
    a.outcome = CAIRN_RETRY;
    a.delay_ms = 77;
    passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_step(passage, &options, NULL, NULL), CAIRN_E_SUSPENDED);
    check_end(passage, CAIRN_E_SUSPENDED, "waiting");
    CHECK_STR(fake.said,
              "suspend 1.a task ready attempts 2/3 error busy delay 77 undo undo.a/3;\n");
}

TEST(the_last_call_that_fails_is_told_to_the_function)
{
    struct fake_engine fake;
    fake_init(&fake);
    cairn_step *row = fake_remember(&fake, "a", "task", "ready", NULL);
    row->attempts = 2;
    struct code a = {.outcome = CAIRN_FAIL, .error = "busy"};
    cairn_error error;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(do_step(passage, "a", &a, NULL, &error), CAIRN_E_STEP_FAILED);
    CHECK_STR(error.message, "busy");
    check_end(passage, CAIRN_E_STEP_FAILED, "failed");
    CHECK_STR(fake.said, "fail 1.a task failed attempts 3/3 error busy; error busy of a\n");
}

TEST(the_function_may_go_on_after_a_failed_step)
{
    struct fake_engine fake;
    fake_init(&fake);
    struct code a = {.outcome = CAIRN_DEAD, .error = "no"}, b = {0};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_E_STEP_FAILED);
    CHECK_INT(do_step(passage, "b", &b, NULL, NULL), CAIRN_OK);
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(fake.said, "go_on 1.a task failed attempts 1/3 error no;\n"
                         "complete 2.b task completed null;\n");
}

TEST(a_steps_code_cannot_wait_nor_be_released_nor_return_nonsense)
{
    struct fake_engine fake;
    cairn_error error;
    struct {
        cairn_outcome outcome;
        const char *says, *status;
    } cases[] = {{CAIRN_WAIT, "cannot wait", "failed"},
                 {CAIRN_RELEASE, "cannot be released", "failed"},
                 {(cairn_outcome)99, "no outcome", "ready"}};
    for (size_t i = 0; i < 3; i++) {
        struct code a = {.outcome = cases[i].outcome};
        fake_init(&fake);
        cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
        cairn_code code = do_step(passage, "a", &a, NULL, &error);
        CHECK(code == CAIRN_E_STEP_FAILED || code == CAIRN_E_SUSPENDED, "%d", (int)code);
        CHECK_INT(cairn_passage_end(passage, code, NULL, NULL), CAIRN_OK);
        CHECK(strstr(fake.said, cases[i].says), "%s", fake.said);
        CHECK(strstr(fake.said, cases[i].status), "%s", fake.said);
    }
}

TEST(an_output_that_is_not_json_is_a_failed_call)
{
    struct fake_engine fake;
    fake_init(&fake);
    struct code a = {.output = "{"};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_E_SUSPENDED);
    check_end(passage, CAIRN_E_SUSPENDED, "waiting");
    CHECK(strstr(fake.said, "1.a task ready attempts 1/3 error the handler's output"), "%s",
          fake.said);
}

TEST(a_retry_that_is_not_due_stays_suspended_and_sends_nothing)
{
    struct fake_engine fake;
    fake_init(&fake);
    cairn_step *row = fake_remember(&fake, "a", "task", "ready", NULL);
    row->attempts = 1;
    row->next_run_at_us = fake.now_us + 1;
    struct code a = {0};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_E_SUSPENDED);
    CHECK_INT(a.calls, 0);
    check_end(passage, CAIRN_E_SUSPENDED, "waiting");
    CHECK_STR(fake.said, "suspend\n");

    row->next_run_at_us = fake.now_us;
    passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK);
    CHECK_INT(a.calls, 1);
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(fake.said, "suspend\ncomplete 1.a task completed null attempts 1/3;\n");
}

TEST(a_call_that_took_too_long_has_failed_whatever_it_gave)
{
    struct fake_engine fake;
    fake_init(&fake);
    struct code a = {.output = "1", .fake = &fake, .takes_us = 5001, .emits = "done"};
    cairn_step_options options = options_of("a", &a);
    options.timeout_ms = 5;
    options.retries = 0;
    cairn_error error;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_step(passage, &options, NULL, &error), CAIRN_E_STEP_FAILED);
    CHECK_STR(error.message, "TIMEOUT");
    a.takes_us = 5000;
    CHECK_INT(cairn_passage_step(passage, &options, NULL, &error), CAIRN_OK);
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(fake.said, "go_on 1.a task failed attempts 1/1 error TIMEOUT;\n"
                         "complete 2.a#2 task completed 1 emit done 1;\n");
}

TEST(a_step_can_be_executed_in_two_halves)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake_remember(&fake, "a", "task", "completed", "1");
    struct code none = {0};
    cairn_step_options options = options_of("a", &none);
    options.run = NULL;
    cairn_work *work = (cairn_work *)&fake;
    const char *output = NULL;
    cairn_error error;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_OK(cairn_passage_begin_step(passage, &options, &work, &output, &error));
    CHECK(!work, "a remembered step is to be executed");
    CHECK_STR(output, "1");
    options.key = "b";
    CHECK_OK(cairn_passage_begin_step(passage, &options, &work, &output, &error));
    CHECK_STR(cairn_work_task(work)->step, "b");
    CHECK_STR(cairn_work_task(work)->input, "null");
    CHECK_INT(cairn_passage_sleep(passage, NULL, 1, &error), CAIRN_E_WRONG_STATE);
    CHECK_INT(cairn_passage_begin_step(passage, &options, &work, &output, NULL),
              CAIRN_E_WRONG_STATE);
    work = passage->call.work;
    cairn_work_set_output(work, "[3]");
    CHECK_OK(cairn_passage_end_step(passage, work, CAIRN_COMPLETE, &output, &error));
    CHECK_STR(output, "[3]");
    CHECK_INT(cairn_passage_end_step(passage, NULL, CAIRN_COMPLETE, &output, NULL),
              CAIRN_E_BAD_INPUT);
    options.key = "c";
    CHECK_OK(cairn_passage_begin_step(passage, &options, &work, &output, &error));
    check_end(passage, CAIRN_E_SUSPENDED,
              "failed"); /* c was never ended: it is not remembered */
    CHECK_STR(fake.said, "go_on 2.b task completed [3];\nfail error the function returned "
                         "suspended, but nothing suspends it\n");
}

/* ---- sleeping and waiting -------------------------------------------------------------------
 */

TEST(a_sleep_suspends_unless_its_time_has_come)
{
    struct fake_engine fake;
    fake_init(&fake);
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_sleep(passage, NULL, 0, NULL), CAIRN_OK);
    CHECK_INT(cairn_passage_sleep_until(passage, NULL, fake.now_us, NULL), CAIRN_OK);
    CHECK_INT(cairn_passage_sleep_until(passage, NULL, -5, NULL), CAIRN_OK);
    CHECK_INT(cairn_passage_sleep_until(passage, "x", fake.now_us + 1, NULL),
              CAIRN_E_SUSPENDED);
    check_end(passage, CAIRN_E_SUSPENDED, "waiting");
    CHECK_STR(fake.said, "suspend 1.sleep sleep completed null; "
                         "2.sleep#2 sleep completed null until 1000000; "
                         "3.sleep#3 sleep completed null until 1; "
                         "4.x sleep waiting until 1000001;\n");
}

TEST(a_sleep_that_still_goes_on_suspends_again_and_sends_nothing)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake_remember(&fake, "nap", "sleep", "completed", NULL);
    fake_remember(&fake, "nap#2", "sleep", "waiting", NULL);
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_sleep(passage, "nap", 50, NULL), CAIRN_OK);
    CHECK_INT(cairn_passage_sleep(passage, "nap", 50, NULL), CAIRN_E_SUSPENDED);
    check_end(passage, CAIRN_E_SUSPENDED, "waiting");
    CHECK_STR(fake.said, "suspend\n");
}

TEST(signals_are_taken_oldest_first_each_once_and_then_waited_for)
{
    struct fake_engine fake;
    fake_init(&fake);
    cairn_received events[] = {
        {"s1", "paid", "1", 1}, {"s2", "other", "2", 2}, {"s3", "paid", "3", 3}};
    fake.memory.events = events;
    fake.memory.event_count = 3;
    const char *payload;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_wait_event(passage, NULL, "paid", -1, &payload, NULL), CAIRN_OK);
    CHECK_STR(payload, "1");
    CHECK_INT(cairn_passage_wait_event(passage, "k", "paid", 50, &payload, NULL), CAIRN_OK);
    CHECK_STR(payload, "3");
    CHECK_INT(cairn_passage_wait_event(passage, NULL, "paid", 50, &payload, NULL),
              CAIRN_E_SUSPENDED);
    check_end(passage, CAIRN_E_SUSPENDED, "waiting");
    CHECK_STR(fake.said, "suspend 1.paid wait completed 1 event paid timeout -1 took s1; "
                         "2.k wait completed 3 event paid timeout 50 took s3; "
                         "3.paid#2 wait waiting event paid timeout 50;\n");
}

TEST(a_remembered_wait_answers_with_the_payload_or_that_none_came)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake_remember(&fake, "a", "wait", "completed", "[1]");
    fake_remember(&fake, "b", "wait", "skipped", NULL)->error = "WAITING_TIMEOUT";
    fake_remember(&fake, "c", "wait", "waiting", NULL);
    cairn_received event = {"s1", "e", "1", 1};
    fake.memory.events = &event;
    fake.memory.event_count = 1; /* too late for b, and it is for the engine to give to c */
    const char *payload;
    cairn_error error;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_OK(cairn_passage_wait_event(passage, "a", "e", -1, &payload, &error));
    CHECK_STR(payload, "[1]");
    CHECK_INT(cairn_passage_wait_event(passage, "b", "e", 5, &payload, &error),
              CAIRN_E_TIMED_OUT);
    CHECK(strstr(error.message, "\"e\""), "%s", error.message);
    CHECK_INT(cairn_passage_wait_event(passage, "c", "e", 5, &payload, NULL),
              CAIRN_E_SUSPENDED);
    check_end(passage, CAIRN_E_SUSPENDED, "waiting");
    CHECK_STR(fake.said, "suspend\n");
}

TEST(after_a_conflict_the_signals_are_those_read_anew_without_those_taken)
{
    struct fake_engine fake;
    fake_init(&fake);
    cairn_received before[] = {{"s1", "e", "1", 1}};
    cairn_received anew[] = {{"s1", "e", "1", 1}, {"s2", "e", "2", 2}};
    fake.memory.events = before;
    fake.memory.event_count = 1;
    fake.answers[0] =
        (struct fake_answer){.is_conflict = true, .events = anew, .event_count = 2};
    struct code a = {0};
    const char *payload;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_wait_event(passage, NULL, "e", -1, &payload, NULL), CAIRN_OK);
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK);
    CHECK_INT(cairn_passage_wait_event(passage, NULL, "e", -1, &payload, NULL), CAIRN_OK);
    CHECK_STR(payload, "2");
    CHECK_INT(cairn_passage_wait_event(passage, NULL, "e", -1, &payload, NULL),
              CAIRN_E_SUSPENDED);
    check_end(passage, CAIRN_E_SUSPENDED, "waiting");
}

/* ---- values and starts ----------------------------------------------------------------------
 */

TEST(values_are_the_same_in_every_passage)
{
    struct fake_engine fake;
    fake_init(&fake);
    int64_t now_us;
    double chance, again;
    char id[40], same[40], number[64], quoted[64];
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_now(passage, &now_us, NULL), CAIRN_OK);
    CHECK_INT(cairn_passage_random(passage, &chance, NULL), CAIRN_OK);
    CHECK_INT(cairn_passage_uuid(passage, id, NULL), CAIRN_OK);
    CHECK(chance >= 0 && chance < 1, "%g", chance);
    CHECK(id_is_valid(id), "%s", id);
    snprintf(number, sizeof number, "%s", passage->buffer.steps[1].output);
    snprintf(quoted, sizeof quoted, "%s", passage->buffer.steps[2].output);
    check_end(passage, CAIRN_OK, "completed");

    fake_remember(&fake, "now", "value", "completed", "1000000");
    fake_remember(&fake, "random", "value", "completed", number);
    fake_remember(&fake, "uuid", "value", "completed", quoted);
    fake.now_us += 12345;
    passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_now(passage, &now_us, NULL), CAIRN_OK);
    CHECK_INT(now_us, 1000000);
    CHECK_INT(cairn_passage_random(passage, &again, NULL), CAIRN_OK);
    CHECK(again == chance, "%.17g is not %.17g", again, chance);
    CHECK_INT(cairn_passage_uuid(passage, same, NULL), CAIRN_OK);
    CHECK_STR(same, id);
    check_end(passage, CAIRN_OK, "completed");
}

TEST(a_remembered_value_that_is_none_is_told)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake_remember(&fake, "now", "value", "completed", "\"x\"");
    fake_remember(&fake, "uuid", "value", "completed", "\"x\"");
    fake_remember(&fake, "j", "start", "completed", "{}");
    int64_t now_us;
    char id[40];
    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    job.type = "j";
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_now(passage, &now_us, NULL), CAIRN_E_BAD_JSON);
    CHECK_INT(cairn_passage_uuid(passage, id, NULL), CAIRN_E_BAD_JSON);
    CHECK_INT(cairn_passage_start_job(passage, NULL, &job, id, NULL), CAIRN_E_BAD_JSON);
    check_end(passage, CAIRN_OK, "completed");
}

static cairn_code start_both(cairn_passage *passage, char job_id[40], char start_id[40])
{
    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    job.type = "mail.v1";
    start.workflow = "child";
    cairn_code code = cairn_passage_start_job(passage, NULL, &job, job_id, NULL);
    return code ? code : cairn_passage_start_workflow(passage, "kid", &start, start_id, NULL);
}

TEST(jobs_and_workflows_are_started_in_the_commit_that_remembers_them)
{
    struct fake_engine fake;
    fake_init(&fake);
    char job_id[40], start_id[40], again[40], wanted[256];
    cairn_job_spec bad = CAIRN_JOB_DEFAULTS;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_start_job(passage, "k", &bad, again, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(start_both(passage, job_id, start_id), CAIRN_OK);
    check_end(passage, CAIRN_OK, "completed");
    snprintf(wanted, sizeof wanted,
             "complete 1.mail.v1 start completed {\"id\":\"%s\"}; 2.kid start completed "
             "{\"id\":\"%s\"}; job mail.v1 at 1; start child at 2;\n",
             job_id, start_id);
    CHECK_STR(fake.said, wanted);
    CHECK(strcmp(job_id, start_id) != 0, "twice %s", job_id);

    fake_remember(&fake, "mail.v1", "start", "completed", "{\"id\": \"one\"}");
    fake_remember(&fake, "kid", "start", "completed", "{\"id\": \"two\"}");
    fake.said[0] = '\0';
    passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(start_both(passage, job_id, start_id), CAIRN_OK);
    CHECK_STR(job_id, "one");
    CHECK_STR(start_id, "two");
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(fake.said, "complete\n");
}

TEST(a_refused_commit_is_sent_again_without_what_it_starts_and_the_function_has_failed)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake.answers[0] =
        (struct fake_answer){.code = CAIRN_E_NOT_FOUND, .message = "no workflow \"child\""};
    struct code a = {0};
    char job_id[40], start_id[40];
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_PASSAGE);
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK);
    CHECK_INT(start_both(passage, job_id, start_id), CAIRN_OK);
    check_end(passage, CAIRN_OK, "failed");
    const char *second = strchr(fake.said, '\n') + 1;
    CHECK_STR(
        second,
        "fail 1.a task completed null; 2.mail.v1 start failed error the commit was "
        "refused: no workflow \"child\"; 3.kid start failed error the commit was refused: "
        "no workflow \"child\"; error the commit was refused: no workflow \"child\"\n");
}

TEST(a_commit_that_is_refused_once_more_becomes_a_bare_failure)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake.answers[0] =
        (struct fake_answer){.code = CAIRN_E_TOO_LARGE, .message = "output is too large"};
    fake.answers[1] = fake.answers[0];
    struct code a = {0}, b = {0};
    cairn_error error;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK);
    CHECK_INT(do_step(passage, "b", &b, NULL, &error), CAIRN_E_TOO_LARGE);
    CHECK_STR(error.message, "output is too large");
    CHECK_INT(do_step(passage, "c", &b, NULL, NULL), CAIRN_E_TOO_LARGE);
    CHECK_INT(b.calls, 0);
    check_end(passage, CAIRN_OK, "failed");
    CHECK_STR(fake.said,
              "go_on 1.a task completed null;\n"
              "fail 1.a task completed null; error the commit was refused: output is too "
              "large\n"
              "fail error the commit was refused: output is too large\n");
}

/* ---- being stopped --------------------------------------------------------------------------
 */

TEST(a_pause_acts_at_the_boundary_and_what_is_finished_is_kept)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake.answers[0].stop = "paused";
    struct code a = {0}, b = {0};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK);
    CHECK_INT(do_step(passage, "b", &b, NULL, NULL), CAIRN_E_SUSPENDED);
    CHECK_STR(cairn_passage_stop(passage), "paused");
    CHECK_INT(b.calls, 0);
    check_end(passage, CAIRN_E_SUSPENDED, "waiting");
    CHECK_STR(fake.said, "go_on 1.a task completed null;\nsuspend\n");

    fake_init(&fake);
    fake.answers[0].stop = "paused";
    passage = fake_open(&fake, CAIRN_COMMIT_PASSAGE);
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK);
    CHECK_INT(do_step(passage, "b", &b, NULL, NULL), CAIRN_E_SUSPENDED);
    check_end(passage, CAIRN_OK, "waiting"); /* a function that swallows it does no harm */
    CHECK_STR(fake.said, "look\nsuspend 1.a task completed null;\n");
}

TEST(a_cancel_takes_one_last_commit)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake.answers[0] = (struct fake_answer){.stop = "cancelled", .is_released = true};
    struct code a = {0}, b = {0};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK);
    CHECK_INT(do_step(passage, "b", &b, NULL, NULL), CAIRN_E_SUSPENDED);
    CHECK_INT(cairn_passage_end(passage, CAIRN_E_SUSPENDED, NULL, NULL), CAIRN_OK);
    CHECK_STR(fake.said, "go_on 1.a task completed null;\n");

    fake_init(&fake);
    fake.answers[0].stop = "cancelled";
    passage = fake_open(&fake, CAIRN_COMMIT_PASSAGE);
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK);
    CHECK_INT(cairn_passage_log(passage, "info", "last words", NULL, NULL), CAIRN_OK);
    CHECK_INT(do_step(passage, "b", &b, NULL, NULL), CAIRN_E_SUSPENDED);
    CHECK_INT(cairn_passage_end(passage, CAIRN_E_SUSPENDED, NULL, NULL), CAIRN_OK);
    CHECK_STR(fake.said, "look\nsuspend 1.a task completed null; log info last words;\n");
    CHECK_INT(b.calls, 0);
}

TEST(an_abort_drops_what_is_not_committed)
{
    struct fake_engine fake;
    struct code a = {0}, b = {0};
    cairn_error error;
    const char *const words[] = {"aborted", "superseded", "rollback"};
    for (size_t i = 0; i < 3; i++) {
        fake_init(&fake);
        fake.answers[0].stop = words[i];
        cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_PASSAGE);
        CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK);
        CHECK_INT(do_step(passage, "b", &b, NULL, &error), CAIRN_E_LEASE_LOST);
        CHECK(strstr(error.message, words[i]), "%s", error.message);
        CHECK_INT(cairn_passage_sleep(passage, NULL, 0, NULL), CAIRN_E_LEASE_LOST);
        CHECK_INT(cairn_passage_log(passage, "info", "x", NULL, NULL), CAIRN_E_LEASE_LOST);
        fake.answers[1].code = CAIRN_E_LEASE_LOST;
        CHECK_INT(cairn_passage_end(passage, CAIRN_OK, NULL, NULL), CAIRN_E_LEASE_LOST);
        CHECK_STR(fake.said, "look\nsuspend\n"); /* refused, but it ends the lease */
    }
    CHECK_INT(b.calls, 0);
}

TEST(a_worker_that_ends_has_the_passage_suspended)
{
    struct fake_engine fake;
    fake_init(&fake);
    atomic_bool is_stopping = false;
    struct code a = {0}, b = {0};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    passage->is_stopping = &is_stopping;
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK);
    atomic_store(&is_stopping, true);
    CHECK_INT(do_step(passage, "b", &b, NULL, NULL), CAIRN_E_SUSPENDED);
    check_end(passage, CAIRN_E_SUSPENDED, "waiting");
    CHECK_STR(fake.said, "suspend 1.a task completed null;\n");
    CHECK_INT(b.calls, 0);
}

TEST(a_store_that_is_gone_ends_the_passage_and_nothing_more_is_sent)
{
    struct fake_engine fake;
    const cairn_code codes[] = {CAIRN_E_UNREACHABLE, CAIRN_E_BUSY, CAIRN_E_LEASE_LOST};
    struct code a = {0}, b = {0};
    cairn_error error;
    for (size_t i = 0; i < 3; i++) {
        fake_init(&fake);
        fake.answers[0] = (struct fake_answer){.code = codes[i], .message = "sorry"};
        cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
        CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK);
        CHECK_INT(do_step(passage, "b", &b, NULL, &error), codes[i]);
        CHECK_STR(error.message, "sorry");
        CHECK_INT(cairn_passage_sleep(passage, NULL, 1, NULL), codes[i]);
        char status[24] = "x";
        CHECK_INT(cairn_passage_end(passage, CAIRN_OK, status, &error), codes[i]);
        CHECK_STR(error.message, "sorry");
        CHECK_STR(status, "");
        CHECK_STR(fake.said, "go_on 1.a task completed null;\n");
    }
    CHECK_INT(b.calls, 0);
}

TEST(an_end_that_is_not_accepted_says_so)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake.answers[0] = (struct fake_answer){.code = CAIRN_E_LEASE_LOST, .message = "sorry"};
    cairn_error error;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_end(passage, CAIRN_OK, NULL, &error), CAIRN_E_LEASE_LOST);
    CHECK_STR(error.message, "sorry");
    CHECK_STR(fake.said, "complete\n");
}

/* ---- how it fails ---------------------------------------------------------------------------
 */

TEST(a_function_fails_with_its_own_words_or_with_those_of_the_call)
{
    struct fake_engine fake;
    struct code a = {.outcome = CAIRN_DEAD, .error = "no card"};
    fake_init(&fake);
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    cairn_passage_set_error(passage, "my own");
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_E_STEP_FAILED);
    check_end(passage, CAIRN_E_STEP_FAILED, "failed");
    CHECK(strstr(fake.said, "; error my own\n"), "%s", fake.said);

    fake_init(&fake);
    passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_sleep(passage, "#", 1, NULL), CAIRN_E_BAD_INPUT);
    check_end(passage, CAIRN_E_BAD_INPUT, "failed");
    CHECK(strstr(fake.said, "fail error key \"#\" has a"), "%s", fake.said);

    fake_init(&fake);
    passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    check_end(passage, CAIRN_E_FORBIDDEN, "failed");
    CHECK_STR(fake.said, "fail error the token's role does not allow this\n");
}

TEST(an_output_of_the_function_must_be_json)
{
    struct fake_engine fake;
    fake_init(&fake);
    cairn_error error;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_OK(cairn_passage_set_output(passage, "1", &error));
    CHECK_INT(cairn_passage_set_output(passage, "{", &error), CAIRN_E_BAD_JSON);
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(fake.said, "complete output 1\n");
}

/* ---- logs -----------------------------------------------------------------------------------
 */

static cairn_outcome log_and_complete(cairn_work *work, void *arg)
{
    (void)work;
    return cairn_passage_log(arg, "warn", "inside", "{\"n\": 1}", NULL) ? CAIRN_DEAD
                                                                        : CAIRN_COMPLETE;
}

TEST(logs_are_not_repeated_while_the_code_goes_through_what_is_remembered)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake_remember(&fake, "a", "task", "completed", "1");
    fake_remember(&fake, "b", "task", "ready", NULL)->attempts = 1;
    struct code a = {0};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_log(passage, "info", "one", NULL, NULL), CAIRN_OK);
    do_step(passage, "a", &a, NULL, NULL);
    CHECK_INT(cairn_passage_log(passage, "info", "two", NULL, NULL), CAIRN_OK);
    cairn_step_options b = options_of("b", &a);
    b.run = log_and_complete;
    b.arg = passage;
    CHECK_INT(cairn_passage_step(passage, &b, NULL, NULL), CAIRN_OK);
    CHECK_INT(cairn_passage_log(passage, "info", "three", NULL, NULL), CAIRN_OK);
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(fake.said, "complete 2.b task completed null attempts 1/3; log warn inside "
                         "{\"n\": 1} of b/2; log info three;\n");
}

/* After a commit without them, a crash has the next passage log them; with them, twice. */
TEST(logs_that_no_step_follows_wait_for_the_next_one)
{
    struct fake_engine fake;
    fake_init(&fake);
    struct code a = {0};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    cairn_passage_log(passage, "info", "one", NULL, NULL);
    do_step(passage, "a", &a, NULL, NULL);
    cairn_passage_log(passage, "info", "two", NULL, NULL);
    do_step(passage, "b", &a, NULL, NULL);
    cairn_passage_log(passage, "info", "three", NULL, NULL);
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(fake.said, "go_on 1.a task completed null; log info one;\n"
                         "complete 2.b task completed null; log info two; log info three;\n");

    fake_init(&fake);
    fake.answers[1].stop = "paused";
    passage = fake_open(&fake, CAIRN_COMMIT_PASSAGE);
    do_step(passage, "a", &a, NULL, NULL);
    do_step(passage, "b", &a, NULL, NULL);
    cairn_passage_log(passage, "info", "again when resumed", NULL, NULL);
    CHECK_INT(do_step(passage, "c", &a, NULL, NULL), CAIRN_E_SUSPENDED);
    check_end(passage, CAIRN_E_SUSPENDED, "waiting");
    CHECK_STR(fake.said,
              "look\nlook\nsuspend 1.a task completed null; 2.b task completed null;\n");
}

TEST(logs_are_checked_and_their_number_is_bounded)
{
    struct fake_engine fake;
    fake_init(&fake);
    cairn_passage_costs costs = {.size = sizeof costs};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_log(passage, "loud", "x", NULL, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_passage_log(passage, "info", NULL, NULL, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_passage_log(passage, "info", "\xff", NULL, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_passage_log(passage, "info", "x", "{", NULL), CAIRN_E_BAD_JSON);
    for (int i = 0; i < BUFFER_LOGS + 1; i++)
        CHECK_INT(cairn_passage_log(passage, "info", "x", NULL, NULL), CAIRN_OK);
    cairn_passage_count(passage, &costs);
    CHECK_INT(costs.commits, 1);
    fake.said[0] = '\0';
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(fake.said, "complete log info x;\n");
}

/* ---- opening, and running out of memory -----------------------------------------------------
 */

TEST(only_a_functions_task_can_be_opened)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake.task.kind = "step";
    CHECK(!fake_open(&fake, CAIRN_COMMIT_STEP), "a step was opened");
    fake.task.kind = "function";
    fake.task.memory = NULL;
    CHECK(!fake_open(&fake, CAIRN_COMMIT_STEP), "a task without memory was opened");
    fake.task.memory = &fake.memory;
    CHECK(!fake_open(&fake, (cairn_commit_mode)0), "a mode that does not exist");
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_STR(cairn_passage_task(passage)->type, "order");
    CHECK(cairn_passage_task(passage)->type != fake.task.type ||
              cairn_passage_task(passage)->id != fake.task.id,
          "the task was not copied");
    CHECK(!cairn_passage_stop(passage), "stopped");
    check_end(passage, CAIRN_OK, "completed");
}

/* Everything once; returns the first code that is not OK. */
static cairn_code do_everything(cairn_passage *passage, struct code *code)
{
    int64_t now_us;
    char id[40], other[40];
    const char *text;
    cairn_step_options options = options_of("b", code);
    options.input = "[1]";
    options.compensation = "undo";
    options.timeout_ms = 1000;
    cairn_code result = do_step(passage, "a", code, &text, NULL);
    if (!result)
        result = cairn_passage_log(passage, "info", "message", "1", NULL);
    if (!result)
        result = cairn_passage_step(passage, &options, &text, NULL);
    if (!result)
        result = cairn_passage_now(passage, &now_us, NULL);
    if (!result)
        result = cairn_passage_wait_event(passage, NULL, "e", -1, &text, NULL);
    if (!result)
        result = start_both(passage, id, other);
    for (int i = 0; i < 70 && !result; i++)
        result = cairn_passage_uuid(passage, id, NULL);
    if (!result)
        result = do_step(passage, "c", code, &text, NULL);
    return result ? result : cairn_passage_set_output(passage, "1", NULL);
}

/* Wherever it runs out, the function is not told to have failed: the lease runs out, and another
 * passage begins. */
TEST(memory_that_runs_out_ends_the_passage_and_nothing_else)
{
    struct fake_engine fake;
    cairn_received event = {"s1", "e", "1", 1};
    bool is_done = false;
    long count = 0;
    for (; count < 5000 && !is_done; count++) {
        struct code code = {.output = "1", .emits = "done"};
        fake_init(&fake);
        fake_remember(&fake, "a", "task", "completed", "1");
        fake.memory.events = &event;
        fake.memory.event_count = 1;
        mem_fail_after(count);
        cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
        if (!passage) {
            mem_fail_after(-1);
            continue;
        }
        cairn_code result = do_everything(passage, &code);
        cairn_code ended = cairn_passage_end(passage, result, NULL, NULL);
        mem_fail_after(-1);
        CHECK(ended == CAIRN_OK || ended == CAIRN_E_OUT_OF_MEMORY, "%ld: %d", count,
              (int)ended);
        CHECK(!strstr(fake.said, "fail"), "%ld: %s", count, fake.said);
        CHECK(ended || strstr(fake.said, "complete "), "%ld: %s", count, fake.said);
        is_done = ended == CAIRN_OK;
    }
    CHECK(is_done && count > 10, "%ld allocations", count);
}
