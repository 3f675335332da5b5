/* cli/process.c - runs a command between three pipes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The command gets a process group of its own, so that it can be ended with all that it
 * started, and so that Ctrl-C at the terminal reaches us and not it.  Everything is polled: a
 * command that neither reads nor writes, or that leaves its pipes to a child, blocks nobody.
 */
#include "cli/process.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TICK_MS = 200,    /* how often is_unwanted is asked */
    GRACE_MS = 5000,  /* between SIGTERM and SIGKILL */
    FALLBACK_MS = 20, /* how often the child is asked for, where it cannot be polled */
    LINE_ROOM = 4096
};

enum { POLL_INPUT, POLL_OUTPUT, POLL_ERRORS, POLL_CHILD, POLL_KILL, POLL_COUNT };

/* A run that is under way.  Closed file descriptors are -1, which poll() passes over. */
struct run {
    const struct process *process;
    struct process_end *end;
    pid_t pid;
    int input_fd, output_fd, errors_fd, pid_fd;
    size_t written;
    char line[LINE_ROOM]; /* of standard error, not yet ended */
    size_t line_len;
    bool has_ended;     /* the child has been waited for */
    bool is_killed;     /* SIGKILL has been sent */
    int64_t kill_at_us; /* monotonic; 0: SIGTERM has not been sent */
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- starting --------------------------------------------------------------------------- */

struct pipes {
    int input[2], output[2], errors[2]; /* [0] is read, [1] is written */
};

static void pipes_done(struct pipes *pipes)
{
    for (int i = 0; i < 2; i++) {
        close_fd(&pipes->input[i]);
        close_fd(&pipes->output[i]);
        close_fd(&pipes->errors[i]);
    }
}

static bool pipes_open(struct pipes *pipes)
{
    *pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    return pipe2(pipes->input, O_CLOEXEC) == 0 && pipe2(pipes->output, O_CLOEXEC) == 0 &&
           pipe2(pipes->errors, O_CLOEXEC) == 0;
}

/* The child begins with default signals and none blocked, whatever we have done to ours. */
static int spawn(const struct process *process, const struct pipes *pipes, pid_t *ret_pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char *const arguments[] = {"sh", "-c", (char *)(uintptr_t)process->command, NULL};

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, pipes->input[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, pipes->output[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, pipes->errors[1], STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    int problem =
        posix_spawn(ret_pid, "/bin/sh", &files, &attributes, arguments, process->environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return problem;
}

static int take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    fcntl(taken, F_SETFL, fcntl(taken, F_GETFL) | O_NONBLOCK);
    return taken;
}

static bool start(struct run *run)
{
    cleanup(pipes_done) struct pipes pipes;
    int problem = pipes_open(&pipes) ? spawn(run->process, &pipes, &run->pid) : errno;
    if (problem) {
        snprintf(run->end->last_line, LAST_LINE, "could not start the handler: %s",
                 strerror(problem));
        return false;
    }
    run->input_fd = take(&pipes.input[1]);
    run->output_fd = take(&pipes.output[0]);
    run->errors_fd = take(&pipes.errors[0]);
    run->pid_fd = (int)syscall(SYS_pidfd_open, run->pid, 0); /* -1 on an old kernel */
    if (run->pid_fd >= 0)
        fcntl(run->pid_fd, F_SETFD, FD_CLOEXEC);
    return true;
}

/* ---- the pipes -------------------------------------------------------------------------- */

static void feed_input(struct run *run)
{
    const struct process *process = run->process;
    while (run->written < process->input_len) {
        ssize_t len = write(run->input_fd, process->input + run->written,
                            process->input_len - run->written);
        if (len < 0 && errno == EINTR)
            continue;
        if (len < 0 && errno == EAGAIN)
            return;
        if (len < 0)
            break; /* it does not want the rest, which is its right */
        run->written += (size_t)len;
    }
    close_fd(&run->input_fd);
}

static void take_output(struct run *run)
{
    char chunk[16384];
    ssize_t len;
    struct process_end *end = run->end;
    while ((len = read(run->output_fd, chunk, sizeof chunk)) > 0) {
        if (end->output.len + (size_t)len > run->process->output_max)
            end->is_too_large = true;
        else if (!end->is_too_large)
            buf_add(&end->output, chunk, (size_t)len);
    }
    if (len == 0 || (errno != EAGAIN && errno != EINTR))
        close_fd(&run->output_fd);
}

static void write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t done = write(fd, text, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return;
        text += done;
        len -= (size_t)done;
    }
}

/* Passes a line on in one write, so that lines of several handlers do not mix. */
static void end_line(struct run *run)
{
    size_t len = run->line_len;
    run->line[run->line_len++] = '\n';
    write_all(STDERR_FILENO, run->line, run->line_len);
    run->line_len = 0;
    while (len > 0 && (run->line[len - 1] == ' ' || run->line[len - 1] == '\r'))
        len--;
    if (len == 0)
        return;
    snprintf(run->end->last_line, LAST_LINE, "%.*s", (int)len, run->line);
}

static void take_errors(struct run *run)
{
    char chunk[4096];
    ssize_t len;
    while ((len = read(run->errors_fd, chunk, sizeof chunk)) > 0) {
        for (ssize_t i = 0; i < len; i++) {
            if (chunk[i] == '\n' || run->line_len == LINE_ROOM - 1)
                end_line(run);
            if (chunk[i] != '\n')
                run->line[run->line_len++] = chunk[i];
        }
    }
    if (len == 0 || (errno != EAGAIN && errno != EINTR))
        close_fd(&run->errors_fd);
}

/* ---- the child -------------------------------------------------------------------------- */

static void look_for_end(struct run *run)
{
    int status;
    if (run->has_ended || waitpid(run->pid, &status, WNOHANG) != run->pid)
        return;
    run->has_ended = true;
    close_fd(&run->pid_fd);
    if (WIFSIGNALED(status))
        run->end->signal = WTERMSIG(status);
    else
        run->end->exit_status = WEXITSTATUS(status);
}

static void stop_group(struct run *run, int signal)
{
    run->end->is_stopped = true;
    run->is_killed |= signal == SIGKILL;
    kill(-run->pid, signal);
}

/* A group that was asked to stop is awaited whole: the shell may go at once while the command
 * that it started is still putting things in order. */
static bool is_over(const struct run *run)
{
    return run->has_ended &&
           (!run->end->is_stopped || run->is_killed || kill(-run->pid, 0) < 0);
}

/* SIGTERM when it is no longer wanted, SIGKILL if that was not heard. */
static void look_for_stop(struct run *run, bool is_kill)
{
    const struct process *process = run->process;
    if (run->has_ended && !run->end->is_stopped)
        return;
    if (is_kill || (run->kill_at_us && monotonic_us() >= run->kill_at_us)) {
        stop_group(run, SIGKILL);
    } else if (!run->kill_at_us && process->is_unwanted(process->arg)) {
        stop_group(run, SIGTERM);
        run->kill_at_us = monotonic_us() + GRACE_MS * US_PER_MS;
    }
}

static void turn(struct run *run)
{
    struct pollfd polls[POLL_COUNT] = {
        [POLL_INPUT] = {.fd = run->input_fd, .events = POLLOUT},
        [POLL_OUTPUT] = {.fd = run->output_fd, .events = POLLIN},
        [POLL_ERRORS] = {.fd = run->errors_fd, .events = POLLIN},
        [POLL_CHILD] = {.fd = run->pid_fd, .events = POLLIN},
        [POLL_KILL] = {.fd = run->is_killed ? -1 : run->process->kill_fd, .events = POLLIN},
    };
    if (poll(polls, POLL_COUNT, run->pid_fd >= 0 ? TICK_MS : FALLBACK_MS) < 0)
        return;
    if (polls[POLL_INPUT].revents)
        feed_input(run);
    if (polls[POLL_OUTPUT].revents)
        take_output(run);
    if (polls[POLL_ERRORS].revents)
        take_errors(run);
    look_for_stop(run, polls[POLL_KILL].revents != 0);
    look_for_end(run);
}

/* What the child wrote before it ended; what its own children may still write is not awaited.
 */
static void take_rest(struct run *run)
{
    if (run->output_fd >= 0)
        take_output(run);
    if (run->errors_fd >= 0)
        take_errors(run);
    if (run->line_len)
        end_line(run);
    close_fd(&run->input_fd);
    close_fd(&run->output_fd);
    close_fd(&run->errors_fd);
}

bool process_run(const struct process *process, struct process_end *ret_end)
{
    *ret_end = (struct process_end){0};
    struct run run = {.process = process, .end = ret_end};
    if (!start(&run))
        return false;
    while (!is_over(&run))
        turn(&run);
    take_rest(&run);
    return true;
}
