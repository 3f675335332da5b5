/* tests/spec/test_retention.c - how long history is kept, and purges by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_world.h"

#include <stdlib.h>

#define DAY_MS (24 * HOUR_MS)

static void set(struct flow_world *fw, const cairn_retention *policy)
{
    CHECK_DONE(&fw->world, cairn_retention_set(fw->world.engine, policy, &fw->world.error));
}

static cairn_retention get(struct flow_world *fw)
{
    cairn_retention policy = CAIRN_RETENTION_DEFAULTS;
    CHECK_DONE(&fw->world, cairn_retention_get(fw->world.engine, &policy, &fw->world.error));
    return policy;
}

/* A purge to its end. */
static cairn_purged purge(struct flow_world *fw, cairn_purge_options options)
{
    cairn_purged all = {0}, part = {0};
    do {
        options.cursor = part.next[0] ? strdup(part.next) : NULL;
        CHECK_DONE(&fw->world,
                   cairn_purge(fw->world.engine, &options, &part, &fw->world.error));
        free((char *)options.cursor);
        all.jobs += part.jobs;
        all.instances += part.instances;
    } while (part.next[0]);
    return all;
}

static cairn_purged purge_type(struct flow_world *fw, const char *type)
{
    cairn_purge_options options = CAIRN_PURGE_DEFAULTS;
    options.type = type;
    return purge(fw, options);
}

static cairn_enqueued add_keyed(struct flow_world *fw, const char *type, const char *key)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    cairn_enqueued job;
    spec.type = type;
    spec.key = key;
    spec.tags = "{\"of\": \"test\"}";
    CHECK_DONE(&fw->world, cairn_enqueue(fw->world.engine, &spec, 1, &job, &fw->world.error));
    return job;
}

static void end_job(struct flow_world *fw, const char *type, cairn_outcome outcome)
{
    struct held held;
    CHECK_INT(world_take_many(&fw->world, "w", type, 1, &held), 1);
    CHECK_INT(world_report(&fw->world, &held, outcome, outcome == CAIRN_COMPLETE ? "1" : "no"),
              CAIRN_OK);
}

static bool has_job(struct flow_world *fw, const char *id)
{
    cairn_page *page = NULL;
    cairn_code code = cairn_job_get(fw->world.engine, id, &page, &fw->world.error);
    CHECK(!code || code == CAIRN_E_NOT_FOUND, "%s", fw->world.error.message);
    cairn_page_free(page);
    return !code;
}

static bool has_instance(struct flow_world *fw, const char *id)
{
    cairn_page *page = NULL;
    cairn_code code = cairn_instance_get(fw->world.engine, id, &page, &fw->world.error);
    CHECK(!code || code == CAIRN_E_NOT_FOUND, "%s", fw->world.error.message);
    cairn_page_free(page);
    return !code;
}

static long long count_rows(struct flow_world *fw, const char *table)
{
    char sql[160];
    long long count = 0;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM {%s}", table);
    return wf_sql(fw, sql, &count) ? count : 0;
}

/* ---- the policy ---------------------------------------------------------------------------- */

TEST(a_new_store_keeps_history_for_a_month_and_failures_for_three)
{
    struct flow_world fw;
    wf_open(&fw);
    cairn_retention policy = get(&fw);
    CHECK_INT(policy.jobs_succeeded_ms, 30 * DAY_MS);
    CHECK_INT(policy.jobs_failed_ms, 90 * DAY_MS);
    CHECK_INT(policy.jobs_cancelled_ms, 30 * DAY_MS);
    CHECK_INT(policy.instances_completed_ms, 30 * DAY_MS);
    CHECK_INT(policy.instances_failed_ms, 90 * DAY_MS);
    CHECK_INT(policy.instances_cancelled_ms, 30 * DAY_MS);
    CHECK_INT(policy.instances_aborted_ms, 90 * DAY_MS);
    CHECK_INT(policy.keys_ms, 90 * DAY_MS);
    wf_close(&fw);
}

/* What doctor says about the policy. */
static char *diagnose(struct flow_world *fw, char result[16])
{
    cairn_page *page = NULL;
    char *text = NULL;
    CHECK_DONE(&fw->world, cairn_doctor(fw->world.engine, &page, &fw->world.error));
    for (size_t i = 0; i < cairn_page_count(page); i++) {
        const cairn_finding *finding = cairn_page_finding(page, i);
        if (strcmp(finding->check, "retention") != 0)
            continue;
        free(text);
        text = strdup(finding->text);
        snprintf(result, 16, "%s", finding->result);
    }
    cairn_page_free(page);
    CHECK(text, "doctor says nothing about retention");
    return text;
}

