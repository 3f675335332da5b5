/* engine/queue.c - requests in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/request.h"

void queue_push(struct request_queue *queue, struct request *request)
{
    request->next = NULL;
    if (queue->last)
        queue->last->next = request;
    else
        queue->first = request;
    queue->last = request;
    queue->count++;
}

struct request *queue_pop(struct request_queue *queue)
{
    struct request *request = queue->first;
    if (!request)
        return NULL;
    queue->first = request->next;
    if (!queue->first)
        queue->last = NULL;
    queue->count--;
    request->next = NULL;
    return request;
}

void queue_append(struct request_queue *queue, struct request_queue *more)
{
    if (!more->first)
        return;
    if (queue->last)
        queue->last->next = more->first;
    else
        queue->first = more->first;
    queue->last = more->last;
    queue->count += more->count;
    *more = (struct request_queue){0};
}

void queue_end(struct request_queue *queue, const cairn_error *why)
{
    struct request *request;
    while ((request = queue_pop(queue)) != NULL) {
        if (why) {
            request->code = why->code;
            request->error = *why;
        }
        request->done(request);
    }
}

void queue_prepend(struct request_queue *queue, struct request_queue *more)
{
    queue_append(more, queue);
    *queue = *more;
    *more = (struct request_queue){0};
}
