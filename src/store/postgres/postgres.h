/* store/postgres/postgres.h - what the files of the PostgreSQL back end share.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A session is one connection, always in pipeline mode.  A statement is either run (sent, and
 * its result awaited) or queued (sent with the next one that is run); an error of a
 * queued statement is reported by the next run, at the latest by the commit.
 *
 * Arrays and instants travel in binary form, other parameters as text; results come back in
 * binary form.  So neither side depends on a setting of the server's.
 */
#ifndef STORE_POSTGRES_POSTGRES_H
#define STORE_POSTGRES_POSTGRES_H

#include "base/buf.h"
#include "base/random.h"
#include "core/rows.h"
#include "store/postgres/mark.h"
#include "store/postgres/postgres_query.h"
#include "store/store.h"

#include <libpq-fe.h>
#include <stdatomic.h>

#define PROTOTYPE(name) store_##name##_fn postgres_##name;
/* Those that may be left out, and are not. */
#define POSTGRES_FUNCTIONS(X) \
    X(send_insert_jobs)       \
    X(send_complete_jobs)     \
    X(look_for_tasks) X(send_lock_flow) X(lock_flow) X(advance_instances) X(send_memories)
STORE_FUNCTIONS(PROTOTYPE)
POSTGRES_FUNCTIONS(PROTOTYPE)
#undef PROTOTYPE

/* ---- waiting (connection.c) -------------------------------------------------------------- */

/* Until when to wait for the database. */
struct postgres_patience {
    int64_t until_us; /* monotonic */
    int stop_fd;      /* when readable, little time is left; 0: none */
};

/* Until the connection is ready for these events of poll(); false: the time is over. */
bool postgres_await(PGconn *conn, short events, struct postgres_patience *patience);

/* Until PQgetResult() does not block; false: the time is over. */
bool postgres_has_answer(PGconn *conn, struct postgres_patience *patience);

/* The error of a database that did not answer; the connection is of no use any more. */
cairn_code postgres_silent(const char *doing, cairn_error *reterr);

/* Runs a script on a connection that is not in pipeline mode.  ret_result (may be NULL) is the last
 * statement's. */
cairn_code postgres_exec(PGconn *conn, const char *sql, const char *doing,
                         struct postgres_patience *patience, PGresult **ret_result,
                         cairn_error *reterr);

/* ---- connections ------------------------------------------------------------------------- */

struct postgres_watch {
    PGconn *conn;         /* NULL: not listening */
    int64_t retry_ms;     /* the delay before the next try to connect */
    int64_t retry_at_us;  /* monotonic */
    int64_t looked_us;    /* monotonic: when it last said that looking is worth it */
    int64_t announced_us; /* monotonic: when others were told that ends are wanted; 0: not */
    atomic_bool is_deaf;  /* it cannot listen, or others could not be told */
};

/* A notice: who sends it, a colon, and a letter for each kind of news; watch.c. */
enum { NOTICE_TEXT = TOKEN_TEXT + 8 };
struct postgres_store;
void postgres_write_notice(const struct postgres_store *store, unsigned news,
                           char ret_notice[NOTICE_TEXT]);

/* The next timers as they were when last read, lowered by what we wrote since; see timer.c. */
struct postgres_due {
    _Atomic int64_t job_us, flow_us; /* INT64_MAX: none */
    _Atomic int64_t read_us;         /* monotonic; 0: not read */
};

/* The indexes of timers; the numbers are those of check_timers in timer.sql. */
enum postgres_timer {
    TIMER_JOB_LATER,
    TIMER_JOB_LEASE,
    TIMER_STEP_RETRY,
    TIMER_STEP_LEASE,
    TIMER_STEP_WAIT,
    TIMER_START,
    POSTGRES_TIMER_COUNT
};

/* How far the database's clock is ahead of our monotonic one; see clock.c. */
struct postgres_clock {
    pthread_mutex_t lock;
    int64_t ahead_us;
    int64_t read_us;  /* monotonic: when it was last read; 0: never */
    int64_t apart_us; /* this machine's wall clock less its monotonic one, at that time */
};

