/* engine/read_workers.c - answers about workers, what they hold, and the types of tasks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/counter.h"
#include "engine/read_why.h"
#include "engine/workers.h"

#include <stdlib.h>
#include <string.h>

enum { HELD_MAX = 1000, TYPES_MAX = 4096, READY_MAX = 1000 };

/* ---- workers --------------------------------------------------------------------------------- */

/* What a worker holds.  At most HELD_MAX of each kind. */
struct held {
    struct job_row *jobs;
    struct step_row *steps;
    size_t job_count, step_count;
};

static cairn_code read_held(struct question *q, const char *worker, struct held *ret_held)
{
    ret_held->jobs = arena_array(q->arena, HELD_MAX, sizeof *ret_held->jobs);
    ret_held->steps = arena_array(q->arena, HELD_MAX, sizeof *ret_held->steps);
    NEED(ret_held->jobs && ret_held->steps, q->error);
    TRY(STORE(q, list_held_jobs, worker, ret_held->jobs, HELD_MAX, &ret_held->job_count));
    return STORE(q, list_held_steps, worker, ret_held->steps, HELD_MAX, &ret_held->step_count);
}

static cairn_code show_worker(struct question *q, const struct known_worker *worker,
                              struct worker_item *ret_item)
{
    static const char *const states[] = {"live", "quiet", "gone"};
    struct held held = {0};
    TRY(read_held(q, worker->name, &held));
    int32_t holds = (int32_t)(held.job_count + held.step_count);
    *ret_item = (struct worker_item){.name = worker->name,
                                     .state = states[worker_state(worker, q->tx->now_us)],
                                     .runtime = worker->runtime,
                                     .via = worker->process,
                                     .holds = holds,
                                     .places = holds + worker->free,
                                     .errors = worker->errors,
                                     .first_seen_us = worker->first_us,
                                     .last_seen_us = worker->seen_us};
    return worker_types(q, worker, &ret_item->types, &ret_item->type_count);
}

/* One for each name: where it was last seen.  The cursor is the last name of the page before. */
cairn_code answer_workers(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    struct page_output *page = &q->request->out.page;
    struct known_workers workers;
    TRY(workers_known(q, &workers));
    struct worker_item *items = arena_array(q->arena, in->limit, sizeof *items);
    NEED(items, q->error);
    *page = (struct page_output){.items = items};
    for (size_t i = 0; i < workers.count; i++) {
        const char *name = workers.items[i].name;
        bool is_same = i && strcmp(name, workers.items[i - 1].name) == 0;
        if (is_same || (in->cursor && strcmp(name, in->cursor) <= 0))
            continue;
        if (page->count == in->limit) {
            page->next = items[page->count - 1].name;
            break;
        }
        TRY(show_worker(q, &workers.items[i], &items[page->count++]));
    }
    return CAIRN_OK;
}

static void show_held_job(const struct job_row *row, struct held_item *ret_item)
{
    *ret_item = (struct held_item){.id = row->id,
                                   .kind = "job",
                                   .type = row->type,
                                   .call = counter_after(row->attempt),
                                   .lease_until_us = row->lease_until_us};
}

static cairn_code show_held_step(struct question *q, const struct step_row *row,
                                 struct held_item *ret_item)
{
    bool is_undo = row->status == STEP_COMPENSATION;
    *ret_item = (struct held_item){
        .id = step_id_make(q->arena, row->instance_id, row->seq),
        .kind = is_undo ? "compensation" : "step",
        .type = row->task_type,
        .instance_id = row->instance_id,
        .step = row->name,
        .call = counter_after(is_undo ? row->compensation_attempts : row->attempts),
        .since_us = row->started_at_us,
        .lease_until_us = row->locked_until_us};
    return ret_item->id ? CAIRN_OK : fail_memory(q->error);
}

cairn_code answer_held(struct question *q)
{
    struct held held = {0};
    struct page_output *page = &q->request->out.page;
    TRY(read_held(q, q->request->in.id, &held));
    struct held_item *items =
        arena_array(q->arena, held.job_count + held.step_count, sizeof *items);
    NEED(items, q->error);
    *page = (struct page_output){.items = items, .count = held.job_count + held.step_count};
    for (size_t i = 0; i < held.job_count; i++)
        show_held_job(&held.jobs[i], &items[i]);
    for (size_t i = 0; i < held.step_count; i++)
        TRY(show_held_step(q, &held.steps[i], &items[held.job_count + i]));
    return CAIRN_OK;
}

