/* engine/batch_key.c - starts and enqueues that say what to do if their key is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What becomes of them depends on the owner of the key, which an earlier request of the batch may have
 * changed: so each has its own turn.  The owners were locked with all other rows; one that was inserted since
 * then is locked now.  Everything is decided before anything is written.
 */
#include "core/existing.h"
#include "engine/workset.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- which requests, and which keys ---------------------------------------------------------- */

static bool minds_key(const char *on_existing)
{
    return on_existing_from(on_existing) > EXISTING_RETURN;
}

static bool spec_minds_key(const cairn_job_spec *spec)
{
    return spec->debounce_ms || minds_key(spec->on_existing);
}

bool request_minds_keys(const struct request *request)
{
    if (request->op == OP_START)
        return minds_key(request->in.start.on_existing);
    for (size_t i = 0; request->op == OP_ENQUEUE && i < request->in.enqueue.count; i++)
        if (spec_minds_key(&request->in.enqueue.specs[i]))
            return true;
    return false;
}

static struct key_row key_of_job(const cairn_job_spec *spec)
{
    return (struct key_row){.kind = "job", .workflow = "", .key = spec->key};
}

static struct key_row key_of_start(const cairn_start_options *in)
{
    return (struct key_row){.kind = "instance", .workflow = in->workflow, .key = in->key};
}

cairn_code batch_list_key_owners(struct batch *batch, const struct request *request,
                                 const char ***ret_ids, size_t *ret_count)
{
    const struct enqueue_input *in = &request->in.enqueue;
    size_t count = 0, room = request->op == OP_START ? 1 : in->count;
    struct key_row *keys = arena_array(&batch->arena, room, sizeof *keys);
    *ret_ids = arena_array(&batch->arena, room, sizeof **ret_ids);
    *ret_count = 0;
    NEED(keys && *ret_ids, batch->error);
    if (request->op == OP_START)
        keys[count++] = key_of_start(&request->in.start);
    for (size_t i = 0; request->op == OP_ENQUEUE && i < in->count; i++)
        if (in->specs[i].key)
            keys[count++] = key_of_job(&in->specs[i]);
    TRY(STORE(batch, find_keys, keys, count));
    for (size_t i = 0; i < count; i++)
        if (keys[i].id && !keys[i].ended_at_us)
            (*ret_ids)[(*ret_count)++] = keys[i].id;
    return CAIRN_OK;
}

cairn_code batch_key_taken(struct batch *batch, const char *key)
{
    return fail(batch->error, CAIRN_E_BUSY, "another transaction holds the key \"%.64s\"", key);
}

