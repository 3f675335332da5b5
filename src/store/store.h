/* store/store.h - the interface between the engine and a database.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A back end is one struct store_ops.  Its functions, the verbs, are described in spec/verbs.txt.  They
 * work on sets of rows and decide nothing: core decides which status follows which, and the engine
 * decides when to begin and to commit.  These rules hold for all verbs:
 *
 *   Errors    A database's error is sorted into a code: CAIRN_E_UNREACHABLE (gone; try again on a new
 *             connection), CAIRN_E_BUSY (another transaction holds a lock; try again),
 *             CAIRN_E_STORE_FULL, CAIRN_E_READ_ONLY, CAIRN_E_OUT_OF_MEMORY, CAIRN_E_STORE (anything
 *             else), with the database's own message in detail.  After any error in a transaction only
 *             rollback() may follow.
 *   Memory    Rows that are read live in the arena that tx->arena names at that call; the engine
 *             changes it for rows that outlive the transaction.  Arrays of `room` entries are filled
 *             from the front.
 *   Time      tx->now_us is the time of the transaction.  A store uses no other clock and no column
 *             default.
 *   Threads   A store may be shared; a session belongs to one thread at a time.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/arena.h"
#include "base/clock.h"
#include "cairn.h"
#include "core/claim_order.h"
#include "core/instance.h"
#include "core/job.h"
#include "core/pattern.h"
#include "core/tag.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MIGRATIONS_MAX = 64 };

/* An event's id is the number of a row of the log << EVENT_SLOT_BITS | its slot in that row. */
enum { EVENT_SLOT_BITS = 12, EVENT_SLOTS = 1 << EVENT_SLOT_BITS };

/* From here on an id is open: of the row of the log that a transaction was given with its begin, whose
 * number the database has not told yet.  EVENT_OPEN | slot; greater than all other ids. */
#define EVENT_OPEN (INT64_C(1) << 62)

/* The version of the tables when the store was opened, and the migrations that were applied. */
struct store_schema {
    int from, to;                        /* versions; 0: there were no tables */
    const char *applied[MIGRATIONS_MAX]; /* names of the migrations that this open applied */
    size_t applied_count;
};

/* An index that is built before a migration, while work goes on. */
struct store_ahead {
    const char *schema, *index; /* NULL ends a list */
    const char *sql;
};

/* A migration of the tables, made from its file. */
struct store_migration {
    int number;
    int oldest; /* programs that know the tables up to this version may still work on them; 0: no earlier one */
    const char *name; /* "0013_pauses" */
    const char *does; /* what it is for */
    const char
        *locks; /* which tables others wait for, and how long; "": the store says it itself */
    const char *sql;
    const char *first; /* what the indexes ahead need; executed by `sql` again; NULL: nothing */
    const struct store_ahead *ahead; /* NULL: none */
};

/* What opening a store would do to its tables. */
struct store_plan {
    int from, to; /* as in struct store_schema */
    const struct store_migration *migrations;
    size_t count;
};

/* Whether a program that knows tables up to `newest` may work on later ones, whose migrations beyond that want programs that know
 * `oldest` at least.  If not, says why. */
cairn_code store_check_later(const char *where, int version, int newest, int oldest,
                             cairn_error *reterr);

/* The plan for tables of this version. */
struct store_plan store_plan_from(int version, const struct store_migration *all, size_t count);

/* An open back end.  Each back end's own struct begins with this. */
struct store {
    const struct store_ops *ops;
    struct clock *clock; /* the engine's: the time, unless the store has its own (PostgreSQL) */
    struct store_schema schema;
    int stop_fd; /* readable once the engine closes, so that no wait lasts long then; 0: none */

    /* Whether watch() is to be told of ends by others.  wake_fd, an eventfd, becomes readable when that
     * may have changed, and a watch() for which it matters returns; 0: none. */
    atomic_bool are_ends_wanted;
    int wake_fd;

    _Atomic int64_t met_us; /* monotonic: when another process was last in a claim's way */
};

/* What a commit tells other processes, and what watch() has learned from them.  The notice of a commit says
 * which it is, and those who wait for another kind are not woken. */
enum store_news {
    NEWS_READY = 1 << 0, /* something can be claimed, or a timer was set */
    NEWS_ENDS = 1 << 1,  /* a job or an instance has ended */
    NEWS_HEARING =
        1
        << 2, /* of watch(): from now on commits tell of ends; one that had all but ended may not have */
    NEWS_ALL = NEWS_READY | NEWS_ENDS
};

