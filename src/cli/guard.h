/* cli/guard.h - a small process that outlives the worker by a moment and ends its handlers.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A worker that is killed with SIGKILL cannot end its handlers.  The guard can: it reads a pipe
 * whose only writers are the worker and handlers that have not yet called exec().  When the
 * pipe is closed it kills the process group of every handler that is still running, and removes
 * the folder with the files of the handlers.
 */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    GUARD_MAX = 1024, /* handlers at the same time */
    GUARD_PATH = 512
};

struct guard {
    pid_t pid;
    int fd;                  /* the writing end of the pipe */
    char folder[GUARD_PATH]; /* for files of handlers; made when the first file is written */
    atomic_uint latest;      /* the number of the latest handler */
};

/* Forks.  To be called before the first thread is started.  False: errno says why. */
bool guard_start(struct guard *guard);

/* Waits until the guard has ended. */
void guard_end(struct guard *guard);

/* Numbers for handlers, from 1. */
uint32_t guard_number(struct guard *guard);

/* Called in the handler's process, as leader of its group, before exec().  The handler says it
 * itself: there is no moment in which a worker could die and leave it unknown.  Only calls what
 * is allowed after fork() in a program with threads. */
void guard_enter(const struct guard *guard, uint32_t number);

/* Called by the worker when the handler has ended. */
void guard_leave(const struct guard *guard, uint32_t number);

#endif
