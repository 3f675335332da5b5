/* engine/workers.h - what this process sees of workers.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A worker is seen when it claims, reports or sends a heartbeat, and as long as a claim of it waits.  What
 * was seen is written to the store every 15 s, and at once for a worker that is new, in a batch if there is
 * one: so processes know of each other's workers.
 */
#ifndef ENGINE_WORKERS_H
#define ENGINE_WORKERS_H

#include "cairn.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { WORKER_BUCKETS = 256, PROCESS_TEXT = 96, ERROR_SPANS = 6 };

struct seen_worker {
    char *name, *types,
        *runtime;         /* mem_free; types: as in spec/rows.txt; runtime may be NULL */
    uint32_t demand;      /* the hash of what it claims */
    int32_t places, free; /* what its latest claim asked for, and did not get */
    int64_t first_us, seen_us, answered_us; /* by the store's clock; its latest claim */
    int64_t written_us;                     /* seen_us when it was written; 0: never */
    int32_t errors[ERROR_SPANS];            /* failed calls that it has reported, by span */
    int64_t error_span;                     /* the number of the latest span */
    struct seen_worker *next;
};

struct workers {
    pthread_mutex_t lock;
    struct seen_worker *buckets[WORKER_BUCKETS]; /* by the hash of the name */
    size_t count;
    char process[PROCESS_TEXT];
    int64_t written_us;  /* the latest write, by the store's clock */
    int64_t look_us;     /* monotonic: when to write next without a batch; 0: never */
    bool is_news;        /* one is new, or claims something else */
    bool has_changed;    /* something is not written yet */
    bool is_any_written; /* the store has rows of this process */
};

void workers_init(struct workers *workers);
void workers_done(struct workers *workers);

struct batch;
struct local_engine;

/* In a batch, after its requests were applied: notes who has asked, and writes it if it is time. */
cairn_code workers_note(struct batch *batch);
void workers_unwritten(struct local_engine *engine); /* the commit failed */

/* Monotonic: when a commit should be made to write what was seen; INT64_MAX: not in sight.  With the
 * engine's lock held. */
int64_t workers_next_us(struct local_engine *engine);

/* The process ends: its rows are removed.  No other thread uses the engine. */
void workers_leave(struct local_engine *engine);

/* ---- what is known of workers ---------------------------------------------------------------- */

/* A worker, as this process or another one has seen it. */
struct known_worker {
    const char *name, *process, *types, *runtime;
    int32_t places, free; /* of one that another process has seen, both are what it asked for */
    int64_t first_us, seen_us;
    bool is_own;     /* this process has seen it */
    bool is_waiting; /* a claim of it waits here, or was answered just now */
    int32_t errors;  /* failed calls within the latest hour; -1: not known */
};

struct known_workers {
    struct known_worker *items;
    size_t count, room;
};

struct question;
struct why_type;

/* In order of name; the one last seen comes first. */
cairn_code workers_known(struct question *q, struct known_workers *ret_workers);

enum worker_state { WORKER_LIVE, WORKER_QUIET, WORKER_GONE };
enum worker_state worker_state(const struct known_worker *worker, int64_t now_us);

/* Whether it claims this type; version: of a function, else 0. */
bool worker_serves(const struct known_worker *worker, const char *type, int32_t version);

/* The names of what it claims, in the arena of the question. */
cairn_code worker_types(struct question *q, const struct known_worker *worker,
                        const char *const **ret_types, size_t *ret_count);

/* Who could take a task of this type; the registry's entry is in *type already. */
cairn_code workers_judge(struct question *q, const struct known_workers *workers,
                         const char *name, int32_t version, struct why_type *type);

#endif
