/* tests/spec/test_linear_wait.c - a handler waits, an event wakes it: sections "Waiting" and
 * "External Event Wake-up" of linear-workflow.md, and the outbox.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_world.h"

#define AB FLOW("{step: a}, {step: b}")

static struct task begin_and_wait(struct flow_world *fw, int64_t timeout_ms)
{
    wf_begin(fw, AB);
    struct task task = wf_take_step(fw, "a");
    CHECK_DONE(&fw->world, wf_wait(fw, &task, "paid", timeout_ms));
    return task;
}

TEST(waiting_leaves_the_instance_running)
{
    struct flow_world fw;
    begin_and_wait(&fw, 60000);
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "a:waiting b:pending");
    wf_check_current(&fw, "a");
    const cairn_step *step = wf_step(&fw, "a");
    CHECK_STR(step->waiting_event, "paid");
    CHECK_INT(step->deadline_at_us, START_US + MINUTE_US);
    CHECK_INT(step->next_run_at_us, 0);
    CHECK(!step->locked_by, "still leased");
    wf_check_nothing_to_take(&fw);
    wf_check_events(&fw, "workflow_started step_ready:a step_started:a step_waiting:a");
    wf_close(&fw);
}

TEST(a_wrong_event_does_not_wake)
{
    struct flow_world fw;
    begin_and_wait(&fw, 60000);
    cairn_signalled signalled = wf_signal(&fw, "refunded", NULL);
    CHECK_INT(signalled.taken, 0);
    CHECK_INT(signalled.kept, 1);
    wf_check_steps(&fw, "a:waiting b:pending");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(the_right_event_runs_the_same_step_again_at_no_cost)
{
    struct flow_world fw;
    begin_and_wait(&fw, 60000);
    wf_advance(&fw, 1500);
    cairn_signalled signalled = wf_signal(&fw, "paid", "{\"amount\": 7}");
    CHECK_INT(signalled.taken, 1);
    CHECK_INT(signalled.existing, 0);
    const cairn_step *step = wf_step(&fw, "a");
    CHECK_STR(step->status, "ready");
    CHECK_INT(step->attempts, 0);
    CHECK_INT(step->next_run_at_us, START_US + 1500 * 1000);
    CHECK(!step->waiting_event, "still waits for %s", step->waiting_event);
    CHECK_INT(step->deadline_at_us, 0);

    struct task task = wf_take_step(&fw, "a");
    CHECK_INT(task.attempt, 1);
    CHECK_STR(task.reason, "");
    CHECK(strstr(task.signal, "\"paid\"") && strstr(task.signal, "7"), "the signal is %s",
          task.signal);
    CHECK(is_same_json(task.input, "{\"n\": 1}"), "the input is %s", task.input);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    wf_check_steps(&fw, "a:completed b:ready");
    wf_check_events(&fw, "workflow_started step_ready:a step_started:a step_waiting:a "
                         "signal_received signal_taken:a step_ready:a step_started:a "
                         "step_completed:a step_ready:b");
    wf_close(&fw);
}

TEST(an_event_that_came_before_the_wait_is_not_lost)
{
    struct flow_world fw;
    wf_begin(&fw, AB);
    CHECK_INT(wf_signal(&fw, "paid", "1").taken, 0);
    struct task task = wf_take_step(&fw, "a");
    CHECK_INT(wf_signal(&fw, "paid", "2").taken, 0);
    CHECK_DONE(&fw.world, wf_wait(&fw, &task, "paid", 60000));
    wf_check_steps(&fw, "a:ready b:pending");
    task = wf_take_step(&fw, "a");
    CHECK(strstr(task.signal, "\"payload\":1") || strstr(task.signal, "\"payload\": 1"),
          "the oldest comes first, not %s", task.signal);
    CHECK_DONE(&fw.world, wf_wait(&fw, &task, "paid", 60000));
    task = wf_take_step(&fw, "a");
    CHECK(strstr(task.signal, "2"), "then the second, not %s", task.signal);
    CHECK_DONE(&fw.world, wf_wait(&fw, &task, "paid", 60000));
    wf_check_steps(&fw, "a:waiting b:pending");
    CHECK_INT(wf_count_events(&fw, "signal_taken"), 2);
    wf_close(&fw);
}

TEST(a_signal_id_counts_once)
{
    struct flow_world fw;
    cairn_signalled signalled;
    begin_and_wait(&fw, 60000);
    CHECK_DONE(&fw.world, wf_signal_as(&fw, "paid", "m-1", &signalled));
    CHECK_INT(signalled.existing, 0);
    CHECK_INT(signalled.taken, 1);
    struct task task = wf_take_step(&fw, "a");
    CHECK(strstr(task.signal, "m-1"), "the signal is %s", task.signal);
    CHECK_DONE(&fw.world, wf_wait(&fw, &task, "paid", 60000));
    CHECK_DONE(&fw.world, wf_signal_as(&fw, "paid", "m-1", &signalled));
    CHECK_INT(signalled.existing, 1);
    wf_check_steps(&fw, "a:waiting b:pending");
    CHECK_INT(wf_count_events(&fw, "signal_received"), 1);
    wf_close(&fw);
}

TEST(a_signal_without_latch_is_not_kept_when_nobody_waits)
{
    struct flow_world fw;
    cairn_signal_options options = CAIRN_SIGNAL_DEFAULTS;
    cairn_signalled signalled = {.kept = -1};
    wf_begin(&fw, AB);
    options.instance_id = fw.id;
    options.event = "paid";
    options.no_latch = true;
    CHECK_DONE(&fw.world,
               cairn_instance_signal(fw.world.engine, &options, &signalled, &fw.world.error));
    CHECK_INT(signalled.kept, 0);
    CHECK_INT(signalled.taken, 0);
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_wait(&fw, &task, "paid", 60000));
    wf_check_steps(&fw, "a:waiting b:pending");
    CHECK_DONE(&fw.world,
               cairn_instance_signal(fw.world.engine, &options, &signalled, &fw.world.error));
    CHECK_INT(signalled.taken, 1);
    wf_check_steps(&fw, "a:ready b:pending");
    wf_close(&fw);
}

TEST(a_wait_that_runs_out_is_claimable_as_a_timeout)
{
    struct flow_world fw;
    begin_and_wait(&fw, 60000);
    wf_advance(&fw, MINUTE_MS - 1);
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, 1);
    struct task task = wf_take_step(&fw, "a");
    CHECK_STR(task.reason, "WAITING_TIMEOUT");
    CHECK_STR(task.signal, "");
    CHECK_INT(task.attempt, 1);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    wf_check_steps(&fw, "a:completed b:ready");
    CHECK_STR(wf_take_step(&fw, "b").reason, "");
    wf_close(&fw);
}

TEST(the_call_after_a_timeout_may_wait_again)
{
    struct flow_world fw;
    begin_and_wait(&fw, 1000);
    wf_advance(&fw, 1000);
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_wait(&fw, &task, "paid", 1000));
    wf_check_steps(&fw, "a:waiting b:pending");
    CHECK_INT(wf_signal(&fw, "paid", NULL).taken, 1);
    task = wf_take_step(&fw, "a");
    CHECK_STR(task.reason, "");
    wf_close(&fw);
}

TEST(a_wait_without_a_limit_never_runs_out)
{
    struct flow_world fw;
    begin_and_wait(&fw, -1);
    CHECK_INT(wf_step(&fw, "a")->deadline_at_us, 0);
    wf_advance(&fw, 1000 * HOUR_MS);
    wf_check_steps(&fw, "a:waiting b:pending");
    CHECK_INT(wf_signal(&fw, "paid", NULL).taken, 1);
    wf_close(&fw);
}

/* Nothing is processed while an instance is paused, so what came in time is processed late. */
TEST(an_event_at_the_deadline_wins_though_it_is_processed_late)
{
    struct flow_world fw;
    begin_and_wait(&fw, 60000);
    CHECK_DONE(&fw.world, wf_pause(&fw));
    wf_advance(&fw, MINUTE_MS);
    CHECK_INT(wf_signal(&fw, "paid", NULL).kept, 1);
    wf_advance(&fw, HOUR_MS);
    CHECK_DONE(&fw.world, wf_resume(&fw));
    struct task task = wf_take_step(&fw, "a");
    CHECK_STR(task.reason, "");
    CHECK(strstr(task.signal, "paid"), "the signal is %s", task.signal);
    wf_close(&fw);
}

