/* store/postgres/timer.c - what falls due: work for later, leases, waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The engine asks for the next timer in every commit.  Leases that have ended stay at the head
 * of their index as dead entries until a vacuum, and a look has to walk over them.  So an
 * answer holds for a moment: our own later writes lower it, news from others discards it.  What
 * another process does without a word (a lease it takes) is seen that moment later.  Before the moment is over, a
 * commit takes the question along, so that none has to wait for its answer while work goes on.
 *
 * While another session holds an old snapshot, no vacuum removes the dead entries.  Once a look has become
 * slow it begins at a mark (mark.h), a second before now at the latest, and goes no further than a
 * second from now: it says then that it wants to be asked again.  What was written below the mark
 * (a lease that a hand ended in the past) is found by looking there, in portions.
 *
 * Leases of jobs have rows of their own (migration 0012).  Such a row is due at the end of a lease or
 * earlier; whoever comes then removes it if its leases have ended, and moves it if they have not.
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#define HOLDS_US (200 * US_PER_MS)
#define WINDOW_US US_PER_SEC

static void note(_Atomic int64_t *known, int64_t due_us)
{
    int64_t known_us = atomic_load(known);
    while (due_us < known_us)
        if (atomic_compare_exchange_weak(known, &known_us, due_us))
            return;
}

void postgres_note_due(struct store_tx *tx, int64_t due_us)
{
    note(&postgres_store_of(tx->session)->due.job_us, due_us);
}

void postgres_note_flow_due(struct store_tx *tx, int64_t due_us)
{
    note(&postgres_store_of(tx->session)->due.flow_us, due_us);
}

/* A timer of this transaction that may lie below its mark. */
static void lower(struct store_tx *tx, enum postgres_timer timer, int64_t us)
{
    postgres_note_ready(&postgres_store_of(tx->session)->timers[timer], "", timer,
                        us > 0 ? us : 0);
}

/* A run of a schedule has ended: another may wait for it. */
void postgres_note_run_ended(struct store_tx *tx, const char *schedule)
{
    if (!schedule)
        return;
    postgres_session_of(tx)->tx.is_news = true;
    postgres_note_flow_due(tx, tx->now_us);
}

void postgres_note_job(struct store_tx *tx, const void *job)
{
    const struct job_row *row = job;
    if (row->status != JOB_PENDING && row->status != JOB_LEASED)
        postgres_note_run_ended(tx, row->schedule);
    if (row->status == JOB_PENDING && row->is_ready) {
        postgres_note_ready(&postgres_store_of(tx->session)->job_marks, row->type,
                            row->priority, row->seq >> 8);
    } else if (row->status == JOB_PENDING) {
        postgres_session_of(tx)->tx.is_news = true; /* engines that listen set a timer */
        postgres_note_due(tx, row->run_at_us);
        lower(tx, TIMER_JOB_LATER, row->run_at_us);
    } else if (row->status == JOB_LEASED) {
        postgres_note_due(tx, row->lease_until_us + 1);
        lower(tx, TIMER_JOB_LEASE, row->lease_until_us);
    }
}

void postgres_note_instance(struct store_tx *tx, const void *instance)
{
    const struct instance_row *row = instance;
    if (row->is_telling)
        postgres_note_flow_due(tx, tx->now_us);
    if (row->finished_at_us)
        postgres_note_run_ended(tx, row->schedule);
    if (row->status != INSTANCE_PENDING || !row->start_at_us)
        return;
    postgres_session_of(tx)->tx.is_news = true;
    postgres_note_flow_due(tx, row->start_at_us);
    lower(tx, TIMER_START, row->start_at_us);
}

int64_t step_rank(int32_t version, int32_t priority)
{
    return ((int64_t)version << STEP_PRIORITY_BITS) | priority;
}

