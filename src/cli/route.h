/* cli/route.h - commands that only call a route of the HTTP interface and print its answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Such a command is an entry of a table and has no code: its route (command.h) says where the
 * operands go, its options say which fields carry them, its columns say what is printed.
 */
#ifndef CLI_ROUTE_H
#define CLI_ROUTE_H

#include "cli/print.h"

extern const struct option page_options[], feed_options[];

/* Runs a command that has a route and no function of its own. */
int route_run(const struct args *args);

/* For commands with a function: writes the members of a body that their operand and options give.
 * The answer is an exit code: EXIT_USAGE if a value is not JSON. */
int write_members(const struct args *args, struct json_out *out);

/* ---- sentences that the help of several commands shares ----------------------------------- */

#define TEXT_ID "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f"

#define TEXT_PAGES                                                                          \
    "With -o json the answer is one object, {\"items\": [...], \"next\": CURSOR or null}; " \
    "with --all it holds all pages and next is null."

#define TEXT_MANY_IDS(thing)                                                              \
    " \"-\" reads ids from standard input. If one id is rejected, the others are still "  \
    "processed, and the exit code is 1. With -o json one id gives the " thing "; several" \
    " ids, or \"-\", give {\"items\": [...], \"next\": null}, where a rejected id is "    \
    "{\"id\", \"code\", \"message\"}."

#endif
