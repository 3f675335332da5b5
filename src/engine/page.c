/* engine/page.c - cairn_page: a list that was read, and the memory that holds it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/page.h"

#include "base/mem.h"

#define SIZE(KIND, name) [PAGE_##KIND] = sizeof(cairn_##name),
static const size_t item_sizes[] = {PAGE_KINDS(SIZE)};

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
    page->scanned_to_us = (*request)->out.page.scanned_to_us;
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

int64_t cairn_page_scanned_to(const cairn_page *page)
{
    return page->scanned_to_us;
}

static const void *item_at(const cairn_page *page, enum page_kind kind, size_t index)
{
    if (page->kind != kind || index >= page->count)
        return NULL;
    return (const char *)page->items + index * item_sizes[kind];
}

/* cairn_page_job() and the like; NULL: the page has no such item. */
#define ACCESSOR(KIND, name)                                                    \
    const cairn_##name *cairn_page_##name(const cairn_page *page, size_t index) \
    {                                                                           \
        return item_at(page, PAGE_##KIND, index);                               \
    }
PAGE_KINDS(ACCESSOR)
