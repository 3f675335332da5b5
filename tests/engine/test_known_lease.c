/* Heartbeats that extend nothing: when the engine answers them without asking the store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "rig.h"

#include <string.h>

static struct request *look(const struct rig *rig, const cairn_task *task)
{
    (void)rig;
    struct request *request = rig_make(OP_HEARTBEAT);
    request->in.heartbeat =
        (struct heartbeat_input){.worker = "w", .task_id = task->id, .token = task->token};
    return request;
}

static uint64_t transactions(const struct rig *rig)
{
    return faulty_calls(rig->faulty, FAULTY_BEGIN);
}

/* What a look answers ("": go on), and how many transactions it takes. */
#define CHECK_LOOK(rig, task, expected_stop, expected_transactions)                    \
    do {                                                                               \
        uint64_t before = transactions(rig);                                           \
        struct request *asked = look(rig, task);                                       \
        CHECK_INT(rig_do(rig, asked), CAIRN_OK);                                       \
        CHECK_INT(transactions(rig) - before, expected_transactions);                  \
        const char *stop = asked->out.heartbeat.stop ? asked->out.heartbeat.stop : ""; \
        CHECK_STR(stop, expected_stop);                                                \
    } while (0)

static void pass(struct rig *rig, int64_t us)
{
    clock_set_us(&rig->engine->clock, clock_now_us(&rig->engine->clock) + us);
}

static struct request *control(struct rig *rig, enum request_op op, const char *id)
{
    struct request *request = rig_make(op);
    request->in.control = (struct control_input){.id = id, .by = "me", .reason = "why"};
    CHECK_INT(rig_do(rig, request), CAIRN_OK);
    return request;
}

TEST(a_look_after_a_claim_asks_the_store_nothing)
{
    struct rig rig;
    rig_init(&rig, 1000);
    const cairn_task *task = &rig_claim_function(&rig)->out.page.tasks[0];
    for (int i = 0; i < 3; i++)
        CHECK_LOOK(&rig, task, "", 0);
    rig_done(&rig);
}

/* Ids that lead to the same place do not displace each other. */
TEST(many_leases_are_known_at_the_same_time)
{
    enum { MANY = 400 };
    struct rig rig;
    const cairn_task *tasks[MANY];
    rig_init(&rig, 1000);
    for (int i = 0; i < MANY; i++)
        tasks[i] = &rig_claim_function(&rig)->out.page.tasks[0];
    for (int i = 0; i < MANY; i++)
        CHECK_LOOK(&rig, tasks[i], "", 0);
    rig_done(&rig);
}

TEST(a_look_answers_until_when_the_lease_is_held)
{
    struct rig rig;
    rig_init(&rig, 1000);
    const cairn_task *task = &rig_claim_function(&rig)->out.page.tasks[0];
    struct request *known = look(&rig, task);
    CHECK_INT(rig_do(&rig, known), CAIRN_OK);
    CHECK_INT(known->out.heartbeat.lease_until_us, task->lease_until_us);
    struct request *longer = look(&rig, task);
    longer->in.heartbeat.extend_ms = 2 * RIG_LEASE_MS;
    CHECK_INT(rig_do(&rig, longer), CAIRN_OK);
    known = look(&rig, task);
    CHECK_INT(rig_do(&rig, known), CAIRN_OK);
    CHECK_INT(known->out.heartbeat.lease_until_us, longer->out.heartbeat.lease_until_us);
    rig_done(&rig);
}

TEST(what_the_same_engine_does_is_seen_by_the_next_look)
{
    struct rig rig;
    rig_init(&rig, 1000);
    const cairn_task *task = &rig_claim_function(&rig)->out.page.tasks[0];
    CHECK_LOOK(&rig, task, "", 0);
    control(&rig, OP_PAUSE, task->instance_id);
    CHECK_LOOK(&rig, task, "paused", 0);
    control(&rig, OP_RESUME, task->instance_id);
    CHECK_LOOK(&rig, task, "", 0);
    control(&rig, OP_CANCEL, task->instance_id);
    CHECK_LOOK(&rig, task, "cancelled", 0);
    rig_done(&rig);
}

TEST(a_lease_that_a_restart_has_ended_is_lost_at_the_next_look)
{
    struct rig rig;
    rig_init(&rig, 1000);
    const cairn_task *task = &rig_claim_function(&rig)->out.page.tasks[0];
    control(&rig, OP_RESTART, task->instance_id);
    CHECK_INT(rig_do(&rig, look(&rig, task)), CAIRN_E_LEASE_LOST);
    rig_done(&rig);
}

TEST(a_look_with_another_token_or_worker_is_left_to_the_store)
{
    struct rig rig;
    rig_init(&rig, 1000);
    const cairn_task *task = &rig_claim_function(&rig)->out.page.tasks[0];
    struct request *token = look(&rig, task), *worker = look(&rig, task);
    token->in.heartbeat.token = "another";
    worker->in.heartbeat.worker = "another";
    CHECK_INT(rig_do(&rig, token), CAIRN_E_LEASE_LOST);
    CHECK_INT(rig_do(&rig, worker), CAIRN_E_LEASE_LOST);
    CHECK_LOOK(&rig, task, "", 0);
    rig_done(&rig);
}

