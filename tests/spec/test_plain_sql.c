/* tests/spec/test_plain_sql.c - every statement that simple-workflow.md prints, as printed, against a
 * database with a live engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * :run_id and :worker_id are replaced as psql would replace :'run_id'.  PostgreSQL only.
 */
#include "base/mem.h"
#include "cairn.h"
#include "scratch.h"
#include "test.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <stdlib.h>

/* ---- the printed statements ---------------------------------------------------------------- */

static const char CREATE[] =
    "insert into workflow.workflow_run (\n"
    "  type,\n"
    "  payload,\n"
    "  idempotency_key\n"
    ") values (\n"
    "  'content.thumbnail.v1',\n"
    "  '{\"content_id\":\"c_123\", \"width\": 300, \"height\": 300}',\n"
    "  'content:c_123:thumbnail:300x300'\n"
    ")\n"
    "on conflict (idempotency_key) do nothing\n"
    "returning id;\n";

static const char CANCEL[] = "update workflow.workflow_run\n"
                             "set status = 'cancelled', updated_at = now()\n"
                             "where id = :run_id\n"
                             "  and status in ('pending', 'leased');\n";

static const char CLAIM_SELECT[] = "select id, type, payload, attempt, max_attempts\n"
                                   "from workflow.workflow_run\n"
                                   "where status = 'pending'\n"
                                   "  and (type like 'billing.%' or type like 'payment.%')\n"
                                   "  and run_at <= now()\n"
                                   "  and deleted_at is null\n"
                                   "order by priority asc, created_at asc\n"
                                   "for update skip locked\n"
                                   "limit 1;\n";

static const char CLAIM_UPDATE[] = "update workflow.workflow_run\n"
                                   "set status = 'leased',\n"
                                   "    leased_by = :worker_id,\n"
                                   "    lease_until = now() + interval '30 seconds',\n"
                                   "    updated_at = now()\n"
                                   "where id = :run_id;\n";

static const char HEARTBEAT[] = "update workflow.workflow_run\n"
                                "set lease_until = now() + interval '30 seconds',\n"
                                "    updated_at = now()\n"
                                "where id = :run_id and status = 'leased';\n";

static const char CHECK_CANCELLED[] =
    "select status from workflow.workflow_run where id = :run_id;\n"
    "-- if status = 'cancelled', stop execution gracefully\n";

static const char LOG_EVENT[] =
    "insert into workflow.workflow_event (workflow_id, event_type, data)\n"
    "values (:run_id, 'heartbeat', '{\"extended_by_seconds\": 30}');\n";

/* ---- running them -------------------------------------------------------------------------- */

/* Puts `value` as a literal wherever `name` stands.  The values here need no escaping. */
static void replace(char *sql, size_t room, const char *name, const char *value)
{
    char *at;
    while ((at = strstr(sql, name))) {
        char rest[2048];
        snprintf(rest, sizeof rest, "%s", at + strlen(name));
        snprintf(at, room - (size_t)(at - sql), "'%s'%s", value, rest);
    }
}

/* Runs one statement; the result is the caller's. */
static PGresult *execute(PGconn *conn, const char *printed, const char *run_id,
                         const char *worker_id)
{
    char sql[2048];
    snprintf(sql, sizeof sql, "%s", printed);
    if (run_id)
        replace(sql, sizeof sql, ":run_id", run_id);
    if (worker_id)
        replace(sql, sizeof sql, ":worker_id", worker_id);
    return PQexec(conn, sql);
}

