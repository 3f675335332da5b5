/* What the committer promises: one commit for all, nobody suffers for another, nothing twice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "rig.h"

#include <stdlib.h>

static const char *enqueued_id(const struct request *request)
{
    return request->out.enqueued[0].id;
}

static void fail_calls(struct rig *rig, enum faulty_verb verb, uint64_t times, cairn_code code)
{
    struct faulty_rule rule = {.verb = verb, .call = 1, .times = times, .code = code};
    CHECK(faulty_add(rig->faulty, &rule), "no memory");
}

/* The next commit reaches the store, and its answer gets lost. */
static void lose_answer(struct rig *rig)
{
    struct faulty_rule rule = {
        .verb = FAULTY_COMMIT, .call = 1, .moment = FAULTY_AFTER, .code = CAIRN_E_UNREACHABLE};
    CHECK(faulty_add(rig->faulty, &rule), "no memory");
}

static const char *status_of(struct rig *rig, const char *id)
{
    return rig_read(rig, OP_JOB_GET, id)->out.page.jobs[0].status;
}

TEST(what_waits_is_committed_together)
{
    struct rig rig;
    struct request *jobs[10];
    rig_init(&rig, 1000);
    for (int i = 0; i < 10; i++)
        rig_submit(&rig, jobs[i] = rig_enqueue(&rig, "a.v1", NULL));
    rig_run(&rig);
    for (int i = 0; i < 10; i++)
        CHECK(rig_is_done(jobs[i]) && jobs[i]->code == CAIRN_OK, "job %d: %d", i,
              jobs[i]->code);
    CHECK_INT(rig.engine->counters.commits, 1);
    CHECK_INT(rig.engine->counters.commit_requests, 10);
    rig_done(&rig);
}

TEST(a_bad_request_in_a_batch_fails_alone)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *first = rig_enqueue(&rig, "a.v1", NULL);
    struct request *bad =
        rig_control(&rig, OP_JOB_CANCEL, "00000000-0000-7000-8000-000000000000");
    struct request *last = rig_enqueue(&rig, "a.v1", NULL);
    rig_submit(&rig, first);
    rig_submit(&rig, bad);
    rig_submit(&rig, last);
    rig_run(&rig);
    CHECK_INT(first->code, CAIRN_OK);
    CHECK_INT(bad->code, CAIRN_E_NOT_FOUND);
    CHECK_INT(last->code, CAIRN_OK);
    CHECK_INT(rig.engine->counters.commits, 1);
    rig_done(&rig);
}

TEST(when_the_database_refuses_a_batch_each_request_is_tried_by_itself)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *jobs[3];
    fail_calls(&rig, FAULTY_INSERT_JOBS, 1, CAIRN_E_STORE);
    for (int i = 0; i < 3; i++)
        rig_submit(&rig, jobs[i] = rig_enqueue(&rig, "a.v1", NULL));
    rig_run(&rig);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(jobs[i]->code, CAIRN_OK);
        CHECK_STR(rig_events(&rig, enqueued_id(jobs[i])), "created");
    }
    CHECK_INT(rig.engine->counters.commits, 3);
    rig_done(&rig);
}

TEST(a_waiting_claim_is_given_what_comes_later)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *claim = rig_claim(&rig, "a.%", 60000);
    rig_submit(&rig, claim);
    rig_run(&rig);
    CHECK(!rig_is_done(claim), "it was answered with %zu tasks", claim->out.page.count);

    rig_do(&rig, rig_enqueue(&rig, "b.v1", NULL));
    CHECK(!rig_is_done(claim), "another type woke it");

    rig_do(&rig, rig_enqueue(&rig, "a.v1", NULL));
    rig_run(&rig);
    CHECK(rig_is_done(claim), "it still waits");
    CHECK_INT(claim->out.page.count, 1);
    CHECK_STR(claim->out.page.tasks[0].type, "a.v1");
    rig_done(&rig);
}

TEST(what_a_claim_waits_for_is_recorded_and_handed_out_in_one_commit)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *claim = rig_claim(&rig, "a.%", 60000);
    rig_submit(&rig, claim);
    rig_run(&rig);
    uint64_t commits = rig.engine->counters.commits;

    struct request *job = rig_enqueue(&rig, "a.v1", NULL);
    rig_do(&rig, job);
    CHECK(rig_is_done(claim), "it still waits");
    CHECK_INT(claim->out.page.count, 1);
    CHECK_INT(rig.engine->counters.commits - commits, 1);
    CHECK_STR(rig_events(&rig, enqueued_id(job)), "created leased started");
    rig_done(&rig);
}

