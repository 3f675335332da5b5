/* tests/spec/test_schedules.c - what starts by itself, on every URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "everywhere.h"
#include "scratch.h"

#include <stdlib.h>

#define SECOND_US INT64_C(1000000)
#define SECOND_MS INT64_C(1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)
#define WEEK_MS (7 * DAY_MS)

/* ---- saying it shortly ----------------------------------------------------------------------- */

static int64_t now(struct world *world)
{
    int64_t now_us = 0;
    CHECK_DONE(world, cairn_clock_now(world->engine, &now_us, &world->error));
    return now_us;
}

static void advance(struct world *world, int64_t ms)
{
    CHECK_DONE(world, cairn_clock_advance(world->engine, ms, NULL, &world->error));
}

/* To the next time that is a multiple of this. */
static void advance_to_next(struct world *world, int64_t ms)
{
    int64_t us = ms * 1000;
    advance(world, (us - now(world) % us + 999) / 1000);
}

static void put(struct world *world, const cairn_schedule_spec *spec)
{
    CHECK_DONE(world, cairn_schedule_put(world->engine, spec, &world->error));
}

/* Jobs of t.v1, at every minute of each hour that the expression names. */
static cairn_schedule_spec job_at(const char *cron)
{
    cairn_schedule_spec spec = CAIRN_SCHEDULE_DEFAULTS;
    spec.name = "s";
    spec.cron = cron;
    spec.task = "t.v1";
    return spec;
}

static cairn_schedule_spec job_every(int64_t ms)
{
    cairn_schedule_spec spec = job_at(NULL);
    spec.every_ms = ms;
    return spec;
}

static const cairn_schedule *get(struct world *world, cairn_page **page)
{
    CHECK_DONE(world, cairn_schedule_get(world->engine, "s", page, &world->error));
    return cairn_page_schedule(*page, 0);
}

/* "pending skipped": the statuses of the runs, newest first. */
static void check_runs(struct world *world, const char *wanted)
{
    char seen[1024] = "";
    cairn_page *page;
    const cairn_schedule *schedule = get(world, &page);
    for (size_t i = 0; i < schedule->run_count; i++) {
        strcat(seen, i ? " " : "");
        strcat(seen, schedule->runs[i].status);
    }
    cairn_page_free(page);
    CHECK_STR(seen, wanted);
}

static size_t count_jobs(struct world *world, const char *status)
{
    cairn_page *page;
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    filter.status = status;
    filter.limit = 1000;
    CHECK_DONE(world, cairn_job_list(world->engine, &filter, &page, &world->error));
    size_t count = cairn_page_count(page);
    cairn_page_free(page);
    return count;
}

/* Completes one job, which must be there, or fails it for good. */
static void finish(struct world *world, cairn_outcome outcome)
{
    cairn_page *tasks;
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    cairn_claim_options claim = claim_by("w", 1, 0);
    CHECK_DONE(world, cairn_claim(world->engine, &claim, &tasks, &world->error));
    CHECK_INT(cairn_page_count(tasks), 1);
    const cairn_task *task = cairn_page_task(tasks, 0);
    report.task_id = task->id;
    report.token = task->token;
    report.outcome = outcome;
    CHECK_DONE(world, cairn_report_many(world->engine, "w", &report, 1, NULL, NULL, NULL,
                                        &world->error));
    cairn_page_free(tasks);
}

static void check_refused(struct world *world, const cairn_schedule_spec *spec,
                          const char *message)
{
    cairn_code code = cairn_schedule_put(world->engine, spec, &world->error);
    CHECK(code == CAIRN_E_BAD_INPUT, "%s: %s", message, cairn_code_name(code));
    CHECK(strstr(world->error.message, message), "%s", world->error.message);
}

/* ---- times ----------------------------------------------------------------------------------- */