TEST(an_event_one_millisecond_after_the_deadline_does_not)
{
    struct flow_world fw;
    begin_and_wait(&fw, 60000);
    CHECK_DONE(&fw.world, wf_pause(&fw));
    wf_advance(&fw, MINUTE_MS + 1);
    CHECK_INT(wf_signal(&fw, "paid", NULL).taken, 0);
    CHECK_DONE(&fw.world, wf_resume(&fw));
    struct task task = wf_take_step(&fw, "a");
    CHECK_STR(task.reason, "WAITING_TIMEOUT");
    CHECK_STR(task.signal, "");
    /* It stays in the log, for whoever waits next. */
    CHECK_DONE(&fw.world, wf_wait(&fw, &task, "paid", 1000));
    CHECK(strstr(wf_take_step(&fw, "a").signal, "paid"), "the event is lost");
    wf_close(&fw);
}

TEST(a_signal_to_an_instance_that_has_ended_is_refused)
{
    struct flow_world fw;
    cairn_signalled signalled;
    wf_begin(&fw, FLOW("{step: a}"));
    CHECK_DONE(&fw.world, wf_signal_as(&fw, "paid", "m-1", &signalled));
    wf_do(&fw, "a");
    CHECK_REFUSED(&fw.world, wf_signal_as(&fw, "paid", "m-2", &signalled), CAIRN_E_WRONG_STATE);
    CHECK_DONE(&fw.world, wf_signal_as(&fw, "paid", "m-1", &signalled));
    CHECK_INT(signalled.existing, 1);
    wf_close(&fw);
}

