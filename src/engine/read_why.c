/* engine/read_why.c - reads the facts from which core/why.h says why something has not ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/read_why.h"

#include "core/flow.h"
#include "engine/limit.h"

#include <stdlib.h>
#include <string.h>

/* How far down children are asked why they wait. */
enum { CHILD_DEPTH_MAX = 4 };
enum { OPEN_MAX = 1000, OPEN_PORTION = 256, WALK_PORTION = 64, WALK_MAX = 2000 };

/* Open steps of several instances, by their ids; they are asked for in this order. */
struct open_page {
    const char *const *ids;
    struct open_steps *of;
    size_t count, at;
};

bool is_undo_record(const struct dlq_row *record)
{
    return record->reason && strncmp(record->reason, "compensation", 12) == 0;
}

/* Puts rows where they belong.  *first is the instance of the last one. */
static cairn_code add_open(struct question *q, struct open_page *page,
                           const struct step_row *rows, size_t count, size_t *first)
{
    for (size_t i = 0; i < count; i++) {
        while (strcasecmp(page->ids[*first], rows[i].instance_id) != 0)
            ++*first;
        if (page->of[*first].count == OPEN_MAX)
            continue;
        struct step_row *row = list_add(q->arena, &page->of[*first]);
        NEED(row, q->error);
        *row = rows[i];
    }
    return CAIRN_OK;
}

/* Of one instance there are few as a rule. */
static cairn_code read_open(struct question *q, struct open_page *page)
{
    size_t room = page->count == 1 ? OPEN_PORTION / 16 : OPEN_PORTION, count = room, first = 0;
    struct step_row *rows = arena_array(q->arena, room, sizeof *rows);
    NEED(rows, q->error);
    for (int32_t after = -1; count == room && first < page->count;) {
        TRY(STORE(q, list_open_steps, page->ids + first, page->count - first, after, rows, room,
                  &count));
        TRY(add_open(q, page, rows, count, &first));
        after = count ? rows[count - 1].seq : -1;
        if (page->of[first].count == OPEN_MAX)
            first++, after = -1;
    }
    return CAIRN_OK;
}

cairn_code question_read_open(struct question *q, const char *const *ids, size_t count)
{
    struct open_page *page = arena_zalloc(q->arena, sizeof *page);
    struct open_steps *of = arena_array(q->arena, count, sizeof *of);
    NEED(page && (of || !count), q->error);
    *page = (struct open_page){.ids = ids, .of = of, .count = count};
    TRY(read_open(q, page));
    q->open = page;
    return CAIRN_OK;
}

cairn_code question_open_steps(struct question *q, const char *id, struct open_steps *ret_steps)
{
    struct open_page *known = q->open;
    *ret_steps = (struct open_steps){0};
    for (size_t i = 0; known && i < known->count;
         i++, known->at = (known->at + 1) % known->count)
        if (strcmp(known->ids[known->at], id) == 0) {
            *ret_steps = known->of[known->at];
            return CAIRN_OK;
        }
    return read_open(q, &(struct open_page){.ids = &id, .of = ret_steps, .count = 1});
}

/* ---- types ---------------------------------------------------------------------------------- */

/* Workers are read once for a question. */
static cairn_code find_workers(struct question *q, const struct known_workers **ret_workers)
{
    if (!q->workers) {
        struct known_workers *workers = arena_zalloc(q->arena, sizeof *workers);
        NEED(workers, q->error);
        TRY(workers_known(q, workers));
        q->workers = workers;
    }
    *ret_workers = q->workers;
    return CAIRN_OK;
}

/* A type, and how many tasks of it are ahead; each is asked for once in a question. */
struct known_type {
    const char *name;
    int32_t version;
    struct why_type type;
    struct ready_count ready;
    bool is_counted;
    struct known_type *next;
};

static int compare_name(const void *name, const void *entry)
{
    return strcmp(name, ((const struct registry_row *)entry)->name);
}

/* Asks the store unless the registry was read before.  CAIRN_E_NOT_FOUND, with q->error unchanged. */
static cairn_code find_entry(struct question *q, const char *type,
                             struct registry_row *ret_entry)
{
    if (!q->is_registry_whole)
        return STORE(q, get_registry, type, ret_entry);
    const struct registry_row *found = NULL;
    if (q->registry_count)
        found = bsearch(type, q->registry, q->registry_count, sizeof *found, compare_name);
    if (!found)
        return CAIRN_E_NOT_FOUND;
    *ret_entry = *found;
    return CAIRN_OK;
}

