/* cli/help.h - help, made from the tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/command.h"

#include <stdio.h>

void help_overview(FILE *out);
void help_group(FILE *out, const char *group);
void help_command(FILE *out, const struct command *command);
void help_manual(FILE *out);   /* all commands: the man page, as roff */
void help_markdown(FILE *out); /* all commands: the last part of docs/cli.md */

/* Prints to standard error that there is no such command, and which one may be meant.  `before` is
 * the beginning of the suggestion, such as "help ". */
void help_unknown(const char *name, const char *before);

/* ---- parts of all forms of help ---------------------------------------------------------- */

enum { OPTION_SYNTAX = 96, OPTION_HELP = 512 };
void option_syntax(const struct option *option,
                   char text[OPTION_SYNTAX]);                          /* "-o, --output FORM" */
void option_help(const struct option *option, char text[OPTION_HELP]); /* with its choices */

void print_usage(FILE *out, const struct command *command); /* "cairn job add TYPE [options]" */
void print_indented(FILE *out, const char *lines, const char *before);

/* Prints text in lines of at most `width`, the first beginning at `column`, the others indented. */
void print_wrapped(FILE *out, const char *text, int width, int column, int indent);

#endif