TEST(a_batch_that_fails_does_not_end_the_claims_that_joined_it)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *claim = rig_claim(&rig, "a.%", 60000);
    rig_submit(&rig, claim);
    rig_run(&rig);

    fail_calls(&rig, FAULTY_APPEND_EVENTS, 2, CAIRN_E_STORE_FULL);
    struct request *job = rig_enqueue(&rig, "a.v1", NULL);
    rig_do(&rig, job);
    CHECK_INT(job->code, CAIRN_E_STORE_FULL);
    rig_run(&rig);
    CHECK(!rig_is_done(claim), "it ended with %d", claim->code);

    rig_do(&rig, rig_enqueue(&rig, "a.v1", NULL));
    CHECK(rig_is_done(claim), "it still waits");
    CHECK_INT(claim->out.page.count, 1);
    rig_done(&rig);
}

TEST(the_claim_that_has_waited_longest_is_served_first)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *first = rig_claim(&rig, "a.v1", 60000);
    struct request *second = rig_claim(&rig, "a.v1", 60000);
    rig_submit(&rig, first);
    rig_run(&rig);
    rig_submit(&rig, second);
    rig_run(&rig);
    rig_do(&rig, rig_enqueue(&rig, "a.v1", NULL));
    rig_run(&rig);
    CHECK(rig_is_done(first) && !rig_is_done(second), "first %d, second %d", rig_is_done(first),
          rig_is_done(second));
    rig_done(&rig);
}

static bool has_gone(struct request *request)
{
    (void)request;
    return false;
}

TEST(a_claim_whose_caller_has_gone_takes_nothing)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *claim = rig_claim(&rig, "a.v1", 60000);
    claim->is_wanted = has_gone;
    rig_submit(&rig, claim);
    rig_run(&rig);
    struct request *job = rig_enqueue(&rig, "a.v1", NULL);
    rig_do(&rig, job);
    rig_run(&rig);
    CHECK_INT(claim->code, CAIRN_E_CLOSED);
    CHECK_STR(status_of(&rig, enqueued_id(job)), "pending");
    rig_done(&rig);
}

TEST(a_claim_whose_time_is_over_is_answered_with_nothing)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *claim = rig_claim(&rig, "a.v1", 1);
    rig_submit(&rig, claim);
    rig_run(&rig);
    while (!rig_is_done(claim)) /* one millisecond of real time */
        rig_run(&rig);
    CHECK_INT(claim->code, CAIRN_OK);
    CHECK_INT(claim->out.page.count, 0);
    rig_done(&rig);
}

TEST(a_report_that_waits_for_its_claim_is_applied_once)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *job = rig_enqueue(&rig, "a.v1", NULL);
    rig_do(&rig, job);
    struct request *claim = rig_claim(&rig, "a.v1", 0);
    rig_do(&rig, claim);
    struct request *report = rig_complete(&rig, claim, true);
    rig_submit(&rig, report);
    rig_run(&rig);
    CHECK(!rig_is_done(report), "it did not wait");
    CHECK_STR(status_of(&rig, enqueued_id(job)), "succeeded");

    rig_do(&rig, rig_enqueue(&rig, "a.v1", NULL));
    rig_run(&rig);
    CHECK(rig_is_done(report), "it still waits");
    CHECK_INT(report->out.reported[0].code, CAIRN_OK);
    CHECK_INT(report->out.page.count, 1);
    CHECK_STR(rig_events(&rig, enqueued_id(job)), "created leased started succeeded");
    rig_done(&rig);
}

TEST(a_store_that_went_away_is_waited_for)
{
    struct rig rig;
    rig_init(&rig, 60000);
    struct request *job = rig_enqueue(&rig, "a.v1", NULL);
    fail_calls(&rig, FAULTY_BEGIN, 3, CAIRN_E_UNREACHABLE);
    CHECK_INT(rig_do(&rig, job), CAIRN_OK);
    CHECK_STR(rig_events(&rig, enqueued_id(job)), "created");
    rig_done(&rig);
}

