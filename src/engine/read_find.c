/* engine/read_find.c - what has an id, a key or a name that begins with a text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/read.h"

#include <string.h>

enum { FIND_EACH = 5, FIND_MS = 2000, TYPES_MAX = 1000 };

static cairn_code add_found(struct question *q, struct found_item found)
{
    struct page_output *page = &q->request->out.page;
    page->found[page->count++] = found;
    return found.id ? CAIRN_OK : fail_memory(q->error);
}

static cairn_code find_instances(struct question *q, const struct list_filter *filter)
{
    struct instance_row rows[FIND_EACH];
    struct list_end end;
    TRY(list_instances(q->tx, filter, rows, FIND_EACH, &end, q->error));
    for (size_t i = 0; i < end.count; i++)
        TRY(add_found(q,
                      (struct found_item){.kind = "instance",
                                          .id = rows[i].id,
                                          .title = rows[i].key ? rows[i].key : rows[i].workflow,
                                          .status = instance_status_name(rows[i].status),
                                          .at_us = rows[i].created_at_us}));
    return CAIRN_OK;
}

static cairn_code find_jobs(struct question *q, const struct list_filter *filter)
{
    struct job_row rows[FIND_EACH];
    struct list_end end;
    TRY(list_jobs(q->tx, filter, rows, FIND_EACH, &end, q->error));
    for (size_t i = 0; i < end.count; i++)
        TRY(add_found(q, (struct found_item){.kind = "job",
                                             .id = rows[i].id,
                                             .title = rows[i].key ? rows[i].key : rows[i].type,
                                             .status = job_status_name(rows[i].status),
                                             .at_us = rows[i].created_at_us}));
    return CAIRN_OK;
}

/* Each name once: behind its highest version comes the next name. */
static cairn_code find_workflows(struct question *q, const char *prefix)
{
    struct definition_row row = {.name = prefix};
    size_t count = 1;
    for (int i = 0; i < FIND_EACH; i++) {
        TRY(STORE(q, list_definitions, row.name, i ? INT32_MAX : 0, &row, 1, &count));
        if (count == 0 || strncmp(row.name, prefix, strlen(prefix)) != 0)
            return CAIRN_OK;
        bool is_function = strncmp(row.content, "{\"function\"", 11) == 0;
        TRY(add_found(q, (struct found_item){.kind = is_function ? "function" : "workflow",
                                             .id = row.name,
                                             .title = row.name,
                                             .at_us = row.created_at_us}));
    }
    return CAIRN_OK;
}

static cairn_code find_types(struct question *q, const char *prefix)
{
    const char **types = arena_array(q->arena, TYPES_MAX, sizeof *types);
    size_t count = 0, found = 0;
    NEED(types, q->error);
    TRY(STORE(q, list_types, false, types, TYPES_MAX, &count));
    for (size_t i = 0; i < count && found < FIND_EACH; i++) {
        if (strncmp(types[i], prefix, strlen(prefix)) != 0)
            continue;
        TRY(add_found(q,
                      (struct found_item){.kind = "type", .id = types[i], .title = types[i]}));
        found++;
    }
    return CAIRN_OK;
}

cairn_code answer_find(struct question *q)
{
    struct list_filter filter = {.q = q->request->in.find.q, .is_row = true};
    struct page_output *page = &q->request->out.page;
    page->found = arena_array(q->arena, 4 * (size_t)FIND_EACH, sizeof *page->found);
    NEED(page->found, q->error);
    TRY(STORE(q, limit_time, FIND_MS));
    TRY(find_instances(q, &filter));
    TRY(find_jobs(q, &filter));
    TRY(find_workflows(q, filter.q));
    return find_types(q, filter.q);
}
