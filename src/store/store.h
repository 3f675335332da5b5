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
#include "core/instance.h"
#include "core/job.h"
#include "core/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MIGRATIONS_MAX = 64 };

/* What opening found, and what it did about it. */
struct store_schema {
    int from, to;                        /* versions; 0: there were no tables */
    const char *applied[MIGRATIONS_MAX]; /* names of the migrations that this open applied */
    size_t applied_count;
};

/* An open back end.  Each back end's own struct begins with this. */
struct store {
    const struct store_ops *ops;
    struct clock *clock; /* the engine's: the time, unless the store has its own (PostgreSQL) */
    struct store_schema schema;
    int stop_fd; /* readable once the engine closes, so that no wait lasts long then; 0: none */
};

enum session_kind { SESSION_WRITER, SESSION_READER };

/* A connection. */
struct store_session {
    struct store *store;
    enum session_kind kind;
    int64_t deadline_us; /* monotonic, set before begin(): by when it must have begun, else
                            CAIRN_E_UNREACHABLE.  After that a store that is silent for lock_wait_ms
                            and a second is given up.  0: no such bound but the store's own */
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
    bool no_create;        /* a store without tables, or without a file, is not made */
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

struct job_counts {
    uint64_t pending, ready, leased;
    int64_t oldest_ready_us; /* run_at of the due job that has waited longest; 0: none */
};

struct step_counts {
    uint64_t ready;  /* can be claimed now */
    uint64_t leased; /* locked_by is set, whatever the status */
};

/* What doctor wants to know. */
struct store_facts {
    char product[96]; /* "SQLite 3.40.1", "PostgreSQL 15.8 (pooled)" */
    int schema_version, newest_schema_version;
    int64_t clock_us;         /* the database's clock now; 0: it has none of its own */
    uint64_t expired_leases;  /* of jobs and steps: held, though their time has passed */
    int64_t oldest_outbox_us; /* when the first event that is not acknowledged came; 0: none */
    uint64_t size_bytes;      /* 0: unknown */
    char settings[128];       /* such as "journal_mode=wal synchronous=full"; "" for none */
    bool is_intact;           /* the database's own quick check passed */
    char damage[192];         /* if not: its words */
};

/* The place of a step. */
struct step_ref {
    const char *instance_id;
    int32_t seq;
};

enum put_result {
    PUT_DONE, /* it is new */
    PUT_SAME, /* the same content was there */
    PUT_OTHER /* other content stands under this name and version; nothing was written */
};

struct instance_filter {
    enum instance_status status; /* NONE: any */
    const char *workflow, *key;  /* NULL: any */
    int64_t before_seq;          /* 0: from the newest */
};

/* Steps of one type, version and priority that can be claimed: since when, and whose, the one that
 * waits longest. */
struct ready_type {
    const char *name;
    int32_t version; /* of a function; 0: of a step */
    int64_t since_us;
    const char *instance_id;
};

/* For whom a step is leased. */
struct step_holder {
    const char *worker, *token;
};

/* Who wants which steps: as for jobs, and how quickly waiting raises a priority. */
struct step_claim {
    struct job_claim base;
    double aging_rate; /* points a second; 0: off */

    /* Several claims that are alike, made together: one holder for each row that there is room for,
     * instead of base's.  NULL: base's for all. */
    const struct step_holder *holders;

    /* Beside base's patterns, which mean every version: functions in some versions.  No two overlap,
     * and no pattern matches one of their names. */
    const struct function_range *functions;
    size_t function_count;
};

struct store_ops {
    const char *name; /* "sqlite" */

    /* ---- opening ------------------------------------------------------------------------- */

    /* Connects, checks, and brings the tables up to date unless told not to. */
    cairn_code (*open)(const struct store_config *config, struct store **ret_store,
                       cairn_error *reterr);
    void (*close)(struct store *store); /* all sessions are closed before */

    /* May leave connecting to the first begin(). */
    cairn_code (*session_open)(struct store *store, enum session_kind kind,
                               struct store_session **ret_session, cairn_error *reterr);
    void (*session_close)(struct store_session *session);

    /* How many writers at once are of use: SQLite 1, PostgreSQL a few. */
    int writers;

    /* How often to ask for the next timer, because others can set one without watch() telling;
     * 0: watch() tells of every change. */
    uint32_t ask_due_ms;

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

    /* ---- workflows (writers only) -------------------------------------------------------- */

