/* tests/spec/test_intake.c - instances that an application starts in its own transaction, with plain
 * SQL.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * $CAIRN_TEST_STORE is sqlite, postgres, pgbouncer, or "http": a server on a SQLite file.  The
 * application is a connection of its own to the same database.
 */
#include "cairn.h"
#include "scratch.h"
#include "server.h"
#include "test.h"

#include <jansson.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#define ID "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f"
#define OTHER_ID "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e60"

/* A connection of the application. */
struct app {
    sqlite3 *sqlite;
    PGconn *postgres;
    bool is_refused; /* the latest statement */
    char message[512];
    char answer[512]; /* the first value of its first row; "": there is none */
};

struct world {
    struct server server;
    cairn_engine *engine;
    const char *url; /* of the database */
    cairn_error error;
    cairn_page *page; /* what was asked for last */
    struct app app;
};

static bool is_kind(const char *kind)
{
    return strcmp(scratch_kind(), kind) == 0;
}

static bool is_postgres(void)
{
    return is_kind("postgres") || is_kind("pgbouncer");
}

/* ---- the application -------------------------------------------------------------------------- */

static void app_open(struct app *app, const char *url)
{
    *app = (struct app){0};
    if (is_postgres()) {
        app->postgres = PQconnectdb(url);
        CHECK(PQstatus(app->postgres) == CONNECTION_OK, "%s", PQerrorMessage(app->postgres));
        return;
    }
    CHECK_INT(sqlite3_open(url + strlen("sqlite:"), &app->sqlite), SQLITE_OK);
    sqlite3_busy_timeout(app->sqlite, 30000);
}

static void app_close(struct app *app)
{
    sqlite3_close(app->sqlite);
    if (app->postgres)
        PQfinish(app->postgres);
}

