/* tests/unit/test_why.c - every row of the tables of why, with its sentence and its first action.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "core/why.h"
#include "test.h"

#define NOW (INT64_C(1794830400) * US_PER_SEC) /* 2026-11-16T12:00:00.000Z */
#define SEC(n) ((n)*US_PER_SEC)
#define ID "01a1"

/* ---- one look ------------------------------------------------------------------------------- */

struct look {
    struct arena arena;
    struct instance_row instance;
    struct step_row rows[4];
    struct step_config configs[4];
    struct why_type types[4];
    struct why_step steps[4];
    struct why_facts facts;
    struct why_list list;
};

/* A running instance, and steps to come. */
static struct look *look_new(void)
{
    static struct look look;
    arena_done(&look.arena);
    look = (struct look){0};
    look.instance = (struct instance_row){.id = ID,
                                          .workflow = "order",
                                          .version = 1,
                                          .status = INSTANCE_RUNNING,
                                          .undo_first = UNDO_FIRST_NONE,
                                          .input = "{\"n\": 1}",
                                          .created_at_us = NOW - SEC(60),
                                          .started_at_us = NOW - SEC(60),
                                          .updated_at_us = NOW - SEC(5)};
    look.facts = (struct why_facts){.now_us = NOW,
                                    .opened_us = NOW - SEC(5),
                                    .instance = &look.instance,
                                    .steps = look.steps};
    return &look;
}

/* Adds a task that is ready. */
static struct step_row *add(struct look *look, const char *name)
{
    size_t i = look->facts.step_count++;
    look->rows[i] = (struct step_row){.name = name,
                                      .seq = (int32_t)i,
                                      .kind = KIND_TASK,
                                      .status = STEP_READY,
                                      .handler = "shop.ship",
                                      .task_type = "shop.ship",
                                      .max_attempts = 3,
                                      .next_run_at_us = NOW - SEC(2),
                                      .updated_at_us = NOW - SEC(2)};
    look->configs[i].compensation =
        (struct compensation_config){.handler = "shop.unship", .max_attempts = 5};
    look->steps[i] = (struct why_step){.row = &look->rows[i], .config = &look->configs[i]};
    return &look->rows[i];
}

static struct why_type *add_type(struct look *look)
{
    size_t i = look->facts.step_count - 1;
    look->types[i] = (struct why_type){.is_judged = true};
    look->steps[i].type = &look->types[i];
    return &look->types[i];
}

static void lease(struct step_row *row, int64_t until_us)
{
    row->status = STEP_RUNNING;
    row->locked_by = "w1";
    row->started_at_us = NOW - SEC(4);
    row->locked_until_us = until_us;
}

static const cairn_why *say(struct look *look)
{
    CHECK(why_instance(&look->arena, &look->facts, &look->list), "memory");
    return &look->list.items[0];
}

static const char *first_action(const cairn_why *why)
{
    return why->action_count ? why->actions[0].action : "";
}

static const char *first_cli(const cairn_why *why)
{
    return why->action_count ? why->actions[0].cli : "";
}

static void check_why(const cairn_why *why, const char *code, const char *urgency,
                      const char *text, const char *action)
{
    CHECK_STR(why->code, code);
    CHECK_STR(why->text, text);
    CHECK_STR(why->urgency, urgency);
    CHECK_STR(first_action(why), action);
}

#define SAYS(look, code, urgency, text, action) \
    check_why(say(look), code, urgency, text, action)

/* The sentence of the code, wherever it stands. */
static const cairn_why *find(struct look *look, const char *code)
{
    say(look);
    for (size_t i = 0; i < look->list.count; i++)
        if (strcmp(look->list.items[i].code, code) == 0)
            return &look->list.items[i];
    CHECK(false, "no %s, but %s", code, look->list.items[0].code);
    return NULL;
}

/* ---- instances ------------------------------------------------------------------------------ */

