/* cli/work_task.c - one task of cairn work: its command is run, and its end is judged.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The kernel rejects a command if one string of its environment has 128 KiB or more, and a
 * signal may be larger than that.  So it is written to a file, and the environment has the text
 * only while it is small.  What --context gives is always a file.
 */
#include "cli/work.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/trace.h"
#include "cli/call.h"
#include "cli/process.h"
#include "cli/say.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The environment of a handler, with variables about its task, and files with its signal and with what else its
 * instance has.  A zeroed struct is an empty one. */
struct task_environment {
    struct arena arena;
    char **entries;
    char *signal_file, *context_file; /* NULL: none */
};

enum { SIGNAL_INLINE = 65536 };

/* The variables about a task.  They are not inherited, and neither is the worker's token. */
enum {
    TASK,
    TYPE,
    KIND,
    ATTEMPT,
    KEY,
    INSTANCE,
    STEP,
    REASON,
    SIGNAL,
    SIGNAL_FILE,
    CONTEXT_FILE,
    OWN_COUNT
};
static const char *const names[] = {[TASK] = "CAIRN_TASK",
                                    [TYPE] = "CAIRN_TYPE",
                                    [KIND] = "CAIRN_KIND",
                                    [ATTEMPT] = "CAIRN_ATTEMPT",
                                    [KEY] = "CAIRN_KEY",
                                    [INSTANCE] = "CAIRN_INSTANCE",
                                    [STEP] = "CAIRN_STEP",
                                    [REASON] = "CAIRN_REASON",
                                    [SIGNAL] = "CAIRN_SIGNAL",
                                    [SIGNAL_FILE] = "CAIRN_SIGNAL_FILE",
                                    [CONTEXT_FILE] = "CAIRN_CONTEXT_FILE",
                                    [OWN_COUNT] = "CAIRN_TOKEN"};

