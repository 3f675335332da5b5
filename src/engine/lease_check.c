/* engine/lease_check.c - looks at leases: heartbeats that extend nothing and only ask whether to stop.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every passage looks before each of its steps.  They change nothing, so they need not wait for a
 * commit; and those that wait for the reader are answered together.
 */
#include "base/error.h"
#include "engine/workset.h"

bool request_is_lease_check(const struct request *request)
{
    return request->op == OP_HEARTBEAT && request->in.heartbeat.extend_ms == 0 &&
           is_step_id(request->in.heartbeat.task_id);
}

/* The places that are looked at, and what is found there. */
struct looking {
    struct step_ref *refs;
    struct step_row *rows;
    bool *is_found;
    size_t count;
};

/* In the order of the requests.  A task that cannot be has a place that nothing is at. */
static cairn_code name_places(struct arena *arena, const struct request_queue *looks,
                              struct looking *looking, cairn_error *reterr)
{
    looking->refs = arena_array(arena, looks->count, sizeof *looking->refs);
    looking->rows = arena_array(arena, looks->count, sizeof *looking->rows);
    looking->is_found = arena_array(arena, looks->count, sizeof *looking->is_found);
    if (!looking->refs || !looking->rows || !looking->is_found)
        return fail_memory(reterr);
    for (struct request *look = looks->first; look; look = look->next) {
        char id[ID_TEXT] = "";
        struct step_ref *ref = &looking->refs[looking->count++];
        if (!step_id_split(look->in.heartbeat.task_id, id, &ref->seq))
            *id = '\0';
        ref->instance_id = arena_strdup(arena, id);
        if (!ref->instance_id)
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

/* As batch_heartbeat_step() with nothing to extend. */
static void answer(struct request *look, const struct step_row *row, int64_t now_us)
{
    const struct heartbeat_input *in = &look->in.heartbeat;
    struct flow_step step = {0};
    struct flow_verdict verdict = {.code = CAIRN_E_LEASE_LOST};
    if (row) {
        step.row = *row;
        verdict = flow_heartbeat(&step, in->worker, in->token, 0, now_us);
    }
    if (verdict.code) {
        look->code =
            lease_lost(&look->error, in->task_id, in->worker,
                       row ? step_status_name(row->status) : NULL, row ? row->locked_by : NULL);
        return;
    }
    look->out.heartbeat.lease_until_us = step.row.locked_until_us;
    look->out.heartbeat.stop = verdict.stop;
}

cairn_code lease_checks_run(struct local_engine *engine, struct store_session *session,
                            struct request_queue *looks, cairn_error *reterr)
{
    const struct store_ops *ops = engine->store->ops;
    struct arena arena = {0};
    struct store_tx *tx;
    struct looking looking = {0};
    cairn_code code = name_places(&arena, looks, &looking, reterr);
    if (!code)
        code = ops->begin(session, &arena, &tx, reterr);
    if (code) {
        arena_done(&arena);
        return code;
    }
    code = ops->read_steps(tx, looking.refs, looking.count, looking.rows, looking.is_found,
                           reterr);
    int64_t now_us = tx->now_us;
    ops->rollback(tx); /* it has changed nothing */
    size_t at = 0;
    for (struct request *look = looks->first; look && !code; look = look->next, at++)
        answer(look, looking.is_found[at] ? &looking.rows[at] : NULL, now_us);
    arena_done(&arena);
    return code;
}
