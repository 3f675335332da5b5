/* tests/spec/test_wait_elsewhere.c - waiting for what another process ends, while notices from it are lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two engines on one database, PostgreSQL only.
 */
#include "everywhere.h"

#include "scratch.h"

#include <libpq-fe.h>
#include <stdlib.h>

static void run(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    CHECK(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK, "%s: %s", sql,
          PQerrorMessage(conn));
}

/* The connections on which engines listen: the latest statement of each is one of these. */
static void cut_listeners(PGconn *conn)
{
    run(conn,
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND (query LIKE 'LISTEN%' OR query LIKE 'DELETE FROM workflow.workflow_waiter%')");
}

struct waiter {
    struct sleeper sleeper;
    cairn_engine *engine;
    const char *id;
    cairn_code code;
    cairn_page *page;
    cairn_error error;
};

static void wait_for_job(void *arg)
{
    struct waiter *waiter = arg;
    waiter->code =
        cairn_job_wait(waiter->engine, waiter->id, PATIENCE_MS, &waiter->page, &waiter->error);
}

enum cut { CUT_NONE, CUT_BEFORE, CUT_DURING, CUT_COUNT };

static void wait_once(struct world *world, PGconn *conn, enum cut cut)
{
    enum { JOBS = 3 };
    cairn_enqueued jobs[JOBS];
    struct waiter waiters[JOBS];
    add_jobs(world, jobs, JOBS);
    if (cut == CUT_BEFORE)
        cut_listeners(conn);
    for (int i = 0; i < JOBS; i++) {
        waiters[i] = (struct waiter){.engine = world->engine, .id = jobs[i].id};
        sleeper_start(&waiters[i].sleeper, wait_for_job, &waiters[i]);
    }
    sleeper_await(&waiters[0].sleeper);
    if (cut == CUT_DURING)
        cut_listeners(conn);
    do_jobs(world, world->other, JOBS);
    for (int i = 0; i < JOBS; i++) {
        sleeper_join(&waiters[i].sleeper);
        CHECK(waiters[i].code == CAIRN_OK, "%s", waiters[i].error.message);
        CHECK_STR(cairn_page_job(waiters[i].page, 0)->status, "succeeded");
        cairn_page_free(waiters[i].page);
    }
}

TEST(no_end_is_missed_while_the_engine_cannot_listen)
{
    struct world world;
    open_world(&world);
    PGconn *conn = PQconnectdb(world.url);
    for (int round = 0; round < 4 * CUT_COUNT; round++)
        wait_once(&world, conn, (enum cut)(round % CUT_COUNT));
    PQfinish(conn);
    close_world(&world);
}

/* ---- GET /v1/about --------------------------------------------------------------------------- */

static void check_about(const char *url, const char *waits)
{
    cairn_engine *engine;
    cairn_error error;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = url;
    CHECK(cairn_open(&options, &engine, &error) == CAIRN_OK, "%s", error.message);
    cairn_request request = {.size = sizeof request, .method = "GET", .target = "/v1/about"};
    cairn_response *response;
    CHECK(cairn_call(engine, &request, &response, &error) == CAIRN_OK, "%s", error.message);
    const char *body = cairn_response_body(response, NULL);
    CHECK(strstr(body, waits), "%s", body);
    cairn_response_free(response);
    cairn_close(engine);
}

TEST(about_says_how_ends_elsewhere_are_learned_of)
{
    check_about(scratch_store_of("postgres"), "\"waits\":\"notify\"");
    check_about(scratch_store_of("pgbouncer"), "\"waits\":\"poll\"");
    check_about(scratch_store_of("sqlite"), "\"waits\":\"notify\"");
}
