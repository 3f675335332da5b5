/* tests/spec/test_limit_steps.c - limits and groups of steps, compensations and functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_world.h"

#include <stdlib.h>

/* ---- saying it shortly ----------------------------------------------------------------------- */

enum { TASKS_MAX = 16 };

static void put(struct flow_world *fw, cairn_limit_spec spec)
{
    spec.size = sizeof spec;
    CHECK_DONE(&fw->world, cairn_limit_put(fw->world.engine, &spec, &fw->world.error));
}

static void start_in(struct flow_world *fw, const char *group, const char *input)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    options.workflow = "w";
    options.group = group;
    options.input = input;
    CHECK_DONE(&fw->world, wf_start(fw, &options, &started));
}

static void open_with(struct flow_world *fw, const char *text)
{
    wf_open(fw);
    CHECK_DONE(&fw->world, wf_deploy(fw, text));
}

static void add_job(struct flow_world *fw, const char *type, const char *group)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = type;
    spec.group = group;
    CHECK_DONE(&fw->world, cairn_enqueue(fw->world.engine, &spec, 1, NULL, &fw->world.error));
}

/* Claims jobs and steps; how many there were. */
static size_t take(struct flow_world *fw, const char *type, uint32_t max, struct task *tasks)
{
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    cairn_page *page;
    options.worker = "w";
    options.types = &type;
    options.type_count = 1;
    options.max = max;
    options.lease_ms = 30000;
    CHECK_DONE(&fw->world, cairn_claim(fw->world.engine, &options, &page, &fw->world.error));
    size_t count = cairn_page_count(page);
    for (size_t i = 0; i < count; i++) {
        const cairn_task *task = cairn_page_task(page, i);
        tasks[i] = (struct task){.worker = "w"};
        snprintf(tasks[i].id, sizeof tasks[i].id, "%s", task->id);
        snprintf(tasks[i].token, sizeof tasks[i].token, "%s", task->token);
        snprintf(tasks[i].kind, sizeof tasks[i].kind, "%s", task->kind);
        snprintf(tasks[i].step, sizeof tasks[i].step, "%s", task->step ? task->step : "");
    }
    cairn_page_free(page);
    return count;
}

static void check_taken(struct flow_world *fw, const char *type, size_t wanted)
{
    struct task tasks[TASKS_MAX];
    CHECK_INT(take(fw, type, TASKS_MAX, tasks), wanted);
}

static const char *group_of(struct flow_world *fw, const struct task *task, char *ret,
                            size_t size)
{
    char id[37];
    cairn_page *page;
    snprintf(id, sizeof id, "%.36s", task->id);
    CHECK_DONE(&fw->world, cairn_instance_get(fw->world.engine, id, &page, &fw->world.error));
    snprintf(ret, size, "%s", cairn_page_instance(page, 0)->group);
    cairn_page_free(page);
    return ret;
}

/* Claims, and compares the instances' groups of what came, "a b a". */
static size_t take_groups(struct flow_world *fw, uint32_t max, const char *wanted,
                          struct task *tasks)
{
    char seen[512] = "", group[32];
    size_t count = take(fw, "%", max, tasks);
    for (size_t i = 0; i < count; i++) {
        strcat(seen, i ? " " : "");
        strcat(seen, group_of(fw, &tasks[i], group, sizeof group));
    }
    CHECK_STR(seen, wanted);
    return count;
}

/* ---- places ---------------------------------------------------------------------------------- */

TEST(no_more_steps_are_leased_than_a_limit_says)
{
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    open_with(&fw, FLOW("{step: a}, {step: b}"));
    put(&fw, (cairn_limit_spec){.name = "l", .types = "a", .concurrency = 2});
    for (size_t i = 0; i < 5; i++)
        start_in(&fw, NULL, "{}");
    CHECK_INT(take(&fw, "%", TASKS_MAX, tasks), 2);
    check_taken(&fw, "%", 0);
    CHECK_DONE(&fw.world, wf_report(&fw, &tasks[0], CAIRN_COMPLETE, "{}"));
    CHECK_INT(take(&fw, "a", TASKS_MAX, tasks), 1);
    check_taken(&fw, "a", 0);
    check_taken(&fw, "b", 1); /* no limit matches it */
    wf_close(&fw);
}

