/* engine/batch_start.c - deploying workflows, and starting their instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An instance is started in memory first: its plan is laid out and the first step made ready.  Then
 * the rows are inserted as they have become, unless its key turns out to be known.
 */
#include "definition/definition.h"
#include "engine/workset.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- deploying ------------------------------------------------------------------------------ */

enum { FLAWS_MAX = 16 };

static cairn_code read_deployed(struct request *request, struct definition *ret_definition,
                                cairn_error *reterr)
{
    const struct deploy_input *in = &request->in.deploy;
    cairn_flaw flaws[FLAWS_MAX];
    size_t count = 0;
    cairn_code code =
        definition_read(&request->arena, in->file ? in->file : "workflow", in->text, in->len,
                        ret_definition, flaws, FLAWS_MAX, &count, reterr);
    if (code && reterr && count > 1) {
        size_t used = 0;
        for (size_t i = 1; i < count && used < sizeof reterr->detail; i++)
            used += (size_t)snprintf(reterr->detail + used, sizeof reterr->detail - used,
                                     "%s%d:%d: %s", i > 1 ? "; " : "", flaws[i].line,
                                     flaws[i].column, flaws[i].message);
    }
    return code;
}

cairn_code batch_deploy(struct batch *batch, struct request *request)
{
    struct definition definition;
    enum put_result result;
    batch->are_starts_ahead = false;
    request->code = read_deployed(request, &definition, &request->error);
    if (!request->code && request->in.deploy.is_function_only && !definition.is_function)
        request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                             "cannot deploy workflow \"%.64s\": only a function was expected",
                             definition.name);
    if (request->code)
        return CAIRN_OK; /* it fails alone */

    struct definition_row row = {.name = definition.name,
                                 .version = definition.version,
                                 .hash = definition.hash,
                                 .content = definition.content,
                                 .created_at_us = batch->tx->now_us};
    TRY(STORE(batch, put_definition, &row, &result));
    if (result == PUT_OTHER) {
        request->code =
            fail(&request->error, CAIRN_E_CONFLICT,
                 "cannot deploy workflow \"%.64s\" version %d: it is already deployed with "
                 "different content",
                 definition.name, (int)definition.version);
        fail_hint(&request->error, request->code, "raise the version to %d",
                  (int)definition.version + 1);
        return CAIRN_OK;
    }
    cairn_workflow *item = arena_zalloc(&request->arena, sizeof *item);
    char *hash = arena_strdup(&request->arena, definition.hash);
    NEED(item && hash, batch->error);
    *item = (cairn_workflow){.name = definition.name,
                             .version = definition.version,
                             .hash = hash,
                             .content = definition.content,
                             .created_at_us = batch->tx->now_us};
    request->out.page = (struct page_output){.items = item, .count = 1};
    request->out.is_existing = result == PUT_SAME && !request->was_unsure;
    return CAIRN_OK;
}

/* ---- plans ---------------------------------------------------------------------------------- */

/* A workflow that this batch has read. */
struct plan {
    const struct definition *definition;
    const char *name;
    int32_t version; /* as asked for: 0 is the highest */
    struct plan *next;
};

static cairn_code no_such_workflow(struct request *request, const cairn_start_options *in)
{
    if (in->version)
        fail(&request->error, CAIRN_E_NOT_FOUND, "workflow \"%.64s\" version %d does not exist",
             in->workflow, (int)in->version);
    else
        fail(&request->error, CAIRN_E_NOT_FOUND, "workflow \"%.64s\" does not exist",
             in->workflow);
    return request->code = fail_hint(&request->error, CAIRN_E_NOT_FOUND,
                                     "deploy it with: cairn deploy FILE");
}

static cairn_code read_plan(struct batch *batch, const struct definition_row *row,
                            const struct definition **ret_definition, cairn_error *reterr)
{
    struct plans *plans = &batch->committer->plans;
    size_t count;
    *ret_definition = plans_find(plans, row->name, row->version, row->hash);
    if (*ret_definition)
        return CAIRN_OK;
    struct definition *definition = arena_zalloc(&batch->arena, sizeof *definition);
    NEED(definition, reterr);
    TRY(definition_read(&batch->arena, row->name, row->content, strlen(row->content),
                        definition, NULL, 0, &count, reterr));
    plans_keep(plans, definition, row->hash);
    *ret_definition = definition;
    return CAIRN_OK;
}

/* NULL: there is no such workflow, or this version of the library cannot read it; the request is
 * refused. */
