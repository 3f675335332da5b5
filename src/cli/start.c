/* cli/start.c - cairn start: starts an instance, and waits for its end if wanted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/route.h"
#include "cli/say.h"
#include "cli/show.h"

/* What was given is checked before the store is opened, which may create it. */
static int run_start(const struct args *args)
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
    if (start_at_us) {
        json_key(&out, "start_at");
        json_time(&out, start_at_us);
    }
    json_close(&out, '}');
    TRY(call(engine, "POST", "/v1/instances", buf_text(&body), &answer));
    bool is_waiting = args_has(args, "wait");
    if (!is_waiting ||
        !args_wants(args, "json")) /* with --wait the ended instance is printed */
        print_created(args, &answer);
    fflush(stdout);
    return is_waiting ? wait_for_instance(args, engine, text_of(answer.tree, "id")) : EXIT_DONE;
}

static const struct option start_options[] = {
    {"version", OPTION_INT, "N", .field = "version", .min = 1, .max = INT32_MAX,
     .help = "start this version of the workflow (default: the highest)"},
    {"input", OPTION_JSON, "JSON|@FILE|-", .field = "input",
     .help = "input of the instance (default {})"},
    {"key", OPTION_TEXT, "KEY", .field = "key",
     .help = "if an instance of the workflow has this key, print its id and start nothing"},
    {"at", OPTION_INSTANT, "TIME", .field = "start_at", .excludes = "in",
     .help = "start not before this time, in RFC 3339"},
    {"in", OPTION_DURATION, "DURATION", .min = 0, .max = INSTANT_MAX / US_PER_MS,
     .help = "start not before this much time has passed, such as 90s or 1h30m"},
    {"wait", OPTION_FLAG,
     .help = "wait until the instance has ended; exit code 0 if it completed, else 1"},
    {"timeout", OPTION_DURATION, "DURATION", .needs = "wait", .min = 0,
     .max = INT64_MAX / 1000000,
     .help =
         "with --wait: stop waiting after this much time, with exit code 4 (default: never)"},
    {0},
};

const struct command start_commands[] = {
    {"start", "WORKFLOW", "start an instance of a workflow, and print its id",
     .aliases = "create exec execute launch run trigger",
     .about =
         "Once the id is printed the instance is stored and will run to its end, even if the "
         "processes on this machine crash. With -o json it prints {\"id\", \"existing\"}; with "
         "--wait the instance as it ended.\n\n"
         "--wait prints to standard error what the instance is waiting for, after 3 seconds "
         "and whenever that changes. --timeout ends the waiting, not the instance: exit code "
         "4.",
     .example = "cairn start order --input '{\"order\": 17}' --key order-17\n"
                "cairn start order --input @order.json --wait --timeout 1m30s",
     .options = start_options, .outputs = "table json ids", .creates_store = true,
     .run = run_start, .route = {"POST", "/v1/instances", .field = "workflow"}},
    {0},
};
