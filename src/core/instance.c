/* core/instance.c - the states of instances and steps, as tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/instance.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static const char *const instance_names[INSTANCE_STATUS_COUNT] = {
    [INSTANCE_PENDING] = "pending",
    [INSTANCE_RUNNING] = "running",
    [INSTANCE_WAITING_SIGNAL] = "waiting_signal",
    [INSTANCE_PAUSED] = "paused",
    [INSTANCE_COMPENSATING] = "compensating",
    [INSTANCE_DLQ] = "dlq",
    [INSTANCE_COMPLETED] = "completed",
    [INSTANCE_FAILED] = "failed",
    [INSTANCE_CANCELLED] = "cancelled",
    [INSTANCE_ABORTED] = "aborted",
};

static const char *const step_names[STEP_STATUS_COUNT] = {
    [STEP_PENDING] = "pending",
    [STEP_READY] = "ready",
    [STEP_RUNNING] = "running",
    [STEP_WAITING] = "waiting",
    [STEP_WAITING_DECISION] = "waiting_decision",
    [STEP_COMPLETED] = "completed",
    [STEP_CONFIRMED] = "confirmed",
    [STEP_REJECTED] = "rejected",
    [STEP_FAILED] = "failed",
    [STEP_PAUSED] = "paused",
    [STEP_COMPENSATION] = "compensation",
    [STEP_ROLLED_BACK] = "rolled_back",
    [STEP_SKIPPED] = "skipped",
};

static const char *const kind_names[STEP_KIND_COUNT] = {
    [KIND_TASK] = "task",           [KIND_SLEEP] = "sleep",
    [KIND_WAIT] = "wait",           [KIND_SAVE_POINT] = "save_point",
    [KIND_CONDITION] = "condition", [KIND_FORK] = "fork",
    [KIND_JOIN] = "join",           [KIND_HUMAN] = "human",
    [KIND_FUNCTION] = "function",   [KIND_VALUE] = "value",
    [KIND_START] = "start",
};

/* Sets of states, a bit each. */
#define I(name) (1u << INSTANCE_##name)
#define S(name) (1u << STEP_##name)

/* Rows are where an instance is; a set says where it may go. */
static const unsigned instance_next[INSTANCE_STATUS_COUNT] = {
    [INSTANCE_PENDING] = I(RUNNING) | I(CANCELLED) | I(ABORTED),
    [INSTANCE_RUNNING] = I(WAITING_SIGNAL) | I(PAUSED) | I(COMPENSATING) | I(DLQ) |
                         I(COMPLETED) | I(FAILED) | I(CANCELLED) | I(ABORTED),
    [INSTANCE_WAITING_SIGNAL] = I(RUNNING) | I(PAUSED) | I(COMPENSATING) | I(DLQ) | I(FAILED) |
                                I(CANCELLED) | I(ABORTED),
    [INSTANCE_PAUSED] = I(RUNNING) | I(COMPENSATING) | I(CANCELLED) | I(ABORTED),
    [INSTANCE_COMPENSATING] = I(FAILED) | I(CANCELLED) | I(ABORTED),
    [INSTANCE_DLQ] = I(RUNNING) | I(COMPENSATING) | I(CANCELLED) | I(ABORTED),
};

/* The same for restart, retry and requeue. */
static const unsigned instance_reopened[INSTANCE_STATUS_COUNT] = {
    [INSTANCE_RUNNING] = I(RUNNING),   [INSTANCE_WAITING_SIGNAL] = I(RUNNING),
    [INSTANCE_PAUSED] = I(RUNNING),    [INSTANCE_DLQ] = I(RUNNING),
    [INSTANCE_COMPLETED] = I(RUNNING), [INSTANCE_FAILED] = I(RUNNING) | I(COMPENSATING),
    [INSTANCE_CANCELLED] = I(RUNNING), [INSTANCE_ABORTED] = I(RUNNING),
};

