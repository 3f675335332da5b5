/* engine/read_overview.c - GET /v1/overview: what needs a person, how much happens, and where it is stuck.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The answer is put together as JSON, and kept for two seconds for whoever asks next.
 */
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "engine/check.h"
#include "engine/figures.h"
#include "engine/read_why.h"
#include "engine/workers.h"

#include <stdlib.h>
#include <string.h>

enum {
    POINTS_MAX = 180,
    TYPES_SHOWN = 20,
    RECENT_SHOWN = 10,
    ERRORS_SHOWN = 10,
    ERRORS_READ =
        1000, /* of each kind: with more this would be most of the time that it takes */
    UNREADY_READ = 1000, /* the same of tasks that are for later, or leased */
    RECENT_READ = 50,
    OVERVIEW_MS = 2000,
};

#define ERRORS_SINCE_US (24 * 60 * US_PER_MIN)
#define KEPT_US (2 * US_PER_SEC)

static const struct range {
    const char *word;
    int32_t step_s, points;
} ranges[] = {
    {"1h", 60, 60}, {"6h", 600, 36}, {"24h", 600, 144}, {"7d", 3600, 168}, {"30d", 14400, 180},
};
_Static_assert(sizeof ranges / sizeof *ranges <=
                   sizeof((struct figures *)NULL)->kept / sizeof(struct kept_overview),
               "one is kept of each");

static const struct range *find_range(const char *word)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (!word || strcmp(ranges[i].word, word) == 0)
            return &ranges[i];
    return NULL;
}

cairn_code check_overview(struct check *check)
{
    return find_range(check->request->in.overview.range)
               ? CAIRN_OK
               : check_bad(check, "range", "must be 1h, 6h, 24h, 7d or 30d");
}

/* ---- counts and needs ------------------------------------------------------------------------ */

static cairn_code write_counts(struct question *q, struct json_out *out)
{
    struct list_count counts[INSTANCE_STATUS_COUNT];
    struct list_filter all = {0};
    TRY(list_counts(q->tx, LIST_INSTANCES, &all, counts, q->error));
    json_open(json_key(out, "counts"), '{');
    for (int status = 1; status < INSTANCE_STATUS_COUNT; status++) {
        json_open(json_key(out, instance_status_words.names[status]), '{');
        json_int(json_key(out, "n"), (int64_t)counts[status].n);
        json_bool(json_key(out, "is_more"), counts[status].is_more);
        json_close(out, '}');
    }
    json_close(out, '}');
    return CAIRN_OK;
}

static cairn_code write_needs(struct question *q, struct json_out *out, int64_t unserved)
{
    struct need_counts counts = {0};
    struct halt_counts halts = {0};
    TRY(STORE(q, count_needs, &counts));
    TRY(STORE(q, count_halts, &halts));
    json_open(json_key(out, "needs"), '{');
    json_int(json_key(out, "approvals"), counts.approvals);
    json_int(json_key(out, "dead"), counts.dead);
    json_int(json_key(out, "paused_failed"), halts.failed);
    json_int(json_key(out, "mismatch"), halts.mismatched);
    json_int(json_key(out, "undo_failed"), halts.undo_failed);
    json_int(json_key(out, "unserved_types"), unserved);
    json_close(out, '}');
    return CAIRN_OK;
}

/* ---- series ---------------------------------------------------------------------------------- */

struct series {
    int64_t from_us;
    const struct range *range;
    struct figure *points;
};

