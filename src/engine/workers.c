/* engine/workers.c - notes which workers are seen, and writes it to the store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/workers.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "engine/batch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WRITE_US (15 * US_PER_SEC)
#define ERROR_SPAN_US (10 * US_PER_MIN)

enum { WORKERS_MAX = 10000 };

/* "host:pid:number"; several engines of one process have different numbers. */
void workers_init(struct workers *workers)
{
    static atomic_int made;
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    pthread_mutex_init(&workers->lock, NULL);
    snprintf(workers->process, sizeof workers->process, "%s:%d:%d", host, (int)getpid(),
             ++made);
}

static void free_worker(struct seen_worker *worker)
{
    mem_free(worker->name);
    mem_free(worker->types);
    mem_free(worker->runtime);
    mem_free(worker);
}

void workers_done(struct workers *workers)
{
    for (size_t i = 0; i < WORKER_BUCKETS; i++)
        for (struct seen_worker *it = workers->buckets[i], *next; it; it = next) {
            next = it->next;
            free_worker(it);
        }
    pthread_mutex_destroy(&workers->lock);
}

/* ---- noting ---------------------------------------------------------------------------------- */

/* NULL: memory ran out, or there are too many. */
static struct seen_worker *find(struct workers *workers, const char *name, int64_t now_us)
{
    struct seen_worker **bucket =
        &workers->buckets[hash_text(HASH_START, name) % WORKER_BUCKETS];
    for (struct seen_worker *it = *bucket; it; it = it->next)
        if (strcmp(it->name, name) == 0)
            return it;
    struct seen_worker *made = workers->count < WORKERS_MAX ? mem_zalloc(sizeof *made) : NULL;
    if (!made)
        return NULL;
    made->name = mem_strdup(name);
    made->types = mem_strdup("[]");
    if (!made->name || !made->types) {
        free_worker(made);
        return NULL;
    }
    made->first_us = now_us;
    made->next = *bucket;
    *bucket = made;
    workers->count++;
    workers->is_news = true;
    return made;
}

