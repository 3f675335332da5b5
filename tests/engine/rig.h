/* tests/engine/rig.h - an engine without threads: the test itself calls the committer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RIG_H
#define RIG_H

#include "engine/local.h"
#include "faulty/faulty.h"
#include "test.h"

enum { RIG_START_S = 1800000000 };

struct rig {
    struct local_engine *engine;
    const char *url;
    struct store *faulty; /* what the engine sees; fails on cue */
};

/* Behind a faulty store one in memory, or what $CAIRN_TEST_STORE names. */
void rig_init(struct rig *rig, uint32_t retry_ms);
void rig_close(struct rig *rig); /* the engine, not the requests */
void rig_done(struct rig *rig);

/* Requests; freed by rig_done(). */
struct request *rig_make(enum request_op op); /* with nothing in it */
struct request *rig_enqueue(struct rig *rig, const char *type, const char *key);
struct request *rig_deploy(const char *text);
struct request *rig_start(const char *workflow);
struct request *rig_claim(struct rig *rig, const char *type, uint32_t wait_ms);
struct request *rig_complete(struct rig *rig, const struct request *claim, bool is_claiming);
struct request *rig_report(const struct request *claim, cairn_outcome outcome);
struct request *rig_control(struct rig *rig, enum request_op op, const char *id);
struct request *rig_read(struct rig *rig, enum request_op op, const char *id);
void rig_answer(struct rig *rig, struct request *request); /* of one that only reads */

/* Gives a request to the engine, without running anything. */
void rig_submit(struct rig *rig, struct request *request);

/* Lets the committer work until there is nothing to do now. */
void rig_run(struct rig *rig);

/* Submits, runs until it is done (resting stores are waited for), and returns its code. */
cairn_code rig_do(struct rig *rig, struct request *request);

/* Of functions: a commit leaves a lease alone for an eighth of it, which no busy machine uses up. */
enum { RIG_LEASE_MS = 3600000 };

/* The claim of a function "f", started anew, by the worker "w". */
struct request *rig_claim_function(struct rig *rig);

/* Remembers one more step of its run, and goes on with as long a lease. */
struct request *rig_commit(const cairn_task *task, int32_t place, int64_t revision);

bool rig_is_done(const struct request *request);

/* "created leased started": the events of a job. */
const char *rig_events(struct rig *rig, const char *id);

#endif
