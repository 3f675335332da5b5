/* tests/spec/test_simple_workflow_intent.c - recording intent: sections 2, 4 and 6 of
 * simple-workflow.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "world.h"

#include <pthread.h>
#include <stdlib.h>

TEST(a_recorded_job_waits_for_a_worker_that_does_not_exist_yet)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "content.thumbnail.v1");
    world_advance(&world, 30 * 24 * HOUR_MS);
    world_check_status(&world, job.id, "pending");

    world_reopen(&world);
    world_check_status(&world, job.id, "pending");
    struct held held = world_take(&world, "came-late");
    CHECK_STR(held.id, job.id);
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "{\"done\": true}"));

    world_reopen(&world);
    world_check_status(&world, job.id, "succeeded");
    world_close(&world);
}

TEST(a_new_job_has_the_defaults_of_the_document)
{
    struct world world;
    world_open(&world);
    cairn_enqueued added = world_add(&world, "content.thumbnail.v1");
    const cairn_job *job = world_job(&world, added.id);
    CHECK_STR(job->type, "content.thumbnail.v1");
    CHECK_STR(job->status, "pending");
    CHECK_STR(job->payload, "{}");
    CHECK_INT(job->priority, 100);
    CHECK_INT(job->attempt, 0);
    CHECK_INT(job->max_attempts, 3);
    CHECK_INT(job->run_at_us, START_US);
    CHECK_INT(job->created_at_us, START_US);
    CHECK_INT(job->updated_at_us, START_US);
    CHECK_INT(job->deleted_at_us, 0);
    CHECK_INT(job->lease_until_us, 0);
    CHECK(!job->leased_by && !job->last_error && !job->result && !job->idempotency_key,
          "something is set that should not be");
    world_close(&world);
}

TEST(what_the_producer_says_is_what_the_worker_gets)
{
    const char *payload =
        "{\"content_id\":\"c_123\",\"width\":300,\"tags\":[\"ä\",\"\\u00e4\",null]}";
    struct world world;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "content.thumbnail.v1";
    spec.payload = payload;
    spec.key = "content:c_123:thumbnail:300x300";
    spec.priority = 5;
    spec.max_attempts = 7;
    cairn_enqueued added = world_add_spec(&world, &spec);

    const cairn_job *job = world_job(&world, added.id);
    CHECK(is_same_json(job->payload, payload), "the payload is %s", job->payload);
    CHECK_STR(job->idempotency_key, spec.key);
    CHECK_INT(job->priority, 5);
    CHECK_INT(job->max_attempts, 7);

    struct held held = world_take(&world, "w");
    CHECK_STR(held.id, added.id);
    CHECK_STR(held.type, spec.type);
    CHECK_STR(held.key, spec.key);
    CHECK(is_same_json(held.input, payload), "the input is %s", held.input);
    CHECK_INT(held.attempt, 1);
    CHECK_INT(held.max_attempts, 7);
    CHECK_INT(held.lease_until_us, START_US + 30 * SECOND_US);
    world_close(&world);
}

static cairn_enqueued add_keyed(struct world *world, const char *type, const char *key)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    cairn_enqueued enqueued = {.existing = -1};
    spec.type = type;
    spec.key = key;
    CHECK_DONE(world, cairn_enqueue(world->engine, &spec, 1, &enqueued, &world->error));
    return enqueued;
}

TEST(a_known_key_finds_the_first_job_and_writes_nothing)
{
    struct world world;
    world_open(&world);
    cairn_enqueued first = add_keyed(&world, "billing.invoice.v1", "order-17");
    CHECK_INT(first.existing, 0);
    world_advance(&world, MINUTE_MS);

    cairn_enqueued again = add_keyed(&world, "billing.payment.v1", "order-17");
    CHECK_INT(again.existing, 1);
    CHECK_STR(again.id, first.id);
    CHECK_INT(world_count_jobs(&world), 1);
    CHECK_STR(world_job(&world, first.id)->type, "billing.invoice.v1");
    CHECK_INT(world_job(&world, first.id)->updated_at_us, START_US);
    world_check_events(&world, first.id, "created");
    world_close(&world);
}

TEST(a_key_stays_known_when_its_job_has_ended_or_was_deleted)
{
    struct world world;
    world_open(&world);
    cairn_enqueued done = add_keyed(&world, "t", "done");
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, NULL));
    cairn_enqueued deleted = add_keyed(&world, "t", "deleted");
    CHECK_DONE(&world, cairn_job_delete(world.engine, deleted.id, &world.error));
    world_reopen(&world);

    cairn_enqueued again = add_keyed(&world, "t", "done");
    CHECK(again.existing && strcmp(again.id, done.id) == 0, "the ended job was not found");
    again = add_keyed(&world, "t", "deleted");
    CHECK(again.existing && strcmp(again.id, deleted.id) == 0, "the deleted job was not found");
    world_check_nothing_to_take(&world);
    world_close(&world);
}

TEST(jobs_without_a_key_are_never_taken_for_each_other)
{
    struct world world;
    world_open(&world);
    world_add(&world, "t");
    world_add(&world, "t");
    CHECK_INT(world_count_jobs(&world), 2);
    world_close(&world);
}

enum { PRODUCERS = 100 };

struct producer {
    pthread_t thread;
    cairn_engine *engine;
    pthread_barrier_t *gate;
    cairn_code code;
    cairn_enqueued enqueued;
    cairn_error error;
};

static void *produce(void *arg)
{
    struct producer *producer = arg;
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "billing.invoice.v1";
    spec.key = "order-17";
    pthread_barrier_wait(producer->gate);
    producer->code =
        cairn_enqueue(producer->engine, &spec, 1, &producer->enqueued, &producer->error);
    return NULL;
}

TEST(a_hundred_threads_with_one_key_make_one_job)
{
    struct producer producers[PRODUCERS] = {0};
    pthread_barrier_t gate;
    struct world world;
    world_open_seeded(&world, 0);
    pthread_barrier_init(&gate, NULL, PRODUCERS);
    for (int i = 0; i < PRODUCERS; i++) {
        producers[i].engine = world.engine;
        producers[i].gate = &gate;
        if (pthread_create(&producers[i].thread, NULL, produce, &producers[i]))
            abort();
    }
    int created = 0;
    for (int i = 0; i < PRODUCERS; i++) {
        pthread_join(producers[i].thread, NULL);
        created += !producers[i].enqueued.existing;
    }
    pthread_barrier_destroy(&gate);

    for (int i = 0; i < PRODUCERS; i++) {
        CHECK(producers[i].code == CAIRN_OK, "thread %d: %s", i, producers[i].error.message);
        CHECK_STR(producers[i].enqueued.id, producers[0].enqueued.id);
    }
    CHECK_INT(created, 1);
    CHECK_INT(world_count_jobs(&world), 1);
    world_check_events(&world, producers[0].enqueued.id, "created");
    world_close(&world);
}

static uint64_t count_commits(struct world *world)
{
    cairn_stats stats = {.size = sizeof stats};
    CHECK_DONE(world, cairn_stats_get(world->engine, &stats, &world->error));
    return stats.commits;
}

TEST(a_batch_is_recorded_in_one_commit)
{
    enum { COUNT = 500 };
    cairn_job_spec specs[COUNT];
    cairn_enqueued enqueued[COUNT];
    struct world world;
    world_open(&world);
    for (int i = 0; i < COUNT; i++)
        specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS, specs[i].type = "t";
    uint64_t before = count_commits(&world);
    CHECK_DONE(&world, cairn_enqueue(world.engine, specs, COUNT, enqueued, &world.error));
    CHECK_INT(count_commits(&world) - before, 1);
    CHECK_INT(world_count_jobs(&world), COUNT);
    for (int i = 1; i < COUNT; i++)
        CHECK(strcmp(enqueued[i].id, enqueued[i - 1].id) != 0, "two jobs have one id");
    world_check_events(&world, enqueued[0].id, "created");
    world_check_events(&world, enqueued[COUNT - 1].id, "created");
    world_close(&world);
}

TEST(one_bad_job_refuses_the_whole_batch)
{
    cairn_job_spec specs[3] = {CAIRN_JOB_DEFAULTS, CAIRN_JOB_DEFAULTS, CAIRN_JOB_DEFAULTS};
    cairn_enqueued enqueued[3];
    struct world world;
    world_open(&world);
    specs[0].type = specs[1].type = specs[2].type = "t";
    specs[1].payload = "{not json";
    CHECK_REFUSED(&world, cairn_enqueue(world.engine, specs, 3, enqueued, &world.error),
                  CAIRN_E_BAD_JSON);
    CHECK_INT(world_count_jobs(&world), 0);
    world_check_nothing_to_take(&world);
    world_close(&world);
}

TEST(a_key_twice_in_a_batch_makes_one_job)
{
    cairn_job_spec specs[3] = {CAIRN_JOB_DEFAULTS, CAIRN_JOB_DEFAULTS, CAIRN_JOB_DEFAULTS};
    cairn_enqueued enqueued[3];
    struct world world;
    world_open(&world);
    specs[0].type = specs[1].type = specs[2].type = "t";
    specs[0].key = specs[2].key = "same";
    CHECK_DONE(&world, cairn_enqueue(world.engine, specs, 3, enqueued, &world.error));
    CHECK(!enqueued[0].existing && !enqueued[1].existing && enqueued[2].existing,
          "existing is %d, %d, %d", enqueued[0].existing, enqueued[1].existing,
          enqueued[2].existing);
    CHECK_STR(enqueued[2].id, enqueued[0].id);
    CHECK_INT(world_count_jobs(&world), 2);
    world_check_events(&world, enqueued[0].id, "created");
    world_close(&world);
}

TEST(a_scheduled_job_is_not_early_and_exactly_on_time)
{
    struct world world;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    spec.run_at_us = START_US + 5 * MINUTE_US;
    cairn_enqueued job = world_add_spec(&world, &spec);
    CHECK_INT(world_job(&world, job.id)->run_at_us, spec.run_at_us);

    world_check_nothing_to_take(&world);
    world_advance(&world, 5 * MINUTE_MS - 1);
    world_check_nothing_to_take(&world);
    world_advance(&world, 1);
    CHECK_STR(world_take(&world, "w").id, job.id);
    world_close(&world);
}

TEST(a_job_scheduled_in_the_past_is_due_at_once)
{
    struct world world;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    spec.run_at_us = START_US - 5 * MINUTE_US;
    cairn_enqueued job = world_add_spec(&world, &spec);
    CHECK_INT(world_job(&world, job.id)->run_at_us, spec.run_at_us);
    CHECK_STR(world_take(&world, "w").id, job.id);
    world_close(&world);
}

TEST(a_schedule_survives_the_process)
{
    struct world world;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    spec.run_at_us = START_US + 5 * MINUTE_US;
    cairn_enqueued job = world_add_spec(&world, &spec);
    world_reopen(&world);
    world_check_nothing_to_take(&world);
    world_advance(&world, 5 * MINUTE_MS);
    CHECK_STR(world_take(&world, "w").id, job.id);
    world_close(&world);
}