TEST(every_end_of_a_steps_lease_gives_its_place_back)
{
    static const cairn_outcome outcomes[] = {CAIRN_COMPLETE, CAIRN_FAIL, CAIRN_RETRY,
                                             CAIRN_DEAD, CAIRN_RELEASE};
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    open_with(&fw, FLOW("{step: a}"));
    put(&fw, (cairn_limit_spec){.name = "l", .types = "a%", .concurrency = 1});
    for (size_t i = 0; i < 8; i++)
        start_in(&fw, "g", "{}");
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        CHECK_INT(take(&fw, "a", TASKS_MAX, tasks), 1);
        check_taken(&fw, "a", 0);
        CHECK_DONE(&fw.world, wf_report(&fw, &tasks[0], outcomes[i],
                                        outcomes[i] == CAIRN_COMPLETE ? "{}" : "no"));
    }
    CHECK_INT(take(&fw, "a", TASKS_MAX, tasks), 1);
    check_taken(&fw, "a", 0);
    wf_advance(&fw, 3600 * 1000); /* the lease is lost */
    CHECK_INT(take(&fw, "a", TASKS_MAX, tasks), 1);
    wf_close(&fw);
}

TEST(a_step_that_is_stopped_keeps_its_place_until_its_lease_ends)
{
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    open_with(&fw, FLOW("{step: a}"));
    put(&fw, (cairn_limit_spec){.name = "l", .types = "a", .concurrency = 1});
    start_in(&fw, NULL, "{}");
    CHECK_INT(take(&fw, "a", TASKS_MAX, tasks), 1);
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    start_in(&fw, NULL, "{}");
    check_taken(&fw, "a", 0);
    wf_report(&fw, &tasks[0], CAIRN_COMPLETE, "{}");
    check_taken(&fw, "a", 1);
    wf_close(&fw);
}

TEST(a_limit_counts_compensations)
{
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    open_with(&fw, FLOW("{step: a, compensation: {handler: undo}}, {step: b}"));
    put(&fw, (cairn_limit_spec){.name = "l", .types = "undo", .concurrency = 1});
    for (size_t i = 0; i < 3; i++)
        start_in(&fw, NULL, "{}");
    CHECK_INT(take(&fw, "a", TASKS_MAX, tasks), 3);
    for (size_t i = 0; i < 3; i++)
        CHECK_DONE(&fw.world, wf_report(&fw, &tasks[i], CAIRN_COMPLETE, "{}"));
    CHECK_INT(take(&fw, "b", TASKS_MAX, tasks), 3);
    for (size_t i = 0; i < 3; i++)
        CHECK_DONE(&fw.world, wf_report(&fw, &tasks[i], CAIRN_DEAD, "no"));
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(take(&fw, "undo", TASKS_MAX, tasks), 1);
        CHECK_STR(tasks[0].kind, "compensation");
        check_taken(&fw, "undo", 0);
        CHECK_DONE(&fw.world, wf_report(&fw, &tasks[0], CAIRN_COMPLETE, "{}"));
    }
    check_taken(&fw, "%", 0);
    wf_close(&fw);
}

TEST(jobs_and_steps_share_a_limit)
{
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    open_with(&fw, FLOW("{step: a, handler: t.step}"));
    put(&fw, (cairn_limit_spec){.name = "l", .types = "t.%", .concurrency = 3});
    for (size_t i = 0; i < 4; i++) {
        start_in(&fw, NULL, "{}");
        add_job(&fw, "t.job", NULL);
    }
    CHECK_INT(take(&fw, "t.%", TASKS_MAX, tasks), 3);
    check_taken(&fw, "%", 0);
    CHECK_DONE(&fw.world, wf_report(&fw, &tasks[0], CAIRN_COMPLETE, "{}"));
    check_taken(&fw, "t.%", 1);
    wf_close(&fw);
}

TEST(steps_that_are_leased_when_a_limit_is_set_count)
{
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    open_with(&fw, FLOW("{step: a}"));
    for (size_t i = 0; i < 5; i++)
        start_in(&fw, NULL, "{}");
    CHECK_INT(take(&fw, "a", 2, tasks), 2);
    put(&fw, (cairn_limit_spec){.name = "l", .types = "a", .concurrency = 2});
    check_taken(&fw, "a", 0);
    CHECK_DONE(&fw.world, wf_beat(&fw, &tasks[0], 60000, NULL));
    check_taken(&fw, "a", 0);
    CHECK_DONE(&fw.world, wf_report(&fw, &tasks[0], CAIRN_COMPLETE, "{}"));
    check_taken(&fw, "a", 1);
    CHECK_DONE(&fw.world, cairn_limit_delete(fw.world.engine, "l", &fw.world.error));
    check_taken(&fw, "a", 2);
    wf_close(&fw);
}