static bool is_good(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* Runs one that must succeed: its first value, or how many rows it changed. */
static const char *run(PGconn *conn, const char *printed, const char *run_id)
{
    static char value[1024];
    PGresult *result = execute(conn, printed, run_id, "plain-1");
    bool is_done = is_good(result);
    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        snprintf(value, sizeof value, "%s", PQntuples(result) ? PQgetvalue(result, 0, 0) : "");
    else
        snprintf(value, sizeof value, "%s", PQcmdTuples(result));
    PQclear(result);
    CHECK(is_done, "%s: %s", printed, PQerrorMessage(conn));
    return value;
}

/* ---- an engine and a connection of somebody else ------------------------------------------- */

struct beside {
    cairn_engine *engine;
    PGconn *conn;
    cairn_error error;
};

static void open_beside(struct beside *beside, bool is_virtual)
{
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    *beside = (struct beside){0};
    options.url = scratch_store_of("postgres");
    options.virtual_clock = is_virtual;
    cairn_code code = cairn_open(&options, &beside->engine, &beside->error);
    CHECK(code == CAIRN_OK, "%s (%s)", beside->error.message, beside->error.detail);
    beside->conn = PQconnectdb(options.url);
    CHECK(PQstatus(beside->conn) == CONNECTION_OK, "%s", PQerrorMessage(beside->conn));
}

static void close_beside(struct beside *beside)
{
    PQfinish(beside->conn);
    cairn_close(beside->engine);
}

#define MUST(beside, call)                                              \
    do {                                                                \
        cairn_code code_ = (call);                                      \
        CHECK(code_ == CAIRN_OK, "%s: %s (%s)", cairn_code_name(code_), \
              (beside)->error.message, (beside)->error.detail);         \
    } while (0)

static cairn_claim_options claim_of(const char *const *types, uint32_t max)
{
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "ours";
    claim.types = types;
    claim.type_count = 1;
    claim.max = max;
    return claim;
}

static const char *const everything[] = {"%"};

/* The engine takes the one job there is. */
static cairn_page *take_one(struct beside *beside)
{
    cairn_claim_options claim = claim_of(everything, 10);
    cairn_page *tasks;
    MUST(beside, cairn_claim(beside->engine, &claim, &tasks, &beside->error));
    CHECK_INT(cairn_page_count(tasks), 1);
    return tasks;
}

static void check_status(struct beside *beside, const char *id, const char *status)
{
    cairn_page *jobs;
    MUST(beside, cairn_job_get(beside->engine, id, &jobs, &beside->error));
    char seen[32];
    snprintf(seen, sizeof seen, "%s", cairn_page_job(jobs, 0)->status);
    cairn_page_free(jobs);
    CHECK_STR(seen, status);
}

static void check_events(struct beside *beside, const char *id, const char *names)
{
    cairn_page *events;
    char seen[1024] = "";
    MUST(beside, cairn_job_events(beside->engine, id, NULL, 100, &events, &beside->error));
    for (size_t i = 0; i < cairn_page_count(events); i++) {
        size_t len = strlen(seen);
        snprintf(seen + len, sizeof seen - len, "%s%s", len ? " " : "",
                 cairn_page_event(events, i)->type);
    }
    cairn_page_free(events);
    CHECK_STR(seen, names);
}

static void insert(struct beside *beside, const char *type, char ret_id[40])
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "insert into workflow.workflow_run (type) values ('%s') returning id", type);
    snprintf(ret_id, 40, "%s", run(beside->conn, sql, NULL));
}

/* The printed claim, as one transaction. */
static void claim_plainly(struct beside *beside, char ret_id[40])
{
    run(beside->conn, "begin", NULL);
    snprintf(ret_id, 40, "%s", run(beside->conn, CLAIM_SELECT, NULL));
    CHECK(ret_id[0], "nothing was found");
    CHECK_STR(run(beside->conn, CLAIM_UPDATE, ret_id), "1");
    run(beside->conn, "commit", NULL);
}

/* ---- producers ----------------------------------------------------------------------------- */

TEST(the_printed_insert_is_a_complete_producer)
{
    struct beside beside;
    char id[40];
    open_beside(&beside, false);
    snprintf(id, sizeof id, "%s", run(beside.conn, CREATE, NULL));
    CHECK_INT(strlen(id), 36);
    CHECK_STR(run(beside.conn, CREATE, NULL), ""); /* the key is known */
    check_events(&beside, id, "created");

    cairn_page *tasks = take_one(&beside);
    const cairn_task *task = cairn_page_task(tasks, 0);
    CHECK_STR(task->id, id);
    CHECK_STR(task->type, "content.thumbnail.v1");
    CHECK_STR(task->key, "content:c_123:thumbnail:300x300");
    CHECK(strstr(task->input, "c_123"), "%s", task->input);
    CHECK_INT(task->attempt, 1);
    CHECK_INT(task->max_attempts, 3);
    MUST(&beside, cairn_task_complete(beside.engine, "ours", task, "{}", &beside.error));
    cairn_page_free(tasks);
    check_events(&beside, id, "created leased started succeeded");
    CHECK_STR(run(beside.conn, CHECK_CANCELLED, id), "succeeded");
    close_beside(&beside);
}

