/* store/sqlite/connection.c - opening the file, waiting for its lock, and what SQLite's
 * refusals mean.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Small, since most of a server's life is idle: a writer wants the upper pages of its trees, a
 * reader even less.  The log is cut back after a burst. */
static const char settings[] = "PRAGMA synchronous = FULL;"
                               "PRAGMA mmap_size = 0;"
                               "PRAGMA temp_store = MEMORY;"
                               "PRAGMA foreign_keys = OFF;"
                               "PRAGMA recursive_triggers = OFF;"
                               "PRAGMA journal_size_limit = 16777216;";
static const char writer_settings[] = "PRAGMA cache_size = -2048;";
static const char reader_settings[] = "PRAGMA cache_size = -512;"
                                      "PRAGMA query_only = ON;";

/* SQLite's own handler soon sleeps 100 ms at a time, which is long for commits of one; and
 * waits of equal length would meet again. */
static int wait_for_lock(void *arg, int tries)
{
    struct connection *connection = arg;
    int64_t now_us = monotonic_us();
    if (tries == 0)
        connection->give_up_us = now_us + connection->wait_us;
    int64_t left_us = connection->give_up_us - now_us;
    if (left_us <= 0)
        return 0;
    int64_t sleep_us = 200 + (tries < 20 ? tries : 20) * 100 + now_us % 200;
    if (sleep_us > left_us)
        sleep_us = left_us;
    struct timespec pause = {.tv_nsec = sleep_us * 1000};
    nanosleep(&pause, NULL);
    return 1;
}

bool is_in_memory(const struct sqlite_store *store)
{
    return store->memory_name[0];
}

int connection_exec(struct connection *connection, const char *sql)
{
    return sqlite3_exec(connection->db, sql, NULL, NULL, NULL);
}

int64_t connection_int(struct connection *connection, const char *sql, int64_t otherwise)
{
    char text[32];
    connection_text(connection, sql, text, sizeof text);
    return text[0] ? strtoll(text, NULL, 10) : otherwise;
}

void connection_text(struct connection *connection, const char *sql, char *ret_text,
                     size_t room)
{
    sqlite3_stmt *statement = NULL;
    const char *text = NULL;
    if (sqlite3_prepare_v2(connection->db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        text = (const char *)sqlite3_column_text(statement, 0);
    snprintf(ret_text, room, "%s", text ? text : "");
    sqlite3_finalize(statement);
}

static int configure(const struct sqlite_store *store, enum connection_use use,
                     struct connection *connection)
{
    char limit[80];
    sqlite3_extended_result_codes(connection->db, 1);
    sqlite3_busy_handler(connection->db, wait_for_lock, connection);
    int rc = connection_exec(connection, settings);
    if (rc == SQLITE_OK)
        rc =
            connection_exec(connection, use == FOR_READING ? reader_settings : writer_settings);
    if (rc != SQLITE_OK || !store->max_page_count || use == FOR_READING)
        return rc;
    snprintf(limit, sizeof limit, "PRAGMA max_page_count = %lld;",
             (long long)store->max_page_count);
    return connection_exec(connection, limit);
}

/* A new file can be read by its owner only; SQLite gives the log the mode of the file.  An existing one
 * keeps its mode.  Closing a file that this process may have open through SQLite would drop its
 * locks, so only a file that was not there is opened here. */
static void create_private(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
}

cairn_code connection_open(struct sqlite_store *store, enum connection_use use,
                           struct connection **ret_connection, cairn_error *reterr)
{
    TRY(identity_check(store, "open the store", reterr));
    cleanup(connection_closep) struct connection *connection = mem_zalloc(sizeof *connection);
    if (!connection)
        return fail_memory(reterr);
    connection->store = store;
    connection->wait_us = (int64_t)store->lock_wait_ms * US_PER_MS;
    identity_opened(store);
    bool is_memory = is_in_memory(store);
    if (use == FOR_CREATING && !is_memory)
        create_private(store->path);

    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (use == FOR_CREATING)
        flags |= SQLITE_OPEN_CREATE;
    int rc = sqlite3_open_v2(is_memory ? store->memory_name : store->path, &connection->db,
                             flags, is_memory ? "memdb" : NULL);
    if (rc != SQLITE_OK)
        return sqlite_refused(store->path, connection->db, rc, "open the store", reterr);
    rc = configure(store, use, connection);
    if (rc != SQLITE_OK)
        return sqlite_refused(store->path, connection->db, rc, "open the store", reterr);

    *ret_connection = connection;
    connection = NULL;
    return CAIRN_OK;
}

void connection_close(struct connection *connection)
{
    if (!connection)
        return;
    sqlite3_close(connection->db);
    identity_closed(connection->store);
    mem_free(connection);
}

void connection_closep(struct connection **connection)
{
    connection_close(*connection);
}

bool sqlite_is_lost(int rc)
{
    int kind = rc & 0xFF;
    return kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR || rc == SQLITE_READONLY_DBMOVED;
}

/* SQLite says only that the file could not be opened: look why. */
static cairn_code explain_cannot_open(const char *path, cairn_error *reterr)
{
    char copy[PATH_MAX];
    struct stat info;
    snprintf(copy, sizeof copy, "%s", path);
    const char *folder = dirname(copy);

    if (stat(folder, &info) != 0) {
        fail(reterr, CAIRN_E_BAD_INPUT, "cannot open \"%s\": %s", path, strerror(errno));
        return fail_hint(reterr, CAIRN_E_BAD_INPUT, "create the folder first: mkdir -p %s",
                         folder);
    }
    if (!S_ISDIR(info.st_mode))
        return fail(reterr, CAIRN_E_BAD_INPUT, "cannot open \"%s\": \"%s\" is not a folder",
                    path, folder);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return fail(reterr, CAIRN_E_BAD_INPUT, "cannot open \"%s\": it is a folder", path);
    if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) != 0 && errno != ENOENT)
        return fail(reterr, CAIRN_E_READ_ONLY, "cannot write to \"%s\": %s", path,
                    strerror(errno));
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0) {
        fail(reterr, CAIRN_E_READ_ONLY, "cannot write to the folder of \"%s\": %s", path,
             strerror(errno));
        return fail_hint(
            reterr, CAIRN_E_READ_ONLY,
            "SQLite keeps its log beside the file, so the folder must be writable");
    }
    return fail(reterr, CAIRN_E_UNREACHABLE, "could not open \"%s\"", path);
}

