/* tests/engine/test_ahead.c - claims of jobs that are sent together with what is written before them: the
 * rows, events and answers are those of one question after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

#include <libpq-fe.h>
#include <stdio.h>

static void run(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    CHECK(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, "%s: %s", sql,
          PQerrorMessage(conn));
}

/* Claims find out that there are no steps, and hold a job each. */
static void hold(struct rig *rig, struct request **claims, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(rig_do(rig, claims[i] = rig_claim(rig, "%", 0)), CAIRN_OK);
        CHECK_INT(claims[i]->out.page.count, 1);
    }
}

static void enqueue(struct rig *rig, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_INT(rig_do(rig, rig_enqueue(rig, "a", NULL)), CAIRN_OK);
}

static const char *task_id(const struct request *request)
{
    return request->out.page.tasks[0].id;
}

/* Jobs that are leased, as the store has them. */
static uint64_t leased(struct rig *rig)
{
    struct request *request = rig_read(rig, OP_STATS, NULL);
    CHECK_INT(request->code, CAIRN_OK);
    return request->out.stats.leased;
}

TEST(a_report_and_its_claim_are_asked_together)
{
    struct rig rig;
    struct request *claims[2], *reports[2];
    rig_init(&rig, 1000);
    enqueue(&rig, 6);
    hold(&rig, claims, 2);
    uint64_t sent = faulty_calls(rig.faulty, FAULTY_SEND_COMPLETE_JOBS);
    for (size_t i = 0; i < 2; i++)
        rig_submit(&rig, reports[i] = rig_complete(&rig, claims[i], true));
    rig_run(&rig);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_SEND_COMPLETE_JOBS) - sent, 1);
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(reports[i]->code, CAIRN_OK);
        CHECK_INT(reports[i]->out.page.count, 1);
        CHECK_STR(rig_events(&rig, task_id(claims[i])), "created leased started succeeded");
        CHECK_STR(rig_events(&rig, task_id(reports[i])), "created leased started");
    }
    CHECK_INT(leased(&rig), 2);
    rig_done(&rig);
}

/* The rows that another transaction holds make a request leave the batch after its claim was sent. */
TEST(a_batch_that_a_request_leaves_is_repeated_without)
{
    struct rig rig;
    struct request *claims[2], *reports[2];
    char hold_row[128];
    rig_init(&rig, 1000);
    PGconn *foreign = PQconnectdb(rig.url);
    enqueue(&rig, 6);
    hold(&rig, claims, 2);
    run(foreign, "BEGIN");
    snprintf(hold_row, sizeof hold_row,
             "SELECT FROM workflow.workflow_run WHERE id = '%s' FOR UPDATE",
             task_id(claims[0]));
    run(foreign, hold_row);
    for (size_t i = 0; i < 2; i++)
        rig_submit(&rig, reports[i] = rig_complete(&rig, claims[i], true));
    struct faulty_rule rule = {.verb = FAULTY_LOCK_JOBS,
                               .call = 3, /* of both tries, and then of the request alone */
                               .code = CAIRN_E_BUSY};
    CHECK(faulty_add(rig.faulty, &rule), "no memory");
    rig_run(&rig);
    CHECK_INT(reports[1]->code, CAIRN_OK);
    CHECK_INT(reports[1]->out.page.count, 1);
    CHECK(!rig_is_done(reports[0]), "a job was completed that is held elsewhere");
    CHECK_INT(leased(&rig), 2); /* the one that is held, and the new one */
    run(foreign, "ROLLBACK");
    PQfinish(foreign);
    for (int i = 0; i < 100 && !rig_is_done(reports[0]); i++) {
        rig.engine->committers[0].rest_until_us = 0;
        rig_run(&rig);
    }
    CHECK_INT(reports[0]->code, CAIRN_OK);
    CHECK_INT(reports[0]->out.page.count, 1);
    CHECK_INT(leased(&rig), 2);
    CHECK_STR(rig_events(&rig, task_id(reports[0])), "created leased started");
    CHECK_STR(rig_events(&rig, task_id(reports[1])), "created leased started");
    CHECK_STR(rig_events(&rig, task_id(claims[0])), "created leased started succeeded");
    rig_done(&rig);
}

