/* cli/suggest.c - which command may be meant by an unknown name.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * First by the names that other tools use, then by spelling.
 */
#include "cli/args.h"
#include "cli/say.h"

#include <stdio.h>
#include <string.h>

/* Our commands, and the words of other tools for them.  After the name of a group the last word of
 * the command counts: "job ls" is "job list". */
static const struct {
    const char *command, *words;
} aliases[] = {
    {"abort", "kill terminate"},
    {"approve", "accept confirm"},
    {"bench", "benchmark"},
    {"cancel", "stop"},
    {"deploy", "apply register"},
    {"dlq list", "deadletter dead-letter"},
    {"dlq requeue", "requeue retry"},
    {"doctor", "diagnose health"},
    {"events", "audit history tail"},
    {"graph", "diagram dot draw"},
    {"help", "man"},
    {"job add", "add enqueue push submit"},
    {"job delete", "delete remove rm"},
    {"job list", "jobs queue"},
    {"list", "instances ls ps runs"},
    {"migrate", "init setup upgrade"},
    {"pause", "hold suspend"},
    {"reject", "decline deny"},
    {"restart", "replay rerun reset"},
    {"resume", "continue unpause"},
    {"serve", "server"},
    {"show", "describe follow get info inspect status watch"},
    {"signal", "emit publish send"},
    {"start", "create exec execute launch run trigger"},
    {"validate", "check lint"},
    {"work", "worker workers"},
    {"workflows", "definitions workflow"},
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
        if (word_in(aliases[i].words, word))
            return aliases[i].command;
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
    size_t distance = edit_distance(search->wanted, text);
    if (distance < search->best) {
        search->best = distance;
        search->near = name;
    }
}

/* By spelling. */
static const char *nearest(const char *name)
{
    struct search search = {.wanted = name, .best = strlen(name) / 3 + 2};
    const struct command *command;
    for (size_t i = 0; command_groups[i].name; i++)
        consider(&search, command_groups[i].name, command_groups[i].name);
    for (size_t i = 0; (command = command_at(i)); i++)
        consider(&search, command->name, command->name);
    /* "lsit" may be meant as "job list". */
    for (size_t i = 0; !strchr(name, ' ') && (command = command_at(i)); i++)
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
