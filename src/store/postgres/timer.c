/* store/postgres/timer.c - what falls due: work for later, leases, waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The engine asks for the next timer in every commit.  Leases that have ended stay at the head
 * of their index as dead entries until a vacuum, and a look has to walk over them.  So an
 * answer holds for a moment: our own later writes lower it, news from others discards it.  What
 * another process does without a word (a lease it takes) is seen that moment later.
 */
#include "base/mem.h"
#include "store/postgres/flow.h"

#include <stdlib.h>

#define HOLDS_US (200 * US_PER_MS)

static void note(struct postgres_due *due, int64_t due_us)
{
    int64_t known_us = atomic_load(&due->due_us);
    while (due_us < known_us)
        if (atomic_compare_exchange_weak(&due->due_us, &known_us, due_us))
            return;
}

void postgres_note_due(struct store_tx *tx, int64_t due_us)
{
    note(&postgres_store_of(tx->session)->job_due, due_us);
}

void postgres_note_flow_due(struct store_tx *tx, int64_t due_us)
{
    note(&postgres_store_of(tx->session)->flow_due, due_us);
}

void postgres_note_row(struct store_tx *tx, const struct job_row *row)
{
    if (row->status == JOB_PENDING && !row->is_ready) {
        postgres_session_of(tx)->tx.is_news = true; /* whoever listens has a timer to set */
        postgres_note_due(tx, row->run_at_us);
    } else if (row->status == JOB_LEASED) {
        postgres_note_due(tx, row->lease_until_us + 1);
    }
}

void postgres_note_instance(struct store_tx *tx, const struct instance_row *row)
{
    if (row->status != INSTANCE_PENDING || !row->start_at_us)
        return;
    postgres_session_of(tx)->tx.is_news = true;
    postgres_note_flow_due(tx, row->start_at_us);
}

void postgres_note_step(struct store_tx *tx, const struct step_row *row)
{
    if (!row->due_at_us)
        return;
    if (!row->locked_by)
        postgres_session_of(tx)->tx.is_news = true;
    postgres_note_flow_due(tx, row->due_at_us);
}

void postgres_forget_due(struct postgres_store *store)
{
    atomic_store(&store->job_due.read_us, 0);
    atomic_store(&store->flow_due.read_us, 0);
}

/* Whether the answer that we have will do.  A timer that is due is always looked for. */
static bool is_known(struct postgres_due *due, const struct store_tx *tx, int64_t *ret_due_us)
{
    int64_t read_us = atomic_load(&due->read_us);
    int64_t due_us = atomic_load(&due->due_us);
    if (tx->session->store->clock->is_virtual || read_us == 0 ||
        monotonic_us() - read_us > HOLDS_US || due_us <= tx->now_us)
        return false;
    *ret_due_us = due_us == INT64_MAX ? 0 : due_us;
    return true;
}

static cairn_code read_due(struct store_tx *tx, struct postgres_due *due,
                           enum postgres_query query, int64_t *ret_due_us, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    if (is_known(due, tx, ret_due_us))
        return CAIRN_OK;
    cairn_code code = postgres_run(postgres_session_of(tx), query, NULL, &result, reterr);
    if (code)
        return code;
    *ret_due_us = value_time(&(struct postgres_reader){.result = result}, 0);
    atomic_store(&due->due_us, *ret_due_us ? *ret_due_us : INT64_MAX);
    atomic_store(&due->read_us, monotonic_us());
    return CAIRN_OK;
}

cairn_code postgres_next_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr)
{
    return read_due(tx, &postgres_store_of(tx->session)->job_due, PG_NEXT_DUE, ret_due_us,
                    reterr);
}

cairn_code postgres_next_flow_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr)
{
    return read_due(tx, &postgres_store_of(tx->session)->flow_due, PG_NEXT_FLOW_DUE, ret_due_us,
                    reterr);
}

static cairn_code promote(struct store_tx *tx, enum postgres_query query, size_t limit,
                          size_t *ret_count, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_time(&params, tx->now_us);
    param_int(&params, (int64_t)limit);
    cairn_code code = postgres_run(postgres_session_of(tx), query, &params, &result, reterr);
    if (!code)
        *ret_count = strtoul(PQcmdTuples(result), NULL, 10);
    return code;
}

cairn_code postgres_promote_jobs(struct store_tx *tx, size_t limit, size_t *ret_count,
                                 cairn_error *reterr)
{
    return promote(tx, PG_PROMOTE_JOBS, limit, ret_count, reterr);
}

cairn_code postgres_promote_steps(struct store_tx *tx, size_t limit, size_t *ret_count,
                                  cairn_error *reterr)
{
    return promote(tx, PG_PROMOTE_STEPS, limit, ret_count, reterr);
}
