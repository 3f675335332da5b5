/* cli/instances.c - the commands about instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/route.h"
#include "cli/show.h"

#include <string.h>

/* ---- columns ---------------------------------------------------------------------------- */

static const struct column list_columns[] = {
    {"ID", .key = "id"},
    {"WORKFLOW", .key = "workflow"},
    {"VERSION", .key = "version", .write = cell_int},
    {"STATUS", .key = "status"},
    {"STEPS", .key = "current_steps", .write = cell_names},
    {"CREATED", .key = "created_at", .write = cell_ago},
    {"KEY", .key = "key"},
    {0},
};

static const struct column event_columns[] = {
    {"AT", .key = "at"},
    {"TYPE", .key = "type", .width = 20},
    {"STEP", .key = "step", .width = 16},
    {"DATA", .key = "data", .write = cell_data},
    {0},
};

/* The step whose code wrote the line, and the number of the call if it was not the first. */
static void cell_caller(const struct item *item, const char *key, struct buf *text)
{
    long long attempt = (long long)int_of(item->tree, "attempt");
    buf_str(text, text_of(item->tree, key));
    if (attempt > 1)
        buf_printf(text, ", call %lld", attempt);
}

static const struct column log_columns[] = {
    {"AT", .key = "at"},
    {"LEVEL", .key = "level", .width = 5},
    {"STEP", .key = "step", .write = cell_caller, .width = 16},
    {"MESSAGE", .key = "message"},
    {"DATA", .key = "data", .write = cell_data},
    {0},
};

static void cell_signal(const struct item *item, const char *key, struct buf *text)
{
    static const char *const words[] = {"existing", "taken", "kept"};
    (void)key;
    for (size_t i = 0; i < sizeof words / sizeof *words && !text->len; i++)
        buf_str(text, is_true(item->tree, words[i]) ? words[i] : "");
    buf_str(text, text->len ? "" : "dropped");
}

static const struct column signal_columns[] = {{"RESULT", .write = cell_signal}, {0}};

/* ---- options ---------------------------------------------------------------------------- */

static const struct option list_options[] = {
    {"status", OPTION_CHOICE, "STATUS", .field = "status",
     .help = "only instances with this status",
     .choices = "pending running waiting_signal paused compensating dlq completed failed "
                "cancelled aborted"},
    {"workflow", OPTION_TEXT, "NAME", .field = "workflow",
     .help = "only instances of this workflow"},
    {"key", OPTION_TEXT, "KEY", .field = "key", .help = "only instances with this key"},
    {0},
};

static const struct option show_options[] = {
    {"follow", OPTION_FLAG, .letter = 'f',
     .help = "show it again whenever it changes, until it has ended"},
    {0},
};

static const struct option signal_options[] = {
    {"payload", OPTION_JSON, "JSON|@FILE|-", .field = "payload",
     .help = "payload of the signal (default null)"},
    {"id", OPTION_TEXT, "ID", .field = "id",
     .help = "id of the signal; sending a known id again changes nothing"},
    {"no-latch", OPTION_FLAG, .field = "latch", .is_off = true,
     .help = "drop the signal if no step is waiting for it now"},
    {0},
};

static const struct option decide_options[] = {
    {"by", OPTION_TEXT, "WHO", .field = "by", .is_required = true, .help = "who decides"},
    {"comment", OPTION_TEXT, "TEXT", .field = "comment", .help = "comment on the decision"},
    {0},
};

static const struct option resume_options[] = {
    {"force", OPTION_FLAG, .field = "force",
     .help = "accept code of a function that no longer matches its history"},
    {0},
};

static const struct option stop_options[] = {
    {"by", OPTION_TEXT, "WHO", .field = "by", .is_required = true,
     .help = "who stops the instance; kept with it"},
    {"reason", OPTION_TEXT, "TEXT", .field = "reason", .is_required = true,
     .help = "why; kept with the instance"},
    {0},
};

/* ---- commands --------------------------------------------------------------------------- */

#define PRINTS_STATUS " Prints the new status of the instance."
#define MANY_IDS PRINTS_STATUS TEXT_MANY_IDS("instance")