cairn_code question_type(struct question *q, const char *type, int32_t version,
                         struct why_type *ret_type)
{
    struct registry_row entry;
    const struct known_workers *workers = NULL;
    *ret_type = (struct why_type){0};
    cairn_code code = find_entry(q, type, &entry);
    if (code && code != CAIRN_E_NOT_FOUND)
        return code;
    if (!code) {
        ret_type->is_off = !entry.is_enabled;
        ret_type->runtime = entry.runtime;
    }
    TRY(find_workers(q, &workers));
    return workers_judge(q, workers, type, version, ret_type);
}

static cairn_code find_type(struct question *q, const char *name, int32_t version,
                            struct known_type **ret_type)
{
    struct known_type *type = q->types;
    while (type && (type->version != version || strcmp(type->name, name) != 0))
        type = type->next;
    *ret_type = type;
    if (type)
        return CAIRN_OK;
    type = arena_zalloc(q->arena, sizeof *type);
    NEED(type, q->error);
    *type = (struct known_type){.name = name, .version = version, .next = q->types};
    TRY(question_type(q, name, version, &type->type));
    *ret_type = q->types = type;
    return CAIRN_OK;
}

/* A type that can be claimed now, who could take it, and how much is ahead. */
static cairn_code read_type(struct question *q, const char *type, int32_t version,
                            int64_t ready_us, struct why_type *ret_type)
{
    struct known_type *known = NULL;
    TRY(find_type(q, type, version, &known));
    *ret_type = known->type;
    if (!ret_type->live || ret_type->roomy)
        return CAIRN_OK;
    if (!known->is_counted)
        TRY(STORE(q, count_ready, &type, 1, &known->ready));
    known->is_counted = true;
    ret_type->ahead = known->ready.count > 0 ? known->ready.count - 1 : 0;
    ret_type->oldest_us = known->ready.oldest_us < ready_us ? known->ready.oldest_us : 0;
    return CAIRN_OK;
}

/* Limits are read once for a question, and what is used of them only if there are some. */
static cairn_code find_limits(struct question *q)
{
    struct limit_row first;
    size_t count = 0;
    if (q->limits)
        return CAIRN_OK;
    struct limits *limits = arena_zalloc(q->arena, sizeof *limits);
    NEED(limits, q->error);
    TRY(STORE(q, list_limits, NULL, &first, 1, &count));
    if (count)
        TRY(limits_read(q->ops, q->tx, limits, q->error));
    q->limits = limits;
    return CAIRN_OK;
}

/* Which limit keeps it back. */
static cairn_code add_limit(struct question *q, const char *type, const char *group,
                            struct why_type *ret_type)
{
    int64_t wait_us;
    TRY(find_limits(q));
    if (!q->limits || q->limits->count == 0)
        return CAIRN_OK;
    NEED(limits_refuse(q->limits, type, group, &ret_type->limit, &wait_us), q->error);
    ret_type->is_limit_rate = wait_us > 0;
    if (ret_type->limit && ret_type->limit->is_per_group && *group)
        ret_type->limit_group = group;
    return CAIRN_OK;
}

/* ---- instances ------------------------------------------------------------------------------ */

static bool is_claimable(const struct step_row *row, int64_t now_us)
{
    bool is_open = row->status == STEP_READY || row->status == STEP_COMPENSATION;
    return is_open && row->task_type && !row->locked_by && !row->is_held &&
           row->next_run_at_us <= now_us;
}

/* The child that a step waits for, and why that one has not ended. */
static cairn_code find_child(struct question *q, const struct why_step *step,
                             const char **ret_id)
{
    const struct step_row *row = step->row;
    struct step_row whole;
    size_t count = 0;
    if (step->config->child.is_own) { /* its output names it; what lists show has none */
        cairn_code code = STORE(q, get_step, row->instance_id, row->name, &whole);
        *ret_id = NULL;
        return code == CAIRN_E_NOT_FOUND ? CAIRN_OK
               : code                    ? code
                                         : call_child(q->arena, &whole, ret_id, q->error);
    }
    TRY(STORE(q, list_children, row->instance_id, row->seq, true, ret_id, 1, &count));
    if (count == 0)
        *ret_id = NULL;
    return CAIRN_OK;
}

