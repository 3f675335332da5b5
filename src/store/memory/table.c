/* store/memory/table.c - the rows of a memory store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/table.h"

#include "base/mem.h"
#include "store/memory/block.h"

#include <assert.h>
#include <string.h>

/* ---- order ------------------------------------------------------------------------------- */

int job_compare_turn(const struct job *a, const struct job *b)
{
    const struct job_row *x = &a->now->row, *y = &b->now->row;
    int order = compare_int(x->priority, y->priority);
    return order ? order : compare_int(x->seq, y->seq);
}

static int compare_turn(const struct tree_node *a, const struct tree_node *b)
{
    return job_compare_turn(container_of(a, struct job, in_type),
                            container_of(b, struct job, in_type));
}

static const struct job_row *timed_row(const struct tree_node *node)
{
    return &container_of(node, struct job, in_time)->now->row;
}

static int compare_run_at(const struct tree_node *a, const struct tree_node *b)
{
    const struct job_row *x = timed_row(a), *y = timed_row(b);
    int order = compare_int(x->run_at_us, y->run_at_us);
    return order ? order : compare_int(x->seq, y->seq);
}

static int compare_lease(const struct tree_node *a, const struct tree_node *b)
{
    const struct job_row *x = timed_row(a), *y = timed_row(b);
    int order = compare_int(x->lease_until_us, y->lease_until_us);
    return order ? order : compare_int(x->seq, y->seq);
}

static int compare_name(const struct tree_node *a, const struct tree_node *b)
{
    return strcmp(container_of(a, struct type, by_name)->name,
                  container_of(b, struct type, by_name)->name);
}

/* Where a row belongs follows from the row alone: call leave() before it changes, and enter()
 * after. */
static struct tree *time_tree(struct table *table, const struct job_row *row)
{
    if (row->status == JOB_LEASED)
        return &table->leased; /* deleted or not: its lease must end */
    if (row->status != JOB_PENDING || row->deleted_at_us)
        return NULL;
    return row->is_ready ? &table->ready : &table->waiting;
}

static void enter(struct table *table, struct job *job)
{
    struct tree *tree = time_tree(table, &job->now->row);
    if (tree)
        tree_add(tree, &job->in_time);
    if (tree == &table->ready)
        tree_add(&job->type->ready, &job->in_type);
    job->type->unfinished += tree != NULL;
}

static void leave(struct table *table, struct job *job)
{
    struct tree *tree = time_tree(table, &job->now->row);
    if (tree)
        tree_remove(tree, &job->in_time);
    if (tree == &table->ready)
        tree_remove(&job->type->ready, &job->in_type);
    job->type->unfinished -= tree != NULL;
}

/* ---- blocks of texts --------------------------------------------------------------------- */

static struct job_version *job_version_new(const struct job_row *row)
{
    size_t size = text_size(row->leased_by) + text_size(row->token) + text_size(row->ended_by) +
                  text_size(row->ended_token) + text_size(row->ended_outcome) +
                  text_size(row->last_error) + text_size(row->result);
    struct job_version *version = mem_alloc(sizeof *version + size);
    if (!version)
        return NULL;
    char *at = (char *)(version + 1);
    version->row = *row;
    version->row.leased_by = put_text(&at, row->leased_by);
    version->row.token = put_text(&at, row->token);
    version->row.ended_by = put_text(&at, row->ended_by);
    version->row.ended_token = put_text(&at, row->ended_token);
    version->row.ended_outcome = put_text(&at, row->ended_outcome);
    version->row.last_error = put_text(&at, row->last_error);
    version->row.result = put_text(&at, row->result);
    return version;
}

static struct registry_version *registry_version_new(const struct registry_row *row)
{
    size_t size =
        text_size(row->intent_type) + text_size(row->runtime) + text_size(row->description);
    struct registry_version *version = mem_alloc(sizeof *version + size);
    if (!version)
        return NULL;
    char *at = (char *)(version + 1);
    version->row = *row;
    version->row.intent_type = put_text(&at, row->intent_type);
    version->row.runtime = put_text(&at, row->runtime);
    version->row.description = put_text(&at, row->description);
    return version;
}

static struct event *event_new(const struct event *from)
{
    const struct flow_event_row *row = &from->row;
    struct event *event = mem_alloc(sizeof *event + text_size(row->type) +
                                    text_size(row->step) + text_size(row->data));
    if (!event)
        return NULL;
    char *at = (char *)(event + 1);
    *event = *from;
    event->row.type = put_text(&at, row->type);
    event->row.step = put_text(&at, row->step);
    event->row.data = put_text(&at, row->data);
    return event;
}