TEST(an_instance_that_has_not_begun)
{
    struct look *look = look_new();
    look->instance.status = INSTANCE_PENDING;
    look->instance.start_at_us = NOW + SEC(60);
    SAYS(look, "starts_later", "waits", "Starts 2026-11-16T12:01:00.000Z.", "cancel");
    CHECK_STR(first_cli(look->list.items), "cairn cancel 01a1 --by WHO --reason WHY");
    look->instance.start_at_us = NOW - SEC(9);
    SAYS(look, "start_due", "works", "Starts with the next commit.", "");
    look->instance.start_at_us = NOW - SEC(10);
    SAYS(look, "start_overdue", "stuck",
         "Should have started 2026-11-16T11:59:50.000Z. No process runs timers: is a server or "
         "worker up?",
         "about");
}

TEST(an_instance_that_is_paused)
{
    struct look *look = look_new();
    look->instance.status = INSTANCE_PAUSED;
    look->instance.paused_at_us = NOW - SEC(30);
    look->instance.paused_reason = PAUSED_BY_MISMATCH;
    look->instance.last_error =
        "{\"step\": \"order\", \"attempt\": 1, \"message\": \"version_mismatch: remembered is "
        "the step \\\"charge\\\", but the code asks for the step \\\"check\\\"\"}";
    SAYS(look, "paused_mismatch", "person",
         "Paused: the code asks for the step \"check\", remembered is the step \"charge\".",
         "resume");
    CHECK_STR(look->list.items[0].actions[1].action, "resume-force");
    CHECK_STR(look->list.items[0].actions[1].cli, "cairn resume 01a1 --force");

    look->instance.last_error =
        "{\"step\": \"ship\", \"attempt\": 3, \"message\": \"no carrier.\\nat line 5\"}";
    look->instance.paused_reason = PAUSED_BY_FAILURE;
    SAYS(look, "paused_failure", "person",
         "Paused: ship has failed for good after 3 calls: no carrier. Resume calls it again.",
         "resume");

    look->instance.paused_by = "ada";
    look->instance.paused_reason = "stocktaking";
    SAYS(look, "paused_by", "person",
         "Paused by ada 2026-11-16T11:59:30.000Z: stocktaking. 0 steps are held.", "resume");
    add(look, "ship")->is_held = true;
    SAYS(look, "paused_by", "person",
         "Paused by ada 2026-11-16T11:59:30.000Z: stocktaking. 1 step is held.", "resume");
    look->instance.paused_by = look->instance.paused_reason = NULL;
    SAYS(look, "paused_by", "person", "Paused 2026-11-16T11:59:30.000Z. 1 step is held.",
         "resume");

    look->instance.paused_by = "ada";
    lease(add(look, "pack"), NOW + SEC(20));
    SAYS(look, "paused_draining", "works",
         "Paused by ada. w1 still works on pack; its result will be kept.", "resume");
}

TEST(an_instance_in_the_dlq)
{
    struct look *look = look_new();
    look->instance.status = INSTANCE_DLQ;
    look->instance.last_error =
        "{\"step\": \"read\", \"attempt\": 1, \"message\": \"no file\"}";
    struct step_row *row = add(look, "read");
    row->status = STEP_PAUSED;
    row->attempts = 1;
    row->error = "no file";
    look->steps[0].record = "17";
    SAYS(look, "parked", "person", "Parked: read has failed for good after 1 call: no file.",
         "requeue");
    CHECK_STR(first_cli(look->list.items), "cairn dlq requeue 17");
    CHECK_STR(look->list.items[0].actions[1].action, "edit");
    check_why(find(look, "parked_step"), "parked_step", "person",
              "Parked after 1 call: no file.", "requeue");
}

