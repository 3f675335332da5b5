/* engine/local.c - the engine on a store in this process: opening, threads, closing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"

#include "base/mem.h"
#include "engine/await.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Enough for libpq and SQLite, little enough for an idle server to stay small. */
enum { THREAD_STACK = 512 * 1024 };

static struct local_engine *to_local(cairn_engine *engine)
{
    return (struct local_engine *)engine;
}

/* ---- requests in --------------------------------------------------------------------------- */

static bool is_for_reader(const struct local_engine *engine, const struct request *request)
{
    return request_is_read(request->op) ||
           (engine->has_reader && request_is_lease_check(request));
}

static void set_patience(const struct local_engine *engine, struct request *request)
{
    uint32_t retry_ms = request->probe_ms ? request->probe_ms : engine->base.options.retry_ms;
    int64_t now_us = clock_monotonic_us(&engine->clock);
    request->give_up_us = now_us + retry_ms * US_PER_MS;
    await_begin(request, now_us);
}

/* A look whose answer the engine knows. */
static bool is_known(struct local_engine *engine, struct request *request)
{
    return request_is_lease_check(request) && known_lease_answer(engine, request);
}

/* With the lock held: the answer to a probe of a store that is known to be away. */
static bool is_hopeless(const struct local_engine *engine, struct request *request)
{
    if (!request->probe_ms || !engine->is_in_trouble || engine->prober.is_there)
        return false;
    request->code = engine->trouble.code;
    request->error = engine->trouble;
    return true;
}

static void run_alone(struct local_engine *engine);

/* Claims ask for no more rows than fit into an answer if all are as long as this. */
static void note_value(struct local_engine *engine, size_t bytes)
{
    if (bytes > atomic_load_explicit(&engine->value_largest, memory_order_relaxed))
        atomic_store(&engine->value_largest, bytes);
}

static void submit(cairn_engine *base, struct request *request)
{
    struct local_engine *engine = to_local(base);
    if (request_check(&base->options, request)) {
        request->done(request);
        return;
    }
    note_value(engine, request->value_bytes);
    if (is_solo(engine))
        request->await_ms = 0; /* nothing happens while it waits */
    set_patience(engine, request);

    pthread_mutex_lock(&engine->lock);
    bool is_refused = engine->is_stopping;
    bool is_answered =
        !is_refused && (is_hopeless(engine, request) || is_known(engine, request));
    bool is_taken = !is_refused && !is_answered;
    request->wakes = park_wakes(engine, request);
    request->looks = engine->looks;
    if (is_taken && request->probe_ms && engine->prober.is_there) {
        prober_add(engine, request);
    } else if (is_taken && is_for_reader(engine, request)) {
        queue_push(&engine->reads, request);
        pthread_cond_signal(&engine->read_work);
    } else if (is_taken && !park_unasked(engine, request)) {
        queue_push(&engine->writes, request);
        committer_wake(engine);
    }
    pthread_mutex_unlock(&engine->lock);

    if (is_answered)
        request->done(request);
    if (is_taken && is_solo(engine))
        run_alone(engine);
    if (is_refused) {
        fail(&request->error, CAIRN_E_CLOSED, "the engine is closing");
        request->code = CAIRN_E_CLOSED;
        request->done(request);
    }
}

static void wake(cairn_engine *base, const char *worker)
{
    struct local_engine *engine = to_local(base);
    struct request_queue ended = {0};
    pthread_mutex_lock(&engine->lock);
    park_end(engine, worker, &ended);
    if (!worker)
        waits_end(engine);
    pthread_mutex_unlock(&engine->lock);
    queue_end(&ended, NULL);
}

static void end_unwanted(cairn_engine *base)
{
    struct local_engine *engine = to_local(base);
    struct request_queue ended = {0};
    pthread_mutex_lock(&engine->lock);
    unwanted_take(engine, &ended);
    pthread_mutex_unlock(&engine->lock);
    unwanted_end(&ended);
}

/* ---- threads ------------------------------------------------------------------------------- */

void wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_us)
{
    if (until_us == INT64_MAX) {
        pthread_cond_wait(cond, lock);
        return;
    }
    struct timespec until = {.tv_sec = until_us / US_PER_SEC,
                             .tv_nsec = until_us % US_PER_SEC * 1000};
    pthread_cond_timedwait(cond, lock, &until);
}

