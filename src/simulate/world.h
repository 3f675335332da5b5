/* simulate/world.h - what the parts of a world share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMULATE_WORLD_H
#define SIMULATE_WORLD_H

#include "base/clock.h"
#include "simulate/simulate.h"

/* 2030-01-01, so that a story does not depend on the day on which it is told. */
#define WORLD_BEGINS_US (INT64_C(1893456000) * US_PER_SEC)

void free_pagep(cairn_page **page);

/* learn.c: the steps of all workflows that were deployed, the tried one's first. */
cairn_code sim_learn(struct sim_world *world, cairn_error *reterr);
/* A step, unless it is known; then, when all are, what each is called. */
cairn_code sim_add_step(struct sim_world *world, const char *workflow, const char *name,
                        cairn_error *reterr);
cairn_code sim_name_steps(struct sim_world *world, cairn_error *reterr);

#endif
