/* tests/store/test_sqlite_migrate.c - a file of an earlier version: everything in it is kept, and
 * all verbs find it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"
#include "sqlite_rig.h"
#include "store/sqlite/sqlite_sql.h"

#include <unistd.h>

#define JOB "00000000-0000-4000-8000-000000000001"

/* ---- A file of the second version -----------------------------------------------------------
 */

/* Some that came later were deleted: their numbers must not be used again. */
static const char instances[] =
    "INSERT INTO workflow_instance (id, workflow, version, key, status, generation, start_at,"
    " created_at, updated_at, started_at, finished_at, is_dlq, has_compensation, goal,"
    " is_undo_failed, undo_first, undo_from, undo_to, undo_below, commits, active_count,"
    " wait_count, sleep_count, decision_count, parked_count, awaited_count, stop_by,"
    " stop_reason, last_error, input, output)"
    "VALUES ('i1', 'w', 2, 'k', 'running', 3, 4, 5, 6, 7, 8, 1, 0, 2, 1, 9, 10, 11, 12, 13, 14,"
    " 15, 16, 17, 18, 19, 'me', 'why', '{\"step\":\"a\"}', '{\"n\":1}', '[2]'),"
    "('i2', 'w', 1, NULL, 'pending', 1, 100, 5, 6, NULL, NULL, 0, 1, 0, 0, NULL, NULL, NULL, 0,"
    " 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL);"
    "UPDATE sqlite_sequence SET seq = 77 WHERE name = 'workflow_instance'";

/* Steps of the first instance; each column of each step has a value of its own. */
#define STEPS(status, is_ready, is_held, is_current, commit_no, lease, places)                 \
    "INSERT INTO workflow_step (id, name, kind, handler, max_attempts, priority, next,"        \
    " scope_fork, scope_from, scope_to, status, attempts, compensation_attempts, commit_no,"   \
    " next_run_at, started_at, finished_at, is_ready, is_held, is_current, task_type, due_at," \
    " locked_by, token, locked_until, call_until, ended_by, ended_token, stop, waiting_event," \
    " deadline_at, is_timed_out, remaining, updated_at, signal, error, config, metadata,"      \
    " input, output)"                                                                          \
    "SELECT 1048576 + n, 's' || n, 'task', 'h' || n, 100 + n, n % 101, 200 + n, 300 + n,"      \
    " 400 + n, 500 + n, " status ", 600 + n, 700 + n, " commit_no ", 800 + n, 900 + n,"        \
    " 1000 + n, " is_ready ", " is_held ", " is_current ", 't', 1100 + n, " lease ","          \
    " 1300 + n, 'e' || n, 'f' || n, n % 5, 'g' || n, 1400 + n, n % 2, 1500 + n, 1600 + n,"     \
    " '{\"signal\":' || n || '}', 'error' || n, '{\"config\":' || n || '}',"                   \
    " '{\"metadata\":' || n || '}', '{\"input\":' || n || '}', '{\"output\":' || n || '}'"     \
    "  FROM (SELECT value AS n FROM json_each('" places "'));"

#define NO_LEASE "NULL, NULL, NULL"
static const char *const steps[] = {
    STEPS("'ready'", "1", "0", "1", "NULL", NO_LEASE, "[0, 1]"),
    STEPS("'ready'", "0", "0", "1", "NULL", NO_LEASE, "[2]"),
    STEPS("'running'", "0", "0", "1", "NULL", "'l' || n, 'm' || n, 1200 + n", "[3, 4]"),
    STEPS("'waiting'", "0", "0", "1", "NULL", NO_LEASE, "[5]"),
    STEPS("'completed'", "0", "1", "1", "2000 + n", NO_LEASE, "[6]"),
    STEPS("'completed'", "0", "0", "0", "2000 + n", NO_LEASE, "[7, 8]"),
    STEPS("'pending'", "0", "0", "0", "NULL", NO_LEASE, "[9, 99, 999, 1048575]"),
};
enum { STEPS_MADE = 13 };

