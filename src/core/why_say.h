/* core/why_say.h - how the sentences of why.h are put together, and the rows of its tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row says its sentence in pieces: the text of the template, then the values that it names.  A piece
 * that does not apply is not said, so a template never has a value that is not there.
 */
#ifndef CORE_WHY_SAY_H
#define CORE_WHY_SAY_H

#include "base/buf.h"
#include "base/clock.h"
#include "core/why.h"

/* After this time something that should have happened at once has not. */
#define WHY_PATIENCE_US (10 * US_PER_SEC)

enum { SAID_VALUES_MAX = 16, WHY_ACTIONS_MAX = 2 };

struct said_value {
    const char *name;
    char *text;
    bool is_number;
};

/* A sentence in the making. */
struct saying {
    struct arena *arena;
    cairn_why *item;
    struct buf template;
    struct said_value values[SAID_VALUES_MAX];
    size_t count;
    cairn_why_action *actions; /* of the item */
    bool failed;               /* memory ran out */
};

void saying_add(struct saying *saying, const char *template);

/* Values.  An error is cut to its first line, without a full stop at its end. */
void saying_text(struct saying *saying, const char *name, const char *text);
void saying_error(struct saying *saying, const char *name, const char *error);
void saying_int(struct saying *saying, const char *name, int64_t value);
void saying_time(struct saying *saying, const char *name, int64_t at_us);
void saying_span(struct saying *saying, const char *name, int64_t us);
/* "3 calls": the template and its value. */
void saying_calls(struct saying *saying, int64_t count);
/* " by {by}" and ": {reason}", each if it is given. */
void saying_by(struct saying *saying, const char *by);
void saying_reason(struct saying *saying, const char *reason);

/* An action.  `cli` is the command; each % in it stands for a text that follows, quoted for a shell.
 * name and value: what the action needs; NULL: nothing. */
void saying_offer(struct saying *saying, const char *action, const char *name,
                  const char *value, const char *cli, ...);

/* Which row it is. */
void saying_begin(struct saying *saying, const char *code, enum urgency urgency);

/* Completes the item.  False: memory ran out. */
bool saying_done(struct saying *saying);

/* {step, message, attempt} of last_error or undo_error; texts are in the arena. */
struct told_error {
    const char *step, *message; /* "" if they are not told */
    int64_t attempt, at_us;
};
struct told_error told_error_read(struct arena *arena, const char *json);

/* ---- tables --------------------------------------------------------------------------------- */

/* Of a step, or of a job, which is a task like a step. */
struct task_facts {
    int64_t now_us, opened_us;
    const struct instance_row *instance; /* NULL: a job */
    const struct why_step *step;         /* NULL: a job */
    const struct why_type *type;
    const char *type_name; /* the type that is claimed */
    bool is_function, is_undo;
    const char *name; /* of the step, or of the job's type */
    const char *worker;
    const char *error;
    const char *was_given_back_by; /* NULL: not known */
    bool is_handler_missing;
    int64_t started_us, locked_until_us, call_until_us, next_run_us;
    int32_t attempts, max_attempts;
    enum step_stop stop;
};

struct task_rule {
    const char *code;
    enum urgency urgency;
    bool (*fits)(const struct task_facts *task);
    void (*say)(struct saying *saying, const struct task_facts *task);
};

/* S1 to S4: a lease; S7 to S15: a task that waits for a worker.  The last row of each fits always. */
extern const struct task_rule why_leased_rules[], why_ready_rules[];

/* Says the sentence of the first row that fits. */
void saying_rule(struct saying *saying, const struct task_rule *rules,
                 const struct task_facts *task);

struct task_facts task_of_step(const struct why_step *step, const struct instance_row *instance,
                               int64_t now_us, int64_t opened_us);

/* why_step.c: S1 to S20. */
bool why_current_step(struct arena *arena, const struct task_facts *task, cairn_why *ret_item);
/* Whether it has a sentence of its own: not a fork, a join, a condition or a save point. */
bool why_is_shown(const struct step_row *row);

#endif
