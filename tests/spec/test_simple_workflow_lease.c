/* tests/spec/test_simple_workflow_lease.c - leases, heartbeats, reports and late writers:
 * sections 7 and 8 of simple-workflow.md, and DESIGN's rulings on fencing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "world.h"

#include <pthread.h>

TEST(a_claim_leases_the_job_to_the_worker)
{
    struct world world;
    world_open(&world);
    cairn_enqueued added = world_add(&world, "t");
    world_advance(&world, 250);
    struct held held = world_take(&world, "worker-1");
    CHECK_INT(held.lease_until_us, START_US + 250000 + 30 * SECOND_US);

    const cairn_job *job = world_job(&world, added.id);
    CHECK_STR(job->status, "leased");
    CHECK_STR(job->leased_by, "worker-1");
    CHECK_INT(job->lease_until_us, held.lease_until_us);
    CHECK_INT(job->updated_at_us, START_US + 250000);
    CHECK_INT(job->attempt, 0);
    world_check_nothing_to_take(&world);
    world_close(&world);
}

TEST(a_result_is_kept_and_the_lease_is_over)
{
    struct world world;
    world_open(&world);
    cairn_enqueued added = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    world_advance(&world, 1000);
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "{\"url\":\"s3://x\"}"));
    world_reopen(&world);

    const cairn_job *job = world_job(&world, added.id);
    CHECK_STR(job->status, "succeeded");
    CHECK(is_same_json(job->result, "{\"url\":\"s3://x\"}"), "the result is %s", job->result);
    CHECK(!job->leased_by, "still leased by %s", job->leased_by);
    CHECK_INT(job->lease_until_us, 0);
    CHECK_INT(job->updated_at_us, START_US + SECOND_US);
    world_check_nothing_to_take(&world);
    world_close(&world);
}

TEST(a_lease_holds_until_its_last_instant)
{
    struct world world;
    world_open(&world);
    cairn_enqueued added = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    world_advance(&world, 30 * SECOND_MS);
    world_check_nothing_to_take(&world);
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, NULL));
    world_check_status(&world, added.id, "succeeded");
    world_close(&world);
}

TEST(a_lost_lease_costs_an_attempt_and_is_ready_at_once)
{
    struct world world;
    world_open(&world);
    cairn_enqueued added = world_add(&world, "t");
    world_take(&world, "crashed");
    world_advance(&world, 30 * SECOND_MS + 1);

    const cairn_job *job = world_job(&world, added.id);
    CHECK_STR(job->status, "pending");
    CHECK_INT(job->attempt, 1);
    CHECK_STR(job->last_error, "LEASE_EXPIRED");
    CHECK(!job->leased_by, "still leased by %s", job->leased_by);

    struct held second = world_take(&world, "healthy");
    CHECK_STR(second.id, added.id);
    CHECK_INT(second.attempt, 2);
    CHECK_DONE(&world, world_report(&world, &second, CAIRN_COMPLETE, NULL));
    world_close(&world);
}

TEST(a_lease_that_ran_out_while_no_process_was_there_is_found_again)
{
    struct world world;
    world_open(&world);
    cairn_enqueued added = world_add(&world, "t");
    world_take(&world, "crashed");
    world_reopen(&world);
    world_check_status(&world, added.id, "leased");
    world_advance(&world, 30 * SECOND_MS + 1);
    CHECK_INT(world_take(&world, "healthy").attempt, 2);
    world_close(&world);
}

TEST(a_late_worker_is_refused_and_the_second_ones_result_stands)
{
    const char *stop = NULL;
    struct world world;
    world_open(&world);
    cairn_enqueued added = world_add(&world, "t");
    struct held first = world_take(&world, "worker-1");
    world_advance(&world, 30 * SECOND_MS + 1);
    struct held second = world_take(&world, "worker-2");
    CHECK(strcmp(first.token, second.token) != 0, "both claims have the token %s", first.token);
    const char *so_far = "created leased started retried leased started";
    world_check_events(&world, added.id, so_far);

    CHECK_REFUSED(&world, world_beat(&world, &first, 30000, NULL, &stop), CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&world, world_report(&world, &first, CAIRN_COMPLETE, "{\"by\":1}"),
                  CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&world, world_report(&world, &first, CAIRN_FAIL, "no"), CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&world, world_report(&world, &first, CAIRN_DEAD, "no"), CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&world, world_retry(&world, &first, CAIRN_RETRY, 5), CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&world, world_retry(&world, &first, CAIRN_RELEASE, -1), CAIRN_E_LEASE_LOST);
    world_check_events(&world, added.id, so_far);
    CHECK_STR(world_job(&world, added.id)->leased_by, "worker-2");
    CHECK_INT(world_job(&world, added.id)->lease_until_us, second.lease_until_us);

    CHECK_DONE(&world, world_report(&world, &second, CAIRN_COMPLETE, "{\"by\":2}"));
    CHECK_REFUSED(&world, world_report(&world, &first, CAIRN_COMPLETE, "{\"by\":1}"),
                  CAIRN_E_LEASE_LOST);
    const cairn_job *job = world_job(&world, added.id);
    CHECK(is_same_json(job->result, "{\"by\":2}"), "the result is %s", job->result);
    world_check_events(&world, added.id,
                       "created leased started retried leased started succeeded");
    world_close(&world);
}

TEST(a_late_worker_is_refused_even_when_nobody_else_has_the_job)
{
    struct world world;
    world_open(&world);
    cairn_enqueued added = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    world_advance(&world, 30 * SECOND_MS + 1);
    CHECK_REFUSED(&world, world_report(&world, &held, CAIRN_COMPLETE, NULL),
                  CAIRN_E_LEASE_LOST);
    world_check_status(&world, added.id, "pending");
    world_check_events(&world, added.id, "created leased started retried");
    world_close(&world);
}

TEST(a_worker_that_claims_its_own_lost_job_again_cannot_use_the_old_token)
{
    struct world world;
    world_open(&world);
    world_add(&world, "t");
    struct held first = world_take(&world, "w");
    world_advance(&world, 30 * SECOND_MS + 1);
    struct held second = world_take(&world, "w");
    CHECK_REFUSED(&world, world_report(&world, &first, CAIRN_COMPLETE, NULL),
                  CAIRN_E_LEASE_LOST);
    CHECK_DONE(&world, world_report(&world, &second, CAIRN_COMPLETE, NULL));
    world_close(&world);
}

TEST(another_workers_name_or_another_token_is_refused)
{
    struct world world;
    world_open(&world);
    cairn_enqueued added = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    struct held stranger = held, guesser = held;
    snprintf(stranger.worker, sizeof stranger.worker, "somebody-else");
    guesser.token[0] = guesser.token[0] == '0' ? '1' : '0';
    CHECK_REFUSED(&world, world_report(&world, &stranger, CAIRN_COMPLETE, NULL),
                  CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&world, world_report(&world, &guesser, CAIRN_COMPLETE, NULL),
                  CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&world, world_beat(&world, &stranger, 1000, NULL, NULL), CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&world, world_beat(&world, &guesser, 1000, NULL, NULL), CAIRN_E_LEASE_LOST);
    world_check_events(&world, added.id, "created leased started");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, NULL));
    world_close(&world);
}

TEST(a_report_on_a_task_that_does_not_exist_is_a_lost_lease)
{
    struct world world;
    world_open(&world);
    struct held held = {.worker = "w",
                        .id = "00000000-0000-7000-8000-000000000000",
                        .token = "0123456789abcdef"};
    CHECK_REFUSED(&world, world_report(&world, &held, CAIRN_COMPLETE, NULL),
                  CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&world, world_beat(&world, &held, 1000, NULL, NULL), CAIRN_E_LEASE_LOST);
    world_close(&world);
}

TEST(a_heartbeat_extends_the_lease_from_now)
{
    int64_t until_us = 0;
    const char *stop = "not set";
    struct world world;
    world_open(&world);
    cairn_enqueued added = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    world_advance(&world, 20 * SECOND_MS);
    CHECK_DONE(&world, world_beat(&world, &held, 60000, &until_us, &stop));
    CHECK(!stop, "stop is %s", stop);
    CHECK_INT(until_us, START_US + 80 * SECOND_US);
    CHECK_INT(world_job(&world, added.id)->lease_until_us, until_us);
    CHECK_INT(world_job(&world, added.id)->updated_at_us, START_US + 20 * SECOND_US);

    /* From now, so that it may also end sooner than before. */
    CHECK_DONE(&world, world_beat(&world, &held, 5000, &until_us, NULL));
    CHECK_INT(until_us, START_US + 25 * SECOND_US);
    world_advance(&world, 5001);
    CHECK_REFUSED(&world, world_beat(&world, &held, 5000, NULL, NULL), CAIRN_E_LEASE_LOST);
    world_close(&world);
}