/* What others may have in the file beside our tables; and copies to compare with. */
static const char strangers[] =
    "CREATE VIEW their_view AS SELECT name FROM workflow_step WHERE status = 'waiting';"
    "CREATE TABLE kept_step AS SELECT * FROM workflow_step;"
    "CREATE TABLE kept_instance AS SELECT * FROM workflow_instance;"
    "CREATE TABLE kept_schema AS SELECT type, name, sql FROM sqlite_schema"
    " WHERE tbl_name = 'workflow_step'";

static void run_sql(sqlite3 *db, const char *sql)
{
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    CHECK(rc == SQLITE_OK, "%s: %.60s", sqlite3_errmsg(db), sql);
}

static sqlite3 *open_file(const char *url)
{
    sqlite3 *db;
    CHECK(sqlite3_open(url + strlen("sqlite:"), &db) == SQLITE_OK, "%s cannot be opened", url);
    return db;
}

/* A file as the second version left it; `more` is run on it at the end. */
static const char *make_second_version(const char *more)
{
    const char *url = scratch_store_of("sqlite");
    sqlite3 *db = open_file(url);
    run_sql(db, "CREATE TABLE workflow_migration (number INTEGER PRIMARY KEY,"
                " name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;"
                "INSERT INTO workflow_migration VALUES (1, '0001_jobs', 0),"
                " (2, '0002_workflows', 0)");
    run_sql(db, migrations[0].sql);
    run_sql(db, migrations[1].sql);
    run_sql(db, instances);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        run_sql(db, steps[i]);
    run_sql(db, strangers);
    run_sql(db, more);
    sqlite3_close(db);
    return url;
}

/* ---- What became of it ----------------------------------------------------------------------
 */

static int64_t ask(struct rig *rig, const char *sql)
{
    return connection_int(((struct sqlite_session *)rig->writer)->connection, sql, -1);
}

/* The text of a table without what may differ: its name and its spaces. */
static const char *bare(struct rig *rig, const char *sql)
{
    char *text = arena_strdup(&rig->arena, strchr(sql, '('));
    size_t len = 0;
    for (size_t i = 0; text[i]; i++)
        if (text[i] != ' ' && text[i] != '\n')
            text[len++] = text[i];
    text[len] = '\0';
    return text;
}

