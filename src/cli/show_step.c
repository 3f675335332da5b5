/* cli/show_step.c - what a step's line says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/print.h"
#include "cli/show.h"
#include "cli/why.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- states ------------------------------------------------------------------------------ */

/* The most urgent first. */
static const struct look looks[] = {
    {"failed", "✗", "\033[31m", true},        {"rejected", "✗", "\033[31m", true},
    {"paused", "‖", "\033[33m", true},        {"waiting_decision", "…", "\033[33m", true},
    {"compensation", "↩", "\033[35m", false}, {"running", "●", "\033[36m", false},
    {"waiting", "…", "\033[33m", false},      {"ready", "○", "\033[33m", false},
    {"pending", "○", COLOUR_DIM, false},      {"rolled_back", "↩", "\033[35m", false},
    {"completed", "✓", "\033[32m", false},    {"confirmed", "✓", "\033[32m", false},
    {"skipped", "–", COLOUR_DIM, false},
};

size_t look_count(void)
{
    return sizeof looks / sizeof *looks;
}

const struct look *look_at(size_t urgency)
{
    return &looks[urgency];
}

/* What a status of instances looks like that steps do not have. */
static const struct {
    const char *status, *like;
} likes[] = {{"waiting_signal", "waiting"},
             {"compensating", "compensation"},
             {"dlq", "paused"},
             {"cancelled", "rolled_back"},
             {"aborted", "skipped"}};

size_t look_urgency(const char *status)
{
    for (size_t i = 0; i < sizeof likes / sizeof *likes; i++)
        if (strcmp(likes[i].status, status) == 0)
            status = likes[i].like;
    for (size_t i = 0; i < look_count(); i++)
        if (strcmp(looks[i].status, status) == 0)
            return i;
    return look_count() - 1;
}

static bool has_status(const json_t *step, const char *status)
{
    return is_word(step, "status", status);
}

static bool has_kind(const json_t *step, const char *kind)
{
    return is_word(step, "kind", kind);
}

/* The fork's own row has ended as soon as its branches may begin. */
const char *shown_status(const struct show_state *state, const struct show_node *node)
{
    bool is_open = node->has_branches && has_status(node->step, "completed") &&
                   has_status(node->last->step, "pending") && !show_is_ended(state);
    return is_open ? "running" : text_of(node->child ? node->child : node->step, "status");
}

/* ---- functions --------------------------------------------------------------------------- */

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

static const char *shown_mismatch(const struct show_state *state)
{
    static const char word[] = "version_mismatch";
    const json_t *error = json_object_get(state->instance.tree, "last_error");
    const char *message = text_of(error, "message");
    bool is_it = is_word(state->instance.tree, "status", "paused") &&
                 strncmp(message, word, sizeof word - 1) == 0;
    return is_it ? message : "";
}

/* Its row keeps the error of a lease that was lost, though passages since then have gone well. */
const char *function_error(const struct show_state *state, const json_t *step)
{
    const char *mismatch = shown_mismatch(state);
    bool is_going = word_in("ready running waiting", text_of(step, "status"));
    if (*mismatch)
        return mismatch;
    return is_going && int_of(step, "attempts") == 0 ? "" : text_of(step, "error");
}

/* ---- name -------------------------------------------------------------------------------- */

void shown_name(const struct show_node *node, struct buf *text)
{
    const char *kind = text_of(node->step, "kind");
    const char *join = text_of(node->element, "join");
    bool is_map = json_object_get(node->element, "map") || is_true(node->nested, "is_map");
    if (node->child) {
        buf_str(text, text_of(node->child, "workflow"));
        return;
    }
    buf_str(text, text_of(node->step, "name"));
    if (is_map)
        buf_str(text, " (map)");
    else if (strcmp(kind, "join") == 0 && node->element)
        buf_printf(text, " (join %s)", *join ? join : "all");
    else if (strcmp(kind, "fork") == 0 && json_object_get(node->element, "parallel"))
        buf_str(text, " (parallel)");
    else if (strcmp(kind, "save_point") == 0)
        buf_str(text, " (save point)");
    else if (strcmp(kind, "task") != 0)
        buf_printf(text, " (%s)", kind);
}

/* ---- duration ---------------------------------------------------------------------------- */

/* How long it took, or takes until now; nothing for what takes no time. */
void shown_took(const struct show_state *state, const json_t *step, struct buf *text)
{
    int64_t from_us = time_of(step, "started_at"), to_us = time_of(step, "finished_at");
    bool is_lasting = word_in("task wait sleep human", text_of(step, "kind"));
    bool is_open = word_in("running waiting waiting_decision", text_of(step, "status"));
    if (step_is_remembered(step) && has_kind(step, "task"))
        return; /* only its end is recorded */
    if (is_lasting && from_us && (to_us || is_open))
        buf_duration(text, (to_us ? to_us : state->now_us) - from_us);
}

