/* cli/events.h - what happened to a job or an instance, and what happens to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_EVENTS_H
#define CLI_EVENTS_H

#include "cli/args.h"

/* Events of the first operand; `path` is "/v1/jobs/" or "/v1/instances/". */
int events_run(const struct args *args, const char *path);
extern const struct option events_options[];

/* Nothing more will happen by itself to what has this status. */
bool status_is_final(const char *status);
void pause_ms(int ms);

#endif
