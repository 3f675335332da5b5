/* cli/manual.c - all commands: the man page and the reference in docs/cli.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"
#include "cli/help.h"

#include <ctype.h>
#include <string.h>

/* Text for roff: no line may begin with a dot or a quote, no backslash may stand alone. */
static void print_text(FILE *out, const char *text)
{
    bool is_start = true;
    for (; *text; text++) {
        if (is_start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\'')
            fputs("\\(aq", out);
        else
            fputc(*text, out);
        is_start = *text == '\n';
    }
    fputc('\n', out);
}

static void print_command(FILE *out, const struct command *command)
{
    const struct option *option;
    fputs(".SS cairn ", out);
    print_text(out, command->name);
    fputs(".B ", out);
    print_usage(out, command);
    fputs(".PP\n", out);
    print_text(out, command->about ? command->about : command->summary);
    for (size_t i = 0; (option = command_option(command, i)); i++) {
        char syntax[OPTION_SYNTAX], help[OPTION_HELP];
        option_syntax(option, syntax);
        option_help(option, help);
        fputs(".TP\n.B ", out);
        print_text(out, syntax);
        print_text(out, help);
    }
    fputs(".PP\nExample:\n.PP\n.nf\n.RS\n", out);
    print_text(out, command->example);
    fputs(".RE\n.fi\n", out);
}

void help_manual(FILE *out)
{
    fprintf(out, ".TH CAIRN 1 \"\" \"cairn %s\" \"User Commands\"\n", CAIRN_VERSION);
    fputs(".SH NAME\ncairn \\- durable jobs and workflows\n"
          ".SH SYNOPSIS\n.B cairn\n.I command\n[options]\n"
          ".SH DESCRIPTION\n"
          "Cairn stores work and makes sure that it is executed, even if processes crash or\n"
          "machines restart.  The store is an SQLite file or a PostgreSQL database; no server\n"
          "is needed.  Options may stand before and after operands, as\n"
          ".B \\-\\-name value\nor\n.BR \\-\\-name=value .\n"
          "Where ids are expected,\n.B \\-\nreads them from standard input.\n"
          ".SH COMMANDS\n",
          out);
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)); i++)
        print_command(out, command);
    fputs(".SH EXIT STATUS\n"
          ".TP\n.B 0\nDone.\n.TP\n.B 1\nThe answer is no.\n.TP\n.B 2\nWrong usage.\n"
          ".TP\n.B 3\nThe store or server could not be reached, or reported an error.\n"
          ".TP\n.B 4\nThe timeout passed.\n"
          ".SH ENVIRONMENT\n"
          ".TP\n.B CAIRN_URL\nThe store, unless \\-\\-url is given.\n"
          ".TP\n.B CAIRN_TOKEN\nThe bearer token for an http: URL.\n"
          ".TP\n.B NO_COLOR\nIf set, no colours.\n",
          out);
}

/* ---- Markdown --------------------------------------------------------------------------- */

enum { MARKDOWN_WIDTH = 130 };

/* --url and --help are described once, for all commands. */
static bool is_everywhere(const struct command *command, const struct option *option)
{
    bool is_url = strcmp(option->name, "url") == 0;
    return strcmp(option->name, "help") == 0 ||
           (is_url && (command->has_url || command->route.method));
}

static void print_section(FILE *out, const struct command *command)
{
    const struct option *option;
    fprintf(out, "\n### cairn %s\n\n%c%s.\n\n    ", command->name,
            toupper((unsigned char)*command->summary), command->summary + 1);
    print_usage(out, command);
    if (command->about) {
        fputc('\n', out);
        print_wrapped(out, command->about, MARKDOWN_WIDTH, 0, 0);
    }
    for (size_t i = 0, count = 0; (option = command_option(command, i)); i++) {
        char syntax[OPTION_SYNTAX], help[OPTION_HELP];
        if (is_everywhere(command, option))
            continue;
        option_syntax(option, syntax);
        option_help(option, help);
        fprintf(out, "%s- `%s`: %s\n", count++ ? "" : "\n", syntax, help);
    }
    fputs("\nExample:\n\n", out);
    print_indented(out, command->example, "    ");
}

void help_markdown(FILE *out)
{
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)); i++)
        print_section(out, command);
}