/* ---- rates ----------------------------------------------------------------------------------- */

TEST(a_rate_counts_claims_of_steps_and_a_release_gives_its_token_back)
{
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    open_with(&fw, FLOW("{step: a}"));
    put(&fw, (cairn_limit_spec){.name = "l", .types = "a", .rate_n = 2, .rate_per_ms = 60000});
    for (size_t i = 0; i < 6; i++)
        start_in(&fw, NULL, "{}");
    CHECK_INT(take(&fw, "a", TASKS_MAX, tasks), 2);
    CHECK_DONE(&fw.world, wf_report(&fw, &tasks[0], CAIRN_COMPLETE, "{}"));
    check_taken(&fw, "a", 0); /* a place, but no token */
    CHECK_DONE(&fw.world, wf_report(&fw, &tasks[1], CAIRN_RELEASE, NULL));
    CHECK_INT(take(&fw, "a", TASKS_MAX, tasks), 1);
    check_taken(&fw, "a", 0);
    CHECK_DONE(&fw.world, wf_retry(&fw, &tasks[0], 0));
    check_taken(&fw, "a", 0);
    wf_advance(&fw, 30000);
    check_taken(&fw, "a", 1);
    wf_close(&fw);
}

/* ---- groups ---------------------------------------------------------------------------------- */

TEST(groups_of_starts_take_turns)
{
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    open_with(&fw, FLOW("{step: a}"));
    for (size_t i = 0; i < 5; i++)
        start_in(&fw, "ann", "{}");
    start_in(&fw, "bob", "{}");
    start_in(&fw, NULL, "{}");
    take_groups(&fw, 4, " ann bob ann", tasks);
    take_groups(&fw, 4, "ann ann ann", tasks);
    wf_close(&fw);
}

TEST(a_limit_for_each_group_counts_each_groups_steps)
{
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    open_with(&fw, FLOW("{step: a}, {step: b}"));
    put(&fw,
        (cairn_limit_spec){.name = "l", .types = "%", .concurrency = 2, .per_group = true});
    for (size_t i = 0; i < 4; i++)
        start_in(&fw, "ann", "{}");
    start_in(&fw, "bob", "{}");
    CHECK_INT(take_groups(&fw, TASKS_MAX, "ann bob ann", tasks), 3);
    check_taken(&fw, "%", 0);
    add_job(&fw, "j", "bob");
    add_job(&fw, "j", "ann");
    check_taken(&fw, "j", 1); /* bob's */
    CHECK_DONE(&fw.world, wf_report(&fw, &tasks[0], CAIRN_COMPLETE, "{}"));
    check_taken(&fw, "%", 1);
    wf_close(&fw);
}

TEST(within_a_group_a_steps_priority_and_age_decide)
{
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    open_with(&fw,
              FLOW("{fork: f, branches: [[{step: low, handler: h, priority: 10}], "
                   "[{step: high, handler: h, priority: 90}], [{step: mid, handler: h}]]}"));
    start_in(&fw, "ann", "{}");
    start_in(&fw, "bob", "{}");
    CHECK_INT(take_groups(&fw, 4, "ann bob ann bob", tasks), 4);
    for (size_t i = 0; i < 4; i++)
        CHECK_STR(tasks[i].step, i < 2 ? "high" : "mid");
    wf_close(&fw);
}

TEST(a_report_that_claims_gets_the_place_that_it_gives_back)
{
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    static const char *const types[] = {"a"};
    open_with(&fw, FLOW("{step: a}"));
    put(&fw, (cairn_limit_spec){.name = "l", .types = "a", .concurrency = 1});
    for (size_t i = 0; i < 2; i++)
        start_in(&fw, "g", "{}");
    CHECK_INT(take(&fw, "a", TASKS_MAX, tasks), 1);
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    cairn_page *page;
    report.task_id = tasks[0].id;
    report.token = tasks[0].token;
    report.output = "{}";
    claim.worker = "w";
    claim.types = types;
    claim.type_count = 1;
    claim.max = 8;
    CHECK_DONE(&fw.world, cairn_report_many(fw.world.engine, "w", &report, 1, NULL, &claim,
                                            &page, &fw.world.error));
    CHECK_INT(cairn_page_count(page), 1);
    cairn_page_free(page);
    wf_close(&fw);
}

