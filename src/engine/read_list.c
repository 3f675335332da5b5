/* engine/read_list.c - lists of rows, page by page, and single rows, as callers see them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each noun says how a page of its rows is fetched and how one row is shown; the rest is the same for
 * all of them.
 */
#include "core/error_group.h"
#include "engine/read_why.h"

#include <stdlib.h>
#include <string.h>

/* A cursor that is a number; 0: the beginning. */
static int64_t cursor_number(const struct question *q)
{
    const char *cursor = q->request->in.page.cursor;
    return cursor ? strtoll(cursor, NULL, 10) : 0;
}

/* In a function that shows a row: the item's member of the same name. */
#define SAME(member) item->member = row->member

/* The group of an error, for GET /v1/errors; NULL: there is none. */
static cairn_code show_error_group(struct question *q, const struct error_place *place,
                                   const char **ret_group)
{
    char group[ERROR_GROUP_TEXT];
    error_group_of(place, group);
    *ret_group = *group ? arena_strdup(q->arena, group) : NULL;
    return *ret_group || !*group ? CAIRN_OK : fail_memory(q->error);
}

/* ---- jobs ----------------------------------------------------------------------------------- */

static cairn_code find_job(struct question *q, const char *id, struct job_row *ret_row)
{
    cairn_code code = CAIRN_E_NOT_FOUND;
    if (id_is_valid(id))
        code = STORE(q, get_job, id, ret_row);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(q->error, code, "job \"%.64s\" does not exist", id);
    return code;
}

cairn_code show_job(struct question *q, const void *from, void *ret)
{
    const struct job_row *row = from;
    cairn_job *item = ret;
    SAME(id), SAME(type), SAME(payload), SAME(leased_by), SAME(last_error), SAME(result),
        SAME(priority), SAME(attempt), SAME(max_attempts), SAME(run_at_us),
        SAME(lease_until_us), SAME(created_at_us), SAME(updated_at_us), SAME(deleted_at_us),
        SAME(metadata), SAME(tags), SAME(timeout_ms), SAME(retry), SAME(schedule), SAME(group);
    item->status = job_status_name(row->status);
    item->status_code = (cairn_job_status)row->status;
    item->idempotency_key = row->key;
    struct error_place place = error_of_job(row);
    TRY(show_error_group(q, &place, &item->error_group));
    bool is_row = q->request->op == OP_JOB_LIST && q->request->in.job_list.is_row;
    bool is_wanted = q->request->op == OP_JOB_GET || is_row;
    return is_wanted ? why_of_job(q, row, &item->why) : CAIRN_OK;
}

/* ---- the registry --------------------------------------------------------------------------- */

static cairn_code fetch_registry(struct question *q, void *rows, size_t room, size_t *ret_count)
{
    return STORE(q, list_registry, q->request->in.page.cursor, rows, room, ret_count);
}

static cairn_code show_entry(struct question *q, const void *from, void *ret)
{
    const struct registry_row *row = from;
    cairn_registry_entry *item = ret;
    (void)q;
    SAME(intent_type), SAME(runtime), SAME(description), SAME(is_enabled), SAME(created_at_us),
        SAME(updated_at_us);
    item->workflow_name = row->name;
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
        return fail(q->error, CAIRN_E_BAD_INPUT, "cursor is invalid");
    return STORE(q, list_definitions, slash ? slash + 1 : NULL,
                 slash ? (int32_t)strtol(cursor, NULL, 10) : 0, rows, room, ret_count);
}

static const char *definition_cursor(struct question *q, const void *from)
{
    const struct definition_row *row = from;
    return arena_printf(q->arena, "%d/%s", (int)row->version, row->name);
}

static cairn_code show_definition(struct question *q, const void *from, void *ret)
{
    const struct definition_row *row = from;
    cairn_workflow *item = ret;
    (void)q;
    SAME(name), SAME(version), SAME(hash), SAME(content), SAME(created_at_us);
    return CAIRN_OK;
}

/* ---- instances ------------------------------------------------------------------------------ */