/* If a function's row does not know its version, the marks of all versions are lowered. */
static void note_ready_step(struct mark_set *marks, const struct step_row *row)
{
    int64_t key = row->next_run_at_us > 0 ? row->next_run_at_us : 0;
    if (row->kind == KIND_FUNCTION && row->version == 0)
        postgres_note_ready_type(marks, row->task_type, key);
    else
        postgres_note_ready(marks, row->task_type, step_rank(row->version, row->priority), key);
}

void postgres_note_step(struct store_tx *tx, const struct step_row *row)
{
    if (row->is_ready && row->task_type)
        note_ready_step(&postgres_store_of(tx->session)->step_marks, row);
    if (!row->due_at_us)
        return;
    if (!row->locked_by)
        postgres_session_of(tx)->tx.is_news = true;
    postgres_note_flow_due(tx, row->due_at_us);
    for (int timer = TIMER_STEP_RETRY; timer <= TIMER_STEP_WAIT; timer++)
        lower(tx, (enum postgres_timer)timer, row->due_at_us);
}

void postgres_forget_due(struct postgres_store *store)
{
    atomic_store(&store->due.read_us, 0);
}

static int64_t or_never(int64_t due_us)
{
    return due_us == INT64_MAX ? 0 : due_us;
}

/* Whether the answer that we have will do.  A timer that is due is always looked for. */
static bool is_known(struct postgres_due *due, const struct store_tx *tx,
                     struct due_times *ret_due)
{
    int64_t read_us = atomic_load(&due->read_us);
    int64_t job_us = atomic_load(&due->job_us), flow_us = atomic_load(&due->flow_us);
    if (tx->session->store->clock->is_virtual || read_us == 0 ||
        monotonic_us() - read_us > HOLDS_US || job_us <= tx->now_us || flow_us <= tx->now_us)
        return false;
    *ret_due = (struct due_times){or_never(job_us), or_never(flow_us)};
    return true;
}

/* ---- windows -------------------------------------------------------------------------------- */

struct window {
    int64_t from_us, to_us; /* 0 and INSTANT_MAX: without an end */
    bool is_marked;
};

static struct window window_of(struct store_tx *tx, enum postgres_timer timer)
{
    struct mark_set *set = &postgres_store_of(tx->session)->timers[timer];
    struct window window = {.to_us = INSTANT_MAX};
    pthread_mutex_lock(&set->lock);
    struct mark *mark = set->pace.is_marking ? mark_set_add(set, "", timer) : NULL;
    if (mark) {
        window.is_marked = true;
        window.from_us = mark->low;
        window.to_us = instant_add(tx->now_us, WINDOW_US);
    }
    pthread_mutex_unlock(&set->lock);
    return window;
}

void param_timer_from(struct postgres_params *params, struct store_tx *tx,
                      enum postgres_timer timer)
{
    param_time_or_ends(params, window_of(tx, timer).from_us);
}

/* What a look has found: the earliest timer, 0 for none. */
static void note_window(struct store_tx *tx, enum postgres_timer timer,
                        const struct window *window, int64_t found_us, int64_t took_us)
{
    struct mark_set *set = &postgres_store_of(tx->session)->timers[timer];
    bool is_virtual = tx->session->store->clock->is_virtual;
    int64_t seen_us = tx->now_us - WINDOW_US;
    if (found_us && found_us < seen_us)
        seen_us = found_us;
    pthread_mutex_lock(&set->lock);
    if (!window->is_marked && (!is_virtual || set->pace.is_forced))
        pace_walked(&set->pace, took_us, 1);
    struct mark *mark = set->pace.is_marking ? mark_set_add(set, "", timer) : NULL;
    if (mark && window->from_us <= mark->low && seen_us > mark->low)
        mark->low = seen_us;
    pthread_mutex_unlock(&set->lock);
}

/* ---- leases of jobs ------------------------------------------------------------------------- */

int64_t postgres_lease_look(const struct store_tx *tx, int64_t in_us, int64_t until_us)
{
    int64_t look_us = instant_add(tx->now_us, in_us);
    look_us -= look_us % US_PER_SEC;
    return tx->session->store->clock->is_virtual || until_us < look_us ? until_us : look_us;
}

