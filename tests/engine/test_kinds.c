/* Claims of jobs and steps: a kind of which there is nothing is not asked for again and again.  And what a
 * batch waits for before it begins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

#define ONE "{\"workflow\": \"one\", \"version\": 1, \"steps\": [{\"step\": \"a\"}]}"

#define HOUR_US (3600 * US_PER_SEC)
#define LONG_MOMENT_US \
    (200 * US_PER_MS) /* at most so long a kind is left out, however long commits take */

static void pass(struct rig *rig, int64_t us)
{
    clock_set_us(&rig->engine->clock, clock_now_us(&rig->engine->clock) + us);
}

static struct request *claim_some(uint32_t max)
{
    struct request *request = rig_claim(NULL, "%", 0);
    request->in.claim.max = max;
    return request;
}

static void enqueue(struct rig *rig, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_INT(rig_do(rig, rig_enqueue(rig, "j", NULL)), CAIRN_OK);
}

static void start(struct rig *rig, size_t count)
{
    CHECK_INT(rig_do(rig, rig_deploy(ONE)), CAIRN_OK);
    for (size_t i = 0; i < count; i++)
        CHECK_INT(rig_do(rig, rig_start("one")), CAIRN_OK);
}

/* Claims until both kinds were asked for; returns how many tasks were taken. */
static size_t learn(struct rig *rig, enum faulty_verb verb)
{
    size_t taken = 0;
    uint64_t before = faulty_calls(rig->faulty, verb);
    while (faulty_calls(rig->faulty, verb) == before) {
        struct request *request = claim_some(1);
        CHECK_INT(rig_do(rig, request), CAIRN_OK);
        taken += request->out.page.count;
    }
    return taken;
}

static void take_one_each(struct rig *rig, const char *kind, size_t count)
{
    struct request *claims[8];
    for (size_t i = 0; i < count; i++)
        rig_submit(rig, claims[i] = claim_some(1));
    rig_run(rig);
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(claims[i]->code, CAIRN_OK);
        CHECK_INT(claims[i]->out.page.count, 1);
        CHECK_STR(claims[i]->out.page.tasks[0].kind, kind);
    }
}

TEST(equal_claims_are_one_question_where_there_are_only_jobs)
{
    struct rig rig;
    rig_init(&rig, 1000);
    enqueue(&rig, 12);
    learn(&rig, FAULTY_CLAIM_STEPS);
    uint64_t jobs = faulty_calls(rig.faulty, FAULTY_CLAIM_JOBS);
    uint64_t steps = faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS);
    take_one_each(&rig, "job", 4);
    take_one_each(&rig, "job", 4);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_CLAIM_JOBS) - jobs, 2);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS) - steps, 0);
    rig_done(&rig);
}

TEST(equal_claims_are_one_question_where_there_are_only_steps)
{
    struct rig rig;
    rig_init(&rig, 1000);
    start(&rig, 12);
    learn(&rig, FAULTY_CLAIM_JOBS);
    uint64_t jobs = faulty_calls(rig.faulty, FAULTY_CLAIM_JOBS);
    uint64_t steps = faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS);
    take_one_each(&rig, "step", 4);
    take_one_each(&rig, "step", 4);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_CLAIM_JOBS) - jobs, 0);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS) - steps, 2);
    rig_done(&rig);
}

/* Two questions for all: is there something of the other kind, and what is there of this one. */
TEST(that_there_is_one_kind_only_is_found_out_by_one_question)
{
    struct rig rig;
    rig_init(&rig, 1000);
    enqueue(&rig, 20);
    take_one_each(&rig, "job", 4); /* it has the next turn from now on */
    for (size_t i = 0; i < 3; i++) {
        pass(&rig, LONG_MOMENT_US);
        uint64_t jobs = faulty_calls(rig.faulty, FAULTY_CLAIM_JOBS);
        uint64_t steps = faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS);
        take_one_each(&rig, "job", 3 + i);
        CHECK_INT(faulty_calls(rig.faulty, FAULTY_CLAIM_JOBS) - jobs, 1);
        CHECK_INT(faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS) - steps, 1);
    }
    rig_done(&rig);
}

