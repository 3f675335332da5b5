/* tests/sim/laws_timer.c - everything that is due happens in time, though nobody asks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

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
