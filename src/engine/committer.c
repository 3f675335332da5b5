/* engine/committer.c - takes all that waits, commits it, answers everyone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/batch.h"

#include <assert.h>

/* A store that cannot be reached is left alone for a while, longer each time. */
enum { REST_FIRST_US = 20 * 1000, REST_LONGEST_US = 1000 * 1000 };

/* How soon to look again at what is due but could not be had: somebody else holds its row. */
enum { STUCK_US = 50 * 1000 };

/* Rows that one transaction may touch, so that a commit stays short. */
enum { BATCH_WEIGHT_MAX = 5000 };

void request_end(struct request *request, cairn_code code, const cairn_error *why)
{
    request->code = code;
    if (why)
        request->error = *why;
    request->done(request);
}

static void end_all(struct request_queue *requests)
{
    struct request *request;
    while ((request = queue_pop(requests)) != NULL)
        request->done(request);
}

static size_t weight(const struct request *request)
{
    size_t rows = 1;
    if (request->op == OP_ENQUEUE)
        rows += request->in.enqueue.count;
    if (request->op == OP_REPORT)
        rows += request->in.report.count;
    if (request->op == OP_COMMIT)
        rows += request->in.commit.step_count;
    if (request_is_claiming(request))
        rows += request_claim(request)->max;
    return rows;
}

/* Moving the clock has transactions of its own, so it is taken by itself. */
static void take_batch(struct local_engine *engine, struct request_queue *ret_batch)
{
    size_t taken = 0;
    while (engine->writes.first && ret_batch->count < BATCH_MAX) {
        struct request *next = engine->writes.first;
        bool is_alone = next->op == OP_CLOCK_ADVANCE;
        taken += weight(next);
        if (ret_batch->count && (is_alone || taken > BATCH_WEIGHT_MAX))
            return;
        queue_push(ret_batch, queue_pop(&engine->writes));
        if (is_alone)
            return;
    }
}

static bool keeps_timers(const struct local_engine *engine)
{
    return !engine->clock.is_virtual && !engine->base.options.no_timers;
}

int64_t committer_next_us(const struct committer *committer)
{
    const struct local_engine *engine = committer->engine;
    int64_t now_us = monotonic_us();
    int64_t next_us = INT64_MAX;
    if (engine->writes.count)
        next_us = committer->rest_until_us;
    if (committer->index == 0) {
        if (engine->is_foreign_news && committer->rest_until_us < next_us)
            next_us = committer->rest_until_us;
        if (engine->park_deadline_us && engine->park_deadline_us < next_us)
            next_us = engine->park_deadline_us;
        if (engine->due_us && keeps_timers(engine)) {
            int64_t due_us = engine->due_us > committer->rest_until_us
                                 ? engine->due_us
                                 : committer->rest_until_us;
            if (due_us < next_us)
                next_us = due_us;
        }
    }
    return next_us <= now_us ? 0 : next_us;
}

/* ---- after a commit -------------------------------------------------------------------------
 */

static void note_due(struct local_engine *engine, const struct batch_result *result)
{
    int64_t in_us = result->due_in_us;
    if (in_us == 0 && !result->ready.count && !result->ready.is_any)
        in_us = STUCK_US;
    int64_t due_us = in_us < 0 ? 0 : monotonic_us() + in_us;
    if (result->is_due_known || engine->due_us == 0 || (due_us && due_us < engine->due_us)) {
        engine->due_us = due_us;
        if (engine->committer_count > 1)
            pthread_cond_broadcast(&engine->write_work); /* the first keeps the timers */
    }
}

/* Parks a claim that found nothing, unless something has become claimable since it looked. */
static void settle_empty(struct local_engine *engine, struct request *request, bool has_news)
{
    const cairn_claim_options *claim = request_claim(request);
    int64_t now_us = monotonic_us();
    if (request->wait_until_us == 0)
        request->wait_until_us = now_us + claim->wait_ms * US_PER_MS;
    if (has_news)
        queue_push(&engine->writes, request);
    else
        park_add(engine, request);
}

static void settle(struct committer *committer, uint64_t epoch, struct batch_result *result)
{
    struct local_engine *engine = committer->engine;
    struct request *request;
    committer->backoff_us = 0;
    committer->rest_until_us = 0;

    pthread_mutex_lock(&engine->lock);
    note_due(engine, result);
    bool has_news = engine->ready_epoch != epoch;
    if (result->ready.count || result->ready.is_any) {
        engine->ready_epoch++;
        park_wake(engine, &result->ready);
    }
    while ((request = queue_pop(&result->empty)) != NULL)
        settle_empty(engine, request, has_news);
    if (engine->committer_count > 1 && engine->parked.count)
        pthread_cond_broadcast(&engine->write_work);
    pthread_mutex_unlock(&engine->lock);
}

/* ---- when it failed -------------------------------------------------------------------------
 */

static void rest(struct committer *committer)
{
    int64_t longer = committer->backoff_us * 2;
    committer->backoff_us = longer < REST_FIRST_US     ? REST_FIRST_US
                            : longer > REST_LONGEST_US ? REST_LONGEST_US
                                                       : longer;
    committer->rest_until_us = monotonic_us() + committer->backoff_us;
}

