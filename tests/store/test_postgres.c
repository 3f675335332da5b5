/* tests/store/test_postgres.c - what only PostgreSQL can do wrong: schemas, connections, locks of
 * strangers, plans.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "foreign.h"
#include "store/postgres/postgres_sql.h"

#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { MIGRATIONS = sizeof migrations / sizeof *migrations };

static const char *new_url(void)
{
    return scratch_store_of("postgres");
}

static cairn_code try_open(const char *url, bool no_migrate, cairn_error *ret_error)
{
    struct clock clock;
    struct store *store;
    clock_init_real(&clock);
    struct store_config config = {
        .url = url, .clock = &clock, .no_migrate = no_migrate, .lock_wait_ms = 200};
    cairn_code code = store_open(&config, &store, ret_error);
    if (!code)
        store->ops->close(store);
    return code;
}

/* ---- opening ------------------------------------------------------------------------------- */

TEST(a_newer_schema_is_refused_untouched)
{
    const char *url = new_url();
    cairn_error error = {0};
    CHECK_OK(try_open(url, false, &error));
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    foreign_run(foreign, "INSERT INTO workflow.cairn_schema (version, name) VALUES (99, 'z')");
    foreign_run(foreign, "DROP VIEW workflow.workflow_event");

    CHECK_INT(try_open(url, false, &error), CAIRN_E_SCHEMA_NEWER);
    CHECK_STR(foreign_run(foreign, "SELECT to_regclass('workflow.workflow_event') IS NULL"),
              "t");
    CHECK_INT(foreign_number(foreign, "SELECT count(*) FROM workflow.cairn_schema"),
              MIGRATIONS + 1);
}

/* All of the later migrations must allow it. */
TEST(a_newer_schema_that_allows_this_version_is_opened)
{
    const char *url = new_url();
    cairn_error error = {0};
    CHECK_OK(try_open(url, false, &error));
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    foreign_run(foreign, "INSERT INTO workflow.cairn_schema (version, name, oldest)"
                         " SELECT 9997 + n, 'z', max(s.version)"
                         "   FROM workflow.cairn_schema s, generate_series(1, 2) n GROUP BY n");
    CHECK_OK(try_open(url, false, &error));
    CHECK_OK(try_open(url, true, &error));
    CHECK_INT(foreign_number(foreign, "SELECT count(*) FROM workflow.cairn_schema"),
              MIGRATIONS + 2);
    foreign_run(foreign, "UPDATE workflow.cairn_schema SET oldest = 9998 WHERE version = 9998");
    CHECK_INT(try_open(url, false, &error), CAIRN_E_SCHEMA_NEWER);
}

TEST(an_empty_database_stays_empty_when_migrating_is_off)
{
    const char *url = new_url();
    cairn_error error = {0};
    CHECK_INT(try_open(url, true, &error), CAIRN_E_SCHEMA_OLDER);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    CHECK_STR(foreign_run(foreign, "SELECT to_regnamespace('workflow') IS NULL"), "t");
    CHECK_OK(try_open(url, false, &error));
    CHECK_OK(try_open(url, true, &error));
}

TEST(without_creating_an_empty_database_stays_empty)
{
    const char *url = new_url();
    cairn_error error = {0};
    struct clock clock;
    struct store *store;
    clock_init_real(&clock);
    struct store_config config = {
        .url = url, .clock = &clock, .no_create = true, .lock_wait_ms = 200};
    CHECK_INT(store_open(&config, &store, &error), CAIRN_E_NOT_FOUND);
    CHECK(error.message[0] && error.hint[0], "nothing is said");
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    CHECK_STR(foreign_run(foreign, "SELECT to_regnamespace('workflow') IS NULL"), "t");
    CHECK_OK(try_open(url, false, &error));
    CHECK_OK(store_open(&config, &store, &error));
    store->ops->close(store);
}

/* A database as the first version left it. */
static const char *make_first_version(void)
{
    const char *url = new_url();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    foreign_run(foreign, "CREATE SCHEMA workflow");
    foreign_run(foreign, "CREATE TABLE workflow.cairn_schema (version integer PRIMARY KEY,"
                         " name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())");
    foreign_run(foreign, "INSERT INTO workflow.cairn_schema VALUES (1, '0001_jobs')");
    foreign_run(foreign, migrations[0].sql);
    return url;
}