static cairn_code add_child(struct question *q, struct why_step *step)
{
    const char *id = NULL;
    struct open_steps open = {0};
    struct why_list list = {0};
    struct instance_row *child = arena_zalloc(q->arena, sizeof *child);
    NEED(child, q->error);
    TRY(find_child(q, step, &id));
    cairn_code code = id ? STORE(q, get_instance, id, child) : CAIRN_E_NOT_FOUND;
    if (code)
        return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
    step->child = child;
    if (q->depth == CHILD_DEPTH_MAX)
        return CAIRN_OK;
    q->depth++;
    TRY(question_open_steps(q, child->id, &open));
    TRY(why_of_instance(q, child, &open, true, &list));
    q->depth--;
    step->child_why = list.count ? &list.items[0] : NULL;
    return CAIRN_OK;
}

static cairn_code add_map(struct question *q, const struct step_row *row, struct why_step *step)
{
    struct children_row *children = arena_zalloc(q->arena, sizeof *children);
    NEED(children, q->error);
    cairn_code code = STORE(q, get_step_children, row->instance_id, row->seq, children);
    step->children = code ? NULL : children;
    return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
}

static cairn_code add_step(struct question *q, const struct step_row *row,
                           struct why_step *ret_step)
{
    struct step_config *config = arena_zalloc(q->arena, sizeof *config);
    struct why_type *type = arena_zalloc(q->arena, sizeof *type);
    NEED(config && type, q->error);
    TRY(step_config_read(q->arena, row->config, config, q->error));
    *ret_step = (struct why_step){.row = row, .config = config};
    bool is_parent = row->kind == KIND_START && step_is_current(row->status);
    if (is_parent)
        TRY(config->child.over ? add_map(q, row, ret_step) : add_child(q, ret_step));
    if (!is_claimable(row, q->tx->now_us))
        return CAIRN_OK;
    TRY(read_type(q, row->task_type, row->version, row->next_run_at_us, type));
    TRY(add_limit(q, row->task_type, row->group ? row->group : "", type));
    ret_step->type = type;
    return CAIRN_OK;
}

/* Its open record, if it is parked. */
cairn_code why_facts_of_step(struct question *q, const struct step_row *row,
                             struct why_step *ret_step)
{
    struct dlq_row records[WALK_PORTION];
    size_t count = 0;
    TRY(add_step(q, row, ret_step));
    if (row->status != STEP_PAUSED)
        return CAIRN_OK;
    TRY(STORE(q, list_dlq, row->instance_id, 0, records, WALK_PORTION, &count));
    for (size_t i = 0; i < count && !ret_step->record; i++)
        if (records[i].step_seq == row->seq && !is_undo_record(&records[i])) {
            ret_step->record = arena_printf(q->arena, "%lld", (long long)records[i].id);
            NEED(ret_step->record, q->error);
        }
    return CAIRN_OK;
}

static cairn_code add_steps(struct question *q, const struct open_steps *open,
                            struct why_facts *facts)
{
    struct why_step *steps = arena_array(q->arena, open->count, sizeof *steps);
    NEED(steps, q->error);
    for (size_t i = 0; i < open->count; i++)
        TRY(add_step(q, &open->items[i], &steps[i]));
    facts->steps = steps;
    facts->step_count = open->count;
    return CAIRN_OK;
}

/* Open records of its steps, and of a compensation. */
static cairn_code add_records(struct question *q, const struct instance_row *row,
                              struct why_facts *facts)
{
    struct dlq_row records[WALK_PORTION];
    struct why_step *steps = (struct why_step *)facts->steps;
    size_t count = 0;
    TRY(STORE(q, list_dlq, row->id, 0, records, WALK_PORTION, &count));
    for (size_t i = 0; i < count; i++) {
        const char *id = arena_printf(q->arena, "%lld", (long long)records[i].id);
        NEED(id, q->error);
        if (is_undo_record(&records[i]) && !facts->undo_record)
            facts->undo_record = id;
        for (size_t k = 0; k < facts->step_count && !is_undo_record(&records[i]); k++)
            if (steps[k].row->seq == records[i].step_seq)
                steps[k].record = id;
    }
    return CAIRN_OK;
}