static const char *ask_text(struct rig *rig, const char *sql)
{
    sqlite3_stmt *statement;
    CHECK(sqlite3_prepare_v2(db_of(rig->writer), sql, -1, &statement, NULL) == SQLITE_OK, "%s",
          sql);
    CHECK(sqlite3_step(statement) == SQLITE_ROW, "nothing: %s", sql);
    const char *text =
        arena_strdup(&rig->arena, (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return text;
}

/* Steps that are no longer what they were, as far as the second version knew them. */
static int64_t count_changed(struct rig *rig)
{
    const char *columns =
        ask_text(rig, "SELECT group_concat(name) FROM pragma_table_info('kept_step')");
    return ask(rig, arena_printf(&rig->arena,
                                 "SELECT count(*) FROM (SELECT %s FROM kept_step EXCEPT"
                                 " SELECT %s FROM workflow_step)",
                                 columns, columns));
}

TEST(a_store_of_the_second_version_keeps_every_row)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(make_second_version(""));
    const struct store_schema *schema = &rig->writer->store->schema;
    CHECK_INT(schema->from, 2);
    CHECK_INT(schema->to, schema_newest());
    CHECK_INT(schema->applied_count, sizeof migrations / sizeof *migrations - 2);
    CHECK_STR(schema->applied[0], "0003_functions");
    CHECK_INT(ask(rig, "SELECT count(*) FROM workflow_migration WHERE number = 3"), 1);
    CHECK_INT(ask(rig, "SELECT count(*) FROM workflow_step"), STEPS_MADE);
    CHECK_INT(count_changed(rig), 0);
    CHECK_INT(ask(rig, "SELECT count(*) FROM workflow_step WHERE past_effects = 0"
                       " AND is_effect_begun = 0 AND ended_outcome IS NULL"
                       " AND function_effects IS NULL AND undo_error IS NULL"),
              STEPS_MADE);
    CHECK_INT(ask(rig, "SELECT count(*) FROM workflow_instance AS new"
                       " JOIN kept_instance AS old USING (seq, id, workflow, version, status,"
                       " generation, created_at, updated_at, is_dlq, commits, awaited_count)"
                       " WHERE new.output IS old.output AND new.input IS old.input"),
              2);
    CHECK_INT(ask(rig, "SELECT count(*) FROM their_view WHERE name = 's5'"), 1);
    CHECK_INT(ask(rig, "SELECT count(*) FROM pragma_integrity_check"
                       " WHERE integrity_check <> 'ok'"),
              0);
    CHECK_INT(ask(rig, "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%_new'"), 0);

    begin_write(rig);
    struct instance_row row = get_instance(rig, "i1");
    CHECK_INT(row.is_function || row.is_forced || row.is_woken, false);
    CHECK_INT(row.revision, 0);
    CHECK_INT(row.places, 0);
    CHECK_INT(row.awaited_count, 19);
    CHECK_STR(row.output, "[2]");
    CHECK_INT(new_instance(rig, "w").seq, 78);
}

TEST(the_table_of_steps_keeps_its_columns_checks_and_indexes)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(make_second_version(""));
    CHECK_INT(ask(rig, "SELECT count(*) FROM kept_schema WHERE type = 'index'"), 6);
    CHECK_INT(ask(rig, "SELECT count(*) FROM (SELECT * FROM kept_schema WHERE type = 'index'"
                       " EXCEPT SELECT type, name, sql FROM sqlite_schema)"),
              1); /* the one for claims has a version more */
    const char *before =
        ask_text(rig, "SELECT replace(replace(sql, 'kind = ''human''',"
                      " 'kind = ''human'' OR kind = ''function'' OR kind = ''value'' OR kind ="
                      " ''start'''), 'stop BETWEEN 0 AND 4', 'stop BETWEEN 0 AND 5')"
                      "  FROM kept_schema WHERE type = 'table'");
    const char *after =
        ask_text(rig, "SELECT sql FROM sqlite_schema WHERE name = 'workflow_step'");
    /* Later columns stand between the last one and what holds for the whole row. */
    static const char last[] = "outputTEXT";
    const char *wanted = bare(rig, before), *seen = bare(rig, after);
    const char *rest = strstr(wanted, last), *end = strstr(seen, ",CHECK((locked_by");
    CHECK(rest && end && strncmp(seen, wanted, (size_t)(rest - wanted)) == 0, "%s", seen);
    CHECK_STR(end, rest + strlen(last));
}