/* As a migration leaves a store that an earlier version has made. */
TEST(doctor_warns_of_a_store_without_a_policy_until_one_is_set)
{
    struct flow_world fw;
    cairn_retention policy = CAIRN_RETENTION_DEFAULTS;
    char result[16];
    wf_open(&fw);
    char *text = diagnose(&fw, result);
    CHECK_STR(result, "ok");
    free(text);
    if (!wf_sql(&fw,
                "UPDATE {workflow_retention} SET jobs_succeeded = -1, jobs_failed = -1,"
                " jobs_cancelled = -1, instances_completed = -1, instances_failed = -1,"
                " instances_cancelled = -1, instances_aborted = -1, set_at = NULL",
                NULL)) {
        wf_close(&fw);
        return;
    }
    text = diagnose(&fw, result);
    CHECK_STR(result, "warning");
    CHECK(strstr(text, "cairn retention set"), "%s", text);
    free(text);
    policy.keys_ms = DAY_MS; /* everything is still kept, and now somebody wants it so */
    set(&fw, &policy);
    text = diagnose(&fw, result);
    CHECK_STR(result, "ok");
    CHECK(strstr(text, "kept"), "%s", text);
    free(text);
    wf_close(&fw);
}

TEST(what_is_not_named_stays_as_it_is)
{
    struct flow_world fw;
    cairn_retention policy = CAIRN_RETENTION_DEFAULTS;
    wf_open(&fw);
    policy.jobs_failed_ms = CAIRN_RETENTION_NEVER;
    policy.instances_aborted_ms = 5;
    policy.keys_ms = CAIRN_RETENTION_NEVER;
    set(&fw, &policy);
    policy = get(&fw);
    CHECK_INT(policy.jobs_succeeded_ms, 30 * DAY_MS);
    CHECK_INT(policy.jobs_failed_ms, CAIRN_RETENTION_NEVER);
    CHECK_INT(policy.instances_aborted_ms, 5);
    CHECK_INT(policy.keys_ms, CAIRN_RETENTION_NEVER);
    policy = (cairn_retention)CAIRN_RETENTION_DEFAULTS;
    CHECK_REFUSED(&fw.world, cairn_retention_set(fw.world.engine, &policy, &fw.world.error),
                  CAIRN_E_BAD_INPUT);
    policy.keys_ms = -3;
    CHECK_REFUSED(&fw.world, cairn_retention_set(fw.world.engine, &policy, &fw.world.error),
                  CAIRN_E_BAD_INPUT);
    policy.keys_ms = INT64_MAX;
    CHECK_REFUSED(&fw.world, cairn_retention_set(fw.world.engine, &policy, &fw.world.error),
                  CAIRN_E_BAD_INPUT);
    wf_close(&fw);
}

/* ---- jobs ---------------------------------------------------------------------------------- */

TEST(jobs_go_when_they_are_old_and_not_before)
{
    struct flow_world fw;
    cairn_retention policy = CAIRN_RETENTION_DEFAULTS;
    wf_open(&fw);
    policy.jobs_succeeded_ms = DAY_MS;
    policy.jobs_failed_ms = 3 * DAY_MS;
    policy.jobs_cancelled_ms = 2 * DAY_MS;
    set(&fw, &policy);
    cairn_enqueued done = world_add(&fw.world, "done.v1"),
                   dead = world_add(&fw.world, "dead.v1");
    cairn_enqueued stopped = world_add(&fw.world, "stopped.v1");
    cairn_enqueued deleted = world_add(&fw.world, "deleted.v1");
    cairn_enqueued open = world_add(&fw.world, "open.v1");
    end_job(&fw, "done.v1", CAIRN_COMPLETE);
    end_job(&fw, "dead.v1", CAIRN_DEAD);
    end_job(&fw, "deleted.v1", CAIRN_COMPLETE);
    struct world *world = &fw.world;
    CHECK_DONE(world, cairn_job_cancel(world->engine, stopped.id, &world->error));
    CHECK_DONE(world, cairn_job_delete(world->engine, deleted.id, &world->error));
    wf_advance(&fw, DAY_MS - 1);
    CHECK(has_job(&fw, done.id), "it is younger than the policy");
    wf_advance(&fw, MINUTE_MS + 1);
    CHECK(!has_job(&fw, done.id), "it is old");
    CHECK(has_job(&fw, dead.id) && has_job(&fw, stopped.id) && has_job(&fw, deleted.id),
          "these are not");
    wf_advance(&fw, DAY_MS + MINUTE_MS);
    CHECK(!has_job(&fw, stopped.id) && !has_job(&fw, deleted.id), "deleted is like cancelled");
    CHECK(has_job(&fw, dead.id), "it is kept for longer");
    wf_advance(&fw, DAY_MS);
    CHECK(!has_job(&fw, dead.id), "it is old, too");
    wf_advance(&fw, 365 * DAY_MS);
    CHECK(has_job(&fw, open.id), "it has not ended");
    world_check_status(world, open.id, "pending");
    CHECK_INT(count_rows(&fw, "workflow_event_gone"), 0);
    wf_close(&fw);
}