/* A start that plain SQL has written: pending, or the instance that has its key. */
static cairn_code find_intake(struct question *q, const char *id, struct instance_row *ret_row)
{
    struct intake_row row;
    struct definition_row definition;
    TRY(STORE(q, get_intake, id, &row));
    if (row.instance_id)
        return STORE(q, get_instance, row.instance_id, ret_row);
    *ret_row = (struct instance_row){.id = row.id,
                                     .workflow = row.workflow,
                                     .version = row.version,
                                     .key = row.key,
                                     .status = INSTANCE_PENDING,
                                     .generation = 1,
                                     .start_at_us = row.start_at_us,
                                     .created_at_us = row.created_at_us,
                                     .metadata = row.metadata,
                                     .group = row.group,
                                     .tags = tags_or_null(row.tags),
                                     .input = row.input};
    if (!row.version && !STORE(q, get_definition, row.workflow, 0, &definition))
        ret_row->version = definition.version;
    return CAIRN_OK;
}

cairn_code question_instance(struct question *q, const char *id, struct instance_row *ret_row)
{
    cairn_code code = CAIRN_E_NOT_FOUND;
    bool is_valid = id_is_valid(id);
    if (is_valid)
        code = STORE(q, get_instance, id, ret_row);
    if (code == CAIRN_E_NOT_FOUND && is_valid)
        code = find_intake(q, id, ret_row);
    if (code == CAIRN_E_NOT_FOUND &&
        is_valid) /* it may have been started between the two looks */
        code = STORE(q, get_instance, id, ret_row);
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
           row->kind == KIND_HUMAN || row->kind == KIND_START;
}

static cairn_code add_current(struct question *q, const struct open_steps *open,
                              cairn_instance *instance)
{
    LIST(const char *) names = {0};
    for (size_t i = 0; i < open->count; i++) {
        const struct step_row *row = &open->items[i];
        if (!step_is_current(row->status) || !is_shown(row))
            continue;
        const char **name = list_add(q->arena, &names);
        NEED(name, q->error);
        *name = row->name;
    }
    instance->current_steps = names.items;
    instance->current_step_count = names.count;
    return CAIRN_OK;
}

/* A single one, and a row of a list, says why it has not ended, or how it ended. */
static cairn_code add_why(struct question *q, const struct instance_row *row,
                          const struct open_steps *open, cairn_instance *instance)
{
    struct why_list list;
    bool is_row = q->request->op == OP_INSTANCE_LIST && q->request->in.instance_list.is_row;
    if (q->request->op != OP_INSTANCE_GET && !is_row)
        return CAIRN_OK;
    TRY(why_of_instance(q, row, open, is_row, &list));
    instance->why = list.items;
    return CAIRN_OK;
}

cairn_code show_instance_at(struct question *q, const struct instance_row *row,
                            const struct open_steps *open, cairn_instance *item)
{
    struct error_place place;
    SAME(id), SAME(workflow), SAME(key), SAME(input), SAME(output), SAME(version),
        SAME(last_error), SAME(generation), SAME(created_at_us), SAME(started_at_us),
        SAME(finished_at_us), SAME(start_at_us), SAME(undo_error), SAME(metadata), SAME(tags),
        SAME(parent), SAME(paused_by), SAME(paused_reason), SAME(paused_at_us), SAME(schedule),
        SAME(source), SAME(group);
    item->status = instance_status_name(row->status);
    item->status_code = (cairn_instance_status)row->status;
    NEED(error_of_instance(q->arena, row, &place), q->error);
    TRY(show_error_group(q, &place, &item->error_group));
    TRY(add_current(q, open, item));
    return add_why(q, row, open, item);
}

cairn_code show_instance(struct question *q, const void *from, void *ret)
{
    const struct instance_row *row = from;
    struct open_steps open = {0};
    if (!instance_is_final(row->status))
        TRY(question_open_steps(q, row->id, &open));
    return show_instance_at(q, row, &open, ret);
}

/* ---- what belongs to an instance ------------------------------------------------------------ */

/* Lists whose cursors are numbers. */
#define FETCH(name, verb)                                                                  \
    static cairn_code name(struct question *q, void *rows, size_t room, size_t *ret_count) \
    {                                                                                      \
        const char *id = q->request->in.page.id;                                           \
        return STORE(q, verb, id, cursor_number(q), rows, room, ret_count);                \
    }
FETCH(fetch_decisions, list_decisions)
FETCH(fetch_signals, list_all_signals)
FETCH(fetch_outbox, list_outbox)

static cairn_code fetch_open_outbox(struct question *q, void *rows, size_t room,
                                    size_t *ret_count)
{
    return STORE(q, list_open_outbox, q->request->in.page.is_dead, cursor_number(q), rows, room,
                 ret_count);
}

