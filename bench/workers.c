/* bench/workers.c - worker processes: each has its own engine, and does what it is told.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * They are forked before the first engine is opened, since a process with threads must not fork.
 * Each waits for orders on a pipe, and answers each with what it has done.  It opens its engine
 * with the first order, when the tables are there, and ends when the pipe is closed.
 */
#include "base/mem.h"
#include "bench/bench.h"
#include "cli/call.h"
#include "cli/say.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench_worker {
    pid_t pid;
    int orders, shares; /* pipes */
};

struct bench_workers {
    size_t count;
    struct bench_worker items[BENCH_WORKERS_MAX];
};

/* ---- whole messages over a pipe ------------------------------------------------------------- */

static bool give(int fd, const void *from, size_t size)
{
    ssize_t done;
    do
        done = write(fd, from, size); /* a pipe takes so little at once */
    while (done < 0 && errno == EINTR);
    return done == (ssize_t)size;
}

static bool take(int fd, void *to, size_t size)
{
    size_t have = 0;
    while (have < size) {
        ssize_t some = read(fd, (char *)to + have, size - have);
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return false;
        have += (size_t)some;
    }
    return true;
}

/* ---- the process ---------------------------------------------------------------------------- */

static int open_engine(struct bench *bench)
{
    cairn_error error = {0};
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = bench->url;
    if (bench->engine || !cairn_open(&options, &bench->engine, &error))
        return EXIT_DONE;
    return say_unopened(bench->url, &error);
}

static void carry_out(struct bench *bench, const struct bench_order *order,
                      struct bench_share *share)
{
    share->exit_code = open_engine(bench);
    if (share->exit_code)
        return;
    int64_t bytes = bench_own_bytes(bench);
    uint64_t commits = bench_commits(bench);
    share->exit_code = bench->kind->drain(bench, order, share);
    share->commits = bench_commits(bench) - commits;
    share->bytes = bytes < 0 ? 0 : bench_own_bytes(bench) - bytes;
}

static _Noreturn void live(struct bench *bench, int orders, int shares)
{
    struct bench_order order;
    while (take(orders, &order, sizeof order)) {
        struct bench_share share = {0};
        carry_out(bench, &order, &share);
        if (!give(shares, &share, sizeof share))
            break;
    }
    if (bench->engine)
        cairn_close(bench->engine);
    _exit(EXIT_DONE);
}

/* ---- those who give orders ------------------------------------------------------------------ */

/* The ends of the others' pipes must not stay open here, or they would never be closed. */
static void forget_others(const struct bench_workers *workers)
{
    for (size_t i = 0; i < workers->count; i++) {
        close(workers->items[i].orders);
        close(workers->items[i].shares);
    }
}

static bool add_worker(struct bench_workers *workers, struct bench *bench)
{
    int orders[2], shares[2];
    if (pipe(orders))
        return false;
    if (pipe(shares)) {
        close(orders[0]);
        close(orders[1]);
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        forget_others(workers);
        close(orders[1]);
        close(shares[0]);
        live(bench, orders[0], shares[1]);
    }
    close(orders[0]);
    close(shares[1]);
    if (pid < 0) {
        close(orders[1]);
        close(shares[0]);
        return false;
    }
    workers->items[workers->count++] =
        (struct bench_worker){.pid = pid, .orders = orders[1], .shares = shares[0]};
    return true;
}

struct bench_workers *workers_start(struct bench *bench, size_t count)
{
    struct bench_workers *workers = mem_zalloc(sizeof *workers);
    if (!workers) {
        bench_no_memory();
        return NULL;
    }
    while (workers->count < count && add_worker(workers, bench))
        ;
    if (workers->count == count)
        return workers;
    say_error("could not start a worker process: %s", strerror(errno));
    workers_end(workers);
    return NULL;
}

void workers_end(struct bench_workers *workers)
{
    if (!workers)
        return;
    forget_others(workers);
    for (size_t i = 0; i < workers->count; i++)
        while (waitpid(workers->items[i].pid, NULL, 0) < 0 && errno == EINTR)
            ;
    mem_free(workers);
}

static void add_share(struct bench_share *sum, const struct bench_share *more)
{
    sum->done += more->done;
    sum->commits += more->commits;
    sum->bytes += more->bytes;
    for (size_t i = 0; i < BENCH_MORE; i++)
        sum->more[i] += more->more[i];
    if (!sum->exit_code)
        sum->exit_code = more->exit_code;
}

int workers_run(struct bench_workers *workers, const struct bench_order *order,
                struct bench_share *ret_share)
{
    *ret_share = (struct bench_share){0};
    for (size_t i = 0; i < workers->count; i++)
        if (!give(workers->items[i].orders, order, sizeof *order))
            ret_share->exit_code = EXIT_NO;
    for (size_t i = 0; i < workers->count; i++) {
        struct bench_share share = {.exit_code = EXIT_NO};
        if (!take(workers->items[i].shares, &share, sizeof share))
            say_error("worker process %d has ended", (int)workers->items[i].pid);
        add_share(ret_share, &share);
    }
    return ret_share->exit_code;
}
