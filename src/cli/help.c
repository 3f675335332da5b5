/* cli/help.c - help for eyes: the overview, a group, a command.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/help.h"

#include "cli/args.h"
#include "cli/say.h"

#include <string.h>

enum { TEXT_WIDTH = 80, OPTION_COLUMN = 26 };

/* Prints text in lines of TEXT_WIDTH, the first beginning at `column`, the others indented. */
static void print_wrapped(FILE *out, const char *text, int column, int indent)
{
    while (*text) {
        size_t word = strcspn(text, " \n");
        if (column > indent && column + 1 + (int)word > TEXT_WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, word, out);
        column += (int)word;
        text += word;
        if (*text == '\n') {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        text += *text != '\0';
    }
    fputc('\n', out);
}

static void print_lines(FILE *out, const char *text, const char *before)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        fprintf(out, "%s%.*s\n", before, (int)len, text);
        text += len + (text[len] == '\n');
    }
}

void option_syntax(const struct option *option, char text[OPTION_SYNTAX])
{
    char letter[8] = "";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(text, OPTION_SYNTAX, "%s--%s%s%s", letter, option->name, option->value ? " " : "",
             option->value ? option->value : "");
}

static void print_option(FILE *out, const struct option *option)
{
    char syntax[OPTION_SYNTAX], help[512];
    option_syntax(option, syntax);
    if (option->choices && strcmp(option->name, "output") != 0)
        snprintf(help, sizeof help, "%s: %s", option->help, option->choices);
    else
        snprintf(help, sizeof help, "%s", option->help);

    int column = fprintf(out, "  %s", syntax);
    if (column > OPTION_COLUMN - 2) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", OPTION_COLUMN - column, "");
    print_wrapped(out, help, OPTION_COLUMN, OPTION_COLUMN);
}

void help_command(FILE *out, const struct command *command)
{
    fprintf(out, "cairn %s: %s\n\n", command->name, command->summary);
    fprintf(out, "Usage: cairn %s%s%s [options]\n", command->name, command->operands ? " " : "",
            command->operands ? command->operands : "");
    if (command->about) {
        fputc('\n', out);
        print_wrapped(out, command->about, 0, 0);
    }
    fputs("\nOptions:\n", out);
    const struct option *option;
    for (size_t i = 0; (option = command_option(command, i)); i++)
        print_option(out, option);
    fputs("\nExample:\n", out);
    print_lines(out, command->example, "  ");
}

static void print_summary(FILE *out, const struct command *command)
{
    fprintf(out, "  %-16s %s\n", command->name, command->summary);
}

void help_group(FILE *out, const char *group)
{
    fprintf(out, "cairn %s: %s\n\nCommands:\n", group, command_group(group)->summary);
    for (size_t i = 0; commands[i]; i++)
        if (command_is_in(commands[i], group))
            print_summary(out, commands[i]);
    fprintf(out, "\nMore: cairn %s COMMAND --help\n", group);
}

void help_overview(FILE *out)
{
    fputs("cairn records work that must happen, and makes sure that it happens.\n\n"
          "Usage: cairn COMMAND [options]\n\nCommands:\n",
          out);
    for (size_t i = 0; commands[i]; i++)
        print_summary(out, commands[i]);
    fputs("\nTry it; nothing needs to be running:\n"
          "  cairn job add hello.v1 --payload '{\"name\": \"you\"}'\n"
          "  cairn work --handle 'hello.v1=cat' --until-idle\n"
          "  cairn job list\n"
          "\nThe work is kept in sqlite:cairn.db, unless --url or $CAIRN_URL says otherwise.\n"
          "More: cairn COMMAND --help\n",
          out);
}

void help_unknown(const char *name, const char *before)
{
    char near[64];
    say_error("\"%s\" is not a command", name);
    if (command_suggest(name, near, sizeof near))
        say_more("Did you mean: cairn %s%s", before, near);
    say_more("All commands: cairn help");
}

/* ---- cairn help ------------------------------------------------------------------------- */

static int run_help(const struct args *args)
{
    char name[256];
    if (args_has(args, "man")) {
        help_manual(stdout);
        return EXIT_DONE;
    }
    if (args->operand_count == 0) {
        help_overview(stdout);
        return EXIT_DONE;
    }
    snprintf(name, sizeof name, "%s%s%s", args->operands[0], args->operand_count > 1 ? " " : "",
             args->operand_count > 1 ? args->operands[1] : "");
    const struct command *command = command_find(name);
    if (command) {
        help_command(stdout, command);
        return EXIT_DONE;
    }
    if (command_group(name)) {
        help_group(stdout, name);
        return EXIT_DONE;
    }
    help_unknown(name, "help ");
    return EXIT_USAGE;
}

static const struct option help_options[] = {
    {.name = "man", .kind = OPTION_FLAG, .help = "print the manual page, for man -l"},
    {0},
};

const struct command command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .max_operands = 2,
    .summary = "explain a command",
    .example = "cairn help job add\ncairn help --man | man -l -",
    .options = help_options,
    .run = run_help,
};
