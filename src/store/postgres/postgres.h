/* store/postgres/postgres.h - what the files of the PostgreSQL back end share.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A session is one connection, always in pipeline mode.  A statement is either run (sent, and
 * its result awaited) or queued (sent with the next one that is run); what a queued statement
 * did wrong is reported by whichever run comes next, at the latest by the commit.
 *
 * Arrays and instants travel in binary form, other parameters as text; results come back in
 * binary form.  So neither side depends on a setting of the server's.
 */
#ifndef STORE_POSTGRES_POSTGRES_H
#define STORE_POSTGRES_POSTGRES_H

#include "base/buf.h"
#include "base/random.h"
#include "store/postgres/mark.h"
#include "store/postgres/postgres_query.h"
#include "store/postgres/postgres_verbs.h"

#include <libpq-fe.h>
#include <stdatomic.h>

/* ---- waiting (await.c) ------------------------------------------------------------------- */

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
    PGconn *conn;        /* NULL: not listening */
    int64_t retry_ms;    /* the delay before the next try to connect */
    int64_t retry_at_us; /* monotonic */
    int64_t looked_us;   /* monotonic: when it last said that looking is worth it */
};

/* The next timer as it was when last read, lowered by what we wrote since; see timer.c. */
struct postgres_due {
    _Atomic int64_t due_us;  /* INT64_MAX: none */
    _Atomic int64_t read_us; /* monotonic; 0: not read */
};

/* The indexes of timers; the numbers are those of check_timers.sql. */
enum postgres_timer {
    TIMER_JOB_LATER,
    TIMER_JOB_LEASE,
    TIMER_STEP_RETRY,
    TIMER_STEP_LEASE,
    TIMER_STEP_WAIT,
    TIMER_START,
    POSTGRES_TIMER_COUNT
};
struct timer_mark {
    struct mark mark; /* keys are microseconds since 1970 */
    struct mark_pace pace;
};

struct postgres_store {
    struct store base;
    char *url;
    uint32_t lock_wait_ms; /* at least 1: to PostgreSQL 0 means for ever */
    char name[TOKEN_TEXT]; /* says in a notification that it is ours */
    atomic_bool is_pooled; /* a pooler is in between: no session of the server is ours */
    struct postgres_watch watch;
    struct postgres_due job_due, flow_due;
    struct mark_set job_marks;  /* ranks are priorities, keys are seq >> 8 */
    struct mark_set step_marks; /* step_rank(), step_key() */
    pthread_mutex_t timer_lock;
    struct timer_mark timers[POSTGRES_TIMER_COUNT];
};

/* How a connection to this URL is described to libpq; both arrays end in NULL. */
enum { POSTGRES_CONNECT_PARAMS = 12 };
struct postgres_target {
    const char *keywords[POSTGRES_CONNECT_PARAMS], *values[POSTGRES_CONNECT_PARAMS];
};
struct postgres_target postgres_target(const char *url);

/* CAIRN_E_BAD_INPUT if libpq cannot read it; says nothing of what may hold a password. */
cairn_code postgres_check_url(const char *url, cairn_error *reterr);

/* A plain connection: non-blocking, not in pipeline mode. */
cairn_code postgres_connect(const char *url, struct postgres_patience *patience,
                            PGconn **ret_conn, cairn_error *reterr);

/* Whether the server's process is another than the one we were introduced to. */
cairn_code postgres_ask_pooled(PGconn *conn, struct postgres_patience *patience,
                               bool *ret_is_pooled, cairn_error *reterr);

void postgres_silence(PGconn *conn); /* libpq would print notices to stderr */
void postgres_conn_done(PGconn **conn);
void postgres_result_done(PGresult **result);

/* ---- failures ------------------------------------------------------------------------------
 */

/* Sorts what the database said into a code.  `doing` completes "could not ...". */
cairn_code postgres_refused(PGconn *conn, const PGresult *result, const char *doing,
                            cairn_error *reterr);

/* ---- queries -------------------------------------------------------------------------------
 */

/* Values for $1, $2, ...; add them in order.  Memory that runs out is remembered, and reported
 * when the parameters are used. */
enum { POSTGRES_PARAMS_MAX = 47 };
struct postgres_params {
    struct arena *arena;
    const char *values[POSTGRES_PARAMS_MAX];
    int lengths[POSTGRES_PARAMS_MAX], formats[POSTGRES_PARAMS_MAX]; /* as libpq wants them */
    int count;
    bool failed;
};