TEST(opening_tells_which_migrations_it_applied)
{
    cairn_schema schema = CAIRN_SCHEMA_DEFAULTS;
    cairn_error error = {0};
    cairn_engine *engine = NULL;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = make_first_version();
    CHECK_OK(cairn_open(&options, &engine, &error));
    cairn_schema_get(engine, &schema, NULL);
    CHECK_INT(schema.from, 1);
    CHECK_INT(schema.to, migrations[MIGRATIONS - 1].number);
    CHECK_INT(schema.applied_count, MIGRATIONS - 1);
    CHECK_STR(schema.applied[0], "0002_workflows");
    cairn_close(engine);

    CHECK_OK(cairn_open(&options, &engine, &error));
    cairn_schema_get(engine, &schema, NULL);
    CHECK_INT(schema.from, schema.to);
    CHECK_INT(schema.applied_count, 0);
    cairn_close(engine);
}

struct opener {
    pthread_t thread;
    const char *url;
    cairn_code code;
    cairn_error error;
};

static void *run_opener(void *arg)
{
    struct opener *opener = arg;
    opener->code = try_open(opener->url, false, &opener->error);
    return NULL;
}

TEST(many_may_migrate_at_once)
{
    struct opener openers[8] = {0};
    const char *url = new_url();
    for (size_t i = 0; i < 8; i++) {
        openers[i].url = url;
        pthread_create(&openers[i].thread, NULL, run_opener, &openers[i]);
    }
    for (size_t i = 0; i < 8; i++)
        pthread_join(openers[i].thread, NULL);
    for (size_t i = 0; i < 8; i++)
        CHECK(openers[i].code == CAIRN_OK, "%s", openers[i].error.detail);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    CHECK_INT(foreign_number(foreign, "SELECT count(*) FROM workflow.cairn_schema"),
              MIGRATIONS);
}

/* Another process may build an index meanwhile, and that waits for the end of all snapshots. */
TEST(who_waits_to_migrate_holds_no_snapshot)
{
    const char *url = new_url();
    cleanup(foreign_closep) PGconn *holder = foreign_open(url);
    cleanup(foreign_closep) PGconn *builder = foreign_open(url);
    foreign_run(holder, "CREATE TABLE other (n integer)");
    foreign_run(holder, "SELECT pg_advisory_lock(426836062830)");

    struct opener opener = {.url = url};
    pthread_create(&opener.thread, NULL, run_opener, &opener);
    while (foreign_number(builder, "SELECT count(*) FROM pg_stat_activity WHERE datname ="
                                   " current_database() AND pid <> pg_backend_pid()"
                                   " AND query LIKE '%advisory_xact_lock%'") == 0)
        sched_yield();
    foreign_run(builder, "SET lock_timeout = '20s'");
    foreign_run(builder, "CREATE INDEX CONCURRENTLY other_n ON other (n)");
    foreign_run(holder, "SELECT pg_advisory_unlock(426836062830)");
    pthread_join(opener.thread, NULL);
    CHECK(opener.code == CAIRN_OK, "%s %s", opener.error.message, opener.error.detail);
}

/* A store as an earlier library left it: the first `count` migrations. */
static void make_old(PGconn *foreign, int count)
{
    char sql[128];
    foreign_run(foreign, "CREATE SCHEMA workflow; CREATE TABLE workflow.cairn_schema (version"
                         " integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT"
                         " NULL DEFAULT now())");
    for (int i = 0; i < count; i++) {
        foreign_run(foreign, "BEGIN");
        foreign_run(foreign, migrations[i].sql);
        foreign_run(foreign, "COMMIT");
        snprintf(sql, sizeof sql, "INSERT INTO workflow.cairn_schema VALUES (%d, '%s')",
                 migrations[i].number, migrations[i].name);
        foreign_run(foreign, sql);
    }
}

/* As the database says it, for an index that is there and whole. */
static const char *index_text(PGconn *foreign, const char *name)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT indisvalid || ' ' || pg_get_indexdef(indexrelid) FROM pg_index"
             " WHERE indexrelid = to_regclass('workflow.%s')",
             name);
    return foreign_run(foreign, sql);
}

/* What is left of an attempt that failed has the name and is not whole. */
TEST(indexes_are_built_before_their_migrations_and_left_whole)
{
    const char *url = new_url();
    cairn_error error = {0};
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    make_old(foreign, 13);
    foreign_run(foreign, "CREATE INDEX idx_workflow_run_unsuccessful"
                         " ON workflow.workflow_run (type)");
    foreign_run(foreign, "UPDATE pg_index SET indisvalid = false WHERE indexrelid ="
                         " to_regclass('workflow.idx_workflow_run_unsuccessful')");
    CHECK_OK(try_open(url, false, &error));
    const char *text = index_text(foreign, "idx_workflow_run_unsuccessful");
    CHECK(strstr(text, "true") && strstr(text, "(status, seq)"), "%s", text);
    text = index_text(foreign, "idx_workflow_instance_workflow_status");
    CHECK(strstr(text, "true"), "%s", text);
    CHECK_INT(foreign_number(foreign, "SELECT count(*) FROM pg_locks WHERE"
                                      " locktype = 'advisory' AND database = (SELECT oid FROM"
                                      " pg_database WHERE datname = current_database())"),
              0);
}

