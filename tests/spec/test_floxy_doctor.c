/* tests/spec/test_floxy_doctor.c - doctor sees instances and steps, on every store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/local.h"
#include "saga.h"

/* The result of one check, and its text in `text`. */
static const char *look(struct flow_world *fw, const char *check, char text[384])
{
    static char result[16];
    cairn_page *findings;
    cairn_error error = {0};
    result[0] = text[0] = '\0';
    CHECK_INT(cairn_doctor(fw->world.engine, &findings, &error), CAIRN_OK);
    for (size_t i = cairn_page_count(findings); i-- > 0;) {
        const cairn_finding *finding = cairn_page_finding(findings, i);
        if (strcmp(finding->check, check) != 0)
            continue;
        snprintf(text, 384, "%s", finding->text);
        snprintf(result, sizeof result, "%s", finding->result);
    }
    cairn_page_free(findings);
    return result;
}

static void check_finding(struct flow_world *fw, const char *check, const char *result,
                          const char *part)
{
    char text[384];
    const char *seen = look(fw, check, text);
    CHECK(strcmp(seen, result) == 0, "%s is %s: %s", check, seen, text);
    CHECK(strstr(text, part), "%s does not say \"%s\": %s", check, part, text);
}

/* The private server of the tests has fsync=off. */
TEST(doctor_warns_of_a_database_that_can_lose_what_it_has_committed)
{
    struct flow_world fw;
    wf_begin(&fw, "workflow: w\nversion: 1\nsteps: [{step: a}]");
    if (strncmp(cairn_url(fw.world.engine), "postgres:", 9) == 0)
        check_finding(&fw, "store", "warning", "can be lost");
    else
        check_finding(&fw, "store", "ok", "answers");
    wf_close(&fw);
}

TEST(doctor_names_steps_that_nobody_claims)
{
    struct flow_world fw;
    wf_begin(&fw, "workflow: w\nversion: 1\nsteps: [{step: a, handler: mail.send.v1}]");
    check_finding(&fw, "steps", "ok", "no step");
    wf_advance(&fw, 11 * 60 * 1000);
    check_finding(&fw, "steps", "warning", "mail.send.v1");
    check_finding(&fw, "steps", "warning", fw.id);
    wf_close(&fw);
}

TEST(doctor_names_a_type_that_nobody_claims_however_many_instances_are_newer)
{
    struct flow_world fw;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    start.workflow = "w";
    wf_begin(&fw,
             "workflow: w\nversion: 1\nsteps: [{step: a, handler: mail.send.v1, priority: 1}]");
    char oldest[64];
    snprintf(oldest, sizeof oldest, "%s", fw.id);
    wf_advance(&fw, 11 * 60 * 1000);
    for (int i = 0; i < 120; i++)
        CHECK_INT(cairn_instance_start(fw.world.engine, &start, &started, NULL), CAIRN_OK);
    check_finding(&fw, "steps", "warning", oldest);
    wf_close(&fw);
}

static void give_back(struct flow_world *fw, const char *step)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    struct task task = sg_take(fw, step);
    report.outcome = CAIRN_RELEASE;
    report.delay_ms = 1000;
    report.is_missing_handler = true;
    CHECK_DONE(&fw->world, wf_report_as(fw, &task, &report));
}

TEST(doctor_names_steps_that_workers_give_back_again_and_again)
{
    struct flow_world fw;
    wf_begin(&fw, "workflow: w\nversion: 1\nsteps: [{step: a, handler: a}]");
    give_back(&fw, "a");
    check_finding(&fw, "handlers", "ok", "");
    for (int i = 0; i < 3; i++) {
        wf_advance(&fw, 4 * 60 * 1000);
        give_back(&fw, "a");
    }
    check_finding(&fw, "steps", "ok", ""); /* it is never ready for long */
    check_finding(&fw, "handlers", "warning", fw.id);
    wf_close(&fw);
}

