/* cli/completion.c - completion for bash, zsh and fish, made from the tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * All three work alike: collect the words of the command, then offer what may follow them.
 */
#include "cli/args.h"
#include "cli/say.h"

#include <string.h>

/* Text within single quotes.  zsh's lists also part names from help at the first colon. */
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

/* Calls `print` for each word that may follow the words `before` ("" or a group). */
static void each_next_word(const char *before,
                           void (*print)(const char *word, const char *summary))
{
    for (size_t i = 0; commands[i]; i++) {
        const char *name = commands[i]->name;
        if (*before ? command_is_in(commands[i], before) : !strchr(name, ' '))
            print(name + (*before ? strlen(before) + 1 : 0), commands[i]->summary);
    }
    for (size_t i = 0; !*before && command_groups[i].name; i++)
        print(command_groups[i].name, command_groups[i].summary);
}

static const char *choices_of(const struct option *option)
{
    return option->choices;
}

static bool takes_value(const struct option *option)
{
    return option->kind != OPTION_FLAG;
}

/* ---- bash ------------------------------------------------------------------------------- */

static void bash_word(const char *word, const char *summary)
{
    (void)summary;
    printf("%s ", word);
}

static void bash_command(const struct command *command)
{
    const struct option *option;
    printf("    '%s')\n        words='", command->name);
    for (size_t i = 0; (option = command_option(command, i)); i++)
        printf("--%s ", option->name);
    fputs("'\n        case $prev in\n", stdout);
    for (size_t i = 0; (option = command_option(command, i)); i++) {
        if (!takes_value(option))
            continue;
        printf("        --%s", option->name);
        if (option->letter)
            printf("|-%c", option->letter);
        if (choices_of(option))
            printf(") words='%s' ;;\n", choices_of(option));
        else
            puts(") words='' ;;");
    }
    puts("        esac ;;");
}

static void print_bash(void)
{
    puts("# bash completion for cairn; in ~/.bashrc: eval \"$(cairn completion bash)\"\n"
         "_cairn() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
         "    local command='' words='' i\n"
         "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "        case \"$command${command:+ }${COMP_WORDS[i]}\" in");
    fputs("        ", stdout);
    for (size_t i = 0; command_groups[i].name; i++)
        printf("'%s'|", command_groups[i].name);
    for (size_t i = 0; commands[i]; i++)
        printf("'%s'%s", commands[i]->name, commands[i + 1] ? "|" : ")\n");
    puts("            command=\"$command${command:+ }${COMP_WORDS[i]}\" ;;\n"
         "        esac\n"
         "    done\n"
         "    case $command in");
    fputs("    '') words='", stdout);
    each_next_word("", bash_word);
    puts("' ;;");
    for (size_t i = 0; command_groups[i].name; i++) {
        printf("    '%s') words='", command_groups[i].name);
        each_next_word(command_groups[i].name, bash_word);
        puts("' ;;");
    }
    for (size_t i = 0; commands[i]; i++)
        bash_command(commands[i]);
    puts("    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -o bashdefault -o default -F _cairn cairn");
}

/* ---- zsh -------------------------------------------------------------------------------- */

static void zsh_item(const char *name, const char *help)
{
    fputs("            '", stdout);
    print_quoted(name, true);
    putchar(':');
    print_quoted(help, false);
    puts("'");
}

static void zsh_command(const struct command *command)
{
    const struct option *option;
    printf("    '%s')\n        case $words[CURRENT-1] in\n", command->name);
    for (size_t i = 0; (option = command_option(command, i)); i++) {
        if (!takes_value(option))
            continue;
        printf("        --%s", option->name);
        if (option->letter)
            printf("|-%c", option->letter);
        if (choices_of(option))
            printf(") compadd -- %s; return ;;\n", choices_of(option));
        else
            puts(") _files; return ;;");
    }
    puts("        esac\n        items=(");
    for (size_t i = 0; (option = command_option(command, i)); i++) {
        char name[64];
        snprintf(name, sizeof name, "--%s", option->name);
        zsh_item(name, option->help);
    }
    puts("        )\n        _describe -o option items ;;");
}

