/* tests/store/test_postgres_function.c - functions on PostgreSQL: tables from before them, and
 * connections that meet at one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"
#include "foreign.h"
#include "store/postgres/postgres_sql.h"

static const char *new_url(void)
{
    return scratch_store_of("postgres");
}

/* ---- tables from before -------------------------------------------------------------------- */

/* The tables as a library of this version left them. */
static void make_tables(PGconn *conn, int version)
{
    foreign_run(conn, "CREATE SCHEMA workflow;"
                      "CREATE TABLE workflow.cairn_schema (version integer PRIMARY KEY,"
                      " name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())");
    for (size_t i = 0; i < sizeof migrations / sizeof *migrations; i++) {
        if (migrations[i].number > version)
            break;
        char sql[128];
        foreign_run(conn, migrations[i].sql);
        snprintf(sql, sizeof sql, "INSERT INTO workflow.cairn_schema VALUES (%d, '%s')",
                 migrations[i].number, migrations[i].name);
        foreign_run(conn, sql);
    }
}

/* Instances from `first` to `last` of a step of each kind, as that library writes them. */
static void load(PGconn *conn, int first, int last)
{
    char sql[2048];
    snprintf(
        sql, sizeof sql,
        "WITH instance AS ("
        " INSERT INTO workflow.workflow_instance (id, workflow, version, key, input, status,"
        " generation, created_at, updated_at, is_dlq, has_compensation, is_undo_failed,"
        " undo_first, undo_from, undo_to, undo_below, commits, active_count, wait_count,"
        " sleep_count, decision_count, parked_count, awaited_count)"
        " SELECT ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid, 'order', 1,"
        " 'k' || i, '{\"n\": 1}', 'running', 1, now(), now(), false, true, false, -1, -1, -1,"
        " 0, 3, 1, 0, 0, 0, 0, 0 FROM generate_series(%d, %d) AS i RETURNING id, seq)"
        "INSERT INTO workflow.workflow_step (instance_id, instance_seq, seq, name, kind,"
        " max_attempts, priority, next, scope_fork, scope_from, scope_to, status, attempts,"
        " compensation_attempts, commit_no, is_ready, is_held, stop, is_timed_out,"
        " remaining, updated_at)"
        " SELECT i.id, i.seq, k.place - 1, 's' || k.place - 1, k.kind, 3, 50, -1, -1, 0, 7,"
        " 'running', 0, 0, 0, false, false, 'cancelled', false, 0, now() FROM instance AS i,"
        " unnest('{task,sleep,wait,save_point,condition,fork,join,human}'::text[])"
        " WITH ORDINALITY AS k (kind, place)",
        first, last);
    foreign_run(conn, sql);
}

/* All that these tables hold, without what is new; which files they are in. */
static void sum_up(PGconn *conn, char ret_sum[160])
{
    snprintf(
        ret_sum, 160, "%s",
        foreign_run(conn,
                    "SELECT concat_ws(' ',"
                    " (SELECT md5(string_agg((to_jsonb(i) - '{is_function,revision,places,"
                    "is_forced,is_woken,undo_error,metadata,parent,parent_event,child_count,"
                    "is_telling,is_told,last_event,event_count,paused_by,paused_reason,"
                    "paused_at,tags,schedule,parent_seq,parent_round,element,depth,"
                    "own_child_count,source,rerun_from,rerun_signal,rerun_input,rerun_made,"
                    "group}'::text[])::text, ',' ORDER BY i.id))"
                    "    FROM workflow.workflow_instance AS i),"
                    " (SELECT md5(string_agg((to_jsonb(s) - '{ended_outcome,past_effects,"
                    "is_effect_begun,function_effects,undo_error,version,"
                    "instance_metadata,passed,is_copied,group,is_counted}'::text[])::text, ','"
                    " ORDER BY s.instance_id, s.seq))"
                    "    FROM workflow.workflow_step AS s),"
                    " pg_relation_filenode('workflow.workflow_instance'),"
                    " pg_relation_filenode('workflow.workflow_step'))"));
}

static long count_rows(PGconn *conn)
{
    return foreign_number(conn, "SELECT (SELECT count(*) FROM workflow.workflow_instance)"
                                " + (SELECT count(*) FROM workflow.workflow_step)");
}

