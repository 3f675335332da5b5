/* tests/unit/fake_engine.h - an engine that writes down what a passage says, and answers by a script.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is said becomes a line of `said`, so that a test can compare all of it at once:
 *
 *     go_on 1.a task completed "1"; log info hello
 *     look
 *     complete 2.b task completed null; output 3
 */
#ifndef FAKE_ENGINE_H
#define FAKE_ENGINE_H

#include "worker/passage.h"

enum { FAKE_STEPS = 16, FAKE_ANSWERS = 8 };

struct fake_answer {
    cairn_code code;
    const char *message; /* of the error */
    const char *stop;
    bool is_released;
    bool is_conflict;
    const cairn_received *const *events;
    size_t event_count;
};

struct fake_engine {
    char said[16384];
    struct fake_answer answers[FAKE_ANSWERS]; /* to commits and heartbeats, in order; then OK */
    size_t answered;
    int64_t now_us;
    int64_t revision;  /* that the latest commit said */
    uint32_t extended; /* heartbeats that extended the lease */

    cairn_task task;
    cairn_memory memory;
    cairn_step steps[FAKE_STEPS];
    const cairn_step *step_pointers[FAKE_STEPS];
};

void fake_init(struct fake_engine *fake);

/* What the passage remembers; answers the row, for what else it says. */
cairn_step *fake_remember(struct fake_engine *fake, const char *key, const char *kind,
                          const char *status, const char *output);
cairn_passage *fake_open(struct fake_engine *fake, cairn_commit_mode mode);
cairn_code fake_exchange(void *arg, struct request *request);

/* What a step's code does, and how often it was called. */
struct code {
    cairn_outcome outcome;
    const char *output, *error;
    int64_t delay_ms;
    int calls;
    struct fake_engine *fake; /* said so far is kept at each call */
    char said[256];
    cairn_task seen;
    char seen_key[64];
    int64_t takes_us;
    const char *emits;
};

cairn_step_options options_of(const char *key, struct code *code);
cairn_code do_step(cairn_passage *passage, const char *key, struct code *code,
                   const char **ret_output, cairn_error *reterr);
cairn_code start_both(cairn_passage *passage, char job_id[40], char start_id[40]);

/* Ends it: the end must be accepted, and leave the function in this status. */
void check_end(cairn_passage *passage, cairn_code code, const char *status);

#endif