TEST(retries_after_a_wait_are_counted_as_before)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, max_attempts: 2}"));
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_retry(&fw, &task, 0));
    task = wf_take_step(&fw, "a");
    CHECK_INT(task.attempt, 2);
    CHECK_DONE(&fw.world, wf_wait(&fw, &task, "paid", 60000));
    wf_signal(&fw, "paid", NULL);
    task = wf_take_step(&fw, "a");
    CHECK_INT(task.attempt, 2);
    CHECK_DONE(&fw.world, wf_retry(&fw, &task, 0));
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_wait_needs_an_event)
{
    struct flow_world fw;
    wf_begin(&fw, AB);
    struct task task = wf_take_step(&fw, "a");
    CHECK_REFUSED(&fw.world, wf_wait(&fw, &task, NULL, 1000), CAIRN_E_BAD_INPUT);
    CHECK_REFUSED(&fw.world, wf_wait(&fw, &task, "", 1000), CAIRN_E_BAD_INPUT);
    wf_check_steps(&fw, "a:running b:pending");
    wf_close(&fw);
}

/* ---- a known id is answered as the first was ----------------------------------------------- */

#define WAIT_B FLOW("{wait: w1, event: paid}, {step: b}")

/* Sends it, and says what was answered: "new taken kept". */
static void send(struct flow_world *fw, const char *id, bool is_latched, const char *wanted)
{
    char seen[64];
    cairn_signalled answer = {.existing = -1};
    cairn_signal_options options = CAIRN_SIGNAL_DEFAULTS;
    options.instance_id = fw->id;
    options.event = "paid";
    options.id = id;
    options.no_latch = !is_latched;
    CHECK_DONE(&fw->world,
               cairn_instance_signal(fw->world.engine, &options, &answer, &fw->world.error));
    snprintf(seen, sizeof seen, "%s %s %s", answer.existing ? "known" : "new",
             answer.taken ? "taken" : "untaken", answer.kept ? "kept" : "dropped");
    CHECK_STR(seen, wanted);
}

TEST(a_repeated_signal_that_was_taken_is_answered_so)
{
    struct flow_world fw;
    wf_begin(&fw, WAIT_B);
    send(&fw, "m-1", true, "new taken kept");
    send(&fw, "m-1", true, "known taken kept");
    send(&fw, "m-1", false, "known taken kept");
    wf_do(&fw, "b");
    wf_check_status(&fw, "completed");
    send(&fw, "m-1", true, "known taken kept");
    CHECK_DONE(&fw.world, wf_restart(&fw)); /* which makes it untaken, and it is taken again */
    send(&fw, "m-1", true, "known taken kept");
    wf_close(&fw);
}

TEST(a_repeated_signal_that_was_kept_is_answered_so_though_it_was_taken_later)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {wait: w1, event: paid}, {step: b}"));
    send(&fw, "m-1", true, "new untaken kept");
    send(&fw, "m-1", true, "known untaken kept");
    wf_do(&fw, "a"); /* the wait takes it at once */
    wf_check_steps(&fw, "a:completed w1:completed b:ready");
    send(&fw, "m-1", true, "known untaken kept");
    wf_close(&fw);
}