TEST(an_instance_that_is_stopped_or_undone)
{
    struct look *look = look_new();
    look->instance.goal = GOAL_FAIL;
    look->instance.awaited_count = 2;
    look->instance.last_error =
        "{\"step\": \"ship\", \"attempt\": 3, \"message\": \"no carrier\"}";
    lease(add(look, "pack"), NOW + SEC(20));
    check_why(
        find(look, "stopping"), "stopping", "works",
        "Is being stopped (ship failed: no carrier). Waits for 2 running steps: pack at w1, "
        "lease until 2026-11-16T12:00:20.000Z.",
        "abort");

    look->instance.awaited_count = 0;
    look->instance.status = INSTANCE_COMPENSATING;
    look->instance.goal = GOAL_CANCEL;
    look->instance.undo_first = UNDO_OF_CANCEL;
    look->instance.stop_by = "ada";
    look->instance.stop_reason = "ordered twice";
    SAYS(look, "undo_gap", "works",
         "Being undone because it was cancelled by ada: ordered twice; the next step follows "
         "with "
         "the next commit.",
         "");
    look->rows[0].status = STEP_COMPENSATION;
    look->rows[0].locked_by = NULL;
    look->rows[0].compensation_attempts = 1;
    look->rows[0].undo_error = "not yet";
    look->rows[0].next_run_at_us = NOW + SEC(8);
    look->facts.undone = 2;
    look->facts.to_undo = 5;
    check_why(
        find(look, "undoing"), "undoing", "works",
        "Being undone because it was cancelled by ada: ordered twice: 2 of 5 steps undone.",
        "abort");
    check_why(find(look, "retry_later"), "retry_later", "failing",
              "Undoing pack: Call 1 of 5 failed: not yet. The next one is "
              "2026-11-16T12:00:08.000Z.",
              "");
}

TEST(a_running_instance_without_a_step)
{
    struct look *look = look_new();
    SAYS(look, "settling", "works", "Goes on with the next commit.", "");
    look->instance.updated_at_us = NOW - SEC(10) - 1;
    SAYS(look, "settled_oddly", "stuck",
         "Nothing is under way, and it has not ended. This is a bug in Cairn; `cairn doctor` "
         "may "
         "say more.",
         "doctor");
}

TEST(an_instance_that_has_ended)
{
    struct look *look = look_new();
    struct instance_row *row = &look->instance;
    row->finished_at_us = row->started_at_us + 1300 * US_PER_MS;
    row->status = INSTANCE_COMPLETED;
    SAYS(look, "completed", "ended", "Completed in 1.3s.", "start-again");
    CHECK_STR(first_cli(look->list.items),
              "cairn start order --version 1 --input '{\"n\": 1}'");

    row->status = INSTANCE_FAILED;
    row->last_error = "{\"step\": \"ship\", \"attempt\": 3, \"message\": \"no carrier\"}";
    SAYS(look, "failed", "failing",
         "Failed at ship after 3 calls: no carrier. Nothing was undone.", "retry");
    row->undo_first = 2;
    SAYS(look, "failed", "failing",
         "Failed at ship after 3 calls: no carrier. What was done was undone.", "retry");
    look->facts.save_point = "paid";
    SAYS(look, "failed", "failing",
         "Failed at ship after 3 calls: no carrier. Undone back to paid.", "retry");
    row->undo_error = "{\"step\": \"charge\", \"attempt\": 5, \"message\": \"card refused\"}";
    look->facts.undo_record = "18";
    SAYS(look, "undo_failed", "person",
         "Ended, but charge could not be undone: card refused. A person must look.", "requeue");
    look->facts.undo_record = NULL;

    row->status = INSTANCE_CANCELLED;
    row->stop_by = "ada";
    row->stop_reason = "ordered twice";
    SAYS(look, "cancelled", "ended",
         "Cancelled by ada: ordered twice. What was done was undone.", "restart");
    row->status = INSTANCE_ABORTED;
    SAYS(look, "aborted", "ended", "Aborted by ada: ordered twice. Nothing was undone.",
         "restart");
    look->facts.is_rejected = true;
    SAYS(look, "rejected", "ended", "Rejected by ada: ordered twice.", "restart");
}

/* ---- steps ---------------------------------------------------------------------------------- */

