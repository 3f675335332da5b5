/* cli/ids.h - the ids that a command is about: its operands, or with "-" the lines of standard
 * input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_IDS_H
#define CLI_IDS_H

#include "cli/args.h"

/* Does one thing to one id; the answer is an exit code. */
typedef int (*id_action)(const char *id, void *arg);

/* More than one id may be meant, so a JSON answer is a list. */
bool ids_are_many(const struct args *args);

/* Calls `action` for every id, goes on after a refusal, and answers EXIT_NO if there was any. A
 * store that is out of reach ends it at once with EXIT_STORE. */
int ids_each(const struct args *args, id_action action, void *arg);

#endif