TEST(a_job_is_recorded_at_each_time_with_its_key_and_the_schedules_name)
{
    struct world world;
    cairn_page *jobs, *page;
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    cairn_schedule_spec spec = job_at("0 * * * *");
    spec.input = "{\"a\":1}";
    open_virtual_world(&world); /* it is 2023-11-14 22:13:20 */
    put(&world, &spec);
    CHECK_INT(count_jobs(&world, NULL), 0);
    const cairn_schedule *schedule = get(&world, &page);
    int64_t next_us = schedule->next_at_us;
    CHECK(next_us > now(&world) && next_us % (3600 * SECOND_US) == 0, "%lld",
          (long long)next_us);
    CHECK_INT(schedule->last_at_us, 0);
    cairn_page_free(page);

    advance_to_next(&world, HOUR_MS);
    CHECK_DONE(&world, cairn_job_list(world.engine, &filter, &jobs, &world.error));
    CHECK_INT(cairn_page_count(jobs), 1);
    const cairn_job *job = cairn_page_job(jobs, 0);
    CHECK_STR(job->schedule, "s");
    CHECK(strncmp(job->idempotency_key, "schedule:s:20", 13) == 0, "%s", job->idempotency_key);
    CHECK(strstr(job->idempotency_key, ":00:00Z"), "%s", job->idempotency_key);
    CHECK(strstr(job->payload, "\"a\""), "%s", job->payload);
    cairn_page_free(jobs);
    schedule = get(&world, &page);
    CHECK_INT(schedule->last_at_us, next_us);
    CHECK_INT(schedule->next_at_us, next_us + 3600 * SECOND_US);
    CHECK_INT(schedule->run_count, 1);
    CHECK_INT(schedule->runs[0].at_us, next_us);
    CHECK_STR(schedule->runs[0].kind, "job");
    cairn_page_free(page);
    close_world(&world);
}

TEST(every_counts_from_set_and_what_is_set_again_goes_on)
{
    struct world world;
    cairn_page *page;
    cairn_schedule_spec spec = job_every(10 * MINUTE_MS);
    open_virtual_world(&world);
    int64_t begin_us = now(&world);
    put(&world, &spec);
    advance(&world, 4 * MINUTE_MS);
    put(&world, &spec);
    CHECK_INT(get(&world, &page)->next_at_us, begin_us + 600 * SECOND_US);
    cairn_page_free(page);
    spec.every_ms = 20 * MINUTE_MS;
    put(&world, &spec);
    CHECK_INT(get(&world, &page)->next_at_us, now(&world) + 1200 * SECOND_US);
    cairn_page_free(page);
    advance(&world, 20 * MINUTE_MS);
    CHECK_INT(count_jobs(&world, NULL), 1);
    close_world(&world);
}

TEST(a_run_takes_the_highest_version_at_its_time)
{
    struct world world;
    cairn_page *page;
    cairn_schedule_spec spec = job_every(HOUR_MS);
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    spec.task = NULL;
    spec.workflow = "w";
    spec.overlap = "allow";
    open_virtual_world(&world);
    put(&world, &spec);
    advance(&world, HOUR_MS); /* there is no such workflow yet */
    check_runs(&world, "failed");
    for (int version = 1; version <= 2; version++) {
        char text[128];
        snprintf(text, sizeof text, "{workflow: w, version: %d, steps: [{step: a}]}", version);
        CHECK_DONE(&world, cairn_workflow_deploy(world.engine, "w", text, NULL, &world.error));
        advance(&world, HOUR_MS);
    }
    CHECK_DONE(&world, cairn_instance_list(world.engine, &filter, &page, &world.error));
    CHECK_INT(cairn_page_count(page), 2);
    CHECK_INT(cairn_page_instance(page, 0)->version, 2);
    CHECK_INT(cairn_page_instance(page, 1)->version, 1);
    CHECK_STR(cairn_page_instance(page, 0)->schedule, "s");
    cairn_page_free(page);
    check_runs(&world, "running running failed");
    close_world(&world);
}

TEST(the_next_times_are_told_in_the_zone_of_the_schedule)
{
    struct world world;
    cairn_page *page;
    cairn_schedule_spec spec = job_at("30 2 * * *");
    spec.timezone = "Asia/Kolkata";
    open_virtual_world(&world);
    put(&world, &spec);
    CHECK_DONE(&world, cairn_schedule_next(world.engine, "s", 3, &page, &world.error));
    CHECK_INT(cairn_page_count(page), 3);
    int64_t after_us = now(&world);
    for (size_t i = 0; i < 3; i++) {
        const cairn_schedule_time *time = cairn_page_schedule_time(page, i);
        CHECK(strstr(time->local, "T02:30:00+05:30"), "%s", time->local);
        CHECK_INT(time->at_us % (24 * 3600 * SECOND_US), 21 * 3600 * SECOND_US);
        CHECK(time->at_us > after_us, "times do not rise");
        after_us = time->at_us;
    }
    cairn_page_free(page);
    close_world(&world);
}

