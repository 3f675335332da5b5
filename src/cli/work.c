/* cli/work.c - cairn work: executes tasks with plain commands.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The threads of cairn_worker_run() run one command each.  Signals are blocked in all of them
 * and read by one thread: the first asks the worker to stop and lets handlers finish, the
 * second kills the handlers, the third ends the program.
 */
#include "base/arena.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/process.h"
#include "cli/say.h"

#include <ctype.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* What a handler's exit code means (sysexits.h: EX_TEMPFAIL and EX_DATAERR). */
enum { EXIT_TRY_AGAIN = 75, EXIT_DEAD = 65 };

enum { OUTPUT_MAX = 1 << 20 };

struct working {
    const struct args *args;
    cairn_worker *worker;
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

/* ---- one task --------------------------------------------------------------------------- */

extern char **environ;

/* What the handler's environment says about its task; the rest is ours, as it is. */
struct environment {
    struct arena arena;
    char **entries;
};

static void environment_done(struct environment *environment)
{
    arena_done(&environment->arena);
}

static bool is_task_variable(const char *entry)
{
    static const char *const names[] = {
        "CAIRN_INSTANCE=", "CAIRN_STEP=",   "CAIRN_ATTEMPT=", "CAIRN_KEY=", "CAIRN_TASK=",
        "CAIRN_TYPE=",     "CAIRN_SIGNAL=", "CAIRN_REASON=",  "CAIRN_KIND="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool environment_make(struct environment *environment, const cairn_task *task)
{
    struct arena *arena = &environment->arena;
    size_t count = 0;
    while (environ[count])
        count++;
    char **entries = arena_array(arena, count + 10, sizeof *entries);
    if (!entries)
        return false;
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_task_variable(environ[i]))
            entries[at++] = environ[i];
    char *const own[] = {
        arena_printf(arena, "CAIRN_INSTANCE=%s", task->instance_id ? task->instance_id : ""),
        arena_printf(arena, "CAIRN_STEP=%s", task->step ? task->step : ""),
        arena_printf(arena, "CAIRN_SIGNAL=%s", task->signal ? task->signal : ""),
        arena_printf(arena, "CAIRN_REASON=%s", task->reason ? task->reason : ""),
        arena_printf(arena, "CAIRN_KIND=%s", task->kind),
        arena_printf(arena, "CAIRN_ATTEMPT=%" PRId32, task->attempt),
        arena_printf(arena, "CAIRN_KEY=%s", task->key ? task->key : ""),
        arena_printf(arena, "CAIRN_TASK=%s", task->id),
        arena_printf(arena, "CAIRN_TYPE=%s", task->type),
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (!own[i])
            return false;
        entries[at++] = own[i];
    }
    environment->entries = entries;
    return true;
}

static bool is_unwanted(void *arg)
{
    return cairn_work_stop(arg) != NULL;
}

static bool is_blank(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return *text == '\0';
}

static cairn_outcome fail_with(cairn_work *work, cairn_outcome outcome, const char *text)
{
    cleanup(buf_donep) struct buf clean = {0};
    buf_clean(&clean, text, strlen(text));
    cairn_work_set_error(work, buf_text(&clean));
    return outcome;
}

static const char *explain(const cairn_error *error, char *text, size_t room)
{
    snprintf(text, room, "%s%s%s", error->message, error->detail[0] ? ": " : "", error->detail);
    return text;
}

/* The newline that ends the last line is no part of the value. */
static void trim_end(struct buf *buf)
{
    while (buf->len && isspace((unsigned char)buf->text[buf->len - 1]))
        buf->text[--buf->len] = '\0';
}

/* The command said that it is done: is what it printed an output? */
static cairn_outcome complete(cairn_work *work, struct process_end *end)
{
    cairn_error error = {0};
    char text[1024];
    trim_end(&end->output);
    const char *output = buf_text(&end->output);
    if (end->is_too_large || buf_failed(&end->output)) {
        snprintf(text, sizeof text, "the handler's output is larger than %d bytes", OUTPUT_MAX);
        return fail_with(work, CAIRN_FAIL, text);
    }
    if (is_blank(output) && strlen(output) == end->output.len)
        return CAIRN_COMPLETE;
    if (json_check(output, end->output.len, "the handler's output", &error))
        return fail_with(work, CAIRN_FAIL, explain(&error, text, sizeof text));
    if (cairn_work_set_output(work, output))
        return fail_with(work, CAIRN_FAIL, "memory ran out");
    return CAIRN_COMPLETE;
}

static cairn_outcome judge(cairn_work *work, struct process_end *end)
{
    char text[64];
    /* Ended by us: the work is no longer wanted here, and that is no fault of the task's. */
    if (end->is_stopped)
        return CAIRN_RELEASE;
    if (end->signal) {
        const char *name = sigabbrev_np(end->signal);
        snprintf(text, sizeof text, "killed by SIG%s", name ? name : "?");
        return fail_with(work, CAIRN_FAIL, text);
    }
    if (end->exit_status == 0)
        return complete(work, end);

    snprintf(text, sizeof text, "exit status %d", end->exit_status);
    cairn_outcome outcome = end->exit_status == EXIT_TRY_AGAIN ? CAIRN_RETRY
                            : end->exit_status == EXIT_DEAD    ? CAIRN_DEAD
                                                               : CAIRN_FAIL;
    return fail_with(work, outcome, end->last_line[0] ? end->last_line : text);
}

static cairn_outcome handle(cairn_work *work, void *arg)
{
    const struct handling *handling = arg;
    const cairn_task *task = cairn_work_task(work);
    cleanup(environment_done) struct environment environment = {0};
    if (!environment_make(&environment, task))
        return fail_with(work, CAIRN_FAIL, "memory ran out");

    struct process process = {
        .command = handling->command,
        .environment = environment.entries,
        .input = task->input,
        .input_len = strlen(task->input),
        .output_max = OUTPUT_MAX,
        .is_unwanted = is_unwanted,
        .arg = work,
        .kill_fd = handling->working->kill_fd,
    };
    struct process_end end;
    cairn_outcome outcome = process_run(&process, &end)
                                ? judge(work, &end)
                                : fail_with(work, CAIRN_FAIL, end.last_line);
    buf_done(&end.output);
    if (args_has(handling->working->args, "verbose")) {
        static const char *const words[] = {"",     "completed", "failed", "to be tried again",
                                            "dead", "released",  "waiting"};
        say_error("%s %s, call %" PRId32 ": %s", task->type, task->id, task->attempt,
                  words[outcome]);
    }
    return outcome;
}

/* ---- signals ---------------------------------------------------------------------------- */

static void make_readable(int fd)
{
    uint64_t one = 1;
    while (write(fd, &one, sizeof one) < 0)
        continue;
}

static void take_signal(struct working *working, int count)
{
    if (count == 1) {
        say_error("stopping: handlers may finish; once more kills them");
        cairn_worker_stop(working->worker);
    } else if (count == 2) {
        say_error("killing the handlers");
        make_readable(working->kill_fd);
    } else {
        _exit(EXIT_NO);
    }
}

static void *watch_signals(void *arg)
{
    struct working *working = arg;
    for (int count = 0;;) {
        struct pollfd polls[] = {{.fd = working->signal_fd, .events = POLLIN},
                                 {.fd = working->over_fd, .events = POLLIN}};
        struct signalfd_siginfo info;
        if (poll(polls, 2, -1) < 0)
            continue;
        if (polls[1].revents)
            return NULL;
        if (read(working->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
            take_signal(working, ++count);
    }
}

/* Before any thread is started, so that all inherit it. */
static void block_signals(struct working *working)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    working->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
    working->kill_fd = eventfd(0, EFD_CLOEXEC);
    working->over_fd = eventfd(0, EFD_CLOEXEC);
}

/* ---- the command ------------------------------------------------------------------------ */

static void free_workerp(cairn_worker **worker)
{
    cairn_worker_free(*worker);
}

static int add_handlers(struct working *working, struct handling *handlings)
{
    const struct args *args = working->args;
    cairn_error error = {0};
    for (size_t i = 0; i < args->many_count; i++) {
        if (cairn_worker_handle(working->worker, handlings[i].type, handle, &handlings[i],
                                &error))
            return say_failure(&error);
    }
    return EXIT_DONE;
}

static int run_worker(struct working *working)
{
    cairn_error error = {0};
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch_signals, working)) {
        say_error("could not start a thread");
        return EXIT_NO;
    }
    cairn_code code = cairn_worker_run(working->worker, &error);
    make_readable(working->over_fd);
    pthread_join(thread, NULL);
    return code ? say_failure(&error) : EXIT_DONE;
}

static int work_on(struct working *working, cairn_engine *engine, struct handling *handlings)
{
    const struct args *args = working->args;
    cairn_error error = {0};
    cleanup(free_workerp) cairn_worker *worker = NULL;
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    options.name = args_text(args, "name");
    options.runtime = args_text(args, "runtime");
    options.concurrency = (uint32_t)args_number(args, "concurrency", options.concurrency);
    options.lease_ms = (uint32_t)args_number(args, "lease", options.lease_ms);
    options.until_idle = args_has(args, "until-idle");
    if (cairn_worker_new(engine, &options, &worker, &error))
        return say_failure(&error);
    working->worker = worker;
    int exit_code = add_handlers(working, handlings);
    return exit_code ? exit_code : run_worker(working);
}

/* Splits TYPE=COMMAND. */
static bool read_handling(struct working *working, const char *given, struct handling *ret)
{
    const char *equals = strchr(given, '=');
    if (!equals || equals == given || is_blank(equals + 1)) {
        say_error("--handle cannot be \"%s\": it takes TYPE=COMMAND", given);
        return false;
    }
    *ret =
        (struct handling){.working = working, .type = mem_strdup(given), .command = equals + 1};
    if (ret->type)
        ret->type[equals - given] = '\0';
    return ret->type != NULL;
}

static int run_with(struct working *working, struct handling *handlings)
{
    const struct args *args = working->args;
    for (size_t i = 0; i < args->many_count; i++)
        if (!read_handling(working, args->many[i], &handlings[i]))
            return EXIT_USAGE;
    block_signals(working);
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    return exit_code ? exit_code : work_on(working, engine, handlings);
}

static int run_work(const struct args *args)
{
    if (args->many_count == 0) {
        say_error("work needs a handler: --handle TYPE=COMMAND");
        say_more("Example: cairn work --handle 'hello.v1=cat' --until-idle");
        return EXIT_USAGE;
    }
    struct working working = {.args = args};
    struct handling *handlings = mem_zalloc(args->many_count * sizeof *handlings);
    if (!handlings) {
        say_error("memory ran out");
        return EXIT_NO;
    }
    int exit_code = run_with(&working, handlings);
    for (size_t i = 0; i < args->many_count; i++)
        mem_free(handlings[i].type);
    mem_free(handlings);
    return exit_code;
}

static const struct option work_options[] = {
    {.name = "handle",
     .kind = OPTION_MANY,
     .value = "TYPE=COMMAND",
     .help = "run COMMAND for jobs of TYPE and steps with that handler, or of a prefix such as "
             "billing.%; may be repeated"},
    {.name = "concurrency",
     .kind = OPTION_INT,
     .value = "N",
     .help = "so many handlers at once; 4 if not given",
     .min = 1,
     .max = 1024},
    {.name = "until-idle",
     .kind = OPTION_FLAG,
     .help = "end when nothing is claimable or leased; work planned for later does not count"},
    {.name = "lease",
     .kind = OPTION_DURATION,
     .value = "DURATION",
     .help = "a worker silent for so long has lost its task; 30s if not given",
     .min = 1,
     .max = UINT32_MAX},
    {.name = "name",
     .kind = OPTION_TEXT,
     .value = "NAME",
     .help = "who this worker is; host, process and a random suffix if not given"},
    {.name = "runtime",
     .kind = OPTION_TEXT,
     .value = "RUNTIME",
     .help = "never take what the registry gives to another runtime"},
    {.name = "verbose", .letter = 'v', .kind = OPTION_FLAG, .help = "say how each task ended"},
    {0},
};

const struct command command_work = {
    .name = "work",
    .summary = "execute tasks with plain commands",
    .about =
        "COMMAND is run by /bin/sh. It gets the input on standard input, and its standard "
        "output "
        "is the output: JSON, or nothing for null. Exit code 0: completed; 75: try again "
        "later; "
        "65: failed for good; anything else: a failed attempt, with the last line of standard "
        "error as its error. The environment has CAIRN_TASK, CAIRN_TYPE, CAIRN_ATTEMPT, "
        "CAIRN_KEY and CAIRN_KIND (job, step or compensation); of a step also CAIRN_INSTANCE, "
        "CAIRN_STEP, CAIRN_SIGNAL (the signal that ended its wait, as JSON) and CAIRN_REASON. "
        "The lease is kept while the command runs. A "
        "task that was cancelled has its command ended: SIGTERM, after 5 seconds SIGKILL. "
        "Ctrl-C "
        "lets handlers finish, a second one kills them.",
    .example = "cairn work --handle 'mail.%=./send-mail' --handle 'pdf.make.v1=./make-pdf' \\\n"
               "    --concurrency 8",
    .options = work_options,
    .has_url = true,
    .run = run_work,
};