/* ---- types ----------------------------------------------------------------------------------- */

struct named_type {
    const char *name;
    int32_t version; /* of a function; else 0 */
};

struct type_list {
    struct named_type *items;
    size_t count, room;
};

static cairn_code add_type(struct question *q, struct type_list *list, const char *name,
                           int32_t version)
{
    if (!name)
        return CAIRN_OK;
    struct named_type *added = list_add(q->arena, list);
    NEED(added, q->error);
    *added = (struct named_type){name, version};
    return CAIRN_OK;
}

static int compare_types(const void *a, const void *b)
{
    const struct named_type *one = a, *other = b;
    int order = strcmp(one->name, other->name);
    return order ? order : (one->version < other->version) - (one->version > other->version);
}

/* Each once; of a function its highest version. */
static void sort_types(struct type_list *list)
{
    size_t kept = 0;
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_types);
    for (size_t i = 0; i < list->count; i++)
        if (!kept || strcmp(list->items[kept - 1].name, list->items[i].name) != 0)
            list->items[kept++] = list->items[i];
    list->count = kept;
}

/* What there is of each type beside what can be claimed, in order of types. */
struct type_facts {
    struct unready_count *unready;
    size_t unready_count;
};

/* Those of jobs that have not ended, of registry entries, and of steps that can be claimed. */
static cairn_code find_types(struct question *q, const struct type_facts *facts,
                             struct type_list *list)
{
    const char **names = arena_array(q->arena, TYPES_MAX, sizeof *names);
    struct ready_type *ready = arena_array(q->arena, READY_MAX, sizeof *ready);
    size_t count = 0;
    NEED(names && ready, q->error);
    TRY(STORE(q, list_types, true, names, TYPES_MAX, &count));
    for (size_t i = 0; i < count; i++)
        TRY(add_type(q, list, names[i], 0));
    for (size_t i = 0; i < facts->unready_count; i++)
        if (facts->unready[i].later || facts->unready[i].leased)
            TRY(add_type(q, list, facts->unready[i].type, 0));
    for (size_t i = 0; i < q->registry_count; i++)
        TRY(add_type(q, list, q->registry[i].name, 0));
    TRY(STORE(q, list_ready_types, ready, READY_MAX, &count));
    for (size_t i = 0; i < count; i++)
        TRY(add_type(q, list, ready[i].name, ready[i].version));
    return CAIRN_OK;
}

/* Of each step of a plan: its handler and its compensation. */
static cairn_code add_types_of(struct question *q, const struct definition *definition,
                               struct type_list *list)
{
    for (size_t i = 0; i < definition->plan_count; i++) {
        struct step_config config = {0};
        const struct step_row *step = &definition->plan[i];
        TRY(step_config_read(q->arena, step->config, &config, q->error));
        TRY(add_type(q, list, step->handler,
                     step->kind == KIND_FUNCTION ? definition->version : 0));
        TRY(add_type(q, list, config.compensation.handler, 0));
    }
    return CAIRN_OK;
}

/* What a map does for each element is a plan of its own; none stands within another. */
static cairn_code add_types_of_maps(struct question *q, const struct definition *definition,
                                    struct type_list *list)
{
    for (size_t i = 0; i < definition->plan_count; i++) {
        struct step_config config = {0};
        struct definition each;
        const struct step_row *step = &definition->plan[i];
        if (step->kind == KIND_START)
            TRY(step_config_read(q->arena, step->config, &config, q->error));
        if (!config.child.over)
            continue;
        TRY(definition_of_map(q->arena, definition, step->name, &each, q->error));
        TRY(add_types_of(q, &each, list));
    }
    return CAIRN_OK;
}

/* The handlers and compensations of a workflow, or a function itself. */
static cairn_code find_types_of(struct question *q, const char *name, struct type_list *list)
{
    struct definition_row row;
    struct definition definition;
    cairn_code code = STORE(q, get_definition, name, 0, &row);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(q->error, code, "workflow \"%.64s\" does not exist", name);
    if (code)
        return code;
    TRY(definition_read(q->arena, row.name, row.content, strlen(row.content), &definition, NULL,
                        0, NULL, q->error));
    TRY(add_types_of(q, &definition, list));
    return add_types_of_maps(q, &definition, list);
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct registry_row *)a)->name,
                  ((const struct registry_row *)b)->name);
}