TEST(a_plain_row_has_the_documents_defaults)
{
    struct beside beside;
    char id[40];
    open_beside(&beside, false);
    insert(&beside, "a", id);
    CHECK_STR(run(beside.conn,
                  "select concat_ws(' ', status, priority, attempt, max_attempts, payload,"
                  " run_at = created_at, created_at = updated_at, idempotency_key is null,"
                  " leased_by is null, lease_until is null, last_error is null, result is null,"
                  " deleted_at is null) from workflow.workflow_run",
                  NULL),
              "pending 100 0 3 {} t t t t t t t t");
    CHECK_STR(run(beside.conn,
                  "insert into workflow.workflow_registry (workflow_name, runtime)"
                  " values ('a', 'go') returning intent_type || is_enabled",
                  NULL),
              "workflowtrue");
    CHECK_STR(
        run(beside.conn,
            "select count(*) from pg_indexes where schemaname = 'workflow' and indexname in"
            " ('idx_workflow_run_claim', 'idx_workflow_run_type_prefix',"
            " 'idx_workflow_run_idempotency', 'idx_workflow_run_deleted_at')",
            NULL),
        "4");
    close_beside(&beside);
}

TEST(a_job_of_a_transaction_that_was_rolled_back_does_not_exist)
{
    struct beside beside;
    open_beside(&beside, false);
    run(beside.conn, "begin", NULL);
    run(beside.conn, CREATE, NULL);
    run(beside.conn, "rollback", NULL);
    cairn_claim_options claim = claim_of(everything, 1);
    cairn_page *tasks;
    MUST(&beside, cairn_claim(beside.engine, &claim, &tasks, &beside.error));
    CHECK_INT(cairn_page_count(tasks), 0);
    cairn_page_free(tasks);
    CHECK_STR(run(beside.conn, "select count(*) from workflow.workflow_event", NULL), "0");
    close_beside(&beside);
}

TEST(the_printed_cancel_stops_a_pending_job)
{
    struct beside beside;
    char id[40];
    open_beside(&beside, false);
    insert(&beside, "a", id);
    CHECK_STR(run(beside.conn, CANCEL, id), "1");
    CHECK_STR(run(beside.conn, CANCEL, id), "0");
    check_status(&beside, id, "cancelled");
    check_events(&beside, id, "created cancelled");
    close_beside(&beside);
}

TEST(the_printed_cancel_reaches_a_worker_of_ours)
{
    struct beside beside;
    char id[40];
    const char *stop = NULL;
    open_beside(&beside, false);
    insert(&beside, "a", id);
    cairn_page *tasks = take_one(&beside);
    const cairn_task *task = cairn_page_task(tasks, 0);
    CHECK_STR(run(beside.conn, CANCEL, id), "1");
    MUST(&beside, cairn_heartbeat(beside.engine, "ours", id, task->token, 30000, NULL, &stop,
                                  &beside.error));
    CHECK_STR(stop, "cancelled");
    CHECK_INT(cairn_task_complete(beside.engine, "ours", task, "{}", &beside.error),
              CAIRN_E_LEASE_LOST);
    cairn_page_free(tasks);
    check_status(&beside, id, "cancelled");
    check_events(&beside, id, "created leased started cancelled");
    close_beside(&beside);
}

/* ---- deleting ------------------------------------------------------------------------------ */

static const char DELETE[] =
    "update workflow.workflow_run set deleted_at = now() where id = :run_id";

/* Runs one that must be refused: its SQLSTATE. */
static const char *refusal(PGconn *conn, const char *sql, const char *run_id)
{
    static char state[8];
    PGresult *result = execute(conn, sql, run_id, NULL);
    const char *seen = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    snprintf(state, sizeof state, "%s", seen ? seen : "");
    PQclear(result);
    return state;
}

