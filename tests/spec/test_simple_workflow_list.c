/* tests/spec/test_simple_workflow_list.c - a producer may ask for status: section 2.2 of
 * simple-workflow.md; filters and pages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "world.h"

/* Ids of what is listed, in order; at most 20. */
struct listed {
    size_t count;
    char ids[20][40];
};

static struct listed list(struct world *world, const char *status, const char *type,
                          const char *key)
{
    struct listed listed = {0};
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    cairn_page *jobs = NULL;
    filter.status = status;
    filter.type = type;
    filter.key = key;
    CHECK_DONE(world, cairn_job_list(world->engine, &filter, &jobs, &world->error));
    listed.count = cairn_page_count(jobs);
    CHECK(listed.count <= 20, "%zu jobs are too many", listed.count);
    for (size_t i = 0; i < listed.count; i++)
        snprintf(listed.ids[i], 40, "%s", cairn_page_job(jobs, i)->id);
    cairn_page_free(jobs);
    return listed;
}

static void check_listed(const struct listed *listed, size_t count, const char *first,
                         const char *second)
{
    CHECK_INT(listed->count, count);
    if (count > 0)
        CHECK_STR(listed->ids[0], first);
    if (count > 1)
        CHECK_STR(listed->ids[1], second);
}

TEST(jobs_are_listed_newest_first)
{
    struct world world;
    world_open(&world);
    cairn_enqueued older = world_add(&world, "a");
    cairn_enqueued newer = world_add(&world, "b"); /* within the same instant */
    struct listed listed = list(&world, NULL, NULL, NULL);
    check_listed(&listed, 2, newer.id, older.id);
    world_close(&world);
}

TEST(jobs_are_listed_by_status)
{
    struct held held[3];
    struct world world;
    world_open(&world);
    cairn_enqueued done = world_add(&world, "t"), failed = world_add(&world, "t"),
                   leased = world_add(&world, "t"), pending = world_add(&world, "t"),
                   cancelled = world_add(&world, "t");
    CHECK_DONE(&world, cairn_job_cancel(world.engine, cancelled.id, &world.error));
    CHECK_INT(world_take_many(&world, "w", "t", 3, held), 3);
    CHECK_DONE(&world, world_report(&world, &held[0], CAIRN_COMPLETE, NULL));
    CHECK_DONE(&world, world_report(&world, &held[1], CAIRN_DEAD, "no"));

    const char *statuses[] = {"succeeded", "failed", "leased", "pending", "cancelled"};
    const char *ids[] = {done.id, failed.id, leased.id, pending.id, cancelled.id};
    for (int i = 0; i < 5; i++) {
        struct listed listed = list(&world, statuses[i], NULL, NULL);
        check_listed(&listed, 1, ids[i], NULL);
    }
    world_close(&world);
}

TEST(jobs_are_listed_by_type_prefix_and_key)
{
    struct world world;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "billing.invoice.v1";
    spec.key = "order-17";
    cairn_enqueued invoice = world_add_spec(&world, &spec);
    cairn_enqueued payment = world_add(&world, "billing.payment.v1");
    world_add(&world, "content.ocr.v1");

    struct listed listed = list(&world, NULL, "billing.invoice.v1", NULL);
    check_listed(&listed, 1, invoice.id, NULL);
    listed = list(&world, NULL, "billing.%", NULL);
    check_listed(&listed, 2, payment.id, invoice.id);
    listed = list(&world, NULL, "billing", NULL);
    check_listed(&listed, 0, NULL, NULL);
    listed = list(&world, NULL, NULL, "order-17");
    check_listed(&listed, 1, invoice.id, NULL);
    listed = list(&world, NULL, NULL, "order-1");
    check_listed(&listed, 0, NULL, NULL);
    listed = list(&world, "pending", "billing.%", "order-17");
    check_listed(&listed, 1, invoice.id, NULL);
    listed = list(&world, "failed", "billing.%", NULL);
    check_listed(&listed, 0, NULL, NULL);
    world_close(&world);
}

TEST(deleted_jobs_are_left_out)
{
    struct world world;
    world_open(&world);
    cairn_enqueued kept = world_add(&world, "t");
    cairn_enqueued deleted = world_add(&world, "t");
    CHECK_DONE(&world, cairn_job_delete(world.engine, deleted.id, &world.error));
    struct listed listed = list(&world, NULL, NULL, NULL);
    check_listed(&listed, 1, kept.id, NULL);
    listed = list(&world, "cancelled", NULL, NULL);
    check_listed(&listed, 0, NULL, NULL);
    world_close(&world);
}

