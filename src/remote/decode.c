/* remote/decode.c - a server's answer as the outputs of a request.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * By the operation's table, except where the answer depends on what was asked for.
 *
 * Fields that a table does not name are passed over, so that a newer server can say more than this
 * library knows.  All structs begin zeroed.
 */
#include "remote/remote.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct reader {
    struct remote_engine *engine;
    struct arena *arena;
    cairn_error *error;
};

/* The answer is not what a server of ours would send. */
static cairn_code not_understood(struct reader *reader, const char *what)
{
    fail(reader->error, CAIRN_E_INTERNAL, "cannot read the answer of %s: %s",
         reader->engine->base.url, what);
    return fail_hint(reader->error, CAIRN_E_INTERNAL,
                     "is it a Cairn server, and of a version like %s?", CAIRN_VERSION);
}

static cairn_code about_field(struct reader *reader, const struct field *field,
                              const char *what)
{
    char text[96];
    snprintf(text, sizeof text, "\"%s\" %s", field->name, what);
    return not_understood(reader, text);
}

static cairn_code put_text(struct reader *reader, const struct field *field, void *to,
                           const char *text)
{
    if (!text)
        return fail_memory(reader->error);
    field_put_pointer(field, to, text);
    return CAIRN_OK;
}

/* A number may also be sent as a string. */
static bool read_number(struct slice value, const struct field *field, void *to)
{
    int64_t number;
    uint64_t large;
    if (field->size == sizeof(int64_t) && slice_is_string(value))
        value = (struct slice){value.text + 1, value.len - 2};
    if (field->kind == FIELD_UINT && slice_uint(value, &large)) {
        field_put_number(field, to, (int64_t)large);
        return true;
    }
    if (!slice_int(value, &number) || field->kind == FIELD_UINT ||
        (field->size == sizeof(int32_t) && (number < INT32_MIN || number > INT32_MAX)))
        return false;
    field_put_number(field, to, number);
    return true;
}

static bool read_bool(struct slice value, const struct field *field, void *to)
{
    bool is_true = slice_is(value, "true");
    field_put_number(field, to, is_true);
    return is_true || slice_is(value, "false");
}

static bool read_instant(struct slice value, int64_t *ret_us)
{
    char text[64];
    return slice_unescape(value, text, sizeof text) && instant_read(text, ret_us);
}

static bool read_time(struct slice value, const struct field *field, void *to)
{
    int64_t us;
    if (!read_instant(value, &us))
        return false;
    field_put_number(field, to, us);
    return true;
}

static cairn_code read_list(struct reader *reader, struct slice list,
                            const struct object *object, void **ret_items, size_t *ret_count);

static cairn_code read_texts(struct reader *reader, const struct field *field,
                             struct slice list, void *to)
{
    struct scan scan;
    struct slice item;
    size_t count = 0;
    if (!scan_list(list, &scan))
        return about_field(reader, field, "is of the wrong type");
    const char **texts = arena_array(reader->arena, scan_count(list), sizeof *texts);
    if (!texts)
        return fail_memory(reader->error);
    while (scan_item(&scan, &item)) {
        if (!slice_is_string(item))
            return about_field(reader, field, "is of the wrong type");
        texts[count] = slice_string(item, reader->arena);
        if (!texts[count++])
            return fail_memory(reader->error);
    }
    field_put_list(field, to, texts, count);
    return CAIRN_OK;
}

static cairn_code read_items(struct reader *reader, const struct field *field,
                             struct slice list, void *to)
{
    void *items = NULL;
    size_t count = 0;
    TRY(read_list(reader, list, field->inner, &items, &count));
    if (field->kind == FIELD_POINTERS)
        items = arena_pointers(reader->arena, items, count, field->inner->size);
    field_put_list(field, to, items, count);
    return items ? CAIRN_OK : fail_memory(reader->error);
}

static cairn_code read_object(struct reader *reader, struct slice value,
                              const struct object *object, void *to);

static cairn_code read_ref(struct reader *reader, const struct field *field, struct slice value,
                           void *to)
{
    void *item = arena_zalloc(reader->arena, field->inner->size);
    if (!item)
        return fail_memory(reader->error);
    field_put_pointer(field, to, item);
    return read_object(reader, value, field->inner, item);
}

