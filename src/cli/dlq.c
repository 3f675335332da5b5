/* cli/dlq.c - the commands about the dead letter queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/route.h"

#include <string.h>

static void cell_reason(const struct item *item, const char *key, struct buf *text)
{
    bool is_undo = strncmp(text_of(item->tree, key), "compensation", 12) == 0;
    buf_str(text, is_undo ? "not undone" : "failed");
}

static const struct column list_columns[] = {
    {"ID", .key = "id"},
    {"INSTANCE", .key = "instance_id"},
    {"WORKFLOW", .key = "workflow_id"},
    {"STEP", .key = "step_name"},
    {"CREATED", .key = "created_at", .write = cell_ago},
    {"REASON", .key = "reason", .write = cell_reason},
    {"ERROR", .key = "error"},
    {0},
};

static const struct column show_columns[] = {
    {"id", .key = "id"},
    {"instance_id", .key = "instance_id"},
    {"workflow_id", .key = "workflow_id"},
    {"step_id", .key = "step_id"},
    {"step_name", .key = "step_name"},
    {"step_type", .key = "step_type"},
    {"reason", .key = "reason"},
    {"error", .key = "error"},
    {"is_open", .key = "is_open", .write = cell_yes},
    {"created_at", .key = "created_at", .write = cell_time},
    {"input", .key = "input", .write = cell_json},
    {0},
};

static const struct option requeue_options[] = {
    {"input", OPTION_JSON, "JSON|@FILE|-", .field = "input",
     .help = "new input of the step (default: the input it had)"},
    {0},
};

const struct command dlq_commands[] = {
    {"dlq list", NULL, "list the open records of the dead letter queue, newest first",
     .aliases = "deadletter dead-letter",
     .about =
         "A record is a step that has failed permanently in a workflow with dlq: true, or a "
         "compensation that has failed permanently (\"not undone\").",
     .example = "cairn dlq list", .more_options = page_options, .outputs = "table json ids",
     .route = {"GET", "/v1/dlq", .answer = ANSWER_LIST, .columns = list_columns}},
    {"dlq show", "N", "show all fields of a record of the dead letter queue",
     .example = "cairn dlq show 17", .outputs = "table json",
     .route = {"GET", "/v1/dlq/{}", .answer = ANSWER_OBJECT, .columns = show_columns}},
    {"dlq requeue", "N...", "retry the step of a record of the dead letter queue",
     .aliases = "requeue retry",
     .about = "The step, or the compensation, is called again with all its attempts, and all "
              "that was held back continues. A record can be requeued once. Prints the new "
              "status of "
              "the instance." TEXT_MANY_IDS("instance"),
     .example = "cairn dlq requeue 17 --input '{\"file\": \"prices.csv\"}'\n"
                "cairn dlq list --all -o ids | cairn dlq requeue -",
     .options = requeue_options, .outputs = "table json ids",
     .route = {"POST", "/v1/dlq/{}/requeue"}},
    {0},
};
