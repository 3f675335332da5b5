/* cli/command.c - finds commands and their options in the tables, and suggests similar ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/args.h"

#include "base/word.h"

#include <stdio.h>
#include <string.h>

/* Options that many commands share. */
extern const struct option options_every[];
enum { EVERY_URL, EVERY_OUTPUT_IDS, EVERY_OUTPUT, EVERY_HELP };

const struct option *command_option(const struct command *command, size_t index)
{
    const struct option *tables[2] = {command->options, command->more_options};
    for (size_t i = 0; i < 2; i++)
        for (const struct option *option = tables[i]; option && option->name; option++)
            if (index-- == 0)
                return option;
    if (command->has_url && index-- == 0)
        return &options_every[EVERY_URL];
    if (command->outputs && index-- == 0)
        return &options_every[word_in(command->outputs, "ids") ? EVERY_OUTPUT_IDS
                                                               : EVERY_OUTPUT];
    return index == 0 ? &options_every[EVERY_HELP] : NULL;
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
    for (const struct command *command = commands; command->name; command++)
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

const struct command *command_alone(const char *group)
{
    return strcmp(group, "retention") == 0 ? command_find("retention show") : NULL;
}

bool command_is_in(const struct command *command, const char *group)
{
    size_t len = strlen(group);
    return strncmp(command->name, group, len) == 0 && command->name[len] == ' ';
}

/* The last word of a command's name. */
static const char *last_word(const char *name)
{
    const char *space = strrchr(name, ' ');
    return space ? space + 1 : name;
}

static const char *find_alias(const char *word)
{
    for (const struct command *command = commands; command->name; command++)
        if (command->aliases && word_in(command->aliases, word))
            return command->name;
    return NULL;
}

/* By the names that other tools use. */
static bool suggest_alias(const char *name, char *text, size_t room)
{
    const char *alias = find_alias(last_word(name));
    size_t group = (size_t)(last_word(name) - name);
    if (!alias)
        return false;
    if (group == 0)
        snprintf(text, room, "%s", alias);
    else
        snprintf(text, room, "%.*s%s", (int)group, name, last_word(alias));
    return command_find(text) || command_group(text);
}

/* Keeps the nearest name so far. */
struct search {
    const char *wanted, *near;
    size_t best; /* the smallest distance so far; at first the limit */
};

static void consider(struct search *search, const char *text, const char *name)
{
    size_t distance = word_distance(search->wanted, text);
    if (distance < search->best) {
        search->best = distance;
        search->near = name;
    }
}

/* By spelling. */
static const char *nearest(const char *name)
{
    struct search search = {.wanted = name, .best = strlen(name) / 4 + 2};
    for (size_t i = 0; command_groups[i].name; i++)
        consider(&search, command_groups[i].name, command_groups[i].name);
    for (const struct command *command = commands; command->name; command++)
        consider(&search, command->name, command->name);
    /* "lsit" may be meant as "job list". */
    for (const struct command *command = commands; command->name; command++)
        if (!strchr(name, ' '))
            consider(&search, last_word(command->name), command->name);
    return search.near;
}

bool command_suggest(const char *name, char *text, size_t room)
{
    if (suggest_alias(name, text, room))
        return true;
    const char *near = nearest(name);
    if (near)
        snprintf(text, room, "%s", near);
    return near != NULL;
}
