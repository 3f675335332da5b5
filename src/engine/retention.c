/* engine/retention.c - the sweep that applies the retention policy, a portion at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/retention.h"

/* Keys, bulk actions and pages of one portion; portions of free space in one sweep, since what has become old comes first. */
enum { KEYS_AT_ONCE = 1000, BULKS_AT_ONCE = 50, PAGES_AT_ONCE = 500, SPACE_PORTIONS = 40 };

/* Of the time of a store's committers, portions take one part in so many: less than a tenth, since after each of them other
 * processes read again what it might have changed, and who found the lock taken looks for it again a while later.  There is a
 * moment between two of them, and no more than this: one that took long may have waited for a processor. */
enum { TAKEN_PART = 16, REST_LEAST_US = 1000, REST_MOST_US = 1000 * 1000 };

/* Between sweeps: a hundredth of the shortest age, within these; and more if they leave much. */
#define GAP_LEAST_US US_PER_SEC
#define GAP_MOST_US US_PER_MIN
enum { GAP_PART = 100, GAP_A_ROW_US = 5000 };

/* How often a process looks whether others have changed the policy, and how long one that does not serve waits before
 * it looks for the first time, since most of them are commands that end soon. */
#define LOOK_US (10 * US_PER_MIN)
#define FIRST_LOOK_US (10 * US_PER_SEC)
#define HELD_US US_PER_SEC /* another process is at it */

struct sweep {
    struct batch *batch;
    struct retention_row row;
    bool is_worked; /* the portion is made */
};

static int64_t now_us(const struct sweep *sweep)
{
    return sweep->batch->tx->now_us;
}

static void note_due(struct sweep *sweep, int64_t due_us)
{
    struct retention_row *row = &sweep->row;
    if (due_us != INT64_MAX && (!row->earliest_us || due_us < row->earliest_us))
        row->earliest_us = due_us;
}

static void enter_next_phase(struct sweep *sweep)
{
    sweep->row.phase++;
    sweep->row.place = 0;
}

/* ---- jobs and instances ---------------------------------------------------------------------- */

static bool is_over_age(struct purge *purge, enum list_kind kind, const struct past_row *row,
                        int64_t *ret_due_us)
{
    struct retention_row *policy = &purge->policy;
    const int64_t *age_ms =
        kind == LIST_JOBS ? retention_of_job(policy, job_status_from(row->status))
                          : retention_of_instance(policy, instance_status_from(row->status));
    *ret_due_us = age_ms ? retention_due_us(*age_ms, row->ended_at_us) : INT64_MAX;
    return *ret_due_us <= purge->batch->tx->now_us;
}

static cairn_code sweep_rows(struct sweep *sweep, enum list_kind kind)
{
    struct retention_row *row = &sweep->row;
    int64_t least_ms =
        kind == LIST_JOBS ? retention_least_job(row) : retention_least_instance(row);
    struct purge purge = {
        .batch = sweep->batch, .policy = *row, .wants = is_over_age, .earliest_us = INT64_MAX};
    bool is_over = least_ms == RETENTION_NEVER;
    if (!is_over)
        TRY(purge_portion(&purge, kind, &row->place, &is_over));
    /* They are in the order of their creation: nothing behind these is old enough. */
    int64_t young_us = retention_due_us(least_ms, purge.created_us);
    if (!is_over && purge.read && !purge.purged && !purge.marked && young_us > now_us(sweep)) {
        note_due(sweep, young_us);
        is_over = true;
    }
    note_due(sweep, purge.earliest_us);
    row->seen += (int64_t)purge.seen;
    sweep->is_worked = purge.purged || purge.marked || !is_over;
    if (is_over)
        enter_next_phase(sweep);
    return CAIRN_OK;
}

/* ---- keys, bulk actions, space --------------------------------------------------------------- */

/* Ended at this time or earlier: old enough. */
static int64_t cutoff_us(const struct sweep *sweep, int64_t age_ms)
{
    return now_us(sweep) - age_ms * US_PER_MS;
}

