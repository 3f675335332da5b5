/* engine/read_errors.c - errors in groups of those that are alike, and records of the dead letter queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing is kept of groups: they are made of the newest errors when somebody asks.
 */
#include "base/error.h"
#include "core/error_group.h"
#include "engine/check.h"
#include "engine/read.h"

#include <stdlib.h>
#include <string.h>

enum { ERRORS_MAX = 10000, PORTION = 500, SAMPLE_BYTES = 500, ERRORS_MS = 2000 };

/* For so long more is looked at. */
#define LOOK_US (300 * US_PER_MS)

/* One error; `order` counts them from the newest. */
struct found_error {
    struct error_place place;
    const char *id;
    size_t order;
    char pattern[ERROR_PATTERN_TEXT], group[ERROR_GROUP_TEXT];
};

/* What was found so far. */
struct errors {
    struct question *q;
    const struct error_input *in;
    struct found_error *items;
    size_t count, scanned;
    bool is_more;
};

/* ---- checks --------------------------------------------------------------------------------- */

cairn_code check_errors(struct check *check)
{
    struct error_input *in = &check->request->in.errors;
    if (!in->of)
        in->of = "dlq";
    bool is_jobs = strcmp(in->of, "jobs") == 0;
    if (!is_jobs && strcmp(in->of, "dlq") != 0 && strcmp(in->of, "instances") != 0)
        return check_bad(check, "of", "must be dlq, instances or jobs");
    if (is_jobs && in->workflow)
        return check_bad(check, "workflow", "is not for jobs; see type");
    if (!is_jobs && in->type)
        return check_bad(check, "type", "is for jobs only; see workflow");
    if (in->type)
        TRY(check_pattern(check, "type", in->type));
    TRY(check_optional(check, "workflow", in->workflow));
    TRY(check_range(check, "since", in->since_us, 0, INSTANT_MAX));
    return check_number_page(check, NULL, in->limit);
}

cairn_code check_dlq_list(struct check *check)
{
    const struct page_input *in = &check->request->in.page;
    TRY(check_optional(check, "workflow", in->workflow));
    TRY(check_optional(check, "step", in->step));
    TRY(check_optional(check, "instance", in->id));
    TRY(check_group(check, in->group));
    return check_number_page(check, in->cursor, in->limit);
}

/* ---- errors --------------------------------------------------------------------------------- */

static void add_error(struct errors *errors, const char *id, const struct error_place *place)
{
    if (!place->error || place->at_us < errors->in->since_us)
        return;
    struct found_error *found = &errors->items[errors->count];
    *found = (struct found_error){.place = *place, .id = id, .order = errors->count};
    error_pattern(place->error, found->pattern);
    error_group(&found->place, found->pattern, found->group);
    errors->count++;
}

static cairn_code add_jobs(struct errors *errors, int64_t before, struct list_end *ret_end)
{
    struct question *q = errors->q;
    struct list_filter filter = {.statuses = STATUS_BIT(JOB_FAILED),
                                 .pattern = errors->in->type,
                                 .before_seq = before,
                                 .is_row = true};
    struct job_row *rows = arena_array(q->arena, PORTION, sizeof *rows);
    NEED(rows, q->error);
    TRY(list_jobs(q->tx, &filter, rows, PORTION, ret_end, q->error));
    for (size_t i = 0; i < ret_end->count; i++) {
        struct error_place place = error_of_job(&rows[i]);
        add_error(errors, rows[i].id, &place);
    }
    return CAIRN_OK;
}

static cairn_code add_instances(struct errors *errors, int64_t before, struct list_end *ret_end)
{
    struct question *q = errors->q;
    struct list_filter filter = {.statuses = STATUS_BIT(INSTANCE_FAILED),
                                 .workflow = errors->in->workflow,
                                 .before_seq = before,
                                 .is_row = true};
    struct instance_row *rows = arena_array(q->arena, PORTION, sizeof *rows);
    NEED(rows, q->error);
    TRY(list_instances(q->tx, &filter, rows, PORTION, ret_end, q->error));
    for (size_t i = 0; i < ret_end->count; i++) {
        struct error_place place;
        NEED(error_of_instance(q->arena, &rows[i], &place), q->error);
        add_error(errors, rows[i].id, &place);
    }
    return CAIRN_OK;
}

static cairn_code add_records(struct errors *errors, int64_t before, struct list_end *ret_end)
{
    struct question *q = errors->q;
    struct dlq_filter filter = {
        .workflow = errors->in->workflow, .before_id = before, .is_row = true};
    struct dlq_row *rows = arena_array(q->arena, PORTION, sizeof *rows);
    NEED(rows, q->error);
    TRY(list_records(q->tx, &filter, rows, PORTION, ret_end, q->error));
    for (size_t i = 0; i < ret_end->count; i++) {
        struct error_place place = error_of_record(&rows[i]);
        const char *id = arena_printf(q->arena, "%lld", (long long)rows[i].id);
        NEED(id, q->error);
        add_error(errors, id, &place);
    }
    return CAIRN_OK;
}