TEST(a_store_that_stays_away_is_reported_and_nothing_is_written)
{
    struct rig rig;
    rig_init(&rig, 0);
    fail_calls(&rig, FAULTY_BEGIN, 1000, CAIRN_E_UNREACHABLE);
    struct request *job = rig_enqueue(&rig, "a.v1", "k");
    CHECK_INT(rig_do(&rig, job), CAIRN_E_UNREACHABLE);
    faulty_calm(rig.faulty);
    struct request *again = rig_enqueue(&rig, "a.v1", "k");
    CHECK_INT(rig_do(&rig, again), CAIRN_OK);
    CHECK_INT(again->out.enqueued[0].existing, 0);
    rig_done(&rig);
}

TEST(the_store_has_a_second_to_answer_however_little_time_a_caller_has)
{
    struct rig rig;
    rig_init(&rig, 1);
    struct request_queue queue = {0};
    struct request *job = rig_enqueue(&rig, "a.v1", NULL);
    int64_t now_us = clock_monotonic_us(&rig.engine->clock);
    job->give_up_us = now_us + US_PER_SEC / 2;
    queue_push(&queue, job);
    CHECK(store_deadline_us(rig.engine, &queue) >= now_us + US_PER_SEC, "less than a second");
    rig_done(&rig);
}

TEST(an_enqueue_whose_commit_nobody_knew_the_end_of_is_not_doubled)
{
    struct rig rig;
    rig_init(&rig, 60000);
    struct request *plain = rig_enqueue(&rig, "a.v1", NULL);
    lose_answer(&rig);
    CHECK_INT(rig_do(&rig, plain), CAIRN_OK);
    CHECK_STR(rig_events(&rig, enqueued_id(plain)), "created");

    struct request *keyed = rig_enqueue(&rig, "a.v1", "k");
    lose_answer(&rig);
    CHECK_INT(rig_do(&rig, keyed), CAIRN_OK);
    CHECK_INT(keyed->out.enqueued[0].existing, 0);

    struct request *claim = rig_claim(&rig, "a.v1", 0);
    claim->in.claim.max = 10;
    rig_do(&rig, claim);
    CHECK_INT(claim->out.page.count, 2);
    rig_done(&rig);
}

TEST(a_claim_whose_commit_nobody_knew_the_end_of_finds_its_tasks_again)
{
    struct rig rig;
    rig_init(&rig, 60000);
    struct request *job = rig_enqueue(&rig, "a.v1", NULL);
    rig_do(&rig, job);
    rig_do(&rig, rig_enqueue(&rig, "a.v1", NULL));
    struct request *claim = rig_claim(&rig, "a.v1", 0);
    lose_answer(&rig);
    CHECK_INT(rig_do(&rig, claim), CAIRN_OK);
    CHECK_INT(claim->out.page.count, 1);
    CHECK_STR(claim->out.page.tasks[0].id, enqueued_id(job));
    CHECK_STR(rig_events(&rig, enqueued_id(job)), "created leased started");

    struct request *report = rig_complete(&rig, claim, false);
    lose_answer(&rig);
    CHECK_INT(rig_do(&rig, report), CAIRN_OK);
    CHECK_INT(report->out.reported[0].code, CAIRN_OK);
    CHECK_STR(rig_events(&rig, enqueued_id(job)), "created leased started succeeded");
    rig_done(&rig);
}

TEST(a_control_whose_commit_nobody_knew_the_end_of_is_not_refused_as_a_second_one)
{
    struct rig rig;
    rig_init(&rig, 60000);
    struct request *job = rig_enqueue(&rig, "a.v1", NULL);
    rig_do(&rig, job);
    lose_answer(&rig);
    CHECK_INT(rig_do(&rig, rig_control(&rig, OP_JOB_CANCEL, enqueued_id(job))), CAIRN_OK);
    lose_answer(&rig);
    CHECK_INT(rig_do(&rig, rig_control(&rig, OP_JOB_RETRY, enqueued_id(job))), CAIRN_OK);
    CHECK_STR(rig_events(&rig, enqueued_id(job)), "created cancelled retried");
    rig_done(&rig);
}

