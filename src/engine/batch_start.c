/* engine/batch_start.c - deploying workflows, and starting their instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An instance is started in memory first: its plan is laid out and the first step made ready.  Then
 * the rows are inserted as they have become, unless its key turns out to be known.
 */
#include "base/error.h"
#include "definition/definition.h"
#include "engine/workset.h"

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

cairn_code batch_deploy(struct batch *batch, struct request *request, cairn_error *reterr)
{
    struct definition definition;
    enum put_result result;
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
    cairn_code code = batch->ops->put_definition(batch->tx, &row, &result, reterr);
    if (code)
        return code;
    if (result == PUT_OTHER) {
        request->code =
            fail(&request->error, CAIRN_E_CONFLICT,
                 "cannot deploy workflow \"%.64s\" version %d: other content stands "
                 "under this version",
                 definition.name, (int)definition.version);
        fail_hint(&request->error, request->code, "raise the version to %d",
                  (int)definition.version + 1);
        return CAIRN_OK;
    }
    cairn_workflow *item = arena_zalloc(&request->arena, sizeof *item);
    char *hash = arena_strdup(&request->arena, definition.hash);
    if (!item || !hash)
        return fail_memory(reterr);
    *item = (cairn_workflow){.name = definition.name,
                             .version = definition.version,
                             .hash = hash,
                             .content = definition.content,
                             .created_at_us = batch->tx->now_us};
    request->out.page = (struct page_output){.items = item, .count = 1};
    request->out.is_existing = result == PUT_SAME && !request->was_unsure;
    return CAIRN_OK;
}

/* ---- starting ------------------------------------------------------------------------------- */

/* A workflow that this batch has read. */
struct plan {
    const struct definition *definition;
    const char *name;
    int32_t version; /* as asked for: 0 is the highest */
    struct plan *next;
};

/* An instance that is about to be inserted. */
struct starting {
    cairn_enqueued *started;
    bool was_unsure; /* an earlier try may have inserted it */
    struct workset_instance *instance;
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
    if (!definition)
        return fail_memory(reterr);
    cairn_code code =
        definition_read(&batch->arena, row->name, row->content, strlen(row->content),
                        definition, NULL, 0, &count, reterr);
    if (code)
        return code;
    plans_keep(plans, definition, row->hash);
    *ret_definition = definition;
    return CAIRN_OK;
}

/* NULL in *ret_plan: there is no such workflow, and the request is refused. */
static cairn_code find_plan(struct batch *batch, struct plan **plans, struct request *request,
                            const cairn_start_options *in, struct plan **ret_plan,
                            cairn_error *reterr)
{
    for (*ret_plan = *plans; *ret_plan; *ret_plan = (*ret_plan)->next)
        if ((*ret_plan)->version == in->version && strcmp((*ret_plan)->name, in->workflow) == 0)
            return CAIRN_OK;

    struct definition_row row;
    cairn_code code =
        batch->ops->get_definition(batch->tx, in->workflow, in->version, &row, reterr);
    if (code == CAIRN_E_NOT_FOUND) {
        no_such_workflow(request, in);
        return CAIRN_OK;
    }
    struct plan *plan = code ? NULL : arena_zalloc(&batch->arena, sizeof *plan);
    if (!plan)
        return code ? code : fail_memory(reterr);
    code = read_plan(batch, &row, &plan->definition, reterr);
    if (code)
        return code;
    plan->name = in->workflow;
    plan->version = in->version;
    plan->next = *plans;
    *plans = *ret_plan = plan;
    return CAIRN_OK;
}