static void *run_committer(void *arg)
{
    struct committer *committer = arg;
    struct local_engine *engine = committer->engine;
    pthread_mutex_lock(&engine->lock);
    while (!engine->is_stopping) {
        int64_t next_us = committer_next_us(committer);
        if (next_us) {
            wait_until(&engine->write_work, &engine->lock, next_us);
            continue;
        }
        pthread_mutex_unlock(&engine->lock);
        committer_run_once(committer);
        pthread_mutex_lock(&engine->lock);
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}

/* Looks at once, so that the first of them does not wait for too much. */
enum { LEASE_CHECKS_AT_ONCE = 256 };

/* One question, or several looks; with the read_lock held.  The first one's error says what has
 * happened to all. */
static cairn_code read_once(struct local_engine *engine, struct request_queue *some)
{
    struct request *first = some->first;
    if (!engine->read_session)
        TRY(engine->store->ops->session_open(engine->store, SESSION_READER,
                                             &engine->read_session, &first->error));
    engine->read_session->deadline_us = store_deadline_us(engine, some);
    return request_is_lease_check(first)
               ? lease_checks_run(engine, engine->read_session, some, &first->error)
               : read_run(engine, engine->read_session, first);
}

/* Reads wait for a store that went away, as writes do. */
static cairn_code read_with_patience(struct local_engine *engine, struct request_queue *some)
{
    for (int64_t rest_us = 20 * 1000;; rest_us *= 2) {
        pthread_mutex_lock(&engine->read_lock);
        cairn_code code = read_once(engine, some);
        pthread_mutex_unlock(&engine->read_lock);
        int64_t again_us = clock_monotonic_us(&engine->clock) + rest_us;
        if (!code_is_transient(code) || again_us > some->first->give_up_us)
            return code;

        pthread_mutex_lock(&engine->lock);
        while (!engine->is_stopping && clock_monotonic_us(&engine->clock) < again_us)
            wait_until(&engine->read_work, &engine->lock, again_us);
        bool is_stopping = engine->is_stopping;
        pthread_mutex_unlock(&engine->lock);
        if (is_stopping)
            return code;
        error_clear(&some->first->error);
    }
}

/* The next question; if it is a look, the looks that wait behind it as well.  With the lock held. */
static void take_reads(struct local_engine *engine, struct request_queue *ret_some)
{
    struct request_queue rest = {0};
    struct request *request = queue_pop(&engine->reads);
    *ret_some = (struct request_queue){0};
    if (!request)
        return;
    queue_push(ret_some, request);
    if (!request_is_lease_check(request))
        return;
    while ((request = queue_pop(&engine->reads)) != NULL) {
        bool is_more =
            request_is_lease_check(request) && ret_some->count < LEASE_CHECKS_AT_ONCE;
        queue_push(is_more ? ret_some : &rest, request);
    }
    engine->reads = rest;
}

/* Answers a request that was read while the epoch of the waits was `epoch`, or lets it wait. */
static void end_read(struct local_engine *engine, struct request *request, uint64_t epoch)
{
    if (!await_goes_on(request, clock_monotonic_us(&engine->clock))) {
        request->done(request);
        return;
    }
    pthread_mutex_lock(&engine->lock);
    bool is_unwanted = unwanted_since(engine, request);
    if (!is_unwanted)
        waits_add(engine, request, epoch);
    pthread_mutex_unlock(&engine->lock);
    struct request_queue ended = {0};
    if (is_unwanted)
        queue_push(&ended, request);
    unwanted_end(&ended);
}

/* With a code, it is the code of all of them; without one each has its own. */
static void end_reads(struct local_engine *engine, struct request_queue *some, cairn_code code,
                      uint64_t epoch)
{
    struct request *request;
    cairn_error error = some->first->error;
    while ((request = queue_pop(some)) != NULL) {
        if (code) {
            request->code = code;
            request->error = error;
        }
        end_read(engine, request, epoch);
    }
}

/* The store is away: ends the questions whose time is over, instead of trying for each of them. */
static void end_timed_out_reads(struct local_engine *engine, cairn_code code,
                                const cairn_error *why)
{
    struct request_queue over = {0}, rest = {0};
    struct request *request;
    pthread_mutex_lock(&engine->lock);
    uint64_t epoch = engine->waits.epoch;
    int64_t now_us = clock_monotonic_us(&engine->clock);
    while ((request = queue_pop(&engine->reads)) != NULL)
        queue_push(request->give_up_us > now_us ? &rest : &over, request);
    engine->reads = rest;
    pthread_mutex_unlock(&engine->lock);
    while ((request = queue_pop(&over)) != NULL) {
        request->code = code;
        request->error = *why;
        end_read(engine, request, epoch);
    }
}

static void *run_reader(void *arg)
{
    struct local_engine *engine = arg;
    pthread_mutex_lock(&engine->lock);
    while (!engine->is_stopping) {
        struct request_queue some;
        waits_run(engine);
        waits_ask(engine);
        take_reads(engine, &some);
        if (!some.count) {
            wait_until(&engine->read_work, &engine->lock, waits_next_us(engine));
            continue;
        }
        uint64_t epoch = engine->waits.epoch;
        pthread_mutex_unlock(&engine->lock);
        cairn_code code = read_with_patience(engine, &some);
        cairn_error error = some.first->error;
        end_reads(engine, &some, code, epoch);
        if (code_is_transient(code))
            end_timed_out_reads(engine, code, &error);
        pthread_mutex_lock(&engine->lock);
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}

/* What was submitted, in the caller's thread. */
static void run_alone(struct local_engine *engine)
{
    while (committer_run_once(&engine->committers[0]))
        ;
    while (engine->reads.count) {
        struct request_queue some;
        take_reads(engine, &some);
        cairn_code code = read_with_patience(engine, &some);
        end_reads(engine, &some, code, engine->waits.epoch);
    }
}

static bool has_reads(struct local_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    bool has_some = engine->reads.count > 0;
    pthread_mutex_unlock(&engine->lock);
    return has_some;
}

/* How long a caller's own thread waits for the answer of a store, before the reader does. */
enum { RUN_HERE_PATIENCE_MS = 1000 };

/* Saves the caller two switches of threads.  If the store cannot be reached, or the reader thread is
 * busy or about to be, the request is left to the reader thread, which retries. */
static bool run_here(cairn_engine *base, struct request *request)
{
    struct local_engine *engine = to_local(base);
    struct request_queue one = {0};
    bool may_read = engine->has_reader || is_solo(engine);
    if (!may_read || !is_for_reader(engine, request) || request->await_ms)
        return false;
    cairn_code code = request_check(&base->options, request);
    if (!code && is_known(engine, request))
        return true;
    if (has_reads(engine) || pthread_mutex_trylock(&engine->read_lock))
        return false;
    request->give_up_us = clock_monotonic_us(&engine->clock) + RUN_HERE_PATIENCE_MS * US_PER_MS;
    queue_push(&one, request);
    if (!code)
        code = read_once(engine, &one);
    if (code)
        request->code = code;
    pthread_mutex_unlock(&engine->read_lock);
    if (!code_is_transient(request->code))
        return true;
    request->code = CAIRN_OK;
    error_clear(&request->error);
    return false;
}

static bool start_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, THREAD_STACK);
    int failed = pthread_create(thread, &attr, run, arg);
    pthread_attr_destroy(&attr);
    return !failed;
}

