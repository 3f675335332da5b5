/* cli/logs.c - cairn logs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/events.h"

/* Time, level, who, message, data. */
static void print_log(const json_t *log)
{
    cleanup(buf_donep) struct buf start = {0}, who = {0};
    long long attempt = (long long)int_of(log, "attempt");
    buf_str(&who, text_of(log, "step"));
    if (attempt > 1)
        buf_printf(&who, ", call %lld", attempt);
    buf_printf(&start, "%s  %-5s  %-16s  %s", text_of(log, "at"), text_of(log, "level"),
               buf_text(&who), text_of(log, "message"));
    if (!json_is_null(json_object_get(log, "data")))
        buf_str(&start, "  ");
    print_entry(&start, json_object_get(log, "data"));
}

static int run_logs(const struct args *args)
{
    static const struct feed logs = {"/v1/instances/", "/logs", print_log};
    return feed_run(args, &logs);
}

const struct command command_logs = {
    .name = "logs",
    .operands = "ID",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "tell what a function has logged, oldest first",
    .about =
        "A line has the time, the level, the step whose code logged it (empty: the function "
        "itself) with the number of the call if it was not the first, the message, and data "
        "as JSON. Lines are kept with the commit that remembers the step, so what a crash "
        "has repeated is there once.",
    .example = "cairn logs 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f --follow",
    .options = feed_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_logs,
};
