/* bench/raw_postgres.h - bare statements on PostgreSQL: arrays, prepared, pipelined.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_RAW_POSTGRES_H
#define BENCH_RAW_POSTGRES_H

#include "base/buf.h"
#include "bench/raw.h"

#include <libpq-fe.h>

struct raw_pg {
    PGconn *server;
    struct raw_plan plan;
    char steps[16]; /* the plan's number, as text */
    struct buf ids, places;
};

struct raw_pg_statement {
    const char *name, *sql;
};

/* $1 are instances, $2 places of steps in them. */
#define RAW_GIVEN "unnest($1::uuid[], $2::int[]) AS given (id, place)"
#define RAW_NAME(place) "'s' || lpad((" place ")::text, 5, '0')"

bool raw_pg_open(const char *url, const struct raw_plan *plan,
                 const struct raw_pg_statement *statements, size_t count, void **ret_raw);
void raw_pg_close(void *raw);

/* Besides their own statements all have "event": $1 ids, $2 type, $3 step, $4 data;
 * "instance": $1 ids, $2 workflow, $3 input, $4 is_function; "lease": RAW_GIVEN, $3 worker,
 * $4 token. */
bool raw_pg_send(struct raw_pg *raw, const char *name, int count, const char *const *values);
bool raw_pg_event(struct raw_pg *raw, const char *ids, const char *type, const char *step,
                  const char *data);
bool raw_pg_begin(struct raw_pg *raw);
bool raw_pg_commit(struct raw_pg *raw, bool is_sent); /* and reads all answers */

/* The ids of items, as an array. */
const char *raw_pg_ids(struct raw_pg *raw, struct raw_range items);

#endif