static cairn_code read_field(struct reader *reader, const struct field *field,
                             struct slice value, void *to)
{
    char word[64];
    bool is_good = false, is_null = slice_is(value, "null");
    if (is_null && (field->kind == FIELD_PLACE || field->kind == FIELD_MAYBE))
        field_put_number(field, to, -1);
    if (field->is_echo || (is_null && field->kind != FIELD_VALUE))
        return CAIRN_OK;
    switch (field->kind) {
    case FIELD_TEXT:
        if (slice_is_string(value))
            return put_text(reader, field, to, slice_string(value, reader->arena));
        break;
    case FIELD_JSON:
    case FIELD_VALUE:
        return put_text(reader, field, to, slice_json(value, reader->arena));
    case FIELD_CHARS:
        is_good = slice_unescape(value, (char *)to + field->offset, field->size);
        break;
    case FIELD_WORD:
        if (slice_unescape(value, word, sizeof word))
            return put_text(reader, field, to, remote_word(reader->engine, word));
        break;
    case FIELD_INT:
    case FIELD_UINT:
    case FIELD_PLACE:
    case FIELD_NUMBER:
        is_good = read_number(value, field, to);
        break;
    case FIELD_BOOL:
    case FIELD_MAYBE:
        is_good = read_bool(value, field, to);
        break;
    case FIELD_TIME:
        is_good = read_time(value, field, to);
        break;
    case FIELD_REF:
        return read_ref(reader, field, value, to);
    case FIELD_TEXTS:
        return read_texts(reader, field, value, to);
    case FIELD_LIST:
    case FIELD_POINTERS:
        return read_items(reader, field, value, to);
    default:
        break; /* of requests only */
    }
    return is_good ? CAIRN_OK : about_field(reader, field, "is of the wrong type");
}

/* Callers use these without looking, so an answer without one is refused here. */
static bool is_missing(const struct field *field, const char *from)
{
    if (field->kind == FIELD_CHARS)
        return from[field->offset] == '\0';
    if (field->kind == FIELD_TIME)
        return field_number(field, from) == 0;
    return !field_pointer(field, from);
}

static cairn_code check_needed(struct reader *reader, const struct object *object,
                               const char *from)
{
    for (size_t i = 0; i < object->count; i++) {
        const struct field *field = &object->fields[i];
        if (field->kind == FIELD_FIELDS)
            TRY(check_needed(reader, field->inner, from + field->offset));
        else if (field->is_needed && !field->is_echo && is_missing(field, from))
            return about_field(reader, field, "is missing");
    }
    return CAIRN_OK;
}

/* The enums beside words. */
static void fill_codes(const struct object *object, char *to)
{
    for (size_t i = 0; i < object->count; i++) {
        const struct field *field = &object->fields[i];
        if (field->kind == FIELD_FIELDS)
            fill_codes(field->inner, to + field->offset);
        if (!field->coded)
            continue;
        int code = word_from(field->coded, field_pointer(field, to));
        memcpy(to + field->code_offset, &code, sizeof code);
    }
}

static cairn_code read_object(struct reader *reader, struct slice value,
                              const struct object *object, void *ret)
{
    struct scan scan;
    struct slice key, inner;
    if (!scan_object(value, &scan))
        return not_understood(reader, "something is not an object");
    while (scan_member(&scan, &key, &inner)) {
        size_t offset = 0;
        const struct field *field = field_named(object, key.text, key.len, &offset);
        if (field)
            TRY(read_field(reader, field, inner, (char *)ret + offset));
    }
    fill_codes(object, ret);
    return check_needed(reader, object, ret);
}

static cairn_code read_list(struct reader *reader, struct slice list,
                            const struct object *object, void **ret_items, size_t *ret_count)
{
    struct scan scan;
    struct slice item;
    if (!scan_list(list, &scan))
        return not_understood(reader, "a list is missing");
    char *items = arena_array(reader->arena, scan_count(list), object->size);
    if (!items)
        return fail_memory(reader->error);
    *ret_items = items;
    *ret_count = 0;
    for (; scan_item(&scan, &item); (*ret_count)++)
        TRY(read_object(reader, item, object, items + *ret_count * object->size));
    return CAIRN_OK;
}

/* ---- errors ------------------------------------------------------------------------------ */

static cairn_code code_from(struct slice name)
{
    if (!slice_is_string(name))
        return CAIRN_OK;
    struct slice bare = {name.text + 1, name.len - 2};
    for (cairn_code code = CAIRN_OK + 1; code <= CAIRN_E_INTERNAL; code++)
        if (slice_is(bare, cairn_code_name(code)))
            return code;
    return CAIRN_OK;
}

/* {code, message, detail?, hint?}; CAIRN_OK if it is none. */
static cairn_code read_error(struct slice object, cairn_error *reterr)
{
    cairn_code code = code_from(scan_find(object, "code"));
    if (!code)
        return CAIRN_OK;
    /* It is the server's engine that is closing, not ours: it, or another, may come back. */
    if (code == CAIRN_E_CLOSED)
        code = CAIRN_E_UNREACHABLE;
    error_clear(reterr);
    reterr->code = code;
    slice_unescape(scan_find(object, "message"), reterr->message, sizeof reterr->message);
    if (!reterr->message[0])
        fail(reterr, code, "the server answered \"%s\" without a message",
             cairn_code_name(code));
    slice_unescape(scan_find(object, "detail"), reterr->detail, sizeof reterr->detail);
    slice_unescape(scan_find(object, "hint"), reterr->hint, sizeof reterr->hint);
    return code;
}

