/* tests/unit/states_text.c - docs/states.md, printed from the tables of core/instance.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "states_text.h"

#include "core/instance.h"

typedef const char *(*name_of)(int status);
typedef bool (*may_follow)(int from, int to, bool is_reopening);

static const char *instance_name(int status)
{
    return instance_status_name((enum instance_status)status);
}

static bool instance_may_follow(int from, int to, bool is_reopening)
{
    return instance_may((enum instance_status)from, (enum instance_status)to, is_reopening);
}

static const char *step_name(int status)
{
    return step_status_name((enum step_status)status);
}

static bool step_may_follow(int from, int to, bool is_reopening)
{
    return step_may((enum step_status)from, (enum step_status)to, is_reopening);
}

/* The states that may follow, with commas; those that only a reopening allows, or the others. */
static void add_followers(struct buf *out, int from, int count, name_of name, may_follow may,
                          bool is_reopening)
{
    bool is_first = true;
    for (int to = 1; to < count; to++) {
        bool is_plain = may(from, to, false);
        if (is_reopening ? is_plain || !may(from, to, true) : !is_plain)
            continue;
        buf_printf(out, "%s`%s`", is_first ? "" : ", ", name(to));
        is_first = false;
    }
    if (is_first)
        buf_str(out, "-");
}

static void add_table(struct buf *out, int count, name_of name, may_follow may)
{
    buf_str(out, "| from | to | by `restart`, `retry` or a DLQ `requeue` also to |\n"
                 "|---|---|---|\n");
    for (int from = 1; from < count; from++) {
        buf_printf(out, "| `%s` | ", name(from));
        add_followers(out, from, count, name, may, false);
        buf_str(out, " | ");
        add_followers(out, from, count, name, may, true);
        buf_str(out, " |\n");
    }
}

/* A word of a requirement document, and ours. */
struct word {
    const char *document, *theirs, *ours;
};

static const struct word words[] = {
    {"linear-workflow.md, instance", "`RUNNING`", "`running`, `waiting_signal`"},
    {"linear-workflow.md, instance", "`COMPLETED`", "`completed`"},
    {"linear-workflow.md, instance", "`FAILED`", "`failed`"},
    {"linear-workflow.md, instance", "`CANCELED`", "`cancelled`"},
    {"linear-workflow.md, step", "`PENDING`", "`pending`"},
    {"linear-workflow.md, step", "`READY`", "`ready`"},
    {"linear-workflow.md, step", "`RUNNING`", "`running`"},
    {"linear-workflow.md, step", "`WAITING`", "`waiting`"},
    {"linear-workflow.md, step", "`DONE`", "`completed`"},
    {"linear-workflow.md, step", "`DEAD`", "`failed`"},
    {"linear-workflow.md, fields", "`current_step_seq`, `current_step_type`",
     "`current_steps`"},
    {"linear-workflow.md, fields", "`completed_at`, `failed_at`", "`finished_at`"},
    {"state-machine.md, workflow", "all words", "the same words"},
    {"state-machine.md, step", "`pending`", "`pending`, `ready`"},
    {"state-machine.md, step", "`running`, `completed`, `failed`", "the same words"},
    {"state-machine.md, step", "`cancelled`", "`skipped`"},
    {"floxy-engine.md, step", "`pending`", "`pending`, `ready`"},
    {"floxy-engine.md", "all other words", "the same words"},
    {"state-flow.md, instance", "`complete`", "`completed`"},
    {"state-flow.md, instance", "`paused`", "`paused`"},
    {"state-flow.md, instance", "`waiting`", "`waiting_signal`, `running`"},
    {"state-flow.md, instance", "`errored`", "`failed`"},
    {"state-flow.md, instance", "terminated", "`aborted`"},
    {"state-flow.md, task", "`pending`", "`ready`"},
    {"state-flow.md, task", "`processing`", "`running`"},
    {"simple-workflow.md", "`pending leased succeeded failed cancelled`",
     "the job's own words"},
};

static void add_words(struct buf *out)
{
    buf_str(out, "| document | its word | here |\n|---|---|---|\n");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        buf_printf(out, "| %s | %s | %s |\n", words[i].document, words[i].theirs,
                   words[i].ours);
}

static void add_marked(struct buf *out, int count, name_of name, bool (*is_marked)(int))
{
    bool is_first = true;
    for (int status = 1; status < count; status++)
        if (is_marked(status)) {
            buf_printf(out, "%s`%s`", is_first ? "" : ", ", name(status));
            is_first = false;
        }
}

static bool is_final(int status)
{
    return instance_is_final((enum instance_status)status);
}

static bool is_current(int status)
{
    return step_is_current((enum step_status)status);
}

void states_text(struct buf *out)
{
    buf_str(
        out,
        "# States\n\n"
        "Printed from the tables in `src/core/instance.c` by `print_states`; a test compares "
        "this file\nwith them. Whatever is not in a table is refused, with both states "
        "named.\n\n"
        "## Instances\n\n");
    add_table(out, INSTANCE_STATUS_COUNT, instance_name, instance_may_follow);
    buf_str(out, "\nFinal, and left only by reopening: ");
    add_marked(out, INSTANCE_STATUS_COUNT, instance_name, is_final);
    buf_str(out, ".\n\n## Steps\n\n");
    add_table(out, STEP_STATUS_COUNT, step_name, step_may_follow);
    buf_str(out, "\nNamed in `current_steps`: ");
    add_marked(out, STEP_STATUS_COUNT, step_name, is_current);
    buf_str(out, " (never a fork, join, condition or save point).\n\n"
                 "## Jobs\n\n"
                 "| from | to |\n|---|---|\n"
                 "| `pending` | `leased`, `cancelled` |\n"
                 "| `leased` | `succeeded`, `failed`, `cancelled`, `pending` (a retry, a "
                 "release, a lost lease) |\n"
                 "| `failed`, `cancelled` | `pending` (by `retry` alone) |\n\n"
                 "## Words of other engines\n\n"
                 "For those who know one of these designs. The documents are not in this "
                 "repository.\n\n");
    add_words(out);
}