cairn_code postgres_settle_leases(struct store_tx *tx, bool *ret_is_moved, cairn_error *reterr)
{
    enum { ROWS = 64 };
    bool is_moved = false;
    for (int64_t looked = ROWS, expired = 0; looked == ROWS && expired == 0;) {
        cleanup(reader_done) struct postgres_reader reader = {0};
        struct postgres_params params = PARAMS(tx, TIME(tx->now_us), INT(ROWS));
        param_timer_from(&params, tx, TIMER_JOB_LEASE);
        param_time_or_ends(&params, postgres_lease_look(tx, LEASE_NEXT_LOOK_US, INSTANT_MAX));
        TRY(postgres_ask(tx, PG_SETTLE_LEASES, &params, &reader, reterr));
        looked = value_int(&reader, 0);
        expired = value_int(&reader, 1);
        is_moved |= looked > expired;
    }
    if (ret_is_moved)
        *ret_is_moved = is_moved;
    return CAIRN_OK;
}

/* ---- the next one --------------------------------------------------------------------------- */

/* The earliest that one kind brings; INT64_MAX: none. */
static int64_t due_of(const struct window *window, enum postgres_timer timer, int64_t found_us)
{
    if (!found_us)
        return window->is_marked ? window->to_us : INT64_MAX;
    return timer == TIMER_JOB_LEASE ? found_us + 1 : found_us;
}

/* The windows of all kinds, as parameters. */
static cairn_code look_below(struct store_tx *tx, struct window *ret_windows,
                             struct postgres_params *params, cairn_error *reterr)
{
    struct postgres_store *store = postgres_store_of(tx->session);
    bool is_below;
    for (int timer = 0; timer < POSTGRES_TIMER_COUNT; timer++) {
        struct mark_set *set = &store->timers[timer];
        TRY(postgres_check_below(tx, set, PG_CHECK_TIMERS, set->pace.is_forced, &is_below,
                                 reterr));
        ret_windows[timer] = window_of(tx, (enum postgres_timer)timer);
        param_time_or_ends(params, ret_windows[timer].from_us);
        param_time_or_ends(params, ret_windows[timer].to_us);
    }
    return CAIRN_OK;
}

/* What the look at all kinds has brought. */
struct due_look {
    struct window windows[POSTGRES_TIMER_COUNT];
    bool is_exact;        /* the ends of all leases of jobs were read, not only of their rows */
    int64_t lease_us;     /* when the first lease row is due; 0: none */
    struct due_times due; /* INT64_MAX: none */
};

/* The first of one kind; 0: none. */
static int64_t read_kind(struct store_tx *tx, struct postgres_reader *reader,
                         struct due_look *look, enum postgres_timer timer)
{
    int column = 2 * (int)timer;
    bool is_found = !PQgetisnull(reader->result, 0, column);
    int64_t found_us = value_time(reader, column);
    int64_t before_us = timer ? value_int(reader, column - 1) : 0;
    found_us = is_found && found_us < 1 ? 1 : found_us; /* long before our time */
    note_window(tx, timer, &look->windows[timer], found_us,
                value_int(reader, column + 1) - before_us);
    if (timer != TIMER_JOB_LEASE)
        return found_us;
    look->lease_us = found_us;
    enum { EXACT_COLUMN = 2 * POSTGRES_TIMER_COUNT + 1 };
    bool is_leased = !PQgetisnull(reader->result, 0, EXACT_COLUMN);
    int64_t ends_us = value_time(reader, EXACT_COLUMN);
    return !look->is_exact ? found_us : is_leased && ends_us < 1 ? 1 : ends_us;
}

