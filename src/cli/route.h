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

/* Runs a command that has a route and no function of its own. */
int route_run(const struct args *args);

/* For commands with a function: writes the members of a body that their operand and options give.
 * The answer is an exit code: EXIT_USAGE if a value is not JSON. */
int write_members(const struct args *args, struct json_out *out);

/* Whether the command has this option. */
bool takes_option(const struct args *args, const char *name);

/* Appends the options that have a field to a query, but the one of the field `without` (NULL: all). */
void write_params(const struct args *args, const char *without, struct buf *target);

/* The tags of the command line as an object; one of them (NAME=VALUE) as filters have it: "name:value". */
void write_tags(const struct args *args, struct json_out *out);
void write_rate(const char *text, struct json_out *out); /* cells_limit.c: {"n", "per_ms"} */
const char *tag_text(const char *given, struct buf *text);

/* A rejected id among several, as a JSON object in the form that a batch of reports has. */
void print_rejected(const char *id, const json_t *error);

#endif
