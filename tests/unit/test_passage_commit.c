/* tests/unit/test_passage_commit.c - what a passage says to the engine, when, and what ends it early.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "fake_engine.h"
#include "test.h"

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
    cairn_passage_costs_get(passage, &costs, NULL);
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
    cairn_passage_costs_get(passage, &costs, NULL);
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
    cairn_passage_costs_get(passage, &costs, NULL);
    CHECK_INT(costs.commits, 0);
    CHECK_INT(cairn_passage_random(passage, &value, NULL), CAIRN_OK);
    cairn_passage_costs_get(passage, &costs, NULL);
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
    cairn_passage_costs_get(passage, &costs, NULL);
    CHECK_INT(costs.commits, 1);
    CHECK_INT(costs.heartbeats, 1);
    check_end(passage, CAIRN_OK, "completed");
}

/* ---- being refused ---------------------------------------------------------------------------
 */

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

TEST(a_commit_that_is_refused_once_more_keeps_its_steps_one_by_one_as_failed_if_need_be)
{
    struct fake_engine fake;
    fake_init(&fake);
    fake.answers[0] =
        (struct fake_answer){.code = CAIRN_E_TOO_LARGE, .message = "output is too large"};
    fake.answers[1] = fake.answers[2] = fake.answers[0];
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
              "go_on 1.a task completed null;\n"
              "go_on 1.a task failed error the commit was refused: output is too large;\n"
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
    check_end(passage, CAIRN_E_SUSPENDED, "ready");
    CHECK_STR(fake.said, "go_on 1.a task completed null;\nagain\n");

    fake_init(&fake);
    fake.answers[0].stop = "paused";
    passage = fake_open(&fake, CAIRN_COMMIT_PASSAGE);
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK);
    CHECK_INT(do_step(passage, "b", &b, NULL, NULL), CAIRN_E_SUSPENDED);
    check_end(passage, CAIRN_OK, "ready"); /* a function that swallows it does no harm */
    CHECK_STR(fake.said, "look\nagain 1.a task completed null;\n");
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
    cairn_passage_free(passage);
    CHECK_STR(fake.said, "go_on 1.a task completed null;\n");

    fake_init(&fake);
    fake.answers[0].stop = "cancelled";
    passage = fake_open(&fake, CAIRN_COMMIT_PASSAGE);
    CHECK_INT(do_step(passage, "a", &a, NULL, NULL), CAIRN_OK);
    CHECK_INT(cairn_passage_log(passage, "info", "last words", NULL, NULL), CAIRN_OK);
    CHECK_INT(do_step(passage, "b", &b, NULL, NULL), CAIRN_E_SUSPENDED);
    CHECK_INT(cairn_passage_end(passage, CAIRN_E_SUSPENDED, NULL, NULL), CAIRN_OK);
    cairn_passage_free(passage);
    CHECK_STR(fake.said, "look\nagain 1.a task completed null; log info last words;\n");
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
        cairn_passage_free(passage);
        CHECK_STR(fake.said, "look\nsuspend\n"); /* refused, but it ends the lease */
    }
    CHECK_INT(b.calls, 0);
}

TEST(a_worker_that_ends_leaves_the_rest_to_another_passage)
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
    check_end(passage, CAIRN_E_SUSPENDED, "ready");
    CHECK_STR(fake.said, "again 1.a task completed null;\n");
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
        cairn_passage_free(passage);
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
    cairn_passage_free(passage);
    CHECK_STR(error.message, "sorry");
    CHECK_STR(fake.said, "complete\n");
}
