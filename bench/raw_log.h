/* bench/raw_log.h - the events of a commit, gathered for one row of the log.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * As the engine's: what events say alike stands once, and each names the event before it of the same job
 * or instance, whose row has the latest one.
 */
#ifndef BENCH_RAW_LOG_H
#define BENCH_RAW_LOG_H

#include "base/buf.h"
#include "bench/raw.h"

enum { RAW_SLOT_BITS = 12, RAW_SLOTS = 1 << RAW_SLOT_BITS, RAW_SAID_MAX = 64 };

struct raw_said {
    const char *type, *data;
    char step[64]; /* "": none */
};

struct raw_slot {
    const char *id;
    int64_t prev;
    uint16_t kind; /* a place in `said` */
};

struct raw_log {
    int64_t number; /* of the row */
    size_t slot_count, said_count;
    struct raw_said said[RAW_SAID_MAX];
    struct raw_slot slots[RAW_SLOTS];
};

/* Whether so many more events have room in the row. */
bool raw_log_has_room(const struct raw_log *log, size_t count);

/* The row was written: an empty one. */
void raw_log_clear(struct raw_log *log);

/* Adds an event to the chain of an item.  What it says but the step must stay where it is. */
void raw_log_add(struct raw_log *log, struct raw_item *item, const char *type, const char *step,
                 const char *data);

/* Adds one that is in no chain. */
void raw_log_add_loose(struct raw_log *log, const struct raw_item *item, const char *type,
                       const char *step, const char *data);

/* The values of a row as PostgreSQL reads them: bytes in hexadecimal, and arrays. */
struct raw_log_arrays {
    struct buf subjects, prev, kinds, types, steps, data;
};

void raw_log_make(const struct raw_log *log, struct raw_log_arrays *row);
void raw_log_arrays_done(struct raw_log_arrays *row);

#endif
