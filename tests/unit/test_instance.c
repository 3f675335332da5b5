/* tests/unit/test_instance.c - the laws of the states of instances and steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The design's tables are written down here once more, in words, and every cell is compared: what
 * they do not name must be refused.  The laws below hold for whatever the tables say.
 */
#include "core/instance.h"
#include "core/passage.h"
#include "states_text.h"
#include "test.h"

#include <stdlib.h>

struct line {
    const char *from, *to; /* words, a blank between them */
};

/* Section 3 of the design, "in full" included. */
static const struct line instance_lines[] = {
    {"pending", "running cancelled aborted"},
    {"running", "waiting_signal paused compensating dlq completed failed cancelled aborted"},
    {"waiting_signal", "running paused compensating dlq failed cancelled aborted"},
    {"paused", "running compensating cancelled aborted"},
    {"compensating", "failed cancelled aborted"},
    {"dlq", "running compensating cancelled aborted"},
    {NULL, NULL},
};

/* restart: any state but pending and compensating.  retry and requeue: failed. */
static const struct line
    instance_reopenings[] =
        {
            {"running", "running"},
            {"waiting_signal", "running"},
            {"paused", "running"},
            {"dlq", "running"},
            {"failed", "running compensating"},
            {"cancelled", "running"},
            {"aborted", "running"},
            {"completed", "running compensating"}, /* a child whose parent is undone */
            {NULL, NULL},
};

static const struct line step_lines[] = {
    /* planned, then ready; kinds that the engine runs itself are never claimed */
    {"pending", "ready completed waiting waiting_decision"},
    {"pending", "failed"}, /* a condition that yields no boolean */
    {"pending", "paused"}, /* a join that is reached in the DLQ */
    {"ready", "running"},
    {"running", "completed ready waiting failed paused"},
    {"waiting", "ready completed failed"},
    {"waiting_decision", "confirmed rejected failed"},
    {"pending", "skipped"},
    {"ready", "skipped"},
    {"running", "skipped"},
    {"waiting", "skipped"},
    {"waiting_decision", "skipped"},
    {"paused", "skipped"},
    {"completed", "compensation"},
    {"confirmed", "compensation"},
    {"failed", "compensation"},
    {"skipped", "compensation"},
    {"paused", "compensation"},
    /* without a compensation: rolled back in the same commit, without a task */
    {"completed", "rolled_back"},
    {"confirmed", "rolled_back"},
    {"failed", "rolled_back"},
    {"compensation", "rolled_back failed"},
    {"failed", "ready"},  /* resume after pause_workflow */
    {"failed", "paused"}, /* parked in the DLQ, in the failure's commit */
    {"paused", "ready"},
    {"paused", "completed pending"}, /* a join that was held back: it fires, or waits again */
    {NULL, NULL},
};

/* restart begins anew from wherever a step is; only an undo under way is not interrupted. */
static const struct line step_reopenings[] = {
    {"ready", "pending"},     {"running", "pending"},
    {"waiting", "pending"},   {"waiting_decision", "pending"},
    {"completed", "pending"}, {"confirmed", "pending"},
    {"rejected", "pending"},  {"failed", "pending compensation"},
    {"paused", "pending"},    {"rolled_back", "pending"},
    {"skipped", "pending"},   {NULL, NULL},
};

static bool has_word(const char *words, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = strstr(words, word); at; at = strstr(at + 1, word))
        if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
            return true;
    return false;
}

static bool is_listed(const struct line *lines, const char *from, const char *to)
{
    for (; lines->from; lines++)
        if (strcmp(lines->from, from) == 0 && has_word(lines->to, to))
            return true;
    return false;
}

#define for_each_instance_cell(from, to)                                                      \
    for (enum instance_status from = INSTANCE_NONE + 1; from < INSTANCE_STATUS_COUNT; from++) \
        for (enum instance_status to = INSTANCE_NONE + 1; to < INSTANCE_STATUS_COUNT; to++)

