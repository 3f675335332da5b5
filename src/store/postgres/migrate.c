/* store/postgres/migrate.c - brings the tables up to this library's version.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * workflow.cairn_schema has a row for each migration that was applied.  Those who migrate at
 * the same time wait for each other at an advisory lock and find the work done.
 *
 * Work goes on meanwhile.  Indexes of large tables are built before the migration that wants them,
 * outside of a transaction; columns that they need are added before that.  Whatever is interrupted can
 * be repeated.  And a migration waits only for a moment for the lock of a table: whoever comes after it
 * would wait, too, claims among them.  Then it gives up what it has and tries again.
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"
#include "store/postgres/postgres_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

_Static_assert(sizeof migrations / sizeof *migrations <= MIGRATIONS_MAX, "a larger array");
static const size_t migration_count = sizeof migrations / sizeof *migrations;

int postgres_newest_schema(void)
{
    return migrations[migration_count - 1].number;
}

/* A question is answered at once; a migration may build indexes of large tables, or wait for another
 * process that does. */
#define ASK_US (10 * US_PER_SEC)
#define MIGRATE_US (30 * US_PER_MIN)

static cairn_code run_script(PGconn *conn, const char *sql, const char *doing,
                             cairn_error *reterr)
{
    struct postgres_patience patience = {.until_us = monotonic_us() + MIGRATE_US};
    return postgres_exec(conn, sql, doing, &patience, NULL, reterr);
}

/* The latest migration that was applied; 0: none, or no table at all. */
static cairn_code read_version(PGconn *conn, int *ret_version, cairn_error *reterr)
{
    static const char doing[] = "read the schema's version";
    struct postgres_patience patience = {.until_us = monotonic_us() + ASK_US};
    cleanup(postgres_result_done) PGresult *exists = NULL, *version = NULL;
    /* From the catalogue itself: to_regclass() may remember that there was no such table, though
     * the one we have just waited for has made it. */
    TRY(postgres_exec(conn,
                      "SELECT EXISTS (SELECT FROM pg_catalog.pg_tables"
                      " WHERE schemaname = 'workflow' AND tablename = 'cairn_schema')",
                      doing, &patience, &exists, reterr));
    *ret_version = 0;
    if (PQgetvalue(exists, 0, 0)[0] != 't')
        return CAIRN_OK;

    cairn_code code =
        postgres_exec(conn, "SELECT coalesce(max(version), 0) FROM workflow.cairn_schema",
                      doing, &patience, &version, reterr);
    if (!code)
        *ret_version = atoi(PQgetvalue(version, 0, 0));
    return code;
}

/* What migrations that this library does not know say of it. */
static cairn_code check_later(PGconn *conn, int version, cairn_error *reterr)
{
    struct postgres_patience patience = {.until_us = monotonic_us() + ASK_US};
    cleanup(postgres_result_done) PGresult *oldest = NULL;
    char sql[160];
    snprintf(
        sql, sizeof sql,
        "SELECT max(coalesce(oldest, version)) FROM workflow.cairn_schema WHERE version > %d",
        postgres_newest_schema());
    TRY(postgres_exec(conn, sql, "read the schema's version", &patience, &oldest, reterr));
    return store_check_later("the database", version, postgres_newest_schema(),
                             atoi(PQgetvalue(oldest, 0, 0)), reterr);
}

/* Whether tables of this version can be used, or made. */
static cairn_code check_version(PGconn *conn, int version, const struct store_config *config,
                                cairn_error *reterr)
{
    int newest = postgres_newest_schema();
    if (version > newest)
        return check_later(conn, version, reterr);
    if (version == 0 && config->no_create) {
        fail(reterr, CAIRN_E_NOT_FOUND, "could not open the database: it has no Cairn tables");
        return fail_hint(reterr, CAIRN_E_NOT_FOUND,
                         "check the URL; to create them: cairn migrate --url URL");
    }
    if (version < newest && config->no_migrate) {
        fail(reterr, CAIRN_E_SCHEMA_OLDER,
             "could not open the database: its tables have version %d, this library needs %d",
             version, newest);
        return fail_hint(reterr, CAIRN_E_SCHEMA_OLDER, "run: cairn migrate");
    }
    return CAIRN_OK;
}

