/* cli/completion.c - completion for bash, zsh and fish, made from the tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * All three work alike: they collect the words of the command, then offer what may follow.
 */
#include "cli/args.h"
#include "cli/say.h"

#include <string.h>

/* ---- what the scripts share ------------------------------------------------------------- */

/* Text within single quotes.  In zsh's lists a colon ends the name. */
static void print_quoted(const char *text, bool is_name)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (is_name && *text == ':')
            fputs("\\:", stdout);
        else
            putchar(*text);
    }
}

/* The names of all groups and commands. */
static void print_names(const char *separator)
{
    const struct command *command;
    for (size_t i = 0; command_groups[i].name; i++)
        printf("%s'%s'", i ? separator : "", command_groups[i].name);
    for (size_t i = 0; (command = command_at(i)); i++)
        printf("%s'%s'", separator, command->name);
}

/* Calls `print` for each word that may follow the words `before` ("" or a group). */
static void each_next_word(const char *before,
                           void (*print)(const char *before, const char *word,
                                         const char *summary))
{
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)); i++) {
        const char *name = command->name;
        if (*before ? command_is_in(command, before) : !strchr(name, ' '))
            print(before, name + (*before ? strlen(before) + 1 : 0), command->summary);
    }
    for (size_t i = 0; !*before && command_groups[i].name; i++)
        print(before, command_groups[i].name, command_groups[i].summary);
}

/* A case of a shell for each option with a value: what to do with its choices, or if it has none. */
static void print_value_cases(const struct command *command, const char *before_choices,
                              const char *after_choices, const char *otherwise)
{
    const struct option *option;
    for (size_t i = 0; (option = command_option(command, i)); i++) {
        if (option->kind == OPTION_FLAG)
            continue;
        printf("        --%s", option->name);
        if (option->letter)
            printf("|-%c", option->letter);
        fputs(") ", stdout);
        if (option->choices)
            printf("%s%s%s", before_choices, option->choices, after_choices);
        else
            fputs(otherwise, stdout);
        puts(" ;;");
    }
}

/* ---- bash ------------------------------------------------------------------------------- */

static void bash_word(const char *before, const char *word, const char *summary)
{
    (void)before, (void)summary;
    printf("%s ", word);
}

static void bash_words(const char *before)
{
    printf("    '%s') words='", before);
    each_next_word(before, bash_word);
    puts("' ;;");
}

static void bash_command(const struct command *command)
{
    const struct option *option;
    printf("    '%s')\n        words='", command->name);
    for (size_t i = 0; (option = command_option(command, i)); i++)
        printf("--%s ", option->name);
    puts("'\n        case $prev in");
    print_value_cases(command, "words='", "'", "words=''");
    puts("        esac ;;");
}

static void print_bash(void)
{
    const struct command *command;
    puts("# bash completion for cairn; in ~/.bashrc: eval \"$(cairn completion bash)\"\n"
         "_cairn() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
         "    local command='' words='' i\n"
         "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "        case \"$command${command:+ }${COMP_WORDS[i]}\" in");
    print_names("|");
    puts(")\n            command=\"$command${command:+ }${COMP_WORDS[i]}\" ;;\n"
         "        esac\n"
         "    done\n"
         "    case $command in");
    bash_words("");
    for (size_t i = 0; command_groups[i].name; i++)
        bash_words(command_groups[i].name);
    for (size_t i = 0; (command = command_at(i)); i++)
        bash_command(command);
    puts("    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -o bashdefault -o default -F _cairn cairn");
}

/* ---- zsh -------------------------------------------------------------------------------- */

static void zsh_item(const char *before, const char *name, const char *help)
{
    (void)before;
    fputs("            '", stdout);
    print_quoted(name, true);
    putchar(':');
    print_quoted(help, false);
    puts("'");
}

static void zsh_words(const char *before)
{
    printf("    '%s')\n        items=(\n", before);
    each_next_word(before, zsh_item);
    puts("        )\n        _describe command items ;;");
}

