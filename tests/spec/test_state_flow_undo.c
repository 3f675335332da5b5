/* tests/spec/test_state_flow_undo.c - compensations of durable functions: in reverse, with input and
 * output, and what becomes of those that cannot be done.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#include "function_world.h"

#include <stdio.h>
#include <string.h>

static cairn_code order(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_step_options charge = CAIRN_STEP_DEFAULTS;
    charge.key = "charge";
    charge.input = "{\"amount\": 5}";
    charge.compensation = "undo.charge";
    charge.compensation_max_attempts = 2;
    charge.retries = 1;
    PASS_ON(fn_step_undoable(world, "reserve"));
    PASS_ON(fn_step(world, "plain"));
    PASS_ON(fn_step_as(world, &charge, NULL));
    PASS_ON(cairn_passage_sleep(passage, NULL, 1000, NULL));
    PASS_ON(fn_step_undoable(world, "ship"));
    cairn_passage_set_error(passage, "the end is bad");
    return CAIRN_E_INTERNAL;
}

static void begin_order(struct function_world *world, cairn_commit_mode mode)
{
    fn_begin(world, order, mode);
    fn_passage(world, "waiting");
    wf_advance(&world->flow, SECOND_MS);
}

TEST(a_function_that_fails_is_undone_in_reverse)
{
    struct function_world world;
    MODES(mode)
    {
        begin_order(&world, mode);
        fn_passage(&world, "rolled_back");
        fn_undo_all(&world, "ship charge reserve");
        fn_check_status(&world, "failed");
        wf_check_last_error(&world.flow, "f", "the end is bad", 1);
        fn_check_steps(&world, "f:rolled_back reserve:rolled_back plain:rolled_back "
                               "charge:rolled_back sleep:rolled_back ship:rolled_back");
        fn_check_calls(&world, "charge:1 plain:1 reserve:1 ship:1");
        fn_end(&world);
    }
}

TEST(a_function_that_is_cancelled_is_undone_in_reverse)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, order, mode);
        fn_passage(&world, "waiting");
        fn_cancel(&world);
        fn_undo_all(&world, "charge reserve");
        fn_check_status(&world, "cancelled");
        fn_end(&world);
    }
}

static cairn_code fine(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    (void)passage;
    PASS_ON(fn_step_undoable(world, "one"));
    options.key = "two";
    options.retries = 0;
    options.compensation = "undo.two";
    cairn_code code = fn_step_as(world, &options, NULL);
    if (code && code != CAIRN_E_STEP_FAILED)
        return code;
    return fn_step_undoable(world, "three");
}

TEST(a_function_that_completes_undoes_nothing)
{
    struct function_world world;
    fn_begin(&world, fine, CAIRN_COMMIT_STEP);
    fn_passage(&world, "completed");
    fn_check_idle(&world);
    fn_check_status(&world, "completed");
    fn_end(&world);
}

TEST(a_compensation_is_given_the_input_and_the_output_of_its_step)
{
    struct function_world world;
    begin_order(&world, CAIRN_COMMIT_STEP);
    fn_passage(&world, "rolled_back");
    struct task task = wf_take_undo(&world.flow, "ship");
    sg_check_json(task.input, "{\"input\": null, \"output\": {\"by\": \"ship\"}}");
    CHECK_DONE(&world.flow.world, wf_report(&world.flow, &task, CAIRN_COMPLETE, NULL));
    task = wf_take_undo(&world.flow, "charge");
    CHECK_STR(task.type, "undo.charge");
    CHECK_INT(task.attempt, 1);
    CHECK_INT(task.max_attempts, 2);
    sg_check_json(task.input, "{\"input\": {\"amount\": 5}, \"output\": {\"by\": \"charge\"}}");
    fn_end(&world);
}

TEST(the_step_that_failed_is_undone_first_with_output_null)
{
    struct function_world world;
    MODES(mode)
    {
        begin_order(&world, mode);
        fn_fails(&world, "ship", CAIRN_DEAD, 1);
        fn_passage(&world, "rolled_back");
        struct task task = wf_take_undo(&world.flow, "ship");
        sg_check_json(task.input, "{\"input\": null, \"output\": null}");
        CHECK_DONE(&world.flow.world, wf_report(&world.flow, &task, CAIRN_COMPLETE, NULL));
        fn_undo_all(&world, "charge reserve");
        fn_check_status(&world, "failed");
        wf_check_last_error(&world.flow, "ship", "ship is broken", 1);
        fn_end(&world);
    }
}

TEST(a_compensation_is_tried_again_while_calls_are_left)
{
    struct function_world world;
    begin_order(&world, CAIRN_COMMIT_STEP);
    fn_passage(&world, "rolled_back");
    struct task task = wf_take_undo(&world.flow, "ship");
    CHECK_DONE(&world.flow.world, wf_retry(&world.flow, &task, 5000));
    fn_check_idle(&world); /* the others wait for it */
    wf_advance(&world.flow, 5 * SECOND_MS);
    task = wf_take_undo(&world.flow, "ship");
    CHECK_INT(task.attempt, 2);
    CHECK_DONE(&world.flow.world, wf_report(&world.flow, &task, CAIRN_COMPLETE, NULL));
    fn_undo_all(&world, "charge reserve");
    fn_check_status(&world, "failed");
    fn_end(&world);
}

