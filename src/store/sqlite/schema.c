/* store/sqlite/schema.c - whether a file is ours to use, and bringing its tables up to date.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The version is a row in workflow_migration, not PRAGMA user_version: a file may be shared
 * with an application's own tables, and that number is the application's.  So a database with
 * strangers' tables is welcome, as long as none of them has one of our names.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/sqlite_sql.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

_Static_assert(sizeof migrations / sizeof *migrations <= MIGRATIONS_MAX, "a larger array");

static const char version_table[] = "CREATE TABLE IF NOT EXISTS workflow_migration ("
                                    "    number     INTEGER PRIMARY KEY,"
                                    "    name       TEXT NOT NULL,"
                                    "    applied_at INTEGER NOT NULL"
                                    ") STRICT";

int schema_newest(void)
{
    return migrations[sizeof migrations / sizeof *migrations - 1].number;
}

int schema_version(struct connection *connection)
{
    int64_t has_table = connection_int(
        connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'workflow_migration'", -1);
    if (has_table <= 0)
        return (int)has_table;
    return (int)connection_int(connection,
                               "SELECT coalesce(max(number), 0) FROM workflow_migration", -1);
}

static bool answers(struct connection *connection, const char *sql, const char *wanted)
{
    char text[16];
    connection_text(connection, sql, text, sizeof text);
    return strcmp(text, wanted) == 0;
}

static cairn_code refused(const struct sqlite_store *store, struct connection *connection,
                          const char *what, cairn_error *reterr)
{
    return sqlite_refused(store->path, connection->db, sqlite3_extended_errcode(connection->db),
                          what, reterr);
}

/* What migrations that this library does not know say of it. */
static cairn_code check_later(const struct sqlite_store *store, struct connection *connection,
                              int version, cairn_error *reterr)
{
    char sql[160];
    snprintf(sql, sizeof sql,
             "SELECT max(coalesce(oldest, number)) FROM workflow_migration WHERE number > %d",
             schema_newest());
    int oldest = (int)connection_int(connection, sql, version);
    return store_check_later(store->path, version, schema_newest(), oldest, reterr);
}

static cairn_code check_version(const struct sqlite_store *store, struct connection *connection,
                                int version, const struct store_config *config,
                                cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    if (version == 0 && config->no_create) {
        code = fail(reterr, CAIRN_E_NOT_FOUND, "could not open \"%s\": it has no Cairn tables",
                    store->path);
        return fail_hint(reterr, code,
                         "check the URL; to create them: cairn migrate --url sqlite:%s",
                         store->path);
    }
    if (version > schema_newest())
        return check_later(store, connection, version, reterr);
    if (version < schema_newest() && config->no_migrate) {
        code = fail(reterr, CAIRN_E_SCHEMA_OLDER,
                    "cannot use \"%s\": its tables are of version %d, this library needs %d",
                    store->path, version, schema_newest());
        return fail_hint(reterr, code, "run: cairn migrate --url sqlite:%s", store->path);
    }
    return code;
}

/* A table of ours without a version is not ours. */
static cairn_code check_names(const struct sqlite_store *store, struct connection *connection,
                              cairn_error *reterr)
{
    if (connection_int(
            connection,
            "SELECT count(*) FROM sqlite_schema WHERE name IN"
            " ('workflow_run', 'workflow_event', 'workflow_registry',"
            " 'workflow_definition', 'workflow_instance', 'workflow_step',"
            " 'workflow_signal', 'workflow_outbox', 'workflow_human_decision',"
            " 'workflow_dlq', 'workflow_log', 'workflow_intake', 'workflow_event_log',"
            " 'workflow_event_loose', 'workflow_event_post', 'workflow_event_stream')",
            0) == 0)
        return CAIRN_OK;
    fail(reterr, CAIRN_E_CONFLICT,
         "cannot use \"%s\": it has a table named like one of Cairn's that Cairn did not make",
         store->path);
    return fail_hint(reterr, CAIRN_E_CONFLICT, "use another file");
}

