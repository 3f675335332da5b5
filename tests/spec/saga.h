/* tests/spec/saga.h - sagas in a world of their own: steps taken by name, undoing, people, the DLQ.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A step is taken by its handler, which is its name unless the file says otherwise, so that a test
 * says which branch goes on.
 */
#ifndef SPEC_SAGA_H
#define SPEC_SAGA_H

#include "flow_world.h"

/* With a lease of 30 s, from worker "w". */
struct task sg_take(struct flow_world *fw, const char *step);

/* Takes the step and completes it, with the output {"by": "<step>"}, or reports it dead. */
void sg_do(struct flow_world *fw, const char *step);
void sg_fail(struct flow_world *fw, const char *step);
void sg_complete(struct flow_world *fw, const struct task *task);

/* The one thing to be done is to undo this step; takes it, and completes it. */
struct task sg_take_undo(struct flow_world *fw, const char *step);
void sg_undo(struct flow_world *fw, const char *step);

/* Undoes in exactly this order, "c b a", one at a time, and then there is nothing left. */
void sg_undo_all(struct flow_world *fw, const char *steps);

cairn_code sg_decide(struct flow_world *fw, const char *step, bool is_confirmed);

/* A DLQ record; "" for what is not set. */
struct record {
    char id[32], instance_id[64], workflow_id[64], step_id[64], step_name[64], step_type[16];
    char input[200], error[200], reason[100];
    int is_open;
    int64_t created_at_us;
};

/* The open record of a step, which must be there; any record. */
struct record sg_record(struct flow_world *fw, const char *step);
struct record sg_record_of(struct flow_world *fw, const char *id);
size_t sg_count_records(struct flow_world *fw);
cairn_code sg_requeue(struct flow_world *fw, const char *step, const char *input);

/* Compares JSON by value. */
void sg_check_json(const char *seen, const char *wanted);

/* The latest event of a type (and of a step, unless it is NULL) has these fields, at least. */
void sg_check_event(struct flow_world *fw, const char *type, const char *step,
                    const char *fields);

/* A heartbeat of this task is told to stop. */
void sg_check_stop(struct flow_world *fw, const struct task *task, const char *stop);

/* A report of this task is refused as late. */
void sg_check_late(struct flow_world *fw, const struct task *task);

#endif