static const unsigned step_next[STEP_STATUS_COUNT] = {
    /* Kinds that the engine runs itself are never claimed. */
    [STEP_PENDING] = S(READY) | S(COMPLETED) | S(WAITING) | S(WAITING_DECISION) | S(FAILED) |
                     S(PAUSED) | S(SKIPPED),
    [STEP_READY] = S(RUNNING) | S(SKIPPED),
    [STEP_RUNNING] = S(COMPLETED) | S(READY) | S(WAITING) | S(FAILED) | S(PAUSED) | S(SKIPPED),
    [STEP_WAITING] = S(READY) | S(COMPLETED) | S(FAILED) | S(SKIPPED),
    [STEP_WAITING_DECISION] = S(CONFIRMED) | S(REJECTED) | S(FAILED) | S(SKIPPED),
    [STEP_COMPLETED] = S(COMPENSATION) | S(ROLLED_BACK),
    [STEP_CONFIRMED] = S(COMPENSATION) | S(ROLLED_BACK),
    [STEP_FAILED] = S(COMPENSATION) | S(ROLLED_BACK) | S(READY) | S(PAUSED),
    [STEP_PAUSED] = S(READY) | S(PENDING) | S(COMPENSATION) | S(COMPLETED) | S(SKIPPED),
    [STEP_COMPENSATION] = S(ROLLED_BACK) | S(FAILED),
    [STEP_SKIPPED] = S(COMPENSATION),
};

static const unsigned step_reopened[STEP_STATUS_COUNT] = {
    [STEP_READY] = S(PENDING),     [STEP_RUNNING] = S(PENDING),
    [STEP_WAITING] = S(PENDING),   [STEP_WAITING_DECISION] = S(PENDING),
    [STEP_COMPLETED] = S(PENDING), [STEP_CONFIRMED] = S(PENDING),
    [STEP_REJECTED] = S(PENDING),  [STEP_FAILED] = S(PENDING) | S(COMPENSATION),
    [STEP_PAUSED] = S(PENDING),    [STEP_ROLLED_BACK] = S(PENDING),
    [STEP_SKIPPED] = S(PENDING),
};

const char *instance_status_name(enum instance_status status)
{
    return instance_names[status];
}

const char *step_status_name(enum step_status status)
{
    return step_names[status];
}

const char *step_kind_name(enum step_kind kind)
{
    return kind_names[kind];
}

/* The index of a word in a list whose first entry is none; 0: it is not there. */
static int find_name(const char *const *names, int count, const char *name)
{
    for (int i = 1; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return 0;
}

enum instance_status instance_status_from(const char *name)
{
    return (enum instance_status)find_name(instance_names, INSTANCE_STATUS_COUNT, name);
}

enum step_status step_status_from(const char *name)
{
    return (enum step_status)find_name(step_names, STEP_STATUS_COUNT, name);
}

enum step_kind step_kind_from(const char *name)
{
    return (enum step_kind)find_name(kind_names, STEP_KIND_COUNT, name);
}

bool instance_is_final(enum instance_status status)
{
    return (1u << status) & (I(COMPLETED) | I(FAILED) | I(CANCELLED) | I(ABORTED));
}

bool step_is_ended(enum step_status status)
{
    return (1u << status) & (S(COMPLETED) | S(CONFIRMED) | S(REJECTED) | S(FAILED) |
                             S(ROLLED_BACK) | S(SKIPPED));
}

bool step_is_current(enum step_status status)
{
    return (1u << status) & (S(READY) | S(RUNNING) | S(WAITING) | S(WAITING_DECISION) |
                             S(PAUSED) | S(COMPENSATION));
}

bool instance_may(enum instance_status from, enum instance_status to, bool is_reopening)
{
    assert(from < INSTANCE_STATUS_COUNT && to < INSTANCE_STATUS_COUNT);
    unsigned set = instance_next[from] | (is_reopening ? instance_reopened[from] : 0);
    return set >> to & 1;
}

bool step_may(enum step_status from, enum step_status to, bool is_reopening)
{
    assert(from < STEP_STATUS_COUNT && to < STEP_STATUS_COUNT);
    unsigned set = step_next[from] | (is_reopening ? step_reopened[from] : 0);
    return set >> to & 1;
}
