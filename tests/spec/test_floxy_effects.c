/* tests/spec/test_floxy_effects.c - which effect a key names, which error is shown, and where a list
 * ends whose next row is not there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#include <stdio.h>
#include <string.h>

#define U(name) "{step: " name ", compensation: {handler: u" name "}}"

/* The key is the instance's id and this. */
static void check_key(const struct flow_world *fw, const struct task *task, const char *rest)
{
    char wanted[160];
    snprintf(wanted, sizeof wanted, "%s:%s", fw->id, rest);
    CHECK_STR(task->key, wanted);
}

static void do_with_key(struct flow_world *fw, const char *step, const char *key)
{
    struct task task = sg_take(fw, step);
    check_key(fw, &task, key);
    sg_complete(fw, &task);
}

static void undo_with_key(struct flow_world *fw, const char *step, const char *key)
{
    struct task task = sg_take_undo(fw, step);
    check_key(fw, &task, key);
    sg_complete(fw, &task);
}

/* ---- keys ----------------------------------------------------------------------------------- */

TEST(a_key_stays_through_attempts_lost_leases_and_resume)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, max_attempts: 9, on_failure: pause_workflow}"));
    struct task task = sg_take(&fw, "a");
    check_key(&fw, &task, "a");
    CHECK_DONE(&fw.world, wf_retry(&fw, &task, 0));
    task = sg_take(&fw, "a");
    check_key(&fw, &task, "a");
    wf_advance(&fw, 30 * SECOND_MS + 1);
    task = sg_take(&fw, "a");
    check_key(&fw, &task, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_DEAD, "no"));
    CHECK_DONE(&fw.world, wf_resume(&fw));
    do_with_key(&fw, "a", "a");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_key_stays_when_a_step_is_taken_out_of_the_dlq)
{
    struct flow_world fw;
    wf_begin(&fw, "{workflow: w, version: 1, dlq: true, steps: [{step: a}]}");
    sg_fail(&fw, "a");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", "{\"other\": 1}"));
    do_with_key(&fw, "a", "a");
    wf_close(&fw);
}

TEST(an_undone_step_is_called_again_with_a_new_key)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b}, " U("c")));
    for (int round = 1; round <= 3; round++) {
        char key[16], undo[32];
        snprintf(key, sizeof key, round == 1 ? "a" : "a~%d", round);
        snprintf(undo, sizeof undo, "%s:undo", key);
        do_with_key(&fw, "a", key);
        struct task b = sg_take(&fw, "b");
        check_key(&fw, &b, "b"); /* it failed, and nobody has undone it */
        CHECK_DONE(&fw.world, wf_report(&fw, &b, CAIRN_DEAD, "no"));
        undo_with_key(&fw, "a", undo);
        wf_check_status(&fw, "failed");
        CHECK_DONE(&fw.world, wf_again(&fw));
    }
    do_with_key(&fw, "a", "a~4");
    do_with_key(&fw, "b", "b");
    do_with_key(&fw, "c", "c"); /* the number counts a step's own effects */
    wf_close(&fw);
}

TEST(a_restart_wants_every_effect_anew)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}, {step: c}"));
    do_with_key(&fw, "a", "a");
    sg_fail(&fw, "b");
    CHECK_DONE(&fw.world, wf_again(&fw)); /* b keeps its key, and is not called */
    CHECK_DONE(&fw.world, wf_restart(&fw));
    do_with_key(&fw, "a", "a~2");
    do_with_key(&fw, "b", "b~2");
    do_with_key(&fw, "c", "c"); /* called for the first time */
    CHECK_DONE(&fw.world, wf_restart(&fw));
    do_with_key(&fw, "a", "a~3");
    wf_close(&fw);
}

/* Nobody knows whether the effect stands, so that it is asked for by its name. */
TEST(a_step_whose_undo_failed_keeps_its_key)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: ua, max_attempts: 1}}, {step: b}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    struct task undo = sg_take_undo(&fw, "a");
    check_key(&fw, &undo, "a:undo");
    CHECK_DONE(&fw.world, wf_report(&fw, &undo, CAIRN_DEAD, "no refund"));
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    undo = sg_take_undo(&fw, "a");
    check_key(&fw, &undo, "a:undo");
    CHECK_DONE(&fw.world, wf_report(&fw, &undo, CAIRN_DEAD, "no refund"));
    CHECK_DONE(&fw.world, wf_again(&fw));
    do_with_key(&fw, "a", "a");
    wf_close(&fw);
}

/* ---- errors --------------------------------------------------------------------------------- */

