/* tests/unit/test_engine_faults.c - whichever call of the store fails, nobody notices.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A short story is told to an engine on a memory store.  It is told again and again, each time
 * with another call to the store failing in a way that is worth another try; every telling must
 * end with the same jobs and the same audit trail, and every call in it with success.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "engine/local.h"
#include "faulty/faulty.h"
#include "test.h"

#include <stdlib.h>

#define START_US INT64_C(1700000000000000)

static cairn_error error;

static struct local_engine *open_engine(struct store **ret_store)
{
    static struct clock clock; /* only until the engine brings its own */
    clock_init_virtual(&clock, START_US);
    struct store_config config = {.url = "memory:", .clock = &clock, .lock_wait_ms = 10000};
    struct store *inner;
    CHECK_OK(store_open(&config, &inner, &error));
    *ret_store = faulty_wrap(inner, 0, 0);
    CHECK(*ret_store, "no memory");

    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.seed = 1;
    options.virtual_clock = true;
    options.start_us = START_US;
    struct local_engine *engine;
    CHECK_OK(local_engine_new(&options, *ret_store, &engine, &error));
    CHECK_OK(local_engine_start(engine, &error));
    return engine;
}

static cairn_enqueued enqueue(cairn_engine *engine, const char *type, const char *key,
                              int64_t run_at_us)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    cairn_enqueued enqueued;
    spec.type = type;
    spec.key = key;
    spec.run_at_us = run_at_us;
    CHECK_OK(cairn_enqueue(engine, &spec, 1, &enqueued, &error));
    return enqueued;
}

static const cairn_claim_options *claim_of(const char *worker, uint32_t max)
{
    static const char *const types[] = {"a.%", "b.v1"};
    static cairn_claim_options options;
    options = (cairn_claim_options)CAIRN_CLAIM_DEFAULTS;
    options.worker = worker;
    options.types = types;
    options.type_count = 2;
    options.max = max;
    return &options;
}

static cairn_page *claim(cairn_engine *engine, const char *worker, size_t count)
{
    cairn_page *tasks;
    CHECK_OK(cairn_claim(engine, claim_of(worker, (uint32_t)count), &tasks, &error));
    CHECK_INT(cairn_page_count(tasks), count);
    return tasks;
}

/* One task is completed, one fails, and the next is claimed, all in one call. */
static cairn_page *report(cairn_engine *engine, const cairn_page *tasks)
{
    cairn_report reports[2] = {CAIRN_REPORT_DEFAULTS, CAIRN_REPORT_DEFAULTS};
    cairn_reported reported[2];
    cairn_page *more;
    for (size_t i = 0; i < 2; i++) {
        reports[i].task_id = cairn_page_task(tasks, i)->id;
        reports[i].token = cairn_page_task(tasks, i)->token;
    }
    reports[0].output = "{\"n\":1}";
    reports[1].outcome = CAIRN_FAIL;
    reports[1].error = "boom";
    CHECK_OK(cairn_report_many(engine, "w1", reports, 2, reported, claim_of("w1", 1), &more,
                               &error));
    CHECK_STR(reported[0].status, "succeeded");
    CHECK_STR(reported[1].status, "pending");
    CHECK_INT(cairn_page_count(more), 1);
    return more;
}

/* Moving the clock is for tests and answers a failure at once; what it has moved stays. */
static void pass_to(cairn_engine *engine, int64_t then_us)
{
    int64_t now_us;
    cairn_code code = CAIRN_OK;
    do {
        CHECK_OK(cairn_clock_now(engine, &now_us, &error));
        code =
            cairn_clock_advance(engine, (then_us - now_us + 999) / US_PER_MS, &now_us, &error);
    } while (code == CAIRN_E_UNREACHABLE || code == CAIRN_E_BUSY);
    CHECK_OK(code);
    CHECK_INT(now_us / US_PER_MS, then_us / US_PER_MS);
}