TEST(a_pending_job_that_is_deleted_is_cancelled)
{
    struct beside beside;
    char id[40];
    open_beside(&beside, false);
    insert(&beside, "a", id);
    run(beside.conn,
        "update workflow.workflow_run set updated_at = '2020-01-01' where id = :run_id", id);
    CHECK_STR(run(beside.conn, DELETE, id), "1");
    CHECK_STR(run(beside.conn, DELETE, id), "1"); /* once more changes nothing */
    check_status(&beside, id, "cancelled");
    check_events(&beside, id, "created cancelled");
    CHECK_STR(run(beside.conn,
                  "select not is_ready and updated_at > now() - interval '1 day'"
                  " from workflow.workflow_run where id = :run_id",
                  id),
              "t");
    close_beside(&beside);
}

TEST(a_deletion_reaches_a_worker_of_ours)
{
    struct beside beside;
    char id[40];
    const char *stop = NULL;
    open_beside(&beside, false);
    insert(&beside, "a", id);
    cairn_page *tasks = take_one(&beside);
    const cairn_task *task = cairn_page_task(tasks, 0);
    CHECK_STR(run(beside.conn, DELETE, id), "1");
    MUST(&beside, cairn_heartbeat(beside.engine, "ours", id, task->token, 30000, NULL, &stop,
                                  &beside.error));
    CHECK_STR(stop, "cancelled");
    CHECK_INT(cairn_task_complete(beside.engine, "ours", task, "{}", &beside.error),
              CAIRN_E_LEASE_LOST);
    cairn_page_free(tasks);
    check_status(&beside, id, "cancelled");
    check_events(&beside, id, "created leased started cancelled");
    close_beside(&beside);
}

TEST(an_ended_job_that_is_deleted_keeps_its_end)
{
    struct beside beside;
    char id[40];
    open_beside(&beside, false);
    insert(&beside, "a", id);
    cairn_page *tasks = take_one(&beside);
    MUST(&beside, cairn_task_complete(beside.engine, "ours", cairn_page_task(tasks, 0), "{}",
                                      &beside.error));
    cairn_page_free(tasks);
    CHECK_STR(run(beside.conn, DELETE, id), "1");
    check_status(&beside, id, "succeeded");
    check_events(&beside, id, "created leased started succeeded deleted");
    close_beside(&beside);
}

TEST(a_deleted_job_begins_again_only_if_it_is_no_longer_deleted)
{
    static const char again[] =
        "update workflow.workflow_run set status = 'pending' where id = :run_id";
    static const char anew[] = "update workflow.workflow_run set status = 'pending',"
                               " deleted_at = null where id = :run_id";
    struct beside beside;
    char id[40];
    open_beside(&beside, false);
    insert(&beside, "a", id);
    run(beside.conn, DELETE, id);
    CHECK_STR(refusal(beside.conn, again, id), "55000");
    CHECK_STR(run(beside.conn, anew, id), "1");
    check_events(&beside, id, "created cancelled retried");
    cairn_page *tasks = take_one(&beside);
    CHECK_STR(cairn_page_task(tasks, 0)->id, id);
    cairn_page_free(tasks);
    close_beside(&beside);
}

/* ---- words --------------------------------------------------------------------------------- */

TEST(plain_sql_writes_the_words_that_are_known)
{
    struct beside beside;
    char id[40];
    open_beside(&beside, false);
    insert(&beside, "a", id);
    CHECK_STR(refusal(beside.conn,
                      "insert into workflow.workflow_event (workflow_id, event_type)"
                      " values (:run_id, 'note')",
                      id),
              "23514");
    CHECK_STR(run(beside.conn,
                  "insert into workflow.workflow_event (workflow_id, event_type)"
                  " select :run_id, word from unnest('{created,leased,started,heartbeat,"
                  "succeeded,failed,retried,cancelled}'::text[]) as word",
                  id),
              "8");
    check_events(&beside, id,
                 "created created leased started heartbeat succeeded failed retried cancelled");
    close_beside(&beside);
}

