/* cli/cells.c - the cells of tables: what is printed of a member of an answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cells.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

CELL(int)
{
    buf_printf(text, "%" PRId64, int_of(item->tree, key));
}

CELL(yes)
{
    buf_str(text, is_true(item->tree, key) ? "yes" : "no");
}

CELL(ago)
{
    char relative[RELATIVE_TEXT];
    relative_time(time_of(item->tree, key), item->now_us, relative);
    buf_str(text, relative);
}

/* The same; nothing for null. */
CELL(ago_if_set)
{
    if (time_of(item->tree, key))
        cell_ago(item, key, text);
}

/* yes, no, or not known. */
CELL(served)
{
    bool is_known = !json_is_null(json_object_get(item->tree, key));
    buf_str(text, !is_known ? "?" : is_true(item->tree, key) ? "yes" : "no");
}

CELL(where)
{
    const char *workflow = text_of(item->tree, key);
    buf_str(text, *workflow ? workflow : text_of(item->tree, "type"));
}

CELL(step)
{
    buf_str(text, text_of(item->tree, key));
    buf_str(text, is_true(item->tree, "is_undo") ? " (undo)" : "");
}

CELL(then)
{
    if (time_of(item->tree, "deadline_at"))
        buf_str(text, text_of(item->tree, key));
}

CELL(time)
{
    char both[BOTH_TEXT];
    int64_t at_us = time_of(item->tree, key);
    if (!at_us)
        return;
    both_times(at_us, item->now_us, both);
    buf_str(text, both);
}

CELL(names)
{
    size_t i;
    json_t *name;
    json_array_foreach(json_object_get(item->tree, key), i, name)
    {
        buf_printf(text, "%s%s", i ? "," : "", json_string_value(name));
    }
    buf_str(text, text->len ? "" : "-");
}

/* As --tag takes them. */
CELL(tags)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(item->tree, key), name, value)
    {
        buf_printf(text, "%s%s=%s", text->len ? ", " : "", name, json_string_value(value));
    }
}

CELL(data)
{
    const json_t *data = json_object_get(item->tree, key);
    if (data && !json_is_null(data))
        json_print(text, data);
}

CELL(json)
{
    size_t len = 0;
    const char *json = body_member(item->answer, key, &len);
    if (json)
        buf_add(text, json, len);
}

CELL(json_if_set)
{
    if (!json_is_null(json_object_get(item->tree, key)))
        cell_json(item, key, text);
}

static void add_figure(struct buf *text, const char *name, int64_t n, const char *more)
{
    buf_printf(text, "%s%s %" PRId64 "%s", text->len ? ", " : "", name, n, more);
}

CELL(figures)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(item->tree, key), name, value)
    {
        const json_t *n = json_is_object(value) ? json_object_get(value, "n") : value;
        if (json_integer_value(n))
            add_figure(text, name, json_integer_value(n), is_true(value, "is_more") ? "+" : "");
    }
    buf_str(text, text->len ? "" : "-");
}

CELL(totals)
{
    static const char *const names[] = {"started", "completed", "failed", "tasks", "retried"};
    const json_t *series = json_object_get(item->tree, key);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t total = 0;
        size_t at;
        json_t *value;
        json_array_foreach(json_object_get(series, names[i]), at, value)
        {
            total += json_integer_value(value);
        }
        add_figure(text, names[i], total, "");
    }
}

CELL(times)
{
    static const char *const names[] = {"p50_ms", "p95_ms", "wait_p95_ms"};
    const json_t *series = json_object_get(item->tree, key);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t longest = -1;
        size_t at;
        json_t *value;
        json_array_foreach(json_object_get(series, names[i]), at, value)
        {
            if (json_is_integer(value) && json_integer_value(value) > longest)
                longest = json_integer_value(value);
        }
        if (longest >= 0)
            add_figure(text, names[i], longest, "");
    }
}

CELL(waiting)
{
    size_t i;
    json_t *type;
    json_array_foreach(json_object_get(item->tree, key), i, type)
    {
        char relative[RELATIVE_TEXT];
        bool is_unserved = json_is_false(json_object_get(type, "is_served"));
        if (!time_of(type, "oldest_ready_at"))
            continue;
        relative_time(time_of(type, "oldest_ready_at"), item->now_us, relative);
        add_figure(text, text_of(type, "type"), int_of(type, "ready"), "");
        buf_printf(text, " (%s%s)", relative, is_unserved ? ", no worker" : "");
    }
    buf_str(text, text->len ? "" : "-");
}

