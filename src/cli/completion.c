/* cli/completion.c - completion for bash, zsh and fish.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The scripts are short and ask the program: "cairn completion SHELL -- WORD..." prints what may
 * stand in place of the last word, from the tables.
 */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/help.h"
#include "cli/say.h"

#include <string.h>

struct shell {
    const char *name, *script;
    const char *before_help; /* between a word and its help; NULL: only words are printed */
};

static const struct shell shells[] = {
    {"bash", bash_completion, NULL},
    {"zsh", zsh_completion, ":"},
    {"fish", fish_completion, "\t"},
};

/* A word of this length that may stand there, and the first line of its help.  Words have no colon,
 * which would end them in zsh. */
static void offer(const struct shell *shell, const char *word, size_t len, const char *help)
{
    printf("%.*s", (int)len, word);
    if (shell->before_help)
        printf("%s%.*s", shell->before_help, (int)strcspn(help, "\n"), help);
    putchar('\n');
}

/* What may follow the words `before` ("" or a group). */
static void offer_words(const struct shell *shell, const char *before)
{
    for (size_t i = 0; commands[i].name; i++) {
        const char *word = commands[i].name + (*before ? strlen(before) + 1 : 0);
        if (*before ? command_is_in(&commands[i], before) : !strchr(word, ' '))
            offer(shell, word, strlen(word), command_texts[i].summary);
    }
    for (const struct command_group *group = command_groups; !*before && group->name; group++)
        offer(shell, group->name, strlen(group->name), group->summary);
}

static void offer_options(const struct shell *shell, const struct command *command)
{
    const char *line = text_of_command(command)->options;
    for (; *line; line = strchr(line, '\n') + 1) {
        size_t len = strcspn(line, "\t");
        offer(shell, line, len, line + len + 1);
    }
}

/* The option whose value follows this word; NULL: none. */
static const struct option *option_of(const struct command *command, const char *word)
{
    const struct option *option;
    for (size_t i = 0; (option = command_option(command, i)); i++) {
        char letter[] = {'-', option->letter, '\0'};
        bool is_it = (option->letter && strcmp(word, letter) == 0) ||
                     (strncmp(word, "--", 2) == 0 && strcmp(word + 2, option->name) == 0);
        if (is_it && option->kind != OPTION_FLAG)
            return option;
    }
    return NULL;
}

static void offer_choices(const struct shell *shell, const struct option *option)
{
    for (const char *at = option->choices; at && *at;) {
        size_t len = strcspn(at, " ");
        offer(shell, at, len, option->value);
        at += len + (at[len] == ' ');
    }
}

/* The last word is the one to complete. */
static void complete(const struct shell *shell, const char **words, size_t count)
{
    cleanup(buf_donep) struct buf name = {0};
    for (size_t i = 0; i + 1 < count; i++) {
        cleanup(buf_donep) struct buf longer = {0};
        buf_printf(&longer, "%s%s%s", buf_text(&name), name.len ? " " : "", words[i]);
        if (command_find(buf_text(&longer)) || command_group(buf_text(&longer))) {
            buf_reset(&name);
            buf_str(&name, buf_text(&longer));
        }
    }
    const struct command *command = command_find(buf_text(&name));
    const struct option *option =
        command && count > 1 ? option_of(command, words[count - 2]) : NULL;
    if (option)
        offer_choices(shell, option);
    else if (command)
        offer_options(shell, command);
    else
        offer_words(shell, buf_text(&name));
}

int run_completion(const struct args *args)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(args->operands[0], shells[i].name) != 0)
            continue;
        if (args->operand_count > 1)
            complete(&shells[i], args->operands + 1, args->operand_count - 1);
        else
            fputs(shells[i].script, stdout);
        return EXIT_DONE;
    }
    say_error("cannot complete for \"%s\": it takes bash, zsh or fish", args->operands[0]);
    return EXIT_USAGE;
}