TEST(plain_sql_names_a_runtime_as_everybody_does)
{
    static const char *const refused[] = {"", "Go", "9", "go ", "a\n", "caf\xc3\xa9"};
    struct beside beside;
    char sql[200];
    open_beside(&beside, false);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        snprintf(sql, sizeof sql,
                 "insert into workflow.workflow_registry (workflow_name, runtime)"
                 " values ('a', '%s')",
                 refused[i]);
        CHECK_STR(refusal(beside.conn, sql, NULL), "23514");
    }
    CHECK_STR(run(beside.conn,
                  "insert into workflow.workflow_registry (workflow_name, runtime)"
                  " values ('a', 'python3.11_x-y'), ('b', 'a' || repeat('1', 63))",
                  NULL),
              "2");
    CHECK_STR(refusal(beside.conn,
                      "update workflow.workflow_registry set runtime = runtime || '1'"
                      " where workflow_name = 'b'",
                      NULL),
              "23514");
    close_beside(&beside);
}

/* ---- workers ------------------------------------------------------------------------------- */

TEST(a_worker_of_printed_statements_leaves_a_complete_trail)
{
    struct beside beside;
    char id[40], claimed[40];
    open_beside(&beside, false);
    insert(&beside, "billing.invoice.v1", id);
    claim_plainly(&beside, claimed);
    CHECK_STR(claimed, id);
    check_status(&beside, id, "leased");
    CHECK_STR(run(beside.conn, HEARTBEAT, id), "1");
    CHECK_STR(run(beside.conn, CHECK_CANCELLED, id), "leased");
    CHECK_STR(run(beside.conn, LOG_EVENT, id), "1");
    run(beside.conn,
        "update workflow.workflow_run set status = 'succeeded', result = '{\"ok\": true}',"
        " updated_at = now() where id = :run_id",
        id);
    check_status(&beside, id, "succeeded");
    check_events(&beside, id, "created leased heartbeat succeeded");
    close_beside(&beside);
}

TEST(a_plain_worker_learns_that_its_job_was_cancelled)
{
    struct beside beside;
    char id[40];
    open_beside(&beside, false);
    insert(&beside, "payment.settle.v1", id);
    claim_plainly(&beside, id);
    MUST(&beside, cairn_job_cancel(beside.engine, id, &beside.error));
    CHECK_STR(run(beside.conn, CHECK_CANCELLED, id), "cancelled");
    CHECK_STR(run(beside.conn, HEARTBEAT, id), "0");
    check_events(&beside, id, "created leased cancelled");
    close_beside(&beside);
}

TEST(a_plain_worker_may_retry_and_fail)
{
    struct beside beside;
    char id[40];
    open_beside(&beside, false);
    insert(&beside, "billing.invoice.v1", id);
    claim_plainly(&beside, id);
    run(beside.conn,
        "update workflow.workflow_run set status = 'pending', attempt = attempt + 1,"
        " last_error = 'no', run_at = now(), updated_at = now() where id = :run_id",
        id);
    claim_plainly(&beside, id);
    run(beside.conn,
        "update workflow.workflow_run set status = 'failed', attempt = attempt + 1,"
        " last_error = 'no', updated_at = now() where id = :run_id",
        id);
    check_status(&beside, id, "failed");
    check_events(&beside, id, "created leased retried leased failed");
    close_beside(&beside);
}

TEST(a_plain_worker_that_vanishes_loses_its_lease_like_any_other)
{
    struct beside beside;
    char id[40];
    open_beside(&beside, true);
    insert(&beside, "billing.invoice.v1", id);
    claim_plainly(&beside, id);
    MUST(&beside, cairn_clock_advance(beside.engine, 3600 * 1000, NULL, &beside.error));
    check_status(&beside, id, "pending");
    check_events(&beside, id, "created leased retried");

    cairn_page *tasks = take_one(&beside);
    CHECK_STR(cairn_page_task(tasks, 0)->id, id);
    CHECK_INT(cairn_page_task(tasks, 0)->attempt, 2);
    cairn_page_free(tasks);
    check_events(&beside, id, "created leased retried leased started");
    close_beside(&beside);
}