/* The database has told its time, which it was asked for at asked_us (monotonic). */
void postgres_clock_read(struct postgres_clock *clock, int64_t asked_us, int64_t told_us);

/* The time there, or a little less; false: it was not told lately. */
bool postgres_clock_guess(struct postgres_clock *clock, int64_t *ret_now_us);

enum claimed_kind { CLAIMED_JOBS, CLAIMED_STEPS, CLAIMED_KINDS };

struct postgres_store {
    struct store base;
    char *url;
    uint32_t lock_wait_ms; /* at least 1: to PostgreSQL 0 means for ever */
    char name[TOKEN_TEXT]; /* says in a notification that it is ours */
    atomic_bool is_pooled; /* a pooler is in between: no session of the server is ours */
    struct postgres_watch watch;
    struct postgres_due due;
    struct postgres_clock clock;
    struct mark_set job_marks;  /* ranks are priorities, keys are seq >> 8 */
    struct mark_set step_marks; /* step_rank(), next_run_at in microseconds */
    struct claimed_rows {
        _Atomic uint64_t asked, ended;
    } claimed
        [CLAIMED_KINDS]; /* that claims have asked for, and those of them whose transactions are over */
    _Atomic int64_t other_work_us; /* monotonic: a claim had more to take than new jobs */
    /* One for each index, with one mark without a type: keys are microseconds since 1970. */
    struct mark_set timers[POSTGRES_TIMER_COUNT];
};

/* CAIRN_E_BAD_INPUT if libpq cannot read it; says nothing of what may hold a password. */
cairn_code postgres_check_url(const char *url, cairn_error *reterr);

/* A plain connection: non-blocking, not in pipeline mode. */
cairn_code postgres_connect(const char *url, struct postgres_patience *patience,
                            PGconn **ret_conn, cairn_error *reterr);

/* Whether the server's process is another than the one we were introduced to. */
cairn_code postgres_ask_pooled(PGconn *conn, struct postgres_patience *patience,
                               bool *ret_is_pooled, cairn_error *reterr);

void postgres_conn_done(PGconn **conn);
void postgres_result_done(PGresult **result);

/* ---- failures ------------------------------------------------------------------------------ */

/* Sorts what the database said into a code.  `doing` completes "could not ...". */
cairn_code postgres_refused(PGconn *conn, const PGresult *result, const char *doing,
                            cairn_error *reterr);

/* ---- queries ------------------------------------------------------------------------------- */

/* Values for $1, $2, ...; add them in order.  Memory that runs out is remembered, and reported
 * when the parameters are used. */
enum { POSTGRES_PARAMS_MAX = 64 };
struct postgres_params {
    struct arena *arena;
    const char *values[POSTGRES_PARAMS_MAX];
    int lengths[POSTGRES_PARAMS_MAX], formats[POSTGRES_PARAMS_MAX]; /* as libpq wants them */
    int count;
    bool failed;
    bool is_absent; /* one is no valid id: the query would find nothing, and is not sent */
};

/* The values of a query: PARAMS(tx, ID(id), INT(room)). */
enum param_kind { PARAM_TEXT, PARAM_ID, PARAM_INT, PARAM_PLACE, PARAM_TIME };
struct param_value {
    enum param_kind kind;
    const char *text;
    int64_t number;
};
#define VALUE(...) ((struct param_value){__VA_ARGS__})
#define TEXT(value) VALUE(PARAM_TEXT, .text = (value)) /* NULL: null */
#define ID(value) VALUE(PARAM_ID, .text = (value))     /* not valid: is_absent */
#define INT(value) VALUE(PARAM_INT, .number = (int64_t)(value))
#define PLACE(value) VALUE(PARAM_PLACE, .number = (value)) /* -1: null */
#define TIME(value) VALUE(PARAM_TIME, .number = (value))
#define PARAMS(tx, ...)                                      \
    postgres_params(tx, (struct param_value[]){__VA_ARGS__}, \
                    sizeof((struct param_value[]){__VA_ARGS__}) / sizeof(struct param_value))
