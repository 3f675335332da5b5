/* engine/read_list.c - lists of rows, page by page, and single rows, as callers see them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each noun says how a page of its rows is fetched and how one row is shown; the rest is the same for
 * all of them.
 */
#include "engine/read.h"
#include "engine/task_id.h"

#include <stdlib.h>
#include <string.h>

enum { CURRENT_MAX = 1000, CURRENT_PORTION = 8 };

/* Where a page begins, and how long it is. */
static struct page_input page_of(const struct request *request)
{
    switch (request->op) {
    case OP_JOB_LIST:
        return (struct page_input){.cursor = request->in.job_list.cursor,
                                   .limit = request->in.job_list.limit};
    case OP_INSTANCE_LIST:
        return (struct page_input){.cursor = request->in.instance_list.cursor,
                                   .limit = request->in.instance_list.limit};
    default:
        return request->in.page;
    }
}

/* A cursor that is a number; 0: the beginning. */
static int64_t cursor_number(const struct question *q)
{
    const char *cursor = page_of(q->request).cursor;
    return cursor ? strtoll(cursor, NULL, 10) : 0;
}

/* ---- jobs ----------------------------------------------------------------------------------- */

static cairn_code find_job(struct question *q, const char *id, struct job_row *ret_row)
{
    cairn_code code = CAIRN_E_NOT_FOUND;
    if (id_is_valid(id))
        code = q->ops->get_job(q->tx, id, ret_row, q->error);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(q->error, code, "job \"%.64s\" does not exist", id);
    return code;
}

static cairn_code fetch_jobs(struct question *q, void *rows, size_t room, size_t *ret_count)
{
    const cairn_job_filter *in = &q->request->in.job_list;
    struct job_filter filter = {
        .status = in->status ? job_status_from(in->status) : JOB_NONE,
        .pattern = in->type,
        .key = in->key,
        .before_seq = cursor_number(q),
    };
    return q->ops->list_jobs(q->tx, &filter, rows, room, ret_count, q->error);
}

static cairn_code show_job(struct question *q, const void *from, void *ret)
{
    const struct job_row *row = from;
    (void)q;
    *(cairn_job *)ret = (cairn_job){
        .id = row->id,
        .type = row->type,
        .payload = row->payload,
        .status = job_status_name(row->status),
        .status_code = (cairn_job_status)row->status,
        .idempotency_key = row->key,
        .leased_by = row->leased_by,
        .last_error = row->last_error,
        .result = row->result,
        .priority = row->priority,
        .attempt = row->attempt,
        .max_attempts = row->max_attempts,
        .run_at_us = row->run_at_us,
        .lease_until_us = row->lease_until_us,
        .created_at_us = row->created_at_us,
        .updated_at_us = row->updated_at_us,
        .deleted_at_us = row->deleted_at_us,
        .metadata = row->metadata,
    };
    return CAIRN_OK;
}

/* ---- the registry --------------------------------------------------------------------------- */

static cairn_code fetch_registry(struct question *q, void *rows, size_t room, size_t *ret_count)
{
    return q->ops->list_registry(q->tx, q->request->in.page.cursor, rows, room, ret_count,
                                 q->error);
}

static cairn_code show_entry(struct question *q, const void *from, void *ret)
{
    const struct registry_row *row = from;
    (void)q;
    *(cairn_registry_entry *)ret = (cairn_registry_entry){
        .workflow_name = row->name,
        .intent_type = row->intent_type,
        .runtime = row->runtime,
        .description = row->description,
        .is_enabled = row->is_enabled,
        .created_at_us = row->created_at_us,
        .updated_at_us = row->updated_at_us,
    };
    return CAIRN_OK;
}

static const char *entry_cursor(struct question *q, const void *row)
{
    (void)q;
    return ((const struct registry_row *)row)->name;
}

/* ---- definitions ---------------------------------------------------------------------------- */

/* A cursor is "version/name". */
static cairn_code fetch_definitions(struct question *q, void *rows, size_t room,
                                    size_t *ret_count)
{
    const char *cursor = q->request->in.page.cursor;
    const char *slash = cursor ? strchr(cursor, '/') : NULL;
    if (cursor && !slash)
        return fail(q->error, CAIRN_E_BAD_INPUT, "cursor is not one of ours");
    return q->ops->list_definitions(q->tx, slash ? slash + 1 : NULL,
                                    slash ? (int32_t)strtol(cursor, NULL, 10) : 0, rows, room,
                                    ret_count, q->error);
}

static const char *definition_cursor(struct question *q, const void *from)
{
    const struct definition_row *row = from;
    return arena_printf(q->arena, "%d/%s", (int)row->version, row->name);
}