TEST(a_long_job_lives_as_long_as_its_heartbeats)
{
    struct world world;
    world_open(&world);
    cairn_enqueued added = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    for (int i = 0; i < 10; i++) {
        world_advance(&world, 25 * SECOND_MS);
        world_check_nothing_to_take(&world);
        CHECK_DONE(&world, world_beat(&world, &held, 30000, NULL, NULL));
    }
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, NULL));
    CHECK_INT(world_job(&world, added.id)->attempt, 0);
    world_close(&world);
}

static void check_repeating_is_harmless(cairn_outcome outcome, const char *status)
{
    struct world world;
    world_open(&world);
    cairn_enqueued added = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world,
               world_retry(&world, &held, outcome, outcome == CAIRN_RELEASE ? -1 : 60000));
    cairn_job before = *world_job(&world, added.id); /* its texts go with the next look */
    CHECK_STR(before.status, status);
    world_advance(&world, 1);

    CHECK_DONE(&world,
               world_retry(&world, &held, outcome, outcome == CAIRN_RELEASE ? -1 : 60000));
    cairn_code code = world_report(&world, &held, CAIRN_COMPLETE, "{\"other\": 1}");
    CHECK_INT(code, outcome == CAIRN_COMPLETE ? CAIRN_OK : CAIRN_E_LEASE_LOST);
    code = world_report(&world, &held, CAIRN_DEAD, "no");
    CHECK_INT(code, outcome == CAIRN_DEAD ? CAIRN_OK : CAIRN_E_LEASE_LOST);
    const cairn_job *after = world_job(&world, added.id);
    CHECK_STR(after->status, status);
    CHECK_INT(after->attempt, before.attempt);
    CHECK_INT(after->run_at_us, before.run_at_us);
    CHECK_INT(after->updated_at_us, START_US);
    world_check_events(&world, added.id,
                       outcome == CAIRN_COMPLETE ? "created leased started succeeded"
                       : outcome == CAIRN_DEAD   ? "created leased started failed"
                                                 : "created leased started retried");
    world_close(&world);
}

