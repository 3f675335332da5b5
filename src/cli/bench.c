/* cli/bench.c - cairn bench: its tables, and the door to the program that measures.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The measuring is done by cairn-bench, a program of its own (bench/), which reads the same tables.
 * This program checks the command line and then becomes cairn-bench, with the same arguments.
 */
#include "cli/bench.h"

#include "cli/args.h"
#include "cli/say.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Where cairn-bench may be, seen from the folder of this program. */
static const char *const places[] = {
    "cairn-bench",                /* beside it */
    CAIRN_HELPERS "/cairn-bench", /* installed */
    "../../bench/cairn-bench",    /* in a build folder */
};

/* The folder of this program; false: it is not known. */
static bool own_folder(char folder[PATH_MAX])
{
    ssize_t len = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (len < 0)
        return false;
    folder[len] = '\0';
    *strrchr(folder, '/') = '\0';
    return true;
}

static int run_bench(const struct args *args)
{
    char folder[PATH_MAX], path[PATH_MAX + 256];
    int problem = ENOENT;
    if (!own_folder(folder)) {
        say_error("could not find cairn-bench: %s", strerror(errno));
        return EXIT_NO;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places && problem == ENOENT; i++) {
        bool is_absolute = places[i][0] == '/';
        snprintf(path, sizeof path, "%s%s%s", is_absolute ? "" : folder, is_absolute ? "" : "/",
                 places[i]);
        execv(path, args->argv); /* returns only if it fails */
        problem = errno;
    }
    if (problem == ENOENT) {
        say_error("could not find cairn-bench, the program that measures");
        say_more("It belongs beside this program in %s, or in %s.", folder, CAIRN_HELPERS);
    } else {
        say_error("could not run %s: %s", path, strerror(problem));
    }
    return EXIT_NO;
}

/* ---- the tables ------------------------------------------------------------------------- */

/* Options that the benches share: those of instances have all, jobs those from RAW on. */
enum { STEPS, COUNT, RAW };
static const struct option shared[] = {
    [STEPS] = {"steps", OPTION_INT, "N", .min = 1, .max = 10000,
               .help = "steps of an instance, one after the other (default 5)"},
    [COUNT] = {"count", OPTION_INT, "N", .min = 1, .max = 10000000,
               .help = "instances to execute in batches (default 2000), and at most 200 one "
                       "at a time"},
    [RAW] = {"raw", OPTION_FLAG,
             .help = "also make the same row changes with bare SQL statements, and print the "
                     "ratio of both"},
    {"seed", OPTION_INT, "N", .min = 1, .max = INT64_MAX,
     .help = "seed for names (default: random)"},
    {"url", OPTION_TEXT, "URL",
     .help = "measure on this store: sqlite:FILE, postgres://... or http://... (default: a new "
             "SQLite file in $TMPDIR or /var/tmp, which is removed afterwards; $CAIRN_URL is "
             "not used)"},
    {0},
};

static const struct option jobs_options[] = {
    {"count", OPTION_INT, "N", .min = 1, .max = 10000000,
     .help = "jobs to execute in batches (default 10000), and at most 1000 one at a time"},
    {"batch", OPTION_INT, "N", .min = 1, .max = BENCH_BATCH_MAX,
     .help = "jobs in one call (default 100)"},
    {"workers", OPTION_INT, "N", .min = 1, .max = 64,
     .help = "run N threads in parallel (default 1)"},
    {"backlog", OPTION_INT, "N", .min = 1000, .max = 100000000,
     .help = "also compare the cost of a claim with 1000 and with N waiting jobs"},
    {0},
};

static const struct option workflows_options[] = {
    {"batch", OPTION_INT, "N", .min = 1, .max = BENCH_BATCH_MAX,
     .help = "steps in one call (default 100)"},
    {"workers", OPTION_INT, "N", .min = 1, .max = 64,
     .help = "run N threads in parallel (default 1)"},
    {"sleeping", OPTION_INT, "N", .min = 1, .max = 100000000,
     .help = "also start N instances that sleep, and print their cost"},
    {0},
};

static const struct option functions_options[] = {
    {"batch", OPTION_INT, "N", .min = 1, .max = BENCH_LANES_MAX,
     .help = "runs in parallel, each in its own thread (default 100)"},
    {0},
};

const struct command bench_commands[] = {
    {"bench jobs", NULL, "measure how fast jobs are added, claimed and completed",
     .about = "Adds jobs that do nothing, then claims and completes them: one at a time, and "
              "in batches. Then measures the latency from adding a job to its start by a "
              "waiting worker. With --url the jobs have their own types, bench.SEED.*, and "
              "stay in the store, finished.",
     .example = "cairn bench jobs --raw --count 20000\n"
                "cairn bench jobs --backlog 1000000\n"
                "cairn bench jobs --url postgres://localhost/test --workers 4 -o json",
     .options = jobs_options, .more_options = &shared[RAW], .outputs = "table json",
     .run = run_bench},
    {"bench workflows", NULL, "measure how fast workflows are started and their steps executed",
     .about =
         "Deploys a workflow whose steps do nothing, starts instances of it, then claims and "
         "completes their steps: one at a time, and in batches. With 2000 steps or more it "
         "also prints the cost of the first and of the last thousand steps. With --url the "
         "workflow has its own name, bench.SEED, and its instances stay in the store, ended.",
     .example = "cairn bench workflows --raw --steps 5\n"
                "cairn bench workflows --steps 10000 --count 1\n"
                "cairn bench workflows --sleeping 1000000 -o json",
     .options = workflows_options, .more_options = shared, .outputs = "table json",
     .run = run_bench},
    {"bench functions", NULL, "measure how fast functions run, in both commit modes",
     .about = "Deploys a function whose steps do nothing, starts instances of it and runs "
              "them, alternating between step mode and passage mode: one at a time, and many "
              "in parallel. Counts the round trips to the store. With --url the function has "
              "its own name, bench.SEED, and its instances stay in the store, ended.",
     .example = "cairn bench functions --steps 5 --raw\n"
                "cairn bench functions --steps 20 --batch 50 -o json",
     .options = functions_options, .more_options = shared, .outputs = "table json",
     .run = run_bench},
    {0},
};