TEST(a_step_with_a_lease)
{
    struct look *look = look_new();
    struct step_row *row = add(look, "ship");
    lease(row, NOW);
    row->attempts = 1;
    SAYS(look, "working", "works",
         "w1 works on ship since 2026-11-16T11:59:56.000Z, call 2 of 3.", "");
    row->call_until_us = NOW + SEC(3);
    SAYS(look, "working", "works",
         "w1 works on ship since 2026-11-16T11:59:56.000Z, call 2 of 3; must end by "
         "2026-11-16T12:00:03.000Z.",
         "");
    row->locked_until_us = NOW - 1;
    SAYS(look, "lease_over", "works",
         "w1 has not been heard of since 2026-11-16T11:59:59.999Z; another worker gets it now.",
         "");
    row->locked_until_us = NOW - SEC(10);
    SAYS(look, "lease_stuck", "stuck",
         "w1 has not been heard of since 2026-11-16T11:59:50.000Z, and no process collects it: "
         "is "
         "a server or worker up?",
         "about");
    row->stop = STOP_CANCELLED;
    SAYS(look, "told_to_stop", "works",
         "w1 has been told to stop (cancelled) and has not answered; its lease ends "
         "2026-11-16T11:59:50.000Z.",
         "");
}

TEST(a_step_that_is_called_later)
{
    struct look *look = look_new();
    struct step_row *row = add(look, "ship");
    row->next_run_at_us = NOW + SEC(60);
    row->attempts = 2;
    row->error = "no carrier";
    SAYS(look, "retry_later", "failing",
         "Call 2 of 3 failed: no carrier. The next one is 2026-11-16T12:01:00.000Z.", "");
    row->attempts = 0;
    SAYS(look, "given_back", "waits",
         "It was given back. Offered again 2026-11-16T12:01:00.000Z.", "workers");
    row->ended_by = "w1";
    row->ended_outcome = "release";
    row->is_effect_begun = true;
    SAYS(look, "given_back", "waits",
         "w1 gave it back: it has no handler for shop.ship. Offered again "
         "2026-11-16T12:01:00.000Z.",
         "workers");
}

TEST(a_step_that_waits_for_a_worker)
{
    struct look *look = look_new();
    struct step_row *row = add(look, "ship");
    SAYS(look, "unknown", "waits",
         "Ready since 2026-11-16T11:59:58.000Z. Which workers are there is not known yet: the "
         "server started 2026-11-16T11:59:55.000Z.",
         "");
    struct why_type *type = add_type(look);
    type->is_judged = false;
    SAYS(look, "unknown", "waits",
         "Ready since 2026-11-16T11:59:58.000Z. Which workers are there is not known yet: the "
         "server started 2026-11-16T11:59:55.000Z.",
         "");
    type->is_judged = true;
    SAYS(look, "unserved", "stuck", "No worker that serves shop.ship is there.", "work");
    CHECK_STR(first_cli(look->list.items), "cairn work --handle 'shop.ship=COMMAND'");
    type->last = "w0";
    type->last_seen_us = NOW - SEC(100);
    SAYS(look, "unserved", "stuck",
         "No worker that serves shop.ship is there; the last was w0, 2026-11-16T11:58:20.000Z.",
         "work");

    type->live = 2;
    type->ahead = 7;
    type->oldest_us = NOW - SEC(42);
    SAYS(
        look, "busy", "waits",
        "2 workers serve shop.ship, and all are busy; 7 tasks are ahead, the oldest for 42.0s.",
        "workers");
    type->live = 1;
    type->ahead = 0;
    SAYS(look, "busy", "waits", "1 worker serves shop.ship, and it is busy; nothing is ahead.",
         "workers");
    type->roomy = "w1";
    SAYS(look, "about_to", "works", "Is about to be taken.", "");
    row->next_run_at_us = NOW - SEC(10);
    SAYS(look, "unclaimed", "stuck",
         "Ready for 10.0s, though w1 serves shop.ship and has room. Look at its log.",
         "workers");
}

