/* tests/sim/laws_rate.c - a rate, told by the windows of time that end now.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The engine keeps the level of each bucket.  Here nothing is kept but when tokens were taken and came back: in no
 * window of time are more taken than a full bucket holds and than are filled in meanwhile.  What came back in a
 * window is not counted, but in its first instant it may have come before: into a bucket that was full.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rate_note(struct sim *sim, const struct limit_seen *limit, const char *group, bool is_back,
               bool is_sure)
{
    if (!limit->rate_n)
        return;
    if (sim->token_count == TOKENS_MAX)
        abort();
    struct token_seen *token = &sim->tokens[sim->token_count++];
    *token = (struct token_seen){
        .at_us = clock_now_us(&sim->clock), .is_back = is_back, .is_sure = is_sure};
    snprintf(token->limit, sizeof token->limit, "%s", limit->name);
    snprintf(token->group, sizeof token->group, "%s", limit->is_per_group ? group : "");
}

void rate_doubt(struct sim *sim, const char *limit)
{
    for (size_t i = 0; i < sim->token_count; i++)
        if (strcmp(sim->tokens[i].limit, limit) == 0)
            sim->tokens[i].is_sure = false;
}

static bool is_of(const struct token_seen *token, const struct limit_seen *limit,
                  const char *group)
{
    return strcmp(token->limit, limit->name) == 0 &&
           strcmp(token->group, limit->is_per_group ? group : "") == 0;
}

/* The fullest window: how many tokens it has taken, times the length of the rate, less what was filled in.  Of what
 * is not sure, the least that can be if is_least, else the most. */
static int64_t fullest(struct sim *sim, const struct limit_seen *limit, const char *group,
                       bool is_least)
{
    int64_t now_us = clock_now_us(&sim->clock), most = 0, taken = 0;
    for (size_t i = sim->token_count; i > 0;) {
        int64_t at_us = sim->tokens[i - 1].at_us, begun = 0, back = 0;
        for (; i > 0 && sim->tokens[i - 1].at_us == at_us; i--) {
            const struct token_seen *token = &sim->tokens[i - 1];
            if (is_of(token, limit, group) && (token->is_sure || token->is_back == is_least))
                *(token->is_back ? &back : &begun) += 1;
        }
        int64_t whole = taken + begun - (is_least ? back : 0);
        int64_t level =
            whole * limit->rate_per_ms * US_PER_MS - (now_us - at_us) * limit->rate_n;
        most = level > most ? level : most;
        taken += begun - back;
    }
    return most;
}

void law_of_rate(struct sim *sim, const struct limit_seen *limit, const char *group)
{
    int64_t full = limit->rate_n * limit->rate_per_ms * US_PER_MS;
    if (limit->rate_n && fullest(sim, limit, group, true) > full)
        sim_broken(sim, "more of %s begin in some time than %d in %lld ms", limit->name,
                   limit->rate_n, (long long)limit->rate_per_ms);
}

int64_t rate_wait_us(struct sim *sim, const struct limit_seen *limit, const char *group)
{
    if (!limit->rate_n)
        return 0;
    int64_t over = fullest(sim, limit, group, false) -
                   (limit->rate_n - 1) * limit->rate_per_ms * US_PER_MS;
    return over > 0 ? (over + limit->rate_n - 1) / limit->rate_n : 0;
}