TEST(what_is_never_removed_stays)
{
    struct flow_world fw;
    cairn_retention policy = CAIRN_RETENTION_DEFAULTS;
    wf_open(&fw);
    policy.jobs_succeeded_ms = policy.jobs_failed_ms = CAIRN_RETENTION_NEVER;
    set(&fw, &policy);
    cairn_enqueued job = world_add(&fw.world, "a.v1");
    end_job(&fw, "a.v1", CAIRN_COMPLETE);
    wf_advance(&fw, 2000 * DAY_MS);
    CHECK(has_job(&fw, job.id), "it was to stay");
    wf_close(&fw);
}

/* More than one portion. */
TEST(a_sweep_removes_all_that_is_old_in_one_go_of_the_clock)
{
    enum { MANY = 1300 };
    struct flow_world fw;
    cairn_retention policy = CAIRN_RETENTION_DEFAULTS;
    cairn_purge_options all = CAIRN_PURGE_DEFAULTS;
    static cairn_job_spec specs[MANY];
    static cairn_enqueued jobs[MANY];
    static struct held held[100];
    wf_open(&fw);
    for (size_t i = 0; i < MANY; i++) {
        specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
        specs[i].type = i % 13 ? "a.v1" : "b.v1";
    }
    for (size_t i = 0; i < MANY; i += 100)
        CHECK_DONE(&fw.world,
                   cairn_enqueue(fw.world.engine, specs + i, 100, jobs + i, &fw.world.error));
    for (size_t n; (n = world_take_many(&fw.world, "w", "a.v1", 100, held)) > 0;)
        for (size_t i = 0; i < n; i++)
            CHECK_INT(world_report(&fw.world, &held[i], CAIRN_COMPLETE, "1"), CAIRN_OK);
    all.older_than_ms = 0;
    all.is_dry_run = true;
    CHECK_INT(purge(&fw, all).jobs, 1200);
    policy.jobs_succeeded_ms = DAY_MS;
    set(&fw, &policy);
    wf_advance(&fw, DAY_MS + MINUTE_MS);
    CHECK_INT(purge(&fw, all).jobs, 0);
    CHECK_INT(world_count_jobs(&fw.world), 100);
    world_check_events(&fw.world, jobs[13].id, "created");
    wf_close(&fw);
}

/* ---- keys ---------------------------------------------------------------------------------- */

TEST(a_key_outlives_its_owner_and_then_is_free)
{
    struct flow_world fw;
    cairn_retention policy = CAIRN_RETENTION_DEFAULTS;
    wf_open(&fw);
    policy.keys_ms = 10 * DAY_MS;
    set(&fw, &policy);
    cairn_enqueued first = add_keyed(&fw, "a.v1", "order-1");
    end_job(&fw, "a.v1", CAIRN_COMPLETE);
    CHECK_INT(purge_type(&fw, "a.v1").jobs, 1);
    CHECK(!has_job(&fw, first.id), "it is purged");
    CHECK_INT(count_rows(&fw, "workflow_tag"), 0);
    cairn_enqueued again = add_keyed(&fw, "a.v1", "order-1");
    CHECK_INT(again.existing, 1);
    CHECK_STR(again.id, first.id);
    CHECK_INT(add_keyed(&fw, "a.v1", "order-2").existing, 0);
    wf_advance(&fw, 10 * DAY_MS - MINUTE_MS);
    CHECK_INT(add_keyed(&fw, "a.v1", "order-1").existing, 1);
    wf_advance(&fw, 3 * MINUTE_MS);
    again = add_keyed(&fw, "a.v1", "order-1");
    CHECK_INT(again.existing, 0);
    CHECK(strcmp(again.id, first.id) != 0, "it is another job");
    wf_close(&fw);
}