const struct command instance_commands[] = {
    {"list", NULL, "list instances, newest first", .aliases = "instances ls ps runs",
     .about = TEXT_PAGES,
     .example = "cairn list --status failed --workflow order\n"
                "cairn list --status failed --all -o ids | cairn retry -",
     .options = list_options, .more_options = page_options, .outputs = "table json ids",
     .route = {"GET", "/v1/instances", .answer = ANSWER_LIST, .columns = list_columns}},
    {"show", "ID...", "show instances and their steps",
     .aliases = "describe follow get info inspect status watch",
     .about = "Draws the steps as the workflow nests them, with status, duration, number of "
              "calls and errors. If there are very many branches, only some of them are drawn. "
              "Below a function its history is drawn, in order. Decisions about human steps "
              "follow at the end.\n\n"
              "--follow redraws in place on a terminal; elsewhere it prints a line for every "
              "step that has changed. It ends with the instance: exit code 0 if it completed, "
              "else 1.\n\n"
              "With -o json one id gives the instance with its steps in \"steps\" and the "
              "decisions in \"decisions\"; several ids, or \"-\", give {\"items\": [...], "
              "\"next\": null} with those that were found.",
     .example = "cairn show " TEXT_ID " --follow\ncairn show " TEXT_ID " -o json > state.json",
     .options = show_options, .outputs = "table json ids", .has_url = true, .run = show_run},
    {"events", "ID", "print the events of an instance, oldest first",
     .aliases = "audit history tail", .example = "cairn events " TEXT_ID " --follow",
     .options = feed_options, .more_options = page_options, .outputs = "table json ids",
     .route = {"GET", "/v1/instances/{}/events", .answer = ANSWER_FEED,
               .columns = event_columns}},
    {"logs", "ID", "print the log of a function, oldest first",
     .about =
         "A line has the time, the level, the step whose code wrote it (empty: the function "
         "itself) with the number of the call if it was not the first, the message, and data "
         "as JSON. Lines are kept with the commit that records the step, so code that is "
         "repeated after a crash does not repeat its lines.",
     .example = "cairn logs " TEXT_ID " --follow", .options = feed_options,
     .more_options = page_options, .outputs = "table json ids",
     .route = {"GET", "/v1/instances/{}/logs", .answer = ANSWER_FEED, .columns = log_columns}},
    {"signal", "ID EVENT", "send a signal to an instance", .aliases = "emit publish send",
     .about =
         "Prints the result: taken (a step was waiting for it and continues), kept (for the "
         "first step that waits for it), existing (its id is known, nothing was written) or "
         "dropped. An instance that has ended rejects signals.",
     .example = "cairn signal " TEXT_ID " payment.settled --payload '{\"amount\": 12}'",
     .options = signal_options, .outputs = "table json",
     .route = {"POST", "/v1/instances/{}/signal", .field = "event", .columns = signal_columns}},
    {"approve", "ID STEP", "confirm a human step; the instance continues",
     .aliases = "accept confirm",
     .about = "The next steps are ready in the same commit. "
              "A step is decided once." PRINTS_STATUS,
     .example = "cairn approve " TEXT_ID " approval --by ann --comment 'well done'",
     .options = decide_options, .outputs = "table json",
     .route = {"POST", "/v1/instances/{}/steps/{}/decision",
               .fixed = "\"decision\":\"confirmed\""}},
    {"reject", "ID STEP", "reject a human step; the instance is aborted",
     .aliases = "decline deny",
     .about = "Nothing is undone. A step is decided once." PRINTS_STATUS,
     .example = "cairn reject " TEXT_ID " approval --by ann --comment 'too expensive'",
     .options = decide_options, .outputs = "table json",
     .route = {"POST", "/v1/instances/{}/steps/{}/decision",
               .fixed = "\"decision\":\"rejected\""}},
    {"pause", "ID...", "pause instances; no new step starts", .aliases = "hold suspend",
     .about = "Running steps may finish, timers continue, signals are kept." MANY_IDS,
     .example = "cairn pause " TEXT_ID, .outputs = "table json ids",
     .route = {"POST", "/v1/instances/{}/pause"}},
    {"resume", "ID...", "resume paused instances", .aliases = "continue unpause",
     .about =
         "A step whose failure paused its instance is tried again with all its attempts. A "
         "function that is paused with version_mismatch continues if its code matches its "
         "history again, or with --force: matching steps are replayed from history, the rest "
         "is executed again." MANY_IDS,
     .example = "cairn list --status paused -o ids | cairn resume -", .options = resume_options,
     .outputs = "table json ids", .route = {"POST", "/v1/instances/{}/resume"}},
    {"restart", "ID...", "start instances again from the beginning, with their original input",
     .aliases = "replay rerun reset",
     .about = "Nothing is undone; every step is executed again." MANY_IDS,
     .example = "cairn restart " TEXT_ID, .outputs = "table json ids",
     .route = {"POST", "/v1/instances/{}/restart"}},
    {"retry", "ID...", "retry the failed steps of failed instances",
     .about = "Failed, rolled-back and stopped steps get all their attempts again; completed "
              "steps stay completed." MANY_IDS,
     .example = "cairn list --status failed --all -o ids | cairn retry -",
     .outputs = "table json ids", .route = {"POST", "/v1/instances/{}/retry"}},
    {"cancel", "ID...", "stop instances, and undo their completed steps", .aliases = "stop",
     .about =
         "Running workers are told at their next heartbeat; then completed steps are undone "
         "by their compensations, the latest first." MANY_IDS,
     .example = "cairn cancel " TEXT_ID " --by ann --reason 'ordered twice'",
     .options = stop_options, .outputs = "table json ids",
     .route = {"POST", "/v1/instances/{}/cancel"}},
    {"abort", "ID...", "stop instances, and undo nothing", .aliases = "kill terminate",
     .about = "Running workers are told at their next heartbeat. An instance whose steps are "
              "being undone can be aborted, too." MANY_IDS,
     .example = "cairn abort " TEXT_ID " --by ann --reason 'will be done by hand'",
     .options = stop_options, .outputs = "table json ids",
     .route = {"POST", "/v1/instances/{}/abort"}},
    {0},
};
