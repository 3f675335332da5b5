/* store/sqlite/inspect.c - what doctor wants to know about the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#include <stdio.h>
#include <string.h>

static cairn_code find_oldest_outbox(struct store_tx *tx, int64_t *ret_us, cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_FIND_OLDEST_OUTBOX);
    int rc = query_step(&query);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return query_refused(&query, "look at the outbox", reterr);
    *ret_us = rc == SQLITE_ROW ? sqlite3_column_int64(query.statement, 0) : 0;
    return CAIRN_OK;
}

static cairn_code count_expired(struct store_tx *tx, uint64_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_COUNT_EXPIRED);
    bind_int(&query, ":now", tx->now_us);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query, "count expired leases", reterr);
    *ret_count = (uint64_t)sqlite3_column_int64(query.statement, 0);
    return CAIRN_OK;
}

/* The text that a pragma answers. */
static void pragma_text(sqlite3 *db, const char *sql, char *ret_text, size_t room)
{
    sqlite3_stmt *statement = NULL;
    snprintf(ret_text, room, "unknown");
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        snprintf(ret_text, room, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
}

static void describe_settings(struct connection *connection, struct store_facts *facts)
{
    static const char *const levels[] = {"off", "normal", "full", "extra"};
    char journal_mode[32];
    int64_t level = connection_int(connection, "PRAGMA synchronous", -1);
    pragma_text(connection->db, "PRAGMA journal_mode", journal_mode, sizeof journal_mode);
    snprintf(facts->settings, sizeof facts->settings, "journal_mode=%s synchronous=%s",
             journal_mode, level >= 0 && level < 4 ? levels[level] : "unknown");
}

/* One finding is enough to know. */
static void check_damage(struct connection *connection, struct store_facts *facts)
{
    pragma_text(connection->db, "PRAGMA quick_check(1)", facts->damage, sizeof facts->damage);
    facts->is_intact = strcmp(facts->damage, "ok") == 0;
    if (facts->is_intact)
        facts->damage[0] = '\0';
}

cairn_code sqlite_inspect(struct store_tx *tx, struct store_facts *ret_facts,
                          cairn_error *reterr)
{
    struct connection *connection = sqlite_session_of(tx)->connection;
    struct store_facts facts = {.newest_schema_version = schema_newest()};

    cairn_code code = count_expired(tx, &facts.expired_leases, reterr);
    if (!code)
        code = find_oldest_outbox(tx, &facts.oldest_outbox_us, reterr);
    if (code)
        return code;
    snprintf(facts.product, sizeof facts.product, "SQLite %s", sqlite3_libversion());
    facts.schema_version = schema_version(connection);
    facts.size_bytes = (uint64_t)connection_int(connection, "PRAGMA page_count", 0) *
                       (uint64_t)connection_int(connection, "PRAGMA page_size", 0);
    describe_settings(connection, &facts);
    check_damage(connection, &facts);
    *ret_facts = facts;
    return CAIRN_OK;
}
