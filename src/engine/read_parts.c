/* engine/read_parts.c - questions about what belongs to an instance: steps, logs, events, records.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/read.h"

#include <stdlib.h>
#include <string.h>

/* ---- steps and events ----------------------------------------------------------------------- */

cairn_code step_to_public(struct arena *arena, const struct step_row *row, cairn_step *ret,
                          cairn_error *reterr)
{
    *ret = (cairn_step){
        .id = step_id_make(arena, row->instance_id, row->seq),
        .name = row->name,
        .kind = step_kind_name(row->kind),
        .kind_code = (cairn_step_kind)row->kind,
        .handler = row->handler,
        .status = step_status_name(row->status),
        .status_code = (cairn_step_status)row->status,
        .input = row->input,
        .output = row->output,
        .error = row->error,
        .metadata = row->metadata,
        .waiting_event = row->waiting_event,
        .locked_by = row->locked_by,
        .seq = row->seq,
        .attempts = row->attempts,
        .max_attempts = row->max_attempts,
        .compensation_attempts = row->compensation_attempts,
        .priority = row->priority,
        .commit_no = row->commit_no,
        .next_run_at_us = row->next_run_at_us,
        .started_at_us = row->started_at_us,
        .finished_at_us = row->finished_at_us,
        .deadline_at_us = row->deadline_at_us,
        .locked_until_us = row->locked_until_us,
        .undo_error = row->undo_error,
    };
    return ret->id ? CAIRN_OK : fail_memory(reterr);
}

cairn_code list_steps(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    struct instance_row instance;
    size_t count, room = in->limit + 1;
    int32_t after = in->cursor ? (int32_t)strtol(in->cursor, NULL, 10) : -1;
    cairn_code code = question_instance(q, in->id, &instance);
    if (code)
        return code;
    struct step_row *rows = arena_array(q->arena, room, sizeof *rows);
    cairn_step *items = arena_array(q->arena, room, sizeof *items);
    if (!rows || !items)
        return fail_memory(q->error);
    code = q->ops->list_steps(q->tx, in->id, after, false, rows, room, &count, q->error);
    struct page_output *out = &q->request->out.page;
    *out = (struct page_output){.items = items};
    if (!code)
        code = page_end(q, count, in->limit, count > in->limit ? rows[in->limit - 1].seq : 0,
                        &out->count, &out->next);
    for (size_t i = 0; i < out->count && !code; i++)
        code = step_to_public(q->arena, &rows[i], &items[i], q->error);
    return code;
}

cairn_code list_logs(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    struct instance_row instance;
    size_t count, room = in->limit + 1;
    cairn_code code = question_instance(q, in->id, &instance);
    if (code)
        return code;
    struct log_row *rows = arena_array(q->arena, room, sizeof *rows);
    cairn_log *items = arena_array(q->arena, room, sizeof *items);
    if (!rows || !items)
        return fail_memory(q->error);
    code =
        q->ops->list_logs(q->tx, in->id, page_cursor(in->cursor), rows, room, &count, q->error);
    struct page_output *out = &q->request->out.page;
    *out = (struct page_output){.items = items};
    if (!code)
        code = page_end(q, count, in->limit, count > in->limit ? rows[in->limit - 1].id : 0,
                        &out->count, &out->next);
    for (size_t i = 0; i < out->count; i++)
        items[i] = (cairn_log){.id = rows[i].id,
                               .level = rows[i].level,
                               .message = rows[i].message,
                               .data = rows[i].data,
                               .step = rows[i].step,
                               .attempt = rows[i].attempt,
                               .at_us = rows[i].at_us};
    return code;
}

cairn_code list_decisions(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    struct instance_row instance;
    size_t count, room = in->limit + 1;
    cairn_code code = question_instance(q, in->id, &instance);
    if (code)
        return code;
    struct decision_row *rows = arena_array(q->arena, room, sizeof *rows);
    cairn_decision *items = arena_array(q->arena, room, sizeof *items);
    if (!rows || !items)
        return fail_memory(q->error);
    code = q->ops->list_decisions(q->tx, in->id, page_cursor(in->cursor), rows, room, &count,
                                  q->error);
    struct page_output *out = &q->request->out.page;
    *out = (struct page_output){.items = items};
    if (!code)
        code = page_end(q, count, in->limit, count > in->limit ? rows[in->limit - 1].id : 0,
                        &out->count, &out->next);
    for (size_t i = 0; i < out->count; i++)
        items[i] = (cairn_decision){.id = rows[i].id,
                                    .step = rows[i].step_name,
                                    .decision = rows[i].decision,
                                    .by = rows[i].decided_by,
                                    .comment = rows[i].comment,
                                    .at_us = rows[i].decided_at_us};
    return code;
}

