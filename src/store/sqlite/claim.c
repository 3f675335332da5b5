/* store/sqlite/claim.c - handing waiting jobs to a worker, without walking the backlog.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The claim index holds what can be claimed, by type and then in the order of claiming.  An
 * exact type is one probe; a prefix is one probe for each type that has something waiting. Of
 * each type only the head is read, and of all heads the best `room` are kept.
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/heads.h"

#include <assert.h>

/* What every step of a claim needs. */
struct claiming {
    struct store_tx *tx;
    const struct job_claim *claim;
    struct heads heads;
    cairn_error *reterr;
};

/* For heads_visit_types(): offers the best of one type. */
static cairn_code collect_type(void *arg, const char *type)
{
    struct claiming *claiming = arg;
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(claiming->tx), Q_CLAIM_HEADS);
    bind_text(&query, ":type", type);
    bind_text(&query, ":runtime", claiming->claim->runtime);
    bind_size(&query, ":room", claiming->heads.room);
    while (query_step(&query) == SQLITE_ROW) {
        struct row_reader reader = {.query = &query};
        struct head head = {.rank = (double)read_int(&reader)};
        head.id = read_int(&reader);
        if (!heads_offer(&claiming->heads, head))
            return CAIRN_OK; /* and neither is what comes after it */
    }
    if (query.rc != SQLITE_DONE)
        return query_refused(&query, "find waiting jobs", claiming->reterr);
    return CAIRN_OK;
}

static cairn_code write_lease(struct claiming *claiming, struct job_row *row)
{
    const struct job_claim *claim = claiming->claim;
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(claiming->tx), Q_LEASE_JOB);
    bind_int(&query, ":seq", row->seq);
    bind_text(&query, ":worker", claim->worker);
    bind_text(&query, ":token", claim->token);
    bind_int(&query, ":lease_until", claim->lease_until_us);
    bind_int(&query, ":now", claiming->tx->now_us);
    cairn_code code = query_run(&query, "lease a job", claiming->reterr);
    if (code)
        return code;

    row->status = JOB_LEASED;
    row->is_ready = false;
    row->leased_by = claim->worker;
    row->token = claim->token;
    row->lease_until_us = claim->lease_until_us;
    row->updated_at_us = claiming->tx->now_us;
    return CAIRN_OK;
}

static cairn_code postpone(struct claiming *claiming, int64_t seq)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(claiming->tx), Q_POSTPONE_JOB);
    bind_int(&query, ":seq", seq);
    return query_run(&query, "postpone a job", claiming->reterr);
}

static cairn_code read_head(struct claiming *claiming, int64_t seq, struct job_row *ret_row)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(claiming->tx), Q_READ_JOB);
    bind_int(&query, ":seq", seq);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query, "read a waiting job", claiming->reterr);
    return read_job(&query, claiming->tx->arena, ret_row, claiming->reterr);
}

/* Leases one head, or puts it aside if others inserted it as ready before its time. */
static cairn_code take(struct claiming *claiming, int64_t seq, struct job_row *ret_row,
                       bool *ret_taken)
{
    cairn_code code = read_head(claiming, seq, ret_row);
    if (code)
        return code;
    *ret_taken = ret_row->run_at_us <= claiming->tx->now_us;
    return *ret_taken ? write_lease(claiming, ret_row) : postpone(claiming, seq);
}

/* One round: the best heads are leased.  *ret_postponed: some were not, so look again. */
static cairn_code claim_round(struct claiming *claiming, struct job_row *ret_rows, size_t room,
                              size_t *count, bool *ret_postponed)
{
    claiming->heads.count = 0;
    claiming->heads.room = room - *count;
    cairn_code code = heads_visit_types(claiming->tx, claiming->claim, Q_NEXT_TYPE,
                                        collect_type, claiming, claiming->reterr);
    if (code)
        return code;
    heads_sort(&claiming->heads);

    *ret_postponed = false;
    for (size_t i = 0; i < claiming->heads.count; i++) {
        bool is_taken;
        code = take(claiming, claiming->heads.items[i].id, &ret_rows[*count], &is_taken);
        if (code)
            return code;
        if (is_taken)
            ++*count;
        else
            *ret_postponed = true;
    }
    return CAIRN_OK;
}

cairn_code sqlite_claim_jobs(struct store_tx *tx, const struct job_claim *claim,
                             struct job_row *ret_rows, size_t room, size_t *ret_count,
                             cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    struct claiming claiming = {.tx = tx, .claim = claim, .reterr = reterr};
    struct job_claim own = *claim; /* its texts must live as long as the rows */
    own.worker = arena_strdup(tx->arena, claim->worker);
    own.token = arena_strdup(tx->arena, claim->token);
    claiming.claim = &own;
    claiming.heads.items = arena_array(tx->arena, room, sizeof(struct head));
    if (!own.worker || !own.token || !claiming.heads.items)
        return fail_memory(reterr);

    size_t count = 0;
    bool is_postponed = true;
    while (is_postponed && count < room) {
        cairn_code code = claim_round(&claiming, ret_rows, room, &count, &is_postponed);
        if (code)
            return code;
    }
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code sqlite_find_claimed(struct store_tx *tx, const char *worker, const char *token,
                               struct job_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_FIND_CLAIMED);
    bind_text(&query, ":worker", worker);
    bind_text(&query, ":token", token);
    bind_size(&query, ":room", room);
    return read_jobs(&query, tx, "find what a claim took", ret_rows, room, ret_count, reterr);
}
