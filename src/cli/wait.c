/* cli/wait.c - cairn wait: waits until instances and jobs have ended, and prints what they are waiting
 * for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/wait.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/route.h"
#include "cli/say.h"
#include "cli/short_id.h"
#include "cli/why.h"

#include <inttypes.h>
#include <string.h>

enum { HINT_MS = 3000 }; /* how often it is asked what it waits for */

/* One waiting. */
struct wait {
    const struct args *args;
    cairn_engine *engine;
    enum wait_kind kind;
    const char *id;
    int64_t deadline_us; /* monotonic; INT64_MAX: none */
    int64_t hint_at_us;  /* monotonic: when the next hint may be given */
    struct buf hint;     /* the latest that was printed */
};

static struct wait wait_begin(const struct args *args, cairn_engine *engine, const char *id)
{
    return (struct wait){.args = args,
                         .engine = engine,
                         .id = id,
                         .hint_at_us = monotonic_us() + HINT_MS * US_PER_MS};
}

static void wait_done(struct wait *wait)
{
    buf_done(&wait->hint);
}

/* When --timeout passes, if it begins now. */
static int64_t read_deadline(const struct args *args)
{
    if (!args_has(args, "timeout"))
        return INT64_MAX;
    return instant_add(monotonic_us(), args_number(args, "timeout", 0) * US_PER_MS);
}

/* ---- hints ---------------------------------------------------------------------------------- */