/* ---- overlap --------------------------------------------------------------------------------- */

static void open_overlap(struct world *world, const char *overlap)
{
    cairn_schedule_spec spec = job_every(MINUTE_MS);
    spec.overlap = overlap;
    open_virtual_world(world);
    put(world, &spec);
    advance(world, 3 * MINUTE_MS);
}

TEST(skip_leaves_out_times_while_a_run_has_not_ended)
{
    struct world world;
    open_overlap(&world, "skip");
    check_runs(&world, "skipped skipped pending");
    finish(&world, CAIRN_COMPLETE);
    check_runs(&world, "skipped skipped succeeded");
    advance(&world, MINUTE_MS);
    check_runs(&world, "pending skipped skipped succeeded");
    close_world(&world);
}

TEST(allow_starts_beside_what_runs)
{
    struct world world;
    open_overlap(&world, "allow");
    CHECK_INT(count_jobs(&world, "pending"), 3);
    close_world(&world);
}

TEST(queue_keeps_one_run_which_starts_when_the_earlier_one_has_ended)
{
    struct world world;
    cairn_page *page;
    open_overlap(&world, "queue");
    CHECK_INT(count_jobs(&world, NULL), 1);
    int64_t waiting_us = get(&world, &page)->waiting_at_us;
    CHECK(waiting_us && waiting_us < now(&world), "none waits");
    cairn_page_free(page);
    finish(&world, CAIRN_DEAD);
    advance(&world, 1);
    CHECK_INT(count_jobs(&world, NULL), 2);
    check_runs(&world, "skipped pending failed");
    CHECK_INT(get(&world, &page)->waiting_at_us, 0);
    CHECK_INT(cairn_page_schedule(page, 0)->runs[1].at_us, waiting_us);
    cairn_page_free(page);
    close_world(&world);
}

TEST(cancel_ends_the_earlier_run_and_starts)
{
    struct world world;
    open_overlap(&world, "cancel");
    check_runs(&world, "pending cancelled cancelled");
    CHECK_INT(count_jobs(&world, "pending"), 1);
    close_world(&world);
}

TEST(cancel_starts_when_the_cancelled_instance_is_undone)
{
    struct world world;
    cairn_page *page, *tasks;
    cairn_claim_options claim = claim_by("w", 1, 0);
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    cairn_schedule_spec spec = job_every(HOUR_MS);
    const char *const types[] = {"%"};
    spec.task = NULL;
    spec.workflow = "w";
    spec.overlap = "cancel";
    claim.types = types;
    open_virtual_world(&world);
    CHECK_DONE(&world, cairn_workflow_deploy(world.engine, "w",
                                             "{workflow: w, version: 1, steps: [{step: a, "
                                             "compensation: {handler: u}}, {step: b}]}",
                                             NULL, &world.error));
    put(&world, &spec);
    advance(&world, HOUR_MS);
    for (int i = 0; i < 2; i++) { /* a is done; then it is undone */
        CHECK_DONE(&world, cairn_claim(world.engine, &claim, &tasks, &world.error));
        CHECK_INT(cairn_page_count(tasks), 1);
        CHECK_STR(cairn_page_task(tasks, 0)->type, i ? "u" : "a");
        report.task_id = cairn_page_task(tasks, 0)->id;
        report.token = cairn_page_task(tasks, 0)->token;
        if (i)
            break;
        CHECK_DONE(&world, cairn_report_many(world.engine, "w", &report, 1, NULL, NULL, NULL,
                                             &world.error));
        cairn_page_free(tasks);
        advance(&world, HOUR_MS);
        check_runs(&world, "compensating");
        CHECK(get(&world, &page)->waiting_at_us, "the next run does not wait");
        cairn_page_free(page);
    }
    check_runs(&world, "compensating");
    CHECK_DONE(&world, cairn_report_many(world.engine, "w", &report, 1, NULL, NULL, NULL,
                                         &world.error));
    cairn_page_free(tasks);
    advance(&world, 1);
    check_runs(&world, "running cancelled");
    close_world(&world);
}

/* ---- times that were missed ------------------------------------------------------------------ */