TEST(a_plain_row_takes_a_timeout_and_its_own_retries)
{
    static const char insert_limited[] =
        "insert into workflow.workflow_run (type, timeout_ms, retry) values "
        "('billing.invoice.v1', 1000,"
        " '{\"backoff\": \"fixed\", \"base_ms\": 2000, \"jitter\": 0}') returning id";
    static const char *const refused[] = {
        "[]",
        "{\"base\": 1}",
        "{\"base_ms\": -1}",
        "{\"base_ms\": 1.5}",
        "{\"max_ms\": \"1\"}",
        "{\"jitter\": 2}",
        "{\"backoff\": \"odd\"}",
    };
    struct beside beside;
    char id[40];
    open_beside(&beside, true);
    snprintf(id, sizeof id, "%s", run(beside.conn, insert_limited, NULL));
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char sql[200];
        snprintf(sql, sizeof sql,
                 "insert into workflow.workflow_run (type, retry) values ('a', '%s')",
                 refused[i]);
        PGresult *result = PQexec(beside.conn, sql);
        CHECK(!is_good(result), "accepted: %s", sql);
        PQclear(result);
    }
    PGresult *negative = PQexec(
        beside.conn, "insert into workflow.workflow_run (type, timeout_ms) values ('a', -1)");
    CHECK(!is_good(negative), "a timeout of -1");
    PQclear(negative);
    MUST(&beside, cairn_clock_advance(beside.engine, 60 * 1000, NULL, &beside.error));
    cairn_page *tasks = take_one(&beside); /* the row has the database's time */
    const cairn_task *task = cairn_page_task(tasks, 0);
    CHECK_STR(task->id, id);
    CHECK_INT(task->deadline_us, task->lease_until_us);
    cairn_page_free(tasks);
    MUST(&beside, cairn_clock_advance(beside.engine, 1001, NULL, &beside.error));
    CHECK_STR(run(beside.conn,
                  "select last_error || ' ' || (run_at - updated_at) from workflow.workflow_run"
                  " where id = :run_id",
                  id),
              "TIMEOUT 00:00:02");
    close_beside(&beside);
}

/* Whether the printed claim's plan names this index, with many jobs of other types. */
static bool claim_uses(struct beside *beside, const char *index)
{
    char sql[sizeof CLAIM_SELECT + 32];
    bool is_used = false;
    snprintf(sql, sizeof sql, "explain %s", CLAIM_SELECT);
    PGresult *result = PQexec(beside->conn, sql);
    CHECK(is_good(result), "%s", PQerrorMessage(beside->conn));
    for (int i = 0; i < PQntuples(result); i++)
        is_used |= strstr(PQgetvalue(result, i, 0), index) != NULL;
    PQclear(result);
    return is_used;
}

TEST(the_printed_claim_finds_its_prefix_among_jobs_of_others)
{
    struct beside beside;
    char id[40], claimed[40];
    open_beside(&beside, false);
    run(beside.conn,
        "begin; select set_config('cairn.engine', '1', true);"
        "insert into workflow.workflow_run (type) select 'content.ocr.v1'"
        " from generate_series(1, 20000); commit; analyze workflow.workflow_run",
        NULL);
    insert(&beside, "payment.settle.v1", id);
    CHECK(claim_uses(&beside, "idx_workflow_run_type_prefix"), "the printed claim reads all");
    claim_plainly(&beside, claimed);
    CHECK_STR(claimed, id);
    close_beside(&beside);
}

/* Reports of both are one request.  The row of the second is somebody else's for a while. */
TEST(a_report_that_must_wait_for_one_row_leaves_the_events_of_the_others)
{
    struct beside beside;
    char ids[2][40];
    cairn_reported reported[2];
    cairn_report reports[2] = {CAIRN_REPORT_DEFAULTS, CAIRN_REPORT_DEFAULTS};
    cairn_claim_options claim = claim_of(everything, 2);
    cairn_page *tasks;
    open_beside(&beside, false);
    for (int i = 0; i < 2; i++)
        insert(&beside, "a", ids[i]);
    MUST(&beside, cairn_claim(beside.engine, &claim, &tasks, &beside.error));
    CHECK_INT(cairn_page_count(tasks), 2);
    for (size_t i = 0; i < 2; i++) {
        reports[i].task_id = cairn_page_task(tasks, i)->id;
        reports[i].token = cairn_page_task(tasks, i)->token;
    }

    run(beside.conn, "begin", NULL);
    run(beside.conn, "select 1 from workflow.workflow_run where id = :run_id for update",
        reports[1].task_id);
    cairn_code code = cairn_report_many(beside.engine, "ours", reports, 2, reported, NULL, NULL,
                                        &beside.error);
    CHECK_INT(code, CAIRN_E_BUSY);
    run(beside.conn, "commit", NULL);
    MUST(&beside, cairn_report_many(beside.engine, "ours", reports, 2, reported, NULL, NULL,
                                    &beside.error));
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(reported[i].code, CAIRN_OK);
        check_status(&beside, ids[i], "succeeded");
        check_events(&beside, ids[i], "created leased started succeeded");
    }
    cairn_page_free(tasks);
    close_beside(&beside);
}

