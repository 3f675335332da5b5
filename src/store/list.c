/* store/list.c - lists of jobs and instances, put together from walks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/list.h"

#include "base/clock.h"
#include "base/error.h"
#include "core/error_group.h"
#include "core/pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    SOURCES_MAX = INSTANCE_STATUS_COUNT,
    PORTION_LEAST = 16,  /* numbers that are read at once, to begin with */
    PORTION_MOST = 1000, /* and later */
    SCAN_LEAST = 2000,   /* so many are looked at, however long it takes */
    NAMES_MAX = 1000,    /* that are looked up */
    RARE = 2000,         /* a tag that so many have is not rare */
    PREFIX_LEAST = 4,    /* of an id: what is shorter is looked for among keys alone */
    END_LEN = 8,         /* as many characters as people copy from the end of an id */
};

/* The clocks of servers may differ by this much. */
#define CLOCK_MARGIN_US (5 * US_PER_MIN)

/* Numbers of one walk, or those that were looked up. */
struct source {
    struct list_walk walk;
    int64_t *seqs;
    size_t at, count, portion;
    bool is_done; /* nothing follows what was read */
};

/* A list under way.  Rows of both kinds are read by their type. */
struct scan {
    struct store_tx *tx;
    const struct store_ops *ops;
    struct list_filter filter;
    enum list_kind kind;
    const struct row_type *type;
    size_t id_offset, key_offset, seq_offset, tags_offset;
    size_t parent_offset; /* of instances */
    struct source sources[SOURCES_MAX];
    size_t source_count;
    int64_t from, before; /* from <= seq < before */
    size_t scanned;
    int64_t give_up_us; /* monotonic */
    cairn_error *error;
};

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

static cairn_code find_bounds(struct scan *scan)
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

/* ---- ids and keys --------------------------------------------------------------------------- */

static int compare_falling(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left < right) - (left > right);
}

static cairn_code add_names(struct scan *scan, struct list_names names)
{
    struct source *source = &scan->sources[0];
    size_t count = 0;
    names.kind = scan->kind;
    TRY(scan->ops->find_names(scan->tx, &names, source->seqs + source->count, NAMES_MAX, &count,
                              scan->error));
    source->count += count;
    return CAIRN_OK;
}

/* Keys from this one on: behind it comes nothing that begins with it but the greatest character. */
static cairn_code add_keys(struct scan *scan, const char *key, size_t len, bool is_prefix)
{
    struct arena *arena = scan->tx->arena;
    const char *from = arena_strndup(arena, key, len);
    const char *below =
        arena_printf(arena, is_prefix ? "%.*s\xF4\x8F\xBF\xBF" : "%.*s\1", (int)len, key);
    NEED(from && below, scan->error);
    return add_names(scan, (struct list_names){.key_from = from, .key_below = below});
}

