/* store/sqlite/sqlite.c - the SQLite back end: its store, its sessions, its transactions.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * URLs: sqlite:FILE, sqlite:FILE?max_page_count=N, memory:.  The second bounds the size of the
 * file (a page has 4096 bytes).  Beyond it writes fail with CAIRN_E_STORE_FULL, as on a full disk.
 * FILE is taken as it stands, without decoding, up to the first question mark.  Each open of memory:
 * is an empty store of its own.
 */
#include "store/sqlite/known.h"

#include "base/error.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The URL ----------------------------------------------------------------------------- */

static cairn_code read_parameters(const char *text, struct sqlite_store *store,
                                  cairn_error *reterr)
{
    static const char name[] = "max_page_count=";
    char *end = NULL;
    long long value = 0;
    if (strncmp(text, name, sizeof name - 1) == 0)
        value = strtoll(text + sizeof name - 1, &end, 10);
    if (!end || *end || value < 1 || value > INT32_MAX) {
        fail(reterr, CAIRN_E_BAD_INPUT, "cannot open the store: \"?%s\" means nothing here",
             text);
        return fail_hint(reterr, CAIRN_E_BAD_INPUT,
                         "only max_page_count=N may follow the file, with N from 1");
    }
    store->max_page_count = value;
    return CAIRN_OK;
}

/* Makes the path absolute, since the process may change its folder while the store is open. */
static char *absolute(const char *path)
{
    char folder[PATH_MAX];
    if (path[0] == '/' || !getcwd(folder, sizeof folder))
        return mem_strdup(path);
    size_t room = strlen(folder) + strlen(path) + 2;
    char *full = mem_alloc(room);
    if (full)
        snprintf(full, room, "%s/%s", folder, path);
    return full;
}

static cairn_code read_memory_url(const char *url, struct sqlite_store *store,
                                  cairn_error *reterr)
{
    static atomic_uint last;
    if (strcmp(url, "memory:") != 0) {
        fail(reterr, CAIRN_E_BAD_INPUT, "cannot open \"%s\": a memory store has no name", url);
        return fail_hint(reterr, CAIRN_E_BAD_INPUT, "use memory: alone, or sqlite:FILE");
    }
    /* Connections share a database in memory if its name begins with a slash. */
    snprintf(store->memory_name, sizeof store->memory_name, "/cairn-%u",
             atomic_fetch_add(&last, 1));
    store->path = mem_strdup(url);
    return store->path ? CAIRN_OK : fail_memory(reterr);
}

static cairn_code read_url(const char *url, struct sqlite_store *store, cairn_error *reterr)
{
    if (strncmp(url, "memory:", strlen("memory:")) == 0)
        return read_memory_url(url, store, reterr);
    const char *path = url + strlen("sqlite:");
    size_t len = strcspn(path, "?");
    char file[PATH_MAX];
    if (len == 0 || (len == 8 && strncmp(path, ":memory:", len) == 0)) {
        fail(reterr, CAIRN_E_BAD_INPUT, "cannot open \"%s\": it names no file", url);
        return fail_hint(reterr, CAIRN_E_BAD_INPUT, "use sqlite:FILE, such as sqlite:cairn.db");
    }
    if (len > sizeof file - 16)
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "cannot open the store: its path is longer than %zu bytes",
                    sizeof file - 16);
    memcpy(file, path, len);
    file[len] = '\0';
    store->path = absolute(file);
    if (!store->path)
        return fail_memory(reterr);
    return path[len] ? read_parameters(path + len + 1, store, reterr) : CAIRN_OK;
}

/* ---- The store --------------------------------------------------------------------------- */

void sqlite_close(struct store *base)
{
    struct sqlite_store *store = (struct sqlite_store *)base;
    if (!store)
        return;
    watch_free(store->watch);
    connection_close(atomic_load(&store->spare));
    identity_done(store);
    mem_free(store->path);
    mem_free(store);
}