/* The first try does both, the second one finds the lease gone. */
TEST(a_passages_commit_that_may_have_been_carried_out_is_not_refused_as_late)
{
    struct rig rig;
    rig_init(&rig, 60000);
    const cairn_task *task = &rig_claim_function(&rig)->out.page.tasks[0];
    struct request *commit = rig_make(OP_COMMIT);
    struct commit_step step = {.seq = 1,
                               .key = "a",
                               .kind = "task",
                               .status = "completed",
                               .max_attempts = 1,
                               .timeout_ms = -1};
    commit->in.commit = (struct commit_input){.worker = "w",
                                              .task_id = task->id,
                                              .token = task->token,
                                              .revision = task->memory->revision,
                                              .outcome = PASSAGE_GO_ON,
                                              .extend_ms = 1000,
                                              .steps = &step,
                                              .step_count = 1};
    struct request *restart = rig_make(OP_RESTART);
    restart->in.control.id = task->instance_id;
    lose_answer(&rig);
    rig_submit(&rig, commit);
    CHECK_INT(rig_do(&rig, restart), CAIRN_OK);
    CHECK(rig_is_done(commit), "the commit is not done");
    CHECK_INT(commit->code, CAIRN_E_UNREACHABLE);
    rig_done(&rig);
}

TEST(a_restart_whose_commit_nobody_knew_the_end_of_is_not_applied_twice)
{
    struct rig rig;
    rig_init(&rig, 60000);
    const cairn_task *task = &rig_claim_function(&rig)->out.page.tasks[0];
    struct request *first = rig_make(OP_RESTART), *second = rig_make(OP_RESTART);
    first->in.control.id = second->in.control.id = task->instance_id;
    lose_answer(&rig);
    CHECK_INT(rig_do(&rig, first), CAIRN_OK);
    CHECK_INT(first->out.page.instances[0].generation, 2);
    CHECK_INT(rig_do(&rig, second), CAIRN_OK);
    CHECK_INT(second->out.page.instances[0].generation, 3);
    rig_done(&rig);
}

TEST(a_virtual_clock_stops_at_every_due_time)
{
    struct rig rig;
    rig_init(&rig, 1000);
    int64_t start_us = RIG_START_S * US_PER_SEC;
    struct request *job = rig_enqueue(&rig, "a.v1", NULL);
    job->in.enqueue.specs[0].max_attempts = 2;
    rig_do(&rig, job);
    for (int i = 0; i < 2; i++) {
        struct request *claim = rig_claim(&rig, "a.v1", 0);
        rig_do(&rig, claim);
        CHECK_INT(claim->out.page.count, 1);
        struct request *advance = rig_control(&rig, OP_CLOCK_ADVANCE, NULL);
        advance->in.advance.ms = 3600 * 1000;
        CHECK_INT(rig_do(&rig, advance), CAIRN_OK);
        CHECK_INT(advance->out.now_us, start_us + (i + 1) * 3600 * US_PER_SEC);
    }
    struct request *events = rig_read(&rig, OP_JOB_EVENTS, enqueued_id(job));
    CHECK_STR(rig_events(&rig, enqueued_id(job)),
              "created leased started retried leased started failed");
    CHECK_INT(events->out.page.events[3].at_us, start_us + 30 * US_PER_SEC + 1);
    CHECK_STR(rig_read(&rig, OP_JOB_GET, enqueued_id(job))->out.page.jobs[0].last_error,
              "LEASE_EXPIRED");
    rig_done(&rig);
}

TEST(closing_answers_whoever_waits)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *claim = rig_claim(&rig, "a.v1", 60000);
    struct request *job = rig_enqueue(&rig, "b.v1", NULL);
    rig_submit(&rig, claim);
    rig_run(&rig);
    rig_submit(&rig, job);
    rig_close(&rig);
    CHECK_INT(claim->code, CAIRN_E_CLOSED);
    CHECK_INT(job->code, CAIRN_E_CLOSED);
    rig_done(&rig);
}

/* Whatever allocation fails, the call says so or succeeds, and nothing is half-written. */
TEST(memory_that_runs_out_leaves_nothing_half_written)
{
    struct rig rig;
    rig_init(&rig, 1000);
    for (long allowed = 0; allowed < 60; allowed++) {
        struct request *job = rig_enqueue(&rig, "a.v1", NULL);
        rig_submit(&rig, job);
        mem_fail_after(allowed);
        rig_run(&rig);
        mem_fail_after(-1);
        CHECK(rig_is_done(job), "enqueue with %ld allocations is not done", allowed);
        CHECK(job->code == CAIRN_OK || job->code == CAIRN_E_OUT_OF_MEMORY, "it ended with %d",
              job->code);
        struct request *claim = rig_claim(&rig, "a.v1", 0);
        rig_do(&rig, claim);
        CHECK_INT(claim->out.page.count, job->code == CAIRN_OK);
        if (job->code)
            continue;

        struct request *report = rig_complete(&rig, claim, false);
        rig_submit(&rig, report);
        mem_fail_after(allowed);
        rig_run(&rig);
        mem_fail_after(-1);
        CHECK(rig_is_done(report), "report with %ld allocations is not done", allowed);
        CHECK_STR(rig_events(&rig, enqueued_id(job)),
                  report->code ? "created leased started" : "created leased started succeeded");
    }
    rig_done(&rig);
}

