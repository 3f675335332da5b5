/* cli/process_start.c - starts a handler's command.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * posix_spawn() can neither request a signal at the death of the parent nor notify the guard, so
 * we use fork() and exec().  Between the two the child calls only functions that are allowed in a
 * program with threads.
 */
#include "cli/process.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* The exit code of a child that has not become the command. */
enum { EXIT_UNSTARTED = 127 };

struct pipes {
    int input[2], output[2], errors[2]; /* [0] is read, [1] is written */
    int failure[2];                     /* closed by exec(); carries errno if that fails */
};

static void close_both(int fds[2])
{
    close_fd(&fds[0]);
    close_fd(&fds[1]);
}

static void pipes_done(struct pipes *pipes)
{
    close_both(pipes->input);
    close_both(pipes->output);
    close_both(pipes->errors);
    close_both(pipes->failure);
}

static bool pipes_open(struct pipes *pipes)
{
    *pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    return pipe2(pipes->input, O_CLOEXEC) == 0 && pipe2(pipes->output, O_CLOEXEC) == 0 &&
           pipe2(pipes->errors, O_CLOEXEC) == 0 && pipe2(pipes->failure, O_CLOEXEC) == 0;
}

/* ---- in the child ----------------------------------------------------------------------- */

/* The command begins with default signal handling and no blocked signals. */
static void reset_signals(void)
{
    sigset_t none;
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &standard, NULL); /* some cannot be changed, and need not be */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The signal at the parent's death reaches this process alone; the guard ends the group.  It
 * comes when the thread that forked has ended, which waits for this process. */
static _Noreturn void become_command(const struct process *process, const struct pipes *pipes,
                                     uint32_t number, pid_t parent)
{
    char *const arguments[] = {"sh", "-c", (char *)(uintptr_t)process->command, NULL};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_UNSTARTED); /* it died before we could ask for the signal */
    guard_enter(process->guard, number);
    reset_signals();
    if (dup2(pipes->input[0], STDIN_FILENO) >= 0 &&
        dup2(pipes->output[1], STDOUT_FILENO) >= 0 &&
        dup2(pipes->errors[1], STDERR_FILENO) >= 0)
        execve("/bin/sh", arguments, process->environment);
    int problem = errno;
    ssize_t len = write(pipes->failure[1], &problem, sizeof problem);
    (void)len; /* the reader takes an end without a number as a start */
    _exit(EXIT_UNSTARTED);
}

/* ---- in the parent ---------------------------------------------------------------------- */

/* Waits for exec(); the errno it failed with, or 0. */
static int await_exec(struct pipes *pipes)
{
    int problem = 0;
    ssize_t len;
    close_fd(&pipes->failure[1]);
    do
        len = read(pipes->failure[0], &problem, sizeof problem);
    while (len < 0 && errno == EINTR);
    return len == (ssize_t)sizeof problem ? problem : 0;
}

/* 0, or an errno. */
static int spawn(const struct process *process, struct pipes *pipes, struct child *child)
{
    pid_t parent = getpid();
    child->number = guard_number(process->guard);
    child->pid = fork();
    if (child->pid < 0)
        return errno;
    if (child->pid == 0)
        become_command(process, pipes, child->number, parent);
    setpgid(child->pid, child->pid); /* parent and child both do it, whichever is first */
    int problem = await_exec(pipes);
    if (problem) {
        waitpid(child->pid, NULL, 0);
        guard_leave(process->guard, child->number);
    }
    return problem;
}

static int take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    fcntl(taken, F_SETFL, fcntl(taken, F_GETFL) | O_NONBLOCK);
    return taken;
}

bool child_start(const struct process *process, struct child *ret_child, char reason[LAST_LINE])
{
    cleanup(pipes_done) struct pipes pipes;
    struct child child = {0};
    int problem = pipes_open(&pipes) ? spawn(process, &pipes, &child) : errno;
    if (problem) {
        snprintf(reason, LAST_LINE, "could not start the handler: %s", strerror(problem));
        return false;
    }
    child.input_fd = take(&pipes.input[1]);
    child.output_fd = take(&pipes.output[0]);
    child.errors_fd = take(&pipes.errors[0]);
    child.pid_fd = (int)syscall(SYS_pidfd_open, child.pid, 0);
    if (child.pid_fd >= 0)
        fcntl(child.pid_fd, F_SETFD, FD_CLOEXEC);
    *ret_child = child;
    return true;
}
