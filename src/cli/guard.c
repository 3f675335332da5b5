/* cli/guard.c - the process that ends the handlers of a dead worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/guard.h"

#include "base/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Written to the pipe in one piece.  Group 0: the handler with this number has ended. */
struct notice {
    uint32_t number;
    int32_t group;
};

static void tell(const struct guard *guard, struct notice notice)
{
    while (write(guard->fd, &notice, sizeof notice) < 0 && errno == EINTR)
        continue;
}

void guard_enter(const struct guard *guard, uint32_t number)
{
    tell(guard, (struct notice){.number = number, .group = (int32_t)getpid()});
}

void guard_leave(const struct guard *guard, uint32_t number)
{
    tell(guard, (struct notice){.number = number});
}

uint32_t guard_number(struct guard *guard)
{
    return atomic_fetch_add(&guard->latest, 1) + 1;
}

/* ---- in the guard's process ------------------------------------------------------------- */

/* Finds the handler with this number, or with number 0 a free place; NULL: none. */
static struct notice *find(struct notice *handlers, uint32_t number)
{
    for (size_t i = 0; i < GUARD_MAX; i++)
        if (handlers[i].number == number)
            return &handlers[i];
    return NULL;
}

static void note(struct notice *handlers, struct notice notice)
{
    struct notice *place = find(handlers, notice.group ? 0 : notice.number);
    if (place)
        *place = notice.group ? notice : (struct notice){0};
}

static void remove_folder(const char *folder)
{
    DIR *entries = opendir(folder);
    if (!entries)
        return;
    for (struct dirent *entry; (entry = readdir(entries));)
        unlinkat(dirfd(entries), entry->d_name, 0);
    closedir(entries);
    rmdir(folder);
}

/* A session of its own: what the terminal sends to the worker does not reach it. */
static void separate(void)
{
    sigset_t all;
    int null_fd = open("/dev/null", O_RDWR);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, "cairn-guard");
    for (int fd = 0; fd <= 2; fd++)
        dup2(null_fd, fd);
}

static _Noreturn void watch(const struct guard *guard, int fd)
{
    static struct notice handlers[GUARD_MAX];
    struct notice notice;
    ssize_t len;
    separate();
    while ((len = read(fd, &notice, sizeof notice)) != 0)
        if (len == (ssize_t)sizeof notice)
            note(handlers, notice);
    for (size_t i = 0; i < GUARD_MAX; i++)
        if (handlers[i].group > 1)
            kill(-handlers[i].group, SIGKILL);
    remove_folder(guard->folder);
    _exit(0);
}

/* ---- in the worker's process ------------------------------------------------------------ */

/* The name is random, so that no other user can make the folder first. */
static void name_folder(struct guard *guard)
{
    struct rng rng;
    const char *place = getenv("TMPDIR");
    rng_init(&rng, 0);
    snprintf(guard->folder, sizeof guard->folder, "%s/cairn-work-%016" PRIx64,
             place && *place && strlen(place) < GUARD_PATH - 64 ? place : "/tmp",
             rng_next(&rng));
}

bool guard_start(struct guard *guard)
{
    int fds[2];
    *guard = (struct guard){.fd = -1};
    name_folder(guard);
    if (pipe2(fds, O_CLOEXEC) < 0)
        return false;
    guard->pid = fork();
    if (guard->pid == 0) {
        close(fds[1]);
        watch(guard, fds[0]);
    }
    close(fds[0]);
    guard->fd = fds[1];
    if (guard->pid > 0)
        return true;
    close(guard->fd);
    return false;
}

void guard_end(struct guard *guard)
{
    close(guard->fd);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}
