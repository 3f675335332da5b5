/* tests/engine/test_meanwhile.c - what another engine does between two questions of a batch.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * On stores where a claim does not wait for a batch that has an instance in hand.
 */
#include "rig.h"

#include <libpq-fe.h>

/* Behind step "a" is its save point, so "b" is not read together with it. */
#define FORK                                                                              \
    "{\"workflow\": \"w\", \"version\": 1, \"steps\": [{\"fork\": \"f\", \"branches\": [" \
    "[{\"step\": \"a\", \"max_attempts\": 1}, {\"save_point\": \"s\"}],"                  \
    "[{\"step\": \"b\", \"compensation\": {\"handler\": \"undo.b\"}}]]}]}"

/* The other engine, and the step "b" once it has claimed it. */
struct other {
    cairn_engine *engine;
    cairn_page *tasks;
};

/* A job that the rig has claimed. */
struct held {
    struct other *other;
    const struct request *claim;
};

static void open_other(const struct rig *rig, struct other *ret_other)
{
    cairn_error error = {0};
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = rig->url;
    options.virtual_clock = true;
    options.start_us = RIG_START_S * US_PER_SEC;
    *ret_other = (struct other){0};
    CHECK_OK(cairn_open(&options, &ret_other->engine, &error));
}

static void close_other(struct other *other)
{
    cairn_page_free(other->tasks);
    cairn_close(other->engine);
}

static void claim_b(void *arg)
{
    struct other *other = arg;
    cairn_error error = {0};
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    const char *types[] = {"b"};
    claim.worker = "other";
    claim.types = types;
    claim.type_count = 1;
    CHECK_OK(cairn_claim(other->engine, &claim, &other->tasks, &error));
    CHECK_INT(cairn_page_count(other->tasks), 1);
}

static void complete_b(void *arg)
{
    struct other *other = arg;
    cairn_error error = {0};
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.task_id = cairn_page_task(other->tasks, 0)->id;
    report.token = cairn_page_task(other->tasks, 0)->token;
    CHECK_OK(cairn_report_many(other->engine, "other", &report, 1, NULL, NULL, NULL, &error));
}

static void enqueue_a(void *arg)
{
    struct other *other = arg;
    cairn_error error = {0};
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "a";
    CHECK_OK(cairn_enqueue(other->engine, &spec, 1, NULL, &error));
}

/* A worker may be told by another server that its lease goes on. */
static void extend(void *arg)
{
    const struct held *held = arg;
    cairn_error error = {0};
    const cairn_task *task = &held->claim->out.page.tasks[0];
    CHECK_OK(cairn_heartbeat(held->other->engine, "w", task->id, task->token, 60000, NULL, NULL,
                             &error));
}

/* The place of an event in the history of an instance; -1: it is not there. */
static int place_of(struct rig *rig, const char *id, const char *type, const char *step)
{
    struct request *request = rig_read(rig, OP_INSTANCE_EVENTS, id);
    CHECK_INT(request->code, CAIRN_OK);
    for (size_t i = 0; i < request->out.page.count; i++) {
        const cairn_event *event = &request->out.page.events[i];
        if (strcmp(event->type, type) == 0 && event->step && strcmp(event->step, step) == 0)
            return (int)i;
    }
    return -1;
}

static void check_before(struct rig *rig, const char *id, const char *type, const char *step,
                         const char *later_type, const char *later_step)
{
    int place = place_of(rig, id, type, step),
        later = place_of(rig, id, later_type, later_step);
    CHECK(place >= 0 && later >= 0 && place < later, "%s of %s is at %d, %s of %s at %d", type,
          step, place, later_type, later_step, later);
}

/* An instance whose step "a" the rig has claimed; answers its id. */
static const char *begin_flow(struct rig *rig, struct other *other, const char *text,
                              struct request **ret_claim)
{
    rig_init(rig, 60000);
    open_other(rig, other);
    CHECK_INT(rig_do(rig, rig_deploy(text)), CAIRN_OK);
    CHECK_INT(rig_do(rig, rig_start("w")), CAIRN_OK);
    *ret_claim = rig_claim(rig, "a", 0);
    CHECK_INT(rig_do(rig, *ret_claim), CAIRN_OK);
    CHECK_INT((*ret_claim)->out.page.count, 1);
    return (*ret_claim)->out.page.tasks[0].instance_id;
}

static const char *begin(struct rig *rig, struct other *other, struct request **ret_claim)
{
    return begin_flow(rig, other, FORK, ret_claim);
}

