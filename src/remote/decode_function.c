/* remote/decode_function.c - answers about functions: their tasks, their commits, their logs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "remote/fields.h"

#include "base/error.h"

static const struct field memory_fields[] = {
    FIELD(cairn_memory, version, "version", FIELD_INT32),
    FIELD(cairn_memory, revision, "revision", FIELD_NUMBER),
    FIELD(cairn_memory, places, "places", FIELD_INT32),
    FIELD(cairn_memory, is_forced, "forced", FIELD_BOOL),
    FIELD(cairn_memory, effect, "effect", FIELD_INT32),
    END_OF_FIELDS,
};

static const struct field effect_fields[] = {
    NEEDED(cairn_effect, step, "step", FIELD_TEXT),
    FIELD(cairn_effect, effect, "effect", FIELD_INT32),
    END_OF_FIELDS,
};

static const struct field received_fields[] = {
    NEEDED(cairn_received, id, "id", FIELD_TEXT),
    NEEDED(cairn_received, event, "event", FIELD_TEXT),
    FIELD(cairn_received, payload, "payload", FIELD_VALUE),
    FIELD(cairn_received, received_at_us, "received_at", FIELD_TIME),
    END_OF_FIELDS,
};

static const struct field committed_fields[] = {
    FIELD(struct committed_output, status, "status", FIELD_WORD),
    FIELD(struct committed_output, stop, "stop", FIELD_WORD),
    FIELD(struct committed_output, lease_until_us, "lease_until", FIELD_TIME),
    FIELD(struct committed_output, revision, "revision", FIELD_NUMBER),
    END_OF_FIELDS,
};

static const struct field log_fields[] = {
    FIELD(cairn_log, id, "id", FIELD_NUMBER),
    NEEDED(cairn_log, level, "level", FIELD_TEXT),
    NEEDED(cairn_log, message, "message", FIELD_TEXT),
    FIELD(cairn_log, data, "data", FIELD_JSON),
    FIELD(cairn_log, step, "step", FIELD_TEXT),
    FIELD(cairn_log, attempt, "attempt", FIELD_INT32),
    FIELD(cairn_log, at_us, "at", FIELD_TIME),
    END_OF_FIELDS,
};

static cairn_code read_remembered(struct reader *reader, struct slice object,
                                  cairn_memory *memory)
{
    const struct objects steps = {step_fields, sizeof(cairn_step), &memory->steps,
                                  &memory->step_count};
    return read_list(reader, scan_find(object, "steps"), steps);
}

static cairn_code read_effects(struct reader *reader, struct slice object, cairn_memory *memory)
{
    const struct objects effects = {effect_fields, sizeof(cairn_effect), &memory->effects,
                                    &memory->effect_count};
    return read_list(reader, scan_find(object, "effects"), effects);
}

static cairn_code read_received(struct reader *reader, struct slice object,
                                const cairn_received **ret_events, size_t *ret_count)
{
    const struct objects events = {received_fields, sizeof(cairn_received), ret_events,
                                   ret_count};
    return read_list(reader, scan_find(object, "events"), events);
}

cairn_code read_memory(struct reader *reader, struct slice object, cairn_task *task)
{
    cairn_memory *memory = arena_zalloc(reader->arena, sizeof *memory);
    if (!memory)
        return fail_memory(reader->error);
    task->memory = memory;
    cairn_code code = read_object(reader, object, memory_fields, memory);
    if (!code)
        code = read_remembered(reader, object, memory);
    if (!code)
        code = read_effects(reader, object, memory);
    if (!code)
        code = read_received(reader, object, &memory->events, &memory->event_count);
    return code;
}

/* All that was to be started, or nothing: the commit had been taken before. */
static cairn_code read_started(struct reader *reader, struct slice answer,
                               struct request *request)
{
    struct {
        cairn_enqueued *items;
        size_t count;
    } started = {0};
    const struct commit_input *in = &request->in.commit;
    cairn_code code = read_list(reader, scan_find(answer, "started"),
                                OBJECTS(&started, items, enqueued_fields));
    if (code || started.count == 0)
        return code;
    if (started.count != in->job_count + in->start_count)
        return not_understood(reader, "it has started another number of jobs");
    request->out.committed.started = started.items;
    return CAIRN_OK;
}

cairn_code decode_commit(struct reader *reader, struct slice answer, struct request *request)
{
    struct committed_output *committed = &request->out.committed;
    const cairn_received *events = NULL;
    cairn_code code = read_object(reader, answer, committed_fields, committed);
    if (!code && !committed->status)
        code = not_understood(reader, "\"status\" is missing");
    if (!code)
        code = read_received(reader, answer, &events, &committed->event_count);
    committed->events = (cairn_received *)events;
    committed->is_conflict = slice_is(scan_find(answer, "conflict"), "true");
    if (!code)
        code = read_started(reader, answer, request);
    if (!code && request->in.commit.is_claiming)
        code = read_tasks(reader, answer, &request->out.page);
    return code;
}

cairn_code decode_logs(struct reader *reader, struct slice answer, struct request *request)
{
    struct page_output *page = &request->out.page;
    return read_page(reader, answer, OBJECTS(page, logs, log_fields), &page->next);
}
