/* worker/function.c - durable functions in a worker: registered, found, and run.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A run waits for its own commits in the thread that executes it; the dispatcher keeps its lease
 * alive meanwhile and tells it to stop, as for any task.
 */
#include "worker/worker.h"

#include "base/json.h"
#include "engine/calling.h"
#include "engine/options.h"
#include "worker/passage.h"

#include <string.h>

enum { UNABLE_REST_MS = 1000 }; /* before a run that could not begin is offered again */

/* ---- registering --------------------------------------------------------------------------- */

static cairn_code check_function(const struct cairn_worker *worker,
                                 const cairn_function_options *options, cairn_error *reterr)
{
    if (!options->name || !options->name[0])
        return fail(reterr, CAIRN_E_BAD_INPUT, "name is empty");
    if (!options->run)
        return fail(reterr, CAIRN_E_BAD_INPUT, "function \"%.128s\" has no code",
                    options->name);
    if (options->commit != CAIRN_COMMIT_STEP && options->commit != CAIRN_COMMIT_PASSAGE)
        return fail(reterr, CAIRN_E_BAD_INPUT, "commit is %d, which is no commit mode",
                    (int)options->commit);
    if (options->from_version < 0 || options->from_version > options->version)
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "from_version is %d; it must be from 1 to the version, %d",
                    (int)options->from_version, (int)options->version);
    for (size_t i = 0; i < worker->functions.count; i++) {
        const struct function *known = &worker->functions.items[i];
        if (known->version == options->version && strcmp(known->name, options->name) == 0)
            return fail(reterr, CAIRN_E_CONFLICT,
                        "function \"%.128s\", version %d, is registered already", options->name,
                        (int)options->version);
    }
    return CAIRN_OK;
}

/* The file that it is deployed as; the engine checks it. */
static char *make_file(const cairn_function_options *options)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    json_str(json_key(&out, "function"), options->name);
    json_int(json_key(&out, "version"), options->version);
    json_bool(json_key(&out, "dlq"), options->dlq != 0);
    json_int(json_key(&out, "max_attempts"), options->max_attempts);
    json_close(&out, '}');
    char *text = buf_take(&buf, NULL);
    buf_done(&buf);
    return text;
}

static cairn_code deploy(struct cairn_worker *worker, const cairn_function_options *options,
                         cairn_error *reterr)
{
    cleanup(mem_freep) char *text = make_file(options);
    cleanup(request_freep) struct request *request = request_new(OP_DEPLOY);
    NEED(text && request, reterr);
    request->in.deploy = (struct deploy_input){
        .file = options->name, .text = text, .len = strlen(text), .is_function_only = true};
    return run_request(worker->engine, request, reterr);
}

cairn_code cairn_worker_function(cairn_worker *worker, const cairn_function_options *options,
                                 cairn_error *reterr)
{
    cairn_function_options known;
    error_clear(reterr);
    TRY(options_take(OPTIONS_FUNCTION, &known, options, reterr));
    TRY(check_function(worker, &known, reterr));
    if (!known.from_version)
        known.from_version = known.version;
    const char *name = arena_strdup(&worker->arena, known.name);
    NEED(name, reterr);
    TRY(deploy(worker, &known, reterr));
    struct function *added = list_add(&worker->arena, &worker->functions);
    NEED(added, reterr);
    *added = (struct function){.name = name,
                               .version = known.version,
                               .from_version = known.from_version,
                               .run = known.run,
                               .arg = known.arg,
                               .commit = known.commit};
    return CAIRN_OK;
}

/* ---- running ------------------------------------------------------------------------------- */

const struct function *worker_find_function(const struct cairn_worker *worker,
                                            const cairn_task *task)
{
    const struct function *best = NULL;
    int32_t version = task->memory ? task->memory->version : 0;
    for (size_t i = 0; i < worker->functions.count; i++) {
        const struct function *function = &worker->functions.items[i];
        if (strcmp(function->name, task->type) != 0)
            continue;
        if (function->version == version)
            return function;
        bool is_able = function->from_version <= version && version <= function->version;
        if (is_able && (!best || function->version > best->version))
            best = function;
    }
    return best;
}

void run_function(struct cairn_worker *worker, struct cairn_work *work)
{
    const struct function *function = work->function;
    struct cairn_passage *passage;
    cairn_error error;
    struct passage_options options = {.worker = worker->name,
                                      .task = &work->task,
                                      .is_borrowed = true,
                                      .commit = function->commit,
                                      .lease_ms = worker->lease_ms};
    work->outcome = CAIRN_RELEASE; /* without using an attempt, if memory runs out */
    work->delay_ms = UNABLE_REST_MS;
    if (passage_open(worker->engine, &options, &passage, &error))
        return;
    passage->host = work;
    passage->is_stopping = &worker->is_stopping;
    cairn_code code =
        cairn_passage_end(passage, function->run(passage, function->arg), NULL, &error);
    passage_await_code(passage);
    cairn_passage_free(passage);
    if (code)
        work->end_error = arena_alloc(&work->arena, sizeof error);
    if (work->end_error)
        *work->end_error = error;
    work->is_settled = true;
}
