/* tests/sim/differential.h - two engines that are told the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_DIFFERENTIAL_H
#define SIM_DIFFERENTIAL_H

#include "base/buf.h"
#include "sim.h"

enum { TASKS_MAX = 128, STARTS_OF_TWINS_MAX = 8, SUBJECTS_MAX = 40, KNOWN_MAX = 24 };

/* One of the two engines, and what its latest operation answered. */
struct side {
    cairn_engine *engine;
    struct buf answer;
};

/* What a function's task had brought, and what has been committed since. */
struct known_step {
    char key[32], kind[16];
    int32_t seq;
};

struct known_memory {
    bool is_there;
    int64_t revision;
    int32_t places;
    struct known_step steps[KNOWN_MAX];
    size_t step_count;
    char signals[2][40]; /* the oldest of e0 and of e1; empty: none */
};

struct known_task {
    char worker[8], id[64], token[32];
    struct known_memory memory;
};

enum twin_kind { TWIN_LINEAR, TWIN_SAGAS, TWIN_FUNCTIONS };

struct twins {
    uint64_t seed;
    int operation;
    struct rng rng;
    struct side sides[2]; /* SQLite in memory, and the other */
    struct known_task tasks[TASKS_MAX];
    size_t task_count;
    char instances[SUBJECTS_MAX][40], jobs[SUBJECTS_MAX][40];
    size_t instance_count, job_count;
    int workflows, functions, signals;
    bool has_sagas, has_functions;
    int64_t now_us;
};

#define for_both(side, twins) \
    for (struct side *side = (twins)->sides; side < (twins)->sides + 2; side++)

/* differential.c */
int twin_below(struct twins *twins, int bound);
void twin_add_json(struct buf *out, const char *text); /* by value */
void twin_add_text(struct buf *out, const char *text);
void twin_add_time(struct buf *out, int64_t at_us);
void twin_add_step(struct buf *out, const cairn_step *step);
void twin_answer(struct side *side, const char *what, cairn_code code);
void twin_learn(struct twins *twins, const char *worker, const cairn_task *task);

/* differential_function.c */
void twin_deploy_function(struct twins *twins);
void twin_commit(
    struct twins *twins); /* of the latest passage, or of an old one; or nonsense */
void twin_run_passage(struct side *side, const char *worker, const cairn_task *task,
                      bool is_passage_mode);
void twin_add_memory(struct buf *out, const cairn_memory *memory);
void twin_add_logs(struct side *side, const char *instance_id, struct buf *out);
void twin_learn_memory(struct known_task *known, const cairn_memory *memory);
void twin_learn_instances(struct twins *twins);

#endif
