/* tests/spec/test_extremes.c - rows with the extreme values of every column: whatever they hold, nothing aborts and
 * others' work goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Plain SQL writes a value into a column of a job or a step, before it is claimed or while it is leased.  Then it is
 * claimed, extended, failed, lost, shown, listed, cancelled and retried, and beside it another job is worked off.
 * What the database refuses is not tried.
 */
#include "base/mem.h"
#include "cairn.h"
#include "scratch.h"
#include "test.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdlib.h>

/* ---- somebody else's connection --------------------------------------------------------------- */

struct plain {
    PGconn *postgres;
    sqlite3 *sqlite;
};

static struct plain plain_open(const char *url)
{
    struct plain plain = {0};
    if (strncmp(url, "sqlite:", 7) == 0)
        CHECK_INT(sqlite3_open(url + 7, &plain.sqlite), SQLITE_OK);
    else
        plain.postgres = PQconnectdb(url);
    return plain;
}

static void plain_close(struct plain *plain)
{
    if (plain->postgres)
        PQfinish(plain->postgres);
    sqlite3_close(plain->sqlite);
}

/* Whether the statement was taken.  On PostgreSQL without the triggers that mend what others write. */
static bool plain_run(struct plain *plain, const char *sql)
{
    if (plain->sqlite)
        return sqlite3_exec(plain->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK;
    PQclear(PQexec(plain->postgres, "BEGIN; SELECT set_config('cairn.engine', '1', true),"
                                    " set_config('cairn.leases', '1', true)"));
    PGresult *result = PQexec(plain->postgres, sql);
    bool is_taken = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    PQclear(PQexec(plain->postgres, is_taken ? "COMMIT" : "ROLLBACK"));
    return is_taken;
}

enum { COLUMNS_MAX = 64 };
struct columns {
    char names[COLUMNS_MAX][64], types[COLUMNS_MAX][64];
    size_t count;
};

static int add_column(void *arg, int count, char **values, char **names)
{
    struct columns *columns = arg;
    (void)count, (void)names;
    snprintf(columns->names[columns->count], 64, "%s", values[0]);
    snprintf(columns->types[columns->count++], 64, "%s", values[1]);
    return 0;
}

static void list_columns(struct plain *plain, const char *table, struct columns *ret)
{
    char sql[300];
    *ret = (struct columns){0};
    if (plain->sqlite) {
        snprintf(sql, sizeof sql, "SELECT name, type FROM pragma_table_info('%s')", table);
        sqlite3_exec(plain->sqlite, sql, add_column, ret, NULL);
        return;
    }
    snprintf(sql, sizeof sql,
             "SELECT column_name, data_type FROM information_schema.columns"
             " WHERE table_schema = 'workflow' AND table_name = '%s' ORDER BY 1",
             table);
    PGresult *result = PQexec(plain->postgres, sql);
    for (int i = 0; i < PQntuples(result); i++)
        add_column(ret, 2, (char *[]){PQgetvalue(result, i, 0), PQgetvalue(result, i, 1)},
                   NULL);
    PQclear(result);
}

/* The values that are tried for a type; NULL ends them. */
static const char *const *values_of(const char *type, bool is_job)
{
    static const char *const sqlite[] = {
        "-9223372036854775808", "-1", "0", "2147483647", "5000000000",
        "9223372036854775807",  NULL};
    static const char *const int32[] = {"-2147483648", "-1", "0", "2147483647", NULL};
    static const char *const int64[] = {"-9223372036854775808", "-1", "0",
                                        "9223372036854775807", NULL};
    static const char *const times[] = {"'-infinity'", "'0001-01-01'", "'1970-01-01Z'",
                                        "'infinity'", NULL};
    static const char *const step_times[] = {"'0001-01-01'", "'1970-01-01Z'", "'9999-12-31'",
                                             NULL};
    static const char *const none[] = {NULL};
    return strcmp(type, "INTEGER") == 0   ? sqlite
           : strcmp(type, "integer") == 0 ? int32
           : strcmp(type, "bigint") == 0  ? int64
           : strncmp(type, "timestamp", strlen("timestamp")) == 0
               ? (is_job ? times : step_times)
               : none;
}

/* ---- calls ------------------------------------------------------------------------------------ */

struct extremes {
    cairn_engine *engine;
    struct plain plain;
    char doing[200]; /* what is tried, for messages */
    char body[65536];
};

/* An answer that is no failure of the server. */
static const char *ask(struct extremes *x, const char *method, const char *target,
                       const char *body)
{
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    cairn_response *response;
    cairn_error error;
    request.method = method;
    request.target = target;
    request.body = body;
    request.body_len = body ? strlen(body) : 0;
    cairn_code code = cairn_call(x->engine, &request, &response, &error);
    CHECK(code == CAIRN_OK, "%s: %s", x->doing, error.message);
    snprintf(x->body, sizeof x->body, "%s", cairn_response_body(response, NULL));
    int status = cairn_response_status(response);
    cairn_response_free(response);
    CHECK(status < 500, "%s: %s %s: %d %s", x->doing, method, target, status, x->body);
    return x->body;
}

/* The first text member of this name in an answer; "": none. */
static void member(const char *body, const char *name, char ret_text[64])
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":\"", name);
    const char *at = strstr(body, key);
    ret_text[0] = '\0';
    if (at)
        snprintf(ret_text, 64, "%.*s", (int)strcspn(at + strlen(key), "\""), at + strlen(key));
}

