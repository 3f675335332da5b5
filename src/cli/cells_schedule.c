/* cli/cells_schedule.c - the cells of schedules.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cells.h"

#include "base/clock.h"

#include <inttypes.h>

CELL(when)
{
    if (json_is_null(json_object_get(item->tree, key))) {
        char every[DURATION_TEXT];
        duration_format(int_of(item->tree, "every_ms") * US_PER_MS, every);
        buf_printf(text, "every %s", every);
        return;
    }
    buf_printf(text, "%s %s", text_of(item->tree, key), text_of(item->tree, "timezone"));
}

CELL(starts)
{
    const char *workflow = text_of(item->tree, key);
    if (*workflow)
        buf_printf(text, "workflow %s", workflow);
    else
        buf_printf(text, "job %s", text_of(item->tree, "task"));
    if (int_of(item->tree, "version"))
        buf_printf(text, " version %" PRId64, int_of(item->tree, "version"));
}

/* Why there is no next time; NULL: there is one. */
static const char *no_next(const struct item *item, const char *key)
{
    if (is_true(item->tree, "paused"))
        return "paused";
    return time_of(item->tree, key) ? NULL : "never";
}

CELL(next)
{
    if (no_next(item, key))
        buf_str(text, no_next(item, key));
    else
        cell_ago(item, key, text);
}

CELL(next_time)
{
    if (no_next(item, key))
        buf_str(text, no_next(item, key));
    else
        cell_time(item, key, text);
}

CELL(next_line)
{
    if (no_next(item, key))
        buf_str(text, no_next(item, key));
    else
        buf_printf(text, "next at %s", text_of(item->tree, key));
}

CELL(outcomes)
{
    size_t i;
    json_t *run;
    json_array_foreach(json_object_get(item->tree, key), i, run)
    {
        buf_printf(text, "%s%s", i ? "," : "", text_of(run, "status"));
    }
    buf_str(text, text->len ? "" : "-");
}

CELL(runs)
{
    size_t i;
    json_t *run;
    json_array_foreach(json_object_get(item->tree, key), i, run)
    {
        const char *id = text_of(run, "id"), *error = text_of(run, "error");
        buf_printf(text, "%s%s %s%s%s%s%s", i ? "; " : "", text_of(run, "at"),
                   text_of(run, "status"), *id ? " " : "", id, *error ? ": " : "", error);
    }
}

CELL(removed)
{
    (void)item, (void)key;
    buf_str(text, "removed");
}