static cairn_code code_of_status(long status)
{
    if (status == 502 || status == 504)
        return CAIRN_E_UNREACHABLE;
    for (cairn_code code = CAIRN_OK + 1; code < CAIRN_E_INTERNAL; code++)
        if (cairn_code_http_status(code) == status && status != 500)
            return code;
    return CAIRN_E_INTERNAL;
}

cairn_code decode_error(const struct remote_engine *engine, long status, const char *text,
                        size_t len, cairn_error *reterr)
{
    struct slice answer = {0};
    cairn_code code = CAIRN_OK;
    if (scan_text(text, len, &answer))
        code = read_error(answer, reterr);
    if (code)
        return code;
    code = code_of_status(status);
    fail(reterr, code, "the server at %s answered with HTTP status %ld", engine->base.url,
         status);
    return fail_hint(reterr, code, "is it a Cairn server?");
}

static cairn_code read_reported(struct reader *reader, struct slice item,
                                cairn_reported *ret_reported)
{
    if (!slice_unescape(scan_find(item, "status"), ret_reported->status,
                        sizeof ret_reported->status))
        ret_reported->code = read_error(item, &ret_reported->error);
    if (!ret_reported->code && !ret_reported->status[0])
        return not_understood(reader, "a result has neither status nor code");
    return CAIRN_OK;
}

static cairn_code read_tasks(struct reader *reader, struct slice answer,
                             struct page_output *page)
{
    struct slice list = scan_find(answer, "tasks"), item;
    struct scan scan;
    TRY(read_list(reader, list, &task_object, &page->items, &page->count));
    scan_list(list, &scan);
    for (cairn_task *task = page->items; scan_item(&scan, &item); task++) {
        if (strcmp(task->kind, "function") != 0)
            continue;
        cairn_memory *memory = arena_zalloc(reader->arena, sizeof *memory);
        if (!memory)
            return fail_memory(reader->error);
        task->memory = memory;
        TRY(read_object(reader, item, &memory_object, memory));
    }
    return CAIRN_OK;
}

static cairn_code read_report(struct reader *reader, struct slice answer,
                              struct request *request)
{
    size_t count = request->in.report.count;
    struct slice results = scan_find(answer, "results"), item;
    struct scan scan;
    if (!scan_list(results, &scan) || scan_count(results) != count)
        return not_understood(reader, "it has another number of results");
    request->out.reported = arena_array(reader->arena, count, sizeof(cairn_reported));
    if (!request->out.reported)
        return fail_memory(reader->error);
    for (size_t i = 0; scan_item(&scan, &item); i++)
        TRY(read_reported(reader, item, &request->out.reported[i]));
    if (!request->in.report.is_claiming)
        return CAIRN_OK;
    return read_tasks(reader, answer, &request->out.page);
}

static cairn_code read_heartbeats(struct reader *reader, struct slice answer,
                                  struct request *request)
{
    const struct heartbeats_input *in = &request->in.heartbeats;
    struct slice tasks = scan_find(answer, "tasks"), item;
    struct scan scan;
    if (!scan_list(tasks, &scan) || scan_count(tasks) != in->count)
        return not_understood(reader, "it has another number of tasks");
    for (size_t i = 0; scan_item(&scan, &item); i++) {
        cairn_error why;
        in->beats[i].ret_code = read_error(item, &why);
        if (!in->beats[i].ret_code)
            TRY(read_object(reader, item, &beat_object, &in->beats[i]));
    }
    return CAIRN_OK;
}

/* One or as many as were asked for, which a table does not know. */
static cairn_code read_enqueued(struct reader *reader, struct slice answer,
                                struct request *request)
{
    size_t wanted = request->in.enqueue.count, count = 1;
    void *items = arena_zalloc(reader->arena, sizeof(cairn_enqueued));
    cairn_code code;
    if (!items)
        return fail_memory(reader->error);
    if (wanted == 1)
        code = read_object(reader, answer, &enqueued_object, items);
    else
        code = read_list(reader, scan_find(answer, "items"), &enqueued_object, &items, &count);
    if (!code && count != wanted)
        code = not_understood(reader, "it has another number of jobs");
    request->out.enqueued = items;
    return code;
}

