/* engine/batch.c - many requests, one transaction, one commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Requests that share a commit must leave what they would leave one by one, in the order in which
 * they came.  So each is applied on rows in memory that those before it have changed, and is
 * answered with what it has made itself.  Two things are out of order, where no caller can tell:
 *
 *   New jobs and instances are inserted ahead, many in one statement, but never across a request
 *   that could tell: a commit that starts others (keys, and the order of insertion), and for
 *   instances a deployment.  No other request knows their ids yet.
 *
 *   The row that a control is answered with is read at the end, or before the next request that
 *   changes it (workset_take(), workset_take_job()).
 *
 * Claims, of tasks and of outbound events, come after all of this.  Their callers are concurrent
 * and have no order among the others, and one question serves many.
 */
#include "engine/batch.h"

#include "engine/bulk.h"
#include "engine/held.h"
#include "engine/limit.h"
#include "engine/retention.h"
#include "engine/workset.h"

#include <string.h>

/* Room in a batch for claims that join it late, so that a commit stays short. */
enum { JOINING_TASKS_MAX = 1000 };

/* If somebody else has written an instance that was not locked, others are likely to be written as well: for so many batches
 * they are locked. */
enum { LOCKED_BATCHES = 16 };

enum { SLOW_COMMIT_US = 1000 * 1000, LATE_TIMER_US = 5 * 1000 * 1000 };

/* ---- what a batch leaves behind ------------------------------------------------------------- */

void batch_note_due(struct batch *batch, int64_t at_us)
{
    if (batch->due_us == 0 || at_us < batch->due_us)
        batch->due_us = at_us;
}

void ready_types_add(struct ready_types *ready, const char *type, int32_t version)
{
    if (ready->is_any)
        return;
    for (size_t i = 0; type && i < ready->count; i++)
        if (ready->versions[i] == version && strcmp(ready->names[i], type) == 0)
            return;
    if (!type || ready->count == READY_TYPES_MAX || strlen(type) >= sizeof ready->names[0]) {
        ready->is_any = true;
        return;
    }
    ready->versions[ready->count] = version;
    strcpy(ready->names[ready->count++], type);
}

void batch_note_ready(struct batch *batch, enum claim_kind kind, const char *type,
                      int32_t version)
{
    batch->ready.is_made[kind] = true;
    ready_types_add(&batch->ready, type, version);
}

cairn_code batch_note_ended(struct batch *batch, const char *id)
{
    const char **ended = list_add(&batch->arena, &batch->ended);
    NEED(ended, batch->error);
    *ended = id;
    return CAIRN_OK;
}

void batch_note_late(struct batch *batch, int64_t due_us)
{
    int64_t late_us = batch->tx->now_us - due_us;
    if (!batch->engine->clock.is_virtual && late_us > batch->late_us)
        batch->late_us = late_us;
}

static bool is_any_ready(const struct ready_types *ready)
{
    return ready->count || ready->is_any || ready->is_place;
}

/* Ids are made once and kept over tries, so that a second try recognises the first one's rows.  An
 * id that an earlier try found under the key belongs to another row, and is replaced. */
cairn_code batch_make_ids(struct batch *batch, struct request *request, size_t count)
{
    cairn_enqueued *enqueued = request->out.enqueued;
    if (!enqueued)
        enqueued = arena_array(&request->arena, count, sizeof *enqueued);
    NEED(enqueued, batch->error);
    request->out.enqueued = enqueued;
    for (size_t i = 0; i < count; i++) {
        if (!enqueued[i].id[0] || enqueued[i].existing)
            id_make(&batch->committer->rng, batch->tx->now_us, enqueued[i].id);
        enqueued[i].existing = 0;
    }
    return CAIRN_OK;
}

/* ---- one request after the other ------------------------------------------------------------ */

/* A report or commit that claims in the same call is refused as a whole, at its own turn. */
static cairn_code apply_one(struct batch *batch, struct request *request)
{
    const struct engine_operation *operation = engine_operation_of(request->op);
    batch->turn++;
    if (request->hold.is_held && !request->code)
        return batch_look_held(batch, request);
    if (request->code || request->is_reported || !operation->apply)
        return CAIRN_OK;
    if (request_is_claiming(request))
        TRY(batch_check_runtime(batch, request));
    return request->code ? CAIRN_OK : operation->apply(batch, request);
}

