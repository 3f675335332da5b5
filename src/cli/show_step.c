/* cli/show_step.c - what a step's line says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/print.h"
#include "cli/show.h"

#include <ctype.h>
#include <inttypes.h>
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

size_t look_urgency(const char *status)
{
    for (size_t i = 0; i < look_count(); i++)
        if (strcmp(looks[i].status, status) == 0)
            return i;
    return look_count() - 1;
}

static bool has_status(const json_t *step, const char *status)
{
    return strcmp(text_of(step, "status"), status) == 0;
}

/* The fork's own row has ended as soon as its branches may begin. */
const char *shown_status(const struct show_state *state, const struct show_node *node)
{
    bool is_open = node->has_branches && has_status(node->step, "completed") &&
                   has_status(node->last->step, "pending") && !show_is_ended(state);
    return is_open ? "running" : text_of(node->step, "status");
}

/* ---- name -------------------------------------------------------------------------------- */

void shown_name(const struct show_node *node, struct buf *text)
{
    const char *kind = text_of(node->step, "kind");
    const char *join = text_of(node->element, "join");
    buf_str(text, text_of(node->step, "name"));
    if (strcmp(kind, "join") == 0 && node->element)
        buf_printf(text, " (join %s)", *join ? join : "all");
    else if (strcmp(kind, "fork") == 0 && json_object_get(node->element, "parallel"))
        buf_str(text, " (parallel)");
    else if (strcmp(kind, "save_point") == 0)
        buf_str(text, " (save point)");
    else if (strcmp(kind, "task") != 0)
        buf_printf(text, " (%s)", kind);
}

/* ---- duration ---------------------------------------------------------------------------- */

void duration_text(int64_t us, struct buf *text)
{
    long long ms = us > 0 ? us / US_PER_MS : 0, sec = ms / 1000;
    if (sec < 1)
        buf_printf(text, "%lldms", ms);
    else if (sec < 60)
        buf_printf(text, "%lld.%llds", sec, ms % 1000 / 100);
    else if (sec < 3600)
        buf_printf(text, "%lldm %llds", sec / 60, sec % 60);
    else if (sec < 86400)
        buf_printf(text, "%lldh %lldm", sec / 3600, sec % 3600 / 60);
    else
        buf_printf(text, "%lldd %lldh", sec / 86400, sec % 86400 / 3600);
}

/* How long it took, or takes until now; nothing for what takes no time. */
void shown_took(const struct show_state *state, const json_t *step, struct buf *text)
{
    static const char *const lasting[] = {"task", "wait", "sleep", "human"};
    int64_t from_us = time_of(step, "started_at"), to_us = time_of(step, "finished_at");
    bool is_lasting = false;
    for (size_t i = 0; i < sizeof lasting / sizeof *lasting; i++)
        is_lasting |= strcmp(text_of(step, "kind"), lasting[i]) == 0;
    if (step_is_remembered(step) && strcmp(text_of(step, "kind"), "task") == 0)
        return; /* it is told when it has ended, not when it began */
    bool is_open = has_status(step, "running") || has_status(step, "waiting") ||
                   has_status(step, "waiting_decision");
    if (is_lasting && from_us && (to_us || is_open))
        duration_text((to_us ? to_us : state->now_us) - from_us, text);
}

/* ---- note -------------------------------------------------------------------------------- */