enum session_kind { SESSION_WRITER, SESSION_READER };

/* A connection. */
struct store_session {
    struct store *store;
    enum session_kind kind;

    /* Monotonic, set before begin(), which fails with CAIRN_E_UNREACHABLE if it has not begun by then.
     * After that a store that is silent for lock_wait_ms and a second is given up.  0: only the
     * store's own limits. */
    int64_t deadline_us;

    uint64_t round_trips; /* to the database, so far; 0 where there is no way to it */
};

/* A transaction, between begin and commit. */
struct store_tx {
    struct store_session *session;
    struct arena *arena;
    int64_t
        now_us; /* set by begin(); a verb may move it on, since locks and networks take time */

    /* The first id of a row of the log that came with begin(), which need not be asked for: EVENT_OPEN
     * until it is known, 0: there is none.  Whoever uses it says so. */
    int64_t own_event;
    bool is_own_used;

    /* Where the store has lock_flow(): if it is wanted, commit() tells the version of the rows of instances that
     * this transaction has written.  0: it has not told. */
    bool is_version_wanted;
    int64_t row_version;
};

struct store_config {
    const char *url;     /* with its scheme, as the user gave it */
    struct clock *clock; /* outlives the store */
    bool no_migrate;
    bool no_create;        /* do not make tables, or a file, where there are none */
    uint32_t lock_wait_ms; /* how long a transaction may wait for the lock of another one */
};

enum insert_result {
    INSERT_DONE,     /* the row is new */
    INSERT_EXISTING, /* its key is known: row->id is now the id of the existing job */
    INSERT_AGAIN     /* its id exists: an earlier try was committed after all */
};

enum lock_result {
    LOCK_DONE,   /* read and locked */
    LOCK_ABSENT, /* no such job */
    LOCK_BUSY    /* it exists, but another transaction holds it */
};

/* An instance whose row is known.  Every write makes a new version of a row, whoever writes. */
struct known_instance {
    const char *id;
    int64_t version;
    bool with_runner;    /* the step at place 0 is to be locked as well */
    bool is_held;        /* the answer: locked, and still of this version */
    bool is_runner_held; /* that step is locked, and no limit counts its lease */
};

/* What lock_flow() locks, and where the answers go. */
struct flow_lock {
    struct known_instance *known; /* not read */
    size_t known_count;

    const char *const *ids; /* instances to be read; as in lock_instances() */
    size_t count;
    struct instance_row *rows;
    enum lock_result *results;

    const struct step_ref *refs; /* sorted, each once */
    size_t ref_count;
    struct step_row *steps;
    bool *is_found;
};

/* The worker that leases a row. */
struct claim_holder {
    const char *worker, *token;
};

/* A claim of jobs. */
struct job_claim {
    const char *worker, *token;

    /* Several claims that are alike, made together: one holder for each row that there is room for,
     * instead of worker and token.  NULL: these for all. */
    const struct claim_holder *holders;

    const char *const *patterns; /* exact types, and prefixes that end in % */
    size_t pattern_count;
    const char *runtime; /* NULL: any */
    int64_t lease_until_us;
    int64_t event_id;    /* jobs: an id for the first event of the claim; enough follow it */
    int32_t events_each; /* jobs: how many events each has of it; 0: none */
    bool is_final;  /* nobody asks again soon: nothing that can be claimed may be overlooked */
    bool *is_laned; /* set if types were left out that have lanes; may be NULL */
};

/* The tasks of one type and group that can be claimed.  Groups of a type take turns. */
struct lane {
    const char *type, *group;
    size_t quota;        /* of a claim: how many may be leased */
    bool is_counted;     /* a limit counts them */
    int32_t first, last; /* steps: the versions that are meant */
    bool is_void;        /* steps: there are others, but none of these versions */
};

/* Groups, both ends included; to NULL: all that follow. */
struct lane_range {
    const char *from, *to;
};

/* How many leases count of a type and group; or a turn: the group that was served last. */
struct lane_use {
    const char *type; /* NULL: a turn */
    const char *group;
    int64_t count; /* of a turn its number */
};

/* When the next timer is due; 0: never. */
struct due_times {
    int64_t job_us, flow_us;
};

static inline int64_t due_first(const struct due_times *due)
{
    bool is_flow = !due->job_us || (due->flow_us && due->flow_us < due->job_us);
    return is_flow ? due->flow_us : due->job_us;
}

