/* engine/page.h - cairn_page: a list that was read, and the memory that holds it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_PAGE_H
#define ENGINE_PAGE_H

#include "engine/request.h"

enum page_kind {
    PAGE_JOB,
    PAGE_INSTANCE,
    PAGE_STEP,
    PAGE_EVENT,
    PAGE_LOG,
    PAGE_DECISION,
    PAGE_DLQ_RECORD,
    PAGE_OUTBOX_EVENT,
    PAGE_WORKFLOW,
    PAGE_REGISTRY_ENTRY,
    PAGE_TASK,
    PAGE_FINDING,
    PAGE_FLAW,
    PAGE_KINDS
};

struct cairn_page {
    enum page_kind kind;
    const void *items; /* an array of the kind's struct */
    size_t count;
    const char *next; /* the cursor of the next page; NULL: this is the last one */

    /* What the items and their texts live in: the request that brought them, or the arena. */
    struct request *request;
    struct arena arena;
};

cairn_page *page_new(enum page_kind kind); /* NULL: memory ran out */
void page_freep(cairn_page **page);        /* for cleanup() */

/* Gives the page the list that a request has brought, and the request itself, which becomes NULL. */
void page_take(cairn_page *page, struct request **request);

#endif
