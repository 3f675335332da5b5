/* cli/work_environment.c - what the environment of a handler says about its task.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The kernel refuses a command if one string of its environment has 128 KiB or more, and a
 * signal may be larger than that.  So it is written to a file, and the environment has the text
 * only while it is small.
 */
#include "base/arena.h"
#include "base/mem.h"
#include "cli/work.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIGNAL_INLINE = 65536, OWN_MAX = 16 };

struct task_environment {
    struct arena arena;
    char **entries;
    size_t count;
    char *signal_file; /* NULL: none */
};

extern char **environ;

void task_environment_freep(struct task_environment **environment)
{
    if (!*environment)
        return;
    if ((*environment)->signal_file)
        unlink((*environment)->signal_file);
    arena_done(&(*environment)->arena);
    mem_free(*environment);
}

char *const *task_environment_entries(const struct task_environment *environment)
{
    return environment->entries;
}

/* Variables that are not passed on as they are: those about a task are set anew, and the token
 * is the worker's alone. */
static bool is_kept_back(const char *entry)
{
    static const char *const names[] = {
        "CAIRN_INSTANCE=", "CAIRN_STEP=", "CAIRN_ATTEMPT=", "CAIRN_KEY=",
        "CAIRN_TASK=",     "CAIRN_TYPE=", "CAIRN_SIGNAL=",  "CAIRN_SIGNAL_FILE=",
        "CAIRN_REASON=",   "CAIRN_KIND=", "CAIRN_TOKEN="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool inherit(struct task_environment *environment)
{
    size_t count = 0;
    while (environ[count])
        count++;
    environment->entries =
        arena_array(&environment->arena, count + OWN_MAX + 1, sizeof(char *));
    if (!environment->entries)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!is_kept_back(environ[i]))
            environment->entries[environment->count++] = environ[i];
    return true;
}

static bool add(struct task_environment *environment, const char *name, const char *value)
{
    char *entry = arena_printf(&environment->arena, "%s=%s", name, value ? value : "");
    if (entry)
        environment->entries[environment->count++] = entry;
    return entry != NULL;
}

static bool add_task(struct task_environment *environment, const cairn_task *task)
{
    char attempt[16];
    snprintf(attempt, sizeof attempt, "%" PRId32, task->attempt);
    return add(environment, "CAIRN_TASK", task->id) &&
           add(environment, "CAIRN_TYPE", task->type) &&
           add(environment, "CAIRN_KIND", task->kind) &&
           add(environment, "CAIRN_ATTEMPT", attempt) &&
           add(environment, "CAIRN_KEY", task->key) &&
           add(environment, "CAIRN_INSTANCE", task->instance_id) &&
           add(environment, "CAIRN_STEP", task->step) &&
           add(environment, "CAIRN_REASON", task->reason);
}

/* ---- the signal ------------------------------------------------------------------------- */

static bool write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t done = write(fd, text, len);
        if (done < 0 && errno != EINTR)
            return false;
        text += done > 0 ? done : 0;
        len -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

/* Only this user can read it. */
static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool is_written = write_all(fd, text, strlen(text));
    int problem = errno;
    close(fd);
    if (!is_written)
        unlink(path);
    errno = problem;
    return is_written;
}

static bool make_file(struct task_environment *environment, struct guard *guard,
                      const char *signal)
{
    char *path = arena_printf(&environment->arena, "%s/signal-%" PRIu32 ".json", guard->folder,
                              guard_number(guard));
    if (!path)
        return false;
    mkdir(guard->folder, 0700); /* it may be there already; if not, the file says so */
    if (write_file(path, signal))
        environment->signal_file = path;
    return environment->signal_file != NULL;
}

static bool add_signal(struct task_environment *environment, struct guard *guard,
                       const char *signal, char *reason, size_t room)
{
    bool is_inline = !signal || strlen(signal) <= SIGNAL_INLINE;
    if (signal && !make_file(environment, guard, signal) && !is_inline) {
        snprintf(reason, room, "could not write the signal to a file in %s: %s", guard->folder,
                 strerror(errno));
        return false;
    }
    return (!is_inline || add(environment, "CAIRN_SIGNAL", signal)) &&
           add(environment, "CAIRN_SIGNAL_FILE", environment->signal_file);
}

struct task_environment *task_environment_new(struct guard *guard, const cairn_task *task,
                                              char *reason, size_t room)
{
    cleanup(task_environment_freep) struct task_environment *environment =
        mem_zalloc(sizeof *environment);
    snprintf(reason, room, "memory ran out");
    if (!environment || !inherit(environment) || !add_task(environment, task) ||
        !add_signal(environment, guard, task->signal, reason, room))
        return NULL;
    struct task_environment *made = environment;
    environment = NULL;
    return made;
}
