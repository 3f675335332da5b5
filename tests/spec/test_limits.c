/* tests/spec/test_limits.c - limits and groups, on every URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "everywhere.h"

#include <pthread.h>
#include <stdlib.h>

static const char *const only_t[] = {"t.v1"}, *const everything[] = {"%"};

/* ---- saying it shortly ----------------------------------------------------------------------- */

static void advance(struct world *world, int64_t ms)
{
    CHECK_DONE(world, cairn_clock_advance(world->engine, ms, NULL, &world->error));
}

static void put(struct world *world, cairn_limit_spec spec)
{
    spec.size = sizeof spec;
    CHECK_DONE(world, cairn_limit_put(world->engine, &spec, &world->error));
}

static void add(struct world *world, const char *type, const char *group, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
        spec.type = type;
        spec.group = group;
        CHECK_DONE(world, cairn_enqueue(world->engine, &spec, 1, NULL, &world->error));
    }
}

static cairn_page *claim(struct world *world, const char *const *types, uint32_t max)
{
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    cairn_page *tasks;
    options.worker = "w";
    options.types = types;
    options.type_count = 1;
    options.max = max;
    options.lease_ms = 30000;
    CHECK_DONE(world, cairn_claim(world->engine, &options, &tasks, &world->error));
    return tasks;
}

static const char *group_of(struct world *world, const char *id, char group[32])
{
    cairn_page *page;
    CHECK_DONE(world, cairn_job_get(world->engine, id, &page, &world->error));
    snprintf(group, 32, "%s", cairn_page_job(page, 0)->group);
    cairn_page_free(page);
    return group;
}

/* Claims, and compares the groups of what came, "a b a". */
static cairn_page *claim_groups(struct world *world, const char *const *types, uint32_t max,
                                const char *wanted)
{
    char seen[1024] = "", group[32];
    cairn_page *tasks = claim(world, types, max);
    for (size_t i = 0; i < cairn_page_count(tasks); i++) {
        strcat(seen, i ? " " : "");
        strcat(seen, group_of(world, cairn_page_task(tasks, i)->id, group));
    }
    CHECK_STR(seen, wanted);
    return tasks;
}

static void check_claimed(struct world *world, uint32_t max, size_t wanted)
{
    cairn_page *tasks = claim(world, only_t, max);
    CHECK_INT(cairn_page_count(tasks), wanted);
    cairn_page_free(tasks);
}

static void report(struct world *world, const cairn_page *tasks, size_t index,
                   cairn_outcome outcome)
{
    const cairn_task *task = cairn_page_task(tasks, index);
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.task_id = task->id;
    report.token = task->token;
    report.outcome = outcome;
    if (outcome == CAIRN_RETRY)
        report.delay_ms = 0;
    if (outcome != CAIRN_COMPLETE && outcome != CAIRN_RELEASE)
        report.error = "no";
    CHECK_DONE(world, cairn_report_many(world->engine, "w", &report, 1, NULL, NULL, NULL,
                                        &world->error));
}

/* ---- places ---------------------------------------------------------------------------------- */

TEST(no_more_are_leased_than_a_limit_says)
{
    struct world world;
    open_virtual_world(&world);
    put(&world, (cairn_limit_spec){.name = "l", .types = "t.v1", .concurrency = 2});
    add(&world, "t.v1", NULL, 5);
    cairn_page *first = claim(&world, only_t, 10);
    CHECK_INT(cairn_page_count(first), 2);
    check_claimed(&world, 10, 0);
    report(&world, first, 0, CAIRN_COMPLETE);
    check_claimed(&world, 10, 1);
    cairn_page_free(first);
    close_world(&world);
}

TEST(jobs_that_follow_each_other_are_counted_each)
{
    struct world world;
    open_virtual_world(&world);
    put(&world, (cairn_limit_spec){.name = "l", .types = "t.v1", .concurrency = 1});
    add(&world, "s.v1", "g", 1); /* leased together with the next one, and not counted */
    add(&world, "t.v1", "g", 2);
    cairn_page *tasks = claim(&world, everything, 8);
    CHECK_INT(cairn_page_count(tasks), 2);
    check_claimed(&world, 10, 0);
    cairn_page_free(tasks);
    close_world(&world);
}

