/* tests/spec/test_state_flow_crash.c - what a crash of the process, a lost lease or a store that
 * cannot be reached repeats, and what it never does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function_world.h"

#include "base/random.h"
#include "faulty/faulty.h"

static cairn_code two_steps(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    PASS_ON(fn_step(world, "a"));
    cairn_passage_log(passage, "info", "hello", NULL, NULL);
    spec.type = "mail";
    PASS_ON(cairn_passage_start_job(passage, NULL, &spec, NULL, NULL));
    return fn_step(world, "b");
}

/* ---- crashes -------------------------------------------------------------------------------- */

TEST(in_step_mode_a_crash_between_step_2_and_the_commit_does_not_repeat_step_1)
{
    struct function_world world;
    fn_begin(&world, two_steps, CAIRN_COMMIT_STEP);
    fn_passage_crashed(&world);
    fn_check_steps(&world, "f:ready a:completed mail:completed");
    CHECK_INT(world_count_jobs(&world.flow.world), 1);
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:1 b:2");
    CHECK_INT(world_count_jobs(&world.flow.world), 1);
    fn_check_logs(&world, "info:hello");
    fn_end(&world);
}

TEST(in_passage_mode_a_crash_between_step_2_and_the_commit_repeats_both)
{
    struct function_world world;
    fn_begin(&world, two_steps, CAIRN_COMMIT_PASSAGE);
    fn_passage_crashed(&world);
    fn_check_steps(&world, "f:ready");
    CHECK_INT(world_count_jobs(&world.flow.world), 0);
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:2 b:2");
    CHECK_INT(world_count_jobs(&world.flow.world), 1);
    fn_check_logs(&world, "info:hello");
    fn_end(&world);
}

TEST(a_crash_in_the_middle_of_a_step_calls_it_again_with_the_same_attempt)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, two_steps, mode);
        fn_during(&world, "a", fn_crash);
        fn_passage_crashed(&world);
        fn_check_steps(&world, "f:ready");
        fn_passage(&world, "completed");
        fn_check_calls(&world, "a:2 b:1");
        CHECK_INT(fn_of(&world, "a")->attempts[1], 1);
        CHECK_INT(fn_count_events(&world, "step_completed", "a"), 1);
        fn_end(&world);
    }
}

static cairn_code sleepy(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    PASS_ON(fn_step(world, "a"));
    PASS_ON(cairn_passage_sleep(passage, NULL, HOUR_MS, NULL));
    PASS_ON(cairn_passage_wait_event(passage, NULL, "go", -1, &world->heard, NULL));
    return fn_step(world, "b");
}

TEST(a_process_that_ends_between_passages_loses_nothing)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, sleepy, mode);
        fn_passage(&world, "waiting");
        world_reopen(&world.flow.world);
        wf_advance(&world.flow, HOUR_MS);
        fn_passage(&world, "waiting");
        world_reopen(&world.flow.world);
        wf_signal(&world.flow, "go", NULL);
        world_reopen(&world.flow.world);
        fn_passage(&world, "completed");
        fn_check_calls(&world, "a:1 b:1");
        fn_end(&world);
    }
}

/* ---- leases lost in a row ------------------------------------------------------------------- */

TEST(leases_lost_in_a_row_end_it_failed_at_max_attempts)
{
    struct function_world world;
    fn_begin_with(&world, two_steps, CAIRN_COMMIT_PASSAGE, ", \"max_attempts\": 3");
    fn_passage_crashed(&world);
    CHECK_INT(fn_row(&world, "f")->attempts, 1);
    wf_check_last_error(&world.flow, "f", "LEASE_EXPIRED", 1);
    fn_passage_crashed(&world);
    fn_check_status(&world, "running");
    fn_passage_crashed(&world);
    fn_check_status(&world, "failed");
    wf_check_last_error(&world.flow, "f", "LEASE_EXPIRED", 3);
    fn_check_idle(&world);
    fn_check_calls(&world, "a:3 b:3");
    fn_end(&world);
}

TEST(any_commit_resets_the_count_of_lost_leases)
{
    struct function_world world;
    fn_begin_with(&world, two_steps, CAIRN_COMMIT_STEP, ", \"max_attempts\": 2");
    fn_during(&world, "a", fn_crash);
    fn_passage_crashed(&world); /* one, before any commit */
    CHECK_INT(fn_row(&world, "f")->attempts, 1);
    fn_during(&world, "b", fn_crash);
    fn_passage_crashed(
        &world); /* the commit of a came before this one: it is the first again */
    CHECK_INT(fn_row(&world, "f")->attempts, 1);
    fn_check_status(&world, "running");
    fn_passage(&world, "completed");
    CHECK_INT(fn_row(&world, "f")->attempts, 0);
    fn_end(&world);
}

