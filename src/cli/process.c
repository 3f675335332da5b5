/* cli/process.c - runs a command between three pipes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The command gets a parent of its own (reaper.c), so that it can be ended with all that it started, and a
 * process group, so that Ctrl-C at the terminal reaches us and not it.  Everything is polled, and one turn
 * reads a bounded amount: a command that writes without end, that neither reads nor writes, or that leaves
 * its pipes to a child, cannot keep us from stopping it.
 *
 * posix_spawn() can neither request a signal at the death of the parent nor notify the guard, so we use fork()
 * and exec().  Between the two the child calls only functions that are allowed in a program with threads.
 */
#include "cli/process.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cli/reaper.h"
#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A command that was started, and our ends of its pipes; all are non-blocking. */
struct child {
    pid_t pid; /* of its parent, which ends when all that it started has ended (reaper.h) */
    uint32_t number; /* what the guard calls it */
    int input_fd, output_fd, errors_fd;
    int pid_fd; /* readable once it has ended; -1 on an old kernel */
};

void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

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
    child->number = guard_number(process->guard);
    struct reaping reaping = {.command = process->command,
                              .environment = process->environment,
                              .input_fd = pipes->input[0],
                              .output_fd = pipes->output[1],
                              .errors_fd = pipes->errors[1],
                              .failure_fd = pipes->failure[1],
                              .guard = process->guard,
                              .number = child->number,
                              .parent = getpid()};
    child->pid = fork();
    if (child->pid < 0)
        return errno;
    if (child->pid == 0)
        reaper_run(&reaping);
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

/* False: `reason` says why. */
static bool child_start(const struct process *process, struct child *ret_child,
                        char reason[LAST_LINE])
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

/* ---- while it runs ---------------------------------------------------------------------- */

enum {
    TICK_MS = 200,      /* how often is_unwanted is asked */
    GRACE_MS = 5000,    /* between SIGTERM and SIGKILL */
    FALLBACK_MS = 20,   /* how often the child is asked for, where it cannot be polled */
    REST_MS = 1000,     /* for the reader of our standard error, when the command has ended */
    TURN_BYTES = 65536, /* read from a pipe before the other descriptors are polled again */
    CHUNK_ROOM = 4096,
    LINE_ROOM = 4096 /* a pipe takes this much in one piece */
};

enum { POLL_INPUT, POLL_OUTPUT, POLL_ERRORS, POLL_CHILD, POLL_KILL, POLL_COUNT };

/* A run that is under way.  Closed file descriptors are -1, which poll() passes over. */
struct run {
    const struct process *process;
    struct process_end *end;
    struct child child;
    size_t written;
    char chunk[CHUNK_ROOM]; /* of standard error, read and not yet passed on from chunk_at */
    size_t chunk_at, chunk_len;
    char line[LINE_ROOM]; /* of standard error, not yet ended */
    size_t line_len;
    bool is_held;       /* a line waits until our own standard error has room */
    int64_t drop_at_us; /* monotonic; then what cannot be passed on is dropped; 0: never */
    bool has_ended;     /* the child has been waited for, and nothing of the command is left */
    bool is_killed;     /* SIGKILL has been sent */
    int64_t kill_at_us; /* monotonic; 0: SIGTERM has not been sent */
};

/* ---- the pipes -------------------------------------------------------------------------- */

static void feed_input(struct run *run)
{
    const struct process *process = run->process;
    while (run->written < process->input_len) {
        ssize_t len = write(run->child.input_fd, process->input + run->written,
                            process->input_len - run->written);
        if (len < 0 && errno == EINTR)
            continue;
        if (len < 0 && errno == EAGAIN)
            return;
        if (len < 0)
            break; /* it does not want the rest, which is its right */
        run->written += (size_t)len;
    }
    close_fd(&run->child.input_fd);
}

/* Reads at most `most` bytes. */
static void take_output(struct run *run, size_t most)
{
    char chunk[16384];
    struct process_end *end = run->end;
    while (most > 0) {
        ssize_t len =
            read(run->child.output_fd, chunk, most < sizeof chunk ? most : sizeof chunk);
        if (len == 0 || (len < 0 && errno != EAGAIN && errno != EINTR))
            close_fd(&run->child.output_fd);
        if (len <= 0)
            return;
        most -= (size_t)len;
        if (end->output.len + (size_t)len > run->process->output_max)
            end->is_too_large |= !end->is_stopped;
        else if (!end->is_too_large)
            buf_add(&end->output, chunk, (size_t)len);
    }
}

static void keep_line(struct run *run)
{
    size_t len = run->line_len;
    while (len > 0 && (run->line[len - 1] == ' ' || run->line[len - 1] == '\r'))
        len--;
    if (len > 0)
        snprintf(run->end->last_line, LAST_LINE, "%.*s", (int)len, run->line);
}

/* False: our own standard error is full, and the line is held.  After the end of the command the
 * line is dropped if it cannot be written by drop_at_us. */
static bool end_line(struct run *run)
{
    int64_t left_us = run->drop_at_us ? run->drop_at_us - monotonic_us() : 0;
    keep_line(run);
    run->line[run->line_len] = '\n';
    bool is_said = say_line(run->line, run->line_len + 1, (int)(left_us / US_PER_MS));
    run->is_held = !is_said && !run->drop_at_us;
    if (!run->is_held)
        run->line_len = 0;
    return !run->is_held;
}