TEST(every_end_of_a_lease_gives_its_place_back)
{
    static const cairn_outcome outcomes[] = {CAIRN_COMPLETE, CAIRN_FAIL, CAIRN_RETRY,
                                             CAIRN_DEAD, CAIRN_RELEASE};
    struct world world;
    open_virtual_world(&world);
    put(&world, (cairn_limit_spec){.name = "l", .types = "t.%", .concurrency = 1});
    add(&world, "t.v1", "a", 20);
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        cairn_page *tasks = claim(&world, only_t, 10);
        CHECK_INT(cairn_page_count(tasks), 1);
        check_claimed(&world, 10, 0);
        report(&world, tasks, 0, outcomes[i]);
        cairn_page_free(tasks);
    }
    check_claimed(&world, 10, 1);
    advance(&world, 30001); /* the lease is lost */
    cairn_page *tasks = claim(&world, only_t, 10);
    CHECK_INT(cairn_page_count(tasks), 1);
    CHECK_DONE(&world,
               cairn_job_cancel(world.engine, cairn_page_task(tasks, 0)->id, &world.error));
    cairn_page_free(tasks);
    tasks = claim(&world, only_t, 10);
    CHECK_INT(cairn_page_count(tasks), 1);
    CHECK_DONE(&world,
               cairn_job_delete(world.engine, cairn_page_task(tasks, 0)->id, &world.error));
    cairn_page_free(tasks);
    check_claimed(&world, 10, 1);
    close_world(&world);
}

TEST(a_limit_for_each_group_counts_each)
{
    struct world world;
    open_virtual_world(&world);
    put(&world,
        (cairn_limit_spec){.name = "l", .types = "t.%", .concurrency = 2, .per_group = true});
    add(&world, "t.v1", "a", 4);
    add(&world, "t.v1", "b", 1);
    add(&world, "t.v1", NULL, 3);
    add(&world, "t.v1", "c", 3);
    cairn_page *tasks = claim_groups(&world, only_t, 10, " a b c  a c");
    cairn_page_free(claim_groups(&world, only_t, 10, ""));
    report(&world, tasks, 3, CAIRN_COMPLETE); /* c */
    report(&world, tasks, 2, CAIRN_COMPLETE); /* b, which has no more */
    cairn_page_free(claim_groups(&world, only_t, 10, "c"));
    cairn_page_free(tasks);
    close_world(&world);
}

TEST(all_limits_that_match_must_allow)
{
    struct world world;
    open_virtual_world(&world);
    put(&world, (cairn_limit_spec){.name = "all", .types = "%", .concurrency = 3});
    put(&world, (cairn_limit_spec){
                    .name = "each", .types = "t.%", .concurrency = 2, .per_group = true});
    add(&world, "t.v1", "a", 4);
    add(&world, "t.v2", "a", 4);
    add(&world, "u", "a", 4);
    cairn_page *tasks = claim(&world, everything, 10);
    CHECK_INT(cairn_page_count(tasks), 3);
    size_t of_t = 0;
    for (size_t i = 0; i < 3; i++)
        of_t += cairn_page_task(tasks, i)->type[0] == 't';
    CHECK_INT(of_t, 2);
    cairn_page_free(claim_groups(&world, everything, 10, ""));
    cairn_page_free(tasks);
    CHECK_DONE(&world, cairn_limit_delete(world.engine, "all", &world.error));
    tasks = claim(&world, everything, 10); /* u alone is free */
    CHECK_INT(cairn_page_count(tasks), 3);
    cairn_page_free(tasks);
    CHECK_DONE(&world, cairn_limit_delete(world.engine, "each", &world.error));
    tasks = claim(&world, everything, 10);
    CHECK_INT(cairn_page_count(tasks), 6);
    cairn_page_free(tasks);
    close_world(&world);
}