TEST(our_lease_does_not_survive_a_plain_claim)
{
    struct beside beside;
    char id[40];
    open_beside(&beside, false);
    insert(&beside, "billing.invoice.v1", id);
    cairn_page *tasks = take_one(&beside);
    run(beside.conn, "update workflow.workflow_run set status = 'pending' where id = :run_id",
        id);
    claim_plainly(&beside, id);
    CHECK_INT(cairn_task_complete(beside.engine, "ours", cairn_page_task(tasks, 0), "{}",
                                  &beside.error),
              CAIRN_E_LEASE_LOST);
    cairn_page_free(tasks);
    check_status(&beside, id, "leased");
    close_beside(&beside);
}

/* ---- both at once -------------------------------------------------------------------------- */

enum { SHARED = 80 };

struct hands {
    pthread_t thread;
    struct beside *beside;
    char ids[SHARED * 2][40]; /* what it executed */
    size_t count;
    bool is_broken;
};

static bool execute_all(PGconn *conn, const char *const *printed, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++) {
        PGresult *result = execute(conn, printed[i], id, "plain-1");
        bool is_done = is_good(result);
        PQclear(result);
        if (!is_done)
            return false;
    }
    return true;
}

/* Claims and finishes by SQL until nothing is left.  Checks nothing: it is not the test's own
 * thread. */
static void *work_plainly(void *arg)
{
    static const char *const finish[] = {
        CLAIM_UPDATE, "commit",
        "update workflow.workflow_run set status = 'succeeded', updated_at = now()"
        " where id = :run_id and status = 'leased' and leased_by = :worker_id"};
    struct hands *hands = arg;
    PGconn *conn = hands->beside->conn;
    while (!hands->is_broken && hands->count < SHARED * 2) {
        PQclear(PQexec(conn, "begin"));
        PGresult *found = PQexec(conn, CLAIM_SELECT);
        bool is_found = is_good(found) && PQntuples(found) == 1;
        hands->is_broken = !is_good(found);
        if (is_found)
            snprintf(hands->ids[hands->count], 40, "%s", PQgetvalue(found, 0, 0));
        PQclear(found);
        if (!is_found) {
            PQclear(PQexec(conn, "rollback"));
            break;
        }
        hands->is_broken = !execute_all(conn, finish, 3, hands->ids[hands->count++]);
    }
    return NULL;
}

static void *work_with_engine(void *arg)
{
    static const char *const types[] = {"billing.%"};
    struct hands *hands = arg;
    cairn_claim_options claim = claim_of(types, 3);
    cairn_error error;
    for (;;) {
        cairn_page *tasks;
        if (cairn_claim(hands->beside->engine, &claim, &tasks, &error)) {
            hands->is_broken = true;
            return NULL;
        }
        size_t count = cairn_page_count(tasks);
        for (size_t i = 0; i < count && hands->count < SHARED * 2; i++) {
            const cairn_task *task = cairn_page_task(tasks, i);
            snprintf(hands->ids[hands->count++], 40, "%s", task->id);
            if (cairn_task_complete(hands->beside->engine, "ours", task, "{}", &error))
                hands->is_broken = true;
        }
        cairn_page_free(tasks);
        if (count == 0)
            return NULL;
    }
}

static size_t times_executed(const struct hands *hands, const char *id)
{
    size_t times = 0;
    for (size_t i = 0; i < hands->count; i++)
        times += strcmp(hands->ids[i], id) == 0;
    return times;
}