struct postgres_params postgres_params(struct store_tx *tx, const struct param_value *values,
                                       size_t count);

void param_text(struct postgres_params *params, const char *text); /* NULL: null */
void param_int(struct postgres_params *params, int64_t value);
void param_double(struct postgres_params *params, double value);
void param_time(struct postgres_params *params, int64_t us);

/* 0 and INSTANT_MAX: before and after every time. */
void param_time_or_ends(struct postgres_params *params, int64_t us);
void param_uuids(struct postgres_params *params, const char *const *ids, size_t count);
void param_texts(struct postgres_params *params, const char *const *texts, size_t count);
void param_jsons(struct postgres_params *params, const char *const *jsons, size_t count);
void param_bytes(struct postgres_params *params, const struct buf *bytes); /* empty: null */

/* A valid id as PostgreSQL keeps it. */
enum { UUID_BYTES = 16 };
void uuid_bytes(const char *id, unsigned char ret_bytes[UUID_BYTES]);

struct postgres_array {
    struct buf bytes;
    uint32_t type, count, null_count; /* of the elements */
};

/* Arrays that grow row by row, one for each column.  The server compares types: columns_int() is
 * for int[], columns_bigint() for bigint[]. */
struct postgres_columns {
    struct postgres_array arrays[POSTGRES_PARAMS_MAX];
    int count; /* of columns, known when a row has ended */
    int next;  /* the column that the next value goes to */
};

void columns_done(struct postgres_columns *columns);
void columns_reset(struct postgres_columns *columns);
void columns_text(struct postgres_columns *columns, const char *text); /* NULL: null */
void columns_uuid(struct postgres_columns *columns, const char *id);   /* not valid: null */
void columns_json(struct postgres_columns *columns, const char *json); /* NULL: null */
void columns_int(struct postgres_columns *columns, int32_t value);
void columns_bool(struct postgres_columns *columns, bool value);
void columns_bigint(struct postgres_columns *columns, int64_t value);
void columns_time(struct postgres_columns *columns, int64_t us);
void columns_end_row(struct postgres_columns *columns);
size_t columns_size(const struct postgres_columns *columns); /* bytes */

/* A whole row: the members whose columns have one of the flags `written`.  The lists of spec/rows.txt
 * for PostgreSQL, such as {step.arrays insert}, have the same columns in the same order. */
enum {
    COLUMNS_INSERT = COLUMN_PLAN | COLUMN_CHANGE,
    COLUMNS_UPDATE = COLUMN_KEY | COLUMN_CHANGE
};
void columns_row(struct postgres_columns *columns, const struct row_type *type,
                 unsigned written, const void *row);

/* One parameter for each column.  The columns must live until the parameters are used, unless
 * they are copied, which releases them. */
void param_columns(struct postgres_params *params, struct postgres_columns *columns);
void param_columns_copied(struct postgres_params *params, struct postgres_columns *columns);

/* Beyond this many bytes a set of rows is sent in portions. */
enum { POSTGRES_PORTION = 8 << 20 };

/* ---- results ------------------------------------------------------------------------------- */

/* PostgreSQL counts from 2000, we from 1970. */
#define POSTGRES_EPOCH_US INT64_C(946684800000000)

/* A result, and the row that is read. */
struct postgres_reader {
    PGresult *result;
    int row, count;
    struct arena *arena; /* for texts */
    bool failed;         /* memory has run out */
};

/* Runs a query; ret_reader, at the first row, is released by reader_done(). */
cairn_code postgres_ask(struct store_tx *tx, enum postgres_query query,
                        const struct postgres_params *params,
                        struct postgres_reader *ret_reader, cairn_error *reterr);
/* The same, unless it was sent before. */
cairn_code postgres_take_or_ask(struct store_tx *tx, enum postgres_query query,
                                const struct postgres_params *params,
                                struct postgres_reader *ret_reader, cairn_error *reterr);