static void end(struct rig *rig, struct other *other)
{
    close_other(other);
    rig_done(rig);
}

/* Step "a" fails while "b" is claimed at this moment: the failure is told behind the claim, and the undo
 * waits for "b". */
static void fail_while_claimed(enum faulty_verb verb)
{
    struct rig rig;
    struct other other;
    struct request *claim;
    const char *id = begin(&rig, &other, &claim);
    struct faulty_rule rule = {.verb = verb, .call = 1, .meanwhile = claim_b, .arg = &other};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    CHECK_INT(rig_do(&rig, rig_report(claim, CAIRN_DEAD)), CAIRN_OK);
    CHECK(other.tasks, "the verb was not called");
    check_before(&rig, id, "step_started", "b", "step_failed", "a");
    CHECK_INT(place_of(&rig, id, "compensation_success", "a"), -1);

    complete_b(&other);
    check_before(&rig, id, "step_failed", "a", "step_completed", "b");
    check_before(&rig, id, "step_completed", "b", "compensation_success", "a");
    end(&rig, &other);
}

TEST(a_failure_sees_a_claim_made_before_its_instance_is_locked)
{
    fail_while_claimed(FAULTY_SEND_LOCK_FLOW);
}

TEST(a_failure_sees_a_claim_made_before_its_step_is_locked)
{
    fail_while_claimed(FAULTY_LOCK_STEPS);
}

TEST(a_failure_sees_a_claim_made_before_the_other_steps_are_locked)
{
    fail_while_claimed(FAULTY_LOCK_CURRENT_STEPS);
}

/* ---- ids that are older than what the batch meets ------------------------------------------- */

/* The number of its row of events came with the begin of the batch: the one of "b" is greater. */
TEST(events_follow_those_that_were_written_before_the_instance_was_locked)
{
    struct rig rig;
    struct other other;
    struct request *claim;
    const char *id = begin(&rig, &other, &claim);
    claim_b(&other);
    struct faulty_rule rule = {
        .verb = FAULTY_SEND_LOCK_FLOW, .call = 1, .meanwhile = complete_b, .arg = &other};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    CHECK_INT(rig_do(&rig, rig_complete(&rig, claim, false)), CAIRN_OK);
    check_before(&rig, id, "step_completed", "b", "step_completed", "a");
    end(&rig, &other);
}

/* The other engine's clock is still where both began, so its lease is over for the rig as well. */
TEST(the_end_of_a_lease_follows_its_claim_however_late_that_came)
{
    static const char both[] =
        "{\"workflow\": \"w\", \"version\": 1, \"steps\": [{\"parallel\": "
        "\"p\", \"steps\": [{\"step\": \"a\"}, {\"step\": \"b\"}]}]}";
    struct rig rig;
    struct other other;
    struct request *claim, *advance = rig_make(OP_CLOCK_ADVANCE);
    const char *id = begin_flow(&rig, &other, both, &claim);
    struct faulty_rule rule = {
        .verb = FAULTY_FIND_DUE_STEPS, .call = 1, .meanwhile = claim_b, .arg = &other};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    advance->in.advance.ms = 3600000;
    CHECK_INT(rig_do(&rig, advance), CAIRN_OK);
    CHECK(other.tasks, "the verb was not called");
    check_before(&rig, id, "step_started", "b", "step_retry", "b");
    end(&rig, &other);
}

TEST(the_events_of_a_claim_follow_those_of_a_job_that_came_meanwhile)
{
    struct rig rig;
    struct other other;
    rig_init(&rig, 60000);
    open_other(&rig, &other);
    struct faulty_rule rule = {
        .verb = FAULTY_CLAIM_JOBS, .call = 1, .meanwhile = enqueue_a, .arg = &other};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    struct request *claim = rig_claim(&rig, "a", 0);
    CHECK_INT(rig_do(&rig, claim), CAIRN_OK);
    CHECK_INT(claim->out.page.count, 1);
    CHECK_STR(rig_events(&rig, claim->out.page.tasks[0].id), "created leased started");
    end(&rig, &other);
}