/* It is inserted as leased, not changed to be: so there is one version of its row. */
TEST(a_new_job_is_written_once_for_the_claim_that_waits)
{
    struct rig rig;
    rig_init(&rig, 60000);
    struct request *waiting = rig_claim(&rig, "a", 60000), *added;
    rig_submit(&rig, waiting);
    rig_run(&rig);
    CHECK(!rig_is_done(waiting), "it does not wait");
    CHECK_INT(rig_do(&rig, added = rig_enqueue(&rig, "a", NULL)), CAIRN_OK);
    CHECK(rig_is_done(waiting), "it still waits");
    CHECK_STR(task_id(waiting), added->out.enqueued[0].id);
    CHECK_STR(rig_events(&rig, task_id(waiting)), "created leased started");
    PGconn *conn = PQconnectdb(rig.url);
    PGresult *place = PQexec(conn, "SELECT ctid FROM workflow.workflow_run");
    CHECK_STR(PQgetvalue(place, 0, 0), "(0,1)");
    PQclear(place);
    PQfinish(conn);
    CHECK_INT(leased(&rig), 1);
    CHECK_INT(rig_do(&rig, rig_complete(&rig, waiting, false)), CAIRN_OK);
    CHECK_STR(rig_events(&rig, task_id(waiting)), "created leased started succeeded");
    rig_done(&rig);
}

/* Completions are asked for first; new jobs and the claims for them go together then. */
TEST(reports_new_jobs_and_claims_of_one_batch)
{
    struct rig rig;
    struct request *claims[2], *reports[2], *added[2];
    rig_init(&rig, 1000);
    enqueue(&rig, 2);
    hold(&rig, claims, 2);
    uint64_t sent = faulty_calls(rig.faulty, FAULTY_SEND_INSERT_JOBS);
    uint64_t commits = rig.engine->counters.commits;
    for (size_t i = 0; i < 2; i++) {
        rig_submit(&rig, added[i] = rig_enqueue(&rig, "a", NULL));
        rig_submit(&rig, reports[i] = rig_complete(&rig, claims[i], true));
    }
    rig_run(&rig);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_SEND_INSERT_JOBS) - sent, 1);
    CHECK_INT(rig.engine->counters.commits - commits, 1);
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(added[i]->code, CAIRN_OK);
        CHECK_INT(reports[i]->code, CAIRN_OK);
        CHECK_INT(reports[i]->out.page.count, 1);
        CHECK_STR(task_id(reports[i]), added[i]->out.enqueued[0].id);
        CHECK_STR(rig_events(&rig, task_id(claims[i])), "created leased started succeeded");
        CHECK_STR(rig_events(&rig, task_id(reports[i])), "created leased started");
    }
    CHECK_INT(leased(&rig), 2);
    rig_done(&rig);
}

/* What is quickly found is nothing, if there are no jobs and it is known that there were no steps. */
TEST(a_claim_of_a_report_does_not_ask_again_for_steps)
{
    struct rig rig;
    struct request *claims[2];
    rig_init(&rig, 1000);
    enqueue(&rig, 2);
    hold(&rig, claims, 2);
    uint64_t asked = faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS);
    struct request *report = rig_complete(&rig, claims[0], true);
    report->in.report.claim.wait_ms = 0;
    CHECK_INT(rig_do(&rig, report), CAIRN_OK);
    CHECK_INT(report->out.page.count, 0);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS), asked);
    struct request *claim = rig_claim(&rig, "%", 0);
    CHECK_INT(rig_do(&rig, claim), CAIRN_OK);
    CHECK(faulty_calls(rig.faulty, FAULTY_CLAIM_STEPS) > asked, "an empty answer is not sure");
    rig_done(&rig);
}