/* All columns, constraints, triggers and indexes that are whole, as one text. */
static const char *schema_text(PGconn *foreign)
{
    return foreign_run(
        foreign,
        "SELECT md5(string_agg(line, E'\\n' ORDER BY line)) FROM ("
        "SELECT format('%s.%s %s %s %s', attrelid::regclass, attname, atttypid::regtype, "
        "attnum,"
        " attnotnull) AS line FROM pg_attribute WHERE attnum > 0 AND attrelid IN (SELECT oid"
        " FROM pg_class WHERE relkind = 'r' AND relnamespace = 'workflow'::regnamespace)"
        " UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE connamespace = 'workflow'::regnamespace"
        " UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal"
        " UNION ALL SELECT indisvalid || ' ' || pg_get_indexdef(indexrelid) FROM pg_index"
        " WHERE indexrelid IN (SELECT oid FROM pg_class"
        " WHERE relnamespace = 'workflow'::regnamespace)) AS found");
}

/* Between the columns that an index needs, the index, and the migration: at each of these places the process
 * may have died, with an index that is whole or not. */
TEST(a_migration_that_was_interrupted_is_repeated)
{
    cairn_error error = {0};
    const char *fresh = new_url();
    CHECK_OK(try_open(fresh, false, &error));
    cleanup(foreign_closep) PGconn *whole = foreign_open(fresh);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%s", schema_text(whole));

    for (int place = 0; place < 4; place++) {
        const char *url = new_url();
        cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
        make_old(foreign, 30);
        if (place > 0)
            foreign_run(foreign, migrations[30].first);
        if (place > 1)
            foreign_run(foreign, migrations[30].ahead[0].sql);
        if (place > 2)
            foreign_run(foreign, "UPDATE pg_index SET indisvalid = false WHERE indexrelid ="
                                 " to_regclass('workflow.idx_workflow_run_type_prefix_next')");
        CHECK_OK(try_open(url, false, &error));
        CHECK(strcmp(schema_text(foreign), wanted) == 0, "place %d has another schema", place);
    }
}

/* Whoever comes after a migration that waits for a lock would wait, too. */
TEST(a_migration_that_must_wait_lets_others_pass)
{
    const char *url = new_url();
    cleanup(foreign_closep) PGconn *holder = foreign_open(url);
    cleanup(foreign_closep) PGconn *worker = foreign_open(url);
    make_old(holder, 14);
    foreign_run(holder, "BEGIN");
    foreign_run(holder, "SELECT count(*) FROM workflow.workflow_instance");

    struct opener opener = {.url = url};
    pthread_create(&opener.thread, NULL, run_opener, &opener);
    while (foreign_number(worker, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation"
                                  " = 'workflow.workflow_instance'::regclass") == 0)
        sched_yield();
    foreign_run(worker, "SET statement_timeout = '20s'");
    foreign_run(worker, "SELECT count(*) FROM workflow.workflow_instance");
    CHECK_INT(foreign_number(worker, "SELECT max(version) FROM workflow.cairn_schema"), 14);
    foreign_run(holder, "COMMIT");
    pthread_join(opener.thread, NULL);
    CHECK(opener.code == CAIRN_OK, "%s %s", opener.error.message, opener.error.detail);
}

TEST(leases_without_an_end_are_given_one_by_the_migration)
{
    const char *url = new_url();
    cairn_error error = {0};
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    make_old(foreign, 3);
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type, status, run_at) VALUES"
                         " ('a', 'leased', now()), ('b', 'pending', now() + interval '1 hour'),"
                         " ('c', 'succeeded', now())");
    CHECK_OK(try_open(url, false, &error));
    CHECK_STR(foreign_run(foreign,
                          "SELECT string_agg(type || (lease_until <= now())::text, ' ')"
                          " FROM workflow.workflow_run WHERE lease_until IS NOT NULL"),
              "atrue");
}