cairn_code local_engine_start(struct local_engine *engine, cairn_error *reterr)
{
    bool is_started = true;
    if (is_solo(engine))
        return CAIRN_OK;
    engine->has_threads = true;
    engine->may_park_unasked = keeps_timers(engine) && engine->store->ops->look_for_tasks;
    for (int i = 0; i < engine->committer_count && is_started; i++) {
        struct committer *committer = &engine->committers[i];
        is_started = start_thread(&committer->thread, run_committer, committer);
        engine->threads_running += is_started;
    }
    if (is_started)
        is_started = engine->has_reader = start_thread(&engine->reader, run_reader, engine);
    if (is_started)
        is_started = engine->has_watcher = start_thread(&engine->watcher, run_watcher, engine);
    if (is_started && engine->base.options.serves)
        is_started = engine->prober.is_there =
            start_thread(&engine->prober.thread, run_prober, engine);
    return is_started
               ? CAIRN_OK
               : fail(reterr, CAIRN_E_OUT_OF_MEMORY, "could not start the engine's threads");
}

/* ---- closing ------------------------------------------------------------------------------- */

static void stop_threads(struct local_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    engine->is_stopping = true;
    pthread_cond_broadcast(&engine->write_work);
    pthread_cond_broadcast(&engine->read_work);
    pthread_cond_broadcast(&engine->watch_work);
    pthread_cond_broadcast(&engine->prober.work);
    pthread_mutex_unlock(&engine->lock);
    eventfd_write(engine->stop_fd, 1);

    for (int i = 0; i < engine->threads_running; i++)
        pthread_join(engine->committers[i].thread, NULL);
    if (engine->has_reader)
        pthread_join(engine->reader, NULL);
    if (engine->has_watcher)
        pthread_join(engine->watcher, NULL);
    if (engine->prober.is_there)
        pthread_join(engine->prober.thread, NULL);
    if (engine->prober.session)
        engine->store->ops->session_close(engine->prober.session);
    if (engine->read_session)
        engine->store->ops->session_close(engine->read_session);
}

