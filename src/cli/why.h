/* cli/why.h - why something has not ended, as the program prints it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_H
#define CLI_WHY_H

#include "cli/call.h"
#include "cli/cells.h"

/* What the server says of an instance or a job.  A zeroed struct is nothing. */
struct why {
    struct answer answer;
    json_t *items;
    struct buf json; /* {"items": [...]} */
};

/* Of an instance, or else of a job.  The answer is an exit code; an error is printed. */
int why_read(cairn_engine *engine, const char *id, struct why *ret_why);
void why_done(struct why *why);

/* A line for each, and a line with the command that helps, if a person can. */
void why_write(const struct why *why, const char *indent, struct buf *text);

/* The sentence of a row's why, which has only its template and the values. */
void why_fill(const json_t *why, struct buf *text);

#endif