    cairn_code (*put_definition)(struct store_tx *tx, const struct definition_row *row,
                                 enum put_result *ret_result, cairn_error *reterr);

    /* Inserts rows in order; all fields but seq are given, and seq is filled in.  A key is unique
     * within its workflow; otherwise as insert_jobs(). */
    cairn_code (*insert_instances)(struct store_tx *tx, struct instance_row *rows, size_t count,
                                   enum insert_result *ret_results, cairn_error *reterr);

    /* The plans of new instances, and what functions remember: many rows, instance_id and
     * instance_seq given. */
    cairn_code (*insert_steps)(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr);

    /* Reads instances whole for change; ids and results as in lock_jobs(). */
    cairn_code (*lock_instances)(struct store_tx *tx, const char *const *ids, size_t count,
                                 bool may_wait, struct instance_row *ret_rows,
                                 enum lock_result *ret_results, cairn_error *reterr);

    /* Writes all that may change: not seq, id, workflow, version, key, input, created_at. */
    cairn_code (*update_instances)(struct store_tx *tx, const struct instance_row *rows,
                                   size_t count, cairn_error *reterr);

    /* Reads steps whole for change, refs in any order and without repeats; ret_is_found[i] belongs
     * to refs[i].  Waits for the short lock of a claim under way (CAIRN_E_BUSY after
     * lock_wait_ms). */
    cairn_code (*lock_steps)(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found,
                             cairn_error *reterr);

    /* The steps of one instance that are ready, running, waiting, waiting_decision, paused or in
     * compensation, or hold a lease (locked_by), or are held (is_held): locked, by place.  At
     * most `room`, those after place `after` (-1: from the beginning). */
    cairn_code (*lock_current_steps)(struct store_tx *tx, const char *instance_id,
                                     int32_t after, struct step_row *ret_rows, size_t room,
                                     size_t *ret_count, cairn_error *reterr);

    /* Steps of one instance with this status (NONE: any) and from <= place <= to, by place;
     * locked. */
    cairn_code (*lock_steps_between)(struct store_tx *tx, const char *instance_id,
                                     enum step_status status, int32_t from, int32_t to,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr);

    /* Steps of one instance with 0 < commit_no < below and from <= place <= to, the highest
     * commit_no first; locked.  Walks an index, not the instance. */
    cairn_code (*lock_committed_steps)(struct store_tx *tx, const char *instance_id,
                                       int64_t below, int32_t from, int32_t to,
                                       struct step_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr);

    /* Writes all that may change: everything below "planned at the start" in struct step_row.
     * The rows are locked by this transaction, or were inserted by it. */
    cairn_code (*update_steps)(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr);

    /* Removes steps that this transaction has locked, as if they had never been: what a function
     * forgets.  Those that are not there are passed over. */
    cairn_code (*delete_steps)(struct store_tx *tx, const struct step_ref *refs, size_t count,
                               cairn_error *reterr);

    /* Leases steps that are ready (is_ready, task_type and version match) and returns them whole, as
     * leased: locked_by, token, locked_until, due_at = locked_until + 1; a ready step becomes
     * running, one in compensation stays so; started_at is set if it was not; updated_at is now.
     * Order: highest effective priority (core/aging.h: min(100, priority + floor(seconds since
     * next_run_at * aging_rate))) first, then the earliest next_run_at, then instance_seq, then
     * seq; holders in the order in which they are given, though one may be passed over.  Left out
     * as in claim_jobs().  Touches no instance, and does not scan a backlog:
     * within one type and priority the earliest leads, so only the heads of each are read. */
    cairn_code (*claim_steps)(struct store_tx *tx, const struct step_claim *claim,
                              struct step_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr);

    /* Says that claim_steps() with this claim and room comes next, but for writes that the claim need
     * not see: update_instances(), append_*().  A store whose questions travel sends this one now,
     * and works on it meanwhile.  NULL: of no use here. */
    cairn_code (*send_step_claim)(struct store_tx *tx, const struct step_claim *claim,
                                  size_t room, cairn_error *reterr);

    /* As find_claimed(), for steps: those running or in compensation under this lease, in the order
     * of a claim without aging. */
    cairn_code (*find_claimed_steps)(struct store_tx *tx, const char *worker, const char *token,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr);

    /* Makes claimable what is ready or in compensation, has no lease, is not held, and whose
     * due_at <= now: is_ready, due_at 0.  At most `limit`, earliest first. */
    cairn_code (*promote_steps)(struct store_tx *tx, size_t limit, size_t *ret_count,
                                cairn_error *reterr);