static void close_engine(cairn_engine *base)
{
    struct local_engine *engine = to_local(base);
    cairn_error why;
    fail(&why, CAIRN_E_CLOSED, "the engine is closing");
    stop_threads(engine);
    waits_take(engine, &engine->reads);
    queue_end(&engine->writes, &why);
    queue_end(&engine->reads, &why);
    queue_end(&engine->parked, &why);
    queue_end(&engine->held, &why);
    queue_end(&engine->prober.asked, &why);
    figures_leave(engine);
    workers_leave(engine);
    for (int i = 0; i < engine->committer_count; i++) {
        plans_done(&engine->committers[i].plans);
        if (engine->committers[i].session)
            engine->store->ops->session_close(engine->committers[i].session);
    }
    engine->store->ops->close(engine->store);
    close(engine->stop_fd);
    close(engine->wake_fd);
    pthread_cond_destroy(&engine->write_work);
    pthread_cond_destroy(&engine->read_work);
    pthread_cond_destroy(&engine->watch_work);
    pthread_cond_destroy(&engine->prober.work);
    pthread_mutex_destroy(&engine->advance_lock);
    pthread_mutex_destroy(&engine->lock);
    pthread_mutex_destroy(&engine->read_lock);
    known_leases_done(&engine->known_leases);
    workers_done(&engine->workers);
    figures_done(&engine->figures);
    notices_done(base);
    memories_done(&base->memories);
    mem_free(engine->base.url);
    mem_free(engine);
}

/* In a forked process. */
static void abandon(cairn_engine *base)
{
    struct local_engine *engine = to_local(base);
    const struct store_ops *ops = engine->store->ops;
    for (int i = 0; i < engine->committer_count; i++)
        if (engine->committers[i].session)
            ops->forget(engine->store, engine->committers[i].session);
    if (engine->read_session)
        ops->forget(engine->store, engine->read_session);
    if (engine->prober.session)
        ops->forget(engine->store, engine->prober.session);
    ops->forget(engine->store, NULL);
    close(engine->stop_fd);
    close(engine->wake_fd);
    mem_free(engine->known_leases.slots);
    mem_free(engine->base.url);
    mem_free(engine);
}

/* ---- opening ------------------------------------------------------------------------------- */

static const struct engine_ops local_ops = {.submit = submit,
                                            .run_here = run_here,
                                            .call = api_call,
                                            .wake = wake,
                                            .end_unwanted = end_unwanted,
                                            .close = close_engine,
                                            .abandon = abandon};

static void init_locks(struct local_engine *engine)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&engine->write_work, &attr);
    pthread_cond_init(&engine->read_work, &attr);
    pthread_cond_init(&engine->watch_work, &attr);
    pthread_cond_init(&engine->prober.work, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&engine->advance_lock, NULL);
    pthread_mutex_init(&engine->lock, NULL);
    pthread_mutex_init(&engine->read_lock, NULL);
    known_leases_init(&engine->known_leases);
    workers_init(&engine->workers);
    figures_init(&engine->figures, engine->workers.process);
    engine->bulks.look_us = engine->base.options.serves ? 0 : INT64_MAX;
    memories_init(&engine->base.memories);
}

static void init_clock(struct local_engine *engine, const cairn_open_options *options)
{
    clock_init_real(&engine->clock);
    if (options->virtual_clock) {
        int64_t start_us = options->start_us ? options->start_us : clock_now_us(&engine->clock);
        clock_init_virtual(&engine->clock, start_us - start_us % US_PER_MS);
    }
    engine->clock_opened_us = clock_now_us(&engine->clock);
}