/* "1/3": calls of those that are allowed.  The column counts calls that failed; one that is under
 * way, or that succeeded, is added. */
CELL(calls)
{
    char calls[CALLS_TEXT];
    const json_t *job = item->tree;
    bool is_called =
        strcmp(text_of(job, "status"), "succeeded") == 0 || *text_of(job, "leased_by");
    calls_text(int_of(job, key), is_called, int_of(job, "max_attempts"), calls);
    buf_str(text, calls);
}

CELL(step_calls)
{
    char calls[CALLS_TEXT] = "-";
    const json_t *step = item->tree;
    if (word_in("task function", text_of(step, "kind")))
        calls_text(int_of(step, key), step_is_called(step), int_of(step, "max_attempts"),
                   calls);
    buf_str(text, calls);
}

/* When a pending job will be due. */
CELL(due)
{
    if (strcmp(text_of(item->tree, "status"), "pending") != 0)
        buf_str(text, "-");
    else if (time_of(item->tree, key) <= item->now_us)
        buf_str(text, "now");
    else
        cell_ago(item, key, text);
}

CELL(deleted)
{
    (void)item, (void)key;
    buf_str(text, "deleted");
}

/* The step whose code wrote the line, and the number of the call if it was not the first. */
CELL(caller)
{
    long long attempt = (long long)int_of(item->tree, "attempt");
    buf_str(text, text_of(item->tree, key));
    if (attempt > 1)
        buf_printf(text, ", call %lld", attempt);
}

CELL(signal)
{
    static const char *const words[] = {"existing", "taken", "kept"};
    (void)key;
    for (size_t i = 0; i < sizeof words / sizeof *words && !text->len; i++)
        buf_str(text, is_true(item->tree, words[i]) ? words[i] : "");
    buf_str(text, text->len ? "" : "dropped");
}

CELL(reason)
{
    bool is_undo = strncmp(text_of(item->tree, key), "compensation", 12) == 0;
    buf_str(text, is_undo ? "not undone" : "failed");
}

CELL(enabled)
{
    buf_str(text, is_true(item->tree, key) ? "enabled" : "disabled");
}

/* A function is code that workers have; a workflow has its steps in the file. */
CELL(kind)
{
    const json_t *definition = json_object_get(item->tree, key);
    buf_str(text, json_object_get(definition, "function") ? "function" : "workflow");
}

CELL(hash)
{
    buf_printf(text, "%.12s", text_of(item->tree, key));
}

CELL(workflow)
{
    buf_printf(text, "%s, version %" PRId64, text_of(item->tree, key),
               int_of(item->tree, "version"));
}

/* Only if it was restarted. */
CELL(time_if_set)
{
    int64_t at_us = time_of(item->tree, key);
    char at[INSTANT_TEXT] = "-";
    if (at_us)
        instant_format(at_us, at);
    buf_str(text, at);
}

CELL(limit)
{
    int64_t ms = int_of(item->tree, key);
    if (ms)
        buf_duration(text, ms * US_PER_MS);
}

CELL(generation)
{
    if (int_of(item->tree, key) > 1)
        cell_int(item, key, text);
}

CELL(took)
{
    int64_t from_us = time_of(item->tree, "started_at"), to_us = time_of(item->tree, key);
    if (from_us && to_us)
        buf_duration(text, to_us - from_us);
}

/* A hint is given where a person can help. */
static bool is_hint_wanted(const json_t *why, const json_t *action)
{
    return word_in("person stuck failing", text_of(why, "urgency")) ||
           strcmp(text_of(action, "action"), "signal") == 0;
}

CELL(why)
{
    buf_str(text, text_of(json_object_get(item->tree, key), "text"));
}

CELL(hint)
{
    const json_t *why = json_object_get(item->tree, key);
    const json_t *action = json_array_get(json_object_get(why, "actions"), 0);
    if (is_hint_wanted(why, action))
        buf_str(text, text_of(action, "cli"));
}

CELL(error)
{
    const json_t *error = json_object_get(item->tree, key);
    if (json_is_object(error))
        buf_printf(text, "%s: %s", text_of(error, "step"), text_of(error, "message"));
    if (int_of(error, "attempt"))
        buf_printf(text, " (call %" PRId64 ")", int_of(error, "attempt"));
}