static void job_free(struct job *job)
{
    mem_free(job->events.events); /* the events are the table's */
    mem_free(job->now);
    mem_free(job);
}

/* The row as the job's own: what never changes is copied into it. */
static struct job *job_new(const struct job_row *row, struct type *type)
{
    struct job *job = mem_zalloc(sizeof *job + text_size(row->id) + text_size(row->payload) +
                                 text_size(row->key));
    if (!job)
        return NULL;
    char *at = job->text;
    struct job_row own = *row;
    own.id = put_text(&at, row->id);
    own.payload = put_text(&at, row->payload);
    own.key = put_text(&at, row->key);
    own.type = type->name;
    job->type = type;
    job->now = job_version_new(&own);
    if (job->now)
        return job;
    job_free(job);
    return NULL;
}

/* ---- growing ----------------------------------------------------------------------------- */

bool array_make_room(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return true;
    size_t more = *room ? *room * 2 : 4;
    void *old;
    memcpy(&old, array, sizeof old);
    void *larger = more > SIZE_MAX / 4 / size ? NULL : mem_realloc(old, more * size);
    if (!larger)
        return false;
    memcpy(array, &larger, sizeof larger);
    *room = more;
    return true;
}

bool table_make_undo_room(struct table *table)
{
    return array_make_room(&table->undos, table->undo_count, &table->undo_room,
                           sizeof *table->undos);
}

void table_note(struct table *table, struct undo undo)
{
    assert(table->undo_count < table->undo_room);
    table->undos[table->undo_count++] = undo;
}

struct type *table_intern_type(struct table *table, const char *name)
{
    struct type *type = table_find_type(table, name);
    if (type)
        return type;
    type = mem_zalloc(sizeof *type + strlen(name) + 1);
    if (!type)
        return NULL;
    strcpy(type->name, name);
    type->ready.compare = compare_turn;
    type->ready_steps.compare = step_compare_turn;
    tree_add(&table->types, &type->by_name);
    return type;
}

/* ---- changes ----------------------------------------------------------------------------- */

bool table_init(struct table *table)
{
    *table = (struct table){.types.compare = compare_name,
                            .waiting.compare = compare_run_at,
                            .ready.compare = compare_run_at,
                            .leased.compare = compare_lease};
    if (hash_init(&table->by_id) && hash_init(&table->by_key) && flow_init(&table->flow))
        return true;
    table_done(table);
    return false;
}

bool table_insert_job(struct table *table, const struct job_row *row)
{
    if (!table_make_undo_room(table) ||
        !array_make_room(&table->jobs, table->job_count, &table->job_room, sizeof *table->jobs))
        return false;
    struct type *type = table_intern_type(table, row->type);
    struct job *job = type ? job_new(row, type) : NULL;
    if (!job)
        return false;

    table->jobs[table->job_count++] = job;
    job->now->row.seq = (int64_t)table->job_count;
    hash_add(&table->by_id, &job->by_id, job->now->row.id);
    if (row->key)
        hash_add(&table->by_key, &job->by_key, job->now->row.key);
    enter(table, job);
    table_note(table, (struct undo){.kind = UNDO_INSERT, .job = job});
    return true;
}

bool table_update_job(struct table *table, struct job *job, const struct job_row *row)
{
    const struct job_row *old = &job->now->row;
    struct job_row next = *row;
    next.seq = old->seq;
    next.id = old->id;
    next.type = old->type;
    next.payload = old->payload;
    next.key = old->key;
    next.priority = old->priority;
    next.max_attempts = old->max_attempts;
    next.created_at_us = old->created_at_us;
    if (!next.result)
        next.result = old->result;

    struct job_version *version = table_make_undo_room(table) ? job_version_new(&next) : NULL;
    if (!version)
        return false;
    table_note(table, (struct undo){.kind = UNDO_UPDATE, .job = job, .before = job->now});
    leave(table, job);
    job->now = version;
    enter(table, job);
    return true;
}

bool table_append_event(struct table *table, struct event_list *list, const struct event *event)
{
    struct event_list *all = &table->events;
    if (!table_make_undo_room(table) ||
        !array_make_room(&all->events, all->count, &all->room, sizeof *all->events) ||
        !array_make_room(&list->events, list->count, &list->room, sizeof *list->events))
        return false;
    struct event *own = event_new(event);
    if (!own)
        return false;
    all->events[all->count++] = own;
    list->events[list->count++] = own;
    own->row.id = (int64_t)all->count;
    table_note(table, (struct undo){.kind = UNDO_EVENT, .list = list});
    return true;
}

