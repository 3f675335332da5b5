/* tests/unit/test_passage_end.c - how a function fails, what it logs, and memory that runs out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "fake_engine.h"
#include "test.h"

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
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_E_STEP_FAILED);
    CHECK_INT(cairn_passage_log(passage, "error", "oh", NULL, NULL), CAIRN_OK);
    check_end(passage, CAIRN_E_STEP_FAILED, "failed"); /* of the step, whatever came after */
    CHECK(strstr(fake.said, "; error no card of a\n"), "%s", fake.said);

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
    check_end(passage, CAIRN_E_SUSPENDED, "ready");
    CHECK_STR(fake.said,
              "look\nlook\nagain 1.a task completed null; 2.b task completed null;\n");
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
    cairn_passage_costs_get(passage, &costs, NULL);
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
    const cairn_received *event = &(cairn_received){"s1", "e", "1", 1};
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
        cairn_passage_free(passage);
        mem_fail_after(-1);
        CHECK(ended == CAIRN_OK || ended == CAIRN_E_OUT_OF_MEMORY, "%ld: %d", count,
              (int)ended);
        CHECK(!strstr(fake.said, "fail"), "%ld: %s", count, fake.said);
        CHECK(ended || strstr(fake.said, "complete "), "%ld: %s", count, fake.said);
        is_done = ended == CAIRN_OK;
    }
    CHECK(is_done && count > 10, "%ld allocations", count);
}
