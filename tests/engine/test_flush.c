/* What a batch has written early is not written again: purges and deletions share a commit with timers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

#define SLEEPER                                                                           \
    "{\"workflow\": \"sleeper\", \"version\": 1, \"steps\": [{\"sleep\": \"z\", \"for\":" \
    " \"1ms\"}, {\"step\": \"s\"}]}"
#define SHORT "{\"workflow\": \"short\", \"version\": 1, \"steps\": [{\"step\": \"short\"}]}"

/* An engine that keeps its timers, and an instance that has ended. */
static const char *open_rig(struct rig *rig)
{
    rig_init(rig, 1000);
    clock_init_real(&rig->engine->clock);
    CHECK_INT(rig_do(rig, rig_deploy(SLEEPER)), CAIRN_OK);
    CHECK_INT(rig_do(rig, rig_deploy(SHORT)), CAIRN_OK);
    struct request *start = rig_start("short"), *claim = rig_claim(rig, "short", 0);
    CHECK_INT(rig_do(rig, start), CAIRN_OK);
    CHECK_INT(rig_do(rig, claim), CAIRN_OK);
    CHECK_INT(claim->out.page.count, 1);
    CHECK_INT(rig_do(rig, rig_report(claim, CAIRN_COMPLETE)), CAIRN_OK);
    return start->out.enqueued[0].id;
}

/* An instance whose timer is due, and of which no commit knows yet. */
static const char *make_due(struct rig *rig)
{
    struct request *start = rig_start("sleeper");
    CHECK_INT(rig_do(rig, start), CAIRN_OK);
    int64_t due_us = clock_now_us(&rig->engine->clock) + 2 * US_PER_MS;
    while (clock_now_us(&rig->engine->clock) < due_us)
        ;
    return start->out.enqueued[0].id;
}

/* The events of the timer are there, once. */
static void check_events(struct rig *rig, const char *id)
{
    struct request *request = rig_read(rig, OP_INSTANCE_EVENTS, id);
    static const char *const wanted[] = {"workflow_started", "step_waiting", "step_completed",
                                         "step_ready"};
    CHECK_INT(request->code, CAIRN_OK);
    CHECK_INT(request->out.page.count, 4);
    for (size_t i = 0; i < 4; i++)
        CHECK_STR(request->out.page.events[i].type, wanted[i]);
}

static void check_shared(struct rig *rig, struct request *request)
{
    const char *id = make_due(rig);
    CHECK_INT(rig_do(rig, request), CAIRN_OK);
    rig_run(rig);
    check_events(rig, id);
    rig_done(rig);
}

TEST(a_deletion_shares_its_commit_with_a_timer)
{
    struct rig rig;
    struct request *request = rig_make(OP_INSTANCE_DELETE);
    request->in.id = open_rig(&rig);
    check_shared(&rig, request);
}

TEST(a_purge_shares_its_commit_with_a_timer)
{
    struct rig rig;
    open_rig(&rig);
    struct request *request = rig_make(OP_PURGE);
    request->in.purge = (struct purge_input){.older_than_ms = 0};
    check_shared(&rig, request);
}
