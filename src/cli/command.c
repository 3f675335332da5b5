/* cli/command.c - finds commands in the list of them, and their options.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/command.h"

#include <string.h>

const struct command_group command_groups[] = {
    {"dlq", "list steps that have failed permanently, and retry them"},
    {"job", "add, list, show and control jobs"},
    {"registry", "set which runtime owns a type"},
    {"bench", "measure the speed of this machine"},
    {0},
};

/* Options that many commands share. */
static const struct option url_option = {
    "url", OPTION_TEXT, "URL",
    .help = "the store: sqlite:FILE, postgres://... or http://... (default: $CAIRN_URL, else "
            "sqlite:cairn.db)"};

static const struct option output_options[] = {
    {"output", OPTION_CHOICE, "FORM", .letter = 'o', .choices = "table json ids",
     .help = "human-readable table (default), json, or ids, one on each line"},
    {"output", OPTION_CHOICE, "FORM", .letter = 'o', .choices = "table json",
     .help = "human-readable table (default), or json"},
};

static const struct option help_option = {"help", .letter = 'h', .help = "print this help"};

const struct option *command_option(const struct command *command, size_t index)
{
    const struct option *tables[] = {command->options, command->more_options};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct option *option = tables[i]; option && option->name; option++)
            if (index-- == 0)
                return option;
    if ((command->has_url || command->route.method) && index-- == 0)
        return &url_option;
    if (command->outputs && index-- == 0)
        return strcmp(command->outputs, "table json") == 0 ? &output_options[1]
                                                           : &output_options[0];
    return index == 0 ? &help_option : NULL;
}

const struct command *command_at(size_t index)
{
    for (size_t i = 0; command_tables[i]; i++)
        for (const struct command *command = command_tables[i]; command->name; command++)
            if (index-- == 0)
                return command;
    return NULL;
}

void command_operands(const struct command *command, int *ret_min, int *ret_max)
{
    int min = 0, max = 0;
    for (const char *word = command->operands; word && *word; max++) {
        size_t len = strcspn(word, " ");
        min += *word != '[';
        word += len + (word[len] == ' ');
    }
    *ret_min = min;
    *ret_max = command_takes_many(command) ? -1 : max;
}

bool command_takes_many(const struct command *command)
{
    return command->operands && strstr(command->operands, "...");
}

const struct command *command_find(const char *name)
{
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)); i++)
        if (strcmp(command->name, name) == 0)
            return command;
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
