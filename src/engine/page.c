/* engine/page.c - cairn_page: a list that was read, and the memory that holds it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/page.h"

#include "base/mem.h"

static const size_t item_sizes[PAGE_KINDS] = {
    [PAGE_JOB] = sizeof(cairn_job),
    [PAGE_INSTANCE] = sizeof(cairn_instance),
    [PAGE_STEP] = sizeof(cairn_step),
    [PAGE_EVENT] = sizeof(cairn_event),
    [PAGE_LOG] = sizeof(cairn_log),
    [PAGE_DECISION] = sizeof(cairn_decision),
    [PAGE_DLQ_RECORD] = sizeof(cairn_dlq_record),
    [PAGE_OUTBOX_EVENT] = sizeof(cairn_outbox_event),
    [PAGE_WORKFLOW] = sizeof(cairn_workflow),
    [PAGE_REGISTRY_ENTRY] = sizeof(cairn_registry_entry),
    [PAGE_TASK] = sizeof(cairn_task),
    [PAGE_FINDING] = sizeof(cairn_finding),
    [PAGE_FLAW] = sizeof(cairn_flaw), /* no request brings them */
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
    page->items = (*request)->out.page.items;
    page->count = (*request)->out.page.count;
    page->next = (*request)->out.page.next;
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
    return (const char *)page->items + index * item_sizes[kind];
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