static cairn_code find_plan(struct batch *batch, struct plan **plans, struct request *request,
                            const cairn_start_options *in,
                            const struct definition **ret_definition)
{
    *ret_definition = NULL;
    for (const struct plan *plan = *plans; plan; plan = plan->next) {
        if (plan->version != in->version || strcmp(plan->name, in->workflow) != 0)
            continue;
        *ret_definition = plan->definition;
        return CAIRN_OK;
    }
    struct definition_row row;
    cairn_code code = STORE(batch, get_definition, in->workflow, in->version, &row);
    if (code == CAIRN_E_NOT_FOUND) {
        no_such_workflow(request, in);
        return CAIRN_OK;
    }
    struct plan *plan = code ? NULL : arena_zalloc(&batch->arena, sizeof *plan);
    if (!plan)
        return code ? code : fail_memory(batch->error);
    code = read_plan(batch, &row, ret_definition, &request->error);
    if (code == CAIRN_E_OUT_OF_MEMORY)
        return fail_memory(batch->error);
    if (code) {
        *ret_definition = NULL;
        request->code = code;
        return CAIRN_OK;
    }
    *plan = (struct plan){.definition = *ret_definition,
                          .name = in->workflow,
                          .version = in->version,
                          .next = *plans};
    *plans = plan;
    return CAIRN_OK;
}

/* ---- starting ------------------------------------------------------------------------------- */

/* Instances that are about to be inserted by one statement. */
struct starting {
    struct workset_instance **instances;
    cairn_enqueued **started; /* an entry for each: its id, and what becomes of it */
    bool *was_unsure;         /* an earlier try may have inserted it */
    size_t count;
};

static cairn_code make_starting(struct batch *batch, size_t room, struct starting *ret)
{
    *ret = (struct starting){
        .instances = arena_array(&batch->arena, room, sizeof *ret->instances),
        .started = arena_array(&batch->arena, room, sizeof *ret->started),
        .was_unsure = arena_array(&batch->arena, room, sizeof *ret->was_unsure),
    };
    return ret->instances && ret->started && ret->was_unsure ? CAIRN_OK
                                                             : fail_memory(batch->error);
}

/* Starts an instance in memory. */
static cairn_code add_starting(struct batch *batch, struct starting *starting,
                               const cairn_start_options *in, const char *schedule,
                               const struct lineage *step, cairn_enqueued *started,
                               const struct definition *definition, bool was_unsure,
                               const struct rerun *rerun)
{
    int64_t now_us = batch->tx->now_us;
    const struct lineage of =
        step ? *step : (struct lineage){.parent = in->tell_instance, .seq = -1};
    struct instance_row row = {
        .id = started->id,
        .workflow = definition->name,
        .version = definition->version,
        .key = in->key,
        .status = INSTANCE_PENDING,
        .input = in->input ? in->input : "{}",
        .metadata = in->metadata,
        .group = in->group ? in->group : "",
        .tags = tags_or_null(in->tags),
        .parent = of.parent,
        .parent_event = in->tell_event,
        .parent_seq = of.seq,
        .parent_round = of.round,
        .element = of.element,
        .depth = of.depth,
        .schedule = schedule,
        .generation = 1,
        .start_at_us = in->start_at_us > now_us ? in->start_at_us : 0,
        .created_at_us = now_us,
        .updated_at_us = now_us,
        .is_function = definition->is_function,
        .revision = definition->is_function,
        .places = definition->is_function,
        .is_dlq = definition->is_dlq,
        .has_compensation = definition->has_compensation,
        .undo_first = UNDO_FIRST_NONE,
    };
    if (rerun) {
        row.source = rerun->source;
        row.rerun_from = rerun->from;
        row.rerun_input = rerun->input;
        row.rerun_made = rerun->made;
        row.rerun_signal = rerun->signal;
    }
    struct workset_instance *instance =
        workset_new(batch, &row, definition->plan, definition->plan_count);
    NEED(instance, batch->error);
    starting->instances[starting->count] = instance;
    starting->started[starting->count] = started;
    starting->was_unsure[starting->count++] = was_unsure;
    size_t untold = batch->untold.count;
    if (rerun)
        TRY(flow_rerun(&instance->flow, &(struct flow_who){.token = rerun->token}, rerun->steps,
                       rerun->step_count));
    else if (!row.start_at_us)
        TRY(flow_start(&instance->flow));
    return batch_tell_begun(batch, untold);
}

/* Its parent is in the workset. */
static void count_child(struct batch *batch, const struct instance_row *child)
{
    struct workset_instance *parent = workset_find(batch, child->parent);
    assert(parent);
    if (child->parent_seq >= 0) {
        flow_child_counted(&parent->flow, 1);
    } else {
        parent->row.child_count++;
        parent->flow.is_dirty = true;
    }
}

