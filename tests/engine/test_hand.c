/* Steps that a batch makes ready are given to its claims: once each, without a way through the store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

#define TWO                                                                              \
    "{\"workflow\": \"two\", \"version\": 1, \"steps\": [{\"step\": \"a\"}, {\"step\": " \
    "\"b\"}]}"

/* ---- requests ---------------------------------------------------------------------------- */

static struct request *claim(uint32_t max, uint32_t wait_ms)
{
    struct request *request = rig_claim(NULL, "%", wait_ms);
    request->in.claim.max = max;
    return request;
}

static const cairn_task *task_of(const struct request *request)
{
    CHECK_INT(request->code, CAIRN_OK);
    CHECK_INT(request->out.page.count, 1);
    return &request->out.page.tasks[0];
}

static void do_together(struct rig *rig, struct request **requests, size_t count)
{
    uint64_t commits = rig->engine->counters.commits;
    for (size_t i = 0; i < count; i++)
        rig_submit(rig, requests[i]);
    rig_run(rig);
    for (size_t i = 0; i < count; i++)
        CHECK(rig_is_done(requests[i]), "request %zu is not done", i);
    CHECK_INT(rig->engine->counters.commits - commits, 1);
}

/* Instances of "two", whose first steps are claimed. */
static void begin(struct rig *rig, size_t count, struct request **ret_claims)
{
    rig_init(rig, 60000);
    CHECK_INT(rig_do(rig, rig_deploy(TWO)), CAIRN_OK);
    for (size_t i = 0; i < count; i++)
        CHECK_INT(rig_do(rig, rig_start("two")), CAIRN_OK);
    for (size_t i = 0; i < count; i++) {
        ret_claims[i] = claim(1, 0);
        CHECK_INT(rig_do(rig, ret_claims[i]), CAIRN_OK);
        CHECK_STR(task_of(ret_claims[i])->step, "a");
    }
}

static size_t count_events(struct rig *rig, const char *id, const char *type)
{
    struct request *request = rig_read(rig, OP_INSTANCE_EVENTS, id);
    size_t count = 0;
    CHECK_INT(request->code, CAIRN_OK);
    for (size_t i = 0; i < request->out.page.count; i++)
        count += strcmp(request->out.page.events[i].type, type) == 0;
    return count;
}

static const char *status_of_step(struct rig *rig, const char *id, size_t place)
{
    struct request *request = rig_read(rig, OP_STEP_LIST, id);
    CHECK_INT(request->code, CAIRN_OK);
    CHECK(place < request->out.page.count, "no place %zu", place);
    return request->out.page.steps[place].status;
}

/* ---- once each --------------------------------------------------------------------------- */

TEST(a_step_in_hand_is_given_to_one_claim_of_the_batch)
{
    enum { COUNT = 3 };
    struct rig rig;
    struct request *first[COUNT], *together[COUNT + 1];
    begin(&rig, COUNT, first);
    for (size_t i = 0; i < COUNT; i++) {
        together[i] = rig_complete(&rig, first[i], true);
        together[i]->in.report.claim.wait_ms = 0;
    }
    together[COUNT] = claim(5, 0);
    do_together(&rig, together, COUNT + 1);
    for (size_t i = 0; i < COUNT; i++) {
        CHECK_STR(task_of(together[i])->step, "b");
        CHECK_STR(task_of(together[i])->token, together[i]->token);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(task_of(together[i])->id, task_of(together[k])->id) != 0,
                  "%s is given twice", task_of(together[i])->id);
        CHECK_INT(rig_do(&rig, rig_complete(&rig, together[i], false)), CAIRN_OK);
    }
    CHECK_INT(together[COUNT]->out.page.count, 0);
    rig_done(&rig);
}

TEST(what_a_report_makes_ready_is_given_to_a_claim_that_waits)
{
    struct rig rig;
    struct request *first[1];
    begin(&rig, 1, first);
    struct request *waiting = claim(1, 60000), *report = rig_complete(&rig, first[0], false);
    rig_submit(&rig, waiting);
    rig_run(&rig);
    uint64_t commits = rig.engine->counters.commits;
    uint64_t updates = faulty_calls(rig.faulty, FAULTY_UPDATE_STEPS);
    CHECK_INT(rig_do(&rig, report), CAIRN_OK);
    CHECK(rig_is_done(waiting), "the claim still waits");
    CHECK_STR(task_of(waiting)->step, "b");
    CHECK_INT(rig.engine->counters.commits - commits, 1);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_UPDATE_STEPS) - updates, 1);
    rig_done(&rig);
}

TEST(the_first_step_of_a_new_instance_is_inserted_running)
{
    struct rig rig;
    struct request *waiting = claim(1, 60000), *started = rig_start("two");
    rig_init(&rig, 60000);
    CHECK_INT(rig_do(&rig, rig_deploy(TWO)), CAIRN_OK);
    rig_submit(&rig, waiting);
    rig_run(&rig);
    CHECK_INT(rig_do(&rig, started), CAIRN_OK);
    CHECK(rig_is_done(waiting), "the claim still waits");
    CHECK_STR(task_of(waiting)->step, "a");
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_INSERT_STEPS), 1);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_UPDATE_STEPS), 0);
    CHECK_STR(status_of_step(&rig, started->out.enqueued[0].id, 0), "running");
    CHECK_INT(count_events(&rig, started->out.enqueued[0].id, "step_started"), 1);
    CHECK_INT(rig_do(&rig, rig_complete(&rig, waiting, false)), CAIRN_OK);
    rig_done(&rig);
}