/* Lines; nothing if it cannot be read. */
static void read_hint(struct wait *wait, struct buf *text)
{
    cleanup(why_done) struct why why = {0};
    if (!why_read(wait->engine, wait->id, &why))
        why_write(&why, "", text);
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
static void tell_hint(struct wait *wait, const json_t *row)
{
    cleanup(buf_donep) struct buf text = {0};
    if (monotonic_us() < wait->hint_at_us)
        return;
    wait->hint_at_us = monotonic_us() + HINT_MS * US_PER_MS;
    read_hint(wait, &text);
    if (strcmp(buf_text(&text), buf_text(&wait->hint)) == 0)
        return;
    say_error("still waiting: %s is %s", wait->id, text_of(row, "status"));
    print_hint(&text);
    buf_reset(&wait->hint);
    buf_str(&wait->hint, buf_text(&text));
}

static void tell_timeout(struct wait *wait, const json_t *row)
{
    cleanup(buf_donep) struct buf text = {0};
    read_hint(wait, &text);
    say_error("the timeout of %s has passed: %s is %s", args_text(wait->args, "timeout"),
              wait->id, text_of(row, "status"));
    print_hint(&text);
}

/* ---- waiting -------------------------------------------------------------------------------- */

/* The instance or job, when it has ended or after a while. */
static int read_row(struct wait *wait, int64_t left_us, struct answer *ret_answer)
{
    cleanup(buf_donep) struct buf target = {0};
    int64_t wait_ms = left_us <= 0 ? 0 : left_us / US_PER_MS + 1;
    target_path(&target, wait->kind == WAIT_JOB ? "/v1/jobs/{}" : "/v1/instances/{}", wait->id,
                NULL);
    buf_printf(&target, "?wait_ms=%" PRId64, wait_ms > HINT_MS ? HINT_MS : wait_ms);
    return call_unsaid(wait->engine, "GET", buf_text(&target), NULL, ret_answer);
}

/* The same, of the kind that it is found to be. */
static int find_row(struct wait *wait, int64_t left_us, struct answer *ret_answer)
{
    TRY(read_row(wait, left_us, ret_answer));
    if (ret_answer->status == 404 && wait->kind == WAIT_UNKNOWN) {
        answer_done(ret_answer);
        wait->kind = WAIT_JOB;
        TRY(read_row(wait, left_us, ret_answer));
        if (ret_answer->status == 404) {
            say_error("there is no instance or job %s", wait->id);
            if (*text_of(ret_answer->tree, "hint"))
                say_more("%s", text_of(ret_answer->tree, "hint"));
            return EXIT_NO;
        }
    }
    if (ret_answer->status >= 400)
        return say_rejected(ret_answer);
    if (wait->kind == WAIT_UNKNOWN)
        wait->kind = WAIT_INSTANCE;
    return EXIT_DONE;
}

/* Waits until it has ended or the deadline has passed.  *ret_answer is the row as it is then, or why
 * it cannot be read. */
static int wait_for(struct wait *wait, struct answer *ret_answer)
{
    for (;;) {
        int64_t left_us = wait->deadline_us - monotonic_us();
        TRY(find_row(wait, left_us, ret_answer));
        const char *status = text_of(ret_answer->tree, "status");
        if (status_is_final(status))
            return word_in("completed succeeded", status) ? EXIT_DONE : EXIT_NO;
        if (left_us <= 0) {
            tell_timeout(wait, ret_answer->tree);
            return EXIT_LATE;
        }
        tell_hint(wait, ret_answer->tree);
        answer_done(ret_answer);
        *ret_answer = (struct answer){0};
    }
}

/* "completed", or the status and the error. */
static void write_end(const struct wait *wait, const struct answer *answer, struct buf *text)
{
    const json_t *error = json_object_get(answer->tree, "last_error");
    const char *status = text_of(answer->tree, "status");
    const char *message = wait->kind == WAIT_JOB ? text_of(answer->tree, "last_error")
                                                 : text_of(error, "message");
    buf_str(text, status);
    if (!*message || word_in("completed succeeded", status) || !status_is_final(status))
        return;
    buf_str(text, ": ");
    if (wait->kind == WAIT_INSTANCE)
        buf_printf(text, "step \"%s\": ", text_of(error, "step"));
    buf_clean(text, message, strlen(message));
}

int print_created_and_wait(const struct args *args, cairn_engine *engine, enum wait_kind kind,
                           const struct answer *created)
{
    cleanup(answer_done) struct answer answer = {0};
    cleanup(buf_donep) struct buf end = {0};
    bool is_waiting = args_has(args, "wait"), is_json = args_wants(args, "json");
    bool may_change =
        args_has(args, "on-existing") || (kind == WAIT_JOB && args_has(args, "debounce"));
    if (!is_waiting || !is_json)
        print_created(args, created, may_change);
    fflush(stdout);
    if (!is_waiting)
        return EXIT_DONE;
    cleanup(wait_done) struct wait wait =
        wait_begin(args, engine, text_of(created->tree, "id"));
    wait.kind = kind;
    wait.deadline_us = read_deadline(args);
    int exit_code = wait_for(&wait, &answer);
    if (!answer.tree || answer.status >= 400)
        return exit_code;
    write_end(&wait, &answer, &end);
    if (is_json)
        print_body(&answer);
    else if (exit_code != EXIT_LATE)
        fprintf(stderr, "%s\n", buf_text(&end));
    return exit_code;
}

/* ---- the command ---------------------------------------------------------------------------- */

/* All ids of one command. */
struct waiting {
    const struct args *args;
    cairn_engine *engine;
    int64_t deadline_us; /* of all of them */
    int exit_code;       /* the highest so far */
    size_t count;        /* JSON objects that are printed */
};

static void print_ended(struct waiting *waiting, const struct wait *wait,
                        const struct answer *answer, int exit_code)
{
    cleanup(buf_donep) struct buf end = {0};
    bool is_read = answer->tree && answer->status < 400;
    bool is_list = ids_are_many(waiting->args);
    if (args_wants(waiting->args, "json")) {
        if (!is_read && !(is_list && answer->tree))
            return;
        fputs(waiting->count++ ? "," : "", stdout);
        if (is_read)
            fwrite(answer->body, 1, answer->len, stdout);
        else
            print_rejected(wait->id, answer->tree);
    } else if (is_read && args_wants(waiting->args, "ids")) {
        if (exit_code != EXIT_LATE)
            puts(id_shown(wait->id));
    } else if (is_read) {
        write_end(wait, answer, &end);
        printf("%s  %s\n", id_shown(wait->id), buf_text(&end));
    }
    fflush(stdout);
}

static int wait_for_id(const char *id, void *arg)
{
    struct waiting *waiting = arg;
    cleanup(answer_done) struct answer answer = {0};
    cleanup(wait_done) struct wait wait = wait_begin(waiting->args, waiting->engine, id);
    wait.kind = WAIT_UNKNOWN;
    wait.deadline_us = waiting->deadline_us;
    int exit_code = wait_for(&wait, &answer);
    print_ended(waiting, &wait, &answer, exit_code);
    if (exit_code > waiting->exit_code)
        waiting->exit_code = exit_code;
    return exit_code;
}

int run_wait_for(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    bool is_json = args_wants(args, "json"), is_list = is_json && ids_are_many(args);
    TRY(store_open_for(args, &engine));
    struct waiting waiting = {
        .args = args, .engine = engine, .deadline_us = read_deadline(args)};
    fputs(is_list ? "{\"items\":[" : "", stdout);
    int exit_code = ids_each(args, wait_for_id, &waiting);
    fputs(is_list ? "],\"next\":null}" : "", stdout);
    fputs(is_list || (is_json && waiting.count) ? "\n" : "", stdout);
    return exit_code > waiting.exit_code ? exit_code : waiting.exit_code;
}
