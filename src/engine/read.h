/* engine/read.h - requests that change nothing, and the answers to those that do.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each function below answers one operation, or several of the same shape (operation.c says which).
 */
#ifndef ENGINE_READ_H
#define ENGINE_READ_H

#include "base/error.h"
#include "engine/local.h"

/* A request in its transaction. */
struct question {
    struct local_engine *engine;
    const struct store_ops *ops;
    struct store_tx *tx;
    struct request *request;
    struct arena *arena; /* the request's: answers live there */
    cairn_error *error;
};

/* read.c: answers a request in a transaction that has begun. */
cairn_code read_in(struct local_engine *engine, struct store_tx *tx, struct request *request);

cairn_code answer_clock(struct question *q);
/* When the next timer of the store is due; 0: never. */
cairn_code question_next_due(struct question *q, int64_t *ret_due_us);
cairn_code answer_stats(struct question *q);
cairn_code answer_idle(struct question *q); /* idle.c */

/* doctor.c */
cairn_code answer_doctor(struct question *q);
cairn_code doctor_flow(struct question *q); /* looks at instances and steps; doctor_flow.c */
/* Notes a finding: what, which, why, and what to do.  Returns CAIRN_OK. */
cairn_code find(struct question *q, const char *check, const char *result, const char *format,
                ...) format_like(4, 5);

/* read_list.c */
cairn_code answer_list(struct question *q); /* a page of what the operation lists */
cairn_code answer_job(struct question *q);
cairn_code answer_definition(struct question *q);
cairn_code answer_instance(struct question *q);
cairn_code answer_dlq_record(struct question *q);
cairn_code answer_stream(struct question *q); /* the events of everything */

/* Fills in the public shape of a step. */
cairn_code step_to_public(struct arena *arena, const struct step_row *row, cairn_step *ret,
                          cairn_error *reterr);

/* read_context.c */
cairn_code answer_context(struct question *q);

/* The instance that a request is about. */
cairn_code question_instance(struct question *q, const char *id, struct instance_row *ret_row);

#endif
