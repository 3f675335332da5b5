/* engine/read.c - requests that change nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/read.h"

cairn_code question_next_due(struct question *q, int64_t *ret_due_us)
{
    struct due_times due = {0};
    TRY(STORE(q, next_due, &due));
    *ret_due_us = due_first(&due);
    return CAIRN_OK;
}

/* The next due time is rounded up: clocks are moved by milliseconds. */
cairn_code answer_clock(struct question *q)
{
    int64_t due_us;
    q->request->out.now_us = q->tx->now_us;
    if (!q->request->in.clock.is_next_wanted)
        return CAIRN_OK;
    TRY(question_next_due(q, &due_us));
    q->request->out.next_us = (due_us + US_PER_MS - 1) / US_PER_MS * US_PER_MS;
    return CAIRN_OK;
}

/* The store's clock may be another machine's; the time that has passed is the same on both. */
int64_t question_opened_us(struct question *q)
{
    struct local_engine *engine = q->engine;
    int64_t opened_us = 0, passed_us = clock_now_us(&engine->clock) - engine->clock_opened_us;
    atomic_compare_exchange_strong(&engine->opened_us, &opened_us, q->tx->now_us - passed_us);
    return engine->opened_us;
}

cairn_code answer_about(struct question *q)
{
    struct about_output *about = &q->request->out.about;
    char *product = arena_zalloc(q->arena, PRODUCT_TEXT);
    NEED(product, q->error);
    TRY(STORE(q, product, product));
    *about = (struct about_output){.kind = q->ops->name,
                                   .product = product,
                                   .schema = q->engine->base.schema->to,
                                   .is_clock_virtual = q->engine->clock.is_virtual,
                                   .is_hearing = q->ops->is_hearing(q->engine->store),
                                   .started_us = question_opened_us(q)};
    q->request->out.now_us = q->tx->now_us;
    return CAIRN_OK;
}

cairn_code answer_needs(struct question *q)
{
    struct need_counts counts = {0};
    TRY(STORE(q, count_needs, &counts));
    q->request->out.needs = (struct needs_output){
        .at_us = q->tx->now_us, .approvals = counts.approvals, .dead = counts.dead};
    return CAIRN_OK;
}

#define COPY_COUNTER(name) stats->name = from->name;
cairn_code question_stats(struct question *q, cairn_stats *stats)
{
    const struct counters *from = &q->engine->counters;
    struct job_counts jobs = {0};
    struct step_counts steps = {0};
    uint64_t instances[INSTANCE_STATUS_COUNT] = {0};
    TRY(STORE(q, count_jobs, &jobs));
    TRY(STORE(q, count_steps, &steps));
    TRY(STORE(q, count_instances, instances));
    int64_t waited_us = jobs.oldest_ready_us ? q->tx->now_us - jobs.oldest_ready_us : 0;
    *stats = (cairn_stats){
        .size = sizeof(cairn_stats),
        .commits = from->commits,
        .commit_requests = from->commit_requests,
        .commit_us = from->commit_us,
        .commit_us_max = from->commit_us_max,
        .pending = jobs.pending,
        .ready = jobs.ready,
        .leased = jobs.leased,
        .oldest_waiting_us = waited_us > 0 ? (uint64_t)waited_us : 0,
        .steps_ready = steps.ready,
        .steps_leased = steps.leased,
        .instances_pending = instances[INSTANCE_PENDING],
        .instances_running = instances[INSTANCE_RUNNING],
        .instances_waiting_signal = instances[INSTANCE_WAITING_SIGNAL],
        .instances_paused = instances[INSTANCE_PAUSED],
        .instances_compensating = instances[INSTANCE_COMPENSATING],
        .instances_dlq = instances[INSTANCE_DLQ],
    };
    COUNTERS(COPY_COUNTER)
    return CAIRN_OK;
}

cairn_code answer_stats(struct question *q)
{
    return question_stats(q, &q->request->out.stats);
}

cairn_code read_in(struct local_engine *engine, struct store_tx *tx, struct request *request)
{
    struct question q = {.engine = engine,
                         .ops = engine->store->ops,
                         .tx = tx,
                         .request = request,
                         .arena = &request->arena,
                         .error = &request->error};
    return engine_operation_of(request->op)->answer(&q);
}

cairn_code read_run(struct local_engine *engine, struct store_session *session,
                    struct request *request)
{
    const struct store_ops *ops = engine->store->ops;
    struct store_tx *tx;
    TRY(ops->begin(session, &request->arena, &tx, &request->error));
    cairn_code code = read_in(engine, tx, request);
    ops->rollback(tx); /* it has changed nothing */
    return code;
}
