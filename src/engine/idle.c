/* engine/idle.c - whether anything is left to do for a worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Not while something can be claimed that the worker serves.  Not while something is leased that may
 * bring it work: a job that it serves, which may fail, or any step, since the next one may be
 * its own.  Nor while a timer is due, which may make something claimable.
 */
#include "engine/batch.h"
#include "engine/read.h"

#include <string.h>

/* Types that are looked at; with more of them than that, the answer is "not idle". */
enum { IDLE_TYPES_MAX = 4096 };

/* Leased jobs that are looked at together, and how often: with more of them, the same. */
enum { IDLE_JOBS = 64, IDLE_LOOKS = 64 };

/* Whether the worker would be given tasks of this type. */
static cairn_code is_served(struct question *q, const char *type, int32_t version,
                            bool *ret_is_served)
{
    const cairn_claim_options *claim = &q->request->in.claim;
    struct registry_row entry;
    if (!claim_names(claim, type, version))
        return CAIRN_OK;
    cairn_code code = STORE(q, get_registry, type, &entry);
    if (code == CAIRN_E_NOT_FOUND) {
        *ret_is_served = true;
        return CAIRN_OK;
    }
    if (!code && entry.is_enabled)
        *ret_is_served |= !claim->runtime || strcmp(claim->runtime, entry.runtime) == 0;
    return code;
}

/* Of those that a pattern names: one that another runtime has, or that is disabled, brings nothing. */
static cairn_code is_named_job_leased(struct question *q, const char *pattern,
                                      bool *ret_is_leased)
{
    struct job_row *rows = arena_array(q->arena, IDLE_JOBS, sizeof *rows);
    struct list_filter filter = {
        .statuses = STATUS_BIT(JOB_LEASED), .pattern = pattern, .is_row = true};
    struct list_end end = {.next = 1};
    NEED(rows, q->error);
    for (int look = 0; look < IDLE_LOOKS && end.next && !*ret_is_leased; look++) {
        TRY(list_jobs(q->tx, &filter, rows, IDLE_JOBS, &end, q->error));
        filter.before_seq = end.next;
        for (size_t i = 0; i < end.count && !*ret_is_leased; i++)
            if (i == 0 || strcmp(rows[i].type, rows[i - 1].type) != 0)
                TRY(is_served(q, rows[i].type, 0, ret_is_leased));
    }
    *ret_is_leased |= end.next > 0; /* not sure: it is not idle */
    return CAIRN_OK;
}

static cairn_code is_job_leased(struct question *q, bool *ret_is_leased)
{
    const cairn_claim_options *claim = &q->request->in.claim;
    for (size_t i = 0; i < claim->type_count && !*ret_is_leased; i++)
        TRY(is_named_job_leased(q, claim->types[i], ret_is_leased));
    return CAIRN_OK;
}

static cairn_code is_job_ready(struct question *q, bool *ret_is_ready)
{
    size_t count = 0;
    const char **types = arena_array(q->arena, IDLE_TYPES_MAX, sizeof *types);
    NEED(types, q->error);
    TRY(STORE(q, list_types, true, types, IDLE_TYPES_MAX, &count));
    *ret_is_ready |= count == IDLE_TYPES_MAX;
    for (size_t i = 0; i < count && !*ret_is_ready; i++)
        TRY(is_served(q, types[i], 0, ret_is_ready));
    return CAIRN_OK;
}

static cairn_code is_step_ready(struct question *q, bool *ret_is_ready)
{
    size_t count = 0;
    struct ready_type *types = arena_array(q->arena, IDLE_TYPES_MAX, sizeof *types);
    NEED(types, q->error);
    TRY(STORE(q, list_ready_types, types, IDLE_TYPES_MAX, &count));
    *ret_is_ready |= count == IDLE_TYPES_MAX;
    for (size_t i = 0; i < count && !*ret_is_ready; i++)
        TRY(is_served(q, types[i].name, types[i].version, ret_is_ready));
    return CAIRN_OK;
}

static cairn_code is_leased(struct question *q, struct step_counts *ret_steps,
                            bool *ret_is_leased)
{
    *ret_steps = (struct step_counts){0};
    TRY(STORE(q, count_steps, ret_steps));
    *ret_is_leased |= ret_steps->leased > 0;
    return *ret_is_leased ? CAIRN_OK : is_job_leased(q, ret_is_leased);
}

/* Leases are looked at twice: on PostgreSQL each look sees what was committed before it, so what was ready at
 * the first look may be leased at the second, and would be neither. */
cairn_code answer_idle(struct question *q)
{
    struct step_counts steps;
    int64_t due_us;
    TRY(question_next_due(q, &due_us));
    bool is_busy = due_us && due_us <= q->tx->now_us;
    if (!is_busy)
        TRY(is_leased(q, &steps, &is_busy));
    if (!is_busy)
        TRY(is_job_ready(q, &is_busy));
    if (!is_busy && steps.ready)
        TRY(is_step_ready(q, &is_busy));
    if (!is_busy)
        TRY(is_leased(q, &steps, &is_busy));
    q->request->out.is_idle = !is_busy;
    return CAIRN_OK;
}
