/* A claim that waits for the place of a limit is told when one is free, however it became free.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What waits is of another type than what had the place, so that nothing else wakes it.
 */
#include "rig.h"

#define LEASE_US (31 * US_PER_SEC)
#define WORKFLOW(name, type)                                                                  \
    "{\"workflow\": \"" name "\", \"version\": 1, \"steps\": [{\"step\": \"s\", \"handler\":" \
    " \"" type "\"}]}"

static struct request *make_limit(void)
{
    struct request *request = rig_make(OP_LIMIT_PUT);
    request->in.limit = (cairn_limit_spec)CAIRN_LIMIT_DEFAULTS;
    request->in.limit.name = "one";
    request->in.limit.types = "t.%";
    request->in.limit.concurrency = 1;
    return request;
}

static struct request *claim(struct rig *rig, const char *type)
{
    struct request *request = rig_claim(rig, type, 0);
    CHECK_INT(rig_do(rig, request), CAIRN_OK);
    return request;
}

/* t.a has the only place, as a job or as a step, and a claim waits for t.b. */
static struct request *hold(struct rig *rig, bool has_steps, struct request **ret_holder)
{
    rig_init(rig, 1000);
    CHECK_INT(rig_do(rig, make_limit()), CAIRN_OK);
    CHECK_INT(rig_do(rig, rig_deploy(WORKFLOW("a", "t.a"))), CAIRN_OK);
    CHECK_INT(rig_do(rig, rig_deploy(WORKFLOW("b", "t.b"))), CAIRN_OK);
    CHECK_INT(rig_do(rig, has_steps ? rig_start("a") : rig_enqueue(rig, "t.a", NULL)),
              CAIRN_OK);
    CHECK_INT(rig_do(rig, has_steps ? rig_start("b") : rig_enqueue(rig, "t.b", NULL)),
              CAIRN_OK);
    *ret_holder = claim(rig, "t.a");
    CHECK_INT((*ret_holder)->out.page.count, 1);
    struct request *waiting = rig_claim(rig, "t.b", 60000);
    rig_submit(rig, waiting);
    rig_run(rig);
    CHECK(!rig_is_done(waiting), "there was a second place");
    return waiting;
}

static void check_given(struct rig *rig, struct request *waiting)
{
    CHECK(rig_is_done(waiting), "nobody has told the claim that there is a place");
    CHECK_INT(waiting->code, CAIRN_OK);
    CHECK_INT(waiting->out.page.count, 1);
    CHECK_STR(waiting->out.page.tasks[0].type, "t.b");
    rig_done(rig);
}

/* The commit of a claim that has nothing to do with it finds that the lease is over. */
static void lose_lease(struct rig *rig)
{
    clock_set_us(&rig->engine->clock, clock_now_us(&rig->engine->clock) + LEASE_US);
    CHECK_INT(claim(rig, "x")->out.page.count, 0);
    rig_run(rig);
}

TEST(a_waiting_claim_is_told_of_the_place_of_a_job_whose_lease_is_lost)
{
    struct rig rig;
    struct request *holder, *waiting = hold(&rig, false, &holder);
    lose_lease(&rig);
    check_given(&rig, waiting);
}

TEST(a_waiting_claim_is_told_of_the_place_of_a_step_whose_lease_is_lost)
{
    struct rig rig;
    struct request *holder, *waiting = hold(&rig, true, &holder);
    lose_lease(&rig);
    check_given(&rig, waiting);
}

TEST(a_waiting_claim_is_told_of_the_place_of_a_job_that_ends_or_is_given_back)
{
    static const cairn_outcome outcomes[] = {CAIRN_COMPLETE, CAIRN_FAIL, CAIRN_RELEASE};
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        struct rig rig;
        struct request *holder, *waiting = hold(&rig, false, &holder);
        CHECK_INT(rig_do(&rig, rig_report(holder, outcomes[i])), CAIRN_OK);
        rig_run(&rig);
        check_given(&rig, waiting);
    }
}