static cairn_code sweep_keys(struct sweep *sweep)
{
    struct batch *batch = sweep->batch;
    struct retention_row *row = &sweep->row;
    size_t keys = 0, bulks = 0;
    int64_t first_us = 0;
    if (row->keys >= 0)
        TRY(STORE(batch, drop_keys, cutoff_us(sweep, row->keys) + 1, KEYS_AT_ONCE, &keys));
    if (row->instances_completed >= 0)
        TRY(STORE(batch, drop_bulks, cutoff_us(sweep, row->instances_completed) + 1,
                  BULKS_AT_ONCE, &bulks));
    sweep->is_worked = keys || bulks;
    if (keys == KEYS_AT_ONCE || bulks == BULKS_AT_ONCE)
        return CAIRN_OK;
    cairn_code code = STORE(batch, first_key, &first_us);
    if (code && code != CAIRN_E_NOT_FOUND)
        return code;
    if (!code)
        note_due(sweep, retention_due_us(row->keys, first_us));
    enter_next_phase(sweep);
    return CAIRN_OK;
}

static cairn_code sweep_space(struct sweep *sweep)
{
    bool is_more = false;
    TRY(STORE(sweep->batch, shrink, PAGES_AT_ONCE, &is_more));
    sweep->is_worked = is_more;
    sweep->row.place++;
    if (is_more && sweep->row.place >= SPACE_PORTIONS)
        note_due(sweep, now_us(sweep));
    if (!is_more || sweep->row.place >= SPACE_PORTIONS)
        enter_next_phase(sweep);
    return CAIRN_OK;
}

/* ---- a portion ------------------------------------------------------------------------------- */

static int64_t least_age_ms(const struct retention_row *row)
{
    int64_t ages[] = {retention_least_job(row), retention_least_instance(row), row->keys};
    int64_t least = RETENTION_NEVER;
    for (size_t i = 0; i < sizeof ages / sizeof *ages; i++)
        if (ages[i] >= 0 && (least < 0 || ages[i] < least))
            least = ages[i];
    return least;
}

/* Whatever ends from now on is not due before the shortest age has passed. */
static void end_sweep(struct sweep *sweep)
{
    struct retention_row *row = &sweep->row;
    int64_t age_ms = least_age_ms(row);
    int64_t gap_us = age_ms < 0 ? GAP_MOST_US : age_ms * US_PER_MS / GAP_PART;
    gap_us = gap_us < GAP_LEAST_US ? GAP_LEAST_US : gap_us > GAP_MOST_US ? GAP_MOST_US : gap_us;
    gap_us += row->seen * GAP_A_ROW_US;
    note_due(sweep, retention_due_us(age_ms, now_us(sweep)));
    if (!row->earliest_us) /* everything is kept */
        note_due(sweep, retention_due_us(RETENTION_MS_MAX, now_us(sweep)));
    row->next_at_us =
        row->earliest_us > now_us(sweep) + gap_us ? row->earliest_us : now_us(sweep) + gap_us;
    row->phase = SWEEP_JOBS;
    row->place = row->seen = row->earliest_us = 0;
}

/* What an earlier purge has begun comes first, however old it is. */
static cairn_code sweep_begun(struct sweep *sweep)
{
    struct purge purge = {.batch = sweep->batch, .policy = sweep->row};
    bool is_left;
    TRY(purge_begun(&purge, &is_left));
    sweep->is_worked = purge.purged || purge.marked;
    if (is_left)
        note_due(sweep, now_us(sweep) + PURGE_HELD_AGAIN_US);
    return CAIRN_OK;
}

static cairn_code make_portion(struct sweep *sweep)
{
    TRY(sweep_begun(sweep));
    while (!sweep->is_worked && sweep->row.phase < SWEEP_PHASES) {
        switch (sweep->row.phase) {
        case SWEEP_JOBS:
            TRY(sweep_rows(sweep, LIST_JOBS));
            break;
        case SWEEP_INSTANCES:
            TRY(sweep_rows(sweep, LIST_INSTANCES));
            break;
        case SWEEP_KEYS:
            TRY(sweep_keys(sweep));
            break;
        default:
            TRY(sweep_space(sweep));
        }
    }
    return CAIRN_OK;
}