struct task {
    char id[64], token[64];
};

static struct task take(struct extremes *x, const char *type)
{
    struct task task;
    char body[200];
    snprintf(body, sizeof body, "{\"worker\":\"w\",\"types\":[\"%s\"],\"lease_ms\":30000}",
             type);
    ask(x, "POST", "/v1/tasks/claim", body);
    member(x->body, "id", task.id);
    member(x->body, "token", task.token);
    return task;
}

static const char *report(struct extremes *x, const struct task *task, const char *how,
                          const char *more)
{
    char target[200], body[300];
    snprintf(target, sizeof target, "/v1/tasks/%s/%s", task->id, how);
    snprintf(body, sizeof body, "{\"worker\":\"w\",\"token\":\"%s\"%s}", task->token, more);
    return ask(x, "POST", target, body);
}

static void advance(struct extremes *x, const char *ms)
{
    char body[100];
    snprintf(body, sizeof body, "{\"ms\":%s}", ms);
    ask(x, "POST", "/v1/clock/advance", body);
}

static void deploy(struct extremes *x)
{
    ask(x, "POST", "/v1/workflows",
        "workflow: one\nversion: 1\nsteps:\n  - step: a\n    handler: s.v1\n");
    CHECK(strstr(x->body, "\"hash\""), "%s", x->body);
}

/* Somebody else's job, which has nothing to do with it. */
static void check_others(struct extremes *x)
{
    ask(x, "POST", "/v1/jobs", "{\"type\":\"other.v1\"}");
    struct task task = take(x, "other.v1");
    CHECK(task.id[0], "%s: the job of others cannot be claimed", x->doing);
    report(x, &task, "complete", "");
    CHECK(strstr(x->body, "\"succeeded\""), "%s: %s", x->doing, x->body);
}

/* ---- what is tried ---------------------------------------------------------------------------- */

static void look(struct extremes *x, const char *kind, const char *id)
{
    char target[200];
    static const char *const parts[] = {"", "/events", "/steps", NULL};
    bool is_job = strcmp(kind, "jobs") == 0;
    for (int i = 0; parts[i]; i++) {
        if (is_job && strcmp(parts[i], "/steps") == 0)
            continue;
        snprintf(target, sizeof target, "/v1/%s/%s%s", kind, id, parts[i]);
        ask(x, "GET", target, NULL);
    }
    snprintf(target, sizeof target, "/v1/%s?limit=3", kind);
    ask(x, "GET", target, NULL);
}

static void act(struct extremes *x, const char *kind, const char *id, const char *action)
{
    char target[200];
    snprintf(target, sizeof target, "/v1/%s/%s/%s", kind, id, action);
    ask(x, "POST", target, "{}");
}

/* The rows of a job, or of the steps of an instance, as a condition. */
static void rows_of(const struct extremes *x, bool is_job, const char *prefix, const char *id,
                    char ret_where[200])
{
    if (!is_job && x->plain.sqlite)
        snprintf(ret_where, 200,
                 "%sinstance_seq = (SELECT seq FROM workflow_instance WHERE id = '%s')", prefix,
                 id);
    else
        snprintf(ret_where, 200, "%s%s = '%s'", prefix, is_job ? "id" : "instance_id", id);
}

