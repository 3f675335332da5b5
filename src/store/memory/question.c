/* store/memory/question.c - what can be asked of a memory store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

#include "base/error.h"
#include "core/pattern.h"

#include <stdio.h>
#include <string.h>

/* Copies a text in place; NULL stays NULL. */
static bool copy_text(struct arena *arena, const char **text)
{
    if (!*text)
        return true;
    *text = arena_strdup(arena, *text);
    return *text;
}

bool memory_copy_job(struct store_tx *tx, const struct job *job, enum row_parts parts,
                     struct job_row *ret_row)
{
    struct job_row row = job->now->row;
    if (parts == ROW_LEAN)
        row.payload = row.result = NULL;
    const char **texts[] = {&row.id,         &row.type,   &row.payload,      &row.key,
                            &row.leased_by,  &row.token,  &row.ended_by,     &row.ended_token,
                            &row.last_error, &row.result, &row.ended_outcome};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!copy_text(tx->arena, texts[i]))
            return false;
    *ret_row = row;
    return true;
}

static bool copy_event(struct store_tx *tx, const struct event *event,
                       struct job_event_row *ret_row)
{
    *ret_row = (struct job_event_row){.id = event->row.id,
                                      .job_id = event->row.instance_id,
                                      .type = event->job_type,
                                      .type_name = event->row.type,
                                      .data = event->row.data,
                                      .at_us = event->row.at_us};
    return copy_text(tx->arena, &ret_row->job_id) &&
           copy_text(tx->arena, &ret_row->type_name) && copy_text(tx->arena, &ret_row->data);
}

static bool copy_registry(struct store_tx *tx, const struct type *type,
                          struct registry_row *ret_row)
{
    *ret_row = type->registry->row;
    return copy_text(tx->arena, &ret_row->name) &&
           copy_text(tx->arena, &ret_row->intent_type) &&
           copy_text(tx->arena, &ret_row->runtime) &&
           copy_text(tx->arena, &ret_row->description);
}

cairn_code memory_next_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr)
{
    (void)reterr;
    struct job *waiting = timed_first(&tx_table(tx)->waiting);
    struct job *leased = timed_first(&tx_table(tx)->leased);
    int64_t due_us = waiting ? waiting->now->row.run_at_us : 0;
    int64_t expiry_us = leased ? leased->now->row.lease_until_us + 1 : 0;
    if (expiry_us && (!due_us || expiry_us < due_us))
        due_us = expiry_us;
    *ret_due_us = due_us;
    return CAIRN_OK;
}

cairn_code memory_get_job(struct store_tx *tx, const char *id, struct job_row *ret_row,
                          cairn_error *reterr)
{
    struct job *job = table_find_job(tx_table(tx), id);
    if (!job)
        return CAIRN_E_NOT_FOUND;
    return memory_copy_job(tx, job, ROW_WHOLE, ret_row) ? CAIRN_OK : fail_memory(reterr);
}

static bool is_wanted(const struct job_row *row, const struct job_filter *filter)
{
    if (row->deleted_at_us || (filter->before_seq && row->seq >= filter->before_seq))
        return false;
    if (filter->status != JOB_NONE && row->status != filter->status)
        return false;
    if (filter->key && (!row->key || strcmp(row->key, filter->key) != 0))
        return false;
    return !filter->pattern || pattern_matches(filter->pattern, row->type);
}

cairn_code memory_list_jobs(struct store_tx *tx, const struct job_filter *filter,
                            struct job_row *ret_rows, size_t room, size_t *ret_count,
                            cairn_error *reterr)
{
    const struct table *table = tx_table(tx);
    size_t at = table->job_count, stop = 0, count = 0;
    if (filter->before_seq > 0 && (uint64_t)filter->before_seq <= at)
        at = (size_t)filter->before_seq - 1;
    if (filter->key) { /* at most one row, and it is known where */
        struct job *job = table_find_key(table, filter->key);
        at = job ? (size_t)job->now->row.seq : 0;
        stop = job ? at - 1 : 0;
    }
    for (; at > stop && count < room; at--) {
        struct job *job = table->jobs[at - 1];
        if (!is_wanted(&job->now->row, filter))
            continue;
        if (!memory_copy_job(tx, job, ROW_WHOLE, &ret_rows[count]))
            return fail_memory(reterr);
        count++;
    }
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code memory_list_events(struct store_tx *tx, const char *job_id, int64_t after,
                              struct job_event_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    struct job *job = table_find_job(tx_table(tx), job_id);
    size_t count = 0;
    for (size_t i = job ? event_after(&job->events, after) : 0;
         job && i < job->events.count && count < room; i++)
        if (!copy_event(tx, job->events.events[i], &ret_rows[count++]))
            return fail_memory(reterr);
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code memory_get_registry(struct store_tx *tx, const char *name,
                               struct registry_row *ret_row, cairn_error *reterr)
{
    struct type *type = table_find_type(tx_table(tx), name);
    if (!type || !type->registry)
        return CAIRN_E_NOT_FOUND;
    return copy_registry(tx, type, ret_row) ? CAIRN_OK : fail_memory(reterr);
}

cairn_code memory_list_registry(struct store_tx *tx, const char *after,
                                struct registry_row *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr)
{
    size_t count = 0;
    for (struct type *type = table_seek_type(tx_table(tx), after ? after : "");
         type && count < room; type = type_next(type)) {
        if (!type->registry || (after && strcmp(type->name, after) == 0))
            continue;
        if (!copy_registry(tx, type, &ret_rows[count]))
            return fail_memory(reterr);
        count++;
    }
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code memory_count_jobs(struct store_tx *tx, struct job_counts *ret_counts,
                             cairn_error *reterr)
{
    (void)reterr;
    const struct table *table = tx_table(tx);
    struct job *oldest = timed_first(&table->ready);
    *ret_counts =
        (struct job_counts){.pending = table->waiting.count + table->ready.count,
                            .ready = table->ready.count,
                            .leased = table->leased.count,
                            .oldest_ready_us = oldest ? oldest->now->row.run_at_us : 0};
    return CAIRN_OK;
}

cairn_code memory_list_types(struct store_tx *tx, const char **ret_types, size_t room,
                             size_t *ret_count, cairn_error *reterr)
{
    size_t count = 0;
    for (struct type *type = table_seek_type(tx_table(tx), ""); type && count < room;
         type = type_next(type)) {
        if (!type->unfinished && !type->registry)
            continue;
        ret_types[count] = arena_strdup(tx->arena, type->name);
        if (!ret_types[count])
            return fail_memory(reterr);
        count++;
    }
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code memory_inspect(struct store_tx *tx, struct store_facts *ret_facts,
                          cairn_error *reterr)
{
    (void)reterr;
    *ret_facts = (struct store_facts){.product = "memory",
                                      .schema_version = 1,
                                      .newest_schema_version = 1,
                                      .is_intact = true};
    for (struct job *job = timed_first(&tx_table(tx)->leased);
         job && job->now->row.lease_until_us < tx->now_us; job = timed_next(job))
        ret_facts->expired_leases++;
    ret_facts->expired_leases += memory_count_expired_steps(tx);
    struct tree_node *first = tree_first(&tx_table(tx)->flow.open_outbox);
    if (first)
        ret_facts->oldest_outbox_us =
            container_of(first, struct outbox, in_open)->now->row.created_at_us;
    return CAIRN_OK;
}
