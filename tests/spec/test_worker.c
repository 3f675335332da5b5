/* tests/spec/test_worker.c - the callback style, on every store, in real time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Handlers run in other threads, so they only note what they see; the test looks afterwards.
 * Waiting is done by asking the store again and again, never by the clock, and a bound on it is
 * there only for the day that something is broken.
 */
#include "cairn.h"
#include "scratch.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { PATIENCE_S = 60, LEASE_MS = 600 };

struct world {
    cairn_engine *engine;
    cairn_worker *worker;
};

/* What handlers note. */
struct notes {
    pthread_mutex_t lock;
    pthread_barrier_t together;
    cairn_engine *engine;
    cairn_worker *worker;
    atomic_int calls, running, most, is_released, is_seen;
    char id[64], token[64], type[64], input[128], key[64], kind[16], stop[32];
    int attempt, max_attempts;
};

static bool is_late(time_t since)
{
    return time(NULL) - since > PATIENCE_S;
}

static struct world open_world_at(cairn_worker_options options, bool is_still)
{
    struct world world = {0};
    cairn_error error;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = scratch_store();
    open.virtual_clock = is_still;
    CHECK_OK(cairn_open(&open, &world.engine, &error));
    CHECK_OK(cairn_worker_new(world.engine, &options, &world.worker, &error));
    return world;
}

static struct world open_world(cairn_worker_options options)
{
    return open_world_at(options, false);
}

static struct world idle_world(uint32_t concurrency)
{
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    options.concurrency = concurrency;
    options.until_idle = true;
    return open_world(options);
}

static void close_world(struct world *world)
{
    cairn_worker_free(world->worker);
    cairn_close(world->engine);
}

static cairn_enqueued add_job(struct world *world, const char *type, const char *payload)
{
    cairn_error error;
    cairn_enqueued enqueued;
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = type;
    spec.payload = payload;
    CHECK_OK(cairn_enqueue(world->engine, &spec, 1, &enqueued, &error));
    return enqueued;
}

static void handle(struct world *world, const char *type, cairn_handler handler, void *arg)
{
    cairn_error error;
    CHECK_OK(cairn_worker_handle(world->worker, type, handler, arg, &error));
}

static void run(struct world *world)
{
    cairn_error error;
    CHECK_OK(cairn_worker_run(world->worker, &error));
}

static cairn_page *get(struct world *world, const char *id)
{
    cairn_error error;
    cairn_page *jobs;
    CHECK_OK(cairn_job_get(world->engine, id, &jobs, &error));
    return jobs;
}

static void check_status(struct world *world, const char *id, const char *status)
{
    cairn_page *jobs = get(world, id);
    CHECK_STR(cairn_page_job(jobs, 0)->status, status);
    cairn_page_free(jobs);
}

/* For any thread: true once the job has that status. */
static bool await_status(cairn_engine *engine, const char *id, const char *status)
{
    for (time_t since = time(NULL); !is_late(since);) {
        cairn_page *jobs;
        if (cairn_job_get(engine, id, &jobs, NULL))
            return false;
        bool is_there = strcmp(cairn_page_job(jobs, 0)->status, status) == 0;
        cairn_page_free(jobs);
        if (is_there)
            return true;
    }
    return false;
}

static int count_events(cairn_engine *engine, const char *id, const char *type)
{
    cairn_page *events;
    int count = 0;
    if (cairn_job_events(engine, id, NULL, 1000, &events, NULL))
        return -1;
    for (size_t i = 0; i < cairn_page_count(events); i++)
        count += strcmp(cairn_page_event(events, i)->type, type) == 0;
    cairn_page_free(events);
    return count;
}

/* A worker that runs beside the test. */
struct beside {
    pthread_t thread;
    cairn_worker *worker;
    cairn_code code;
};

static void *run_beside(void *arg)
{
    struct beside *beside = arg;
    beside->code = cairn_worker_run(beside->worker, NULL);
    return NULL;
}