#define for_each_step_cell(from, to)                                              \
    for (enum step_status from = STEP_NONE + 1; from < STEP_STATUS_COUNT; from++) \
        for (enum step_status to = STEP_NONE + 1; to < STEP_STATUS_COUNT; to++)

TEST(every_cell_of_the_instance_table_is_as_designed)
{
    for_each_instance_cell (from, to) {
        const char *a = instance_status_name(from), *b = instance_status_name(to);
        bool is_plain = is_listed(instance_lines, a, b);
        CHECK(instance_may(from, to, false) == is_plain, "%s -> %s", a, b);
        bool is_reopened = is_plain || is_listed(instance_reopenings, a, b);
        CHECK(instance_may(from, to, true) == is_reopened, "reopening %s -> %s", a, b);
    }
}

TEST(every_cell_of_the_step_table_is_as_designed)
{
    for_each_step_cell (from, to) {
        const char *a = step_status_name(from), *b = step_status_name(to);
        bool is_plain = is_listed(step_lines, a, b);
        CHECK(step_may(from, to, false) == is_plain, "%s -> %s", a, b);
        bool is_reopened = is_plain || is_listed(step_reopenings, a, b);
        CHECK(step_may(from, to, true) == is_reopened, "reopening %s -> %s", a, b);
    }
}

TEST(a_final_instance_is_left_by_reopening_alone)
{
    for_each_instance_cell (from, to) {
        if (!instance_is_final(from))
            continue;
        CHECK(!instance_may(from, to, false), "%s -> %s", instance_status_name(from),
              instance_status_name(to));
        if (instance_may(from, to, true))
            CHECK(!instance_is_final(to), "reopening %s ends in %s", instance_status_name(from),
                  instance_status_name(to));
    }
}

TEST(every_instance_that_is_not_final_can_be_aborted)
{
    for (enum instance_status from = INSTANCE_NONE + 1; from < INSTANCE_STATUS_COUNT; from++)
        CHECK(instance_may(from, INSTANCE_ABORTED, false) == !instance_is_final(from), "%s",
              instance_status_name(from));
}

TEST(only_a_running_instance_completes)
{
    for (enum instance_status from = INSTANCE_NONE + 1; from < INSTANCE_STATUS_COUNT; from++)
        CHECK(instance_may(from, INSTANCE_COMPLETED, true) == (from == INSTANCE_RUNNING), "%s",
              instance_status_name(from));
}

TEST(nothing_returns_to_pending_but_by_reopening)
{
    for (enum instance_status from = INSTANCE_NONE + 1; from < INSTANCE_STATUS_COUNT; from++)
        CHECK(!instance_may(from, INSTANCE_PENDING, true), "%s", instance_status_name(from));
    for (enum step_status from = STEP_NONE + 1; from < STEP_STATUS_COUNT; from++)
        CHECK(!step_may(from, STEP_PENDING, false) || from == STEP_PAUSED, "%s",
              step_status_name(from));
}

TEST(restart_finds_a_way_for_every_step_but_one_being_undone)
{
    for (enum step_status from = STEP_PENDING + 1; from < STEP_STATUS_COUNT; from++)
        CHECK(step_may(from, STEP_PENDING, true) == (from != STEP_COMPENSATION), "%s",
              step_status_name(from));
}

TEST(only_a_ready_step_is_claimed)
{
    for (enum step_status from = STEP_NONE + 1; from < STEP_STATUS_COUNT; from++)
        CHECK(step_may(from, STEP_RUNNING, true) == (from == STEP_READY), "%s",
              step_status_name(from));
}

TEST(a_step_being_undone_is_undone_or_failed_and_nothing_else)
{
    for (enum step_status to = STEP_NONE + 1; to < STEP_STATUS_COUNT; to++)
        CHECK(step_may(STEP_COMPENSATION, to, true) ==
                  (to == STEP_ROLLED_BACK || to == STEP_FAILED),
              "%s", step_status_name(to));
}

