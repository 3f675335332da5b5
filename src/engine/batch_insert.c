/* engine/batch_insert.c - new jobs: those that are enqueued, and those that functions start.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/batch.h"

#include <stdio.h>
#include <string.h>

/* Ids are made once and kept over tries, so that a second try recognises the first one's rows.
 * An id that an earlier try found under the key is another job's: it must not pass for ours. */
static bool make_ids(struct batch *batch, struct request *request)
{
    size_t count = request->in.enqueue.count;
    if (!request->out.enqueued)
        request->out.enqueued = arena_array(&request->arena, count, sizeof(cairn_enqueued));
    if (!request->out.enqueued)
        return false;
    for (size_t i = 0; i < count; i++) {
        cairn_enqueued *enqueued = &request->out.enqueued[i];
        if (!enqueued->id[0] || enqueued->existing)
            id_make(&batch->committer->rng, batch->tx->now_us, enqueued->id);
        enqueued->existing = 0;
    }
    return true;
}

static struct job_row new_row(const struct batch *batch, const cairn_job_spec *spec,
                              const char *id)
{
    int64_t now_us = batch->tx->now_us;
    int64_t run_at_us = spec->run_at_us ? spec->run_at_us : now_us;
    return (struct job_row){
        .id = id,
        .type = spec->type,
        .payload = spec->payload,
        .key = spec->key,
        .status = JOB_PENDING,
        .priority = spec->priority,
        .max_attempts = spec->max_attempts,
        .is_ready = run_at_us <= now_us,
        .run_at_us = run_at_us,
        .created_at_us = now_us,
        .updated_at_us = now_us,
    };
}

static cairn_code note_inserted(struct batch *batch, const struct job_row *row,
                                enum insert_result result, cairn_enqueued *enqueued,
                                cairn_error *reterr)
{
    enqueued->existing = 0;
    if (result == INSERT_EXISTING && strcmp(row->id, enqueued->id) != 0) {
        snprintf(enqueued->id, sizeof enqueued->id, "%s", row->id);
        enqueued->existing = 1;
    }
    if (result != INSERT_DONE)
        return CAIRN_OK;
    if (row->is_ready)
        batch_note_ready(batch, row->type);
    else
        batch_note_due(batch, row->run_at_us);
    batch->tally.enqueued++;
    return batch_add_event(batch, row->id, EVENT_CREATED, NULL, reterr);
}

bool request_enqueues_children(const struct request *request)
{
    return request->op == OP_COMMIT && request->in.commit.job_count;
}

/* The next request with jobs to insert, from `at` on; NULL: none before a commit that enqueues,
 * whose jobs come first. */
static struct request *next_enqueue(struct request *at)
{
    for (; at && !request_enqueues_children(at); at = at->next)
        if (at->op == OP_ENQUEUE && !at->code)
            return at;
    return NULL;
}

cairn_code batch_enqueue(struct batch *batch, struct request *first, cairn_error *reterr)
{
    size_t count = 0, at = 0;
    for (struct request *one = first; one; one = next_enqueue(one->next))
        count += one->in.enqueue.count;
    struct job_row *rows = arena_array(&batch->arena, count, sizeof *rows);
    enum insert_result *results = arena_array(&batch->arena, count, sizeof *results);
    if (!rows || !results)
        return fail_memory(reterr);
    for (struct request *one = first; one; one = next_enqueue(one->next)) {
        if (!make_ids(batch, one))
            return fail_memory(reterr);
        for (size_t i = 0; i < one->in.enqueue.count; i++)
            rows[at++] = new_row(batch, &one->in.enqueue.specs[i], one->out.enqueued[i].id);
    }
    cairn_code code = batch->ops->insert_jobs(batch->tx, rows, count, results, reterr);
    at = 0;
    for (struct request *one = first; one; one = next_enqueue(one->next))
        for (size_t i = 0; i < one->in.enqueue.count && !code; i++, at++)
            code = note_inserted(batch, &rows[at], results[at], &one->out.enqueued[i], reterr);
    return code;
}

cairn_code batch_insert_children(struct batch *batch, const struct commit_job *jobs,
                                 size_t count, cairn_enqueued *ret_enqueued,
                                 cairn_error *reterr)
{
    struct job_row *rows = arena_array(&batch->arena, count, sizeof *rows);
    enum insert_result *results = arena_array(&batch->arena, count, sizeof *results);
    if (count == 0)
        return CAIRN_OK;
    if (!rows || !results)
        return fail_memory(reterr);
    batch->has_children = true;
    for (size_t i = 0; i < count; i++) {
        snprintf(ret_enqueued[i].id, sizeof ret_enqueued[i].id, "%s", jobs[i].id);
        rows[i] = new_row(batch, &jobs[i].spec, jobs[i].id);
    }
    cairn_code code = batch->ops->insert_jobs(batch->tx, rows, count, results, reterr);
    for (size_t i = 0; i < count && !code; i++)
        code = note_inserted(batch, &rows[i], results[i], &ret_enqueued[i], reterr);
    return code;
}
