/* engine/batch.c - many requests, one transaction, one commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"

#include "base/error.h"
#include "engine/notice.h"
#include "engine/workset.h"

/* A new try begins from nothing; only what makes tries recognisable (ids, tokens) is kept. */
static void forget_answer(struct request *request)
{
    request->code = CAIRN_OK;
    error_clear(&request->error);
}

static void forget_answers(struct batch *batch)
{
    for_each_request (request, batch)
        forget_answer(request);
}

static bool has_claims(const struct batch *batch)
{
    for_each_request (request, batch)
        if (request_is_claiming(request))
            return true;
    return false;
}

static bool is_timer_due(struct local_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    bool is_due = timers_are_due(engine);
    pthread_mutex_unlock(&engine->lock);
    return is_due;
}

/* A request that names a row which somebody else holds leaves the batch; it is tried alone. */
static void put_busy_aside(struct batch *batch, struct request_queue *busy)
{
    struct request_queue rest = {0};
    struct request *request;
    if (batch->id_count == 0 && !batch->instances)
        return;
    while ((request = queue_pop(batch->requests)) != NULL) {
        bool is_busy = !request->code && (request_names_busy_row(batch, request) ||
                                          request_names_busy_instance(batch, request));
        queue_push(is_busy ? busy : &rest, request);
    }
    *batch->requests = rest;
}

/* Room in a batch for claims that join it late, so that a commit stays short. */
enum { JOINING_TASKS_MAX = 1000 };

/* Claims that wait for what has just become ready join the batch: they get it in the same commit,
 * so that work starts after one and not after two. */
static void let_parked_join(struct batch *batch)
{
    struct local_engine *engine = batch->engine;
    struct request_queue woken = {0};
    if (batch->is_alone || (!batch->ready.count && !batch->ready.is_any))
        return;
    pthread_mutex_lock(&engine->lock);
    park_take(engine, &batch->ready, JOINING_TASKS_MAX, &woken);
    pthread_mutex_unlock(&engine->lock);
    for (struct request *request = woken.first; request; request = request->next)
        forget_answer(request);
    queue_append(batch->requests, &woken);
}

/* Everything that the requests name. */
static cairn_code lock_rows(struct batch *batch, struct request_queue *busy,
                            cairn_error *reterr)
{
    cairn_code code = batch_lock(batch, reterr);
    if (!code)
        code = batch_load_instances(batch, reterr);
    if (!code)
        put_busy_aside(batch, busy);
    return code;
}

static cairn_code claim_outbox(struct batch *batch, cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    for_each_request (request, batch) {
        if (!code && !request->code && request->op == OP_OUTBOX_CLAIM)
            code = batch_claim_outbox(batch, request, reterr);
    }
    return code;
}

/* Claims are answered after all other requests, so that one question serves many of them; they see
 * what the others have made ready. */
static cairn_code apply_claims(struct batch *batch, cairn_error *reterr)
{
    cairn_code code = workset_write_steps(batch, reterr);
    if (!code)
        code = claim_outbox(batch, reterr);
    if (code)
        return code;
    let_parked_join(batch);
    return batch_claim(batch, reterr);
}

static cairn_code apply(struct batch *batch, struct request_queue *busy, cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    if (has_claims(batch) || is_timer_due(batch->engine)) {
        code = timers_apply(batch, &batch->due_us, reterr);
        batch->is_due_known = !code;
        batch->is_stuck = batch->due_us && batch->due_us <= batch->tx->now_us &&
                          !batch->event_count && !batch->ready.is_any &&
                          !workset_has_changed(batch);
    }
    if (!code)
        code = lock_rows(batch, busy, reterr);
    if (!code)
        code = batch_apply_in_order(batch, reterr);
    if (!code)
        code = apply_claims(batch, reterr);
    if (!code)
        code = workset_write(batch, reterr);
    if (!code)
        code = batch_read_memories(batch, reterr);
    if (!code)
        code = workset_answer(batch, reterr);
    if (!code)
        code = batch_append_events(batch, reterr);
    return code;
}

