/* engine/batch_load.c - the rows that the requests of a batch name: read and locked before it begins.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Jobs are locked by one question and instances by another; steps are read ahead by a third.
 */
#include "base/sort.h"
#include "engine/workset.h"

#include <string.h>

/* ---- names ---------------------------------------------------------------------------------- */

static cairn_code add_name(struct batch *batch, const struct row_name *name)
{
    struct row_name *added = list_add(&batch->arena, &batch->names);
    NEED(added, batch->error);
    *added = *name;
    return CAIRN_OK;
}

/* What does not look like an id names nothing; it never reaches the store. */
static cairn_code name_row(struct batch *batch, struct request *request, const char *id,
                           bool is_job)
{
    struct row_name name = {.request = request, .id = id, .seq = -1, .is_job = is_job};
    return id_is_valid(id) ? add_name(batch, &name) : CAIRN_OK;
}

static bool is_heartbeat(const struct request *request)
{
    return request->op == OP_HEARTBEAT || request->op == OP_HEARTBEATS;
}

/* A heartbeat changes nothing but the step, whose instance need not be locked. */
static cairn_code name_task(struct batch *batch, struct request *request, const char *task_id)
{
    char id[ID_TEXT];
    struct row_name name = {.request = request, .is_bare = is_heartbeat(request)};
    if (!is_step_id(task_id))
        return request->op == OP_COMMIT ? CAIRN_OK : name_row(batch, request, task_id, true);
    if (!step_id_split(task_id, id, &name.seq))
        return CAIRN_OK;
    name.id = arena_strdup(&batch->arena, id);
    if (!name.id || (name.is_bare && !workset_add_bare(batch, name.id)))
        return fail_memory(batch->error);
    return add_name(batch, &name);
}

static cairn_code name_reported(struct batch *batch, struct request *request)
{
    const struct report_input *in = &request->in.report;
    for (size_t i = 0; i < in->count; i++) {
        size_t before = batch->names.count;
        TRY(name_task(batch, request, in->reports[i].task_id));
        if (batch->names.count > before)
            batch->names.items[before].report = &in->reports[i];
    }
    return CAIRN_OK;
}

static cairn_code name_beaten(struct batch *batch, struct request *request)
{
    const struct heartbeats_input *in = &request->in.heartbeats;
    for (size_t i = 0; i < in->count; i++)
        TRY(name_task(batch, request, in->beats[i].task_id));
    return CAIRN_OK;
}

static cairn_code name_key_owners(struct batch *batch, struct request *request)
{
    const char **ids;
    size_t count;
    if (!request_minds_keys(request))
        return CAIRN_OK;
    TRY(batch_list_key_owners(batch, request, &ids, &count));
    for (size_t i = 0; i < count; i++)
        TRY(name_row(batch, request, ids[i], request->op == OP_ENQUEUE));
    return CAIRN_OK;
}

static cairn_code name_rows_of(struct batch *batch, struct request *request)
{
    switch (request->op) {
    case OP_REPORT:
        return name_reported(batch, request);
    case OP_COMMIT:
        return name_task(batch, request, request->in.commit.task_id);
    case OP_HEARTBEAT:
        return name_task(batch, request, request->in.heartbeat.task_id);
    case OP_HEARTBEATS:
        return name_beaten(batch, request);
    case OP_JOB_CANCEL:
    case OP_JOB_DELETE:
    case OP_JOB_RETRY:
        return name_row(batch, request, request->in.id, true);
    case OP_ENQUEUE:
        return name_key_owners(batch, request);
    case OP_START:
        TRY(name_key_owners(batch, request));
        return request->in.start.tell_instance
                   ? name_row(batch, request, request->in.start.tell_instance, false)
                   : CAIRN_OK;
    case OP_DLQ_REQUEUE:
        TRY(batch_find_record_instance(batch, request));
        return name_row(batch, request, request->instance_id, false);
    default:
        return request_is_about_instance(request->op)
                   ? name_row(batch, request, request_instance_id(request), false)
                   : CAIRN_OK;
    }
}

/* ---- jobs that succeed --------------------------------------------------------------------------
 *
 * Nearly all reports about jobs tell of a success, by the holder of the lease.  Such a job need not be
 * read: one statement looks whether it is so, and writes it.  What the statement passes over is read and
 * decided about like anything else.  A job that several requests name is left to them, in their order.
 */

