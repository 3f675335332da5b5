/* Requests that share a commit leave what they would leave one after the other: one test for each
 * pair that an order by kinds of requests gets wrong.  tests/sim/batching.c tries all of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

#include <stdio.h>

/* ---- requests ---------------------------------------------------------------------------- */

static struct request *claim(const char *worker, uint32_t max, uint32_t lease_ms)
{
    struct request *request = rig_claim(NULL, "%", 0);
    request->in.claim.worker = worker;
    request->in.claim.max = max;
    request->in.claim.lease_ms = lease_ms;
    return request;
}

static struct request *report(const char *worker, const cairn_task *task, cairn_outcome outcome)
{
    struct request *request = rig_make(OP_REPORT);
    cairn_report *report = arena_zalloc(&request->arena, sizeof *report);
    *report = (cairn_report)CAIRN_REPORT_DEFAULTS;
    report->task_id = task->id;
    report->token = task->token;
    report->outcome = outcome;
    report->error = outcome == CAIRN_DEAD ? "no" : NULL;
    request->in.report = (struct report_input){.worker = worker, .reports = report, .count = 1};
    return request;
}

static struct request *heartbeat(const char *worker, const cairn_task *task, uint32_t extend_ms)
{
    struct request *request = rig_make(OP_HEARTBEAT);
    request->in.heartbeat = (struct heartbeat_input){
        .worker = worker, .task_id = task->id, .token = task->token, .extend_ms = extend_ms};
    return request;
}

static struct request *control(enum request_op op, const char *id)
{
    struct request *request = rig_make(op);
    request->in.control = (struct control_input){.id = id, .by = "ann", .reason = "why not"};
    return request;
}

static struct request *entry(const char *type, const char *runtime)
{
    struct request *request = rig_make(OP_REGISTRY_PUT);
    request->in.registry = (cairn_registry_spec){.size = sizeof(cairn_registry_spec),
                                                 .workflow_name = type,
                                                 .runtime = runtime,
                                                 .is_enabled = true};
    return request;
}

static struct request *outbox(uint32_t max)
{
    struct request *request = rig_make(OP_OUTBOX_CLAIM);
    request->in.outbox = (struct outbox_input){.worker = "d", .max = max, .lease_ms = 60000};
    return request;
}

/* ---- the rig ----------------------------------------------------------------------------- */

static void do_all(struct rig *rig, struct request **requests, size_t count)
{
    uint64_t commits = rig->engine->counters.commits;
    for (size_t i = 0; i < count; i++)
        rig_submit(rig, requests[i]);
    rig_run(rig);
    for (size_t i = 0; i < count; i++)
        CHECK(rig_is_done(requests[i]), "request %zu is not done", i);
    CHECK_INT(rig->engine->counters.commits - commits, 1);
}

#define DO_TOGETHER(rig, ...)                                        \
    do {                                                             \
        struct request *together[] = {__VA_ARGS__};                  \
        do_all((rig), together, sizeof together / sizeof *together); \
    } while (0)

static const char *begin(struct rig *rig, const char *text, const char *workflow)
{
    rig_init(rig, 1000);
    CHECK_INT(rig_do(rig, rig_deploy(text)), CAIRN_OK);
    struct request *started = rig_start(workflow);
    CHECK_INT(rig_do(rig, started), CAIRN_OK);
    return started->out.enqueued[0].id;
}

static const cairn_task *take(struct rig *rig, const char *worker, uint32_t lease_ms)
{
    struct request *request = claim(worker, 1, lease_ms);
    CHECK_INT(rig_do(rig, request), CAIRN_OK);
    CHECK_INT(request->out.page.count, 1);
    return &request->out.page.tasks[0];
}

static const cairn_step *step_of(struct rig *rig, const char *id, size_t place)
{
    struct request *request = rig_read(rig, OP_STEP_LIST, id);
    CHECK_INT(request->code, CAIRN_OK);
    CHECK(place < request->out.page.count, "no place %zu", place);
    return &request->out.page.steps[place];
}

static const char *status_of(struct rig *rig, const char *id)
{
    struct request *request = rig_read(rig, OP_INSTANCE_GET, id);
    CHECK_INT(request->code, CAIRN_OK);
    return request->out.page.instances[0].status;
}

