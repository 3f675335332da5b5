/* tests/engine/test_flights.c - how often a batch waits for PostgreSQL: everything that it can know is asked in
 * one round trip, everything that it writes goes with the commit in another.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * With a virtual clock a batch that claims also asks for the next timer.  With a real one the answer is known, since
 * commits ask for it in time.
 */
#include "rig.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAIR = 2, TRIES = 3, TIMER = 1 };

#define CHAIN                                                                   \
    "{\"workflow\": \"chain\", \"version\": 1, \"steps\": [{\"step\": \"s1\", " \
    "\"handler\": \"t\"}, {\"step\": \"s2\", \"handler\": \"t\"}, {\"step\": "  \
    "\"s3\", \"handler\": \"t\"}, {\"step\": \"s4\", \"handler\": \"t\"}, "     \
    "{\"step\": \"s5\", \"handler\": \"t\"}, {\"step\": \"s6\", \"handler\": "  \
    "\"t\"}, {\"step\": \"s7\", \"handler\": \"t\"}]}"

#define URGENT                                                                               \
    "{\"workflow\": \"urgent\", \"version\": 1, \"steps\": [{\"step\": \"u\", \"handler\": " \
    "\"t\", \"priority\": 90}]}"

static uint64_t trips(const struct rig *rig)
{
    return faulty_round_trips(rig->engine->committers[0].session);
}

/* One commit, and how often it waited. */
static uint64_t trips_of(struct rig *rig, struct request **requests, size_t count)
{
    uint64_t commits = rig->engine->counters.commits, before = trips(rig);
    for (size_t i = 0; i < count; i++)
        rig_submit(rig, requests[i]);
    rig_run(rig);
    CHECK_INT(rig->engine->counters.commits - commits, 1);
    for (size_t i = 0; i < count; i++)
        CHECK(rig_is_done(requests[i]) && !requests[i]->code, "request %zu: %s", i,
              requests[i]->error.message);
    return trips(rig) - before;
}

static void note_least(uint64_t *least, uint64_t found)
{
    if (*least == 0 || found < *least)
        *least = found;
}

static struct request *claim(void)
{
    return rig_claim(NULL, "t", 0);
}

/* Completes the task of a claim and asks for the next one of type "t". */
static struct request *go_on(struct rig *rig, const struct request *before)
{
    struct request *request = rig_complete(rig, before, true);
    CHECK_INT(before->out.page.count, 1);
    request->in.report.claim.types =
        before->op == OP_CLAIM ? before->in.claim.types : before->in.report.claim.types;
    return request;
}

/* All in one commit; how often it waited. */
static uint64_t go_on_all(struct rig *rig, struct request **before, struct request **ret_next)
{
    for (size_t i = 0; i < PAIR; i++)
        ret_next[i] = go_on(rig, before[i]);
    return trips_of(rig, ret_next, PAIR);
}

