/* engine/read_definitions.c - workflows by name, their versions, and the grid of their latest instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/check.h"
#include "engine/figures.h"
#include "engine/read_why.h"

#include <string.h>

enum {
    PORTION = 32,
    VERSIONS_MAX = 1000,
    COUNTED_MAX = 1000,
    GRID_STEPS = 200,
    GRID_CELLS = 5000,
    GRID_MS = 2000
};

static bool is_function(const struct definition_row *row)
{
    static const char begins[] = "{\"function\"";
    return strncmp(row->content, begins, sizeof begins - 1) == 0;
}

/* ---- summaries ------------------------------------------------------------------------------ */

cairn_code check_definitions(struct check *check)
{
    const struct page_input *in = &check->request->in.page;
    TRY(check_text_list(check));
    if (in->kind && !in->is_row)
        return check_bad(check, "kind", "needs view=summary");
    if (in->kind && strcmp(in->kind, "workflow") != 0 && strcmp(in->kind, "function") != 0)
        return check_bad(check, "kind", "must be workflow or function");
    return CAIRN_OK;
}

/* All versions of one name, rising; VERSIONS_MAX at most. */
static cairn_code read_versions(struct question *q, const char *name,
                                struct definition_row **ret_rows, size_t *ret_count)
{
    struct definition_row *rows = arena_array(q->arena, VERSIONS_MAX, sizeof *rows),
                          part[PORTION];
    size_t count = PORTION, kept = 0;
    NEED(rows, q->error);
    for (int32_t after = 0; count == PORTION && kept < VERSIONS_MAX;) {
        TRY(STORE(q, list_definitions, name, after, part, PORTION, &count));
        for (size_t i = 0; i < count && kept < VERSIONS_MAX; i++) {
            if (strcmp(part[i].name, name) != 0) {
                count = 0;
                break;
            }
            after = part[i].version;
            rows[kept++] = part[i];
        }
    }
    *ret_rows = rows;
    *ret_count = kept;
    return CAIRN_OK;
}

/* JSON that was written, in the arena; it is empty then. */
static cairn_code keep_json(struct question *q, struct buf *buf, const char **ret_json)
{
    *ret_json = buf_failed(buf) ? NULL : arena_strndup(q->arena, buf_text(buf), buf->len);
    buf_done(buf);
    NEED(*ret_json, q->error);
    return CAIRN_OK;
}

/* Counts one status, and remembers the newest instance. */
static cairn_code count_status(struct question *q, const char *workflow, int status,
                               struct json_out *out, int64_t *newest)
{
    int64_t seqs[COUNTED_MAX + 1];
    struct list_walk walk = {
        .kind = LIST_INSTANCES, .status = status, .workflow = workflow, .before = INT64_MAX};
    size_t count = 0;
    bool is_exact;
    TRY(STORE(q, walk, &walk, seqs, COUNTED_MAX + 1, &count, &is_exact));
    if (count && seqs[0] > *newest)
        *newest = seqs[0];
    json_open(json_key(out, instance_status_name((enum instance_status)status)), '{');
    json_int(json_key(out, "n"), count > COUNTED_MAX ? COUNTED_MAX : (int64_t)count);
    json_bool(json_key(out, "is_more"), count > COUNTED_MAX);
    json_close(out, '}');
    return CAIRN_OK;
}

/* How many instances it has of each status, and when the newest was created. */
static cairn_code count_instances(struct question *q, struct summary_item *item)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    int64_t newest = 0, found;
    cairn_code code = CAIRN_OK;
    json_open(&out, '{');
    for (int status = 1; status < INSTANCE_STATUS_COUNT && !code; status++)
        code = count_status(q, item->name, status, &out, &newest);
    json_close(&out, '}');
    cairn_code kept = keep_json(q, &buf, &item->counts);
    if (code || kept)
        return code ? code : kept;
    return newest
               ? STORE(q, find_created, LIST_INSTANCES, newest, &found, &item->last_start_at_us)
               : CAIRN_OK;
}

/* Microseconds as milliseconds, rounded up; null: nothing has ended. */
static void write_ms(struct json_out *out, const char *key, int64_t us)
{
    json_key(out, key);
    if (us < 0)
        json_raw(out, NULL);
    else
        json_int(out, (us + US_PER_MS - 1) / US_PER_MS);
}

/* What has happened in the last 24 hours. */
static cairn_code show_figures(struct question *q, struct figure_row *room,
                               struct summary_item *item)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    struct figure sum;
    const char *type = arena_printf(q->arena, "@%s", item->name);
    NEED(type, q->error);
    TRY(figures_sum(q, room, type, q->tx->now_us - 24 * 60 * US_PER_MIN, &sum));
    json_open(&out, '{');
    json_int(json_key(&out, "started"), sum.started);
    json_int(json_key(&out, "completed"), sum.completed);
    json_int(json_key(&out, "failed"), sum.failed);
    json_int(json_key(&out, "lost"), sum.retried);
    write_ms(&out, "p50_ms", histogram_quantile(&sum.took, 0.5));
    write_ms(&out, "p95_ms", histogram_quantile(&sum.took, 0.95));
    json_close(&out, '}');
    return keep_json(q, &buf, &item->figures);
}

