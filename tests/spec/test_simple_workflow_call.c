/* tests/spec/test_simple_workflow_call.c - how long a call of a job may take, and when a failed one is made again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "world.h"

#include <jansson.h>

#define RETRY "{\"backoff\":\"exponential\",\"base_ms\":1000,\"max_ms\":3000,\"jitter\":0}"

static cairn_enqueued add_limited(struct world *world, int64_t timeout_ms, const char *retry)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    spec.max_attempts = 5;
    spec.timeout_ms = timeout_ms;
    spec.retry = retry;
    return world_add_spec(world, &spec);
}

TEST(a_job_shows_its_limit_and_its_retries)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = add_limited(&world, 2500, RETRY);
    const cairn_job *row = world_job(&world, job.id);
    CHECK_INT(row->timeout_ms, 2500);
    json_t *seen = json_loads(row->retry, 0, NULL), *given = json_loads(RETRY, 0, NULL);
    CHECK(json_equal(seen, given), "%s", row->retry);
    json_decref(seen);
    json_decref(given);
    cairn_enqueued plain = world_add(&world, "t");
    CHECK_INT(world_job(&world, plain.id)->timeout_ms, 0);
    CHECK(!world_job(&world, plain.id)->retry, "%s", world_job(&world, plain.id)->retry);
    world_close(&world);
}

TEST(retries_follow_the_jobs_own_backoff)
{
    static const int64_t delays_ms[] = {1000, 2000, 3000, 3000};
    struct world world;
    world_open(&world);
    cairn_enqueued job = add_limited(&world, 0, RETRY);
    for (size_t i = 0; i < sizeof delays_ms / sizeof *delays_ms; i++) {
        struct held held = world_take(&world, "w");
        int64_t now_us = world_now_us(&world);
        CHECK_DONE(&world, world_report(&world, &held, CAIRN_FAIL, "no luck"));
        CHECK_INT(world_job(&world, job.id)->run_at_us, now_us + delays_ms[i] * 1000);
        world_reopen(&world);
        world_advance(&world, delays_ms[i]);
    }
    struct held last = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &last, CAIRN_FAIL, "no luck"));
    world_check_status(&world, job.id, "failed");
    world_close(&world);
}

TEST(a_task_says_when_its_call_is_over)
{
    struct world world;
    cairn_page *tasks = NULL;
    static const char *const types[] = {"t"};
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    world_open(&world);
    add_limited(&world, 10 * SECOND_MS, NULL);
    add_limited(&world, 0, NULL);
    add_limited(&world, 2 * HOUR_MS, NULL);
    claim.worker = "w";
    claim.types = types;
    claim.type_count = 1;
    claim.max = 3;
    claim.lease_ms = 30000;
    CHECK_DONE(&world, cairn_claim(world.engine, &claim, &tasks, &world.error));
    CHECK_INT(cairn_page_count(tasks), 3);
    CHECK_INT(cairn_page_task(tasks, 0)->deadline_us, START_US + 10 * SECOND_US);
    CHECK_INT(cairn_page_task(tasks, 0)->lease_until_us, START_US + 10 * SECOND_US);
    CHECK_INT(cairn_page_task(tasks, 1)->deadline_us, 0);
    CHECK_INT(cairn_page_task(tasks, 1)->lease_until_us, START_US + 30 * SECOND_US);
    CHECK_INT(cairn_page_task(tasks, 2)->deadline_us, START_US + 120 * MINUTE_US);
    CHECK_INT(cairn_page_task(tasks, 2)->lease_until_us, START_US + 30 * SECOND_US);
    cairn_page_free(tasks);
    world_close(&world);
}

TEST(a_call_ends_in_time_whatever_the_heartbeats)
{
    int64_t until_us = 0;
    const char *stop = NULL;
    struct world world;
    world_open(&world);
    cairn_enqueued job = add_limited(&world, 40 * SECOND_MS, RETRY);
    struct held held = world_take(&world, "w");
    world_advance(&world, 20 * SECOND_MS);
    CHECK_DONE(&world, world_beat(&world, &held, 60000, &until_us, &stop));
    CHECK_INT(until_us, START_US + 40 * SECOND_US);
    world_advance(&world, 20 * SECOND_MS);
    world_check_status(&world, job.id, "leased");
    world_advance(&world, 1);
    const cairn_job *row = world_job(&world, job.id);
    CHECK_STR(row->status, "pending");
    CHECK_STR(row->last_error, "TIMEOUT");
    CHECK_INT(row->attempt, 1);
    CHECK(row->run_at_us >= START_US + 41 * SECOND_US, "it does not wait for its backoff");
    CHECK_INT(world_report(&world, &held, CAIRN_COMPLETE, "{}"), CAIRN_E_LEASE_LOST);
    world_advance(&world, 1000);
    struct held again = world_take(&world, "w");
    CHECK_INT(again.attempt, 2);
    CHECK_INT(again.lease_until_us, world_now_us(&world) + 30 * SECOND_US);
    CHECK_DONE(&world, world_report(&world, &again, CAIRN_COMPLETE, "{}"));
    world_check_status(&world, job.id, "succeeded");
    world_close(&world);
}

TEST(a_lease_that_is_lost_before_the_call_is_over_is_ready_at_once)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = add_limited(&world, 2 * HOUR_MS, RETRY);
    world_take(&world, "w");
    world_reopen(&world);
    world_advance(&world, 30 * SECOND_MS + 1);
    CHECK_STR(world_job(&world, job.id)->last_error, "LEASE_EXPIRED");
    CHECK_INT(world_take(&world, "w").attempt, 2);
    world_close(&world);
}

TEST(a_limit_or_a_retry_that_means_nothing_records_nothing)
{
    struct world world;
    cairn_enqueued job;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    spec.timeout_ms = -1;
    CHECK_INT(cairn_enqueue(world.engine, &spec, 1, &job, &world.error), CAIRN_E_BAD_INPUT);
    spec.timeout_ms = INT64_MAX;
    CHECK_INT(cairn_enqueue(world.engine, &spec, 1, &job, &world.error), CAIRN_E_BAD_INPUT);
    spec.timeout_ms = 0;
    spec.retry = "{\"base\":\"1s\"}";
    CHECK_INT(cairn_enqueue(world.engine, &spec, 1, &job, &world.error), CAIRN_E_BAD_INPUT);
    CHECK_INT(world_count_jobs(&world), 0);
    world_close(&world);
}