TEST(pages_show_every_job_once_even_while_new_ones_come)
{
    enum { COUNT = 23 };
    cairn_enqueued jobs[COUNT];
    struct world world;
    world_open(&world);
    for (int i = 0; i < COUNT; i++)
        jobs[i] = world_add(&world, "t");

    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    char cursor[300] = "";
    int left = COUNT, pages = 0;
    filter.limit = 5;
    filter.type = "t";
    do {
        cairn_page *page = NULL;
        filter.cursor = cursor[0] ? cursor : NULL;
        CHECK_DONE(&world, cairn_job_list(world.engine, &filter, &page, &world.error));
        CHECK(cairn_page_count(page) <= 5 && cairn_page_count(page) > 0, "a page of %zu",
              cairn_page_count(page));
        for (size_t i = 0; i < cairn_page_count(page); i++) {
            CHECK(left > 0, "a page too many");
            CHECK_STR(cairn_page_job(page, i)->id, jobs[--left].id);
        }
        const char *next = cairn_page_next(page);
        snprintf(cursor, sizeof cursor, "%s", next ? next : "");
        cairn_page_free(page);
        world_add(&world, "t");
        pages++;
    } while (cursor[0]);
    CHECK_INT(left, 0);
    CHECK_INT(pages, 5);
    world_close(&world);
}

TEST(the_last_page_says_so_even_when_it_is_full)
{
    struct world world;
    world_open(&world);
    for (int i = 0; i < 4; i++)
        world_add(&world, "t");
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    cairn_page *page = NULL;
    filter.limit = 4;
    CHECK_DONE(&world, cairn_job_list(world.engine, &filter, &page, &world.error));
    CHECK_INT(cairn_page_count(page), 4);
    CHECK(!cairn_page_next(page), "there is a next page: %s", cairn_page_next(page));
    cairn_page_free(page);
    world_close(&world);
}

TEST(a_question_must_make_sense)
{
    struct world world;
    world_open(&world);
    cairn_page *jobs = NULL;
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    filter.status = "sleeping";
    CHECK_REFUSED(&world, cairn_job_list(world.engine, &filter, &jobs, &world.error),
                  CAIRN_E_BAD_INPUT);
    filter = (cairn_job_filter)CAIRN_JOB_FILTER_DEFAULTS;
    filter.limit = 0;
    CHECK_REFUSED(&world, cairn_job_list(world.engine, &filter, &jobs, &world.error),
                  CAIRN_E_BAD_INPUT);
    filter.limit = 1001;
    CHECK_REFUSED(&world, cairn_job_list(world.engine, &filter, &jobs, &world.error),
                  CAIRN_E_BAD_INPUT);
    filter.limit = 10;
    filter.cursor = "'; DROP TABLE workflow_run; --";
    CHECK_REFUSED(&world, cairn_job_list(world.engine, &filter, &jobs, &world.error),
                  CAIRN_E_BAD_INPUT);
    world_close(&world);
}

TEST(a_job_that_does_not_exist_is_not_found)
{
    cairn_page *jobs = NULL;
    struct world world;
    world_open(&world);
    CHECK_REFUSED(&world,
                  cairn_job_get(world.engine, "00000000-0000-7000-8000-000000000000", &jobs,
                                &world.error),
                  CAIRN_E_NOT_FOUND);
    world_close(&world);
}

TEST(the_figures_say_what_waits)
{
    struct world world;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    world_add_spec(&world, &spec);
    world_add_spec(&world, &spec);
    spec.run_at_us = START_US + HOUR_MS * 1000;
    world_add_spec(&world, &spec);
    world_take(&world, "w");
    world_advance(&world, 5000);
    cairn_stats stats = {.size = sizeof stats};
    CHECK_DONE(&world, cairn_stats_get(world.engine, &stats, &world.error));
    CHECK_INT(stats.enqueued, 3);
    CHECK_INT(stats.claimed, 1);
    CHECK_INT(stats.pending, 2);
    CHECK_INT(stats.ready, 1);
    CHECK_INT(stats.leased, 1);
    CHECK_INT(stats.oldest_waiting_us, 5 * SECOND_US);
    world_close(&world);
}
