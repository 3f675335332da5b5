/* tests/unit/memory_rig.h - a memory store with one writer, and a transaction at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_MEMORY_RIG_H
#define TESTS_MEMORY_RIG_H

#include "base/error.h"
#include "store/store.h"
#include "test.h"

#define START_US INT64_C(1700000000000000)

static const struct store_ops *const ops = &memory_store_ops;
static cairn_error error;

struct fixture {
    struct clock clock;
    struct store *store;
    struct store_session *writer;
    struct store_tx *tx;
    struct arena arena;
};

static inline void set_up(struct fixture *f)
{
    *f = (struct fixture){0};
    clock_init_virtual(&f->clock, START_US);
    struct store_config config = {.url = "memory:", .clock = &f->clock};
    CHECK_OK(ops->open(&config, &f->store, &error));
    CHECK_OK(ops->session_open(f->store, SESSION_WRITER, &f->writer, &error));
}

static inline void tear_down(struct fixture *f)
{
    ops->session_close(f->writer);
    ops->close(f->store);
    arena_done(&f->arena);
}

static inline void begin(struct fixture *f)
{
    CHECK_OK(ops->begin(f->writer, &f->arena, &f->tx, &error));
}

static inline void commit(struct fixture *f)
{
    CHECK_OK(ops->commit(f->tx, false, &error));
    arena_done(&f->arena);
}

static inline void roll_back(struct fixture *f)
{
    ops->rollback(f->tx);
    arena_done(&f->arena);
}

#endif