/* SQLite takes a file of one byte for an empty one.  Its size alone is asked for: opening and
 * closing the file here would drop the locks that this process may hold through SQLite. */
static bool is_too_short(const char *path)
{
    enum { SMALLEST_PAGE = 512 };
    struct stat info;
    return stat(path, &info) == 0 && info.st_size > 0 && info.st_size < SMALLEST_PAGE;
}

/* Reads only.  The file's own encoding decides how texts compare, and prefixes need bytes. */
static cairn_code check_file(const struct sqlite_store *store, struct connection *connection,
                             const struct store_config *config, int *ret_version,
                             cairn_error *reterr)
{
    if (!is_in_memory(store) && is_too_short(store->path))
        return sqlite_refused(store->path, NULL, SQLITE_NOTADB, "open the store", reterr);
    int version = schema_version(connection);
    if (version < 0)
        return refused(store, connection, "open the store", reterr);
    if (sqlite3_db_readonly(connection->db, "main") == 1)
        return sqlite_refused(store->path, NULL, SQLITE_READONLY, "open the store", reterr);

    TRY(check_version(store, connection, version, config, reterr));
    if (version == 0)
        TRY(check_names(store, connection, reterr));
    if (!answers(connection, "PRAGMA encoding", "UTF-8"))
        return fail(reterr, CAIRN_E_CONFLICT,
                    "cannot use \"%s\": its texts are UTF-16, and Cairn needs UTF-8",
                    store->path);
    *ret_version = version;
    return CAIRN_OK;
}

static bool is_wal(struct connection *connection)
{
    return answers(connection, "PRAGMA journal_mode", "wal");
}

/* The change to WAL wants the file for itself for a moment, and SQLite does not always wait
 * for that by itself. */
static cairn_code enter_wal(const struct sqlite_store *store, struct connection *connection,
                            cairn_error *reterr)
{
    int64_t give_up_us = monotonic_us() + connection->wait_us;
    while (!is_wal(connection)) {
        int rc = connection_exec(connection, "PRAGMA journal_mode = WAL");
        if (rc == SQLITE_OK && !is_wal(connection))
            return fail(reterr, CAIRN_E_STORE,
                        "cannot use \"%s\": SQLite cannot keep a write-ahead log there",
                        store->path);
        if (rc != SQLITE_OK && (rc & 0xFF) != SQLITE_BUSY)
            return refused(store, connection, "open the store", reterr);
        if (rc != SQLITE_OK && monotonic_us() > give_up_us)
            return refused(store, connection, "open the store", reterr);
        struct timespec pause = {.tv_nsec = 2000000};
        if (rc != SQLITE_OK)
            nanosleep(&pause, NULL);
    }
    return CAIRN_OK;
}

static int record(struct connection *connection, const struct store_migration *migration,
                  int64_t now_us)
{
    char sql[256];
    snprintf(
        sql, sizeof sql,
        "INSERT INTO workflow_migration (number, name, applied_at) VALUES (%d, '%s', %lld)",
        migration->number, migration->name, (long long)now_us);
    int rc = connection_exec(connection, sql);
    if (rc != SQLITE_OK || !migration->oldest)
        return rc;
    snprintf(sql, sizeof sql, "UPDATE workflow_migration SET oldest = %d WHERE number = %d",
             migration->oldest, migration->number);
    return connection_exec(connection, sql);
}

/* In a new file all tables are made at once, which is ten times as fast as one migration after the other. */
static int apply(struct connection *connection, const struct store_migration *migration,
                 bool is_whole, int64_t now_us)
{
    int rc = is_whole ? SQLITE_OK : connection_exec(connection, migration->sql);
    return rc == SQLITE_OK ? record(connection, migration, now_us) : rc;
}

/* In a transaction.  Another process may have been faster: the version is read again.  All that is missing
 * up to `last`. */
