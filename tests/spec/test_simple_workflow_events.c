/* tests/spec/test_simple_workflow_events.c - the audit trail: section 4.2 of
 * simple-workflow.md. Every kind of life, every event in it, in order, none missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "world.h"

static struct held begin(struct world *world, cairn_enqueued *ret_job)
{
    world_open(world);
    *ret_job = world_add(world, "t");
    return world_take(world, "w");
}

static void end(struct world *world, const cairn_enqueued *job, const char *events)
{
    world_check_events(world, job->id, events);
    world_reopen(world);
    world_check_events(world, job->id, events);
    world_close(world);
}

static void fail_and_wait(struct world *world, const struct held *held)
{
    CHECK_DONE(world, world_report(world, held, CAIRN_FAIL, "no"));
    world_advance(world, 10 * MINUTE_MS);
}

TEST(the_life_of_a_success)
{
    struct world world;
    cairn_enqueued job;
    struct held held = begin(&world, &job);
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "1"));
    end(&world, &job, "created leased started succeeded");
}

TEST(the_life_of_a_success_after_a_retry)
{
    struct world world;
    cairn_enqueued job;
    struct held held = begin(&world, &job);
    fail_and_wait(&world, &held);
    held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "1"));
    end(&world, &job, "created leased started retried leased started succeeded");
}

TEST(the_life_of_a_job_with_no_attempt_left)
{
    struct world world;
    cairn_enqueued job;
    struct held held = begin(&world, &job);
    fail_and_wait(&world, &held);
    held = world_take(&world, "w");
    fail_and_wait(&world, &held);
    held = world_take(&world, "w");
    fail_and_wait(&world, &held);
    end(&world, &job,
        "created leased started retried leased started retried leased started failed");
}

TEST(the_life_of_a_job_cancelled_while_pending)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    CHECK_DONE(&world, cairn_job_cancel(world.engine, job.id, &world.error));
    end(&world, &job, "created cancelled");
}

TEST(the_life_of_a_job_cancelled_while_leased)
{
    struct world world;
    cairn_enqueued job;
    struct held held = begin(&world, &job);
    CHECK_DONE(&world, world_beat(&world, &held, 30000, NULL, NULL));
    CHECK_DONE(&world, cairn_job_cancel(world.engine, job.id, &world.error));
    CHECK_DONE(&world, world_beat(&world, &held, 30000, NULL, NULL));
    CHECK_REFUSED(&world, world_report(&world, &held, CAIRN_COMPLETE, NULL),
                  CAIRN_E_LEASE_LOST);
    end(&world, &job, "created leased started heartbeat cancelled");
}

TEST(the_life_of_a_job_whose_lease_was_lost)
{
    struct world world;
    cairn_enqueued job;
    begin(&world, &job);
    world_advance(&world, 30 * SECOND_MS + 1);
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "1"));
    end(&world, &job, "created leased started retried leased started succeeded");
}

TEST(the_life_of_a_poison_job)
{
    struct world world;
    cairn_enqueued job;
    begin(&world, &job);
    world_advance(&world, 30 * SECOND_MS + 1);
    world_take(&world, "w");
    world_advance(&world, 30 * SECOND_MS + 1);
    world_take(&world, "w");
    world_advance(&world, 30 * SECOND_MS + 1);
    end(&world, &job,
        "created leased started retried leased started retried leased started failed");
}

TEST(the_life_of_a_released_job)
{
    struct world world;
    cairn_enqueued job;
    struct held held = begin(&world, &job);
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_RELEASE, NULL));
    held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "1"));
    end(&world, &job, "created leased started retried leased started succeeded");
}

TEST(the_life_of_a_dead_job)
{
    struct world world;
    cairn_enqueued job;
    struct held held = begin(&world, &job);
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_DEAD, "no"));
    end(&world, &job, "created leased started failed");
}

TEST(the_life_of_a_revived_job)
{
    struct world world;
    cairn_enqueued job;
    struct held held = begin(&world, &job);
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_DEAD, "no"));
    CHECK_DONE(&world, cairn_job_retry(world.engine, job.id, &world.error));
    held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "1"));
    end(&world, &job, "created leased started failed retried leased started succeeded");
}

TEST(the_life_of_a_long_job)
{
    struct world world;
    cairn_enqueued job;
    struct held held = begin(&world, &job);
    for (int i = 0; i < 3; i++) {
        world_advance(&world, 10 * SECOND_MS);
        CHECK_DONE(&world, world_beat(&world, &held, 30000, NULL, NULL));
    }
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "1"));
    end(&world, &job, "created leased started heartbeat heartbeat heartbeat succeeded");
}

TEST(an_event_has_the_time_of_its_change)
{
    struct world world;
    cairn_page *events = NULL;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    world_advance(&world, 5000);
    struct held held = world_take(&world, "w");
    world_advance(&world, 7000);
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "1"));
    world_advance(&world, 1000);

    const int64_t wanted_us[] = {START_US, START_US + 5 * SECOND_US, START_US + 5 * SECOND_US,
                                 START_US + 12 * SECOND_US};
    CHECK_DONE(&world,
               cairn_job_events(world.engine, job.id, NULL, 100, &events, &world.error));
    CHECK_INT(cairn_page_count(events), 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK_INT(cairn_page_event(events, i)->at_us, wanted_us[i]);
        CHECK(!cairn_page_event(events, i)->step, "a job has no steps");
    }
    cairn_page_free(events);
    world_close(&world);
}

/* A lease that runs out while the clock moves far is recovered at its own time. */
TEST(a_lost_lease_is_noted_at_its_own_time)
{
    struct world world;
    cairn_page *events = NULL;
    cairn_enqueued job;
    struct held held = begin(&world, &job);
    world_advance(&world, 5 * HOUR_MS);
    CHECK_DONE(&world,
               cairn_job_events(world.engine, job.id, NULL, 100, &events, &world.error));
    CHECK_INT(cairn_page_count(events), 4);
    CHECK_STR(cairn_page_event(events, 3)->type, "retried");
    int64_t late_us = cairn_page_event(events, 3)->at_us - held.lease_until_us;
    CHECK(late_us >= 0 && late_us <= 1000, "%lld us late", (long long)late_us);
    cairn_page_free(events);
    world_close(&world);
}

