/* cli/job_add.c - cairn job add: one job, or many from a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/input.h"
#include "cli/route.h"
#include "cli/say.h"
#include "cli/wait.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A batch is sent when it has this many jobs or bytes: one commit each, and well below what a
 * server takes in one request. */
enum { BATCH_JOBS = 500, BATCH_BYTES = 512 << 10 };

/* What all jobs of one call have in common. */
struct adding {
    const struct args *args;
    cairn_engine *engine;
    int64_t run_at_us; /* of --in; 0: not given */
};

/* Writes a job; `payload` NULL: the one of --payload, if it was given. */
static int write_job(const struct adding *adding, const char *payload, struct json_out *out)
{
    json_open(out, '{');
    int exit_code = write_members(adding->args, out);
    if (payload)
        json_raw(json_key(out, "payload"), payload);
    if (adding->run_at_us)
        json_time(json_key(out, "run_at"), adding->run_at_us);
    json_close(out, '}');
    return exit_code;
}

static int add_one(const struct adding *adding)
{
    cleanup(buf_donep) struct buf body = {0};
    cleanup(answer_done) struct answer answer = {0};
    struct json_out out = {.buf = &body};
    TRY(write_job(adding, NULL, &out));
    TRY(call(adding->engine, "POST", "/v1/jobs", buf_text(&body), &answer));
    return print_created_and_wait(adding->args, adding->engine, WAIT_JOB, &answer);
}

struct batch {
    const struct adding *adding;
    struct buf body;
    struct json_out out;
    size_t count;
    uint64_t added;
    bool is_continued; /* some JSON items are printed */
};

static void batch_begin(struct batch *batch)
{
    buf_reset(&batch->body);
    batch->out = (struct json_out){.buf = &batch->body};
    batch->count = 0;
    json_open(&batch->out, '{');
    json_open(json_key(&batch->out, "jobs"), '[');
}

static void print_batch(struct batch *batch, const struct answer *answer)
{
    if (args_wants(batch->adding->args, "json"))
        print_items(answer, &batch->is_continued);
    else
        print_ids(json_object_get(answer->tree, "items"), "id");
}

static int batch_send(struct batch *batch)
{
    cleanup(answer_done) struct answer answer = {0};
    if (batch->count == 0)
        return EXIT_DONE;
    json_close(&batch->out, ']');
    json_close(&batch->out, '}');
    if (buf_failed(&batch->body)) {
        say_error("memory ran out");
        return EXIT_STORE;
    }
    TRY(call(batch->adding->engine, "POST", "/v1/jobs", buf_text(&batch->body), &answer));
    batch->added += batch->count;
    print_batch(batch, &answer);
    if (!isatty(STDOUT_FILENO)) /* ids that can be seen to come are progress enough */
        say_progress("%" PRIu64 " jobs added", batch->added);
    batch_begin(batch);
    return EXIT_DONE;
}

static bool is_blank(const char *line, size_t len)
{
    while (len > 0 && isspace((unsigned char)*line))
        line++, len--;
    return len == 0;
}

static int add_lines(struct batch *batch, FILE *source, char **line, size_t *room)
{
    ssize_t len;
    cairn_error error = {0};
    batch_begin(batch);
    for (uint64_t number = 1; (len = getline(line, room, source)) >= 0; number++) {
        char what[64];
        if (is_blank(*line, (size_t)len))
            continue;
        snprintf(what, sizeof what, "line %" PRIu64, number);
        if ((*line)[len - 1] == '\n')
            (*line)[--len] = '\0';
        if (json_check(*line, (size_t)len, what, &error)) {
            say_failure(&error);
            return EXIT_USAGE;
        }
        write_job(batch->adding, *line, &batch->out);
        batch->count++;
        if (batch->count == BATCH_JOBS || batch->body.len >= BATCH_BYTES)
            TRY(batch_send(batch));
    }
    return batch_send(batch);
}

static int add_many(const struct adding *adding)
{
    cleanup(source_close) FILE *source = source_open(args_text(adding->args, "payloads-from"));
    if (!source)
        return EXIT_USAGE;
    char *line = NULL;
    size_t room = 0;
    struct batch batch = {.adding = adding};
    bool is_json = args_wants(adding->args, "json");
    fputs(is_json ? "{\"items\":[" : "", stdout);
    int exit_code = add_lines(&batch, source, &line, &room);
    end_progress();
    fputs(is_json ? "]}\n" : "", stdout);
    if (exit_code)
        say_more("%" PRIu64 " jobs were added before that.", batch.added);
    free(line);
    buf_done(&batch.body);
    return exit_code;
}

int run_job_add(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    TRY(store_open_for(args, &engine));
    struct adding adding = {.args = args, .engine = engine};
    TRY(read_delay(args, engine, &adding.run_at_us));
    return args_has(args, "payloads-from") ? add_many(&adding) : add_one(&adding);
}