/* A text that an id may begin with is the range of such ids. */
static cairn_code add_ids_from(struct scan *scan, const char *text)
{
    static const char first[] = "00000000-0000-0000-0000-000000000000",
                      last[] = "ffffffff-ffff-ffff-ffff-ffffffffffff";
    size_t len = strlen(text);
    if (len < PREFIX_LEAST || len > sizeof first - 1)
        return CAIRN_OK;
    char *from = arena_strdup(scan->tx->arena, first),
         *to = arena_strdup(scan->tx->arena, last);
    NEED(from && to, scan->error);
    for (size_t i = 0; i < len; i++) {
        if (first[i] == '-' ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
            return CAIRN_OK;
        from[i] = to[i] = (char)tolower((unsigned char)text[i]);
    }
    return add_names(scan, (struct list_names){.id_from = from, .id_to = to});
}

/* The last characters of an id, which people can tell apart where ids of one hour begin alike. */
static bool is_id_end(const char *text)
{
    return strlen(text) == END_LEN && strspn(text, "0123456789abcdefABCDEF") == END_LEN;
}

/* Looked for among the newest, since no index has the ends of ids; and only if no id begins so. */
static cairn_code add_ids_with_end(struct scan *scan, const char *text)
{
    if (scan->sources[0].count > 0 || !is_id_end(text))
        return CAIRN_OK;
    char *end = arena_strdup(scan->tx->arena, text);
    NEED(end, scan->error);
    for (char *c = end; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return add_names(scan, (struct list_names){.id_end = end, .newest = LIST_SCAN_MAX});
}

static bool id_ends_with(const char *id, const char *text)
{
    size_t len = strlen(id);
    return is_id_end(text) && len >= END_LEN && strcasecmp(id + len - END_LEN, text) == 0;
}

static bool begins_with(const char *text, const char *prefix)
{
    return text && strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_named(const struct scan *scan, const char *id, const char *key)
{
    const struct list_filter *filter = &scan->filter;
    bool is_listed = !filter->ids;
    for (size_t i = 0; i < filter->id_count && !is_listed; i++)
        is_listed = strcasecmp(filter->ids[i], id) == 0;
    bool is_key = !filter->key || (key && pattern_matches(filter->key, key));
    bool is_q = !filter->q || strncasecmp(id, filter->q, strlen(filter->q)) == 0 ||
                begins_with(key, filter->q) || id_ends_with(id, filter->q);
    return is_listed && is_key && is_q;
}

/* Drops what is outside of the bounds, and what is there twice. */
static void sort_names(const struct scan *scan, struct source *source)
{
    size_t kept = 0;
    if (source->count)
        qsort(source->seqs, source->count, sizeof *source->seqs, compare_falling);
    for (size_t i = 0; i < source->count; i++) {
        int64_t seq = source->seqs[i];
        if (seq >= scan->from && seq < scan->before &&
            (kept == 0 || source->seqs[kept - 1] != seq))
            source->seqs[kept++] = seq;
    }
    source->count = kept;
}

static cairn_code look_up(struct scan *scan)
{
    const struct list_filter *filter = &scan->filter;
    struct source *source = &scan->sources[0];
    source->seqs = arena_array(scan->tx->arena, 2 * (size_t)NAMES_MAX, sizeof *source->seqs);
    NEED(source->seqs, scan->error);
    source->is_done = true;
    scan->source_count = 1;
    if (filter->ids) {
        TRY(add_names(scan,
                      (struct list_names){.ids = filter->ids, .id_count = filter->id_count}));
    } else if (filter->key) {
        bool is_prefix = pattern_is_prefix(filter->key);
        TRY(add_keys(scan, filter->key, strlen(filter->key) - is_prefix, is_prefix));
    } else {
        TRY(add_ids_from(scan, filter->q));
        TRY(add_ids_with_end(scan, filter->q));
        TRY(add_keys(scan, filter->q, strlen(filter->q), true));
    }
    sort_names(scan, source);
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

static bool is_any_status(const struct scan *scan)
{
    return !scan->filter.statuses || scan->filter.statuses & STATUS_BIT(0);
}

/* One for each status; of a workflow there is an index of each of its statuses. */
static void add_walks(struct scan *scan, size_t room)
{
    bool is_any = is_any_status(scan);
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
            !is_named(scan, text_of(row, scan->id_offset), text_of(row, scan->key_offset)))
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
    if (filter->due != DUE_ANY && is_any_status(scan))
        scan->filter.statuses = STATUS_BIT(JOB_PENDING);
    else if (filter->group && is_any_status(scan))
        scan->filter.statuses =
            scan->kind == LIST_JOBS ? STATUS_BIT(JOB_FAILED) : STATUS_BIT(INSTANCE_FAILED);
    *ret_end = (struct list_end){0};
    TRY(find_bounds(scan));
    if (filter->ids || filter->key || filter->q)
        TRY(look_up(scan));
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

/* ---- counts --------------------------------------------------------------------------------- */

/* Whether nothing is asked for but statuses and a workflow. */
static bool is_plain(const struct list_filter *filter)
{
    return !filter->version && !filter->pattern && filter->due == DUE_ANY && !filter->from_us &&
           !filter->to_us && !filter->tag_count;
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
    TRY(find_bounds(scan));
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
        is_any_status(&scan) ? (STATUS_BIT(count) - 1) & ~STATUS_BIT(0) : filter->statuses;
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
