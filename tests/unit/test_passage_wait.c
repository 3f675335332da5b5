/* tests/unit/test_passage_wait.c - what a passage waits for, and the values and starts that it remembers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fake_engine.h"
#include "test.h"

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
    const cairn_received *events[] = {&(cairn_received){"s1", "paid", "1", 1},
                                      &(cairn_received){"s2", "other", "2", 2},
                                      &(cairn_received){"s3", "paid", "3", 3}};
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
    const cairn_received *event = &(cairn_received){"s1", "e", "1", 1};
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
    const cairn_received first = {"s1", "e", "1", 1}, second = {"s2", "e", "2", 2};
    const cairn_received *before[] = {&first};
    const cairn_received *anew[] = {&first, &second};
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
    snprintf(number, sizeof number, "%s", passage->buffer.steps.items[1].output);
    snprintf(quoted, sizeof quoted, "%s", passage->buffer.steps.items[2].output);
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