static struct local_engine *make_engine(const cairn_open_options *options, cairn_error *reterr)
{
    struct local_engine *engine = mem_zalloc(sizeof *engine);
    if (!engine) {
        fail_memory(reterr);
        return NULL;
    }
    engine->base.ops = &local_ops;
    engine->base.options = *options;
    engine->stop_fd = eventfd(0, EFD_CLOEXEC);
    engine->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (engine->stop_fd < 0 || engine->wake_fd < 0) {
        fail(reterr, CAIRN_E_OUT_OF_MEMORY, "could not open an event descriptor: %s",
             strerror(errno));
        if (engine->stop_fd >= 0)
            close(engine->stop_fd);
        mem_free(engine);
        return NULL;
    }
    init_locks(engine);
    init_clock(engine, options);
    retention_open(engine);
    timers_ask(engine);
    return engine;
}

static void add_committers(struct local_engine *engine, uint64_t seed)
{
    /* With a seed chance must repeat, so that it cannot matter who is quicker: one alone. */
    engine->committer_count = seed ? 1 : engine->store->ops->writers;
    assert(engine->committer_count >= 1 && engine->committer_count <= WRITERS_MAX);
    for (int i = 0; i < engine->committer_count; i++) {
        struct committer *committer = &engine->committers[i];
        committer->engine = engine;
        committer->index = i;
        rng_init(&committer->rng, seed);
    }
}

cairn_code local_engine_new(const cairn_open_options *options, struct store *store,
                            struct local_engine **ret_engine, cairn_error *reterr)
{
    struct local_engine *engine = make_engine(options, reterr);
    if (!engine)
        return reterr ? reterr->code : CAIRN_E_OUT_OF_MEMORY;
    engine->store = store;
    store->clock = &engine->clock;
    store->stop_fd = engine->stop_fd;
    store->wake_fd = engine->wake_fd;
    add_committers(engine, options->seed);
    *ret_engine = engine;
    return CAIRN_OK;
}

char *url_without_password(const char *url)
{
    char *copy = mem_strdup(url);
    char *host = copy ? strstr(copy, "://") : NULL;
    char *at = host ? strchr(host + 3, '@') : NULL;
    char *colon = at ? memchr(host + 3, ':', (size_t)(at - host - 3)) : NULL;
    if (colon)
        memmove(colon, at, strlen(at) + 1);
    return copy;
}

static void tell_migration(struct local_engine *engine)
{
    const struct store_schema *schema = &engine->store->schema;
    if (schema->from == schema->to)
        return;
    const struct notice_fact facts[] = {{"from", schema->from}, {"to", schema->to}, {0}};
    notice_tell(&engine->base, CAIRN_NOTICE_INFO, "migrated", facts,
                "migrated the tables from version %d to version %d", schema->from, schema->to);
}

cairn_code local_engine_open(const cairn_open_options *options, const char *url,
                             cairn_engine **ret_engine, cairn_error *reterr)
{
    if (!(options->aging_rate >= 0 && options->aging_rate <= 1e6))
        return fail(reterr, CAIRN_E_BAD_INPUT, "aging_rate must be from 0 to 1000000");
    struct local_engine *engine = make_engine(options, reterr);
    if (!engine)
        return CAIRN_E_OUT_OF_MEMORY;
    struct store_config config = {.url = url,
                                  .clock = &engine->clock,
                                  .no_migrate = options->no_migrate,
                                  .no_create = options->no_create,
                                  .lock_wait_ms = options->retry_ms};
    cairn_code code = store_open(&config, &engine->store, reterr);
    if (code) {
        close(engine->stop_fd);
        close(engine->wake_fd);
        mem_free(engine);
        return code;
    }
    engine->base.schema = &engine->store->schema;
    engine->store->stop_fd = engine->stop_fd;
    engine->store->wake_fd = engine->wake_fd;
    add_committers(engine, options->seed);
    engine->base.url = url_without_password(url);
    code = engine->base.url ? local_engine_start(engine, reterr) : fail_memory(reterr);
    if (code) {
        close_engine(&engine->base);
        return code;
    }
    tell_migration(engine);
    *ret_engine = &engine->base;
    return CAIRN_OK;
}