/* A report that claims for a runtime may yet be refused as a whole. */
static bool is_success(const struct row_name *name)
{
    const struct request *request = name->request;
    return name->is_job && name->report && name->report->outcome == CAIRN_COMPLETE &&
           !name->report->outbound_count &&
           !(request_is_claiming(request) && request_claim(request)->runtime);
}

static int compare_names(const void *a, const void *b)
{
    const struct row_name *one = *(const struct row_name *const *)a;
    const struct row_name *other = *(const struct row_name *const *)b;
    return strcmp(one->id, other->id);
}

static bool is_same_row(const struct row_name *one, const struct row_name *other)
{
    return strcmp(one->id, other->id) == 0;
}

static cairn_code complete_jobs(struct batch *batch)
{
    size_t count = 0, named = 0;
    const struct row_name **names =
        arena_room(&batch->arena, batch->names.count, sizeof *names);
    NEED(names, batch->error);
    for (size_t i = 0; i < batch->names.count; i++)
        if (batch->names.items[i].is_job)
            names[named++] = &batch->names.items[i];
    if (named == 0)
        return CAIRN_OK;
    struct job_row *rows = arena_room(&batch->arena, named, sizeof *rows);
    NEED(rows, batch->error);
    sort_items(names, named, sizeof *names, compare_names);
    for (size_t i = 0; i < named; i++) {
        bool is_shared = (i > 0 && is_same_row(names[i], names[i - 1])) ||
                         (i + 1 < named && is_same_row(names[i], names[i + 1]));
        if (is_shared || !is_success(names[i]) || workset_find_job(batch, names[i]->id))
            continue;
        struct job_input input = report_to_input(names[i]->request, names[i]->report);
        rows[count] = (struct job_row){.id = names[i]->id};
        job_complete(&rows[count++], &input, batch->tx->now_us);
    }
    batch->are_all_completed = count && count == batch->names.count && !batch_has_events(batch);
    if (batch->are_all_completed)
        TRY(batch_plan_new_jobs(batch, count));
    if (batch->are_all_completed && !batch->new_jobs)
        TRY(batch_plan_ahead(batch, NULL, count));
    return count ? workset_complete_jobs(batch, rows, count) : CAIRN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

struct ref_list {
    struct step_ref *items;
    size_t count, room;
};

/* The ids of jobs, or of instances that are to be read and locked. */
static size_t gather_ids(const struct batch *batch, bool is_job, const char **ids)
{
    size_t count = 0;
    for (size_t i = 0; i < batch->names.count; i++) {
        const struct row_name *name = &batch->names.items[i];
        if (name->is_job == is_job && !name->is_bare && !name->run)
            ids[count++] = name->id;
    }
    return count;
}

/* How many places may be read ahead for a name. */
static size_t place_room(const struct row_name *name)
{
    const struct request *request = name->request;
    return request->op == OP_COMMIT ? 1 + request->in.commit.step_count : 2;
}

/* Of a report: the step, and the place after it, where a list goes on.  Of a commit: the function
 * itself, and those of its steps that are remembered already. */
static size_t add_places(const struct batch *batch, const struct row_name *name,
                         struct step_ref *refs)
{
    const struct workset_instance *instance = workset_find(batch, name->id);
    const struct commit_input *commit = &name->request->in.commit;
    size_t count = 0;
    if (name->is_job || name->seq < 0)
        return 0;
    if (!name->is_bare && (!instance || instance->is_busy))
        return 0;
    refs[count++] = (struct step_ref){name->id, name->seq};
    if (name->request->op == OP_REPORT && !batch->are_places_asked)
        refs[count++] = (struct step_ref){name->id, name->seq + 1};
    for (size_t i = 0; name->request->op == OP_COMMIT && i < commit->step_count; i++) {
        int32_t place = commit->steps[i].seq;
        if (place > 0 && place < instance->row.places)
            refs[count++] = (struct step_ref){name->id, place};
    }
    return count;
}

static cairn_code prefetch(struct batch *batch)
{
    size_t room = 0, count = 0;
    for (size_t i = 0; i < batch->names.count; i++)
        room += place_room(&batch->names.items[i]);
    struct step_ref *refs = arena_room(&batch->arena, room, sizeof *refs);
    NEED(refs, batch->error);
    for (size_t i = 0; i < batch->names.count; i++)
        count += add_places(batch, &batch->names.items[i], refs + count);
    return count ? workset_prefetch(batch, refs, count) : CAIRN_OK;
}

/* ---- what expressions read ------------------------------------------------------------------ */

/* The places whose outputs the expressions of a step name, if it is in hand. */
static cairn_code add_reads(struct batch *batch, const char *id, int32_t seq, bool is_output,
                            struct ref_list *refs)
{
    struct workset_instance *instance = workset_find(batch, id);
    struct flow_step *step = workset_find_step(batch, id, seq);
    /* Nearly all steps have none, which their text says faster than it is read. */
    if (!instance || !step || !step->row.config || !strstr(step->row.config, "reads\""))
        return CAIRN_OK;
    TRY(workset_source.config(&instance->flow, step));
    const struct place_list *places =
        is_output ? &step->config->output_reads : &step->config->reads;
    for (size_t i = 0; i < places->count; i++) {
        struct step_ref *ref = list_add(&batch->arena, refs);
        NEED(ref, batch->error);
        *ref = (struct step_ref){id, places->items[i]};
    }
    return CAIRN_OK;
}

/* Of reports: what the step's own output and the input of the step after it are made of; one question
 * for the whole batch. */
static cairn_code prefetch_reads(struct batch *batch)
{
    struct ref_list refs = {0};
    for (size_t i = 0; i < batch->names.count; i++) {
        const struct row_name *name = &batch->names.items[i];
        if (!name->report || name->is_job || name->report->outcome != CAIRN_COMPLETE)
            continue;
        TRY(add_reads(batch, name->id, name->seq, true, &refs));
        TRY(add_reads(batch, name->id, name->seq + 1, false, &refs));
    }
    return refs.count ? workset_prefetch(batch, refs.items, refs.count) : CAIRN_OK;
}

static bool is_busy(const struct batch *batch, const struct row_name *name)
{
    if (name->is_job) {
        const struct workset_job *job = workset_find_job(batch, name->id);
        return job && job->is_busy;
    }
    const struct workset_instance *instance = workset_find(batch, name->id);
    return !name->is_bare && instance && instance->is_busy;
}

/* Of a request that leaves the batch some jobs may be completed already.  That stays, with its event; the
 * next try finds that the report was made. */
static cairn_code tell_completed(struct batch *batch, const struct row_name *name)
{
    struct workset_job *job = name->is_job ? workset_find_job(batch, name->id) : NULL;
    struct job_verdict verdict;
    if (!job || !job->is_completed)
        return CAIRN_OK;
    struct job_input input = report_to_input(name->request, name->report);
    return batch_apply_job(batch, job, &input, &verdict);
}

/* A request that names a row which another transaction holds leaves the batch; it is tried alone. */
static cairn_code put_busy_aside(struct batch *batch, struct request_queue *busy)
{
    struct request_queue rest = {0};
    struct request *request;
    cairn_code code = CAIRN_OK;
    size_t at = 0; /* names are in the order of the requests */
    while ((request = queue_pop(batch->requests)) != NULL) {
        bool is_aside = false;
        size_t first = at;
        for (; at < batch->names.count && batch->names.items[at].request == request; at++)
            is_aside |= !request->code && is_busy(batch, &batch->names.items[at]);
        for (size_t i = first; i < at && is_aside && !code; i++)
            code = tell_completed(batch, &batch->names.items[i]);
        queue_push(is_aside ? busy : &rest, request);
    }
    *batch->requests = rest;
    return code;
}

/* An id that is not found may be one that plain SQL has just written. */
static bool is_any_absent(const struct batch *batch)
{
    for (size_t i = 0; i < batch->names.count; i++)
        if (!batch->names.items[i].is_job && !batch->names.items[i].is_bare &&
            !workset_find(batch, batch->names.items[i].id))
            return true;
    return false;
}

/* ---- runs whose rows are known ------------------------------------------------------------------ */

/* While this passes, a commit comes to an end. */
#define PLAIN_FOR_US US_PER_SEC

/* Its lease will not end in a moment.  A heartbeat may have made it longer, which does not matter then. */
static bool is_plain(const struct batch *batch, const struct row_name *name)
{
    const struct step_row *runner = &name->run->runner;
    return runner->status == STEP_RUNNING &&
           runner->locked_until_us >= instant_add(batch->tx->now_us, PLAIN_FOR_US);
}

/* A run that goes on is not locked itself: core changes nothing of its row, nor will have to in a moment. */
static bool goes_on_plainly(const struct batch *batch, const struct row_name *name)
{
    const struct commit_input *in = &name->request->in.commit;
    const struct step_row *runner = &name->run->runner;
    int64_t now_us = batch->tx->now_us, soon_us = instant_add(now_us, PLAIN_FOR_US);
    int64_t extend_us = in->extend_ms * US_PER_MS;
    return in->outcome == PASSAGE_GO_ON && is_plain(batch, name) && !runner->attempts &&
           !runner->error && lease_is_fresh(runner, extend_us, now_us) &&
           lease_is_fresh(runner, extend_us, soon_us);
}

/* The row of a run that ends is locked and not read. */
static bool ends_plainly(const struct batch *batch, const struct row_name *name)
{
    return name->request->in.commit.outcome != PASSAGE_GO_ON && is_plain(batch, name) &&
           !name->run->runner.is_counted;
}

/* Of the lease that the commit names, and of the revision that it has read. */
static bool is_meant(const struct kept_run *run, const struct commit_input *in)
{
    return run->instance.revision == in->revision && text_is(run->runner.token, in->token) &&
           text_is(run->runner.locked_by, in->worker) && !run->runner.stop;
}

static cairn_code mark_shared(struct batch *batch)
{
    struct id_map seen = {0};
    for (size_t i = 0; i < batch->names.count; i++) {
        struct row_name *name = &batch->names.items[i];
        struct row_name *other = name->is_job ? NULL : id_map_find(&seen, name->id);
        if (other)
            name->is_shared = other->is_shared = true;
        else if (!name->is_job)
            NEED(id_map_add(&seen, &batch->arena, name->id, name), batch->error);
    }
    return CAIRN_OK;
}

/* ret_known: where the names stand in `known`, which is an array for all of them. */
static cairn_code find_runs(struct batch *batch, struct known_instance *known,
                            size_t *ret_count)
{
    *ret_count = 0;
    TRY(mark_shared(batch));
    for (size_t i = 0; i < batch->names.count; i++) {
        struct row_name *name = &batch->names.items[i];
        if (name->request->op != OP_COMMIT || name->is_shared || name->request->was_unsure ||
            workset_find(batch, name->id))
            continue;
        struct kept_run *run = known_run_take(&batch->engine->known_leases, name->id);
        if (!run)
            continue;
        struct kept_run **added = list_add(&batch->arena, &batch->runs);
        if (!added) {
            kept_run_free(run);
            return fail_memory(batch->error);
        }
        *added = run;
        if (!is_meant(run, &name->request->in.commit))
            continue;
        name->run = run;
        known[(*ret_count)++] = (struct known_instance){
            .id = name->id, .version = run->version, .with_runner = ends_plainly(batch, name)};
    }
    return CAIRN_OK;
}

/* Those that are locked, and are still what they were, are in hand; others are read like any. */
static cairn_code add_runs(struct batch *batch, const struct known_instance *known,
                           const char **ids)
{
    size_t at = 0, count = 0;
    for (size_t i = 0; i < batch->names.count; i++) {
        struct row_name *name = &batch->names.items[i];
        if (!name->run)
            continue;
        const struct known_instance *held = &known[at++];
        if (!held->is_held) {
            ids[count++] = name->id;
            continue;
        }
        TRY(workset_add(batch, &name->run->instance));
        if (held->is_runner_held || goes_on_plainly(batch, name))
            NEED(workset_keep(workset_find(batch, name->id), &name->run->runner), batch->error);
    }
    return count ? workset_load(batch, ids, count) : CAIRN_OK;
}

/* ---- runs that need no lock ---------------------------------------------------------------------- */

/* One more step is remembered, nothing else is asked of the store, and advance_instances() writes all that changes. */
static bool remembers_one(const struct row_name *name)
{
    const struct instance_row *row = &name->run->instance;
    const struct commit_input *in = &name->request->in.commit;
    const struct commit_step *step = in->steps;
    return in->step_count == 1 && step->seq == row->places &&
           step_status_from(step->status) == STEP_COMPLETED &&
           step_kind_from(step->kind) != KIND_WAIT && !in->job_count && !in->start_count &&
           !in->is_claiming && !row->last_error &&
           (row->has_compensation || !step->compensation);
}

/* The commit is sent with all that it writes, before anything was answered.  Time is a guess then, which is not to be earlier
 * than what is known. */
static bool may_go_unlocked(const struct batch *batch)
{
    const struct store_tx *tx = batch->tx;
    struct committer *committer = batch->committer;
    if (!batch->may_ahead || !batch->ops->advance_instances || tx->own_event != EVENT_OPEN ||
        tx->is_own_used || batch->names.count != batch->requests->count)
        return false;
    for (size_t i = 0; i < batch->names.count; i++) {
        const struct row_name *name = &batch->names.items[i];
        if (!name->run || !goes_on_plainly(batch, name) || !remembers_one(name) ||
            name->run->instance.updated_at_us > tx->now_us)
            return false;
    }
    if (committer->locked_batches == 0)
        return true;
    committer->locked_batches--;
    return false;
}

static cairn_code add_unlocked(struct batch *batch)
{
    batch->is_unlocked = true;
    for (size_t i = 0; i < batch->names.count; i++) {
        const struct kept_run *run = batch->names.items[i].run;
        TRY(workset_add(batch, &run->instance));
        struct workset_instance *instance = workset_find(batch, run->instance.id);
        instance->known = run;
        NEED(workset_keep(instance, &run->runner), batch->error);
    }
    return CAIRN_OK;
}

/* ---- instances and their steps ------------------------------------------------------------------ */

/* Of reports about steps the places are known, too, so that one round trip brings all. */
static cairn_code load_instances(struct batch *batch, const char **ids)
{
    struct step_ref *refs = arena_room(&batch->arena, 2 * batch->names.count, sizeof *refs);
    struct flow_lock lock = {
        .known = arena_room(&batch->arena, batch->names.count, sizeof *lock.known)};
    NEED(refs && lock.known, batch->error);
    bool has_flow = !batch->is_alone && batch->ops->lock_flow;
    if (has_flow)
        TRY(find_runs(batch, lock.known, &lock.known_count));
    if (may_go_unlocked(batch))
        return add_unlocked(batch);
    size_t count = gather_ids(batch, false, ids);
    for (size_t i = 0; i < batch->names.count; i++) {
        const struct row_name *name = &batch->names.items[i];
        if (name->is_job || name->is_bare || name->seq < 0 || workset_find(batch, name->id) ||
            (name->run && (goes_on_plainly(batch, name) || ends_plainly(batch, name))))
            continue;
        refs[lock.ref_count++] = (struct step_ref){name->id, name->seq};
        if (name->request->op == OP_REPORT)
            refs[lock.ref_count++] = (struct step_ref){name->id, name->seq + 1};
    }
    if (!has_flow || !(lock.ref_count + lock.known_count))
        return workset_load(batch, ids, count);
    batch->are_places_asked = true;
    TRY(workset_load_flow(batch, ids, count, &lock, refs));
    TRY(add_runs(batch, lock.known, ids));
    return workset_keep_flow(batch, &lock);
}

cairn_code batch_load(struct batch *batch, struct request_queue *ret_busy)
{
    for_each_request (request, batch)
        if (!request->code && !request->is_reported && !request->hold.is_held)
            TRY(name_rows_of(batch, request));
    if (batch->names.count == 0)
        return CAIRN_OK;
    const char **ids = arena_room(&batch->arena, batch->names.count, sizeof *ids);
    NEED(ids, batch->error);
    TRY(complete_jobs(batch));
    TRY(workset_load_jobs(batch, ids, gather_ids(batch, true, ids)));
    TRY(load_instances(batch, ids));
    if (is_any_absent(batch))
        TRY(batch_take_intake(batch));
    TRY(prefetch(batch));
    TRY(prefetch_reads(batch));
    return put_busy_aside(batch, ret_busy);
}
