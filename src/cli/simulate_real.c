/* cli/simulate_real.c - cairn simulate --handlers: one run with real commands, as cairn work would execute them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/simulate.h"

#include "base/mem.h"
#include "cli/call.h"
#include "cli/input.h"
#include "cli/say.h"
#include "cli/work.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { HANDLERS_MAX = 1000 };

struct sim_real {
    struct arena arena;
    struct args args; /* as if it were a command line of cairn work */
    struct working working;
    struct handling *handlings;
    bool is_guarded;
};

static cairn_code work_until_idle(void *arg, cairn_engine *engine, cairn_error *reterr)
{
    struct sim_real *real = arg;
    cairn_worker *worker = NULL;
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    options.until_idle = true;
    cairn_code code = cairn_worker_new(engine, &options, &worker, reterr);
    for (size_t i = 0; !code && i < real->args.many_count; i++)
        code = cairn_worker_handle(worker, real->handlings[i].type, work_handle,
                                   &real->handlings[i], reterr);
    real->working.worker = worker;
    if (!code)
        code = cairn_worker_run(worker, reterr);
    cairn_worker_free(worker);
    return code;
}

/* The lines with a handler become options of a command line, which is then read like any other. */
static int make_args(struct sim_real *real, char *text)
{
    const char *fixed[] = {"cairn", "work"};
    char **argv = arena_array(&real->arena, 2 * HANDLERS_MAX + 3, sizeof *argv);
    size_t count = 0;
    char *rest = NULL;
    for (size_t i = 0; argv && i < sizeof fixed / sizeof *fixed; i++)
        argv[count++] = arena_strdup(&real->arena, fixed[i]);
    for (char *line = strtok_r(text, "\r\n", &rest); argv && line;
         line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        if (*line == '#' || *line == '\0')
            continue;
        if (count >= 2 * (size_t)HANDLERS_MAX) {
            say_error("--handlers: there are more than %d handlers", HANDLERS_MAX);
            return EXIT_USAGE;
        }
        argv[count++] = arena_strdup(&real->arena, "--handle");
        argv[count++] = line;
    }
    if (!argv) {
        say_error("memory ran out");
        return EXIT_NO;
    }
    return args_read(&real->args, (int)count, argv) ? EXIT_DONE : EXIT_USAGE;
}

static int read_handlings(struct sim_real *real, const char *file)
{
    struct buf text = {0};
    bool is_read = file_read(file, &text);
    char *kept = buf_keep(&text, &real->arena);
    if (!is_read || !kept)
        return EXIT_USAGE;
    TRY(make_args(real, kept));
    real->handlings =
        arena_array(&real->arena, real->args.many_count + 1, sizeof *real->handlings);
    if (!real->handlings) {
        say_error("memory ran out");
        return EXIT_NO;
    }
    return work_read_handlings(&real->working, &real->args, real->handlings) ? EXIT_DONE
                                                                             : EXIT_USAGE;
}

static int start_guard(struct sim_real *real)
{
    signal(SIGPIPE, SIG_IGN); /* a command need not read its input */
    open_standard_files();
    real->working.kill_fd = eventfd(0, EFD_CLOEXEC);
    real->is_guarded = real->working.kill_fd >= 0 && guard_start(&real->working.guard);
    if (real->is_guarded)
        return EXIT_DONE;
    say_error("could not start the process that guards the handlers: %s", strerror(errno));
    return EXIT_NO;
}

int real_begin(const char *file, struct sim_plan *plan, struct sim_real **ret_real)
{
    struct sim_real *real = mem_zalloc(sizeof *real);
    if (!real) {
        say_error("memory ran out");
        return EXIT_NO;
    }
    *ret_real = real;
    real->working = (struct working){
        .args = &real->args, .log = {.is_bare = true, .least = LEVEL_INFO}, .kill_fd = -1};
    TRY(read_handlings(real, file));
    TRY(start_guard(real));
    plan->fail = plan->crash = plan->timeout = 0;
    plan->signal = plan->confirm = 1;
    plan->work = work_until_idle;
    plan->work_arg = real;
    return EXIT_DONE;
}

void real_end(struct sim_real *real)
{
    if (!real)
        return;
    if (real->is_guarded)
        guard_end(&real->working.guard);
    if (real->working.kill_fd >= 0)
        close(real->working.kill_fd);
    for (size_t i = 0; real->handlings && i < real->args.many_count; i++)
        mem_free(real->handlings[i].type);
    args_done(&real->args);
    arena_done(&real->arena);
    mem_free(real);
}
