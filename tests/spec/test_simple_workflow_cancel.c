/* tests/spec/test_simple_workflow_cancel.c - cooperative cancellation and soft delete: sections
 * 4.1, 6 and 8 of simple-workflow.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "world.h"

static void cancel(struct world *world, const char *id)
{
    CHECK_DONE(world, cairn_job_cancel(world->engine, id, &world->error));
}

TEST(a_cancelled_job_is_never_brought)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    world_advance(&world, 1000);
    cancel(&world, job.id);
    CHECK_STR(world_job(&world, job.id)->status, "cancelled");
    CHECK_INT(world_job(&world, job.id)->updated_at_us, START_US + SECOND_US);
    world_check_nothing_to_take(&world);
    world_advance(&world, 24 * HOUR_MS);
    world_check_nothing_to_take(&world);
    world_check_events(&world, job.id, "created cancelled");
    world_close(&world);
}

TEST(a_job_that_waits_for_its_time_or_for_a_retry_can_be_cancelled)
{
    struct world world;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    cairn_enqueued failing = world_add_spec(&world, &spec);
    spec.run_at_us = START_US + HOUR_MS * 1000;
    cairn_enqueued scheduled = world_add_spec(&world, &spec);
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_FAIL, "no"));
    cancel(&world, failing.id);
    cancel(&world, scheduled.id);
    world_advance(&world, 2 * HOUR_MS);
    world_check_nothing_to_take(&world);
    world_check_events(&world, failing.id, "created leased started retried cancelled");
    world_check_events(&world, scheduled.id, "created cancelled");
    world_close(&world);
}

/* Cancelled while a worker has it; then the worker reports. */
static void check_cancel_wins_over(cairn_outcome outcome, const char *text)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    world_advance(&world, 1000);
    cancel(&world, job.id);
    world_check_status(&world, job.id, "cancelled");

    CHECK_REFUSED(&world, world_report(&world, &held, outcome, text), CAIRN_E_LEASE_LOST);
    const cairn_job *row = world_job(&world, job.id);
    CHECK_STR(row->status, "cancelled");
    CHECK(!row->result, "there is a result: %s", row->result);
    CHECK(!row->last_error, "there is an error: %s", row->last_error);
    CHECK_INT(row->attempt, 0);
    world_check_events(&world, job.id, "created leased started cancelled");
    CHECK_REFUSED(&world, world_report(&world, &held, outcome, text), CAIRN_E_LEASE_LOST);

    world_advance(&world, 24 * HOUR_MS);
    world_check_nothing_to_take(&world);
    world_check_events(&world, job.id, "created leased started cancelled");
    world_close(&world);
}

TEST(cancelled_while_leased_then_success_stays_cancelled)
{
    check_cancel_wins_over(CAIRN_COMPLETE, "{\"late\": true}");
}

TEST(cancelled_while_leased_then_failure_stays_cancelled)
{
    check_cancel_wins_over(CAIRN_FAIL, "no");
}

TEST(cancelled_while_leased_then_retry_stays_cancelled)
{
    check_cancel_wins_over(CAIRN_RETRY, "later");
}

TEST(cancelled_while_leased_then_dead_stays_cancelled)
{
    check_cancel_wins_over(CAIRN_DEAD, "no");
}

TEST(cancelled_while_leased_then_release_stays_cancelled)
{
    check_cancel_wins_over(CAIRN_RELEASE, NULL);
}

TEST(a_heartbeat_tells_the_worker_to_stop_and_extends_nothing)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    cancel(&world, job.id);
    for (int i = 0; i < 3; i++) {
        int64_t until_us = 0;
        const char *stop = NULL;
        CHECK_DONE(&world, world_beat(&world, &held, 60000, &until_us, &stop));
        CHECK_STR(stop, "cancelled");
        CHECK_INT(until_us, held.lease_until_us);
    }
    world_check_events(&world, job.id, "created leased started cancelled");
    world_advance(&world, 30 * SECOND_MS + 1);
    CHECK_REFUSED(&world, world_beat(&world, &held, 60000, NULL, NULL), CAIRN_E_LEASE_LOST);
    world_close(&world);
}

TEST(a_worker_that_dies_after_the_cancel_changes_nothing)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    world_take(&world, "w");
    cancel(&world, job.id);
    world_advance(&world, 24 * HOUR_MS);
    const cairn_job *row = world_job(&world, job.id);
    CHECK_STR(row->status, "cancelled");
    CHECK_INT(row->attempt, 0);
    CHECK(!row->last_error, "there is an error: %s", row->last_error);
    world_check_events(&world, job.id, "created leased started cancelled");
    world_close(&world);
}

