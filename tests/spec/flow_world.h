/* tests/spec/flow_world.h - workflows in a world of their own: deploy, start, take, report.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Everything is said through cairn.h.  Most tests have one instance; the helpers speak of it
 * unless they are given another id.
 */
#ifndef SPEC_FLOW_WORLD_H
#define SPEC_FLOW_WORLD_H

#include "world.h"

struct flow_world {
    struct world world;
    char id[40]; /* the instance that was started last */
    cairn_page *seen;
    cairn_page *seen_steps;
};

/* A step, or its compensation, in a worker's hands. */
struct task {
    char worker[64], id[64], token[64], kind[24], type[64], step[64], reason[32];
    char input[512], signal[512]; /* "" if there is none */
    char key[160];
    int32_t attempt, max_attempts;
    int64_t lease_until_us;
};

/* A workflow of these elements, in YAML's flow style: FLOW("{step: a}, {step: b}"). */
#define FLOW(elements) "{workflow: w, version: 1, steps: [" elements "]}"

void wf_open(struct flow_world *fw);
void wf_open_limited(struct flow_world *fw, size_t max_payload);
void wf_open_as(struct flow_world *fw, cairn_open_options options); /* but for url and clock */
void wf_close(struct flow_world *fw);
void wf_advance(struct flow_world *fw, int64_t ms);

cairn_code wf_deploy(struct flow_world *fw, const char *text);
cairn_code wf_start(struct flow_world *fw, const cairn_start_options *options,
                    cairn_enqueued *ret_started);

/* Opens a world, deploys this and starts one instance with the input {"n": 1}. */
void wf_begin(struct flow_world *fw, const char *text);

/* Claims one task; there must be one.  Of this step. */
struct task wf_take(struct flow_world *fw, const char *worker);
struct task wf_take_step(struct flow_world *fw, const char *step);
struct task wf_take_undo(struct flow_world *fw, const char *step);
size_t wf_take_many(struct flow_world *fw, const char *worker, const char *type, uint32_t max,
                    struct task *ret_tasks);
void wf_check_nothing_to_take(struct flow_world *fw);

cairn_code wf_report(struct flow_world *fw, const struct task *task, cairn_outcome outcome,
                     const char *text);
cairn_code wf_retry(struct flow_world *fw, const struct task *task, int64_t delay_ms);
cairn_code wf_wait(struct flow_world *fw, const struct task *task, const char *event,
                   int64_t timeout_ms);
cairn_code wf_report_as(struct flow_world *fw, const struct task *task, cairn_report *report);
cairn_code wf_beat(struct flow_world *fw, const struct task *task, uint32_t extend_ms,
                   const char **ret_stop);

/* Takes the step and completes it; its output is {"by": "<step>"}. */
void wf_do(struct flow_world *fw, const char *step);
void wf_undo(struct flow_world *fw, const char *step);

/* Takes the step and reports it dead: "no good". */
void wf_do_badly(struct flow_world *fw, const char *step);

cairn_signalled wf_signal(struct flow_world *fw, const char *event, const char *payload);
cairn_code wf_signal_as(struct flow_world *fw, const char *event, const char *id,
                        cairn_signalled *ret_signalled);

cairn_code wf_pause(struct flow_world *fw);
cairn_code wf_resume(struct flow_world *fw);
cairn_code wf_restart(struct flow_world *fw);
cairn_code wf_again(struct flow_world *fw); /* retry */
cairn_code wf_cancel(struct flow_world *fw);
cairn_code wf_abort(struct flow_world *fw);

/* As they are now; valid until the next call of either. */
const cairn_instance *wf_instance(struct flow_world *fw);
const cairn_step *wf_step(struct flow_world *fw, const char *name);

void wf_check_status(struct flow_world *fw, const char *status);

/* "a:completed b:ready c:pending": all steps, in order of the file. */
void wf_check_steps(struct flow_world *fw, const char *wanted);

/* "a b": the names in current_steps. */
void wf_check_current(struct flow_world *fw, const char *wanted);

/* "workflow_started step_ready:a step_started:a": all events, and that ids rise, times do not
 * fall and data is a JSON object. */
void wf_check_events(struct flow_world *fw, const char *wanted);
size_t wf_count_events(struct flow_world *fw, const char *type);

/* last_error must have these fields. */
void wf_check_last_error(struct flow_world *fw, const char *step, const char *message,
                         int attempt);

/* Executes one statement on the database itself, past the engine; the first column of the first
 * row as a number, 0 if there is none.  False: this store has no database.  Tables are written as
 * {workflow_step}. */
bool wf_sql(struct flow_world *fw, const char *statement, long long *ret_value);

#endif