TEST(doctor_names_an_outbox_that_nobody_empties)
{
    struct flow_world fw;
    cairn_page *found = NULL;
    wf_begin(&fw, "workflow: w\nversion: 1\nsteps: [{step: a}]");
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    struct task task = sg_take(&fw, "a");
    cairn_outbound event = CAIRN_OUTBOUND_DEFAULTS;
    event.event = "shipped";
    report.outbound = &event;
    report.outbound_count = 1;
    CHECK_DONE(&fw.world, wf_report_as(&fw, &task, &report));
    check_finding(&fw, "outbox", "ok", "");
    wf_advance(&fw, 61 * 60 * 1000);
    check_finding(&fw, "outbox", "warning", "3660 s");
    CHECK_DONE(&fw.world, cairn_outbox_claim(fw.world.engine, "d", 1, 1000, &found, NULL));
    CHECK_DONE(&fw.world,
               cairn_outbox_ack(fw.world.engine, cairn_page_outbox_event(found, 0)->id, NULL));
    cairn_page_free(found);
    check_finding(&fw, "outbox", "ok", "");
    wf_close(&fw);
}

/* Time passes, and no engine is there to apply what is due. */
static void pass_unattended(struct flow_world *fw, int64_t ms)
{
    struct clock *clock = &((struct local_engine *)fw->world.engine)->clock;
    clock_set_us(clock, clock_now_us(clock) + ms * US_PER_MS);
}

TEST(doctor_names_timers_that_nobody_applies)
{
    struct flow_world fw;
    wf_begin(&fw, "workflow: w\nversion: 1\nsteps: [{sleep: s, for: 1h}]");
    check_finding(&fw, "timers", "ok", "");
    pass_unattended(&fw, 3600 * 1000 + 61 * 1000);
    check_finding(&fw, "timers", "warning", "61 s overdue");
    wf_close(&fw);
}

TEST(doctor_names_decisions_past_their_deadline)
{
    struct flow_world fw;
    wf_begin(&fw, "workflow: w\nversion: 1\nsteps: [{human: approve, timeout: 1h}]");
    pass_unattended(&fw, 3601 * 1000);
    check_finding(&fw, "decisions", "warning", "1 are past their deadline");
    check_finding(&fw, "decisions", "warning", fw.id);
    wf_close(&fw);
}

TEST(doctor_names_open_records_of_the_dlq)
{
    struct flow_world fw;
    wf_begin(&fw, "workflow: w\nversion: 1\ndlq: true\nsteps: [{step: a, max_attempts: 1}]");
    check_finding(&fw, "dlq", "ok", "no record");
    sg_fail(&fw, "a");
    check_finding(&fw, "dlq", "warning", fw.id);
    check_finding(&fw, "dlq", "warning", "cairn dlq requeue");
    wf_close(&fw);
}

TEST(doctor_names_decisions_that_are_long_awaited)
{
    struct flow_world fw;
    wf_begin(&fw, "workflow: w\nversion: 1\nsteps: [{human: approve}]");
    check_finding(&fw, "decisions", "ok", "");
    wf_advance(&fw, 25 * 3600 * 1000);
    check_finding(&fw, "decisions", "warning", "approve");
    wf_close(&fw);
}

TEST(doctor_names_failed_instances_whose_undo_failed)
{
    struct flow_world fw;
    wf_begin(&fw, "workflow: w\nversion: 1\nsteps: [{step: a, max_attempts: 1, compensation: "
                  "{handler: undo_a, max_attempts: 0}}]");
    sg_fail(&fw, "a");
    wf_check_status(&fw, "failed");
    check_finding(&fw, "undo", "warning", fw.id);
    wf_close(&fw);
}

TEST(doctor_names_paused_instances)
{
    struct flow_world fw;
    wf_begin(&fw, "workflow: w\nversion: 1\nsteps: [{step: a, max_attempts: 1, on_failure: "
                  "pause_workflow}]");
    sg_fail(&fw, "a");
    wf_check_status(&fw, "paused");
    check_finding(&fw, "paused", "warning", fw.id);
    wf_close(&fw);
}