TEST(a_compensation_that_is_exhausted_leaves_a_dlq_record_and_the_rest_is_undone)
{
    struct function_world world;
    MODES(mode)
    {
        begin_order(&world, mode);
        fn_passage(&world, "rolled_back");
        struct task task = wf_take_undo(&world.flow, "ship");
        CHECK_DONE(&world.flow.world, wf_report(&world.flow, &task, CAIRN_DEAD, "no way back"));
        fn_undo_all(&world, "charge reserve");
        fn_check_status(&world, "failed");
        struct record record = sg_record(&world.flow, "ship");
        CHECK_STR(record.error, "no way back");
        CHECK_STR(record.reason, "compensation max retries exceeded");
        CHECK_INT(sg_count_records(&world.flow), 1);
        CHECK_STR(fn_row(&world, "ship")->status, "failed");

        CHECK_DONE(&world.flow.world, sg_requeue(&world.flow, "ship", NULL));
        fn_undo_all(&world, "ship");
        fn_check_status(&world, "failed");
        fn_end(&world);
    }
}

TEST(a_cancel_whose_undo_is_exhausted_ends_failed)
{
    struct function_world world;
    fn_begin(&world, order, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    fn_cancel(&world);
    struct task task = wf_take_undo(&world.flow, "charge");
    CHECK_DONE(&world.flow.world, wf_report(&world.flow, &task, CAIRN_DEAD, "no way back"));
    fn_undo_all(&world, "reserve");
    fn_check_status(&world, "failed");
    fn_end(&world);
}

static cairn_code no_calls(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    (void)passage;
    options.key = "a";
    options.compensation = "undo.a";
    options.compensation_max_attempts = 0;
    PASS_ON(fn_step_as(world, &options, NULL));
    return CAIRN_E_INTERNAL;
}

TEST(a_compensation_of_no_calls_goes_straight_to_the_dlq)
{
    struct function_world world;
    fn_begin(&world, no_calls, CAIRN_COMMIT_STEP);
    fn_passage(&world, "rolled_back");
    fn_check_idle(&world);
    fn_check_status(&world, "failed");
    CHECK_INT(sg_count_records(&world.flow), 1);
    fn_end(&world);
}

static cairn_code limited(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    (void)passage;
    options.key = "a";
    options.compensation = "undo.a";
    options.compensation_timeout_ms = 2000;
    PASS_ON(fn_step_as(world, &options, NULL));
    return CAIRN_E_INTERNAL;
}

TEST(a_compensation_ends_at_its_timeout)
{
    struct function_world world;
    fn_begin(&world, limited, CAIRN_COMMIT_STEP);
    fn_passage(&world, "rolled_back");
    struct task task = wf_take_undo(&world.flow, "a");
    CHECK_INT(task.lease_until_us, START_US + 2 * SECOND_US);
    wf_advance(&world.flow, 2001);
    CHECK_INT(fn_row(&world, "a")->compensation_attempts, 1);
    CHECK_STR(fn_row(&world, "a")->undo_error, "TIMEOUT");
    sg_check_late(&world.flow, &task);
    fn_end(&world);
}

/* The compensation of the one step; the rest is up to the test. */
static cairn_step_options undo_of_a;

static cairn_code as_given(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_step_options options = undo_of_a;
    (void)passage;
    options.key = "a";
    options.compensation = "undo.a";
    PASS_ON(fn_step_as(world, &options, NULL));
    return CAIRN_E_INTERNAL;
}

static void begin_undo(struct function_world *world, const cairn_step_options *undo,
                       cairn_commit_mode mode)
{
    undo_of_a = *undo;
    fn_begin(world, as_given, mode);
    fn_passage(world, "rolled_back");
}

TEST(a_compensation_is_retried_by_its_own_policy)
{
    struct function_world world;
    cairn_step_options undo = CAIRN_STEP_DEFAULTS;
    undo.compensation_backoff = "linear";
    undo.compensation_base_ms = 7000;
    undo.compensation_max_ms = 10000;
    undo.compensation_max_attempts = 4;
    MODES(mode)
    {
        begin_undo(&world, &undo, mode);
        static const int delays_ms[] = {7000, 10000, 10000};
        for (int i = 0; i < 3; i++) {
            struct task task = wf_take_undo(&world.flow, "a");
            CHECK_INT(task.attempt, i + 1);
            CHECK_INT(task.max_attempts, 4);
            CHECK_DONE(&world.flow.world, wf_report(&world.flow, &task, CAIRN_FAIL, "no"));
            wf_advance(&world.flow, delays_ms[i] - 1);
            fn_check_idle(&world);
            wf_advance(&world.flow, 1);
        }
        fn_undo_all(&world, "a");
        fn_check_status(&world, "failed");
        CHECK_INT(sg_count_records(&world.flow), 0);
        fn_end(&world);
    }
}

TEST(a_compensation_has_the_policy_of_a_step_unless_it_has_its_own)
{
    struct function_world world;
    cairn_step_options undo = CAIRN_STEP_DEFAULTS;
    undo.backoff = "fixed"; /* the step's own is not inherited */
    undo.base_ms = 60000;
    begin_undo(&world, &undo, CAIRN_COMMIT_STEP);
    struct task task = wf_take_undo(&world.flow, "a");
    CHECK_DONE(&world.flow.world, wf_report(&world.flow, &task, CAIRN_FAIL, "no"));
    wf_advance(&world.flow, 999);
    fn_check_idle(&world);
    wf_advance(&world.flow, 1);
    fn_undo_all(&world, "a");
    fn_end(&world);
}

TEST(a_compensation_that_is_not_idempotent_is_called_once)
{
    struct function_world world;
    cairn_step_options undo = CAIRN_STEP_DEFAULTS;
    undo.compensation_once = true;
    MODES(mode)
    {
        begin_undo(&world, &undo, mode);
        struct task task = wf_take_undo(&world.flow, "a");
        CHECK_INT(task.max_attempts, 1);
        wf_advance(&world.flow, 30 * SECOND_MS + 1); /* the lease is lost */
        fn_check_idle(&world);
        CHECK_STR(fn_row(&world, "a")->status, "failed");
        CHECK_INT(sg_count_records(&world.flow), 1);
        sg_check_late(&world.flow, &task);
        fn_end(&world);
    }
}

TEST(a_compensation_that_is_not_idempotent_may_have_no_call_at_all)
{
    struct function_world world;
    cairn_step_options undo = CAIRN_STEP_DEFAULTS;
    undo.compensation_once = true;
    undo.compensation_max_attempts = 0;
    begin_undo(&world, &undo, CAIRN_COMMIT_STEP);
    fn_check_idle(&world);
    CHECK_INT(sg_count_records(&world.flow), 1);
    fn_end(&world);
}

/* Each of them is refused, and the step's code is not called. */
static cairn_code refused(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    char large[9000];
    (void)passage;
    memset(large, ' ', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    cairn_step_options one = CAIRN_STEP_DEFAULTS, bad[7];
    one.key = "a";
    one.compensation = "undo.a";
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        bad[i] = one;
    bad[0].compensation_backoff = "odd";
    bad[1].compensation_base_ms = -1;
    bad[2].compensation_max_ms = -1;
    bad[3].compensation_jitter = 1.5;
    bad[4].compensation_jitter = -0.5;
    bad[5].compensation_metadata = "[]";
    bad[6].compensation_max_attempts = -1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_INT(fn_step_as(world, &bad[i], NULL), CAIRN_E_BAD_INPUT);
    one.compensation_metadata = "{";
    CHECK_INT(fn_step_as(world, &one, NULL), CAIRN_E_BAD_JSON);
    one.compensation_metadata = large;
    CHECK_INT(fn_step_as(world, &one, NULL), CAIRN_E_TOO_LARGE);
    return CAIRN_OK;
}

TEST(options_of_a_compensation_that_cannot_be_are_refused_before_anything_is_called)
{
    struct function_world world;
    fn_begin(&world, refused, CAIRN_COMMIT_STEP);
    fn_passage(&world, "completed");
    fn_check_calls(&world, "");
    fn_end(&world);
}

TEST(a_failure_that_was_caught_is_undone_in_its_turn_when_the_function_fails_later)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, fine, mode);
        fn_fails(&world, "two", CAIRN_FAIL, 1);
        fn_of(&world, "three")->outcome = CAIRN_DEAD;
        fn_of(&world, "three")->outcome_count = 1;
        fn_passage(&world, "rolled_back");
        fn_undo_all(&world, "three two one");
        fn_check_status(&world, "failed");
        fn_end(&world);
    }
}