    /* Other steps whose due_at <= now (leases, waits, sleeps, decisions), earliest first; not
     * locked, since the engine locks their instances before. */
    cairn_code (*find_due_steps)(struct store_tx *tx, struct step_ref *ret_refs, size_t room,
                                 size_t *ret_count, cairn_error *reterr);

    /* Pending instances whose start_at <= now, earliest first; not locked. */
    cairn_code (*find_due_instances)(struct store_tx *tx, const char **ret_ids, size_t room,
                                     size_t *ret_count, cairn_error *reterr);

    /* Inserts one signal (seq is filled in), or finds that its id is known for this instance:
     * then seq and was_taken are those of the known one. */
    cairn_code (*insert_signal)(struct store_tx *tx, struct signal_row *row,
                                enum insert_result *ret_result, cairn_error *reterr);

    /* The oldest signal of this event that is not taken and was received at or before `until_us`.
     * CAIRN_E_NOT_FOUND, with reterr as it was. */
    cairn_code (*find_signal)(struct store_tx *tx, const char *instance_id, const char *event,
                              int64_t until_us, struct signal_row *ret_row,
                              cairn_error *reterr);

    /* Sets taken_by of one signal.  With signal_seq 0: those that the step at place `taken_by` took
     * (-1: all of the instance's) are not taken any more. */
    cairn_code (*mark_signal)(struct store_tx *tx, const char *instance_id, int64_t signal_seq,
                              int32_t taken_by, cairn_error *reterr);

    /* Keeps that the sender of this signal was told "taken": was_taken. */
    cairn_code (*keep_signal_taken)(struct store_tx *tx, const char *instance_id,
                                    int64_t signal_seq, cairn_error *reterr);

    cairn_code (*append_outbox)(struct store_tx *tx, const struct outbox_row *rows,
                                size_t count, cairn_error *reterr);

    /* Claims unacknowledged outbox events in order of id, until `until_us`: of each instance the
     * oldest unacknowledged one and what follows it directly; none while an earlier one of the
     * instance is claimed and not acknowledged, by whomever.  A claim runs out at claimed_until. */
    cairn_code (*claim_outbox)(struct store_tx *tx, const char *worker, int64_t until_us,
                               struct outbox_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr);

    /* Acknowledges an event, and *ret_earlier is 0; or nothing is written, since the event
     * *ret_earlier of the same instance must be acknowledged before it.  Twice is the same as
     * once.  CAIRN_E_NOT_FOUND: no such event. */
    cairn_code (*ack_outbox)(struct store_tx *tx, int64_t id, int64_t *ret_earlier,
                             cairn_error *reterr);

    /* In order, at tx->now_us, on one sequence of ids with the events of jobs. */
    cairn_code (*append_flow_events)(struct store_tx *tx, const struct flow_event_row *events,
                                     size_t count, cairn_error *reterr);

    cairn_code (*append_dlq)(struct store_tx *tx, const struct dlq_row *rows, size_t count,
                             cairn_error *reterr);

    /* In order, at tx->now_us; ids rise. */
    cairn_code (*append_logs)(struct store_tx *tx, const struct log_row *rows, size_t count,
                              cairn_error *reterr);

    /* Keeps a decision (workflow_human_decision).  A step that was reset may have several. */
    cairn_code (*insert_decision)(struct store_tx *tx, const struct decision_row *row,
                                  cairn_error *reterr);

    /* Closes the instance's open records: all, or the one of step `seq` (-1: all). */
    cairn_code (*close_dlq)(struct store_tx *tx, const char *instance_id, int32_t seq,
                            cairn_error *reterr);

    /* ---- questions about workflows (any session) ----------------------------------------- */

    /* The earliest due_at of a step, start_at of a pending instance; 0: never. */
    cairn_code (*next_flow_due)(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr);

    /* version 0: the highest.  CAIRN_E_NOT_FOUND, with reterr as it was. */
    cairn_code (*get_definition)(struct store_tx *tx, const char *name, int32_t version,
                                 struct definition_row *ret_row, cairn_error *reterr);

    /* In order of name, then version; those after (after_name, after_version), NULL: all. */
    cairn_code (*list_definitions)(struct store_tx *tx, const char *after_name,
                                   int32_t after_version, struct definition_row *ret_rows,
                                   size_t room, size_t *ret_count, cairn_error *reterr);

    cairn_code (*get_instance)(struct store_tx *tx, const char *id,
                               struct instance_row *ret_row, cairn_error *reterr);