TEST(a_lease_that_has_ended_by_the_clock_is_never_answered_as_held)
{
    struct rig rig;
    rig_init(&rig, 1000);
    const cairn_task *task = &rig_claim_function(&rig)->out.page.tasks[0];
    struct request *shorter = look(&rig, task);
    pass(&rig, task->lease_until_us - clock_now_us(&rig.engine->clock) - 1000);
    CHECK_INT(rig_do(&rig, shorter), CAIRN_OK); /* learnt a millisecond before its end */
    pass(&rig, 1000);
    CHECK_LOOK(&rig, task, "", 0);
    pass(&rig, 1);
    CHECK_INT(rig_do(&rig, look(&rig, task)), CAIRN_E_LEASE_LOST);
    rig_done(&rig);
}

/* ---- what others do ------------------------------------------------------------------------- */

/* Another process stops the run: straight in the store, so that the engine does not know. */
static void stop_elsewhere(struct rig *rig, const char *instance_id, enum step_stop stop)
{
    struct store *store = rig->engine->store;
    cleanup(arena_done) struct arena arena = {0};
    struct store_session *session;
    struct store_tx *tx;
    struct step_row row;
    bool is_found;
    cairn_error error;
    struct step_ref ref = {.instance_id = instance_id};
    CHECK_OK(store->ops->session_open(store, SESSION_WRITER, &session, &error));
    CHECK_OK(store->ops->begin(session, &arena, &tx, &error));
    CHECK_OK(store->ops->lock_steps(tx, &ref, 1, &row, &is_found, &error));
    CHECK(is_found, "no row");
    row.stop = stop;
    CHECK_OK(store->ops->update_steps(tx, &row, 1, &error));
    CHECK_OK(store->ops->commit(tx, false, &error));
    store->ops->session_close(session);
}

TEST(what_another_process_does_is_seen_50_ms_later_at_the_latest)
{
    struct rig rig;
    rig_init(&rig, 1000);
    const cairn_task *task = &rig_claim_function(&rig)->out.page.tasks[0];
    CHECK_LOOK(&rig, task, "", 0);
    stop_elsewhere(&rig, task->instance_id, STOP_CANCELLED);
    pass(&rig, KNOWN_FOR_US);
    CHECK_LOOK(&rig, task, "", 0); /* the engine does not know yet */
    pass(&rig, 1);
    CHECK_LOOK(&rig, task, "cancelled", 1);
    CHECK_LOOK(&rig, task, "cancelled", 0); /* it was learnt */
    rig_done(&rig);
}

TEST(after_a_commit_whose_end_is_unknown_the_store_is_asked)
{
    struct rig rig;
    rig_init(&rig, 60000);
    const cairn_task *task = &rig_claim_function(&rig)->out.page.tasks[0];
    CHECK_LOOK(&rig, task, "", 0);
    struct request *longer = look(&rig, task);
    longer->in.heartbeat.extend_ms = 2 * RIG_LEASE_MS;
    struct faulty_rule lost = {
        .verb = FAULTY_COMMIT, .call = 1, .moment = FAULTY_AFTER, .code = CAIRN_E_UNREACHABLE};
    CHECK(faulty_add(rig.faulty, &lost), "no memory");
    rig_submit(&rig, longer);
    committer_run_once(&rig.engine->committers[0]); /* it waits for another try */
    CHECK(!rig_is_done(longer), "it was answered");
    struct request *asked = look(&rig, task);
    rig_submit(&rig, asked);
    CHECK(!rig_is_done(asked), "it was answered from memory");
    rig_done(&rig);
}

/* ---- commits --------------------------------------------------------------------------------- */

static struct request *commit(struct rig *rig, const cairn_task *task, int32_t place,
                              int64_t revision)
{
    struct request *request = rig_commit(task, place, revision);
    CHECK_INT(rig_do(rig, request), CAIRN_OK);
    return request;
}

TEST(a_commit_writes_the_lease_only_when_an_eighth_of_it_has_passed)
{
    struct rig rig;
    rig_init(&rig, 1000);
    const cairn_task *task = &rig_claim_function(&rig)->out.page.tasks[0];
    int64_t until_us = task->lease_until_us, eighth_us = RIG_LEASE_MS / 8 * US_PER_MS;
    uint64_t written = faulty_calls(rig.faulty, FAULTY_UPDATE_STEPS);
    struct request *first = commit(&rig, task, 1, task->memory->revision);
    pass(&rig, eighth_us);
    struct request *second = commit(&rig, task, 2, first->out.committed.revision);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_UPDATE_STEPS) - written, 0);
    CHECK_INT(second->out.committed.lease_until_us, until_us);
    pass(&rig, 1);
    struct request *third = commit(&rig, task, 3, second->out.committed.revision);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_UPDATE_STEPS) - written, 1);
    CHECK_INT(third->out.committed.lease_until_us, until_us + eighth_us + 1);
    rig_done(&rig);
}