void reader_done(struct postgres_reader *reader);

/* A value of the row; NULL, false, 0 for null.  Texts are copied into the arena: NULL with
 * reader->failed when memory has run out. */
const char *value_text(struct postgres_reader *reader, int column);
int64_t value_int(struct postgres_reader *reader, int column); /* 4 or 8 bytes */
bool value_bool(struct postgres_reader *reader, int column);
int64_t value_time(struct postgres_reader *reader, int column);

/* ---- sessions ------------------------------------------------------------------------------ */

/* Those of send_insert_jobs() that are not sent yet; see announce.c. */
struct announced_jobs {
    struct job_row *rows;
    size_t count;
};

struct postgres_tx {
    struct store_tx base;
    struct announced_jobs announced;
    bool is_news; /* others should know, whether or not something is ready: a timer, a registry
                   */
    int64_t asked_us; /* monotonic: when it was begun here */
    struct postgres_look {
        enum postgres_query query;
        bool *is_any; /* NULL: it was not asked */
        struct steps_in_hand *in_hand;
    } look; /* look_for_tasks() */
    struct postgres_due_seen {
        int64_t job_us, flow_us, read_us;
    } due; /* what was known of timers when the commit asked for them */
    uint64_t claimed[CLAIMED_KINDS]; /* rows that its claims have asked for */
};

/* A statement whose result is kept. */
struct sent_query {
    enum postgres_query query;
    bool is_there, is_read;
    PGresult *result; /* NULL: not yet read, or it failed */
};

struct queued_query {
    enum postgres_query query;
    bool is_prepare;
    struct sent_query *sent; /* NULL: its result is not kept */
};

enum { POSTGRES_QUEUE_MAX = 64, POSTGRES_SENT_MAX = 8 };
struct postgres_session {
    struct store_session base;
    PGconn *conn;                      /* NULL: lost; the next begin connects anew */
    struct postgres_patience patience; /* with what is under way */
    int64_t silence_us; /* how long the server may be silent within a transaction */
    int64_t heard_us;   /* monotonic: when it last ended a pipeline */
    bool is_prepared[POSTGRES_QUERY_COUNT];
    struct queued_query queue[POSTGRES_QUEUE_MAX]; /* sent, results not yet read */
    int queue_len;
    bool is_leaving; /* a rollback was sent, and its result is not yet read */
    struct sent_query sent[POSTGRES_SENT_MAX];
    struct postgres_tx tx; /* one at a time */
};

static inline struct postgres_session *postgres_session_of(const struct store_tx *tx)
{
    return (struct postgres_session *)tx->session;
}

static inline struct postgres_store *postgres_store_of(const struct store_session *session)
{
    return (struct postgres_store *)session->store;
}

/* Sends; the result is looked at later. */
cairn_code postgres_queue(struct postgres_session *session, enum postgres_query query,
                          const struct postgres_params *params, cairn_error *reterr);

/* Sends, and reads the results of everything sent.  ret_result (NULL: not wanted) is the last
 * statement's; release it with postgres_result_done(). */
cairn_code postgres_run(struct postgres_session *session, enum postgres_query query,
                        const struct postgres_params *params, PGresult **ret_result,
                        cairn_error *reterr);

/* Queues a statement whose result is kept for postgres_take(): a few at a time, and not the same query again
 * before that.  What is queued or run in between goes behind it. */
cairn_code postgres_send(struct postgres_session *session, enum postgres_query query,
                         const struct postgres_params *params, cairn_error *reterr);
bool postgres_is_sent(const struct postgres_session *session, enum postgres_query query);
cairn_code postgres_take(struct store_tx *tx, enum postgres_query query,
                         struct postgres_reader *ret_reader, cairn_error *reterr);
/* Keeps a result as if it were that of `query`, sent and read; the reader has none any more. */
void postgres_keep(struct postgres_session *session, enum postgres_query query,
                   struct postgres_reader *reader);
