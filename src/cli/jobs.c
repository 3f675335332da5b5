/* cli/jobs.c - the commands about jobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "cli/print.h"
#include "cli/route.h"

#include <string.h>

/* ---- columns ---------------------------------------------------------------------------- */

/* "1/3": calls of those that are allowed.  The column counts calls that failed; one that is under
 * way, or that succeeded, is added. */
static void cell_calls(const struct item *item, const char *key, struct buf *text)
{
    char calls[CALLS_TEXT];
    const json_t *job = item->tree;
    bool is_called =
        strcmp(text_of(job, "status"), "succeeded") == 0 || *text_of(job, "leased_by");
    calls_text(int_of(job, key), is_called, int_of(job, "max_attempts"), calls);
    buf_str(text, calls);
}

/* When a pending job will be due. */
static void cell_due(const struct item *item, const char *key, struct buf *text)
{
    if (strcmp(text_of(item->tree, "status"), "pending") != 0)
        buf_str(text, "-");
    else if (time_of(item->tree, key) <= item->now_us)
        buf_str(text, "now");
    else
        cell_ago(item, key, text);
}

static void cell_deleted(const struct item *item, const char *key, struct buf *text)
{
    (void)item, (void)key;
    buf_str(text, "deleted");
}

static const struct column list_columns[] = {
    {"ID", .key = "id"},
    {"TYPE", .key = "type"},
    {"STATUS", .key = "status"},
    {"ATTEMPT", .key = "attempt", .write = cell_calls},
    {"PRIORITY", .key = "priority", .write = cell_int},
    {"DUE", .key = "run_at", .write = cell_due},
    {"CREATED", .key = "created_at", .write = cell_ago},
    {"KEY", .key = "idempotency_key"},
    {0},
};

static const struct column show_columns[] = {
    {"id", .key = "id"},
    {"type", .key = "type"},
    {"status", .key = "status"},
    {"key", .key = "idempotency_key"},
    {"priority", .key = "priority", .write = cell_int},
    {"attempts", .key = "attempt", .write = cell_calls},
    {"run_at", .key = "run_at", .write = cell_time},
    {"created_at", .key = "created_at", .write = cell_time},
    {"updated_at", .key = "updated_at", .write = cell_time},
    {"deleted_at", .key = "deleted_at", .write = cell_time},
    {"leased_by", .key = "leased_by"},
    {"lease_until", .key = "lease_until", .write = cell_time},
    {"last_error", .key = "last_error"},
    {"payload", .key = "payload", .write = cell_json_if_set},
    {"result", .key = "result", .write = cell_json_if_set},
    {0},
};

static const struct column event_columns[] = {
    {"AT", .key = "at"},
    {"TYPE", .key = "type", .width = 9},
    {"DATA", .key = "data", .write = cell_data},
    {0},
};

static const struct column delete_columns[] = {
    {"STATUS", .key = "status", .write = cell_deleted}, {0}};

/* ---- options ---------------------------------------------------------------------------- */

static const struct option add_options[] = {
    {"payload", OPTION_JSON, "JSON|@FILE|-", .field = "payload", .excludes = "payloads-from",
     .help = "input of the job (default {})"},
    {"payloads-from", OPTION_FILE, "FILE|-",
     .help = "add a job for each line, with the line as its payload; 500 in a commit"},
    {"key", OPTION_TEXT, "KEY", .field = "key", .excludes = "payloads-from",
     .help = "if a job has this key, print its id and add nothing"},
    {"priority", OPTION_INT, "N", .field = "priority", .min = 0, .max = INT32_MAX,
     .help = "jobs with a lower number go first (default 100)"},
    {"at", OPTION_INSTANT, "TIME", .field = "run_at", .excludes = "in",
     .help = "run not before this time, in RFC 3339"},
    {"in", OPTION_DURATION, "DURATION", .min = 0, .max = INSTANT_MAX / US_PER_MS,
     .help = "run not before this much time has passed, such as 90s or 1h30m"},
    {"max-attempts", OPTION_INT, "N", .field = "max_attempts", .min = 1, .max = INT32_MAX,
     .help = "maximum number of calls, including the first (default 3)"},
    {0},
};

