/* engine/read_rows.c - lists of jobs and instances, and items without payloads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/scan.h"
#include "core/counter.h"
#include "engine/read_why.h"

#include <string.h>

/* How long a question for a list may take. */
enum { LIST_MS = 2000 };

/* Of an error in a list, and of the steps that an instance is at. */
enum { ERROR_BYTES = 200, STEPS_SHOWN = 10 };

/* ---- cut texts ------------------------------------------------------------------------------ */

/* The length of the longest beginning that has no more bytes and ends with a whole character. */
static size_t cut_len(const char *text, size_t most)
{
    size_t len = strnlen(text, most + 1);
    if (len <= most)
        return len;
    for (len = most; len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80;)
        len--;
    return len;
}

const char *text_cut(struct arena *arena, const char *text, size_t most)
{
    if (!text || strnlen(text, most + 1) <= most)
        return text;
    return arena_strndup(arena, text, cut_len(text, most));
}

/* {step, message, attempt, at} with a shorter message; NULL: memory ran out, or it is no object. */
static const char *cut_message(struct arena *arena, const char *json)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_t *tree = json_loads(json, 0, NULL);
    const char *key, *made = NULL;
    json_t *value;
    json_open(&out, '{');
    json_object_foreach(tree, key, value)
    {
        json_key(&out, key);
        if (json_is_integer(value))
            json_int(&out, json_integer_value(value));
        else if (json_is_string(value))
            json_strn(&out, json_string_value(value),
                      cut_len(json_string_value(value), ERROR_BYTES));
        else
            json_raw(&out, NULL);
    }
    json_close(&out, '}');
    if (tree && !buf_failed(&buf))
        made = arena_strndup(arena, buf.text, buf.len);
    json_decref(tree);
    buf_done(&buf);
    return made;
}

static struct preview preview_of(struct arena *arena, const char *text, int64_t bytes)
{
    return (struct preview){.text = text_cut(arena, text, PREVIEW_BYTES), .bytes = bytes};
}

static struct preview preview_whole(struct arena *arena, const char *text)
{
    return preview_of(arena, text, text ? (int64_t)strlen(text) : 0);
}

/* ---- items ---------------------------------------------------------------------------------- */

static cairn_code show_job_row(struct question *q, const void *from, void *ret)
{
    const struct job_row *row = from;
    struct job_item *item = ret;
    TRY(show_job(q, row, &item->base));
    item->base.last_error = text_cut(q->arena, row->last_error, ERROR_BYTES);
    item->payload = preview_of(q->arena, row->payload, row->payload_bytes);
    item->result = (struct preview){.bytes = row->result_bytes};
    item->base.payload = item->base.result = NULL;
    NEED(item->payload.text && (item->base.last_error || !row->last_error), q->error);
    return CAIRN_OK;
}

/* Calls as people count them: the one under way is one of them. */
static void show_calls(const struct step_row *step, struct instance_item *item)
{
    bool is_undo = step->status == STEP_COMPENSATION;
    bool is_called = step->kind == KIND_TASK || step->kind == KIND_FUNCTION;
    item->attempts = is_undo ? step->compensation_attempts : step->attempts;
    if (step->locked_by)
        item->attempts = counter_after(item->attempts);
    item->max_attempts = is_called && !is_undo ? step->max_attempts : -1;
}

/* Of the step that why names, or else of the one that failed. */
static void add_calls(const struct instance_row *row, const struct open_steps *open,
                      struct instance_item *item)
{
    const cairn_why *why = item->base.why;
    struct slice error;
    int64_t attempt = 0;
    item->max_attempts = -1;
    for (size_t i = 0; i < open->count; i++)
        if (why && why->step && open->items[i].seq == why->seq) {
            show_calls(&open->items[i], item);
            return;
        }
    if (row->last_error && scan_text(row->last_error, strlen(row->last_error), &error))
        slice_int(scan_find(error, "attempt"), &attempt);
    item->attempts = (int32_t)attempt;
}

static cairn_code show_instance_row(struct question *q, const void *from, void *ret)
{
    const struct instance_row *row = from;
    struct instance_item *item = ret;
    struct open_steps open = {0};
    if (!instance_is_final(row->status))
        TRY(question_open_steps(q, row->id, &open));
    TRY(show_instance_at(q, row, &open, &item->base));
    add_calls(row, &open, item);
    if (row->last_error && strlen(row->last_error) > ERROR_BYTES)
        item->base.last_error = cut_message(q->arena, row->last_error);
    if (item->base.current_step_count > STEPS_SHOWN)
        item->base.current_step_count = STEPS_SHOWN;
    item->kind = row->is_function ? "function" : "workflow";
    item->parent_seq = row->parent ? row->parent_seq : -1;
    item->input = preview_of(q->arena, row->input, row->input_bytes);
    item->output = (struct preview){.bytes = row->output_bytes};
    item->base.input = item->base.output = NULL;
    NEED((item->input.text || !row->input) && (item->base.last_error || !row->last_error),
         q->error);
    return CAIRN_OK;
}

cairn_code show_step_row(struct question *q, const void *from, void *ret)
{
    const struct step_row *row = from;
    struct step_item *item = ret;
    TRY(step_to_public(q->arena, row, &item->base, q->error));
    TRY(question_wait_for(q, row, &item->base));
    item->base.error = text_cut(q->arena, row->error, ERROR_BYTES);
    item->base.undo_error = text_cut(q->arena, row->undo_error, ERROR_BYTES);
    item->input = preview_whole(q->arena, row->input);
    item->output = preview_whole(q->arena, row->output);
    item->base.input = item->base.output = NULL;
    NEED((item->base.error || !row->error) && (item->base.undo_error || !row->undo_error) &&
             (item->input.text || !row->input) && (item->output.text || !row->output),
         q->error);
    return CAIRN_OK;
}