void postgres_forget_sent(struct postgres_session *session); /* results are not wanted */

/* The answer to begin_settings. */
void postgres_begun(struct postgres_session *session, PGresult *result);

/* Reads the results of everything sent. */
cairn_code postgres_settle(struct postgres_session *session, cairn_error *reterr);

/* Ends a transaction that has only read, without waiting for the answer; postgres_left() reads that,
 * before anything else is sent. */
void postgres_leave(struct postgres_session *session);
void postgres_left(struct postgres_session *session);

/* Forgets a connection that is of no use any more. */
void postgres_lose(struct postgres_session *session);

/* ---- timers -------------------------------------------------------------------------------- */

/* A timer that this transaction sets: of jobs, and of workflows. */
void postgres_note_due(struct store_tx *tx, int64_t due_us);
void postgres_note_flow_due(struct store_tx *tx, int64_t due_us);
void postgres_note_run_ended(struct store_tx *tx, const char *schedule); /* NULL: of none */

/* A row that this transaction writes: its timer, and whether it can be claimed.  The first two are also
 * the `note` of their keyed_rows. */
void postgres_note_job(struct store_tx *tx, const void *job);
void postgres_note_instance(struct store_tx *tx, const void *instance);
void postgres_note_step(struct store_tx *tx, const struct step_row *row);

/* How a step is marked: rank is what the index of ready steps has between type and next_run_at. */
enum { STEP_PRIORITY_BITS = 7, STEP_PRIORITY_MASK = 127 };
int64_t step_rank(int32_t version, int32_t priority);

/* $n: where a walk over the timers of one kind may begin. */
void param_timer_from(struct postgres_params *params, struct store_tx *tx,
                      enum postgres_timer timer);

/* When to look at a lease row, if its first lease ends at until_us: then, or in so long a time, since a
 * row whose leases have ended is not to stay for as long as they could have lasted.  The time of several
 * claims is the same, so that one look is enough for them.  With a virtual clock: exactly then. */
enum { LEASE_ROW_JOBS = 100 }; /* how many a lease row of a claim has at most */
#define LEASE_FIRST_LOOK_US (10 * US_PER_SEC)
#define LEASE_NEXT_LOOK_US US_PER_MIN
int64_t postgres_lease_look(const struct store_tx *tx, int64_t in_us, int64_t until_us);

/* Moves or removes lease rows that are due though no lease of theirs has run out.  *ret_is_moved (may be
 * NULL): there were some. */
cairn_code postgres_settle_leases(struct store_tx *tx, bool *ret_is_moved, cairn_error *reterr);

/* Others have changed something: what was read no longer counts. */
void postgres_forget_due(struct postgres_store *store);

/* A commit asks for the next timer, if what is known of it is about to grow old; and gets the answer. */
cairn_code postgres_send_due(struct store_tx *tx, cairn_error *reterr);
void postgres_take_due(struct store_tx *tx);

/* What send_memories() has asked for too early. */
cairn_code postgres_drop_signals(struct store_tx *tx, cairn_error *reterr);

/* Of lock_flow(): the instances whose rows are known.  And of the commit: the version of what it has written. */
cairn_code postgres_send_lock_known(struct store_tx *tx, const struct known_instance *known,
                                    size_t count, cairn_error *reterr);
cairn_code postgres_take_lock_known(struct store_tx *tx, struct known_instance *known,
                                    cairn_error *reterr);
cairn_code postgres_send_version(struct store_tx *tx, cairn_error *reterr);
void postgres_take_version(struct store_tx *tx);

/* The answer to look_for_tasks(), which has come with that of lock_flow() or the commit. */
void postgres_looked(struct store_tx *tx);

/* ---- claiming ------------------------------------------------------------------------------ */

/* The patterns of a claim, sorted, none within another: prefixes without their %. */
struct exact_type {
    const char *name;
    int64_t lowest, highest; /* ranks */
};
struct postgres_types {
    struct exact_type *exact;
    const char **prefixes;
    size_t exact_count, prefix_count;
};