void param_text(struct postgres_params *params, const char *text); /* NULL: null */
void param_int(struct postgres_params *params, int64_t value);
void param_double(struct postgres_params *params, double value);
void param_bool(struct postgres_params *params, bool value);
void param_time(struct postgres_params *params, int64_t us);
void param_time_or_ends(struct postgres_params *params,
                        int64_t us); /* 0 and INSTANT_MAX: infinite */
void param_bigints(struct postgres_params *params, const int64_t *values, size_t count);
void param_texts(struct postgres_params *params, const char *const *texts, size_t count);
void param_ints(struct postgres_params *params, const int32_t *values, size_t count);
void param_uuids(struct postgres_params *params, const char *const *ids, size_t count);
void param_jsons(struct postgres_params *params, const char *const *jsons, size_t count);

struct postgres_array {
    struct buf bytes;
    uint32_t type, count, null_count; /* of the elements */
};

/* Arrays that grow row by row, one for each column.  The server compares types: column_int() is
 * for int[], column_bigint() for bigint[], column_json() for jsonb[]. */
struct postgres_columns {
    struct postgres_array arrays[POSTGRES_PARAMS_MAX];
    int next; /* the column that the next value goes to */
};

void columns_done(struct postgres_columns *columns);
void columns_reset(struct postgres_columns *columns);
void column_text(struct postgres_columns *columns, const char *text); /* NULL: null */
void column_uuid(struct postgres_columns *columns, const char *id);   /* not valid: null */
void column_json(struct postgres_columns *columns, const char *json); /* NULL: null */
void column_int(struct postgres_columns *columns, int32_t value);
void column_bigint(struct postgres_columns *columns, int64_t value);
void column_bool(struct postgres_columns *columns, bool value);

/* What is 0 or false in nearly every row: sent as null, which costs nothing when all are, and put
 * right by the statement's coalesce(). */
void column_count(struct postgres_columns *columns, int32_t value);
void column_big_count(struct postgres_columns *columns, int64_t value);
void column_flag(struct postgres_columns *columns, bool value);

void column_time(struct postgres_columns *columns, int64_t us);
void column_time_or_null(struct postgres_columns *columns, int64_t us); /* 0: null */
void columns_end_row(struct postgres_columns *columns, int count);      /* of columns */
size_t columns_size(const struct postgres_columns *columns);            /* bytes */
void param_columns(struct postgres_params *params, struct postgres_columns *columns, int count);

/* Beyond this many bytes a set of rows is sent in portions. */
enum { POSTGRES_PORTION = 8 << 20 };

/* ---- sessions ------------------------------------------------------------------------------
 */

struct postgres_tx {
    struct store_tx base;
    bool is_news; /* others should know, whether or not something is ready: a timer, a registry
                   */
    struct claim_walk *step_walk; /* of the step claim that was sent */
};

struct queued_query {
    enum postgres_query query;
    bool is_prepare;
};

