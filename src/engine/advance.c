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

static cairn_code advance_to(struct committer *committer, int64_t target_us,
                             cairn_error *reterr)
{
    struct clock *clock = &committer->engine->clock;
    for (;;) {
        int64_t due_us;
        bool is_moved;
        TRY(apply_due(committer, &due_us, &is_moved, reterr));
        bool is_due = due_us && due_us <= clock_now_us(clock);
        if (is_due && is_moved)
            continue; /* more of the same instant than one portion holds */
        if (is_due || due_us == 0 || due_us > target_us)
            break; /* what is due and does not move is held by another transaction */
        clock_set_us(clock, due_us);
    }
    clock_set_us(clock, target_us);
    return CAIRN_OK;
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
    /* Kept over tries: a store that went away must not make the clock go further. */
    if (!request->out.now_us)
        request->out.now_us =
            instant_add(clock_now_us(&engine->clock), request->in.advance.ms * US_PER_MS);
    if (!code)
        code = advance_to(committer, request->out.now_us, error);

    if (request->in.advance.seed)
        rng_init(&committer->rng, request->in.advance.seed);

    pthread_mutex_lock(&engine->lock);
    note_any_ready(engine);
    park_wake(engine, NULL);
    pthread_mutex_unlock(&engine->lock);
    return code;
}
