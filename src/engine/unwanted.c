/* engine/unwanted.c - requests that wait, and whose callers no longer want them: cairn_end_unwanted().
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A request that waits is in one of the engine's queues, where it is asked.  One that a thread has in hand is asked when
 * that thread lets it wait: it remembers how often the engine had looked when it came.
 */
#include "engine/batch.h"

static bool is_unwanted(struct request *request)
{
    return request->is_wanted && !request->is_wanted(request);
}

/* What has begun to wait: a claim that is without tasks, a wait for an end, what is held.  A claim whose commit may have
 * succeeded goes on, since it may have tasks; it asks by itself before it takes others. */
static bool is_waiting(const struct request *request)
{
    bool is_claim = request_is_claiming(request) &&
                    (request->op == OP_CLAIM || request->is_reported) && !request->was_unsure;
    return is_claim || request->await_ms || request->hold.is_held;
}

static void take_unwanted(struct request_queue *queue, struct request_queue *ret_ended)
{
    struct request_queue rest = {0};
    struct request *request;
    while ((request = queue_pop(queue)) != NULL)
        queue_push(is_waiting(request) && is_unwanted(request) ? ret_ended : &rest, request);
    *queue = rest;
}

void unwanted_end(struct request_queue *ended)
{
    cairn_error why;
    fail(&why, CAIRN_E_CLOSED, "the caller has gone");
    queue_end(ended, &why);
}

bool unwanted_since(struct local_engine *engine, struct request *request)
{
    if (request->looks == engine->looks)
        return false;
    request->looks = engine->looks;
    return is_unwanted(request);
}

void unwanted_take(struct local_engine *engine, struct request_queue *ret_ended)
{
    size_t before = ret_ended->count;
    engine->looks++;
    take_unwanted(&engine->parked, ret_ended);
    take_unwanted(&engine->held, ret_ended);
    take_unwanted(&engine->writes, ret_ended);
    take_unwanted(&engine->reads, ret_ended);
    size_t others = ret_ended->count;
    for (size_t i = 0; i < WAIT_BUCKETS; i++)
        take_unwanted(&engine->waits.buckets[i], ret_ended);
    engine->waits.count -= ret_ended->count - others;
    if (ret_ended->count > before) /* what was to be waited for may have gone with them */
        pthread_cond_broadcast(&engine->write_work);
}