static cairn_code flush_for_tests(struct batch *batch)
{
    const struct local_engine *engine = batch->engine;
    int count = engine->count_flushes ? engine->count_flushes(engine->flush_arg) : 0;
    for (int i = 0; i < count; i++)
        TRY(workset_write_now(batch));
    return CAIRN_OK;
}

static cairn_code apply_in_order(struct batch *batch)
{
    plans_trim(&batch->committer->plans);
    TRY(flush_for_tests(batch)); /* of what timers have changed */
    for_each_request (request, batch) {
        TRY(apply_one(batch, request));
        TRY(flush_for_tests(batch));
    }
    TRY(workset_write_jobs(batch));
    TRY(batch_append_outbox(batch));
    return batch->logs.count ? STORE(batch, append_logs, batch->logs.items, batch->logs.count)
                             : CAIRN_OK;
}

/* ---- claims --------------------------------------------------------------------------------- */

/* A new try begins from nothing; only what makes tries recognisable (ids, tokens) is kept. */
static void forget_answers(const struct request_queue *requests)
{
    for (struct request *request = requests->first; request; request = request->next) {
        request->code = CAIRN_OK;
        error_clear(&request->error);
        hold_forget(request);
    }
}

void batch_let_join(struct batch *batch, const struct ready_types *ready)
{
    struct local_engine *engine = batch->engine;
    struct request_queue woken = {0};
    if (batch->is_alone || !is_any_ready(ready))
        return;
    pthread_mutex_lock(&engine->lock);
    park_take(engine, ready, JOINING_TASKS_MAX, &woken);
    pthread_mutex_unlock(&engine->lock);
    forget_answers(&woken);
    queue_append(batch->requests, &woken);
}

static void let_parked_join(struct batch *batch)
{
    struct ready_types ready = batch->ready;
    for (size_t i = 0; i < batch->in_hand.count; i++) {
        const struct step_row *row = &batch->in_hand.items[i].step->row;
        ready_types_add(&ready, row->task_type, row->version);
    }
    batch_let_join(batch, &ready);
}

/* Claims see what the other requests have made ready: steps that the store has as such are written, and
 * the others are in hand. */
