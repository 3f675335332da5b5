/* cli/reaper.c - starts one command, waits for it, and kills what it leaves.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Killing the direct children is enough to kill all: when one of them has died, its own children become ours.
 * A system without child subreapers, or without their list in /proc, has the command's process group instead.
 */
#include "cli/reaper.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    EXIT_UNSTARTED = 127, /* of a process that has not become the command */
    STOP_SIGNAL = SIGUSR1,
    KILL_SIGNAL = SIGUSR2, /* also sent by the kernel when the worker has died */
    KILL_MS = 5000,        /* a process that nothing can kill is given up after this */
    ROUND_MS = 20
};

void reaper_stop(pid_t reaper)
{
    kill(reaper, STOP_SIGNAL);
}

void reaper_kill(pid_t reaper)
{
    kill(reaper, KILL_SIGNAL);
}

/* ---- the command ------------------------------------------------------------------------ */

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

static _Noreturn void fail_to_start(const struct reaping *reaping, int problem)
{
    ssize_t len = write(reaping->failure_fd, &problem, sizeof problem);
    (void)len; /* the reader takes an end without a number as a start */
    _exit(EXIT_UNSTARTED);
}

static _Noreturn void become_command(const struct reaping *reaping, pid_t reaper)
{
    char *const arguments[] = {"sh", "-c", (char *)(uintptr_t)reaping->command, NULL};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != reaper)
        _exit(EXIT_UNSTARTED); /* it died before we could ask for the signal */
    guard_enter(reaping->guard, reaping->number);
    reset_signals();
    if (dup2(reaping->input_fd, STDIN_FILENO) >= 0 &&
        dup2(reaping->output_fd, STDOUT_FILENO) >= 0 &&
        dup2(reaping->errors_fd, STDERR_FILENO) >= 0)
        execve("/bin/sh", arguments, reaping->environment);
    fail_to_start(reaping, errno);
}

/* ---- everything below ------------------------------------------------------------------- */

struct brood {
    pid_t command; /* leader of a process group */
    bool is_alive; /* it has not been waited for, so its group is its own */
    int status;    /* if not */
    bool is_whole; /* what leaves the group is found, too */
};

/* Waits for whoever has ended.  False: nobody is left. */
static bool reap(struct brood *brood)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == brood->command) {
            brood->is_alive = false;
            brood->status = status;
        }
        if (pid <= 0)
            return pid == 0;
    }
}

/* Those outside the command's group if is_rest.  How many it reached. */
static size_t signal_child(const struct brood *brood, pid_t pid, int signal, bool is_rest)
{
    if (pid <= 1 || (is_rest && getpgid(pid) == brood->command))
        return 0;
    return kill(pid, signal) == 0;
}

static size_t signal_children(const struct brood *brood, int signal, bool is_rest)
{
    char text[1024];
    size_t count = 0;
    pid_t pid = 0;
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    for (ssize_t len; (len = read(fd, text, sizeof text)) > 0;)
        for (ssize_t i = 0; i < len; i++) {
            bool is_digit = text[i] >= '0' && text[i] <= '9';
            if (!is_digit)
                count += signal_child(brood, pid, signal, is_rest);
            pid = is_digit ? pid * 10 + (text[i] - '0') : 0;
        }
    count += signal_child(brood, pid, signal, is_rest);
    close(fd);
    return count;
}

static void stop_all(const struct brood *brood)
{
    if (brood->is_alive)
        kill(-brood->command, SIGTERM);
    signal_children(brood, SIGTERM, brood->is_alive);
}

static void await_child(int64_t ms)
{
    sigset_t set;
    struct timespec limit = {.tv_nsec = ms * 1000000};
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigtimedwait(&set, NULL, &limit);
}

/* In rounds: each frees the children of those that it killed.  It gives up when it reaches nobody: what is
 * left belongs to another user. */
static void kill_all(struct brood *brood)
{
    if (!brood->is_whole) {
        kill(-brood->command, SIGKILL);
        return;
    }
    for (int64_t end_us = monotonic_us() + KILL_MS * US_PER_MS; reap(brood);) {
        if (signal_children(brood, SIGKILL, false) == 0 || monotonic_us() >= end_us)
            return;
        await_child(ROUND_MS);
    }
}

/* ---- its life --------------------------------------------------------------------------- */

static bool has_children_list(void)
{
    return access("/proc/thread-self/children", R_OK) == 0;
}

/* It keeps nothing of the worker open: pipes must end, and a store's connections are the worker's. */
static void close_all(void)
{
    struct rlimit limit = {0};
    int null_fd = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        dup2(null_fd, fd);
    if (close_range(STDERR_FILENO + 1, ~0U, 0) == 0)
        return;
    getrlimit(RLIMIT_NOFILE, &limit);
    for (rlim_t fd = STDERR_FILENO + 1; fd < limit.rlim_cur; fd++)
        close((int)fd);
}

/* As the command ended. */
static _Noreturn void leave(const struct brood *brood)
{
    if (!brood->is_alive && WIFSIGNALED(brood->status)) {
        prctl(PR_SET_DUMPABLE, 0); /* it has left its own core file, if any */
        reset_signals();
        kill(getpid(), WTERMSIG(brood->status));
    }
    _exit(brood->is_alive || WIFSIGNALED(brood->status) ? EXIT_UNSTARTED
                                                        : WEXITSTATUS(brood->status));
}

/* Until the command has ended; after a polite stop until all have. */
static void watch(struct brood *brood)
{
    sigset_t set;
    bool is_stopped = false;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, STOP_SIGNAL);
    sigaddset(&set, KILL_SIGNAL);
    while (reap(brood) && (brood->is_alive || (is_stopped && brood->is_whole))) {
        int signal = sigwaitinfo(&set, NULL);
        if (signal == KILL_SIGNAL)
            return;
        if (signal == STOP_SIGNAL) {
            is_stopped = true;
            stop_all(brood);
        }
    }
}

/* A process group of its own: what the terminal sends to the worker does not reach it.  The signal at the
 * parent's death comes when the thread that forked has ended, which waits for this process. */
_Noreturn void reaper_run(const struct reaping *reaping)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setpgid(0, 0);
    prctl(PR_SET_NAME, "cairn-guard");
    prctl(PR_SET_PDEATHSIG, KILL_SIGNAL);
    struct brood brood = {.is_alive = true,
                          .is_whole =
                              prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && has_children_list()};
    if (getppid() != reaping->parent)
        _exit(EXIT_UNSTARTED);
    pid_t self = getpid();
    brood.command = _Fork();
    if (brood.command < 0)
        fail_to_start(reaping, errno);
    if (brood.command == 0)
        become_command(reaping, self);
    setpgid(brood.command, brood.command); /* parent and child both do it, whichever is first */
    close_all();
    watch(&brood);
    kill_all(&brood);
    leave(&brood);
}