static void close_storep(struct sqlite_store **store)
{
    sqlite_close((struct store *)*store);
}

/* Opening may meet another process that is migrating, which takes longer than a commit. */
enum { OPEN_WAIT_MS = 10000 };

/* Whether the file that must be there is there. */
static cairn_code check_presence(const struct sqlite_store *store,
                                 const struct store_config *config, cairn_error *reterr)
{
    struct stat info;
    if (config->no_create && stat(store->path, &info) < 0 && errno == ENOENT) {
        fail(reterr, CAIRN_E_NOT_FOUND, "could not open \"%s\": there is no such file",
             store->path);
        return fail_hint(reterr, CAIRN_E_NOT_FOUND,
                         "check the URL; to create it: cairn migrate --url sqlite:%s",
                         store->path);
    }
    if (config->no_migrate && access(store->path, F_OK) != 0) {
        fail(reterr, CAIRN_E_SCHEMA_OLDER, "cannot use \"%s\": it does not exist yet",
             store->path);
        return fail_hint(reterr, CAIRN_E_SCHEMA_OLDER, "run: cairn migrate --url sqlite:%s",
                         store->path);
    }
    return CAIRN_OK;
}

/* A store of which nothing is open yet.  *ret_store is the caller's to close, also if this fails. */
static cairn_code store_new(const struct store_config *config, struct sqlite_store **ret_store,
                            cairn_error *reterr)
{
    struct sqlite_store *store = *ret_store = mem_zalloc(sizeof *store);
    if (!store)
        return fail_memory(reterr);
    sqlite_survive_forks();
    store->base = (struct store){.ops = &sqlite_store_ops, .clock = config->clock};
    identity_init(store);
    return read_url(config->url, store, reterr);
}

cairn_code sqlite_plan(const struct store_config *config, struct store_plan *ret_plan,
                       cairn_error *reterr)
{
    cleanup(close_storep) struct sqlite_store *store = NULL;
    cleanup(connection_closep) struct connection *connection = NULL;
    struct stat info;
    TRY(store_new(config, &store, reterr));
    store->lock_wait_ms = OPEN_WAIT_MS;
    bool is_absent = is_in_memory(store) || (stat(store->path, &info) < 0 && errno == ENOENT);
    if (!is_absent)
        TRY(connection_open(store, FOR_WRITING, &connection, reterr));
    return schema_plan(store, connection, config, ret_plan, reterr);
}

cairn_code sqlite_open(const struct store_config *asked, struct store **ret_store,
                       cairn_error *reterr)
{
    cleanup(close_storep) struct sqlite_store *store = NULL;
    struct store_config config = *asked;
    TRY(store_new(&config, &store, reterr));
    if (is_in_memory(store)) /* it can be nothing but new */
        config.no_create = config.no_migrate = false;
    TRY(check_presence(store, &config, reterr));

    cleanup(connection_closep) struct connection *connection = NULL;
    bool is_hasty = config.lock_wait_ms < OPEN_WAIT_MS;
    store->lock_wait_ms = is_hasty ? OPEN_WAIT_MS : config.lock_wait_ms;
    bool is_there = config.no_migrate || config.no_create;
    TRY(connection_open(store, is_there ? FOR_WRITING : FOR_CREATING, &connection, reterr));
    TRY(schema_prepare(store, connection, &config, reterr));
    TRY(identity_note(store, connection->db, reterr));

    store->lock_wait_ms = config.lock_wait_ms;
    connection->wait_us = (int64_t)config.lock_wait_ms * US_PER_MS;
    atomic_store(&store->spare, connection);
    connection = NULL;
    *ret_store = &store->base;
    store = NULL;
    return CAIRN_OK;
}

/* ---- Sessions ---------------------------------------------------------------------------- */

static int64_t read_data_version(struct sqlite_session *session)
{
    cleanup(query_end) struct query query = query_open(session, Q_DATA_VERSION, NULL);
    int64_t version = -1;
    query_int(&query, &version);
    return version;
}