static void task_environment_done(struct task_environment *environment)
{
    if (environment->signal_file)
        unlink(environment->signal_file);
    if (environment->context_file)
        unlink(environment->context_file);
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

/* NULL: it could not be written. */
static char *make_file(struct task_environment *environment, struct guard *guard,
                       const char *what, const char *text)
{
    char *path = arena_printf(&environment->arena, "%s/%s-%" PRIu32 ".json", guard->folder,
                              what, guard_number(guard));
    if (!path)
        return NULL;
    mkdir(guard->folder, 0700); /* it may be there already; if not, the file says so */
    return write_file(path, text) ? path : NULL;
}

static void say_unwritten(const struct guard *guard, const char *what, char *reason,
                          size_t room)
{
    snprintf(reason, room, "could not write the %s to a file in %s: %s", what, guard->folder,
             strerror(errno));
}

/* The input of the instance and the outputs of its finished steps.  Jobs have none. */
static bool add_context(struct task_environment *environment, struct guard *guard,
                        cairn_work *work, char *reason, size_t room)
{
    const char *context = NULL;
    cairn_error error = {0};
    if (cairn_work_context(work, &context, &error)) {
        snprintf(reason, room, "could not read what --context gives: %s", error.message);
        return false;
    }
    environment->context_file = make_file(environment, guard, "context", context);
    if (!environment->context_file)
        say_unwritten(guard, "context", reason, room);
    return environment->context_file != NULL;
}

/* False: `reason` says why. */
static bool task_environment_init(struct task_environment *environment, struct working *working,
                                  cairn_work *work, char *reason, size_t room)
{
    char attempt[16];
    const cairn_task *task = cairn_work_task(work);
    const char *signal = task->signal;
    snprintf(reason, room, "memory ran out");
    snprintf(attempt, sizeof attempt, "%" PRId32, task->attempt);
    if (signal)
        environment->signal_file = make_file(environment, &working->guard, "signal", signal);
    if (signal && !environment->signal_file && strlen(signal) > SIGNAL_INLINE) {
        say_unwritten(&working->guard, "signal", reason, room);
        return false;
    }
    if (task->instance_id && args_has(working->args, "context") &&
        !add_context(environment, &working->guard, work, reason, room))
        return false;
    const char *values[OWN_COUNT] = {[TASK] = task->id,
                                     [TYPE] = task->type,
                                     [KIND] = task->kind,
                                     [ATTEMPT] = attempt,
                                     [KEY] = task->key,
                                     [INSTANCE] = task->instance_id,
                                     [STEP] = task->step,
                                     [REASON] = task->reason,
                                     [SIGNAL] = task->signal,
                                     [SIGNAL_FILE] = environment->signal_file,
                                     [CONTEXT_FILE] = environment->context_file};
    return make_entries(environment, values);
}

/* ---- the command ------------------------------------------------------------------------- */

/* What a handler's exit code means (sysexits.h: EX_TEMPFAIL and EX_DATAERR). */
enum { EXIT_TRY_AGAIN = 75, EXIT_DEAD = 65 };

enum { OUTPUT_MAX = 1 << 20, REASON_ROOM = LAST_LINE };

/* How a task ended. */
struct verdict {
    cairn_outcome outcome;
    char reason[REASON_ROOM]; /* "" if nothing went wrong */
};

static bool is_unwanted(void *arg)
{
    return cairn_work_stop(arg) != NULL;
}

static struct verdict failed(const char *reason)
{
    struct verdict verdict = {.outcome = CAIRN_FAIL};
    snprintf(verdict.reason, sizeof verdict.reason, "%s", reason);
    return verdict;
}

static struct verdict too_large(void)
{
    char text[64];
    snprintf(text, sizeof text, "the handler's output is larger than %d bytes", OUTPUT_MAX);
    return failed(text);
}

static struct verdict complete_with(cairn_work *work, const char *json)
{
    if (cairn_work_set_output(work, json))
        return failed("memory ran out");
    return (struct verdict){.outcome = CAIRN_COMPLETE};
}

/* White space around JSON is no part of the value. */
static void trim_end(struct buf *buf)
{
    while (buf->len && isspace((unsigned char)buf->text[buf->len - 1]))
        buf->text[--buf->len] = '\0';
}

static struct verdict take_json(cairn_work *work, struct buf *output)
{
    cairn_error error = {0};
    trim_end(output);
    if (output->len == 0)
        return (struct verdict){.outcome = CAIRN_COMPLETE};
    if (!json_check(buf_text(output), output->len, "the handler's output", &error))
        return complete_with(work, buf_text(output));
    struct verdict verdict = {.outcome = CAIRN_FAIL};
    snprintf(verdict.reason, sizeof verdict.reason, "%s%s%s", error.message,
             error.detail[0] ? ": " : "", error.detail);
    return verdict;
}

/* Any text is a JSON string.  As in a shell's $(...) the newlines at its end are no part of it;
 * bytes that are not UTF-8, and NUL, become U+FFFD. */
static struct verdict take_text(cairn_work *work, struct buf *output)
{
    cleanup(buf_donep) struct buf clean = {0}, json = {0};
    struct json_out out = {.buf = &json};
    while (output->len && output->text[output->len - 1] == '\n')
        output->len--;
    buf_utf8(&clean, buf_text(output), output->len);
    json_strn(&out, buf_text(&clean), clean.len);
    if (buf_failed(&clean) || buf_failed(&json))
        return failed("memory ran out");
    if (json.len > OUTPUT_MAX)
        return too_large();
    return complete_with(work, buf_text(&json));
}

static struct verdict complete(const struct args *args, cairn_work *work,
                               struct process_end *end)
{
    const char *form = args_text(args, "output");
    if (buf_failed(&end->output))
        return failed("memory ran out");
    return form && strcmp(form, "text") == 0 ? take_text(work, &end->output)
                                             : take_json(work, &end->output);
}

static struct verdict judge_status(const struct process_end *end)
{
    struct verdict verdict = {.outcome = end->exit_status == EXIT_TRY_AGAIN ? CAIRN_RETRY
                                         : end->exit_status == EXIT_DEAD    ? CAIRN_DEAD
                                                                            : CAIRN_FAIL};
    if (end->last_line[0])
        snprintf(verdict.reason, sizeof verdict.reason, "%s", end->last_line);
    else
        snprintf(verdict.reason, sizeof verdict.reason, "exit status %d", end->exit_status);
    return verdict;
}

static struct verdict judge(const struct args *args, cairn_work *work, struct process_end *end)
{
    char text[64];
    /* Ended by us: the work is no longer wanted here, and that is no fault of the task's. */
    if (end->is_stopped)
        return (struct verdict){.outcome = CAIRN_RELEASE};
    if (end->is_too_large)
        return too_large();
    if (end->signal) {
        const char *name = sigabbrev_np(end->signal);
        snprintf(text, sizeof text, "killed by SIG%s", name ? name : "?");
        return failed(text);
    }
    return end->exit_status == 0 ? complete(args, work, end) : judge_status(end);
}

static struct verdict run_command(const struct handling *handling, cairn_work *work,
                                  const cairn_task *task)
{
    struct working *working = handling->working;
    struct verdict verdict = {.outcome = CAIRN_FAIL};
    cleanup(task_environment_done) struct task_environment environment = {0};
    if (!task_environment_init(&environment, working, work, verdict.reason,
                               sizeof verdict.reason))
        return verdict;

    struct process process = {
        .command = handling->command,
        .environment = environment.entries,
        .input = task->input,
        .input_len = strlen(task->input),
        .output_max = OUTPUT_MAX,
        .is_unwanted = is_unwanted,
        .arg = work,
        .kill_fd = working->kill_fd,
        .guard = &working->guard,
    };
    struct process_end end;
    verdict =
        process_run(&process, &end) ? judge(working->args, work, &end) : failed(end.last_line);
    buf_done(&end.output);
    return verdict;
}

static const char *word_for(cairn_outcome outcome)
{
    switch (outcome) {
    case CAIRN_COMPLETE:
        return "completed";
    case CAIRN_FAIL:
        return "failed";
    case CAIRN_RETRY:
        return "failed, to be tried again";
    case CAIRN_DEAD:
        return "failed for good";
    case CAIRN_RELEASE:
        return "released";
    default:
        return "waiting";
    }
}

static enum log_level level_of_end(const struct verdict *verdict)
{
    return verdict->reason[0] ? LEVEL_WARNING : LEVEL_DEBUG;
}

/* The same as members of an object; what a task does not have is left out. */
static void log_end(const struct working *working, const cairn_task *task,
                    const struct verdict *verdict, const char *trace, const char *text)
{
    struct log_fact facts[9] = {{.name = "type", .text = task->type},
                                {.name = "task", .text = task->id},
                                {.name = "attempt", .number = task->attempt},
                                {.name = "outcome", .text = word_for(verdict->outcome)}};
    size_t count = 4;
    if (task->instance_id)
        facts[count++] = (struct log_fact){.name = "instance_id", .text = task->instance_id};
    if (task->step)
        facts[count++] = (struct log_fact){.name = "step", .text = task->step};
    if (verdict->reason[0])
        facts[count++] = (struct log_fact){.name = "error", .text = verdict->reason};
    if (trace[0])
        facts[count++] = (struct log_fact){.name = "traceparent", .text = trace};
    log_tell(&working->log, level_of_end(verdict), "task", facts, "%s", text);
}

/* Failures, and with --verbose or the level debug everything.  The trace goes with it if the task has one. */
static void tell_end(const struct working *working, const cairn_task *task,
                     const struct verdict *verdict)
{
    char text[REASON_ROOM + 512], trace[TRACE_TEXT];
    if (level_of_end(verdict) > working->log.least)
        return;
    trace_of(task->metadata, trace);
    snprintf(text, sizeof text, "%s %s, call %" PRId32 " of %" PRId32 "%s%s: %s%s%s",
             task->type, task->id, task->attempt, task->max_attempts,
             trace[0] ? ", traceparent " : "", trace, word_for(verdict->outcome),
             verdict->reason[0] ? ": " : "", verdict->reason);
    log_end(working, task, verdict, trace, text);
}

cairn_outcome work_handle(cairn_work *work, void *arg)
{
    const struct handling *handling = arg;
    const cairn_task *task = cairn_work_task(work);
    struct verdict verdict = run_command(handling, work, task);
    if (verdict.reason[0]) {
        cleanup(buf_donep) struct buf clean = {0};
        buf_clean(&clean, verdict.reason, strlen(verdict.reason));
        cairn_work_set_error(work, buf_text(&clean));
    }
    tell_end(handling->working, task, &verdict);
    return verdict.outcome;
}