TEST(a_key_of_plain_sql_is_asked_for)
{
    struct flow_world fw;
    long long n = 0;
    wf_open(&fw);
    add_keyed(&fw, "a.v1", "order-1");
    end_job(&fw, "a.v1", CAIRN_COMPLETE);
    CHECK_INT(purge_type(&fw, "a.v1").jobs, 1);
    wf_sql(&fw,
           "INSERT INTO {workflow_run} (type, payload, idempotency_key) VALUES ('a.v1', '1', "
           "'order-1') ON CONFLICT (idempotency_key) DO NOTHING",
           &n);
    CHECK_INT(world_count_jobs(&fw.world), 0);
    wf_close(&fw);
}

TEST(a_start_with_a_kept_key_answers_the_old_id)
{
    struct flow_world fw;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    cairn_enqueued first, again;
    wf_open(&fw);
    CHECK_INT(wf_deploy(&fw, FLOW("{step: a}")), CAIRN_OK);
    start.workflow = "w";
    start.key = "k";
    CHECK_INT(wf_start(&fw, &start, &first), CAIRN_OK);
    wf_do(&fw, "a");
    CHECK_DONE(&fw.world, cairn_instance_delete(fw.world.engine, first.id, &fw.world.error));
    CHECK(!has_instance(&fw, first.id), "it is deleted");
    CHECK_INT(wf_start(&fw, &start, &again), CAIRN_OK);
    CHECK_INT(again.existing, 1);
    CHECK_STR(again.id, first.id);
    start.key = "other";
    CHECK_INT(wf_start(&fw, &start, &again), CAIRN_OK);
    CHECK_INT(again.existing, 0);
    wf_close(&fw);
}

/* ---- instances ----------------------------------------------------------------------------- */

TEST(an_instance_goes_with_everything_that_is_its)
{
    static const char *const tables[] = {"workflow_instance",    "workflow_step",
                                         "workflow_signal",      "workflow_human_decision",
                                         "workflow_dlq",         "workflow_outbox",
                                         "workflow_log",         "workflow_event_log",
                                         "workflow_event_loose", "workflow_event_post",
                                         "workflow_event_gone",  "workflow_event_stream",
                                         "workflow_event",       "workflow_tag"};
    struct flow_world fw;
    cairn_retention policy = CAIRN_RETENTION_DEFAULTS;
    wf_begin(&fw, "{workflow: w, version: 1, dlq: true, steps: [{step: a}, {human: h}, "
                  "{wait: s, event: go}, {step: b}]}");
    policy.instances_completed_ms = DAY_MS;
    set(&fw, &policy);
    wf_do_badly(&fw, "a");
    cairn_page *dlq = NULL;
    CHECK_DONE(&fw.world, cairn_dlq_list(fw.world.engine, NULL, 10, &dlq, &fw.world.error));
    CHECK_DONE(&fw.world, cairn_dlq_requeue(fw.world.engine, cairn_page_dlq_record(dlq, 0)->id,
                                            NULL, &fw.world.error));
    cairn_page_free(dlq);
    wf_do(&fw, "a");
    CHECK_DONE(&fw.world, cairn_instance_decide(fw.world.engine, fw.id, "h", true, "ada", NULL,
                                                &fw.world.error));
    wf_signal(&fw, "go", "1");
    wf_do(&fw, "b");
    wf_check_status(&fw, "completed");
    wf_advance(&fw, DAY_MS - 1);
    CHECK(has_instance(&fw, fw.id), "it is younger than the policy");
    CHECK(count_rows(&fw, "workflow_step") == 4 || !count_rows(&fw, "workflow_step"), "steps");
    wf_advance(&fw, MINUTE_MS + 1);
    CHECK(!has_instance(&fw, fw.id), "it is old");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        CHECK(count_rows(&fw, tables[i]) == 0, "%s has %lld rows", tables[i],
              count_rows(&fw, tables[i]));
    wf_close(&fw);
}

