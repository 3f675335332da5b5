/* store/sqlite/inspect.c - facts about the file, for doctor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

/* The number that a query answers; 0: none. */
static cairn_code find_number(struct store_tx *tx, enum query_number number, int64_t *ret_value,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    *ret_value = 0;
    cairn_code code = query_int(&query, ret_value);
    return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
}

static void describe_settings(struct connection *connection, struct store_facts *facts)
{
    static const char *const levels[] = {"off", "normal", "full", "extra"};
    char journal_mode[32];
    int64_t level = connection_int(connection, "PRAGMA synchronous", -1);
    connection_text(connection, "PRAGMA journal_mode", journal_mode, sizeof journal_mode);
    snprintf(facts->settings, sizeof facts->settings, "journal_mode=%s synchronous=%s",
             *journal_mode ? journal_mode : "unknown",
             level >= 0 && level < 4 ? levels[level] : "unknown");
}

/* One finding is enough to know. */
static void check_damage(struct connection *connection, struct store_facts *facts)
{
    char *damage = facts->damage;
    connection_text(connection, "PRAGMA quick_check(1)", damage, sizeof facts->damage);
    facts->is_intact = strcmp(damage, "ok") == 0;
    if (facts->is_intact)
        damage[0] = '\0';
    else if (!*damage)
        snprintf(damage, sizeof facts->damage, "unknown");
}

cairn_code sqlite_product(struct store_tx *tx, char *ret_product, cairn_error *reterr)
{
    (void)tx, (void)reterr;
    snprintf(ret_product, PRODUCT_TEXT, "SQLite %s", sqlite3_libversion());
    return CAIRN_OK;
}

static uint64_t size_of(struct connection *connection)
{
    return (uint64_t)connection_int(connection, "PRAGMA page_count", 0) *
           (uint64_t)connection_int(connection, "PRAGMA page_size", 0);
}

/* By how much the file may grow: the room on its disk, or up to its own limit. */
static void find_room(struct connection *connection, struct store_facts *facts)
{
    struct statvfs disk;
    const struct sqlite_store *store = connection->store;
    if (is_in_memory(store) || statvfs(store->path, &disk))
        return;
    facts->is_file = true;
    facts->free_bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
    int64_t page = connection_int(connection, "PRAGMA page_size", 0);
    int64_t limit = store->max_page_count * page - (int64_t)facts->size_bytes +
                    connection_int(connection, "PRAGMA freelist_count", 0) * page;
    if (store->max_page_count && limit < facts->free_bytes)
        facts->free_bytes = limit;
}

cairn_code sqlite_measure(struct store_tx *tx, uint64_t *ret_bytes, cairn_error *reterr)
{
    (void)reterr;
    *ret_bytes = size_of(sqlite_session_of(tx)->connection);
    return CAIRN_OK;
}

cairn_code sqlite_inspect(struct store_tx *tx, struct store_facts *ret_facts,
                          cairn_error *reterr)
{
    struct connection *connection = sqlite_session_of(tx)->connection;
    struct store_facts facts = {.newest_schema_version = schema_newest()};
    int64_t expired;

    TRY(find_number(tx, Q_COUNT_EXPIRED, &expired, reterr));
    TRY(find_number(tx, Q_FIND_OLDEST_OUTBOX, &facts.oldest_outbox_us, reterr));
    facts.expired_leases = (uint64_t)expired;
    TRY(sqlite_product(tx, facts.product, reterr));
    facts.schema_version = schema_version(connection);
    facts.size_bytes = size_of(connection);
    facts.is_unshrinkable = !is_in_memory(connection->store) &&
                            connection_int(connection, "PRAGMA auto_vacuum", 0) == 0;
    find_room(connection, &facts);
    describe_settings(connection, &facts);
    check_damage(connection, &facts);
    *ret_facts = facts;
    return CAIRN_OK;
}