/* Inside a transaction that holds the lock: applies what is missing of one migration. */
static cairn_code apply_locked(PGconn *conn, size_t index, bool *ret_applied,
                               cairn_error *reterr)
{
    int version = 0;
    cairn_code code = read_version(conn, &version, reterr);
    if (code || version >= migrations[index].number)
        return code;
    TRY(run_script(conn,
                   "CREATE SCHEMA IF NOT EXISTS workflow;"
                   "CREATE TABLE IF NOT EXISTS workflow.cairn_schema ("
                   "    version    integer PRIMARY KEY,"
                   "    name       text NOT NULL,"
                   "    applied_at timestamptz NOT NULL DEFAULT now())",
                   "create the schema", reterr));
    TRY(run_script(conn, migrations[index].sql, "migrate the tables", reterr));

    char sql[256];
    snprintf(sql, sizeof sql,
             "INSERT INTO workflow.cairn_schema (version, name) VALUES (%d, '%s')",
             migrations[index].number, migrations[index].name);
    if (migrations[index].oldest) /* then the column is there */
        snprintf(
            sql, sizeof sql,
            "INSERT INTO workflow.cairn_schema (version, name, oldest) VALUES (%d, '%s', %d)",
            migrations[index].number, migrations[index].name, migrations[index].oldest);
    *ret_applied = true;
    return run_script(conn, sql, "write the schema's version", reterr);
}

static void pause_us(int64_t us)
{
    struct timespec pause = {.tv_sec = us / US_PER_SEC, .tv_nsec = us % US_PER_SEC * 1000};
    nanosleep(&pause, NULL);
}

static cairn_code ask_true(PGconn *conn, const char *sql, bool *ret_is_true,
                           cairn_error *reterr)
{
    struct postgres_patience patience = {.until_us = monotonic_us() + ASK_US};
    cleanup(postgres_result_done) PGresult *result = NULL;
    TRY(postgres_exec(conn, sql, "migrate the tables", &patience, &result, reterr));
    *ret_is_true = PQntuples(result) > 0 && PQgetvalue(result, 0, 0)[0] == 't';
    return CAIRN_OK;
}

/* `ask` tries to take the lock.  It is asked again and again: who waits for a lock holds a snapshot, and
 * building an index waits for the end of all snapshots, so that the two could wait for each other. */
static cairn_code take_lock(PGconn *conn, const char *ask, cairn_error *reterr)
{
    int64_t give_up_us = monotonic_us() + MIGRATE_US;
    for (bool is_ours = false;; pause_us(US_PER_SEC / 20)) {
        TRY(ask_true(conn, ask, &is_ours, reterr));
        if (is_ours)
            return CAIRN_OK;
        if (monotonic_us() > give_up_us)
            return fail(reterr, CAIRN_E_BUSY,
                        "could not migrate the tables: another process still does");
    }
}

/* Another process may be faster: then nothing is left to do.  With `only_first` that part alone. */
static cairn_code apply(PGconn *conn, size_t index, bool only_first,
                        struct store_schema *schema, cairn_error *reterr)
{
    bool is_applied = false;
    cairn_code code = run_script(conn,
                                 "BEGIN ISOLATION LEVEL READ COMMITTED;"
                                 "SELECT set_config('cairn.engine', '1', true);"
                                 "SET LOCAL lock_timeout = '500ms'",
                                 "migrate the tables", reterr);
    /* The number is "cairn" as ASCII: every version of the library must use the same. */
    if (!code)
        code = take_lock(conn, "SELECT pg_try_advisory_xact_lock(426836062830)", reterr);
    if (!code && only_first)
        code = run_script(conn, migrations[index].first, "migrate the tables", reterr);
    else if (!code)
        code = apply_locked(conn, index, &is_applied, reterr);
    if (code) {
        run_script(conn, "ROLLBACK", "roll back", NULL);
        return code;
    }
    code = run_script(conn, "COMMIT", "migrate the tables", reterr);
    if (!code && is_applied)
        schema->applied[schema->applied_count++] = migrations[index].name;
    return code;
}