bool sqlite_is_changed_elsewhere(struct store_session *base)
{
    struct sqlite_session *session = (struct sqlite_session *)base;
    if (!session->connection)
        return true;
    int64_t version = read_data_version(session);
    bool is_changed = version < 0 || version != session->data_version;
    session->data_version = version;
    return is_changed;
}

static void disconnect(struct sqlite_session *session)
{
    for (int i = 0; i < QUERY_NUMBER_COUNT; i++)
        statement_finalize(&session->statements[i]);
    for (int i = 0; i < INSERTS_MAX; i++)
        insert_done(&session->inserts[i]);
    statement_finalize(&session->loose_insert);
    known_free(session->known); /* its statements are the connection's */
    session->known = NULL;
    connection_close(session->connection);
    session->connection = NULL;
    session->is_lost = false;
}

/* The first writer takes the connection that opened the store. */
static cairn_code find_connection(struct sqlite_session *session, cairn_error *reterr)
{
    struct sqlite_store *store = (struct sqlite_store *)session->base.store;
    bool is_writer = session->base.kind == SESSION_WRITER;
    if (is_writer && !is_in_memory(store))
        session->connection = atomic_exchange(&store->spare, NULL);
    session->data_version = session->schema_version = -1;
    if (session->connection)
        return CAIRN_OK;
    return connection_open(store, is_writer ? FOR_WRITING : FOR_READING, &session->connection,
                           reterr);
}

static cairn_code connect_session(struct sqlite_session *session, cairn_error *reterr)
{
    TRY(find_connection(session, reterr));
    if (session->base.kind != SESSION_WRITER)
        return CAIRN_OK;
    session->known = known_new();
    if (known_watch(session->known, session->connection->db))
        return CAIRN_OK;
    known_free(session->known);
    session->known = NULL;
    known_watch(NULL, session->connection->db);
    return CAIRN_OK;
}

void sqlite_session_close(struct store_session *base)
{
    struct sqlite_session *session = (struct sqlite_session *)base;
    if (!session)
        return;
    disconnect(session);
    mem_free(session);
}

/* Closing a file here would drop the locks of connections that this process has opened since. */
void sqlite_forget(struct store *store, struct store_session *session)
{
    (void)store, (void)session;
}

cairn_code sqlite_session_open(struct store *store, enum session_kind kind,
                               struct store_session **ret_session, cairn_error *reterr)
{
    struct sqlite_session *session = mem_zalloc(sizeof *session);
    if (!session)
        return fail_memory(reterr);
    session->base = (struct store_session){.store = store, .kind = kind};
    cairn_code code = connect_session(session, reterr);
    if (code) {
        sqlite_session_close(&session->base);
        return code;
    }
    if (kind == SESSION_WRITER)
        session->data_version = read_data_version(session);
    *ret_session = &session->base;
    return CAIRN_OK;
}

/* ---- Transactions ------------------------------------------------------------------------ */

/* How long to wait for the lock: no longer than the caller has time. */
static int64_t lock_wait_us(const struct sqlite_session *session)
{
    const struct sqlite_store *store = (const struct sqlite_store *)session->base.store;
    int64_t wait_us = (int64_t)store->lock_wait_ms * US_PER_MS;
    int64_t left_us = session->base.deadline_us - monotonic_us();
    if (!session->base.deadline_us || left_us > wait_us)
        return wait_us;
    return left_us < 0 ? 0 : left_us;
}

/* Our own triggers serve plain SQL: a statement on a table that has triggers costs half as much again, whether they
 * do anything or not.  So a writer does itself what they would do, and runs without them, unless somebody has added one. */
