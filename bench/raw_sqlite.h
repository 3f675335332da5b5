/* bench/raw_sqlite.h - bare statements on SQLite: what they share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_RAW_SQLITE_H
#define BENCH_RAW_SQLITE_H

#include "base/clock.h"
#include "bench/raw.h"

#include <sqlite3.h>

/* Statements that several need; each back end adds its own behind them. */
enum { RAW_EVENT, RAW_INSTANCE, RAW_STEP, RAW_LEASE, RAW_OWN, RAW_STATEMENTS = RAW_OWN + 5 };

struct raw_lite {
    sqlite3 *db;
    sqlite3_stmt *statements[RAW_STATEMENTS];
    struct clock clock;
    struct raw_plan plan;
    int64_t now_us; /* of the transaction */
};

/* The library makes the tables, so that they are the same.  own[i] becomes RAW_OWN + i. */
bool raw_lite_open(const char *url, const struct raw_plan *plan, const char *const *own,
                   size_t own_count, void **ret_raw);
void raw_lite_close(void *raw);

/* One transaction: what is done for each of the one, then for each of the other. */
typedef bool (*raw_lite_one)(struct raw_lite *raw, uint64_t at);
bool raw_lite_turn(struct raw_lite *raw, struct raw_range one, raw_lite_one do_one,
                   struct raw_range other, raw_lite_one do_other);

/* Values in the order of the statement's numbers: 'i' an integer, 't' a text or NULL. */
bool raw_lite_run(struct raw_lite *raw, int which, const char *kinds, ...);
bool raw_lite_event(struct raw_lite *raw, const struct raw_item *item, const char *type,
                    const char *step, const char *data);

/* ---- instances and their steps ---------------------------------------------------------------
 */

struct raw_lite_step {
    int32_t place, next, last; /* next -1: none; last: of the instance */
    const char *name, *kind;
    bool is_ready;
};

bool raw_lite_instance(struct raw_lite *raw, struct raw_item *item, bool is_function);
bool raw_lite_step(struct raw_lite *raw, const struct raw_item *item,
                   const struct raw_lite_step *step);
bool raw_lite_lease(struct raw_lite *raw, const struct raw_item *item, int32_t place,
                    const char *name);
int64_t raw_lite_step_id(const struct raw_item *item, int32_t place);

#endif