/* How many of its tasks are undone, and how many there are to undo. */
static cairn_code count_undone(struct question *q, const struct instance_row *row,
                               struct why_facts *facts)
{
    struct step_row *rows = arena_array(q->arena, WALK_PORTION, sizeof *rows);
    size_t count = WALK_PORTION;
    NEED(rows, q->error);
    for (int32_t after = -1; count == WALK_PORTION && after < WALK_MAX;) {
        TRY(STORE(q, list_steps, row->id, after, false, rows, WALK_PORTION, &count));
        for (size_t i = 0; i < count; i++) {
            const struct step_row *step = &rows[i];
            after = step->seq;
            bool is_within = step->seq >= row->undo_from && step->seq <= row->undo_to;
            if (step->kind != KIND_TASK || !step->commit_no || !is_within)
                continue;
            facts->to_undo++;
            facts->undone += step->status == STEP_ROLLED_BACK;
        }
    }
    return CAIRN_OK;
}

/* A decision ends its instance in its own commit. */
static cairn_code find_rejection(struct question *q, const struct instance_row *row,
                                 struct why_facts *facts)
{
    struct decision_row rows[WALK_PORTION];
    size_t count = WALK_PORTION;
    for (int64_t after = 0; count == WALK_PORTION;) {
        TRY(STORE(q, list_decisions, row->id, after, rows, WALK_PORTION, &count));
        for (size_t i = 0; i < count; i++) {
            after = rows[i].id;
            facts->is_rejected |= text_is(rows[i].decision, "rejected") &&
                                  rows[i].decided_at_us == row->finished_at_us;
        }
    }
    return CAIRN_OK;
}

static cairn_code find_save_point(struct question *q, const struct instance_row *row,
                                  struct why_facts *facts)
{
    struct step_ref ref = {.instance_id = row->id, .seq = row->undo_from - 1};
    struct step_row step;
    bool is_found = false;
    if (row->undo_first < 0 || row->undo_from <= 0)
        return CAIRN_OK;
    TRY(STORE(q, read_steps, &ref, 1, &step, &is_found));
    if (is_found && step.kind == KIND_SAVE_POINT)
        facts->save_point = step.name;
    return CAIRN_OK;
}

static cairn_code add_end(struct question *q, const struct instance_row *row,
                          struct why_facts *facts)
{
    if (row->status == INSTANCE_ABORTED)
        return find_rejection(q, row, facts);
    if (row->status != INSTANCE_FAILED)
        return CAIRN_OK;
    if (row->undo_error)
        TRY(add_records(q, row, facts));
    return find_save_point(q, row, facts);
}

static bool has_parked(const struct instance_row *row, const struct open_steps *open)
{
    bool is_any = row->status == INSTANCE_DLQ;
    for (size_t i = 0; i < open->count; i++)
        is_any |= open->items[i].status == STEP_PAUSED;
    return is_any;
}

cairn_code why_of_instance(struct question *q, const struct instance_row *row,
                           const struct open_steps *open, bool is_list,
                           struct why_list *ret_list)
{
    struct why_facts facts = {
        .now_us = q->tx->now_us, .opened_us = question_opened_us(q), .instance = row};
    TRY(add_steps(q, open, &facts));
    if (has_parked(row, open))
        TRY(add_records(q, row, &facts));
    if (instance_is_final(row->status))
        TRY(add_end(q, row, &facts));
    else if (row->status == INSTANCE_COMPENSATING && !is_list)
        TRY(count_undone(q, row, &facts));
    return why_instance(q->arena, &facts, ret_list) ? CAIRN_OK : fail_memory(q->error);
}

cairn_code why_of_job(struct question *q, const struct job_row *row, const cairn_why **ret_why)
{
    struct why_job_facts facts = {
        .now_us = q->tx->now_us, .opened_us = question_opened_us(q), .job = row};
    cairn_why *why = arena_zalloc(q->arena, sizeof *why);
    struct why_type type;
    NEED(why, q->error);
    if (row->status == JOB_PENDING && row->run_at_us <= q->tx->now_us) {
        TRY(read_type(q, row->type, 0, row->run_at_us, &type));
        TRY(add_limit(q, row->type, row->group ? row->group : "", &type));
        facts.type = &type;
    }
    *ret_why = why;
    return why_job(q->arena, &facts, why) ? CAIRN_OK : fail_memory(q->error);
}

cairn_code answer_why(struct question *q)
{
    struct instance_row row;
    struct open_steps open = {0};
    struct why_list list;
    TRY(question_instance(q, q->request->in.id, &row));
    if (!instance_is_final(row.status))
        TRY(question_open_steps(q, row.id, &open));
    TRY(why_of_instance(q, &row, &open, false, &list));
    q->request->out.page = (struct page_output){.whys = list.items, .count = list.count};
    return CAIRN_OK;
}
