/* engine/batch_load.c - which instances and steps a batch names: read and locked before it begins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/workset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool is_step_id(const char *task_id)
{
    return strchr(task_id, '.') != NULL;
}

static bool names_one_instance(const struct request *request)
{
    if (request->op == OP_DLQ_REQUEUE)
        return request->instance_id[0];
    return request->op == OP_SIGNAL || request->op == OP_DECIDE ||
           request_is_control(request->op);
}

/* ---- which instances ------------------------------------------------------------------------ */

static size_t named_instances(const struct request *request)
{
    if (request->code)
        return 0;
    if (request->op == OP_REPORT)
        return request->is_reported ? 0 : request->in.report.count;
    if (request->op == OP_COMMIT)
        return !request->is_reported;
    return names_one_instance(request) ? 1 : 0;
}

static bool names_tasks(enum request_op op)
{
    return op == OP_REPORT || op == OP_COMMIT;
}

static const char *named_task(const struct request *request, size_t index)
{
    return request->op == OP_COMMIT ? request->in.commit.task_id
                                    : request->in.report.reports[index].task_id;
}

static const char *the_instance(const struct request *request)
{
    switch (request->op) {
    case OP_SIGNAL:
        return request->in.signal.instance_id;
    case OP_DECIDE:
        return request->in.decide.id;
    case OP_DLQ_REQUEUE:
        return request->instance_id;
    default:
        return request->in.control.id;
    }
}

/* The index-th instance that a request names; NULL: that one is no instance's. */
static const char *named_instance(struct batch *batch, const struct request *request,
                                  size_t index, int32_t *ret_seq, bool *ret_is_lost)
{
    char id[ID_TEXT];
    const char *given;
    *ret_seq = -1;
    *ret_is_lost = false;
    if (names_tasks(request->op)) {
        if (!step_id_split(named_task(request, index), id, ret_seq))
            return NULL;
        given = arena_strdup(&batch->arena, id);
        *ret_is_lost = !given;
        return given;
    }
    given = the_instance(request);
    return id_is_valid(given) ? given : NULL;
}

/* How many places of one instance may be read ahead for a request. */
static size_t named_places(const struct request *request)
{
    return request->op == OP_COMMIT ? 1 + request->in.commit.step_count : 2;
}

/* Of a report: the step, and the place after it, where a list goes on.  Of a commit: the function
 * itself, and those of its steps that are remembered already. */
static size_t add_places(const struct batch *batch, const struct request *request,
                         const char *id, int32_t seq, struct step_ref *refs)
{
    const struct workset_instance *instance = workset_find(batch, id);
    size_t count = 0;
    if (!instance || instance->is_busy || seq < 0)
        return 0;
    refs[count++] = (struct step_ref){id, seq};
    if (request->op != OP_COMMIT)
        refs[count++] = (struct step_ref){id, seq + 1};
    for (size_t i = 0; request->op == OP_COMMIT && i < request->in.commit.step_count; i++) {
        int32_t place = request->in.commit.steps[i].seq;
        if (place > 0 && place < instance->row.places)
            refs[count++] = (struct step_ref){id, place};
    }
    return count;
}

/* What a request names, in the order of the batch. */
struct named {
    const struct request *request;
    const char *id;
    int32_t seq; /* -1: the instance alone */
};

static bool is_step_heartbeat(const struct request *request)
{
    return !request->code && request->op == OP_HEARTBEAT &&
           is_step_id(request->in.heartbeat.task_id);
}

/* The places of heartbeats, whose instances need not be locked. */
static cairn_code add_beating(struct batch *batch, struct step_ref *refs, size_t *count,
                              cairn_error *reterr)
{
    for_each_request (request, batch) {
        char id[ID_TEXT];
        struct step_ref *ref = &refs[*count];
        if (!is_step_heartbeat(request) ||
            !step_id_split(request->in.heartbeat.task_id, id, &ref->seq))
            continue;
        ref->instance_id = arena_strdup(&batch->arena, id);
        if (!ref->instance_id || !workset_add_bare(batch, ref->instance_id))
            return fail_memory(reterr);
        (*count)++;
    }
    return CAIRN_OK;
}

static cairn_code prefetch(struct batch *batch, const struct named *named, size_t count,
                           size_t heartbeats, cairn_error *reterr)
{
    size_t room = heartbeats, ref_count = 0;
    for (size_t i = 0; i < count; i++)
        room += named_places(named[i].request);
    struct step_ref *refs = arena_array(&batch->arena, room, sizeof *refs);
    if (!refs)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        ref_count +=
            add_places(batch, named[i].request, named[i].id, named[i].seq, refs + ref_count);
    cairn_code code = add_beating(batch, refs, &ref_count, reterr);
    return code ? code : workset_prefetch(batch, refs, ref_count, reterr);
}

/* Who is meant by a requeue stands in the record. */
static cairn_code name_records(struct batch *batch, cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    for_each_request (request, batch) {
        if (!code && request->op == OP_DLQ_REQUEUE)
            code = batch_find_record_instance(batch, request, reterr);
    }
    return code;
}

static cairn_code gather(struct batch *batch, struct named *named, const char **ids,
                         size_t *ret_count, cairn_error *reterr)
{
    *ret_count = 0;
    for_each_request (request, batch) {
        for (size_t i = 0; i < named_instances(request); i++) {
            bool is_lost;
            struct named *one = &named[*ret_count];
            one->request = request;
            one->id = named_instance(batch, request, i, &one->seq, &is_lost);
            if (is_lost)
                return fail_memory(reterr);
            if (one->id)
                ids[(*ret_count)++] = one->id;
        }
    }
    return CAIRN_OK;
}

/* Instances are locked by one question, and their steps are read ahead by another, together with
 * those whose leases are to be extended. */
cairn_code batch_load_instances(struct batch *batch, cairn_error *reterr)
{
    size_t room = 0, heartbeats = 0, count;
    cairn_code code = name_records(batch, reterr);
    if (code)
        return code;
    for_each_request (request, batch) {
        room += named_instances(request);
        heartbeats += is_step_heartbeat(request);
    }
    if (room + heartbeats == 0)
        return CAIRN_OK;
    const char **ids = arena_array(&batch->arena, room, sizeof *ids);
    struct named *named = arena_array(&batch->arena, room, sizeof *named);
    if (!ids || !named)
        return fail_memory(reterr);
    code = gather(batch, named, ids, &count, reterr);
    if (!code && count)
        code = workset_load(batch, ids, count, reterr);
    if (!code && count + heartbeats)
        code = prefetch(batch, named, count, heartbeats, reterr);
    return code;
}

bool request_names_busy_instance(const struct batch *batch, const struct request *request)
{
    char id[ID_TEXT];
    int32_t seq;
    for (size_t i = 0; i < named_instances(request); i++) {
        const char *name = id;
        if (!names_tasks(request->op))
            name = the_instance(request);
        else if (!step_id_split(named_task(request, i), id, &seq))
            continue;
        const struct workset_instance *instance = workset_find(batch, name);
        if (instance && instance->is_busy)
            return true;
    }
    return false;
}
