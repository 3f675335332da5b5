/* engine/memories.h - memories of functions that this process has claimed before.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A function of thousands of steps that waits now and then is claimed again each time.  What it
 * remembers is mostly what it remembered the last time, so it is kept here, and a claim says what is
 * kept; then it brings the rest:
 *
 *     memories_offer    before the claim is sent: names what is kept, and holds it
 *     memories_complete after the answer: puts both parts together, and keeps the new whole
 *
 * What is kept are the steps before the first one that has not ended.  They stay as they are within an
 * edition (core/passage.h); the engine sends everything if there is another edition.
 */
#ifndef ENGINE_MEMORIES_H
#define ENGINE_MEMORIES_H

#include "base/arena.h"
#include "cairn.h"

#include <pthread.h>
#include <stdbool.h>

struct request;
struct kept_memory;

enum {
    MEMORIES_MAX = 256,
    MEMORIES_NAMED = 100,      /* in one claim, those used last */
    MEMORIES_BYTES = 16 << 20, /* of all of them */
    MEMORIES_LEAST = 32,
    MEMORIES_MORE = 64,
};

struct memories {
    pthread_mutex_t lock;
    struct kept_memory *items[MEMORIES_MAX]; /* the one used last first */
    size_t count, bytes;
    size_t
        least;   /* a memory of fewer steps is not kept: it is read as quickly as it is named */
    size_t more; /* when so many more steps have ended, they are kept, too */
};

void memories_init(struct memories *memories);
void memories_done(struct memories *memories);

/* Before a request is sent.  Nothing, if it does not claim or names what its caller has kept. */
void memories_offer(struct memories *memories, struct request *request);

/* After it was answered; also forgets the instance whose end it has committed.  A memory that cannot be
 * made whole for want of memory is left as it came. */
void memories_complete(struct memories *memories, struct request *request);

/* request_free(): lets go of what the request holds. */
void memories_release(struct request *request);

/* Copies the texts of a step; false: memory ran out. */
bool step_keep_texts(struct arena *arena, cairn_step *step);

#endif
