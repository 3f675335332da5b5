/* simulate/tally.h - the sum of many runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMULATE_TALLY_H
#define SIMULATE_TALLY_H

#include "simulate/simulate.h"

/* How often something was seen, and the smallest seed with which it was. */
struct sim_count {
    const char *what;
    uint64_t n, seed;
};

struct sim_tally {
    struct arena arena;
    const char *workflow;
    int32_t version;
    const char *const *steps;
    size_t step_count;

    uint64_t runs;
    LIST(struct sim_count) ends;   /* by the word of the status */
    LIST(struct sim_count) undone; /* by the order of undo, "hotel, flight"; "": nothing was */
    uint64_t *reached;             /* of each step: in how many runs */
    const struct law *laws;
    size_t law_count;
    struct sim_count *broken; /* of each law */
};

/* Makes runs with the seeds from `first` on, on all processors, and sums them up.  The laws were read with the
 * steps of `world`.  `progress` is called now and then by one of the threads with the number of runs made. */
cairn_code sim_tally_runs(struct sim_tally *tally, const struct sim_world *world,
                          const struct law *laws, size_t law_count, uint64_t first,
                          uint64_t count, void (*progress)(uint64_t done, uint64_t count),
                          cairn_error *reterr);
void sim_tally_done(struct sim_tally *tally);

#endif