TEST(what_is_leased_when_a_limit_is_set_counts)
{
    struct world world;
    open_virtual_world(&world);
    add(&world, "t.v1", NULL, 9);
    cairn_page *tasks = claim(&world, only_t, 3);
    CHECK_INT(cairn_page_count(tasks), 3);
    put(&world, (cairn_limit_spec){.name = "l", .types = "t.%", .concurrency = 3});
    check_claimed(&world, 9, 0);
    put(&world, (cairn_limit_spec){.name = "l", .types = "t.%", .concurrency = 4});
    check_claimed(&world, 9, 1);
    report(&world, tasks, 0, CAIRN_COMPLETE);
    put(&world, (cairn_limit_spec){.name = "l", .types = "t.%", .concurrency = 2});
    check_claimed(&world, 9, 0);
    cairn_page_free(tasks);
    close_world(&world);
}

/* ---- turns ----------------------------------------------------------------------------------- */

TEST(groups_take_turns_without_a_limit)
{
    struct world world;
    open_virtual_world(&world);
    add(&world, "t.v1", "a", 4);
    add(&world, "t.v1", "b", 2);
    add(&world, "t.v1", "c", 1);
    cairn_page_free(claim_groups(&world, only_t, 1, "a"));
    cairn_page_free(claim_groups(&world, only_t, 1, "b"));
    cairn_page_free(claim_groups(&world, only_t, 1, "c"));
    cairn_page_free(claim_groups(&world, only_t, 10, "a b a a"));
    close_world(&world);
}

TEST(within_a_group_priority_and_age_decide)
{
    static const int32_t priorities[] = {50, 10, 50, 10};
    struct world world;
    open_virtual_world(&world);
    for (size_t i = 0; i < 4; i++) {
        cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
        char payload[16];
        snprintf(payload, sizeof payload, "%zu", i);
        spec.type = "t.v1";
        spec.group = "a";
        spec.priority = priorities[i];
        spec.payload = payload;
        CHECK_DONE(&world, cairn_enqueue(world.engine, &spec, 1, NULL, &world.error));
    }
    cairn_page *tasks = claim(&world, only_t, 10);
    CHECK_INT(cairn_page_count(tasks), 4);
    CHECK_STR(cairn_page_task(tasks, 0)->input, "1");
    CHECK_STR(cairn_page_task(tasks, 1)->input, "3");
    CHECK_STR(cairn_page_task(tasks, 2)->input, "0");
    CHECK_STR(cairn_page_task(tasks, 3)->input, "2");
    cairn_page_free(tasks);
    close_world(&world);
}

TEST(types_with_and_without_lanes_share_a_claim)
{
    struct world world;
    open_virtual_world(&world);
    add(&world, "plain", NULL, 20);
    add(&world, "t.v1", "a", 20);
    size_t of_t = 0;
    for (size_t i = 0; i < 10; i++) {
        cairn_page *tasks = claim(&world, everything, 2);
        CHECK_INT(cairn_page_count(tasks), 2);
        for (size_t k = 0; k < 2; k++)
            of_t += cairn_page_task(tasks, k)->type[0] == 't';
        cairn_page_free(tasks);
    }
    CHECK(of_t >= 9 && of_t <= 10, "%zu of 20 are of the type with groups", of_t);
    for (size_t i = 0; i < 20; i++) {
        cairn_page *tasks = claim(&world, everything, 1);
        CHECK_INT(cairn_page_count(tasks), 1);
        cairn_page_free(tasks);
    }
    check_claimed(&world, 1, 0);
    close_world(&world);
}

