/* cli/main.c - the program: finds the command, and runs it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/args.h"
#include "cli/help.h"
#include "cli/say.h"

static int dispatch(const struct args *args)
{
    if (args->command && args->wants_help)
        help_command(stdout, args->command);
    else if (args->command)
        return args->command->run(args);
    else if (args->wants_version)
        return command_version.run(args);
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

/* What did not reach the reader did not happen; a full disk must not look like success. */
static int finish(int exit_code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_code;
    say_error("could not write to standard output");
    return exit_code ? exit_code : EXIT_NO;
}

int main(int argc, char **argv)
{
    cleanup(args_done) struct args args;
    if (!args_read(&args, argc, argv))
        return EXIT_USAGE;
    return finish(dispatch(&args));
}