static cairn_code read_series(struct question *q, const struct range *range,
                              struct series *ret_series)
{
    struct figure_row *rows;
    struct figure one;
    size_t count;
    int64_t step_us = range->step_s * US_PER_SEC, now_us = q->tx->now_us;
    int64_t from_us = now_us - now_us % step_us - (range->points - 1) * step_us;
    *ret_series = (struct series){.from_us = from_us, .range = range};
    ret_series->points = arena_array(q->arena, POINTS_MAX, sizeof *ret_series->points);
    NEED(ret_series->points, q->error);
    TRY(figures_list(q, "", from_us, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        int64_t point = (rows[i].at_us - from_us) / step_us;
        if (rows[i].at_us < from_us || point >= range->points)
            continue; /* another process' clock may be ahead */
        figure_of_row(&rows[i], &one);
        figure_add(&ret_series->points[point], &one);
    }
    return CAIRN_OK;
}

static void write_numbers(struct json_out *out, const char *key, const struct series *series,
                          int64_t (*value)(const struct figure *figure))
{
    json_open(json_key(out, key), '[');
    for (int32_t i = 0; i < series->range->points; i++) {
        int64_t number = value(&series->points[i]);
        if (number < 0)
            json_raw(out, NULL);
        else
            json_int(out, number);
    }
    json_close(out, ']');
}

/* Microseconds as milliseconds, rounded up: what took any time is not 0. */
static int64_t to_ms(int64_t us)
{
    return us < 0 ? -1 : (us + US_PER_MS - 1) / US_PER_MS;
}

#define VALUE(name, expression)                           \
    static int64_t name##_of(const struct figure *figure) \
    {                                                     \
        return expression;                                \
    }
VALUE(started, figure->started)
VALUE(completed, figure->completed)
VALUE(failed, figure->failed)
VALUE(tasks, figure->tasks)
VALUE(retried, figure->retried)
VALUE(p50, to_ms(histogram_quantile(&figure->took, 0.5)))
VALUE(p95, to_ms(histogram_quantile(&figure->took, 0.95)))
VALUE(wait_p95, to_ms(histogram_quantile(&figure->wait, 0.95)))

static cairn_code write_series(struct question *q, struct json_out *out,
                               const struct range *range)
{
    struct series series;
    TRY(read_series(q, range, &series));
    json_open(json_key(out, "series"), '{');
    json_time(json_key(out, "from"), series.from_us);
    json_int(json_key(out, "step_s"), range->step_s);
    write_numbers(out, "started", &series, started_of);
    write_numbers(out, "completed", &series, completed_of);
    write_numbers(out, "failed", &series, failed_of);
    write_numbers(out, "tasks", &series, tasks_of);
    write_numbers(out, "retried", &series, retried_of);
    write_numbers(out, "p50_ms", &series, p50_of);
    write_numbers(out, "p95_ms", &series, p95_of);
    write_numbers(out, "wait_p95_ms", &series, wait_p95_of);
    json_close(out, '}');
    return CAIRN_OK;
}

/* ---- types and workers ----------------------------------------------------------------------- */

/* Those that have waited longest come first; those with nothing ready last. */
static int compare_waiting(const void *a, const void *b)
{
    const struct type_item *one = a, *other = b;
    if (!one->oldest_ready_us != !other->oldest_ready_us)
        return one->oldest_ready_us ? -1 : 1;
    int order = (one->oldest_ready_us > other->oldest_ready_us) -
                (one->oldest_ready_us < other->oldest_ready_us);
    return order ? order : strcmp(one->type, other->type);
}

static void write_maybe(struct json_out *out, const char *key, int32_t value)
{
    json_key(out, key);
    if (value < 0)
        json_raw(out, NULL);
    else
        json_bool(out, value);
}

static void write_types(struct json_out *out, const struct type_item *types, size_t count)
{
    json_open(json_key(out, "types"), '[');
    for (size_t i = 0; i < count && i < TYPES_SHOWN; i++) {
        const struct type_item *type = &types[i];
        json_open(out, '{');
        json_str(json_key(out, "type"), type->type);
        json_int(json_key(out, "ready"), type->ready);
        json_time(json_key(out, "oldest_ready_at"), type->oldest_ready_us);
        json_int(json_key(out, "later"), type->later);
        json_int(json_key(out, "leased"), type->leased);
        json_int(json_key(out, "workers_live"), type->workers_live);
        write_maybe(out, "is_served", type->is_served);
        json_str(json_key(out, "runtime"), type->runtime);
        json_bool(json_key(out, "is_enabled"), type->is_enabled);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static int64_t count_unserved(const struct type_item *types, size_t count)
{
    int64_t unserved = 0;
    for (size_t i = 0; i < count; i++)
        unserved += types[i].ready > 0 && types[i].is_served == 0;
    return unserved;
}

static void write_workers(struct question *q, struct json_out *out)
{
    int64_t live = 0, quiet = 0;
    for (size_t i = 0; i < q->workers->count; i++) {
        const struct known_worker *worker = &q->workers->items[i];
        if (i && strcmp(worker->name, q->workers->items[i - 1].name) == 0)
            continue; /* where it was last seen came first */
        enum worker_state state = worker_state(worker, q->tx->now_us);
        live += state == WORKER_LIVE;
        quiet += state == WORKER_QUIET;
    }
    json_open(json_key(out, "workers"), '{');
    json_int(json_key(out, "live"), live);
    json_int(json_key(out, "quiet"), quiet);
    json_close(out, '}');
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void write_error(struct json_out *out, const struct error_item *group)
{
    json_open(out, '{');
    json_str(json_key(out, "group"), group->group);
    json_str(json_key(out, "workflow"), group->workflow);
    json_str(json_key(out, "step"), group->step);
    json_str(json_key(out, "type"), group->type);
    json_bool(json_key(out, "is_undo"), group->is_undo);
    json_str(json_key(out, "pattern"), group->pattern);
    json_str(json_key(out, "sample"), group->sample);
    json_int(json_key(out, "n"), group->n);
    json_time(json_key(out, "first_at"), group->first_at_us);
    json_time(json_key(out, "last_at"), group->last_at_us);
    json_str(json_key(out, "newest"), group->newest);
    json_close(out, '}');
}

/* Of a day: dead letters, failed instances and failed jobs together, the largest groups first. */
static cairn_code write_errors(struct question *q, struct json_out *out)
{
    static const char *const kinds[] = {"dlq", "instances", "jobs"};
    struct error_item groups[3 * ERRORS_SHOWN];
    size_t count = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct error_input in = {.of = kinds[i],
                                 .since_us = q->tx->now_us - ERRORS_SINCE_US,
                                 .limit = ERRORS_SHOWN,
                                 .most = ERRORS_READ};
        struct page_output page;
        TRY(question_errors(q, &in, &page));
        for (size_t k = 0; k < page.count; k++)
            groups[count++] = page.errors[k];
    }
    qsort(groups, count, sizeof *groups, error_item_compare);
    json_open(json_key(out, "errors"), '[');
    for (size_t i = 0; i < count && i < ERRORS_SHOWN; i++)
        write_error(out, &groups[i]);
    json_close(out, ']');
    return CAIRN_OK;
}

/* ---- recent ---------------------------------------------------------------------------------- */

static int compare_ends(const void *a, const void *b)
{
    const struct instance_row *one = a, *other = b;
    int order = (one->finished_at_us < other->finished_at_us) -
                (one->finished_at_us > other->finished_at_us);
    return order ? order : (one->seq < other->seq) - (one->seq > other->seq);
}

/* Of the newest ones that have ended, those that did so last. */
static cairn_code write_recent(struct question *q, struct json_out *out)
{
    struct list_filter filter = {.is_row = true};
    struct instance_row *rows = arena_array(q->arena, RECENT_READ, sizeof *rows);
    struct list_end end;
    NEED(rows, q->error);
    for (int status = 1; status < INSTANCE_STATUS_COUNT; status++)
        if (instance_is_final((enum instance_status)status))
            filter.statuses |= STATUS_BIT(status);
    TRY(list_instances(q->tx, &filter, rows, RECENT_READ, &end, q->error));
    if (end.count)
        qsort(rows, end.count, sizeof *rows, compare_ends);
    json_open(json_key(out, "recent"), '[');
    for (size_t i = 0; i < end.count && i < RECENT_SHOWN; i++) {
        const struct instance_row *row = &rows[i];
        json_open(out, '{');
        json_str(json_key(out, "id"), row->id);
        json_str(json_key(out, "workflow"), row->workflow);
        json_int(json_key(out, "version"), row->version);
        json_str(json_key(out, "key"), row->key);
        json_str(json_key(out, "status"), instance_status_name(row->status));
        json_time(json_key(out, "created_at"), row->created_at_us);
        json_time(json_key(out, "started_at"), row->started_at_us);
        json_time(json_key(out, "finished_at"), row->finished_at_us);
        json_raw(json_key(out, "last_error"), row->last_error);
        json_close(out, '}');
    }
    json_close(out, ']');
    return CAIRN_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static cairn_code write_overview(struct question *q, const struct range *range,
                                 struct json_out *out)
{
    struct type_item *types;
    size_t type_count;
    TRY(STORE(q, limit_time, OVERVIEW_MS));
    TRY(question_types(q, UNREADY_READ, &types, &type_count));
    if (type_count)
        qsort(types, type_count, sizeof *types, compare_waiting);
    json_open(out, '{');
    TRY(write_counts(q, out));
    TRY(write_needs(q, out, count_unserved(types, type_count)));
    TRY(write_series(q, out, range));
    write_types(out, types, type_count);
    TRY(write_errors(q, out));
    write_workers(q, out);
    TRY(write_recent(q, out));
    json_close(out, '}');
    return CAIRN_OK;
}

/* With a virtual clock nothing is kept: time does not pass by itself. */
static bool find_kept(struct question *q, struct kept_overview *kept, const char **ret_text)
{
    struct figures *figures = &q->engine->figures;
    pthread_mutex_lock(&figures->lock);
    bool is_kept =
        kept->text && !q->engine->clock.is_virtual && monotonic_us() < kept->until_us;
    if (is_kept)
        *ret_text = arena_strdup(q->arena, kept->text);
    pthread_mutex_unlock(&figures->lock);
    return is_kept;
}

static void keep(struct question *q, struct kept_overview *kept, const char *text)
{
    struct figures *figures = &q->engine->figures;
    pthread_mutex_lock(&figures->lock);
    mem_free(kept->text);
    *kept =
        (struct kept_overview){.text = mem_strdup(text), .until_us = monotonic_us() + KEPT_US};
    pthread_mutex_unlock(&figures->lock);
}

cairn_code answer_overview(struct question *q)
{
    const struct range *range = find_range(q->request->in.overview.range);
    struct kept_overview *kept = &q->engine->figures.kept[range - ranges];
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    const char **text = &q->request->out.overview;
    *text = NULL;
    if (!find_kept(q, kept, text)) {
        cairn_code code = write_overview(q, range, &out);
        if (code) {
            buf_done(&buf);
            return code;
        }
        *text = buf_keep(&buf, q->arena);
        if (*text)
            keep(q, kept, *text);
    }
    NEED(*text, q->error);
    return CAIRN_OK;
}