static void advance(struct rig *rig, int64_t ms)
{
    struct request *request = rig_make(OP_CLOCK_ADVANCE);
    request->in.advance.ms = ms;
    CHECK_INT(rig_do(rig, request), CAIRN_OK);
}

#define PAIR                                                                         \
    "{\"workflow\": \"pair\", \"version\": 1, \"steps\": [{\"parallel\": \"both\", " \
    "\"steps\": ["                                                                   \
    "{\"step\": \"a\"}, {\"step\": \"b\", \"compensation\": {\"handler\": \"undo_b\"}}]}]}"

#define ONE "{\"workflow\": \"one\", \"version\": 1, \"steps\": [{\"step\": \"a\"}]}"
#define ONE_V2 "{\"workflow\": \"one\", \"version\": 2, \"steps\": [{\"step\": \"b\"}]}"

/* ---- leases ------------------------------------------------------------------------------ */

TEST(a_lease_extended_in_the_commit_of_a_siblings_failure_holds)
{
    struct rig rig;
    const char *id = begin(&rig, PAIR, "pair");
    const cairn_task *a = take(&rig, "u", 60000);
    const cairn_task *b = take(&rig, "v", 1000);
    CHECK_STR(a->step, "a");
    struct request *beat = heartbeat("v", b, 30000);
    DO_TOGETHER(&rig, beat, report("u", a, CAIRN_DEAD));
    CHECK_INT(beat->code, CAIRN_OK);
    CHECK_INT(beat->out.heartbeat.lease_until_us, (RIG_START_S + 30) * US_PER_SEC);
    CHECK_INT(step_of(&rig, id, 2)->locked_until_us, (RIG_START_S + 30) * US_PER_SEC);

    advance(&rig, 29000);
    struct request *early = claim("u", 1, 1000);
    CHECK_INT(rig_do(&rig, early), CAIRN_OK);
    CHECK_INT(early->out.page.count, 0);
    struct request *done = report("v", b, CAIRN_COMPLETE);
    CHECK_INT(rig_do(&rig, done), CAIRN_OK);
    CHECK_INT(done->out.reported[0].code, CAIRN_OK);
    CHECK_STR(take(&rig, "u", 1000)->kind, "compensation");
    rig_done(&rig);
}

TEST(heartbeats_of_steps_are_one_question_and_one_update)
{
    struct rig rig;
    begin(&rig, PAIR, "pair");
    CHECK_INT(rig_do(&rig, rig_start("pair")), CAIRN_OK);
    struct request *claimed = claim("v", 4, 1000);
    CHECK_INT(rig_do(&rig, claimed), CAIRN_OK);
    CHECK_INT(claimed->out.page.count, 4);
    const cairn_task *tasks = claimed->out.page.tasks;
    uint64_t locks = faulty_calls(rig.faulty, FAULTY_LOCK_STEPS);
    uint64_t updates = faulty_calls(rig.faulty, FAULTY_UPDATE_STEPS);
    uint64_t instances = faulty_calls(rig.faulty, FAULTY_LOCK_INSTANCES);
    DO_TOGETHER(&rig, heartbeat("v", &tasks[0], 9000), heartbeat("v", &tasks[1], 9000),
                heartbeat("v", &tasks[2], 9000), heartbeat("v", &tasks[3], 9000));
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_LOCK_STEPS) - locks, 1);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_UPDATE_STEPS) - updates, 1);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_LOCK_INSTANCES) - instances, 0);
    rig_done(&rig);
}

TEST(a_heartbeat_behind_a_cancel_extends_nothing)
{
    struct rig rig;
    const char *id = begin(&rig, ONE, "one");
    const cairn_task *a = take(&rig, "v", 1000);
    struct request *beat = heartbeat("v", a, 30000);
    DO_TOGETHER(&rig, control(OP_CANCEL, id), beat);
    CHECK_INT(beat->code, CAIRN_OK);
    CHECK_STR(beat->out.heartbeat.stop, "cancelled");
    CHECK_INT(beat->out.heartbeat.lease_until_us, (RIG_START_S + 1) * US_PER_SEC);
    rig_done(&rig);
}

/* ---- order ------------------------------------------------------------------------------- */

