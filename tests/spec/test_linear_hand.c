/* tests/spec/test_linear_hand.c - a report that claims is given the next step directly, in the order of
 * claims.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_world.h"
#include "scratch.h"

#include <stdio.h>

/* ---- saying it ------------------------------------------------------------------------------- */

/* A second workflow "x" of one step, whose priority tells it apart. */
static void begin_waiting(struct flow_world *fw, int priority)
{
    char text[200], own[sizeof fw->id];
    cairn_start_options options = CAIRN_START_DEFAULTS;
    snprintf(text, sizeof text,
             "{workflow: x%d, version: 1, steps: [{step: x%d, handler: x, priority: %d}]}",
             priority, priority, priority);
    snprintf(own, sizeof own, "%s", fw->id);
    CHECK_DONE(&fw->world, wf_deploy(fw, text));
    snprintf(text, sizeof text, "x%d", priority);
    options.workflow = text;
    CHECK_DONE(&fw->world, wf_start(fw, &options, NULL));
    snprintf(fw->id, sizeof fw->id, "%s", own);
}

static cairn_claim_options claim_of(uint32_t max)
{
    static const char *const all[] = {"%"};
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "w";
    claim.types = all;
    claim.type_count = 1;
    claim.max = max;
    return claim;
}

/* Reports a task and claims in the same call. */
static cairn_page *report_and_claim(struct flow_world *fw, const struct task *task,
                                    cairn_outcome outcome, const cairn_claim_options *claim)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    cairn_reported reported;
    cairn_page *tasks = NULL;
    report.task_id = task->id;
    report.token = task->token;
    report.outcome = outcome;
    report.error = outcome == CAIRN_DEAD ? "no good" : NULL;
    CHECK_DONE(&fw->world, cairn_report_many(fw->world.engine, task->worker, &report, 1,
                                             &reported, claim, &tasks, &fw->world.error));
    CHECK_INT(reported.code, CAIRN_OK);
    return tasks;
}

static const char *name_of(const cairn_task *task)
{
    return task->step ? task->step : task->type;
}

/* The names of the steps, the types of the jobs: "b x50". */
static void check_given(cairn_page *tasks, const char *wanted)
{
    char seen[400] = "";
    for (size_t i = 0; i < cairn_page_count(tasks); i++) {
        strcat(seen, i ? " " : "");
        strcat(seen, name_of(cairn_page_task(tasks, i)));
    }
    CHECK_STR(seen, wanted);
    cairn_page_free(tasks);
}

static void check_next(struct flow_world *fw, uint32_t max, const char *wanted)
{
    cairn_claim_options claim = claim_of(max);
    cairn_page *tasks = NULL;
    CHECK_DONE(&fw->world, cairn_claim(fw->world.engine, &claim, &tasks, &fw->world.error));
    check_given(tasks, wanted);
}

static void put_registry(struct flow_world *fw, const char *type, const char *runtime,
                         bool is_enabled)
{
    cairn_registry_spec spec = CAIRN_REGISTRY_DEFAULTS;
    spec.workflow_name = type;
    spec.runtime = runtime;
    spec.is_enabled = is_enabled;
    CHECK_DONE(&fw->world, cairn_registry_put(fw->world.engine, &spec, &fw->world.error));
}

/* ---- counting writes ------------------------------------------------------------------------- */

/* From now on the table `writes` says which places were written. */
static void count_writes(struct flow_world *fw)
{
    wf_sql(fw, "CREATE TABLE writes (place bigint)", NULL);
    if (strcmp(scratch_kind(), "sqlite") == 0) {
        wf_sql(fw,
               "CREATE TRIGGER count_writes AFTER UPDATE ON workflow_step BEGIN "
               "INSERT INTO writes VALUES (NEW.id & 1048575); END",
               NULL);
        return;
    }
    wf_sql(fw,
           "CREATE FUNCTION count_write() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN "
           "INSERT INTO public.writes VALUES (NEW.seq); RETURN NULL; END'",
           NULL);
    wf_sql(fw,
           "CREATE TRIGGER count_writes AFTER UPDATE ON {workflow_step} FOR EACH ROW "
           "EXECUTE FUNCTION count_write()",
           NULL);
}

static void check_writes(struct flow_world *fw, int place, long long wanted)
{
    char statement[80];
    long long count = -1;
    snprintf(statement, sizeof statement, "SELECT count(*) FROM writes WHERE place = %d",
             place);
    if (wf_sql(fw, statement, &count))
        CHECK_INT(count, wanted);
}

/* ---- the next step --------------------------------------------------------------------------- */

