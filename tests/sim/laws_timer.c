/* tests/sim/laws_timer.c - everything that is due happens in time, though nobody asks; who
 * waits for work is woken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function.h"

#include <string.h>

enum { WAKES = 12, RUNS_MAX = 300 };

void law_of_due(struct sim *sim)
{
    if (!sim->has_timers)
        return;
    int64_t due_us = sim_next_due(sim), now_us = clock_now_us(&sim->clock);
    if (due_us && due_us <= now_us)
        sim_broken(sim, "a timer is due since %lld us, and no engine has applied it",
                   (long long)(now_us - due_us));
}

/* Each of these engines does what it has to do by itself. */
static void run_alive(struct sim *sim, const bool is_alive[ENGINES])
{
    bool has_run = true;
    for (int runs = 0; has_run; runs++) {
        if (runs == RUNS_MAX)
            sim_broken(sim, "the engines do not come to rest");
        has_run = false;
        for (int i = 0; i < ENGINES; i++)
            if (is_alive[i] && act_run_one(sim, i))
                has_run = true;
    }
    act_settle(sim);
}

static int64_t next_wake(struct sim *sim, const bool is_alive[ENGINES])
{
    int64_t first_us = INT64_MAX;
    for (int i = 0; i < ENGINES; i++)
        if (is_alive[i] && sim_engine_wakes(sim, i) < first_us)
            first_us = sim_engine_wakes(sim, i);
    return first_us;
}

/* Some engines are gone, some were restarted; time goes on as far as the rest wakes up by itself. */
void law_of_quiet(struct sim *sim)
{
    bool is_alive[ENGINES];
    int kept = sim_below(sim, ENGINES);
    for (int i = 0; i < ENGINES; i++) {
        is_alive[i] = i == kept || sim_chance(sim, 50);
        if (is_alive[i] && sim_chance(sim, 70))
            engine_crash(sim, i);
    }
    act_settle(sim);
    for (int wakes = 0; wakes < WAKES; wakes++) {
        run_alive(sim, is_alive);
        law_of_due(sim);
        int64_t due_us = sim_next_due(sim), wake_us = next_wake(sim, is_alive);
        if (due_us == 0)
            return;
        if (wake_us > due_us)
            sim_broken(sim, "a timer is due in %lld us, and no engine wakes up for it",
                       (long long)(due_us - clock_now_us(&sim->clock)));
        sim_trace(sim, "quiet: an engine wakes up after %lld us",
                  (long long)(wake_us - clock_now_us(&sim->clock)));
        sim_set_clock(sim, wake_us);
    }
}

/* ---- claims that wait -------------------------------------------------------------------- */

void list_ready(struct sim *sim, const cairn_claim_options *claim, bool are_held_too,
                uint64_t ret_ready[INSTANCES_MAX])
{
    memset(ret_ready, 0, INSTANCES_MAX * sizeof *ret_ready);
    for (size_t i = 0; i < sim->now->instance_count; i++) {
        const struct seen_instance *instance = &sim->now->instances[i];
        for (size_t k = 0; k < instance->step_count; k++)
            if (instance->steps[k].is_ready && instance->steps[k].seq < 64 &&
                (!claim || claim_accepts(claim, instance, &instance->steps[k])) &&
                (are_held_too || !sim->has_limits ||
                 !step_is_held_back(sim, &instance->steps[k])))
                ret_ready[i] |= UINT64_C(1) << instance->steps[k].seq;
    }
}

void law_of_wakes(struct sim *sim, int engine, const uint64_t before[INSTANCES_MAX])
{
    uint64_t ready[INSTANCES_MAX];
    const struct op *parked = &sim->parked[engine];
    if (!parked->request || parked->is_done)
        return;
    list_ready(sim, &parked->request->in.claim, false, ready);
    for (size_t i = 0; i < INSTANCES_MAX; i++)
        if (ready[i] & ~before[i])
            sim_broken(sim, "a worker waits at engine %d for what is there", engine);
}
