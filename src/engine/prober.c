/* engine/prober.c - the thread that answers whether the store is there.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * GET /readyz is asked by those who take a server out of service, so it must be answered in time whatever else waits.
 * It has a connection of its own and a short limit, and never queues behind requests.  A try that has ended answers all who
 * have asked until then: it has ended during each of their calls.
 */
#include "base/mem.h"
#include "engine/local.h"

/* With what is around it, a second. */
#define PROBE_US (900 * US_PER_MS)

/* A transaction begins by asking the database for its time. */
static cairn_code probe(struct local_engine *engine, int64_t *ret_now_us, cairn_error *reterr)
{
    const struct store_ops *ops = engine->store->ops;
    struct prober *prober = &engine->prober;
    cleanup(arena_done) struct arena arena = {0};
    struct store_tx *tx;
    if (!prober->session)
        TRY(ops->session_open(engine->store, SESSION_READER, &prober->session, reterr));
    prober->session->deadline_us = clock_monotonic_us(&engine->clock) + PROBE_US;
    TRY(ops->begin(prober->session, &arena, &tx, reterr));
    *ret_now_us = tx->now_us;
    ops->rollback(tx);
    return CAIRN_OK;
}

void prober_add(struct local_engine *engine, struct request *request)
{
    queue_push(&engine->prober.asked, request);
    pthread_cond_signal(&engine->prober.work);
}

void *run_prober(void *arg)
{
    struct local_engine *engine = arg;
    struct prober *prober = &engine->prober;
    pthread_mutex_lock(&engine->lock);
    while (!engine->is_stopping) {
        if (!prober->asked.count) {
            pthread_cond_wait(&prober->work, &engine->lock);
            continue;
        }
        pthread_mutex_unlock(&engine->lock);
        cairn_error why = {0};
        int64_t now_us = 0;
        cairn_code code = probe(engine, &now_us, &why);
        why.code = code;
        pthread_mutex_lock(&engine->lock);
        struct request_queue all = prober->asked;
        prober->asked = (struct request_queue){0};
        pthread_mutex_unlock(&engine->lock);
        for (struct request *request = all.first; request; request = request->next)
            request->out.now_us = now_us;
        queue_end(&all, code ? &why : NULL);
        pthread_mutex_lock(&engine->lock);
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}
