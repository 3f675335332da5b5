/* tests/sim/act_limit.c - people set limits, and jobs and instances belong to groups.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>

const char *act_group_name(struct sim *sim)
{
    static const char *const groups[] = {NULL, "g", "h"};
    return groups[sim_below(sim, 3)];
}

void act_group(struct sim *sim, cairn_job_spec *spec)
{
    static const char *const types[] = {"j", "j.a", "j.b"};
    spec->type = types[sim_below(sim, 3)];
    spec->group = act_group_name(sim);
}

/* The latest of a name counts, and several may match a type. */
void act_limit(struct sim *sim, int engine)
{
    static const char *const names[SEEN_LIMITS] = {"l0", "l1", "l2"};
    static const char *const types[] = {"j%", "j", "j.a", "j.%", "%", "s%"}; /* s%: steps */
    static const int64_t times_ms[] = {200, 2000, 10000};
    const char *name = names[sim_below(sim, SEEN_LIMITS)];
    bool is_removed = sim_chance(sim, 20);
    struct request *request = request_new(is_removed ? OP_LIMIT_DELETE : OP_LIMIT_PUT);
    if (!request)
        abort();
    if (is_removed) {
        request->in.id = name;
    } else {
        cairn_limit_spec *spec = &request->in.limit;
        *spec = (cairn_limit_spec)CAIRN_LIMIT_DEFAULTS;
        spec->name = name;
        int kind = sim_below(sim, 6);
        spec->types = kind == 5 && sim->has_functions ? "f%" : types[kind];
        spec->per_group = sim_chance(sim, 50);
        bool is_rated = sim_chance(sim, 25);
        if (!is_rated || sim_chance(sim, 50))
            spec->concurrency = 1 + sim_below(sim, 3);
        if (is_rated) {
            spec->rate_n = 1 + sim_below(sim, 3);
            spec->rate_per_ms = times_ms[sim_below(sim, 3)];
        }
    }
    const cairn_limit_spec *told = &request->in.limit;
    if (is_removed)
        sim_trace(sim, "engine %d: remove limit %s", engine, name);
    else
        sim_trace(sim, "engine %d: set limit %s of %s%s: %d at once, %d in %lld ms", engine,
                  name, told->types, told->per_group ? " in each group" : "", told->concurrency,
                  told->rate_n, (long long)told->rate_per_ms);
    act_submit(sim, engine, request, NULL);
}