static cairn_code settle_started(struct batch *batch, const struct starting *starting,
                                 size_t index, const struct instance_row *row,
                                 enum insert_result result)
{
    struct workset_instance *instance = starting->instances[index];
    cairn_enqueued *started = starting->started[index];
    started->existing = 0;
    if (result == INSERT_EXISTING) {
        started->existing = strcmp(row->id, started->id) != 0 || !starting->was_unsure[index];
        snprintf(started->id, sizeof started->id, "%s", row->id);
    }
    if (result != INSERT_DONE)
        return CAIRN_OK;
    instance->row.seq = row->seq;
    instance->flow.is_dirty = instance->is_told = false; /* inserted as it has become */
    if (row->start_at_us)
        batch_note_due(batch, row->start_at_us);
    if (row->is_telling)
        batch_note_due(batch, batch->tx->now_us);
    if (row->parent)
        count_child(batch, row);
    batch->tally.started++;
    return workset_adopt(batch, instance);
}

static cairn_code insert_starting(struct batch *batch, const struct starting *starting)
{
    size_t count = starting->count;
    struct instance_row *rows = arena_room(&batch->arena, count, sizeof *rows);
    enum insert_result *results = arena_array(&batch->arena, count, sizeof *results);
    NEED(rows && results, batch->error);
    if (count == 0)
        return CAIRN_OK;
    for (size_t i = 0; i < count; i++)
        rows[i] = starting->instances[i]->row;
    TRY(STORE(batch, insert_instances, rows, count, results));
    for (size_t i = 0; i < count; i++)
        TRY(settle_started(batch, starting, i, &rows[i], results[i]));
    return CAIRN_OK;
}

bool request_starts_children(const struct request *request)
{
    return (request->op == OP_COMMIT && request->in.commit.start_count) ||
           request->op == OP_SCHEDULE_TRIGGER || request->op == OP_RERUN;
}

/* Whether an instance has a parent, which may have been stopped by a request before it. */
static bool is_child(const struct request *request)
{
    return request->op == OP_START && request->in.start.tell_instance;
}

/* The parent of a child must be there, and go on; else the request is refused. */
static bool has_parent(struct batch *batch, struct request *request)
{
    const char *id = request->in.start.tell_instance;
    const struct workset_instance *parent = id ? workset_find(batch, id) : NULL;
    if (id && !parent)
        request->code =
            fail(&request->error, CAIRN_E_NOT_FOUND, "instance \"%.64s\" does not exist", id);
    else if (id && (parent->row.goal || instance_is_final(parent->row.status)))
        request->code =
            fail(&request->error, CAIRN_E_WRONG_STATE,
                 "cannot start a child of instance \"%s\": it is %s", id,
                 parent->row.goal ? "ending" : instance_status_name(parent->row.status));
    return !request->code;
}

/* The next request that starts an instance, from `at` on; NULL: none before a deployment, which may
 * bring another version, or a commit that starts instances, which come first, or a child, or a request
 * that looks at who has its key. */
static struct request *next_start(struct request *at)
{
    for (; at && at->op != OP_DEPLOY && !request_starts_children(at) && !is_child(at);
         at = at->next)
        if (at->op == OP_START && !at->code)
            return request_minds_keys(at) ? NULL : at;
    return NULL;
}

static cairn_code start_ahead(struct batch *batch, struct request *first)
{
    size_t room = 0;
    struct plan *plans = NULL;
    struct starting starting;
    for (struct request *one = first; one; one = next_start(one->next))
        room++;
    TRY(make_starting(batch, room, &starting));
    for (struct request *one = first; one; one = next_start(one->next)) {
        const struct definition *definition;
        TRY(find_plan(batch, &plans, one, &one->in.start, &definition));
        if (!definition || !has_parent(batch, one))
            continue;
        TRY(batch_make_ids(batch, one, 1));
        TRY(add_starting(batch, &starting, &one->in.start, NULL, NULL, one->out.enqueued,
                         definition, one->was_unsure, NULL));
    }
    return insert_starting(batch, &starting);
}

