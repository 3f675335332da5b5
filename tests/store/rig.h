/* tests/store/rig.h - an open store with sessions and a virtual clock, for the tests at the
 * seam.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tests begin, call the operations of store.h, and commit:
 *
 *     cleanup(rig_closep) struct rig *rig = rig_open();
 *     begin_write(rig);
 *     const char *id = add(rig, job_of(rig, "a.b"));
 *     commit(rig);
 */
#ifndef STORE_RIG_H
#define STORE_RIG_H

#include "base/mem.h"
#include "base/random.h"
#include "scratch.h"
#include "store/list.h"
#include "store/store.h"
#include "test.h"

enum { ROWS_MAX = 64 };

/* 2026-11-15 06:30:00 UTC. */
#define RIG_START_US INT64_C(1794724200000000)

struct rig {
    const char *url;
    struct clock clock;
    struct store *store;
    const struct store_ops *ops;
    struct store_session *writer, *reader;
    struct arena arena;
    struct store_tx *tx; /* the one that begin_write() or begin_read() began */
    struct rng rng;
    cairn_error error;

    struct job_row rows[ROWS_MAX]; /* what the latest claim or list brought */
    size_t count;
};

/* Checks that an operation of the rig's store succeeds. */
#define MUST(rig, call)                                                                       \
    do {                                                                                      \
        cairn_code code_ = (call);                                                            \
        CHECK(code_ == CAIRN_OK, "%s: %s (%s)", cairn_code_name(code_), (rig)->error.message, \
              (rig)->error.detail);                                                           \
    } while (0)

struct rig *rig_open(void);                /* an empty store of the kind under test */
struct rig *rig_open_url(const char *url); /* one that is there */
void rig_close(struct rig *rig);           /* an open transaction is rolled back */
void rig_closep(struct rig **rig);

void begin_write(struct rig *rig);
void begin_read(struct rig *rig);
void commit(struct rig *rig);
void roll_back(struct rig *rig);
void pass_us(struct rig *rig, int64_t us); /* moves the clock; not in a transaction */

/* A pending job that is due, with a new id. */
struct job_row job_of(struct rig *rig, const char *type);

/* Inserts one row, which must be new, and returns its id. */
const char *add(struct rig *rig, struct job_row row);

/* The job as it is now, whole. */
struct job_row get(struct rig *rig, const char *id);

/* Locks one job, which must be there. */
struct job_row lock_one(struct rig *rig, const char *id);

/* Locks jobs or instances, which must be there, in the order of their numbers, and purges them. */
void purge(struct rig *rig, enum list_kind kind, const char *const *ids, size_t count);

/* A claim by worker "w" under token "t", for a minute; into rig->rows. */
void claim(struct rig *rig, size_t room, size_t pattern_count, const char *const *patterns);
void claim_as(struct rig *rig, size_t room, const char *pattern, const char *runtime);

/* A list by this filter; into rig->rows. */
void list(struct rig *rig, struct list_filter filter, size_t room);

/* Whether rig->rows are the jobs with these ids, in this order. */
void check_rows(struct rig *rig, size_t count, const char *const *ids);

/* The same JSON value, however written: jsonb does not keep the bytes. */
bool is_same_json(const char *a, const char *b);

struct due_times next_due(struct rig *rig);

#define CLAIM(rig, room, ...)                                                \
    claim(rig, room, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), \
          (const char *[]){__VA_ARGS__})
#define CHECK_ROWS(rig, ...)                                                \
    check_rows(rig, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), \
               (const char *[]){__VA_ARGS__})

#endif