/* ---- two runners ---------------------------------------------------------------------------- */

static cairn_code long_one(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    double chance;
    PASS_ON(fn_step(world, "a"));
    PASS_ON(fn_step(world, "b"));
    PASS_ON(cairn_passage_random(passage, &chance, NULL));
    if (chance < 0.5)
        PASS_ON(cairn_passage_sleep(passage, NULL, 1000, NULL));
    else
        PASS_ON(cairn_passage_wait_event(passage, NULL, "go", -1, &world->heard, NULL));
    PASS_ON(fn_step(world, "c"));
    return fn_step(world, "d");
}

struct duel {
    struct rng rng;
    int depth; /* of passages within passages */
    int refused, dropped;
};

static bool happens(struct duel *duel, int of_hundred)
{
    return rng_unit(&duel->rng) * 100 < of_hundred;
}

static bool run_once(struct function_world *world);

/* While a step's code runs its lease may be lost, and the other runner may come in. */
static void interfere(struct function_world *world)
{
    struct duel *duel = world->mine;
    if (happens(duel, 30))
        fn_lose_lease(world);
    if (happens(duel, 40) && duel->depth < 3)
        run_once(world);
}

static void arm(struct function_world *world)
{
    static const char *const keys[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++)
        fn_during(world, keys[i], interfere);
}

/* False: there was nothing to take. */
static bool run_once(struct function_world *world)
{
    struct duel *duel = world->mine;
    struct runner runner;
    if (!fn_claim(world, duel->depth % 2 ? "odd" : "even", &runner))
        return false;
    duel->depth++;
    arm(world);
    fn_play(world, &runner);
    duel->depth--;
    if (happens(duel, 20)) {
        fn_drop(&runner);
        duel->dropped++;
        return true;
    }
    cairn_code code = fn_finish(world, &runner, NULL);
    CHECK(!code || code == CAIRN_E_LEASE_LOST, "the end says %s: %s", cairn_code_name(code),
          world->flow.world.error.message);
    duel->refused += code != CAIRN_OK;
    return true;
}

static bool has_ended(struct function_world *world)
{
    return strcmp(wf_instance(&world->flow)->status, "completed") == 0;
}

/* Each thing that the function remembers was committed once, and so was its end. */
static void check_committed_once(struct function_world *world, uint64_t seed)
{
    static const char *const keys[] = {"a", "b", "c", "d", "f", "random"};
    struct world *w = &world->flow.world;
    int counts[sizeof keys / sizeof *keys] = {0};
    cairn_page *events = NULL;
    CHECK_DONE(
        w, cairn_instance_events(w->engine, world->flow.id, NULL, 1000, &events, &w->error));
    for (size_t i = 0; i < cairn_page_count(events); i++) {
        const cairn_event *event = cairn_page_event(events, i);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            counts[k] += event->step && strcmp(event->step, keys[k]) == 0 &&
                         strcmp(event->type, "step_completed") == 0;
    }
    cairn_page_free(events);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        CHECK(counts[k] == 1, "seed %llu: %s was committed %d times", (unsigned long long)seed,
              keys[k], counts[k]);
}

static void duel_once(struct function_world *world, struct duel *duel, uint64_t seed)
{
    rng_init(&duel->rng, seed);
    world->mode = seed % 2 ? CAIRN_COMMIT_STEP : CAIRN_COMMIT_PASSAGE;
    fn_start(world, "f", 0);
    wf_signal(&world->flow, "go", NULL);
    for (int i = 0; i < 200 && !has_ended(world); i++)
        if (!run_once(world))
            wf_advance(&world->flow, LEASE_MS + 1); /* then the time of a task has come */
    CHECK(has_ended(world), "seed %llu: instance %s is left without a task",
          (unsigned long long)seed, world->flow.id);
    check_committed_once(world, seed);
}