/* The newest version first. */
static cairn_code show_summary(struct question *q, const char *name, struct summary_item *item)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    struct definition_row *rows = NULL;
    size_t count = 0;
    TRY(read_versions(q, name, &rows, &count));
    json_open(&out, '[');
    for (size_t i = count; i-- > 0;)
        json_int(&out, rows[i].version);
    json_close(&out, ']');
    *item =
        (struct summary_item){.name = name,
                              .kind = is_function(&rows[count - 1]) ? "function" : "workflow",
                              .newest = rows[count - 1].version};
    TRY(keep_json(q, &buf, &item->versions));
    return count_instances(q, item);
}

/* Each name once: behind its highest version comes the next name.  The cursor is a name. */
static cairn_code answer_summaries(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    struct page_output *page = &q->request->out.page;
    struct summary_item *items = arena_array(q->arena, in->limit, sizeof *items);
    struct figure_row *room;
    const char *after = in->cursor;
    NEED(items, q->error);
    TRY(figures_room(q, &room));
    *page = (struct page_output){.items = items, .is_row = true};
    TRY(STORE(q, limit_time, GRID_MS));
    for (;;) {
        struct definition_row row;
        struct summary_item item;
        size_t count = 0;
        TRY(STORE(q, list_definitions, after, INT32_MAX, &row, 1, &count));
        if (!count)
            return CAIRN_OK;
        after = row.name;
        TRY(show_summary(q, row.name, &item));
        if (in->kind && strcmp(item.kind, in->kind) != 0)
            continue;
        if (page->count == in->limit) {
            page->next = items[page->count - 1].name;
            return CAIRN_OK;
        }
        TRY(show_figures(q, room, &item));
        items[page->count++] = item;
    }
}

cairn_code answer_definitions(struct question *q)
{
    return q->request->in.page.is_row ? answer_summaries(q) : answer_list(q);
}

/* ---- versions ------------------------------------------------------------------------------- */

/* The newest first. */
cairn_code answer_versions(struct question *q)
{
    const char *name = q->request->in.definition.name;
    struct page_output *page = &q->request->out.page;
    struct definition_row *rows = NULL;
    size_t count = 0;
    TRY(read_versions(q, name, &rows, &count));
    if (!count)
        return fail(q->error, CAIRN_E_NOT_FOUND, "workflow \"%.64s\" does not exist", name);
    struct version_item *items = arena_array(q->arena, count, sizeof *items);
    NEED(items, q->error);
    *page = (struct page_output){.items = items, .count = count};
    for (size_t i = 0; i < count; i++) {
        const struct definition_row *row = &rows[count - 1 - i];
        items[i] = (struct version_item){.name = row->name,
                                         .version = row->version,
                                         .kind = is_function(row) ? "function" : "workflow",
                                         .hash = row->hash,
                                         .created_at_us = row->created_at_us};
    }
    return CAIRN_OK;
}

/* ---- the grid ------------------------------------------------------------------------------- */

cairn_code check_grid(struct check *check)
{
    TRY(check_definition(check));
    return check_range(check, "limit", check->request->in.definition.limit, 1, 100);
}

static cairn_code show_column(struct question *q, const struct instance_row *row, size_t steps,
                              struct grid_item *item)
{
    enum step_status statuses[GRID_STEPS];
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    bool is_over = row->finished_at_us && row->started_at_us;
    TRY(STORE(q, read_statuses, row->id, (int32_t)steps, statuses));
    json_open(&out, '[');
    for (size_t i = 0; i < steps; i++)
        json_str(&out, statuses[i] ? step_status_name(statuses[i]) : NULL);
    json_close(&out, ']');
    *item = (struct grid_item){.id = row->id,
                               .key = row->key,
                               .status = instance_status_name(row->status),
                               .created_at_us = row->created_at_us};
    TRY(keep_json(q, &buf, &item->cells));
    if (!is_over)
        return CAIRN_OK;
    item->took_ms = arena_printf(
        q->arena, "%lld", (long long)((row->finished_at_us - row->started_at_us) / US_PER_MS));
    NEED(item->took_ms, q->error);
    return CAIRN_OK;
}

/* The latest instances of a version, the newest last, and how far each of its steps came. */
cairn_code answer_grid(struct question *q)
{
    const struct definition_input *in = &q->request->in.definition;
    struct grid_output *grid = arena_zalloc(q->arena, sizeof *grid);
    struct definition_row row;
    struct definition definition;
    struct list_end end;
    NEED(grid, q->error);
    TRY(STORE(q, limit_time, GRID_MS));
    TRY(question_definition(q, in->name, in->version, &row));
    TRY(definition_read(q->arena, row.name, row.content, strlen(row.content), &definition, NULL,
                        0, NULL, q->error));
    grid->step_count = definition.plan_count < GRID_STEPS ? definition.plan_count : GRID_STEPS;
    grid->steps = arena_array(q->arena, grid->step_count, sizeof *grid->steps);
    size_t most = GRID_CELLS / (grid->step_count ? grid->step_count : 1);
    size_t limit = in->limit < most ? in->limit : most;
    struct instance_row *rows = arena_array(q->arena, limit, sizeof *rows);
    grid->instances = arena_array(q->arena, limit, sizeof *grid->instances);
    NEED(grid->steps && rows && grid->instances, q->error);
    for (size_t i = 0; i < grid->step_count; i++)
        grid->steps[i] = definition.plan[i].name;
    struct list_filter filter = {.workflow = row.name, .version = row.version, .is_row = true};
    TRY(list_instances(q->tx, &filter, rows, limit, &end, q->error));
    for (size_t i = end.count; i-- > 0;)
        TRY(show_column(q, &rows[i], grid->step_count,
                        &grid->instances[grid->instance_count++]));
    q->request->out.grid = grid;
    return CAIRN_OK;
}