static cairn_code explain_read_only(const char *path, const char *what, cairn_error *reterr)
{
    fail(reterr, CAIRN_E_READ_ONLY, "cannot %s: \"%s\" is read-only", what, path);
    return fail_hint(reterr, CAIRN_E_READ_ONLY,
                     "the file and its folder must be writable for this user");
}

static cairn_code explain(const char *path, int rc, const char *what, cairn_error *reterr)
{
    if (rc == SQLITE_IOERR_NOMEM)
        return fail_memory(reterr);
    if (rc == SQLITE_READONLY_DBMOVED)
        return fail(reterr, CAIRN_E_UNREACHABLE,
                    "could not %s: \"%s\" was moved or removed while it was open", what, path);
    switch (rc & 0xFF) {
    case SQLITE_NOMEM:
        return fail_memory(reterr);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return fail(reterr, CAIRN_E_BUSY, "could not %s: another process is writing to \"%s\"",
                    what, path);
    case SQLITE_INTERRUPT:
        return fail(reterr, CAIRN_E_BUSY, "could not %s: it took too long", what);
    case SQLITE_FULL:
        return fail(reterr, CAIRN_E_STORE_FULL,
                    "could not %s: the disk of \"%s\", or the limit set for the file, is full",
                    what, path);
    case SQLITE_READONLY:
        return explain_read_only(path, what, reterr);
    case SQLITE_CANTOPEN:
        return explain_cannot_open(path, reterr);
    case SQLITE_NOTADB:
        return fail(reterr, CAIRN_E_NOT_A_DATABASE,
                    "cannot %s: \"%s\" is not an SQLite database", what, path);
    case SQLITE_IOERR:
        return fail(reterr, CAIRN_E_UNREACHABLE,
                    "could not %s: \"%s\" could not be read or written", what, path);
    case SQLITE_TOOBIG:
        return fail(reterr, CAIRN_E_TOO_LARGE, "cannot %s: a text is too large for SQLite",
                    what);
    case SQLITE_CORRUPT:
        fail(reterr, CAIRN_E_STORE, "cannot %s: \"%s\" is damaged", what, path);
        return fail_hint(
            reterr, CAIRN_E_STORE,
            "restore a backup, or rescue what is left with: sqlite3 FILE .recover");
    default:
        return fail(reterr, CAIRN_E_STORE, "could not %s in \"%s\"", what, path);
    }
}

cairn_code sqlite_refused(const char *path, sqlite3 *db, int rc, const char *what,
                          cairn_error *reterr)
{
    /* The words of the latest refusal, before anything else is asked of the connection. */
    char words[200];
    bool is_latest = db && (sqlite3_errcode(db) & 0xFF) == (rc & 0xFF);
    snprintf(words, sizeof words, "%s", is_latest ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
    int number = db ? sqlite3_system_errno(db) : 0;

    cairn_code code = explain(path, rc, what, reterr);
    if (sqlite_is_lost(rc) && number)
        return fail_detail(reterr, code, "SQLite: %s (%d); system: %s", words, rc,
                           strerror(number));
    return fail_detail(reterr, code, "SQLite: %s (%d)", words, rc);
}
