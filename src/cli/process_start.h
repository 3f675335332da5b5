/* cli/process_start.h - starts a handler's command.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_PROCESS_START_H
#define CLI_PROCESS_START_H

#include "cli/process.h"

/* A command that was started, and our ends of its pipes; all are non-blocking. */
struct child {
    pid_t pid;       /* leader of a process group */
    uint32_t number; /* what the guard calls it */
    int input_fd, output_fd, errors_fd;
    int pid_fd; /* readable once it has ended; -1 on an old kernel */
};

/* False: `reason` says why. */
bool child_start(const struct process *process, struct child *ret_child,
                 char reason[LAST_LINE]);

void close_fd(int *fd); /* sets it to -1 */

#endif