void batch_count(struct batch *batch)
{
    struct counters *counters = &batch->engine->counters;
    const struct tally *tally = &batch->tally;
    counters->enqueued += tally->enqueued;
    counters->claimed += tally->claimed;
    counters->completed += tally->completed;
    counters->failed += tally->failed;
    counters->retried += tally->retried;
    counters->cancelled += tally->cancelled;
    counters->released += tally->released;
    counters->heartbeats += tally->heartbeats;
    counters->lease_expiries += tally->lease_expiries;
    counters->late_reports += tally->late_reports;
    counters->started += tally->started;
    counters->passages += tally->passages;
    counters->passage_commits += tally->passage_commits;
    counters->passage_conflicts += tally->passage_conflicts;
    if (!batch->ended_count)
        return;
    pthread_mutex_lock(&batch->engine->lock);
    waits_ended(batch->engine, batch->ended, batch->ended_count);
    pthread_mutex_unlock(&batch->engine->lock);
}

cairn_code batch_ended(struct batch *batch, const char *id, cairn_error *reterr)
{
    batch->ended = arena_grow(&batch->arena, batch->ended, batch->ended_count, 1,
                              &batch->ended_room, sizeof *batch->ended);
    if (!batch->ended)
        return fail_memory(reterr);
    batch->ended[batch->ended_count++] = id;
    return CAIRN_OK;
}

void batch_late(struct batch *batch, int64_t due_us)
{
    int64_t late_us = batch->tx->now_us - due_us;
    if (!batch->engine->clock.is_virtual && late_us > batch->late_us)
        batch->late_us = late_us;
}

enum { SLOW_COMMIT_US = 1000 * 1000, LATE_TIMER_US = 5 * 1000 * 1000 };

/* What an operator wants to know of a commit. */
static void tell_commit(const struct batch *batch, uint64_t took_us)
{
    const struct cairn_engine *engine = &batch->engine->base;
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
    uint64_t took_us = (uint64_t)(monotonic_us() - began_us);
    batch_count(batch);
    counters->commits++;
    counters->commit_requests += batch->requests->count;
    counters->commit_us += took_us;
    if (took_us > counters->commit_us_max)
        counters->commit_us_max = took_us;
    tell_commit(batch, took_us);
}

/* Claims without tasks that may wait leave the queue, to be parked; their reports are done. */
static void put_empty_aside(struct batch *batch, struct request_queue *empty)
{
    struct request_queue rest = {0};
    struct request *request;
    while ((request = queue_pop(batch->requests)) != NULL) {
        bool is_waiting = !request->code && request_is_claiming(request) &&
                          request->out.page.count == 0 && request_claim(request)->wait_ms > 0;
        request->is_reported |=
            (request->op == OP_REPORT || request->op == OP_COMMIT) && !request->code;
        request->was_unsure = false;
        queue_push(is_waiting ? empty : &rest, request);
    }
    *batch->requests = rest;
}

static void finish(struct batch *batch, int64_t began_us, int64_t now_us,
                   struct batch_result *result)
{
    count_commit(batch, began_us);
    result->ready = batch->ready;
    if (batch->due_us)
        result->due_in_us = batch->due_us > now_us ? batch->due_us - now_us : 0;
    result->is_due_known = batch->is_due_known;
    result->is_stuck = batch->is_stuck;
    put_empty_aside(batch, &result->empty);
}

cairn_code batch_commit(struct committer *committer, struct request_queue *requests,
                        bool is_alone, struct batch_result *ret_result, cairn_error *reterr)
{
    struct local_engine *engine = committer->engine;
    struct batch batch = {.committer = committer,
                          .engine = engine,
                          .ops = engine->store->ops,
                          .requests = requests,
                          .is_alone = is_alone};
    int64_t began_us = monotonic_us();
    *ret_result = (struct batch_result){.due_in_us = -1};
    forget_answers(&batch);

    cairn_code code = batch.ops->begin(committer->session, &batch.arena, &batch.tx, reterr);
    if (code) {
        ret_result->is_begin_failed = true;
        arena_done(&batch.arena);
        return code;
    }
    code = apply(&batch, &ret_result->busy, reterr);
    int64_t now_us = batch.tx->now_us;
    bool is_ready_made = batch.ready.count || batch.ready.is_any;
    if (code) {
        batch.ops->rollback(batch.tx);
    } else {
        code = batch.ops->commit(batch.tx, is_ready_made, reterr);
        ret_result->is_unsure = code == CAIRN_E_UNREACHABLE;
    }
    if (code)
        queue_append(requests, &ret_result->busy);
    else
        finish(&batch, began_us, now_us, ret_result);
    arena_done(&batch.arena);
    return code;
}
