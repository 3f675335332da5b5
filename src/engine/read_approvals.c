/* engine/read_approvals.c - steps that wait for a decision, and what was decided.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Both are walks over rows that do not say of which workflow they are, so their instances are looked up,
 * portion by portion.  A workflow that few of them belong to makes the walk long: it then ends early, and
 * the cursor goes on there.
 */
#include "base/error.h"
#include "engine/check.h"
#include "engine/read_why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTION = LIST_IDS_MAX, APPROVALS_MS = 2000 };

/* A list under way. */
struct approvals {
    struct question *q;
    const struct approval_input *in;
    size_t scanned;
    bool is_cut; /* the page is full, or enough was looked at: `last` is behind the page */
    const char *
        last; /* the cursor of the latest item of the page, or of the last that was passed over */

    /* Where the walk is: behind this step, or before this decision. */
    bool has_deadline, is_begun;
    struct step_row after;
    int64_t before;

    /* The portion under way, and the instances that its rows belong to. */
    struct step_row steps[PORTION];
    struct decision_row decisions[PORTION];
    struct instance_row owners[PORTION];
    const char *ids[PORTION];
    size_t count, owner_count;
};

/* ---- cursors -------------------------------------------------------------------------------- */

/* "deadline.instance.place"; deadline 0: it waits without limit. */
static bool read_cursor(const char *cursor, struct step_row *ret_after)
{
    long long deadline, instance;
    int place, end = 0;
    if (sscanf(cursor, "%18lld.%18lld.%9d%n", &deadline, &instance, &place, &end) != 3 ||
        cursor[end] || deadline < 0 || instance < 0 || place < 0)
        return false;
    *ret_after =
        (struct step_row){.deadline_at_us = deadline, .instance_seq = instance, .seq = place};
    return true;
}

cairn_code check_approvals(struct check *check)
{
    const struct approval_input *in = &check->request->in.approvals;
    struct step_row after;
    TRY(check_optional(check, "workflow", in->workflow));
    if (in->is_decided)
        return check_number_page(check, in->cursor, in->limit);
    TRY(check_number_page(check, NULL, in->limit));
    if (in->cursor && !read_cursor(in->cursor, &after))
        return check_bad(check, "cursor", "is invalid");
    return CAIRN_OK;
}

static const char *cursor_of(struct approvals *list, size_t i)
{
    const struct step_row *step = &list->steps[i];
    if (list->in->is_decided)
        return arena_printf(list->q->arena, "%lld", (long long)list->decisions[i].id);
    return arena_printf(list->q->arena, "%lld.%lld.%d", (long long)step->deadline_at_us,
                        (long long)step->instance_seq, (int)step->seq);
}

/* ---- portions ------------------------------------------------------------------------------- */

static cairn_code fetch_decisions(struct approvals *list)
{
    struct question *q = list->q;
    TRY(STORE(q, list_latest_decisions, list->before, list->decisions, PORTION, &list->count));
    for (size_t i = 0; i < list->count; i++)
        list->ids[i] = list->decisions[i].instance_id;
    if (list->count)
        list->before = list->decisions[list->count - 1].id;
    return CAIRN_OK;
}

/* Those with a deadline come first; when there are no more of them, the others. */
static cairn_code fetch_steps(struct approvals *list)
{
    struct question *q = list->q;
    for (;;) {
        TRY(STORE(q, list_undecided, list->has_deadline, list->is_begun ? &list->after : NULL,
                  list->steps, PORTION, &list->count));
        if (list->count || !list->has_deadline)
            break;
        list->has_deadline = list->is_begun = false;
    }
    for (size_t i = 0; i < list->count; i++)
        list->ids[i] = list->steps[i].instance_id;
    if (list->count)
        list->after = list->steps[list->count - 1];
    list->is_begun |= list->count > 0;
    return CAIRN_OK;
}