/* ---- few callers ---------------------------------------------------------------------------- */

/* While the first committer is in its commit. */
struct meanwhile {
    struct rig *rig;
    bool may_begin, may_begin_with_much; /* the second one, with a request that comes now */
    size_t wanted;
    int64_t until_us;
};

static struct request *enqueue_many(struct rig *rig, size_t count)
{
    struct request *request = rig_enqueue(rig, "late.v1", NULL);
    cairn_job_spec *specs = arena_array(&request->arena, count, sizeof *specs);
    for (size_t i = 0; i < count; i++)
        specs[i] = request->in.enqueue.specs[0];
    request->in.enqueue.specs = specs;
    request->in.enqueue.count = count;
    return request;
}

static void look_at_second(void *arg)
{
    struct meanwhile *meanwhile = arg;
    struct local_engine *engine = meanwhile->rig->engine;
    rig_submit(meanwhile->rig, rig_enqueue(meanwhile->rig, "late.v1", NULL));
    meanwhile->wanted = engine->gathering.wanted;
    meanwhile->until_us = engine->gathering.until_us;
    meanwhile->may_begin = committer_next_us(&engine->committers[1]) == 0;
    rig_submit(meanwhile->rig, enqueue_many(meanwhile->rig, 1000));
    meanwhile->may_begin_with_much = committer_next_us(&engine->committers[1]) == 0;
}

/* As if there were two committers with threads; the second one only says whether it would begin. */
static struct meanwhile commit_beside(struct rig *rig, size_t count)
{
    struct meanwhile meanwhile = {.rig = rig};
    struct local_engine *engine = rig->engine;
    struct faulty_rule rule = {
        .verb = FAULTY_COMMIT, .call = 1, .meanwhile = look_at_second, .arg = &meanwhile};
    engine->has_threads = true;
    engine->committer_count = 2;
    engine->committers[1] = (struct committer){.engine = engine, .index = 1};
    CHECK(faulty_add(rig->faulty, &rule), "no memory");
    for (size_t i = 0; i < count; i++)
        rig_submit(rig, rig_enqueue(rig, "a.v1", NULL));
    CHECK(committer_run_once(&engine->committers[0]), "it has not begun");
    engine->has_threads = false;
    engine->committer_count = 1;
    faulty_calm(rig->faulty);
    return meanwhile;
}

TEST(few_callers_do_not_wait_for_the_commit_of_another)
{
    struct rig rig;
    rig_init(&rig, 1000);
    CHECK(commit_beside(&rig, 2).may_begin, "a caller waits for another's commit");
    CHECK_INT(rig.engine->gathering.wanted, 0); /* nor for callers who have been answered */
    rig_run(&rig);
    CHECK(commit_beside(&rig, 3).wanted > 1, "a second commit begins for each request");
    CHECK(rig.engine->gathering.wanted > 0, "those who were answered are not waited for");
    rig.engine->gathering.wanted = 0;
    rig_run(&rig);
    rig_done(&rig);
}

/* However long the test takes, the other one does not go meanwhile. */
static void meet_another(struct rig *rig)
{
    rig->engine->store->met_us = clock_monotonic_us(&rig->engine->clock) + 3600 * US_PER_SEC;
}