/* More groups than are listed at once, of two types, each of which is served once in a round. */
TEST(no_group_is_passed_over)
{
    enum { GROUPS = 150 };
    struct world world;
    bool is_seen[2][GROUPS] = {0};
    char group[32];
    open_virtual_world(&world);
    put(&world,
        (cairn_limit_spec){.name = "l", .types = "t.%", .concurrency = 2, .per_group = true});
    for (int i = 0; i < GROUPS; i++) {
        snprintf(group, sizeof group, "g%03d", i);
        add(&world, "t.v1", group, 2);
        if (i % 2)
            add(&world, "t.v2", group, 1);
    }
    for (int taken = 0; taken < 2 * GROUPS;) {
        cairn_page *tasks = claim(&world, everything, 7);
        CHECK(cairn_page_count(tasks) > 0, "nothing came after %d", taken);
        for (size_t i = 0; i < cairn_page_count(tasks); i++, taken++) {
            const cairn_task *task = cairn_page_task(tasks, i);
            int number = atoi(group_of(&world, task->id, group) + 1);
            is_seen[task->type[3] == '2'][number] = true;
        }
        cairn_page_free(tasks);
    }
    check_claimed(&world, 7, 0);
    for (int i = 0; i < GROUPS; i++)
        CHECK(is_seen[0][i] || is_seen[1][i], "group %d was passed over", i);
    close_world(&world);
}

/* Two processes that claim by turns: each goes on where the other one has ended. */
TEST(groups_take_turns_over_all_processes)
{
    static const char *const wanted[] = {"a b", "c d", "e a", "b c", "d e", ""};
    struct world world, other;
    open_world(&world);
    other = world;
    if (world.other)
        other.engine = world.other;
    put(&world,
        (cairn_limit_spec){.name = "l", .types = "t.v1", .concurrency = 2, .per_group = true});
    for (const char *group = "a\0b\0c\0d\0e\0"; *group; group += 2)
        add(&world, "t.v1", group, 3);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        cairn_page_free(claim_groups(i % 2 ? &other : &world, only_t, 2, wanted[i]));
    close_world(&world);
}

/* ---- rates ----------------------------------------------------------------------------------- */

TEST(a_rate_is_a_bucket_of_tokens)
{
    struct world world;
    open_virtual_world(&world);
    put(&world,
        (cairn_limit_spec){.name = "l", .types = "t.%", .rate_n = 2, .rate_per_ms = 10000});
    add(&world, "t.v1", NULL, 20);
    check_claimed(&world, 10, 2);
    advance(&world, 4999);
    check_claimed(&world, 10, 0);
    advance(&world, 1);
    check_claimed(&world, 10, 1);
    advance(&world, 9000);
    check_claimed(&world, 1, 1);
    advance(&world, 1000);
    check_claimed(&world, 10, 1);
    advance(
        &world,
        60000); /* no more than are in a bucket; the leases were lost, and that is no matter */
    check_claimed(&world, 10, 2);
    close_world(&world);
}

TEST(a_retry_takes_a_token_and_a_release_gives_one_back)
{
    struct world world;
    open_virtual_world(&world);
    put(&world,
        (cairn_limit_spec){
            .name = "l", .types = "t.%", .rate_n = 3, .rate_per_ms = 30000, .per_group = true});
    add(&world, "t.v1", "a", 1);
    cairn_page *tasks = claim(&world, only_t, 1);
    report(&world, tasks, 0, CAIRN_RELEASE);
    cairn_page_free(tasks);
    for (size_t i = 0; i < 2; i++) {
        tasks = claim(&world, only_t, 1);
        CHECK_INT(cairn_page_count(tasks), 1);
        report(&world, tasks, 0, CAIRN_RETRY);
        cairn_page_free(tasks);
    }
    tasks = claim(&world, only_t, 1);
    CHECK_INT(cairn_page_count(tasks), 1);
    report(&world, tasks, 0, CAIRN_COMPLETE);
    cairn_page_free(tasks);
    add(&world, "t.v1", "a", 1);
    check_claimed(&world, 1, 0);
    add(&world, "t.v1", "b", 1); /* has tokens of its own */
    check_claimed(&world, 1, 1);
    advance(&world, 10000);
    check_claimed(&world, 5, 1);
    close_world(&world);
}

/* ---- waiting --------------------------------------------------------------------------------- */

struct waiting {
    cairn_engine *engine;
    size_t count;
    cairn_error error;
    cairn_code code;
};

