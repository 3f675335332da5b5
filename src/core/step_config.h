/* core/step_config.h - what a workflow file says of a step, beyond the columns of its row.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Kept in the row as JSON (`config`, NULL if all is default), written by definition/config.c and
 * read back by definition/config_read.c.  Keys, all optional; durations in milliseconds, places as
 * numbers:
 *
 *   task          retry {backoff, base_ms, max_ms, jitter}, timeout_ms, on_failure, idempotent,
 *                 compensation {handler, max_attempts, retry, timeout_ms, idempotent, metadata}
 *   sleep         for_ms
 *                 input, output (templates, core/template.h)
 *   task, start, map  group (a template), group_reads
 *   wait, human   event (wait), timeout_ms, on_timeout, on_failure, input
 *   start         workflow, version, input, key and tags (templates), key_reads, tags_reads, wait (false),
 *                 on_failure, compensation
 *   map           input, over, max_parallel, at_least, collect (false), on_failure, compensation
 *   start of a function  child (true)
 *   condition     when, then [first, last], else [first, last]
 *   fork          branches [[first, last], ...], join (its place)
 *   join          any, fork (its place), wait_for [names]
 *   with input, output or when:
 *                 reads, output_reads [places]: the steps whose outputs the expressions name
 */
#ifndef CORE_STEP_CONFIG_H
#define CORE_STEP_CONFIG_H

#include "core/backoff.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum failure_policy {
    POLICY_DEFAULT, /* compensate if the workflow declares any compensation, else fail_workflow */
    POLICY_FAIL,
    POLICY_PAUSE,
    POLICY_CONTINUE,
    POLICY_COMPENSATE
};

struct place_range {
    int32_t first, last; /* first -1: the list is empty */
};

static inline bool place_is_inside(struct place_range range, int32_t place)
{
    return range.first >= 0 && place >= range.first && place <= range.last;
}

/* Steps by place. */
struct place_list {
    int32_t *items;
    size_t count;
};

struct compensation_config {
    const char *handler; /* NULL: none declared */
    int32_t max_attempts;
    struct backoff retry;
    int64_t timeout_us;
    bool is_idempotent;
    const char *metadata;
};

/* What a step starts. */
struct child_config {
    const char *workflow;
    int32_t version;  /* 0: the highest */
    const char *key;  /* a template; NULL: none */
    const char *tags; /* a template of an object; NULL: none */
    struct place_list key_reads, tags_reads;
    bool is_left; /* wait: false */
    bool is_own;  /* of a function: it tells this one of its end, and is undone with it */

    const char *over;     /* map: a template, JSON; NULL: start */
    int32_t max_parallel; /* so many at one time */
    int32_t at_least;     /* so many must complete; 0: all */
    bool is_counted;      /* collect: false */
};

struct step_config {
    struct backoff retry;
    int64_t timeout_us; /* of a call, a wait or a decision; 0: none */
    enum failure_policy on_failure;
    bool is_idempotent;
    struct compensation_config compensation;

    int64_t for_us;           /* sleep */
    const char *event;        /* wait */
    bool is_timeout_continue; /* wait, human: on_timeout: continue */

    const char *input;  /* task, wait, human, start, map: a template; NULL: what arrives */
    const char *output; /* task: a template; NULL: what the handler answers */
    const char *group;  /* task, start, map: a template; NULL: the instance's */
    struct place_list reads, output_reads,
        group_reads; /* of input, over or when; of output; of group */

    struct child_config child; /* start, map */

    const char *when; /* condition */
    struct place_range then_list, else_list;

    struct place_range *branches; /* fork */
    size_t branch_count;
    int32_t join; /* fork: the place of its join */
    bool is_any;  /* join */
    int32_t fork; /* join: the place of its fork */
};

#endif