static const char OLD_ID[] = "00000000-0000-4000-8000-000000000007";

TEST(tables_from_before_functions_keep_what_they_hold)
{
    const char *url = new_url();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    char before[160], after[160];
    make_tables(foreign, 2);
    load(foreign, 1, 500);
    sum_up(foreign, before);

    cleanup(rig_closep) struct rig *rig = rig_open_url(url);
    CHECK_STR(foreign_run(foreign, "SELECT string_agg(name, ' ' ORDER BY version)"
                                   " FROM workflow.cairn_schema WHERE version <= 3"),
              "0001_jobs 0002_workflows 0003_functions");
    sum_up(foreign, after);
    CHECK_STR(after, before); /* and no table was rewritten, however long that would take */
    CHECK_INT(count_rows(foreign), 500 * 9);

    /* A process of the library from before may still be at work. */
    load(foreign, 501, 502);
    CHECK_INT(count_rows(foreign), 502 * 9);
    begin_write(rig);
    for (int i = 0; i < 2; i++) {
        struct instance_row row =
            lock_instance(rig, i ? "00000000-0000-4000-8000-000000000502" : OLD_ID);
        CHECK(!row.is_function && !row.is_forced && !row.is_woken, "an old row is a function");
        CHECK_INT(row.revision, 0);
        CHECK_INT(row.places, 0);
        CHECK_STR(row.workflow, "order");
        CHECK_INT(row.commits, 3);
    }
}

TEST(a_function_from_before_its_rows_had_a_version_is_claimed_by_it)
{
    const char *url = new_url();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    make_tables(foreign, 3);
    load(foreign, 1, 2);
    foreign_run(foreign, "UPDATE workflow.workflow_instance SET is_function = true, version = 7"
                         " WHERE id = '00000000-0000-4000-8000-000000000001'");
    foreign_run(foreign, "UPDATE workflow.workflow_step SET is_ready = false");
    foreign_run(foreign,
                "UPDATE workflow.workflow_step SET kind = 'function', task_type = 'f',"
                " is_ready = true, status = 'ready', locked_by = NULL, token = NULL,"
                " locked_until = NULL, due_at = NULL"
                " WHERE instance_id = '00000000-0000-4000-8000-000000000001' AND seq = 0");
    cleanup(rig_closep) struct rig *rig = rig_open_url(url);
    CHECK_INT(foreign_number(foreign, "SELECT count(*) FROM workflow.workflow_step"
                                      " WHERE version <> 0"),
              1);
    struct function_range range = {.name = "f", .from = 1, .to = 6};
    struct step_claim claim = {.functions = &range, .function_count = 1};
    begin_write(rig);
    CHECK_NO_STEPS(claim_steps_by(rig, 9, claim));
    range.to = 7;
    CHECK_INT(claim_steps_by(rig, 9, claim)->count, 1);
}

/* It was not kept what their senders were told. */
TEST(a_signal_of_an_earlier_version_is_answered_by_whether_it_is_taken)
{
    const char *url = new_url();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    struct signal_row known = {0};
    make_tables(foreign, 2);
    load(foreign, 7, 7);
    foreign_run(foreign,
                "INSERT INTO workflow.workflow_signal (instance_id, id, event, received_at,"
                " taken_by) SELECT id, 'x', 'e', now(), 3 FROM workflow.workflow_instance"
                " UNION ALL SELECT id, 'y', 'e', now(), NULL FROM workflow.workflow_instance");
    cleanup(rig_closep) struct rig *rig = rig_open_url(url);
    begin_write(rig);
    MUST(rig, rig->ops->get_signal(rig->tx, OLD_ID, "x", &known, &rig->error));
    CHECK_INT(known.was_taken, true);
    MUST(rig, rig->ops->get_signal(rig->tx, OLD_ID, "y", &known, &rig->error));
    CHECK_INT(known.was_taken, false);
}

