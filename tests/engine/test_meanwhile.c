/* tests/engine/test_meanwhile.c - what another engine does between two questions of a batch.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * On stores where a claim does not wait for a batch that has an instance in hand.
 */
#include "rig.h"

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
static const char *begin(struct rig *rig, struct other *other, struct request **ret_claim)
{
    rig_init(rig, 60000);
    open_other(rig, other);
    CHECK_INT(rig_do(rig, rig_deploy(FORK)), CAIRN_OK);
    CHECK_INT(rig_do(rig, rig_start("w")), CAIRN_OK);
    *ret_claim = rig_claim(rig, "a", 0);
    CHECK_INT(rig_do(rig, *ret_claim), CAIRN_OK);
    CHECK_INT((*ret_claim)->out.page.count, 1);
    return (*ret_claim)->out.page.tasks[0].instance_id;
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
    fail_while_claimed(FAULTY_LOCK_INSTANCES);
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
        .verb = FAULTY_LOCK_INSTANCES, .call = 1, .meanwhile = complete_b, .arg = &other};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    CHECK_INT(rig_do(&rig, rig_complete(&rig, claim, false)), CAIRN_OK);
    check_before(&rig, id, "step_completed", "b", "step_completed", "a");
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

/* ---- claims that are sent together with reports --------------------------------------------- */

/* Jobs "a", of which the rig has claimed so many, and knows that there are no steps. */
static void begin_jobs(struct rig *rig, struct other *other, struct request **ret_claims,
                       size_t count)
{
    rig_init(rig, 60000);
    open_other(rig, other);
    for (size_t i = 0; i < 3 * count; i++)
        CHECK_INT(rig_do(rig, rig_enqueue(rig, "a", NULL)), CAIRN_OK);
    struct request *learning = rig_claim(rig, "%", 0);
    learning->in.claim.max = 2;
    CHECK_INT(rig_do(rig, learning), CAIRN_OK);
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(rig_do(rig, ret_claims[i] = rig_claim(rig, "%", 0)), CAIRN_OK);
        CHECK_INT(ret_claims[i]->out.page.count, 1);
    }
}

static const char *status_of(struct rig *rig, const struct request *claim)
{
    return rig_read(rig, OP_JOB_GET, claim->out.page.tasks[0].id)->out.page.jobs[0].status;
}

static size_t count_leased(struct other *other)
{
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    cairn_page *jobs = NULL;
    cairn_error error = {0};
    filter.status = "leased";
    CHECK_OK(cairn_job_list(other->engine, &filter, &jobs, &error));
    size_t count = cairn_page_count(jobs);
    cairn_page_free(jobs);
    return count;
}

/* One report for each claim, which claims again. */
static void report_all(struct rig *rig, struct request **claims, struct request **ret_reports,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        rig_submit(rig, ret_reports[i] = rig_complete(rig, claims[i], true));
    rig_run(rig);
    for (size_t i = 0; i < count; i++) {
        CHECK(rig_is_done(ret_reports[i]), "report %zu is not done", i);
        CHECK_INT(ret_reports[i]->code, CAIRN_OK);
    }
}

TEST(claims_are_sent_together_with_reports)
{
    struct rig rig;
    struct other other;
    struct request *claims[3], *reports[3];
    begin_jobs(&rig, &other, claims, 3);
    uint64_t sent = faulty_calls(rig.faulty, FAULTY_SEND_JOB_CLAIM);
    uint64_t asked = faulty_calls(rig.faulty, FAULTY_CLAIM_JOBS);
    report_all(&rig, claims, reports, 3);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_SEND_JOB_CLAIM) - sent, 1);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_CLAIM_JOBS) - asked, 1);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(reports[i]->out.page.count, 1);
        CHECK_STR(status_of(&rig, claims[i]), "succeeded");
        CHECK_STR(rig_events(&rig, claims[i]->out.page.tasks[0].id),
                  "created leased started succeeded");
        CHECK_STR(rig_events(&rig, reports[i]->out.page.tasks[0].id), "created leased started");
    }
    CHECK_INT(count_leased(&other), 5); /* two of the claim that learned */
    end(&rig, &other);
}

TEST(the_events_of_claims_that_were_sent_follow_those_of_reports_that_were_late)
{
    struct rig rig;
    struct other other;
    struct request *claims[2], *reports[2];
    begin_jobs(&rig, &other, claims, 2);
    struct held held = {&other, claims[0]};
    struct faulty_rule rule = {
        .verb = FAULTY_COMPLETE_JOBS, .call = 1, .meanwhile = extend, .arg = &held};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    report_all(&rig, claims, reports, 2);
    CHECK_STR(rig_events(&rig, claims[0]->out.page.tasks[0].id),
              "created leased started heartbeat succeeded");
    CHECK_STR(rig_events(&rig, claims[1]->out.page.tasks[0].id),
              "created leased started succeeded");
    for (int i = 0; i < 2; i++)
        CHECK_STR(rig_events(&rig, reports[i]->out.page.tasks[0].id), "created leased started");
    end(&rig, &other);
}

