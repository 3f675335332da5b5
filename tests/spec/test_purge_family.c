/* tests/spec/test_purge_family.c - an instance with many children is purged in several commits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "family.h"

#include <stdlib.h>

enum { MANY = 250 };
#define DAY_MS (24 * HOUR_MS)

static long long count_rows(struct flow_world *fw, const char *table)
{
    char sql[160];
    long long count = 0;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM {%s}", table);
    return wf_sql(fw, sql, &count) ? count : 0;
}

/* A map with so many elements, all of which have ended; nothing is removed by itself. */
static void begin_with(struct flow_world *fw, int many)
{
    static struct task tasks[MANY];
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_retention policy = CAIRN_RETENTION_DEFAULTS;
    char input[MANY * 8], *at = input;
    size_t count = 0;
    for (int i = 0; i < many; i++)
        at += sprintf(at, "%c%d", i ? ',' : '[', i);
    strcpy(at, "]");
    wf_open(fw);
    policy.instances_completed_ms = CAIRN_RETENTION_NEVER;
    policy.instances_failed_ms = CAIRN_RETENTION_NEVER;
    policy.instances_cancelled_ms = CAIRN_RETENTION_NEVER;
    policy.instances_aborted_ms = CAIRN_RETENTION_NEVER;
    CHECK_DONE(&fw->world, cairn_retention_set(fw->world.engine, &policy, &fw->world.error));
    CHECK_DONE(&fw->world,
               wf_deploy(fw, FLOW("{map: m, over: \"{{ . }}\", max_parallel: 1000, collect: "
                                  "false, steps: [{step: c}]}")));
    options.workflow = "w";
    options.input = input;
    options.key = "root";
    CHECK_DONE(&fw->world, wf_start(fw, &options, NULL));
    for (int i = 0; i < 8 && count < (size_t)many; i++)
        count += wf_take_many(fw, "w", "c", many, tasks + count);
    CHECK_INT(count, many);
    for (size_t i = 0; i < count; i++)
        CHECK_DONE(&fw->world, wf_report(fw, &tasks[i], CAIRN_COMPLETE, "1"));
    for (int i = 0; i < 4; i++)
        fam_settle(fw);
    wf_check_status(fw, "completed");
}

static void begin(struct flow_world *fw)
{
    begin_with(fw, MANY);
}

static cairn_purged purge_portion(struct flow_world *fw, bool is_dry_run)
{
    cairn_purge_options options = CAIRN_PURGE_DEFAULTS;
    cairn_purged part = {0};
    options.older_than_ms = 0;
    options.is_dry_run = is_dry_run;
    CHECK_DONE(&fw->world, cairn_purge(fw->world.engine, &options, &part, &fw->world.error));
    return part;
}

static bool is_there(struct flow_world *fw, const char *id)
{
    cairn_page *page = NULL;
    cairn_code code = cairn_instance_get(fw->world.engine, id, &page, &fw->world.error);
    CHECK(!code || code == CAIRN_E_NOT_FOUND, "%s", fw->world.error.message);
    cairn_page_free(page);
    return !code;
}