/* One whose key is known may take it from its owner, or begin that anew. */
static cairn_code start_minding(struct batch *batch, struct request *request)
{
    struct plan *plans = NULL;
    struct starting starting;
    const struct definition *definition;
    bool is_free = false;
    batch->are_starts_ahead = false;
    TRY(find_plan(batch, &plans, request, &request->in.start, &definition));
    if (!definition || !has_parent(batch, request))
        return CAIRN_OK;
    TRY(batch_make_ids(batch, request, 1));
    TRY(batch_mind_start(batch, request, definition->name, &is_free));
    if (!is_free)
        return CAIRN_OK;
    TRY(make_starting(batch, 1, &starting));
    TRY(add_starting(batch, &starting, &request->in.start, NULL, NULL, request->out.enqueued,
                     definition, request->was_unsure, NULL));
    TRY(insert_starting(batch, &starting));
    return request->out.enqueued[0].existing ? batch_key_taken(batch, request->in.start.key)
                                             : CAIRN_OK;
}

/* DLQ records of steps that failed at once are written at the request's own turn. */
cairn_code batch_start(struct batch *batch, struct request *request)
{
    bool minds_key = request_minds_keys(request);
    if (minds_key)
        TRY(start_minding(batch, request));
    else if (!batch->are_starts_ahead || is_child(request))
        TRY(start_ahead(batch, request));
    batch->are_starts_ahead = !minds_key;
    struct workset_instance *instance =
        request->code ? NULL : workset_find(batch, request->out.enqueued[0].id);
    return instance ? workset_write_parked(instance) : CAIRN_OK;
}

/* ---- what functions start ------------------------------------------------------------------- */

cairn_code batch_plan_children(struct batch *batch, struct request *request,
                               struct child *children, size_t count)
{
    struct plan *plans = NULL;
    for (size_t i = 0; i < count && !request->code; i++)
        TRY(find_plan(batch, &plans, request, &children[i].start->options,
                      &children[i].definition));
    return CAIRN_OK;
}

cairn_code batch_start_children(struct batch *batch, struct child *children, size_t count,
                                cairn_enqueued *ret_started)
{
    struct starting starting;
    TRY(make_starting(batch, count, &starting));
    for (size_t i = 0; i < count; i++) {
        ret_started[i] = (cairn_enqueued){0};
        if (children[i].is_unwanted)
            continue;
        snprintf(ret_started[i].id, sizeof ret_started[i].id, "%s", children[i].start->id);
        TRY(add_starting(batch, &starting, &children[i].start->options,
                         children[i].start->schedule, children[i].step, &ret_started[i],
                         children[i].definition, true, NULL));
    }
    TRY(insert_starting(batch, &starting));
    for (size_t i = 0; i < starting.count; i++)
        if (starting.instances[i]->is_adopted)
            TRY(workset_write_parked(starting.instances[i]));
    return CAIRN_OK;
}

/* ---- what plain SQL has written ------------------------------------------------------------- */

/* What a map of a workflow does for each element, read anew: the plans that are kept have no elements. */
static cairn_code read_map(struct batch *batch, const struct definition_row *row,
                           const char *map, struct definition *ret_each, cairn_error *reterr)
{
    struct definition read;
    size_t count;
    TRY(definition_read(&batch->arena, row->name, row->content, strlen(row->content), &read,
                        NULL, 0, &count, reterr));
    return definition_of_map(&batch->arena, &read, map, ret_each, reterr);
}

/* In place of a workflow, what one of its maps does for each element. */
static cairn_code find_map(struct batch *batch, struct request *request, const char *map,
                           const struct definition **definition)
{
    const struct definition *whole = *definition;
    struct plans *plans = &batch->committer->plans;
    struct definition_row row;
    const char *name = arena_printf(&batch->arena, "%s:%s", whole->name, map);
    NEED(name, batch->error);
    *definition = plans_find(plans, name, whole->version, whole->hash);
    if (*definition)
        return CAIRN_OK;
    struct definition *each = arena_zalloc(&batch->arena, sizeof *each);
    NEED(each, batch->error);
    TRY(STORE(batch, get_definition, whole->name, whole->version, &row));
    request->code = read_map(batch, &row, map, each, &request->error);
    if (request->code == CAIRN_E_OUT_OF_MEMORY)
        return fail(batch->error, request->code, "%s", request->error.message);
    if (!request->code)
        plans_keep(plans, each, whole->hash);
    *definition = each;
    return CAIRN_OK;
}