/* What was known of kinds without work is so no longer, as if some time had passed. */
static void end_moments(struct rig *rig)
{
    struct claim_habit *habits = rig->engine->committers[0].habits;
    for (size_t i = 0; i < HABITS; i++)
        if (habits[i].empty[CLAIM_STEPS].until_us)
            habits[i].empty[CLAIM_STEPS].until_us = RIG_START_S * US_PER_SEC;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void enqueue(struct rig *rig, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_INT(rig_do(rig, rig_enqueue(rig, "t", NULL)), CAIRN_OK);
}

TEST(a_batch_of_new_jobs_waits_twice)
{
    struct rig rig;
    uint64_t least = 0;
    rig_init(&rig, 60000);
    for (int try = 0; try < TRIES; try++) {
        struct request *both[PAIR] = {rig_enqueue(&rig, "t", NULL),
                                      rig_enqueue(&rig, "t", "key")};
        note_least(&least, trips_of(&rig, both, try ? 1 : PAIR));
    }
    CHECK_INT(least, 2);
    rig_done(&rig);
}

TEST(a_new_job_and_the_claim_that_waits_for_it_wait_twice)
{
    struct rig rig;
    uint64_t least = 0;
    rig_init(&rig, 60000);
    for (int try = 0; try < TRIES; try++) {
        struct request *waiting = rig_claim(&rig, "t", 60000);
        rig_submit(&rig, waiting);
        rig_run(&rig);
        struct request *added = rig_enqueue(&rig, "t", NULL);
        note_least(&least, trips_of(&rig, &added, 1));
        CHECK(rig_is_done(waiting), "it still waits");
        CHECK_INT(rig_do(&rig, rig_complete(&rig, waiting, false)), CAIRN_OK);
    }
    CHECK_INT(least, 2);
    rig_done(&rig);
}

TEST(a_batch_that_completes_and_claims_jobs_waits_twice)
{
    struct rig rig;
    struct request *held[PAIR], *next[PAIR];
    uint64_t least = 0;
    rig_init(&rig, 60000);
    enqueue(&rig, PAIR * (TRIES + 1));
    for (size_t i = 0; i < PAIR; i++)
        CHECK_INT(rig_do(&rig, held[i] = claim()), CAIRN_OK);
    for (int try = 0; try < TRIES; try++) {
        note_least(&least, go_on_all(&rig, held, next));
        memcpy(held, next, sizeof held);
    }
    CHECK_INT(least, 2 + TIMER);
    rig_done(&rig);
}

/* A claim that found nothing. */
static struct request *wait_for_job(struct rig *rig)
{
    struct request *waiting = rig_claim(rig, "t", 60000);
    rig_submit(rig, waiting);
    rig_run(rig);
    CHECK(!rig_is_done(waiting), "it does not wait");
    return waiting;
}

/* A job ends while another is added, for the claim that waits (NULL: for the worker, who goes on).  Answers the claim
 * that was given the new job. */
static struct request *complete_and_add(struct rig *rig, const struct request *held,
                                        struct request *waiting, uint64_t *least)
{
    struct request *both[PAIR] = {waiting ? rig_complete(rig, held, false) : go_on(rig, held),
                                  rig_enqueue(rig, "t", NULL)};
    struct request *given = waiting ? waiting : both[0];
    note_least(least, trips_of(rig, both, PAIR));
    CHECK(rig_is_done(given), "it still waits");
    CHECK_INT(given->out.page.count, 1);
    CHECK_STR(given->out.page.tasks[0].id, both[1]->out.enqueued[0].id);
    return given;
}

static void begin_job(struct rig *rig, struct request **ret_held)
{
    rig_init(rig, 60000);
    enqueue(rig, 1);
    CHECK_INT(rig_do(rig, *ret_held = claim()), CAIRN_OK);
}

TEST(a_batch_that_completes_inserts_and_claims_jobs_waits_twice)
{
    struct rig rig;
    struct request *held;
    uint64_t least = 0, least_waiting = 0;
    begin_job(&rig, &held);
    for (int try = 0; try < TRIES; try++)
        held = complete_and_add(&rig, held, wait_for_job(&rig), &least_waiting);
    for (int try = 0; try < TRIES; try++)
        held = complete_and_add(&rig, held, NULL, &least);
    CHECK_INT(least_waiting, 2);
    CHECK_INT(least, 2 + TIMER);
    rig_done(&rig);
}

/* The job that is completed has a later event than this transaction has a number for, so the completion takes another
 * one, and new jobs that were sent behind it have it as well. */
TEST(new_jobs_sent_behind_a_completion_keep_their_events)
{
    struct rig rig;
    struct request *held, *waiting;
    uint64_t ignored = 0;
    begin_job(&rig, &held);
    held = complete_and_add(&rig, held, wait_for_job(&rig), &ignored);
    waiting = wait_for_job(&rig);
    PGconn *foreign = PQconnectdb(rig.url);
    PQclear(PQexec(foreign, "SET cairn.engine = '1'"));
    PGresult *later = PQexec(foreign, "UPDATE workflow.workflow_run SET last_event = (SELECT "
                                      "(q.last_value + 1 << 12) + 100 FROM "
                                      "workflow.workflow_event_id_seq AS q) "
                                      "WHERE status = 'leased'");
    CHECK_STR(PQcmdTuples(later), "1");
    PQclear(later);
    PQfinish(foreign);
    held = complete_and_add(&rig, held, waiting, &ignored);
    CHECK_STR(rig_events(&rig, held->out.page.tasks[0].id), "created leased started");
    rig_done(&rig);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void begin_chains(struct rig *rig, struct request **ret_claims)
{
    rig_init(rig, 60000);
    CHECK_INT(rig_do(rig, rig_deploy(CHAIN)), CAIRN_OK);
    for (size_t i = 0; i < PAIR; i++) {
        CHECK_INT(rig_do(rig, rig_start("chain")), CAIRN_OK);
        CHECK_INT(rig_do(rig, ret_claims[i] = claim()), CAIRN_OK);
    }
}

static uint64_t step_once(struct rig *rig, struct request **claims)
{
    struct request *next[PAIR];
    uint64_t found = go_on_all(rig, claims, next);
    memcpy(claims, next, sizeof next);
    return found;
}

TEST(a_batch_that_completes_and_claims_steps_waits_twice)
{
    struct rig rig;
    struct request *claims[PAIR];
    uint64_t least = 0;
    begin_chains(&rig, claims);
    step_once(&rig, claims); /* finds out what the store has besides */
    for (int try = 0; try < TRIES; try++)
        note_least(&least, step_once(&rig, claims));
    CHECK_INT(least, 2 + TIMER);
    rig_done(&rig);
}

/* A step of another instance that is more urgent goes first, though the batch looks before it knows. */
TEST(a_more_urgent_step_goes_before_those_in_hand)
{
    struct rig rig;
    struct request *claims[PAIR], *urgent = rig_start("urgent");
    begin_chains(&rig, claims);
    step_once(&rig, claims);
    step_once(&rig, claims);
    uint64_t looked = faulty_calls(rig.faulty, FAULTY_LOOK_FOR_TASKS);
    CHECK_INT(rig_do(&rig, rig_deploy(URGENT)), CAIRN_OK);
    CHECK_INT(rig_do(&rig, urgent), CAIRN_OK);
    step_once(&rig, claims);
    CHECK(faulty_calls(rig.faulty, FAULTY_LOOK_FOR_TASKS) > looked, "it has not looked");
    int given = 0;
    for (size_t i = 0; i < PAIR; i++)
        given += strcmp(claims[i]->out.page.tasks[0].step, "u") == 0;
    CHECK_INT(given, 1);
    rig_done(&rig);
}

static void let_go(void *conn)
{
    PQclear(PQexec(conn, "ROLLBACK"));
}

/* A step that another transaction holds for a moment, as a claim does, is left out at first and then waited for. */
TEST(a_step_that_is_held_elsewhere_is_asked_for_again)
{
    struct rig rig;
    struct request *claims[PAIR];
    char hold[160];
    begin_chains(&rig, claims);
    PGconn *foreign = PQconnectdb(rig.url);
    snprintf(hold, sizeof hold,
             "BEGIN; SELECT FROM workflow.workflow_step WHERE instance_id = '%s' AND seq = 0 "
             "FOR UPDATE",
             claims[0]->out.page.tasks[0].instance_id);
    PQclear(PQexec(foreign, hold));
    CHECK_INT(PQtransactionStatus(foreign), PQTRANS_INTRANS);
    struct faulty_rule rule = {
        .verb = FAULTY_LOCK_STEPS, .call = 1, .meanwhile = let_go, .arg = foreign};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    step_once(&rig, claims);
    CHECK_INT(PQtransactionStatus(foreign), PQTRANS_IDLE);
    for (size_t i = 0; i < PAIR; i++)
        CHECK_STR(claims[i]->out.page.tasks[0].step, "s2");
    PQfinish(foreign);
    rig_done(&rig);
}

/* The registry is asked by the same look. */
TEST(a_type_that_is_switched_off_is_not_handed_over)
{
    struct rig rig;
    struct request *claims[PAIR], *next[PAIR];
    begin_chains(&rig, claims);
    step_once(&rig, claims);
    step_once(&rig, claims);
    struct request *off = rig_make(OP_REGISTRY_PUT);
    off->in.registry = (cairn_registry_spec)CAIRN_REGISTRY_DEFAULTS;
    off->in.registry.workflow_name = "t";
    off->in.registry.runtime = "any";
    off->in.registry.is_enabled = false;
    CHECK_INT(rig_do(&rig, off), CAIRN_OK);
    for (size_t i = 0; i < PAIR; i++) {
        next[i] = go_on(&rig, claims[i]);
        next[i]->in.report.claim.wait_ms = 0;
    }
    trips_of(&rig, next, PAIR);
    for (size_t i = 0; i < PAIR; i++)
        CHECK_INT(next[i]->out.page.count, 0);
    rig_done(&rig);
}

/* ---- the other kind -------------------------------------------------------------------------- */

/* Where only jobs were found for a while, whether there are steps is asked with the commit; the next claim knows. */
TEST(steps_are_looked_for_with_the_commit_of_jobs)
{
    struct rig rig;
    struct request *held[PAIR], *next[PAIR];
    cairn_engine *other;
    cairn_error error = {0};
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    rig_init(&rig, 60000);
    CHECK_INT(rig_do(&rig, rig_deploy(CHAIN)), CAIRN_OK);
    enqueue(&rig, 4 * PAIR);
    for (size_t i = 0; i < PAIR; i++)
        CHECK_INT(rig_do(&rig, held[i] = claim()), CAIRN_OK);
    go_on_all(&rig, held, next); /* no steps */

    options.url = rig.url;
    options.virtual_clock = true;
    options.start_us = RIG_START_S * US_PER_SEC;
    CHECK_OK(cairn_open(&options, &other, &error));
    cairn_start_options start = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    start.workflow = "chain";
    CHECK_OK(cairn_instance_start(other, &start, &started, &error));
    cairn_close(other);

    end_moments(&rig);
    uint64_t asked = faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS);
    CHECK_INT(go_on_all(&rig, next, held), 2 + TIMER);
    for (size_t i = 0; i < PAIR; i++)
        CHECK_STR(held[i]->out.page.tasks[0].kind, "job");
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS) - asked, 0);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_LOOK_FOR_TASKS), 1);
    go_on_all(&rig, held, next);
    CHECK(faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS) > asked,
          "what was found is not asked for");
    rig_done(&rig);
}