TEST(a_step_that_a_limit_keeps_back)
{
    struct look *look = look_new();
    struct limit_row limit = {.name = "parcels", .concurrency = 2};
    add(look, "ship");
    struct why_type *type = add_type(look);
    type->limit = &limit;
    SAYS(look, "unserved", "stuck", "No worker that serves shop.ship is there.", "work");
    type->live = 1;
    type->roomy = "w1";
    SAYS(look, "limited", "waits", "Waits for a place: parcels allows 2 at a time.", "limit");
    CHECK_STR(first_cli(look->list.items), "cairn limit show parcels");
    type->limit_group = "north";
    SAYS(look, "limited", "waits", "Waits for a place: parcels allows 2 at a time for north.",
         "limit");
    limit.rate_n = 5;
    limit.rate_per_ms = 60000;
    SAYS(look, "limited", "waits", "Waits for a place: parcels allows 2 at a time for north.",
         "limit");
    type->is_limit_rate = true;
    SAYS(look, "limited", "waits",
         "Waits for its time: parcels lets 5 begin in 1m 0s for north.", "limit");
}

TEST(a_step_that_the_registry_keeps_back)
{
    struct look *look = look_new();
    add(look, "ship");
    struct why_type *type = add_type(look);
    type->runtime = "go";
    SAYS(look, "no_runtime", "stuck",
         "shop.ship belongs to the runtime go, and no worker of it is there.", "workers");
    type->is_runtime_there = true;
    SAYS(look, "unserved", "stuck", "No worker that serves shop.ship is there.", "work");
    type->is_off = true;
    SAYS(look, "type_off", "stuck",
         "Nobody may take shop.ship: it is switched off in the registry.", "type-enable");
    CHECK_STR(first_cli(look->list.items),
              "cairn registry set shop.ship --runtime go --enable");
}

TEST(a_step_that_is_held_or_parked)
{
    struct look *look = look_new();
    struct step_row *row = add(look, "ship");
    row->is_held = true;
    look->instance.status = INSTANCE_PAUSED;
    check_why(find(look, "held"), "held", "waits",
              "Held while the instance is paused; it was ready.", "resume");
    row->status = STEP_WAITING;
    check_why(find(look, "held"), "held", "waits",
              "Held while the instance is paused; it was waiting.", "resume");
}

TEST(a_step_that_waits)
{
    struct look *look = look_new();
    struct step_row *row = add(look, "settled");
    look->instance.status = INSTANCE_WAITING_SIGNAL;
    row->kind = KIND_WAIT;
    row->status = STEP_WAITING;
    row->waiting_event = "payment settled";
    SAYS(look, "event", "waits", "Waits for the event payment settled, without limit.",
         "signal");
    CHECK_STR(first_cli(look->list.items), "cairn signal 01a1 'payment settled'");
    CHECK_STR(look->list.items[0].actions[0].values, "{\"event\":\"payment settled\"}");
    row->deadline_at_us = NOW + SEC(60);
    SAYS(look, "event", "waits",
         "Waits for the event payment settled until 2026-11-16T12:01:00.000Z, then fails.",
         "signal");
    CHECK_STR(look->list.items[0].sentence,
              "Waits for the event {event} until {until}, then fails.");
    CHECK_STR(look->list.items[0].values,
              "{\"event\":\"payment settled\",\"until\":\"2026-11-16T12:01:00.000Z\"}");
    look->configs[0].is_timeout_continue = true;
    SAYS(look, "event", "waits",
         "Waits for the event payment settled until 2026-11-16T12:01:00.000Z, then goes on.",
         "signal");
    row->kind = KIND_TASK;
    SAYS(
        look, "handler_event", "waits",
        "Its handler waits for the event payment settled until 2026-11-16T12:01:00.000Z and is "
        "called again then.",
        "signal");
    row->kind = KIND_SLEEP;
    SAYS(look, "sleep", "waits", "Sleeps until 2026-11-16T12:01:00.000Z.", "");
    row->deadline_at_us = NOW - SEC(9);
    SAYS(look, "sleep", "waits", "Sleeps until 2026-11-16T11:59:51.000Z.", "");
    row->deadline_at_us = NOW - SEC(10);
    SAYS(look, "timer_over", "stuck",
         "Its time was over 2026-11-16T11:59:50.000Z, and no process has noticed: is a server "
         "or "
         "worker up?",
         "about");
}