TEST(the_steps_of_a_store_of_the_second_version_go_on)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(make_second_version(""));
    struct steps found = {0};
    struct step_ref refs[ROWS_MAX];
    const char *ids[2];
    size_t count;
    begin_write(rig);
    MUST(rig, rig->ops->lock_current_steps(rig->tx, "i1", -1, found.rows, ROWS_MAX,
                                           &found.count, &rig->error));
    CHECK_STEPS(&found, "s0", "s1", "s2", "s3", "s4", "s5", "s6");
    MUST(rig, rig->ops->lock_committed_steps(rig->tx, "i1", INT64_MAX, 0, INT32_MAX, found.rows,
                                             ROWS_MAX, &found.count, &rig->error));
    CHECK_STEPS(&found, "s8", "s7", "s6");
    MUST(rig, rig->ops->find_due_steps(rig->tx, refs, ROWS_MAX, &count, &rig->error));
    CHECK_INT(count, STEPS_MADE - 3); /* all but those that are ready */
    MUST(rig, rig->ops->find_due_instances(rig->tx, ids, 2, &count, &rig->error));
    CHECK_INT(count, 1);
    CHECK_STEPS(claim_steps(rig, 9, "t"), "s1", "s0"); /* by priority */
    MUST(rig, rig->ops->promote_steps(rig->tx, 9, &count, &rig->error));
    CHECK_INT(count, 1);
    CHECK_STEPS(claim_steps(rig, 9, "t"), "s2");

    struct step_row step = lock_step(rig, "i1", PLACES_MAX - 1);
    CHECK_STR(step.name, "s1048575");
    step.stop = STOP_PAUSED;
    update_step(rig, step);
    struct instance_row function = new_instance(rig, "f");
    struct step_row runner = ready_step(&function, 0, "f", 50);
    runner.kind = KIND_FUNCTION;
    add_step(rig, runner);
    CHECK_STEPS(claim_steps(rig, 9, "f"), "s0");
}

/* The third version, with a function of version 7 that can be claimed and remembers a step. */
static const char *make_third_version(void)
{
    const char *url = make_second_version("");
    sqlite3 *db = open_file(url);
    run_sql(db, migrations[2].sql);
    run_sql(db, "INSERT INTO workflow_migration VALUES (3, '0003_functions', 0);"
                "UPDATE workflow_instance SET version = 7, is_function = 1, places = 2"
                " WHERE id = 'i1';"
                "UPDATE workflow_step SET kind = 'function', task_type = 'f', is_ready = 1,"
                "  status = 'ready', locked_by = NULL, token = NULL, due_at = NULL, is_held = 0"
                " WHERE id = (SELECT seq << 20 FROM workflow_instance WHERE id = 'i1');"
                "UPDATE workflow_step SET is_ready = 0"
                " WHERE id <> (SELECT seq << 20 FROM workflow_instance WHERE id = 'i1')");
    sqlite3_close(db);
    return url;
}

TEST(a_function_of_the_third_version_is_claimed_by_its_version)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(make_third_version());
    struct function_range range = {.name = "f", .from = 1, .to = 6};
    struct step_claim claim = {.functions = &range, .function_count = 1};
    CHECK_INT(ask(rig, "SELECT count(*) FROM workflow_step WHERE version <> 0"), 1);
    begin_write(rig);
    CHECK_NO_STEPS(claim_steps_by(rig, 9, claim));
    range.to = 7;
    CHECK_STEPS(claim_steps_by(rig, 9, claim), "s0");
}

/* It was not kept what their senders were told. */
TEST(a_signal_of_an_earlier_version_is_answered_by_whether_it_is_taken)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(make_second_version(
        "INSERT INTO workflow_signal (instance_id, id, event, received_at, taken_by, payload)"
        " VALUES ('i1', 'x', 'e', 1, 3, '1'), ('i1', 'y', 'e', 1, NULL, '1')"));
    struct signal_row known = {0};
    begin_write(rig);
    MUST(rig, rig->ops->get_signal(rig->tx, "i1", "x", &known, &rig->error));
    CHECK_INT(known.was_taken, true);
    MUST(rig, rig->ops->get_signal(rig->tx, "i1", "y", &known, &rig->error));
    CHECK_INT(known.was_taken, false);
}