/* The earliest of the kinds from `first` to `last`; INT64_MAX: none. */
static int64_t read_kinds(struct store_tx *tx, struct postgres_reader *reader,
                          struct due_look *look, enum postgres_timer first,
                          enum postgres_timer last)
{
    int64_t due_us = INT64_MAX;
    for (int timer = first; timer <= (int)last; timer++) {
        int64_t found_us = read_kind(tx, reader, look, (enum postgres_timer)timer);
        int64_t one_us = due_of(&look->windows[timer], (enum postgres_timer)timer, found_us);
        due_us = one_us < due_us ? one_us : due_us;
    }
    return due_us;
}

static void read_look(struct store_tx *tx, struct postgres_reader *reader,
                      struct due_look *look)
{
    look->due.job_us = read_kinds(tx, reader, look, TIMER_JOB_LATER, TIMER_JOB_LEASE);
    look->due.flow_us = read_kinds(tx, reader, look, TIMER_STEP_RETRY, TIMER_START);
    if (value_bool(reader, 2 * POSTGRES_TIMER_COUNT))
        look->due.flow_us = tx->now_us; /* a start that plain SQL has written, or relatives */
    enum { SCHEDULE_COLUMN = 2 * POSTGRES_TIMER_COUNT + 2 };
    int64_t schedule_us = value_time(reader, SCHEDULE_COLUMN);
    if (schedule_us && schedule_us < look->due.flow_us)
        look->due.flow_us = schedule_us;
}

static cairn_code look_at_all(struct store_tx *tx, struct due_look *look, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    TRY(look_below(tx, look->windows, &params, reterr));
    param_text(&params, look->is_exact ? "t" : "f");
    TRY(postgres_ask(tx, PG_NEXT_DUE, &params, &reader, reterr));
    read_look(tx, &reader, look);
    return CAIRN_OK;
}

static void keep_due(struct postgres_due *due, const struct due_times *found, int64_t at_us)
{
    atomic_store(&due->job_us, found->job_us);
    atomic_store(&due->flow_us, found->flow_us);
    atomic_store(&due->read_us, at_us);
}

/* A writer with the real clock may be told of a lease row that is due early, and comes for nothing; what
 * is due now it finds out.  A reader is told what is. */
cairn_code postgres_next_due(struct store_tx *tx, struct due_times *ret_due,
                             cairn_error *reterr)
{
    struct postgres_due *due = &postgres_store_of(tx->session)->due;
    bool is_writer = tx->session->kind == SESSION_WRITER, is_moved = false;
    struct due_look look = {.is_exact = !is_writer || tx->session->store->clock->is_virtual};
    if (is_writer && is_known(due, tx, ret_due))
        return CAIRN_OK;
    TRY(look_at_all(tx, &look, reterr));
    if (is_writer && look.lease_us && look.lease_us < tx->now_us)
        TRY(postgres_settle_leases(tx, &is_moved, reterr));
    if (is_moved)
        TRY(look_at_all(tx, &look, reterr));
    *ret_due = (struct due_times){or_never(look.due.job_us), or_never(look.due.flow_us)};
    if (!is_writer)
        return CAIRN_OK;
    keep_due(due, &look.due, monotonic_us());
    return CAIRN_OK;
}

/* ---- with a commit --------------------------------------------------------------------------- */

static struct postgres_due_seen see_due(struct postgres_due *due)
{
    return (struct postgres_due_seen){.job_us = atomic_load(&due->job_us),
                                      .flow_us = atomic_load(&due->flow_us),
                                      .read_us = atomic_load(&due->read_us)};
}

/* Whether looks have to begin at marks: then they may take several questions. */
static bool is_any_marking(struct postgres_store *store)
{
    for (int timer = 0; timer < POSTGRES_TIMER_COUNT; timer++)
        if (postgres_is_marking(&store->timers[timer]))
            return true;
    return false;
}

