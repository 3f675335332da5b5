/* engine/queue.h - requests in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_QUEUE_H
#define ENGINE_QUEUE_H

#include "engine/request.h"

/* A zeroed struct is empty. */
struct request_queue {
    struct request *first, *last;
    size_t count;
};

void queue_push(struct request_queue *queue, struct request *request);
struct request *queue_pop(struct request_queue *queue); /* NULL: empty */
void queue_append(struct request_queue *queue,
                  struct request_queue *more); /* more is emptied */
void queue_prepend(struct request_queue *queue, struct request_queue *more); /* likewise */

/* Ends the requests: with the code and error that they have, or with this one. */
void queue_end(struct request_queue *queue, const cairn_error *why); /* NULL: their own */

#endif
