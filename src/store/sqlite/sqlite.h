/* store/sqlite/sqlite.h - what the files of the SQLite back end share.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file in WAL mode, written by one connection at a time (BEGIN IMMEDIATE) and read by others.
 * SQLite has a single writer, so a transaction that writes holds a lock on all rows.
 *
 * The URL memory: is SQLite's own database in memory (its VFS "memdb"), which the connections of
 * one store share.  It has no log and no other process; a writer waits for readers, and readers
 * for the writer.
 */
#ifndef STORE_SQLITE_SQLITE_H
#define STORE_SQLITE_SQLITE_H

#include "store/sqlite/sqlite_query.h"
#include "store/sqlite/sqlite_verbs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/types.h>

/* ---- A connection (connection.c) ------------------------------------------------------------
 */

/* SQLite's handle, and how long it may wait for a lock. */
struct connection {
    struct sqlite_store *store;
    sqlite3 *db;
    int64_t wait_us, give_up_us;
};

/* Which file stands under a name. */
struct file_identity {
    bool is_known;
    dev_t device;
    ino_t inode;
};

struct sqlite_store {
    struct store base;
    char *path;           /* absolute; of a store in memory its URL */
    char memory_name[32]; /* SQLite's name of a store in memory; "" for a file */
    char *log_path;       /* of the -wal file, as SQLite names it */

    /* The files that are open, as found under these names when they were opened.  If others stand
     * there now, or none, what is written would be lost. */
    pthread_mutex_t identity_lock; /* guards the three below */
    struct file_identity file, log;
    int connection_count; /* without any SQLite removes the log, and makes another one */
    uint32_t lock_wait_ms;
    int64_t max_page_count; /* 0: no limit but SQLite's own */

    /* The connection that opened the store.  The first writer takes it over, unless the store is in
     * memory, which ends with its last connection. */
    _Atomic(struct connection *) spare;

    struct watch *watch; /* made by the first call of watch(); its thread's alone */
};

bool is_in_memory(const struct sqlite_store *store);

enum connection_use { FOR_WRITING, FOR_READING, FOR_CREATING };

/* Opens the file; only FOR_CREATING makes one.  Waits for locks up to lock_wait_ms. */
cairn_code connection_open(struct sqlite_store *store, enum connection_use use,
                           struct connection **ret_connection, cairn_error *reterr);
void connection_close(struct connection *connection); /* may be NULL */
void connection_closep(struct connection **connection);

/* ---- Whether the files are still in their places (identity.c) ------------------------------- */

void identity_init(struct sqlite_store *store);
void identity_done(struct sqlite_store *store);

void identity_opened(struct sqlite_store *store); /* a connection; counted */
void identity_closed(struct sqlite_store *store); /* likewise */

/* Remembers the files, if that was not done yet.  A connection must have the log open. */
cairn_code identity_note(struct sqlite_store *store, sqlite3 *db, cairn_error *reterr);

/* CAIRN_E_UNREACHABLE if the file or its log was removed or replaced since.  `what` completes
 * "could not ...". */
cairn_code identity_check(struct sqlite_store *store, const char *what, cairn_error *reterr);

/* Runs statements that answer nothing; SQLite's code. */
int connection_exec(struct connection *connection, const char *sql);

/* The integer that a statement answers; `otherwise` if it answers none. */
int64_t connection_int(struct connection *connection, const char *sql, int64_t otherwise);

/* Whether a statement answers this text. */
bool connection_answers(struct connection *connection, const char *sql, const char *text);

/* What a refusal by SQLite means, told as "could not `what`". */
cairn_code sqlite_refused(const char *path, sqlite3 *db, int rc, const char *what,
                          cairn_error *reterr);

/* Whether after this refusal the connection is of no more use. */
bool sqlite_is_lost(int rc);

/* ---- Tables (schema.c) ----------------------------------------------------------------------
 */

int schema_newest(void);

/* The version in the file: 0 for none, -1 when it cannot be read. */
int schema_version(struct connection *connection);

/* Checks that the file is a database we may use and, unless told not to, brings its tables up
 * to date.  Refusals leave the file as it was. */