static void start_beside(struct world *world, struct beside *beside)
{
    beside->worker = world->worker;
    CHECK_INT(pthread_create(&beside->thread, NULL, run_beside, beside), 0);
}

static void join_beside(struct beside *beside)
{
    pthread_join(beside->thread, NULL);
    CHECK_INT(beside->code, CAIRN_OK);
}

/* ---- handlers -------------------------------------------------------------------------------
 */

static void note_text(char *to, size_t room, const char *text)
{
    snprintf(to, room, "%s", text ? text : "(null)");
}

static cairn_outcome note_task(cairn_work *work, void *arg)
{
    struct notes *notes = arg;
    const cairn_task *task = cairn_work_task(work);
    note_text(notes->id, sizeof notes->id, task->id);
    note_text(notes->token, sizeof notes->token, task->token);
    note_text(notes->kind, sizeof notes->kind, task->kind);
    note_text(notes->type, sizeof notes->type, task->type);
    note_text(notes->input, sizeof notes->input, task->input);
    note_text(notes->key, sizeof notes->key, task->key);
    notes->attempt = task->attempt;
    notes->max_attempts = task->max_attempts;
    atomic_fetch_add(&notes->calls, 1);
    return CAIRN_COMPLETE;
}

static cairn_outcome count_call(cairn_work *work, void *arg)
{
    (void)work;
    atomic_fetch_add((atomic_int *)arg, 1);
    return CAIRN_COMPLETE;
}

/* The input says how to end. */
static cairn_outcome end_as_told(cairn_work *work, void *arg)
{
    (void)arg;
    const char *input = cairn_work_task(work)->input;
    if (strstr(input, "complete")) {
        cairn_work_set_output(work, "{\"sum\":42}");
        return CAIRN_COMPLETE;
    }
    cairn_work_set_error(work, "boom");
    cairn_work_set_delay(work, 60 * 60 * 1000);
    return strstr(input, "fail")    ? CAIRN_FAIL
           : strstr(input, "retry") ? CAIRN_RETRY
           : strstr(input, "dead")  ? CAIRN_DEAD
                                    : CAIRN_RELEASE;
}

static cairn_outcome answer_nonsense(cairn_work *work, void *arg)
{
    (void)arg;
    cairn_work_set_output(work, "{\"sum\": ");
    return CAIRN_COMPLETE;
}

static cairn_outcome return_nothing(cairn_work *work, void *arg)
{
    (void)work, (void)arg;
    return (cairn_outcome)0;
}

static cairn_outcome answer_too_much(cairn_work *work, void *arg)
{
    (void)arg;
    size_t len = (2 << 20);
    char *json = malloc(len + 1);
    memset(json, 'x', len);
    json[0] = json[len - 1] = '"';
    json[len] = '\0';
    cairn_work_set_output(work, json);
    free(json);
    return CAIRN_COMPLETE;
}

static cairn_outcome meet_others(cairn_work *work, void *arg)
{
    (void)work;
    struct notes *notes = arg;
    int running = atomic_fetch_add(&notes->running, 1) + 1;
    for (int most = atomic_load(&notes->most); running > most;)
        if (atomic_compare_exchange_weak(&notes->most, &most, running))
            break;
    pthread_barrier_wait(&notes->together);
    atomic_fetch_sub(&notes->running, 1);
    atomic_fetch_add(&notes->calls, 1);
    return CAIRN_COMPLETE;
}

static void await_stop(cairn_work *work, struct notes *notes)
{
    int64_t now_us;
    for (time_t since = time(NULL); !cairn_work_stop(work) && !is_late(since);)
        cairn_clock_now(notes->engine, &now_us, NULL);
    note_text(notes->stop, sizeof notes->stop, cairn_work_stop(work));
}

