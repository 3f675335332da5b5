/* tests/unit/test_passage.c - a passage of a function: what it remembers, and how its steps end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fake_engine.h"
#include "test.h"

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
        cairn_passage_free(passage);
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

/* ---- steps side by side ---------------------------------------------------------------------
 */

static cairn_work *begin(cairn_passage *passage, const char *key)
{
    struct code none = {0};
    cairn_step_options options = options_of(key, &none);
    cairn_work *work = NULL;
    cairn_error error;
    CHECK_OK(cairn_passage_begin_step(passage, &options, &work, NULL, &error));
    return work;
}

static cairn_code end(cairn_passage *passage, cairn_work *work, cairn_outcome outcome,
                      const char *output)
{
    cairn_work_set_output(work, output);
    return cairn_passage_end_step(passage, work, outcome, NULL, NULL);
}

TEST(steps_side_by_side_are_committed_in_the_order_in_which_they_began)
{
    struct fake_engine fake;
    fake_init(&fake);
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    cairn_work *a = begin(passage, "a"), *b = begin(passage, "b"), *c = begin(passage, "a");
    CHECK_STR(cairn_work_task(b)->step, "b");
    CHECK_STR(cairn_work_task(c)->step, "a#2");
    CHECK_INT(cairn_passage_now(passage, &fake.now_us, NULL), CAIRN_E_WRONG_STATE);
    CHECK_INT(end(passage, c, CAIRN_COMPLETE, "3"), CAIRN_OK);
    CHECK_INT(end(passage, b, CAIRN_COMPLETE, "2"), CAIRN_OK);
    CHECK_INT(cairn_passage_end_step(passage, b, CAIRN_COMPLETE, NULL, NULL),
              CAIRN_E_BAD_INPUT);
    cairn_work *d = begin(passage, "d");
    CHECK_STR(fake.said, "look\n"); /* what has ended waits for a */
    CHECK_INT(end(passage, a, CAIRN_COMPLETE, "1"), CAIRN_OK);
    CHECK_INT(end(passage, begin(passage, "e"), CAIRN_COMPLETE, "5"), CAIRN_OK);
    CHECK_STR(
        fake.said,
        "look\ngo_on 1.a task completed 1; 2.b task completed 2; 3.a#2 task completed 3;\n");
    CHECK_INT(end(passage, d, CAIRN_COMPLETE, "4"), CAIRN_OK);
    check_end(passage, CAIRN_OK, "completed");
    CHECK(strstr(fake.said, "complete 4.d task completed 4; 5.e task completed 5;\n"), "%s",
          fake.said);
}

TEST(a_step_that_is_called_again_suspends_when_its_neighbours_have_ended)
{
    struct fake_engine fake;
    fake_init(&fake);
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_PASSAGE);
    cairn_work *a = begin(passage, "a"), *b = begin(passage, "b");
    CHECK_INT(end(passage, a, CAIRN_FAIL, "0"), CAIRN_E_SUSPENDED);
    struct code none = {0};
    CHECK_INT(do_step(passage, "c", &none, NULL, NULL), CAIRN_E_SUSPENDED);
    CHECK_INT(end(passage, b, CAIRN_COMPLETE, "2"), CAIRN_E_SUSPENDED);
    check_end(passage, CAIRN_E_SUSPENDED, "waiting");
    CHECK(strstr(fake.said, "1.a task ready attempts 1/3"), "%s", fake.said);
    CHECK(strstr(fake.said, "2.b task completed 2;"), "%s", fake.said);
    CHECK_INT(none.calls, 0);
}

TEST(a_step_that_was_not_ended_is_called_again_if_a_later_one_has_ended)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake_remember(&fake, "a", "task", "completed", "1");
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK(!begin(passage, "a"), "a is remembered");
    begin(passage, "b");
    cairn_work *c = begin(passage, "c");
    begin(passage, "d");
    CHECK_INT(end(passage, c, CAIRN_COMPLETE, "3"), CAIRN_OK);
    check_end(passage, CAIRN_E_INTERNAL, "failed");
    CHECK(strstr(fake.said, "2.b task ready"), "%s", fake.said);
    CHECK(strstr(fake.said, "3.c task completed 3;"), "%s", fake.said);
    CHECK(!strstr(fake.said, "4.d"), "%s", fake.said);
}

