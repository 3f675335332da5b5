/* cli/completion.c - completion for bash, zsh and fish.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The scripts are short and ask the program: "cairn completion SHELL -- WORD..." prints what may
 * stand in place of the last word, from the tables.
 */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/say.h"

#include <string.h>

struct shell {
    const char *name, *script;
    const char *before_help; /* between a word and its help; NULL: only words are printed */
};

static const struct shell shells[] = {
    {.name = "bash",
     .script = "# bash completion for cairn; in ~/.bashrc: eval \"$(cairn completion bash)\"\n"
               "_cairn() {\n"
               "    local words IFS=$'\\n"
               "'\n"
               "    words=$(\"${COMP_WORDS[0]}\" completion bash -- "
               "\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
               "    COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
               "}\n"
               "complete -o bashdefault -o default -F _cairn cairn\n"},
    {.name = "zsh",
     .script = "#compdef cairn\n"
               "# zsh completion for cairn; put this into a file _cairn in a folder of "
               "$fpath\n"
               "_cairn() {\n"
               "    local -a items\n"
               "    items=(\"${(@f)$(\"$words[1]\" completion zsh -- "
               "\"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
               "    if [[ -n $items[1] ]]; then _describe cairn items; else _files; fi\n"
               "}\n"
               "if [[ $funcstack[1] == _cairn ]]; then _cairn \"$@\"; else compdef _cairn "
               "cairn; fi\n",
     .before_help = ":"},
    {.name = "fish",
     .script = "# fish completion for cairn; cairn completion fish | source\n"
               "function __cairn_words\n"
               "    cairn completion fish -- (commandline -opc)[2..-1] (commandline -ct) "
               "2>/dev/null\n"
               "end\n"
               "complete -c cairn -f -n 'count (__cairn_words) >/dev/null' -a "
               "'(__cairn_words)'\n",
     .before_help = "\t"},
};

/* A word that may stand there.  Words have no colon, which would end them in zsh. */
static void offer(const struct shell *shell, const char *word, const char *help)
{
    fputs(word, stdout);
    if (shell->before_help)
        printf("%s%s", shell->before_help, help);
    putchar('\n');
}

/* What may follow the words `before` ("" or a group). */
static void offer_words(const struct shell *shell, const char *before)
{
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)); i++) {
        if (*before ? command_is_in(command, before) : !strchr(command->name, ' '))
            offer(shell, command->name + (*before ? strlen(before) + 1 : 0), command->summary);
    }
    for (size_t i = 0; !*before && command_groups[i].name; i++)
        offer(shell, command_groups[i].name, command_groups[i].summary);
}

static void offer_options(const struct shell *shell, const struct command *command)
{
    const struct option *option;
    for (size_t i = 0; (option = command_option(command, i)); i++) {
        char name[64];
        snprintf(name, sizeof name, "--%s", option->name);
        offer(shell, name, option->help);
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
        char word[64];
        size_t len = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)len, at);
        offer(shell, word, option->value);
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

static int run_completion(const struct args *args)
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

const struct command completion_commands[] = {
    {"completion", "bash|zsh|fish [WORD...]", "print a script that completes command lines",
     .about = "With words it prints what may stand in place of the last one; the scripts "
              "call it in this way.",
     .example = "eval \"$(cairn completion bash)\"\n"
                "cairn completion zsh > ~/.zfunc/_cairn\n"
                "cairn completion fish | source",
     .run = run_completion},
    {0},
};