static void wait_for_one(void *arg)
{
    struct waiting *waiting = arg;
    cairn_claim_options options = claim_by("waiter", 1, PATIENCE_MS);
    cairn_page *tasks = NULL;
    waiting->code = cairn_claim(waiting->engine, &options, &tasks, &waiting->error);
    waiting->count = waiting->code ? 0 : cairn_page_count(tasks);
    cairn_page_free(tasks);
}

/* What ends a lease, but for the end of its time. */
static void complete(struct world *world, const cairn_page *tasks)
{
    report(world, tasks, 0, CAIRN_COMPLETE);
}

static void cancel(struct world *world, const cairn_page *tasks)
{
    CHECK_DONE(world,
               cairn_job_cancel(world->engine, cairn_page_task(tasks, 0)->id, &world->error));
}

static void delete (struct world *world, const cairn_page *tasks)
{
    CHECK_DONE(world,
               cairn_job_delete(world->engine, cairn_page_task(tasks, 0)->id, &world->error));
}

static void check_woken_by(struct world *world, cairn_engine *waiter,
                           void (*end)(struct world *, const cairn_page *))
{
    struct sleeper sleeper;
    struct waiting waiting = {.engine = waiter};
    put(world, (cairn_limit_spec){.name = "l", .types = "t.%", .concurrency = 1});
    add(world, "t.v1", "a", 2);
    cairn_page *tasks = claim(world, only_t, 1);
    CHECK_INT(cairn_page_count(tasks), 1);
    sleeper_start(&sleeper, wait_for_one, &waiting);
    sleeper_await(&sleeper);
    end(world, tasks);
    sleeper_join(&sleeper);
    CHECK(waiting.code == CAIRN_OK, "%s", waiting.error.message);
    CHECK_INT(waiting.count, 1);
    cairn_page_free(tasks);
}

TEST(a_claim_that_waits_is_woken_by_a_place)
{
    struct world world;
    open_world(&world);
    check_woken_by(&world, world.engine, complete);
    close_world(&world);
}

TEST(a_claim_that_waits_is_woken_by_a_cancel)
{
    struct world world;
    open_world(&world);
    check_woken_by(&world, world.engine, cancel);
    close_world(&world);
}

TEST(a_claim_that_waits_is_woken_by_a_deletion)
{
    struct world world;
    open_world(&world);
    check_woken_by(&world, world.engine, delete);
    close_world(&world);
}

TEST(a_claim_in_another_process_is_woken_by_a_place)
{
    struct world world;
    open_world(&world);
    if (world.other)
        check_woken_by(&world, world.other, complete);
    close_world(&world);
}

TEST(a_claim_that_waits_is_woken_by_a_token)
{
    struct world world;
    struct waiting waiting = {0};
    open_world(&world);
    put(&world,
        (cairn_limit_spec){.name = "l", .types = "t.%", .rate_n = 10, .rate_per_ms = 2000});
    add(&world, "t.v1", NULL, 11);
    check_claimed(&world, 10, 10);
    waiting.engine = world.engine;
    wait_for_one(&waiting);
    CHECK_INT(waiting.count, 1);
    close_world(&world);
}

/* ---- many at once ---------------------------------------------------------------------------- */

enum { HANDS = 4, HAND_JOBS = 60, HAND_GROUPS = 3, HAND_LIMIT = 2 };

struct hands {
    struct world *world;
    atomic_int running[HAND_GROUPS], most, done, next;
    cairn_error error;
};