static void pause_for_a_week(struct world *world, cairn_schedule_spec *spec)
{
    open_virtual_world(world);
    put(world, spec);
    CHECK_DONE(world, cairn_schedule_pause(world->engine, "s", &world->error));
    advance(world, WEEK_MS);
    CHECK_INT(count_jobs(world, NULL), 0);
    CHECK_DONE(world, cairn_schedule_resume(world->engine, "s", &world->error));
    advance(world, 2);
}

TEST(after_a_pause_of_a_week_the_last_missed_time_is_made_up_for)
{
    struct world world;
    cairn_page *page;
    cairn_schedule_spec spec = job_at("*/10 * * * *");
    pause_for_a_week(&world, &spec);
    CHECK_INT(count_jobs(&world, NULL), 1);
    const cairn_schedule *schedule = get(&world, &page);
    int64_t behind_us = now(&world) - schedule->last_at_us;
    CHECK(behind_us > 0 && behind_us <= 600 * SECOND_US, "%lld", (long long)behind_us);
    CHECK_INT(schedule->next_at_us, schedule->last_at_us + 600 * SECOND_US);
    cairn_page_free(page);
    close_world(&world);
}

TEST(after_a_pause_of_a_week_nothing_is_made_up_for_with_none)
{
    struct world world;
    cairn_page *page;
    cairn_schedule_spec spec = job_at("*/10 * * * *");
    spec.catch_up = "none";
    pause_for_a_week(&world, &spec);
    CHECK_INT(count_jobs(&world, NULL), 0);
    CHECK(get(&world, &page)->next_at_us > now(&world), "no time is left");
    cairn_page_free(page);
    advance(&world, 10 * MINUTE_MS);
    CHECK_INT(count_jobs(&world, NULL), 1);
    close_world(&world);
}

TEST(after_a_pause_of_a_week_all_are_made_up_for_with_all)
{
    struct world world;
    cairn_schedule_spec spec = job_every(HOUR_MS);
    spec.catch_up = "all";
    spec.overlap = "allow";
    pause_for_a_week(&world, &spec);
    CHECK_INT(count_jobs(&world, NULL), 7 * 24);
    close_world(&world);
}

TEST(all_and_skip_start_one_run_after_a_pause_of_a_week)
{
    struct world world;
    cairn_schedule_spec spec = job_every(MINUTE_MS);
    spec.catch_up = "all";
    pause_for_a_week(&world, &spec);
    CHECK_INT(count_jobs(&world, NULL), 1);
    check_runs(&world, "skipped skipped pending"); /* the last missed one, and that of now */
    close_world(&world);
}

TEST(all_and_queue_start_two_runs_after_a_pause_of_a_week)
{
    struct world world;
    cairn_schedule_spec spec = job_every(MINUTE_MS);
    spec.catch_up = "all";
    spec.overlap = "queue";
    pause_for_a_week(&world, &spec);
    CHECK_INT(count_jobs(&world, NULL), 1);
    finish(&world, CAIRN_COMPLETE);
    advance(&world, 2);
    CHECK_INT(count_jobs(&world, NULL), 2);
    finish(&world, CAIRN_COMPLETE);
    advance(&world, 2);
    CHECK_INT(count_jobs(&world, NULL), 2);
    close_world(&world);
}

TEST(all_and_cancel_leave_the_last_run_after_a_pause_of_a_week)
{
    struct world world;
    cairn_schedule_spec spec = job_every(MINUTE_MS);
    spec.catch_up = "all";
    spec.overlap = "cancel";
    pause_for_a_week(&world, &spec);
    CHECK_INT(count_jobs(&world, "pending"), 1);
    check_runs(&world, "pending cancelled cancelled");
    close_world(&world);
}

TEST(a_time_within_a_second_before_resume_is_not_missed)
{
    struct world world;
    cairn_schedule_spec spec = job_every(MINUTE_MS);
    spec.catch_up = "none";
    open_virtual_world(&world);
    put(&world, &spec);
    CHECK_DONE(&world, cairn_schedule_pause(world.engine, "s", &world.error));
    advance(&world, MINUTE_MS + SECOND_MS);
    CHECK_DONE(&world, cairn_schedule_resume(world.engine, "s", &world.error));
    advance(&world, 0);
    CHECK_INT(count_jobs(&world, NULL), 1);
    close_world(&world);
}