TEST(a_plain_worker_and_ours_share_the_table)
{
    struct beside beside;
    char ids[SHARED][40];
    struct hands *plain = mem_zalloc(sizeof *plain), *ours = mem_zalloc(sizeof *ours);
    open_beside(&beside, false);
    for (size_t i = 0; i < SHARED; i++)
        insert(&beside, "billing.invoice.v1", ids[i]);
    plain->beside = ours->beside = &beside;
    pthread_create(&plain->thread, NULL, work_plainly, plain);
    pthread_create(&ours->thread, NULL, work_with_engine, ours);
    pthread_join(plain->thread, NULL);
    pthread_join(ours->thread, NULL);

    CHECK(!plain->is_broken, "the plain worker failed: %s", PQerrorMessage(beside.conn));
    CHECK(!ours->is_broken, "our worker failed");
    CHECK_INT(plain->count + ours->count, SHARED);
    for (size_t i = 0; i < SHARED; i++) {
        bool is_plain = times_executed(plain, ids[i]) > 0;
        CHECK_INT(times_executed(plain, ids[i]) + times_executed(ours, ids[i]), 1);
        check_status(&beside, ids[i], "succeeded");
        check_events(&beside, ids[i],
                     is_plain ? "created leased succeeded"
                              : "created leased started succeeded");
    }
    mem_free(plain);
    mem_free(ours);
    close_beside(&beside);
}

TEST(a_plain_lease_counts_in_a_limit_and_is_not_held_back_by_it)
{
    struct beside beside;
    char id[40], first[40], second[40];
    cairn_limit_spec limit = CAIRN_LIMIT_DEFAULTS;
    cairn_claim_options claim = claim_of(everything, 10);
    cairn_page *tasks;
    open_beside(&beside, false);
    limit.name = "bills";
    limit.types = "billing.%";
    limit.concurrency = 2;
    MUST(&beside, cairn_limit_put(beside.engine, &limit, &beside.error));
    for (int i = 0; i < 4; i++)
        insert(&beside, "billing.invoice.v1", id);
    claim_plainly(&beside, first);
    tasks = take_one(&beside); /* the other place */
    cairn_page_free(tasks);
    claim_plainly(&beside, second); /* there is none left, which plain SQL does not ask */
    run(beside.conn,
        "update workflow.workflow_run set status = 'succeeded', updated_at = now()"
        " where id = :run_id",
        first);
    MUST(&beside, cairn_claim(beside.engine, &claim, &tasks, &beside.error));
    CHECK_INT(cairn_page_count(tasks), 0);
    cairn_page_free(tasks);
    run(beside.conn,
        "update workflow.workflow_run set status = 'succeeded', updated_at = now()"
        " where id = :run_id",
        second);
    tasks = take_one(&beside);
    cairn_page_free(tasks);
    close_beside(&beside);
}

struct waiter {
    pthread_t thread;
    cairn_engine *engine;
    cairn_page *tasks;
    cairn_code code;
};

static void *wait_for_task(void *arg)
{
    struct waiter *waiter = arg;
    cairn_claim_options claim = claim_of(everything, 1);
    claim.wait_ms = 8000; /* shorter than the poll, which must not be what finds it */
    waiter->code = cairn_claim(waiter->engine, &claim, &waiter->tasks, NULL);
    return NULL;
}

TEST(a_run_inserted_by_psql_wakes_a_claim_that_waits)
{
    struct beside beside;
    char id[40];
    open_beside(&beside, false);
    struct waiter waiter = {.engine = beside.engine};
    pthread_create(&waiter.thread, NULL, wait_for_task, &waiter);
    /* The engine listens only while a claim waits. */
    while (strcmp(run(beside.conn,
                      "select count(*) from pg_stat_activity where query like 'LISTEN%'"
                      " and state = 'idle' and datname = current_database()",
                      NULL),
                  "1") != 0)
        continue;
    snprintf(id, sizeof id, "%s", run(beside.conn, CREATE, NULL));
    pthread_join(waiter.thread, NULL);
    CHECK_INT(waiter.code, CAIRN_OK);
    CHECK_INT(cairn_page_count(waiter.tasks), 1);
    CHECK_STR(cairn_page_task(waiter.tasks, 0)->id, id);
    cairn_page_free(waiter.tasks);
    close_beside(&beside);
}
