/* tests/spec/test_floxy_doctor.c - doctor sees instances and steps, on every store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

/* The result of one check, and its text in `text`. */
static const char *look(struct flow_world *fw, const char *check, char text[384])
{
    static cairn_finding findings[32];
    size_t count = 0;
    cairn_error error = {0};
    CHECK_INT(cairn_doctor(fw->world.engine, findings, 32, &count, &error), CAIRN_OK);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(findings[i].check, check) != 0)
            continue;
        snprintf(text, 384, "%s", findings[i].text);
        return findings[i].result;
    }
    text[0] = '\0';
    return "";
}

static void check_finding(struct flow_world *fw, const char *check, const char *result,
                          const char *part)
{
    char text[384];
    const char *seen = look(fw, check, text);
    CHECK(strcmp(seen, result) == 0, "%s is %s: %s", check, seen, text);
    CHECK(strstr(text, part), "%s does not say \"%s\": %s", check, part, text);
}

TEST(doctor_names_steps_that_nobody_claims)
{
    struct flow_world fw;
    wf_begin(&fw, "workflow: w\nversion: 1\nsteps: [{step: a, handler: mail.send.v1}]");
    check_finding(&fw, "steps", "ok", "1 running");
    wf_advance(&fw, 11 * 60 * 1000);
    check_finding(&fw, "steps", "warning", "mail.send.v1");
    check_finding(&fw, "steps", "warning", fw.id);
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
