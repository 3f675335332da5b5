/* engine/batch_timer.c - what falls due: leases that ran out, jobs whose time has come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/batch.h"

/* Portions, so that a commit stays short however much has fallen due. */
enum { EXPIRE_AT_ONCE = 256, PROMOTE_AT_ONCE = 2000 };

static cairn_code expire_leases(struct batch *batch, cairn_error *reterr)
{
    size_t count = 0;
    struct job_row *rows = arena_array(&batch->arena, EXPIRE_AT_ONCE, sizeof *rows);
    if (!rows)
        return fail_memory(reterr);
    cairn_code code =
        batch->ops->lock_expired_jobs(batch->tx, rows, EXPIRE_AT_ONCE, &count, reterr);
    size_t changed = 0;
    for (size_t i = 0; i < count && !code; i++) {
        struct job_input input = {.action = JOB_EXPIRE};
        struct job_verdict verdict = {0};
        code = batch_apply(batch, &rows[i], &input, &verdict, reterr);
        if (verdict.is_changed)
            rows[changed++] = rows[i];
    }
    if (code || changed == 0)
        return code;
    return batch->ops->update_jobs(batch->tx, rows, changed, reterr);
}

static cairn_code promote(struct batch *batch, cairn_error *reterr)
{
    size_t count = 0;
    cairn_code code = batch->ops->promote_jobs(batch->tx, PROMOTE_AT_ONCE, &count, reterr);
    if (!code && count)
        batch_note_ready(batch, NULL);
    return code;
}

cairn_code timers_apply(struct batch *batch, int64_t *ret_due_us, cairn_error *reterr)
{
    int64_t due_us = 0;
    cairn_code code = batch->ops->next_due(batch->tx, &due_us, reterr);
    if (!code && due_us && due_us <= batch->tx->now_us) {
        batch_late(batch, due_us);
        code = expire_leases(batch, reterr);
        if (!code)
            code = promote(batch, reterr);
        if (!code)
            code = batch->ops->next_due(batch->tx, &due_us, reterr);
    }
    int64_t flow_due_us = 0;
    if (!code)
        code = timers_apply_steps(batch, &flow_due_us, reterr);
    if (!code)
        *ret_due_us = !due_us || (flow_due_us && flow_due_us < due_us) ? flow_due_us : due_us;
    return code;
}
