/* store/postgres/timer.c - what falls due: work for later, and leases.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The engine asks for the next timer in every commit.  Leases that have ended stay at the head
 * of their index as dead entries until a vacuum, and a look has to walk over them.  So an
 * answer holds for a moment: our own later writes lower it, news from others discards it.  What
 * another process does without a word (a lease it takes) is seen that moment later.
 */
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <stdlib.h>

#define HOLDS_US (200 * US_PER_MS)

void postgres_note_due(struct store_tx *tx, int64_t due_us)
{
    struct postgres_store *store = postgres_store_of(tx->session);
    int64_t known_us = atomic_load(&store->due_us);
    while (due_us < known_us)
        if (atomic_compare_exchange_weak(&store->due_us, &known_us, due_us))
            return;
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

void postgres_forget_due(struct postgres_store *store)
{
    atomic_store(&store->due_read_us, 0);
}

/* Whether the answer that we have will do.  A timer that is due is always looked for. */
static bool is_known(struct postgres_store *store, const struct store_tx *tx,
                     int64_t *ret_due_us)
{
    int64_t read_us = atomic_load(&store->due_read_us);
    int64_t due_us = atomic_load(&store->due_us);
    if (store->base.clock->is_virtual || read_us == 0 || monotonic_us() - read_us > HOLDS_US ||
        due_us <= tx->now_us)
        return false;
    *ret_due_us = due_us == INT64_MAX ? 0 : due_us;
    return true;
}

cairn_code postgres_next_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr)
{
    struct postgres_store *store = postgres_store_of(tx->session);
    cleanup(postgres_result_done) PGresult *result = NULL;
    if (is_known(store, tx, ret_due_us))
        return CAIRN_OK;
    cairn_code code = postgres_run(postgres_session_of(tx), PG_NEXT_DUE, NULL, &result, reterr);
    if (code)
        return code;
    *ret_due_us = value_time(&(struct postgres_reader){.result = result}, 0);
    atomic_store(&store->due_us, *ret_due_us ? *ret_due_us : INT64_MAX);
    atomic_store(&store->due_read_us, monotonic_us());
    return CAIRN_OK;
}

cairn_code postgres_promote_jobs(struct store_tx *tx, size_t limit, size_t *ret_count,
                                 cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_time(&params, tx->now_us);
    param_int(&params, (int64_t)limit);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_PROMOTE_JOBS, &params, &result, reterr);
    if (!code)
        *ret_count = strtoul(PQcmdTuples(result), NULL, 10);
    return code;
}
