/* cli/job_add.c - cairn job add: one job, or many from a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/say.h"
#include "cli/source.h"

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
    int64_t run_at_us; /* 0: now */
};

static void write_job(const struct adding *adding, const char *payload, struct json_out *out)
{
    const struct args *args = adding->args;
    json_open(out, '{');
    json_key(out, "type");
    json_str(out, args->operands[0]);
    if (payload) {
        json_key(out, "payload");
        json_raw(out, payload);
    }
    if (args_has(args, "key")) {
        json_key(out, "key");
        json_str(out, args_text(args, "key"));
    }
    if (args_has(args, "priority")) {
        json_key(out, "priority");
        json_int(out, args_number(args, "priority", 0));
    }
    if (args_has(args, "max-attempts")) {
        json_key(out, "max_attempts");
        json_int(out, args_number(args, "max-attempts", 0));
    }
    if (adding->run_at_us) {
        json_key(out, "run_at");
        json_time(out, adding->run_at_us);
    }
    json_close(out, '}');
}

/* The payload goes into the body as it is, so it must be JSON before it gets there. */
static bool is_payload(const char *text, size_t len, const char *what)
{
    cairn_error error = {0};
    if (json_check(text, len, what, &error)) {
        say_failure(&error);
        return false;
    }
    return true;
}

/* ---- one -------------------------------------------------------------------------------- */

static int add_one(const struct adding *adding)
{
    const struct args *args = adding->args;
    cleanup(buf_donep) struct buf payload = {0};
    const char *given = args_text(args, "payload");
    if (given && (!source_read(given, &payload) ||
                  !is_payload(buf_text(&payload), payload.len, "payload")))
        return EXIT_USAGE;

    cleanup(buf_donep) struct buf body = {0};
    cleanup(answer_done) struct answer answer = {0};
    struct json_out out = {.buf = &body};
    write_job(adding, given ? buf_text(&payload) : NULL, &out);
    int exit_code = call(adding->engine, "POST", "/v1/jobs", buf_text(&body), &answer);
    if (exit_code)
        return exit_code;
    if (args_wants(args, "json")) {
        print_body(&answer);
        return EXIT_DONE;
    }
    puts(text_of(answer.tree, "id"));
    if (json_is_true(json_object_get(answer.tree, "existing")))
        fprintf(stderr, "existing: the key \"%s\" was known, nothing was written\n",
                args_text(args, "key"));
    return EXIT_DONE;
}

/* ---- many ------------------------------------------------------------------------------- */

struct batch {
    const struct adding *adding;
    struct buf body;
    struct json_out out;
    size_t count;
    uint64_t added;
    bool is_continued; /* JSON items have been printed */
};

static void batch_begin(struct batch *batch)
{
    buf_reset(&batch->body);
    batch->out = (struct json_out){.buf = &batch->body};
    batch->count = 0;
    json_open(&batch->out, '{');
    json_key(&batch->out, "jobs");
    json_open(&batch->out, '[');
}