TEST(an_open_dead_letter_keeps_its_instance)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: undo, max_attempts: 1}}, {step: b}"));
    wf_do(&fw, "a");
    wf_do_badly(&fw, "b");
    struct task undo = wf_take_undo(&fw, "a");
    CHECK_INT(wf_report(&fw, &undo, CAIRN_DEAD, "no"), CAIRN_OK);
    wf_check_status(&fw, "failed");
    wf_advance(&fw, 400 * DAY_MS);
    CHECK(has_instance(&fw, fw.id), "its record is open");
    CHECK_REFUSED(&fw.world, cairn_instance_delete(fw.world.engine, fw.id, &fw.world.error),
                  CAIRN_E_WRONG_STATE);
    CHECK(strstr(fw.world.error.message, "dead letter"), "%s", fw.world.error.message);
    wf_close(&fw);
}

TEST(an_event_that_was_not_acknowledged_keeps_its_instance)
{
    struct flow_world fw;
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    cairn_outbound outbound = CAIRN_OUTBOUND_DEFAULTS;
    cairn_page *events = NULL;
    wf_begin(&fw, FLOW("{step: a}"));
    struct task task = wf_take_step(&fw, "a");
    outbound.event = "made";
    report.outbound = &outbound;
    report.outbound_count = 1;
    report.outcome = CAIRN_COMPLETE;
    CHECK_INT(wf_report_as(&fw, &task, &report), CAIRN_OK);
    wf_check_status(&fw, "completed");
    wf_advance(&fw, 100 * DAY_MS);
    CHECK(has_instance(&fw, fw.id), "an event waits");
    CHECK_DONE(&fw.world,
               cairn_outbox_claim(fw.world.engine, "d", 1, 1000, &events, &fw.world.error));
    CHECK_INT(cairn_page_count(events), 1);
    CHECK_DONE(&fw.world,
               cairn_outbox_ack(fw.world.engine, cairn_page_outbox_event(events, 0)->id,
                                &fw.world.error));
    cairn_page_free(events);
    wf_advance(&fw, DAY_MS);
    CHECK(!has_instance(&fw, fw.id), "nothing waits any more");
    CHECK_INT(count_rows(&fw, "workflow_outbox"), 0);
    wf_close(&fw);
}

TEST(an_instance_that_has_not_ended_is_never_touched)
{
    struct flow_world fw;
    cairn_purge_options all = CAIRN_PURGE_DEFAULTS;
    wf_begin(&fw, FLOW("{wait: s, event: go}"));
    wf_advance(&fw, 1000 * DAY_MS);
    all.older_than_ms = 0;
    CHECK_INT(purge(&fw, all).instances, 0);
    CHECK_REFUSED(&fw.world, cairn_instance_delete(fw.world.engine, fw.id, &fw.world.error),
                  CAIRN_E_WRONG_STATE);
    wf_check_status(&fw, "waiting_signal");
    CHECK_REFUSED(&fw.world,
                  cairn_instance_delete(fw.world.engine, "01a1e69b-0000-7000-8000-000000000000",
                                        &fw.world.error),
                  CAIRN_E_NOT_FOUND);
    wf_close(&fw);
}

/* ---- by hand ------------------------------------------------------------------------------- */