static void answer_existing(cairn_enqueued *enqueued, const char *id)
{
    snprintf(enqueued->id, sizeof enqueued->id, "%s", id);
    enqueued->existing = 1;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* A job that is asked for, and what becomes of it. */
struct keyed_job {
    const cairn_job_spec *spec;
    cairn_enqueued *enqueued;
    struct key_row key; /* id NULL: it is free, or there is none */
    struct workset_job *holder;
    enum existing_act act;
    size_t turn; /* how many jobs of the request before it have the same key */
};

static bool is_own(const struct keyed_job *job)
{
    return job->key.id && strcmp(job->key.id, job->enqueued->id) == 0;
}

/* The owners of the keys, locked. */
static cairn_code find_holders(struct batch *batch, struct keyed_job **jobs, size_t count)
{
    size_t found = 0;
    struct key_row *keys = arena_array(&batch->arena, count, sizeof *keys);
    const char **ids = arena_array(&batch->arena, count, sizeof *ids);
    NEED(keys && ids, batch->error);
    for (size_t i = 0; i < count; i++)
        keys[i] = key_of_job(jobs[i]->spec);
    TRY(STORE(batch, find_keys, keys, count));
    for (size_t i = 0; i < count; i++)
        if (keys[i].id && !keys[i].ended_at_us)
            ids[found++] = keys[i].id;
    TRY(workset_load_jobs(batch, ids, found));
    for (size_t i = 0; i < count; i++) {
        jobs[i]->key = keys[i];
        if (!keys[i].id || keys[i].ended_at_us)
            continue;
        TRY(workset_take_job(batch, keys[i].id, &jobs[i]->holder));
        const struct workset_job *holder = jobs[i]->holder;
        if (!holder || holder->is_busy || holder->is_completed)
            return batch_key_taken(batch, keys[i].key);
    }
    return CAIRN_OK;
}

/* Only a holder that is there is pending or has failed. */
static void decide(struct keyed_job *job)
{
    struct key_holder holder = {.is_there = job->key.id != NULL, .is_purged = !job->holder};
    if (job->holder)
        holder = key_holder_of_job(&job->holder->row);
    job->act = existing_decide(on_existing_from(job->spec->on_existing),
                               job->spec->debounce_ms != 0, &holder);
}

static cairn_code refuse_job(struct request *request, const char *id, const char *key)
{
    request->code = fail(&request->error, CAIRN_E_CONFLICT,
                         "cannot add a job with the key \"%.64s\": job \"%s\" has it", key, id);
    fail_hint(&request->error, request->code,
              "with on_existing return, which is the default, its id is the answer");
    return CAIRN_OK;
}

static cairn_code refuse_other_type(struct request *request, const cairn_job_spec *spec,
                                    const char *type)
{
    return REFUSE(request, CAIRN_E_CONFLICT,
                  "cannot debounce the job with the key \"%.64s\": its type is \"%.64s\", not "
                  "\"%.64s\"",
                  spec->key, type, spec->type);
}

/* Whether the request can be carried out as a whole. */
static cairn_code check_acts(struct request *request, struct keyed_job **jobs, size_t count)
{
    for (size_t i = 0; i < count && !request->code; i++) {
        const struct keyed_job *job = jobs[i];
        if (job->act == EXISTING_ACT_REFUSE && !is_own(job))
            TRY(refuse_job(request, job->key.id, job->spec->key));
        if (job->act != EXISTING_ACT_DEBOUNCE)
            continue;
        assert(job->holder);
        if (strcmp(job->holder->row.type, job->spec->type) != 0)
            TRY(refuse_other_type(request, job->spec, job->holder->row.type));
    }
    return CAIRN_OK;
}

/* What happens to the jobs that have the keys. */
static cairn_code act_on_holders(struct batch *batch, struct keyed_job **jobs, size_t count)
{
    size_t freed = 0, moved = 0;
    struct key_row *free_keys = arena_array(&batch->arena, count, sizeof *free_keys);
    struct job_row *payloads = arena_array(&batch->arena, count, sizeof *payloads);
    NEED(free_keys && payloads, batch->error);
    for (size_t i = 0; i < count; i++) {
        struct keyed_job *job = jobs[i];
        struct job_verdict verdict;
        struct job_input input = {.action = job->act == EXISTING_ACT_RESTART ? JOB_REVIVE
                                                                             : JOB_DEBOUNCE,
                                  .delay_us = job->spec->debounce_ms * US_PER_MS};
        bool is_changing =
            job->act == EXISTING_ACT_RESTART || job->act == EXISTING_ACT_DEBOUNCE;
        assert(job->holder || !is_changing);
        if (is_changing)
            TRY(batch_apply_job(batch, job->holder, &input, &verdict));
        if (job->act == EXISTING_ACT_DEBOUNCE) {
            payloads[moved] = job->holder->row;
            payloads[moved++].payload = job->spec->payload;
        }
        if (job->act == EXISTING_ACT_REPLACE && !is_own(job)) {
            if (job->holder)
                job->holder->row.key = NULL;
            free_keys[freed++] = job->key;
        }
    }
    if (freed)
        TRY(STORE(batch, free_keys, free_keys, freed));
    return moved ? STORE(batch, replace_payloads, payloads, moved) : CAIRN_OK;
}

static bool is_new(const struct keyed_job *job)
{
    return job->act == EXISTING_ACT_START || job->act == EXISTING_ACT_REPLACE;
}

/* An earlier try, whose end was unknown, may have inserted it. */
static cairn_code insert_new(struct batch *batch, struct keyed_job **jobs, size_t count)
{
    struct new_jobs added;
    TRY(new_jobs_make(batch, count, &added));
    for (size_t i = 0; i < count; i++) {
        if (is_own(jobs[i]))
            continue;
        if (is_new(jobs[i]))
            new_jobs_add(batch, &added, jobs[i]->spec, jobs[i]->enqueued);
        else
            answer_existing(jobs[i]->enqueued, jobs[i]->key.id);
    }
    if (added.count == 0)
        return CAIRN_OK;
    TRY(new_jobs_insert(batch, &added));
    for (size_t i = 0; i < added.count; i++)
        if (added.enqueued[i]->existing)
            return batch_key_taken(batch, added.rows[i].key);
    return CAIRN_OK;
}

/* Jobs with different keys. */
static cairn_code enqueue_turn(struct batch *batch, struct request *request,
                               struct keyed_job **jobs, size_t count)
{
    TRY(find_holders(batch, jobs, count));
    for (size_t i = 0; i < count; i++)
        decide(jobs[i]);
    TRY(check_acts(request, jobs, count));
    if (request->code)
        return CAIRN_OK;
    TRY(act_on_holders(batch, jobs, count));
    return insert_new(batch, jobs, count);
}

/* A key that comes twice is known the second time. */
static cairn_code count_turns(struct batch *batch, struct request *request,
                              struct keyed_job *jobs, size_t count, size_t *ret_turns)
{
    struct id_map last = {0}; /* by key: the latest job that has it */
    *ret_turns = 1;
    for (size_t i = 0; i < count && !request->code; i++) {
        const cairn_job_spec *spec = jobs[i].spec;
        struct keyed_job **before = spec->key ? id_map_find(&last, spec->key) : NULL;
        if (spec->key && !before) {
            before = arena_zalloc(&batch->arena, sizeof *before);
            NEED(before && id_map_add(&last, &batch->arena, spec->key, before), batch->error);
        } else if (before) {
            jobs[i].turn = (*before)->turn + 1;
            if (on_existing_from(spec->on_existing) == EXISTING_FAIL)
                TRY(refuse_job(request, (*before)->enqueued->id, spec->key));
            else if (spec->debounce_ms && strcmp((*before)->spec->type, spec->type) != 0)
                TRY(refuse_other_type(request, spec, (*before)->spec->type));
        }
        if (before)
            *before = &jobs[i];
        if (jobs[i].turn >= *ret_turns)
            *ret_turns = jobs[i].turn + 1;
    }
    return CAIRN_OK;
}

cairn_code batch_enqueue_minding(struct batch *batch, struct request *request)
{
    const struct enqueue_input *in = &request->in.enqueue;
    size_t turns;
    struct keyed_job *jobs = arena_array(&batch->arena, in->count, sizeof *jobs);
    struct keyed_job **of_turn = arena_array(&batch->arena, in->count, sizeof(void *));
    NEED(jobs && of_turn, batch->error);
    batch->are_jobs_ahead = false;
    TRY(batch_make_ids(batch, request, in->count));
    for (size_t i = 0; i < in->count; i++)
        jobs[i] =
            (struct keyed_job){.spec = &in->specs[i], .enqueued = &request->out.enqueued[i]};
    TRY(count_turns(batch, request, jobs, in->count, &turns));
    for (size_t turn = 0; turn < turns && !request->code; turn++) {
        size_t count = 0;
        for (size_t i = 0; i < in->count; i++)
            if (jobs[i].turn == turn)
                of_turn[count++] = &jobs[i];
        TRY(enqueue_turn(batch, request, of_turn, count));
    }
    return CAIRN_OK;
}

/* ---- instances ------------------------------------------------------------------------------- */

static cairn_code take_holder(struct batch *batch, const struct key_row *key,
                              struct workset_instance **ret_holder)
{
    *ret_holder = NULL;
    if (!key->id || key->ended_at_us)
        return CAIRN_OK;
    TRY(workset_load(batch, (const char *const *)&key->id, 1));
    TRY(workset_take(batch, key->id, ret_holder));
    return *ret_holder && !(*ret_holder)->is_busy ? CAIRN_OK : batch_key_taken(batch, key->key);
}

static cairn_code restart_holder(struct batch *batch, struct request *request,
                                 struct workset_instance *holder)
{
    cairn_code verdict = CAIRN_OK;
    TRY(batch_restart(batch, request, holder, &verdict));
    return verdict ? fail(batch->error, CAIRN_E_INTERNAL, "a failed instance was not restarted")
                   : CAIRN_OK;
}

static cairn_code refuse_start(struct request *request, const struct key_row *key)
{
    request->code =
        fail(&request->error, CAIRN_E_CONFLICT,
             "cannot start workflow \"%.64s\" with the key \"%.64s\": instance \"%s\" has it",
             key->workflow, key->key, key->id);
    fail_hint(&request->error, request->code,
              "with on_existing return, which is the default, its id is the answer");
    return CAIRN_OK;
}

cairn_code batch_mind_start(struct batch *batch, struct request *request, const char *workflow,
                            bool *ret_is_free)
{
    const cairn_start_options *in = &request->in.start;
    cairn_enqueued *started = request->out.enqueued;
    struct key_row key = {.kind = "instance", .workflow = workflow, .key = in->key};
    struct workset_instance *instance;
    TRY(STORE(batch, find_keys, &key, 1));
    if (key.id && strcmp(key.id, started->id) == 0)
        return CAIRN_OK; /* an earlier try, whose end was unknown, has started it */
    TRY(take_holder(batch, &key, &instance));
    struct key_holder holder = {.is_there = key.id != NULL, .is_purged = !instance};
    if (instance)
        holder = key_holder_of_instance(&instance->row);
    enum existing_act act = existing_decide(on_existing_from(in->on_existing), false, &holder);
    *ret_is_free = act == EXISTING_ACT_START || act == EXISTING_ACT_REPLACE;
    if (act == EXISTING_ACT_REFUSE)
        return refuse_start(request, &key);
    if (act == EXISTING_ACT_RESTART)
        TRY(restart_holder(batch, request, instance));
    if (act == EXISTING_ACT_REPLACE) {
        TRY(STORE(batch, free_keys, &key, 1));
        if (instance)
            instance->row.key = NULL;
    }
    if (!*ret_is_free)
        answer_existing(started, key.id);
    return CAIRN_OK;
}