static cairn_outcome begin_inside(cairn_work *work, void *arg)
{
    struct code none = {0};
    (void)work;
    CHECK_INT(do_step(arg, "inner", &none, NULL, NULL), CAIRN_E_WRONG_STATE);
    return CAIRN_COMPLETE;
}

TEST(a_step_that_is_dropped_is_not_remembered_and_may_be_asked_for_again)
{
    struct fake_engine fake;
    fake_init(&fake);
    struct code code = {0};
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    CHECK_INT(cairn_passage_drop_step(passage, begin(passage, "a"), NULL), CAIRN_OK);
    CHECK_INT(do_step(passage, "a", &code, NULL, NULL), CAIRN_OK);
    cairn_work *second = begin(passage, "a"), *c = begin(passage, "c");
    CHECK_STR(cairn_work_task(second)->step, "a#2");
    CHECK_INT(end(passage, c, CAIRN_COMPLETE, "3"), CAIRN_OK);
    CHECK_INT(cairn_passage_drop_step(passage, c, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_passage_drop_step(passage, second, NULL), CAIRN_OK); /* c is settled */
    CHECK_INT(do_step(passage, "a", &code, NULL, NULL), CAIRN_OK);
    check_end(passage, CAIRN_OK, "completed");
    CHECK_STR(fake.said, "go_on 1.a task forgotten;\ngo_on 2.a task completed null;\n"
                         "go_on 3.a#2 task forgotten; 4.c task completed 3;\n"
                         "complete 5.a#2 task completed null;\n");
}

TEST(a_run_after_one_that_dropped_a_step_may_take_either_way)
{
    for (int way = 0; way < 3; way++) {
        struct fake_engine fake;
        fake_init(&fake);
        fake.memory.places++; /* "a" was dropped there */
        fake_remember(&fake, "b", "task", "completed", "1");
        struct code code = {0};
        cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
        if (way == 0)
            CHECK_INT(cairn_passage_drop_step(passage, begin(passage, "a"), NULL), CAIRN_OK);
        if (way == 1)
            CHECK_INT(do_step(passage, "a", &code, NULL, NULL), CAIRN_OK);
        CHECK_INT(do_step(passage, "b", &code, NULL, NULL), CAIRN_OK);
        CHECK_INT(code.calls, way == 1);
        check_end(passage, CAIRN_OK, "completed");
    }
}

TEST(a_retry_that_is_dropped_keeps_its_attempts)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake_remember(&fake, "a", "task", "ready", NULL)->attempts = 1;
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    cairn_work *work = begin(passage, "a");
    CHECK_INT(cairn_work_task(work)->attempt, 2);
    CHECK_INT(cairn_passage_drop_step(passage, work, NULL), CAIRN_OK);
    work = begin(passage, "a");
    CHECK_INT(cairn_work_task(work)->attempt, 2);
    CHECK_INT(end(passage, work, CAIRN_COMPLETE, "1"), CAIRN_OK);
    check_end(passage, CAIRN_OK, "completed");
}

TEST(the_code_of_a_step_cannot_ask_for_another_one)
{
    struct fake_engine fake;
    fake_init(&fake);
    cairn_passage *passage = fake_open(&fake, CAIRN_COMMIT_STEP);
    cairn_step_options outer = CAIRN_STEP_DEFAULTS;
    outer.key = "outer";
    outer.run = begin_inside;
    outer.arg = passage;
    CHECK_INT(cairn_passage_step(passage, &outer, NULL, NULL), CAIRN_OK);
    check_end(passage, CAIRN_OK, "completed");
}