    /* The same for a set, in one question; ret_is_found[i] belongs to ids[i]. */
    cairn_code (*read_instances)(struct store_tx *tx, const char *const *ids, size_t count,
                                 struct instance_row *ret_rows, bool *ret_is_found,
                                 cairn_error *reterr);

    /* Newest first. */
    cairn_code (*list_instances)(struct store_tx *tx, const struct instance_filter *filter,
                                 struct instance_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr);

    /* By place, those after place `after` (-1: all); is_current: only those that
     * step_is_current() says. */
    cairn_code (*list_steps)(struct store_tx *tx, const char *instance_id, int32_t after,
                             bool is_current, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr);

    /* As lock_steps(), but locks nothing, waits for nobody, and the refs may repeat. */
    cairn_code (*read_steps)(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found,
                             cairn_error *reterr);

    /* What functions remember: the steps behind place 0, in the order of the ids, then by place.  Of
     * the first instance only those after place `after` (0: all), so that a caller whose room was
     * filled goes on with the instance and the place of the last row. */
    cairn_code (*list_memos)(struct store_tx *tx, const char *const *ids, size_t count,
                             int32_t after, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr);

    /* Signals that are not taken, in the order of the instances' ids, then oldest first.  Of the
     * first instance only those after the one with seq `after` (0: all), as for list_memos(). */
    cairn_code (*list_signals)(struct store_tx *tx, const char *const *ids, size_t count,
                               int64_t after, struct signal_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr);

    /* The signal that this instance knows by this id: only seq and was_taken are filled in.
     * CAIRN_E_NOT_FOUND, with reterr as it was. */
    cairn_code (*get_signal)(struct store_tx *tx, const char *instance_id, const char *id,
                             struct signal_row *ret_row, cairn_error *reterr);

    /* One step by its name.  CAIRN_E_NOT_FOUND, with reterr as it was. */
    cairn_code (*get_step)(struct store_tx *tx, const char *instance_id, const char *name,
                           struct step_row *ret_row, cairn_error *reterr);

    /* Events of an instance (NULL: of all instances and jobs) after the one with id `after`,
     * oldest first.  With NULL it never passes an id below which a transaction is still open. */
    cairn_code (*list_flow_events)(struct store_tx *tx, const char *instance_id, int64_t after,
                                   struct flow_event_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr);

    /* What an instance has logged after the row with id `after` (0: all), oldest first. */
    cairn_code (*list_logs)(struct store_tx *tx, const char *instance_id, int64_t after,
                            struct log_row *ret_rows, size_t room, size_t *ret_count,
                            cairn_error *reterr);

    /* Those before `before_id` (0: from the newest), newest first; instance_id NULL: of all; open
     * ones only. */
    cairn_code (*list_dlq)(struct store_tx *tx, const char *instance_id, int64_t before_id,
                           struct dlq_row *ret_rows, size_t room, size_t *ret_count,
                           cairn_error *reterr);

    /* Open or not.  CAIRN_E_NOT_FOUND, with reterr as it was. */
    cairn_code (*get_dlq)(struct store_tx *tx, int64_t id, struct dlq_row *ret_row,
                          cairn_error *reterr);

    /* What was decided about an instance's human steps after the row with id `after` (0: all),
     * oldest first. */
    cairn_code (*list_decisions)(struct store_tx *tx, const char *instance_id, int64_t after,
                                 struct decision_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr);

    /* Unfinished instances by status: ret_counts has room for INSTANCE_STATUS_COUNT.  History is
     * not read: what is final counts 0. */
    cairn_code (*count_instances)(struct store_tx *tx, uint64_t *ret_counts,
                                  cairn_error *reterr);

    /* Reads only the indexes of what is ready and what is leased. */
    cairn_code (*count_steps)(struct store_tx *tx, struct step_counts *ret_counts,
                              cairn_error *reterr);

    /* What can be claimed of steps and functions, by type, version and priority; at most `room`.  One
     * probe of the index of what is ready for each. */
    cairn_code (*list_ready_types)(struct store_tx *tx, struct ready_type *ret_types,
                                   size_t room, size_t *ret_count, cairn_error *reterr);

    /* ---- other processes ----------------------------------------------------------------- */

    /* Blocks until somebody else may have changed the store, or stop_fd becomes readable, or
     * timeout_ms (-1: none) passes; NULL if nobody else can change this store.  The engine
     * calls it from one thread of its own.  Returns true when
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