void part(struct buf *text)
{
    buf_str(text, text->len ? ", " : "");
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

/* A handler's own wait goes on with the same call. */
static bool is_called(const json_t *step)
{
    bool is_undone = has_status(step, "rolled_back") || has_status(step, "compensation");
    return has_status(step, "running") || has_status(step, "completed") ||
           has_status(step, "waiting") || (is_undone && !*text_of(step, "error"));
}

/* How often the handler was called, once that is worth a word: a call is under way, or one has
 * failed. */
static void note_calls(const json_t *step, struct buf *text)
{
    char calls[CALLS_TEXT];
    int64_t failed = int_of(step, "attempts"), max = int_of(step, "max_attempts");
    bool is_task = *text_of(step, "handler") || has_status(step, "failed");
    if (!is_task || (!failed && !has_status(step, "running")))
        return;
    part(text);
    calls_text(failed, is_called(step), max, calls);
    buf_printf(text, "%s %s", calls, max == 1 ? "call" : "calls");
}

static void note_undo_calls(const struct show_node *node, struct buf *text)
{
    char calls[CALLS_TEXT];
    const json_t *step = node->step;
    int64_t failed = int_of(step, "compensation_attempts");
    bool is_under_way = has_status(step, "compensation") && *text_of(step, "locked_by");
    if (!failed && !is_under_way)
        return;
    part(text);
    if (compensation_of(node)) {
        calls_text(failed, is_under_way || has_status(step, "rolled_back"),
                   undo_attempts_max(node), calls);
        buf_printf(text, "undo %s calls", calls);
    } else {
        buf_printf(text, "undo failed %" PRId64 " times", failed);
    }
}

/* A function's attempts are leases that were lost in a row. */
static void note_attempts(const struct show_node *node, struct buf *text)
{
    long long failed = int_of(node->step, "attempts");
    if (!step_is_function(node->step)) {
        note_calls(node->step, text);
    } else if (failed) {
        part(text);
        buf_printf(text, "%lld/%lld leases lost", failed,
                   (long long)int_of(node->step, "max_attempts"));
    }
    note_undo_calls(node, text);
}

static void note_undo(const struct show_state *state, const struct show_node *node,
                      struct buf *text)
{
    const json_t *step = node->step, *compensation = compensation_of(node);
    bool is_task = *text_of(step, "handler") != '\0';
    bool is_parked = json_is_true(json_object_get(record_of(state, step), "is_undo"));
    bool is_failed =
        has_status(step, "failed") && (is_parked || int_of(step, "compensation_attempts") > 0);
    if (has_status(step, "rolled_back") && node->element && is_task) {
        part(text);
        if (compensation)
            buf_printf(text, "undone by %s", text_of(compensation, "handler"));
        else
            buf_str(text, "nothing to undo");
    } else if (has_status(step, "compensation") || is_failed) {
        part(text);
        buf_str(text, is_failed ? "cannot be undone" : "being undone");
    }
}

static void note_later(const struct show_state *state, const json_t *step, struct buf *text)
{
    char relative[RELATIVE_TEXT];
    int64_t next_us = time_of(step, "next_run_at");
    bool is_queued = has_status(step, "ready") || has_status(step, "compensation");
    if (!is_queued || step_is_remembered(step) || *text_of(step, "locked_by") ||
        next_us <= state->now_us)
        return;
    part(text);
    relative_time(next_us, state->now_us, relative);
    buf_printf(text, "%s%s", int_of(step, "attempts") ? "again " : "", relative);
}

static void note_waiting(const struct show_state *state, const json_t *step, struct buf *text)
{
    char until[BOTH_TEXT];
    const char *event = text_of(step, "waiting_event");
    int64_t deadline_us = time_of(step, "deadline_at");
    bool is_event = has_status(step, "waiting") && *event;
    if (!has_status(step, "waiting") && !has_status(step, "waiting_decision"))
        return;
    if (is_event) {
        part(text);
        buf_printf(text, "for %s", event);
    }
    if (!deadline_us && strcmp(text_of(step, "kind"), "sleep") == 0)
        deadline_us = time_of(step, "next_run_at");
    if (deadline_us) {
        part(text);
        both_times(deadline_us, state->now_us, until);
        buf_printf(text, "until %s", until);
    }
}

static void note_worker(const json_t *step, struct buf *text)
{
    const char *worker = text_of(step, "locked_by");
    if (!*worker)
        return;
    part(text);
    buf_printf(text, "by %s", worker);
}

static void note_record(const struct show_state *state, const json_t *step, struct buf *text)
{
    const json_t *record = record_of(state, step);
    if (!record)
        return;
    part(text);
    buf_printf(text, "DLQ record %s", text_of(record, "id"));
}

/* What a person would ask next: how often, by whom, until when.  The error is told apart. */
void shown_note(const struct show_state *state, const struct show_node *node, struct buf *text)
{
    const json_t *step = node->step;
    note_attempts(node, text);
    note_undo(state, node, text);
    note_later(state, step, text);
    note_remembered(state, step, text);
    note_waiting(state, step, text);
    note_worker(step, text);
    note_record(state, step, text);
    if (strcmp(text_of(step, "kind"), "condition") == 0 && *text_of(node->element, "when")) {
        part(text);
        buf_str(text, text_of(node->element, "when"));
    }
}

/* ---- hint -------------------------------------------------------------------------------- */

void shell_word(struct buf *text, const char *word)
{
    bool is_plain = *word != '\0' && *word != '-';
    for (const unsigned char *at = (const unsigned char *)word; *at; at++)
        is_plain = is_plain && (isalnum(*at) || strchr("_-.:/@%+", *at));
    if (is_plain) {
        buf_str(text, word);
        return;
    }
    buf_char(text, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            buf_str(text, "'\\''");
        else
            buf_char(text, *word);
    }
    buf_char(text, '\'');
}

/* The command that moves it on, if it waits for a person. */
void shown_hint(const struct show_state *state, const struct show_node *node, struct buf *text)
{
    const json_t *step = node->step, *record = record_of(state, step);
    const char *id = text_of(state->instance.tree, "id"),
               *event = text_of(step, "waiting_event");
    if (has_status(step, "waiting_decision")) {
        buf_printf(text, "cairn approve %s ", id);
        shell_word(text, text_of(step, "name"));
        buf_str(text, " --by WHO");
    } else if (has_status(step, "waiting") && *event) {
        buf_printf(text, "cairn signal %s ", id);
        shell_word(text, event);
    } else if (record) {
        buf_printf(text, "cairn dlq requeue %s", text_of(record, "id"));
    } else if (step_is_function(step) && *shown_mismatch(state)) {
        buf_printf(text, "cairn resume %s --force", id);
    }
}
