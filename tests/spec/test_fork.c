/* tests/spec/test_fork.c - cairn_abandon(): a process forks while an engine is open, on every URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A child checks nothing with CHECK, which would leave it for the rest of the tests: it exits, with
 * the line that failed.
 *
 * The allocator of ASan does not survive a fork while another thread allocates: the child hangs.  So
 * with ASan, forks of a busy parent are left out, and a child that hangs nevertheless proves nothing.
 */
#include "everywhere.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_MUST(claim)              \
    do {                               \
        if (!(claim))                  \
            _exit(__LINE__ % 250 + 1); \
    } while (0)

#ifdef __SANITIZE_ADDRESS__
enum { HAS_ASAN = true };
#else
enum { HAS_ASAN = false };
#endif

/* How long a child may take.  ASan's allocator often hangs in one: that ends soon. */
enum { CHILD_S = HAS_ASAN ? 5 : 60 };

static cairn_engine *child_open(const struct world *world)
{
    cairn_engine *own = NULL;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = world->url;
    alarm(CHILD_S);
    cairn_abandon(world->engine);
    cairn_abandon(world->other);
    cairn_abandon(NULL);
    CHILD_MUST(cairn_open(&open, &own, NULL) == CAIRN_OK);
    return own;
}

static void child_add(cairn_engine *own, const char *type)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = type;
    CHILD_MUST(cairn_enqueue(own, &spec, 1, NULL, NULL) == CAIRN_OK);
}

static void child_do(cairn_engine *own, const char *type)
{
    cairn_claim_options claim = claim_by("child", 1, 0);
    cairn_page *tasks;
    claim.types = &type;
    CHILD_MUST(cairn_claim(own, &claim, &tasks, NULL) == CAIRN_OK);
    CHILD_MUST(cairn_page_count(tasks) == 1);
    CHILD_MUST(cairn_task_complete(own, "child", cairn_page_task(tasks, 0), "{}", NULL) ==
               CAIRN_OK);
    cairn_page_free(tasks);
}

/* False: it hung in the allocator. */
static bool has_ended_well(pid_t child)
{
    int status = 0;
    CHECK_INT(waitpid(child, &status, 0), child);
    if (HAS_ASAN && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return false;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child: status %x, line %d",
          (unsigned)status, WEXITSTATUS(status) - 1);
    return true;
}

static size_t count_jobs(struct world *world, const char *status)
{
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    cairn_page *jobs;
    filter.status = status;
    filter.limit = 1000;
    CHECK_DONE(world, cairn_job_list(world->engine, &filter, &jobs, &world->error));
    size_t count = cairn_page_count(jobs);
    cairn_page_free(jobs);
    return count;
}

TEST(parent_and_child_both_go_on)
{
    struct world world;
    cairn_enqueued job;
    open_world(&world);
    add_jobs(&world, &job, 1);
    pid_t child = fork();
    if (child == 0) {
        cairn_engine *own = child_open(&world);
        child_add(own, "child.v1");
        child_do(own, "child.v1");
        cairn_close(own);
        _exit(0);
    }
    do_jobs(&world, world.engine, 1);
    bool is_well = has_ended_well(child);
    add_jobs(&world, &job, 1);
    do_jobs(&world, world.engine, 1);
    if (is_well)
        CHECK_INT(count_jobs(&world, "succeeded"), is_kind("memory") ? 2 : 3);
    close_world(&world);
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void tell(int fd)
{
    char byte = 1;
    if (write(fd, &byte, 1) != 1)
        _exit(1);
}

static bool await(int fd)
{
    char byte;
    return read(fd, &byte, 1) == 1;
}

/* SQLite's last connection removes the log: not while a child has the file open. */
TEST(a_child_has_locks_of_its_own)
{
    struct world world;
    int to_child[2], to_parent[2];
    open_world(&world);
    CHECK(pipe(to_child) == 0 && pipe(to_parent) == 0, "no pipe");
    pid_t child = fork();
    if (child == 0) {
        cairn_engine *own = child_open(&world);
        child_add(own, "child.v1");
        tell(to_parent[1]);
        CHILD_MUST(await(to_child[0]));
        child_add(own, "child.v1");
        child_do(own, "child.v1");
        cairn_close(own);
        _exit(0);
    }
    close(to_parent[1]);
    CHECK(await(to_parent[0]) || HAS_ASAN, "the child has ended");
    cairn_close(world.engine);
    cairn_close(world.other);
    world.engine = world.other = NULL;
    tell(to_child[1]);
    bool is_well = has_ended_well(child);
    close(to_child[0]);
    close(to_child[1]);
    close(to_parent[0]);
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = world.url;
    CHECK_DONE(&world, cairn_open(&open, &world.engine, &world.error));
    if (is_well) {
        CHECK_INT(count_jobs(&world, NULL), is_kind("memory") ? 0 : 2);
        CHECK_INT(count_jobs(&world, "succeeded"), is_kind("memory") ? 0 : 1);
    }
    close_world(&world);
}

/* ---- forks while the engine is busy ---------------------------------------------------------- */

struct load {
    struct world *world;
    atomic_bool is_over;
    size_t added;
    cairn_code code;
};

static void run_load(void *arg)
{
    struct load *load = arg;
    while (!load->is_over && !load->code) {
        cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
        spec.type = "parent.v1";
        load->code = cairn_enqueue(load->world->engine, &spec, 1, NULL, NULL);
        load->added += !load->code;
    }
}

TEST(children_of_a_busy_parent_lose_nothing)
{
    enum { CHILDREN = HAS_ASAN ? 0 : 8 };
    struct world world;
    struct sleeper sleeper;
    open_world(&world);
    struct load load = {.world = &world};
    sleeper_start(&sleeper, run_load, &load);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0) {
            cairn_engine *own = child_open(&world);
            child_add(own, "child.v1");
            cairn_close(own);
            _exit(0);
        }
        has_ended_well(child);
    }
    load.is_over = true;
    sleeper_join(&sleeper);
    CHECK_INT(load.code, CAIRN_OK);
    cairn_stats stats = CAIRN_STATS_DEFAULTS;
    CHECK_DONE(&world, cairn_stats_get(world.engine, &stats, &world.error));
    CHECK_INT(stats.pending, load.added + (is_kind("memory") ? 0 : CHILDREN));
    close_world(&world);
}
