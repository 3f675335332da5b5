/* store/list_count.c - how many jobs and instances match, by status or by where they stand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/error.h"
#include "store/list_scan.h"

/* Whether nothing is asked for but statuses and a workflow. */
static bool is_plain(const struct list_filter *filter)
{
    return !filter->version && !filter->pattern && filter->due == DUE_ANY && !filter->from_us &&
           !filter->to_us && !filter->tag_count && !filter->is_root;
}

/* Whether rows must be read whole to see whether they match. */
static bool is_hard(const struct list_filter *filter)
{
    return filter->key || filter->q || filter->ids || filter->has || filter->group ||
           filter->parent || filter->tag_count > 1 || (filter->tag_count && filter->workflow);
}

/* Statuses that are counted, and what was found of each. */
struct tally {
    struct scan *scan;
    uint32_t left; /* statuses that no index has counted */
    uint64_t found[INSTANCE_STATUS_COUNT];
    bool is_more; /* of those that are left */
};
_Static_assert((int)JOB_STATUS_COUNT <= (int)INSTANCE_STATUS_COUNT, "room for both");

/* Counts rows as they are found; those are few, or were looked up. */
static cairn_code count_found(struct tally *tally)
{
    struct scan *scan = tally->scan;
    bool is_job = scan->kind == LIST_JOBS;
    struct list_filter filter = scan->filter;
    struct list_end end;
    size_t total = 0;
    char *rows = arena_room(scan->tx->arena, PORTION_MOST, scan->type->size);
    NEED(rows, scan->error);
    filter.is_row = true;
    filter.statuses = tally->left;
    do {
        if (is_job)
            TRY(list_jobs(scan->tx, &filter, (struct job_row *)rows, PORTION_MOST, &end,
                          scan->error));
        else
            TRY(list_instances(scan->tx, &filter, (struct instance_row *)rows, PORTION_MOST,
                               &end, scan->error));
        for (size_t i = 0; i < end.count; i++)
            tally->found[is_job ? (int)((struct job_row *)rows)[i].status
                                : (int)((struct instance_row *)rows)[i].status]++;
        total += end.count;
        filter.before_seq = end.next;
    } while (end.next && !end.scanned_to_us && total < LIST_SCAN_MAX &&
             (total < SCAN_LEAST || monotonic_us() < scan->give_up_us));
    tally->is_more = end.next != 0;
    return CAIRN_OK;
}

/* Counts what a walk leads to, without reading more of the rows than what is compared. */
static cairn_code count_walk(struct tally *tally, const struct list_walk *walk, size_t room,
                             size_t *ret_looked_at)
{
    struct scan *scan = tally->scan;
    uint64_t found[INSTANCE_STATUS_COUNT] = {0};
    TRY(scan->ops->count_scanned(scan->tx, walk, &scan->filter, room, found, ret_looked_at,
                                 scan->error));
    for (int status = 1; status < INSTANCE_STATUS_COUNT; status++)
        if (tally->left & STATUS_BIT(status))
            tally->found[status] += found[status];
    tally->is_more |= *ret_looked_at == room;
    return CAIRN_OK;
}

/* Of a workflow each status has its place in an index.  All together look at no more than one walk. */
static cairn_code count_workflow(struct tally *tally, struct list_walk walk, size_t room)
{
    size_t looked_at = 0;
    for (walk.status = 1; walk.status < INSTANCE_STATUS_COUNT && room; walk.status++) {
        if (!(tally->left & STATUS_BIT(walk.status)))
            continue;
        TRY(count_walk(tally, &walk, room < COUNT_MAX + 1 ? room : COUNT_MAX + 1, &looked_at));
        room -= looked_at;
    }
    tally->is_more |= !room;
    return CAIRN_OK;
}

static cairn_code count_scanned(struct tally *tally)
{
    struct scan *scan = tally->scan;
    const struct list_filter *filter = &scan->filter;
    bool is_pending = scan->kind == LIST_JOBS && tally->left == STATUS_BIT(JOB_PENDING);
    size_t room = filter->scan_max ? filter->scan_max : LIST_SCAN_MAX, looked_at;
    TRY(scan_find_bounds(scan));
    struct list_walk walk = {.kind = scan->kind,
                             .status = is_pending ? JOB_PENDING : 0,
                             .workflow = filter->workflow,
                             .from = scan->from,
                             .before = scan->before,
                             .tag = filter->tag_count ? filter->tags : NULL};
    return filter->workflow ? count_workflow(tally, walk, room)
                            : count_walk(tally, &walk, room, &looked_at);
}

cairn_code list_counts(struct store_tx *tx, enum list_kind kind,
                       const struct list_filter *filter, struct list_count *ret_counts,
                       cairn_error *reterr)
{
    bool is_job = kind == LIST_JOBS;
    int count = is_job ? JOB_STATUS_COUNT : INSTANCE_STATUS_COUNT;
    struct scan scan = {.tx = tx,
                        .ops = tx->session->store->ops,
                        .kind = kind,
                        .type = is_job ? &job_row_type : &instance_row_type,
                        .filter = *filter,
                        .give_up_us = monotonic_us() + LIST_SCAN_US,
                        .error = reterr};
    uint32_t wanted =
        scan_is_any_status(&scan) ? (STATUS_BIT(count) - 1) & ~STATUS_BIT(0) : filter->statuses;
    if (filter->due != DUE_ANY)
        wanted &= STATUS_BIT(JOB_PENDING);
    struct tally tally = {.scan = &scan, .left = wanted};
    if (is_hard(filter) && tally.left)
        TRY(count_found(&tally));
    else if (is_plain(filter))
        TRY(scan.ops->count_indexed(tx, kind, filter->workflow, &tally.left, COUNT_MAX + 1,
                                    tally.found, reterr));
    if (!is_hard(filter) && tally.left)
        TRY(count_scanned(&tally));
    for (int status = 0; status < count; status++) {
        uint64_t n = wanted & STATUS_BIT(status) ? tally.found[status] : 0;
        bool is_cut = tally.is_more && tally.left & STATUS_BIT(status);
        ret_counts[status] = (struct list_count){.n = n > COUNT_MAX ? COUNT_MAX : n,
                                                 .is_more = n > COUNT_MAX || is_cut};
    }
    return CAIRN_OK;
}

cairn_code list_stands(struct store_tx *tx, const struct list_filter *filter,
                       struct list_count *ret_counts, cairn_error *reterr)
{
    struct scan scan = {.tx = tx,
                        .ops = tx->session->store->ops,
                        .kind = LIST_INSTANCES,
                        .type = &instance_row_type,
                        .filter = *filter,
                        .error = reterr};
    uint64_t found[STAND_COUNT] = {0};
    bool is_more = false;
    TRY(scan_find_bounds(&scan));
    for (int status = 1; status < INSTANCE_STATUS_COUNT; status++) {
        struct list_walk walk = {.kind = LIST_INSTANCES,
                                 .status = status,
                                 .workflow = filter->workflow,
                                 .from = scan.from,
                                 .before = scan.before};
        size_t room = filter->scan_max ? filter->scan_max : STANDS_MAX, looked_at = 0;
        if (!(STANDING & STATUS_BIT(status)))
            continue;
        TRY(scan.ops->count_stands(tx, &walk, filter, room + 1, found, &looked_at, reterr));
        is_more |= looked_at > room;
    }
    for (int stand = 0; stand < STAND_COUNT; stand++)
        ret_counts[stand] = (struct list_count){.n = found[stand], .is_more = is_more};
    return CAIRN_OK;
}