TEST(a_failure_that_was_caught_undoes_nothing)
{
    struct function_world world;
    fn_begin(&world, fine, CAIRN_COMMIT_PASSAGE);
    fn_fails(&world, "two", CAIRN_FAIL, 1);
    fn_passage(&world, "completed");
    fn_check_idle(&world);
    fn_check_status(&world, "completed");
    fn_check_steps(&world, "f:completed one:completed two:failed three:completed");
    fn_end(&world);
}

TEST(lost_leases_that_end_the_function_undo_what_was_committed)
{
    struct function_world world;
    fn_begin_with(&world, fine, CAIRN_COMMIT_STEP, ", \"max_attempts\": 1");
    fn_during(&world, "two", fn_crash);
    fn_passage_crashed(&world);
    fn_undo_all(&world, "one");
    fn_check_status(&world, "failed");
    fn_end(&world);
}

TEST(abort_during_the_undo_ends_it)
{
    struct function_world world;
    begin_order(&world, CAIRN_COMMIT_STEP);
    fn_passage(&world, "rolled_back");
    struct task task = wf_take_undo(&world.flow, "ship");
    fn_abort(&world);
    sg_check_late(&world.flow, &task);
    fn_check_idle(&world);
    fn_check_status(&world, "aborted");
    fn_end(&world);
}

