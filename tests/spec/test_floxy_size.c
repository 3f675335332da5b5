/* tests/spec/test_floxy_size.c - large sagas: many branches, deep nesting, long lists.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#include <stdlib.h>

enum { BRANCHES = 1000, DEEP = 64 }; /* the deepest that is allowed */

struct text {
    char *at;
    size_t len, room;
};

static void add(struct text *text, const char *format, ...)
{
    char one[200];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(one, sizeof one, format, args);
    va_end(args);
    CHECK(len >= 0 && (size_t)len < sizeof one, "too long");
    if (text->len + (size_t)len + 1 > text->room) {
        text->room = 2 * (text->room + (size_t)len + 1);
        text->at = realloc(text->at, text->room);
        CHECK(text->at, "no memory");
    }
    memcpy(text->at + text->len, one, (size_t)len + 1);
    text->len += (size_t)len;
}

static void begin(struct flow_world *fw, struct text *text)
{
    wf_begin(fw, text->at);
    free(text->at);
}

/* Claims what is there, up to 100 at once, and completes it in one report; how many there were. */
static size_t work(struct flow_world *fw)
{
    const char *everything = "%";
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    cairn_report reports[100];
    cairn_page *tasks = NULL;
    options.worker = "w";
    options.types = &everything;
    options.type_count = 1;
    options.max = 100;
    CHECK_DONE(&fw->world, cairn_claim(fw->world.engine, &options, &tasks, &fw->world.error));
    size_t count = cairn_page_count(tasks);
    for (size_t i = 0; i < count; i++) {
        reports[i] = (cairn_report)CAIRN_REPORT_DEFAULTS;
        reports[i].task_id = cairn_page_task(tasks, i)->id;
        reports[i].token = cairn_page_task(tasks, i)->token;
        reports[i].output = "7";
    }
    if (count)
        CHECK_DONE(&fw->world, cairn_report_many(fw->world.engine, "w", reports, count, NULL,
                                                 NULL, NULL, &fw->world.error));
    cairn_page_free(tasks);
    return count;
}

/* Takes one step by its handler and reports on it, whatever the size of its input. */
static void report_one(struct flow_world *fw, const char *handler, cairn_outcome outcome)
{
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    cairn_page *tasks = NULL;
    options.worker = "w";
    options.types = &handler;
    options.type_count = 1;
    CHECK_DONE(&fw->world, cairn_claim(fw->world.engine, &options, &tasks, &fw->world.error));
    CHECK_INT(cairn_page_count(tasks), 1);
    report.task_id = cairn_page_task(tasks, 0)->id;
    report.token = cairn_page_task(tasks, 0)->token;
    report.outcome = outcome;
    CHECK_DONE(&fw->world, cairn_report_many(fw->world.engine, "w", &report, 1, NULL, NULL,
                                             NULL, &fw->world.error));
    cairn_page_free(tasks);
}

static size_t work_all(struct flow_world *fw)
{
    size_t total = 0, count;
    while ((count = work(fw)) > 0)
        total += count;
    return total;
}

static struct text wide(const char *join)
{
    struct text text = {0};
    add(&text, "{workflow: w, version: 1, steps: [{fork: f, join: %s, branches: [", join);
    for (int i = 0; i < BRANCHES; i++)
        add(&text, "%s[{step: s%d, handler: h, compensation: {handler: u}}]", i ? ", " : "", i);
    add(&text, "]}, {step: fin}]}");
    return text;
}

TEST(a_fork_of_a_thousand_branches_joins_all)
{
    struct flow_world fw;
    struct text text = wide("all");
    begin(&fw, &text);
    CHECK_INT(work_all(&fw), BRANCHES + 1);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_fork_of_a_thousand_branches_is_undone_one_by_one_to_the_last)
{
    struct flow_world fw;
    size_t undone = 0;
    struct text text = wide("all");
    begin(&fw, &text);
    while (undone < BRANCHES) /* all branches; then fin is what is left */
        undone += work(&fw);
    report_one(&fw, "fin", CAIRN_DEAD);
    for (undone = 0; work(&fw) == 1;)
        undone++;
    CHECK_INT(undone, BRANCHES);
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_fork_of_a_thousand_branches_is_won_by_one)
{
    struct flow_world fw;
    struct text text = wide("any");
    begin(&fw, &text);
    struct task tasks[50];
    CHECK_INT(wf_take_many(&fw, "w", "%", 50, tasks), 50);
    CHECK_DONE(&fw.world, wf_report(&fw, &tasks[49], CAIRN_COMPLETE, "1"));
    sg_check_stop(&fw, &tasks[0], "superseded");
    wf_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(a_cancel_stops_a_thousand_branches_in_one_commit)
{
    struct flow_world fw;
    struct text text = wide("all");
    begin(&fw, &text);
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "cancelled");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

/* Each fork's second branch holds the next; the innermost holds a step only. */
static struct text deep(int forks, const char *join)
{
    struct text text = {0};
    add(&text, "{workflow: w, version: 1, steps: [");
    for (int i = 1; i <= forks; i++)
        add(&text, "{fork: f%d, join: %s, branches: [[{step: s%d}], [", i, join, i);
    add(&text, "{step: core}");
    for (int i = 1; i <= forks; i++)
        add(&text, "]]}");
    add(&text, "]}");
    return text;
}

TEST(a_nesting_of_sixty_four_works)
{
    struct flow_world fw;
    struct text text = deep(DEEP, "all");
    begin(&fw, &text);
    CHECK_INT(work_all(&fw), DEEP + 1);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_nesting_of_sixty_four_fails_from_within)
{
    struct flow_world fw;
    struct text text = deep(DEEP, "any");
    begin(&fw, &text);
    sg_fail(&fw, "core"); /* loses the innermost branch only */
    wf_check_status(&fw, "running");
    char name[16];
    for (int i = DEEP; i > 0; i--) {
        wf_check_status(&fw, "running");
        snprintf(name, sizeof name, "s%d", i);
        sg_fail(&fw, name);
    }
    wf_check_status(&fw, "failed");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(deeper_than_sixty_four_is_refused)
{
    struct flow_world fw;
    struct text text = deep(DEEP + 1, "all");
    wf_open(&fw);
    CHECK_INT(wf_deploy(&fw, text.at), CAIRN_E_TOO_LARGE);
    free(text.at);
    wf_close(&fw);
}

TEST(conditions_nest_sixty_four_deep)
{
    struct flow_world fw;
    struct text text = {0};
    add(&text, "{workflow: w, version: 1, steps: [");
    for (int i = 1; i <= DEEP; i++)
        add(&text, "{condition: c%d, when: '{{ eq .n 1 }}', then: [", i);
    add(&text, "{step: core}");
    for (int i = 1; i <= DEEP; i++)
        add(&text, "]}");
    add(&text, "]}");
    begin(&fw, &text);
    sg_do(&fw, "core");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}
