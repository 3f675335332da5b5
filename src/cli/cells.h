/* cli/cells.h - the cells of tables: what is printed of a member of an answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * spec/commands.txt names them in its lists of columns.
 */
#ifndef CLI_CELLS_H
#define CLI_CELLS_H

#include "cli/print.h"

#define CELL(name) void cell_##name(const struct item *item, const char *key, struct buf *text)

CELL(int);
CELL(yes); /* yes or no */
CELL(ago); /* "2m ago" */
CELL(ago_if_set);
CELL(served);      /* yes, no or ? */
CELL(time);        /* both forms */
CELL(time_if_set); /* one form, or "-" */
CELL(names);       /* "a,b" or "-" */
CELL(tags);        /* "a=b, c=d" */
CELL(data);        /* JSON; not null */
CELL(json);        /* its own bytes */
CELL(json_if_set); /* the same, nothing for null */

CELL(step_calls); /* "-" of steps that have no handler to call */
/* Of jobs. */
CELL(calls);
CELL(limit); /* milliseconds as a duration; nothing for 0 */
CELL(due);
CELL(deleted);

/* Of instances, their logs and signals, and of records of the dead letter queue. */
CELL(workflow);
CELL(generation);
CELL(took);
CELL(error);
CELL(caller);
CELL(signal);
CELL(why);
CELL(hint); /* the command that helps, if a person can */
CELL(reason);
CELL(where); /* the workflow, or of jobs the type */
CELL(step);  /* "charge (undo)" */
CELL(then);  /* what happens at a deadline, if there is one */

/* Of the overview: what is not 0, "-" if all is; sums of series; their longest times; types with their age. */
CELL(figures);
CELL(totals);
CELL(times);
CELL(waiting);

/* Of workflows and of the registry. */
CELL(kind);
CELL(hash);
CELL(enabled);

/* Of limits (cells_limit.c). */
CELL(count_if_set); /* nothing for 0 */
CELL(rate);         /* "100/1m" */
CELL(per_group);    /* "group" or "store" */
CELL(limit_line);   /* "mail.%: 2 at a time, 100/1m, for each group" */

/* Of schedules (cells_schedule.c). */
CELL(when);   /* "0 2 * * * Europe/Berlin" or "every 5m" */
CELL(starts); /* "workflow import" or "job ping.v1" */
CELL(next);   /* "in 3h", "paused" or "never" */
CELL(next_time);
CELL(next_line);
CELL(outcomes); /* of the latest runs, in words */
CELL(runs);     /* a line for each */
CELL(removed);

/* Columns that commands with code print. */
extern const struct column columns_doctor[], columns_instance[], columns_tokens[];

#endif