static cairn_code apply_claims(struct batch *batch)
{
    TRY(workset_write_changed(batch, NULL, STEPS_OFFERED));
    TRY(workset_list_in_hand(batch));
    for_each_request (request, batch)
        if (!request->code && request->op == OP_OUTBOX_CLAIM)
            TRY(batch_claim_outbox(batch, request));
    let_parked_join(batch);
    return batch_claim(batch);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool must_apply_timers(const struct batch *batch)
{
    struct local_engine *engine = batch->engine;
    if (batch->committer->timing.is_off)
        return false;
    if (batch->committer->timing.kinds)
        return true;
    pthread_mutex_lock(&engine->lock);
    bool is_resting = engine->asides.rest_us > clock_monotonic_us(&engine->clock);
    pthread_mutex_unlock(&engine->lock);
    if (is_resting)
        return false;
    for_each_request (request, batch)
        if (request_is_claiming(request) || request->hold.is_held)
            return true;
    pthread_mutex_lock(&engine->lock);
    bool is_due = timers_are_due(engine);
    pthread_mutex_unlock(&engine->lock);
    return is_due;
}

static cairn_code apply_timers(struct batch *batch)
{
    TRY(timers_apply(batch, &batch->due_us));
    bool is_due = batch->due_us && batch->due_us <= batch->tx->now_us;
    batch->is_due_known = true;
    batch->is_stuck = is_due && !batch->ready.is_any && !batch_has_events(batch);
    return CAIRN_OK;
}

static cairn_code apply(struct batch *batch, struct request_queue *busy)
{
    if (must_apply_timers(batch))
        TRY(apply_timers(batch));
    TRY(batch_load(batch, busy));
    TRY(apply_in_order(batch));
    TRY(batch_start_wanted(batch));
    TRY(batch_hold(batch));
    TRY(apply_claims(batch));
    TRY(batch_write_limits(batch));
    TRY(workset_write(batch));
    if (!is_solo(batch->engine)) {
        TRY(workers_note(batch));
        TRY(figures_write(batch));
    }
    TRY(batch_read_memories(batch));
    return workset_answer(batch);
}

/* ---- the transaction ------------------------------------------------------------------------ */

#define ADD(name) batch->engine->counters.name += batch->tally.name;
static void count(const struct batch *batch)
{
    COUNTERS(ADD)
}

static void wake_waits(const struct batch *batch)
{
    struct local_engine *engine = batch->engine;
    if (!batch->ended.count)
        return;
    pthread_mutex_lock(&engine->lock);
    waits_ended(engine, batch->ended.items, batch->ended.count);
    pthread_mutex_unlock(&engine->lock);
}

static void wake_walks(const struct batch *batch)
{
    struct local_engine *engine = batch->engine;
    if (!batch->has_bulk && !batch->has_retention)
        return;
    pthread_mutex_lock(&engine->lock);
    if (batch->has_bulk)
        bulk_look(engine);
    if (batch->has_retention)
        retention_look(engine);
    pthread_cond_broadcast(&engine->write_work);
    pthread_mutex_unlock(&engine->lock);
}

/* What an operator wants to know of a commit. */
static void tell_commit(const struct batch *batch, uint64_t took_us)
{
    struct cairn_engine *engine = &batch->engine->base;
    const struct tally *tally = &batch->tally;
    const struct {
        bool is_so;
        const char *event;
        struct notice_fact facts[3];
        const char *format;
    } notices[] = {
        {took_us > SLOW_COMMIT_US,
         "slow_commit",
         {{"ms", (int64_t)took_us / US_PER_MS}, {"requests", (int64_t)batch->requests->count}},
         "a commit took %lld ms"},
        {tally->lease_expiries > 0,
         "leases_expired",
         {{"count", (int64_t)tally->lease_expiries}},
         "%lld leases expired"},
        {tally->late_reports > 0,
         "late_reports",
         {{"count", (int64_t)tally->late_reports}},
         "%lld reports came after their lease had ended"},
        {batch->late_us > LATE_TIMER_US,
         "timers_late",
         {{"late_ms", batch->late_us / US_PER_MS}},
         "timers were applied %lld ms late"},
    };
    for (size_t i = 0; i < sizeof notices / sizeof *notices; i++)
        if (notices[i].is_so)
            notice_tell(engine, CAIRN_NOTICE_WARNING, notices[i].event, notices[i].facts,
                        notices[i].format, (long long)notices[i].facts[0].value);
}

static void count_commit(struct batch *batch, int64_t began_us)
{
    struct counters *counters = &batch->engine->counters;
    uint64_t took_us = (uint64_t)(clock_monotonic_us(&batch->engine->clock) - began_us);
    counters->commits++;
    counters->commit_requests += batch->requests->count;
    counters->commit_us += took_us;
    if (took_us > counters->commit_us_max)
        counters->commit_us_max = took_us;
    figures_note_commit(batch, (int64_t)took_us);
    tell_commit(batch, took_us);
}

cairn_code batch_begin(struct committer *committer, struct request_queue *requests,
                       struct batch *ret_batch, cairn_error *reterr)
{
    struct local_engine *engine = committer->engine;
    *ret_batch = (struct batch){.committer = committer,
                                .engine = engine,
                                .ops = engine->store->ops,
                                .error = reterr,
                                .requests = requests,
                                .began = moment_of(engine)};
    pthread_mutex_lock(&engine->lock);
    memcpy(ret_batch->ready_epochs, engine->ready_epochs, sizeof ret_batch->ready_epochs);
    ret_batch->commit_us = engine->gathering.commit_us;
    pthread_mutex_unlock(&engine->lock);
    cairn_code code =
        ret_batch->ops->begin(committer->session, &ret_batch->arena, &ret_batch->tx, reterr);
    if (code)
        arena_done(&ret_batch->arena);
    return code;
}

static cairn_code commit(struct batch *batch)
{
    struct local_engine *engine = batch->engine;
    struct lease_view *leases = batch->leases.items;
    size_t count = batch->leases.count;
    int64_t now_us = batch->tx->now_us;
    batch->tx->is_version_wanted = count > 0 && batch->ops->lock_flow;
    known_leases_begin(engine, leases, count, true);
    unsigned news =
        (is_any_ready(&batch->ready) ? NEWS_READY : 0) | (batch->ended.count ? NEWS_ENDS : 0);
    cairn_code code = STORE(batch, commit, news);
    if (!code && batch->is_unlocked)
        batch_close_events(batch);
    known_leases_end(engine, leases, count, true, !code, &batch->began, now_us,
                     batch->tx->row_version);
    return code;
}

cairn_code batch_end(struct batch *batch, cairn_code code)
{
    if (!code)
        code = batch_collect_leases(batch);
    int64_t now_us = batch->tx->now_us;
    if (code)
        batch->ops->rollback(batch->tx);
    else
        code = commit(batch);
    for (size_t i = 0; i < batch->given.count && !code; i++)
        known_lease_is_given(batch->engine, batch->given.items[i].instance_id,
                             batch->given.items[i].request->token);
    if (!code) {
        batch_looked(batch);
        count(batch);
        wake_waits(batch);
        wake_walks(batch);
    } else if (batch->has_workers) {
        workers_unwritten(batch->engine);
    }
    if (!is_solo(batch->engine))
        figures_settle(batch, now_us, !code);
    for (size_t i = 0; i < batch->runs.count; i++)
        kept_run_free(batch->runs.items[i]);
    arena_done(&batch->arena);
    return code;
}

/* Claims without tasks that may wait leave the queue, to be parked; their reports are done.  So do those that are to
 * be held. */
static void put_waiting_aside(struct batch *batch, struct request_queue *empty,
                              struct request_queue *held)
{
    struct request_queue rest = {0};
    struct request *request;
    while ((request = queue_pop(batch->requests)) != NULL) {
        bool is_waiting = !request->code && request_is_claiming(request) &&
                          request->out.page.count == 0 && request_claim(request)->wait_ms > 0;
        request->is_reported |=
            (request->op == OP_REPORT || request->op == OP_COMMIT) && !request->code;
        request->was_unsure = false;
        bool is_held = hold_after(batch->engine, request);
        queue_push(is_held ? held : is_waiting ? empty : &rest, request);
    }
    *batch->requests = rest;
}

static cairn_code try_commit(struct committer *committer, struct request_queue *requests,
                             bool is_alone, bool may_ahead, struct batch_result *ret_result,
                             bool *ret_is_spoilt, cairn_error *reterr)
{
    struct batch batch;
    *ret_is_spoilt = false;
    int64_t began_us = clock_monotonic_us(&committer->engine->clock);
    *ret_result = (struct batch_result){.due_in_us = -1};
    forget_answers(requests);
    cairn_code code = batch_begin(committer, requests, &batch, reterr);
    ret_result->is_begin_failed = code != CAIRN_OK;
    if (code)
        return code;

    batch.is_alone = is_alone;
    batch.may_ahead = may_ahead && !is_alone && batch.ops->send_complete_jobs;
    cairn_code applied = apply(&batch, &ret_result->busy);
    int64_t now_us = batch.tx->now_us;
    code = batch_end(&batch, applied);
    if (code && batch.is_unlocked)
        committer->locked_batches = LOCKED_BATCHES;
    ret_result->is_timed = batch.is_timed;
    ret_result->timed_count = batch.timed_count;
    memcpy(ret_result->timed_id, batch.timed_id, sizeof ret_result->timed_id);
    *ret_is_spoilt = batch.is_spoilt || (code && batch.is_unlocked);
    ret_result->is_unsure = !applied && code == CAIRN_E_UNREACHABLE;
    if (code) {
        queue_append(requests, &ret_result->busy);
        return code;
    }
    count_commit(&batch, began_us);
    ret_result->ready = batch.ready;
    ret_result->nothing = batch.nothing;
    if (batch.due_us)
        ret_result->due_in_us = batch.due_us > now_us ? batch.due_us - now_us : 0;
    ret_result->is_due_known = batch.is_due_known;
    ret_result->is_stuck = batch.is_stuck;
    put_waiting_aside(&batch, &ret_result->empty, &ret_result->held);
    return CAIRN_OK;
}

cairn_code batch_commit(struct committer *committer, struct request_queue *requests,
                        bool is_alone, struct batch_result *ret_result, cairn_error *reterr)
{
    bool is_spoilt;
    cairn_code code =
        try_commit(committer, requests, is_alone, true, ret_result, &is_spoilt, reterr);
    if (is_spoilt && code != CAIRN_E_UNREACHABLE)
        code = try_commit(committer, requests, is_alone, false, ret_result, &is_spoilt, reterr);
    return code;
}