TEST(the_event_of_a_completion_follows_a_heartbeat_that_came_meanwhile)
{
    struct rig rig;
    struct other other;
    rig_init(&rig, 60000);
    open_other(&rig, &other);
    CHECK_INT(rig_do(&rig, rig_enqueue(&rig, "a", NULL)), CAIRN_OK);
    struct request *claim = rig_claim(&rig, "a", 0);
    CHECK_INT(rig_do(&rig, claim), CAIRN_OK);
    struct held held = {&other, claim};
    struct faulty_rule rule = {
        .verb = FAULTY_COMPLETE_JOBS, .call = 1, .meanwhile = extend, .arg = &held};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    CHECK_INT(rig_do(&rig, rig_complete(&rig, claim, false)), CAIRN_OK);
    CHECK_STR(rig_events(&rig, claim->out.page.tasks[0].id),
              "created leased started heartbeat succeeded");
    end(&rig, &other);
}

/* The completion takes a new number behind the heartbeat, and the claim that was sent with it goes on there. */
TEST(events_of_a_claim_asked_ahead_follow_those_of_the_completion)
{
    struct rig rig;
    struct other other;
    struct request *claims[2];
    rig_init(&rig, 60000);
    open_other(&rig, &other);
    for (int i = 0; i < 4; i++)
        CHECK_INT(rig_do(&rig, rig_enqueue(&rig, "a", NULL)), CAIRN_OK);
    for (int i = 0; i < 2; i++)
        CHECK_INT(rig_do(&rig, claims[i] = rig_claim(&rig, "%", 0)), CAIRN_OK);
    struct held held = {&other, claims[0]};
    struct faulty_rule rule = {
        .verb = FAULTY_SEND_COMPLETE_JOBS, .call = 1, .meanwhile = extend, .arg = &held};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    struct request *report = rig_complete(&rig, claims[0], true);
    CHECK_INT(rig_do(&rig, report), CAIRN_OK);
    CHECK_INT(report->out.page.count, 1);
    CHECK_STR(rig_events(&rig, claims[0]->out.page.tasks[0].id),
              "created leased started heartbeat succeeded");
    CHECK_STR(rig_events(&rig, report->out.page.tasks[0].id), "created leased started");
    struct request *last = rig_complete(&rig, report, true);
    CHECK_INT(rig_do(&rig, last), CAIRN_OK);
    CHECK_STR(rig_events(&rig, report->out.page.tasks[0].id),
              "created leased started succeeded");
    end(&rig, &other);
}

/* It is newer than the number of the batch. */
TEST(a_claim_asked_ahead_takes_a_job_that_came_meanwhile)
{
    struct rig rig;
    struct other other;
    struct request *claim;
    rig_init(&rig, 60000);
    open_other(&rig, &other);
    for (int i = 0; i < 2; i++)
        CHECK_INT(rig_do(&rig, rig_enqueue(&rig, "a", NULL)), CAIRN_OK);
    for (int i = 0; i < 2; i++)
        CHECK_INT(rig_do(&rig, claim = rig_claim(&rig, "%", 0)), CAIRN_OK);
    struct faulty_rule rule = {
        .verb = FAULTY_SEND_COMPLETE_JOBS, .call = 1, .meanwhile = enqueue_a, .arg = &other};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    struct request *report = rig_complete(&rig, claim, true);
    CHECK_INT(rig_do(&rig, report), CAIRN_OK);
    CHECK_INT(report->out.page.count, 1);
    CHECK_STR(rig_events(&rig, claim->out.page.tasks[0].id),
              "created leased started succeeded");
    CHECK_STR(rig_events(&rig, report->out.page.tasks[0].id), "created leased started");
    end(&rig, &other);
}

/* ---- each id once ---------------------------------------------------------------------------- */

/* Another process does with a job of its own all that there is to do. */
static void work_elsewhere(void *arg)
{
    struct other *other = arg;
    cairn_error error = {0};
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    spec.type = "elsewhere";
    claim.worker = "other";
    claim.types = &spec.type;
    claim.type_count = 1;
    CHECK_OK(cairn_enqueue(other->engine, &spec, 1, NULL, &error));
    cairn_page_free(other->tasks);
    CHECK_OK(cairn_claim(other->engine, &claim, &other->tasks, &error));
    CHECK_INT(cairn_page_count(other->tasks), 1);
    report.task_id = cairn_page_task(other->tasks, 0)->id;
    report.token = cairn_page_task(other->tasks, 0)->token;
    CHECK_OK(cairn_report_many(other->engine, "other", &report, 1, NULL, NULL, NULL, &error));
}