/* The registry, what is for later and what is leased, at most so much of each: one question for each, whatever the types. */
static cairn_code read_facts(struct question *q, size_t most, struct type_facts *ret_facts)
{
    struct registry_row *entries = arena_array(q->arena, TYPES_MAX, sizeof *entries);
    struct why_type none;
    *ret_facts = (struct type_facts){0};
    ret_facts->unready = arena_array(q->arena, TYPES_MAX, sizeof *ret_facts->unready);
    NEED(ret_facts->unready && entries, q->error);
    TRY(STORE(q, list_registry, NULL, entries, TYPES_MAX, &q->registry_count));
    if (q->registry_count) /* a database may order names in another way */
        qsort(entries, q->registry_count, sizeof *entries, compare_entries);
    q->registry = entries;
    q->is_registry_whole = q->registry_count < TYPES_MAX;
    TRY(question_type(q, "", 0, &none)); /* the workers are known then */
    return STORE(q, count_unready, most, ret_facts->unready, TYPES_MAX,
                 &ret_facts->unready_count);
}

static struct unready_count find_unready(const struct type_facts *facts, const char *type)
{
    for (size_t i = 0; i < facts->unready_count; i++)
        if (strcmp(facts->unready[i].type, type) == 0)
            return facts->unready[i];
    return (struct unready_count){0};
}

static cairn_code show_type(struct question *q, const struct named_type *named,
                            const struct type_facts *facts, struct ready_count ready,
                            struct type_item *ret_item)
{
    struct unready_count unready = find_unready(facts, named->name);
    struct why_type type;
    TRY(question_type(q, named->name, named->version, &type));
    bool is_served = type.live > 0 && !type.is_off;
    *ret_item = (struct type_item){.type = named->name,
                                   .runtime = type.runtime,
                                   .ready = ready.count,
                                   .later = unready.later,
                                   .leased = unready.leased + unready.leased_steps,
                                   .oldest_ready_us = ready.oldest_us,
                                   .workers_live = type.live,
                                   .is_served = is_served        ? 1
                                                : type.is_judged ? 0
                                                                 : -1,
                                   .is_enabled = !type.is_off};
    return CAIRN_OK;
}

static cairn_code show_types(struct question *q, const struct type_facts *facts,
                             const struct named_type *types, size_t count,
                             struct type_item **ret_items)
{
    const char **names = arena_array(q->arena, count, sizeof *names);
    struct ready_count *ready = arena_array(q->arena, count, sizeof *ready);
    *ret_items = arena_array(q->arena, count, sizeof **ret_items);
    NEED(names && ready && *ret_items, q->error);
    for (size_t i = 0; i < count; i++)
        names[i] = types[i].name;
    TRY(STORE(q, count_ready, names, count, ready));
    for (size_t i = 0; i < count; i++)
        TRY(show_type(q, &types[i], facts, ready[i], &(*ret_items)[i]));
    return CAIRN_OK;
}

cairn_code question_types(struct question *q, size_t most, struct type_item **ret_items,
                          size_t *ret_count)
{
    struct type_list list = {0};
    struct type_facts facts;
    TRY(read_facts(q, most, &facts));
    TRY(find_types(q, &facts, &list));
    sort_types(&list);
    *ret_count = list.count;
    return show_types(q, &facts, list.items, list.count, ret_items);
}

/* The cursor is the last type of the page before. */
cairn_code answer_types(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    struct page_output *page = &q->request->out.page;
    struct type_list list = {0};
    struct type_facts facts;
    struct type_item *items;
    size_t first = 0;
    TRY(read_facts(q, TYPE_COUNT_MAX, &facts));
    TRY(in->id ? find_types_of(q, in->id, &list) : find_types(q, &facts, &list));
    sort_types(&list);
    while (in->cursor && first < list.count && strcmp(list.items[first].name, in->cursor) <= 0)
        first++;
    size_t left = list.count - first, count = left < in->limit ? left : in->limit;
    TRY(show_types(q, &facts, list.items ? &list.items[first] : NULL, count, &items));
    *page = (struct page_output){.items = items, .count = count};
    if (left > count)
        page->next = items[count - 1].type;
    return CAIRN_OK;
}
