/* cli/process.h - one run of a handler's command: input in, output and errors out, never stuck.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include "base/buf.h"
#include "cli/guard.h"

#include <stdbool.h>
#include <stddef.h>

enum { LAST_LINE = 1024 };

struct process {
    const char *command; /* for /bin/sh -c */
    char *const *environment;
    const char *input;
    size_t input_len;
    size_t
        output_max; /* the first byte more ends it, as is_unwanted does, and sets is_too_large */

    /* Asked again and again while it runs: true ends it (SIGTERM, after a while SIGKILL). */
    bool (*is_unwanted)(void *arg);
    void *arg;
    int kill_fd;         /* readable: end it now, with SIGKILL */
    struct guard *guard; /* ends it if this process is killed */
};

struct process_end {
    int exit_status;   /* if it exited */
    int signal;        /* 0: it exited; else what killed it */
    bool is_stopped;   /* by us: it is no longer wanted */
    bool is_too_large; /* its output is, and it was ended for that */
    struct buf output;
    char last_line[LAST_LINE]; /* of standard error; "" if there was none */
};

/* Runs it to its end.  Its standard error is passed on to ours, line by line.  False: it could
 * not be started, and last_line says why.  The output is the caller's to release. */
bool process_run(const struct process *process, struct process_end *ret_end);

void close_fd(int *fd); /* sets it to -1 */

/* Whether a closed terminal is no reason to stop, as nohup asks. */
bool hangup_is_ignored(void);

#endif
