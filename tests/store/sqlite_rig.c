/* tests/store/sqlite_rig.c - what a SQLite store plans and does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sqlite_rig.h"

sqlite3 *db_of(struct store_session *session)
{
    return ((struct sqlite_session *)session)->connection->db;
}

const char *plan_of(struct rig *rig, const char *sql)
{
    static char plan[4000];
    char text[4000];
    sqlite3_stmt *statement;
    snprintf(text, sizeof text, "EXPLAIN QUERY PLAN %s", sql);
    int rc = sqlite3_prepare_v2(db_of(rig->writer), text, -1, &statement, NULL);
    CHECK(rc == SQLITE_OK, "%s", sqlite3_errmsg(db_of(rig->writer)));
    plan[0] = '\0';
    while (sqlite3_step(statement) == SQLITE_ROW) {
        size_t len = strlen(plan);
        snprintf(plan + len, sizeof plan - len, "%s\n", sqlite3_column_text(statement, 3));
    }
    sqlite3_finalize(statement);
    return plan;
}

int steps_taken(struct rig *rig)
{
    int steps = 0;
    sqlite3_stmt *statement = NULL;
    while ((statement = sqlite3_next_stmt(db_of(rig->writer), statement)) != NULL)
        steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
    return steps;
}

void run_plain(sqlite3 *db, const char *sql)
{
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    CHECK(rc == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
}

void run_elsewhere(struct rig *rig, const char *sql)
{
    sqlite3 *db = NULL;
    int rc = sqlite3_open(rig->url + strlen("sqlite:"), &db);
    CHECK(rc == SQLITE_OK, "%s: %s", rig->url, sqlite3_errmsg(db));
    run_plain(db, sql);
    sqlite3_close(db);
}