TEST(tables_from_before_functions_take_their_words)
{
    const char *url = new_url();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    make_tables(foreign, 2);
    load(foreign, 1, 9);
    cleanup(rig_closep) struct rig *rig = rig_open_url(url);

    begin_write(rig);
    struct instance_row instance = lock_instance(rig, OLD_ID);
    struct step_row old = lock_step(rig, OLD_ID, 0);
    CHECK_INT(old.stop, STOP_CANCELLED);
    old.stop = STOP_PAUSED;
    update_step(rig, old);
    static const enum step_kind kinds[] = {KIND_FUNCTION, KIND_VALUE, KIND_START};
    for (int32_t i = 0; i < 3; i++) {
        struct step_row row = step_of(&instance, 8 + i);
        row.kind = kinds[i];
        row.handler = NULL;
        add_step(rig, row);
    }
    commit(rig);
    begin_write(rig);
    CHECK_INT(lock_step(rig, OLD_ID, 0).stop, STOP_PAUSED);
    for (int32_t i = 0; i < 3; i++)
        CHECK_INT(lock_step(rig, OLD_ID, 8 + i).kind, kinds[i]);
    roll_back(rig);

    /* Others are still refused. */
    static const char *const wrong[] = {
        "UPDATE workflow.workflow_step SET kind = 'functions' WHERE seq = 0",
        "UPDATE workflow.workflow_step SET stop = 'pause' WHERE seq = 0"};
    for (size_t i = 0; i < 2; i++) {
        PGresult *result = PQexec(foreign, wrong[i]);
        const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        CHECK_STR(state ? state : "", "23514");
        PQclear(result);
    }
}

/* ---- two connections and one function ------------------------------------------------------ */

/* A function that somebody is passing through. */
static struct instance_row new_function(struct rig *rig)
{
    struct instance_row row = instance_of(rig, "order");
    row.is_function = true;
    row.revision = row.places = 1;
    row.active_count = 1;
    begin_write(rig);
    row = add_instance(rig, row);
    struct step_row runner = ready_step(&row, 0, "order", 50);
    runner.kind = KIND_FUNCTION;
    add_step(rig, runner);
    CHECK_STEPS(claim_steps(rig, 9, "order"), "s0");
    commit(rig);
    return row;
}

/* A commit of one remembered step, not ended yet. */
static void remember_one(struct rig *rig, const char *id)
{
    struct instance_row row = lock_instance(rig, id);
    struct step_row runner = lock_step(rig, id, 0), step = step_of(&row, row.places);
    step.handler = NULL;
    step.status = STEP_COMPLETED;
    runner.locked_until_us += US_PER_MIN;
    row.revision++;
    row.places++;
    update_step(rig, runner);
    add_step(rig, step);
    update_instance(rig, row);
}

static enum lock_result try_lock(struct rig *rig, const char *id, struct instance_row *ret_row)
{
    enum lock_result result;
    MUST(rig, rig->ops->lock_instances(rig->tx, &id, 1, false, ret_row, &result, &rig->error));
    return result;
}

static size_t count_steps(struct rig *rig, const char *id)
{
    struct step_row rows[ROWS_MAX];
    size_t count = SIZE_MAX;
    MUST(rig,
         rig->ops->list_steps(rig->tx, id, -1, false, rows, ROWS_MAX, &count, &rig->error));
    return count;
}

/* A passage commits; a signal comes at the same time, and finds what was committed. */
TEST(a_signal_to_a_function_in_commit_is_told_busy_and_then_sees_the_commit)
{
    cleanup(rig_closep) struct rig *passage = rig_open_url(new_url());
    cleanup(rig_closep) struct rig *sender = rig_open_url(passage->url);
    struct instance_row row;
    const char *id = new_function(passage).id;

    begin_write(passage);
    remember_one(passage, id);
    begin_write(sender);
    CHECK_INT(try_lock(sender, id, &row), LOCK_BUSY);
    CHECK_INT(count_steps(sender, id), 1);
    commit(passage);

    CHECK_INT(try_lock(sender, id, &row), LOCK_DONE); /* in the same transaction */
    CHECK_INT(row.revision, 2);
    CHECK_INT(row.places, 2);
    CHECK_INT(count_steps(sender, id), 2);
    struct signal_row signal = {.instance_id = id,
                                .id = "1",
                                .event = "paid",
                                .received_at_us = sender->tx->now_us,
                                .taken_by = -1};
    enum insert_result result;
    MUST(sender, sender->ops->insert_signal(sender->tx, &signal, &result, &sender->error));
    row.is_woken = true;
    row.revision++;
    update_instance(sender, row);
    commit(sender);

    begin_write(passage);
    CHECK_INT(try_lock(passage, id, &row), LOCK_DONE);
    CHECK_INT(row.revision, 3);
    CHECK(row.is_woken, "the function was not woken");
    struct signal_row seen[2];
    size_t count = SIZE_MAX;
    MUST(passage,
         passage->ops->list_signals(passage->tx, &id, 1, 0, seen, 2, &count, &passage->error));
    CHECK_INT(count, 1);
    CHECK_STR(seen[0].event, "paid");
}