enum list_kind { LIST_JOBS, LIST_INSTANCES };

/* Which jobs or instances a list shows.  A zeroed filter shows all. */
struct list_filter {
    uint32_t statuses;      /* STATUS_BIT() of each that is wanted; 0, and that of NONE: any */
    const char *workflow;   /* of instances; NULL: any */
    int32_t version;        /* of instances; 0: any */
    const char *pattern;    /* of jobs: a type, or a prefix that ends in %; NULL: any */
    const char *key;        /* a key, or a prefix that ends in %; NULL: any */
    const char *q;          /* an id, a key, or the beginning of one; NULL: any */
    const char *const *ids; /* only these; NULL: any */
    size_t id_count;        /* at most LIST_IDS_MAX */
    const struct tag *tags; /* only those that have all of these */
    size_t tag_count;       /* at most TAGS_MAX */
    const char *parent;     /* of instances: only its children; NULL: any */
    bool is_root;           /* of instances: only those without a parent */
    enum stand stand;       /* of instances: only those that stand so; NONE: any */
    const char *has;        /* a text in the payload, the input or the last error; NULL: any */
    const char *group;      /* of its error, see core/error_group.h; NULL: any */
    enum { DUE_ANY, DUE_NOW, DUE_LATER } due; /* of pending jobs */
    int64_t from_us, to_us; /* created in this time, both ends included; 0: any */
    int64_t before_seq;     /* 0: from the newest */
    size_t scan_max;        /* how many numbers are looked at; 0: LIST_SCAN_MAX */
    bool is_row; /* payloads are not wanted, but how they begin and how long they are */
};
enum { LIST_IDS_MAX = 100 };
#define STATUS_BIT(status) (UINT32_C(1) << (status))

/* With is_row: the bytes of a payload or an input that are read. */
enum { PREVIEW_BYTES = 120 };

/* Numbers in an order: of one status, and of one workflow if the status is given; or those that have a
 * tag, whatever else. */
struct list_walk {
    enum list_kind kind;
    int status;            /* of the kind; NONE: any */
    const char *workflow;  /* NULL: any */
    int64_t before, from;  /* from <= seq < before */
    const struct tag *tag; /* NULL: any */
    const char *parent;    /* of instances, whatever else; NULL: any */
};

/* What is looked up: ids, or else the ids from one to another, or else those of the `newest` whose ids end
 * with these 8 characters, or else the keys from one to below another (NULL: no end). */
struct list_names {
    enum list_kind kind;
    const char *const *ids;
    size_t id_count;
    const char *id_from, *id_to;
    const char *id_end;
    int64_t newest;
    const char *key_from, *key_below;
};

struct job_counts {
    uint64_t pending, ready, leased;
    int64_t oldest_ready_us; /* run_at of the ready job that has waited longest; 0: none */
};

struct step_counts {
    uint64_t ready;  /* can be claimed now */
    uint64_t leased; /* locked_by is set, whatever the status */
};

/* What waits for a person. */
enum { NEED_COUNT_MAX = 10000 };
struct need_counts {
    int64_t approvals; /* steps that wait for a decision */
    int64_t dead;      /* open dead letters */
};

/* What has stopped by itself. */
enum { HALTS_MAX = 1000 };
struct halt_counts {
    int64_t failed;      /* instances that a failure has paused */
    int64_t mismatched;  /* functions that are paused since their code does not match */
    int64_t undo_failed; /* open records of compensations */
};

/* Tasks of one type. */
enum { TYPE_COUNT_MAX = 10000 };
struct ready_count {
    int64_t count;     /* jobs and steps that can be claimed */
    int64_t oldest_us; /* since when the oldest of them has been ready; 0: none */
};
struct unready_count {
    const char *type;
    int64_t later;  /* jobs whose time has not come */
    int64_t leased; /* jobs */
    int64_t leased_steps;
};

/* Of what count_ready() reads: jobs and steps, and since when the oldest of each has been ready. */
static inline struct ready_count ready_count_of(const int64_t values[4])
{
    int64_t count = values[0] + values[1], job_us = values[2], step_us = values[3];
    bool is_job_first = job_us && (!step_us || job_us < step_us);
    return (struct ready_count){.count = count < TYPE_COUNT_MAX ? count : TYPE_COUNT_MAX,
                                .oldest_us = is_job_first ? job_us : step_us};
}

