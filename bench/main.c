/* bench/main.c - cairn-bench, the program that measures.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * "cairn bench ..." executes it with its own arguments (cli/bench.c), which it reads by the same
 * tables.
 */
#include "base/mem.h"
#include "bench/bench.h"
#include "cli/say.h"

#include <string.h>

static int measure(const struct args *args)
{
    static const struct {
        const char *command;
        int (*run)(const struct args *args);
    } benches[] = {{"bench jobs", bench_jobs},
                   {"bench workflows", bench_workflows},
                   {"bench functions", bench_functions},
                   {"bench mixed", bench_mixed}};

    for (size_t i = 0; args->command && i < sizeof benches / sizeof *benches; i++)
        if (strcmp(args->command->name, benches[i].command) == 0)
            return benches[i].run(args);
    say_error("cairn-bench is executed by cairn bench");
    say_more("Usage: cairn bench jobs|workflows|functions|mixed [options]");
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    cleanup(args_done) struct args args;
    if (!args_read(&args, argc, argv))
        return EXIT_USAGE;
    return flush_output(measure(&args));
}
