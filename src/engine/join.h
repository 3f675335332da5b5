/* engine/join.h - what a join hands on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_JOIN_H
#define ENGINE_JOIN_H

#include "base/buf.h"
#include "core/flow.h"

/* {"status", "strategy", "completed": [...], "failed": [...], "outputs": {step: output}}: the last
 * element of each branch that has arrived or failed, in order of commits. */
cairn_code join_output(struct flow *flow, const struct flow_step *join, struct buf *out,
                       cairn_error *reterr);

#endif