TEST(the_next_step_is_written_once_when_the_report_claims_it)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}, {step: c}"));
    struct task a = wf_take_step(&fw, "a");
    count_writes(&fw);
    cairn_claim_options claim = claim_of(1);
    check_given(report_and_claim(&fw, &a, CAIRN_COMPLETE, &claim), "b");
    check_writes(&fw, 0, 1);
    check_writes(&fw, 1, 1);
    check_writes(&fw, 2, 0);
    wf_check_steps(&fw, "a:completed b:running c:pending");
    wf_check_events(&fw, "workflow_started step_ready:a step_started:a step_completed:a "
                         "step_ready:b step_started:b");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(a_step_that_is_given_directly_is_leased_as_by_a_claim)
{
    struct flow_world fw;
    long long count = 1;
    wf_begin(&fw, FLOW("{step: a}, {step: b, timeout: 5s, max_attempts: 4, "
                       "metadata: {team: orders}}"));
    struct task a = wf_take_step(&fw, "a");
    wf_advance(&fw, 1000);
    cairn_claim_options claim = claim_of(3);
    claim.lease_ms = 20000;
    claim.worker = "v";
    cairn_page *tasks = report_and_claim(&fw, &a, CAIRN_COMPLETE, &claim);
    CHECK_INT(cairn_page_count(tasks), 1);
    const cairn_task *b = cairn_page_task(tasks, 0);
    CHECK_STR(b->kind, "step");
    CHECK_STR(b->type, "b");
    CHECK_INT(b->attempt, 1);
    CHECK_INT(b->max_attempts, 4);
    CHECK_INT(b->lease_until_us, START_US + 6 * SECOND_US); /* its call's limit */
    CHECK_INT(b->deadline_us, START_US + 6 * SECOND_US);
    CHECK(strstr(b->metadata, "orders"), "metadata is %s", b->metadata);
    const cairn_step *step = wf_step(&fw, "b");
    CHECK_STR(step->status, "running");
    CHECK_STR(step->locked_by, "v");
    CHECK_INT(step->started_at_us, START_US + SECOND_US);
    wf_sql(&fw, "SELECT count(*) FROM {workflow_step} WHERE name = 'b' AND is_ready", &count);
    CHECK_INT(count, 0);
    wf_sql(&fw,
           "SELECT count(*) FROM {workflow_step} WHERE name = 'b' AND due_at > locked_until",
           &count);
    CHECK_INT(count, 1);

    struct task held = {.attempt = b->attempt};
    snprintf(held.worker, sizeof held.worker, "v");
    snprintf(held.id, sizeof held.id, "%s", b->id);
    snprintf(held.token, sizeof held.token, "%s", b->token);
    cairn_page_free(tasks);
    CHECK_DONE(&fw.world, wf_beat(&fw, &held, 1000, NULL));
    CHECK_DONE(&fw.world, wf_report(&fw, &held, CAIRN_COMPLETE, NULL));
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_lease_of_a_step_that_was_given_directly_ends_as_any_other)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    struct task a = wf_take_step(&fw, "a");
    cairn_claim_options claim = claim_of(1);
    claim.lease_ms = 1000;
    check_given(report_and_claim(&fw, &a, CAIRN_COMPLETE, &claim), "b");
    wf_advance(&fw, 30000);
    struct task b = wf_take_step(&fw, "b");
    CHECK_INT(b.attempt, 2);
    wf_close(&fw);
}

TEST(a_compensation_is_given_directly_and_stays_one)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: undo_a}}, {step: b}"));
    wf_do(&fw, "a");
    struct task b = wf_take_step(&fw, "b");
    count_writes(&fw);
    cairn_claim_options claim = claim_of(1);
    cairn_page *tasks = report_and_claim(&fw, &b, CAIRN_DEAD, &claim);
    CHECK_INT(cairn_page_count(tasks), 1);
    CHECK_STR(cairn_page_task(tasks, 0)->kind, "compensation");
    CHECK_STR(cairn_page_task(tasks, 0)->type, "undo_a");
    CHECK_STR(wf_step(&fw, "a")->status, "compensation");
    check_given(tasks, "a");
    wf_close(&fw);
}

/* ---- the order ------------------------------------------------------------------------------- */

TEST(a_step_in_hand_waits_for_one_of_a_higher_priority)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    struct task a = wf_take_step(&fw, "a");
    begin_waiting(&fw, 51);
    cairn_claim_options claim = claim_of(1);
    check_given(report_and_claim(&fw, &a, CAIRN_COMPLETE, &claim), "x51");
    wf_check_steps(&fw, "a:completed b:ready");
    check_next(&fw, 5, "b");
    wf_close(&fw);
}

TEST(a_step_in_hand_waits_for_one_whose_priority_has_risen)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    struct task a = wf_take_step(&fw, "a");
    begin_waiting(&fw, 48);
    wf_advance(&fw, 6000); /* 48 counts as 51 */
    cairn_claim_options claim = claim_of(1);
    check_given(report_and_claim(&fw, &a, CAIRN_COMPLETE, &claim), "x48");
    check_next(&fw, 5, "b");
    wf_close(&fw);
}

