/* cli/main.c - the program: the list of its commands; finds one of them, and runs it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/args.h"
#include "cli/help.h"
#include "cli/say.h"

const struct command *const commands[] = {
    &command_serve,
    &command_work,
    &command_deploy,
    &command_validate,
    &command_workflows,
    &command_graph,
    &command_start,
    &command_list,
    &command_show,
    &command_events,
    &command_logs,
    &command_signal,
    &command_approve,
    &command_reject,
    &command_pause,
    &command_resume,
    &command_restart,
    &command_retry,
    &command_cancel,
    &command_abort,
    &command_dlq_list,
    &command_dlq_show,
    &command_dlq_requeue,
    &command_job_add,
    &command_job_list,
    &command_job_show,
    &command_job_events,
    &command_job_cancel,
    &command_job_retry,
    &command_job_delete,
    &command_registry_list,
    &command_registry_set,
    &command_migrate,
    &command_doctor,
    &command_bench_jobs,
    &command_bench_workflows,
    &command_bench_functions,
    &command_version,
    &command_completion,
    &command_help,
    NULL,
};

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

int main(int argc, char **argv)
{
    cleanup(args_done) struct args args;
    if (!args_read(&args, argc, argv))
        return EXIT_USAGE;
    return flush_output(dispatch(&args));
}
