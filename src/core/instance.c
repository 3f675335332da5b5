/* core/instance.c - the states of instances and steps, as tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/instance.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

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
    [INSTANCE_RUNNING] = I(RUNNING),
    [INSTANCE_WAITING_SIGNAL] = I(RUNNING),
    [INSTANCE_PAUSED] = I(RUNNING),
    [INSTANCE_DLQ] = I(RUNNING),
    [INSTANCE_COMPLETED] = I(RUNNING) | I(COMPENSATING),
    [INSTANCE_FAILED] = I(RUNNING) | I(COMPENSATING),
    [INSTANCE_CANCELLED] = I(RUNNING),
    [INSTANCE_ABORTED] = I(RUNNING),
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