static cairn_outcome cancel_itself(cairn_work *work, void *arg)
{
    struct notes *notes = arg;
    cairn_job_cancel(notes->engine, cairn_work_task(work)->id, NULL);
    await_stop(work, notes);
    return CAIRN_COMPLETE;
}

/* Somebody else reports with our token, so the lease is gone. */
static cairn_outcome lose_lease(cairn_work *work, void *arg)
{
    struct notes *notes = arg;
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.task_id = cairn_work_task(work)->id;
    report.token = cairn_work_task(work)->token;
    report.outcome = CAIRN_DEAD;
    report.error = "somebody else";
    cairn_report_many(notes->engine, "tester", &report, 1, NULL, NULL, NULL, NULL);
    await_stop(work, notes);
    return CAIRN_COMPLETE;
}

/* Two thirds of a lease pass after each heartbeat, by a clock that stands still on a machine that is slow. */
static cairn_outcome outlast_lease(cairn_work *work, void *arg)
{
    struct notes *notes = arg;
    const char *id = cairn_work_task(work)->id;
    int seen = 0, thirds = 0;
    for (time_t since = time(NULL); !is_late(since);) {
        int beats = count_events(notes->engine, id, "heartbeat");
        if (beats == seen)
            continue;
        if (thirds >= 8)
            return CAIRN_COMPLETE;
        cairn_clock_advance(notes->engine, LEASE_MS * 2 / 3, NULL, NULL);
        seen = beats;
        thirds += 2;
    }
    return CAIRN_DEAD;
}

static cairn_outcome stop_worker(cairn_work *work, void *arg)
{
    (void)work;
    struct notes *notes = arg;
    cairn_worker_stop(notes->worker);
    atomic_fetch_add(&notes->calls, 1);
    return CAIRN_COMPLETE;
}

static cairn_outcome wait_for_release(cairn_work *work, void *arg)
{
    struct notes *notes = arg;
    int64_t now_us;
    (void)work;
    atomic_store(&notes->is_seen, 1);
    for (time_t since = time(NULL); !atomic_load(&notes->is_released) && !is_late(since);)
        cairn_clock_now(notes->engine, &now_us, NULL);
    return CAIRN_COMPLETE;
}

/* ---- what is promised -----------------------------------------------------------------------
 */

TEST(a_handler_is_given_the_whole_task)
{
    struct world world = idle_world(1);
    struct notes notes = {0};
    cairn_error error;
    cairn_enqueued enqueued;
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "billing.invoice.v1";
    spec.payload = "[0.1,\"\\u00e9\"]";
    spec.key = "order:17";
    spec.max_attempts = 5;
    CHECK_OK(cairn_enqueue(world.engine, &spec, 1, &enqueued, &error));
    handle(&world, "billing.invoice.v1", note_task, &notes);
    run(&world);

    CHECK_INT(notes.calls, 1);
    CHECK_STR(notes.id, enqueued.id);
    CHECK_STR(notes.kind, "job");
    CHECK_STR(notes.type, "billing.invoice.v1");
    CHECK(strncmp(notes.input, "[0.1,\"", 6) == 0, "input is %s", notes.input);
    CHECK_STR(notes.key, "order:17");
    CHECK_INT(notes.attempt, 1);
    CHECK_INT(notes.max_attempts, 5);
    CHECK(strlen(notes.token) > 8, "token is %s", notes.token);
    check_status(&world, enqueued.id, "succeeded");
    close_world(&world);
}