static cairn_code show_definition(struct question *q, const void *from, void *ret)
{
    const struct definition_row *row = from;
    (void)q;
    *(cairn_workflow *)ret = (cairn_workflow){
        .name = row->name,
        .version = row->version,
        .hash = row->hash,
        .content = row->content,
        .created_at_us = row->created_at_us,
    };
    return CAIRN_OK;
}

/* ---- instances ------------------------------------------------------------------------------ */

/* A start that plain SQL has written: pending, or the instance that has its key. */
static cairn_code find_intake(struct question *q, const char *id, struct instance_row *ret_row)
{
    struct intake_row row;
    struct definition_row definition;
    TRY(q->ops->get_intake(q->tx, id, &row, q->error));
    if (row.instance_id)
        return q->ops->get_instance(q->tx, row.instance_id, ret_row, q->error);
    *ret_row = (struct instance_row){.id = row.id,
                                     .workflow = row.workflow,
                                     .version = row.version,
                                     .key = row.key,
                                     .status = INSTANCE_PENDING,
                                     .generation = 1,
                                     .start_at_us = row.start_at_us,
                                     .created_at_us = row.created_at_us,
                                     .metadata = row.metadata,
                                     .input = row.input};
    if (!row.version && !q->ops->get_definition(q->tx, row.workflow, 0, &definition, q->error))
        ret_row->version = definition.version;
    return CAIRN_OK;
}

cairn_code question_instance(struct question *q, const char *id, struct instance_row *ret_row)
{
    cairn_code code = CAIRN_E_NOT_FOUND;
    if (id_is_valid(id))
        code = q->ops->get_instance(q->tx, id, ret_row, q->error);
    if (code == CAIRN_E_NOT_FOUND && id_is_valid(id))
        code = find_intake(q, id, ret_row);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(q->error, code, "instance \"%.64s\" does not exist", id);
    return code;
}

/* Never fork, join, condition or save point; of a function that waits, what it waits for is shown. */
static bool is_shown(const struct step_row *row)
{
    if (row->kind == KIND_FUNCTION)
        return row->status != STEP_WAITING;
    return row->kind == KIND_TASK || row->kind == KIND_SLEEP || row->kind == KIND_WAIT ||
           row->kind == KIND_HUMAN;
}

static cairn_code add_current(struct question *q, cairn_instance *instance)
{
    struct step_row rows[CURRENT_PORTION];
    LIST(const char *) names = {0};
    size_t count = CURRENT_PORTION;
    for (int32_t after = -1; count == CURRENT_PORTION && names.count < CURRENT_MAX;) {
        TRY(q->ops->list_steps(q->tx, instance->id, after, true, rows, CURRENT_PORTION, &count,
                               q->error));
        for (size_t i = 0; i < count; i++) {
            after = rows[i].seq;
            if (!is_shown(&rows[i]))
                continue;
            const char **name = list_add(q->arena, &names);
            NEED(name, q->error);
            *name = rows[i].name;
        }
    }
    instance->current_steps = names.items;
    instance->current_step_count = names.count;
    return CAIRN_OK;
}

static cairn_code fetch_instances(struct question *q, void *rows, size_t room,
                                  size_t *ret_count)
{
    const cairn_instance_filter *in = &q->request->in.instance_list;
    struct instance_filter filter = {
        .status = in->status ? instance_status_from(in->status) : INSTANCE_NONE,
        .workflow = in->workflow,
        .key = in->key,
        .before_seq = cursor_number(q),
    };
    return q->ops->list_instances(q->tx, &filter, rows, room, ret_count, q->error);
}

static cairn_code show_instance(struct question *q, const void *from, void *ret)
{
    const struct instance_row *row = from;
    cairn_instance *instance = ret;
    *instance = (cairn_instance){
        .id = row->id,
        .workflow = row->workflow,
        .key = row->key,
        .input = row->input,
        .output = row->output,
        .version = row->version,
        .status = instance_status_name(row->status),
        .status_code = (cairn_instance_status)row->status,
        .last_error = row->last_error,
        .generation = row->generation,
        .created_at_us = row->created_at_us,
        .started_at_us = row->started_at_us,
        .finished_at_us = row->finished_at_us,
        .start_at_us = row->start_at_us,
        .undo_error = row->undo_error,
        .metadata = row->metadata,
    };
    return instance_is_final(row->status) ? CAIRN_OK : add_current(q, instance);
}

/* ---- what belongs to an instance ------------------------------------------------------------ */

static cairn_code fetch_steps(struct question *q, void *rows, size_t room, size_t *ret_count)
{
    const struct page_input *in = &q->request->in.page;
    int32_t after = in->cursor ? (int32_t)cursor_number(q) : -1;
    return q->ops->list_steps(q->tx, in->id, after, false, rows, room, ret_count, q->error);
}

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