/* ---- note -------------------------------------------------------------------------------- */

/* After a comma, if there is something before it. */
static void add_part(struct buf *text, const char *words, const char *value)
{
    buf_printf(text, "%s%s%s", text->len ? ", " : "", words, value);
}

static const json_t *record_of(const struct show_state *state, const json_t *step)
{
    return json_object_get(state->dlq, text_of(step, "id"));
}

static const json_t *compensation_of(const struct show_node *node)
{
    return json_object_get(node->element, "compensation");
}

/* As docs/workflow-files.md gives the defaults. */
static long long undo_attempts_max(const struct show_node *node)
{
    const json_t *compensation = compensation_of(node);
    const json_t *given = json_object_get(compensation, "max_attempts");
    if (given)
        return json_integer_value(given);
    return json_is_false(json_object_get(compensation, "idempotent")) ? 1 : 3;
}

/* The number of calls, if one is under way or has failed. */
static void note_calls(const json_t *step, struct buf *text)
{
    char calls[CALLS_TEXT];
    int64_t failed = int_of(step, "attempts"), max = int_of(step, "max_attempts");
    bool is_task = *text_of(step, "handler") || has_status(step, "failed");
    if (!is_task || (!failed && !has_status(step, "running")))
        return;
    calls_text(failed, step_is_called(step), max, calls);
    add_part(text, calls, max == 1 ? " call" : " calls");
}

static void note_undo_calls(const struct show_node *node, struct buf *text)
{
    char calls[CALLS_TEXT];
    const json_t *step = node->step;
    int64_t failed = int_of(step, "compensation_attempts");
    bool is_under_way = has_status(step, "compensation") && *text_of(step, "locked_by");
    if (!failed && !is_under_way)
        return;
    if (compensation_of(node)) {
        calls_text(failed, is_under_way || has_status(step, "rolled_back"),
                   undo_attempts_max(node), calls);
        add_part(text, "undo ", calls);
        buf_str(text, " calls");
    } else {
        add_part(text, "undo failed", "");
        buf_printf(text, " %" PRId64 " times", failed);
    }
}

/* A function's attempts are leases that were lost in a row. */
static void note_attempts(const struct show_node *node, struct buf *text)
{
    char lost[CALLS_TEXT];
    int64_t failed = int_of(node->step, "attempts");
    calls_text(failed, false, int_of(node->step, "max_attempts"), lost);
    if (!step_is_function(node->step))
        note_calls(node->step, text);
    else if (failed)
        add_part(text, lost, " leases lost");
    note_undo_calls(node, text);
}

static void note_undo(const struct show_state *state, const struct show_node *node,
                      struct buf *text)
{
    const json_t *step = node->step, *compensation = compensation_of(node);
    bool is_task = *text_of(step, "handler") != '\0';
    bool is_failed =
        has_status(step, "failed") && (is_true(record_of(state, step), "is_undo") ||
                                       int_of(step, "compensation_attempts") > 0);
    if (has_status(step, "rolled_back") && node->element && is_task && compensation)
        add_part(text, "undone by ", text_of(compensation, "handler"));
    else if (has_status(step, "rolled_back") && node->element && is_task)
        add_part(text, "nothing to undo", "");
    else if (has_status(step, "compensation") || is_failed)
        add_part(text, is_failed ? "cannot be undone" : "being undone", "");
}

/* The next call of a step of a function: which of the calls after the first, and when. */
static void note_retry(const struct show_state *state, const json_t *step, struct buf *text)
{
    char at[BOTH_TEXT];
    int64_t next_us = time_of(step, "next_run_at");
    add_part(text, "retry ", "");
    buf_printf(text, "%" PRId64 " of %" PRId64, int_of(step, "attempts"),
               int_of(step, "max_attempts") - 1);
    if (!next_us)
        return;
    both_times(next_us, state->now_us, at);
    buf_printf(text, " at %s", at);
}

static void note_value(const json_t *step, struct buf *text)
{
    const json_t *value = json_object_get(step, "output");
    cleanup(buf_donep) struct buf json = {0};
    if (value)
        json_print(&json, value);
    add_part(text, buf_text(&json), "");
}

/* The input names the workflow or the type, if the code has kept it. */
static void note_started(const json_t *step, struct buf *text)
{
    const json_t *input = json_object_get(step, "input");
    const char *words = *text_of(input, "workflow") ? "started instance "
                        : *text_of(input, "type")   ? "started job "
                                                    : "started ";
    add_part(text, words, text_of(json_object_get(step, "output"), "id"));
}

