/* cli/events.h - what happened to a job or an instance, or was logged, and what comes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_EVENTS_H
#define CLI_EVENTS_H

#include "cli/args.h"
#include "cli/call.h"

/* What grows at its end: GET path, the first operand's id, part. */
struct feed {
    const char *path, *part;
    void (*print)(const json_t *entry); /* on a line */
};

extern const struct feed job_events, instance_events;

/* Writes where a page of it is asked for; `cursor` NULL: the first. */
void feed_target(const struct args *args, const struct feed *feed, const char *cursor,
                 struct buf *target);

/* Prints a page, with --all every page, or with --follow all that comes. */
int feed_run(const struct args *args, const struct feed *feed);
extern const struct option feed_options[];

/* A line: its start, then data unless it is null, with nothing that a terminal would obey. */
void print_entry(const struct buf *start, const json_t *data);

/* Nothing more will happen by itself to what has this status. */
bool status_is_final(const char *status);
void pause_ms(int ms);

#endif
