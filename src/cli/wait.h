/* cli/wait.h - waiting until an instance has ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WAIT_H
#define CLI_WAIT_H

#include "cli/call.h"

/* Waits until the instance has ended or --timeout has passed.  EXIT_DONE: it completed; EXIT_NO: it
 * ended otherwise; EXIT_LATE: the timeout passed. */
int wait_for_instance(const struct args *args, cairn_engine *engine, const char *id);

#endif