/* A new file is made at once: it has what one migration after the other makes, and the same rows. */
TEST(a_new_file_is_as_the_migrations_leave_it)
{
    static const char differ[] = "SELECT count(*) FROM (SELECT * FROM (%s EXCEPT %s) UNION ALL "
                                 "SELECT * FROM (%s EXCEPT %s))";
    static const char *const texts[][2] = {
        {"SELECT type, name, tbl_name, sql FROM sqlite_schema",
         "SELECT type, name, tbl_name, sql FROM fresh.sqlite_schema"},
        {"SELECT number, name, oldest FROM workflow_migration",
         "SELECT number, name, oldest FROM fresh.workflow_migration"},
        {"SELECT * FROM workflow_retention", "SELECT * FROM fresh.workflow_retention"},
    };
    const char *url = scratch_store_of("sqlite");
    unlink(url + strlen("sqlite:")); /* a copy of one that was made, perhaps */
    rig_close(rig_open_url(url));
    const char *stepwise = scratch_store_of("sqlite");
    unlink(stepwise + strlen("sqlite:"));
    sqlite3 *db = open_file(stepwise);
    char sql[1024];
    run_sql(db, "CREATE TABLE workflow_migration (number INTEGER PRIMARY KEY,"
                " name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT");
    run_sql(db, migrations[0].sql);
    run_sql(db, "INSERT INTO workflow_migration VALUES (1, '0001_jobs', 0)");
    sqlite3_close(db);
    rig_close(rig_open_url(stepwise)); /* the others, one by one */

    db = open_file(stepwise);
    struct connection connection = {.db = db};
    snprintf(sql, sizeof sql, "ATTACH '%s' AS fresh", url + strlen("sqlite:"));
    run_sql(db, sql);
    CHECK(connection_int(&connection, "SELECT count(*) FROM fresh.sqlite_schema", 0) > 80,
          "it is empty");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        snprintf(sql, sizeof sql, differ, texts[i][0], texts[i][1], texts[i][1], texts[i][0]);
        CHECK(connection_int(&connection, sql, -1) == 0, "they differ: %s", texts[i][0]);
    }
    sqlite3_close(db);
}

TEST(a_migration_that_cannot_be_leaves_the_file_as_it_was)
{
    const char *url = make_second_version("CREATE TABLE workflow_log (theirs)");
    struct clock clock;
    struct store *store = NULL;
    cairn_error error = {0};
    clock_init_virtual(&clock, RIG_START_US);
    struct store_config config = {.url = url, .clock = &clock, .lock_wait_ms = 50};
    cairn_code code = store_open(&config, &store, &error);
    CHECK(code == CAIRN_E_STORE && error.message[0], "it is %s", cairn_code_name(code));

    sqlite3 *db = open_file(url);
    struct connection connection = {.db = db};
    CHECK_INT(connection_int(&connection, "SELECT max(number) FROM workflow_migration", 0), 2);
    CHECK_INT(connection_int(&connection,
                             "SELECT count(*) FROM (SELECT * FROM kept_schema EXCEPT"
                             " SELECT type, name, sql FROM sqlite_schema)",
                             -1),
              0);
    CHECK_INT(connection_int(&connection, "SELECT count(*) FROM workflow_step", -1),
              STEPS_MADE);
    sqlite3_close(db);
}

/* Each migration is a transaction: one that fails undoes none before it, and is where the next opening goes on. */
TEST(a_later_migration_that_cannot_be_leaves_those_before_it)
{
    const char *url =
        make_second_version("ALTER TABLE workflow_instance ADD COLUMN undo_error TEXT");
    struct clock clock;
    struct store *store = NULL;
    cairn_error error = {0};
    clock_init_virtual(&clock, RIG_START_US);
    struct store_config config = {.url = url, .clock = &clock, .lock_wait_ms = 50};
    cairn_code code = store_open(&config, &store, &error);
    CHECK(code == CAIRN_E_STORE && error.message[0], "it is %s", cairn_code_name(code));

    sqlite3 *db = open_file(url);
    struct connection connection = {.db = db};
    CHECK_INT(connection_int(&connection, "SELECT max(number) FROM workflow_migration", 0), 3);
    CHECK_INT(connection_int(&connection,
                             "SELECT count(*) FROM pragma_table_info('workflow_run')"
                             " WHERE name = 'ended_outcome'",
                             -1),
              0);
    run_sql(db, "ALTER TABLE workflow_instance DROP COLUMN undo_error");
    sqlite3_close(db);
    cleanup(rig_closep) struct rig *rig = rig_open_url(url);
    CHECK_INT(ask(rig, "SELECT count(*) FROM workflow_step"), STEPS_MADE);
    CHECK(ask(rig, "SELECT max(number) FROM workflow_migration") > 5, "it has not gone on");
}