static void tell_story(cairn_engine *engine)
{
    enqueue(engine, "a.one.v1", "key-1", 0);
    enqueue(engine, "a.two.v1", "key-2", 0);
    enqueue(engine, "b.v1", "key-3", 0);
    cairn_enqueued late = enqueue(engine, "a.one.v1", "key-4", START_US + 30 * US_PER_SEC);
    CHECK_INT(enqueue(engine, "a.one.v1", "key-1", 0).existing, 1);
    cairn_registry_spec entry = {.size = sizeof(cairn_registry_spec),
                                 .workflow_name = "b.v1",
                                 .runtime = "c",
                                 .is_enabled = true};
    CHECK_OK(cairn_registry_put(engine, &entry, &error));

    cairn_page *tasks = claim(engine, "w1", 2);
    const cairn_task *first = cairn_page_task(tasks, 0);
    CHECK_OK(cairn_heartbeat(engine, "w1", first->id, first->token, 60000, NULL, NULL, &error));
    cairn_page *lost = report(engine, tasks);
    cairn_page_free(tasks);

    /* The lease on b.v1 runs out, and key-4 falls due; another worker gets both. */
    pass_to(engine, START_US + 40 * US_PER_SEC);
    tasks = claim(engine, "w2", 2);
    CHECK_INT(cairn_task_complete(engine, "w1", cairn_page_task(lost, 0), "1", &error),
              CAIRN_E_LEASE_LOST);
    CHECK_OK(cairn_task_complete(engine, "w2", cairn_page_task(tasks, 0), "2", &error));
    CHECK_OK(cairn_job_cancel(engine, late.id, &error));
    cairn_page_free(lost);
    cairn_page_free(tasks);
}

/* Everything but ids, tokens and jitter.  A heartbeat that was repeated may stand there twice. */
static char *picture(cairn_engine *engine)
{
    struct buf out = {0};
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    cairn_page *jobs;
    CHECK_OK(cairn_job_list(engine, &filter, &jobs, &error));
    for (size_t i = 0; i < cairn_page_count(jobs); i++) {
        const cairn_job *job = cairn_page_job(jobs, i);
        buf_printf(&out, "%s %s %s %d %s %s %s:", job->idempotency_key, job->type, job->status,
                   job->attempt, job->leased_by ? job->leased_by : "-",
                   job->last_error ? job->last_error : "-", job->result ? job->result : "-");
        cairn_page *events;
        CHECK_OK(cairn_job_events(engine, job->id, NULL, 100, &events, &error));
        for (size_t k = 0; k < cairn_page_count(events); k++) {
            const cairn_event *event = cairn_page_event(events, k);
            bool is_again = k && strcmp(event->type, "heartbeat") == 0 &&
                            strcmp(cairn_page_event(events, k - 1)->type, "heartbeat") == 0;
            if (!is_again)
                buf_printf(&out, " %s@%lld", event->type,
                           (long long)(event->at_us - START_US) / 1000);
        }
        cairn_page_free(events);
        buf_char(&out, '\n');
    }
    cairn_page_free(jobs);
    CHECK(!buf_failed(&out), "no memory for a picture");
    return buf_take(&out, NULL);
}

/* Tells the story with one rule; false if the rule never came to bear. */
static bool tell_with(const struct faulty_rule *rule, char **ret_picture)
{
    struct store *store;
    struct local_engine *engine = open_engine(&store);
    if (rule)
        CHECK(faulty_add(store, rule), "no memory");
    tell_story(&engine->base);
    bool has_failed = faulty_failures(store) > 0;
    faulty_calm(store);
    *ret_picture = picture(&engine->base);
    cairn_close(&engine->base);
    return has_failed;
}

/* Every call in a long run; else every third, each test beginning with another one. */
static void check_every_call(enum faulty_moment moment, cairn_code code, uint64_t times)
{
    static uint64_t tests;
    cleanup(mem_freep) char *wanted = NULL;
    uint64_t stride = getenv("CAIRN_TEST_LONG") ? 1 : 3;
    CHECK(!tell_with(NULL, &wanted), "failures without a rule");
    struct faulty_rule rule = {
        .verb = FAULTY_ANY, .times = times, .moment = moment, .code = code};
    rule.call = 1 + tests++ % stride;
    for (bool has_failed = true; has_failed; rule.call += stride) {
        cleanup(mem_freep) char *seen = NULL;
        has_failed = tell_with(&rule, &seen);
        CHECK(strcmp(seen, wanted) == 0, "call %llu failed, and this is left:\n%s\nnot\n%s",
              (unsigned long long)rule.call, seen, wanted);
    }
    CHECK(rule.call > 40, "only %llu calls were tried", (unsigned long long)rule.call);
}

TEST(a_store_that_goes_away_before_any_call_and_comes_back_is_not_noticed)
{
    check_every_call(FAULTY_BEFORE, CAIRN_E_UNREACHABLE, 1);
}

/* Among them each commit that was done and whose answer got lost. */
TEST(a_store_that_goes_away_after_any_call_and_comes_back_is_not_noticed)
{
    check_every_call(FAULTY_AFTER, CAIRN_E_UNREACHABLE, 1);
}

TEST(a_store_that_is_busy_at_any_call_is_not_noticed)
{
    check_every_call(FAULTY_BEFORE, CAIRN_E_BUSY, 1);
}
