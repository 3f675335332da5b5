/* store/store.h - the seam between the engine and a database.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A back end is one static const struct store_ops.  Its operations are domain verbs on sets of
 * rows, and it decides nothing: which status follows which is core's, when to begin and to
 * commit is the engine's.  What holds for all of them:
 *
 *   Errors    A database's error is sorted into a code: CAIRN_E_UNREACHABLE (gone; try again, on
 *             a new connection), CAIRN_E_BUSY (somebody holds a lock; try again),
 *             CAIRN_E_STORE_FULL, CAIRN_E_READ_ONLY, CAIRN_E_OUT_OF_MEMORY, CAIRN_E_STORE
 *             (anything else), with the database's own words in detail.  After any error in a
 *             transaction only rollback() may follow.
 *   Memory    Rows that are read live in the arena that tx->arena names at that call; the
 *             engine lets it point to another one for rows that outlive the transaction.  The
 *             caller's arrays of `room` entries are filled from the front.
 *   Time      tx->now_us is the time of the transaction.  A store never asks another clock and
 *             relies on no column default.
 *   Threads   A store may be shared; a session belongs to one thread at a time.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/arena.h"
#include "base/clock.h"
#include "cairn.h"
#include "core/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An open back end.  Each back end's own struct begins with this. */
struct store {
    const struct store_ops *ops;
    struct clock *clock; /* the engine's: the time, unless the store has its own (PostgreSQL) */
};

enum session_kind { SESSION_WRITER, SESSION_READER };

/* A connection. */
struct store_session {
    struct store *store;
    enum session_kind kind;
};

/* What happens between begin and commit. */
struct store_tx {
    struct store_session *session;
    struct arena *arena;
    int64_t
        now_us; /* set by begin(); lock_jobs() may move it on, since locks take time to get */
};

struct store_config {
    const char *url;     /* with its scheme, as the user gave it */
    struct clock *clock; /* outlives the store */
    bool no_migrate;
    uint32_t lock_wait_ms; /* how long a transaction may wait for somebody else's lock */
};

enum insert_result {
    INSERT_DONE,     /* the row is new */
    INSERT_EXISTING, /* its key was known: row->id is now the id of the job it stands for */
    INSERT_AGAIN     /* its very id is there: an earlier try had been committed after all */
};

enum lock_result {
    LOCK_DONE,   /* read and locked */
    LOCK_ABSENT, /* no such job */
    LOCK_BUSY    /* there, but somebody else holds it at this moment */
};

/* Who wants which jobs. */
struct job_claim {
    const char *worker, *token;
    const char *const *patterns; /* exact types, and prefixes that end in % */
    size_t pattern_count;
    const char *runtime; /* NULL: any */
    int64_t lease_until_us;
};

struct job_event_row {
    int64_t id;
    const char *job_id;
    enum job_event type;
    const char *type_name; /* when read: the word in the row, which may be a foreign one */
    const char *data;      /* JSON */
    int64_t at_us;
};

struct job_filter {
    enum job_status status; /* JOB_NONE: any */
    const char *pattern;    /* NULL: any */
    const char *key;        /* NULL: any */
    int64_t before_seq;     /* 0: from the newest */
};

struct registry_row {
    const char *name, *intent_type, *runtime, *description;
    bool is_enabled;
    int64_t created_at_us, updated_at_us;
};

struct job_counts {
    uint64_t pending, ready, leased;
    int64_t oldest_ready_us; /* run_at of the due job that has waited longest; 0: none */
};

/* What doctor wants to know. */
struct store_facts {
    char product[96]; /* "SQLite 3.40.1", "PostgreSQL 15.8 (pooled)" */
    int schema_version, newest_schema_version;
    int64_t clock_us;        /* the database's clock now; 0: it has none of its own */
    uint64_t expired_leases; /* leased, though lease_until has passed */
    uint64_t size_bytes;     /* 0: unknown */
    char settings[128];      /* such as "journal_mode=wal synchronous=full"; "" for none */
    bool is_intact;          /* the database's own quick check passed */
    char damage[192];        /* if not: its words */
};

struct store_ops {
    const char *name; /* "sqlite" */

    /* ---- opening ------------------------------------------------------------------------- */

    /* Connects, checks, and brings the tables up to date unless told not to. */
    cairn_code (*open)(const struct store_config *config, struct store **ret_store,
                       cairn_error *reterr);
    void (*close)(struct store *store); /* all sessions are closed before */

    cairn_code (*session_open)(struct store *store, enum session_kind kind,
                               struct store_session **ret_session, cairn_error *reterr);
    void (*session_close)(struct store_session *session);

    /* How many writers at once are of use: SQLite 1, PostgreSQL a few. */
    int writers;

    /* ---- transactions -------------------------------------------------------------------- */

    /* Begins, and reads the time.  Reconnects by itself if the connection was lost before. */
    cairn_code (*begin)(struct store_session *session, struct arena *arena,
                        struct store_tx **ret_tx, cairn_error *reterr);

    /* Ends tx, whatever it returns.  CAIRN_E_UNREACHABLE: nobody knows whether it was
     * committed. is_ready_made: jobs became claimable, so tell other processes. */
    cairn_code (*commit)(struct store_tx *tx, bool is_ready_made, cairn_error *reterr);
    void (*rollback)(struct store_tx *tx);

    /* ---- changes (writers only) ---------------------------------------------------------- */

