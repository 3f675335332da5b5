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
    struct sqlite_session *session = (struct sqlite_session *)rig->writer;
    int steps = 0;
    for (int i = 0; i < QUERY_NUMBER_COUNT; i++)
        if (session->statements[i].handle)
            steps += sqlite3_stmt_status(session->statements[i].handle,
                                         SQLITE_STMTSTATUS_VM_STEP, 1);
    return steps;
}