static void ask_postgres(struct app *app, const char *sql)
{
    PGresult *result = PQexec(app->postgres, sql);
    ExecStatusType status = PQresultStatus(result);
    app->is_refused = status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK;
    snprintf(app->message, sizeof app->message, "%s", PQresultErrorMessage(result));
    if (!app->is_refused && PQntuples(result))
        snprintf(app->answer, sizeof app->answer, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
}

static void ask_sqlite(struct app *app, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(app->sqlite, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    app->is_refused = rc != SQLITE_ROW && rc != SQLITE_DONE;
    snprintf(app->message, sizeof app->message, "%s", sqlite3_errmsg(app->sqlite));
    const unsigned char *text = rc == SQLITE_ROW ? sqlite3_column_text(stmt, 0) : NULL;
    if (text)
        snprintf(app->answer, sizeof app->answer, "%s", (const char *)text);
    sqlite3_finalize(stmt);
}

/* Executes a statement, in which {table} is a table of Cairn's; its answer. */
__attribute__((format(printf, 2, 3))) static const char *ask(struct app *app,
                                                             const char *format, ...)
{
    char given[4096], sql[4096];
    size_t len = 0;
    va_list args;
    va_start(args, format);
    vsnprintf(given, sizeof given, format, args);
    va_end(args);
    for (const char *at = given; *at && len < sizeof sql - 64; at++) {
        if (strncmp(at, "{workflow_", 10) != 0) {
            sql[len++] = *at;
            continue;
        }
        int name = (int)strcspn(at + 1, "}");
        len += (size_t)sprintf(sql + len, "%s%.*s", is_postgres() ? "workflow." : "", name,
                               at + 1);
        at += name + 1;
    }
    sql[len] = '\0';
    app->answer[0] = app->message[0] = '\0';
    if (is_postgres())
        ask_postgres(app, sql);
    else
        ask_sqlite(app, sql);
    return app->answer;
}

static const char *do_sql(struct app *app, const char *sql)
{
    ask(app, "%s", sql);
    CHECK(!app->is_refused, "%s: %s", sql, app->message);
    return app->answer;
}

/* The statement of the guide; the id that it answers, "" if the key is known. */
static const char *insert_start(struct app *app, const char *id, const char *workflow,
                                const char *key)
{
    char quoted[320] = "NULL";
    if (key)
        snprintf(quoted, sizeof quoted, "'%s'", key);
    return ask(app,
               "INSERT INTO {workflow_intake} (id, workflow, input, key) "
               "VALUES ('%s', '%s', '[17]', %s) ON CONFLICT DO NOTHING RETURNING id",
               id, workflow, quoted);
}

/* ---- the engine ------------------------------------------------------------------------------- */

static void done(struct world *world, cairn_code code)
{
    CHECK(code == CAIRN_OK, "%s: %s (%s)", cairn_code_name(code), world->error.message,
          world->error.detail);
}

static cairn_engine *open_engine(struct world *world, const char *url, bool no_timers)
{
    cairn_engine *engine = NULL;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = url;
    open.no_timers = no_timers;
    done(world, cairn_open(&open, &engine, &world->error));
    return engine;
}

/* no_timers: what SQL writes becomes an instance only before a claim.  A server has timers. */
static void open_world(struct world *world, bool no_timers)
{
    *world = (struct world){0};
    world->url = is_kind("http") ? scratch_store_of("sqlite") : scratch_store();
    if (is_kind("http"))
        server_start(&world->server, world->url, "0", NULL);
    world->engine =
        open_engine(world, is_kind("http") ? world->server.url : world->url, no_timers);
    app_open(&world->app, world->url);
    done(world, cairn_workflow_deploy(world->engine, "w",
                                      "{workflow: w, version: 1, steps: [{step: a}]}", NULL,
                                      &world->error));
}

static void close_world(struct world *world)
{
    cairn_page_free(world->page);
    app_close(&world->app);
    cairn_close(world->engine);
    if (world->server.pid)
        server_stop(&world->server);
}

static cairn_page **next_page(struct world *world)
{
    cairn_page_free(world->page);
    world->page = NULL;
    return &world->page;
}

static const cairn_task *take(struct world *world)
{
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "w";
    claim.types = &(const char *){"a"};
    claim.type_count = 1;
    claim.wait_ms = 30000;
    done(world, cairn_claim(world->engine, &claim, next_page(world), &world->error));
    CHECK_INT(cairn_page_count(world->page), 1);
    return cairn_page_task(world->page, 0);
}

static const cairn_instance *look(struct world *world, const char *id)
{
    done(world, cairn_instance_get(world->engine, id, next_page(world), &world->error));
    return cairn_page_instance(world->page, 0);
}

static size_t count_instances(struct world *world)
{
    done(world, cairn_instance_list(world->engine, NULL, next_page(world), &world->error));
    return cairn_page_count(world->page);
}

static void check_intake(struct world *world, const char *count)
{
    CHECK_STR(do_sql(&world->app, "SELECT count(*) FROM {workflow_intake}"), count);
}

/* ---- a transaction ---------------------------------------------------------------------------- */

TEST(a_row_becomes_the_instance_with_its_id)
{
    struct world world;
    open_world(&world, false);
    do_sql(&world.app, "CREATE TABLE orders (id int)");
    do_sql(&world.app, "BEGIN");
    do_sql(&world.app, "INSERT INTO orders VALUES (17)");
    do_sql(&world.app, "INSERT INTO {workflow_intake} (id, workflow, version, input, key, "
                       "metadata) VALUES ('" ID "', 'w', 1, '{\"order\": 17}', 'order-17', "
                       "'{\"tenant\": 7}')");
    CHECK_INT(cairn_instance_get(world.engine, ID, next_page(&world), &world.error),
              CAIRN_E_NOT_FOUND);
    do_sql(&world.app, "COMMIT");
    const cairn_task *task = take(&world);
    CHECK_STR(task->instance_id, ID);
    CHECK(strstr(task->input, "17"), "the input is %s", task->input);
    CHECK(task->metadata && strstr(task->metadata, "tenant"), "no metadata");
    const cairn_instance *instance = look(&world, ID);
    CHECK_STR(instance->status, "running");
    CHECK_STR(instance->key, "order-17");
    CHECK_INT(instance->version, 1);
    CHECK(instance->metadata && strstr(instance->metadata, "tenant"), "no metadata");
    check_intake(&world, "0");
    close_world(&world);
}

TEST(a_start_by_sql_may_have_tags)
{
    struct world world;
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    open_world(&world, false);
    do_sql(&world.app, "INSERT INTO {workflow_intake} (id, workflow, tags) VALUES ('" OTHER_ID
                       "', 'w', '{\"a\": 1}')");
    do_sql(&world.app, "INSERT INTO {workflow_intake} (id, workflow, tags) VALUES ('" ID
                       "', 'w', '{\"customer\": \"4711\"}')");
    CHECK_STR(take(&world)->instance_id, ID);
    CHECK(strstr(look(&world, ID)->tags, "4711"), "no tags");
    filter.tags = &(const char *){"customer:4711"};
    filter.tag_count = 1;
    done(&world, cairn_instance_list(world.engine, &filter, next_page(&world), &world.error));
    CHECK_INT(cairn_page_count(world.page), 1);
    CHECK(strstr(do_sql(&world.app, "SELECT error FROM {workflow_intake}"), "not a text"), "%s",
          world.app.answer);
    ask(&world.app, "INSERT INTO {workflow_intake} (workflow, tags) VALUES ('w', '[1]')");
    CHECK(world.app.is_refused, "a list is no object");
    close_world(&world);
}

#define JOB_HEAD "INSERT INTO {workflow_run} (id, type, payload, "
#define JOB_VALUES "VALUES ('" ID "', 't', '{}', "

/* A job of plain SQL, which on SQLite fills in what PostgreSQL knows by itself. */
static const char *insert_job(struct app *app, const char *tags)
{
    char sql[600];
    if (is_postgres())
        snprintf(sql, sizeof sql, JOB_HEAD "tags) " JOB_VALUES "'%s') RETURNING id", tags);
    else
        snprintf(sql, sizeof sql,
                 JOB_HEAD "tags, priority, max_attempts, run_at, created_at, updated_at, "
                          "is_ready) " JOB_VALUES "'%s', 100, 3, 1, 1, 1, 1) RETURNING id",
                 tags);
    return ask(app, "%s", sql);
}

TEST(the_index_of_tags_follows_the_jobs_that_sql_writes)
{
    static const char count[] = "SELECT count(*) FROM {workflow_tag}";
    struct world world;
    open_world(&world, false);
    static const char *const bad[] = {"[1]", "{\"a\":1}", "{\"a:b\":\"c\"}", "{\"\":\"c\"}",
                                      "{\"a\":\"\",\"b\":\"\",\"c\":\"\",\"d\":\"\",\"e\":\"\","
                                      "\"f\":\"\",\"g\":\"\",\"h\":\"\",\"i\":"
                                      "\"\",\"j\":\"\",\"k\":\"\",\"l\":\"\",\"m\":\"\",\"n\":"
                                      "\"\",\"o\":\"\",\"p\":\"\",\"q\":\"\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        insert_job(&world.app, bad[i]);
        CHECK(world.app.is_refused, "%s is accepted", bad[i]);
    }
    CHECK_STR(insert_job(&world.app, "{\"a\": \"1\", \"b\": \"2\"}"), ID);
    CHECK_STR(do_sql(&world.app, count), "2");
    do_sql(&world.app, "UPDATE {workflow_run} SET tags = '{\"a\": \"3\"}'");
    CHECK_STR(do_sql(&world.app, count), "1");
    CHECK_STR(do_sql(&world.app, "SELECT value FROM {workflow_tag}"), "3");
    do_sql(&world.app, "UPDATE {workflow_run} SET tags = NULL");
    CHECK_STR(do_sql(&world.app, count), "0");
    do_sql(&world.app, "UPDATE {workflow_run} SET tags = '{\"a\": \"3\"}'");
    CHECK_STR(do_sql(&world.app, count), "1");
    do_sql(&world.app, "DELETE FROM {workflow_run}");
    CHECK_STR(do_sql(&world.app, count), "0");
    close_world(&world);
}

TEST(a_rollback_leaves_nothing)
{
    struct world world;
    open_world(&world, false);
    do_sql(&world.app, "BEGIN");
    CHECK_STR(insert_start(&world.app, ID, "w", NULL), ID);
    do_sql(&world.app, "ROLLBACK");
    insert_start(&world.app, OTHER_ID, "w", NULL);
    CHECK_STR(take(&world)->instance_id, OTHER_ID);
    CHECK_INT(count_instances(&world), 1);
    CHECK_INT(cairn_instance_get(world.engine, ID, next_page(&world), &world.error),
              CAIRN_E_NOT_FOUND);
    close_world(&world);
}

TEST(defaults_are_enough)
{
    struct world world;
    open_world(&world, false);
    const char *id = do_sql(
        &world.app, "INSERT INTO {workflow_intake} (workflow) VALUES ('w') RETURNING id");
    const cairn_task *task = take(&world);
    CHECK_STR(task->instance_id, id);
    CHECK_STR(task->input, "{}");
    close_world(&world);
}

TEST(a_later_start_waits_as_an_instance)
{
    struct world world;
    char at[64];
    open_world(&world, false);
    snprintf(at, sizeof at, is_postgres() ? "'2999-01-01T00:00:00Z'" : "32472144000000000");
    ask(&world.app,
        "INSERT INTO {workflow_intake} (id, workflow, start_at) VALUES ('" ID "', 'w', %s)",
        at);
    CHECK(!world.app.is_refused, "%s", world.app.message);
    insert_start(&world.app, OTHER_ID, "w", NULL);
    CHECK_STR(take(&world)->instance_id, OTHER_ID);
    const cairn_instance *instance = look(&world, ID);
    CHECK_STR(instance->status, "pending");
    CHECK_INT(instance->start_at_us, INT64_C(32472144000000000));
    check_intake(&world, "0");
    close_world(&world);
}

TEST(many_rows_become_instances_once_in_their_order)
{
    enum { ROWS = 600 };
    struct world world;
    open_world(&world, false);
    cairn_engine *other = open_engine(&world, world.url, false);
    do_sql(&world.app, "BEGIN");
    for (int i = 0; i < ROWS; i++) {
        ask(&world.app, "INSERT INTO {workflow_intake} (workflow, input) VALUES ('w', '%d')",
            i);
        CHECK(!world.app.is_refused, "%s", world.app.message);
    }
    do_sql(&world.app, "COMMIT");
    bool seen[ROWS] = {0};
    for (int i = 0; i < ROWS; i++) {
        int number = atoi(take(&world)->input);
        CHECK(number >= 0 && number < ROWS && !seen[number], "%d came twice", number);
        seen[number] = true;
    }
    check_intake(&world, "0");
    CHECK_STR(do_sql(&world.app, "SELECT count(*) FROM {workflow_instance}"), "600");
    cairn_close(other);
    close_world(&world);
}

/* ---- before it is turned ---------------------------------------------------------------------- */

TEST(until_it_is_an_instance_it_is_pending)
{
    struct world world;
    if (is_kind("http"))
        return; /* its server is too quick */
    open_world(&world, true);
    CHECK_STR(insert_start(&world.app, ID, "w", "k"), ID);
    const cairn_instance *instance = look(&world, ID);
    CHECK_STR(instance->id, ID);
    CHECK_STR(instance->status, "pending");
    CHECK_STR(instance->workflow, "w");
    CHECK_INT(instance->version, 1);
    CHECK_STR(instance->key, "k");
    CHECK_STR(instance->input, "[17]");
    CHECK_INT(instance->generation, 1);
    CHECK_INT(instance->current_step_count, 0);
    CHECK(instance->created_at_us > 0, "it has no time");
    check_intake(&world, "1");
    CHECK_INT(cairn_instance_wait(world.engine, ID, 0, next_page(&world), &world.error),
              CAIRN_E_TIMED_OUT);
    CHECK_STR(take(&world)->instance_id, ID);
    CHECK_STR(look(&world, ID)->status, "running");
    close_world(&world);
}

TEST(it_can_be_spoken_to_at_once)
{
    struct world world;
    cairn_signal_options signal = CAIRN_SIGNAL_DEFAULTS;
    cairn_signalled signalled;
    open_world(&world, true);
    insert_start(&world.app, ID, "w", NULL);
    signal.instance_id = ID;
    signal.event = "go";
    done(&world, cairn_instance_signal(world.engine, &signal, &signalled, &world.error));
    CHECK(signalled.kept, "it is not kept");
    insert_start(&world.app, OTHER_ID, "w", NULL);
    done(&world, cairn_instance_cancel(world.engine, OTHER_ID, "me", "why", &world.error));
    CHECK_STR(look(&world, OTHER_ID)->status, "cancelled");
    check_intake(&world, "0");
    close_world(&world);
}

/* ---- keys ------------------------------------------------------------------------------------- */

static cairn_enqueued start(struct world *world, const char *key)
{
    cairn_enqueued started;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    options.workflow = "w";
    options.key = key;
    done(world, cairn_instance_start(world->engine, &options, &started, &world->error));
    return started;
}

TEST(a_known_key_inserts_nothing)
{
    struct world world;
    open_world(&world, true);
    cairn_enqueued started = start(&world, "k");
    CHECK_STR(insert_start(&world.app, ID, "w", "k"), "");
    CHECK(!world.app.is_refused, "%s", world.app.message);
    const char *known =
        do_sql(&world.app, "SELECT id FROM {workflow_instance} WHERE workflow = 'w' AND "
                           "key = 'k' UNION ALL SELECT id FROM {workflow_intake} "
                           "WHERE workflow = 'w' AND key = 'k'");
    CHECK_STR(known, started.id);
    do_sql(&world.app, "BEGIN");
    CHECK_STR(insert_start(&world.app, ID, "w", "l"), ID);
    CHECK_STR(insert_start(&world.app, OTHER_ID, "w", "l"), "");
    do_sql(&world.app, "COMMIT");
    close_world(&world);
}

TEST(a_key_that_went_to_another_instance_is_answered_with_that_one)
{
    struct world world;
    if (is_kind("http"))
        return; /* its server is too quick */
    open_world(&world, true);
    CHECK_STR(insert_start(&world.app, ID, "w", "k"), ID);
    cairn_enqueued started = start(&world, "k");
    CHECK(!started.existing, "it was started already");
    CHECK_STR(take(&world)->instance_id, started.id);
    CHECK_STR(look(&world, ID)->id, started.id);
    CHECK_INT(count_instances(&world), 1);
    CHECK_STR(insert_start(&world.app, OTHER_ID, "w", "k"), "");
    close_world(&world);
}

/* ---- what is refused -------------------------------------------------------------------------- */

TEST(an_unknown_workflow_is_refused)
{
    struct world world;
    open_world(&world, true);
    insert_start(&world.app, ID, "unknown", NULL);
    CHECK(world.app.is_refused && strstr(world.app.message, "does not exist"), "%s",
          world.app.message);
    ask(&world.app, "INSERT INTO {workflow_intake} (workflow, version) VALUES ('w', 2)");
    CHECK(world.app.is_refused && strstr(world.app.message, "does not exist"), "%s",
          world.app.message);
    static const char *const bad[] = {"metadata) VALUES ('w', '[]')",
                                      "input) VALUES ('w', '{')", "tags) VALUES ('w', '[]')",
                                      "\"group\") VALUES ('w', '"
                                      "ggggggggggggggggggggggggggggggggggggggggggg"
                                      "ggggggggggggggggggggggggggggggggggggggggggg"
                                      "ggggggggggggggggggggggggggggggggggggggggggg"
                                      "')"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ask(&world.app, "INSERT INTO {workflow_intake} (workflow, %s", bad[i]);
        CHECK(world.app.is_refused, "%s is taken", bad[i]);
    }
    check_intake(&world, "0");
    close_world(&world);
}

static const char *finding(struct world *world, const char *check)
{
    done(world, cairn_doctor(world->engine, next_page(world), &world->error));
    for (size_t i = 0; i < cairn_page_count(world->page); i++)
        if (strcmp(cairn_page_finding(world->page, i)->check, check) == 0)
            return cairn_page_finding(world->page, i)->text;
    return "";
}

TEST(what_cannot_be_started_stays_and_doctor_names_it)
{
    struct world world;
    char key[301];
    memset(key, 'k', 300);
    key[300] = '\0';
    open_world(&world, true);
    CHECK(strstr(finding(&world, "intake"), "was made"), "%s", finding(&world, "intake"));
    CHECK_STR(insert_start(&world.app, ID, "w", key), ID);
    insert_start(&world.app, OTHER_ID, "w", NULL);
    CHECK_STR(take(&world)->instance_id, OTHER_ID);
    check_intake(&world, "1");
    CHECK(strstr(finding(&world, "intake"), ID), "%s", finding(&world, "intake"));
    CHECK(strstr(finding(&world, "intake"), "key is too long"), "%s",
          finding(&world, "intake"));
    CHECK_STR(look(&world, ID)->status, "pending");
    do_sql(&world.app, "UPDATE {workflow_intake} SET key = 'short', error = NULL");
    CHECK_STR(take(&world)->instance_id, ID);
    check_intake(&world, "0");
    close_world(&world);
}

/* ---- PostgreSQL's function -------------------------------------------------------------------- */

TEST(the_function_answers_the_id_of_the_start_or_of_the_known_key)
{
    struct world world;
    char id[sizeof world.app.answer];
    if (!is_postgres())
        return;
    open_world(&world, true);
    snprintf(id, sizeof id, "%s",
             do_sql(&world.app, "SELECT workflow.start('w', '{\"n\": 1}', 'k', 1)"));
    CHECK_STR(do_sql(&world.app, "SELECT workflow.start('w', '{}', 'k', 1)"), id);
    CHECK_STR(take(&world)->instance_id, id);
    CHECK_STR(do_sql(&world.app, "SELECT workflow.start('w', key => 'k')"), id);
    CHECK_STR(do_sql(&world.app, "SELECT workflow.start('w', id => '" ID "')"), ID);
    CHECK_STR(do_sql(&world.app, "SELECT workflow.start('w', id => '" ID "')"), ID);
    CHECK_STR(do_sql(&world.app, "SELECT workflow.start('w', key => 'k', id => '" OTHER_ID
                                 "', metadata => '{\"a\": 1}', start_at => now())"),
              id);
    check_intake(&world, "1");
    ask(&world.app, "SELECT workflow.start('unknown')");
    CHECK(world.app.is_refused && strstr(world.app.message, "\"unknown\" does not exist"), "%s",
          world.app.message);
    ask(&world.app, "SELECT workflow.start('w', version => 3)");
    CHECK(world.app.is_refused && strstr(world.app.message, "version 3 does not exist"), "%s",
          world.app.message);
    close_world(&world);
}

/* Whether a backend waits for a lock of another. */
static bool is_blocked(struct app *app)
{
    return strcmp(do_sql(app, "SELECT count(*) FROM pg_locks WHERE NOT granted"), "0") != 0;
}

TEST(of_two_transactions_with_one_key_the_second_is_told_of_the_first)
{
    struct world world;
    struct app second, watcher;
    if (!is_kind("postgres"))
        return;
    open_world(&world, true);
    app_open(&second, world.url);
    app_open(&watcher, world.url);
    do_sql(&world.app, "BEGIN");
    CHECK_STR(do_sql(&world.app, "SELECT workflow.start('w', '1', 'k', id => '" ID "')"), ID);
    CHECK(PQsendQuery(second.postgres, "SELECT workflow.start('w', '2', 'k')"), "not sent");
    while (!is_blocked(&watcher))
        usleep(1000);
    do_sql(&world.app, "COMMIT");
    PGresult *result = PQgetResult(second.postgres);
    CHECK_STR(PQgetvalue(result, 0, 0), ID);
    PQclear(result);
    app_close(&second);
    app_close(&watcher);
    close_world(&world);
}
