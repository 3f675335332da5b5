/* remote/decode_flow.c - answers about workflows and instances as the outputs of a request.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "remote/fields.h"

#include "base/error.h"

#include <assert.h>

static const struct field definition_fields[] = {
    NEEDED(cairn_workflow, name, "name", FIELD_TEXT),
    FIELD(cairn_workflow, version, "version", FIELD_INT32),
    NEEDED(cairn_workflow, hash, "hash", FIELD_TEXT),
    NEEDED(cairn_workflow, content, "definition", FIELD_JSON),
    FIELD(cairn_workflow, created_at_us, "created_at", FIELD_TIME),
    END_OF_FIELDS,
};

/* What a deployment answers: the content is what the caller sent. */
static const struct field deployed_fields[] = {
    NEEDED(cairn_workflow, name, "name", FIELD_TEXT),
    FIELD(cairn_workflow, version, "version", FIELD_INT32),
    NEEDED(cairn_workflow, hash, "hash", FIELD_TEXT),
    FIELD(cairn_workflow, created_at_us, "created_at", FIELD_TIME),
    END_OF_FIELDS,
};

static const struct field instance_fields[] = {
    NEEDED(cairn_instance, id, "id", FIELD_TEXT),
    NEEDED(cairn_instance, workflow, "workflow", FIELD_TEXT),
    FIELD(cairn_instance, version, "version", FIELD_INT32),
    NEEDED(cairn_instance, status, "status", FIELD_TEXT),
    NEEDED(cairn_instance, input, "input", FIELD_VALUE),
    FIELD(cairn_instance, output, "output", FIELD_JSON),
    FIELD(cairn_instance, last_error, "last_error", FIELD_JSON),
    FIELD(cairn_instance, undo_error, "undo_error", FIELD_JSON),
    FIELD(cairn_instance, key, "key", FIELD_TEXT),
    FIELD(cairn_instance, generation, "generation", FIELD_INT32),
    FIELD(cairn_instance, created_at_us, "created_at", FIELD_TIME),
    FIELD(cairn_instance, start_at_us, "start_at", FIELD_TIME),
    FIELD(cairn_instance, started_at_us, "started_at", FIELD_TIME),
    FIELD(cairn_instance, finished_at_us, "finished_at", FIELD_TIME),
    END_OF_FIELDS,
};

const struct field step_fields[] = {
    FIELD(cairn_step, id, "id", FIELD_TEXT),
    FIELD(cairn_step, seq, "seq", FIELD_INT32),
    NEEDED(cairn_step, name, "name", FIELD_TEXT),
    NEEDED(cairn_step, kind, "kind", FIELD_TEXT),
    FIELD(cairn_step, handler, "handler", FIELD_TEXT),
    NEEDED(cairn_step, status, "status", FIELD_TEXT),
    FIELD(cairn_step, attempts, "attempts", FIELD_INT32),
    FIELD(cairn_step, max_attempts, "max_attempts", FIELD_INT32),
    FIELD(cairn_step, input, "input", FIELD_JSON),
    FIELD(cairn_step, output, "output", FIELD_JSON),
    FIELD(cairn_step, error, "error", FIELD_TEXT),
    FIELD(cairn_step, undo_error, "undo_error", FIELD_TEXT),
    FIELD(cairn_step, next_run_at_us, "next_run_at", FIELD_TIME),
    FIELD(cairn_step, started_at_us, "started_at", FIELD_TIME),
    FIELD(cairn_step, finished_at_us, "finished_at", FIELD_TIME),
    FIELD(cairn_step, priority, "priority", FIELD_INT32),
    FIELD(cairn_step, metadata, "metadata", FIELD_JSON),
    FIELD(cairn_step, waiting_event, "waiting_event", FIELD_TEXT),
    FIELD(cairn_step, deadline_at_us, "deadline_at", FIELD_TIME),
    FIELD(cairn_step, locked_by, "locked_by", FIELD_TEXT),
    FIELD(cairn_step, locked_until_us, "locked_until", FIELD_TIME),
    FIELD(cairn_step, compensation_attempts, "compensation_attempts", FIELD_INT32),
    FIELD(cairn_step, commit_no, "commit_no", FIELD_NUMBER),
    END_OF_FIELDS,
};

