/* engine/advance.c - moving a virtual clock, from due time to due time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/retention.h"

/* Timers first, then what is old by then. */
static cairn_code apply_timers(struct batch *batch, int64_t *ret_due_us, bool *ret_is_swept)
{
    int64_t now_us = batch->tx->now_us, sweep_us;
    TRY(timers_apply(batch, ret_due_us));
    TRY(workset_write(batch));
    if (*ret_due_us && *ret_due_us <= now_us)
        return CAIRN_OK;
    if (batch_has_events(
            batch)) { /* they are written first: the sweep has a commit of its own */
        *ret_due_us = now_us;
        return CAIRN_OK;
    }
    if (is_solo(batch->engine))
        return CAIRN_OK;
    TRY(retention_sweep(batch, &sweep_us));
    *ret_is_swept = sweep_us <= now_us;
    if (!*ret_due_us || sweep_us < *ret_due_us)
        *ret_due_us = sweep_us;
    return CAIRN_OK;
}

/* Applies all that is due now, and tells when the next thing is (0: never). */
static cairn_code apply_due(struct committer *committer, int64_t *ret_due_us,
                            bool *ret_is_moved, cairn_error *reterr)
{
    struct request_queue none = {0};
    struct batch batch;
    TRY(batch_begin(committer, &none, &batch, reterr));
    bool is_swept = false;
    cairn_code code = apply_timers(&batch, ret_due_us, &is_swept);
    *ret_is_moved = is_swept || batch.ready.is_any || batch_has_events(&batch);
    return batch_end(&batch, code);
}

/* What is left of a request goes down with each part of the way, so that tries, between which others may move the clock,
 * make it go neither further nor less far. */
static void move(struct clock *clock, struct request *request, int64_t to_us)
{
    request->advance_left_us -= to_us - clock_now_us(clock);
    clock_set_us(clock, to_us);
}

static cairn_code go_on(struct committer *committer, struct request *request)
{
    struct clock *clock = &committer->engine->clock;
    int64_t target_us = instant_add(clock_now_us(clock), request->advance_left_us);
    for (;;) {
        int64_t due_us;
        bool is_moved;
        cairn_code code = apply_due(committer, &due_us, &is_moved, &request->error);
        if (code == CAIRN_E_STORE) { /* of a row: the others go on */
            timers_take_care(committer);
            code = apply_due(committer, &due_us, &is_moved, &request->error);
        }
        if (code)
            return code;
        bool is_due = due_us && due_us <= clock_now_us(clock);
        if (is_due && is_moved)
            continue; /* more of the same instant than one portion holds */
        if (is_due || due_us == 0 || due_us > target_us)
            break; /* what is due and does not move is held by another transaction */
        move(clock, request, due_us);
    }
    move(clock, request, target_us);
    return CAIRN_OK;
}

/* One after the other: each goes from the time that is when its turn comes. */
static cairn_code take_turn(struct committer *committer, struct request *request)
{
    struct local_engine *engine = committer->engine;
    pthread_mutex_lock(&engine->advance_lock);
    if (!request->is_advancing)
        request->advance_left_us = request->in.advance.ms * US_PER_MS;
    request->is_advancing = true;
    cairn_code code = go_on(committer, request);
    request->out.now_us = clock_now_us(&engine->clock);
    pthread_mutex_unlock(&engine->advance_lock);
    return code;
}

cairn_code clock_advance(struct committer *committer, struct request *request)
{
    struct local_engine *engine = committer->engine;
    cairn_error *error = &request->error;
    if (!engine->clock.is_virtual) {
        fail(error, CAIRN_E_WRONG_STATE, "cannot move the clock: it is the real one");
        return fail_hint(error, CAIRN_E_WRONG_STATE, "start with: cairn serve --virtual-clock");
    }
    cairn_code code = CAIRN_OK;
    if (!committer->session)
        code = engine->store->ops->session_open(engine->store, SESSION_WRITER,
                                                &committer->session, error);
    if (!code)
        code = take_turn(committer, request);

    if (request->in.advance.seed)
        rng_init(&committer->rng, request->in.advance.seed);

    pthread_mutex_lock(&engine->lock);
    note_any_ready(engine);
    park_wake(engine, NULL);
    pthread_mutex_unlock(&engine->lock);
    return code;
}
