/* cli/main.c - the program: the list of its commands; finds one of them, and runs it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/args.h"
#include "cli/help.h"
#include "cli/route.h"
#include "cli/say.h"

const struct command *const command_tables[] = {
    serve_commands,   work_commands,       workflow_commands, start_commands, instance_commands,
    dlq_commands,     job_commands,        registry_commands, store_commands, bench_commands,
    version_commands, completion_commands, help_commands,     NULL,
};

static int run(const struct args *args)
{
    return args->command->run ? args->command->run(args) : route_run(args);
}

static int dispatch(const struct args *args)
{
    if (args->command && args->wants_help)
        help_command(stdout, args->command);
    else if (args->command)
        return run(args);
    else if (args->wants_version)
        return version_commands[0].run(args);
    else if (args->group && args->wants_help)
        help_group(stdout, args->group);
    else if (args->group) {
        help_group(stderr, args->group);
        return EXIT_USAGE;
    } else {
        help_overview(stdout);
    }
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    cleanup(args_done) struct args args;
    if (!args_read(&args, argc, argv))
        return EXIT_USAGE;
    return flush_output(dispatch(&args));
}
