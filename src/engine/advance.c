/* engine/advance.c - moving a virtual clock, from due time to due time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/workset.h"

/* Applies all that is due now, and tells when the next thing is (0: never). */
static cairn_code apply_due(struct committer *committer, int64_t *ret_due_us,
                            bool *ret_is_moved, cairn_error *reterr)
{
    struct local_engine *engine = committer->engine;
    struct request_queue none = {0};
    struct batch batch = {
        .committer = committer, .engine = engine, .ops = engine->store->ops, .requests = &none};
    cairn_code code = batch.ops->begin(committer->session, &batch.arena, &batch.tx, reterr);
    if (code) {
        arena_done(&batch.arena);
        return code;
    }
    code = timers_apply(&batch, ret_due_us, reterr);
    if (!code)
        code = workset_write(&batch, reterr);
    if (!code)
        code = batch_append_events(&batch, reterr);
    if (code)
        batch.ops->rollback(batch.tx);
    else
        code = batch.ops->commit(batch.tx, batch.ready.count || batch.ready.is_any, reterr);
    if (!code)
        batch_count(&batch);
    *ret_is_moved = batch.event_count || batch.ready.is_any || workset_has_changed(&batch);
    arena_done(&batch.arena);
    return code;
}

static cairn_code advance_to(struct committer *committer, int64_t target_us,
                             cairn_error *reterr)
{
    struct clock *clock = &committer->engine->clock;
    for (;;) {
        int64_t due_us;
        bool is_moved;
        cairn_code code = apply_due(committer, &due_us, &is_moved, reterr);
        if (code)
            return code;
        bool is_due = due_us && due_us <= clock_now_us(clock);
        if (is_due && is_moved)
            continue; /* more of the same instant than one portion holds */
        if (is_due || due_us == 0 || due_us > target_us)
            break; /* what is due and does not move is held by somebody else */
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

    pthread_mutex_lock(&engine->lock);
    engine->ready_epoch++;
    park_wake(engine, NULL);
    pthread_mutex_unlock(&engine->lock);
    return code;
}