/* What the code of a function has done at this step; of the steps of workflows only a start that is
 * not waited for. */
static void note_remembered(const struct show_state *state, const struct show_node *node,
                            struct buf *text)
{
    const json_t *step = node->step;
    bool is_left = json_is_false(json_object_get(node->element, "wait"));
    bool is_function = step_is_function(json_array_get(state->steps, 0));
    if (!step_is_remembered(step) || !(is_function || is_left))
        return;
    if (has_status(step, "ready"))
        note_retry(state, step, text);
    else if (has_status(step, "completed") && has_kind(step, "value"))
        note_value(step, text);
    else if (has_status(step, "completed") && has_kind(step, "start"))
        note_started(step, text);
}

static void note_later(const struct show_state *state, const json_t *step, struct buf *text)
{
    char relative[RELATIVE_TEXT];
    int64_t next_us = time_of(step, "next_run_at");
    bool is_queued = word_in("ready compensation", text_of(step, "status"));
    if (!is_queued || step_is_remembered(step) || *text_of(step, "locked_by") ||
        next_us <= state->now_us)
        return;
    relative_time(next_us, state->now_us, relative);
    add_part(text, int_of(step, "attempts") ? "again " : "", relative);
}

static void note_waiting(const struct show_state *state, const json_t *step, struct buf *text)
{
    char until[BOTH_TEXT];
    const char *event = text_of(step, "waiting_event");
    int64_t deadline_us = time_of(step, "deadline_at");
    if (!word_in("waiting waiting_decision", text_of(step, "status")))
        return;
    if (has_status(step, "waiting") && *event)
        add_part(text, "for ", event);
    if (!deadline_us && has_kind(step, "sleep"))
        deadline_us = time_of(step, "next_run_at");
    if (!deadline_us)
        return;
    both_times(deadline_us, state->now_us, until);
    add_part(text, "until ", until);
}

/* "01a1...: charge: Waits for a worker.", or how it failed. */
static void note_child(const json_t *child, struct buf *text)
{
    const json_t *why = json_object_get(child, "why");
    const json_t *error = json_object_get(child, "last_error");
    bool is_ended = status_is_final(text_of(child, "status"));
    const char *step = text_of(is_ended ? error : why, "step");
    cleanup(buf_donep) struct buf words = {0};
    if (is_ended)
        buf_str(&words, text_of(error, "message"));
    else
        why_fill(why, &words);
    buf_str(text, text_of(child, "id"));
    /* What it waits for itself is drawn below it. */
    bool is_drawn = json_array_size(json_object_get(child, "below")) &&
                    word_in("child mapping", text_of(why, "code"));
    if (is_word(child, "status", "completed") || !words.len || (is_drawn && !is_ended))
        return;
    add_part(text, step, *step ? ": " : "");
    buf_str(text, buf_text(&words));
}

void shown_note(const struct show_state *state, const struct show_node *node, struct buf *text)
{
    const json_t *step = node->step, *record = record_of(state, step);
    if (node->child) {
        note_child(node->child, text);
        return;
    }
    if (*text_of(node->nested, "note"))
        add_part(text, text_of(node->nested, "note"), "");
    note_attempts(node, text);
    note_undo(state, node, text);
    note_later(state, step, text);
    note_remembered(state, node, text);
    note_waiting(state, step, text);
    if (*text_of(step, "locked_by"))
        add_part(text, "by ", text_of(step, "locked_by"));
    if (record)
        add_part(text, "DLQ record ", text_of(record, "id"));
    if (has_kind(step, "condition") && *text_of(node->element, "when"))
        add_part(text, text_of(node->element, "when"), "");
}

/* ---- hint -------------------------------------------------------------------------------- */

void command_for_step(const char *id, const json_t *step, struct buf *text)
{
    bool is_decision = has_status(step, "waiting_decision");
    buf_printf(text, "cairn %s %s ", is_decision ? "approve" : "signal", id);
    buf_shell(text, text_of(step, is_decision ? "name" : "waiting_event"));
    buf_str(text, is_decision ? " --by WHO" : "");
}

/* The command that lets it continue, if it waits for a person. */
void shown_hint(const struct show_state *state, const struct show_node *node, struct buf *text)
{
    const json_t *step = node->step, *record = record_of(state, step);
    const char *id = text_of(state->instance.tree, "id");
    bool is_event = has_status(step, "waiting") && *text_of(step, "waiting_event");
    if (is_event || has_status(step, "waiting_decision"))
        command_for_step(id, step, text);
    else if (record)
        buf_printf(text, "cairn dlq requeue %s", text_of(record, "id"));
    else if (step_is_function(step) && *shown_mismatch(state))
        buf_printf(text, "cairn resume %s --force", id);
}