static void *work(void *arg)
{
    struct hands *hands = arg;
    struct world *world = hands->world;
    bool is_other = atomic_fetch_add(&hands->next, 1) % 2 && world->other;
    cairn_engine *engine = is_other ? world->other : world->engine;
    while (atomic_load(&hands->done) < HAND_JOBS) {
        cairn_claim_options options = claim_by("w", 3, 20);
        cairn_page *tasks;
        cairn_error error;
        if (cairn_claim(engine, &options, &tasks, &error)) {
            hands->error = error;
            return NULL;
        }
        for (size_t i = 0; i < cairn_page_count(tasks); i++) {
            int now = 1 + atomic_fetch_add(
                              &hands->running[atoi(cairn_page_task(tasks, i)->input)], 1);
            int most = atomic_load(&hands->most);
            while (now > most && !atomic_compare_exchange_weak(&hands->most, &most, now))
                ;
        }
        for (size_t i = 0; i < cairn_page_count(tasks); i++) {
            const cairn_task *task = cairn_page_task(tasks, i);
            cairn_report report = CAIRN_REPORT_DEFAULTS;
            report.task_id = task->id;
            report.token = task->token;
            atomic_fetch_sub(&hands->running[atoi(task->input)], 1);
            if (cairn_report_many(engine, "w", &report, 1, NULL, NULL, NULL, &error))
                hands->error = error;
            atomic_fetch_add(&hands->done, 1);
        }
        cairn_page_free(tasks);
    }
    return NULL;
}

TEST(many_workers_of_several_engines_keep_to_a_limit)
{
    struct world world;
    struct hands hands = {.world = &world};
    pthread_t threads[HANDS];
    open_world(&world);
    put(&world, (cairn_limit_spec){
                    .name = "l", .types = "t.%", .concurrency = HAND_LIMIT, .per_group = true});
    for (int i = 0; i < HAND_JOBS; i++) {
        cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
        char group[8];
        snprintf(group, sizeof group, "%d", i % HAND_GROUPS);
        spec.type = "t.v1";
        spec.group = spec.payload = group;
        CHECK_DONE(&world, cairn_enqueue(world.engine, &spec, 1, NULL, &world.error));
    }
    for (size_t i = 0; i < HANDS; i++)
        pthread_create(&threads[i], NULL, work, &hands);
    for (size_t i = 0; i < HANDS; i++)
        pthread_join(threads[i], NULL);
    CHECK_STR(hands.error.message, "");
    CHECK_INT(hands.done, HAND_JOBS);
    CHECK(hands.most <= HAND_LIMIT, "%d were leased at one time", hands.most);
    close_world(&world);
}

/* ---- what is asked about limits -------------------------------------------------------------- */

static void check_why(struct world *world, const char *wanted)
{
    cairn_page *jobs, *job;
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    filter.status = "pending";
    CHECK_DONE(world, cairn_job_list(world->engine, &filter, &jobs, &world->error));
    CHECK_DONE(world,
               cairn_job_get(world->engine, cairn_page_job(jobs, 0)->id, &job, &world->error));
    CHECK_STR(cairn_page_job(job, 0)->why->text, wanted);
    cairn_page_free(job);
    cairn_page_free(jobs);
}

TEST(a_job_says_which_limit_keeps_it_back)
{
    struct world world;
    open_virtual_world(&world);
    put(&world, (cairn_limit_spec){
                    .name = "mails", .types = "t.%", .concurrency = 1, .per_group = true});
    add(&world, "t.v1", "acme", 2);
    cairn_page *tasks = claim(&world, only_t, 10);
    check_why(&world, "Waits for a place: mails allows 1 at a time for acme.");
    report(&world, tasks, 0, CAIRN_COMPLETE);
    check_why(&world, "Is about to be taken.");
    cairn_page_free(tasks);
    close_world(&world);
}

TEST(a_job_says_which_part_of_a_limit_keeps_it_back)
{
    struct world world;
    open_virtual_world(&world);
    put(&world, (cairn_limit_spec){.name = "mails",
                                   .types = "t.%",
                                   .concurrency = 1,
                                   .rate_n = 2,
                                   .rate_per_ms = 60000});
    add(&world, "t.v1", NULL, 3);
    cairn_page *tasks = claim(&world, only_t, 10);
    check_why(&world, "Waits for a place: mails allows 1 at a time.");
    report(&world, tasks, 0, CAIRN_COMPLETE);
    cairn_page_free(tasks);
    tasks = claim(&world, only_t, 10);
    report(&world, tasks, 0, CAIRN_COMPLETE);
    check_why(&world, "Waits for its time: mails lets 2 begin in 1m 0s.");
    cairn_page_free(tasks);
    close_world(&world);
}

