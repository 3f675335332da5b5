/* cli/work_environment.c - what the environment of a handler says about its task.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The kernel rejects a command if one string of its environment has 128 KiB or more, and a
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

enum { SIGNAL_INLINE = 65536 };

/* The variables about a task.  They are not inherited, and neither is the worker's token. */
enum { TASK, TYPE, KIND, ATTEMPT, KEY, INSTANCE, STEP, REASON, SIGNAL, SIGNAL_FILE, OWN_COUNT };
static const char *const names[] = {
    [TASK] = "CAIRN_TASK",      [TYPE] = "CAIRN_TYPE",
    [KIND] = "CAIRN_KIND",      [ATTEMPT] = "CAIRN_ATTEMPT",
    [KEY] = "CAIRN_KEY",        [INSTANCE] = "CAIRN_INSTANCE",
    [STEP] = "CAIRN_STEP",      [REASON] = "CAIRN_REASON",
    [SIGNAL] = "CAIRN_SIGNAL",  [SIGNAL_FILE] = "CAIRN_SIGNAL_FILE",
    [OWN_COUNT] = "CAIRN_TOKEN"};

void task_environment_done(struct task_environment *environment)
{
    if (environment->signal_file)
        unlink(environment->signal_file);
    arena_done(&environment->arena);
}

static bool is_kept_back(const char *entry)
{
    for (size_t i = 0; i <= OWN_COUNT; i++) {
        size_t len = strlen(names[i]);
        if (strncmp(entry, names[i], len) == 0 && entry[len] == '=')
            return true;
    }
    return false;
}

/* Those of this process, and then the values of the task. */
static bool make_entries(struct task_environment *environment, const char *const *values)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    environment->entries =
        arena_array(&environment->arena, count + OWN_COUNT + 1, sizeof(char *));
    for (size_t i = 0; environment->entries && i < count; i++)
        if (!is_kept_back(environ[i]))
            environment->entries[kept++] = environ[i];
    bool is_made = environment->entries != NULL;
    for (size_t i = 0; is_made && i < OWN_COUNT; i++) {
        /* A signal that is too long has no variable; a value that is not set is empty. */
        if (i == SIGNAL && values[i] && strlen(values[i]) > SIGNAL_INLINE)
            continue;
        char *entry =
            arena_printf(&environment->arena, "%s=%s", names[i], values[i] ? values[i] : "");
        environment->entries[kept++] = entry;
        is_made = entry != NULL;
    }
    return is_made;
}

/* Only this user can read it. */
static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return false;
    bool is_written = fputs(text, file) >= 0;
    is_written = fclose(file) == 0 && is_written;
    int problem = errno;
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

bool task_environment_init(struct task_environment *environment, struct guard *guard,
                           const cairn_task *task, char *reason, size_t room)
{
    char attempt[16];
    const char *signal = task->signal;
    snprintf(reason, room, "memory ran out");
    snprintf(attempt, sizeof attempt, "%" PRId32, task->attempt);
    if (signal && !make_file(environment, guard, signal) && strlen(signal) > SIGNAL_INLINE) {
        snprintf(reason, room, "could not write the signal to a file in %s: %s", guard->folder,
                 strerror(errno));
        return false;
    }
    const char *values[OWN_COUNT] = {
        [TASK] = task->id,       [TYPE] = task->type,
        [KIND] = task->kind,     [ATTEMPT] = attempt,
        [KEY] = task->key,       [INSTANCE] = task->instance_id,
        [STEP] = task->step,     [REASON] = task->reason,
        [SIGNAL] = task->signal, [SIGNAL_FILE] = environment->signal_file};
    return make_entries(environment, values);
}
