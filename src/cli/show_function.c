/* cli/show_function.c - what is special of functions: what they remember.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ● order (function)      running            by shop:4711:8f3a0c11
 *     ├─ ✓ reserve            completed
 *     ├─ ✓ uuid (value)       completed          "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f"
 *     ├─ ✓ invoice (start)    completed          started job 0192f0c1-...
 *     ├─ ✓ cool_off (sleep)   completed  10m 0s
 *     └─ ○ charge             ready              retry 1 of 2 at 2026-11-15T06:30:00.000Z (in 4s)
 */
#include "base/mem.h"
#include "cli/print.h"
#include "cli/show.h"

#include <stdlib.h>
#include <string.h>

static bool has_kind(const json_t *step, const char *kind)
{
    return strcmp(text_of(step, "kind"), kind) == 0;
}

bool step_is_function(const json_t *step)
{
    return has_kind(step, "function");
}

/* Tasks of workflows have a handler. */
bool step_is_remembered(const json_t *step)
{
    bool is_code = has_kind(step, "task") || has_kind(step, "value") || has_kind(step, "start");
    return is_code && !*text_of(step, "handler");
}

const char *shown_mismatch(const struct show_state *state)
{
    static const char word[] = "version_mismatch";
    const json_t *error = json_object_get(state->instance.tree, "last_error");
    const char *message = text_of(error, "message");
    bool is_it = strcmp(show_status(state), "paused") == 0 &&
                 strncmp(message, word, sizeof word - 1) == 0;
    return is_it ? message : "";
}

/* Its row keeps the error of a lease that was lost, though passages since then have gone well. */
const char *function_error(const struct show_state *state, const json_t *step)
{
    static const char *const going[] = {"ready", "running", "waiting"};
    const char *mismatch = shown_mismatch(state);
    if (*mismatch)
        return mismatch;
    for (size_t i = 0; i < sizeof going / sizeof *going; i++)
        if (strcmp(text_of(step, "status"), going[i]) == 0 && int_of(step, "attempts") == 0)
            return "";
    return text_of(step, "error");
}

/* Awaiting its next call: which of the calls after the first, and when. */
static void note_retry(const struct show_state *state, const json_t *step, struct buf *text)
{
    char at[BOTH_TEXT];
    int64_t next_us = time_of(step, "next_run_at");
    part(text);
    buf_printf(text, "retry %lld of %lld", (long long)int_of(step, "attempts"),
               (long long)int_of(step, "max_attempts") - 1);
    if (!next_us)
        return;
    both_times(next_us, state->now_us, at);
    buf_printf(text, " at %s", at);
}

static void note_value(const json_t *step, struct buf *text)
{
    const json_t *value = json_object_get(step, "output");
    char *json = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    part(text);
    buf_str(text, json ? json : "");
    free(json);
}

/* Its input says what was started, if its code has kept that. */
static void note_started(const json_t *step, struct buf *text)
{
    const json_t *input = json_object_get(step, "input");
    const char *what = *text_of(input, "workflow") ? "instance "
                       : *text_of(input, "type")   ? "job "
                                                   : "";
    part(text);
    buf_printf(text, "started %s%s", what, text_of(json_object_get(step, "output"), "id"));
}

void note_remembered(const struct show_state *state, const json_t *step, struct buf *text)
{
    const char *status = text_of(step, "status");
    if (!step_is_remembered(step))
        return;
    if (strcmp(status, "ready") == 0)
        note_retry(state, step, text);
    else if (strcmp(status, "completed") != 0)
        return;
    else if (has_kind(step, "value"))
        note_value(step, text);
    else if (has_kind(step, "start"))
        note_started(step, text);
}