static const struct option list_options[] = {
    {"status", OPTION_CHOICE, "STATUS", .field = "status", .help = "only jobs with this status",
     .choices = "pending leased succeeded failed cancelled"},
    {"type", OPTION_TEXT, "TYPE", .field = "type",
     .help = "only jobs of this type, or of a prefix such as billing.%"},
    {"key", OPTION_TEXT, "KEY", .field = "key", .help = "only the job with this key"},
    {0},
};

/* ---- commands --------------------------------------------------------------------------- */

#define MANY_IDS TEXT_MANY_IDS("job")

const struct command job_commands[] = {
    {"job add", "TYPE", "add a job, and print its id", .aliases = "add enqueue push submit",
     .about = "Once the id is printed the job is stored and will be executed, even if the "
              "processes on this machine crash. With -o json it prints {\"id\", \"existing\"}; "
              "with --payloads-from {\"items\": [{\"id\", \"existing\"}, ...]}.",
     .example = "cairn job add billing.invoice.v1 --payload '{\"order\": 17}' --key order-17\n"
                "cairn job add report.daily.v1 --at 2030-01-31T06:30:00Z\n"
                "cairn job add mail.send.v1 --payloads-from mails.jsonl",
     .options = add_options, .outputs = "table json ids", .creates_store = true,
     .run = job_add_run, .route = {"POST", "/v1/jobs", .field = "type"}},
    {"job list", NULL, "list jobs, newest first", .aliases = "jobs queue",
     .about = "Deleted jobs are left out. " TEXT_PAGES,
     .example = "cairn job list --status failed --type 'billing.%'\n"
                "cairn job list --status failed --all -o ids | cairn job retry -",
     .options = list_options, .more_options = page_options, .outputs = "table json ids",
     .route = {"GET", "/v1/jobs", .answer = ANSWER_LIST, .columns = list_columns}},
    {"job show", "ID...", "show all fields of jobs",
     .about = "With -o json one id gives the job; several ids, or \"-\", give {\"items\": "
              "[...], \"next\": null} with those that were found.",
     .example = "cairn job show " TEXT_ID, .outputs = "table json ids",
     .route = {"GET", "/v1/jobs/{}", .answer = ANSWER_OBJECT, .columns = show_columns}},
    {"job events", "ID", "print the events of a job, oldest first",
     .example = "cairn job events " TEXT_ID " --follow", .options = feed_options,
     .more_options = page_options, .outputs = "table json ids",
     .route = {"GET", "/v1/jobs/{}/events", .answer = ANSWER_FEED, .columns = event_columns}},
    {"job cancel", "ID...", "cancel jobs that have not ended",
     .about = "A job is cancelled at once: a later result of its worker does not change "
              "that, and the worker is told at its next heartbeat. A job that has ended is "
              "rejected." MANY_IDS,
     .example = "cairn job cancel " TEXT_ID "\n"
                "cairn job list --type 'mail.%' --status pending -o ids | cairn job cancel -",
     .outputs = "table json ids", .route = {"POST", "/v1/jobs/{}/cancel"}},
    {"job retry", "ID...", "make failed or cancelled jobs pending again",
     .about = "The job gets all its attempts again. Only failed and cancelled jobs can be "
              "retried." MANY_IDS,
     .example = "cairn job list -o ids --status failed | cairn job retry -",
     .outputs = "table json ids", .route = {"POST", "/v1/jobs/{}/retry"}},
    {"job delete", "ID...", "delete jobs; they are no longer claimed or listed",
     .aliases = "delete remove rm",
     .about = "The row stays, marked as deleted, and can still be shown by its id. A job "
              "that has "
              "not ended is cancelled. Deleting a deleted job changes nothing." MANY_IDS,
     .example = "cairn job delete " TEXT_ID, .outputs = "table json ids",
     .route = {"DELETE", "/v1/jobs/{}", .columns = delete_columns}},
    {0},
};
