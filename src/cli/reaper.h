/* cli/reaper.h - the parent of one handler, which leaves nothing of it behind.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Between the worker and the command of a call stands a small process.  It is a child subreaper: whatever
 * the command started and left (a daemon with a session of its own, too) becomes its child.  So all of a call
 * can be found and killed when the call ends, and when the worker dies.
 *
 * It ends when everything below it has ended, in the way in which the command ended: with the same exit
 * status, or by the same signal.
 */
#ifndef CLI_REAPER_H
#define CLI_REAPER_H

#include "cli/guard.h"

#include <sys/types.h>

/* What it becomes the parent of.  The descriptors are the command's ends of its pipes. */
struct reaping {
    const char *command; /* for /bin/sh -c */
    char *const *environment;
    int input_fd, output_fd, errors_fd;
    int failure_fd; /* carries errno if exec() fails, and is closed by exec() */
    const struct guard *guard;
    uint32_t number; /* what the guard calls the command */
    pid_t parent;    /* the worker */
};

/* Called in the child after fork() in a program with threads; only calls what is allowed there. */
_Noreturn void reaper_run(const struct reaping *reaping);

/* What the worker asks of it. */
void reaper_stop(pid_t reaper); /* SIGTERM to all, and then it waits for their end */
void reaper_kill(pid_t reaper); /* SIGKILL to all */

#endif