TEST(what_a_step_leads_to_takes_its_turn)
{
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    open_with(&fw, FLOW("{step: a}, {step: b}"));
    put(&fw, (cairn_limit_spec){.name = "l", .types = "b", .concurrency = 1});
    start_in(&fw, NULL, "{}");
    start_in(&fw, NULL, "{}");
    CHECK_INT(take(&fw, "%", TASKS_MAX, tasks), 2);
    for (size_t i = 0; i < 2; i++)
        CHECK_DONE(&fw.world, wf_report(&fw, &tasks[i], CAIRN_COMPLETE, "{}"));
    CHECK_INT(take(&fw, "%", TASKS_MAX, tasks), 1);
    check_taken(&fw, "%", 0);
    wf_close(&fw);
}

TEST(a_limit_counts_functions)
{
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    wf_open(&fw);
    CHECK_DONE(&fw.world, wf_deploy(&fw, "{function: w, version: 1}"));
    put(&fw,
        (cairn_limit_spec){.name = "l", .types = "w", .concurrency = 1, .per_group = true});
    for (size_t i = 0; i < 3; i++)
        start_in(&fw, "ann", "{}");
    start_in(&fw, "bob", "{}");
    CHECK_INT(take_groups(&fw, TASKS_MAX, "ann bob", tasks), 2);
    CHECK_STR(tasks[0].kind, "function");
    check_taken(&fw, "w", 0);
    CHECK_DONE(&fw.world, wf_report(&fw, &tasks[0], CAIRN_RELEASE, NULL));
    CHECK_INT(take_groups(&fw, TASKS_MAX, "ann", tasks), 1);
    wf_advance(&fw, 3600 * 1000); /* both leases are lost; ann was served last */
    CHECK_INT(take_groups(&fw, TASKS_MAX, "bob ann", tasks), 2);
    wf_close(&fw);
}

/* Claims versions of the function "w"; how many tasks there were. */
static size_t take_versions(struct flow_world *fw, int32_t from, int32_t to)
{
    cairn_function_code code = CAIRN_FUNCTION_CODE_DEFAULTS;
    code.name = "w";
    code.version = to;
    code.from_version = from;
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    cairn_page *page;
    options.worker = "w";
    options.functions = &code;
    options.function_count = 1;
    options.max = TASKS_MAX;
    CHECK_DONE(&fw->world, cairn_claim(fw->world.engine, &options, &page, &fw->world.error));
    size_t count = cairn_page_count(page);
    cairn_page_free(page);
    return count;
}

TEST(groups_whose_functions_are_of_other_versions_are_passed_over)
{
    struct flow_world fw;
    wf_open(&fw);
    CHECK_DONE(&fw.world, wf_deploy(&fw, "{function: w, version: 1}"));
    start_in(&fw, "ann", "{}");
    CHECK_DONE(&fw.world, wf_deploy(&fw, "{function: w, version: 2}"));
    start_in(&fw, "bob", "{}");
    start_in(&fw, "bob", "{}");
    CHECK_INT(take_versions(&fw, 3, 4), 0);
    CHECK_INT(take_versions(&fw, 2, 2), 2);
    CHECK_INT(take_versions(&fw, 1, 2), 1);
    wf_close(&fw);
}

/* ---- groups of steps ------------------------------------------------------------------------- */

TEST(a_step_has_a_group_of_its_own)
{
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    open_with(&fw, FLOW("{step: a, group: 'tenant {{ .tenant }}'}, {step: b}"));
    put(&fw,
        (cairn_limit_spec){.name = "l", .types = "%", .concurrency = 1, .per_group = true});
    start_in(&fw, "x", "{\"tenant\": 1}");
    start_in(&fw, "y", "{\"tenant\": 1}");
    start_in(&fw, "y", "{\"tenant\": 2}");
    CHECK_INT(take_groups(&fw, TASKS_MAX, "x y", tasks), 2); /* tenant 1, tenant 2 */
    for (size_t i = 0; i < 2; i++)
        CHECK_DONE(&fw.world, wf_report(&fw, &tasks[i], CAIRN_COMPLETE, "{}"));
    CHECK_INT(take_groups(&fw, TASKS_MAX, "x y y", tasks), 3); /* b of x and of y, tenant 1 */
    wf_close(&fw);
}