TEST(two_runners_on_one_instance_commit_each_step_once_and_leave_no_instance_without_a_task)
{
    struct function_world world;
    struct duel duel = {0};
    fn_begin_with(&world, long_one, CAIRN_COMMIT_STEP, ", \"max_attempts\": 100000");
    fn_abort(&world);
    world.mine = &duel;
    int seeds = test_rounds(150, 1000);
    for (int seed = 1; seed <= seeds; seed++)
        duel_once(&world, &duel, (uint64_t)seed);
    CHECK(duel.refused > seeds / 5, "only %d commits were refused", duel.refused);
    CHECK(duel.dropped > seeds / 5, "only %d passages were dropped", duel.dropped);
    fn_end(&world);
}

/* ---- a store that cannot be reached --------------------------------------------------------- */

static void break_store(struct function_world *world, enum faulty_verb verb,
                        enum faulty_moment moment, uint64_t times)
{
    struct faulty_rule rule = {
        .verb = verb, .call = 1, .times = times, .moment = moment, .code = CAIRN_E_UNREACHABLE};
    CHECK(faulty_add(world->faulty, &rule), "no memory");
}

static void lose_store(struct function_world *world)
{
    break_store(world, FAULTY_BEGIN, FAULTY_BEFORE, UINT64_MAX);
}

TEST(a_store_that_goes_away_in_the_middle_of_a_passage_has_nothing_half_written)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin_faulty(&world, two_steps, mode, 1);
        fn_during(&world, "a", lose_store);
        fn_passage_refused(&world, CAIRN_E_UNREACHABLE);
        faulty_calm(world.faulty);
        fn_check_calls(&world, "a:1");
        fn_check_steps(&world, "f:running");
        CHECK_INT(world_count_jobs(&world.flow.world), 0);
        fn_lose_lease(&world);
        fn_passage(&world, "completed");
        fn_check_calls(&world, "a:2 b:1");
        fn_end(&world);
    }
}

static void lose_logs(struct function_world *world)
{
    break_store(world, FAULTY_APPEND_LOGS, FAULTY_BEFORE, UINT64_MAX);
}

TEST(a_commit_that_breaks_after_its_steps_were_written_has_written_nothing)
{
    struct function_world world;
    fn_begin_faulty(&world, two_steps, CAIRN_COMMIT_PASSAGE, 1);
    fn_during(&world, "b", lose_logs);
    fn_passage_refused(&world, CAIRN_E_UNREACHABLE);
    faulty_calm(world.faulty);
    fn_check_steps(&world, "f:running");
    fn_check_logs(&world, "");
    CHECK_INT(world_count_jobs(&world.flow.world), 0);
    fn_lose_lease(&world);
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:2 b:2");
    fn_end(&world);
}

static void lose_answer(struct function_world *world)
{
    break_store(world, FAULTY_COMMIT, FAULTY_AFTER, 1);
}

/* The engine says it again, and core recognises what is there. */
TEST(a_commit_whose_answer_got_lost_counts_once)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin_faulty(&world, two_steps, mode, 10000);
        fn_during(&world, "a", lose_answer);
        fn_passage(&world, "completed");
        fn_check_steps(&world, "f:completed a:completed mail:completed b:completed");
        fn_check_logs(&world, "info:hello");
        CHECK_INT(world_count_jobs(&world.flow.world), 1);
        CHECK_INT(fn_count_events(&world, "step_completed", NULL), 4);
        fn_end(&world);
    }
}

/* Whichever call of the store fails once, the function does not notice. */
TEST(one_failure_of_the_store_anywhere_in_a_passage_changes_nothing)
{
    struct function_world world;
    MODES(mode)
    {
        uint64_t failures = 1;
        for (uint64_t call = 1; failures; call++) {
            struct faulty_rule rule = {
                .verb = FAULTY_ANY, .call = call, .code = CAIRN_E_UNREACHABLE};
            fn_begin_faulty(&world, two_steps, mode, 10000);
            CHECK(faulty_add(world.faulty, &rule), "no memory");
            fn_passage(&world, "completed");
            failures = faulty_failures(world.faulty);
            faulty_calm(world.faulty);
            fn_check_calls(&world, "a:1 b:1");
            fn_check_steps(&world, "f:completed a:completed mail:completed b:completed");
            fn_check_logs(&world, "info:hello");
            CHECK_INT(world_count_jobs(&world.flow.world), 1);
            CHECK_INT(fn_count_events(&world, "step_completed", NULL), 4);
            fn_end(&world);
            CHECK(call < 500, "it never ends");
        }
    }
}