static cairn_code show_step(struct question *q, const void *row, void *ret)
{
    return step_to_public(q->arena, row, ret, q->error);
}

static cairn_code fetch_events(struct question *q, void *rows, size_t room, size_t *ret_count)
{
    return q->ops->list_events(q->tx, q->request->in.page.id, cursor_number(q), rows, room,
                               ret_count, q->error);
}

static cairn_code show_event(struct question *q, const void *from, void *ret)
{
    const struct event_row *row = from;
    (void)q;
    *(cairn_event *)ret = (cairn_event){
        .id = row->id,
        .type = row->type,
        .step = row->step,
        .data = row->data,
        .at_us = row->at_us,
    };
    return CAIRN_OK;
}

static cairn_code fetch_logs(struct question *q, void *rows, size_t room, size_t *ret_count)
{
    return q->ops->list_logs(q->tx, q->request->in.page.id, cursor_number(q), rows, room,
                             ret_count, q->error);
}

static cairn_code show_log(struct question *q, const void *from, void *ret)
{
    const struct log_row *row = from;
    (void)q;
    *(cairn_log *)ret = (cairn_log){
        .id = row->id,
        .level = row->level,
        .message = row->message,
        .data = row->data,
        .step = row->step,
        .attempt = row->attempt,
        .at_us = row->at_us,
    };
    return CAIRN_OK;
}

static cairn_code fetch_decisions(struct question *q, void *rows, size_t room,
                                  size_t *ret_count)
{
    return q->ops->list_decisions(q->tx, q->request->in.page.id, cursor_number(q), rows, room,
                                  ret_count, q->error);
}

static cairn_code show_decision(struct question *q, const void *from, void *ret)
{
    const struct decision_row *row = from;
    (void)q;
    *(cairn_decision *)ret = (cairn_decision){
        .id = row->id,
        .step = row->step_name,
        .decision = row->decision,
        .by = row->decided_by,
        .comment = row->comment,
        .at_us = row->decided_at_us,
    };
    return CAIRN_OK;
}

/* ---- the DLQ -------------------------------------------------------------------------------- */

static cairn_code fetch_dlq(struct question *q, void *rows, size_t room, size_t *ret_count)
{
    return q->ops->list_dlq(q->tx, NULL, cursor_number(q), rows, room, ret_count, q->error);
}

