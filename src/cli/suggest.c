/* cli/suggest.c - which command may be meant by a name that is none.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * First by what other tools call it, then by how it is spelled.
 */
#include "cli/command.h"
#include "cli/say.h"

#include <stdio.h>
#include <string.h>

/* Words of other tools, and our command.  After the name of a group the last word of the
 * command counts: "job ls" is "job list". */
static const struct {
    const char *word, *command;
} aliases[] = {
    {"accept", "approve"},
    {"add", "job add"},
    {"apply", "deploy"},
    {"audit", "events"},
    {"benchmark", "bench"},
    {"check", "validate"},
    {"confirm", "approve"},
    {"continue", "resume"},
    {"create", "start"},
    {"deadletter", "dlq list"},
    {"dead-letter", "dlq list"},
    {"decline", "reject"},
    {"definitions", "workflows"},
    {"delete", "job delete"},
    {"deny", "reject"},
    {"describe", "show"},
    {"diagnose", "doctor"},
    {"diagram", "graph"},
    {"dot", "graph"},
    {"draw", "graph"},
    {"emit", "signal"},
    {"enqueue", "job add"},
    {"exec", "start"},
    {"execute", "start"},
    {"follow", "show"},
    {"get", "show"},
    {"health", "doctor"},
    {"history", "events"},
    {"hold", "pause"},
    {"info", "show"},
    {"init", "migrate"},
    {"inspect", "show"},
    {"instances", "list"},
    {"jobs", "job list"},
    {"kill", "abort"},
    {"launch", "start"},
    {"lint", "validate"},
    {"ls", "list"},
    {"man", "help"},
    {"ps", "list"},
    {"publish", "signal"},
    {"push", "job add"},
    {"queue", "job list"},
    {"register", "deploy"},
    {"remove", "job delete"},
    {"replay", "restart"},
    {"requeue", "dlq requeue"},
    {"retry", "dlq requeue"},
    {"rerun", "restart"},
    {"reset", "restart"},
    {"rm", "job delete"},
    {"run", "start"},
    {"runs", "list"},
    {"send", "signal"},
    {"server", "serve"},
    {"setup", "migrate"},
    {"status", "show"},
    {"stop", "cancel"},
    {"submit", "job add"},
    {"suspend", "pause"},
    {"tail", "events"},
    {"terminate", "abort"},
    {"trigger", "start"},
    {"unpause", "resume"},
    {"upgrade", "migrate"},
    {"watch", "show"},
    {"worker", "work"},
    {"workers", "work"},
    {"workflow", "workflows"},
};

/* The last word of a command's name. */
static const char *last_word(const char *name)
{
    const char *space = strrchr(name, ' ');
    return space ? space + 1 : name;
}

static const char *find_alias(const char *word)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i].word, word) == 0)
            return aliases[i].command;
    return NULL;
}

/* By what other tools call it. */
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
    size_t best; /* what is not nearer than this is not near */
};

static void consider(struct search *search, const char *text, const char *name)
{
    size_t distance = edit_distance(search->wanted, text);
    if (distance < search->best) {
        search->best = distance;
        search->near = name;
    }
}

/* By how it is spelled. */
static const char *nearest(const char *name)
{
    struct search search = {.wanted = name, .best = strlen(name) / 3 + 2};
    for (size_t i = 0; command_groups[i].name; i++)
        consider(&search, command_groups[i].name, command_groups[i].name);
    for (size_t i = 0; commands[i]; i++)
        consider(&search, commands[i]->name, commands[i]->name);
    /* "lsit" may be meant as "job list". */
    for (size_t i = 0; !strchr(name, ' ') && commands[i]; i++)
        consider(&search, last_word(commands[i]->name), commands[i]->name);
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
