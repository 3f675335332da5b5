/* cli/command.c - the list of commands, and finding one in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/command.h"

#include <string.h>

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

const struct command_group command_groups[] = {
    {"dlq", "look at what has failed for good, and try it again"},
    {"job", "record jobs, look at them, change their course"},
    {"registry", "say which runtime owns a type"},
    {"bench", "measure this machine"},
    {0},
};

/* What many commands share.  The choices of -o are the command's own. */
static const struct option url_option = {
    .name = "url",
    .kind = OPTION_TEXT,
    .value = "URL",
    .help = "where the work is kept: sqlite:FILE, postgres://..., http://...; "
            "else $CAIRN_URL, else sqlite:cairn.db",
};

static const struct option output_options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_CHOICE,
     .value = "FORM",
     .choices = "table json ids",
     .help = "human-readable table (default), json, or ids, one on each line"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_CHOICE,
     .value = "FORM",
     .choices = "table json",
     .help = "human-readable table (default), or json"},
};

static const struct option help_option = {
    .name = "help", .letter = 'h', .kind = OPTION_FLAG, .help = "print this help"};

const struct option *command_option(const struct command *command, size_t index)
{
    const struct option *own = command->options;
    for (; own && own->name; own++)
        if (index-- == 0)
            return own;
    if (command->has_url && index-- == 0)
        return &url_option;
    if (command->outputs && index-- == 0)
        return strcmp(command->outputs, "table json") == 0 ? &output_options[1]
                                                           : &output_options[0];
    return index == 0 ? &help_option : NULL;
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

const struct command_group *command_group(const char *name)
{
    for (size_t i = 0; command_groups[i].name; i++)
        if (strcmp(command_groups[i].name, name) == 0)
            return &command_groups[i];
    return NULL;
}

bool command_is_in(const struct command *command, const char *group)
{
    size_t len = strlen(group);
    return strncmp(command->name, group, len) == 0 && command->name[len] == ' ';
}