cairn_code show_record_row(struct question *q, const void *from, void *ret)
{
    const struct dlq_row *row = from;
    struct dlq_item *item = ret;
    TRY(show_record(q, row, &item->base));
    item->base.error = text_cut(q->arena, row->error, ERROR_BYTES);
    item->input = preview_of(q->arena, row->input, row->input_bytes);
    item->base.input = NULL;
    NEED((item->base.error || !row->error) && (item->input.text || !row->input), q->error);
    return CAIRN_OK;
}

/* ---- pages ---------------------------------------------------------------------------------- */

/* How rows of a kind become items. */
struct rows {
    const struct row_type *type;
    size_t item_size;
    show_function *show;
};

static const struct rows job_rows[2] = {
    {&job_row_type, sizeof(cairn_job), show_job},
    {&job_row_type, sizeof(struct job_item), show_job_row},
};
static const struct rows instance_rows[2] = {
    {&instance_row_type, sizeof(cairn_instance), show_instance},
    {&instance_row_type, sizeof(struct instance_item), show_instance_row},
};

static cairn_code show_rows(struct question *q, const struct rows *rows, const char *from,
                            size_t count)
{
    char *items = arena_array(q->arena, count, rows->item_size);
    NEED(items || !count, q->error);
    q->request->out.page.items = items;
    q->request->out.page.count = count;
    for (size_t i = 0; i < count; i++)
        TRY(rows->show(q, from + i * rows->type->size, items + i * rows->item_size));
    return CAIRN_OK;
}

/* Of those that have not ended. */
static cairn_code read_open_steps(struct question *q, const struct instance_row *rows,
                                  size_t count)
{
    const char **ids = arena_array(q->arena, count, sizeof *ids);
    size_t open = 0;
    NEED(ids || !count, q->error);
    for (size_t i = 0; i < count; i++)
        if (!instance_is_final(rows[i].status))
            ids[open++] = rows[i].id;
    return question_read_open(q, ids, open);
}

/* One more than the page holds is read, to know whether another page follows. */
cairn_code answer_rows(struct question *q)
{
    bool is_job = q->request->op == OP_JOB_LIST;
    uint32_t limit = is_job ? q->request->in.job_list.filter.limit
                            : q->request->in.instance_list.filter.limit;
    struct page_output *page = &q->request->out.page;
    size_t room = (size_t)limit + 1;
    struct list_filter filter;
    struct list_end end;
    TRY(STORE(q, limit_time, LIST_MS));
    TRY(list_filter_read(q, &filter));
    const struct rows *rows = is_job ? &job_rows[filter.is_row] : &instance_rows[filter.is_row];
    char *found = arena_room(q->arena, room, rows->type->size);
    NEED(found, q->error);
    if (is_job)
        TRY(list_jobs(q->tx, &filter, (struct job_row *)found, room, &end, q->error));
    else
        TRY(list_instances(q->tx, &filter, (struct instance_row *)found, room, &end, q->error));
    *page = (struct page_output){.is_row = filter.is_row, .scanned_to_us = end.scanned_to_us};
    int64_t next = end.next;
    if (end.count == room)
        next = is_job ? ((struct job_row *)found)[limit - 1].seq
                      : ((struct instance_row *)found)[limit - 1].seq;
    if (next)
        page->next = arena_printf(q->arena, "%lld", (long long)next);
    NEED(page->next || !next, q->error);
    size_t count = end.count < room ? end.count : limit;
    if (!is_job)
        TRY(read_open_steps(q, (struct instance_row *)found, count));
    return show_rows(q, rows, found, count);
}

/* ---- counts --------------------------------------------------------------------------------- */

cairn_code answer_counts(struct question *q)
{
    bool is_job = q->request->op == OP_JOB_COUNTS;
    bool is_by_stand = !is_job && text_is(q->request->in.instance_list.by, "stand");
    const struct words *words = is_job        ? &job_status_words
                                : is_by_stand ? &stand_words
                                              : &instance_status_words;
    struct list_count counts[INSTANCE_STATUS_COUNT];
    struct page_output *page = &q->request->out.page;
    struct list_filter filter;
    _Static_assert((int)JOB_STATUS_COUNT <= (int)INSTANCE_STATUS_COUNT &&
                       (int)STAND_COUNT <= (int)INSTANCE_STATUS_COUNT,
                   "room for all");
    TRY(STORE(q, limit_time, LIST_MS));
    TRY(list_filter_read(q, &filter));
    if (is_by_stand)
        TRY(list_stands(q->tx, &filter, counts, q->error));
    else
        TRY(list_counts(q->tx, is_job ? LIST_JOBS : LIST_INSTANCES, &filter, counts, q->error));
    page->counts = arena_array(q->arena, (size_t)words->count, sizeof *page->counts);
    NEED(page->counts, q->error);
    for (int status = 1; status < words->count; status++)
        page->counts[page->count++] = (struct status_count){.status = words->names[status],
                                                            .n = (int64_t)counts[status].n,
                                                            .is_more = counts[status].is_more};
    return CAIRN_OK;
}
