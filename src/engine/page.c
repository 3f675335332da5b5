/* engine/page.c - cairn_page: a list that was read, and the memory that holds it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/page.h"

#include "base/mem.h"

#include <string.h>

/* How every list of request.out begins, whatever its items are. */
struct list {
    const void *items;
    size_t count;
    const char *next;
};

/* The size of an item, and where a request keeps the list. */
static const struct {
    size_t item_size;
    size_t list_at;
} kinds[PAGE_KINDS] = {
    [PAGE_JOB] = {sizeof(cairn_job), offsetof(struct request, out.jobs)},
    [PAGE_INSTANCE] = {sizeof(cairn_instance), offsetof(struct request, out.instances)},
    [PAGE_STEP] = {sizeof(cairn_step), offsetof(struct request, out.steps)},
    [PAGE_EVENT] = {sizeof(cairn_event), offsetof(struct request, out.events)},
    [PAGE_LOG] = {sizeof(cairn_log), offsetof(struct request, out.logs)},
    [PAGE_DECISION] = {sizeof(cairn_decision), offsetof(struct request, out.decisions)},
    [PAGE_DLQ_RECORD] = {sizeof(cairn_dlq_record), offsetof(struct request, out.dlq)},
    [PAGE_OUTBOX_EVENT] = {sizeof(cairn_outbox_event), offsetof(struct request, out.outbox)},
    [PAGE_WORKFLOW] = {sizeof(cairn_workflow), offsetof(struct request, out.definitions)},
    [PAGE_REGISTRY_ENTRY] = {sizeof(cairn_registry_entry),
                             offsetof(struct request, out.registry)},
    [PAGE_TASK] = {sizeof(cairn_task), offsetof(struct request, out.tasks)},
    [PAGE_FINDING] = {sizeof(cairn_finding), offsetof(struct request, out.doctor)},
    [PAGE_FLAW] = {.item_size = sizeof(cairn_flaw)}, /* no request brings them */
};

cairn_page *page_new(enum page_kind kind)
{
    cairn_page *page = mem_zalloc(sizeof *page);
    if (page)
        page->kind = kind;
    return page;
}

void page_freep(cairn_page **page)
{
    cairn_page_free(*page);
}

void page_take(cairn_page *page, struct request **request)
{
    struct list list;
    memcpy(&list, (const char *)*request + kinds[page->kind].list_at, sizeof list);
    page->items = list.items;
    page->count = list.count;
    page->next = list.next;
    page->request = *request;
    *request = NULL;
}

void cairn_page_free(cairn_page *page)
{
    if (!page)
        return;
    request_free(page->request);
    arena_done(&page->arena);
    mem_free(page);
}

size_t cairn_page_count(const cairn_page *page)
{
    return page->count;
}

const char *cairn_page_next(const cairn_page *page)
{
    return page->next;
}

static const void *item_at(const cairn_page *page, enum page_kind kind, size_t index)
{
    if (page->kind != kind || index >= page->count)
        return NULL;
    return (const char *)page->items + index * kinds[kind].item_size;
}

const cairn_job *cairn_page_job(const cairn_page *page, size_t index)
{
    return item_at(page, PAGE_JOB, index);
}

const cairn_instance *cairn_page_instance(const cairn_page *page, size_t index)
{
    return item_at(page, PAGE_INSTANCE, index);
}

const cairn_step *cairn_page_step(const cairn_page *page, size_t index)
{
    return item_at(page, PAGE_STEP, index);
}

const cairn_event *cairn_page_event(const cairn_page *page, size_t index)
{
    return item_at(page, PAGE_EVENT, index);
}

const cairn_log *cairn_page_log(const cairn_page *page, size_t index)
{
    return item_at(page, PAGE_LOG, index);
}

const cairn_decision *cairn_page_decision(const cairn_page *page, size_t index)
{
    return item_at(page, PAGE_DECISION, index);
}

const cairn_dlq_record *cairn_page_dlq_record(const cairn_page *page, size_t index)
{
    return item_at(page, PAGE_DLQ_RECORD, index);
}

const cairn_outbox_event *cairn_page_outbox_event(const cairn_page *page, size_t index)
{
    return item_at(page, PAGE_OUTBOX_EVENT, index);
}

const cairn_workflow *cairn_page_workflow(const cairn_page *page, size_t index)
{
    return item_at(page, PAGE_WORKFLOW, index);
}

const cairn_registry_entry *cairn_page_registry_entry(const cairn_page *page, size_t index)
{
    return item_at(page, PAGE_REGISTRY_ENTRY, index);
}

const cairn_task *cairn_page_task(const cairn_page *page, size_t index)
{
    return item_at(page, PAGE_TASK, index);
}

const cairn_finding *cairn_page_finding(const cairn_page *page, size_t index)
{
    return item_at(page, PAGE_FINDING, index);
}

const cairn_flaw *cairn_page_flaw(const cairn_page *page, size_t index)
{
    return item_at(page, PAGE_FLAW, index);
}
