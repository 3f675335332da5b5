/* cli/work.c - cairn work: executes tasks with plain commands.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The threads of cairn_worker_run() run one command each (work_task.c).  Signals are blocked in
 * all of them and read by one thread: the first asks the worker to stop and lets handlers
 * finish, the second kills the handlers, the third ends the program.
 */
#include "cli/work.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/process.h"
#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define WHITE_SPACE " \t\n\v\f\r"

/* Called by threads of the engine: the store is lost, or found again.  Warnings are of what all workers of the store
 * do, and a server tells them. */
static void tell_notice(void *arg, int level, const char *text, const char *json)
{
    const struct working *working = arg;
    if (level != CAIRN_NOTICE_WARNING || working->log.least == LEVEL_DEBUG)
        log_notice(&working->log, level, text, json);
}

static void make_readable(int fd)
{
    uint64_t one = 1;
    while (write(fd, &one, sizeof one) < 0)
        continue;
}

/* Acts before it speaks. */
static void take_signal(struct working *working, int count)
{
    if (count == 1) {
        cairn_worker_stop(working->worker);
        log_tell(&working->log, LEVEL_INFO, "worker", NULL,
                 "stopping: handlers may finish; a second signal kills them");
    } else if (count == 2) {
        make_readable(working->kill_fd);
        log_tell(&working->log, LEVEL_INFO, "worker", NULL, "killing the handlers");
    } else {
        _exit(EXIT_NO); /* the guard ends the handlers */
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
        if (read(working->signal_fd, &info, sizeof info) != (ssize_t)sizeof info)
            continue;
        /* A terminal that is closed sends SIGHUP more than once. */
        if (info.ssi_signo != SIGHUP || count == 0)
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
    if (!hangup_is_ignored())
        sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    working->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
    working->kill_fd = eventfd(0, EFD_CLOEXEC);
    working->over_fd = eventfd(0, EFD_CLOEXEC);
}

static void free_workerp(cairn_worker **worker)
{
    cairn_worker_free(*worker);
}

static void tell_start(const struct working *working, const struct handling *handlings,
                       const cairn_engine *engine, uint32_t concurrency)
{
    cleanup(buf_donep) struct buf types = {0};
    for (size_t i = 0; i < working->args->many_count; i++)
        buf_printf(&types, "%s%s", i ? ", " : "", handlings[i].type);
    log_tell(&working->log, LEVEL_INFO, "worker", NULL,
             "working on %s: %s; up to %" PRIu32 " at the same time", cairn_url(engine),
             buf_text(&types), concurrency);
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
    for (size_t i = 0; i < args->many_count; i++)
        if (cairn_worker_handle(worker, handlings[i].type, work_handle, &handlings[i], &error))
            return say_failure(&error);
    tell_start(working, handlings, engine, options.concurrency);
    return run_worker(working);
}

/* Splits TYPE=COMMAND. */
static bool read_handling(struct working *working, const char *given, struct handling *ret)
{
    const char *equals = strchr(given, '=');
    if (!equals || equals == given || !equals[1 + strspn(equals + 1, WHITE_SPACE)]) {
        say_error("--handle cannot be \"%s\": it takes TYPE=COMMAND", given);
        return false;
    }
    const char *percent = memchr(given, '%', (size_t)(equals - given));
    if (percent && percent + 1 != equals) {
        say_error("--handle cannot be \"%s\": in a type %% may stand only at the end", given);
        return false;
    }
    *ret =
        (struct handling){.working = working, .type = mem_strdup(given), .command = equals + 1};
    if (ret->type)
        ret->type[equals - given] = '\0';
    return ret->type != NULL;
}

bool work_read_handlings(struct working *working, const struct args *args,
                         struct handling *ret_handlings)
{
    for (size_t i = 0; i < args->many_count; i++) {
        if (!read_handling(working, args->many[i], &ret_handlings[i]))
            return false;
        for (size_t j = 0; j < i; j++)
            if (strcmp(ret_handlings[j].type, ret_handlings[i].type) == 0) {
                say_error("--handle has two commands for \"%s\"", ret_handlings[i].type);
                return false;
            }
    }
    return true;
}

/* A pipe of a handler must not get the number of one of them. */
void open_standard_files(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    close_fd(&fd);
}

static int run_guarded(struct working *working, struct handling *handlings)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.notice = tell_notice;
    open.notice_arg = working;
    if (!tuning_read(working->args, &open))
        return EXIT_USAGE;
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_as(working->args, &open, &engine);
    return exit_code ? exit_code : work_on(working, engine, handlings);
}

static int run_with(struct working *working, struct handling *handlings)
{
    if (!work_read_handlings(working, working->args, handlings))
        return EXIT_USAGE;
    open_standard_files();
    block_signals(working);
    if (!guard_start(&working->guard)) {
        say_error("could not start the process that guards the handlers: %s", strerror(errno));
        return EXIT_NO;
    }
    int exit_code = run_guarded(working, handlings);
    guard_end(&working->guard);
    return exit_code;
}

int run_work(const struct args *args)
{
    if (args->many_count == 0) {
        say_error("work needs a handler: --handle TYPE=COMMAND");
        say_more("Example: cairn work --handle 'hello.v1=cat' --until-idle");
        return EXIT_USAGE;
    }
    struct working working = {.args = args, .log = log_of(args)};
    working.log.is_bare = true;
    if (args_has(args, "verbose"))
        working.log.least = LEVEL_DEBUG;
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