static cairn_code prepare(struct batch *batch, const cairn_start_options *in, const char *id,
                          const struct definition *definition,
                          struct workset_instance **ret_instance, cairn_error *reterr)
{
    int64_t now_us = batch->tx->now_us;
    struct instance_row row = {
        .id = id,
        .workflow = definition->name,
        .version = definition->version,
        .key = in->key,
        .status = INSTANCE_PENDING,
        .input = in->input ? in->input : "{}",
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
    struct workset_instance *instance =
        workset_new(batch, &row, definition->plan, definition->plan_count);
    if (!instance)
        return fail_memory(reterr);
    *ret_instance = instance;
    return row.start_at_us ? CAIRN_OK : flow_start(&instance->flow, reterr);
}

/* The id is made once and kept over tries.  One that an earlier try has found under the key is
 * another instance's: it must not pass for ours. */
static cairn_code prepare_request(struct batch *batch, struct request *request,
                                  const struct plan *plan, struct starting *ret_starting,
                                  cairn_error *reterr)
{
    if (!request->out.enqueued)
        request->out.enqueued = arena_zalloc(&request->arena, sizeof(cairn_enqueued));
    cairn_enqueued *started = request->out.enqueued;
    if (!started)
        return fail_memory(reterr);
    if (!started->id[0] || started->existing)
        id_make(&batch->committer->rng, batch->tx->now_us, started->id);
    started->existing = 0;
    *ret_starting = (struct starting){.started = started, .was_unsure = request->was_unsure};
    return prepare(batch, &request->in.start, started->id, plan->definition,
                   &ret_starting->instance, reterr);
}

static cairn_code settle_started(struct batch *batch, const struct starting *starting,
                                 const struct instance_row *row, enum insert_result result,
                                 cairn_error *reterr)
{
    cairn_enqueued *started = starting->started;
    started->existing = 0;
    if (result == INSERT_EXISTING) {
        started->existing = strcmp(row->id, started->id) != 0 || !starting->was_unsure;
        snprintf(started->id, sizeof started->id, "%s", row->id);
    }
    if (result != INSERT_DONE)
        return CAIRN_OK;
    starting->instance->row.seq = row->seq;
    starting->instance->flow.is_dirty = false; /* inserted as it has become */
    if (row->start_at_us)
        batch_note_due(batch, row->start_at_us);
    batch->tally.started++;
    return workset_adopt(batch, starting->instance) ? CAIRN_OK : fail_memory(reterr);
}

bool request_starts_children(const struct request *request)
{
    return request->op == OP_COMMIT && request->in.commit.start_count;
}

/* The next request that starts an instance, from `at` on; NULL: none before a deployment, which may
 * bring another version, or a commit that starts instances, which come first. */
static struct request *next_start(struct request *at)
{
    for (; at && at->op != OP_DEPLOY && !request_starts_children(at); at = at->next)
        if (at->op == OP_START && !at->code)
            return at;
    return NULL;
}

cairn_code batch_start(struct batch *batch, struct request *first, cairn_error *reterr)
{
    size_t room = 0, count = 0;
    struct plan *plans = NULL;
    for (struct request *one = first; one; one = next_start(one->next))
        room++;
    struct starting *starting = arena_array(&batch->arena, room, sizeof *starting);
    struct instance_row *rows = arena_array(&batch->arena, room, sizeof *rows);
    enum insert_result *results = arena_array(&batch->arena, room, sizeof *results);
    if (!starting || !rows || !results)
        return fail_memory(reterr);

    cairn_code code = CAIRN_OK;
    for (struct request *one = first; one && !code; one = next_start(one->next)) {
        struct plan *plan = NULL;
        code = find_plan(batch, &plans, one, &one->in.start, &plan, reterr);
        if (!code && plan)
            code = prepare_request(batch, one, plan, &starting[count], reterr);
        if (!code && plan)
            rows[count] = starting[count].instance->row, count++;
    }
    if (code || count == 0)
        return code;
    code = batch->ops->insert_instances(batch->tx, rows, count, results, reterr);
    for (size_t i = 0; i < count && !code; i++)
        code = settle_started(batch, &starting[i], &rows[i], results[i], reterr);
    return code;
}

/* ---- what functions start ------------------------------------------------------------------- */

cairn_code batch_plan_children(struct batch *batch, struct request *request,
                               struct child *children, size_t count, cairn_error *reterr)
{
    struct plan *plans = NULL, *plan;
    cairn_code code = CAIRN_OK;
    for (size_t i = 0; i < count && !code && !request->code; i++) {
        code = find_plan(batch, &plans, request, &children[i].start->options, &plan, reterr);
        if (!code && plan)
            children[i].definition = plan->definition;
    }
    return code;
}

cairn_code batch_start_children(struct batch *batch, struct child *children, size_t count,
                                cairn_enqueued *ret_started, cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    for (size_t i = 0; i < count && !code; i++) {
        enum insert_result result;
        struct starting starting = {.started = &ret_started[i], .was_unsure = true};
        snprintf(ret_started[i].id, sizeof ret_started[i].id, "%s", children[i].start->id);
        code = prepare(batch, &children[i].start->options, ret_started[i].id,
                       children[i].definition, &starting.instance, reterr);
        struct instance_row row = code ? (struct instance_row){0} : starting.instance->row;
        if (!code)
            code = batch->ops->insert_instances(batch->tx, &row, 1, &result, reterr);
        if (!code)
            code = settle_started(batch, &starting, &row, result, reterr);
        if (!code && result == INSERT_DONE)
            code = workset_write_parked(starting.instance, reterr);
    }
    return code;
}