/* A signal that is not kept leaves nothing behind: its id is free, and sending it again is new. */
TEST(a_signal_without_a_latch_is_known_once_it_was_taken)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {wait: w1, event: paid}, {step: b}"));
    send(&fw, "m-1", false, "new untaken dropped");
    send(&fw, "m-1", false, "new untaken dropped");
    wf_do(&fw, "a");
    send(&fw, "m-1", false, "new taken kept");
    send(&fw, "m-1", false, "known taken kept");
    send(&fw, "m-2", false, "new untaken dropped");
    wf_close(&fw);
}

/* ---- outbox ------------------------------------------------------------------------------ */

static cairn_code report_with(struct flow_world *fw, const struct task *task,
                              cairn_outcome outcome, const char *first, const char *second)
{
    cairn_outbound outbound[2] = {CAIRN_OUTBOUND_DEFAULTS, CAIRN_OUTBOUND_DEFAULTS};
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    outbound[0].event = first;
    outbound[0].payload = "{\"n\": 1}";
    outbound[1].event = second;
    report.outcome = outcome;
    report.outbound = outbound;
    report.outbound_count = second ? 2 : 1;
    if (outcome == CAIRN_WAIT)
        report.event = "paid";
    return wf_report_as(fw, task, &report);
}

/* The events that a deliverer gets: "asked told". */
static void claim_outbox(struct flow_world *fw, const char *worker, uint32_t max,
                         const char *wanted, char ids[][24])
{
    char seen[200] = "";
    cairn_page *outbox = NULL;
    CHECK_DONE(&fw->world, cairn_outbox_claim(fw->world.engine, worker, max, 30000, &outbox,
                                              &fw->world.error));
    for (size_t i = 0; i < cairn_page_count(outbox); i++) {
        const cairn_outbox_event *event = cairn_page_outbox_event(outbox, i);
        CHECK_STR(event->instance_id, fw->id);
        strcat(seen, i ? " " : "");
        strcat(seen, event->event);
        if (ids)
            snprintf(ids[i], 24, "%s", event->id);
    }
    cairn_page_free(outbox);
    CHECK_STR(seen, wanted);
}

static cairn_code ack(struct flow_world *fw, const char *id)
{
    return cairn_outbox_ack(fw->world.engine, id, &fw->world.error);
}

TEST(outbound_events_are_written_with_the_result)
{
    struct flow_world fw;
    char ids[3][24];
    wf_begin(&fw, AB);
    struct task task = wf_take_step(&fw, "a");
    claim_outbox(&fw, "d", 10, "", NULL);
    CHECK_DONE(&fw.world, report_with(&fw, &task, CAIRN_WAIT, "asked", NULL));
    wf_signal(&fw, "paid", NULL);
    task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, report_with(&fw, &task, CAIRN_COMPLETE, "told", "thanked"));
    claim_outbox(&fw, "d", 10, "asked told thanked", ids);
    for (int i = 0; i < 3; i++)
        CHECK_DONE(&fw.world, ack(&fw, ids[i]));
    wf_advance(&fw, HOUR_MS);
    claim_outbox(&fw, "d", 10, "", NULL);
    wf_close(&fw);
}

TEST(an_outbound_event_says_where_it_comes_from)
{
    struct flow_world fw;
    cairn_page *outbox = NULL;
    wf_begin(&fw, AB);
    struct task task = wf_take_step(&fw, "a");
    wf_advance(&fw, 20);
    CHECK_DONE(&fw.world, report_with(&fw, &task, CAIRN_COMPLETE, "told", NULL));
    CHECK_DONE(&fw.world,
               cairn_outbox_claim(fw.world.engine, "d", 10, 30000, &outbox, &fw.world.error));
    CHECK_INT(cairn_page_count(outbox), 1);
    const cairn_outbox_event *event = cairn_page_outbox_event(outbox, 0);
    CHECK_STR(event->step, "a");
    CHECK(is_same_json(event->payload, "{\"n\": 1}"), "%s", event->payload);
    CHECK_INT(event->created_at_us, START_US + 20 * 1000);
    cairn_page_free(outbox);
    wf_close(&fw);
}