/* workflow.start() is made again by a migration, with one parameter more. */
TEST(who_may_start_by_sql_may_do_so_after_the_migration)
{
    static const char allowed[] =
        "SELECT has_function_privilege(r, f, 'EXECUTE')::text || ' ' ||"
        "       has_function_privilege(r, f, 'EXECUTE WITH GRANT OPTION')::text || ' ' ||"
        "       has_function_privilege('public', f, 'EXECUTE')::text"
        "  FROM (SELECT 'start_shop' AS r, oid AS f FROM pg_proc"
        "         WHERE proname = 'start' AND pronamespace = 'workflow'::regnamespace) AS one";
    static const struct {
        const char *sql, *before, *after;
    } cases[] = {
        {"SELECT 1", "true false true", "true false true"}, /* everybody may, as at first */
        {"REVOKE ALL ON FUNCTION workflow.start FROM PUBLIC;"
         "GRANT EXECUTE ON FUNCTION workflow.start TO start_shop WITH GRANT OPTION",
         "true true false", "true true false"},
        {"REVOKE ALL ON FUNCTION workflow.start FROM PUBLIC", "false false false",
         "false false false"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *url = new_url();
        cairn_error error = {0};
        cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
        make_old(foreign, 11);
        foreign_run(foreign, "DO $$ BEGIN CREATE ROLE start_shop;"
                             " EXCEPTION WHEN duplicate_object THEN NULL; END $$");
        foreign_run(foreign, cases[i].sql);
        CHECK_STR(foreign_run(foreign, allowed), cases[i].before);
        CHECK_OK(try_open(url, false, &error));
        CHECK_STR(foreign_run(foreign, allowed), cases[i].after);
    }
}

TEST(tables_of_somebody_else_are_left_alone)
{
    const char *url = new_url();
    cairn_error error = {0};
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    foreign_run(foreign,
                "CREATE SCHEMA workflow; CREATE TABLE workflow.workflow_event (a int)");
    CHECK_INT(try_open(url, false, &error), CAIRN_E_STORE);
    CHECK_STR(foreign_run(foreign, "SELECT to_regclass('workflow.workflow_run') IS NULL"), "t");
}

TEST(no_error_tells_a_password)
{
    static const char *const urls[] = {"postgres://u:secret@[half/db",
                                       "postgres://u:secret@127.0.0.1:1/db",
                                       "postgres://u@h/db?nonsense=1&password=secret"};
    for (size_t i = 0; i < 3; i++) {
        cairn_error error = {0};
        CHECK_INT(try_open(urls[i], false, &error),
                  i == 1 ? CAIRN_E_UNREACHABLE : CAIRN_E_BAD_INPUT);
        CHECK(!strstr(error.message, "secret") && !strstr(error.detail, "secret") &&
                  !strstr(error.hint, "secret"),
              "%s (%s)", error.message, error.detail);
    }
}

/* ---- connections --------------------------------------------------------------------------- */

static void terminate_others(PGconn *foreign)
{
    foreign_run(foreign, "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
                         " WHERE datname = current_database() AND pid <> pg_backend_pid()");
}

TEST(a_connection_lost_between_transactions_is_not_noticed)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    begin_write(rig);
    const char *id = add(rig, job_of(rig, "a"));
    commit(rig);

    terminate_others(foreign);
    begin_write(rig);
    CLAIM(rig, 1, "a");
    CHECK_ROWS(rig, id);
    commit(rig);
    begin_read(rig);
    CHECK_INT(get(rig, id).status, JOB_LEASED);
}

TEST(a_connection_lost_in_a_transaction_undoes_it)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    struct job_row row = job_of(rig, "a");
    enum insert_result result;
    begin_write(rig);
    terminate_others(foreign);
    CHECK_INT(rig->ops->insert_jobs(rig->tx, &row, 1, &result, &rig->error),
              CAIRN_E_UNREACHABLE);
    roll_back(rig);

    begin_write(rig);
    add(rig, row);
    terminate_others(foreign);
    struct store_tx *tx = rig->tx;
    rig->tx = NULL;
    CHECK_INT(rig->ops->commit(tx, true, &rig->error), CAIRN_E_UNREACHABLE);
    CHECK_INT(foreign_number(foreign, "SELECT count(*) FROM workflow.workflow_run"), 0);

    begin_write(rig);
    add(rig, row);
    commit(rig);
}

TEST(an_error_in_what_was_queued_is_told_by_the_commit)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    begin_write(rig);
    struct job_row row = job_of(rig, "a");
    const char *id = add(rig, row);
    struct event_row event = {
        .subject_id = id, .type = job_event_name(EVENT_CREATED), .data = "not JSON"};
    MUST(rig, rig->ops->append_events(rig->tx, &event, 1, &rig->error));
    struct store_tx *tx = rig->tx;
    rig->tx = NULL;
    CHECK_INT(rig->ops->commit(tx, true, &rig->error), CAIRN_E_STORE);

    begin_write(rig);
    CHECK_INT(rig->ops->get_job(rig->tx, id, &row, &rig->error), CAIRN_E_NOT_FOUND);
}

TEST(a_read_only_database_says_so)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    char sql[256];
    snprintf(sql, sizeof sql, "ALTER DATABASE %s SET default_transaction_read_only = on",
             PQdb(foreign));
    foreign_run(foreign, sql);
    terminate_others(foreign);

    struct job_row row = job_of(rig, "a");
    enum insert_result result;
    begin_write(rig);
    CHECK_INT(rig->ops->insert_jobs(rig->tx, &row, 1, &result, &rig->error), CAIRN_E_READ_ONLY);
}