TEST(a_new_job_is_given_to_a_claim_that_waits_by_the_same_question)
{
    struct rig rig;
    rig_init(&rig, 1000);
    struct request *waiting = rig_claim(&rig, "a", 60000);
    rig_submit(&rig, waiting);
    rig_run(&rig);
    CHECK(!rig_is_done(waiting), "it does not wait");
    uint64_t commits = rig.engine->counters.commits;
    struct request *added = rig_enqueue(&rig, "a", "k");
    CHECK_INT(rig_do(&rig, added), CAIRN_OK);
    CHECK_INT(faulty_calls(rig.faulty, FAULTY_SEND_INSERT_JOBS), 1);
    CHECK(rig_is_done(waiting), "it still waits");
    CHECK_INT(rig.engine->counters.commits - commits, 1);
    CHECK_STR(task_id(waiting), added->out.enqueued[0].id);
    CHECK_STR(rig_events(&rig, task_id(waiting)), "created leased started");

    /* A key that is known makes nothing ready. */
    struct request *other = rig_claim(&rig, "a", 60000);
    rig_submit(&rig, other);
    rig_run(&rig);
    struct request *again = rig_enqueue(&rig, "a", "k");
    CHECK_INT(rig_do(&rig, again), CAIRN_OK);
    CHECK_INT(again->out.enqueued[0].existing, 1);
    CHECK(!rig_is_done(other), "it got a job that was there before");
    CHECK_INT(rig_do(&rig, rig_enqueue(&rig, "a", NULL)), CAIRN_OK);
    CHECK(rig_is_done(other), "it was forgotten");
    rig_done(&rig);
}

/* ---- waiting without asking ------------------------------------------------------------------ */

/* However long the test takes: what is known stays so until something ends it. */
static struct request *wait_for(struct rig *rig, const char *type)
{
    struct request *claim = rig_claim(rig, type, 60000);
    for (size_t i = 0; i < NOTHING_MAX; i++)
        if (rig->engine->nothings[i].until_us)
            rig->engine->nothings[i].until_us = INT64_MAX;
    rig_submit(rig, claim);
    return claim;
}

/* The claim of a worker that has just been given all that there was. */
TEST(a_claim_waits_without_asking_for_what_was_not_there_a_moment_ago)
{
    struct rig rig;
    rig_init(&rig, 1000);
    rig.engine->may_park_unasked = true;
    struct request *first = wait_for(&rig, "a");
    rig_run(&rig);
    uint64_t commits = rig.engine->counters.commits;
    struct request *second = wait_for(&rig, "a");
    CHECK_INT(rig.engine->parked.count, 2);
    rig_run(&rig);
    CHECK_INT(rig.engine->counters.commits, commits);

    struct request *other = wait_for(&rig, "b"); /* nobody has looked for it */
    CHECK_INT(rig.engine->writes.count, 1);
    rig_run(&rig);
    CHECK_INT(rig_do(&rig, rig_enqueue(&rig, "a", NULL)), CAIRN_OK);
    CHECK(rig_is_done(first) && !rig_is_done(second), "both, or none");
    struct request *third = wait_for(&rig, "a"); /* the first has taken all */
    CHECK_INT(rig.engine->writes.count, 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(rig_do(&rig, rig_enqueue(&rig, "a", NULL)), CAIRN_OK);
    CHECK(rig_is_done(second) && rig_is_done(third) && !rig_is_done(other), "they still wait");

    CHECK_INT(rig_do(&rig, rig_enqueue(&rig, "a", NULL)), CAIRN_OK); /* for nobody */
    struct request *late = wait_for(&rig, "a");
    rig_run(&rig);
    CHECK(rig_is_done(late) && late->out.page.count == 1, "there is a job for it");
    rig_done(&rig);
}

TEST(a_claim_asks_after_news)
{
    struct rig rig;
    rig_init(&rig, 1000);
    rig.engine->may_park_unasked = true;
    wait_for(&rig, "a");
    rig_run(&rig);
    pthread_mutex_lock(&rig.engine->lock);
    park_wake(rig.engine, NULL); /* as after a commit of another process */
    pthread_mutex_unlock(&rig.engine->lock);
    uint64_t waiting = rig.engine->writes.count;
    wait_for(&rig, "a");
    CHECK_INT(rig.engine->writes.count, waiting + 1);
    rig_run(&rig);
    rig_done(&rig);
}