TEST(an_event_that_is_not_acknowledged_holds_back_later_ones)
{
    struct flow_world fw;
    char ids[3][24];
    wf_begin(&fw, AB);
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, report_with(&fw, &task, CAIRN_COMPLETE, "first", "second"));
    claim_outbox(&fw, "d", 1, "first", ids);
    claim_outbox(&fw, "e", 10, "", NULL);
    wf_advance(&fw, 30 * SECOND_MS + 1); /* the deliverer has crashed */
    claim_outbox(&fw, "e", 1, "first", ids);
    CHECK_DONE(&fw.world, ack(&fw, ids[0]));
    CHECK_DONE(&fw.world, ack(&fw, ids[0])); /* twice is the same as once */
    claim_outbox(&fw, "f", 10, "second", ids);
    CHECK_REFUSED(&fw.world, ack(&fw, "999999"), CAIRN_E_NOT_FOUND);
    wf_close(&fw);
}

/* Else a deliverer that claims one at a time delivers the second before the first. */
TEST(an_event_holds_back_later_ones_from_its_own_claimer_too)
{
    struct flow_world fw;
    char ids[3][24];
    wf_begin(&fw, AB);
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, report_with(&fw, &task, CAIRN_COMPLETE, "first", "second"));
    claim_outbox(&fw, "d", 1, "first", ids);
    claim_outbox(&fw, "d", 1, "", NULL);
    claim_outbox(&fw, "d", 10, "", NULL);
    wf_advance(&fw, 30 * SECOND_MS + 1);
    claim_outbox(&fw, "d", 1, "first", ids);
    claim_outbox(&fw, "d", 10, "", NULL);
    CHECK_DONE(&fw.world, ack(&fw, ids[0]));
    claim_outbox(&fw, "d", 1, "second", ids);
    CHECK_DONE(&fw.world, ack(&fw, ids[0]));
    wf_close(&fw);
}

/* What is emitted while a deliverer holds events of the instance waits for their end. */
TEST(an_event_emitted_later_waits_for_what_was_claimed_before)
{
    struct flow_world fw;
    char ids[3][24], late[3][24];
    wf_begin(&fw, AB);
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, report_with(&fw, &task, CAIRN_COMPLETE, "first", "second"));
    claim_outbox(&fw, "d", 10, "first second", ids);
    task = wf_take_step(&fw, "b");
    CHECK_DONE(&fw.world, report_with(&fw, &task, CAIRN_COMPLETE, "third", NULL));
    claim_outbox(&fw, "d", 10, "", NULL);
    CHECK_DONE(&fw.world, ack(&fw, ids[0]));
    claim_outbox(&fw, "d", 10, "", NULL);
    CHECK_DONE(&fw.world, ack(&fw, ids[1]));
    claim_outbox(&fw, "d", 10, "third", late);
    CHECK_DONE(&fw.world, ack(&fw, late[0]));
    wf_close(&fw);
}

TEST(events_are_acknowledged_in_their_order)
{
    struct flow_world fw;
    char ids[3][24];
    wf_begin(&fw, AB);
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, report_with(&fw, &task, CAIRN_COMPLETE, "first", "second"));
    claim_outbox(&fw, "d", 10, "first second", ids);
    CHECK_REFUSED(&fw.world, ack(&fw, ids[1]), CAIRN_E_WRONG_STATE);
    CHECK(strstr(fw.world.error.message, ids[0]), "%s", fw.world.error.message);
    CHECK_DONE(&fw.world, ack(&fw, ids[0]));
    CHECK_DONE(&fw.world, ack(&fw, ids[1]));
    CHECK_DONE(&fw.world, ack(&fw, ids[1])); /* twice is the same as once */
    CHECK_DONE(&fw.world, ack(&fw, ids[0]));
    wf_close(&fw);
}

TEST(a_refused_report_emits_nothing)
{
    struct flow_world fw;
    wf_begin(&fw, AB);
    struct task task = wf_take_step(&fw, "a");
    wf_advance(&fw, 30 * SECOND_MS + 1);
    CHECK_REFUSED(&fw.world, report_with(&fw, &task, CAIRN_COMPLETE, "told", NULL),
                  CAIRN_E_LEASE_LOST);
    claim_outbox(&fw, "d", 10, "", NULL);
    task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, report_with(&fw, &task, CAIRN_COMPLETE, "told", NULL));
    CHECK_DONE(&fw.world, report_with(&fw, &task, CAIRN_COMPLETE, "told", NULL)); /* repeated */
    claim_outbox(&fw, "d", 10, "told", NULL);
    wf_close(&fw);
}
