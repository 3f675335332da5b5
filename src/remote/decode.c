/* remote/decode.c - a server's answer as the outputs of a request.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * By the operation's table, except where the answer depends on what was asked for.
 */
#include "remote/remote.h"

#include "base/error.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

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
    cairn_code code = items ? CAIRN_OK : fail_memory(reader->error);
    if (!code && wanted == 1)
        code = read_object(reader, answer, &enqueued_object, items);
    else if (!code)
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
    void *items;
    size_t count;
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
