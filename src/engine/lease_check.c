/* engine/lease_check.c - heartbeats that extend nothing and only ask whether to stop.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every run of a function checks its lease before each of its steps.  A check changes nothing, so it
 * need not wait for a commit; and those that wait for the reader are answered together.
 */
#include "base/mem.h"
#include "engine/workset.h"

#include <string.h>

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

/* ---- what is known of them ------------------------------------------------------------------ */

/* Rows that were claimed stay in the list unless the batch has them in hand as well. */
static void drop_known(struct batch *batch)
{
    size_t kept = 0;
    for (size_t i = 0; i < batch->leases.count; i++)
        if (!workset_find_step(batch, batch->leases.items[i].instance_id, 0))
            batch->leases.items[kept++] = batch->leases.items[i];
    batch->leases.count = kept;
}

cairn_code batch_collect_leases(struct batch *batch)
{
    drop_known(batch);
    for (size_t i = 0; i < batch->instances.count; i++) {
        const char *id = batch->instances.entries[i].id;
        const struct flow_step *step = workset_find_step(batch, id, 0);
        if (!step || step->row.kind != KIND_FUNCTION)
            continue;
        struct lease_view *lease = list_add(&batch->arena, &batch->leases);
        NEED(lease, batch->error);
        *lease = (struct lease_view){.instance_id = id, .row = &step->row};
        const struct workset_instance *instance = workset_find(batch, id);
        if (instance && instance->is_written)
            lease->instance = &instance->row;
    }
    return CAIRN_OK;
}

/* ---- asking the store ----------------------------------------------------------------------- */

/* The places of the steps, and the rows that are there. */
struct places {
    struct step_ref *refs;
    struct step_row *rows;
    bool *is_found;
    struct lease_view *views;
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
        .views = arena_array(arena, checks->count, sizeof *ret->views),
    };
    NEED(ret->refs && ret->rows && ret->is_found && ret->views, reterr);
    for (const struct request *check = checks->first; check; check = check->next) {
        char id[ID_TEXT] = "";
        struct lease_view *view = &ret->views[ret->count];
        struct step_ref *ref = &ret->refs[ret->count++];
        if (!step_id_split(check->in.heartbeat.task_id, id, &ref->seq))
            *id = '\0';
        ref->instance_id = arena_strdup(arena, id);
        NEED(ref->instance_id, reterr);
        *view = (struct lease_view){.instance_id = ref->instance_id};
    }
    return CAIRN_OK;
}

static void learn(struct local_engine *engine, struct places *places, bool is_good,
                  const struct moment *moment, int64_t now_us)
{
    for (size_t i = 0; i < places->count && is_good; i++)
        if (places->is_found[i] && places->refs[i].seq == 0)
            places->views[i].row = &places->rows[i];
    known_leases_end(engine, places->views, places->count, false, is_good, moment, now_us, 0);
}

cairn_code lease_checks_run(struct local_engine *engine, struct store_session *session,
                            struct request_queue *checks, cairn_error *reterr)
{
    const struct store_ops *ops = engine->store->ops;
    cleanup(arena_done) struct arena arena = {0};
    struct store_tx *tx;
    struct places places;
    TRY(name_places(&arena, checks, &places, reterr));
    struct moment moment = moment_of(engine);
    known_leases_begin(engine, places.views, places.count, false);
    TRY(ops->begin(session, &arena, &tx, reterr));
    cairn_code code =
        ops->read_steps(tx, places.refs, places.count, places.rows, places.is_found, reterr);
    int64_t now_us = tx->now_us;
    ops->rollback(tx); /* it has changed nothing */
    learn(engine, &places, !code, &moment, now_us);
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