TEST(each_outcome_ends_the_call_as_it_says)
{
    struct world world = idle_world(2);
    cairn_enqueued complete = add_job(&world, "t.v1", "\"complete\"");
    cairn_enqueued fails = add_job(&world, "t.v1", "\"fail\"");
    cairn_enqueued retry = add_job(&world, "t.v1", "\"retry\"");
    cairn_enqueued dead = add_job(&world, "t.v1", "\"dead\"");
    cairn_enqueued release = add_job(&world, "t.v1", "\"give back\"");
    handle(&world, "t.v1", end_as_told, NULL);
    run(&world);

    cairn_page *jobs = get(&world, complete.id);
    CHECK_STR(cairn_page_job(jobs, 0)->status, "succeeded");
    CHECK_STR(cairn_page_job(jobs, 0)->result, "{\"sum\":42}");
    cairn_page_free(jobs);

    jobs = get(&world, fails.id);
    CHECK_STR(cairn_page_job(jobs, 0)->status, "pending");
    CHECK_STR(cairn_page_job(jobs, 0)->last_error, "boom");
    CHECK_INT(cairn_page_job(jobs, 0)->attempt, 1);
    cairn_page_free(jobs);

    jobs = get(&world, retry.id);
    const cairn_job *job = cairn_page_job(jobs, 0);
    CHECK_STR(job->status, "pending");
    CHECK_INT(job->attempt, 1);
    CHECK(job->run_at_us >= job->created_at_us + INT64_C(3600000000), "run_at is %lld",
          (long long)job->run_at_us);
    cairn_page_free(jobs);

    jobs = get(&world, dead.id);
    CHECK_STR(cairn_page_job(jobs, 0)->status, "failed");
    CHECK_STR(cairn_page_job(jobs, 0)->last_error, "boom");
    cairn_page_free(jobs);

    jobs = get(&world, release.id);
    CHECK_STR(cairn_page_job(jobs, 0)->status, "pending");
    CHECK_INT(cairn_page_job(jobs, 0)->attempt, 0);
    cairn_page_free(jobs);
    close_world(&world);
}

TEST(an_output_that_is_not_json_is_a_failed_attempt)
{
    struct world world = idle_world(1);
    cairn_enqueued enqueued = add_job(&world, "t.v1", "1");
    handle(&world, "t.v1", answer_nonsense, NULL);
    run(&world);
    cairn_page *jobs = get(&world, enqueued.id);
    CHECK_STR(cairn_page_job(jobs, 0)->status, "pending");
    CHECK_INT(cairn_page_job(jobs, 0)->attempt, 1);
    const char *why = cairn_page_job(jobs, 0)->last_error;
    CHECK(why && strstr(why, "the handler's output is not JSON"), "error is %s", why);
    cairn_page_free(jobs);
    close_world(&world);
}

TEST(an_outcome_that_is_none_is_a_failed_attempt)
{
    struct world world = idle_world(1);
    cairn_enqueued enqueued = add_job(&world, "t.v1", "1");
    handle(&world, "t.v1", return_nothing, NULL);
    run(&world);
    cairn_page *jobs = get(&world, enqueued.id);
    CHECK_STR(cairn_page_job(jobs, 0)->last_error, "the handler returned no outcome");
    cairn_page_free(jobs);
    close_world(&world);
}

TEST(an_output_beyond_the_limit_fails_its_own_attempt_only)
{
    struct world world = idle_world(4);
    atomic_int calls = 0;
    cairn_enqueued large = add_job(&world, "large.v1", "1");
    cairn_enqueued small[3];
    for (int i = 0; i < 3; i++)
        small[i] = add_job(&world, "small.v1", "1");
    handle(&world, "large.v1", answer_too_much, NULL);
    handle(&world, "small.v1", count_call, &calls);
    run(&world);
    for (int i = 0; i < 3; i++)
        check_status(&world, small[i].id, "succeeded");
    cairn_page *jobs = get(&world, large.id);
    CHECK_STR(cairn_page_job(jobs, 0)->status, "pending");
    const char *why = cairn_page_job(jobs, 0)->last_error;
    CHECK(why && strstr(why, "too large"), "error is %s", why);
    cairn_page_free(jobs);
    close_world(&world);
}