    /* Inserts rows in order; all fields but seq are given.  Keys may repeat within the call:
     * the first wins.  Writes no event. */
    cairn_code (*insert_jobs)(struct store_tx *tx, struct job_row *rows, size_t count,
                              enum insert_result *ret_results, cairn_error *reterr);

    /* Reads rows for change: everything but payload and result.  The ids are valid, sorted and
     * without repeats; result i belongs to id i.  Never waits for a lock: LOCK_BUSY instead,
     * unless `may_wait`: then at most lock_wait_ms, and CAIRN_E_BUSY after that. */
    cairn_code (*lock_jobs)(struct store_tx *tx, const char *const *ids, size_t count,
                            bool may_wait, struct job_row *ret_rows,
                            enum lock_result *ret_results, cairn_error *reterr);

    /* Reads and locks leased rows whose lease_until < now, the earliest first, skipping rows
     * that others hold.  Deleted or not. */
    cairn_code (*lock_expired_jobs)(struct store_tx *tx, struct job_row *ret_rows, size_t room,
                                    size_t *ret_count, cairn_error *reterr);

    /* Writes what may change of rows that this transaction has locked: all but seq, id, type,
     * payload, key, priority, max_attempts and created_at; result only if it is not NULL. */
    cairn_code (*update_jobs)(struct store_tx *tx, const struct job_row *rows, size_t count,
                              cairn_error *reterr);

    /* Leases what is due and matches, lowest (priority, seq) first, and returns it whole, in
     * that order, as leased.  Left out: deleted rows, rows that others hold, types that the
     * registry disables or, if the claim names a runtime, gives to another.  Does not scan a
     * backlog. */
    cairn_code (*claim_jobs)(struct store_tx *tx, const struct job_claim *claim,
                             struct job_row *ret_rows, size_t room, size_t *ret_count,
                             cairn_error *reterr);

    /* The jobs now leased under this worker and token: what a claim took whose commit nobody
     * knew the end of.  In the claim's order; whole. */
    cairn_code (*find_claimed)(struct store_tx *tx, const char *worker, const char *token,
                               struct job_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr);

    /* Marks pending rows ready whose run_at <= now, at most `limit`, earliest first. */
    cairn_code (*promote_jobs)(struct store_tx *tx, size_t limit, size_t *ret_count,
                               cairn_error *reterr);

    /* Appends to the audit trail, in order, at tx->now_us. */
    cairn_code (*append_events)(struct store_tx *tx, const struct job_event_row *events,
                                size_t count, cairn_error *reterr);

    /* New, or in place of the entry of that name (created_at is kept). */
    cairn_code (*put_registry)(struct store_tx *tx, const struct registry_row *row,
                               cairn_error *reterr);

    /* ---- questions (any session) --------------------------------------------------------- */

    /* When the next timer is due: the earliest run_at of a pending row that is not ready, or
     * lease_until of a leased one plus 1 us.  0: never.  May be in the past. */
    cairn_code (*next_due)(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr);

    /* Whole, deleted or not.  CAIRN_E_NOT_FOUND, with reterr as it was. */
    cairn_code (*get_job)(struct store_tx *tx, const char *id, struct job_row *ret_row,
                          cairn_error *reterr);

    /* Newest first, deleted ones left out; whole. */
    cairn_code (*list_jobs)(struct store_tx *tx, const struct job_filter *filter,
                            struct job_row *ret_rows, size_t room, size_t *ret_count,
                            cairn_error *reterr);

    /* Events of a job after the one with id `after` (0: all), oldest first. */
    cairn_code (*list_events)(struct store_tx *tx, const char *job_id, int64_t after,
                              struct job_event_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr);

    /* CAIRN_E_NOT_FOUND, with reterr as it was. */
    cairn_code (*get_registry)(struct store_tx *tx, const char *name,
                               struct registry_row *ret_row, cairn_error *reterr);

    /* Entries whose name is greater than `after` (NULL: all), in order of name. */
    cairn_code (*list_registry)(struct store_tx *tx, const char *after,
                                struct registry_row *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr);

    cairn_code (*count_jobs)(struct store_tx *tx, struct job_counts *ret_counts,
                             cairn_error *reterr);

    /* Types of unfinished jobs and of registry entries, in order, at most `room`. */
    cairn_code (*list_types)(struct store_tx *tx, const char **ret_types, size_t room,
                             size_t *ret_count, cairn_error *reterr);

    cairn_code (*inspect)(struct store_tx *tx, struct store_facts *ret_facts,
                          cairn_error *reterr);

    /* ---- other processes ----------------------------------------------------------------- */

    /* Blocks until somebody else may have changed the store, or stop_fd becomes readable, or
     * timeout_ms (-1: none) passes; NULL if nobody else can change this store.  The engine
     * calls it from one thread of its own, while there is somebody to wake.  Returns true when
     * it is worth looking; a store without news (a lost connection, a pooler) returns true now
     * and then, which is the poll. */
    bool (*watch)(struct store *store, int stop_fd, int timeout_ms);

    /* Whether anybody but this session has committed since it was last asked (true when
     * unsure). Writers only, outside a transaction. */
    bool (*is_changed_elsewhere)(struct store_session *session);
};

extern const struct store_ops sqlite_store_ops, postgres_store_ops, memory_store_ops;

/* Opens the back end that the URL names: sqlite: postgres: postgresql: memory:. */
cairn_code store_open(const struct store_config *config, struct store **ret_store,
                      cairn_error *reterr);

#endif
