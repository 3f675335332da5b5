/* engine/lease_check.c - heartbeats that extend nothing and only ask whether to stop.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every run of a function checks its lease before each of its steps.  A check changes nothing, so it
 * need not wait for a commit; and those that wait for the reader are answered together.
 */
#include "base/mem.h"
#include "engine/batch.h"

bool request_is_lease_check(const struct request *request)
{
    return request->op == OP_HEARTBEAT && request->in.heartbeat.extend_ms == 0 &&
           is_step_id(request->in.heartbeat.task_id);
}

cairn_beat request_beat(const struct request *request)
{
    const struct heartbeat_input *in = &request->in.heartbeat;
    return (cairn_beat){.task_id = in->task_id, .token = in->token, .extend_ms = in->extend_ms};
}

void request_give_beat(struct request *request, const cairn_beat *beat)
{
    request->code = beat->ret_code;
    request->out.heartbeat.lease_until_us = beat->ret_lease_until_us;
    request->out.heartbeat.stop = beat->ret_stop;
}

/* The places of the steps, and the rows that are there. */
struct places {
    struct step_ref *refs;
    struct step_row *rows;
    bool *is_found;
    size_t count;
};

/* In the order of the requests.  A task that cannot be has a place where no row is. */
static cairn_code name_places(struct arena *arena, const struct request_queue *checks,
                              struct places *ret, cairn_error *reterr)
{
    *ret = (struct places){
        .refs = arena_array(arena, checks->count, sizeof *ret->refs),
        .rows = arena_array(arena, checks->count, sizeof *ret->rows),
        .is_found = arena_array(arena, checks->count, sizeof *ret->is_found),
    };
    NEED(ret->refs && ret->rows && ret->is_found, reterr);
    for (const struct request *check = checks->first; check; check = check->next) {
        char id[ID_TEXT] = "";
        struct step_ref *ref = &ret->refs[ret->count++];
        if (!step_id_split(check->in.heartbeat.task_id, id, &ref->seq))
            *id = '\0';
        ref->instance_id = arena_strdup(arena, id);
        NEED(ref->instance_id, reterr);
    }
    return CAIRN_OK;
}

cairn_code lease_checks_run(struct local_engine *engine, struct store_session *session,
                            struct request_queue *checks, cairn_error *reterr)
{
    const struct store_ops *ops = engine->store->ops;
    cleanup(arena_done) struct arena arena = {0};
    struct store_tx *tx;
    struct places places;
    TRY(name_places(&arena, checks, &places, reterr));
    TRY(ops->begin(session, &arena, &tx, reterr));
    cairn_code code =
        ops->read_steps(tx, places.refs, places.count, places.rows, places.is_found, reterr);
    int64_t now_us = tx->now_us;
    ops->rollback(tx); /* it has changed nothing */
    size_t at = 0;
    for (struct request *check = checks->first; check && !code; check = check->next, at++) {
        struct flow_step step = {.row = places.rows[at]};
        cairn_beat beat = request_beat(check);
        heartbeat_answer(check->in.heartbeat.worker, &beat, places.is_found[at] ? &step : NULL,
                         now_us, &check->error);
        request_give_beat(check, &beat);
    }
    return code;
}