TEST(a_repeated_complete_is_accepted_and_changes_nothing)
{
    check_repeating_is_harmless(CAIRN_COMPLETE, "succeeded");
}

TEST(a_repeated_fail_is_accepted_and_changes_nothing)
{
    check_repeating_is_harmless(CAIRN_FAIL, "pending");
}

TEST(a_repeated_retry_is_accepted_and_changes_nothing)
{
    check_repeating_is_harmless(CAIRN_RETRY, "pending");
}

TEST(a_repeated_dead_is_accepted_and_changes_nothing)
{
    check_repeating_is_harmless(CAIRN_DEAD, "failed");
}

TEST(a_repeated_release_is_accepted_and_changes_nothing)
{
    check_repeating_is_harmless(CAIRN_RELEASE, "pending");
}

TEST(a_poison_job_ends_failed)
{
    struct world world;
    world_open(&world);
    cairn_enqueued added = world_add(&world, "kills.workers.v1");
    for (int call = 1; call <= 3; call++) {
        CHECK_INT(world_take(&world, "doomed").attempt, call);
        world_advance(&world, 30 * SECOND_MS + 1);
    }
    const cairn_job *job = world_job(&world, added.id);
    CHECK_STR(job->status, "failed");
    CHECK_STR(job->last_error, "LEASE_EXPIRED");
    CHECK_INT(job->attempt, 3);
    world_advance(&world, 365 * 24 * HOUR_MS);
    world_check_nothing_to_take(&world);
    world_close(&world);
}

TEST(a_released_job_costs_no_attempt)
{
    struct world world;
    world_open(&world);
    cairn_enqueued added = world_add(&world, "t");
    for (int i = 0; i < 10; i++) {
        struct held held = world_take(&world, "w");
        CHECK_INT(held.attempt, 1);
        CHECK_DONE(&world, world_retry(&world, &held, CAIRN_RELEASE, -1));
        CHECK_STR(world_job(&world, added.id)->status, "pending");
        CHECK_INT(world_job(&world, added.id)->attempt, 0);
    }
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, world_retry(&world, &held, CAIRN_RELEASE, 90 * SECOND_MS));
    CHECK_INT(world_job(&world, added.id)->run_at_us, START_US + 90 * SECOND_US);
    world_advance(&world, 90 * SECOND_MS - 1);
    world_check_nothing_to_take(&world);
    world_advance(&world, 1);
    CHECK_INT(world_take(&world, "w").attempt, 1);
    world_close(&world);
}