TEST(limits_are_listed_and_removed)
{
    struct world world;
    cairn_page *page;
    open_virtual_world(&world);
    put(&world, (cairn_limit_spec){.name = "b", .types = "b", .concurrency = 7});
    put(&world,
        (cairn_limit_spec){
            .name = "a", .types = "a.%", .rate_n = 5, .rate_per_ms = 60000, .per_group = true});
    CHECK_DONE(&world, cairn_limit_list(world.engine, NULL, 10, &page, &world.error));
    CHECK_INT(cairn_page_count(page), 2);
    const cairn_limit *a = cairn_page_limit(page, 0), *b = cairn_page_limit(page, 1);
    CHECK_STR(a->name, "a");
    CHECK_STR(a->types, "a.%");
    CHECK(a->rate && a->rate->n == 5 && a->rate->per_ms == 60000 && a->per_group &&
              a->concurrency == 0,
          "the limit a is another one");
    CHECK(!b->rate && b->concurrency == 7 && !b->per_group, "the limit b is another one");
    cairn_page_free(page);
    CHECK_DONE(&world, cairn_limit_list(world.engine, "a", 10, &page, &world.error));
    CHECK_INT(cairn_page_count(page), 1);
    cairn_page_free(page);
    CHECK_DONE(&world, cairn_limit_delete(world.engine, "a", &world.error));
    CHECK_INT(cairn_limit_delete(world.engine, "a", &world.error), CAIRN_E_NOT_FOUND);
    CHECK_INT(cairn_limit_get(world.engine, "a", &page, &world.error), CAIRN_E_NOT_FOUND);
    CHECK_STR(world.error.message, "limit \"a\" does not exist");
    close_world(&world);
}

static void check_use(struct world *world, const char *name, int taken, int waiting)
{
    cairn_page *page;
    CHECK_DONE(world, cairn_limit_get(world->engine, name, &page, &world->error));
    CHECK_INT(cairn_page_limit(page, 0)->taken, taken);
    CHECK_INT(cairn_page_limit(page, 0)->waiting, waiting);
    cairn_page_free(page);
    CHECK_DONE(world, cairn_limit_list(world->engine, NULL, 10, &page, &world->error));
    for (size_t i = 0; i < cairn_page_count(page); i++) {
        const cairn_limit *limit = cairn_page_limit(page, i);
        if (strcmp(limit->name, name) != 0)
            continue;
        CHECK_INT(limit->taken, taken);
        CHECK_INT(limit->waiting, waiting);
    }
    cairn_page_free(page);
}

TEST(a_limit_says_what_is_taken_and_what_waits)
{
    struct world world;
    open_virtual_world(&world);
    put(&world, (cairn_limit_spec){.name = "all", .types = "%", .concurrency = 100});
    put(&world,
        (cairn_limit_spec){.name = "t", .types = "t.%", .concurrency = 1, .per_group = true});
    put(&world,
        (cairn_limit_spec){.name = "none", .types = "x", .rate_n = 1, .rate_per_ms = 1});
    add(&world, "t.v1", "a", 3);
    add(&world, "t.v1", "b", 2);
    add(&world, "u.v1", NULL, 4);
    check_use(&world, "t", 0, 5);
    cairn_page *tasks = claim(&world, only_t, 10);
    CHECK_INT(cairn_page_count(tasks), 2);
    check_use(&world, "t", 2, 3);
    check_use(&world, "all", 2, 7);
    check_use(&world, "none", 0, 0);
    report(&world, tasks, 0, CAIRN_COMPLETE);
    check_use(&world, "t", 1, 3);
    advance(&world, 31000); /* the other lease is lost */
    check_use(&world, "t", 0, 4);
    cairn_page_free(tasks);
    close_world(&world);
}

static void check_finding(struct world *world, const char *result, const char *part)
{
    cairn_page *page;
    bool is_found = false;
    CHECK_DONE(world, cairn_doctor(world->engine, &page, &world->error));
    for (size_t i = 0; i < cairn_page_count(page); i++) {
        const cairn_finding *finding = cairn_page_finding(page, i);
        is_found |= strcmp(finding->check, "limits") == 0 &&
                    strcmp(finding->result, result) == 0 && strstr(finding->text, part);
    }
    CHECK(is_found, "the doctor does not say: %s", part);
    cairn_page_free(page);
}