/* What a claim reads: parts of the index of what is ready, and parts in which it looks for types. */
struct walk_range {
    const char *type;
    int64_t lowest, highest; /* ranks */
    int64_t mark;
    int64_t seen; /* the lowest key that was found, when the walk is over */
    bool is_pair; /* of the marks; else a gap between them, or everything */
};
struct walk_gap {
    const char *first, *before; /* first <= type < before */
};
struct claim_walk {
    struct walk_range *ranges;
    struct walk_gap *gaps;
    size_t range_count, gap_count;
    bool is_marked, has_gaps;
};

/* From the marks if they are in use and the walk is not to be whole, else from the beginning. */
cairn_code postgres_plan_walk(struct arena *arena, struct mark_set *set, bool is_whole,
                              const struct postgres_types *types, struct claim_walk *ret_walk,
                              cairn_error *reterr);
void param_ranges(struct postgres_params *params, const struct claim_walk *walk);
void param_gaps(struct postgres_params *params, const struct claim_walk *walk);

/* What a walk told: the first columns of each row of a claim. */
struct walk_told {
    size_t heads, taken; /* how many rows it looked at, and locked */
    int64_t took_us;
    struct walk_facts facts;
    int64_t end;      /* no new row has a lower key */
    size_t work;      /* how many rows it had to read, dead ones apart */
    const char *lows; /* of each range with rows, its number from 1 and its lowest key */
};
struct walk_told postgres_read_told(struct postgres_reader *reader, const struct mark_set *set);

/* The columns after them: where the claimed row stood in the index.  Then comes the row itself. */
struct claimed_key {
    const char *type; /* lives as long as the result */
    int64_t rank, key;
};
struct claimed_key postgres_read_key(struct postgres_reader *reader);
enum { CLAIM_LANED = 8, CLAIM_ROW = 12 };

/* Workers and tokens: one of each for each of `room` rows, or one for all; and the end of the lease. */
void param_holders(struct postgres_params *params, const struct job_claim *claim, size_t room);

/* is_virtual: time is a test's; no walk is too slow then. */
void postgres_walked(struct mark_set *set, struct claim_walk *walk,
                     const struct walk_told *told, bool is_virtual,
                     const struct claimed_key *keys, size_t count);

/* New jobs that are announced: sent now; or, if they are just what a claim would be given, leased by it (*ret_is_done). */
cairn_code postgres_send_announced(struct postgres_session *session, cairn_error *reterr);
cairn_code postgres_lease_announced(struct store_tx *tx, const struct job_claim *claim,
                                    struct job_row *ret_rows, size_t room, size_t *ret_count,
                                    bool *ret_is_done, cairn_error *reterr);
cairn_code postgres_send_new_jobs(struct store_tx *tx, struct job_row *rows, size_t count,
                                  bool *ret_is_sent, cairn_error *reterr);

/* Whether walks begin at marks. */
bool postgres_is_marking(struct mark_set *marks);

/* Looks at a part of what lies below the marks, if it is time to.  *ret_is_found: there is something.
 * The query's parameters are the type (unless it is ""), the rank, the first key and the one behind the
 * last; its row is the lowest key found, or null, and how long it took in microseconds. */
cairn_code postgres_check_below(struct store_tx *tx, struct mark_set *set,
                                enum postgres_query query, bool is_short, bool *ret_is_found,
                                cairn_error *reterr);

/* A row of this transaction can be claimed, or a timer of it is due; in the second case, a row of
 * any rank of its type. */
void postgres_note_ready(struct mark_set *set, const char *type, int64_t rank, int64_t key);
void postgres_note_ready_type(struct mark_set *set, const char *type, int64_t key);

/* `more` are types that no pattern matches. */
cairn_code postgres_sort_patterns(struct arena *arena, const struct job_claim *claim,
                                  const struct exact_type *more, size_t more_count,
                                  struct postgres_types *ret_types, cairn_error *reterr);