static cairn_code show_record(struct question *q, const void *from, void *ret)
{
    const struct dlq_row *row = from;
    cairn_dlq_record *record = ret;
    *record = (cairn_dlq_record){
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
    return record->id && record->workflow_id && record->step_id ? CAIRN_OK
                                                                : fail_memory(q->error);
}

/* ---- pages ---------------------------------------------------------------------------------- */

struct list {
    const struct row_type *rows;
    size_t item_size;
    enum { OF_ALL, OF_JOB, OF_INSTANCE } parent; /* what the items belong to: it must exist */
    cairn_code (*fetch)(struct question *q, void *rows, size_t room, size_t *ret_count);
    cairn_code (*show)(struct question *q, const void *row, void *ret_item);

    /* The cursor behind a row: a text, or else the number in this column. */
    const char *(*cursor)(struct question *q, const void *row);
    const char *number;
};

static const struct list lists[OP_COUNT] = {
    [OP_JOB_LIST] = {&job_row_type, sizeof(cairn_job), OF_ALL, fetch_jobs, show_job,
                     .number = "seq"},
    [OP_JOB_EVENTS] = {&event_row_type, sizeof(cairn_event), OF_JOB, fetch_events, show_event,
                       .number = "id"},
    [OP_REGISTRY_LIST] = {&registry_row_type, sizeof(cairn_registry_entry), OF_ALL,
                          fetch_registry, show_entry, .cursor = entry_cursor},
    [OP_DEFINITION_LIST] = {&definition_row_type, sizeof(cairn_workflow), OF_ALL,
                            fetch_definitions, show_definition, .cursor = definition_cursor},
    [OP_INSTANCE_LIST] = {&instance_row_type, sizeof(cairn_instance), OF_ALL, fetch_instances,
                          show_instance, .number = "seq"},
    [OP_STEP_LIST] = {&step_row_type, sizeof(cairn_step), OF_INSTANCE, fetch_steps, show_step,
                      .number = "seq"},
    [OP_INSTANCE_EVENTS] = {&event_row_type, sizeof(cairn_event), OF_INSTANCE, fetch_events,
                            show_event, .number = "id"},
    [OP_LOG_LIST] = {&log_row_type, sizeof(cairn_log), OF_INSTANCE, fetch_logs, show_log,
                     .number = "id"},
    [OP_DECISION_LIST] = {&decision_row_type, sizeof(cairn_decision), OF_INSTANCE,
                          fetch_decisions, show_decision, .number = "id"},
    [OP_DLQ_LIST] = {&dlq_row_type, sizeof(cairn_dlq_record), OF_ALL, fetch_dlq, show_record,
                     .number = "id"},
};

static cairn_code find_parent(struct question *q, const struct list *list)
{
    const char *id = q->request->in.page.id;
    struct job_row job;
    struct instance_row instance;
    if (list->parent == OF_JOB)
        return find_job(q, id, &job);
    return list->parent == OF_INSTANCE ? question_instance(q, id, &instance) : CAIRN_OK;
}

static const char *cursor_behind(struct question *q, const struct list *list, const void *row)
{
    const struct column *column = list->rows->columns;
    if (list->cursor)
        return list->cursor(q, row);
    while (strcmp(column->name, list->number) != 0)
        column++;
    return arena_printf(q->arena, "%lld", (long long)member_int(column, row));
}

/* One more than the page holds is read, to know whether another page follows. */
cairn_code answer_list(struct question *q)
{
    const struct list *list = &lists[q->request->op];
    size_t limit = page_of(q->request).limit, room = limit + 1, count = 0;
    struct page_output *page = &q->request->out.page;
    TRY(find_parent(q, list));
    char *rows = arena_array(q->arena, room, list->rows->size);
    char *items = arena_array(q->arena, room, list->item_size);
    NEED(rows && items, q->error);
    TRY(list->fetch(q, rows, room, &count));
    *page = (struct page_output){.items = items, .count = count < room ? count : limit};
    for (size_t i = 0; i < page->count; i++)
        TRY(list->show(q, rows + i * list->rows->size, items + i * list->item_size));
    if (count < room)
        return CAIRN_OK;
    page->next = cursor_behind(q, list, rows + (limit - 1) * list->rows->size);
    return page->next ? CAIRN_OK : fail_memory(q->error);
}

cairn_code answer_stream(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    size_t count = 0;
    struct event_row *rows = arena_array(q->arena, in->limit, sizeof *rows);
    struct stream_event *items = arena_array(q->arena, in->limit, sizeof *items);
    NEED(rows && items, q->error);
    int64_t last = cursor_number(q);
    TRY(q->ops->list_events(q->tx, NULL, last, rows, in->limit, &count, q->error));
    for (size_t i = 0; i < count; i++) {
        items[i].subject = rows[i].subject_id;
        show_event(q, &rows[i], &items[i].event);
        last = rows[i].id;
    }
    q->request->out.page =
        (struct page_output){.stream = items,
                             .count = count,
                             .next = arena_printf(q->arena, "%lld", (long long)last)};
    return q->request->out.page.next ? CAIRN_OK : fail_memory(q->error);
}

/* ---- single rows ---------------------------------------------------------------------------- */

static cairn_code answer_one(struct question *q, const void *row, enum request_op list_op)
{
    const struct list *list = &lists[list_op];
    void *item = arena_zalloc(q->arena, list->item_size);
    NEED(item, q->error);
    q->request->out.page = (struct page_output){.items = item, .count = 1};
    return list->show(q, row, item);
}

cairn_code answer_job(struct question *q)
{
    struct job_row row;
    TRY(find_job(q, q->request->in.id, &row));
    return answer_one(q, &row, OP_JOB_LIST);
}

cairn_code answer_definition(struct question *q)
{
    const struct definition_input *in = &q->request->in.definition;
    struct definition_row row;
    cairn_code code = q->ops->get_definition(q->tx, in->name, in->version, &row, q->error);
    if (code == CAIRN_E_NOT_FOUND && in->version == 0)
        return fail(q->error, code, "workflow \"%.64s\" does not exist", in->name);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(q->error, code, "workflow \"%.64s\" version %d does not exist", in->name,
                    (int)in->version);
    return code ? code : answer_one(q, &row, OP_DEFINITION_LIST);
}

cairn_code answer_instance(struct question *q)
{
    struct instance_row row;
    TRY(question_instance(q, request_instance_id(q->request), &row));
    return answer_one(q, &row, OP_INSTANCE_LIST);
}

cairn_code answer_dlq_record(struct question *q)
{
    const char *id = q->request->in.id;
    int64_t number;
    struct dlq_row row;
    cairn_code code = CAIRN_E_NOT_FOUND;
    if (number_id_read(id, &number))
        code = q->ops->get_dlq(q->tx, number, &row, q->error);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(q->error, code, "DLQ record \"%.64s\" does not exist", id);
    return code ? code : answer_one(q, &row, OP_DLQ_LIST);
}