TEST(in_a_batch_of_reports_a_late_one_fails_alone)
{
    struct held held[3];
    cairn_report reports[3] = {CAIRN_REPORT_DEFAULTS, CAIRN_REPORT_DEFAULTS,
                               CAIRN_REPORT_DEFAULTS};
    cairn_reported reported[3];
    struct world world;
    world_open(&world);
    for (int i = 0; i < 3; i++)
        world_add(&world, "t");
    CHECK_INT(world_take_many(&world, "w", "t", 3, held), 3);
    CHECK_DONE(&world, world_beat(&world, &held[0], 60000, NULL, NULL));
    CHECK_DONE(&world, world_beat(&world, &held[2], 60000, NULL, NULL));
    world_advance(&world, 31 * SECOND_MS);

    for (int i = 0; i < 3; i++) {
        reports[i].task_id = held[i].id;
        reports[i].token = held[i].token;
    }
    reports[2].outcome = CAIRN_DEAD;
    reports[2].error = "cannot be done";
    CHECK_DONE(&world, cairn_report_many(world.engine, "w", reports, 3, reported, NULL, NULL,
                                         &world.error));
    CHECK_INT(reported[0].code, CAIRN_OK);
    CHECK_STR(reported[0].status, "succeeded");
    CHECK_INT(reported[1].code, CAIRN_E_LEASE_LOST);
    CHECK_STR(reported[1].status, "");
    CHECK(reported[1].error.message[0], "there is no message");
    CHECK_INT(reported[2].code, CAIRN_OK);
    CHECK_STR(reported[2].status, "failed");
    world_check_status(&world, held[0].id, "succeeded");
    world_check_status(&world, held[1].id, "pending");
    world_check_status(&world, held[2].id, "failed");
    CHECK_STR(world_job(&world, held[2].id)->last_error, "cannot be done");
    world_close(&world);
}

TEST(a_report_brings_the_next_task_in_the_same_commit)
{
    const char *everything = "%";
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    cairn_reported reported;
    cairn_page *tasks = NULL;
    cairn_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    struct world world;
    world_open(&world);
    world_add(&world, "t");
    cairn_enqueued next = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    report.task_id = held.id;
    report.token = held.token;
    claim.worker = "w";
    claim.types = &everything;
    claim.type_count = 1;
    CHECK_DONE(&world, cairn_stats_get(world.engine, &before, &world.error));
    CHECK_DONE(&world, cairn_report_many(world.engine, "w", &report, 1, &reported, &claim,
                                         &tasks, &world.error));
    CHECK_DONE(&world, cairn_stats_get(world.engine, &after, &world.error));
    CHECK_INT(after.commits - before.commits, 1);
    CHECK_STR(reported.status, "succeeded");
    CHECK_INT(cairn_page_count(tasks), 1);
    CHECK_STR(cairn_page_task(tasks, 0)->id, next.id);
    CHECK_DONE(&world, cairn_task_complete(world.engine, "w", cairn_page_task(tasks, 0),
                                           "[1, 2]", &world.error));
    cairn_page_free(tasks);
    CHECK(is_same_json(world_job(&world, next.id)->result, "[1,2]"), "the result is lost");
    world_close(&world);
}

/* ---- the clock ------------------------------------------------------------------------------- */

enum { MOVERS = 4, MOVES = 40, MOVE_MS = 700 };

struct mover {
    pthread_t thread;
    cairn_engine *engine;
    int64_t last_us;
    bool has_gone_back;
    cairn_error error;
};

static void *move_often(void *arg)
{
    struct mover *mover = arg;
    for (int i = 0; i < MOVES && !mover->error.code; i++) {
        int64_t now_us = 0;
        cairn_clock_advance(mover->engine, MOVE_MS, &now_us, &mover->error);
        mover->has_gone_back |= now_us < mover->last_us + MOVE_MS * 1000;
        mover->last_us = now_us;
    }
    return NULL;
}

/* Leases end on the way, so that each move has stops of its own. */
TEST(a_clock_that_several_move_goes_as_far_as_all_have_said)
{
    struct world world;
    struct mover movers[MOVERS] = {0};
    world_open_seeded(&world, 0);
    world_add(&world, "a.v1");
    world_take(&world, "w1");
    int64_t began_us = world_now_us(&world);
    for (int i = 0; i < MOVERS; i++) {
        movers[i].engine = world.engine;
        movers[i].last_us = began_us;
        CHECK_INT(pthread_create(&movers[i].thread, NULL, move_often, &movers[i]), 0);
    }
    for (int i = 0; i < MOVERS; i++)
        pthread_join(movers[i].thread, NULL);
    for (int i = 0; i < MOVERS; i++) {
        CHECK_STR(movers[i].error.message, "");
        CHECK(!movers[i].has_gone_back, "the clock went less far than was said");
    }
    CHECK_INT(world_now_us(&world) - began_us, INT64_C(1000) * MOVERS * MOVES * MOVE_MS);
    world_close(&world);
}
