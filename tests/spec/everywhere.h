/* tests/spec/everywhere.h - an engine on any URL, a second one on the same store, and threads that wait.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * $CAIRN_TEST_STORE is a kind of store, or "http": a server on a SQLite file.  Another process is
 * played by a second engine on the same store.
 */
#ifndef SPEC_EVERYWHERE_H
#define SPEC_EVERYWHERE_H

#include "cairn.h"
#include "server.h"
#include "test.h"

#include <stdatomic.h>

#define PATIENCE_MS 60000 /* what no test waits for */

#define CHECK_DONE(world, call)                                                             \
    do {                                                                                    \
        cairn_code code_ = (call);                                                          \
        CHECK(code_ == CAIRN_OK, "%s: %s", cairn_code_name(code_), (world)->error.message); \
    } while (0)

struct world {
    struct server server;
    const char *url; /* of `engine` */
    cairn_engine *engine,
        *other; /* other: on the same store; NULL: it belongs to one process */
    cairn_error error;
};

bool is_kind(const char *kind);
void open_world(struct world *world);
void open_virtual_world(struct world *world); /* its clock stands still; it has no `other` */
void close_world(struct world *world);

/* Jobs of the type t.v1. */
void add_jobs(struct world *world, cairn_enqueued *enqueued, size_t count);

/* A claim of t.v1 by a worker. */
cairn_claim_options claim_by(const char *worker, uint32_t max, uint32_t wait_ms);

/* Claims all jobs by the worker "w", and completes them in one commit. */
void do_jobs(struct world *world, cairn_engine *engine, size_t count);

/* Starts an instance with one step, a, of the type t.v1. */
cairn_enqueued start_instance(struct world *world);

/* A thread that makes a call which waits. */
struct sleeper {
    pthread_t thread;
    atomic_int tid; /* set right before the call */
    void (*call)(void *arg);
    void *arg;
    atomic_bool is_over;
};

void sleeper_start(struct sleeper *sleeper, void (*call)(void *arg), void *arg);
void sleeper_await(struct sleeper *sleeper); /* until it sleeps in its call */
void sleeper_join(struct sleeper *sleeper);

#endif
