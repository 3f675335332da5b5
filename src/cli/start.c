/* cli/start.c - cairn start: starts an instance; waits until it has ended, and prints what it is
 * waiting for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "base/clock.h"
#include "base/mem.h"
#include "cli/route.h"
#include "cli/say.h"
#include "cli/show.h"

#include <inttypes.h>
#include <string.h>

enum {
    HINT_MS = 3000, /* how often its steps are read, which may be many */
    HINT_STEPS = 5  /* at most this many are named */
};

/* One waiting. */
struct wait {
    const struct args *args;
    struct show_source source;
    const char *id;
    int64_t deadline_us; /* monotonic; INT64_MAX: none */
    int64_t hint_at_us;  /* monotonic: when the next hint may be given */
    struct buf hint;     /* the latest that was printed */
};

static void wait_done(struct wait *wait)
{
    show_source_done(&wait->source);
    buf_done(&wait->hint);
}

static void hint_ready(const json_t *step, int64_t now_us, struct buf *text)
{
    char at[RELATIVE_TEXT];
    int64_t next_us = time_of(step, "next_run_at");
    if (next_us > now_us) {
        relative_time(next_us, now_us, at);
        buf_printf(text, "is called%s %s", int_of(step, "attempts") ? " again" : "", at);
        if (*text_of(step, "error"))
            buf_printf(text, ": %s", text_of(step, "error"));
    } else if (*text_of(step, "handler")) {
        buf_str(text, "is ready, but no worker has claimed it: cairn work --handle ");
        cleanup(buf_donep) struct buf handle = {0};
        buf_printf(&handle, "%s=COMMAND", text_of(step, "handler"));
        shell_word(text, buf_text(&handle));
    } else {
        buf_str(text, "is ready, but no worker has claimed it");
    }
}

/* Nothing is said of other steps. */
static void hint_step(const char *id, const json_t *step, int64_t now_us, struct buf *text)
{
    const char *worker = text_of(step, "locked_by"), *event = text_of(step, "waiting_event");
    const char *until = text_of(step, "deadline_at");
    if (is_word(step, "status", "compensation") && *worker) {
        buf_printf(text, "is being undone by worker %s", worker);
    } else if (is_word(step, "status", "compensation")) {
        buf_str(text, "is to be undone, but no worker has claimed that");
    } else if (is_word(step, "status", "running")) {
        buf_printf(text, "is running: call %" PRId64 " of %" PRId64 ", worker %s",
                   int_of(step, "attempts") + 1, int_of(step, "max_attempts"), worker);
    } else if (is_word(step, "status", "ready")) {
        hint_ready(step, now_us, text);
    } else if (is_word(step, "status", "waiting") && !*event) {
        buf_printf(text, "sleeps until %s", *until ? until : text_of(step, "next_run_at"));
    } else if (is_word(step, "status", "waiting")) {
        buf_printf(text, "waits for the event %s%s%s: ", event, *until ? " until " : "", until);
        command_for_step(id, step, text);
    } else if (is_word(step, "status", "waiting_decision")) {
        buf_str(text, "waits for a decision: ");
        command_for_step(id, step, text);
    }
}

static void hint_steps(const char *id, const json_t *steps, int64_t now_us, struct buf *text)
{
    size_t i, count = 0;
    json_t *step;
    json_array_foreach(steps, i, step)
    {
        cleanup(buf_donep) struct buf line = {0};
        if (!step_is_remembered(step))
            hint_step(id, step, now_us, &line);
        if (line.len && count++ < HINT_STEPS)
            buf_printf(text, "step \"%s\" %s\n", text_of(step, "name"), buf_text(&line));
    }
    if (count > HINT_STEPS)
        buf_printf(text, "and %zu more steps\n", count - HINT_STEPS);
}

/* Lines; nothing if there is nothing to say. */
static void hint_instance(const struct show_state *state, const char *id, struct buf *text)
{
    const json_t *instance = state->instance.tree;
    if (is_word(instance, "status", "pending"))
        buf_printf(text, "it starts at %s\n", text_of(instance, "start_at"));
    else if (is_word(instance, "status", "paused"))
        buf_printf(text, "it is paused: cairn resume %s\n", id);
    else if (is_word(instance, "status", "dlq"))
        buf_str(text, "a step has failed for good and is in the dead letter queue: "
                      "cairn dlq list\n");
    else
        hint_steps(id, state->steps, state->now_us, text);
}

static void read_hint(struct wait *wait, struct buf *text)
{
    cleanup(show_state_done) struct show_state state = {0};
    if (show_state_read(&wait->source, wait->id, &state))
        return;
    show_state_complete(&wait->source, &state);
    hint_instance(&state, wait->id, text);
}