static cairn_code fetch_steps(struct question *q, void *rows, size_t room, size_t *ret_count)
{
    const struct page_input *in = &q->request->in.page;
    int32_t after = in->cursor ? (int32_t)cursor_number(q) : -1;
    return STORE(q, list_steps, in->id, after, false, rows, room, ret_count);
}

cairn_code step_to_public(struct arena *arena, const struct step_row *row, cairn_step *item,
                          cairn_error *reterr)
{
    *item = (cairn_step){.id = step_id_make(arena, row->instance_id, row->seq),
                         .kind = step_kind_name(row->kind),
                         .kind_code = (cairn_step_kind)row->kind,
                         .status = step_status_name(row->status),
                         .status_code = (cairn_step_status)row->status};
    SAME(name), SAME(handler), SAME(input), SAME(output), SAME(error), SAME(metadata),
        SAME(waiting_event), SAME(locked_by), SAME(seq), SAME(attempts), SAME(max_attempts),
        SAME(compensation_attempts), SAME(priority), SAME(commit_no), SAME(next_run_at_us),
        SAME(started_at_us), SAME(finished_at_us), SAME(deadline_at_us), SAME(locked_until_us),
        SAME(undo_error);
    return item->id ? CAIRN_OK : fail_memory(reterr);
}

static cairn_code show_step(struct question *q, const void *row, void *ret)
{
    TRY(step_to_public(q->arena, row, ret, q->error));
    return question_wait_for(q, row, ret);
}

static cairn_code show_event(struct question *q, const void *from, void *ret)
{
    const struct event_row *row = from;
    cairn_event *item = ret;
    (void)q;
    SAME(id), SAME(type), SAME(step), SAME(data), SAME(at_us);
    return CAIRN_OK;
}

static cairn_code show_log(struct question *q, const void *from, void *ret)
{
    const struct log_row *row = from;
    cairn_log *item = ret;
    (void)q;
    SAME(id), SAME(level), SAME(message), SAME(data), SAME(step), SAME(attempt), SAME(at_us);
    return CAIRN_OK;
}

static cairn_code show_decision(struct question *q, const void *from, void *ret)
{
    const struct decision_row *row = from;
    cairn_decision *item = ret;
    (void)q;
    SAME(id), SAME(decision), SAME(comment);
    item->step = row->step_name;
    item->by = row->decided_by;
    item->at_us = row->decided_at_us;
    return CAIRN_OK;
}

static cairn_code show_signal(struct question *q, const void *from, void *ret)
{
    const struct signal_row *row = from;
    struct signal_item *item = ret;
    (void)q;
    SAME(id), SAME(event), SAME(payload), SAME(received_at_us), SAME(taken_by);
    return CAIRN_OK;
}

static cairn_code show_outbox(struct question *q, const void *from, void *ret)
{
    const struct outbox_row *row = from;
    struct outbox_item *item = ret;
    item->base = (cairn_outbox_event){.id = arena_printf(q->arena, "%lld", (long long)row->id),
                                      .instance_id = row->instance_id,
                                      .step = row->step,
                                      .event = row->event,
                                      .payload = row->payload,
                                      .created_at_us = row->created_at_us};
    SAME(claimed_by), SAME(claimed_until_us), SAME(attempts), SAME(last_error),
        SAME(dead_at_us);
    item->acked_at_us = row->dead_at_us ? 0 : row->acked_at_us; /* nobody has acknowledged it */
    NEED(item->base.id, q->error);
    return CAIRN_OK;
}

/* ---- the DLQ -------------------------------------------------------------------------------- */

cairn_code show_record(struct question *q, const void *from, void *ret)
{
    const struct dlq_row *row = from;
    cairn_dlq_record *item = ret;
    SAME(instance_id), SAME(step_name), SAME(step_type), SAME(input), SAME(error), SAME(reason),
        SAME(is_open), SAME(created_at_us);
    item->id = arena_printf(q->arena, "%lld", (long long)row->id);
    item->workflow_id = arena_printf(q->arena, "%s/%d", row->workflow, (int)row->version);
    item->step_id = step_id_make(q->arena, row->instance_id, row->step_seq);
    return item->id && item->workflow_id && item->step_id ? CAIRN_OK : fail_memory(q->error);
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

    /* Its items without payloads, if the request wants them so; NULL: it cannot. */
    const struct row_view {
        size_t item_size;
        cairn_code (*show)(struct question *q, const void *row, void *ret_item);
    } * view;
};