TEST(a_process_that_has_met_another_one_commits_one_batch_at_a_time)
{
    struct rig rig;
    rig_init(&rig, 1000);
    CHECK(commit_beside(&rig, 3).may_begin_with_much, "the second committer never begins");
    rig.engine->gathering.wanted = 0;
    rig_run(&rig);

    meet_another(&rig);
    for (size_t count = 2; count <= 3; count++) {
        struct meanwhile met = commit_beside(&rig, count);
        CHECK(!met.may_begin && !met.may_begin_with_much, "a batch begins beside %zu", count);
        /* The first one may wait for a lock that the others have nothing to do with. */
        CHECK(met.until_us < clock_monotonic_us(&rig.engine->clock) + US_PER_SEC,
              "nothing begins before the first has ended");
        rig.engine->gathering.wanted = 0;
        rig_run(&rig);
    }

    rig.engine->store->met_us =
        clock_monotonic_us(&rig.engine->clock) - US_PER_SEC; /* it has gone */
    CHECK(commit_beside(&rig, 3).may_begin_with_much, "the second committer stays away");
    rig.engine->gathering.wanted = 0;
    rig_run(&rig);
    rig_done(&rig);
}

static struct local_engine *busy_engine;

/* The other committer ends while this one answers. */
static void end_other(struct request *request)
{
    *(bool *)request->arg = true;
    busy_engine->gathering.at_work--;
}

/* While two batches are under way, the end of one is no reason to begin a third. */
TEST(a_batch_that_ends_beside_another_does_not_let_the_next_begin)
{
    struct rig rig;
    struct request *last;
    rig_init(&rig, 1000);
    struct gathering *gathering = &rig.engine->gathering;
    meet_another(&rig);
    gathering->at_work = 1;
    commit_beside(&rig, 3);
    CHECK(gathering->wanted == SIZE_MAX, "the next batch waits for %zu rows",
          gathering->wanted);
    gathering->wanted = 0;
    rig_run(&rig);

    busy_engine = rig.engine;
    rig_submit(&rig, last = rig_enqueue(&rig, "a.v1", NULL));
    last->done = end_other;
    commit_beside(&rig, 3);
    CHECK_INT(gathering->at_work, 0);
    CHECK_INT(gathering->wanted, 0);
    rig_run(&rig);
    rig_done(&rig);
}

/* ---- runs that end -------------------------------------------------------------------------- */

enum { RUNS = 40 };

struct runs {
    struct rig rig;
    const cairn_task *tasks[RUNS];
    struct request *commits[RUNS];
    int32_t place; /* of the latest step, of those that go on */
};

/* As if there were two committers; the second one has nothing to do. */
static void runs_init(struct runs *runs)
{
    *runs = (struct runs){0};
    rig_init(&runs->rig, 1000);
    for (size_t i = 0; i < RUNS; i++)
        runs->tasks[i] = &rig_claim_function(&runs->rig)->out.page.tasks[0];
    runs->rig.engine->committer_count = 2;
}

static void runs_done(struct runs *runs)
{
    runs->rig.engine->committer_count = 1;
    rig_done(&runs->rig);
}

/* Gives commits of the runs [from, to) to the engine; a run that ends claims the next. */
static void submit_runs(struct runs *runs, size_t from, size_t to, bool is_end)
{
    for (size_t i = from; i < to; i++) {
        struct request *commit = rig_commit(runs->tasks[i], is_end ? 1 : runs->place,
                                            runs->tasks[i]->memory->revision);
        if (is_end) {
            commit->in.commit.outcome = PASSAGE_COMPLETE;
            commit->in.commit.extend_ms = 0;
            commit->in.commit.is_claiming = true;
            commit->in.commit.claim = rig_claim(&runs->rig, "f", 0)->in.claim;
        }
        rig_submit(&runs->rig, runs->commits[i] = commit);
    }
}

/* How many of the runs [from, to) are committed. */
static size_t count_done(const struct runs *runs, size_t from, size_t to)
{
    size_t count = 0;
    for (size_t i = from; i < to; i++)
        count += rig_is_done(runs->commits[i]) && !runs->commits[i]->code;
    return count;
}

/* One batch of runs that end, of which there are `ends`, and others that go on behind them. */
static size_t ends_taken(struct runs *runs, size_t ends, size_t others)
{
    runs->place++;
    submit_runs(runs, ends, ends + others, false);
    CHECK(committer_run_once(&runs->rig.engine->committers[0]), "nothing was to be done");
    CHECK_INT(count_done(runs, ends, ends + others), others);
    return count_done(runs, 0, ends);
}

TEST(runs_that_end_wait_for_others_that_end_by_two_batches_at_most)
{
    struct runs runs;
    runs_init(&runs);
    submit_runs(&runs, 0, 3, true);
    CHECK_INT(ends_taken(&runs, 3, 16), 0);
    CHECK_INT(ends_taken(&runs, 3, 16), 0);
    CHECK_INT(ends_taken(&runs, 3, 16), 3);
    runs_done(&runs);
}