TEST(a_pooler_is_noticed)
{
    cleanup(rig_closep) struct rig *pooled = rig_open_url(scratch_store_of("pgbouncer"));
    cleanup(rig_closep) struct rig *direct = rig_open_url(new_url());
    struct store_facts facts;
    begin_read(pooled);
    MUST(pooled, pooled->ops->inspect(pooled->tx, &facts, &pooled->error));
    CHECK(strstr(facts.product, "(pooled)"), "%s", facts.product);
    begin_read(direct);
    MUST(direct, direct->ops->inspect(direct->tx, &facts, &direct->error));
    CHECK(!strstr(facts.product, "(pooled)"), "%s", facts.product);
    CHECK_INT(facts.schema_version, facts.newest_schema_version);
}

/* ---- large and many ------------------------------------------------------------------------ */

TEST(large_rows_go_in_portions_and_keep_their_order)
{
    enum { COUNT = 20, SIZE = 1 << 20 };
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(mem_freep) char *payload = mem_alloc(SIZE + 3);
    struct job_row rows[COUNT];
    const char *ids[COUNT];
    enum insert_result results[COUNT];
    memset(payload, 'x', SIZE + 2);
    payload[0] = payload[SIZE + 1] = '"';
    payload[SIZE + 2] = '\0';
    for (size_t i = 0; i < COUNT; i++) {
        rows[i] = job_of(rig, "a");
        rows[i].payload = payload;
        ids[i] = rows[i].id;
    }
    begin_write(rig);
    MUST(rig, rig->ops->insert_jobs(rig->tx, rows, COUNT, results, &rig->error));
    for (size_t i = 0; i < COUNT; i++) {
        CHECK_INT(results[i], INSERT_DONE);
        CHECK(i == 0 || rows[i].seq > rows[i - 1].seq, "row %zu is not in order", i);
    }
    CLAIM(rig, COUNT, "a");
    check_rows(rig, COUNT, ids);
    CHECK_STR(rig->rows[COUNT - 1].payload, payload);
}

/* ---- locks --------------------------------------------------------------------------------- */

TEST(a_row_that_a_stranger_holds_is_busy)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    begin_write(rig);
    const char *ids[3] = {add(rig, job_of(rig, "a")), add(rig, job_of(rig, "a")),
                          "ffffffff-ffff-4fff-8fff-ffffffffffff"};
    commit(rig);
    char sql[256];
    snprintf(sql, sizeof sql,
             "BEGIN; SELECT id FROM workflow.workflow_run WHERE id = '%s' FOR UPDATE", ids[0]);
    foreign_run(foreign, sql);

    struct job_row rows[3];
    enum lock_result results[3];
    begin_write(rig);
    MUST(rig, rig->ops->lock_jobs(rig->tx, ids, 3, false, rows, results, &rig->error));
    CHECK_INT(results[0], LOCK_BUSY);
    CHECK_INT(results[1], LOCK_DONE);
    CHECK_INT(results[2], LOCK_ABSENT);
    commit(rig);

    begin_write(rig);
    CHECK_INT(rig->ops->lock_jobs(rig->tx, ids, 1, true, rows, results, &rig->error),
              CAIRN_E_BUSY);
    roll_back(rig);
    foreign_run(foreign, "ROLLBACK");
    begin_write(rig);
    MUST(rig, rig->ops->lock_jobs(rig->tx, ids, 1, true, rows, results, &rig->error));
    CHECK_INT(results[0], LOCK_DONE);
}

TEST(a_completion_passes_over_a_row_that_a_stranger_holds)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    struct job_input input = {
        .action = JOB_COMPLETE, .worker = "w", .token = "t", .output = "1"};
    struct job_row rows[2] = {0};
    bool is_done[2];
    begin_write(rig);
    add(rig, job_of(rig, "a"));
    add(rig, job_of(rig, "a"));
    CLAIM(rig, 2, "a");
    commit(rig);
    bool is_first_less = strcmp(rig->rows[0].id, rig->rows[1].id) < 0;
    for (size_t i = 0; i < 2; i++) {
        rows[i].id = rig->rows[is_first_less ? i : 1 - i].id;
        job_complete(&rows[i], &input, RIG_START_US);
    }
    char sql[256];
    snprintf(sql, sizeof sql,
             "BEGIN; UPDATE workflow.workflow_run SET status = 'cancelled' WHERE id = '%s'",
             rows[0].id);
    foreign_run(foreign, sql);
    begin_write(rig);
    MUST(rig, rig->ops->complete_jobs(rig->tx, rows, 2, is_done, &rig->error));
    CHECK(!is_done[0] && is_done[1], "%d %d", is_done[0], is_done[1]);
    commit(rig);
    foreign_run(foreign, "COMMIT");
    begin_write(rig);
    MUST(rig, rig->ops->complete_jobs(rig->tx, rows, 2, is_done, &rig->error));
    CHECK(!is_done[0] && !is_done[1], "%d %d", is_done[0], is_done[1]);
    CHECK_INT(get(rig, rows[0].id).status, JOB_CANCELLED);
    CHECK_INT(get(rig, rows[1].id).status, JOB_SUCCEEDED);
}