static const struct field signalled_fields[] = {
    FIELD(cairn_signalled, existing, "existing", FIELD_BOOL),
    FIELD(cairn_signalled, taken, "taken", FIELD_BOOL),
    FIELD(cairn_signalled, kept, "kept", FIELD_BOOL),
    END_OF_FIELDS,
};

static const struct field outbox_fields[] = {
    NEEDED(cairn_outbox_event, id, "id", FIELD_TEXT),
    NEEDED(cairn_outbox_event, instance_id, "instance_id", FIELD_TEXT),
    FIELD(cairn_outbox_event, step, "step", FIELD_TEXT),
    NEEDED(cairn_outbox_event, event, "event", FIELD_TEXT),
    NEEDED(cairn_outbox_event, payload, "payload", FIELD_VALUE),
    FIELD(cairn_outbox_event, created_at_us, "created_at", FIELD_TIME),
    END_OF_FIELDS,
};

static const struct field dlq_fields[] = {
    NEEDED(cairn_dlq_record, id, "id", FIELD_TEXT),
    NEEDED(cairn_dlq_record, instance_id, "instance_id", FIELD_TEXT),
    FIELD(cairn_dlq_record, workflow_id, "workflow_id", FIELD_TEXT),
    FIELD(cairn_dlq_record, step_id, "step_id", FIELD_TEXT),
    FIELD(cairn_dlq_record, step_name, "step_name", FIELD_TEXT),
    FIELD(cairn_dlq_record, step_type, "step_type", FIELD_TEXT),
    FIELD(cairn_dlq_record, input, "input", FIELD_JSON),
    FIELD(cairn_dlq_record, error, "error", FIELD_TEXT),
    NEEDED(cairn_dlq_record, reason, "reason", FIELD_TEXT),
    FIELD(cairn_dlq_record, is_open, "is_open", FIELD_BOOL),
    FIELD(cairn_dlq_record, created_at_us, "created_at", FIELD_TIME),
    END_OF_FIELDS,
};

static const struct field stream_fields[] = {
    NEEDED(struct stream_event, subject, "subject", FIELD_TEXT),
    FIELD(struct stream_event, event.id, "id", FIELD_NUMBER),
    NEEDED(struct stream_event, event.type, "type", FIELD_TEXT),
    FIELD(struct stream_event, event.step, "step", FIELD_TEXT),
    NEEDED(struct stream_event, event.data, "data", FIELD_VALUE),
    FIELD(struct stream_event, event.at_us, "at", FIELD_TIME),
    END_OF_FIELDS,
};

static cairn_code read_deployed(struct reader *reader, struct slice answer,
                                struct request *request)
{
    request->out.is_existing = slice_is(scan_find(answer, "existing"), "true");
    return read_single(reader, answer,
                       OBJECTS(&request->out.page, definitions, deployed_fields));
}

/* A list of names, which a table of fields has no kind for. */
static cairn_code read_current_steps(struct reader *reader, struct slice object,
                                     cairn_instance *instance)
{
    struct slice list = scan_find(object, "current_steps"), name;
    struct scan scan;
    if (!scan_list(list, &scan))
        return not_understood(reader, "\"current_steps\" is missing");
    const char **names = arena_array(reader->arena, scan_count(list), sizeof *names);
    if (!names)
        return fail_memory(reader->error);
    size_t count = 0;
    while (scan_item(&scan, &name)) {
        if (!slice_is_string(name))
            return not_understood(reader, "\"current_steps\" is of the wrong type");
        names[count] = slice_string(name, reader->arena);
        if (!names[count++])
            return fail_memory(reader->error);
    }
    instance->current_steps = names;
    instance->current_step_count = count;
    return CAIRN_OK;
}

static cairn_code read_instance(struct reader *reader, struct slice answer,
                                struct page_output *out)
{
    cairn_code code = read_single(reader, answer, OBJECTS(out, instances, instance_fields));
    return code ? code : read_current_steps(reader, answer, out->instances);
}

static cairn_code read_instances(struct reader *reader, struct slice answer,
                                 struct page_output *out)
{
    struct scan scan;
    struct slice item;
    cairn_code code =
        read_page(reader, answer, OBJECTS(out, instances, instance_fields), &out->next);
    if (code)
        return code;
    scan_list(scan_find(answer, "items"), &scan);
    for (size_t i = 0; !code && scan_item(&scan, &item); i++)
        code = read_current_steps(reader, item, &out->instances[i]);
    return code;
}

