/* tests/spec/test_simple_workflow_routing.c - who gets what, and in which order: sections 4.3,
 * 5 and 7.2 of simple-workflow.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "world.h"

#include <pthread.h>
#include <stdlib.h>

static cairn_enqueued add_with_priority(struct world *world, const char *type, int32_t priority)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = type;
    spec.priority = priority;
    return world_add_spec(world, &spec);
}

TEST(lower_priority_numbers_go_first)
{
    const int32_t priorities[] = {100, 5, 2000000000, 1, 50, 0};
    const int32_t wanted[] = {0, 1, 5, 50, 100, 2000000000};
    struct world world;
    world_open(&world);
    for (size_t i = 0; i < 6; i++) {
        add_with_priority(&world, "t", priorities[i]);
        world_advance(&world, 1);
    }
    for (size_t i = 0; i < 6; i++) {
        struct held held = world_take(&world, "w");
        CHECK_INT(world_job(&world, held.id)->priority, wanted[i]);
    }
    world_close(&world);
}

TEST(among_equals_the_one_inserted_first_goes_first)
{
    enum { COUNT = 60 };
    cairn_enqueued jobs[COUNT];
    struct held held[COUNT];
    struct world world;
    world_open(&world);
    /* The clock stands still: only the order of insertion can decide. */
    for (int i = 0; i < COUNT; i++)
        jobs[i] = world_add(&world, i % 3 ? "b" : "a");
    CHECK_INT(world_take_many(&world, "w", "%", COUNT, held), COUNT);
    for (int i = 0; i < COUNT; i++)
        CHECK_STR(held[i].id, jobs[i].id);
    world_close(&world);
}

TEST(the_order_within_a_batch_is_kept)
{
    enum { COUNT = 60 };
    cairn_job_spec specs[COUNT];
    cairn_enqueued jobs[COUNT];
    struct held held[COUNT];
    struct world world;
    world_open(&world);
    for (int i = 0; i < COUNT; i++)
        specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS, specs[i].type = "t";
    CHECK_DONE(&world, cairn_enqueue(world.engine, specs, COUNT, jobs, &world.error));
    CHECK_INT(world_take_many(&world, "w", "%", COUNT, held), COUNT);
    for (int i = 0; i < COUNT; i++)
        CHECK_STR(held[i].id, jobs[i].id);
    world_close(&world);
}

TEST(a_job_that_was_given_back_keeps_its_place)
{
    struct world world;
    world_open(&world);
    cairn_enqueued first = world_add(&world, "t");
    world_add(&world, "t");
    struct held held = world_take(&world, "w");
    CHECK_STR(held.id, first.id);
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_RELEASE, NULL));
    CHECK_STR(world_take(&world, "w").id, first.id);
    world_close(&world);
}

TEST(a_prefix_worker_never_sees_another_type)
{
    const char *others[] = {"billingx.invoice.v1", "billing",         "bill",
                            "content.ocr.v1",      "Billing.invoice", "xbilling.invoice.v1",
                            "billin\xc3\xa9.a",    "billing-a.v1"};
    struct held held[20];
    struct world world;
    world_open(&world);
    for (size_t i = 0; i < 8; i++)
        add_with_priority(&world, others[i], 0);
    cairn_enqueued wanted[3] = {world_add(&world, "billing.invoice.v1"),
                                world_add(&world, "billing.payment.v1"),
                                world_add(&world, "billing.")};
    CHECK_INT(world_take_many(&world, "w", "billing.%", 20, held), 3);
    for (int i = 0; i < 3; i++)
        CHECK_STR(held[i].id, wanted[i].id);
    CHECK_INT(world_take_many(&world, "w", "billing.%", 20, held), 0);
    CHECK_INT(world_take_many(&world, "w", "%", 20, held), 8);
    world_close(&world);
}