/* The instances of the portion that are of the workflow. */
static cairn_code find_owners(struct approvals *list)
{
    struct list_end end;
    struct list_filter filter = {.ids = list->ids,
                                 .id_count = list->count,
                                 .workflow = list->in->workflow,
                                 .is_row = true};
    TRY(list_instances(list->q->tx, &filter, list->owners, PORTION, &end, list->q->error));
    list->owner_count = end.count;
    return CAIRN_OK;
}

static const struct instance_row *owner_of(const struct approvals *list, const char *id)
{
    for (size_t i = 0; i < list->owner_count; i++)
        if (strcmp(list->owners[i].id, id) == 0)
            return &list->owners[i];
    return NULL;
}

/* ---- items ---------------------------------------------------------------------------------- */

static cairn_code show_step(struct question *q, const struct step_row *row,
                            struct approval_item *item)
{
    struct step_config config = {0};
    TRY(step_config_read(q->arena, row->config, &config, q->error));
    item->step = row->name;
    item->seq = row->seq;
    item->since_us = row->started_at_us;
    item->deadline_at_us = row->deadline_at_us;
    item->on_timeout = config.is_timeout_continue ? "continue" : "fail";
    item->input = row->input;
    item->metadata = row->metadata;
    return CAIRN_OK;
}

static void show_decision(const struct decision_row *row, struct approval_item *item)
{
    item->step = row->step_name;
    item->seq = row->step_seq;
    item->by = row->decided_by;
    item->decision = row->decision;
    item->comment = row->comment;
    item->at_us = row->decided_at_us;
}

static cairn_code add_item(struct approvals *list, size_t i, const struct instance_row *owner)
{
    struct page_output *page = &list->q->request->out.page;
    struct approval_item *item = (struct approval_item *)page->items + page->count++;
    *item = (struct approval_item){.instance_id = owner->id,
                                   .workflow = owner->workflow,
                                   .version = owner->version,
                                   .key = owner->key};
    if (!list->in->is_decided)
        return show_step(list->q, &list->steps[i], item);
    show_decision(&list->decisions[i], item);
    return CAIRN_OK;
}

/* Adds what the portion has of the page. */
static cairn_code add_items(struct approvals *list)
{
    const struct page_output *page = &list->q->request->out.page;
    for (size_t i = 0; i < list->count; i++) {
        const struct instance_row *owner = owner_of(list, list->ids[i]);
        if (owner && page->count == list->in->limit) {
            list->is_cut = true;
            return CAIRN_OK;
        }
        if (owner)
            TRY(add_item(list, i, owner));
        if (owner || i + 1 == list->count)
            list->last = cursor_of(list, i);
        NEED(list->last || (!owner && i + 1 < list->count), list->q->error);
    }
    list->scanned += list->count;
    list->is_cut = list->scanned >= LIST_SCAN_MAX;
    return CAIRN_OK;
}

static void begin_walk(struct approvals *list)
{
    const char *cursor = list->in->cursor;
    list->has_deadline = true;
    if (!cursor)
        return;
    if (list->in->is_decided) {
        list->before = strtoll(cursor, NULL, 10);
        return;
    }
    list->is_begun = read_cursor(cursor, &list->after);
    list->has_deadline = list->after.deadline_at_us != 0;
}

cairn_code answer_approvals(struct question *q)
{
    const struct approval_input *in = &q->request->in.approvals;
    struct page_output *page = &q->request->out.page;
    struct approvals *list = arena_zalloc(q->arena, sizeof *list);
    struct approval_item *items = arena_array(q->arena, in->limit, sizeof *items);
    size_t n = 0;
    NEED(list && items, q->error);
    list->q = q;
    list->in = in;
    *page = (struct page_output){.items = items, .is_row = in->is_decided};
    TRY(STORE(q, limit_time, APPROVALS_MS));
    begin_walk(list);
    do {
        TRY(in->is_decided ? fetch_decisions(list) : fetch_steps(list));
        TRY(find_owners(list));
        TRY(add_items(list));
    } while (list->count && !list->is_cut);
    page->next = list->is_cut ? list->last : NULL;
    TRY(STORE(q, count_undecided, in->workflow, COUNT_MAX, &n));
    page->n = (int64_t)n;
    return CAIRN_OK;
}
