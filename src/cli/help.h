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
void help_manual(FILE *out); /* the man page, as roff */

/* On standard error: there is no such command, and which one may be meant.  `before` is what the
 * suggestion begins with, such as "help ". */
void help_unknown(const char *name, const char *before);

/* "-o, --output FORM" */
enum { OPTION_SYNTAX = 96 };
void option_syntax(const struct option *option, char text[OPTION_SYNTAX]);

#endif
