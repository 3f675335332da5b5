/* tests/api/calling.h - calls in one line: method, target, body in; status and JSON out.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * For the test's own thread, since what must hold is checked on the way.
 */
#ifndef CALLING_H
#define CALLING_H

#include "cairn.h"
#include "test.h"

#include <jansson.h>

#define START_US INT64_C(1800000000000000) /* 2027-01-15T08:00:00Z, where the clocks begin */

struct caller {
    cairn_engine *engine;
    int status;    /* of the latest call */
    json_t *body;  /* its answer, if that was JSON; freed by the next call */
    char *text;    /* the same as it came */
    char type[64]; /* its content type, cut */
};

/* An engine with a virtual clock on an empty store. */
void caller_open(struct caller *caller);
void caller_close(struct caller *caller);

/* The body is a printf format; NULL: none. */
const json_t *call(struct caller *caller, const char *method, const char *target,
                   const char *body, ...) __attribute__((format(printf, 4, 5)));

/* The same, which must be answered with this status. */
const json_t *call_for(struct caller *caller, int status, const char *method,
                       const char *target, const char *body, ...)
    __attribute__((format(printf, 5, 6)));

/* Part of the latest answer: "items.0.id".  Fails the test if there is none. */
const json_t *part(const struct caller *caller, const char *path);
const char *text_at(const struct caller *caller, const char *path); /* a string; NULL: null */
long long int_at(const struct caller *caller, const char *path);

/* The id in the latest answer; it is valid until the program ends. */
const char *kept_id(const struct caller *caller);

/* A job that must be new, and its id. */
const char *add_job(struct caller *caller, const char *type);

/* Claims one task by worker "w" and copies id and token. */
struct task_held {
    char id[64], token[64];
};
struct task_held take(struct caller *caller, const char *type);

#endif