TEST(an_exact_type_is_no_prefix)
{
    struct held held[5];
    struct world world;
    world_open(&world);
    world_add(&world, "billing.invoice.v1");
    cairn_enqueued exact = world_add(&world, "billing");
    CHECK_INT(world_take_many(&world, "w", "billing", 5, held), 1);
    CHECK_STR(held[0].id, exact.id);
    world_close(&world);
}

TEST(an_underscore_is_no_pattern)
{
    struct held held[5];
    struct world world;
    world_open(&world);
    world_add(&world, "abc.d");
    cairn_enqueued underscore = world_add(&world, "a_c.d");
    CHECK_INT(world_take_many(&world, "w", "a_c.%", 5, held), 1);
    CHECK_STR(held[0].id, underscore.id);
    CHECK_INT(world_take_many(&world, "w", "a\\_c.%", 5, held), 0);
    world_close(&world);
}

/* What no claim can match is refused; else a worker would wait for ever without a word. */
static const char *const no_patterns[] = {"a%b", "a.%.v1", "%a", "50%%", "%%", "a%b%"};

static void check_no_pattern(const struct world *world, const char *pattern)
{
    CHECK(strstr(world->error.message, pattern) && strstr(world->error.message, "at the end"),
          "%s", world->error.message);
}

TEST(a_percent_sign_elsewhere_than_at_the_end_is_refused_in_a_claim)
{
    struct world world;
    world_open(&world);
    cairn_enqueued literal = world_add(&world, "a%b"); /* a type may have one */
    for (size_t i = 0; i < sizeof no_patterns / sizeof *no_patterns; i++) {
        const char *types[] = {"good.v1", no_patterns[i]};
        cairn_page *tasks = NULL;
        cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
        options.worker = "w";
        options.types = types;
        options.type_count = 2;
        CHECK_REFUSED(&world, cairn_claim(world.engine, &options, &tasks, &world.error),
                      CAIRN_E_BAD_INPUT);
        check_no_pattern(&world, no_patterns[i]);
        CHECK_REFUSED(
            &world,
            cairn_report_many(world.engine, "w", NULL, 0, NULL, &options, &tasks, &world.error),
            CAIRN_E_BAD_INPUT);
    }
    struct held held[5];
    CHECK_INT(world_take_many(&world, "w", "a%", 5, held), 1);
    CHECK_STR(held[0].id, literal.id);
    world_close(&world);
}

TEST(a_percent_sign_elsewhere_than_at_the_end_is_refused_in_a_list)
{
    struct world world;
    world_open(&world);
    for (size_t i = 0; i < sizeof no_patterns / sizeof *no_patterns; i++) {
        cairn_page *jobs = NULL;
        cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
        filter.type = no_patterns[i];
        CHECK_REFUSED(&world, cairn_job_list(world.engine, &filter, &jobs, &world.error),
                      CAIRN_E_BAD_INPUT);
        check_no_pattern(&world, no_patterns[i]);
    }
    world_close(&world);
}

static cairn_outcome never_called(cairn_work *work, void *arg)
{
    (void)work;
    (void)arg;
    return CAIRN_DEAD;
}

TEST(a_percent_sign_elsewhere_than_at_the_end_is_refused_for_a_handler)
{
    struct world world;
    cairn_worker *worker = NULL;
    world_open(&world);
    CHECK_DONE(&world, cairn_worker_new(world.engine, NULL, &worker, &world.error));
    for (size_t i = 0; i < sizeof no_patterns / sizeof *no_patterns; i++) {
        CHECK_REFUSED(
            &world,
            cairn_worker_handle(worker, no_patterns[i], never_called, NULL, &world.error),
            CAIRN_E_BAD_INPUT);
        check_no_pattern(&world, no_patterns[i]);
    }
    CHECK_DONE(&world, cairn_worker_handle(worker, "a.%", never_called, NULL, &world.error));
    cairn_worker_free(worker);
    world_close(&world);
}

/* A claim with all its options; the ids, with a blank between them, in the order brought. */
static cairn_code claim(struct world *world, const char *const *types, size_t count,
                        const char *runtime, cairn_page **ret_tasks)
{
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    options.worker = "w";
    options.types = types;
    options.type_count = count;
    options.runtime = runtime;
    options.max = 50;
    return cairn_claim(world->engine, &options, ret_tasks, &world->error);
}