static cairn_code heed_triggers(struct sqlite_session *session, cairn_error *reterr)
{
    int64_t version = -1, others = 0;
    cleanup(query_end) struct query look = query_open(session, Q_SCHEMA_VERSION, reterr);
    TRY(query_int(&look, &version));
    if (version == session->schema_version)
        return CAIRN_OK;
    cleanup(query_end) struct query count = query_open(session, Q_COUNT_OTHER_TRIGGERS, reterr);
    TRY(query_int(&count, &others));
    session->has_others = others > 0;
    sqlite3_db_config(session->connection->db, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                      session->has_others, NULL);
    session->schema_version = version;
    return CAIRN_OK;
}

/* What is looked at once a transaction that writes has begun.  In it the log is open, also one that SQLite has just
 * made. */
static cairn_code begun(struct sqlite_session *session, cairn_error *reterr)
{
    struct sqlite_store *store = (struct sqlite_store *)session->base.store;
    cairn_code code = identity_note(store, session->connection->db, reterr);
    if (!code)
        code = heed_triggers(session, reterr);
    if (code)
        connection_exec(session->connection, "ROLLBACK");
    return code;
}

cairn_code sqlite_begin(struct store_session *base, struct arena *arena,
                        struct store_tx **ret_tx, cairn_error *reterr)
{
    struct sqlite_session *session = (struct sqlite_session *)base;
    bool is_writer = base->kind == SESSION_WRITER;
    assert(!session->tx.session);

    if (session->is_lost)
        disconnect(session);
    const char *doing = is_writer ? "begin to write" : "begin to read";
    struct sqlite_store *store = (struct sqlite_store *)base->store;
    TRY(identity_check(store, doing, reterr));
    if (!session->connection)
        TRY(connect_session(session, reterr));
    session->connection->wait_us = lock_wait_us(session);
    cleanup(query_end) struct query query =
        query_open(session, is_writer ? Q_BEGIN_WRITE : Q_BEGIN_READ, reterr);
    TRY(query_run(&query));
    if (is_writer)
        TRY(begun(session, reterr));
    if (session->known)
        known_begin(session->known, read_data_version(session));
    if (session->has_others)
        known_forget(session->known);

    /* After the lock, which may have taken a while to get. */
    session->tx = (struct store_tx){
        .session = base, .arena = arena, .now_us = clock_now_us(base->store->clock)};
    session->log_id = 0;
    session->is_purging = false;
    *ret_tx = &session->tx;
    return CAIRN_OK;
}

/* SQLite has rolled back by itself after some errors. */
void sqlite_rollback(struct store_tx *tx)
{
    struct sqlite_session *session = sqlite_session_of(tx);
    sqlite3_progress_handler(session->connection->db, 0, NULL,
                             NULL); /* of sqlite_limit_time() */
    if (!sqlite3_get_autocommit(session->connection->db))
        connection_exec(session->connection, "ROLLBACK");
    known_forget(session->known);
    session->tx.session = NULL;
}

static cairn_code run_commit(struct sqlite_session *session, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_open(session, Q_COMMIT, reterr);
    return query_run(&query);
}

/* What a purge changes lies in many pages.  If it left them in the log, a commit of others would write them to the
 * file, and the time would not be counted as the purge's (engine/retention.c).  Nobody waits for it meanwhile. */
static void checkpoint(struct sqlite_session *session)
{
    sqlite3_wal_checkpoint_v2(session->connection->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL,
                              NULL);
}

cairn_code sqlite_commit(struct store_tx *tx, unsigned news, cairn_error *reterr)
{
    struct sqlite_session *session = sqlite_session_of(tx);
    (void)news; /* others watch the file */
    cairn_code code = run_commit(session, reterr);
    if (code)
        sqlite_rollback(tx);
    session->tx.session = NULL;
    if (code)
        return code;
    if (session->is_purging)
        checkpoint(session);
    /* A file that is gone by now has taken the commit with it, so it is not reported as done. */
    return identity_check((struct sqlite_store *)session->base.store, "commit", reterr);
}

#define ENTRY(name) .name = sqlite_##name,
const struct store_ops sqlite_store_ops = {
    .name = "sqlite", .writers = 1, STORE_FUNCTIONS(ENTRY)};
