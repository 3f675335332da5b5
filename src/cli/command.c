/* cli/command.c - finds commands in the list of them, and their options.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/command.h"

#include <string.h>

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
    const struct option *tables[] = {command->options, command->more_options};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct option *option = tables[i]; option && option->name; option++)
            if (index-- == 0)
                return option;
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