static const struct row_view step_rows = {sizeof(struct step_item), show_step_row};

/* Pages of jobs and instances are read by read_rows.c, those of records by read_errors.c. */
static const struct list lists[OP_COUNT] = {
    [OP_JOB_LIST] = {&job_row_type, sizeof(cairn_job), OF_ALL, NULL, show_job, .number = "seq"},
    [OP_JOB_EVENTS] = {&event_row_type, sizeof(cairn_event), OF_JOB, fetch_history, show_event,
                       .number = "id"},
    [OP_REGISTRY_LIST] = {&registry_row_type, sizeof(cairn_registry_entry), OF_ALL,
                          fetch_registry, show_entry, .cursor = entry_cursor},
    [OP_DEFINITION_LIST] = {&definition_row_type, sizeof(cairn_workflow), OF_ALL,
                            fetch_definitions, show_definition, .cursor = definition_cursor},
    [OP_INSTANCE_LIST] = {&instance_row_type, sizeof(cairn_instance), OF_ALL, NULL,
                          show_instance, .number = "seq"},
    [OP_STEP_LIST] = {&step_row_type, sizeof(cairn_step), OF_INSTANCE, fetch_steps, show_step,
                      .number = "seq", &step_rows},
    [OP_INSTANCE_EVENTS] = {&event_row_type, sizeof(cairn_event), OF_INSTANCE, fetch_history,
                            show_event, .number = "id"},
    [OP_LOG_LIST] = {&log_row_type, sizeof(cairn_log), OF_INSTANCE, fetch_history, show_log,
                     .number = "id"},
    [OP_DECISION_LIST] = {&decision_row_type, sizeof(cairn_decision), OF_INSTANCE,
                          fetch_decisions, show_decision, .number = "id"},
    [OP_SIGNAL_LIST] = {&signal_row_type, sizeof(struct signal_item), OF_INSTANCE,
                        fetch_signals, show_signal, .number = "seq"},
    [OP_OUTBOX_LIST] = {&outbox_row_type, sizeof(struct outbox_item), OF_INSTANCE, fetch_outbox,
                        show_outbox, .number = "id"},
    [OP_OUTBOX_OPEN] = {&outbox_row_type, sizeof(struct outbox_item), OF_ALL, fetch_open_outbox,
                        show_outbox, .number = "id"},
    [OP_DLQ_LIST] = {&dlq_row_type, sizeof(cairn_dlq_record), OF_ALL, NULL, show_record,
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
    size_t limit = q->request->in.page.limit, room = limit + 1, count = 0;
    struct page_output *page = &q->request->out.page;
    const struct row_view *view = q->request->in.page.is_row ? list->view : NULL;
    size_t item_size = view ? view->item_size : list->item_size;
    TRY(find_parent(q, list));
    char *rows = arena_room(q->arena, room, list->rows->size);
    char *items = arena_array(q->arena, room, item_size);
    NEED(rows && items, q->error);
    *page = (struct page_output){.items = items, .is_row = view != NULL};
    TRY(list->fetch(q, rows, room, &count));
    page->count = count < room ? count : limit;
    for (size_t i = 0; i < page->count; i++)
        TRY((view ? view->show : list->show)(q, rows + i * list->rows->size,
                                             items + i * item_size));
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
    TRY(STORE(q, list_events, NULL, last, rows, in->limit, &count));
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

cairn_code question_definition(struct question *q, const char *name, int32_t version,
                               struct definition_row *ret_row)
{
    cairn_code code = STORE(q, get_definition, name, version, ret_row);
    if (code == CAIRN_E_NOT_FOUND && version == 0)
        return fail(q->error, code, "workflow \"%.64s\" does not exist", name);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(q->error, code, "workflow \"%.64s\" version %d does not exist", name,
                    (int)version);
    return code;
}

cairn_code answer_definition(struct question *q)
{
    const struct definition_input *in = &q->request->in.definition;
    struct definition_row row;
    TRY(question_definition(q, in->name, in->version, &row));
    return answer_one(q, &row, OP_DEFINITION_LIST);
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
        code = STORE(q, get_dlq, number, &row);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(q->error, code, "DLQ record \"%.64s\" does not exist", id);
    return code ? code : answer_one(q, &row, OP_DLQ_LIST);
}
