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

const struct command *const commands[] = {
    &command_bench_jobs,
    &command_bench_workflows,
    &command_bench_functions,
    NULL,
};

static int measure(const struct args *args)
{
    if (args->command == &command_bench_jobs)
        return bench_jobs(args);
    if (args->command == &command_bench_workflows)
        return bench_workflows(args);
    if (args->command == &command_bench_functions)
        return bench_functions(args);
    say_error("cairn-bench is executed by cairn bench");
    say_more("Usage: cairn bench jobs|workflows|functions [options]");
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    cleanup(args_done) struct args args;
    if (!args_read(&args, argc, argv))
        return EXIT_USAGE;
    return flush_output(measure(&args));
}