static void print_hint(const struct buf *text)
{
    for (const char *at = buf_text(text); *at;) {
        size_t len = strcspn(at, "\n");
        say_more("%.*s", (int)len, at);
        at += len + 1;
    }
}

/* Said again only when it has changed. */
static void tell_hint(struct wait *wait, const char *status)
{
    cleanup(buf_donep) struct buf text = {0};
    if (monotonic_us() < wait->hint_at_us)
        return;
    wait->hint_at_us = monotonic_us() + HINT_MS * US_PER_MS;
    read_hint(wait, &text);
    if (strcmp(buf_text(&text), buf_text(&wait->hint)) == 0)
        return;
    say_error("still waiting: %s is %s", wait->id, status);
    print_hint(&text);
    buf_reset(&wait->hint);
    buf_str(&wait->hint, buf_text(&text));
}

/* "completed", or the status and the error. */
static int tell_end(const struct args *args, const struct answer *answer)
{
    const char *status = text_of(answer->tree, "status");
    const json_t *error = json_object_get(answer->tree, "last_error");
    bool is_completed = is_word(answer->tree, "status", "completed");
    if (args_wants(args, "json")) {
        print_body(answer);
    } else {
        cleanup(buf_donep) struct buf why = {0};
        const char *message = is_completed ? "" : text_of(error, "message");
        if (*message) {
            buf_printf(&why, ": step \"%s\": ", text_of(error, "step"));
            buf_clean(&why, message, strlen(message));
        }
        fprintf(stderr, "%s%s\n", status, buf_text(&why));
    }
    return is_completed ? EXIT_DONE : EXIT_NO;
}

static int tell_timeout(struct wait *wait, const struct answer *answer)
{
    cleanup(buf_donep) struct buf text = {0};
    if (args_wants(wait->args, "json"))
        print_body(answer);
    read_hint(wait, &text);
    say_error("the timeout of %s has passed: %s is %s", args_text(wait->args, "timeout"),
              wait->id, text_of(answer->tree, "status"));
    print_hint(&text);
    return EXIT_LATE;
}

/* The instance, when it has ended or after a while. */
static int read_instance(const struct wait *wait, int64_t left_us, struct answer *ret_answer)
{
    cleanup(buf_donep) struct buf target = {0};
    int64_t wait_ms = left_us <= 0 ? 0 : left_us / US_PER_MS + 1;
    target_path(&target, "/v1/instances/{}", wait->id, NULL);
    buf_printf(&target, "?wait_ms=%" PRId64, wait_ms > HINT_MS ? HINT_MS : wait_ms);
    return call(wait->source.engine, "GET", buf_text(&target), NULL, ret_answer);
}

/* Waits until the instance has ended or --timeout has passed.  EXIT_DONE: it completed; EXIT_NO: it
 * ended otherwise; EXIT_LATE: the timeout passed. */
static int wait_for_instance(const struct args *args, cairn_engine *engine, const char *id)
{
    int64_t begin_us = monotonic_us();
    cleanup(wait_done) struct wait wait = {
        .args = args,
        .source.engine = engine,
        .id = id,
        .hint_at_us = begin_us + HINT_MS * US_PER_MS,
        .deadline_us = INT64_MAX,
    };
    if (args_has(args, "timeout"))
        wait.deadline_us = instant_add(begin_us, args_number(args, "timeout", 0) * US_PER_MS);
    for (;;) {
        cleanup(answer_done) struct answer answer = {0};
        int64_t left_us = wait.deadline_us - monotonic_us();
        TRY(read_instance(&wait, left_us, &answer));
        const char *status = text_of(answer.tree, "status");
        if (status_is_final(status))
            return tell_end(args, &answer);
        if (left_us <= 0)
            return tell_timeout(&wait, &answer);
        tell_hint(&wait, status);
    }
}

/* What was given is checked before the store is opened, which may create it. */
int run_start(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    cleanup(buf_donep) struct buf body = {0};
    cleanup(answer_done) struct answer answer = {0};
    struct json_out out = {.buf = &body};
    int64_t start_at_us = 0;
    json_open(&out, '{');
    TRY(write_members(args, &out));
    TRY(store_open_for(args, &engine));
    TRY(read_delay(args, engine, &start_at_us));
    if (start_at_us)
        json_time(json_key(&out, "start_at"), start_at_us);
    json_close(&out, '}');
    TRY(call(engine, "POST", "/v1/instances", buf_text(&body), &answer));
    bool is_waiting = args_has(args, "wait");
    if (!is_waiting ||
        !args_wants(args, "json")) /* with --wait the ended instance is printed */
        print_created(args, &answer);
    fflush(stdout);
    return is_waiting ? wait_for_instance(args, engine, text_of(answer.tree, "id")) : EXIT_DONE;
}
