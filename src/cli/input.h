/* cli/input.h - what a command reads: texts that options name, and ids.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "base/buf.h"
#include "cli/args.h"

#include <stdio.h>

/* Reads a text whole: the given text itself, @FILE, or "-" for standard input.  False: an error was
 * printed. */
bool source_read(const char *given, struct buf *ret_text);

/* Reads FILE whole, or standard input for "-".  False: an error was printed. */
bool file_read(const char *file, struct buf *ret_text);

/* Opens FILE, or standard input for "-"; NULL: an error was printed. */
FILE *source_open(const char *file);
void source_close(FILE **source); /* leaves standard input open */

/* Does one thing to one id; the answer is an exit code. */
typedef int (*id_action)(const char *id, void *arg);

/* More than one id may be given, so a JSON answer is a list. */
bool ids_are_many(const struct args *args);

/* Calls `action` for each id: each operand, or with "-" each line of standard input.  Continues
 * after a rejected id, and answers EXIT_NO if there was any.  Ends at once with EXIT_STORE if the
 * store cannot be reached. */
int ids_each(const struct args *args, id_action action, void *arg);

#endif