/* Where there is one writer, it is taken until the commit is over; that will be as long as the last one. */
static int64_t rest_us(const struct local_engine *engine, int64_t took_us)
{
    int64_t commit_us = engine->committer_count == 1 ? engine->sweeps.commit_us : 0;
    int64_t us = REST_LEAST_US + (took_us + commit_us) * TAKEN_PART / engine->committer_count;
    return us < REST_MOST_US ? us : REST_MOST_US;
}

cairn_code retention_sweep(struct batch *batch, int64_t *ret_next_us)
{
    struct local_engine *engine = batch->engine;
    int64_t began_us = clock_monotonic_us(&engine->clock);
    struct sweep sweep = {.batch = batch};
    cairn_code code = STORE(batch, take_retention, &sweep.row);
    *ret_next_us = batch->tx->now_us + HELD_US;
    if (code)
        return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
    *ret_next_us = sweep.row.next_at_us;
    if (sweep.row.next_at_us > batch->tx->now_us)
        return CAIRN_OK;
    TRY(workset_write_now(batch)); /* what timers have changed is in the store */
    TRY(make_portion(&sweep));
    int64_t took_us = clock_monotonic_us(&engine->clock) - began_us;
    sweep.row.next_at_us = batch->tx->now_us;
    if (sweep.row.phase == SWEEP_PHASES)
        end_sweep(&sweep);
    else if (!engine->clock.is_virtual)
        sweep.row.next_at_us += rest_us(engine, took_us);
    *ret_next_us = sweep.row.next_at_us;
    return STORE(batch, put_retention, &sweep.row);
}

/* OP_RETENTION_STEP.  out.now_us, out.next_us: the time, and when the next portion may be made. */
cairn_code batch_sweep(struct batch *batch, struct request *request)
{
    struct local_engine *engine = batch->engine;
    int64_t began_us = clock_monotonic_us(&engine->clock);
    cairn_code code = retention_sweep(batch, &request->out.next_us);
    engine->sweeps.worked_us = clock_monotonic_us(&engine->clock);
    request->out.now_us = batch->tx->now_us + engine->sweeps.worked_us - began_us;
    return code;
}

/* ---- when ------------------------------------------------------------------------------------ */

int64_t retention_next_us(const struct local_engine *engine)
{
    return engine->sweeps.is_busy || !keeps_timers(engine) ? INT64_MAX : engine->sweeps.look_us;
}

void retention_look(struct local_engine *engine)
{
    engine->sweeps.look_us = 0;
}

void retention_open(struct local_engine *engine)
{
    engine->sweeps.family_most = PURGE_FAMILY;
    engine->sweeps.look_us =
        engine->base.options.serves ? 0 : clock_monotonic_us(&engine->clock) + FIRST_LOOK_US;
}

static void on_done(struct request *request)
{
    struct local_engine *engine = request->arg;
    int64_t wait_us = request->code ? US_PER_SEC : request->out.next_us - request->out.now_us;
    pthread_mutex_lock(&engine->lock);
    engine->sweeps.is_busy = false;
    engine->sweeps.commit_us = clock_monotonic_us(&engine->clock) - engine->sweeps.worked_us;
    if (engine->sweeps.look_us) /* else there was news meanwhile */
        engine->sweeps.look_us =
            clock_monotonic_us(&engine->clock) + (wait_us < LOOK_US ? wait_us : LOOK_US);
    pthread_cond_broadcast(&engine->write_work);
    pthread_mutex_unlock(&engine->lock);
    request_free(request);
}

void retention_submit(struct local_engine *engine)
{
    struct request *request = request_new(OP_RETENTION_STEP);
    engine->sweeps.look_us = clock_monotonic_us(&engine->clock) + US_PER_SEC;
    if (!request)
        return;
    request->done = on_done;
    request->arg = engine;
    engine->sweeps.is_busy = true;
    queue_push(&engine->writes, request);
}