static const char *table_of(const struct extremes *x, bool is_job)
{
    if (x->plain.sqlite)
        return is_job ? "workflow_run" : "workflow_step";
    return is_job ? "workflow.workflow_run" : "workflow.workflow_step";
}

static bool set_value(struct extremes *x, bool is_job, const char *id, const char *column,
                      const char *value)
{
    char sql[500], where[200];
    rows_of(x, is_job, "", id, where);
    snprintf(sql, sizeof sql, "UPDATE %s SET %s = %s WHERE %s", table_of(x, is_job), column,
             value, where);
    return plain_run(&x->plain, sql);
}

static void try_value(struct extremes *x, bool is_job, bool is_leased, const char *column,
                      const char *value)
{
    const char *kind = is_job ? "jobs" : "instances", *type = is_job ? "x.v1" : "s.v1";
    const char *table = table_of(x, is_job);
    char id[64];
    struct task task = {0};
    snprintf(x->doing, sizeof x->doing, "%s.%s = %s of a %s one", table, column, value,
             is_leased ? "leased" : "pending");
    ask(x, "POST", is_job ? "/v1/jobs" : "/v1/instances",
        is_job ? "{\"type\":\"x.v1\"}" : "{\"workflow\":\"one\"}");
    member(x->body, "id", id);
    if (is_leased)
        task = take(x, type);
    if (!set_value(x, is_job, id, column, value))
        return;
    if (!is_leased)
        task = take(x, type);
    report(x, &task, "heartbeat", ",\"extend_ms\":60000");
    look(x, kind, id);
    report(x, &task, "fail", ",\"error\":\"e\"");
    check_others(x);
    advance(x, "600000");
    task = take(x, type);
    look(x, kind, id);
    advance(x, "600000"); /* its lease is lost */
    check_others(x);
    look(x, kind, id);
    act(x, kind, id, is_job ? "cancel" : "abort");
    act(x, kind, id, "retry");
    take(x, type);
    act(x, kind, id, is_job ? "cancel" : "abort");
    look(x, kind, id);
}

/* What tells rows apart, and places in the plan, which are no numbers. */
static bool is_name_of_row(const char *column)
{
    static const char *const names[] = {"seq",        "id",         "instance_seq", "next",
                                        "scope_fork", "scope_from", "scope_to"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(column, names[i]) == 0)
            return true;
    return false;
}

static void try_table(bool is_job)
{
    struct extremes *x = calloc(1, sizeof *x);
    struct columns columns;
    cairn_error error;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = scratch_store();
    options.virtual_clock = true;
    CHECK(cairn_open(&options, &x->engine, &error) == CAIRN_OK, "%s", error.message);
    x->plain = plain_open(options.url);
    deploy(x);
    list_columns(&x->plain, is_job ? "workflow_run" : "workflow_step", &columns);
    CHECK(columns.count > 10, "no columns");
    for (size_t i = 0; i < columns.count; i++)
        for (const char *const *value = values_of(columns.types[i], is_job); *value; value++)
            for (int is_leased = 0; is_leased < 2; is_leased++)
                if (!is_name_of_row(columns.names[i]))
                    try_value(x, is_job, is_leased, columns.names[i], *value);
    plain_close(&x->plain);
    cairn_close(x->engine);
    free(x);
}

TEST(a_job_may_hold_any_number)
{
    try_table(true);
}

TEST(a_step_may_hold_any_number)
{
    try_table(false);
}

/* ---- rows that the store refuses ---------------------------------------------------------------- */

static struct extremes *open_virtual(void)
{
    struct extremes *x = calloc(1, sizeof *x);
    cairn_error error;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = scratch_store();
    options.virtual_clock = true;
    CHECK(cairn_open(&options, &x->engine, &error) == CAIRN_OK, "%s", error.message);
    x->plain = plain_open(options.url);
    deploy(x);
    return x;
}

static void close_virtual(struct extremes *x)
{
    plain_close(&x->plain);
    cairn_close(x->engine);
    free(x);
}

