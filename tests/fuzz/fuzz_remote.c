/* tests/fuzz/fuzz_remote.c - the answers that the remote client reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first byte names the operation ('A' is the first), the second the status of the answer,
 * the third how much the request asked for; the rest is the answer's body.
 */
#include "api/operation.h"
#include "base/mem.h"
#include "fuzz.h"
#include "remote/remote.h"

#include <string.h>

static const long statuses[] = {200, 201, 202, 204, 400, 401, 403,
                                404, 409, 413, 429, 500, 503};

enum { STATUS_COUNT = sizeof statuses / sizeof *statuses, ASKED_MAX = 4 };

static char url[] = "http://127.0.0.1:1";

/* What the decoder looks at of a request: how many results it asked for. */
static void fill_request(struct request *request, unsigned asked)
{
    size_t count = asked % ASKED_MAX;
    bool is_claiming = asked & ASKED_MAX;
    if (request->op == OP_REPORT) {
        request->in.report.count = count;
        request->in.report.is_claiming = is_claiming;
    } else if (request->op == OP_ENQUEUE) {
        request->in.enqueue.count = count;
    } else if (request->op == OP_COMMIT) {
        request->in.commit.job_count = count;
        request->in.commit.is_claiming = is_claiming;
    }
}

/* What callers use without looking. */
static void check_item(const struct request *request, const struct page_output *page, size_t i)
{
    switch (request->op) {
    case OP_CLAIM:
    case OP_REPORT:
    case OP_COMMIT:
        MUST(page->tasks[i].id && page->tasks[i].kind);
        return;
    case OP_JOB_GET:
    case OP_JOB_LIST:
    case OP_JOB_CANCEL:
    case OP_JOB_DELETE:
    case OP_JOB_RETRY:
        MUST(page->jobs[i].id && page->jobs[i].payload);
        return;
    case OP_DEPLOY:
    case OP_DEFINITION_GET:
    case OP_DEFINITION_LIST:
        MUST(page->definitions[i].name);
        MUST(page->definitions[i].content || request->op == OP_DEPLOY);
        return;
    case OP_STEP_LIST:
        MUST(page->steps[i].name && page->steps[i].status);
        return;
    case OP_INSTANCE_GET:
    case OP_INSTANCE_LIST:
    case OP_PAUSE:
    case OP_RESUME:
    case OP_RESTART:
    case OP_RETRY:
    case OP_CANCEL:
    case OP_ABORT:
    case OP_DECIDE:
    case OP_DLQ_REQUEUE:
        MUST(page->instances[i].id && page->instances[i].status);
        return;
    default:
        return;
    }
}

static void check_texts(const struct request *request)
{
    for (size_t i = 0; i < request->out.page.count; i++)
        check_item(request, &request->out.page, i);
}

/* No function of the library asks for these: as calls they are passed on unread.  The others have a form, or a
 * reader of their own. */
static bool is_never_read(enum request_op op)
{
    static const enum request_op own[] = {OP_ENQUEUE, OP_CLAIM,  OP_REPORT,      OP_HEARTBEATS,
                                          OP_COMMIT,  OP_DEPLOY, OP_TASK_CONTEXT};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i] == op)
            return false;
    const struct operation *operation = operation_of(op); /* NULL: a server is never asked it */
    return !operation || operation->form == ANSWER_BY_HAND;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 3)
        return 0;
    enum request_op op = (enum request_op)((unsigned)(bytes[0] - 'A') % OP_COUNT);
    if (is_never_read(op))
        return 0;
    struct remote_engine engine = {.base = {.url = url}};
    struct transfer transfer = {.engine = &engine};
    cleanup(request_freep) struct request *request = request_new(op);
    MUST(request);
    fill_request(request, bytes[2]);
    transfer.status = statuses[(unsigned)(bytes[1] - 'A') % STATUS_COUNT];
    buf_add(&transfer.answer, (const char *)bytes + 3, len - 3);
    MUST(!buf_failed(&transfer.answer));
    cairn_code code = decode_answer(&transfer, request);
    MUST(code == request->code);
    MUST(!code || request->error.message[0]);
    if (!code)
        check_texts(request);
    buf_done(&transfer.answer);
    for (int i = 0; i < engine.word_count; i++)
        mem_free(engine.words[i]);
    return 0;
}