/* ---- with a clock that begins at a given time ------------------------------------------------- */

/* On the store that the world has, or an empty one.  Not over HTTP: there the clock is the server's. */
static void open_at(struct world *world, int64_t seconds)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = world->url = world->url ? world->url : scratch_store();
    open.virtual_clock = true;
    open.start_us = seconds * SECOND_US;
    CHECK_DONE(world, cairn_open(&open, &world->engine, &world->error));
}

/* Nobody has the store open while a week of every ten minutes goes by. */
static void close_for_a_week(struct world *world, const char *catch_up)
{
    const int64_t begin = 1800000000; /* 2027-01-15 08:00:00 UTC */
    cairn_schedule_spec spec = job_at("*/10 * * * *");
    spec.catch_up = catch_up;
    open_at(world, begin);
    put(world, &spec);
    cairn_close(world->engine);
    open_at(world, begin + (WEEK_MS + 5 * MINUTE_MS) / SECOND_MS);
    advance(world, 2);
}

TEST(what_was_missed_while_no_engine_was_open_is_made_up_for_once)
{
    struct world world = {0};
    cairn_page *page;
    if (is_kind("http") || is_kind("memory"))
        return;
    close_for_a_week(&world, "last");
    CHECK_INT(count_jobs(&world, NULL), 1);
    const cairn_schedule *schedule = get(&world, &page);
    CHECK_INT(now(&world) - schedule->last_at_us, 300 * SECOND_US + 2000);
    CHECK_INT(schedule->next_at_us, schedule->last_at_us + 600 * SECOND_US);
    cairn_page_free(page);
    check_runs(&world, "pending");
    cairn_close(world.engine);
}

TEST(what_was_missed_while_no_engine_was_open_is_left_out_with_none)
{
    struct world world = {0};
    if (is_kind("http") || is_kind("memory"))
        return;
    close_for_a_week(&world, "none");
    CHECK_INT(count_jobs(&world, NULL), 0);
    advance(&world, 5 * MINUTE_MS);
    CHECK_INT(count_jobs(&world, NULL), 1);
    cairn_close(world.engine);
}

/* In two days from noon (UTC) before the clocks of Berlin change, at 02:30 there: the seconds since noon. */
static void check_change(int64_t noon, int64_t first, int64_t second)
{
    struct world world = {0};
    cairn_page *page;
    cairn_schedule_spec spec = job_at("30 2 * * *");
    spec.timezone = "Europe/Berlin";
    spec.overlap = "allow";
    open_at(&world, noon);
    put(&world, &spec);
    advance(&world, 2 * DAY_MS);
    const cairn_schedule *schedule = get(&world, &page);
    CHECK_INT(schedule->run_count, 2);
    CHECK_INT(schedule->runs[1].at_us / SECOND_US - noon, first);
    CHECK_INT(schedule->runs[0].at_us / SECOND_US - noon, second);
    cairn_page_free(page);
    CHECK_INT(count_jobs(&world, NULL), 2);
    cairn_close(world.engine);
}

TEST(a_time_that_a_clock_change_skips_or_repeats_is_run_once)
{
    const int64_t minute = 60, hour = 60 * minute;
    if (is_kind("http"))
        return;
    /* 2026-03-29: there is no 02:30; it runs when 02:00 becomes 03:00, at 01:00 UTC. */
    check_change(1774699200, 13 * hour, 36 * hour + 30 * minute);
    /* 2026-10-25: the first 02:30 of two, at 00:30 UTC; the day after it is at 01:30 UTC. */
    check_change(1792843200, 12 * hour + 30 * minute, 37 * hour + 30 * minute);
}

/* ---- control --------------------------------------------------------------------------------- */

TEST(a_trigger_runs_at_once_paused_or_not_with_its_own_time)
{
    struct world world;
    cairn_page *page, *again;
    cairn_schedule_spec spec = job_every(HOUR_MS);
    spec.paused = 1;
    open_virtual_world(&world);
    put(&world, &spec);
    CHECK_DONE(&world, cairn_schedule_trigger(world.engine, "s", &page, &world.error));
    CHECK_DONE(&world, cairn_schedule_trigger(world.engine, "s", &again, &world.error));
    const cairn_schedule_run *run = cairn_page_schedule_run(page, 0);
    CHECK_INT(run->at_us, now(&world));
    CHECK(strcmp(run->id, cairn_page_schedule_run(again, 0)->id) != 0, "both are one run");
    CHECK_INT(count_jobs(&world, NULL), 2);
    cairn_page_free(page);
    cairn_page_free(again);
    advance(&world, DAY_MS);
    CHECK_INT(count_jobs(&world, NULL), 2);
    close_world(&world);
}

