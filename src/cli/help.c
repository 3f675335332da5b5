/* cli/help.c - help for the terminal: the overview, a group, a command.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/help.h"

#include "base/mem.h"
#include "cli/args.h"
#include "cli/call.h"
#include "cli/say.h"

#include <string.h>

enum { TEXT_WIDTH = 80, OPTION_COLUMN = 26 };

void print_wrapped(FILE *out, const char *text, int width, int column, int indent)
{
    while (*text) {
        size_t word = strcspn(text, " \n");
        if (column > indent && column + 1 + (int)word > width) {
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

void print_indented(FILE *out, const char *lines, const char *before)
{
    while (*lines) {
        size_t len = strcspn(lines, "\n");
        fprintf(out, "%s%.*s\n", before, (int)len, lines);
        lines += len + (lines[len] == '\n');
    }
}

void print_usage(FILE *out, const struct command *command)
{
    fprintf(out, "cairn %s%s%s [options]\n", command->name, command->operands ? " " : "",
            command->operands ? command->operands : "");
}

void option_syntax(const struct option *option, char text[OPTION_SYNTAX])
{
    char letter[8] = "";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(text, OPTION_SYNTAX, "%s--%s%s%s", letter, option->name, option->value ? " " : "",
             option->value ? option->value : "");
}

/* The help of -o names its choices itself. */
void option_help(const struct option *option, char text[OPTION_HELP])
{
    bool has_choices = option->choices && strcmp(option->name, "output") != 0;
    snprintf(text, OPTION_HELP, "%s%s%s", option->help, has_choices ? ": " : "",
             has_choices ? option->choices : "");
}

static void print_option(FILE *out, const struct option *option)
{
    char syntax[OPTION_SYNTAX], help[OPTION_HELP];
    option_syntax(option, syntax);
    option_help(option, help);
    int column = fprintf(out, "  %s", syntax);
    if (column > OPTION_COLUMN - 2) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", OPTION_COLUMN - column, "");
    print_wrapped(out, help, TEXT_WIDTH, OPTION_COLUMN, OPTION_COLUMN);
}

void help_command(FILE *out, const struct command *command)
{
    const struct option *option;
    fprintf(out, "cairn %s: %s\n\nUsage: ", command->name, command->summary);
    print_usage(out, command);
    if (command->about) {
        fputc('\n', out);
        print_wrapped(out, command->about, TEXT_WIDTH, 0, 0);
    }
    fputs("\nOptions:\n", out);
    for (size_t i = 0; (option = command_option(command, i)); i++)
        print_option(out, option);
    fputs("\nExample:\n", out);
    print_indented(out, command->example, "  ");
}

static void print_summary(FILE *out, const struct command *command)
{
    fprintf(out, "  %-16s %s\n", command->name, command->summary);
}

void help_group(FILE *out, const char *group)
{
    fprintf(out, "cairn %s: %s\n\nCommands:\n", group, command_group(group)->summary);
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)); i++)
        if (command_is_in(command, group))
            print_summary(out, command);
    fprintf(out, "\nMore: cairn %s COMMAND --help\n", group);
}

void help_overview(FILE *out)
{
    fputs("cairn stores work and makes sure that it is executed.\n\n"
          "Usage: cairn COMMAND [options]\n\nCommands:\n",
          out);
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)); i++)
        print_summary(out, command);
    fputs("\nTry it; no server is needed:\n"
          "  cairn job add hello.v1 --payload '{\"name\": \"you\"}'\n"
          "  cairn work --handle 'hello.v1=cat' --until-idle\n"
          "  cairn job list\n\n"
          "The store is sqlite:cairn.db, unless --url or $CAIRN_URL names another.\n"
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
    cleanup(buf_donep) struct buf name = {0};
    for (size_t i = 0; i < args->operand_count; i++)
        buf_printf(&name, "%s%s", i ? " " : "", args->operands[i]);
    const struct command *command = command_find(buf_text(&name));
    if (args_has(args, "man"))
        help_manual(stdout);
    else if (args_has(args, "markdown"))
        help_markdown(stdout);
    else if (!name.len)
        help_overview(stdout);
    else if (command)
        help_command(stdout, command);
    else if (command_group(buf_text(&name)))
        help_group(stdout, buf_text(&name));
    else
        help_unknown(buf_text(&name), "help ");
    bool is_known = !name.len || command || command_group(buf_text(&name));
    return is_known ? EXIT_DONE : EXIT_USAGE;
}

static const struct option help_options[] = {
    {"man", OPTION_FLAG, .help = "print the manual page, for man -l"},
    {"markdown", OPTION_FLAG, .help = "print all commands in Markdown, as in docs/cli.md"},
    {0},
};

const struct command help_commands[] = {
    {"help", "[COMMAND...]", "explain a command", .aliases = "man",
     .example = "cairn help job add\ncairn help --man | man -l -", .options = help_options,
     .run = run_help},
    {0},
};