/* Until other transactions let go of the tables. */
static cairn_code apply_in_time(PGconn *conn, size_t index, bool only_first,
                                struct store_schema *schema, cairn_error *reterr)
{
    int64_t give_up_us = monotonic_us() + MIGRATE_US;
    for (;;) {
        cairn_code code = apply(conn, index, only_first, schema, reterr);
        if (code != CAIRN_E_BUSY || monotonic_us() > give_up_us)
            return code;
        pause_us(US_PER_SEC);
    }
}

/* ---- indexes --------------------------------------------------------------------------------- */

/* What is left of an attempt that failed is removed. */
static cairn_code build(PGconn *conn, const struct store_ahead *ahead, cairn_error *reterr)
{
    char sql[256];
    bool is_left = false;
    snprintf(sql, sizeof sql,
             "SELECT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('%s.%s')"
             " AND NOT indisvalid)",
             ahead->schema, ahead->index);
    TRY(ask_true(conn, sql, &is_left, reterr));
    snprintf(sql, sizeof sql, "DROP INDEX CONCURRENTLY %s.%s", ahead->schema, ahead->index);
    if (is_left)
        TRY(run_script(conn, sql, "migrate the tables", reterr));
    return run_script(conn, ahead->sql, "migrate the tables", reterr);
}

/* Another process may hold a snapshot and wait for a lock of ours: then PostgreSQL ends one of the two. */
static cairn_code build_in_time(PGconn *conn, const struct store_ahead *ahead,
                                cairn_error *reterr)
{
    int64_t give_up_us = monotonic_us() + MIGRATE_US;
    for (;;) {
        cairn_code code = build(conn, ahead, reterr);
        if (code != CAIRN_E_BUSY || monotonic_us() > give_up_us)
            return code;
        pause_us(US_PER_SEC / 20);
    }
}

static cairn_code apply_with_indexes(PGconn *conn, size_t index, struct store_schema *schema,
                                     cairn_error *reterr)
{
    int version = 0;
    cairn_code code = read_version(conn, &version, reterr);
    if (code || version >= migrations[index].number)
        return code;
    if (migrations[index].first)
        code = apply_in_time(conn, index, true, schema, reterr);
    for (const struct store_ahead *at = migrations[index].ahead; !code && at->index; at++)
        code = build_in_time(conn, at, reterr);
    return code ? code : apply_in_time(conn, index, false, schema, reterr);
}

/* The lock has another number than that of the migrations.  It is kept until the migration is there, which
 * may give an index that was built another name. */
static cairn_code apply_with_lock(PGconn *conn, size_t index, struct store_schema *schema,
                                  cairn_error *reterr)
{
    TRY(take_lock(conn, "SELECT pg_try_advisory_lock(426836062831)", reterr));
    cairn_code code = apply_with_indexes(conn, index, schema, reterr);
    run_script(conn, "SELECT pg_advisory_unlock(426836062831)", "migrate the tables", NULL);
    return code;
}

cairn_code postgres_migrate(PGconn *conn, bool is_pooled, const struct store_config *config,
                            struct store_schema *ret_schema, cairn_error *reterr)
{
    int version = 0;
    TRY(read_version(conn, &version, reterr));
    TRY(check_version(conn, version, config, reterr));
    for (size_t i = 0; i < migration_count; i++) {
        if (migrations[i].number <= version)
            continue;
        /* New tables are empty; and a pooler does not keep a lock for a session. */
        if (version > 0 && migrations[i].ahead && !is_pooled)
            TRY(apply_with_lock(conn, i, ret_schema, reterr));
        else
            TRY(apply_in_time(conn, i, false, ret_schema, reterr));
    }
    ret_schema->from = version;
    ret_schema->to = version > postgres_newest_schema() ? version : postgres_newest_schema();
    return CAIRN_OK;
}

cairn_code postgres_migrate_plan(PGconn *conn, const struct store_config *config,
                                 struct store_plan *ret_plan, cairn_error *reterr)
{
    int version = 0;
    TRY(read_version(conn, &version, reterr));
    TRY(check_version(conn, version, config, reterr));
    *ret_plan = store_plan_from(version, migrations, migration_count);
    return CAIRN_OK;
}