/* Until the connection of process `pid` waits for somebody's lock. */
static void await_waiter(PGconn *conn, int pid)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM pg_locks WHERE pid = %d AND NOT granted",
             pid);
    for (int tries = 0; tries < 100000; tries++)
        if (foreign_number(conn, sql) > 0)
            return;
    CHECK(false, "nobody waits");
}

/* A control waits for the commit of a passage, and decides by what that wrote. */
TEST(who_waits_for_a_function_reads_it_anew)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *watcher = foreign_open(rig->url);
    cleanup(foreign_closep) PGconn *control = foreign_open(rig->url);
    const char *id = new_function(rig).id;
    char ids[64];
    const char *values[1] = {ids};
    snprintf(ids, sizeof ids, "{%s}", id);

    begin_write(rig);
    remember_one(rig, id);
    foreign_run(control, "BEGIN ISOLATION LEVEL READ COMMITTED");
    CHECK(
        PQsendQueryParams(control, SQL_LOCK_INSTANCES_WAITING, 1, NULL, values, NULL, NULL, 0),
        "%s", PQerrorMessage(control));
    await_waiter(watcher, PQbackendPID(control));
    commit(rig);

    PGresult *result = PQgetResult(control);
    CHECK(PQresultStatus(result) == PGRES_TUPLES_OK, "%s", PQerrorMessage(control));
    CHECK_INT(PQntuples(result), 1);
    CHECK_STR(PQgetvalue(result, 0, PQfnumber(result, "revision")), "2");
    CHECK_STR(PQgetvalue(result, 0, PQfnumber(result, "places")), "2");
    PQclear(result);
    CHECK(!PQgetResult(control), "another result came");
    CHECK_INT(foreign_number(control, "SELECT count(*) FROM workflow.workflow_step"), 2);
}

/* All of it is sent at once, and the server takes it in the order in which it was given. */
TEST(one_batch_updates_forgets_and_adds_steps_of_a_function)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    const char *id = new_function(rig).id;
    struct step_row rows[ROWS_MAX];
    size_t count = SIZE_MAX;
    for (int i = 0; i < 2; i++) {
        begin_write(rig);
        remember_one(rig, id);
        commit(rig);
    }

    begin_write(rig);
    struct instance_row row = lock_instance(rig, id);
    struct step_row kept = lock_step(rig, id, 1), forgotten = lock_step(rig, id, 2);
    struct step_row anew = forgotten;
    kept.status = STEP_SKIPPED;
    anew.seq = row.places++;
    anew.kind = KIND_VALUE; /* the same key, and another kind */
    update_step(rig, kept);
    MUST(rig, rig->ops->delete_steps(rig->tx, &(struct step_ref){id, 2}, 1, &rig->error));
    add_step(rig, anew);
    anew.output = "7";
    update_step(rig, anew);
    update_instance(rig, row);
    commit(rig);

    begin_read(rig);
    MUST(rig, rig->ops->list_steps(rig->tx, id, 0, false, rows, ROWS_MAX, &count, &rig->error));
    CHECK_INT(count, 2);
    check_step_planned(&rows[0], &kept);
    check_step_changing(&rows[0], &kept);
    check_step_planned(&rows[1], &anew);
    check_step_changing(&rows[1], &anew);
    CHECK_INT(get_instance(rig, id).places, 4);
}