TEST(last_error_goes_when_the_step_that_caused_it_succeeds)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{parallel: p, steps: [{step: a}, {step: b}]}"));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_retry(&fw, &a, 0));
    sg_do(&fw, "b");
    wf_check_last_error(&fw, "a", "later, please", 1); /* another's success changes nothing */
    sg_do(&fw, "a");
    CHECK(!wf_instance(&fw)->last_error, "%s", wf_instance(&fw)->last_error);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(the_error_of_an_undo_stands_beside_the_cause)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: ua, max_attempts: 2, retry: "
                       "{backoff: fixed, base: 1s}}}, {step: b}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    struct task undo = sg_take_undo(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &undo, CAIRN_FAIL, "no refund"));
    wf_check_last_error(&fw, "b", "no good", 1);
    CHECK_STR(wf_step(&fw, "a")->undo_error, "no refund");
    CHECK(!wf_step(&fw, "a")->error, "a has failed");
    const char *error = wf_instance(&fw)->undo_error;
    CHECK(error && strstr(error, "no refund") && strstr(error, "\"a\""), "%s", error);

    wf_advance(&fw, SECOND_MS);
    undo = sg_take_undo(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &undo, CAIRN_DEAD, "never"));
    wf_check_status(&fw, "failed");
    wf_check_last_error(&fw, "b", "no good", 1);
    CHECK_STR(sg_record(&fw, "a").error, "never");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    sg_undo(&fw, "a");
    CHECK(!wf_instance(&fw)->undo_error, "%s", wf_instance(&fw)->undo_error);
    CHECK(!wf_step(&fw, "a")->undo_error, "%s", wf_step(&fw, "a")->undo_error);
    wf_check_last_error(&fw, "b", "no good", 1);
    wf_close(&fw);
}

/* ---- rows that are gone --------------------------------------------------------------------- */

static bool delete_step(struct flow_world *fw, const char *name)
{
    char sql[200];
    snprintf(sql, sizeof sql, "DELETE FROM {workflow_step} WHERE name = '%s'", name);
    return wf_sql(fw, sql, NULL);
}

TEST(a_list_ends_where_the_next_row_is_not_there)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    if (delete_step(&fw, "b")) {
        sg_do(&fw, "a");
        wf_check_status(&fw, "completed");
        wf_check_steps(&fw, "a:completed");
        CHECK_INT(wf_step(&fw, "a")->attempts, 0);
        sg_check_json(wf_instance(&fw)->output, "{\"by\": \"a\"}");
    }
    wf_close(&fw);
}

TEST(a_branch_and_a_condition_end_where_the_next_row_is_not_there)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[{step: a}, {step: a2}], [{condition: "
                       "c, when: '{{ gt .n 0 }}', then: [{step: b}, {step: b2}]}, "
                       "{step: d}]]}, {step: z}"));
    if (delete_step(&fw, "a2") && delete_step(&fw, "b2")) {
        sg_do(&fw, "a");
        sg_do(&fw, "b");
        sg_do(&fw, "d"); /* behind the condition */
        sg_do(&fw, "z");
        wf_check_status(&fw, "completed");
    }
    wf_close(&fw);
}

TEST(without_the_row_of_a_join_the_last_branch_ends_the_instance)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[{step: a}], [{step: b}]]}"));
    if (delete_step(&fw, "f_join")) {
        sg_do(&fw, "a");
        wf_check_status(&fw, "running");
        sg_do(&fw, "b");
        wf_check_status(&fw, "completed");
    }
    wf_close(&fw);
}

TEST(what_has_lost_rows_can_be_retried_undone_and_restarted)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {fork: f, join: all, branches: [[" U(
                      "b") "], [{step: c}, "
                           "{step: d}]]}, {step: e}"));
    if (delete_step(&fw, "d")) {
        sg_do(&fw, "a");
        sg_do(&fw, "b");
        sg_do(&fw, "c");
        sg_fail(&fw, "e");
        sg_undo_all(&fw, "b a");
        CHECK_DONE(&fw.world, wf_again(&fw));
        sg_do(&fw, "a");
        sg_do(&fw, "b");
        sg_do(&fw, "c");
        sg_do(&fw, "e");
        wf_check_status(&fw, "completed");
        CHECK_DONE(&fw.world, wf_restart(&fw));
        sg_do(&fw, "a");
        CHECK_DONE(&fw.world, wf_cancel(&fw));
        sg_undo_all(&fw, "a");
        wf_check_status(&fw, "cancelled");
    }
    wf_close(&fw);
}

/* ---- a step that waits once more ------------------------------------------------------------ */

/* Resume opens the decision again, and pauses at once since a wait has run out: the step that was
 * to wait is planned, and its event says so. */
TEST(a_failed_decision_that_is_held_again_is_told)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[{human: h, timeout: 1s, on_failure: "
                       "pause_workflow}], [{wait: w, event: e, timeout: 5s, on_failure: "
                       "pause_workflow}]]}"));
    wf_advance(&fw, 2 * SECOND_MS);
    wf_check_status(&fw, "paused");
    wf_check_steps(&fw, "f:completed h:failed w:waiting f_join:pending");
    wf_advance(&fw, 10 * SECOND_MS);
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_status(&fw, "paused");
    wf_check_steps(&fw, "f:completed h:pending w:failed f_join:pending");
    sg_check_event(&fw, "step_pending", "h", "{\"status\": \"pending\"}");
    wf_close(&fw);
}

/* ---- the status of an instance -------------------------------------------------------------- */

TEST(waiting_and_going_on_are_told)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{wait: w, event: e}, {step: a}"));
    wf_check_status(&fw, "waiting_signal");
    wf_signal(&fw, "e", NULL);
    wf_check_events(&fw, "workflow_started step_waiting:w workflow_waiting signal_received "
                         "signal_taken:w step_completed:w step_ready:a workflow_running");
    sg_check_event(&fw, "workflow_waiting", NULL, "{\"status\": \"waiting_signal\"}");
    sg_check_event(&fw, "signal_received", NULL, "{\"status\": \"running\"}");
    sg_check_event(&fw, "workflow_running", NULL, "{\"status\": \"running\"}");
    wf_close(&fw);
}