bool table_put_registry(struct table *table, const struct registry_row *row)
{
    struct type *type =
        table_make_undo_room(table) ? table_intern_type(table, row->name) : NULL;
    struct registry_version *version = type ? registry_version_new(row) : NULL;
    if (!version)
        return false;
    version->row.name = type->name;
    if (type->registry)
        version->row.created_at_us = type->registry->row.created_at_us;
    table_note(table,
               (struct undo){.kind = UNDO_REGISTRY, .type = type, .before = type->registry});
    type->registry = version;
    return true;
}

void table_keep(struct table *table)
{
    for (size_t i = 0; i < table->undo_count; i++) {
        flow_keep(&table->undos[i]);
        mem_free(table->undos[i].before);
    }
    table->undo_count = 0;
}

static void undo_insert(struct table *table, struct job *job)
{
    assert(table->jobs[table->job_count - 1] == job);
    table->job_count--;
    leave(table, job);
    hash_remove(&table->by_id, &job->by_id);
    if (job->now->row.key)
        hash_remove(&table->by_key, &job->by_key);
    job_free(job);
}

static void undo_update(struct table *table, struct job *job, struct job_version *before)
{
    leave(table, job);
    mem_free(job->now);
    job->now = before;
    enter(table, job);
}

void table_undo(struct table *table)
{
    while (table->undo_count) {
        struct undo *undo = &table->undos[--table->undo_count];
        switch (undo->kind) {
        case UNDO_INSERT:
            undo_insert(table, undo->job);
            break;
        case UNDO_UPDATE:
            undo_update(table, undo->job, undo->before);
            break;
        case UNDO_EVENT:
            undo->list->count--;
            mem_free(table->events.events[--table->events.count]);
            break;
        case UNDO_REGISTRY:
            mem_free(undo->type->registry);
            undo->type->registry = undo->before;
            break;
        default:
            flow_undo(&table->flow, undo);
        }
    }
}

void table_done(struct table *table)
{
    table_undo(table);
    flow_done(&table->flow);
    for (size_t i = 0; i < table->job_count; i++)
        job_free(table->jobs[i]);
    for (size_t i = 0; i < table->events.count; i++)
        mem_free(table->events.events[i]);
    for (struct type *type = table_seek_type(table, ""); type;
         type = table_seek_type(table, "")) {
        tree_remove(&table->types, &type->by_name);
        mem_free(type->registry);
        mem_free(type);
    }
    hash_done(&table->by_id);
    hash_done(&table->by_key);
    mem_free(table->jobs);
    mem_free(table->events.events);
    mem_free(table->undos);
}

/* ---- finding ----------------------------------------------------------------------------- */

struct job *table_find_job(const struct table *table, const char *id)
{
    struct hash_link *link = hash_find(&table->by_id, id);
    return link ? container_of(link, struct job, by_id) : NULL;
}

struct job *table_find_key(const struct table *table, const char *key)
{
    struct hash_link *link = hash_find(&table->by_key, key);
    return link ? container_of(link, struct job, by_key) : NULL;
}

static struct type *type_of(struct tree_node *node)
{
    return node ? container_of(node, struct type, by_name) : NULL;
}

struct type *table_seek_type(const struct table *table, const char *from)
{
    struct tree_node *found = NULL;
    for (struct tree_node *node = table->types.root; node;) {
        if (strcmp(type_of(node)->name, from) < 0) {
            node = node->right;
        } else {
            found = node;
            node = node->left;
        }
    }
    return type_of(found);
}

struct type *table_find_type(const struct table *table, const char *name)
{
    struct type *type = table_seek_type(table, name);
    return type && strcmp(type->name, name) == 0 ? type : NULL;
}

struct type *type_next(const struct type *type)
{
    return type_of(tree_next(&type->by_name));
}

struct job *type_head(const struct type *type)
{
    struct tree_node *node = tree_first(&type->ready);
    return node ? container_of(node, struct job, in_type) : NULL;
}

static struct job *timed_job(struct tree_node *node)
{
    return node ? container_of(node, struct job, in_time) : NULL;
}

struct job *timed_first(const struct tree *tree)
{
    return timed_job(tree_first(tree));
}

struct job *timed_next(const struct job *job)
{
    return timed_job(tree_next(&job->in_time));
}

size_t event_after(const struct event_list *list, int64_t after)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->events[middle]->row.id > after)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
