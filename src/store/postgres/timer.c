/* store/postgres/timer.c - what falls due: work for later, leases, waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The engine asks for the next timer in every commit.  Leases that have ended stay at the head
 * of their index as dead entries until a vacuum, and a look has to walk over them.  So an
 * answer holds for a moment: our own later writes lower it, news from others discards it.  What
 * another process does without a word (a lease it takes) is seen that moment later.
 *
 * While somebody holds an old snapshot no vacuum removes the dead entries.  Once a look has become
 * slow it begins at a mark (mark.h), a second before now at the latest, and goes no further than a
 * second from now: it says then that it wants to be asked again.  What was written below the mark
 * (a lease that a hand ended in the past) is found by looking there, in portions.
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/flow.h"

#define HOLDS_US (200 * US_PER_MS)
#define WINDOW_US US_PER_SEC

static void note(struct postgres_due *due, int64_t due_us)
{
    int64_t known_us = atomic_load(&due->due_us);
    while (due_us < known_us)
        if (atomic_compare_exchange_weak(&due->due_us, &known_us, due_us))
            return;
}

void postgres_note_due(struct store_tx *tx, int64_t due_us)
{
    note(&postgres_store_of(tx->session)->job_due, due_us);
}

void postgres_note_flow_due(struct store_tx *tx, int64_t due_us)
{
    note(&postgres_store_of(tx->session)->flow_due, due_us);
}

/* A timer of this transaction's that may lie below its mark. */
static void lower(struct store_tx *tx, enum postgres_timer timer, int64_t us)
{
    struct postgres_store *store = postgres_store_of(tx->session);
    pthread_mutex_lock(&store->timer_lock);
    mark_lower(&store->timers[timer].mark, us > 0 ? us : 0);
    pthread_mutex_unlock(&store->timer_lock);
}

void postgres_note_row(struct store_tx *tx, const struct job_row *row)
{
    if (row->status == JOB_PENDING && row->is_ready) {
        postgres_note_ready(&postgres_store_of(tx->session)->job_marks, row->type,
                            row->priority, row->seq >> 8);
    } else if (row->status == JOB_PENDING) {
        postgres_session_of(tx)->tx.is_news = true; /* whoever listens has a timer to set */
        postgres_note_due(tx, row->run_at_us);
        lower(tx, TIMER_JOB_LATER, row->run_at_us);
    } else if (row->status == JOB_LEASED) {
        postgres_note_due(tx, row->lease_until_us + 1);
        lower(tx, TIMER_JOB_LEASE, row->lease_until_us);
    }
}

