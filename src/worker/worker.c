/* worker/worker.c - handlers: who they are, and starting and stopping them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "worker/worker.h"

#include "core/pattern.h"
#include "engine/options.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { CONCURRENCY_MAX = 4096 };

void worker_wake(struct cairn_worker *worker)
{
    uint64_t one = 1;
    ssize_t written = write(worker->wake_fd, &one, sizeof one);
    (void)written; /* full means that it is readable already */
}

const struct handler *worker_find(const struct cairn_worker *worker, const char *type)
{
    const struct handler *best = NULL;
    for (size_t i = 0; i < worker->handlers.count; i++) {
        const struct handler *handler = &worker->handlers.items[i];
        if (!pattern_matches(handler->pattern, type))
            continue;
        if (!pattern_is_prefix(handler->pattern))
            return handler;
        if (!best || strlen(handler->pattern) > strlen(best->pattern))
            best = handler;
    }
    return best;
}

/* "host:4711:1f0c22aa" */
static const char *make_name(struct cairn_worker *worker)
{
    char host[65] = "";
    gethostname(host, sizeof host - 1);
    return arena_printf(&worker->arena, "%s:%ld:%08x", host[0] ? host : "host", (long)getpid(),
                        (unsigned)rng_next(&worker->rng));
}

static cairn_code check_options(const cairn_worker_options *options, cairn_error *reterr)
{
    if (options->concurrency < 1 || options->concurrency > CONCURRENCY_MAX)
        return fail(reterr, CAIRN_E_BAD_INPUT, "concurrency is %u; it must be from 1 to %d",
                    options->concurrency, CONCURRENCY_MAX);
    if (options->lease_ms < 1)
        return fail(reterr, CAIRN_E_BAD_INPUT, "lease_ms is 0; it must be from 1");
    if (options->name && !options->name[0])
        return fail(reterr, CAIRN_E_BAD_INPUT, "name is empty");
    if (options->runtime && !runtime_is_valid(options->runtime))
        return fail(reterr, CAIRN_E_BAD_INPUT, "runtime \"%.64s\" " RUNTIME_RULE,
                    options->runtime);
    return CAIRN_OK;
}

static cairn_code fill_worker(struct cairn_worker *worker, const cairn_worker_options *options,
                              cairn_error *reterr)
{
    worker->concurrency = options->concurrency;
    worker->lease_ms = options->lease_ms;
    worker->wait_ms = options->wait_ms;
    worker->is_until_idle = options->until_idle;
    rng_init(&worker->rng, 0);
    worker->name =
        options->name ? arena_strdup(&worker->arena, options->name) : make_name(worker);
    worker->runtime = arena_strdup(&worker->arena, options->runtime);
    NEED(worker->name && (worker->runtime || !options->runtime), reterr);
    worker->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (worker->wake_fd < 0)
        return fail(reterr, CAIRN_E_TOO_MANY, "could not open an event descriptor: %s",
                    strerror(errno));
    return CAIRN_OK;
}

cairn_code cairn_worker_new(cairn_engine *engine, const cairn_worker_options *options,
                            cairn_worker **ret_worker, cairn_error *reterr)
{
    cairn_worker_options known;
    error_clear(reterr);
    TRY(options_take(OPTIONS_WORKER, &known, options, reterr));
    TRY(check_options(&known, reterr));
    struct cairn_worker *worker = mem_zalloc(sizeof *worker);
    NEED(worker, reterr);
    worker->engine = engine;
    worker->wake_fd = -1;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->has_waiting, NULL);
    cairn_code code = fill_worker(worker, &known, reterr);
    if (code) {
        cairn_worker_free(worker);
        return code;
    }
    *ret_worker = worker;
    return CAIRN_OK;
}

cairn_code cairn_worker_handle(cairn_worker *worker, const char *type, cairn_handler handler,
                               void *arg, cairn_error *reterr)
{
    error_clear(reterr);
    if (!type || !type[0])
        return fail(reterr, CAIRN_E_BAD_INPUT, "type is empty");
    if (!pattern_is_valid(type)) {
        fail(reterr, CAIRN_E_BAD_INPUT,
             "type \"%.128s\" is not a pattern: %% may stand only at the end", type);
        return fail_hint(reterr, CAIRN_E_BAD_INPUT,
                         "give an exact type, or a prefix such as billing.%%");
    }
    if (!handler)
        return fail(reterr, CAIRN_E_BAD_INPUT, "type \"%.128s\" has no handler", type);
    for (size_t i = 0; i < worker->handlers.count; i++)
        if (strcmp(worker->handlers.items[i].pattern, type) == 0)
            return fail(reterr, CAIRN_E_CONFLICT, "type \"%.128s\" already has a handler",
                        type);

    const char *pattern = arena_strdup(&worker->arena, type);
    struct handler *added = pattern ? list_add(&worker->arena, &worker->handlers) : NULL;
    NEED(added, reterr);
    *added = (struct handler){.pattern = pattern, .run = handler, .arg = arg};
    return CAIRN_OK;
}

/* As it was before, so that it can be run again. */
static void begin_anew(struct cairn_worker *worker)
{
    worker->claim_rest = worker->report_rest = (struct rest){0};
    worker->is_empty = worker->is_ending = false;
    worker->pause_ms = 0;
    worker->code = CAIRN_OK;
    error_clear(&worker->error);
}

cairn_code cairn_worker_run(cairn_worker *worker, cairn_error *reterr)
{
    error_clear(reterr);
    if (worker->handlers.count == 0 && worker->functions.count == 0) {
        fail(reterr, CAIRN_E_BAD_INPUT, "the worker has no handlers");
        return fail_hint(reterr, CAIRN_E_BAD_INPUT,
                         "call cairn_worker_handle() or cairn_worker_function() before");
    }
    begin_anew(worker);
    cairn_code code = pool_start(worker, reterr);
    if (!code) {
        worker_dispatch(worker);
        code = worker->code;
        if (code && reterr)
            *reterr = worker->error;
    }
    pool_stop(worker);
    atomic_store(&worker->is_stopping, false);
    return code;
}

void cairn_worker_stop(cairn_worker *worker)
{
    int before = errno; /* a signal handler leaves it alone */
    atomic_store(&worker->is_stopping, true);
    worker_wake(worker);
    errno = before;
}

void cairn_worker_free(cairn_worker *worker)
{
    if (!worker)
        return;
    if (worker->wake_fd >= 0)
        close(worker->wake_fd);
    arena_done(&worker->arena);
    pthread_cond_destroy(&worker->has_waiting);
    pthread_mutex_destroy(&worker->lock);
    mem_free(worker);
}