/* Every event that the rows of jobs count is in the stream, under an id of its own, and in their histories. */
static void check_ids(const struct rig *rig)
{
    static const char law[] =
        "SELECT (SELECT sum(event_count) FROM workflow.workflow_run), count(*),"
        "       count(DISTINCT id),"
        "       (SELECT count(*) FROM workflow.workflow_run AS r WHERE r.event_count <> ("
        "                SELECT count(*) FROM workflow.workflow_event AS e"
        "                 WHERE e.workflow_id = r.id))"
        "  FROM workflow.workflow_event_stream";
    PGconn *conn = PQconnectdb(rig->url);
    PGresult *result = PQexec(conn, law);
    CHECK_INT(PQresultStatus(result), PGRES_TUPLES_OK);
    CHECK_STR(PQgetvalue(result, 0, 1), PQgetvalue(result, 0, 0));
    CHECK_STR(PQgetvalue(result, 0, 2), PQgetvalue(result, 0, 0));
    CHECK_STR(PQgetvalue(result, 0, 3), "0");
    PQclear(result);
    PQfinish(conn);
}

/* The database refuses a row of the log whose number another batch has used, and the batch is repeated: so
 * that it begins once is part of the law. */
TEST(an_event_id_is_used_once_whatever_another_process_does_meanwhile)
{
    static const enum faulty_verb moments[] = {FAULTY_SEND_COMPLETE_JOBS, FAULTY_CLAIM_JOBS,
                                               FAULTY_COMPLETE_JOBS, FAULTY_APPEND_EVENTS,
                                               FAULTY_COMMIT};
    struct rig rig;
    struct other other;
    struct request *claim, *next;
    rig_init(&rig, 60000);
    open_other(&rig, &other);
    for (size_t i = 0; i < 2 + sizeof moments / sizeof *moments; i++)
        CHECK_INT(rig_do(&rig, rig_enqueue(&rig, "a", NULL)), CAIRN_OK);
    CHECK_INT(rig_do(&rig, claim = rig_claim(&rig, "a", 0)), CAIRN_OK);
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        struct faulty_rule rule = {
            .verb = moments[i], .call = 1, .meanwhile = work_elsewhere, .arg = &other};
        next = rig_complete(&rig, claim, true);
        next->in.report.claim.types =
            claim->op == OP_CLAIM ? claim->in.claim.types : claim->in.report.claim.types;
        uint64_t begun = faulty_calls(rig.faulty, FAULTY_BEGIN);
        CHECK(faulty_add(rig.faulty, &rule), "no memory");
        CHECK_INT(rig_do(&rig, next), CAIRN_OK);
        CHECK_INT(faulty_calls(rig.faulty, FAULTY_BEGIN) - begun, 1);
        CHECK_INT(next->out.page.count, 1);
        faulty_calm(rig.faulty);
        check_ids(&rig);
        claim = next;
    }
    end(&rig, &other);
}

/* ---- whether anything is left to do ----------------------------------------------------------- */

/* Asks for "b", which the other engine claims right before this verb. */
static void ask_while_claimed(struct rig *rig, struct other *other, enum faulty_verb verb)
{
    static const char *const types[] = {"b"};
    struct faulty_rule rule = {.verb = verb, .call = 1, .meanwhile = claim_b, .arg = other};
    struct request *request = rig_make(OP_IDLE);
    request->in.claim = (cairn_claim_options){.types = types, .type_count = 1};
    CHECK(faulty_add(rig->faulty, &rule), "no memory");
    rig_answer(rig, request);
    CHECK_INT(request->code, CAIRN_OK);
    CHECK(other->tasks, "the verb was not called");
    CHECK(!request->out.is_idle, "it is leased, and said to be neither ready nor leased");
}

TEST(a_step_that_is_claimed_between_two_looks_is_work)
{
    struct rig rig;
    struct other other;
    struct request *claim;
    begin(&rig, &other, &claim);
    CHECK_INT(rig_do(&rig, rig_complete(&rig, claim, false)), CAIRN_OK);
    ask_while_claimed(&rig, &other, FAULTY_LIST_READY_TYPES);
    end(&rig, &other);
}

TEST(a_job_that_is_claimed_between_two_looks_is_work)
{
    struct rig rig;
    struct other other;
    cairn_error error = {0};
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    rig_init(&rig, 60000);
    open_other(&rig, &other);
    spec.type = "b";
    CHECK_OK(cairn_enqueue(other.engine, &spec, 1, NULL, &error));
    ask_while_claimed(&rig, &other, FAULTY_LIST_TYPES);
    end(&rig, &other);
}