/* The store may come back: whoever has time left waits for it, in the same order. */
static void try_later(struct committer *committer, struct request_queue *requests,
                      const cairn_error *why, bool is_unsure)
{
    struct local_engine *engine = committer->engine;
    struct request_queue later = {0}, over = {0};
    struct request *request;
    int64_t now_us = monotonic_us();
    while ((request = queue_pop(requests)) != NULL) {
        bool has_time = request->give_up_us > now_us || request->wait_until_us > now_us;
        request->was_unsure |= is_unsure;
        queue_push(has_time ? &later : &over, request);
    }
    rest(committer);
    pthread_mutex_lock(&engine->lock);
    if (is_unsure) { /* it may have made anything claimable, and a second try will not say so */
        engine->ready_epoch++;
        park_wake(engine, NULL);
    }
    queue_prepend(&engine->writes, &later);
    pthread_mutex_unlock(&engine->lock);
    while ((request = queue_pop(&over)) != NULL)
        request_end(request, why->code, why);
}

static bool may_pass(cairn_code code)
{
    return code == CAIRN_E_UNREACHABLE || code == CAIRN_E_BUSY;
}

static void commit_all(struct committer *committer, struct request_queue *requests,
                       bool is_alone);

/* The database refused the batch for the sake of one: each by itself, so that only that one
 * fails. */
static void commit_each(struct committer *committer, struct request_queue *requests)
{
    struct request *request;
    while ((request = queue_pop(requests)) != NULL) {
        struct request_queue one = {0};
        queue_push(&one, request);
        commit_all(committer, &one, true);
    }
}

static cairn_code open_session(struct committer *committer, cairn_error *reterr)
{
    struct store *store = committer->engine->store;
    if (committer->session)
        return CAIRN_OK;
    return store->ops->session_open(store, SESSION_WRITER, &committer->session, reterr);
}

static void commit_all(struct committer *committer, struct request_queue *requests,
                       bool is_alone)
{
    struct local_engine *engine = committer->engine;
    struct batch_result result = {.is_begin_failed = true};
    cairn_error why = {0};

    pthread_mutex_lock(&engine->lock);
    uint64_t epoch = engine->ready_epoch;
    pthread_mutex_unlock(&engine->lock);

    cairn_code code = open_session(committer, &why);
    if (!code)
        code = batch_commit(committer, requests, is_alone, &result, &why);
    why.code = code;
    if (!code) {
        settle(committer, epoch, &result);
        end_all(requests);
        commit_each(committer, &result.busy);
    } else if (code == CAIRN_E_UNREACHABLE || (may_pass(code) && result.is_begin_failed)) {
        try_later(committer, requests, &why, result.is_unsure);
    } else if (requests->count > 1) {
        commit_each(committer, requests);
    } else if (may_pass(code)) {
        try_later(committer, requests, &why, false);
    } else {
        struct request *request = queue_pop(requests);
        if (request)
            request_end(request, code, &why);
        else
            rest(committer); /* only timers were due */
    }
}

/* ---- one round ------------------------------------------------------------------------------
 */

/* Another process has committed: waiting claims look again. */
static void heed_news(struct committer *committer)
{
    struct local_engine *engine = committer->engine;
    cairn_error why;
    if (open_session(committer, &why))
        return;
    if (!engine->store->ops->is_changed_elsewhere(committer->session))
        return;
    pthread_mutex_lock(&engine->lock);
    engine->ready_epoch++;
    park_wake(engine, NULL);
    pthread_mutex_unlock(&engine->lock);
}

static void advance(struct committer *committer, struct request_queue *batch)
{
    struct request *request = batch->first;
    request->code = clock_advance(committer, request);
    if (may_pass(request->code)) {
        cairn_error why = request->error;
        why.code = request->code;
        try_later(committer, batch, &why, false);
    } else {
        end_all(batch);
    }
}

bool committer_run_once(struct committer *committer)
{
    struct local_engine *engine = committer->engine;
    struct request_queue batch = {0}, expired = {0};

    pthread_mutex_lock(&engine->lock);
    if (committer_next_us(committer) != 0) {
        pthread_mutex_unlock(&engine->lock);
        return false;
    }
    bool has_news = false;
    if (committer->index == 0) {
        park_expire(engine, &expired);
        has_news = engine->is_foreign_news;
        engine->is_foreign_news = false;
    }
    pthread_mutex_unlock(&engine->lock);

    end_all(&expired);
    if (has_news)
        heed_news(committer);

    pthread_mutex_lock(&engine->lock);
    bool is_resting = committer->rest_until_us > monotonic_us();
    if (!is_resting)
        take_batch(engine, &batch);
    bool is_due = committer->index == 0 && keeps_timers(engine) && engine->due_us &&
                  engine->due_us <= monotonic_us() && !is_resting;
    pthread_mutex_unlock(&engine->lock);

    if (batch.first && batch.first->op == OP_CLOCK_ADVANCE) {
        advance(committer, &batch);
    } else if (batch.count || is_due) {
        commit_all(committer, &batch, false);
    }
    return true;
}
