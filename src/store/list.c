/* store/list.c - lists of jobs and instances, put together from walks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/list_scan.h"

#include "base/clock.h"
#include "base/error.h"
#include "core/error_group.h"

#include <string.h>

enum {
    PORTION_LEAST = 16, /* numbers that are read at once, to begin with */
    RARE = 2000,        /* a tag that so many have is not rare */
};

/* The clocks of servers may differ by this much. */
#define CLOCK_MARGIN_US (5 * US_PER_MIN)

bool list_statuses(struct arena *arena, const struct words *words, uint32_t statuses,
                   const char **ret_text)
{
    *ret_text = NULL;
    if (!statuses || statuses & STATUS_BIT(0))
        return true;
    const char *text = ",";
    for (int i = 1; text && i < words->count; i++)
        if (statuses & STATUS_BIT(i))
            text = arena_printf(arena, "%s%s,", text, words->names[i]);
    *ret_text = text;
    return text != NULL;
}

/* ---- created in a time ---------------------------------------------------------------------- */

/* The first number whose job or instance was created then or later; the one behind the last: none was. */
static cairn_code find_time(struct scan *scan, int64_t us, int64_t *ret_seq)
{
    struct list_walk all = {.kind = scan->kind, .before = INT64_MAX};
    int64_t low = 0, newest = 0, seq, created_us;
    size_t count = 0;
    bool is_exact;
    TRY(scan->ops->walk(scan->tx, &all, &newest, 1, &count, &is_exact, scan->error));
    int64_t high = count ? newest + 1 : 0;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        cairn_code code = scan->ops->find_created(scan->tx, scan->kind, middle, &seq,
                                                  &created_us, scan->error);
        if (code && code != CAIRN_E_NOT_FOUND)
            return code;
        if (code || created_us >= us)
            high = middle;
        else
            low = seq + 1;
    }
    *ret_seq = low;
    return CAIRN_OK;
}

cairn_code scan_find_bounds(struct scan *scan)
{
    const struct list_filter *filter = &scan->filter;
    int64_t behind = INT64_MAX;
    scan->before = filter->before_seq ? filter->before_seq : INT64_MAX;
    if (filter->from_us)
        TRY(find_time(scan, filter->from_us - CLOCK_MARGIN_US, &scan->from));
    if (filter->to_us)
        TRY(find_time(scan, instant_add(filter->to_us, CLOCK_MARGIN_US + 1), &behind));
    if (behind < scan->before)
        scan->before = behind;
    return CAIRN_OK;
}

/* ---- walks ---------------------------------------------------------------------------------- */

static void add_walk(struct scan *scan, int status, size_t room)
{
    struct source *source = &scan->sources[scan->source_count++];
    source->walk = (struct list_walk){.kind = scan->kind,
                                      .status = status,
                                      .workflow = scan->filter.workflow,
                                      .from = scan->from,
                                      .before = scan->before};
    source->portion =
        room < PORTION_LEAST ? PORTION_LEAST : (room < PORTION_MOST ? room : PORTION_MOST);
}

bool scan_is_any_status(const struct scan *scan)
{
    return !scan->filter.statuses || scan->filter.statuses & STATUS_BIT(0);
}

/* One for each status; of a workflow there is an index of each of its statuses. */
static void add_walks(struct scan *scan, size_t room)
{
    bool is_any = scan_is_any_status(scan);
    int count = scan->kind == LIST_JOBS ? JOB_STATUS_COUNT : INSTANCE_STATUS_COUNT;
    if (is_any && !scan->filter.workflow) {
        add_walk(scan, 0, room);
        return;
    }
    for (int status = 1; status < count; status++)
        if (is_any || scan->filter.statuses & STATUS_BIT(status))
            add_walk(scan, status, room);
}

/* How many numbers have a tag, counted up to RARE. */
static cairn_code count_tagged(struct scan *scan, const struct tag *tag, int64_t *seqs,
                               size_t *ret_count)
{
    struct list_walk walk = {
        .kind = scan->kind, .from = scan->from, .before = scan->before, .tag = tag};
    bool is_exact;
    return scan->ops->walk(scan->tx, &walk, seqs, RARE, ret_count, &is_exact, scan->error);
}

/* The rarest of several tags is walked; the others are looked for in the rows. */
static cairn_code add_tag_walk(struct scan *scan, size_t room)
{
    size_t least = SIZE_MAX;
    int64_t *seqs = arena_array(scan->tx->arena, RARE, sizeof *seqs);
    NEED(seqs, scan->error);
    const struct tag *rarest = scan->filter.tags;
    for (size_t i = 0; scan->filter.tag_count > 1 && i < scan->filter.tag_count; i++) {
        size_t count = 0;
        TRY(count_tagged(scan, &scan->filter.tags[i], seqs, &count));
        if (count < least)
            least = count, rarest = &scan->filter.tags[i];
    }
    add_walk(scan, 0, room);
    scan->sources[0].walk.tag = rarest;
    return CAIRN_OK;
}

