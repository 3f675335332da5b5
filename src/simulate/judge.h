/* simulate/judge.h - how an instance has ended, by what the store says, and which laws it breaks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMULATE_JUDGE_H
#define SIMULATE_JUDGE_H

#include "base/json.h"
#include "cairn.h"

/* Laws that are known to be broken already. */
struct sim_blame {
    const char *const *laws;
    size_t count;
};

/* Writes the members workflow, status, called, done, undone and broken of an object.  CAIRN_E_BAD_INPUT: a law
 * cannot be read. */
cairn_code sim_judge(cairn_engine *engine, const char *id, const char *const *laws,
                     size_t law_count, const struct sim_blame *blame, struct json_out *out,
                     cairn_error *reterr);

/* broken alone. */
void sim_write_blame(const struct sim_blame *blame, struct json_out *out);

#endif
