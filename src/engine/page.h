/* engine/page.h - cairn_page: a list that was read, and the memory that holds it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_PAGE_H
#define ENGINE_PAGE_H

#include "engine/request.h"

/* What a list can consist of: NAME and name of cairn_name and cairn_page_name(). */
#define PAGE_KINDS(X)                 \
    X(JOB, job)                       \
    X(INSTANCE, instance)             \
    X(STEP, step)                     \
    X(EVENT, event)                   \
    X(LOG, log)                       \
    X(DECISION, decision)             \
    X(DLQ_RECORD, dlq_record)         \
    X(OUTBOX_EVENT, outbox_event)     \
    X(WORKFLOW, workflow)             \
    X(REGISTRY_ENTRY, registry_entry) \
    X(TASK, task)                     \
    X(FINDING, finding)               \
    X(WHY, why)                       \
    X(SCHEDULE, schedule)             \
    X(SCHEDULE_RUN, schedule_run)     \
    X(SCHEDULE_TIME, schedule_time)   \
    X(LIMIT, limit)                   \
    X(FLAW, flaw)

#define PAGE_KIND(KIND, name) PAGE_##KIND,
enum page_kind { PAGE_KINDS(PAGE_KIND) };

struct cairn_page {
    enum page_kind kind;
    const void *items; /* an array of the kind's struct */
    size_t count;
    const char *next; /* the cursor of the next page; NULL: this is the last one */
    int64_t scanned_to_us;

    /* What the items and their texts live in: the request that brought them, or the arena. */
    struct request *request;
    struct arena arena;
};

cairn_page *page_new(enum page_kind kind); /* NULL: memory ran out */
void page_freep(cairn_page **page);        /* for cleanup() */

/* Gives the page the list that a request has brought, and the request itself, which becomes NULL. */
void page_take(cairn_page *page, struct request **request);

#endif
