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
#include "core/pattern.h"
#include "store/sqlite/sqlite.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct head {
    int64_t priority, seq;
};

/* The best heads so far: a heap with the worst on top, so that it is the one to give way. */
struct heads {
    struct head *items;
    size_t count, room;
};

/* What every step of a claim needs. */
struct claiming {
    struct store_tx *tx;
    const struct job_claim *claim;
    struct heads heads;
    cairn_error *reterr;
};

static int compare_heads(const void *left, const void *right)
{
    const struct head *a = left, *b = right;
    if (a->priority != b->priority)
        return a->priority < b->priority ? -1 : 1;
    return (a->seq > b->seq) - (a->seq < b->seq);
}

static void swap_heads(struct head *a, struct head *b)
{
    struct head kept = *a;
    *a = *b;
    *b = kept;
}

static void rise(struct heads *heads, size_t i)
{
    while (i > 0 && compare_heads(&heads->items[i], &heads->items[(i - 1) / 2]) > 0) {
        swap_heads(&heads->items[i], &heads->items[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
}

static void sink(struct heads *heads)
{
    size_t i = 0;
    for (size_t child = 1; child < heads->count; child = 2 * i + 1) {
        if (child + 1 < heads->count &&
            compare_heads(&heads->items[child + 1], &heads->items[child]) > 0)
            child++;
        if (compare_heads(&heads->items[i], &heads->items[child]) >= 0)
            return;
        swap_heads(&heads->items[i], &heads->items[child]);
        i = child;
    }
}

/* False: it is no better than what is there, and neither is what comes after it. */
static bool offer(struct heads *heads, struct head head)
{
    if (heads->count < heads->room) {
        heads->items[heads->count] = head;
        rise(heads, heads->count++);
        return true;
    }
    if (compare_heads(&head, &heads->items[0]) >= 0)
        return false;
    heads->items[0] = head;
    sink(heads);
    return true;
}

static cairn_code collect_type(struct claiming *claiming, const char *type)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(claiming->tx), Q_CLAIM_HEADS);
    bind_text(&query, ":type", type);
    bind_text(&query, ":runtime", claiming->claim->runtime);
    bind_size(&query, ":room", claiming->heads.room);
    while (query_step(&query) == SQLITE_ROW) {
        struct row_reader reader = {.query = &query};
        struct head head = {.priority = read_int(&reader)};
        head.seq = read_int(&reader);
        if (!offer(&claiming->heads, head))
            return CAIRN_OK;
    }
    if (query.rc != SQLITE_DONE)
        return query_refused(&query, "find waiting jobs", claiming->reterr);
    return CAIRN_OK;
}

/* The first type of a range with something to claim; *ret_type NULL: none. */
static cairn_code next_type(struct claiming *claiming, struct type_range range,
                            const char **ret_type)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(claiming->tx), Q_NEXT_TYPE);
    bind_type_range(&query, range);
    struct row_reader reader = {.query = &query, .arena = claiming->tx->arena};
    *ret_type = NULL;
    if (query_step(&query) == SQLITE_ROW)
        *ret_type = read_text(&reader);
    else if (query.rc != SQLITE_DONE)
        return query_refused(&query, "find waiting jobs", claiming->reterr);
    return reader.failed ? fail_memory(claiming->reterr) : CAIRN_OK;
}

/* All types of a prefix, except those that one of the first `done` patterns has covered. */
static cairn_code collect_prefix(struct claiming *claiming, const char *prefix, size_t done)
{
    struct arena *arena = claiming->tx->arena;
    struct type_range range;
    if (!type_range(prefix, arena, &range))
        return fail_memory(claiming->reterr);

    for (;;) {
        const char *type;
        cairn_code code = next_type(claiming, range, &type);
        if (code || !type)
            return code;
        if (!pattern_matches_any(claiming->claim->patterns, done, type))
            code = collect_type(claiming, type);
        if (code)
            return code;
        range.from = type_after(type, arena);
        if (!range.from)
            return fail_memory(claiming->reterr);
    }
}

static cairn_code collect(struct claiming *claiming)
{
    const struct job_claim *claim = claiming->claim;
    for (size_t i = 0; i < claim->pattern_count; i++) {
        const char *pattern = claim->patterns[i];
        cairn_code code = CAIRN_OK;
        if (pattern_is_prefix(pattern))
            code = collect_prefix(claiming, pattern, i);
        else if (!pattern_matches_any(claim->patterns, i, pattern))
            code = collect_type(claiming, pattern);
        if (code)
            return code;
    }
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
    cairn_code code = collect(claiming);
    if (code)
        return code;
    qsort(claiming->heads.items, claiming->heads.count, sizeof(struct head), compare_heads);

    *ret_postponed = false;
    for (size_t i = 0; i < claiming->heads.count; i++) {
        bool is_taken;
        code = take(claiming, claiming->heads.items[i].seq, &ret_rows[*count], &is_taken);
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