TEST(claims_at_the_same_time_take_different_jobs)
{
    cleanup(rig_closep) struct rig *first = rig_open_url(new_url());
    cleanup(rig_closep) struct rig *second = rig_open_url(first->url);
    cleanup(rig_closep) struct rig *third = rig_open_url(first->url);
    const char *ids[50];
    begin_write(first);
    for (size_t i = 0; i < 50; i++)
        ids[i] = add(first, job_of(first, i % 2 ? "a.x" : "a.y"));
    commit(first);

    /* Far more are held than the second looks at first. */
    begin_write(first);
    CLAIM(first, 40, "a.%");
    check_rows(first, 40, ids);
    begin_write(second);
    CLAIM(second, 3, "a.%");
    CHECK_ROWS(second, ids[40], ids[41], ids[42]);
    begin_write(third);
    CLAIM(third, 64, "a.%");
    check_rows(third, 7, ids + 43);

    /* What was given back can be taken. */
    roll_back(first);
    commit(second);
    begin_write(first);
    CLAIM(first, 64, "a.%");
    check_rows(first, 40, ids);
}

/* Opens one more session of the rig's store, and goes on with it. */
static struct store_session *use_another_session(struct rig *rig)
{
    struct store_session *before = rig->writer;
    MUST(rig, rig->ops->session_open(rig->store, SESSION_WRITER, &rig->writer, &rig->error));
    rig->tx = NULL;
    return before;
}

static void close_session(struct rig *rig, struct store_session *before)
{
    rig->ops->session_close(rig->writer);
    rig->writer = before;
}

TEST(a_claim_notices_those_of_another_process)
{
    enum { MANY = 60 };
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(rig_closep) struct rig *other = rig_open_url(rig->url);
    begin_write(rig);
    for (size_t i = 0; i < 4 * MANY; i++)
        add(rig, job_of(rig, "a"));
    commit(rig);

    /* Those of another session of this process are not meant. */
    begin_write(rig);
    CLAIM(rig, MANY, "a");
    struct store_tx *first_tx = rig->tx;
    struct store_session *first = use_another_session(rig);
    begin_write(rig);
    CLAIM(rig, MANY, "a");
    CHECK_INT(rig->count, MANY);
    CHECK_INT(rig->store->met_us, 0);

    /* They hold the jobs of two claims. */
    begin_write(other);
    CLAIM(other, MANY, "a");
    CHECK_INT(other->count, MANY);
    CHECK(other->store->met_us != 0, "it has not noticed them");
    CHECK_INT(rig->store->met_us, 0);

    /* One claim has ended, and what was in the way of the next one is no longer ours. */
    commit(rig);
    close_session(rig, first);
    rig->tx = first_tx;
    commit(rig);
    begin_write(rig);
    CLAIM(rig, MANY, "a");
    CHECK_INT(rig->count, MANY);
    CHECK(rig->store->met_us != 0, "it has not noticed the other one");
}

/* Somebody may hold a few rows for long. */
TEST(a_few_rows_that_are_held_are_no_other_process)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    begin_write(rig);
    for (size_t i = 0; i < 40; i++)
        add(rig, job_of(rig, "a"));
    commit(rig);
    foreign_run(foreign, "BEGIN; SELECT FROM workflow.workflow_run ORDER BY seq LIMIT 20 "
                         "FOR UPDATE");
    begin_write(rig);
    CLAIM(rig, 10, "a");
    CHECK_INT(rig->count, 10);
    CHECK_INT(rig->store->met_us, 0);
}

/* ---- plans --------------------------------------------------------------------------------- */

static void begin_as_engine(PGconn *conn)
{
    const char *wait = "1000ms";
    foreign_run(conn, "BEGIN");
    PGresult *result = PQexecParams(conn, SQL_BEGIN_SETTINGS, 1, NULL, &wait, NULL, NULL, 0);
    CHECK(PQresultStatus(result) == PGRES_TUPLES_OK, "%s", PQerrorMessage(conn));
    PQclear(result);
}