TEST(events_are_read_page_by_page)
{
    struct world world;
    cairn_enqueued job;
    struct held held = begin(&world, &job);
    for (int i = 0; i < 6; i++)
        CHECK_DONE(&world, world_beat(&world, &held, 30000, NULL, NULL));
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "1"));

    char cursor[300] = "", seen[500] = "";
    int pages = 0;
    for (;; pages++) {
        cairn_page *page = NULL;
        CHECK(pages < 10, "the pages do not end");
        CHECK_DONE(&world, cairn_job_events(world.engine, job.id, cursor[0] ? cursor : NULL, 4,
                                            &page, &world.error));
        CHECK(cairn_page_count(page) <= 4, "a page of %zu", cairn_page_count(page));
        for (size_t i = 0; i < cairn_page_count(page); i++) {
            strcat(seen, cairn_page_event(page, i)->type);
            strcat(seen, " ");
        }
        const char *next = cairn_page_next(page);
        snprintf(cursor, sizeof cursor, "%s", next ? next : "");
        cairn_page_free(page);
        if (!cursor[0])
            break;
    }
    CHECK_STR(seen, "created leased started heartbeat heartbeat heartbeat heartbeat heartbeat "
                    "heartbeat succeeded ");
    world_close(&world);
}

TEST(events_belong_to_one_job)
{
    struct world world;
    world_open(&world);
    cairn_enqueued first = world_add(&world, "t");
    cairn_enqueued second = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    CHECK_STR(held.id, first.id);
    world_check_events(&world, first.id, "created leased started");
    world_check_events(&world, second.id, "created");
    world_close(&world);
}

TEST(a_job_that_does_not_exist_has_no_events)
{
    struct world world;
    cairn_page *events = NULL;
    world_open(&world);
    CHECK_REFUSED(&world,
                  cairn_job_events(world.engine, "00000000-0000-7000-8000-000000000000", NULL,
                                   100, &events, &world.error),
                  CAIRN_E_NOT_FOUND);
    world_close(&world);
}
