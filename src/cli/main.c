/* cli/main.c - the program: finds the command, and runs it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/args.h"
#include "cli/help.h"
#include "cli/route.h"
#include "cli/say.h"

#include <string.h>

static const struct {
    const char *command;
    int (*run)(const struct args *args);
} programs[] = {
    {"backup", run_backup},
    {"bench functions", run_bench},
    {"bench jobs", run_bench},
    {"bench mixed", run_bench},
    {"bench workflows", run_bench},
    {"bulk", run_bulk},
    {"completion", run_completion},
    {"deliver", run_deliver},
    {"deploy", run_deploy},
    {"doctor", run_doctor},
    {"graph", run_graph},
    {"help", run_help},
    {"job add", run_job_add},
    {"job list", run_listing},
    {"list", run_listing},
    {"migrate", run_migrate},
    {"purge", run_purge},
    {"retention set", run_retention_set},
    {"retention show", run_retention_show},
    {"serve", run_serve},
    {"show", run_show},
    {"simulate", run_simulate},
    {"start", run_start},
    {"rerun", run_rerun},
    {"token add", run_token_add},
    {"token list", run_token_list},
    {"token remove", run_token_remove},
    {"validate", run_validate},
    {"version", run_version},
    {"wait", run_wait_for},
    {"why", run_why},
    {"work", run_work},
};

/* A command that has no function of its own only calls its route. */
static int run(const struct args *args)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(programs[i].command, args->command->name) == 0)
            return programs[i].run(args);
    return route_run(args);
}

static int dispatch(const struct args *args)
{
    if (args->command && args->wants_help)
        fputs(text_of_command(args->command)->help, stdout);
    else if (args->command)
        return run(args);
    else if (args->wants_version)
        return run_version(args);
    else if (args->group)
        fputs(command_group(args->group)->help, args->wants_help ? stdout : stderr);
    else
        fputs(overview_text, stdout);
    return args->group && !args->wants_help ? EXIT_USAGE : EXIT_DONE;
}

int main(int argc, char **argv)
{
    cleanup(args_done) struct args args;
    if (!args_read(&args, argc, argv))
        return EXIT_USAGE;
    return flush_output(dispatch(&args));
}