static void print_zsh(void)
{
    puts("#compdef cairn\n"
         "# zsh completion for cairn; put this into a file _cairn in a folder of $fpath\n"
         "_cairn() {\n"
         "    local command='' i\n"
         "    local -a items\n"
         "    for ((i = 2; i < CURRENT; i++)); do\n"
         "        case \"$command${command:+ }$words[i]\" in");
    fputs("        ", stdout);
    for (size_t i = 0; command_groups[i].name; i++)
        printf("'%s'|", command_groups[i].name);
    for (size_t i = 0; commands[i]; i++)
        printf("'%s'%s", commands[i]->name, commands[i + 1] ? "|" : ")\n");
    puts("            command=\"$command${command:+ }$words[i]\" ;;\n"
         "        esac\n"
         "    done\n"
         "    case $command in\n"
         "    '')\n        items=(");
    each_next_word("", zsh_item);
    puts("        )\n        _describe command items ;;");
    for (size_t i = 0; command_groups[i].name; i++) {
        printf("    '%s')\n        items=(\n", command_groups[i].name);
        each_next_word(command_groups[i].name, zsh_item);
        puts("        )\n        _describe command items ;;");
    }
    for (size_t i = 0; commands[i]; i++)
        zsh_command(commands[i]);
    puts("    esac\n}\n"
         "if [[ $funcstack[1] == _cairn ]]; then _cairn \"$@\"; else compdef _cairn cairn; fi");
}

/* ---- fish ------------------------------------------------------------------------------- */

static void fish_offer(const char *before, const char *word, const char *help)
{
    printf("complete -c cairn -f -n '__cairn_at \"%s\"' -a '%s' -d '", before, word);
    print_quoted(help, false);
    puts("'");
}

static void fish_first(const char *word, const char *summary)
{
    fish_offer("", word, summary);
}

static void fish_option(const struct command *command, const struct option *option)
{
    printf("complete -c cairn -n '__cairn_at \"%s\"' -l %s", command->name, option->name);
    if (option->letter)
        printf(" -s %c", option->letter);
    if (choices_of(option))
        printf(" -x -a '%s'", choices_of(option));
    else if (takes_value(option))
        fputs(" -r", stdout);
    fputs(" -d '", stdout);
    print_quoted(option->help, false);
    puts("'");
}

static void print_fish(void)
{
    puts("# fish completion for cairn; cairn completion fish | source\n"
         "function __cairn_at\n"
         "    set -l command ''\n"
         "    for word in (commandline -opc)[2..-1]\n"
         "        switch (string trim \"$command $word\")");
    fputs("            case", stdout);
    for (size_t i = 0; command_groups[i].name; i++)
        printf(" '%s'", command_groups[i].name);
    for (size_t i = 0; commands[i]; i++)
        printf(" '%s'", commands[i]->name);
    puts("\n                set command (string trim \"$command $word\")\n"
         "        end\n"
         "    end\n"
         "    test \"$command\" = \"$argv[1]\"\n"
         "end");
    each_next_word("", fish_first);
    for (size_t i = 0; commands[i]; i++) {
        const struct option *option;
        const char *space = strchr(commands[i]->name, ' ');
        if (space) {
            char group[64];
            snprintf(group, sizeof group, "%.*s", (int)(space - commands[i]->name),
                     commands[i]->name);
            fish_offer(group, space + 1, commands[i]->summary);
        }
        for (size_t k = 0; (option = command_option(commands[i], k)); k++)
            fish_option(commands[i], option);
    }
}

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

const struct command command_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "print a script that completes command lines",
    .example = "eval \"$(cairn completion bash)\"\n"
               "cairn completion zsh > ~/.zfunc/_cairn\n"
               "cairn completion fish | source",
    .run = run_completion,
};