TEST(a_finished_job_cannot_be_cancelled)
{
    struct world world;
    world_open(&world);
    cairn_enqueued done = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "1"));
    cairn_enqueued failed = world_add(&world, "t");
    held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_DEAD, "no"));
    cairn_enqueued cancelled = world_add(&world, "t");
    cancel(&world, cancelled.id);

    const char *ids[] = {done.id, failed.id, cancelled.id};
    const char *statuses[] = {"succeeded", "failed", "cancelled"};
    for (int i = 0; i < 3; i++) {
        CHECK_REFUSED(&world, cairn_job_cancel(world.engine, ids[i], &world.error),
                      CAIRN_E_WRONG_STATE);
        CHECK(strstr(world.error.message, statuses[i]) ||
                  strstr(world.error.detail, statuses[i]),
              "\"%s\" does not say that it is %s", world.error.message, statuses[i]);
        world_check_status(&world, ids[i], statuses[i]);
    }
    world_check_events(&world, done.id, "created leased started succeeded");
    world_check_events(&world, cancelled.id, "created cancelled");
    world_close(&world);
}

TEST(a_job_that_does_not_exist_cannot_be_cancelled_or_deleted)
{
    const char *ids[] = {"00000000-0000-7000-8000-000000000000", "17", "", "' OR 1=1 --"};
    struct world world;
    world_open(&world);
    cairn_enqueued bystander = world_add(&world, "t");
    for (int i = 0; i < 4; i++) {
        cairn_code code = cairn_job_cancel(world.engine, ids[i], &world.error);
        CHECK(code == CAIRN_E_NOT_FOUND || code == CAIRN_E_BAD_INPUT, "\"%s\": %s", ids[i],
              cairn_code_name(code));
        code = cairn_job_delete(world.engine, ids[i], &world.error);
        CHECK(code == CAIRN_E_NOT_FOUND || code == CAIRN_E_BAD_INPUT, "\"%s\": %s", ids[i],
              cairn_code_name(code));
    }
    CHECK_REFUSED(&world, cairn_job_cancel(world.engine, ids[0], &world.error),
                  CAIRN_E_NOT_FOUND);
    CHECK_REFUSED(&world, cairn_job_delete(world.engine, ids[0], &world.error),
                  CAIRN_E_NOT_FOUND);
    world_check_status(&world, bystander.id, "pending");
    world_close(&world);
}

TEST(a_deleted_job_is_neither_brought_nor_listed_but_found_by_its_id)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    world_advance(&world, 1000);
    CHECK_DONE(&world, cairn_job_delete(world.engine, job.id, &world.error));
    CHECK_INT(world_count_jobs(&world), 0);
    world_check_nothing_to_take(&world);
    const cairn_job *row = world_job(&world, job.id);
    CHECK_STR(row->status, "cancelled");
    CHECK_INT(row->deleted_at_us, START_US + SECOND_US);
    world_check_events(&world, job.id, "created cancelled");
    world_close(&world);
}

TEST(deleting_twice_is_the_same_as_once)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    CHECK_DONE(&world, cairn_job_delete(world.engine, job.id, &world.error));
    world_advance(&world, 1000);
    CHECK_DONE(&world, cairn_job_delete(world.engine, job.id, &world.error));
    CHECK_INT(world_job(&world, job.id)->deleted_at_us, START_US);
    world_check_events(&world, job.id, "created cancelled");
    world_close(&world);
}

TEST(deleting_a_finished_job_keeps_how_it_ended)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "17"));
    CHECK_DONE(&world, cairn_job_delete(world.engine, job.id, &world.error));
    CHECK_STR(world_job(&world, job.id)->status, "succeeded");
    CHECK_STR(world_job(&world, job.id)->result, "17");
    CHECK_INT(world_count_jobs(&world), 0);
    CHECK_DONE(&world, cairn_job_delete(world.engine, job.id, &world.error)); /* told once */
    world_check_events(&world, job.id, "created leased started succeeded deleted");
    world_close(&world);
}

TEST(deleting_a_leased_job_tells_its_worker_and_refuses_its_result)
{
    const char *stop = NULL;
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, cairn_job_delete(world.engine, job.id, &world.error));
    CHECK_DONE(&world, world_beat(&world, &held, 1000, NULL, &stop));
    CHECK_STR(stop, "cancelled");
    CHECK_REFUSED(&world, world_report(&world, &held, CAIRN_COMPLETE, NULL),
                  CAIRN_E_LEASE_LOST);
    world_advance(&world, 24 * HOUR_MS);
    world_check_nothing_to_take(&world);
    world_check_status(&world, job.id, "cancelled");
    world_close(&world);
}

TEST(a_deleted_job_cannot_be_revived)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    CHECK_DONE(&world, cairn_job_delete(world.engine, job.id, &world.error));
    CHECK_REFUSED(&world, cairn_job_retry(world.engine, job.id, &world.error),
                  CAIRN_E_WRONG_STATE);
    world_check_nothing_to_take(&world);
    world_close(&world);
}

TEST(a_revived_job_has_forgotten_the_cancel)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    struct held stale = world_take(&world, "w");
    cancel(&world, job.id);
    CHECK_DONE(&world, cairn_job_retry(world.engine, job.id, &world.error));
    struct held held = world_take(&world, "w");
    CHECK_REFUSED(&world, world_report(&world, &stale, CAIRN_COMPLETE, NULL),
                  CAIRN_E_LEASE_LOST);
    const char *stop = "not set";
    CHECK_DONE(&world, world_beat(&world, &held, 1000, NULL, &stop));
    CHECK(!stop, "stop is %s", stop);
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, NULL));
    world_check_status(&world, job.id, "succeeded");
    world_close(&world);
}