TEST(among_equals_a_step_in_hand_goes_first)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    struct task a = wf_take_step(&fw, "a");
    begin_waiting(&fw, 50);
    begin_waiting(&fw, 49);
    wf_advance(&fw, 1999); /* 50 still counts as 50, and 49 as 49 */
    cairn_claim_options claim = claim_of(3);
    check_given(report_and_claim(&fw, &a, CAIRN_COMPLETE, &claim), "b x50 x49");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(steps_in_hand_of_several_priorities_have_their_places_among_those_that_wait)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {parallel: p, steps: [{step: hi, priority: 80}, "
                       "{step: mid, priority: 60}, {step: lo, priority: 30}]}"));
    struct task a = wf_take_step(&fw, "a");
    begin_waiting(&fw, 90);
    begin_waiting(&fw, 70);
    begin_waiting(&fw, 40);
    begin_waiting(&fw, 20);
    cairn_claim_options claim = claim_of(10);
    check_given(report_and_claim(&fw, &a, CAIRN_COMPLETE, &claim), "x90 hi x70 mid x40 lo x20");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(what_a_claim_has_no_room_for_can_be_claimed_by_others)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {parallel: p, steps: [{step: b}, {step: c}, {step: d}]}"));
    struct task a = wf_take_step(&fw, "a");
    begin_waiting(&fw, 50);
    wf_advance(&fw, 1);
    cairn_claim_options claim = claim_of(2);
    check_given(report_and_claim(&fw, &a, CAIRN_COMPLETE, &claim), "b c");
    check_next(&fw, 5, "x50 d");
    wf_close(&fw);
}

TEST(jobs_and_steps_in_hand_are_given_by_turns)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {parallel: p, steps: [{step: b}, {step: c}, {step: d}]}"));
    struct task a = wf_take_step(&fw, "a");
    for (int i = 0; i < 3; i++)
        world_add(&fw.world, "j");
    cairn_claim_options claim = claim_of(4);
    cairn_page *tasks = report_and_claim(&fw, &a, CAIRN_COMPLETE, &claim);
    size_t jobs = 0;
    CHECK_INT(cairn_page_count(tasks), 4);
    for (size_t i = 0; i < 4; i++) {
        bool is_job = cairn_page_task(tasks, i)->kind_code == CAIRN_TASK_JOB;
        bool was_job = i && cairn_page_task(tasks, i - 1)->kind_code == CAIRN_TASK_JOB;
        CHECK(i == 0 || is_job != was_job, "task %zu is of the kind before it", i);
        jobs += is_job;
    }
    CHECK_INT(jobs, 2);
    cairn_page_free(tasks);
    cairn_claim_options rest = claim_of(9);
    CHECK_DONE(&fw.world, cairn_claim(fw.world.engine, &rest, &tasks, &fw.world.error));
    CHECK_INT(cairn_page_count(tasks), 2);
    cairn_page_free(tasks);
    wf_close(&fw);
}

/* ---- who may have it ------------------------------------------------------------------------- */

TEST(a_step_in_hand_is_given_to_claims_of_its_type_alone)
{
    static const char *const other[] = {"c", "x%"};
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    struct task a = wf_take_step(&fw, "a");
    begin_waiting(&fw, 10);
    cairn_claim_options claim = claim_of(2);
    claim.types = other;
    claim.type_count = 2;
    check_given(report_and_claim(&fw, &a, CAIRN_COMPLETE, &claim), "x10");
    check_next(&fw, 2, "b");
    wf_close(&fw);
}

TEST(a_step_in_hand_of_a_disabled_type_is_not_given)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {parallel: p, steps: [{step: b}, {step: c}]}"));
    struct task a = wf_take_step(&fw, "a");
    begin_waiting(&fw, 40);
    put_registry(&fw, "b", "c", false);
    cairn_claim_options claim = claim_of(3);
    check_given(report_and_claim(&fw, &a, CAIRN_COMPLETE, &claim), "c x40");
    wf_check_nothing_to_take(&fw);
    put_registry(&fw, "b", "c", true);
    check_next(&fw, 3, "b");
    wf_close(&fw);
}

TEST(a_step_in_hand_of_another_runtime_is_not_given)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {parallel: p, steps: [{step: b}, {step: c}]}"));
    struct task a = wf_take_step(&fw, "a");
    put_registry(&fw, "b", "python", true);
    put_registry(&fw, "c", "go", true);
    cairn_claim_options claim = claim_of(3);
    claim.runtime = "go";
    check_given(report_and_claim(&fw, &a, CAIRN_COMPLETE, &claim), "c");
    claim.runtime = "python";
    cairn_page *tasks = NULL;
    CHECK_DONE(&fw.world, cairn_claim(fw.world.engine, &claim, &tasks, &fw.world.error));
    check_given(tasks, "b");
    wf_close(&fw);
}
