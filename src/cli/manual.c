/* cli/manual.c - the man page, made from the tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"
#include "cli/help.h"

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

static void print_option(FILE *out, const struct option *option)
{
    char syntax[OPTION_SYNTAX];
    option_syntax(option, syntax);
    fputs(".TP\n.B ", out);
    print_text(out, syntax);
    print_text(out, option->help);
    if (option->choices && strcmp(option->name, "output") != 0) {
        fputs("One of: ", out);
        print_text(out, option->choices);
    }
}

static void print_command(FILE *out, const struct command *command)
{
    fputs(".SS cairn ", out);
    print_text(out, command->name);
    fputs(".B cairn ", out);
    fprintf(out, "%s %s [options]\n.PP\n", command->name,
            command->operands ? command->operands : "");
    print_text(out, command->about ? command->about : command->summary);
    const struct option *option;
    for (size_t i = 0; (option = command_option(command, i)); i++)
        print_option(out, option);
    fputs(".PP\nExample:\n.PP\n.nf\n.RS\n", out);
    print_text(out, command->example);
    fputs(".RE\n.fi\n", out);
}

void help_manual(FILE *out)
{
    fprintf(out, ".TH CAIRN 1 \"\" \"cairn %s\" \"User Commands\"\n", CAIRN_VERSION);
    fputs(
        ".SH NAME\ncairn \\- durable work: record it, and it happens\n"
        ".SH SYNOPSIS\n.B cairn\n.I command\n[options]\n"
        ".SH DESCRIPTION\n"
        "Cairn records work that must happen and makes sure that it happens: through crashes,\n"
        "restarts and bad days.  It keeps the work in an SQLite file or in PostgreSQL; no\n"
        "server needs to run.  Options may stand before and after operands, as\n"
        ".B \\-\\-name value\nor\n.BR \\-\\-name=value .\n"
        "Where ids are taken,\n.B \\-\nreads them from standard input.\n"
        ".SH COMMANDS\n",
        out);
    for (size_t i = 0; commands[i]; i++)
        print_command(out, commands[i]);
    fputs(".SH EXIT STATUS\n"
          ".TP\n.B 0\nDone.\n.TP\n.B 1\nThe answer is no.\n.TP\n.B 2\nWrong usage.\n"
          ".TP\n.B 3\nThe store or server could not be reached, or said no itself.\n"
          ".TP\n.B 4\nThe timeout passed before what was awaited.\n"
          ".SH ENVIRONMENT\n"
          ".TP\n.B CAIRN_URL\nWhere the work is kept, unless \\-\\-url is given.\n"
          ".TP\n.B CAIRN_TOKEN\nThe bearer token for an http: URL.\n"
          ".TP\n.B NO_COLOR\nIf set, no colours.\n",
          out);
}
