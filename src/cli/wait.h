/* cli/wait.h - waits until an instance or a job has ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WAIT_H
#define CLI_WAIT_H

#include "cli/call.h"

enum wait_kind { WAIT_INSTANCE, WAIT_JOB, WAIT_UNKNOWN /* an instance, or else a job */ };

/* For commands with --wait and --timeout: prints {"id", "existing"} of what was made; with --wait it
 * waits, and standard error says how it ended (with -o json the object is printed as it ended, and
 * nothing before).  EXIT_DONE: it completed or succeeded, or nothing was waited for; EXIT_NO: it
 * ended otherwise; EXIT_LATE: the timeout passed. */
int print_created_and_wait(const struct args *args, cairn_engine *engine, enum wait_kind kind,
                           const struct answer *created);

#endif