static void zsh_command(const struct command *command)
{
    const struct option *option;
    printf("    '%s')\n        case $words[CURRENT-1] in\n", command->name);
    print_value_cases(command, "compadd -- ", "; return", "_files; return");
    puts("        esac\n        items=(");
    for (size_t i = 0; (option = command_option(command, i)); i++) {
        char name[64];
        snprintf(name, sizeof name, "--%s", option->name);
        zsh_item("", name, option->help);
    }
    puts("        )\n        _describe -o option items ;;");
}

static void print_zsh(void)
{
    const struct command *command;
    puts("#compdef cairn\n"
         "# zsh completion for cairn; put this into a file _cairn in a folder of $fpath\n"
         "_cairn() {\n"
         "    local command='' i\n"
         "    local -a items\n"
         "    for ((i = 2; i < CURRENT; i++)); do\n"
         "        case \"$command${command:+ }$words[i]\" in");
    print_names("|");
    puts(")\n            command=\"$command${command:+ }$words[i]\" ;;\n"
         "        esac\n"
         "    done\n"
         "    case $command in");
    zsh_words("");
    for (size_t i = 0; command_groups[i].name; i++)
        zsh_words(command_groups[i].name);
    for (size_t i = 0; (command = command_at(i)); i++)
        zsh_command(command);
    puts("    esac\n}\n"
         "if [[ $funcstack[1] == _cairn ]]; then _cairn \"$@\"; else compdef _cairn cairn; fi");
}

/* ---- fish ------------------------------------------------------------------------------- */

static void fish_word(const char *before, const char *word, const char *help)
{
    printf("complete -c cairn -f -n '__cairn_at \"%s\"' -a '%s' -d '", before, word);
    print_quoted(help, false);
    puts("'");
}

static void fish_option(const struct command *command, const struct option *option)
{
    printf("complete -c cairn -n '__cairn_at \"%s\"' -l %s", command->name, option->name);
    if (option->letter)
        printf(" -s %c", option->letter);
    if (option->choices)
        printf(" -x -a '%s'", option->choices);
    else if (option->kind != OPTION_FLAG)
        fputs(" -r", stdout);
    fputs(" -d '", stdout);
    print_quoted(option->help, false);
    puts("'");
}

static void print_fish(void)
{
    const struct command *command;
    const struct option *option;
    fputs("# fish completion for cairn; cairn completion fish | source\n"
          "function __cairn_at\n"
          "    set -l command ''\n"
          "    for word in (commandline -opc)[2..-1]\n"
          "        switch (string trim \"$command $word\")\n"
          "            case ",
          stdout);
    print_names(" ");
    puts("\n                set command (string trim \"$command $word\")\n"
         "        end\n"
         "    end\n"
         "    test \"$command\" = \"$argv[1]\"\n"
         "end");
    each_next_word("", fish_word);
    for (size_t i = 0; command_groups[i].name; i++)
        each_next_word(command_groups[i].name, fish_word);
    for (size_t i = 0; (command = command_at(i)); i++)
        for (size_t k = 0; (option = command_option(command, k)); k++)
            fish_option(command, option);
}

/* ---- the command ------------------------------------------------------------------------ */

static int run_completion(const struct args *args)
{
    static const struct {
        const char *shell;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(args->operands[0], shells[i].shell) == 0) {
            shells[i].print();
            return EXIT_DONE;
        }
    }
    say_error("cannot complete for \"%s\": it takes bash, zsh or fish", args->operands[0]);
    return EXIT_USAGE;
}

const struct command completion_commands[] = {
    {
        .name = "completion",
        .operands = "bash|zsh|fish",
        .summary = "print a script that completes command lines",
        .example = "eval \"$(cairn completion bash)\"\n"
                   "cairn completion zsh > ~/.zfunc/_cairn\n"
                   "cairn completion fish | source",
        .run = run_completion,
    },
    {0},
};
