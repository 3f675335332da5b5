/* remote/decode.c - a server's answer as the outputs of a request.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "remote/fields.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

const struct field enqueued_fields[] = {
    NEEDED(cairn_enqueued, id, "id", FIELD_CHARS),
    FIELD(cairn_enqueued, existing, "existing", FIELD_BOOL),
    END_OF_FIELDS,
};

static const struct field job_fields[] = {
    NEEDED(cairn_job, id, "id", FIELD_TEXT),
    NEEDED(cairn_job, type, "type", FIELD_TEXT),
    NEEDED(cairn_job, payload, "payload", FIELD_VALUE),
    NEEDED(cairn_job, status, "status", FIELD_TEXT),
    FIELD(cairn_job, idempotency_key, "idempotency_key", FIELD_TEXT),
    FIELD(cairn_job, leased_by, "leased_by", FIELD_TEXT),
    FIELD(cairn_job, last_error, "last_error", FIELD_TEXT),
    FIELD(cairn_job, result, "result", FIELD_JSON),
    FIELD(cairn_job, priority, "priority", FIELD_INT32),
    FIELD(cairn_job, attempt, "attempt", FIELD_INT32),
    FIELD(cairn_job, max_attempts, "max_attempts", FIELD_INT32),
    FIELD(cairn_job, run_at_us, "run_at", FIELD_TIME),
    FIELD(cairn_job, lease_until_us, "lease_until", FIELD_TIME),
    FIELD(cairn_job, created_at_us, "created_at", FIELD_TIME),
    FIELD(cairn_job, updated_at_us, "updated_at", FIELD_TIME),
    FIELD(cairn_job, deleted_at_us, "deleted_at", FIELD_TIME),
    END_OF_FIELDS,
};

static const struct field task_fields[] = {
    NEEDED(cairn_task, id, "id", FIELD_TEXT),
    NEEDED(cairn_task, token, "token", FIELD_TEXT),
    NEEDED(cairn_task, kind, "kind", FIELD_TEXT),
    NEEDED(cairn_task, type, "type", FIELD_TEXT),
    FIELD(cairn_task, input, "input", FIELD_VALUE),
    FIELD(cairn_task, key, "key", FIELD_TEXT),
    FIELD(cairn_task, attempt, "attempt", FIELD_INT32),
    FIELD(cairn_task, max_attempts, "max_attempts", FIELD_INT32),
    FIELD(cairn_task, lease_until_us, "lease_until", FIELD_TIME),
    FIELD(cairn_task, instance_id, "instance_id", FIELD_TEXT),
    FIELD(cairn_task, step, "step", FIELD_TEXT),
    FIELD(cairn_task, metadata, "metadata", FIELD_JSON),
    FIELD(cairn_task, reason, "reason", FIELD_TEXT),
    FIELD(cairn_task, signal, "signal", FIELD_JSON),
    END_OF_FIELDS,
};

static const struct field event_fields[] = {
    FIELD(cairn_event, id, "id", FIELD_NUMBER),
    NEEDED(cairn_event, type, "type", FIELD_TEXT),
    FIELD(cairn_event, step, "step", FIELD_TEXT),
    NEEDED(cairn_event, data, "data", FIELD_VALUE),
    FIELD(cairn_event, at_us, "at", FIELD_TIME),
    END_OF_FIELDS,
};

static const struct field registry_fields[] = {
    NEEDED(cairn_registry_entry, workflow_name, "workflow_name", FIELD_TEXT),
    NEEDED(cairn_registry_entry, intent_type, "intent_type", FIELD_TEXT),
    NEEDED(cairn_registry_entry, runtime, "runtime", FIELD_TEXT),
    FIELD(cairn_registry_entry, description, "description", FIELD_TEXT),
    FIELD(cairn_registry_entry, is_enabled, "is_enabled", FIELD_BOOL),
    FIELD(cairn_registry_entry, created_at_us, "created_at", FIELD_TIME),
    FIELD(cairn_registry_entry, updated_at_us, "updated_at", FIELD_TIME),
    END_OF_FIELDS,
};

static const struct field finding_fields[] = {
    NEEDED(cairn_finding, check, "check", FIELD_WORD),
    NEEDED(cairn_finding, result, "result", FIELD_WORD),
    FIELD(cairn_finding, text, "text", FIELD_CHARS),
    END_OF_FIELDS,
};

#define STAT(name) FIELD(cairn_stats, name, #name, FIELD_UINT64)
static const struct field stats_fields[] = {
    STAT(enqueued),
    STAT(claimed),
    STAT(completed),
    STAT(failed),
    STAT(retried),
    STAT(cancelled),
    STAT(released),
    STAT(heartbeats),
    STAT(lease_expiries),
    STAT(late_reports),
    STAT(commits),
    STAT(commit_requests),
    STAT(commit_us),
    STAT(commit_us_max),
    STAT(pending),
    STAT(ready),
    STAT(leased),
    STAT(oldest_waiting_us),
    STAT(steps_ready),
    STAT(steps_leased),
    STAT(instances_pending),
    STAT(instances_running),
    STAT(instances_waiting_signal),
    STAT(instances_paused),
    STAT(instances_compensating),
    STAT(instances_dlq),
    STAT(started),
    STAT(passages),
    STAT(passage_commits),
    STAT(passage_conflicts),
    END_OF_FIELDS,
};

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

cairn_code decode_error(const struct transfer *transfer, cairn_error *reterr)
{
    struct slice answer = {0};
    if (scan_text(transfer->answer.text, transfer->answer.len, &answer)) {
        cairn_code code = read_error(answer, reterr);
        if (code)
            return code;
    }
    cairn_code code = code_of_status(transfer->status);
    fail(reterr, code, "the server at %s answered with HTTP status %ld",
         transfer->engine->base.url, transfer->status);
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

cairn_code read_tasks(struct reader *reader, struct slice answer, struct page_output *ret_tasks)
{
    struct scan scan;
    struct slice item;
    cairn_code code =
        read_list(reader, scan_find(answer, "tasks"), OBJECTS(ret_tasks, tasks, task_fields));
    if (code)
        return code;
    scan_list(scan_find(answer, "tasks"), &scan);
    for (cairn_task *task = ret_tasks->tasks; !code && scan_item(&scan, &item); task++) {
        if (strcmp(task->kind, "function") == 0)
            code = read_memory(reader, item, task);
    }
    return code;
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
    for (size_t i = 0; scan_item(&scan, &item); i++) {
        cairn_code code = read_reported(reader, item, &request->out.reported[i]);
        if (code)
            return code;
    }
    if (!request->in.report.is_claiming)
        return CAIRN_OK;
    return read_tasks(reader, answer, &request->out.page);
}

static cairn_code read_enqueued(struct reader *reader, struct slice answer,
                                struct request *request)
{
    struct {
        cairn_enqueued *items;
        size_t count;
    } jobs = {0};
    const struct objects objects = OBJECTS(&jobs, items, enqueued_fields);
    bool is_one = request->in.enqueue.count == 1;
    cairn_code code = is_one ? read_single(reader, answer, objects)
                             : read_list(reader, scan_find(answer, "items"), objects);
    if (!code && jobs.count != request->in.enqueue.count)
        code = not_understood(reader, "it has another number of jobs");
    request->out.enqueued = jobs.items;
    return code;
}

static cairn_code read_heartbeat(struct reader *reader, struct slice answer,
                                 struct request *request)
{
    char word[64];
    struct slice stop = scan_find(answer, "stop");
    request->out.heartbeat.stop = NULL;
    if (!read_time(scan_find(answer, "lease_until"), &request->out.heartbeat.lease_until_us))
        return not_understood(reader, "\"lease_until\" is missing");
    if (!slice_unescape(stop, word, sizeof word))
        return CAIRN_OK;
    return put_pointer(reader, &request->out.heartbeat.stop, remote_word(reader->engine, word));
}

static cairn_code read_now(struct reader *reader, struct slice answer, int64_t *ret_now_us)
{
    if (read_time(scan_find(answer, "now"), ret_now_us))
        return CAIRN_OK;
    return not_understood(reader, "\"now\" is missing");
}

static cairn_code read_answer(struct reader *reader, struct slice answer,
                              struct request *request)
{
    struct page_output *page = &request->out.page;
    switch (request->op) {
    case OP_ENQUEUE:
        return read_enqueued(reader, answer, request);
    case OP_CLAIM:
        return read_tasks(reader, answer, &request->out.page);
    case OP_REPORT:
        return read_report(reader, answer, request);
    case OP_HEARTBEAT:
        return read_heartbeat(reader, answer, request);
    case OP_COMMIT:
        return decode_commit(reader, answer, request);
    case OP_LOG_LIST:
        return decode_logs(reader, answer, request);
    case OP_DECISION_LIST:
        return decode_decisions(reader, answer, request);
    case OP_TASK_CONTEXT:
        return decode_context(reader, answer, request);
    case OP_JOB_LIST:
        return read_page(reader, answer, OBJECTS(page, jobs, job_fields), &page->next);
    case OP_JOB_EVENTS:
    case OP_INSTANCE_EVENTS:
        return read_page(reader, answer, OBJECTS(page, events, event_fields), &page->next);
    case OP_REGISTRY_PUT:
        return read_single(reader, answer, OBJECTS(page, registry, registry_fields));
    case OP_REGISTRY_LIST:
        return read_page(reader, answer, OBJECTS(page, registry, registry_fields), &page->next);
    case OP_CLOCK_ADVANCE:
    case OP_CLOCK_NOW:
        return read_now(reader, answer, &request->out.now_us);
    case OP_STATS:
        request->out.stats.size = sizeof request->out.stats;
        return read_object(reader, answer, stats_fields, &request->out.stats);
    case OP_DOCTOR:
        return read_list(reader, scan_find(answer, "items"),
                         OBJECTS(page, findings, finding_fields));
    case OP_JOB_GET:
    case OP_JOB_CANCEL:
    case OP_JOB_DELETE:
    case OP_JOB_RETRY:
        return read_single(reader, answer, OBJECTS(page, jobs, job_fields));
    default:
        return decode_flow(reader, answer, request);
    }
}

cairn_code decode_answer(struct transfer *transfer, struct request *request)
{
    struct reader reader = {
        .engine = transfer->engine, .arena = &request->arena, .error = &request->error};
    struct slice answer;
    if (transfer->status < 200 || transfer->status > 299)
        return request->code = decode_error(transfer, &request->error);
    if (!scan_text(transfer->answer.text, transfer->answer.len, &answer))
        return request->code = not_understood(&reader, "it is not JSON");
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
