/* store/list_dlq.c - lists of open records of the dead letter queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/error.h"
#include "core/error_group.h"
#include "store/list.h"

#include <string.h>

enum { PORTION = 500, SCAN_LEAST = 2000 };

static bool is_wanted(const struct dlq_filter *filter, const struct dlq_row *row)
{
    struct error_place place = error_of_record(row);
    return (!filter->workflow || strcmp(row->workflow, filter->workflow) == 0) &&
           (!filter->step || strcmp(row->step_name, filter->step) == 0) &&
           (!filter->group || error_is_in(&place, filter->group));
}

static bool is_filtered(const struct dlq_filter *filter)
{
    return filter->workflow || filter->step || filter->group;
}

/* Whether records are read whole at once: those of one instance, which are few, and those that are all
 * wanted whole. */
static bool is_read_whole(const struct dlq_filter *filter)
{
    return filter->instance_id || (!filter->is_row && !is_filtered(filter));
}

static cairn_code read_portion(struct store_tx *tx, const struct dlq_filter *filter,
                               int64_t before, struct dlq_row *rows, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    const struct store_ops *ops = tx->session->store->ops;
    if (!is_read_whole(filter))
        return ops->scan_dlq(tx, before, rows, room, ret_count, reterr);
    TRY(ops->list_dlq(tx, filter->instance_id, before, rows, room, ret_count, reterr));
    for (size_t i = 0; i < *ret_count; i++)
        rows[i].input_bytes = rows[i].input ? (int64_t)strlen(rows[i].input) : 0;
    return CAIRN_OK;
}

/* Adds what is wanted of a portion, until there is no room. */
static cairn_code take_rows(struct store_tx *tx, const struct dlq_filter *filter,
                            const struct dlq_row *rows, size_t count, struct dlq_row *ret_rows,
                            size_t room, struct list_end *end, cairn_error *reterr)
{
    bool is_half = !is_read_whole(filter) && !filter->is_row;
    for (size_t i = 0; i < count && end->count < room; i++) {
        if (!is_wanted(filter, &rows[i]))
            continue;
        struct dlq_row *row = &ret_rows[end->count++];
        *row = rows[i];
        end->next = row->id;
        if (is_half)
            TRY(tx->session->store->ops->get_dlq(tx, row->id, row, reterr));
    }
    return CAIRN_OK;
}

cairn_code list_records(struct store_tx *tx, const struct dlq_filter *filter,
                        struct dlq_row *ret_rows, size_t room, struct list_end *ret_end,
                        cairn_error *reterr)
{
    size_t most = filter->scan_max ? filter->scan_max : LIST_SCAN_MAX, scanned = 0;
    size_t portion = is_filtered(filter) || room > PORTION ? PORTION : room, count = portion;
    int64_t before = filter->before_id, give_up_us = monotonic_us() + LIST_SCAN_US;
    struct dlq_row *rows = arena_array(tx->arena, portion, sizeof *rows);
    NEED(rows, reterr);
    *ret_end = (struct list_end){0};
    while (count == portion) {
        TRY(read_portion(tx, filter, before, rows, portion, &count, reterr));
        TRY(take_rows(tx, filter, rows, count, ret_rows, room, ret_end, reterr));
        if (ret_end->count == room)
            return CAIRN_OK;
        scanned += count;
        before = count ? rows[count - 1].id : 0;
        bool is_enough =
            scanned >= most || (scanned >= SCAN_LEAST && monotonic_us() > give_up_us);
        if (count == portion && is_enough) {
            ret_end->next = before;
            ret_end->scanned_to_us = rows[count - 1].created_at_us;
            return CAIRN_OK;
        }
    }
    ret_end->next = 0;
    return CAIRN_OK;
}
