/* core/passage.h - what a run of a function says in a commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A run executes a function's code from the top.  What it has done since its last commit comes in
 * one piece: steps to remember, and how it goes on.
 */
#ifndef CORE_PASSAGE_H
#define CORE_PASSAGE_H

#include "core/instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an instance of a function may remember. */
enum { FUNCTION_STEPS_MAX = 10000 };

/* Steps, logs, jobs or workflows in one commit. */
enum { COMMIT_ENTRIES_MAX = 1000 };

/* Revisions of an instance are counted in editions.  Within an edition a step that has ended stays as it
 * is, so that a worker with an earlier memory of the same edition needs only the others.  A new edition
 * begins when such a step is undone, forgotten or done again. */
int64_t revision_of_next_edition(int64_t revision);
bool revision_is_of_edition(int64_t known,
                            int64_t revision); /* known is not the newer one, either */

/* A step to be remembered, new or changed.  Texts that are not set are NULL. */
struct memo {
    int32_t seq;
    const char *key;
    enum step_kind kind;
    enum step_status status; /* COMPLETED, FAILED, READY, WAITING; NONE: forgotten */
    const char *input, *output, *error;
    int32_t attempts, max_attempts;
    int64_t delay_us;      /* READY: until the next call; a sleep: how long */
    int64_t until_us;      /* a sleep: until then; 0: delay_us counts */
    const char *event;     /* a wait */
    int64_t timeout_us;    /* a wait; -1: without end */
    const char *signal_id; /* a completed wait: what it took */
    const char *config;    /* JSON as in core/step_config.h */
    bool has_compensation;
    bool is_child; /* a start: of an instance that tells this one of its end */
};

struct passage_commit {
    const char *worker, *token;
    const struct memo *memos;
    size_t memo_count;
    enum passage_outcome outcome;
    const char *output, *error;
    const char *failed_step; /* the key of the step whose error it is; NULL: its own */
    int64_t extend_us;       /* GO_ON; 0: the lease stays as it is, as one does that is fresh */
};

/* What must hold of a memo whatever is remembered: NULL, or what is wrong with it. */
const char *memo_flaw(const struct memo *memo);

#endif