void postgres_note_instance(struct store_tx *tx, const struct instance_row *row)
{
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

int64_t step_key(int64_t next_run_at_us)
{
    return next_run_at_us > 0 ? next_run_at_us : 0;
}

/* A function's row that was read does not know its version: all of them are lowered. */
static void note_ready_step(struct mark_set *marks, const struct step_row *row)
{
    if (row->kind == KIND_FUNCTION && row->version == 0)
        postgres_note_ready_type(marks, row->task_type, step_key(row->next_run_at_us));
    else
        postgres_note_ready(marks, row->task_type, step_rank(row->version, row->priority),
                            step_key(row->next_run_at_us));
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
    atomic_store(&store->job_due.read_us, 0);
    atomic_store(&store->flow_due.read_us, 0);
}

/* Whether the answer that we have will do.  A timer that is due is always looked for. */
static bool is_known(struct postgres_due *due, const struct store_tx *tx, int64_t *ret_due_us)
{
    int64_t read_us = atomic_load(&due->read_us);
    int64_t due_us = atomic_load(&due->due_us);
    if (tx->session->store->clock->is_virtual || read_us == 0 ||
        monotonic_us() - read_us > HOLDS_US || due_us <= tx->now_us)
        return false;
    *ret_due_us = due_us == INT64_MAX ? 0 : due_us;
    return true;
}

/* ---- windows -------------------------------------------------------------------------------- */

struct window {
    int64_t from_us, to_us; /* 0 and INSTANT_MAX: without an end */
    bool is_marked;
};

static struct window window_of(struct store_tx *tx, enum postgres_timer timer)
{
    struct postgres_store *store = postgres_store_of(tx->session);
    struct window window = {.to_us = INSTANT_MAX};
    pthread_mutex_lock(&store->timer_lock);
    if (store->timers[timer].pace.is_marking) {
        window.is_marked = true;
        window.from_us = store->timers[timer].mark.low;
        window.to_us = instant_add(tx->now_us, WINDOW_US);
    }
    pthread_mutex_unlock(&store->timer_lock);
    return window;
}

void param_timer_from(struct postgres_params *params, struct store_tx *tx,
                      enum postgres_timer timer)
{
    param_time_or_ends(params, window_of(tx, timer).from_us);
}

/* What was found in a window (0: nothing), and how long that took. */
static void note_window(struct store_tx *tx, enum postgres_timer timer,
                        const struct window *window, int64_t found_us, int64_t took_us)
{
    struct postgres_store *store = postgres_store_of(tx->session);
    struct timer_mark *at = &store->timers[timer];
    int64_t seen_us = tx->now_us - WINDOW_US;
    if (found_us && found_us < seen_us)
        seen_us = found_us;
    pthread_mutex_lock(&store->timer_lock);
    if (!window->is_marked && (!store->base.clock->is_virtual || at->pace.is_forced))
        pace_walked(&at->pace, took_us, 1);
    if (at->pace.is_marking && window->from_us <= at->mark.low && seen_us > at->mark.low)
        at->mark.low = seen_us;
    pthread_mutex_unlock(&store->timer_lock);
}

/* A portion of what lies below the mark, if it is time to look at one. */
static bool next_portion(struct postgres_store *store, enum postgres_timer timer,
                         struct window *ret_portion)
{
    struct timer_mark *at = &store->timers[timer];
    bool is_next = false;
    pthread_mutex_lock(&store->timer_lock);
    if (at->pace.is_marking && pace_may_check(&at->pace, at->pace.is_forced, monotonic_us())) {
        if (!at->pace.is_in_round)
            mark_begin_round(&at->mark);
        is_next = mark_portion(&at->mark, &ret_portion->from_us, &ret_portion->to_us);
        if (!is_next && at->pace.is_in_round)
            pace_round_ended(&at->pace, true);
        if (!at->pace.is_marking)
            mark_init(&at->mark);
    }
    pthread_mutex_unlock(&store->timer_lock);
    return is_next;
}

static cairn_code check_below(struct store_tx *tx, enum postgres_timer timer,
                              cairn_error *reterr)
{
    struct postgres_store *store = postgres_store_of(tx->session);
    struct timer_mark *at = &store->timers[timer];
    struct window portion;
    int64_t budget_us = at->pace.is_forced ? INT64_MAX : US_PER_MS;
    for (int64_t spent_us = 0; spent_us < budget_us && next_portion(store, timer, &portion);) {
        cleanup(postgres_result_done) PGresult *result = NULL;
        struct postgres_params params = {.arena = tx->arena};
        param_int(&params, timer);
        param_time_or_ends(&params, portion.from_us);
        param_time_or_ends(&params, portion.to_us);
        cairn_code code =
            postgres_run(postgres_session_of(tx), PG_CHECK_TIMERS, &params, &result, reterr);
        if (code)
            return code;
        struct postgres_reader reader = {.result = result};
        int64_t took_us = value_int(&reader, 1);
        pthread_mutex_lock(&store->timer_lock);
        pace_checked(&at->pace, took_us, monotonic_us());
        if (!PQgetisnull(result, 0, 0))
            mark_lower(&at->mark, value_time(&reader, 0));
        else
            mark_checked(&at->mark, portion.from_us, portion.to_us, took_us);
        pthread_mutex_unlock(&store->timer_lock);
        spent_us += took_us + 1;
    }
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

static cairn_code read_due(struct store_tx *tx, struct postgres_due *due,
                           enum postgres_query query, enum postgres_timer first,
                           enum postgres_timer last, int64_t *ret_due_us, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    struct window windows[POSTGRES_TIMER_COUNT];
    cairn_code code = CAIRN_OK;
    if (is_known(due, tx, ret_due_us))
        return CAIRN_OK;
    for (int timer = first; timer <= (int)last && !code; timer++) {
        code = check_below(tx, (enum postgres_timer)timer, reterr);
        windows[timer] = window_of(tx, (enum postgres_timer)timer);
        param_time_or_ends(&params, windows[timer].from_us);
        param_time_or_ends(&params, windows[timer].to_us);
    }
    if (!code)
        code = postgres_run(postgres_session_of(tx), query, &params, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result};
    int64_t due_us = INT64_MAX, before_us = 0;
    for (int timer = first, column = 0; timer <= (int)last; timer++, column += 2) {
        bool is_found = !PQgetisnull(result, 0, column);
        int64_t found_us = value_time(&reader, column);
        int64_t took_us = value_int(&reader, column + 1);
        found_us = is_found && found_us < 1 ? 1 : found_us; /* long before our time */
        note_window(tx, (enum postgres_timer)timer, &windows[timer], found_us,
                    took_us - before_us);
        int64_t one_us = due_of(&windows[timer], (enum postgres_timer)timer, found_us);
        due_us = one_us < due_us ? one_us : due_us;
        before_us = took_us;
    }
    *ret_due_us = due_us == INT64_MAX ? 0 : due_us;
    atomic_store(&due->due_us, due_us);
    atomic_store(&due->read_us, monotonic_us());
    return CAIRN_OK;
}

cairn_code postgres_next_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr)
{
    return read_due(tx, &postgres_store_of(tx->session)->job_due, PG_NEXT_DUE, TIMER_JOB_LATER,
                    TIMER_JOB_LEASE, ret_due_us, reterr);
}

cairn_code postgres_next_flow_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr)
{
    return read_due(tx, &postgres_store_of(tx->session)->flow_due, PG_NEXT_FLOW_DUE,
                    TIMER_STEP_RETRY, TIMER_START, ret_due_us, reterr);
}

/* ---- making ready --------------------------------------------------------------------------- */

static cairn_code promote(struct store_tx *tx, enum postgres_query query,
                          enum postgres_timer timer, size_t limit, struct mark_set *marks,
                          size_t *ret_count, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_time(&params, tx->now_us);
    param_int(&params, (int64_t)limit);
    param_timer_from(&params, tx, timer);
    cairn_code code = postgres_run(postgres_session_of(tx), query, &params, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    *ret_count = 0;
    for (; reader.row < PQntuples(result); reader.row++) {
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