static char *write_types(const cairn_claim_options *claim)
{
    struct buf text = {0};
    struct json_out out = {.buf = &text};
    json_open(&out, '[');
    for (size_t i = 0; i < claim->type_count; i++)
        json_str(&out, claim->types[i]);
    for (size_t i = 0; i < claim->function_count; i++) {
        const cairn_function_code *code = &claim->functions[i];
        json_open(&out, '{');
        json_str(json_key(&out, "name"), code->name);
        json_int(json_key(&out, "from"),
                 code->from_version ? code->from_version : code->version);
        json_int(json_key(&out, "to"), code->version);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    char *made = buf_failed(&text) ? NULL : buf_take(&text, NULL);
    buf_done(&text);
    return made;
}

static uint32_t hash_claim(const cairn_claim_options *claim)
{
    uint32_t hash = hash_text(HASH_START + (uint32_t)claim->type_count, claim->runtime);
    for (size_t i = 0; i < claim_name_count(claim); i++)
        hash = hash_text(hash * 31, claim_name(claim, i));
    for (size_t i = 0; i < claim->function_count; i++)
        hash = (hash ^ (uint32_t)claim->functions[i].version) * 31 +
               (uint32_t)claim->functions[i].from_version;
    return hash ? hash : 1;
}

static void note_claim(struct workers *workers, struct seen_worker *worker,
                       const cairn_claim_options *claim, size_t granted)
{
    uint32_t demand = hash_claim(claim);
    worker->answered_us = worker->seen_us;
    worker->places = (int32_t)claim->max;
    worker->free = (int32_t)(claim->max - granted);
    if (demand == worker->demand)
        return;
    char *types = write_types(claim);
    char *runtime = claim->runtime ? mem_strdup(claim->runtime) : NULL;
    if (!types) {
        mem_free(runtime);
        return;
    }
    mem_free(worker->types);
    mem_free(worker->runtime);
    worker->types = types;
    worker->runtime = runtime;
    worker->demand = demand;
    workers->is_news = true;
}

/* The spans that have passed since the latest one are empty. */
static void turn_spans(struct seen_worker *worker, int64_t now_us)
{
    int64_t span = now_us / ERROR_SPAN_US;
    for (int i = 0; worker->error_span < span && i < ERROR_SPANS; i++)
        worker->errors[++worker->error_span % ERROR_SPANS] = 0;
    worker->error_span = span;
}

static void note_errors(struct seen_worker *worker, const struct report_input *in,
                        int64_t now_us)
{
    turn_spans(worker, now_us);
    for (size_t i = 0; i < in->count; i++) {
        cairn_outcome outcome = in->reports[i].outcome;
        worker->errors[worker->error_span % ERROR_SPANS] +=
            outcome == CAIRN_FAIL || outcome == CAIRN_DEAD || outcome == CAIRN_RETRY;
    }
}

static const char *worker_of(const struct request *request)
{
    switch (request->op) {
    case OP_CLAIM:
        return request->in.claim.worker;
    case OP_REPORT:
        return request->in.report.worker;
    case OP_COMMIT:
        return request->in.commit.worker;
    case OP_HEARTBEAT:
        return request->in.heartbeat.worker;
    case OP_HEARTBEATS:
        return request->in.heartbeats.worker;
    default:
        return NULL;
    }
}

static void note(struct workers *workers, const struct request *request, int64_t now_us)
{
    const char *name = worker_of(request);
    struct seen_worker *worker = name && !request->code ? find(workers, name, now_us) : NULL;
    if (!worker)
        return;
    worker->seen_us = now_us;
    workers->has_changed = true;
    if (request->op == OP_REPORT)
        note_errors(worker, &request->in.report, now_us);
    if (request_is_claiming(request))
        note_claim(workers, worker, request_claim(request), request->out.page.count);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A claim that waits is being seen all the time. */
static void note_parked(struct local_engine *engine, int64_t now_us)
{
    struct workers *workers = &engine->workers;
    pthread_mutex_lock(&engine->lock);
    pthread_mutex_lock(&workers->lock);
    for (const struct request *it = engine->parked.first; it; it = it->next) {
        struct seen_worker *worker = find(workers, request_claim(it)->worker, now_us);
        if (worker)
            worker->seen_us = now_us;
    }
    pthread_mutex_unlock(&workers->lock);
    pthread_mutex_unlock(&engine->lock);
}

static void write_worker(struct json_out *out, const struct workers *workers,
                         const struct seen_worker *worker)
{
    json_open(out, '{');
    json_str(json_key(out, "name"), worker->name);
    json_str(json_key(out, "process"), workers->process);
    json_raw(json_key(out, "types"), worker->types);
    json_str(json_key(out, "runtime"), worker->runtime);
    json_int(json_key(out, "places"), worker->places);
    json_int(json_key(out, "first_seen"), worker->first_us);
    json_int(json_key(out, "last_seen"), worker->seen_us);
    json_close(out, '}');
}

/* What has changed, as a JSON list, which counts as written; NULL: memory ran out.  *ret_count: how many. */
static char *take_changed(struct workers *workers, struct arena *arena, size_t *ret_count)
{
    struct buf text = {0};
    struct json_out out = {.buf = &text};
    *ret_count = 0;
    json_open(&out, '[');
    for (size_t i = 0; i < WORKER_BUCKETS; i++)
        for (struct seen_worker *it = workers->buckets[i]; it; it = it->next) {
            if (it->seen_us == it->written_us && !workers->is_news)
                continue;
            write_worker(&out, workers, it);
            it->written_us = it->seen_us;
            ++*ret_count;
        }
    json_close(&out, ']');
    return buf_keep(&text, arena);
}

static bool is_time(struct workers *workers, int64_t now_us)
{
    return workers->is_news || now_us - workers->written_us >= WRITE_US;
}

cairn_code workers_note(struct batch *batch)
{
    struct local_engine *engine = batch->engine;
    struct workers *workers = &engine->workers;
    int64_t now_us = batch->tx->now_us;
    size_t count = 0;
    pthread_mutex_lock(&workers->lock);
    for (const struct request *it = batch->requests->first; it; it = it->next)
        note(workers, it, now_us);
    bool is_due = workers->count && is_time(workers, now_us);
    pthread_mutex_unlock(&workers->lock);
    if (!is_due)
        return CAIRN_OK;
    note_parked(engine, now_us);

    pthread_mutex_lock(&workers->lock);
    char *rows = take_changed(workers, &batch->arena, &count);
    workers->is_news = workers->has_changed = false;
    workers->written_us = now_us;
    workers->look_us = clock_monotonic_us(&engine->clock) + WRITE_US;
    workers->is_any_written |= count > 0;
    pthread_mutex_unlock(&workers->lock);
    NEED(rows, batch->error);
    batch->has_workers = count > 0;
    return count ? STORE(batch, put_workers, rows) : CAIRN_OK;
}

void workers_unwritten(struct local_engine *engine)
{
    pthread_mutex_lock(&engine->workers.lock);
    engine->workers.is_news = true;
    pthread_mutex_unlock(&engine->workers.lock);
}

int64_t workers_next_us(struct local_engine *engine)
{
    struct workers *workers = &engine->workers;
    pthread_mutex_lock(&workers->lock);
    bool is_needed = workers->look_us && (workers->has_changed || engine->parked.count);
    int64_t next_us = is_needed && keeps_timers(engine) ? workers->look_us : INT64_MAX;
    pthread_mutex_unlock(&workers->lock);
    return next_us;
}

void workers_leave(struct local_engine *engine)
{
    struct store_session *session = engine->committers[0].session;
    const struct store_ops *ops = engine->store->ops;
    struct arena arena = {0};
    struct store_tx *tx;
    if (!engine->workers.is_any_written || !session || engine->is_in_trouble)
        return;
    engine->store->stop_fd = -1; /* what is asked now is not to be given up */
    session->deadline_us = clock_monotonic_us(&engine->clock) + US_PER_SEC;
    if (!ops->begin(session, &arena, &tx, NULL)) {
        if (ops->forget_workers(tx, engine->workers.process, NULL))
            ops->rollback(tx);
        else
            ops->commit(tx, 0, NULL);
    }
    arena_done(&arena);
}