TEST(the_exact_type_wins_over_prefixes_and_the_longer_prefix_over_the_shorter)
{
    struct world world = idle_world(1);
    atomic_int all = 0, billing = 0, invoice = 0;
    add_job(&world, "billing.invoice.v1", "1");
    add_job(&world, "billing.payment.v1", "1");
    add_job(&world, "mail.v1", "1");
    add_job(&world, "mail.v2", "1");
    handle(&world, "%", count_call, &all);
    handle(&world, "billing.invoice.v1", count_call, &invoice);
    handle(&world, "billing.%", count_call, &billing);
    run(&world);
    CHECK_INT(invoice, 1);
    CHECK_INT(billing, 1);
    CHECK_INT(all, 2);
    close_world(&world);
}

TEST(what_it_has_no_handler_for_is_left_alone_and_holds_nobody)
{
    struct world world = idle_world(2);
    atomic_int calls = 0;
    cairn_error error;
    cairn_page *tasks;
    cairn_enqueued other = add_job(&world, "other.v1", "1");
    add_job(&world, "other.v2", "1");
    add_job(&world, "mine.v1", "1");
    handle(&world, "mine.%", count_call, &calls);

    /* One of the others is even being worked on, all the while. */
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "somebody";
    claim.types = (const char *[]){"other.v2"};
    claim.type_count = 1;
    claim.lease_ms = 3600 * 1000;
    CHECK_OK(cairn_claim(world.engine, &claim, &tasks, &error));
    CHECK_INT(cairn_page_count(tasks), 1);
    cairn_page_free(tasks);

    run(&world);
    CHECK_INT(calls, 1);
    check_status(&world, other.id, "pending");
    close_world(&world);
}

TEST(exactly_as_many_handlers_as_asked_for_run_at_once)
{
    struct world world = idle_world(3);
    struct notes notes = {0};
    pthread_barrier_init(&notes.together, NULL, 3); /* fewer would wait for ever */
    for (int i = 0; i < 30; i++)
        add_job(&world, "t.v1", "1");
    handle(&world, "t.v1", meet_others, &notes);
    run(&world);
    CHECK_INT(notes.calls, 30);
    CHECK_INT(notes.most, 3);
    pthread_barrier_destroy(&notes.together);
    close_world(&world);
}

TEST(one_job_after_the_other_costs_about_one_commit_each)
{
    enum { JOBS = 50 };
    struct world world = idle_world(1);
    atomic_int calls = 0;
    cairn_error error;
    cairn_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    for (int i = 0; i < JOBS; i++)
        add_job(&world, "t.v1", "1");
    handle(&world, "t.v1", count_call, &calls);
    CHECK_OK(cairn_stats_get(world.engine, &before, &error));
    run(&world);
    CHECK_OK(cairn_stats_get(world.engine, &after, &error));
    CHECK_INT(calls, JOBS);
    long long commits = (long long)(after.commits - before.commits);
    CHECK(commits <= JOBS + 5, "%lld commits for %d jobs", commits, JOBS);
    close_world(&world);
}

/* No lease ends by itself, so that the worker has it for as long as it takes. */
static struct world short_lease_world(struct notes *notes)
{
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    options.name = "tester";
    options.concurrency = 1;
    options.until_idle = true;
    options.lease_ms = LEASE_MS;
    struct world world = open_world_at(options, true);
    notes->engine = world.engine;
    notes->worker = world.worker;
    return world;
}

TEST(a_cancelled_job_tells_its_handler_and_stays_cancelled)
{
    struct notes notes = {0};
    struct world world = short_lease_world(&notes);
    cairn_enqueued enqueued = add_job(&world, "t.v1", "1");
    handle(&world, "t.v1", cancel_itself, &notes);
    run(&world);
    CHECK_STR(notes.stop, "cancelled");
    check_status(&world, enqueued.id, "cancelled");
    close_world(&world);
}