TEST(a_step_that_waits_for_a_child)
{
    struct look *look = look_new();
    struct step_row *row = add(look, "bill");
    struct instance_row child = {.id = "02b2", .workflow = "billing"};
    cairn_why why = {.text = "Waits for a person to decide.",
                     .urgency_code = CAIRN_URGENCY_PERSON};
    row->kind = KIND_START;
    row->status = STEP_WAITING;
    row->task_type = NULL;
    SAYS(look, "settling", "works", "Goes on with the next commit.", "");
    look->steps[0].child = &child;
    SAYS(look, "child", "works", "Waits for billing 02b2.", "");
    look->steps[0].child_why = &why;
    SAYS(look, "child", "person", "Waits for billing 02b2: Waits for a person to decide.", "");
    why.urgency_code = CAIRN_URGENCY_ENDED;
    SAYS(look, "child", "works", "Waits for billing 02b2: Waits for a person to decide.", "");
    row->status = STEP_COMPENSATION;
    look->instance.status = INSTANCE_COMPENSATING;
    check_why(find(look, "child"), "child", "works",
              "Undoing bill: Waits for billing 02b2: Waits for a person to decide.", "");
}

TEST(a_step_that_waits_for_the_elements_of_a_map)
{
    struct look *look = look_new();
    struct step_row *row = add(look, "mail");
    struct children_row children = {.size = 10, .begun = 7, .done = 4, .failed = 1};
    row->kind = KIND_START;
    row->status = STEP_WAITING;
    row->task_type = NULL;
    look->steps[0].children = &children;
    SAYS(look, "mapping", "works", "4 of 10 elements done, 1 failed.", "");
    row->status = STEP_COMPENSATION;
    look->instance.status = INSTANCE_COMPENSATING;
    check_why(find(look, "mapping"), "mapping", "works",
              "Undoing mail: 4 of 10 elements done, 1 failed.", "");
}

TEST(a_step_that_waits_for_a_person)
{
    struct look *look = look_new();
    struct step_row *row = add(look, "approval");
    row->kind = KIND_HUMAN;
    row->status = STEP_WAITING_DECISION;
    SAYS(look, "decision", "person", "Waits for a person to decide.", "approve");
    CHECK_STR(first_cli(look->list.items), "cairn approve 01a1 approval --by WHO");
    CHECK_STR(look->list.items[0].actions[1].action, "reject");
    row->deadline_at_us = NOW + SEC(60);
    SAYS(look, "decision", "person",
         "Waits for a person to decide until 2026-11-16T12:01:00.000Z, then fails.", "approve");
}

TEST(the_most_urgent_comes_first_and_the_places_decide_among_equals)
{
    struct look *look = look_new();
    lease(add(look, "a"), NOW + SEC(5));
    add(look, "b")->status = STEP_WAITING_DECISION;
    lease(add(look, "c"), NOW + SEC(5));
    add(look, "d");
    add_type(look);
    say(look);
    CHECK_INT(look->list.count, 4);
    CHECK_STR(look->list.items[0].step, "b");
    CHECK_STR(look->list.items[1].step, "d"); /* unserved */
    CHECK_STR(look->list.items[2].step, "a");
    CHECK_STR(look->list.items[3].step, "c");
    CHECK_INT(look->list.items[3].seq, 2);
}

/* ---- functions ------------------------------------------------------------------------------ */