TEST(a_purge_removes_what_it_is_asked_for_and_nothing_else)
{
    struct flow_world fw;
    cairn_purge_options options = CAIRN_PURGE_DEFAULTS;
    cairn_purged purged;
    wf_begin(&fw, FLOW("{step: a}"));
    wf_do(&fw, "a");
    CHECK_REFUSED(&fw.world, cairn_purge(fw.world.engine, &options, &purged, &fw.world.error),
                  CAIRN_E_BAD_INPUT);
    options.status = "running";
    CHECK_REFUSED(&fw.world, cairn_purge(fw.world.engine, &options, &purged, &fw.world.error),
                  CAIRN_E_BAD_INPUT);
    cairn_enqueued one = world_add(&fw.world, "a.one.v1"),
                   two = world_add(&fw.world, "a.two.v1");
    cairn_enqueued bad = world_add(&fw.world, "a.bad.v1");
    end_job(&fw, "a.one.v1", CAIRN_COMPLETE);
    end_job(&fw, "a.two.v1", CAIRN_COMPLETE);
    end_job(&fw, "a.bad.v1", CAIRN_DEAD);
    options.status = NULL;
    options.workflow = "another";
    CHECK_INT(purge(&fw, options).instances, 0);
    CHECK_INT(purge_type(&fw, "a.one.v1").jobs, 1);
    CHECK(!has_job(&fw, one.id) && has_job(&fw, two.id), "only the first");
    wf_advance(&fw, HOUR_MS);
    options = (cairn_purge_options)CAIRN_PURGE_DEFAULTS;
    options.older_than_ms = 2 * HOUR_MS;
    CHECK_INT(purge(&fw, options).jobs, 0);
    options.older_than_ms = HOUR_MS;
    options.status = "failed,aborted";
    purged = purge(&fw, options);
    CHECK_INT(purged.jobs, 1);
    CHECK_INT(purged.instances, 0);
    CHECK(!has_job(&fw, bad.id) && has_instance(&fw, fw.id), "the failed one");
    options.status = NULL;
    purged = purge(&fw, options);
    CHECK_INT(purged.jobs, 1);
    CHECK_INT(purged.instances, 1);
    CHECK_INT(count_rows(&fw, "workflow_event_log"), 0);
    wf_close(&fw);
}

/* ---- events that several share ------------------------------------------------------------- */

/* All events of a job as a text. */
static char *events_of(struct flow_world *fw, const char *id)
{
    cairn_page *page = NULL;
    char *text = calloc(1, 4096);
    CHECK_DONE(&fw->world,
               cairn_job_events(fw->world.engine, id, NULL, 100, &page, &fw->world.error));
    for (size_t i = 0; i < cairn_page_count(page); i++) {
        const cairn_event *event = cairn_page_event(page, i);
        snprintf(text + strlen(text), 4096 - strlen(text), "%lld %s %s %lld\n",
                 (long long)event->id, event->type, event->data, (long long)event->at_us);
    }
    cairn_page_free(page);
    return text;
}

/* Forty jobs share their rows of the log; when three are left, these are written anew. */
TEST(events_of_others_stay_as_they_are)
{
    enum { JOBS = 40, LEFT = 3 };
    struct flow_world fw;
    cairn_job_spec specs[JOBS];
    cairn_enqueued jobs[JOBS];
    char types[JOBS][16], *before[JOBS];
    wf_open(&fw);
    for (size_t i = 0; i < JOBS; i++) {
        snprintf(types[i], sizeof types[i], "t%zu.v1", i);
        specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
        specs[i].type = types[i];
    }
    CHECK_DONE(&fw.world, cairn_enqueue(fw.world.engine, specs, JOBS, jobs, &fw.world.error));
    static struct held held[JOBS];
    CHECK_INT(world_take_many(&fw.world, "w", "%", JOBS, held), JOBS);
    for (size_t i = 0; i < JOBS; i++)
        CHECK_INT(world_report(&fw.world, &held[i], CAIRN_COMPLETE, "1"), CAIRN_OK);
    for (size_t i = 0; i < JOBS; i++)
        before[i] = events_of(&fw, jobs[i].id);
    long long all = count_rows(&fw, "workflow_event_stream");
    for (size_t i = 0; i < JOBS - 1; i++) {
        size_t at = (i * 7) % JOBS;
        CHECK_INT(purge_type(&fw, types[at]).jobs, 1);
        CHECK_INT(count_rows(&fw, "workflow_event_stream"),
                  all / JOBS * (long long)(JOBS - 1 - i));
        CHECK_INT(count_rows(&fw, "workflow_event"), all / JOBS * (long long)(JOBS - 1 - i));
        for (size_t other = 0; other < JOBS; other++) {
            if (!has_job(&fw, jobs[other].id))
                continue;
            char *now = events_of(&fw, jobs[other].id);
            CHECK_STR(now, before[other]);
            free(now);
        }
    }
    for (size_t i = 0; i < JOBS; i++)
        free(before[i]);
    CHECK(all == 0 || count_rows(&fw, "workflow_event_log") > 0, "one is left");
    purge_type(&fw, types[((JOBS - 1) * 7) % JOBS]);
    CHECK_INT(count_rows(&fw, "workflow_event_log"), 0);
    CHECK_INT(count_rows(&fw, "workflow_event_gone"), 0);
    wf_close(&fw);
}