TEST(runs_that_end_do_not_wait_if_there_are_many_or_little_else_to_do)
{
    struct runs few, many, one;
    runs_init(&few);
    submit_runs(&few, 0, 3, true);
    CHECK_INT(ends_taken(&few, 3, 15), 3);
    runs_done(&few);

    runs_init(&many);
    submit_runs(&many, 0, 23, true);
    CHECK_INT(ends_taken(&many, 23, 16), 0);
    runs_done(&many);
    runs_init(&many);
    submit_runs(&many, 0, 24, true);
    CHECK_INT(ends_taken(&many, 24, 16), 24);
    runs_done(&many);

    runs_init(&one);
    one.rig.engine->committer_count = 1;
    submit_runs(&one, 0, 3, true);
    CHECK_INT(ends_taken(&one, 3, 16), 3);
    runs_done(&one);
}

/* Behind the others comes what is taken alone, so that something stays in the queue. */
TEST(a_run_that_ends_is_left_at_its_place_in_the_queue)
{
    struct runs runs;
    runs_init(&runs);
    runs.place = 1;
    struct request *advance = rig_control(&runs.rig, OP_CLOCK_ADVANCE, NULL);
    submit_runs(&runs, 0, 2, true);
    submit_runs(&runs, 2, 18, false);
    rig_submit(&runs.rig, advance);
    CHECK(committer_run_once(&runs.rig.engine->committers[0]), "nothing was to be done");
    CHECK_INT(count_done(&runs, 2, 18), 16);
    const struct request_queue *writes = &runs.rig.engine->writes;
    CHECK_INT(writes->count, 3);
    CHECK(writes->first == runs.commits[0] && writes->last == advance, "it has moved");
    rig_run(&runs.rig);
    CHECK_INT(count_done(&runs, 0, 2), 2);
    CHECK(rig_is_done(advance), "the clock has not moved");
    runs_done(&runs);
}

/* ---- cairn_wake() --------------------------------------------------------------------------- */

static void wake(struct rig *rig, const char *worker)
{
    rig->engine->base.ops->wake(&rig->engine->base, worker);
}

TEST(a_claim_that_is_woken_before_it_waits_does_not_begin_to)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *mine = rig_claim(&rig, "a.v1", 60000);
    struct request *theirs = rig_claim(&rig, "a.v1", 60000);
    theirs->in.claim.worker = "v";
    rig_submit(&rig, mine);
    rig_submit(&rig, theirs);
    wake(&rig, "w");
    CHECK(!rig_is_done(mine), "it has not looked yet");
    rig_run(&rig);
    CHECK(rig_is_done(mine) && !mine->code && !mine->out.page.count, "code %d", mine->code);
    CHECK(!rig_is_done(theirs), "nobody has woken it");

    struct request *later = rig_claim(&rig, "a.v1", 60000);
    rig_submit(&rig, later);
    rig_run(&rig);
    CHECK(!rig_is_done(later), "a claim that is made later waits");
    wake(&rig, NULL);
    CHECK(rig_is_done(later) && rig_is_done(theirs), "all that wait are woken");
    rig_done(&rig);
}

TEST(a_claim_that_is_woken_before_it_looks_is_given_what_there_is)
{
    struct rig rig;
    rig_init(&rig, 1000);
    rig_do(&rig, rig_enqueue(&rig, "a.v1", NULL));
    struct request *claim = rig_claim(&rig, "a.v1", 60000);
    rig_submit(&rig, claim);
    wake(&rig, "w");
    rig_run(&rig);
    CHECK(rig_is_done(claim), "it has something");
    CHECK_INT(claim->out.page.count, 1);
    rig_done(&rig);
}

TEST(a_claim_that_may_have_tasks_is_not_woken)
{
    struct rig rig;
    rig_init(&rig, 60000);
    struct request *claim = rig_claim(&rig, "a.v1", 60000);
    rig_submit(&rig, claim);
    rig_run(&rig);
    lose_answer(&rig);
    rig_submit(&rig, rig_enqueue(&rig, "a.v1", NULL)); /* the claim joins its commit */
    rig_run(&rig);
    wake(&rig, "w");
    CHECK(!rig_is_done(claim), "its commit may have succeeded");
    while (!rig_is_done(claim))
        rig_run(&rig);
    CHECK_INT(claim->out.page.count, 1);
    rig_done(&rig);
}