static cairn_code read_stream(struct reader *reader, struct slice answer,
                              struct page_output *out)
{
    cairn_code code =
        read_page(reader, answer, OBJECTS(out, stream, stream_fields), &out->next);
    if (!code && !out->next)
        code = not_understood(reader, "\"next\" is missing");
    return code;
}

static cairn_code read_started(struct reader *reader, struct slice answer,
                               struct request *request)
{
    request->out.enqueued = arena_zalloc(reader->arena, sizeof(cairn_enqueued));
    if (!request->out.enqueued)
        return fail_memory(reader->error);
    return read_object(reader, answer, enqueued_fields, request->out.enqueued);
}

cairn_code decode_flow(struct reader *reader, struct slice answer, struct request *request)
{
    struct page_output *page = &request->out.page;
    switch (request->op) {
    case OP_DEPLOY:
        return read_deployed(reader, answer, request);
    case OP_DEFINITION_GET:
        return read_single(reader, answer, OBJECTS(page, definitions, definition_fields));
    case OP_DEFINITION_LIST:
        return read_page(reader, answer, OBJECTS(page, definitions, definition_fields),
                         &page->next);
    case OP_START:
        return read_started(reader, answer, request);
    case OP_SIGNAL:
        return read_object(reader, answer, signalled_fields, &request->out.signalled);
    case OP_INSTANCE_LIST:
        return read_instances(reader, answer, page);
    case OP_STEP_LIST:
        return read_page(reader, answer, OBJECTS(page, steps, step_fields), &page->next);
    case OP_ALL_EVENTS:
        return read_stream(reader, answer, page);
    case OP_OUTBOX_CLAIM:
        return read_list(reader, scan_find(answer, "events"),
                         OBJECTS(page, outbox, outbox_fields));
    case OP_OUTBOX_ACK:
        return CAIRN_OK;
    case OP_DLQ_LIST:
        return read_page(reader, answer, OBJECTS(page, dlq, dlq_fields), &page->next);
    case OP_DLQ_GET:
        return read_single(reader, answer, OBJECTS(page, dlq, dlq_fields));
    default:
        assert(request->op == OP_INSTANCE_GET || request->op == OP_DECIDE ||
               request->op == OP_DLQ_REQUEUE ||
               (request->op >= OP_PAUSE && request->op <= OP_ABORT));
        return read_instance(reader, answer, page);
    }
}

static const struct field decision_fields[] = {
    FIELD(cairn_decision, id, "id", FIELD_NUMBER),
    NEEDED(cairn_decision, step, "step", FIELD_TEXT),
    NEEDED(cairn_decision, decision, "decision", FIELD_TEXT),
    NEEDED(cairn_decision, by, "by", FIELD_TEXT),
    FIELD(cairn_decision, comment, "comment", FIELD_TEXT),
    FIELD(cairn_decision, at_us, "at", FIELD_TIME),
    END_OF_FIELDS,
};

cairn_code decode_decisions(struct reader *reader, struct slice answer, struct request *request)
{
    struct page_output *page = &request->out.page;
    return read_page(reader, answer, OBJECTS(page, decisions, decision_fields), &page->next);
}

/* Who asks here asks for one step: so there is one output, or none. */
cairn_code decode_context(struct reader *reader, struct slice answer, struct request *request)
{
    struct context_output *context = &request->out.context;
    struct slice input = scan_find(answer, "input"), name, value;
    struct scan scan;
    if (!input.text || !scan_object(scan_find(answer, "outputs"), &scan))
        return not_understood(reader, "\"input\" or \"outputs\" is missing");
    context->input = slice_json(input, reader->arena);
    context->items = arena_zalloc(reader->arena, sizeof *context->items);
    if (!context->input || !context->items)
        return fail_memory(reader->error);
    if (!scan_member(&scan, &name, &value))
        return CAIRN_OK;
    context->items[0] = (struct step_output){.step = request->in.context.step,
                                             .output = slice_json(value, reader->arena)};
    context->count = 1;
    return context->items[0].output ? CAIRN_OK : fail_memory(reader->error);
}
