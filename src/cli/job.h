/* cli/job.h - what the commands about jobs share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "base/json.h"

/* Whether a handler has been called beyond the calls that failed: one is under way, or has
 * succeeded. */
bool job_is_called(const json_t *job);

#endif