TEST(several_patterns_share_one_order_and_bring_each_job_once)
{
    const char *types[] = {"billing.%", "billing.invoice.v1", "notify.email.v1", "b%",
                           "none.%"};
    cairn_page *tasks = NULL;
    struct world world;
    world_open(&world);
    cairn_enqueued third = world_add(&world, "billing.invoice.v1");
    cairn_enqueued first = add_with_priority(&world, "notify.email.v1", 1);
    cairn_enqueued fourth = world_add(&world, "billing.payment.v1");
    cairn_enqueued second = add_with_priority(&world, "billing.payment.v1", 2);
    add_with_priority(&world, "content.ocr.v1", 0);
    CHECK_DONE(&world, claim(&world, types, 5, NULL, &tasks));
    CHECK_INT(cairn_page_count(tasks), 4);
    CHECK_STR(cairn_page_task(tasks, 0)->id, first.id);
    CHECK_STR(cairn_page_task(tasks, 1)->id, second.id);
    CHECK_STR(cairn_page_task(tasks, 2)->id, third.id);
    CHECK_STR(cairn_page_task(tasks, 3)->id, fourth.id);
    cairn_page_free(tasks);
    world_close(&world);
}

TEST(a_claim_brings_at_most_what_was_asked_for)
{
    struct held held[4];
    struct world world;
    world_open(&world);
    for (int i = 0; i < 5; i++)
        world_add(&world, "t");
    CHECK_INT(world_take_many(&world, "w", "t", 3, held), 3);
    CHECK_INT(world_take_many(&world, "w", "t", 3, held), 2);
    CHECK_INT(world_take_many(&world, "w", "t", 3, held), 0);
    world_close(&world);
}

enum { CLAIMERS = 8, SHARED_JOBS = 400 };

struct claimer {
    pthread_t thread;
    cairn_engine *engine;
    cairn_code code;
    size_t count;
    char ids[SHARED_JOBS][40];
};

static void *claim_until_empty(void *arg)
{
    struct claimer *claimer = arg;
    const char *everything = "%";
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    options.worker = "w";
    options.types = &everything;
    options.type_count = 1;
    options.max = 7;
    for (;;) {
        cairn_page *tasks = NULL;
        claimer->code = cairn_claim(claimer->engine, &options, &tasks, NULL);
        size_t count = claimer->code ? 0 : cairn_page_count(tasks);
        for (size_t i = 0; i < count && claimer->count < SHARED_JOBS; i++)
            snprintf(claimer->ids[claimer->count++], 40, "%s", cairn_page_task(tasks, i)->id);
        cairn_page_free(tasks);
        if (!count)
            return NULL;
    }
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(a, b);
}

TEST(two_workers_never_hold_the_same_job)
{
    static struct claimer claimers[CLAIMERS];
    static char ids[SHARED_JOBS][40];
    cairn_job_spec specs[SHARED_JOBS];
    static cairn_enqueued enqueued[SHARED_JOBS];
    struct world world;
    world_open_seeded(&world, 0);
    for (int i = 0; i < SHARED_JOBS; i++)
        specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS, specs[i].type = i % 2 ? "a" : "b";
    CHECK_DONE(&world, cairn_enqueue(world.engine, specs, SHARED_JOBS, enqueued, &world.error));

    memset(claimers, 0, sizeof claimers);
    for (int i = 0; i < CLAIMERS; i++) {
        claimers[i].engine = world.engine;
        if (pthread_create(&claimers[i].thread, NULL, claim_until_empty, &claimers[i]))
            abort();
    }
    for (int i = 0; i < CLAIMERS; i++)
        pthread_join(claimers[i].thread, NULL);

    size_t count = 0;
    for (int i = 0; i < CLAIMERS; i++) {
        CHECK_INT(claimers[i].code, CAIRN_OK);
        for (size_t j = 0; j < claimers[i].count && count < SHARED_JOBS; j++)
            memcpy(ids[count++], claimers[i].ids[j], 40);
    }
    CHECK_INT(count, SHARED_JOBS);
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < count; i++)
        CHECK(strcmp(ids[i], ids[i - 1]) != 0, "job %s was brought twice", ids[i]);
    world_close(&world);
}