/* All that was to be started, or nothing: the commit had been taken before. */
static cairn_code read_started(struct reader *reader, struct slice answer,
                               struct request *request)
{
    const struct commit_input *in = &request->in.commit;
    void *items = NULL;
    size_t count = 0;
    TRY(read_list(reader, scan_find(answer, "started"), &enqueued_object, &items, &count));
    if (count == 0)
        return CAIRN_OK;
    if (count != in->job_count + in->start_count)
        return not_understood(reader, "it has started another number of jobs");
    request->out.committed.started = items;
    return CAIRN_OK;
}

static cairn_code read_committed(struct reader *reader, struct slice answer,
                                 struct request *request)
{
    TRY(read_object(reader, answer, &committed_object, &request->out.committed));
    TRY(read_started(reader, answer, request));
    return request->in.commit.is_claiming ? read_tasks(reader, answer, &request->out.page)
                                          : CAIRN_OK;
}

/* The content is what the caller sent. */
static cairn_code read_deployed(struct reader *reader, struct slice answer,
                                struct request *request)
{
    struct page_output *page = &request->out.page;
    request->out.is_existing = slice_is(scan_find(answer, "existing"), "true");
    page->items = arena_zalloc(reader->arena, sizeof *page->definitions);
    if (!page->items)
        return fail_memory(reader->error);
    page->count = 1;
    return read_object(reader, answer, &workflow_names_object, page->items);
}

/* A worker asks for one step, so there is one output, or none. */
static cairn_code read_context(struct reader *reader, struct slice answer,
                               struct request *request)
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

/* ---- by tables ---------------------------------------------------------------------------- */

static cairn_code read_item(struct reader *reader, struct slice answer,
                            const struct operation *operation, struct request *request)
{
    void *item = arena_zalloc(reader->arena, operation->answer->size);
    if (!item)
        return fail_memory(reader->error);
    memcpy((char *)request + operation->answer_at, &item, sizeof item);
    if (operation->answer_at == AT(out.page.items))
        request->out.page.count = 1;
    return read_object(reader, answer, operation->answer, item);
}

static cairn_code read_page(struct reader *reader, struct slice answer,
                            const struct operation *operation, struct page_output *page)
{
    struct slice next = scan_find(answer, "next");
    struct slice list = scan_find(answer, operation->list ? operation->list : "items");
    TRY(read_list(reader, list, operation->answer, &page->items, &page->count));
    if (operation->is_scanned)
        read_instant(scan_find(answer, "scanned_to"), &page->scanned_to_us);
    if (slice_is_string(next)) {
        page->next = slice_string(next, reader->arena);
        return page->next ? CAIRN_OK : fail_memory(reader->error);
    }
    return operation->is_endless ? not_understood(reader, "\"next\" is missing") : CAIRN_OK;
}

static cairn_code read_answer(struct reader *reader, struct slice answer,
                              struct request *request)
{
    const struct operation *operation = operation_of(request->op);
    assert(operation);
    switch (operation->form) {
    case ANSWER_OBJECT:
        return read_object(reader, answer, operation->answer,
                           (char *)request + operation->answer_at);
    case ANSWER_ITEM:
        return read_item(reader, answer, operation, request);
    case ANSWER_LIST:
    case ANSWER_PAGE:
        return read_page(reader, answer, operation, &request->out.page);
    default:
        break;
    }
    switch (request->op) {
    case OP_ENQUEUE:
        return read_enqueued(reader, answer, request);
    case OP_CLAIM:
        return read_tasks(reader, answer, &request->out.page);
    case OP_REPORT:
        return read_report(reader, answer, request);
    case OP_HEARTBEATS:
        return read_heartbeats(reader, answer, request);
    case OP_COMMIT:
        return read_committed(reader, answer, request);
    case OP_DEPLOY:
        return read_deployed(reader, answer, request);
    default:
        assert(request->op == OP_TASK_CONTEXT);
        return read_context(reader, answer, request);
    }
}

cairn_code decode_answer(struct transfer *transfer, struct request *request)
{
    struct reader reader = {
        .engine = transfer->engine, .arena = &request->arena, .error = &request->error};
    struct slice answer;
    if (transfer->status < 200 || transfer->status > 299)
        return request->code =
                   decode_error(transfer->engine, transfer->status, transfer->answer.text,
                                transfer->answer.len, &request->error);
    if (!scan_text(transfer->answer.text, transfer->answer.len, &answer))
        return request->code = not_understood(&reader, "it is not JSON");
    request->out.stats.size = sizeof request->out.stats;
    return request->code = read_answer(&reader, answer, request);
}

const char *remote_word(struct remote_engine *engine, const char *text)
{
    for (int i = 0; i < engine->word_count; i++)
        if (strcmp(engine->words[i], text) == 0)
            return engine->words[i];
    if (engine->word_count == WORDS_MAX)
        return "other";
    char *word = mem_strdup(text);
    if (word)
        engine->words[engine->word_count++] = word;
    return word;
}