/* Neither the table nor the index that is there for others.  Limits are few, and mostly none. */
static void check_plan_line(const char *line)
{
    if (strstr(line, "Seq Scan on workflow_limit"))
        return;
    static const char *const unwanted[] = {"Seq Scan", "Bitmap", "idx_workflow_run_claim"};
    for (size_t i = 0; i < 3; i++)
        CHECK(!strstr(line, unwanted[i]), "the claim's plan has a %s", unwanted[i]);
}

#define CLAIM_VALUES                                                                       \
    "NULL, now(), 18, 10, '{w}', '{t}', now() + interval '1 minute', now() + interval '1 " \
    "minute', 0, 2, false, "
#define NO_ROWS "'{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', "

/* By prefix, of one type, and of new jobs. */
static const char *const claims[] = {
    "claim_jobs(" CLAIM_VALUES "'{}', '{}', '{}', '{}', '{a.}', '{a/}', false)",
    "claim_jobs_of_type(" CLAIM_VALUES "'a.1')",
    "insert_leased_jobs(" NO_ROWS NO_ROWS NO_ROWS "'{}', '{a.1, b}', now())",
};
enum { CLAIMS = sizeof claims / sizeof *claims };

/* The pages that a claim touches, all plans looked over for scans of the table. */
static long pages_of(PGconn *conn, const char *claim)
{
    char sql[640];
    long pages = 0;
    begin_as_engine(conn);
    snprintf(sql, sizeof sql, "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) EXECUTE %s",
             claim);
    PGresult *result = PQexec(conn, sql);
    CHECK(PQresultStatus(result) == PGRES_TUPLES_OK, "%s", PQerrorMessage(conn));
    for (int i = 0; i < PQntuples(result); i++) {
        const char *line = PQgetvalue(result, i, 0);
        check_plan_line(line);
        const char *hit = strstr(line, "shared hit="), *read = strstr(line, "read=");
        if (pages == 0 && (hit || read))
            pages = (hit ? atol(hit + 11) : 0) + (read ? atol(read + 5) : 0);
    }
    PQclear(result);
    foreign_run(conn, "ROLLBACK");
    return pages;
}

static long claim_pages(PGconn *conn)
{
    long pages = 0;
    for (int i = 0; i < CLAIMS; i++)
        pages += pages_of(conn, claims[i]);
    return pages;
}

static void prepare(PGconn *conn, const char *name, const char *statement)
{
    PGresult *result = PQprepare(conn, name, statement, 0, NULL);
    CHECK(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(conn));
    PQclear(result);
}

static void load(PGconn *conn, int count)
{
    char sql[512];
    snprintf(sql, sizeof sql,
             "BEGIN; SELECT set_config('cairn.engine', '1', true);"
             "INSERT INTO workflow.workflow_run (type) SELECT 'a.' || i %% 10"
             " FROM generate_series(1, %d) AS i; COMMIT",
             count);
    foreign_run(conn, sql);
}

TEST(a_claim_costs_the_same_however_much_waits)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    prepare(foreign, "claim_jobs", SQL_CLAIM_JOBS);
    prepare(foreign, "claim_jobs_of_type", SQL_CLAIM_JOBS_OF_TYPE);
    prepare(foreign, "insert_leased_jobs", SQL_INSERT_LEASED_JOBS);
    /* No vacuum that would help, and no ANALYZE whose snapshot keeps dead rows alive. */
    foreign_run(foreign, "ALTER TABLE workflow.workflow_run SET (autovacuum_enabled = off)");

    /* The plan is made while there is next to nothing, and kept. */
    load(foreign, 1000);
    claim_pages(foreign);
    long few = claim_pages(foreign);
    load(foreign, 99000);
    claim_pages(foreign);
    long many = claim_pages(foreign);
    CHECK(many < few * 3 / 2, "%ld pages with 1,000 jobs, %ld with 100,000", few, many);

    /* What was claimed lies dead at the head of the index. */
    foreign_run(foreign,
                "BEGIN;"
                "SELECT set_config('cairn.engine', '1', true);"
                "UPDATE workflow.workflow_run SET status = 'succeeded' WHERE seq <= 30000;"
                "COMMIT");
    foreign_outlive_others(foreign);
    claim_pages(foreign);
    long after = claim_pages(foreign);
    CHECK(after < few * 2, "%ld pages, and %ld after 30,000 claims", few, after);
}

/* ---- news ---------------------------------------------------------------------------------- */

static void closep(int *fd)
{
    close(*fd);
}

/* Shorter than the poll that goes on beside the news, so that it is not what is seen. */
enum { NEWS_MS = 8000 };