/* ---- Events from before there was a log -----------------------------------------------------
 */

/* A file as the tenth version left it, with jobs under way. */
static const char *make_tenth_version(void)
{
    const char *url = scratch_store_of("sqlite");
    sqlite3 *db = open_file(url);
    run_sql(db, "CREATE TABLE workflow_migration (number INTEGER PRIMARY KEY,"
                " name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;"
                "INSERT INTO workflow_migration VALUES (10, '0010_children', 0)");
    for (size_t i = 0; migrations[i].number <= 10; i++)
        run_sql(db, migrations[i].sql);
    run_sql(db, "INSERT INTO workflow_run (id, type, status, leased_by, lease_until, is_ready)"
                " VALUES ('" JOB "', 'a', 'leased', 'w', 1, 0);"
                "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 5000)"
                "INSERT INTO workflow_event (workflow_id, event_type, data, created_at)"
                " SELECT '" JOB "', iif(n = 1, 'created', 'heartbeat'), '{}', n FROM n;"
                "CREATE VIEW their_view AS SELECT count(*) AS n FROM workflow_event;"
                "CREATE TABLE kept_event AS SELECT id, workflow_id, event_type, data,"
                " created_at, step FROM workflow_event");
    sqlite3_close(db);
    return url;
}

TEST(old_events_stay_and_new_ones_follow_them)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(make_tenth_version());
    struct event_row rows[ROWS_MAX];
    size_t count;
    CHECK_INT(ask(rig, "SELECT count(*) FROM (SELECT * FROM kept_event EXCEPT SELECT *"
                       " FROM workflow_event)"),
              0);

    /* The lease goes on, and its end is the job's next event. */
    begin_write(rig);
    struct job_row row = lock_one(rig, JOB);
    CHECK_INT(row.status, JOB_LEASED);
    struct event_row event = {
        .number = 1, .subject_id = JOB, .type = "succeeded", .data = "{\"n\":1}"};
    MUST(rig, rig->ops->number_events(rig->tx, &event.id, &rig->error));
    row.status = JOB_SUCCEEDED;
    row.last_event = event.id;
    row.event_count = 1;
    MUST(rig, rig->ops->update_jobs(rig->tx, &row, 1, &rig->error));
    MUST(rig, rig->ops->append_events(rig->tx, &event, 1, &rig->error));
    commit(rig);
    run_elsewhere(rig, "INSERT INTO workflow_event (workflow_id, event_type) VALUES"
                       " ('" JOB "', 'note')");

    begin_read(rig);
    MUST(rig, rig->ops->list_events(rig->tx, JOB, 0, rows, 2, &count, &rig->error));
    CHECK_STR(rows[0].type, "created");
    MUST(rig, rig->ops->list_events_before(rig->tx, JOB, 0, rows, 3, &count, &rig->error));
    CHECK_STR(rows[0].type, "note");
    CHECK_STR(rows[1].type, "succeeded");
    CHECK_INT(rows[2].id, 5000);
    MUST(rig, rig->ops->list_events(rig->tx, NULL, 4999, rows, 9, &count, &rig->error));
    CHECK_INT(count, 3);
    CHECK_STR(rows[2].type, "note");
    commit(rig);
    CHECK_INT(ask(rig, "SELECT n FROM their_view"), 5002);
    CHECK_INT(ask(rig, "SELECT count(*) FROM workflow_event_stream"), 5002);
    CHECK_STR(ask_text(rig, "SELECT data FROM workflow_event WHERE event_type = 'succeeded'"),
              "{\"n\":1}");
}
