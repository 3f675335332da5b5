/* cli/work_task.c - one task of cairn work: its command is run, and its end is judged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/process.h"
#include "cli/say.h"
#include "cli/work.h"

#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

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
    if (end->is_too_large)
        return too_large();
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
    if (!task_environment_init(&environment, &working->guard, task, verdict.reason,
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

/* Failures always, everything with --verbose. */
static void tell_end(const struct working *working, const cairn_task *task,
                     const struct verdict *verdict)
{
    if (!verdict->reason[0] && !args_has(working->args, "verbose"))
        return;
    work_tell(working, "%s %s, call %" PRId32 " of %" PRId32 ": %s%s%s", task->type, task->id,
              task->attempt, task->max_attempts, word_for(verdict->outcome),
              verdict->reason[0] ? ": " : "", verdict->reason);
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
