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

#include "base/buf.h"
#include "store/sqlite/sqlite_query.h"
#include "store/store.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/types.h>

#define PROTOTYPE(name) store_##name##_fn sqlite_##name;
STORE_FUNCTIONS(PROTOTYPE)
#undef PROTOTYPE

/* ---- A connection (connection.c) --------------------------------------------------------- */

/* SQLite's handle, and how long it may wait for a lock. */
struct connection {
    struct sqlite_store *store;
    sqlite3 *db;
    int64_t wait_us, give_up_us;
    int64_t read_until_us; /* monotonic: see sqlite_limit_time() */
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

/* fork.c: before the first connection is opened. */
void sqlite_survive_forks(void);

/* ---- Whether the files are still in their places (identity.c) ---------------------------- */

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

/* The text that a statement answers; "": none. */
void connection_text(struct connection *connection, const char *sql, char *ret_text,
                     size_t room);

/* What a refusal by SQLite means, told as "could not `what`". */
cairn_code sqlite_refused(const char *path, sqlite3 *db, int rc, const char *what,
                          cairn_error *reterr);

/* Whether after this refusal the connection is of no more use. */
bool sqlite_is_lost(int rc);

/* ---- Tables (schema.c) ------------------------------------------------------------------- */

int schema_newest(void);

/* The version in the file: 0 for none, -1 when it cannot be read. */
int schema_version(struct connection *connection);

/* Checks that the file is a database we may use and, unless told not to, brings its tables up
 * to date.  Refusals leave the file as it was. */
cairn_code schema_prepare(struct sqlite_store *store, struct connection *connection,
                          const struct store_config *config, cairn_error *reterr);

/* What that would do to the tables; connection NULL: there is no file yet.  Only reads. */
cairn_code schema_plan(struct sqlite_store *store, struct connection *connection,
                       const struct store_config *config, struct store_plan *ret_plan,
                       cairn_error *reterr);

/* ---- Statements (query.c) ---------------------------------------------------------------- */

/* A statement of a session, prepared at first use. */
struct statement {
    sqlite3_stmt *handle;
    int now;                          /* the parameter :now; 0: none */
    const struct column **results;    /* row.c: the column that each result is */
    const struct column **parameters; /* and each parameter; NULL: none */
};

enum { INSERTS_MAX = 8, INSERT_SIZES = 4, INSERT_HEAD = 2 };

/* The INSERTs of rows that have values in a set of columns, for some numbers of rows (insert.c). */
struct insert {
    const struct row_type *type; /* NULL: none */
    uint64_t columns;            /* by bits, as in the row's description */
    uint64_t common;             /* those that had one value in each call */
    struct statement statements[INSERT_SIZES];
};

struct sqlite_session {
    struct store_session base;
    struct connection *connection; /* NULL: lost; begin() opens another */
    struct statement statements[QUERY_NUMBER_COUNT];
    struct insert inserts[INSERTS_MAX];
    size_t next_insert;            /* to be replaced */
    struct statement loose_insert; /* of many events */
    int64_t data_version;          /* as is_changed_elsewhere() last saw it */
    int64_t schema_version;        /* of the triggers that were looked at; -1: none yet */
    bool has_others;          /* triggers of somebody else, which may change what we write */
    struct store_tx tx;       /* a session has one at a time */
    struct known_rows *known; /* known.h, of a writer; NULL: none */
    int64_t log_id;  /* the latest number of a row of the log that it was given; 0: none */
    bool is_purging; /* in this transaction: its commit makes a checkpoint */
    bool is_lost;
};

struct sqlite_session *sqlite_session_of(struct store_tx *tx);

void statement_finalize(struct statement *statement);

/* A statement in use.  Errors are kept: bind all parameters, read all results, and look at the code
 * at the end. */
struct query {
    struct sqlite_session *session;
    struct statement *statement;
    sqlite3_stmt *handle;
    struct arena *arena; /* for the results */
    cairn_error *reterr;
    const char *doing; /* completes "could not ..." */
    int rc;
};

/* Binds :now to the time of the transaction. */
struct query query_begin(struct store_tx *tx, enum query_number number, cairn_error *reterr);

/* The same outside of a transaction, and without :now. */
struct query query_open(struct sqlite_session *session, enum query_number number,
                        cairn_error *reterr);
void query_end(struct query *query); /* for cleanup(): ready to be used again */

int query_step(struct query *query); /* SQLITE_ROW, SQLITE_DONE or an error */
cairn_code query_refused(struct query *query);

/* After the last row that was wanted: whether all went well. */
cairn_code query_ended(struct query *query);

/* Runs a statement that answers no row. */
cairn_code query_run(struct query *query);
cairn_code query_change(struct query *query, size_t *ret_count); /* says how many it changed */

/* Steps to the only row.  CAIRN_E_NOT_FOUND, with reterr as it was. */
cairn_code query_find(struct query *query);
cairn_code query_int(struct query *query, int64_t *ret_value); /* its first result; NULL is 0 */

/* Parameters by name.  Those that are not bound are NULL. */
void bind_text(struct query *query, const char *name, const char *text); /* NULL stays NULL */
void bind_int(struct query *query, const char *name, int64_t value);
void bind_size(struct query *query, const char *name, size_t size);
void bind_bytes(struct query *query, const char *name,
                const struct buf *bytes);                              /* empty: NULL */
void bind_place(struct query *query, const char *name, int32_t place); /* -1 is NULL */

/* :instance_id, if there is one, and :after. */
void bind_page(struct query *query, const char *instance_id, int64_t after);

/* By number, from 1.  Looking up many names takes longer than many a statement. */
void bind_text_at(struct query *query, int parameter, const char *text);
void bind_int_at(struct query *query, int parameter, int64_t value);

/* A result, copied into the arena; NULL stays NULL. */
const char *result_text(struct query *query, int column);

/* Binds :room, and reads rows that are one text each. */
cairn_code texts_read(struct query *query, const char **ret_texts, size_t room,
                      size_t *ret_count);

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
void bind_types(struct query *query, const char *pattern);

/* ---- Whole rows (row.c) ------------------------------------------------------------------ */

/* What the table has for a member. */
struct column_value {
    const char *text; /* NULL: it is a number, or NULL */
    int64_t number;
    bool is_null;
};

struct column_value column_value(const struct column *column, const void *row);

/* Binds a parameter, from 1, to it. */
void column_bind(struct query *query, int parameter, const struct column *column,
                 const void *row);

/* Binds the parameters that are named like columns of the row. */
void row_bind(struct query *query, const struct row_type *type, const void *row);

/* Reads the row that the query has stepped to; results are named like columns. */
void row_read(struct query *query, const struct row_type *type, void *ret_row);
cairn_code row_find(struct query *query, const struct row_type *type, void *ret_row);

/* Binds :room, and reads all rows. */
cairn_code rows_read(struct query *query, const struct row_type *type, void *ret_rows,
                     size_t room, size_t *ret_count);

/* Runs a statement that writes one row, for each of them. */
cairn_code rows_write(struct store_tx *tx, enum query_number number,
                      const struct row_type *type, const void *rows, size_t count,
                      cairn_error *reterr);

/* How rows are inserted that may be there already, and those that are there are found. */
struct row_insert {
    const struct row_type *type;
    enum query_number insert, find;
    enum query_number is_kept; /* whether the key of one that was purged is kept */
    const char *kind;          /* as workflow_tag has it */
    size_t seq_offset, id_offset, key_offset, tags_offset;
};

/* Inserts rows, and their tags, unless their id or key is known.  Sets seq, and the id to the known one's. */
cairn_code rows_insert(struct store_tx *tx, const struct row_insert *how, void *rows,
                       size_t count, enum insert_result *ret_results, cairn_error *reterr);

/* How many rows are inserted by few statements (insert.c). */
struct insert_how {
    const struct row_type *type;
    const char *head[INSERT_HEAD]; /* numbers that are no members of a row; NULL: no more */
    int64_t (*head_value)(const void *row, size_t i);
    bool (*is_left_out)(const struct column *column); /* NULL: none is */
    const char *tail, *doing;
};

void insert_done(struct insert *insert);

/* ret_inserted: of all rows; fewer than `count` only if how->tail says what is passed over. */
cairn_code insert_rows(struct store_tx *tx, const struct insert_how *how, const void *rows,
                       size_t count, size_t *ret_inserted, cairn_error *reterr);

/* The id of a step is its instance's number << PLACE_BITS | its place, also in SQL. */
enum { PLACE_BITS = 20, PLACES_MAX = 1 << PLACE_BITS };

/* ---- Watching (watch.c) ------------------------------------------------------------------ */

void watch_free(struct watch *watch); /* may be NULL */

/* ---- Lanes (claim.c, lane.c) ------------------------------------------------------------- */

/* Leases jobs that were read in this transaction, in this order; those that are not due are left out. */
cairn_code sqlite_lease_jobs(struct store_tx *tx, const struct job_claim *claim,
                             const struct job_row *found, size_t found_count,
                             struct job_row *ret_rows, size_t *ret_count, cairn_error *reterr);

/* Whether a type has lanes that this runtime may claim. */
cairn_code sqlite_is_laned(struct store_tx *tx, const char *type, const char *runtime,
                           bool *ret_is_laned, cairn_error *reterr);

#endif