enum { POSTGRES_QUEUE_MAX = 64 };
struct postgres_session {
    struct store_session base;
    PGconn *conn;                      /* NULL: lost; the next begin connects anew */
    struct postgres_patience patience; /* with what is under way */
    int64_t silence_us; /* how long the server may be silent within a transaction */
    bool is_prepared[POSTGRES_QUERY_COUNT];
    struct queued_query queue[POSTGRES_QUEUE_MAX]; /* sent, results not yet read */
    int queue_len;
    bool is_leaving;          /* a rollback is under way that nobody has waited for */
    enum postgres_query sent; /* whose result is kept; POSTGRES_QUERY_COUNT: none's */
    PGresult *sent_result;    /* NULL: not yet read */
    struct postgres_tx tx;    /* one at a time */
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

/* Sends at once, so that the server is at work while we are; postgres_take() is for the result.
 * One at a time, and not the same query again before that.  What is queued or run in between goes
 * behind it. */
cairn_code postgres_send(struct postgres_session *session, enum postgres_query query,
                         const struct postgres_params *params, cairn_error *reterr);
cairn_code postgres_take(struct postgres_session *session, PGresult **ret_result,
                         cairn_error *reterr);
void postgres_forget_sent(struct postgres_session *session); /* nobody comes for it */

/* Ends a transaction that has only read, without waiting for the answer; postgres_left() reads that,
 * before anything else is sent. */
void postgres_leave(struct postgres_session *session);
void postgres_left(struct postgres_session *session);

/* Forgets a connection that is of no use any more. */
void postgres_lose(struct postgres_session *session);

/* ---- timers --------------------------------------------------------------------------------
 */

/* A timer that this transaction sets. */
void postgres_note_due(struct store_tx *tx, int64_t due_us);
void postgres_note_row(struct store_tx *tx, const struct job_row *row); /* its timer, if any */

/* $n: where a walk over the timers of one kind may begin. */
void param_timer_from(struct postgres_params *params, struct store_tx *tx,
                      enum postgres_timer timer);

/* Others have changed something: what was read no longer counts. */
void postgres_forget_due(struct postgres_store *store);

/* ---- claiming and locking ------------------------------------------------------------------
 */

/* A claim looks at a few more than wanted: what other claimers hold costs no second look. */
enum { POSTGRES_SPARE_HEADS = 8 };

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

struct postgres_reader;

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

/* From the marks if they are in use, else from the beginning. */
cairn_code postgres_plan_walk(struct arena *arena, struct mark_set *set,
                              const struct postgres_types *types, struct claim_walk *ret_walk,
                              cairn_error *reterr);
void param_walk(struct postgres_params *params, const struct claim_walk *walk);

/* What a walk told: the first columns of a claim's result. */
enum { WALK_COLUMNS = 7 };
struct walk_told {
    size_t heads, taken; /* how many rows it looked at, and locked */
    int64_t took_us;
    struct walk_facts facts;
    int64_t extra; /* each claim's own */
    int64_t end;   /* no new row has a lower key; the caller knows it */
    const char
        *lows; /* of each range that is not empty, its number from 1 and its lowest key */
};
struct walk_told postgres_read_told(struct postgres_reader *reader, const struct mark_set *set);

struct claimed_key {
    const char *type;
    int64_t rank, key;
};
/* `work` is how many rows the walk had to read, dead ones apart.  is_virtual: time is a test's, and
 * so is every answer; no walk is too slow then. */
void postgres_walked(struct mark_set *set, struct claim_walk *walk,
                     const struct walk_told *told, bool is_virtual, size_t work,
                     const struct claimed_key *keys, size_t count);

/* Looks at a part of what lies below the marks, if it is time to.  *ret_is_found: something can be
 * claimed there. */
cairn_code postgres_check_below(struct store_tx *tx, struct mark_set *set,
                                enum postgres_query query, bool is_short, bool *ret_is_found,
                                cairn_error *reterr);

/* A row of this transaction's can be claimed; in the second case, one of any rank of its type. */
void postgres_note_ready(struct mark_set *set, const char *type, int64_t rank, int64_t key);
void postgres_note_ready_type(struct mark_set *set, const char *type, int64_t key);

/* `more` are types that no pattern matches. */
cairn_code postgres_sort_patterns(struct arena *arena, const struct job_claim *claim,
                                  const struct exact_type *more, size_t more_count,
                                  struct postgres_types *ret_types, cairn_error *reterr);

/* Whether the ids that were not locked are there at all; `query` finds those that are. */
cairn_code postgres_tell_busy(struct store_tx *tx, enum postgres_query query,
                              const char *const *ids, size_t count, enum lock_result *results,
                              cairn_error *reterr);

/* Locks take time to get, and a lease is judged by the moment when its row was got: `column` has
 * the clock of that moment. */
void postgres_move_on(struct store_tx *tx, struct postgres_reader *reader, int column);

/* ---- results -------------------------------------------------------------------------------
 */

/* PostgreSQL counts from 2000, we from 1970. */
#define POSTGRES_EPOCH_US INT64_C(946684800000000)

/* A value; NULL, false, 0 for null.  Texts are copied into the arena: NULL with *failed set
 * when memory has run out. */
struct postgres_reader {
    const PGresult *result;
    int row;
    struct arena *arena;
    bool failed;
};

const char *value_text(struct postgres_reader *reader, int column);
int64_t value_int(struct postgres_reader *reader, int column); /* 4 or 8 bytes */
bool value_bool(struct postgres_reader *reader, int column);
int64_t value_time(struct postgres_reader *reader, int column);

/* The columns of a job, in the order that every query lists them, from `first` on. */
void postgres_read_job(struct postgres_reader *reader, int first, struct job_row *ret_row);

/* All rows of a result. */
cairn_code postgres_read_jobs(struct store_tx *tx, const PGresult *result,
                              struct job_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr);

/* ---- opening -------------------------------------------------------------------------------
 */

/* Brings the tables up to date, or says why not. */
cairn_code postgres_migrate(PGconn *conn, const struct store_config *config,
                            struct store_schema *ret_schema, cairn_error *reterr);
int postgres_newest_schema(void);

#endif
