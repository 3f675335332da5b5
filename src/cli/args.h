/* cli/args.h - a command line, read according to the command's table.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Options may stand before and after the operands, as --name value or --name=value or -o value.
 * "--" ends the options.  "-" is an operand.
 */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "cli/command.h"

enum { OPTIONS_MAX = 32 };

struct given {
    const char *text; /* NULL: not given */
    int64_t number;   /* OPTION_INT, OPTION_DURATION (ms), OPTION_INSTANT and _MOMENT (us) */
};

struct args {
    const struct command *command; /* NULL: none was named */
    const char *group;             /* a group without one of its commands; NULL: none */
    struct given options[OPTIONS_MAX];
    const char **operands;
    size_t operand_count;
    const char **many; /* values of the OPTION_MANY or OPTION_TAG option */
    size_t many_count;
    bool wants_help;
    bool wants_version;
    int argc; /* as it came, for a command that reads it itself */
    char **argv;
};

/* False: the line is wrong, and standard error says why. */
bool args_read(struct args *args, int argc, char **argv);
void args_done(struct args *args);

/* By the option's name, which must be in the table. */
bool args_has(const struct args *args, const char *name);
const char *args_text(const struct args *args, const char *name); /* NULL: not given */
int64_t args_number(const struct args *args, const char *name, int64_t otherwise);

/* Whether -o asks for "table" (the default), "json" or "ids". */
bool args_wants(const struct args *args, const char *output);

/* Whether a text is one of the words, which are separated by spaces. */
bool word_in(const char *words, const char *text);

/* "100/1m": a number and a duration, both from 1 (cells_limit.c). */
bool rate_parse(const char *text, int32_t *ret_n, int64_t *ret_per_ms);

#endif