TEST(a_step_that_nobody_wants_is_ready_for_others)
{
    struct rig rig;
    struct request *first[1];
    begin(&rig, 1, first);
    struct request *report = rig_complete(&rig, first[0], true);
    report->in.report.claim = rig_claim(&rig, "other", 0)->in.claim;
    CHECK_INT(rig_do(&rig, report), CAIRN_OK);
    CHECK_INT(report->out.page.count, 0);
    CHECK_STR(status_of_step(&rig, task_of(first[0])->instance_id, 1), "ready");
    struct request *next = claim(1, 0);
    CHECK_INT(rig_do(&rig, next), CAIRN_OK);
    CHECK_STR(task_of(next)->step, "b");
    rig_done(&rig);
}

/* ---- questions --------------------------------------------------------------------------- */

TEST(claims_that_are_alike_ask_the_store_once)
{
    enum { COUNT = 8 };
    struct rig rig;
    struct request *first[COUNT], *reports[COUNT];
    begin(&rig, COUNT, first);
    for (size_t i = 0; i < COUNT; i++) {
        reports[i] = rig_complete(&rig, first[i], true);
        reports[i]->in.report.claim.wait_ms = 0;
    }
    uint64_t steps = faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS);
    uint64_t updates = faulty_calls(rig.faulty, FAULTY_UPDATE_STEPS);
    do_together(&rig, reports, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        CHECK_STR(task_of(reports[i])->step, "b");
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS) - steps, 1);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_UPDATE_STEPS) - updates, 1);
    rig_done(&rig);
}

/* ---- failures ---------------------------------------------------------------------------- */

TEST(a_step_given_in_a_commit_that_nobody_knew_the_end_of_is_found_again)
{
    struct rig rig;
    struct request *first[1];
    struct faulty_rule lost = {
        .verb = FAULTY_COMMIT, .call = 1, .moment = FAULTY_AFTER, .code = CAIRN_E_UNREACHABLE};
    begin(&rig, 1, first);
    struct request *report = rig_complete(&rig, first[0], true);
    CHECK(faulty_add(rig.faulty, &lost), "no memory");
    CHECK_INT(rig_do(&rig, report), CAIRN_OK);
    CHECK_INT(report->out.reported[0].code, CAIRN_OK);
    CHECK_STR(task_of(report)->step, "b");
    CHECK_STR(task_of(report)->token, report->token);
    CHECK_INT(count_events(&rig, task_of(report)->instance_id, "step_started"), 2);
    CHECK_INT(rig_do(&rig, rig_complete(&rig, report, false)), CAIRN_OK);
    rig_done(&rig);
}

TEST(a_batch_that_fails_after_steps_were_given_gives_them_again)
{
    struct rig rig;
    struct request *first[2], *reports[2];
    struct faulty_rule refused = {
        .verb = FAULTY_UPDATE_STEPS, .call = 1, .code = CAIRN_E_STORE};
    begin(&rig, 2, first);
    CHECK(faulty_add(rig.faulty, &refused), "no memory");
    for (size_t i = 0; i < 2; i++) {
        reports[i] = rig_complete(&rig, first[i], true);
        rig_submit(&rig, reports[i]);
    }
    rig_run(&rig);
    for (size_t i = 0; i < 2; i++) {
        CHECK(rig_is_done(reports[i]), "report %zu is not done", i);
        CHECK_STR(task_of(reports[i])->step, "b");
        CHECK_STR(task_of(reports[i])->instance_id, task_of(first[i])->instance_id);
        CHECK_INT(count_events(&rig, task_of(reports[i])->instance_id, "step_started"), 2);
    }
    rig_done(&rig);
}

/* ---- functions --------------------------------------------------------------------------- */

TEST(a_function_that_goes_on_is_given_with_its_memory)
{
    static const char file[] = "{\"function\": \"f\", \"version\": 1}";
    struct rig rig;
    rig_init(&rig, 60000);
    CHECK_INT(rig_do(&rig, rig_deploy(file)), CAIRN_OK);
    CHECK_INT(rig_do(&rig, rig_start("f")), CAIRN_OK);
    struct request *first = claim(1, 0);
    CHECK_INT(rig_do(&rig, first), CAIRN_OK);
    const cairn_task *task = task_of(first);
    struct request *commit = rig_make(OP_COMMIT);
    struct commit_step step = {.seq = 1,
                               .key = "k",
                               .kind = "task",
                               .status = "completed",
                               .output = "\"kept\"",
                               .max_attempts = 1,
                               .timeout_ms = -1};
    commit->in.commit = (struct commit_input){.worker = "w",
                                              .task_id = task->id,
                                              .token = task->token,
                                              .revision = task->memory->revision,
                                              .outcome = PASSAGE_AGAIN,
                                              .steps = &step,
                                              .step_count = 1,
                                              .is_claiming = true,
                                              .claim = first->in.claim};
    uint64_t updates = faulty_calls(rig.faulty, FAULTY_UPDATE_STEPS);
    CHECK_INT(rig_do(&rig, commit), CAIRN_OK);
    const cairn_task *again = task_of(commit);
    CHECK_STR(again->id, task->id);
    CHECK(strcmp(again->token, task->token) != 0, "the token is the one before");
    CHECK_STR(commit->out.committed.status, "ready");
    CHECK_INT(again->memory->revision, commit->out.committed.revision);
    CHECK_INT(again->memory->step_count, 1);
    CHECK_STR(again->memory->steps[0]->output, "\"kept\"");
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_UPDATE_STEPS) - updates, 1);
    CHECK_STR(status_of_step(&rig, task->instance_id, 0), "running");
    rig_done(&rig);
}
