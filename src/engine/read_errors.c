/* engine/read_errors.c - errors in groups of those that are alike, and records of the dead letter queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing is kept of groups: they are made of the newest errors when somebody asks.
 */
#include "base/error.h"
#include "base/hash.h"
#include "core/error_group.h"
#include "core/pattern.h"
#include "engine/check.h"
#include "engine/read.h"

#include <stdlib.h>
#include <string.h>

enum { ERRORS_MAX = 10000, PORTION = 1000, SAMPLE_BYTES = 500, ERRORS_MS = 2000 };

/* For so long more is looked at. */
#define LOOK_US (40 * US_PER_MS)

/* Errors that are alike so far; they are found from the newest on. */
struct found_group {
    struct error_place place; /* of the newest */
    const char *id, *pattern;
    int64_t n, first_us, last_us;
    uint32_t hash;
};

/* Places of groups by their hash: twice as many as there can be groups. */
enum { SLOTS = 32768 };
_Static_assert(SLOTS >= 2 * ERRORS_MAX, "half of them stay free");

/* What was found so far. */
struct errors {
    struct question *q;
    const struct error_input *in;
    enum error_kind kind;
    struct found_group *groups;
    uint16_t *slots; /* number of a group, from 1; 0: free */
    size_t group_count;
    size_t looked_at, scanned; /* rows in all, and those of what is asked for */
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

/* Where an error happened, and what it says.  False: memory ran out. */
static bool error_of_row(struct arena *arena, enum error_kind kind, const struct error_row *row,
                         struct error_place *ret_place)
{
    if (kind == ERRORS_OF_INSTANCES) {
        struct instance_row instance = {.workflow = row->workflow,
                                        .last_error = row->error,
                                        .undo_error = row->undo_error,
                                        .finished_at_us = row->at_us};
        return error_of_instance(arena, &instance, ret_place);
    }
    struct job_row job = {
        .type = row->type, .last_error = row->error, .updated_at_us = row->at_us};
    struct dlq_row record = {.workflow = row->workflow,
                             .step_name = row->step,
                             .step_type = row->type,
                             .reason = row->reason,
                             .error = row->error,
                             .created_at_us = row->at_us};
    *ret_place = kind == ERRORS_OF_JOBS ? error_of_job(&job) : error_of_record(&record);
    return true;
}

static bool is_equal(const char *a, const char *b)
{
    return (!a && !b) || text_is(a, b);
}

static bool is_same(const struct found_group *group, const struct error_place *place,
                    const char *pattern)
{
    return group->place.is_undo == place->is_undo && is_equal(group->pattern, pattern) &&
           is_equal(group->place.workflow, place->workflow) &&
           is_equal(group->place.step, place->step) &&
           (place->workflow || is_equal(group->place.type, place->type));
}

/* The group of an error; a new one is empty. */
static cairn_code find_group(struct errors *errors, const char *id,
                             const struct error_place *place, struct found_group **ret_group)
{
    char pattern[ERROR_PATTERN_TEXT];
    error_pattern(place->error, pattern);
    uint32_t hash = hash_text(HASH_START, pattern);
    hash = hash_text(hash, place->workflow ? place->workflow : place->type);
    hash = hash_text(hash, place->step);
    size_t slot = hash % SLOTS;
    for (; errors->slots[slot]; slot = (slot + 1) % SLOTS) {
        *ret_group = &errors->groups[errors->slots[slot] - 1];
        if ((*ret_group)->hash == hash && is_same(*ret_group, place, pattern))
            return CAIRN_OK;
    }
    *ret_group = &errors->groups[errors->group_count++];
    errors->slots[slot] = (uint16_t)errors->group_count;
    **ret_group = (struct found_group){.place = *place,
                                       .id = id,
                                       .pattern = arena_strdup(errors->q->arena, pattern),
                                       .first_us = place->at_us,
                                       .last_us = place->at_us,
                                       .hash = hash};
    NEED((*ret_group)->pattern, errors->q->error);
    return CAIRN_OK;
}

/* Whether it is of the type or workflow that is asked for; of instances the store has looked. */
static bool is_asked_for(const struct errors *errors, const struct error_row *row)
{
    const struct error_input *in = errors->in;
    if (errors->kind == ERRORS_OF_JOBS)
        return !in->type || pattern_matches(in->type, row->type);
    return !in->workflow || text_is(in->workflow, row->workflow);
}

static cairn_code add_error(struct errors *errors, const struct error_row *row)
{
    struct question *q = errors->q;
    struct error_place place;
    struct found_group *group;
    if (!is_asked_for(errors, row))
        return CAIRN_OK;
    errors->scanned++;
    NEED(error_of_row(q->arena, errors->kind, row, &place), q->error);
    if (!place.error || place.at_us < errors->in->since_us)
        return CAIRN_OK;
    const char *id = row->id ? row->id : arena_printf(q->arena, "%lld", (long long)row->seq);
    NEED(id, q->error);
    TRY(find_group(errors, id, &place, &group));
    group->n++;
    if (place.at_us < group->first_us)
        group->first_us = place.at_us;
    if (place.at_us > group->last_us)
        group->last_us = place.at_us;
    return CAIRN_OK;
}

/* The newest ones, portion by portion.  Where the store does not look at what is asked for, more are looked at. */
static cairn_code find_errors(struct errors *errors)
{
    struct question *q = errors->q;
    const struct error_input *in = errors->in;
    bool is_sieved = in->type || (in->workflow && errors->kind != ERRORS_OF_INSTANCES);
    size_t most = in->most ? in->most : ERRORS_MAX, count = PORTION;
    size_t look = is_sieved ? 2 * most : most;
    int64_t give_up_us = monotonic_us() + LOOK_US, before = 0;
    struct error_row *rows = arena_array(q->arena, PORTION, sizeof *rows);
    NEED(rows, q->error);
    while (count == PORTION && errors->looked_at < look && errors->scanned + PORTION <= most &&
           (!errors->looked_at || monotonic_us() < give_up_us)) {
        TRY(STORE(q, scan_errors, errors->kind, in->workflow, before, rows, PORTION, &count));
        for (size_t i = 0; i < count; i++)
            TRY(add_error(errors, &rows[i]));
        errors->looked_at += count;
        before = count ? rows[count - 1].seq : 0;
    }
    if (count == PORTION && !in->most) { /* who sets a limit asks for no more */
        TRY(STORE(q, scan_errors, errors->kind, in->workflow, before, rows, 1, &count));
        errors->is_more = count > 0;
    }
    return CAIRN_OK;
}

/* ---- groups --------------------------------------------------------------------------------- */

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

static cairn_code show_group(struct question *q, const struct found_group *group,
                             struct error_item *ret_item)
{
    char name[ERROR_GROUP_TEXT];
    error_group(&group->place, group->pattern, name);
    *ret_item =
        (struct error_item){.group = arena_strdup(q->arena, name),
                            .workflow = group->place.workflow,
                            .step = group->place.step,
                            .type = group->place.type,
                            .is_undo = group->place.is_undo,
                            .pattern = group->pattern,
                            .sample = text_cut(q->arena, group->place.error, SAMPLE_BYTES),
                            .n = group->n,
                            .newest = group->id,
                            .first_at_us = group->first_us,
                            .last_at_us = group->last_us};
    NEED(ret_item->group && ret_item->sample, q->error);
    return CAIRN_OK;
}

static cairn_code show_groups(struct errors *errors, struct page_output *page)
{
    struct question *q = errors->q;
    page->errors = arena_array(q->arena, errors->group_count, sizeof *page->errors);
    NEED(page->errors || !errors->group_count, q->error);
    for (; page->count < errors->group_count; page->count++)
        TRY(show_group(q, &errors->groups[page->count], &page->errors[page->count]));
    if (page->count)
        qsort(page->errors, page->count, sizeof *page->errors, compare_groups);
    if (page->count > errors->in->limit)
        page->count = errors->in->limit;
    return CAIRN_OK;
}

cairn_code question_errors(struct question *q, const struct error_input *in,
                           struct page_output *ret_page)
{
    struct errors errors = {.q = q,
                            .in = in,
                            .kind = strcmp(in->of, "jobs") == 0        ? ERRORS_OF_JOBS
                                    : strcmp(in->of, "instances") == 0 ? ERRORS_OF_INSTANCES
                                                                       : ERRORS_OF_RECORDS};
    errors.groups = arena_array(q->arena, ERRORS_MAX, sizeof *errors.groups);
    errors.slots = arena_zalloc(q->arena, SLOTS * sizeof *errors.slots);
    NEED(errors.groups && errors.slots, q->error);
    *ret_page = (struct page_output){0};
    TRY(find_errors(&errors));
    TRY(show_groups(&errors, ret_page));
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