/* An error, as scan_errors() finds it: what tells its group, and no more. */
enum error_kind { ERRORS_OF_JOBS, ERRORS_OF_INSTANCES, ERRORS_OF_RECORDS };
struct error_row {
    int64_t seq;            /* of the job or instance; the id of the record */
    const char *id;         /* NULL: of a record */
    const char *workflow;   /* NULL: of a job */
    const char *type;       /* of the job; of a record the kind of its step */
    const char *step;       /* of a record */
    const char *reason;     /* of a record */
    const char *error;      /* of an instance a JSON object; NULL: none */
    const char *undo_error; /* of an instance, the same */
    int64_t at_us;          /* 0: unknown */
};

/* A worker that no process has seen for this long is forgotten. */
#define WORKER_KEPT_US (24 * 60 * US_PER_MIN)

enum { PRODUCT_TEXT = 96 };

/* The descendants of an instance. */
struct family_size {
    int64_t members, open, held; /* open: have not ended; held: have ended and must stay */
};

/* The facts that doctor reports. */
struct store_facts {
    char product[PRODUCT_TEXT]; /* "SQLite 3.40.1", "PostgreSQL 15.8 (pooled)" */
    int schema_version, newest_schema_version;
    int64_t clock_us;          /* the database's clock now; 0: it has none of its own */
    uint64_t expired_leases;   /* of jobs and steps: still held after their end */
    uint64_t unwatched_leases; /* leased jobs that no timer knows of, of the latest ones */
    int64_t oldest_outbox_us;  /* when the oldest unacknowledged event was recorded; 0: none */
    uint64_t size_bytes;       /* 0: unknown */
    int64_t free_bytes;        /* by which it may grow, if it is `is_file` */
    bool is_file;
    bool is_unshrinkable; /* free space in the file cannot be returned */
    char settings[128];   /* such as "journal_mode=wal synchronous=full"; "" for none */
    bool is_intact;       /* the database's quick check passed */
    char damage[192];     /* if not: its message */
};

/* The place of a step. */
struct step_ref {
    const char *instance_id;
    int32_t seq;
};

enum put_result {
    PUT_DONE, /* it is new */
    PUT_SAME, /* the same content was there */
    PUT_OTHER /* this name and version has different content; nothing was written */
};

/* The steps of one type, version and priority that can be claimed: since when the one that waits
 * longest does so, and of which instance it is. */
struct ready_type {
    const char *name;
    int32_t version; /* of a function; 0: of a step */
    int64_t since_us;
    const char *instance_id;
};

/* A type of steps that the engine has in hand. */
struct type_in_hand {
    const char *name;
    size_t count;    /* how many of them the claim may be given */
    bool is_blocked; /* set by claim_steps(): the registry disables it or, if the claim names a
                      * runtime, gives it to another one; or: */
    bool is_laned;   /* it has lanes, so that its steps take their turn in the store */
};

/* Steps that can be claimed and are not in the store as such: the engine gives them to the claim itself.
 * They stand together in the order of claims. */
struct steps_in_hand {
    struct claim_key first; /* where they stand */
    struct type_in_hand *types;
    size_t type_count;
    bool is_alone; /* only rows that come before them are leased */
};

/* A claim of steps: as for jobs, and how quickly waiting raises a priority. */
struct step_claim {
    struct job_claim base;
    double aging_rate; /* points a second; 0: off */

    /* Functions in some of their versions, beside base's patterns, which mean every version.  No two
     * overlap, and no pattern matches one of their names. */
    const struct function_range *functions;
    size_t function_count;

    struct steps_in_hand *in_hand; /* NULL: none */
};

#include "store/store_ops.h" /* the verbs, made from spec/verbs.txt */

extern const struct store_ops sqlite_store_ops, postgres_store_ops;

/* Opens the back end that the URL names: sqlite: postgres: postgresql: memory:. */
cairn_code store_open(const struct store_config *config, struct store **ret_store,
                      cairn_error *reterr);

/* The same back end says what open() would do to the tables, and changes nothing: neither a file nor a
 * table is made.  It fails if open() would. */
cairn_code store_plan(const struct store_config *config, struct store_plan *ret_plan,
                      cairn_error *reterr);
cairn_code sqlite_plan(const struct store_config *config, struct store_plan *ret_plan,
                       cairn_error *reterr);
cairn_code postgres_plan(const struct store_config *config, struct store_plan *ret_plan,
                         cairn_error *reterr);

#endif