TEST(a_lost_lease_tells_its_handler_and_its_outcome_counts_for_nothing)
{
    struct notes notes = {0};
    struct world world = short_lease_world(&notes);
    cairn_enqueued enqueued = add_job(&world, "t.v1", "1");
    handle(&world, "t.v1", lose_lease, &notes);
    run(&world);
    CHECK_STR(notes.stop, "lease_lost");
    check_status(&world, enqueued.id, "failed");
    close_world(&world);
}

TEST(heartbeats_keep_the_lease_of_a_long_handler)
{
    struct notes notes = {0};
    struct world world = short_lease_world(&notes);
    cairn_enqueued enqueued = add_job(&world, "t.v1", "1");
    handle(&world, "t.v1", outlast_lease, &notes);
    run(&world);
    check_status(&world, enqueued.id, "succeeded");
    CHECK_INT(count_events(world.engine, enqueued.id, "leased"), 1);
    CHECK_INT(count_events(world.engine, enqueued.id, "retried"), 0);
    close_world(&world);
}

TEST(stopping_lets_handlers_finish_and_claims_no_more)
{
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    options.concurrency = 1;
    struct world world = open_world(options);
    struct notes notes = {.engine = world.engine, .worker = world.worker};
    cairn_enqueued first = add_job(&world, "t.v1", "1");
    cairn_enqueued second = add_job(&world, "t.v1", "2");
    handle(&world, "t.v1", stop_worker, &notes);
    run(&world);
    CHECK_INT(notes.calls, 1);
    check_status(&world, first.id, "succeeded");
    check_status(&world, second.id, "pending");

    run(&world); /* a stop ends one run */
    check_status(&world, second.id, "succeeded");
    close_world(&world);
}

static struct world waiting_world(struct notes *notes, uint32_t concurrency)
{
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    options.concurrency = concurrency;
    options.wait_ms = 3600 * 1000;
    struct world world = open_world(options);
    notes->engine = world.engine;
    notes->worker = world.worker;
    return world;
}

TEST(stopping_does_not_wait_for_a_claim_and_leases_nothing_to_nobody)
{
    struct notes notes = {0};
    struct world world = waiting_world(&notes, 2);
    struct beside beside;
    cairn_error error;
    cairn_page *tasks;
    atomic_int calls = 0;
    handle(&world, "t.v1", count_call, &calls);
    cairn_enqueued first = add_job(&world, "t.v1", "1");
    start_beside(&world, &beside);
    CHECK(await_status(world.engine, first.id, "succeeded"), "never succeeded");
    cairn_worker_stop(world.worker);
    join_beside(&beside);

    cairn_enqueued second = add_job(&world, "t.v1", "2");
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "somebody else";
    claim.types = (const char *[]){"t.v1"};
    claim.type_count = 1;
    claim.wait_ms = 30000;
    CHECK_OK(cairn_claim(world.engine, &claim, &tasks, &error));
    CHECK_INT(cairn_page_count(tasks), 1);
    CHECK_STR(cairn_page_task(tasks, 0)->id, second.id);
    CHECK_INT(cairn_page_task(tasks, 0)->attempt, 1);
    cairn_page_free(tasks);
    CHECK_INT(calls, 1);
    close_world(&world);
}

TEST(an_outcome_is_reported_while_a_claim_waits)
{
    struct notes notes = {0};
    struct world world = waiting_world(&notes, 2);
    struct beside beside;
    handle(&world, "t.v1", wait_for_release, &notes);
    cairn_enqueued enqueued = add_job(&world, "t.v1", "1");
    start_beside(&world, &beside);
    CHECK(await_status(world.engine, enqueued.id, "leased"), "never leased");
    atomic_store(&notes.is_released, 1);
    CHECK(await_status(world.engine, enqueued.id, "succeeded"), "never reported");
    cairn_worker_stop(world.worker);
    join_beside(&beside);
    close_world(&world);
}