TEST(a_group_that_is_missing_is_the_instances_and_one_that_is_none_fails_the_step)
{
    static const char *const bad[] = {"{\"tenant\": [1]}", "{\"tenant\": {}}", NULL};
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    char long_one[200];
    open_with(&fw, FLOW("{step: a, group: '{{ .tenant }}'}"));
    put(&fw,
        (cairn_limit_spec){.name = "l", .types = "a", .concurrency = 1, .per_group = true});
    start_in(&fw, "x", "{}");
    start_in(&fw, NULL, "{\"tenant\": \"x\"}");
    CHECK_INT(take(&fw, "a", TASKS_MAX, tasks), 1);
    snprintf(long_one, sizeof long_one, "{\"tenant\": \"%0129d\"}", 0);
    for (size_t i = 0; i < 3; i++) {
        start_in(&fw, NULL, bad[i] ? bad[i] : long_one);
        wf_check_status(&fw, "failed");
    }
    wf_close(&fw);
}

TEST(a_child_has_its_steps_group)
{
    struct flow_world fw;
    open_with(&fw, "{workflow: child, version: 1, steps: [{step: c}]}");
    CHECK_DONE(&fw.world,
               wf_deploy(&fw, FLOW("{map: m, over: '{{ .list }}', steps: [{step: e}]}, "
                                   "{start: s, workflow: child, group: two}")));
    put(&fw,
        (cairn_limit_spec){.name = "l", .types = "%", .concurrency = 1, .per_group = true});
    start_in(&fw, "one", "{\"list\": [1, 2]}");
    struct task tasks[TASKS_MAX];
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(take_groups(&fw, TASKS_MAX, "one", tasks), 1);
        CHECK_DONE(&fw.world, wf_report(&fw, &tasks[0], CAIRN_COMPLETE, "{}"));
    }
    CHECK_INT(take_groups(&fw, TASKS_MAX, "two", tasks), 1);
    wf_close(&fw);
}

TEST(a_group_that_names_an_unknown_step_is_refused)
{
    struct flow_world fw;
    wf_open(&fw);
    CHECK_INT(wf_deploy(&fw, FLOW("{step: a, group: '{{ $.steps.b.output }}'}")),
              CAIRN_E_BAD_INPUT);
    CHECK_INT(wf_deploy(&fw, FLOW("{step: a, group: 7}")), CAIRN_E_BAD_INPUT);
    wf_close(&fw);
}

/* ---- why ------------------------------------------------------------------------------------- */

static void check_why(struct flow_world *fw, const char *code, const char *text)
{
    const cairn_why *why = wf_instance(fw)->why;
    CHECK_STR(why->code, code);
    CHECK_STR(why->text, text);
}

TEST(an_instance_says_which_limit_keeps_its_step_back)
{
    struct flow_world fw;
    struct task tasks[TASKS_MAX];
    open_with(&fw, FLOW("{step: a}"));
    put(&fw,
        (cairn_limit_spec){.name = "l", .types = "a", .concurrency = 1, .per_group = true});
    start_in(&fw, "ann", "{}");
    CHECK_INT(take(&fw, "a", TASKS_MAX, tasks), 1);
    start_in(&fw, "ann", "{}");
    check_why(&fw, "limited", "Waits for a place: l allows 1 at a time for ann.");
    CHECK_DONE(&fw.world, wf_deploy(&fw, "{function: f, version: 1}"));
    put(&fw, (cairn_limit_spec){.name = "f", .types = "f", .concurrency = 1});
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    options.workflow = "f";
    for (size_t i = 0; i < 2; i++)
        CHECK_DONE(&fw.world, wf_start(&fw, &options, &started));
    CHECK_INT(take(&fw, "f", TASKS_MAX, tasks), 1);
    check_why(&fw, "limited", "Waits for a place: f allows 1 at a time.");
    wf_close(&fw);
}
