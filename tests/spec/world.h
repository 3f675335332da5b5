/* tests/spec/world.h - an engine on an empty store, with a clock that the test owns.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The conformance tests speak through cairn.h alone.  The helpers here say in one line what a
 * test means: add a job, take it, report on it, look at it.  They check what must never fail,
 * so they are for the test's own thread.
 */
#ifndef SPEC_WORLD_H
#define SPEC_WORLD_H

#include "cairn.h"
#include "test.h"

#define START_US INT64_C(1700000000000000) /* where the virtual clock begins */
#define SECOND_US INT64_C(1000000)
#define MINUTE_US (60 * SECOND_US)
#define SECOND_MS INT64_C(1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS (60 * MINUTE_MS)

struct world {
    cairn_engine *engine;
    cairn_error error; /* of the latest call that could fail */
    const char *url;
    uint64_t seed;
    cairn_page *seen; /* what world_job() looked at */
};

/* A task in a worker's hands. */
struct held {
    char worker[64];
    char id[64], token[64], type[300], key[300];
    char *input; /* freed by world_close() */
    int32_t attempt, max_attempts;
    int64_t lease_until_us;
};

/* With a fixed seed; or with one that is given, 0 for as many committers as the store can use.
 */
void world_open(struct world *world);
void world_open_seeded(struct world *world, uint64_t seed);
void world_close(struct world *world);

/* Closes the engine and opens it again at the same instant, as after a crash of the process.  A
 * store in memory has nothing to come back to: there it does nothing. */
void world_reopen(struct world *world);

int64_t world_now_us(struct world *world);
void world_advance(struct world *world, int64_t ms);

/* Enqueues one job that must be new. */
cairn_enqueued world_add(struct world *world, const char *type);
cairn_enqueued world_add_spec(struct world *world, const cairn_job_spec *spec);

/* Claims by one pattern; 30 s of lease. */
struct held world_take(struct world *world, const char *worker); /* there must be one */
size_t world_take_many(struct world *world, const char *worker, const char *pattern,
                       uint32_t max, struct held *ret_held);
void world_check_nothing_to_take(struct world *world);

/* The code of the report; world->error says why. */
cairn_code world_report(struct world *world, const struct held *held, cairn_outcome outcome,
                        const char *text);
cairn_code world_retry(struct world *world, const struct held *held, cairn_outcome outcome,
                       int64_t delay_ms);
cairn_code world_beat(struct world *world, const struct held *held, uint32_t extend_ms,
                      int64_t *ret_lease_until_us, const char **ret_stop);

/* The job as it is now; valid until the next call of this. */
const cairn_job *world_job(struct world *world, const char *id);
void world_check_status(struct world *world, const char *id, const char *status);

/* Jobs that are listed: all of them, in every status. */
size_t world_count_jobs(struct world *world);

/* The names of a job's events, in order, must be these, with a blank between them.  Also checks
 * that ids rise, that times do not fall, and that data is a JSON object. */
void world_check_events(struct world *world, const char *id, const char *names);

/* Whether two texts are JSON of the same value. */
bool is_same_json(const char *a, const char *b);

/* Of a call that must be refused: the code, and that there is a message for a person. */
#define CHECK_REFUSED(world, call, wanted)                                                     \
    do {                                                                                       \
        memset(&(world)->error, 0, sizeof(world)->error);                                      \
        cairn_code refused_ = (call);                                                          \
        CHECK(refused_ == (wanted), "the answer is %s (%s), not %s",                           \
              cairn_code_name(refused_), (world)->error.message, cairn_code_name(wanted));     \
        CHECK((world)->error.message[0], "there is no message");                               \
        CHECK((world)->error.code == (wanted), "the error's code is %d", (world)->error.code); \
    } while (0)

/* Of a call that must succeed. */
#define CHECK_DONE(world, call)                                         \
    do {                                                                \
        cairn_code done_ = (call);                                      \
        CHECK(done_ == CAIRN_OK, "%s: %s (%s)", cairn_code_name(done_), \
              (world)->error.message, (world)->error.detail);           \
    } while (0)

#endif