TEST(a_job_that_comes_while_a_claim_waits_is_run)
{
    struct notes notes = {0};
    struct world world = waiting_world(&notes, 2);
    struct beside beside;
    atomic_int calls = 0;
    handle(&world, "t.%", count_call, &calls);
    start_beside(&world, &beside);
    for (int i = 0; i < 20; i++) {
        cairn_enqueued enqueued = add_job(&world, "t.v1", "1");
        CHECK(await_status(world.engine, enqueued.id, "succeeded"), "never succeeded");
    }
    cairn_worker_stop(world.worker);
    join_beside(&beside);
    CHECK_INT(calls, 20);
    close_world(&world);
}

TEST(until_idle_waits_for_what_another_worker_holds)
{
    struct world world = idle_world(1);
    struct beside beside;
    atomic_int calls = 0;
    cairn_error error;
    cairn_page *tasks;
    cairn_stats stats = {.size = sizeof stats};
    cairn_enqueued enqueued = add_job(&world, "t.v1", "1");
    handle(&world, "t.v1", count_call, &calls);

    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "somebody else";
    claim.types = (const char *[]){"t.v1"};
    claim.type_count = 1;
    CHECK_OK(cairn_claim(world.engine, &claim, &tasks, &error));
    CHECK_OK(cairn_stats_get(world.engine, &stats, &error));
    uint64_t requests = stats.commit_requests + 2;
    start_beside(&world, &beside);

    /* It has asked in vain, more than once, and is still there. */
    for (time_t since = time(NULL); stats.commit_requests < requests && !is_late(since);)
        CHECK_OK(cairn_stats_get(world.engine, &stats, &error));
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.task_id = cairn_page_task(tasks, 0)->id;
    report.token = cairn_page_task(tasks, 0)->token;
    report.outcome = CAIRN_RELEASE;
    CHECK_OK(
        cairn_report_many(world.engine, "somebody else", &report, 1, NULL, NULL, NULL, &error));
    join_beside(&beside);
    CHECK_INT(calls, 1);
    check_status(&world, enqueued.id, "succeeded");
    cairn_page_free(tasks);
    close_world(&world);
}

TEST(a_worker_says_what_is_wrong_with_it)
{
    struct world world = idle_world(1);
    cairn_error error;
    cairn_worker *worker;
    atomic_int calls = 0;
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    CHECK_INT(cairn_worker_run(world.worker, &error), CAIRN_E_BAD_INPUT);
    CHECK_STR(error.message, "the worker has no handlers");
    CHECK_INT(cairn_worker_handle(world.worker, "", count_call, &calls, &error),
              CAIRN_E_BAD_INPUT);
    handle(&world, "t.v1", count_call, &calls);
    CHECK_INT(cairn_worker_handle(world.worker, "t.v1", count_call, &calls, &error),
              CAIRN_E_CONFLICT);
    options.concurrency = 0;
    CHECK_INT(cairn_worker_new(world.engine, &options, &worker, &error), CAIRN_E_BAD_INPUT);
    options = (cairn_worker_options)CAIRN_WORKER_DEFAULTS;
    options.lease_ms = 0;
    CHECK_INT(cairn_worker_new(world.engine, &options, &worker, &error), CAIRN_E_BAD_INPUT);
    cairn_worker_free(NULL);
    close_world(&world);
}

TEST(a_type_that_another_runtime_owns_ends_the_run_with_that_error)
{
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    options.runtime = "c";
    struct world world = open_world(options);
    atomic_int calls = 0;
    cairn_error error;
    cairn_registry_spec entry = {.size = sizeof(cairn_registry_spec),
                                 .workflow_name = "t.v1",
                                 .runtime = "go",
                                 .is_enabled = true};
    CHECK_OK(cairn_registry_put(world.engine, &entry, &error));
    handle(&world, "t.v1", count_call, &calls);
    CHECK_INT(cairn_worker_run(world.worker, &error), CAIRN_E_WRONG_RUNTIME);
    CHECK(strstr(error.message, "t.v1"), "message is %s", error.message);
    close_world(&world);
}