TEST(a_schedule_that_is_set_again_stays_paused_unless_it_is_asked_for)
{
    struct world world;
    cairn_page *page;
    cairn_schedule_spec spec = job_every(HOUR_MS);
    open_virtual_world(&world);
    put(&world, &spec);
    CHECK_DONE(&world, cairn_schedule_pause(world.engine, "s", &world.error));
    spec.input = "1";
    put(&world, &spec);
    CHECK(get(&world, &page)->paused, "it goes on");
    cairn_page_free(page);
    spec.paused = 0;
    put(&world, &spec);
    CHECK(!get(&world, &page)->paused, "it is paused");
    cairn_page_free(page);
    close_world(&world);
}

TEST(a_removed_schedule_starts_nothing_and_is_not_found)
{
    struct world world;
    cairn_page *page;
    cairn_schedule_spec spec = job_every(HOUR_MS);
    open_virtual_world(&world);
    put(&world, &spec);
    advance(&world, HOUR_MS);
    CHECK_DONE(&world, cairn_schedule_delete(world.engine, "s", &world.error));
    CHECK_INT(cairn_schedule_delete(world.engine, "s", &world.error), CAIRN_E_NOT_FOUND);
    CHECK_INT(cairn_schedule_pause(world.engine, "s", &world.error), CAIRN_E_NOT_FOUND);
    CHECK_INT(cairn_schedule_trigger(world.engine, "s", &page, &world.error),
              CAIRN_E_NOT_FOUND);
    CHECK_INT(cairn_schedule_next(world.engine, "s", 1, &page, &world.error),
              CAIRN_E_NOT_FOUND);
    advance(&world, DAY_MS);
    CHECK_INT(count_jobs(&world, NULL), 1);
    CHECK_DONE(&world, cairn_schedule_list(world.engine, NULL, 10, &page, &world.error));
    CHECK_INT(cairn_page_count(page), 0);
    cairn_page_free(page);
    close_world(&world);
}

TEST(schedules_are_listed_by_name_page_by_page)
{
    struct world world;
    cairn_page *page, *rest;
    cairn_schedule_spec spec = job_every(HOUR_MS);
    static const char *const names[] = {"c", "a", "b"};
    open_virtual_world(&world);
    for (int i = 0; i < 3; i++) {
        spec.name = names[i];
        put(&world, &spec);
    }
    CHECK_DONE(&world, cairn_schedule_list(world.engine, NULL, 2, &page, &world.error));
    CHECK_INT(cairn_page_count(page), 2);
    CHECK_STR(cairn_page_schedule(page, 0)->name, "a");
    CHECK_DONE(&world, cairn_schedule_list(world.engine, cairn_page_next(page), 2, &rest,
                                           &world.error));
    CHECK_INT(cairn_page_count(rest), 1);
    CHECK_STR(cairn_page_schedule(rest, 0)->name, "c");
    CHECK(!cairn_page_next(rest), "there is more");
    cairn_page_free(page);
    cairn_page_free(rest);
    close_world(&world);
}

TEST(what_cannot_be_is_refused)
{
    struct world world;
    open_virtual_world(&world);
    cairn_schedule_spec spec = job_at("61 * * * *");
    check_refused(&world, &spec, "minute \"61\" is out of range");
    spec = job_at(NULL);
    check_refused(&world, &spec, "cron or every_ms must be given");
    spec = job_every(999);
    check_refused(&world, &spec, "every_ms is 999");
    spec = job_every(1000);
    spec.cron = "* * * * *";
    check_refused(&world, &spec, "only one of them");
    spec = job_every(1000);
    spec.timezone = "Europe/Berlin";
    check_refused(&world, &spec, "timezone is for cron only");
    spec = job_at("* * * * *");
    spec.timezone = "Europe/Nowhere";
    check_refused(&world, &spec, "\"Europe/Nowhere\" does not exist");
    spec = job_every(1000);
    spec.workflow = "w";
    check_refused(&world, &spec, "workflow or task must be given");
    spec = job_every(1000);
    spec.version = 2;
    check_refused(&world, &spec, "version is for workflows only");
    spec = job_every(1000);
    spec.overlap = "both";
    check_refused(&world, &spec, "overlap must be");
    spec = job_every(1000);
    spec.catch_up = "some";
    check_refused(&world, &spec, "catch_up must be");
    spec = job_every(1000);
    spec.name = "";
    check_refused(&world, &spec, "name is empty");
    close_world(&world);
}