TEST(an_empty_queue_is_an_answer_and_not_an_error)
{
    const char *types[] = {"t", "t.%"};
    cairn_page *tasks = NULL;
    struct world world;
    world_open(&world);
    CHECK_DONE(&world, claim(&world, types, 2, NULL, &tasks));
    CHECK(tasks != NULL, "there is no answer");
    CHECK_INT(cairn_page_count(tasks), 0);
    cairn_page_free(tasks);
    world_close(&world);
}

/* ---- The registry ------------------------------------------------------------------------ */

static void put(struct world *world, const char *name, const char *runtime, int is_enabled)
{
    cairn_registry_spec entry = {.size = sizeof(cairn_registry_spec),
                                 .workflow_name = name,
                                 .runtime = runtime,
                                 .is_enabled = is_enabled};
    CHECK_DONE(world, cairn_registry_put(world->engine, &entry, &world->error));
}

TEST(a_disabled_type_is_not_claimed_until_it_is_enabled)
{
    struct held held[5];
    struct world world;
    world_open(&world);
    put(&world, "billing.invoice.v1", "go", 0);
    cairn_enqueued disabled = add_with_priority(&world, "billing.invoice.v1", 1);
    cairn_enqueued other = world_add(&world, "billing.payment.v1");
    CHECK_INT(world_take_many(&world, "w", "billing.invoice.v1", 5, held), 0);
    CHECK_INT(world_take_many(&world, "w", "billing.%", 5, held), 1);
    CHECK_STR(held[0].id, other.id);
    world_check_status(&world, disabled.id, "pending");

    put(&world, "billing.invoice.v1", "go", 1);
    CHECK_INT(world_take_many(&world, "w", "billing.%", 5, held), 1);
    CHECK_STR(held[0].id, disabled.id);
    world_close(&world);
}

TEST(another_runtimes_type_is_refused_when_it_is_named)
{
    const char *types[] = {"notify.email.v1", "billing.invoice.v1"};
    cairn_page *tasks = NULL;
    struct world world;
    world_open(&world);
    put(&world, "billing.invoice.v1", "go", 1);
    world_add(&world, "billing.invoice.v1");
    cairn_enqueued mail = world_add(&world, "notify.email.v1");
    CHECK_REFUSED(&world, claim(&world, types, 2, "python", &tasks), CAIRN_E_WRONG_RUNTIME);
    CHECK(strstr(world.error.message, "billing.invoice.v1"), "the message is \"%s\"",
          world.error.message);
    world_check_status(&world, mail.id, "pending");
    world_close(&world);
}

TEST(another_runtimes_type_is_not_brought_by_a_prefix)
{
    const char *types[] = {"billing.%"};
    cairn_page *tasks = NULL;
    struct world world;
    world_open(&world);
    put(&world, "billing.invoice.v1", "go", 1);
    put(&world, "billing.payment.v1", "python", 1);
    cairn_enqueued go = add_with_priority(&world, "billing.invoice.v1", 1);
    cairn_enqueued python = world_add(&world, "billing.payment.v1");
    cairn_enqueued unowned = world_add(&world, "billing.refund.v1");

    CHECK_DONE(&world, claim(&world, types, 1, "python", &tasks));
    CHECK_INT(cairn_page_count(tasks), 2);
    CHECK_STR(cairn_page_task(tasks, 0)->id, python.id);
    CHECK_STR(cairn_page_task(tasks, 1)->id, unowned.id);
    cairn_page_free(tasks);

    CHECK_DONE(&world, claim(&world, types, 1, "go", &tasks));
    CHECK_INT(cairn_page_count(tasks), 1);
    CHECK_STR(cairn_page_task(tasks, 0)->id, go.id);
    cairn_page_free(tasks);
    world_close(&world);
}