cairn_code batch_plan_child(struct batch *batch, struct plan **plans,
                            const cairn_start_options *options, const char *map, const char *id,
                            struct child *ret_child, const char **ret_flaw)
{
    struct request *request = arena_zalloc(&batch->arena, sizeof *request);
    struct commit_start *start = arena_zalloc(&batch->arena, sizeof *start);
    NEED(request && start, batch->error);
    *request = (struct request){.op = OP_START, .in.start = *options};
    if (!id_is_valid(id))
        request->code = fail(&request->error, CAIRN_E_BAD_INPUT, "its id is not a UUID");
    else if (!request_check(&batch->engine->base.options, request))
        TRY(find_plan(batch, plans, request, &request->in.start, &ret_child->definition));
    if (map && !request->code)
        TRY(find_map(batch, request, map, &ret_child->definition));
    *start = (struct commit_start){.id = id, .options = request->in.start};
    ret_child->start = start;
    *ret_flaw = request->code ? request->error.message : NULL;
    return CAIRN_OK;
}

/* ---- running again -------------------------------------------------------------------------- */

/* An element of a map is an instance of WORKFLOW:MAP, which is no workflow that was deployed.  Both names may have
 * colons. */
static cairn_code find_map_again(struct batch *batch, struct plan **plans,
                                 struct request *request, const cairn_start_options *in,
                                 const struct definition **ret_definition)
{
    cairn_error why = request->error;
    for (const char *colon = strchr(in->workflow, ':'); colon && !*ret_definition;
         colon = strchr(colon + 1, ':')) {
        cairn_start_options whole = *in;
        whole.workflow =
            arena_strndup(&batch->arena, in->workflow, (size_t)(colon - in->workflow));
        NEED(whole.workflow, batch->error);
        request->code = CAIRN_OK;
        TRY(find_plan(batch, plans, request, &whole, ret_definition));
        if (*ret_definition)
            TRY(find_map(batch, request, colon + 1, ret_definition));
        if (request->code)
            *ret_definition = NULL;
    }
    if (!*ret_definition) {
        request->code = why.code;
        request->error = why;
    }
    return CAIRN_OK;
}

cairn_code batch_rerun(struct batch *batch, struct request *request)
{
    struct plan *plans = NULL;
    struct starting starting;
    struct rerun rerun = {0};
    const struct definition *definition;
    batch->are_starts_ahead = false;
    TRY(rerun_read(batch, request, &rerun));
    if (request->code)
        return CAIRN_OK;
    TRY(find_plan(batch, &plans, request, &rerun.start, &definition));
    if (!definition && request->code == CAIRN_E_NOT_FOUND)
        TRY(find_map_again(batch, &plans, request, &rerun.start, &definition));
    if (!definition)
        return CAIRN_OK;
    TRY(batch_make_ids(batch, request, 1));
    TRY(make_starting(batch, 1, &starting));
    TRY(add_starting(batch, &starting, &rerun.start, NULL, NULL, request->out.enqueued,
                     definition, request->was_unsure, &rerun));
    TRY(insert_starting(batch, &starting));
    struct workset_instance *instance = workset_find(batch, request->out.enqueued[0].id);
    return instance ? workset_write_parked(instance) : CAIRN_OK;
}

/* An instance that has the intake's id; or why there can be none, in row->error. */
static cairn_code plan_intake(struct batch *batch, struct plan **plans, struct intake_row *row,
                              struct child *ret_child)
{
    const cairn_start_options options = {.size = sizeof options,
                                         .workflow = row->workflow,
                                         .version = row->version,
                                         .input = row->input,
                                         .key = row->key,
                                         .start_at_us = row->start_at_us,
                                         .metadata = row->metadata,
                                         .group = row->group,
                                         .tags = row->tags};
    return batch_plan_child(batch, plans, &options, NULL, row->id, ret_child, &row->error);
}

cairn_code batch_take_intake(struct batch *batch)
{
    enum { AT_ONCE = 256 };
    size_t count = 0, good = 0;
    struct plan *plans = NULL;
    struct intake_row *rows = arena_array(&batch->arena, AT_ONCE, sizeof *rows);
    struct child *children = arena_array(&batch->arena, AT_ONCE, sizeof *children);
    cairn_enqueued *started = arena_array(&batch->arena, AT_ONCE, sizeof *started);
    NEED(rows && children && started, batch->error);
    TRY(STORE(batch, find_intake, rows, AT_ONCE, &count));
    if (count == 0)
        return CAIRN_OK;
    for (size_t i = 0; i < count; i++) {
        TRY(plan_intake(batch, &plans, &rows[i], &children[good]));
        good += !rows[i].error;
    }
    TRY(batch_start_children(batch, children, good, started));
    for (size_t i = 0, at = 0; i < count; i++)
        if (!rows[i].error && started[at++].existing)
            rows[i].instance_id = started[at - 1].id;
    return STORE(batch, settle_intake, rows, count);
}
