/* tests/sim/batching.h - the same requests one by one, in groups, in one commit, and in one that writes early.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Four engines without threads, each on a store of its own, are asked the same.  Ids and
 * tokens are made here and given to all of them, so that rows and answers can be compared as texts.
 */
#ifndef SIM_BATCHING_H
#define SIM_BATCHING_H

#include "base/buf.h"
#include "sim.h"

enum {
    BATCHING_SIDES = 4, /* one by one, in groups, all in one commit, the same with flushes */
    FLUSHED_SIDE = 3,
    BATCHING_ROUNDS = 14,
    ASKS_MAX = 24,
    KNOWN_TASKS_MAX = 96,
    KNOWN_IDS_MAX = 40,
    KNOWN_OUTBOX_MAX = 32
};

struct side {
    struct local_engine *engine;
    struct store_session *reader;
    char outbox[KNOWN_OUTBOX_MAX][24]; /* ids of outbound events, in the order of the claims */
    size_t outbox_count;
};

/* One request, and its answers on each side. */
struct ask {
    struct request *model; /* never handed in; its texts are shared by the others */
    int record;            /* a requeue, an acknowledgement: its index; the id is the side's */
    struct request *requests[BATCHING_SIDES];
    struct request
        *claims[BATCHING_SIDES]; /* one by one: the claim that the request makes too */
};

struct batching_task {
    char worker[8], id[64], token[TOKEN_TEXT];
    bool is_function;
    int64_t revision;
    int32_t places;
};

struct batching {
    uint64_t seed;
    int round;
    bool is_tracing;
    struct rng rng, flush_rng;
    int64_t now_us;
    struct side sides[BATCHING_SIDES];
    struct ask asks[ASKS_MAX];
    size_t ask_count;

    struct batching_task tasks[KNOWN_TASKS_MAX];
    size_t task_count;
    char instances[KNOWN_IDS_MAX][ID_TEXT], jobs[KNOWN_IDS_MAX][ID_TEXT];
    size_t instance_count, job_count;
    int workflows, functions, versions, signals, outputs;
    bool has_families; /* instances have parents */
};

int batching_below(struct batching *batching, int bound);
bool batching_chance(struct batching *batching, int percent);

/* batching_ask.c: draws the requests of a round. */
void batching_draw(struct batching *batching);
void batching_draw_deployments(struct batching *batching); /* the first round */
struct request *batching_clone(const struct batching *batching, const struct ask *ask,
                               int side);

/* batching_learn.c: from the answers. */
void batching_learn(struct batching *batching);

/* batching_dump.c: as text, what can be compared. */
void batching_dump_answer(const struct request *request, struct buf *out);
void batching_dump_rows(struct batching *batching, int side, struct buf *out);

/* The id of an open record; false: there are not so many. */
bool batching_find_record(const struct batching *batching, int side, int index,
                          char ret_id[24]);

#endif