TEST(where_there_are_both_kinds_claims_of_one_task_get_them_by_turns)
{
    struct rig rig;
    struct request *claims[6];
    rig_init(&rig, 1000);
    enqueue(&rig, 6);
    start(&rig, 6);
    for (size_t i = 0; i < 6; i++)
        rig_submit(&rig, claims[i] = claim_some(1));
    rig_run(&rig);
    for (size_t i = 0; i < 6; i++) {
        CHECK_INT(claims[i]->out.page.count, 1);
        CHECK(i == 0 || claims[i]->out.page.tasks[0].kind_code !=
                            claims[i - 1]->out.page.tasks[0].kind_code,
              "claim %zu got the same kind as the one before it", i);
    }
    rig_done(&rig);
}

TEST(what_this_process_makes_is_seen_at_once)
{
    struct rig rig;
    rig_init(&rig, 1000);
    enqueue(&rig, 8);
    learn(&rig, FAULTY_CLAIM_STEPS);
    start(&rig, 1);
    struct request *both = claim_some(2);
    CHECK_INT(rig_do(&rig, both), CAIRN_OK);
    CHECK_INT(both->out.page.count, 2);
    CHECK(strcmp(both->out.page.tasks[0].kind, both->out.page.tasks[1].kind) != 0,
          "two jobs, and a step was there");
    rig_done(&rig);
}

TEST(what_others_make_is_seen_after_a_moment)
{
    struct rig rig;
    struct request *request;
    rig_init(&rig, 1000);
    enqueue(&rig, 8);
    learn(&rig, FAULTY_CLAIM_STEPS);
    uint64_t steps = faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS);
    pass(&rig, 9 * US_PER_MS);
    CHECK_INT(rig_do(&rig, request = claim_some(2)), CAIRN_OK);
    CHECK_INT(request->out.page.count, 2);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS) - steps, 0);
    pass(&rig, LONG_MOMENT_US);
    CHECK_INT(rig_do(&rig, request = claim_some(2)), CAIRN_OK);
    CHECK_INT(request->out.page.count, 2);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS) - steps, 1);
    rig_done(&rig);
}

TEST(a_claim_that_one_kind_does_not_fill_asks_for_both)
{
    struct rig rig;
    rig_init(&rig, 1000);
    enqueue(&rig, 8);
    size_t left = 8 - learn(&rig, FAULTY_CLAIM_STEPS);
    uint64_t steps = faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS);
    struct request *all = claim_some((uint32_t)left + 1);
    CHECK_INT(rig_do(&rig, all), CAIRN_OK);
    CHECK_INT(all->out.page.count, left);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS) - steps, 1);
    rig_done(&rig);
}

/* ---- waiting for more -------------------------------------------------------------------- */

TEST(a_batch_waits_for_as_much_as_it_was_told_to)
{
    struct rig rig;
    rig_init(&rig, 1000);
    const struct committer *committer = &rig.engine->committers[0];
    int64_t until_us = clock_monotonic_us(&rig.engine->clock) + HOUR_US;
    rig.engine->gathering = (struct gathering){.wanted = 4, .until_us = until_us};
    rig_submit(&rig, rig_enqueue(&rig, "j", NULL)); /* two rows: the job, and the request */
    CHECK_INT(committer_next_us(committer), until_us);
    CHECK(!committer_run_once(&rig.engine->committers[0]), "it did not wait");
    rig_submit(&rig, rig_enqueue(&rig, "j", NULL));
    CHECK_INT(committer_next_us(committer), 0);
    rig_run(&rig);
    CHECK_INT(rig.engine->counters.commits, 1);
    CHECK_INT(rig.engine->counters.commit_requests, 2);
    rig_done(&rig);
}

TEST(a_batch_does_not_wait_for_long)
{
    struct rig rig;
    rig_init(&rig, 1000);
    rig.engine->gathering =
        (struct gathering){.wanted = 1000, .until_us = clock_monotonic_us(&rig.engine->clock)};
    rig_submit(&rig, rig_enqueue(&rig, "j", NULL));
    CHECK_INT(committer_next_us(&rig.engine->committers[0]), 0);
    rig_run(&rig);
    CHECK_INT(rig.engine->counters.commits, 1);
    rig_done(&rig);
}

TEST(callers_who_are_answered_are_waited_for)
{
    struct rig rig;
    rig_init(&rig, 1000);
    for (int i = 0; i < 3; i++)
        rig_submit(&rig, rig_enqueue(&rig, "j", NULL));
    rig.engine->has_threads = true; /* so it believes */
    rig_run(&rig);
    rig.engine->has_threads = false;
    CHECK_INT(rig.engine->gathering.wanted, 6);
    CHECK(rig.engine->gathering.until_us <= clock_monotonic_us(&rig.engine->clock) + 500,
          "they are waited for for too long");
    rig_done(&rig);
}