TEST(a_function_speaks_by_itself_or_by_what_it_waits_for)
{
    struct look *look = look_new();
    struct step_row *runner = add(look, "order"), *memo;
    look->instance.is_function = true;
    runner->kind = KIND_FUNCTION;
    runner->task_type = runner->handler = "order";
    add_type(look);
    SAYS(look, "unserved", "stuck", "No worker that runs the function order is there.",
         "workers");

    runner->status = STEP_WAITING;
    SAYS(look, "settling", "works", "Goes on with the next commit.", "");
    memo = add(look, "charge");
    memo->handler = memo->task_type = NULL;
    memo->attempts = 1;
    memo->error = "no";
    memo->next_run_at_us = NOW + SEC(8);
    SAYS(look, "retry_later", "failing",
         "Call 1 of 3 failed: no. The next one is 2026-11-16T12:00:08.000Z.", "");
    CHECK_STR(look->list.items[0].step, "charge");
    runner->status = STEP_READY;
    runner->next_run_at_us = NOW + SEC(8);
    SAYS(look, "retry_later", "failing",
         "Call 1 of 3 failed: no. The next one is 2026-11-16T12:00:08.000Z.", "");
    runner->status = STEP_WAITING;
    memo->kind = KIND_WAIT;
    memo->status = STEP_WAITING;
    memo->waiting_event = "paid";
    memo->deadline_at_us = NOW + SEC(9);
    SAYS(look, "event", "waits", "Waits for the event paid until 2026-11-16T12:00:09.000Z.",
         "signal");
}

/* ---- other steps ---------------------------------------------------------------------------- */

static void check_other(struct look *look, struct why_other *other, const char *code,
                        const char *urgency, const char *text, const char *action)
{
    cairn_why why;
    other->now_us = NOW;
    other->instance = &look->instance;
    other->step = &look->steps[0];
    CHECK(why_step(&look->arena, other, &why), "memory");
    check_why(&why, code, urgency, text, action);
}

TEST(steps_that_are_not_under_way)
{
    struct look *look = look_new();
    struct step_row *row = add(look, "ship");
    struct why_other other = {0};
    row->status = STEP_PENDING;
    check_other(look, &other, "not_yet", "waits", "Is the first to begin.", "");
    other.previous = "pack";
    check_other(look, &other, "not_yet", "waits", "Comes after pack.", "");
    row->kind = KIND_JOIN;
    row->remaining = 1;
    other.branches = "invoice";
    other.branch_count = 2;
    check_other(look, &other, "joining", "waits", "Waits for 1 of 2 branches: invoice.", "");
    look->configs[0].is_any = true;
    check_other(look, &other, "joining", "waits",
                "Goes on with the first branch that succeeds.", "");
    row->kind = KIND_TASK;
    row->status = STEP_SKIPPED;
    check_other(look, &other, "stopped", "ended", "Was not needed.", "");
    other.condition = "is_large";
    check_other(look, &other, "not_taken", "ended",
                "is_large was false, so this list was not taken.", "");
    other.condition = NULL;
    row->error = "no carrier";
    row->attempts = 3;
    check_other(look, &other, "went_on", "ended",
                "Failed after 3 calls (no carrier) and was passed over, as its file says.", "");
    row->stop = STOP_ROLLBACK;
    check_other(look, &other, "stopped", "ended", "Stopped: no carrier.", "");
    row->stop = STOP_SUPERSEDED;
    check_other(look, &other, "superseded", "ended", "Another branch was first.", "");
    row->stop = STOP_NONE;
    row->status = STEP_FAILED;
    look->instance.status = INSTANCE_FAILED;
    check_other(look, &other, "step_failed", "failing", "Failed after 3 calls: no carrier.",
                "retry");
    row->status = STEP_ROLLED_BACK;
    row->finished_at_us = NOW;
    check_other(
        look, &other, "undone", "ended",
        "Failed after 3 calls: no carrier. Undone by shop.unship 2026-11-16T12:00:00.000Z.",
        "");
    row->error = NULL;
    check_other(look, &other, "undone", "ended",
                "Undone by shop.unship 2026-11-16T12:00:00.000Z.", "");
    look->configs[0].compensation.handler = NULL;
    check_other(look, &other, "undone", "ended", "Had nothing to undo.", "");
    row->error = "no carrier";
    check_other(look, &other, "undone", "ended",
                "Failed after 3 calls: no carrier. Had nothing to undo.", "");
    row->error = NULL;
    row->status = STEP_COMPLETED;
    row->started_at_us = NOW - SEC(2);
    row->attempts = 0;
    check_other(look, &other, "step_done", "ended", "Completed in 2.0s.", "");
    row->attempts = 1;
    check_other(look, &other, "step_done", "ended", "Completed in 2.0s at call 2.", "");
    row->status = STEP_CONFIRMED;
    other.decided_by = "ada";
    other.decided_us = NOW;
    other.comment = "well done";
    check_other(look, &other, "decided", "ended",
                "Approved by ada 2026-11-16T12:00:00.000Z: well done.", "");
    row->status = STEP_REJECTED;
    check_other(look, &other, "decided", "ended",
                "Rejected by ada 2026-11-16T12:00:00.000Z: well done.", "");
    lease(row, NOW + SEC(1));
    row->attempts = 0;
    check_other(look, &other, "working", "works",
                "w1 works on ship since 2026-11-16T11:59:56.000Z, call 1 of 3.", "");
}