/* The newest ones, portion by portion. */
static cairn_code find_errors(struct errors *errors)
{
    const char *of = errors->in->of;
    struct list_end end = {0};
    int64_t give_up_us = monotonic_us() + LOOK_US;
    size_t most = errors->in->most ? errors->in->most : ERRORS_MAX;
    do {
        if (strcmp(of, "jobs") == 0)
            TRY(add_jobs(errors, end.next, &end));
        else if (strcmp(of, "instances") == 0)
            TRY(add_instances(errors, end.next, &end));
        else
            TRY(add_records(errors, end.next, &end));
        errors->scanned += end.count;
    } while (end.next && errors->scanned + PORTION <= most && monotonic_us() < give_up_us);
    errors->is_more = end.next != 0;
    return CAIRN_OK;
}

/* ---- groups --------------------------------------------------------------------------------- */

static int compare_errors(const void *a, const void *b)
{
    const struct found_error *one = a, *other = b;
    int order = strcmp(one->group, other->group);
    return order ? order : (one->order > other->order) - (one->order < other->order);
}

/* The largest first; of equal ones the one that failed last, then by name. */
static int compare_groups(const void *a, const void *b)
{
    const struct error_item *one = a, *other = b;
    if (one->n != other->n)
        return one->n < other->n ? 1 : -1;
    if (one->last_at_us != other->last_at_us)
        return one->last_at_us < other->last_at_us ? 1 : -1;
    return strcmp(one->group, other->group);
}

/* The newest of a group begins it. */
static cairn_code begin_group(struct question *q, const struct found_error *newest,
                              struct error_item *ret_group)
{
    *ret_group =
        (struct error_item){.group = newest->group,
                            .workflow = newest->place.workflow,
                            .step = newest->place.step,
                            .type = newest->place.type,
                            .is_undo = newest->place.is_undo,
                            .pattern = newest->pattern,
                            .sample = text_cut(q->arena, newest->place.error, SAMPLE_BYTES),
                            .newest = newest->id,
                            .first_at_us = newest->place.at_us,
                            .last_at_us = newest->place.at_us};
    NEED(ret_group->sample, q->error);
    return CAIRN_OK;
}

static void add_to_group(struct error_item *group, int64_t at_us)
{
    group->n++;
    if (at_us < group->first_at_us)
        group->first_at_us = at_us;
    if (at_us > group->last_at_us)
        group->last_at_us = at_us;
}

static cairn_code make_groups(struct errors *errors, struct page_output *page)
{
    struct question *q = errors->q;
    page->errors = arena_array(q->arena, errors->count, sizeof *page->errors);
    NEED(page->errors || !errors->count, q->error);
    if (!errors->count)
        return CAIRN_OK;
    qsort(errors->items, errors->count, sizeof *errors->items, compare_errors);
    for (size_t i = 0; i < errors->count; i++) {
        const struct found_error *found = &errors->items[i];
        if (i == 0 || strcmp(found->group, errors->items[i - 1].group) != 0)
            TRY(begin_group(q, found, &page->errors[page->count++]));
        add_to_group(&page->errors[page->count - 1], found->place.at_us);
    }
    qsort(page->errors, page->count, sizeof *page->errors, compare_groups);
    if (page->count > errors->in->limit)
        page->count = errors->in->limit;
    return CAIRN_OK;
}

cairn_code question_errors(struct question *q, const struct error_input *in,
                           struct page_output *ret_page)
{
    struct errors errors = {.q = q, .in = in};
    errors.items = arena_array(q->arena, ERRORS_MAX, sizeof *errors.items);
    NEED(errors.items, q->error);
    *ret_page = (struct page_output){0};
    TRY(find_errors(&errors));
    TRY(make_groups(&errors, ret_page));
    ret_page->n = (int64_t)errors.scanned;
    ret_page->is_more = errors.is_more;
    return CAIRN_OK;
}

cairn_code answer_errors(struct question *q)
{
    struct error_input in = q->request->in.errors;
    TRY(STORE(q, limit_time, ERRORS_MS));
    return question_errors(q, &in, &q->request->out.page);
}

int error_item_compare(const void *a, const void *b)
{
    return compare_groups(a, b);
}

/* ---- records -------------------------------------------------------------------------------- */

/* One more than the page holds is read, to know whether another page follows. */
cairn_code answer_records(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    struct page_output *page = &q->request->out.page;
    struct dlq_filter filter = {.instance_id = in->id,
                                .workflow = in->workflow,
                                .step = in->step,
                                .group = in->group,
                                .before_id = in->cursor ? strtoll(in->cursor, NULL, 10) : 0,
                                .is_row = in->is_row};
    size_t room = (size_t)in->limit + 1;
    size_t item_size = in->is_row ? sizeof(struct dlq_item) : sizeof(cairn_dlq_record);
    struct list_end end;
    TRY(STORE(q, limit_time, ERRORS_MS));
    struct dlq_row *rows = arena_array(q->arena, room, sizeof *rows);
    char *items = arena_array(q->arena, room, item_size);
    NEED(rows && items, q->error);
    TRY(list_records(q->tx, &filter, rows, room, &end, q->error));
    size_t count = end.count < room ? end.count : in->limit;
    int64_t next = end.count < room ? end.next : rows[count - 1].id;
    *page = (struct page_output){.items = items,
                                 .count = count,
                                 .is_row = in->is_row,
                                 .scanned_to_us = end.scanned_to_us};
    for (size_t i = 0; i < count; i++)
        TRY((in->is_row ? show_record_row : show_record)(q, &rows[i], items + i * item_size));
    if (next)
        page->next = arena_printf(q->arena, "%lld", (long long)next);
    NEED(page->next || !next, q->error);
    return CAIRN_OK;
}
