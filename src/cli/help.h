/* cli/help.h - the texts of the help, which the build makes from spec/commands.txt.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/command.h"

#include <stdio.h>

struct command_text {
    const char *summary;  /* one line */
    const char *options;  /* a line for each: the option, a tab, its help */
    const char *help;     /* for the terminal */
    const char *manual;   /* its part of the man page, as roff */
    const char *markdown; /* its part of docs/cli.md */
};
extern const struct command_text command_texts[]; /* in the order of commands[] */

extern const char overview_text[];
extern const char manual_begin[], manual_end[]; /* of the man page, around the commands */
extern const char bash_completion[], zsh_completion[], fish_completion[]; /* scripts */

const struct command_text *text_of_command(const struct command *command);

/* Prints to standard error that there is no such command, and which one may be meant.  `before` is
 * the beginning of the suggestion, such as "help ". */
void help_unknown(const char *name, const char *before);

#endif