TEST(a_report_behind_a_pause_is_held)
{
    struct rig rig;
    const char *id = begin(&rig, ONE, "one");
    const cairn_task *a = take(&rig, "v", 1000);
    struct request *pause = control(OP_PAUSE, id), *done = report("v", a, CAIRN_COMPLETE);
    DO_TOGETHER(&rig, pause, done);
    CHECK_INT(pause->code, CAIRN_OK);
    CHECK_STR(done->out.reported[0].status, "completed");
    CHECK_STR(status_of(&rig, id), "paused");
    rig_done(&rig);
}

TEST(a_pause_behind_the_last_report_is_refused)
{
    struct rig rig;
    const char *id = begin(&rig, ONE, "one");
    const cairn_task *a = take(&rig, "v", 1000);
    struct request *pause = control(OP_PAUSE, id);
    DO_TOGETHER(&rig, report("v", a, CAIRN_COMPLETE), pause);
    CHECK_INT(pause->code, CAIRN_E_WRONG_STATE);
    CHECK_STR(status_of(&rig, id), "completed");
    rig_done(&rig);
}

TEST(each_control_is_answered_with_what_it_has_made)
{
    struct rig rig;
    const char *id = begin(&rig, ONE, "one");
    struct request *pause = control(OP_PAUSE, id), *resume = control(OP_RESUME, id);
    struct request *cancel = control(OP_CANCEL, id);
    DO_TOGETHER(&rig, pause, resume, cancel);
    CHECK_STR(pause->out.page.instances[0].status, "paused");
    CHECK_STR(resume->out.page.instances[0].status, "running");
    CHECK_STR(cancel->out.page.instances[0].status, "cancelled");
    rig_done(&rig);
}

TEST(each_control_of_a_job_is_answered_with_what_it_has_made)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *job = rig_enqueue(&rig, "j", NULL);
    CHECK_INT(rig_do(&rig, job), CAIRN_OK);
    const char *id = job->out.enqueued[0].id;
    struct request *cancel = rig_control(&rig, OP_JOB_CANCEL, id);
    struct request *retry = rig_control(&rig, OP_JOB_RETRY, id);
    DO_TOGETHER(&rig, cancel, retry);
    CHECK_STR(cancel->out.page.jobs[0].status, "cancelled");
    CHECK_STR(retry->out.page.jobs[0].status, "pending");
    rig_done(&rig);
}

TEST(a_start_before_a_deploy_takes_the_version_before)
{
    struct rig rig;
    begin(&rig, ONE, "one");
    struct request *first = rig_start("one"), *second = rig_start("one");
    DO_TOGETHER(&rig, first, rig_deploy(ONE_V2), second);
    struct request *old = rig_read(&rig, OP_INSTANCE_GET, first->out.enqueued[0].id);
    struct request *new = rig_read(&rig, OP_INSTANCE_GET, second->out.enqueued[0].id);
    CHECK_INT(old->out.page.instances[0].version, 1);
    CHECK_INT(new->out.page.instances[0].version, 2);
    rig_done(&rig);
}

TEST(a_start_before_its_workflow_is_deployed_is_refused)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *first = rig_start("one"), *second = rig_start("one");
    DO_TOGETHER(&rig, first, rig_deploy(ONE), second);
    CHECK_INT(first->code, CAIRN_E_NOT_FOUND);
    CHECK_INT(second->code, CAIRN_OK);
    rig_done(&rig);
}

TEST(a_claim_sees_the_registry_as_it_is_at_the_end_of_its_batch)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *early = rig_claim(&rig, "a.v1", 0), *late = rig_claim(&rig, "a.v1", 0);
    early->in.claim.runtime = late->in.claim.runtime = "go";
    DO_TOGETHER(&rig, early, entry("a.v1", "python"), late);
    CHECK_INT(early->code, CAIRN_E_WRONG_RUNTIME);
    CHECK_INT(late->code, CAIRN_E_WRONG_RUNTIME);
    rig_done(&rig);
}