TEST(news_of_others_wakes_the_watch_and_our_own_does_not)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(rig_closep) struct rig *other = rig_open_url(rig->url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    cleanup(closep) int stop_fd = eventfd(0, EFD_NONBLOCK);

    CHECK(rig->ops->watch(rig->store, stop_fd, -1), "it begins to listen without a look");
    CHECK(rig->ops->watch(other->store, stop_fd, -1), "it begins to listen without a look");
    CHECK(!rig->ops->watch(rig->store, stop_fd, 0), "there is no news yet");

    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type) VALUES ('a')");
    CHECK(rig->ops->watch(rig->store, stop_fd, NEWS_MS), "a foreign insert is no news");
    CHECK(rig->ops->watch(other->store, stop_fd, NEWS_MS), "a foreign insert is no news");

    begin_write(rig);
    add(rig, job_of(rig, "a"));
    commit(rig);
    CHECK(rig->ops->watch(other->store, stop_fd, NEWS_MS), "another store's commit is no news");
    CHECK(!rig->ops->watch(rig->store, stop_fd, 0), "our own commit is news");

    eventfd_write(stop_fd, 1);
    CHECK(!rig->ops->watch(rig->store, stop_fd, -1), "it does not stop");
}

/* Ends a transaction that has written nothing, and has ended something. */
static void commit_end(struct rig *rig)
{
    begin_write(rig);
    MUST(rig, rig->ops->commit(rig->tx, NEWS_ENDS, &rig->error));
    rig->tx = NULL;
}

TEST(of_ends_only_those_are_told_who_want_them)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(rig_closep) struct rig *other = rig_open_url(rig->url);
    cleanup(closep) int stop_fd = eventfd(0, EFD_NONBLOCK);
    CHECK_INT(rig->ops->watch(rig->store, stop_fd, -1), NEWS_ALL); /* it begins to listen */

    commit_end(other);
    CHECK_INT(rig->ops->watch(rig->store, stop_fd, 20), 0);

    atomic_store(&rig->store->are_ends_wanted, true);
    CHECK_INT(rig->ops->watch(rig->store, stop_fd, -1), NEWS_HEARING);
    CHECK_INT(rig->ops->watch(rig->store, stop_fd, 0), 0); /* it is said once */
    commit_end(rig);
    CHECK_INT(rig->ops->watch(rig->store, stop_fd, 20), 0); /* our own */
    commit_end(other);
    CHECK_INT(rig->ops->watch(rig->store, stop_fd, NEWS_MS), NEWS_ENDS);

    begin_write(other);
    add(other, job_of(other, "a"));
    commit(other);
    CHECK_INT(rig->ops->watch(rig->store, stop_fd, NEWS_MS), NEWS_READY);
}

TEST(a_watch_returns_when_ends_begin_to_be_wanted)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(closep) int stop_fd = eventfd(0, EFD_NONBLOCK);
    cleanup(closep) int wake_fd = eventfd(0, EFD_NONBLOCK);
    rig->store->wake_fd = wake_fd;
    CHECK_INT(rig->ops->watch(rig->store, stop_fd, -1), NEWS_ALL);
    eventfd_write(wake_fd, 1);
    CHECK_INT(rig->ops->watch(rig->store, stop_fd, -1), 0);
    rig->store->wake_fd = 0;
}

TEST(a_watch_that_lost_its_connection_says_look_and_listens_again)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    cleanup(closep) int stop_fd = eventfd(0, EFD_NONBLOCK);
    CHECK(rig->ops->watch(rig->store, stop_fd, -1), "it begins to listen without a look");
    terminate_others(foreign);
    CHECK(rig->ops->is_hearing(rig->store), "it does not hear");
    CHECK(rig->ops->watch(rig->store, stop_fd, -1), "a lost connection is no news");
    CHECK(!rig->ops->is_hearing(rig->store), "it says that it hears");
    while (foreign_number(foreign, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE"
                                   " 'LISTEN%' AND datname = current_database()") == 0)
        rig->ops->watch(rig->store, stop_fd, 50);
    CHECK(rig->ops->is_hearing(rig->store), "it does not hear");
    foreign_run(foreign, "NOTIFY cairn");
    CHECK(rig->ops->watch(rig->store, stop_fd, NEWS_MS), "it does not hear");
}

TEST(behind_a_pooler_the_watch_polls)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(scratch_store_of("pgbouncer"));
    cleanup(closep) int stop_fd = eventfd(0, EFD_NONBLOCK);
    CHECK(rig->ops->watch(rig->store, stop_fd, -1), "it does not poll");
    CHECK(!rig->ops->is_hearing(rig->store), "it says that it hears");
    CHECK(!rig->ops->watch(rig->store, stop_fd, 0), "it polls too often");
    CHECK(rig->ops->watch(rig->store, stop_fd, -1), "it polls only once");
}