/* ---- keys ----------------------------------------------------------------------------------- */

static cairn_code paid(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    (void)passage;
    PASS_ON(fn_step_undoable(world, "pay"));
    return fn_step(world, "ship");
}

static void check_keys(struct function_world *world, const char *pay, const char *ship)
{
    char wanted[160];
    snprintf(wanted, sizeof wanted, "%s:%s", world->flow.id, pay);
    CHECK_STR(fn_of(world, "pay")->call_key, wanted);
    snprintf(wanted, sizeof wanted, "%s:%s", world->flow.id, ship);
    CHECK_STR(fn_of(world, "ship")->call_key, wanted);
}

TEST(a_step_that_was_undone_is_called_with_a_new_key)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, paid, mode);
        for (int round = 1; round <= 3; round++) {
            char pay[16], undo[64];
            snprintf(pay, sizeof pay, round == 1 ? "pay" : "pay~%d", round);
            snprintf(undo, sizeof undo, "%s:%s:undo", world.flow.id, pay);
            fn_fails(&world, "ship", CAIRN_DEAD, 1);
            fn_passage(&world, "rolled_back");
            check_keys(&world, pay, "ship");
            struct task task = sg_take_undo(&world.flow, "pay");
            CHECK_STR(task.key, undo);
            sg_complete(&world.flow, &task);
            CHECK_DONE(&world.flow.world, wf_again(&world.flow));
        }
        fn_passage(&world, "completed");
        check_keys(&world, "pay~4", "ship");
        CHECK_DONE(&world.flow.world, wf_restart(&world.flow));
        fn_passage(&world, "completed");
        check_keys(&world, "pay~5", "ship~2");
        fn_end(&world);
    }
}

/* The call was made, and nobody has heard of it: a restart wants another effect all the same. */
TEST(a_restart_gives_new_keys_also_after_a_crash)
{
    struct function_world world;
    fn_begin(&world, paid, CAIRN_COMMIT_STEP);
    fn_during(&world, "pay", fn_crash);
    fn_passage_crashed(&world);
    CHECK_STR(fn_of(&world, "pay")->call_key + strlen(world.flow.id), ":pay");
    CHECK_DONE(&world.flow.world, wf_restart(&world.flow));
    fn_passage(&world, "completed");
    check_keys(&world, "pay~2", "ship~2");
    fn_end(&world);
}
