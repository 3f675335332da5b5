/* tests/store/sqlite_rig.h - what a SQLite store plans and does, for tests that count work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_SQLITE_RIG_H
#define STORE_SQLITE_RIG_H

#include "rig.h"
#include "store/sqlite/sqlite.h"

sqlite3 *db_of(struct store_session *session);

/* The lines of EXPLAIN QUERY PLAN, until the next call. */
const char *plan_of(struct rig *rig, const char *sql);

/* Steps of SQLite's machine that the writer has taken since it was last asked; unlike time they
 * are the same at each run. */
int steps_taken(struct rig *rig);

/* Statements that no verb of the store runs: by one of its own connections, or by a stranger's; not in a
 * transaction of the rig's. */
void run_plain(sqlite3 *db, const char *sql);
void run_elsewhere(struct rig *rig, const char *sql);

#endif