cairn_code schema_prepare(struct sqlite_store *store, struct connection *connection,
                          const struct store_config *config, cairn_error *reterr);

/* ---- Statements (query.c) -------------------------------------------------------------------
 */

struct sqlite_session {
    struct store_session base;
    struct connection *connection;                /* NULL: lost; begin() opens another */
    sqlite3_stmt *statements[QUERY_NUMBER_COUNT]; /* prepared at first use */
    int64_t data_version;                         /* as is_changed_elsewhere() last saw it */
    struct store_tx tx;                           /* a session has one at a time */
    bool is_lost;
};

/* A statement in use.  Errors are kept: bind as you like, then look at query_step(). */
struct query {
    struct sqlite_session *session;
    sqlite3_stmt *statement;
    int rc;
};

struct query query_begin(struct sqlite_session *session, enum query_number number);
void query_end(struct query *query); /* for cleanup(): ready to be used again */
int query_step(struct query *query); /* SQLITE_ROW, SQLITE_DONE or an error */
cairn_code query_refused(struct query *query, const char *what, cairn_error *reterr);

/* After the last row that was wanted: whether all went well. */
cairn_code query_ended(struct query *query, const char *what, cairn_error *reterr);

/* Runs a statement that answers no row. */
cairn_code query_run(struct query *query, const char *what, cairn_error *reterr);

void bind_text(struct query *query, const char *name, const char *text); /* NULL stays NULL */
void bind_int(struct query *query, const char *name, int64_t value);
void bind_time(struct query *query, const char *name, int64_t us); /* 0 is NULL */
void bind_size(struct query *query, const char *name, size_t size);
void bind_place(struct query *query, const char *name, int32_t place); /* -1 is NULL */

/* Parameters of a long statement in the order of their first appearance; looking each up by its
 * name would take longer than many a statement. */
struct row_writer {
    struct query *query;
    int parameter; /* the latest one */
};

void write_text(struct row_writer *writer, const char *text); /* NULL stays NULL */
void write_int(struct row_writer *writer, int64_t value);
void write_time(struct row_writer *writer, int64_t us);     /* 0 is NULL */
void write_place(struct row_writer *writer, int32_t place); /* -1 is NULL */
void write_end(struct row_writer *writer);                  /* all must have been written */

/* Types in bytewise order, from one up to but not including another (NULL: to the end). */
struct type_range {
    const char *from, *below;
};

/* The types that a pattern means, its texts made in the arena; false: memory ran out. */
bool type_range(const char *pattern, struct arena *arena, struct type_range *ret_range);

/* The least type that is greater; NULL: memory ran out. */
char *type_after(const char *type, struct arena *arena);

/* As :from and :below; a NULL pattern means all. */
void bind_type_range(struct query *query, struct type_range range);
void bind_types(struct query *query, const char *pattern, struct arena *arena);

/* Columns of a row, copied into an arena. */
struct row_reader {
    struct query *query;
    struct arena *arena;
    int column;  /* the next one */
    bool failed; /* memory ran out */
};

const char *read_text(struct row_reader *reader);
int64_t read_int(struct row_reader *reader);   /* NULL is 0 */
int32_t read_place(struct row_reader *reader); /* NULL is -1 */

/* ---- Verbs ----------------------------------------------------------------------------------
 */

struct sqlite_session *sqlite_session_of(struct store_tx *tx);

/* Reads all rows of a query that selects the columns of a job. */
cairn_code read_job(struct query *query, struct arena *arena, struct job_row *ret_row,
                    cairn_error *reterr);
cairn_code read_jobs(struct query *query, struct store_tx *tx, const char *what,
                     struct job_row *ret_rows, size_t room, size_t *ret_count,
                     cairn_error *reterr);

/* A line of the audit trail, a job's or an instance's. */
struct event_line {
    const char *subject, *type, *step, *data;
};
cairn_code append_lines(struct store_tx *tx, struct event_line (*line_of)(const void *, size_t),
                        const void *events, size_t count, cairn_error *reterr);

void watch_free(struct watch *watch); /* may be NULL */

#endif