cairn_code postgres_send_due(struct store_tx *tx, cairn_error *reterr)
{
    struct postgres_store *store = postgres_store_of(tx->session);
    struct postgres_params params = {.arena = tx->arena};
    struct postgres_due_seen *seen = &postgres_session_of(tx)->tx.due;
    *seen = see_due(&store->due);
    if (store->base.clock->is_virtual || seen->read_us == 0 ||
        monotonic_us() - seen->read_us < HOLDS_US / 2 || is_any_marking(store))
        return CAIRN_OK;
    for (int timer = 0; timer < POSTGRES_TIMER_COUNT; timer++) {
        param_time_or_ends(&params, 0);
        param_time_or_ends(&params, INSTANT_MAX);
    }
    param_text(&params, "f");
    return postgres_send(postgres_session_of(tx), PG_NEXT_DUE, &params, reterr);
}

/* If lease rows are due, the next transaction looks at them itself; and what another session has noted
 * meanwhile, this answer may not know. */
void postgres_take_due(struct store_tx *tx)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_due *due = &postgres_store_of(tx->session)->due;
    const struct postgres_due_seen *seen = &postgres_session_of(tx)->tx.due;
    struct due_look look = {0};
    cairn_error ignored;
    if (!postgres_is_sent(postgres_session_of(tx), PG_NEXT_DUE) ||
        postgres_take(tx, PG_NEXT_DUE, &reader, &ignored) || reader.count == 0)
        return;
    for (int timer = 0; timer < POSTGRES_TIMER_COUNT; timer++)
        look.windows[timer] = (struct window){.to_us = INSTANT_MAX};
    read_look(tx, &reader, &look);
    struct postgres_due_seen now = see_due(due);
    bool is_same = now.read_us == seen->read_us && now.job_us == seen->job_us &&
                   now.flow_us == seen->flow_us;
    if (is_same && (!look.lease_us || look.lease_us >= tx->now_us))
        keep_due(due, &look.due, monotonic_us());
}

/* ---- making ready --------------------------------------------------------------------------- */

static cairn_code promote(struct store_tx *tx, enum postgres_query query,
                          enum postgres_timer timer, size_t limit, struct mark_set *marks,
                          size_t *ret_count, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, TIME(tx->now_us), INT(limit));
    param_timer_from(&params, tx, timer);
    TRY(postgres_ask(tx, query, &params, &reader, reterr));
    *ret_count = 0;
    for (; reader.row < reader.count; reader.row++) {
        const char *type = value_text(&reader, 0);
        if (type)
            postgres_note_ready(marks, type, value_int(&reader, 1), value_int(&reader, 2));
        *ret_count += (size_t)value_int(&reader, 3);
    }
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_promote_jobs(struct store_tx *tx, size_t limit, size_t *ret_count,
                                 cairn_error *reterr)
{
    return promote(tx, PG_PROMOTE_JOBS, TIMER_JOB_LATER, limit,
                   &postgres_store_of(tx->session)->job_marks, ret_count, reterr);
}

cairn_code postgres_promote_steps(struct store_tx *tx, size_t limit, size_t *ret_count,
                                  cairn_error *reterr)
{
    return promote(tx, PG_PROMOTE_STEPS, TIMER_STEP_RETRY, limit,
                   &postgres_store_of(tx->session)->step_marks, ret_count, reterr);
}

/* ---- what is due ---------------------------------------------------------------------------- */

cairn_code postgres_find_due_steps(struct store_tx *tx, struct step_ref *ret_refs, size_t room,
                                   size_t *ret_count, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, TIME(tx->now_us), INT(room));
    param_timer_from(&params, tx, TIMER_STEP_LEASE);
    param_timer_from(&params, tx, TIMER_STEP_WAIT);
    TRY(postgres_ask(tx, PG_FIND_DUE_STEPS, &params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++)
        ret_refs[reader.row] = (struct step_ref){
            .instance_id = value_text(&reader, 0),
            .seq = (int32_t)value_int(&reader, 1),
        };
    *ret_count = (size_t)reader.count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_find_due_instances(struct store_tx *tx, const char **ret_ids, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TIME(tx->now_us), INT(room));
    param_timer_from(&params, tx, TIMER_START);
    return postgres_read_texts(tx, PG_FIND_DUE_INSTANCES, &params, ret_ids, ret_count, reterr);
}