TEST(everything_unfinished_can_be_skipped_but_an_undo)
{
    for (enum step_status from = STEP_NONE + 1; from < STEP_STATUS_COUNT; from++)
        CHECK(step_may(from, STEP_SKIPPED, false) ==
                  (!step_is_ended(from) && from != STEP_COMPENSATION),
              "%s", step_status_name(from));
}

TEST(a_step_is_planned_or_current_or_ended)
{
    for (enum step_status status = STEP_NONE + 1; status < STEP_STATUS_COUNT; status++)
        CHECK((status == STEP_PENDING) + step_is_current(status) + step_is_ended(status) == 1,
              "%s", step_status_name(status));
}

TEST(every_word_leads_back_to_its_state)
{
    for (enum instance_status status = INSTANCE_NONE + 1; status < INSTANCE_STATUS_COUNT;
         status++)
        CHECK_INT(instance_status_from(instance_status_name(status)), status);
    for (enum step_status status = STEP_NONE + 1; status < STEP_STATUS_COUNT; status++)
        CHECK_INT(step_status_from(step_status_name(status)), status);
    for (enum step_kind kind = KIND_NONE + 1; kind < STEP_KIND_COUNT; kind++)
        CHECK_INT(step_kind_from(step_kind_name(kind)), kind);
    CHECK_INT(instance_status_from("RUNNING"), INSTANCE_NONE);
    CHECK_INT(step_status_from(""), STEP_NONE);
    CHECK_INT(step_kind_from("parallel"), KIND_NONE);
}

TEST(zeroed_memory_is_no_state_and_leads_nowhere)
{
    for (enum instance_status to = INSTANCE_NONE; to < INSTANCE_STATUS_COUNT; to++) {
        CHECK(!instance_may(INSTANCE_NONE, to, true), "to %d", to);
        CHECK(!instance_may(to, INSTANCE_NONE, true), "from %d", to);
    }
    for (enum step_status to = STEP_NONE; to < STEP_STATUS_COUNT; to++) {
        CHECK(!step_may(STEP_NONE, to, true), "to %d", to);
        CHECK(!step_may(to, STEP_NONE, true), "from %d", to);
    }
}

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "r");
    CHECK(file, "could not open %s", path);
    char *text = calloc(1, 1 << 16);
    CHECK(text, "no memory");
    size_t len = fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    CHECK(len > 0, "%s is empty", path);
    return text;
}

TEST(docs_states_is_what_the_tables_say)
{
    struct buf wanted = {0};
    char path[1024];
    snprintf(path, sizeof path, "%s/docs/states.md", getenv("CAIRN_SOURCE"));
    char *written = read_whole(path);
    states_text(&wanted);
    bool is_same = strcmp(written, buf_text(&wanted)) == 0;
    free(written);
    buf_done(&wanted);
    CHECK(is_same, "docs/states.md is out of date: print_states > docs/states.md");
}

/* ---- revisions ------------------------------------------------------------------------------ */

TEST(a_memory_is_valid_within_its_edition)
{
    int64_t revision = 1;
    for (int i = 0; i < 5; i++) {
        int64_t next = revision_of_next_edition(revision) + 1;
        CHECK(next > revision, "%lld comes after %lld", (long long)next, (long long)revision);
        CHECK(revision_is_of_edition(revision, revision), "not of its own");
        CHECK(revision_is_of_edition(revision, revision + 1000), "not of the same");
        CHECK(!revision_is_of_edition(revision + 1, revision), "of one that is older");
        CHECK(!revision_is_of_edition(revision, next), "of the next one");
        revision = next;
    }
}

TEST(many_changes_of_one_commit_begin_one_edition)
{
    int64_t first = revision_of_next_edition(77);
    CHECK_INT(revision_of_next_edition(first), first);
    CHECK(!revision_is_of_edition(first, first), "a memory between two changes is valid");
}