TEST(doctor_names_a_schedule_whose_workflow_does_not_exist)
{
    struct world world;
    cairn_page *page;
    bool is_told = false;
    cairn_schedule_spec spec = job_every(HOUR_MS);
    spec.task = NULL;
    spec.workflow = "nothing";
    open_virtual_world(&world);
    put(&world, &spec);
    CHECK_DONE(&world, cairn_doctor(world.engine, &page, &world.error));
    for (size_t i = 0; i < cairn_page_count(page); i++) {
        const cairn_finding *finding = cairn_page_finding(page, i);
        is_told |= strcmp(finding->check, "schedules") == 0 &&
                   strcmp(finding->result, "warning") == 0 && strstr(finding->text, "nothing");
    }
    CHECK(is_told, "doctor does not say it");
    cairn_page_free(page);
    close_world(&world);
}

/* The data of a zone is gone, as in an image without tzdata: others go on, and it does once the data is there again. */
TEST(a_schedule_whose_zone_is_gone_waits_and_the_others_go_on)
{
    struct world world = {0};
    cairn_response *notices;
    cairn_schedule_spec spec = job_at("* * * * *");
    if (is_kind("http"))
        return;
    open_at(&world, 1800000000);
    put(&world, &spec);
    spec.name = "gone";
    spec.timezone = "Europe/Berlin";
    put(&world, &spec);
    CHECK(cairn_notices(world.engine, &notices) >= 0, "memory ran out");
    cairn_response_free(notices);
    setenv("TZDIR", "/nonexistent", 1);
    advance(&world, MINUTE_MS);
    unsetenv("TZDIR");
    CHECK_INT(count_jobs(&world, NULL), 1);
    CHECK_INT(cairn_notices(world.engine, &notices), 1);
    CHECK(strstr(cairn_response_body(notices, NULL), "\"schedule_unreadable\""), "%s",
          cairn_response_body(notices, NULL));
    cairn_response_free(notices);
    advance(&world, MINUTE_MS);
    CHECK_INT(count_jobs(&world, NULL), 2); /* "s" skips its second time */
    cairn_close(world.engine);
}

/* ---- several engines, and the real clock ----------------------------------------------------- */

TEST(three_engines_on_one_store_start_each_run_once)
{
    enum { RUNS = 3 };
    struct world world;
    cairn_engine *third;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    cairn_schedule_spec spec = job_every(SECOND_MS);
    spec.overlap = "allow";
    cairn_page *page;
    open_world(&world);
    if (!world.other || is_kind("http")) {
        close_world(&world);
        return;
    }
    open.url = world.url;
    CHECK_DONE(&world, cairn_open(&open, &third, &world.error));
    put(&world, &spec);
    cairn_engine *const engines[] = {world.engine, world.other, third};
    for (int i = 0; i < RUNS; i++) { /* waits for the run; nobody asks for it */
        cairn_claim_options claim = claim_by("w", 1, PATIENCE_MS);
        CHECK_DONE(&world, cairn_claim(engines[i], &claim, &page, &world.error));
        CHECK_INT(cairn_page_count(page), 1);
        cairn_page_free(page);
    }
    CHECK_DONE(&world, cairn_schedule_delete(third, "s", &world.error));
    CHECK_DONE(&world, cairn_job_list(third, &filter, &page, &world.error));
    size_t count = cairn_page_count(page);
    CHECK(count >= RUNS, "%zu runs", count);
    for (size_t i = 0; i + 1 < count; i++) /* newest first; of one time there is one */
        CHECK(strcmp(cairn_page_job(page, i)->idempotency_key,
                     cairn_page_job(page, i + 1)->idempotency_key) > 0,
              "%s twice", cairn_page_job(page, i)->idempotency_key);
    cairn_page_free(page);
    cairn_close(third);
    close_world(&world);
}