TEST(a_type_moves_between_runtimes_and_its_producer_does_not_notice)
{
    const char *types[] = {"billing.invoice.v1"};
    cairn_page *tasks = NULL;
    struct world world;
    world_open(&world);
    put(&world, "billing.invoice.v1", "go", 1);
    cairn_enqueued job = world_add(&world, "billing.invoice.v1");
    put(&world, "billing.invoice.v1", "python", 1);
    CHECK_REFUSED(&world, claim(&world, types, 1, "go", &tasks), CAIRN_E_WRONG_RUNTIME);
    CHECK_DONE(&world, claim(&world, types, 1, "python", &tasks));
    CHECK_INT(cairn_page_count(tasks), 1);
    CHECK_STR(cairn_page_task(tasks, 0)->id, job.id);
    cairn_page_free(tasks);
    world_close(&world);
}

TEST(a_worker_that_names_no_runtime_takes_any)
{
    struct world world;
    world_open(&world);
    put(&world, "billing.invoice.v1", "go", 1);
    cairn_enqueued job = world_add(&world, "billing.invoice.v1");
    CHECK_STR(world_take(&world, "w").id, job.id);
    world_close(&world);
}

TEST(the_registry_keeps_one_runtime_for_a_name)
{
    cairn_page *registry = NULL;
    struct world world;
    world_open(&world);
    put(&world, "notify.email.v1", "go", 1);
    put(&world, "billing.invoice.v1", "python", 0);
    world_advance(&world, 1000);
    cairn_registry_spec entry = {.size = sizeof(cairn_registry_spec),
                                 .workflow_name = "notify.email.v1",
                                 .runtime = "python",
                                 .is_enabled = true,
                                 .description = "moved"};
    CHECK_DONE(&world, cairn_registry_put(world.engine, &entry, &world.error));
    world_reopen(&world);

    CHECK_DONE(&world, cairn_registry_list(world.engine, NULL, 100, &registry, &world.error));
    CHECK_INT(cairn_page_count(registry), 2);
    const cairn_registry_entry *first = cairn_page_registry_entry(registry, 0);
    const cairn_registry_entry *second = cairn_page_registry_entry(registry, 1);
    CHECK_STR(first->workflow_name, "billing.invoice.v1");
    CHECK_STR(first->intent_type, "workflow");
    CHECK_STR(first->runtime, "python");
    CHECK_INT(first->is_enabled, 0);
    CHECK(!first->description, "there is a description: %s", first->description);
    CHECK_STR(second->workflow_name, "notify.email.v1");
    CHECK_STR(second->runtime, "python");
    CHECK_STR(second->description, "moved");
    CHECK_INT(second->is_enabled, 1);
    CHECK_INT(second->created_at_us, START_US);
    CHECK_INT(second->updated_at_us, START_US + SECOND_US);
    cairn_page_free(registry);
    world_close(&world);
}

TEST(the_registry_is_read_page_by_page)
{
    const char *names[] = {"a.v1", "b.v1", "c.v1", "d.v1", "e.v1"};
    struct world world;
    world_open(&world);
    for (int i = 4; i >= 0; i--)
        put(&world, names[i], "c", 1);
    char cursor[300] = "";
    int seen = 0;
    for (;;) {
        cairn_page *page = NULL;
        CHECK_DONE(&world, cairn_registry_list(world.engine, cursor[0] ? cursor : NULL, 2,
                                               &page, &world.error));
        for (size_t i = 0; i < cairn_page_count(page); i++, seen++)
            CHECK_STR(cairn_page_registry_entry(page, i)->workflow_name, names[seen]);
        const char *next = cairn_page_next(page);
        snprintf(cursor, sizeof cursor, "%s", next ? next : "");
        cairn_page_free(page);
        if (!cursor[0])
            break;
    }
    CHECK_INT(seen, 5);
    world_close(&world);
}