/* ---- functions ------------------------------------------------------------------------------- */

static const char *text_of(const struct rig *rig, const char *sql, char *ret_text, size_t size)
{
    PGconn *conn = PQconnectdb(rig->url);
    PGresult *result = PQexec(conn, sql);
    CHECK(PQresultStatus(result) == PGRES_COMMAND_OK || PQntuples(result) == 1, "%s",
          PQerrorMessage(conn));
    snprintf(ret_text, size, "%s", PQntuples(result) ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    PQfinish(conn);
    return ret_text;
}

static void begin_functions(struct rig *rig, const cairn_task **ret_tasks)
{
    rig_init(rig, 60000);
    for (size_t i = 0; i < PAIR; i++)
        ret_tasks[i] = &rig_claim_function(rig)->out.page.tasks[0];
}

/* One more step of each. */
static uint64_t commit_all(struct rig *rig, const cairn_task *const *tasks, int32_t place)
{
    struct request *commits[PAIR];
    for (size_t i = 0; i < PAIR; i++)
        commits[i] = rig_commit(tasks[i], place, tasks[i]->memory->revision + place - 1);
    return trips_of(rig, commits, PAIR);
}

/* What the engine has written is not read again, nor locked before it is written. */
TEST(a_batch_of_steps_of_functions_waits_once)
{
    struct rig rig;
    const cairn_task *tasks[PAIR];
    uint64_t least = 0;
    begin_functions(&rig, tasks);
    for (int try = 0; try < TRIES; try++)
        note_least(&least, commit_all(&rig, tasks, try + 1));
    CHECK_INT(least, 1);
    rig_done(&rig);
}

/* Somebody else, who holds the rows of all steps. */
static PGconn *hold_steps(const struct rig *rig)
{
    PGconn *foreign = PQconnectdb(rig->url);
    PQclear(PQexec(foreign, "BEGIN; SELECT FROM workflow.workflow_step FOR UPDATE"));
    CHECK_INT(PQtransactionStatus(foreign), PQTRANS_INTRANS);
    return foreign;
}

/* The lease is not touched: so nobody waits for who holds it. */
TEST(a_step_of_a_function_needs_nothing_of_the_row_that_has_the_lease)
{
    struct rig rig;
    const cairn_task *tasks[PAIR];
    begin_functions(&rig, tasks);
    PGconn *foreign = hold_steps(&rig);
    CHECK_INT(commit_all(&rig, tasks, 1), 1);
    CHECK_INT(commit_all(&rig, tasks, 2), 1);
    PQfinish(foreign);
    rig_done(&rig);
}

/* Whoever has written an instance since, the commit sees it. */
TEST(a_row_that_was_written_elsewhere_is_read_again)
{
    struct rig rig;
    const cairn_task *tasks[PAIR];
    char text[64];
    begin_functions(&rig, tasks);
    text_of(&rig, "UPDATE workflow.workflow_instance SET child_count = 7", text, sizeof text);
    CHECK(commit_all(&rig, tasks, 1) > 2, "it was not read");
    text_of(&rig, "UPDATE workflow.workflow_instance SET child_count = child_count + 1", text,
            sizeof text);
    CHECK(commit_all(&rig, tasks, 2) > 2, "it was not read");
    CHECK_INT(commit_all(&rig, tasks, 3), 2);
    CHECK_STR(text_of(&rig,
                      "SELECT string_agg(child_count || ' ' || places, ', ') FROM "
                      "workflow.workflow_instance",
                      text, sizeof text),
              "8 4, 8 4");
    rig_done(&rig);
}

static int64_t number_of(const struct rig *rig, const char *sql)
{
    char text[64];
    return strtoll(text_of(rig, sql, text, sizeof text), NULL, 10);
}

/* How many commits have gone the way without locks. */
static uint64_t unlocked(const struct rig *rig)
{
    return faulty_calls(rig->faulty, FAULTY_ADVANCE_INSTANCES);
}

static void write_instances(void *rig)
{
    char text[64];
    text_of(rig, "UPDATE workflow.workflow_instance SET child_count = child_count + 1", text,
            sizeof text);
}

/* Not even who writes it when the commit is on its way is overlooked: nothing of that commit stays, and it is made again. */
TEST(a_row_that_is_written_while_it_is_committed_is_read_again)
{
    struct rig rig;
    const cairn_task *tasks[PAIR];
    char text[64];
    begin_functions(&rig, tasks);
    struct faulty_rule rule = {
        .verb = FAULTY_ADVANCE_INSTANCES, .call = 1, .meanwhile = write_instances, .arg = &rig};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    commit_all(&rig, tasks, 1);
    CHECK_INT(unlocked(&rig), 1);
    commit_all(&rig, tasks, 2);
    CHECK_STR(text_of(&rig,
                      "SELECT string_agg(concat_ws(' ', child_count, places, commits, (SELECT "
                      "count(*) FROM workflow.workflow_step WHERE instance_id = i.id)), ', ') "
                      "FROM workflow.workflow_instance AS i",
                      text, sizeof text),
              "1 3 2 3, 1 3 2 3");
    rig_done(&rig);
}

/* Somebody holds the row: the commit does not wait with all others in it, but is made in the way that leaves that run out. */
TEST(a_run_whose_instance_is_held_elsewhere_goes_on_when_it_is_free)
{
    struct rig rig;
    const cairn_task *tasks[PAIR];
    struct request *commits[PAIR];
    char hold[120];
    begin_functions(&rig, tasks);
    PGconn *foreign = PQconnectdb(rig.url);
    snprintf(hold, sizeof hold,
             "BEGIN; SELECT FROM workflow.workflow_instance WHERE id = '%s' FOR UPDATE",
             tasks[0]->instance_id);
    PQclear(PQexec(foreign, hold));
    struct faulty_rule rule = {
        .verb = FAULTY_LOCK_INSTANCES, .call = 1, .meanwhile = let_go, .arg = foreign};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    for (size_t i = 0; i < PAIR; i++)
        rig_submit(&rig, commits[i] = rig_commit(tasks[i], 1, tasks[i]->memory->revision));
    rig_run(&rig);
    for (size_t i = 0; i < PAIR; i++)
        CHECK(rig_is_done(commits[i]) && !commits[i]->code, "%s", commits[i]->error.message);
    CHECK_INT(unlocked(&rig), 1);
    CHECK_INT(PQtransactionStatus(foreign), PQTRANS_IDLE);
    PQfinish(foreign);
    rig_done(&rig);
}

/* Whether it was carried out is not known: it is made again with the rows read, and finds itself. */
TEST(a_commit_whose_answer_is_lost_is_made_once)
{
    struct rig rig;
    const cairn_task *tasks[PAIR];
    begin_functions(&rig, tasks);
    struct faulty_rule rule = {
        .verb = FAULTY_COMMIT, .call = 1, .moment = FAULTY_AFTER, .code = CAIRN_E_UNREACHABLE};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    CHECK_INT(rig_do(&rig, rig_commit(tasks[0], 1, tasks[0]->memory->revision)), CAIRN_OK);
    CHECK_INT(faulty_failures(rig.faulty), 1);
    CHECK_INT(number_of(&rig, "SELECT count(*) FROM workflow.workflow_event WHERE event_type = "
                              "'step_completed'"),
              1);
    CHECK_INT(number_of(&rig, "SELECT max(places) FROM workflow.workflow_instance"), 2);
    rig_done(&rig);
}

/* After that rows are locked for a while, since one that is written elsewhere makes all others of its batch wait. */
TEST(rows_are_locked_for_a_while_after_one_was_written_elsewhere)
{
    enum { WHILE = 16 };
    struct rig rig;
    const cairn_task *tasks[PAIR];
    int32_t place = 1;
    begin_functions(&rig, tasks);
    while (unlocked(&rig) == 0)
        commit_all(&rig, tasks, place++);
    write_instances(&rig);
    while (unlocked(&rig) == 1)
        commit_all(&rig, tasks, place++);
    for (int i = 0; i < WHILE; i++)
        commit_all(&rig, tasks, place++);
    CHECK_INT(unlocked(&rig), 2);
    for (int try = 0; try < TRIES; try++)
        commit_all(&rig, tasks, place++);
    CHECK(unlocked(&rig) > 2, "rows are still locked");
    rig_done(&rig);
}

/* A step that changes more of its instance than that: all columns are written, with the row locked. */
TEST(the_first_step_that_can_be_undone_writes_its_instance_whole)
{
    struct rig rig;
    const cairn_task *tasks[PAIR];
    begin_functions(&rig, tasks);
    for (int32_t place = 1; place <= TRIES; place++) {
        int64_t revision = tasks[0]->memory->revision + place - 1;
        struct request *commit = rig_commit(tasks[0], place, revision);
        commit->in.commit.steps[0].compensation = "undo";
        CHECK_INT(rig_do(&rig, commit), CAIRN_OK);
        CHECK(place > 1 || unlocked(&rig) == 0, "the first was not locked");
    }
    CHECK(unlocked(&rig) > 0, "others were locked");
    CHECK_INT(number_of(&rig, "SELECT count(*) FROM workflow.workflow_instance WHERE "
                              "has_compensation AND places = 4"),
              1);
    rig_done(&rig);
}

/* Whatever else is in the batch may ask the store before it commits. */
TEST(a_step_of_a_function_beside_other_requests_is_locked)
{
    struct rig rig;
    const cairn_task *tasks[PAIR];
    begin_functions(&rig, tasks);
    struct request *both[PAIR] = {rig_commit(tasks[0], 1, tasks[0]->memory->revision),
                                  rig_enqueue(&rig, "t", NULL)};
    trips_of(&rig, both, PAIR);
    CHECK_INT(unlocked(&rig), 0);
    rig_done(&rig);
}

/* The ids of events are given by the database when they are written; the chain is whole, with its marks. */
TEST(the_history_of_a_run_whose_rows_are_not_locked_is_whole)
{
    enum { MANY = 120 };
    struct rig rig;
    const cairn_task *tasks[PAIR];
    begin_functions(&rig, tasks);
    for (int32_t place = 1; place <= MANY; place++)
        commit_all(&rig, tasks, place);
    CHECK(unlocked(&rig) > MANY / 2, "rows were locked");
    CHECK_INT(number_of(&rig, "SELECT count(*) FROM workflow.workflow_event AS e JOIN "
                              "workflow.workflow_instance AS i ON i.id = e.workflow_id WHERE "
                              "e.event_type = 'step_completed'"),
              PAIR * MANY);
    CHECK_INT(number_of(&rig, "SELECT count(*) FROM workflow.workflow_instance AS i WHERE "
                              "last_event = (SELECT max(e.id) FROM workflow.workflow_event AS "
                              "e WHERE e.workflow_id = i.id)"),
              PAIR);
    CHECK_INT(number_of(&rig, "SELECT count(*) FROM workflow.workflow_event_post AS p JOIN "
                              "workflow.workflow_event AS e ON e.id = p.event_id AND "
                              "e.workflow_id = p.workflow_id"),
              PAIR);
    rig_done(&rig);
}

/* A cancel from elsewhere is told, although the rows were known. */
TEST(a_run_whose_rows_are_known_is_told_of_a_cancel_elsewhere)
{
    struct rig rig;
    const cairn_task *tasks[PAIR];
    cairn_engine *other;
    cairn_error error = {0};
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    begin_functions(&rig, tasks);
    commit_all(&rig, tasks, 1);
    options.url = rig.url;
    options.virtual_clock = true;
    options.start_us = RIG_START_S * US_PER_SEC;
    CHECK_OK(cairn_open(&options, &other, &error));
    CHECK_OK(cairn_instance_cancel(other, tasks[0]->instance_id, "me", "why", &error));
    cairn_close(other);
    struct request *commit = rig_commit(tasks[0], 2, tasks[0]->memory->revision + 1);
    CHECK_INT(rig_do(&rig, commit), CAIRN_OK);
    CHECK_STR(commit->out.committed.stop, "cancelled");
    rig_done(&rig);
}

/* Ends a run and claims the next. */
static struct request *end_run(const cairn_task *task, int64_t revision)
{
    static const char *const types[] = {"f"};
    struct request *request = rig_commit(task, 1, revision);
    request->in.commit.outcome = PASSAGE_COMPLETE;
    request->in.commit.extend_ms = 0;
    request->in.commit.is_claiming = true;
    request->in.commit.claim = (cairn_claim_options)CAIRN_CLAIM_DEFAULTS;
    request->in.commit.claim.worker = "w";
    request->in.commit.claim.types = types;
    request->in.commit.claim.type_count = 1;
    return request;
}

TEST(a_batch_that_ends_and_claims_functions_waits_four_times)
{
    struct rig rig;
    const cairn_task *tasks[PAIR];
    uint64_t least = 0;
    begin_functions(&rig, tasks);
    for (size_t i = 0; i < PAIR * TRIES; i++)
        CHECK_INT(rig_do(&rig, rig_start("f")), CAIRN_OK);
    for (int try = 0; try < TRIES; try++) {
        struct request *ends[PAIR];
        for (size_t i = 0; i < PAIR; i++)
            ends[i] = end_run(tasks[i], tasks[i]->memory->revision);
        note_least(&least, trips_of(&rig, ends, PAIR));
        for (size_t i = 0; i < PAIR; i++) {
            CHECK_INT(ends[i]->out.page.count, 1);
            tasks[i] = &ends[i]->out.page.tasks[0];
        }
    }
    CHECK_INT(least, 4 + TIMER);
    rig_done(&rig);
}

/* ---- the row that has the lease ----------------------------------------------------------------- */

static uint64_t end_plainly(struct rig *rig, const cairn_task *task)
{
    struct request *end = end_run(task, task->memory->revision);
    end->in.commit.is_claiming = false;
    return trips_of(rig, &end, 1);
}

static void check_ended(const struct rig *rig, const char *expected)
{
    char text[64];
    CHECK_STR(text_of(rig,
                      "SELECT string_agg(concat_ws(' ', status, locked_by, token, is_counted, "
                      "ended_outcome), ', ' ORDER BY instance_seq) FROM workflow.workflow_step "
                      "WHERE seq = 0",
                      text, sizeof text),
              expected);
}

/* A heartbeat elsewhere has made the lease longer: the row is written as it would be had it been read. */
TEST(a_run_ends_whose_lease_was_made_longer_elsewhere)
{
    struct rig rig;
    const cairn_task *tasks[PAIR];
    char text[64];
    begin_functions(&rig, tasks);
    text_of(&rig,
            "UPDATE workflow.workflow_step SET locked_until = locked_until + interval '1 h', "
            "due_at = due_at + interval '1 h'",
            text, sizeof text);
    for (size_t i = 0; i < PAIR; i++)
        CHECK_INT(end_plainly(&rig, tasks[i]), 2);
    check_ended(&rig, "completed f complete, completed f complete");
    CHECK_STR(text_of(&rig,
                      "SELECT count(*) FROM workflow.workflow_step WHERE due_at IS NOT NULL OR "
                      "locked_until IS NOT NULL",
                      text, sizeof text),
              "0");
    rig_done(&rig);
}

/* Since the claim a limit counts its lease: the row is read, and the place is given back. */
TEST(a_run_ends_whose_lease_a_limit_counts_since)
{
    struct rig rig;
    const cairn_task *tasks[PAIR];
    char text[64];
    begin_functions(&rig, tasks);
    text_of(&rig, "UPDATE workflow.workflow_step SET is_counted = true", text, sizeof text);
    uint64_t places = rig.engine->ready_epochs[EPOCH_PLACES];
    CHECK(end_plainly(&rig, tasks[0]) > 2, "it was not read");
    CHECK(rig.engine->ready_epochs[EPOCH_PLACES] > places, "the place was not given back");
    rig_done(&rig);
}

/* Somebody holds the row for a moment: it is left out at first and then waited for. */
TEST(a_run_whose_row_is_held_elsewhere_ends_when_it_is_free)
{
    struct rig rig;
    const cairn_task *tasks[PAIR];
    begin_functions(&rig, tasks);
    PGconn *foreign = hold_steps(&rig);
    struct faulty_rule rule = {
        .verb = FAULTY_LOCK_STEPS, .call = 1, .meanwhile = let_go, .arg = foreign};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    CHECK_INT(end_plainly(&rig, tasks[0]), 3);
    CHECK_INT(PQtransactionStatus(foreign), PQTRANS_IDLE);
    PQfinish(foreign);
    rig_done(&rig);
}