static void pass_errors_on(struct run *run)
{
    for (; run->chunk_at < run->chunk_len; run->chunk_at++) {
        char c = run->chunk[run->chunk_at];
        if ((c == '\n' || run->line_len == LINE_ROOM - 1) && !end_line(run))
            return;
        if (c != '\n')
            run->line[run->line_len++] = c;
    }
}

/* Reads at most `most` bytes, and none while a line is held: the command then waits for the reader
 * of our standard error, as it would without us. */
static void take_errors(struct run *run, size_t most)
{
    pass_errors_on(run);
    while (most > 0 && run->chunk_at == run->chunk_len) {
        ssize_t len =
            read(run->child.errors_fd, run->chunk, most < CHUNK_ROOM ? most : CHUNK_ROOM);
        if (len == 0 || (len < 0 && errno != EAGAIN && errno != EINTR))
            close_fd(&run->child.errors_fd);
        if (len <= 0)
            return;
        most -= (size_t)len;
        run->chunk_at = 0;
        run->chunk_len = (size_t)len;
        pass_errors_on(run);
    }
}

/* ---- the child -------------------------------------------------------------------------- */

static void look_for_end(struct run *run)
{
    int status;
    if (waitpid(run->child.pid, &status, WNOHANG) != run->child.pid)
        return;
    run->has_ended = true;
    close_fd(&run->child.pid_fd);
    if (WIFSIGNALED(status))
        run->end->signal = WTERMSIG(status);
    else
        run->end->exit_status = WEXITSTATUS(status);
}

/* Output that nobody takes is a reason to end it, too; its call has then failed, and is not given back. */
static bool is_unwanted(struct run *run)
{
    const struct process *process = run->process;
    if (!run->end->is_too_large)
        run->end->is_stopped = process->is_unwanted(process->arg);
    return run->end->is_too_large || run->end->is_stopped;
}

/* SIGTERM when it is no longer wanted, SIGKILL if that was not heard.  The shell may end at once while the
 * command that it started is still cleaning up: what the reaper waits for is the end of all. */
static void look_for_stop(struct run *run, bool is_kill)
{
    if (run->is_killed)
        return; /* the reaper goes on until nothing is left; why it was asked stays as it is */
    if (is_kill)
        run->end->is_stopped = true;
    if (is_kill || (run->kill_at_us && monotonic_us() >= run->kill_at_us)) {
        reaper_kill(run->child.pid);
        run->is_killed = true;
    } else if (!run->kill_at_us && is_unwanted(run)) {
        reaper_stop(run->child.pid);
        run->kill_at_us = monotonic_us() + GRACE_MS * US_PER_MS;
    }
}

static void turn(struct run *run)
{
    struct child *child = &run->child;
    struct pollfd polls[POLL_COUNT] = {
        [POLL_INPUT] = {.fd = child->input_fd, .events = POLLOUT},
        [POLL_OUTPUT] = {.fd = child->output_fd, .events = POLLIN},
        [POLL_ERRORS] = {.fd = child->errors_fd, .events = POLLIN},
        [POLL_CHILD] = {.fd = child->pid_fd, .events = POLLIN},
        [POLL_KILL] = {.fd = run->is_killed ? -1 : run->process->kill_fd, .events = POLLIN},
    };
    if (run->is_held)
        polls[POLL_ERRORS] = (struct pollfd){.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(polls, POLL_COUNT, child->pid_fd >= 0 ? TICK_MS : FALLBACK_MS) < 0)
        return;
    if (polls[POLL_INPUT].revents)
        feed_input(run);
    if (polls[POLL_OUTPUT].revents)
        take_output(run, TURN_BYTES);
    if (polls[POLL_ERRORS].revents)
        take_errors(run, TURN_BYTES);
    look_for_stop(run, polls[POLL_KILL].revents != 0);
    look_for_end(run);
}

static size_t bytes_in(int fd)
{
    int count = 0;
    return fd >= 0 && ioctl(fd, FIONREAD, &count) == 0 && count > 0 ? (size_t)count : 0;
}

/* Reads what was written before the end.  Where the system has no child subreapers something may still write;
 * we do not wait for that. */
static void take_rest(struct run *run)
{
    struct child *child = &run->child;
    run->drop_at_us = monotonic_us() + REST_MS * US_PER_MS;
    take_output(run, bytes_in(child->output_fd));
    take_errors(run, bytes_in(child->errors_fd));
    if (run->line_len)
        end_line(run);
    close_fd(&child->input_fd);
    close_fd(&child->output_fd);
    close_fd(&child->errors_fd);
}

bool process_run(const struct process *process, struct process_end *ret_end)
{
    *ret_end = (struct process_end){0};
    struct run run = {.process = process, .end = ret_end};
    if (!child_start(process, &run.child, ret_end->last_line))
        return false;
    while (!run.has_ended)
        turn(&run);
    guard_leave(process->guard, run.child.number);
    take_rest(&run);
    return true;
}

bool hangup_is_ignored(void)
{
    struct sigaction action;
    return sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}
