/* cli/simulate.h - what the parts of cairn simulate share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SIMULATE_H
#define CLI_SIMULATE_H

#include "simulate/tally.h"

#include <stdbool.h>

/* Whether an instance with this status goes no further by itself. */
bool is_endless(const char *word);

/* The story of a run is wanted: of a broken law, or of a run that never ends. */
struct sim_told {
    const char *why; /* the law, or the status */
    uint64_t seed;
    struct buf story;
};

/* Makes the plan work with the commands of a file, in lines of TYPE=COMMAND, without any faults.  The answer
 * is an exit code; real_end() releases what it has begun. */
struct sim_real;
int real_begin(const char *file, struct sim_plan *plan, struct sim_real **ret_real);
void real_end(struct sim_real *real); /* may be NULL */

void print_simulation(const struct sim_tally *tally, const struct sim_told *told, size_t count);
void print_simulation_json(const struct sim_tally *tally, const struct sim_told *told,
                           size_t count);
void print_story(const struct buf *story, const char *indent);

#endif