/* The same of a claim of steps: functions are of one type in some versions. */
cairn_code postgres_sort_step_patterns(struct arena *arena, const struct step_claim *claim,
                                       struct postgres_types *ret_types, cairn_error *reterr);

/* ---- rows ---------------------------------------------------------------------------------- */

/* The columns of a row from `first` on, in the order of spec/rows.txt.  A query may leave out the last
 * ones; their members are then NULL or 0. */
void postgres_read_row(struct postgres_reader *reader, int first, const struct row_type *type,
                       void *ret_row);

/* Runs a query and reads all its rows, which are at most `room`. */
cairn_code postgres_read_rows(struct store_tx *tx, enum postgres_query query,
                              const struct postgres_params *params, const struct row_type *type,
                              void *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr);

/* The same for one row; CAIRN_E_NOT_FOUND, with reterr as it was. */
cairn_code postgres_read_one(struct store_tx *tx, enum postgres_query query,
                             const struct postgres_params *params, const struct row_type *type,
                             void *ret_row, cairn_error *reterr);

/* The same for rows of one text. */
cairn_code postgres_read_texts(struct store_tx *tx, enum postgres_query query,
                               const struct postgres_params *params, const char **ret_texts,
                               size_t *ret_count, cairn_error *reterr);

/* The rows that belong to one job or instance, after the one with the number `after`.  The query's
 * parameters are the id, `after` and `room`. */
cairn_code postgres_list_after(struct store_tx *tx, enum postgres_query query, const char *id,
                               int64_t after, const struct row_type *type, void *ret_rows,
                               size_t room, size_t *ret_count, cairn_error *reterr);

/* Queues rows, in portions: COLUMNS_INSERT or COLUMNS_UPDATE.  If a column is written with the time
 * of the transaction, that is the last parameter. */
cairn_code postgres_write_rows(struct store_tx *tx, enum postgres_query query,
                               const struct row_type *type, unsigned written, const void *rows,
                               size_t count, cairn_error *reterr);

/* Rows with an id, a seq and perhaps a key: jobs and instances (keyed.c). */
struct keyed_rows {
    const struct row_type *type;
    const char *noun; /* plural */
    size_t id_offset, key_offset, seq_offset;
    enum postgres_query insert, find_existing, refuse_kept, lock, lock_waiting, find;
    void (*add_keys)(struct postgres_columns *columns,
                     const void *row);                  /* for find_existing and refuse_kept */
    void (*note)(struct store_tx *tx, const void *row); /* that is new */
};

/* A row that was locked is judged by the clock of that moment: the first column of the row that is read. */
void postgres_move_clock(struct store_tx *tx, struct postgres_reader *reader);

/* insert_jobs() and insert_instances(), lock_jobs() and lock_instances() of store.h. */
cairn_code postgres_insert_keyed(struct store_tx *tx, const struct keyed_rows *kind, void *rows,
                                 size_t count, enum insert_result *ret_results,
                                 cairn_error *reterr);
/* Sends rows for postgres_insert_keyed(), which gets the answer; *ret_is_sent: false if they are too large to go at
 * once. */
cairn_code postgres_send_keyed(struct store_tx *tx, const struct keyed_rows *kind, void *rows,
                               size_t count, bool *ret_is_sent, cairn_error *reterr);
cairn_code postgres_lock_keyed(struct store_tx *tx, const struct keyed_rows *kind,
                               const char *const *ids, size_t count, bool may_wait,
                               void *ret_rows, enum lock_result *ret_results,
                               cairn_error *reterr);

/* ---- opening ------------------------------------------------------------------------------- */

/* Brings the tables up to date, or says why not. */
cairn_code postgres_migrate(PGconn *conn, bool is_pooled, const struct store_config *config,
                            struct store_schema *ret_schema, cairn_error *reterr);

/* What it would do. */
cairn_code postgres_migrate_plan(PGconn *conn, const struct store_config *config,
                                 struct store_plan *ret_plan, cairn_error *reterr);
int postgres_newest_schema(void);

#endif