/* ---- what the store is asked ---------------------------------------------------------------- */

static const struct store_ops *asked_ops; /* of the store whose claims are seen */
static bool was_final;

static cairn_code see_claim(struct store_tx *tx, const struct job_claim *claim,
                            struct job_row *ret_rows, size_t room, size_t *ret_count,
                            cairn_error *reterr)
{
    was_final = claim->is_final;
    return asked_ops->claim_jobs(tx, claim, ret_rows, room, ret_count, reterr);
}

TEST(a_claim_that_does_not_wait_overlooks_nothing)
{
    struct rig rig;
    struct store_ops ops;
    rig_init(&rig, 1000);
    asked_ops = rig.engine->store->ops;
    ops = *asked_ops;
    ops.claim_jobs = see_claim;
    rig.engine->store->ops = &ops;

    struct request *waits = rig_claim(&rig, "a.v1", 1000);
    rig_submit(&rig, waits);
    rig_run(&rig);
    CHECK(!was_final, "a claim that waits is asked again");

    /* Of equal claims the first one asks for all. */
    struct request *other = rig_claim(&rig, "a.v1", 1000), *last = rig_claim(&rig, "a.v1", 0);
    rig_submit(&rig, other);
    rig_submit(&rig, last);
    rig_run(&rig);
    CHECK(was_final && rig_is_done(last), "nobody asks again for a claim that does not wait");
    rig.engine->store->ops = asked_ops;
    rig_done(&rig);
}

/* The second look of a reader is at a later moment than its first. */
TEST(a_start_by_sql_that_is_made_between_two_looks_is_found)
{
    static const char text[] = "{\"workflow\": \"w\", \"version\": 1, \"steps\": "
                               "[{\"step\": \"s\", \"handler\": \"h\"}]}";
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *deploy = rig_make(OP_DEPLOY), *start = rig_make(OP_START);
    deploy->in.deploy =
        (struct deploy_input){.file = "w.json", .text = text, .len = strlen(text)};
    start->in.start = (cairn_start_options)CAIRN_START_DEFAULTS;
    start->in.start.workflow = "w";
    CHECK_INT(rig_do(&rig, deploy), CAIRN_OK);
    CHECK_INT(rig_do(&rig, start), CAIRN_OK);
    fail_calls(&rig, FAULTY_GET_INSTANCE, 1, CAIRN_E_NOT_FOUND);
    CHECK_INT(rig_read(&rig, OP_INSTANCE_GET, enqueued_id(start))->code, CAIRN_OK);
    rig_done(&rig);
}

/* ---- what is told ----------------------------------------------------------------------------- */

/* A clock that goes on by step_us whenever it is read. */
struct slow_clock {
    int64_t now_us, step_us;
};

static int64_t read_slow_clock(void *arg)
{
    struct slow_clock *clock = arg;
    return clock->now_us += clock->step_us;
}

struct slow_commits {
    int count;
    long long ms;
};

static void note_slow_commit(void *arg, int level, const char *text, const char *json)
{
    struct slow_commits *slow = arg;
    const char *ms = strstr(json, "\"ms\":");
    if (level != CAIRN_NOTICE_WARNING || !text[0] || !strstr(json, "\"event\":\"slow_commit\""))
        return;
    slow->count++;
    slow->ms = ms ? strtoll(ms + strlen("\"ms\":"), NULL, 10) : -1;
}

TEST(a_slow_commit_is_told)
{
    struct rig rig;
    struct slow_clock clock = {.now_us = US_PER_SEC};
    struct slow_commits slow = {0};
    rig_init(&rig, 1000);
    rig.engine->clock.source.monotonic_us = read_slow_clock;
    rig.engine->clock.source.arg = &clock;
    rig.engine->base.options.notice = note_slow_commit;
    rig.engine->base.options.notice_arg = &slow;
    CHECK_INT(rig_do(&rig, rig_enqueue(&rig, "a.v1", NULL)), CAIRN_OK);
    CHECK_INT(slow.count, 0);
    clock.step_us = 1001 * US_PER_MS;
    CHECK_INT(rig_do(&rig, rig_enqueue(&rig, "a.v1", NULL)), CAIRN_OK);
    CHECK_INT(slow.count, 1);
    CHECK(slow.ms >= 1000, "%lld ms", slow.ms);
    rig_done(&rig);
}