TEST(a_waiting_claim_is_told_of_the_place_of_a_step_that_ends_or_is_given_back)
{
    static const cairn_outcome outcomes[] = {CAIRN_COMPLETE, CAIRN_FAIL, CAIRN_RELEASE};
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        struct rig rig;
        struct request *holder, *waiting = hold(&rig, true, &holder);
        CHECK_INT(rig_do(&rig, rig_report(holder, outcomes[i])), CAIRN_OK);
        rig_run(&rig);
        check_given(&rig, waiting);
    }
}

/* Leases count from the limit on; one that ends before it, in the same commit, does not. */
TEST(a_lease_that_ends_in_the_commit_that_sets_a_limit_holds_no_place)
{
    for (int has_steps = 0; has_steps < 2; has_steps++) {
        struct rig rig;
        rig_init(&rig, 1000);
        CHECK_INT(rig_do(&rig, rig_deploy(WORKFLOW("a", "t.a"))), CAIRN_OK);
        CHECK_INT(rig_do(&rig, rig_deploy(WORKFLOW("b", "t.b"))), CAIRN_OK);
        for (const char *name = "ab"; *name; name++) {
            const char workflow[] = {*name, 0}, type[] = {'t', '.', *name, 0};
            struct request *made =
                has_steps ? rig_start(workflow) : rig_enqueue(&rig, type, NULL);
            CHECK_INT(rig_do(&rig, made), CAIRN_OK);
        }
        struct request *holder = claim(&rig, "t.a");
        struct request *waiting = rig_claim(&rig, "t.b", 60000);
        rig_submit(&rig, rig_report(holder, CAIRN_COMPLETE));
        rig_submit(&rig, make_limit());
        rig_submit(&rig, waiting);
        rig_run(&rig);
        check_given(&rig, waiting);
    }
}

TEST(a_restart_in_the_commit_that_sets_a_limit_gives_its_place_back)
{
    struct rig rig;
    rig_init(&rig, 1000);
    CHECK_INT(rig_do(&rig, rig_deploy(WORKFLOW("a", "t.a"))), CAIRN_OK);
    CHECK_INT(rig_do(&rig, rig_deploy(WORKFLOW("b", "t.b"))), CAIRN_OK);
    struct request *start = rig_start("a"), *waiting = rig_claim(&rig, "t.b", 60000);
    CHECK_INT(rig_do(&rig, start), CAIRN_OK);
    CHECK_INT(rig_do(&rig, rig_start("b")), CAIRN_OK);
    CHECK_INT(claim(&rig, "t.a")->out.page.count, 1);
    rig_submit(&rig, rig_control(&rig, OP_RESTART, start->out.enqueued[0].id));
    rig_submit(&rig, make_limit());
    rig_submit(&rig, waiting);
    rig_run(&rig);
    check_given(&rig, waiting);
}

TEST(a_token_of_a_virtual_clock_comes_when_the_clock_is_moved)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *put = rig_make(OP_LIMIT_PUT);
    put->in.limit = (cairn_limit_spec)CAIRN_LIMIT_DEFAULTS;
    put->in.limit.name = "one";
    put->in.limit.types = "t.%";
    put->in.limit.rate_n = 1;
    put->in.limit.rate_per_ms = 20000;
    CHECK_INT(rig_do(&rig, put), CAIRN_OK);
    CHECK_INT(rig_do(&rig, rig_enqueue(&rig, "t.a", NULL)), CAIRN_OK);
    CHECK_INT(rig_do(&rig, rig_enqueue(&rig, "t.b", NULL)), CAIRN_OK);
    CHECK_INT(claim(&rig, "t.a")->out.page.count, 1);
    struct request *waiting = rig_claim(&rig, "t.b", 60000);
    rig_submit(&rig, waiting);
    rig_run(&rig);
    CHECK(!rig_is_done(waiting), "there was a second token");
    CHECK_INT(waiting->token_at_us, 0); /* real time, which brings none */
    struct request *advance = rig_make(OP_CLOCK_ADVANCE);
    advance->in.advance.ms = 20000;
    CHECK_INT(rig_do(&rig, advance), CAIRN_OK);
    rig_run(&rig);
    check_given(&rig, waiting);
}