static void print_batch(struct batch *batch, const struct answer *answer)
{
    const json_t *items = json_object_get(answer->tree, "items");
    size_t i, len = 0;
    json_t *item;
    if (args_wants(batch->adding->args, "json")) {
        const char *text = body_member(answer, "items", &len);
        if (!text || len <= 2)
            return;
        fputs(batch->is_continued ? "," : "", stdout);
        fwrite(text + 1, 1, len - 2, stdout);
        batch->is_continued = true;
    } else {
        json_array_foreach(items, i, item) puts(text_of(item, "id"));
    }
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
    int exit_code =
        call(batch->adding->engine, "POST", "/v1/jobs", buf_text(&batch->body), &answer);
    if (exit_code)
        return exit_code;
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
    int exit_code = EXIT_DONE;
    batch_begin(batch);
    for (uint64_t number = 1; (len = getline(line, room, source)) >= 0; number++) {
        char what[64];
        if (is_blank(*line, (size_t)len))
            continue;
        snprintf(what, sizeof what, "line %" PRIu64, number);
        if ((*line)[len - 1] == '\n')
            (*line)[--len] = '\0';
        if (!is_payload(*line, (size_t)len, what))
            return EXIT_USAGE;
        write_job(batch->adding, *line, &batch->out);
        batch->count++;
        if (batch->count == BATCH_JOBS || batch->body.len >= BATCH_BYTES)
            exit_code = batch_send(batch);
        if (exit_code)
            return exit_code;
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

/* ---- the command ------------------------------------------------------------------------ */

static const char *excluded(const struct args *args)
{
    if (args_has(args, "at") && args_has(args, "in"))
        return "--at and --in";
    if (args_has(args, "payload") && args_has(args, "payloads-from"))
        return "--payload and --payloads-from";
    if (args_has(args, "key") && args_has(args, "payloads-from"))
        return "--key and --payloads-from";
    return NULL;
}

/* --in counts from the store's present, which is not always this machine's. */
static int find_run_at(struct adding *adding)
{
    cairn_error error = {0};
    int64_t now_us = 0;
    adding->run_at_us = args_number(adding->args, "at", 0);
    if (!args_has(adding->args, "in"))
        return EXIT_DONE;
    if (cairn_clock_now(adding->engine, &now_us, &error))
        return say_failure(&error);
    adding->run_at_us = instant_add(now_us, args_number(adding->args, "in", 0) * US_PER_MS);
    return EXIT_DONE;
}

static int run_add(const struct args *args)
{
    const char *both = excluded(args);
    if (both) {
        say_error("%s exclude each other", both);
        return EXIT_USAGE;
    }
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;
    struct adding adding = {.args = args, .engine = engine};
    exit_code = find_run_at(&adding);
    if (exit_code)
        return exit_code;
    return args_has(args, "payloads-from") ? add_many(&adding) : add_one(&adding);
}

static const struct option add_options[] = {
    {.name = "payload",
     .kind = OPTION_FILE,
     .value = "JSON|@FILE|-",
     .help = "the input of the job; {} if not given"},
    {.name = "payloads-from",
     .kind = OPTION_FILE,
     .value = "FILE|-",
     .help = "add a job for every line, which is its payload; 500 in a commit"},
    {.name = "key",
     .kind = OPTION_TEXT,
     .value = "KEY",
     .help = "if a job has this key, print its id and record nothing"},
    {.name = "priority",
     .kind = OPTION_INT,
     .value = "N",
     .help = "lower goes first; 100 if not given",
     .min = 0,
     .max = INT32_MAX},
    {.name = "at", .kind = OPTION_INSTANT, .value = "TIME", .help = "not before, in RFC 3339"},
    {.name = "in",
     .kind = OPTION_DURATION,
     .value = "DURATION",
     .help = "not before this much time has passed, such as 90s or 1h30m",
     .min = 0,
     .max = INSTANT_MAX / US_PER_MS},
    {.name = "max-attempts",
     .kind = OPTION_INT,
     .value = "N",
     .help = "calls in all, the first included; 3 if not given",
     .min = 1,
     .max = INT32_MAX},
    {0},
};

const struct command command_job_add = {
    .name = "job add",
    .operands = "TYPE",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "record a job, and print its id",
    .about =
        "When the id is printed the job is recorded and will be executed, whatever happens "
        "to this machine's processes. With -o json it prints {\"id\", \"existing\"}; with "
        "--payloads-from {\"items\": [{\"id\", \"existing\"}, ...]}.",
    .example = "cairn job add billing.invoice.v1 --payload '{\"order\": 17}' --key order-17\n"
               "cairn job add report.daily.v1 --at 2030-01-31T06:30:00Z\n"
               "cairn job add mail.send.v1 --payloads-from mails.jsonl",
    .options = add_options,
    .outputs = "table json ids",
    .has_url = true,
    .creates_store = true,
    .run = run_add,
};