static cairn_event event_to_public(const struct flow_event_row *row)
{
    return (cairn_event){.id = row->id,
                         .type = row->type,
                         .step = row->step,
                         .data = row->data,
                         .at_us = row->at_us};
}

cairn_code list_instance_events(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    struct instance_row instance;
    size_t count, room = in->limit + 1;
    cairn_code code = question_instance(q, in->id, &instance);
    if (code)
        return code;
    struct flow_event_row *rows = arena_array(q->arena, room, sizeof *rows);
    cairn_event *items = arena_array(q->arena, room, sizeof *items);
    if (!rows || !items)
        return fail_memory(q->error);
    code = q->ops->list_flow_events(q->tx, in->id, page_cursor(in->cursor), rows, room, &count,
                                    q->error);
    struct page_output *out = &q->request->out.page;
    *out = (struct page_output){.items = items};
    if (!code)
        code = page_end(q, count, in->limit, count > in->limit ? rows[in->limit - 1].id : 0,
                        &out->count, &out->next);
    for (size_t i = 0; i < out->count; i++)
        items[i] = event_to_public(&rows[i]);
    return code;
}

cairn_code list_all_events(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    size_t count = 0;
    int64_t after = page_cursor(in->cursor);
    struct flow_event_row *rows = arena_array(q->arena, in->limit, sizeof *rows);
    struct stream_event *items = arena_array(q->arena, in->limit, sizeof *items);
    if (!rows || !items)
        return fail_memory(q->error);
    cairn_code code =
        q->ops->list_flow_events(q->tx, NULL, after, rows, in->limit, &count, q->error);
    if (code)
        return code;
    for (size_t i = 0; i < count; i++)
        items[i] = (struct stream_event){.subject = rows[i].instance_id,
                                         .event = event_to_public(&rows[i])};
    q->request->out.page = (struct page_output){
        .items = items,
        .count = count,
        .next = arena_printf(q->arena, "%lld", (long long)(count ? rows[count - 1].id : after)),
    };
    return q->request->out.page.next ? CAIRN_OK : fail_memory(q->error);
}

/* ---- the DLQ -------------------------------------------------------------------------------- */

static cairn_code record_to_public(struct question *q, const struct dlq_row *row,
                                   cairn_dlq_record *ret)
{
    *ret = (cairn_dlq_record){
        .id = arena_printf(q->arena, "%lld", (long long)row->id),
        .instance_id = row->instance_id,
        .workflow_id = arena_printf(q->arena, "%s/%d", row->workflow, (int)row->version),
        .step_id = step_id_make(q->arena, row->instance_id, row->step_seq),
        .step_name = row->step_name,
        .step_type = row->step_type,
        .input = row->input,
        .error = row->error,
        .reason = row->reason,
        .is_open = row->is_open,
        .created_at_us = row->created_at_us,
    };
    return ret->id && ret->workflow_id && ret->step_id ? CAIRN_OK : fail_memory(q->error);
}

cairn_code list_dlq(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    size_t count, room = in->limit + 1;
    struct dlq_row *rows = arena_array(q->arena, room, sizeof *rows);
    cairn_dlq_record *items = arena_array(q->arena, room, sizeof *items);
    if (!rows || !items)
        return fail_memory(q->error);
    cairn_code code =
        q->ops->list_dlq(q->tx, NULL, page_cursor(in->cursor), rows, room, &count, q->error);
    struct page_output *out = &q->request->out.page;
    *out = (struct page_output){.items = items};
    if (!code)
        code = page_end(q, count, in->limit, count > in->limit ? rows[in->limit - 1].id : 0,
                        &out->count, &out->next);
    for (size_t i = 0; i < out->count && !code; i++)
        code = record_to_public(q, &rows[i], &items[i]);
    return code;
}

cairn_code get_dlq(struct question *q)
{
    const char *id = q->request->in.id;
    size_t digits = strspn(id, "0123456789");
    struct dlq_row row;
    cairn_code code = CAIRN_E_NOT_FOUND;
    if (digits > 0 && digits <= 18 && !id[digits])
        code = q->ops->get_dlq(q->tx, strtoll(id, NULL, 10), &row, q->error);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(q->error, code, "DLQ record \"%.64s\" does not exist", id);
    cairn_dlq_record *item = code ? NULL : arena_zalloc(q->arena, sizeof *item);
    if (!item)
        return code ? code : fail_memory(q->error);
    q->request->out.page = (struct page_output){.items = item, .count = 1};
    return record_to_public(q, &row, item);
}