/* From now on the database refuses to write this row. */
static void refuse_row(struct extremes *x, bool is_job, const char *id)
{
    char sql[500], where[200];
    rows_of(x, is_job, x->plain.sqlite ? "NEW." : "", id, where);
    if (x->plain.sqlite)
        snprintf(sql, sizeof sql,
                 "CREATE TRIGGER refuse BEFORE UPDATE ON %s WHEN %s"
                 " BEGIN SELECT RAISE(ABORT, 'refused by somebody'); END",
                 table_of(x, is_job), where);
    else
        snprintf(sql, sizeof sql,
                 "ALTER TABLE %s ADD CONSTRAINT refused_by_somebody CHECK (NOT (%s)) NOT VALID",
                 table_of(x, is_job), where);
    CHECK(plain_run(&x->plain, sql), "%s", sql);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

/* Many are leased, and the database refuses one of them when all leases are lost. */
static void lose_many(bool is_job)
{
    enum { MANY = 40 };
    struct extremes *x = open_virtual();
    char claim[200], bad[64];
    for (int i = 0; i < MANY; i++) {
        ask(x, "POST", is_job ? "/v1/jobs" : "/v1/instances",
            is_job ? "{\"type\":\"x.v1\"}" : "{\"workflow\":\"one\"}");
        if (i == MANY / 3)
            member(x->body, "id", bad);
    }
    snprintf(claim, sizeof claim, "{\"worker\":\"w\",\"types\":[\"%s\"],\"max\":%d}",
             is_job ? "x.v1" : "s.v1", MANY);
    ask(x, "POST", "/v1/tasks/claim", claim);
    CHECK_INT(count_of(x->body, "\"token\""), MANY);
    refuse_row(x, is_job, bad);
    advance(x, "60000"); /* all leases are lost */
    check_others(x);
    advance(x, "600000");
    ask(x, "POST", "/v1/tasks/claim", claim);
    CHECK_INT(count_of(x->body, "\"token\""), MANY - 1);
    CHECK(!strstr(x->body, bad), "%s was given out", bad);
    ask(x, "GET", "/v1/doctor", NULL);
    CHECK(strstr(x->body, bad), "doctor does not name %s: %s", bad, x->body);
    check_others(x);
    close_virtual(x);
}

TEST(a_job_that_the_store_refuses_keeps_no_other_from_its_time)
{
    lose_many(true);
}

TEST(a_step_that_the_store_refuses_keeps_no_other_from_its_time)
{
    lose_many(false);
}

/* ---- priorities and times ---------------------------------------------------------------------- */

TEST(a_priority_is_any_int32)
{
    struct extremes *x = calloc(1, sizeof *x);
    cairn_error error;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = scratch_store();
    CHECK(cairn_open(&options, &x->engine, &error) == CAIRN_OK, "%s", error.message);
    ask(x, "POST", "/v1/jobs", "{\"type\":\"x.v1\",\"priority\":2147483647}");
    ask(x, "POST", "/v1/jobs", "{\"type\":\"x.v1\",\"priority\":-1}");
    ask(x, "POST", "/v1/jobs", "{\"type\":\"x.v1\",\"priority\":-2147483648}");
    char first[64];
    member(x->body, "id", first);
    CHECK_STR(take(x, "x.v1").id, first);
    ask(x, "GET", "/v1/jobs", NULL);
    CHECK(strstr(x->body, "\"priority\":-2147483648"), "%s", x->body);
    cairn_close(x->engine);
    free(x);
}

/* Plain SQL may date a job before and after all times. */
TEST(the_ends_of_time_are_shown)
{
    static const struct {
        const char *value, *shown;
    } cases[] = {{"'-infinity'", "0001-01-01T00:00:00.000Z"},
                 {"'infinity'", "9999-12-31T23:59:59.999Z"},
                 {"'1969-07-20T20:17:40Z'", "1969-07-20T20:17:40.000Z"}};
    if (strcmp(scratch_kind(), "postgres") != 0)
        return;
    struct extremes *x = calloc(1, sizeof *x);
    cairn_error error;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = scratch_store();
    CHECK(cairn_open(&options, &x->engine, &error) == CAIRN_OK, "%s", error.message);
    x->plain = plain_open(options.url);
    for (size_t i = 0; i < 3; i++) {
        char id[64], target[100], wanted[100];
        ask(x, "POST", "/v1/jobs", "{\"type\":\"x.v1\"}");
        member(x->body, "id", id);
        CHECK(set_value(x, true, id, "run_at", cases[i].value), "refused");
        snprintf(target, sizeof target, "/v1/jobs/%s", id);
        snprintf(wanted, sizeof wanted, "\"run_at\":\"%s\"", cases[i].shown);
        ask(x, "GET", target, NULL);
        CHECK(strstr(x->body, wanted), "%s", x->body);
    }
    plain_close(&x->plain);
    cairn_close(x->engine);
    free(x);
}
