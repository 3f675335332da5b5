/* cli/work.h - what the parts of cairn work share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WORK_H
#define CLI_WORK_H

#include "base/arena.h"
#include "base/error.h"
#include "cairn.h"
#include "cli/args.h"
#include "cli/guard.h"
#include "cli/log.h"

struct working {
    const struct args *args;
    struct log log;
    cairn_worker *worker;
    struct guard guard;
    int signal_fd;
    int kill_fd; /* readable once handlers are to be killed */
    int over_fd; /* readable once the worker has returned */
};

/* One --handle. */
struct handling {
    struct working *working;
    char *type;          /* up to the "=" */
    const char *command; /* after it */
};

/* A cairn_handler: runs the command of a struct handling for one task. */
cairn_outcome work_handle(cairn_work *work, void *arg);

/* Reads each --handle TYPE=COMMAND.  The types are the caller's to free.  False: an error was printed. */
bool work_read_handlings(struct working *working, const struct args *args,
                         struct handling *ret_handlings);

/* Makes sure that standard input, output and errors are open files: a pipe of a handler must not get the
 * number of one of them. */
void open_standard_files(void);

#endif