static void check_empty(struct flow_world *fw)
{
    static const char *const tables[] = {
        "workflow_instance",    "workflow_step",         "workflow_step_children",
        "workflow_event_log",   "workflow_event_stream", "workflow_event_gone",
        "workflow_event_loose", "workflow_map_elements", "workflow_purge"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        CHECK(count_rows(fw, tables[i]) == 0, "%s has %lld rows", tables[i],
              count_rows(fw, tables[i]));
}

/* The purge is left where it is, as by a process that was killed. */
TEST(what_was_begun_is_finished_by_the_next_sweep)
{
    struct flow_world fw;
    begin(&fw);
    CHECK_INT(purge_portion(&fw, true).instances, MANY + 1);
    CHECK_INT(fam_count(&fw, fw.id), MANY);
    cairn_purged part = purge_portion(&fw, false);
    CHECK(part.instances > 0 && part.instances <= 100, "one commit removes %lld",
          (long long)part.instances);
    CHECK(part.next[0], "there is more");
    CHECK(is_there(&fw, fw.id), "the root goes last");
    CHECK_INT(fam_count(&fw, fw.id), MANY - part.instances);
    CHECK_REFUSED(&fw.world, wf_restart(&fw), CAIRN_E_WRONG_STATE);
    CHECK(strstr(fw.world.error.message, "being purged"), "%s", fw.world.error.message);
    wf_check_status(&fw, "completed");
    wf_advance(&fw, MINUTE_MS);
    CHECK(!is_there(&fw, fw.id), "whatever the policy says");
    check_empty(&fw);
    /* Its key is kept; the other table has one row where it can be asked. */
    CHECK_INT(count_rows(&fw, "workflow_key"), count_rows(&fw, "workflow_retention"));
    wf_close(&fw);
}

/* Sweeps become rarer the more they leave: 90 that stay would make the next one come after 1.45 s. */
TEST(children_that_go_with_their_family_do_not_count_as_left)
{
    struct flow_world fw;
    cairn_retention policy = CAIRN_RETENTION_DEFAULTS;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    begin_with(&fw, 90);
    wf_advance(&fw, 10);
    policy.instances_completed_ms = 1;
    CHECK_DONE(&fw.world, cairn_retention_set(fw.world.engine, &policy, &fw.world.error));
    wf_advance(&fw, 10);
    CHECK(!is_there(&fw, fw.id), "it is old");
    options.workflow = "w";
    options.input = "[]";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    fam_settle(&fw);
    wf_check_status(&fw, "completed");
    wf_advance(&fw, 1200);
    CHECK(!is_there(&fw, fw.id), "the next sweep is late");
    wf_close(&fw);
}

TEST(a_delete_is_answered_when_all_are_gone)
{
    struct flow_world fw;
    begin(&fw);
    CHECK_DONE(&fw.world, cairn_instance_delete(fw.world.engine, fw.id, &fw.world.error));
    CHECK(!is_there(&fw, fw.id), "it is deleted");
    check_empty(&fw);
    CHECK_REFUSED(&fw.world, cairn_instance_delete(fw.world.engine, fw.id, &fw.world.error),
                  CAIRN_E_NOT_FOUND);
    wf_close(&fw);
}

TEST(a_child_that_lives_keeps_all)
{
    struct flow_world fw;
    char child[40];
    begin(&fw);
    fam_child(&fw, fw.id, MANY - 1, child);
    CHECK_DONE(&fw.world, cairn_instance_restart(fw.world.engine, child, &fw.world.error));
    CHECK_INT(purge_portion(&fw, true).instances, 0);
    CHECK_INT(purge_portion(&fw, false).instances, 0);
    CHECK_REFUSED(&fw.world, cairn_instance_delete(fw.world.engine, fw.id, &fw.world.error),
                  CAIRN_E_WRONG_STATE);
    CHECK(strstr(fw.world.error.message, "child that has not ended"), "%s",
          fw.world.error.message);
    CHECK_INT(fam_count(&fw, fw.id), MANY);
    wf_close(&fw);
}

TEST(a_child_that_is_restarted_meanwhile_lives_and_then_goes)
{
    struct flow_world fw;
    char child[40];
    begin(&fw);
    CHECK(purge_portion(&fw, false).instances > 0, "it has begun");
    fam_child(&fw, fw.id, fam_count(&fw, fw.id) - 1, child);
    CHECK_DONE(&fw.world, cairn_instance_restart(fw.world.engine, child, &fw.world.error));
    wf_advance(&fw, DAY_MS);
    CHECK(is_there(&fw, child) && is_there(&fw, fw.id), "it has not ended");
    CHECK_INT(fam_count(&fw, fw.id), 1);
    struct task task;
    CHECK_INT(wf_take_many(&fw, "w", "c", 1, &task), 1);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "1"));
    fam_settle(&fw);
    wf_advance(&fw, DAY_MS);
    CHECK(!is_there(&fw, child) && !is_there(&fw, fw.id), "both have ended");
    check_empty(&fw);
    wf_close(&fw);
}