/* A report that the statement passes over: the job is held under another token.  Its claim is answered. */
TEST(a_report_that_is_refused_does_not_keep_its_claim_from_being_sent)
{
    struct rig rig;
    struct other other;
    struct request *claims[2], *reports[2];
    begin_jobs(&rig, &other, claims, 2);
    struct request *wrong = rig_complete(&rig, claims[0], true);
    cairn_report *report = arena_zalloc(&wrong->arena, sizeof *report);
    *report = wrong->in.report.reports[0];
    report->token = "wrong";
    wrong->in.report.reports = report;
    reports[0] = wrong;
    reports[1] = rig_complete(&rig, claims[1], true);
    uint64_t sent = faulty_calls(rig.faulty, FAULTY_SEND_JOB_CLAIM);
    rig_submit(&rig, reports[0]);
    rig_submit(&rig, reports[1]);
    rig_run(&rig);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_SEND_JOB_CLAIM) - sent, 1);
    CHECK_INT(reports[0]->out.reported[0].code, CAIRN_E_LEASE_LOST);
    CHECK_STR(status_of(&rig, claims[0]), "leased");
    CHECK_STR(status_of(&rig, claims[1]), "succeeded");
    for (int i = 0; i < 2; i++) {
        CHECK_INT(reports[i]->out.page.count, 1);
        CHECK_STR(rig_events(&rig, reports[i]->out.page.tasks[0].id), "created leased started");
    }
    end(&rig, &other);
}

/* Another transaction, which has locked the job of a claim. */
struct locker {
    struct store *store;
    struct store_session *session;
    struct store_tx *tx;
    struct arena arena;
    const char *id;
};

static void lock_job(void *arg)
{
    struct locker *locker = arg;
    cairn_error error = {0};
    struct job_row row;
    enum lock_result result;
    CHECK_OK(locker->store->ops->begin(locker->session, &locker->arena, &locker->tx, &error));
    CHECK_OK(locker->store->ops->lock_jobs(locker->tx, &locker->id, 1, false, &row, &result,
                                           &error));
    CHECK_INT(result, LOCK_DONE);
}

static void let_go(void *arg)
{
    struct locker *locker = arg;
    locker->store->ops->rollback(locker->tx);
}

/* Reports of three jobs, of which another transaction has locked one until this verb is called. */
static void report_while_locked(enum faulty_verb verb, uint64_t wanted_commits)
{
    struct rig rig;
    struct other other;
    struct request *claims[3], *reports[3];
    struct locker locker = {0};
    cairn_error error = {0};
    begin_jobs(&rig, &other, claims, 3);
    struct store_config config = {
        .url = rig.url, .clock = &rig.engine->clock, .lock_wait_ms = 5000};
    CHECK_OK(store_open(&config, &locker.store, &error));
    CHECK_OK(
        locker.store->ops->session_open(locker.store, SESSION_WRITER, &locker.session, &error));
    locker.id = claims[1]->out.page.tasks[0].id;
    lock_job(&locker);
    uint64_t sent = faulty_calls(rig.faulty, FAULTY_SEND_JOB_CLAIM);
    uint64_t commits = faulty_calls(rig.faulty, FAULTY_COMMIT);
    struct faulty_rule rule = {.verb = verb, .call = 1, .meanwhile = let_go, .arg = &locker};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    report_all(&rig, claims, reports, 3);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_SEND_JOB_CLAIM) - sent, 1);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_COMMIT) - commits, wanted_commits);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(reports[i]->out.page.count, 1);
        CHECK_STR(status_of(&rig, claims[i]), "succeeded");
        CHECK_STR(rig_events(&rig, claims[i]->out.page.tasks[0].id),
                  "created leased started succeeded");
        CHECK_STR(rig_events(&rig, reports[i]->out.page.tasks[0].id), "created leased started");
    }
    CHECK_INT(count_leased(&other), 5); /* two of the claim that learned */
    locker.store->ops->session_close(locker.session);
    locker.store->ops->close(locker.store);
    arena_done(&locker.arena);
    end(&rig, &other);
}

/* The report of the locked job leaves the batch, which is repeated without sending claims: or the tasks of
 * that report's claim would be leased to nobody. */
TEST(claims_that_were_sent_are_taken_back_if_a_request_leaves_the_batch)
{
    report_while_locked(FAULTY_COMMIT, 2);
}

/* The statement that completes jobs passes it over; a moment later it can be had. */
TEST(a_report_that_is_applied_behind_claims_that_were_sent_has_events_of_its_own)
{
    report_while_locked(FAULTY_LOCK_JOBS, 1);
}