/* ---- jobs ----------------------------------------------------------------------------------- */

static void check_job(const struct job_row *row, const struct why_type *type, const char *code,
                      const char *urgency, const char *text, const char *action)
{
    struct arena arena = {0};
    struct why_job_facts facts = {.now_us = NOW, .opened_us = NOW, .job = row, .type = type};
    cairn_why why;
    CHECK(why_job(&arena, &facts, &why), "memory");
    check_why(&why, code, urgency, text, action);
    arena_done(&arena);
}

TEST(jobs)
{
    struct why_type type = {.is_judged = true};
    struct job_row row = {.id = ID,
                          .type = "mail.send",
                          .status = JOB_PENDING,
                          .max_attempts = 3,
                          .run_at_us = NOW + SEC(60),
                          .created_at_us = NOW - SEC(3),
                          .updated_at_us = NOW};
    check_job(&row, NULL, "job_later", "waits", "Runs 2026-11-16T12:01:00.000Z.", "job-cancel");
    row.attempt = 1;
    row.last_error = "busy";
    check_job(&row, NULL, "job_retry", "failing",
              "Call 1 of 3 failed: busy. The next one is 2026-11-16T12:01:00.000Z.",
              "job-cancel");
    row.run_at_us = NOW;
    check_job(&row, &type, "job_ready", "stuck", "No worker that serves mail.send is there.",
              "work");
    row.status = JOB_LEASED;
    row.leased_by = "w1";
    row.lease_until_us = NOW + SEC(5);
    check_job(&row, NULL, "job_leased", "works", "w1 works on mail.send, call 2 of 3.",
              "job-cancel");
    row.lease_until_us = NOW - SEC(11);
    check_job(
        &row, NULL, "job_leased", "stuck",
        "w1 has not been heard of since 2026-11-16T11:59:49.000Z, and no process collects "
        "it: is a server or worker up?",
        "about");
    row.status = JOB_SUCCEEDED;
    check_job(&row, NULL, "job_succeeded", "ended", "Succeeded in 3.0s.", "");
    row.status = JOB_FAILED;
    check_job(&row, NULL, "job_failed", "failing", "Failed after 1 call: busy.", "job-retry");
    row.status = JOB_CANCELLED;
    check_job(&row, NULL, "job_cancelled", "ended", "Cancelled 2026-11-16T12:00:00.000Z.",
              "job-retry");
    row.deleted_at_us = NOW;
    check_job(&row, NULL, "job_deleted", "ended", "Deleted 2026-11-16T12:00:00.000Z.", "");
}
