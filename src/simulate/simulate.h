/* simulate/simulate.h - tries a workflow: the real engine in memory, a virtual clock, invented handlers and people.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A run is one instance.  Its seed decides how long each call takes and how it ends, whether a signal comes and
 * what people decide; the same seed gives the same run, whatever other runs were made before it.
 */
#ifndef SIMULATE_SIMULATE_H
#define SIMULATE_SIMULATE_H

#include "base/buf.h"
#include "simulate/law.h"

#include <stdint.h>

/* How often calls of a step fail, in place of sim_plan.fail. */
struct sim_rate {
    const char
        *step; /* its name, NAME:undo for its compensation, or the beginning of names and % */
    double fail;
};

/* rates.c: reads "STEP=RATE,...".  CAIRN_E_BAD_INPUT. */
cairn_code sim_rates_read(const char *given, struct arena *arena, struct sim_rate **ret_rates,
                          size_t *ret_count, cairn_error *reterr);
/* The rate of a call with this name; the last one that is meant counts. */
double sim_fail_rate(const struct sim_rate *rates, size_t count, const char *name,
                     double otherwise);

struct sim_plan {
    const char *const *files,
        *const *texts; /* the first workflow is tried, it may start the others */
    size_t file_count;
    const char *input;           /* JSON; NULL: the example in the first file, else {} */
    double fail, crash, timeout; /* of a call: how often it ends in this way */
    double signal;               /* of a wait: how often its signal comes */
    double confirm;              /* of a decision: how often it is confirmed */
    const struct sim_rate *rates;
    size_t rate_count;

    /* In place of invented handlers: executes everything that can be claimed now.  NULL: they are invented. */
    cairn_code (*work)(void *arg, cairn_engine *engine, cairn_error *reterr);
    void *work_arg;
};

struct sim_step {
    const char *workflow; /* of the steps of a map WORKFLOW:MAP */
    const char *name;
};

/* An engine with the workflows in it, for one run after the other.  A zeroed struct is a closed one. */
struct sim_world {
    const struct sim_plan *plan;
    cairn_engine *engine;
    struct arena arena;
    const char *workflow;
    const char *input;
    int32_t version;
    const char *
        *steps; /* names, in the order of the file; then those of children, as WORKFLOW.STEP if
                         * another step has the same name */
    struct sim_step *known; /* the same, as the engine knows them */
    size_t step_count;
    size_t own_count;  /* of these, those of the workflow that is tried */
    bool has_forks;    /* several steps may be under way at a time */
    bool has_people;   /* a step waits for a signal or a decision */
    bool has_children; /* there may be other instances than the one that is tried */
};

/* CAIRN_E_NOT_FOUND: it starts a workflow that is in none of the files. */
cairn_code sim_world_open(struct sim_world *world, const struct sim_plan *plan,
                          cairn_error *reterr);
void sim_world_close(struct sim_world *world);

/* How a run ended. */
struct sim_end {
    struct arena arena;
    cairn_instance_status status; /* 0: it never ends by itself */
    const char *word;       /* its status as a word, ended or not: "waiting_signal", "dlq" */
    struct law_step *steps; /* as many as the world has */
    bool *is_reached;       /* of each step: it was not left out */
    int *undone;            /* the steps whose compensation succeeded, in order */
    size_t undone_count;
};

/* Makes one run.  story NULL: it is not told; else a line of text for all that happens. */
cairn_code sim_run(struct sim_world *world, uint64_t seed, struct buf *story,
                   struct sim_end *ret_end, cairn_error *reterr);
void sim_end_done(struct sim_end *end);

#endif