static void add_parent_walk(struct scan *scan, size_t room)
{
    add_walk(scan, 0, room);
    scan->sources[0].walk.parent = scan->filter.parent;
}

static cairn_code refill(struct scan *scan, struct source *source)
{
    if (source->at < source->count || source->is_done)
        return CAIRN_OK;
    size_t room = source->portion;
    bool is_exact;
    source->seqs = arena_array(scan->tx->arena, room, sizeof *source->seqs);
    NEED(source->seqs, scan->error);
    TRY(scan->ops->walk(scan->tx, &source->walk, source->seqs, room, &source->count, &is_exact,
                        scan->error));
    source->at = 0;
    source->is_done = source->count < room;
    if (source->count)
        source->walk.before = source->seqs[source->count - 1];
    source->portion = room * 4 < PORTION_MOST ? room * 4 : PORTION_MOST;
    return CAIRN_OK;
}

/* The greatest number that was not taken yet; 0: there is none. */
static cairn_code peek(struct scan *scan, int64_t *ret_seq)
{
    *ret_seq = 0;
    for (size_t i = 0; i < scan->source_count; i++) {
        struct source *source = &scan->sources[i];
        TRY(refill(scan, source));
        if (source->at < source->count && source->seqs[source->at] > *ret_seq)
            *ret_seq = source->seqs[source->at];
    }
    return CAIRN_OK;
}