TEST(the_doctor_tells_of_limits_that_are_full_for_long_or_match_nothing)
{
    struct world world;
    open_virtual_world(&world);
    put(&world, (cairn_limit_spec){.name = "t", .types = "t.%", .concurrency = 1});
    check_finding(&world, "warning", "such as \"t\" for \"t.%\"");
    add(&world, "t.v1", "a", 3);
    cairn_page_free(claim(&world, only_t, 1));
    check_finding(&world, "ok", "1 limit is set");
    advance(&world, 61 * 60 * 1000);
    cairn_page_free(claim(&world, only_t, 1));
    check_finding(&world, "warning", "1 tasks have places, 2 wait, the oldest for 36");
    put(&world, (cairn_limit_spec){.name = "t", .types = "t.%", .concurrency = 2});
    check_finding(&world, "ok", "1 limit is set");
    close_world(&world);
}

TEST(what_is_no_limit_is_refused)
{
    static const cairn_limit_spec bad[] = {
        {.types = "t", .concurrency = 1},
        {.name = "l", .concurrency = 1},
        {.name = "l", .types = "t%x", .concurrency = 1},
        {.name = "l", .types = "t"},
        {.name = "l", .types = "t", .rate_n = 1},
        {.name = "l", .types = "t", .rate_per_ms = 1},
        {.name = "l", .types = "t", .concurrency = -1},
        {.name = "l", .types = "t", .rate_n = 1, .rate_per_ms = INT64_MAX},
    };
    struct world world;
    open_virtual_world(&world);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cairn_limit_spec spec = bad[i];
        spec.size = sizeof spec;
        CHECK_INT(cairn_limit_put(world.engine, &spec, &world.error), CAIRN_E_BAD_INPUT);
    }
    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    char group[200];
    memset(group, 'g', sizeof group);
    group[129] = '\0';
    job.type = "t";
    job.group = group;
    CHECK(cairn_enqueue(world.engine, &job, 1, NULL, &world.error) != CAIRN_OK,
          "a group is too long");
    close_world(&world);
}

/* More groups are full than are looked at together, beside a type of which the whole store has no place left. */
TEST(a_group_with_a_place_is_found_behind_many_that_are_full)
{
    static const char *const both[] = {"t.%"};
    enum { FULL = 70 };
    struct world world;
    char group[32];
    open_virtual_world(&world);
    put(&world, (cairn_limit_spec){
                    .name = "each", .types = "t.a", .concurrency = 1, .per_group = true});
    put(&world, (cairn_limit_spec){.name = "all", .types = "t.b", .concurrency = 1});
    for (int i = 0; i < FULL; i++) {
        snprintf(group, sizeof group, "g%02d", i);
        add(&world, "t.a", group, 2);
    }
    add(&world, "t.b", "a", 2);
    cairn_page *tasks = claim(&world, both, 100);
    CHECK_INT(cairn_page_count(tasks), FULL + 1);
    cairn_page_free(tasks);
    add(&world, "t.a", "g68x", 1); /* before the one that was served last */
    cairn_page_free(claim_groups(&world, both, 1, "g68x"));
    close_world(&world);
}

/* Each group has less than it would be allowed, and the claim has room for more. */
TEST(a_claim_pays_for_what_it_is_given_and_not_for_what_it_was_allowed)
{
    struct world world;
    open_virtual_world(&world);
    put(&world,
        (cairn_limit_spec){.name = "l", .types = "t.v1", .rate_n = 4, .rate_per_ms = 60000});
    add(&world, "t.v1", "a", 1);
    add(&world, "t.v1", "b", 1);
    check_claimed(&world, 10, 2);
    add(&world, "t.v1", "a", 3);
    check_claimed(&world, 10, 2);
    check_claimed(&world, 10, 0);
    close_world(&world);
}