static int migrate_in_tx(struct sqlite_store *store, struct connection *connection, int last)
{
    struct store_schema *schema = &store->base.schema;
    int64_t now_us = clock_now_us(store->base.clock);
    int rc = connection_exec(connection, version_table);
    if (rc != SQLITE_OK)
        return rc;
    int version = schema_version(connection);
    if (version < 0)
        return sqlite3_extended_errcode(connection->db);
    bool is_whole = version == 0 && last == schema_newest() && whole_schema;
    if (is_whole)
        rc = connection_exec(connection, whole_schema);
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof migrations / sizeof *migrations; i++) {
        if (migrations[i].number <= version || migrations[i].number > last)
            continue;
        rc = apply(connection, &migrations[i], is_whole, now_us);
        if (rc == SQLITE_OK)
            schema->applied[schema->applied_count++] = migrations[i].name;
    }
    return rc;
}

/* Only a file in which there is nothing yet can be made so that free pages can be returned one by one. */
static void make_shrinkable(struct connection *connection)
{
    if (connection_int(connection, "PRAGMA page_count", 1) == 0)
        connection_exec(connection, "PRAGMA auto_vacuum = INCREMENTAL");
}

static cairn_code migrate_to(struct sqlite_store *store, struct connection *connection,
                             int last, cairn_error *reterr)
{
    int rc = connection_exec(connection, "BEGIN IMMEDIATE");
    if (rc == SQLITE_OK)
        rc = migrate_in_tx(store, connection, last);
    if (rc == SQLITE_OK)
        rc = connection_exec(connection, "COMMIT");
    if (rc == SQLITE_OK)
        return CAIRN_OK;

    cairn_code code =
        sqlite_refused(store->path, connection->db, rc, "bring the tables up to date", reterr);
    if (!sqlite3_get_autocommit(connection->db))
        connection_exec(connection, "ROLLBACK");
    /* A migration may have put the checks aside. */
    connection_exec(connection, "PRAGMA ignore_check_constraints = OFF");
    return code;
}

/* Others wait while a migration is applied, so each has its own transaction, and after a long one whoever waits is let
 * in: SQLite's own handler looks again every 100 ms.  For a new file, which nobody uses, one transaction is enough. */
static cairn_code migrate(struct sqlite_store *store, struct connection *connection,
                          int version, cairn_error *reterr)
{
    static const struct timespec let_in = {.tv_nsec = 120000000};
    static const int64_t short_us = 50000;
    if (version == 0)
        return migrate_to(store, connection, schema_newest(), reterr);
    for (size_t i = 0; i < sizeof migrations / sizeof *migrations; i++) {
        if (migrations[i].number <= version)
            continue;
        int64_t begun_us = monotonic_us();
        TRY(migrate_to(store, connection, migrations[i].number, reterr));
        if (monotonic_us() - begun_us > short_us && migrations[i].number < schema_newest())
            nanosleep(&let_in, NULL);
    }
    return CAIRN_OK;
}

cairn_code schema_prepare(struct sqlite_store *store, struct connection *connection,
                          const struct store_config *config, cairn_error *reterr)
{
    int version = 0;
    cairn_code code = check_file(store, connection, config, &version, reterr);
    if (!code && !is_in_memory(store)) {
        make_shrinkable(connection);
        code = enter_wal(store, connection, reterr);
    }
    if (!code && version < schema_newest())
        code = migrate(store, connection, version, reterr);
    store->base.schema.from = version;
    store->base.schema.to = version > schema_newest() ? version : schema_newest();
    return code;
}

cairn_code schema_plan(struct sqlite_store *store, struct connection *connection,
                       const struct store_config *config, struct store_plan *ret_plan,
                       cairn_error *reterr)
{
    int version = 0;
    if (connection)
        TRY(check_file(store, connection, config, &version, reterr));
    *ret_plan = store_plan_from(version, migrations, sizeof migrations / sizeof *migrations);
    return CAIRN_OK;
}