TEST(a_report_is_refused_for_its_claim_by_the_registry_at_its_own_turn)
{
    struct rig rig;
    rig_init(&rig, 1000);
    CHECK_INT(rig_do(&rig, rig_enqueue(&rig, "a.v1", NULL)), CAIRN_OK);
    CHECK_INT(rig_do(&rig, rig_enqueue(&rig, "a.v1", NULL)), CAIRN_OK);
    struct request *claims[2] = {rig_claim(&rig, "a.v1", 0), rig_claim(&rig, "a.v1", 0)};
    struct request *reports[2];
    for (int i = 0; i < 2; i++) {
        CHECK_INT(rig_do(&rig, claims[i]), CAIRN_OK);
        reports[i] = rig_complete(&rig, claims[i], true);
        reports[i]->in.report.claim = claims[i]->in.claim;
        reports[i]->in.report.claim.runtime = "go";
    }
    DO_TOGETHER(&rig, reports[0], entry("a.v1", "python"), reports[1]);
    CHECK_INT(reports[0]->code, CAIRN_OK);
    CHECK_INT(reports[0]->out.reported[0].code, CAIRN_OK);
    CHECK_INT(reports[1]->code, CAIRN_E_WRONG_RUNTIME);
    struct request *second = rig_read(&rig, OP_JOB_GET, claims[1]->out.page.tasks[0].id);
    CHECK_STR(second->out.page.jobs[0].status, "leased");
    rig_done(&rig);
}

TEST(an_outbox_claim_comes_behind_the_acknowledgements_of_its_batch)
{
    struct rig rig;
    begin(&rig, ONE, "one");
    const cairn_task *a = take(&rig, "v", 1000);
    cairn_outbound told = CAIRN_OUTBOUND_DEFAULTS;
    told.event = "told";
    struct request *done = report("v", a, CAIRN_COMPLETE);
    done->in.report.reports[0].outbound = &told;
    done->in.report.reports[0].outbound_count = 1;
    CHECK_INT(rig_do(&rig, done), CAIRN_OK);
    struct request *ack = rig_control(&rig, OP_OUTBOX_ACK, "1"), *claimed = outbox(10);
    DO_TOGETHER(&rig, claimed, ack);
    CHECK_INT(ack->code, CAIRN_OK);
    CHECK_INT(claimed->out.page.count, 0);
    rig_done(&rig);
}

TEST(an_acknowledgement_finds_what_the_same_commit_has_emitted)
{
    struct rig rig;
    begin(&rig, ONE, "one");
    const cairn_task *a = take(&rig, "v", 1000);
    cairn_outbound told = CAIRN_OUTBOUND_DEFAULTS;
    told.event = "told";
    struct request *done = report("v", a, CAIRN_COMPLETE);
    done->in.report.reports[0].outbound = &told;
    done->in.report.reports[0].outbound_count = 1;
    struct request *ack = rig_control(&rig, OP_OUTBOX_ACK, "1");
    DO_TOGETHER(&rig, done, ack);
    CHECK_INT(ack->code, CAIRN_OK);
    rig_done(&rig);
}

TEST(a_claim_does_not_overtake_another_that_wants_the_same_tasks)
{
    struct rig rig;
    begin(&rig, PAIR, "pair");
    struct request *first = claim("u", 1, 1000), *other = claim("v", 1, 9000);
    struct request *last = claim("w", 1, 1000);
    DO_TOGETHER(&rig, first, other, last);
    CHECK_INT(first->out.page.count, 1);
    CHECK_INT(other->out.page.count, 1);
    CHECK_INT(last->out.page.count, 0);
    rig_done(&rig);
}

TEST(a_start_with_a_known_key_is_told_so_after_its_batch_fell_apart)
{
    struct rig rig;
    begin(&rig, ONE, "one");
    struct request *first = rig_start("one"), *again = rig_start("one");
    first->in.start.key = again->in.start.key = "k";
    CHECK_INT(rig_do(&rig, first), CAIRN_OK);
    struct faulty_rule rule = {
        .verb = FAULTY_APPEND_EVENTS, .call = 1, .times = 1, .code = CAIRN_E_STORE};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    rig_submit(&rig, again);
    rig_submit(&rig, rig_enqueue(&rig, "j", NULL));
    rig_run(&rig);
    CHECK_INT(again->code, CAIRN_OK);
    CHECK_INT(again->out.enqueued[0].existing, 1);
    CHECK_STR(again->out.enqueued[0].id, first->out.enqueued[0].id);
    rig_done(&rig);
}
