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

int run_bench(const struct args *args)
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