static cairn_code take(struct scan *scan, int64_t *ret_seqs, size_t room, size_t *ret_count)
{
    int64_t seq = 1;
    size_t count = 0;
    while (count < room && seq) {
        TRY(peek(scan, &seq));
        for (size_t i = 0; i < scan->source_count; i++) {
            struct source *source = &scan->sources[i];
            source->at += source->at < source->count && source->seqs[source->at] == seq;
        }
        if (seq)
            ret_seqs[count++] = seq;
    }
    scan->scanned += count;
    *ret_count = count;
    return CAIRN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static cairn_code pick(struct scan *scan, const int64_t *seqs, size_t count, void *rows,
                       size_t room, size_t *ret_count)
{
    if (scan->kind == LIST_JOBS)
        return scan->ops->pick_jobs(scan->tx, &scan->filter, seqs, count, rows, room, ret_count,
                                    scan->error);
    return scan->ops->pick_instances(scan->tx, &scan->filter, seqs, count, rows, room,
                                     ret_count, scan->error);
}

static int64_t seq_of(const struct scan *scan, const char *row)
{
    int64_t seq;
    memcpy(&seq, row + scan->seq_offset, sizeof seq);
    return seq;
}

static const char *text_of(const char *row, size_t offset)
{
    const char *text;
    memcpy(&text, row + offset, sizeof text);
    return text;
}

static cairn_code is_in_group(const struct scan *scan, const void *row, bool *ret_is_in)
{
    struct error_place place = {0};
    *ret_is_in = true;
    if (!scan->filter.group)
        return CAIRN_OK;
    if (scan->kind == LIST_JOBS)
        place = error_of_job(row);
    else
        NEED(error_of_instance(scan->tx->arena, row, &place), scan->error);
    *ret_is_in = error_is_in(&place, scan->filter.group);
    return CAIRN_OK;
}

static bool is_of_parent(const struct scan *scan, const char *row)
{
    const char *parent = scan->filter.parent;
    return !parent || text_is(text_of(row, scan->parent_offset), parent);
}

/* Keeps those that have the names and tags and are in the group that were asked for. */
static cairn_code keep_wanted(const struct scan *scan, char *rows, size_t count,
                              size_t *ret_kept)
{
    size_t kept = 0, size = scan->type->size;
    for (size_t i = 0; i < count; i++) {
        const char *row = rows + i * size;
        bool is_in;
        TRY(is_in_group(scan, row, &is_in));
        if (!is_in || !is_of_parent(scan, row) ||
            !tags_have(text_of(row, scan->tags_offset), scan->filter.tags,
                       scan->filter.tag_count) ||
            !scan_is_named(scan, text_of(row, scan->id_offset), text_of(row, scan->key_offset)))
            continue;
        if (kept < i)
            memcpy(rows + kept * size, row, size);
        kept++;
    }
    *ret_kept = kept;
    return CAIRN_OK;
}

/* The rows with these numbers that match, at most `room`. */
static cairn_code pick_all(struct scan *scan, const int64_t *seqs, size_t count, char *rows,
                           size_t room, size_t *ret_count)
{
    size_t found = 0, at = 0, size = scan->type->size;
    while (at < count && found < room) {
        size_t wanted = room - found, more = 0;
        TRY(pick(scan, seqs + at, count - at, rows + found * size, wanted, &more));
        if (more < wanted) {
            at = count;
        } else {
            int64_t last = seq_of(scan, rows + (found + more - 1) * size);
            while (at < count && seqs[at] >= last)
                at++;
        }
        TRY(keep_wanted(scan, rows + found * size, more, &more));
        found += more;
    }
    *ret_count = found;
    return CAIRN_OK;
}

static bool is_enough(const struct scan *scan)
{
    size_t most = scan->filter.scan_max ? scan->filter.scan_max : LIST_SCAN_MAX;
    return scan->scanned >= most ||
           (scan->scanned >= SCAN_LEAST && monotonic_us() > scan->give_up_us);
}

/* The walk ends before its time: where the next one goes on, and how far this one came. */
static cairn_code cut(struct scan *scan, int64_t seq, struct list_end *ret_end)
{
    int64_t next = 0, found;
    TRY(peek(scan, &next));
    if (!next)
        return CAIRN_OK;
    ret_end->next = seq;
    return scan->ops->find_created(scan->tx, scan->kind, seq, &found, &ret_end->scanned_to_us,
                                   scan->error);
}

static cairn_code scan_rows(struct scan *scan, char *rows, size_t room,
                            struct list_end *ret_end)
{
    size_t portion = room < PORTION_LEAST ? PORTION_LEAST : room;
    int64_t *seqs = arena_array(scan->tx->arena, PORTION_MOST, sizeof *seqs);
    NEED(seqs, scan->error);
    while (ret_end->count < room) {
        size_t count = 0, found = 0;
        if (portion > PORTION_MOST)
            portion = PORTION_MOST;
        TRY(take(scan, seqs, portion, &count));
        if (count == 0)
            return CAIRN_OK;
        TRY(pick_all(scan, seqs, count, rows + ret_end->count * scan->type->size,
                     room - ret_end->count, &found));
        ret_end->count += found;
        if (ret_end->count < room && is_enough(scan))
            return cut(scan, seqs[count - 1], ret_end);
        portion *= 4;
    }
    ret_end->next = seq_of(scan, rows + (room - 1) * scan->type->size);
    return CAIRN_OK;
}

static cairn_code run(struct scan *scan, const struct list_filter *filter, void *rows,
                      size_t room, struct list_end *ret_end)
{
    scan->ops = scan->tx->session->store->ops;
    scan->filter = *filter;
    scan->give_up_us = monotonic_us() + LIST_SCAN_US;
    if (filter->due != DUE_ANY && scan_is_any_status(scan))
        scan->filter.statuses = STATUS_BIT(JOB_PENDING);
    else if (filter->group && scan_is_any_status(scan))
        scan->filter.statuses =
            scan->kind == LIST_JOBS ? STATUS_BIT(JOB_FAILED) : STATUS_BIT(INSTANCE_FAILED);
    else if (filter->stand && scan_is_any_status(scan))
        scan->filter.statuses = STANDING;
    *ret_end = (struct list_end){0};
    TRY(scan_find_bounds(scan));
    if (filter->ids || filter->key || filter->q)
        TRY(scan_look_up(scan));
    else if (filter->parent)
        add_parent_walk(scan, room);
    else if (filter->tag_count)
        TRY(add_tag_walk(scan, room));
    else
        add_walks(scan, room);
    return room ? scan_rows(scan, rows, room, ret_end) : CAIRN_OK;
}

cairn_code list_jobs(struct store_tx *tx, const struct list_filter *filter,
                     struct job_row *ret_rows, size_t room, struct list_end *ret_end,
                     cairn_error *reterr)
{
    struct scan scan = {.tx = tx,
                        .kind = LIST_JOBS,
                        .type = &job_row_type,
                        .id_offset = offsetof(struct job_row, id),
                        .key_offset = offsetof(struct job_row, key),
                        .seq_offset = offsetof(struct job_row, seq),
                        .tags_offset = offsetof(struct job_row, tags),
                        .error = reterr};
    return run(&scan, filter, ret_rows, room, ret_end);
}

cairn_code list_instances(struct store_tx *tx, const struct list_filter *filter,
                          struct instance_row *ret_rows, size_t room, struct list_end *ret_end,
                          cairn_error *reterr)
{
    struct scan scan = {.tx = tx,
                        .kind = LIST_INSTANCES,
                        .type = &instance_row_type,
                        .id_offset = offsetof(struct instance_row, id),
                        .key_offset = offsetof(struct instance_row, key),
                        .seq_offset = offsetof(struct instance_row, seq),
                        .tags_offset = offsetof(struct instance_row, tags),
                        .parent_offset = offsetof(struct instance_row, parent),
                        .error = reterr};
    return run(&scan, filter, ret_rows, room, ret_end);
}
