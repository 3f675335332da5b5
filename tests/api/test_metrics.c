/* tests/api/test_metrics.c - /metrics: the sum of all processes, labels in bounds, totals that never fall.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

#define ORDER                                                                                  \
    "{\"workflow\":\"order\",\"version\":1,\"steps\":[{\"step\":\"pay\",\"handler\":\"pay\"}]" \
    "}"

/* Another process of the same store. */
static void open_on(struct caller *caller, const char *url)
{
    cairn_error error;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    *caller = (struct caller){0};
    open.url = url;
    open.virtual_clock = true;
    open.start_us = START_US;
    CHECK_OK(cairn_open(&open, &caller->engine, &error));
}

static void advance(struct caller *caller, long long ms)
{
    call_for(caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%lld}", ms);
}

/* The value of a line such as cairn_commits_total; -1: there is no such line. */
static double value(struct caller *caller, const char *series)
{
    call_for(caller, 200, "GET", "/metrics", NULL);
    size_t len = strlen(series);
    for (const char *at = caller->text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, series, len) == 0 && at[len] == ' ')
            return strtod(at + len, NULL);
    }
    return -1;
}

static void check_value(struct caller *caller, const char *series, double wanted, int line)
{
    double seen = value(caller, series);
    CHECK(seen == wanted, "line %d: %s is %f, not %f: %s", line, series, seen, wanted,
          caller->text);
}

#define CHECK_VALUE(caller, series, wanted) check_value(caller, series, wanted, __LINE__)

/* How many lines begin so. */
static size_t lines(const struct caller *caller, const char *begin)
{
    size_t count = 0;
    for (const char *at = caller->text; at && *at; at = strchr(at, '\n')) {
        at += *at == '\n';
        count += strncmp(at, begin, strlen(begin)) == 0;
    }
    return count;
}

static void report(struct caller *caller, const struct task_held *task, const char *verb)
{
    char target[128];
    snprintf(target, sizeof target, "/v1/tasks/%s/%s", task->id, verb);
    call_for(caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"}", task->token);
}

static void do_job(struct caller *caller, const char *type, const char *verb)
{
    add_job(caller, type);
    struct task_held task = take(caller, type);
    report(caller, &task, verb);
}

static void start_order(struct caller *caller)
{
    call_for(caller, 201, "POST", "/v1/instances", "{\"workflow\":\"order\"}");
}

TEST(ends_are_counted_by_type_or_workflow_and_outcome)
{
    struct caller caller;
    caller_open(&caller);
    do_job(&caller, "mail", "complete");
    do_job(&caller, "mail", "complete");
    do_job(&caller, "mail", "dead");
    char target[128];
    snprintf(target, sizeof target, "/v1/jobs/%s/cancel", add_job(&caller, "mail"));
    call_for(&caller, 200, "POST", target, NULL);
    call_for(&caller, 201, "POST", "/v1/workflows", ORDER);
    start_order(&caller);
    struct task_held task = take(&caller, "pay");
    report(&caller, &task, "complete");
    start_order(&caller);
    snprintf(target, sizeof target, "/v1/instances/%s/cancel", kept_id(&caller));
    call_for(&caller, 200, "POST", target, "{\"by\":\"ann\",\"reason\":\"test\"}");
    start_order(&caller);
    snprintf(target, sizeof target, "/v1/instances/%s/abort", kept_id(&caller));
    call_for(&caller, 200, "POST", target, "{\"by\":\"ann\",\"reason\":\"test\"}");
    CHECK_VALUE(&caller, "cairn_jobs_ended_total{type=\"mail\",outcome=\"succeeded\"}", 2);
    CHECK_VALUE(&caller, "cairn_jobs_ended_total{type=\"mail\",outcome=\"failed\"}", 1);
    CHECK_VALUE(&caller, "cairn_jobs_ended_total{type=\"mail\",outcome=\"cancelled\"}", 1);
    CHECK_VALUE(&caller, "cairn_calls_total{type=\"mail\",outcome=\"completed\"}", 2);
    CHECK_VALUE(&caller, "cairn_calls_total{type=\"mail\",outcome=\"failed\"}", 1);
    CHECK_VALUE(&caller, "cairn_calls_total{type=\"pay\",outcome=\"completed\"}", 1);
    CHECK_VALUE(&caller,
                "cairn_instances_ended_total{workflow=\"order\",outcome=\"completed\"}", 1);
    CHECK_VALUE(&caller,
                "cairn_instances_ended_total{workflow=\"order\",outcome=\"cancelled\"}", 1);
    CHECK_VALUE(&caller, "cairn_instances_ended_total{workflow=\"order\",outcome=\"aborted\"}",
                1);
    CHECK_VALUE(&caller, "cairn_instances_ended_total{workflow=\"order\",outcome=\"failed\"}",
                0);
    caller_close(&caller);
}

TEST(waiting_and_handling_are_histograms_whose_buckets_hold_what_is_below_them)
{
    struct caller caller;
    caller_open(&caller);
    add_job(&caller, "mail");
    advance(&caller, 3000);
    struct task_held task = take(&caller, "mail");
    advance(&caller, 100);
    report(&caller, &task, "complete");
    CHECK_VALUE(&caller, "cairn_queue_wait_seconds_bucket{type=\"mail\",le=\"2.097152\"}", 0);
    CHECK_VALUE(&caller, "cairn_queue_wait_seconds_bucket{type=\"mail\",le=\"4.194304\"}", 1);
    CHECK_VALUE(&caller, "cairn_queue_wait_seconds_bucket{type=\"mail\",le=\"+Inf\"}", 1);
    CHECK_VALUE(&caller, "cairn_queue_wait_seconds_sum{type=\"mail\"}", 3);
    CHECK_VALUE(&caller, "cairn_queue_wait_seconds_count{type=\"mail\"}", 1);
    CHECK_VALUE(&caller, "cairn_handler_seconds_bucket{type=\"mail\",le=\"0.065536\"}", 0);
    CHECK_VALUE(&caller, "cairn_handler_seconds_bucket{type=\"mail\",le=\"0.131072\"}", 1);
    CHECK_VALUE(&caller, "cairn_handler_seconds_sum{type=\"mail\"}", 0.1);
    CHECK_VALUE(&caller, "cairn_handler_seconds_count{type=\"mail\"}", 1);
    CHECK(value(&caller, "cairn_commit_seconds_count") >= 3, "%s", caller.text);
    CHECK_VALUE(&caller, "cairn_commit_seconds_bucket{le=\"+Inf\"}",
                value(&caller, "cairn_commit_seconds_count"));
    caller_close(&caller);
}

TEST(limits_are_told_by_name_and_no_more_than_a_hundred)
{
    struct caller caller;
    char target[64];
    caller_open(&caller);
    call_for(&caller, 200, "GET", "/metrics", NULL);
    CHECK_INT(lines(&caller, "cairn_limit_taken{"), 0);
    for (int i = 0; i < 102; i++) {
        snprintf(target, sizeof target, "/v1/limits/l%03d", i);
        call_for(&caller, 200, "PUT", target, "{\"types\":\"mail\",\"concurrency\":1}");
        CHECK(json_is_null(part(&caller, "taken")), "%s", caller.text);
    }
    add_job(&caller, "mail");
    add_job(&caller, "mail");
    take(&caller, "mail");
    CHECK_VALUE(&caller, "cairn_limit_taken{limit=\"l000\"}", 1);
    CHECK_VALUE(&caller, "cairn_limit_waiting{limit=\"l099\"}", 1);
    CHECK_VALUE(&caller, "cairn_limit_full{limit=\"l099\"}", 1);
    CHECK_VALUE(&caller, "cairn_limit_taken{limit=\"other\"}", 2);
    CHECK_INT(lines(&caller, "cairn_limit_taken{"), 101);
    caller_close(&caller);
}

TEST(what_there_is_now_is_told_by_type)
{
    struct caller caller;
    caller_open(&caller);
    add_job(&caller, "mail");
    advance(&caller, 5000);
    add_job(&caller, "mail");
    add_job(&caller, "mail");
    take(&caller, "mail");
    advance(&caller, 2000);
    CHECK_VALUE(&caller, "cairn_type_ready{type=\"mail\"}", 2);
    CHECK_VALUE(&caller, "cairn_type_leased{type=\"mail\"}", 1);
    CHECK_VALUE(&caller, "cairn_type_oldest_ready_seconds{type=\"mail\"}", 2);
    CHECK_VALUE(&caller, "cairn_type_workers{type=\"mail\"}", 1);
    CHECK_VALUE(&caller, "cairn_dlq_open", 0);
    CHECK_VALUE(&caller, "cairn_approvals_waiting", 0);
    CHECK(value(&caller, "cairn_database_bytes") > 4096, "%s", caller.text);
    CHECK_INT(lines(&caller, "cairn_build_info{version=\"" CAIRN_VERSION "\",store=\""), 1);
    caller_close(&caller);
}

/* Whoever is asked; what has been counted a moment ago by another one comes within ten seconds. */
TEST(each_process_answers_the_sum_of_all)
{
    struct caller one, two;
    const char *url = scratch_store();
    open_on(&one, url);
    open_on(&two, url);
    do_job(&one, "mail", "complete");
    do_job(&two, "mail", "complete");
    do_job(&two, "mail", "dead");
    CHECK_VALUE(&one, "cairn_jobs_enqueued_total", 1);
    CHECK_VALUE(&two, "cairn_jobs_enqueued_total", 3);
    CHECK_VALUE(&one, "cairn_jobs_enqueued_total", 3);
    CHECK_VALUE(&one, "cairn_jobs_ended_total{type=\"mail\",outcome=\"succeeded\"}", 2);
    CHECK_VALUE(&one, "cairn_jobs_ended_total{type=\"mail\",outcome=\"failed\"}", 1);
    CHECK_VALUE(&one, "cairn_handler_seconds_count{type=\"mail\"}", 3);
    do_job(&two, "mail", "complete");
    advance(&two, 11000);
    add_job(&two, "later"); /* any commit writes what is ten seconds old */
    CHECK_VALUE(&one, "cairn_jobs_enqueued_total", 4);
    caller_close(&two); /* writes what is left */
    CHECK_VALUE(&one, "cairn_jobs_enqueued_total", 5);
    caller_close(&one);
}

/* A job that one process has given out and another one sees completed. */
TEST(a_job_is_counted_under_its_type_whoever_is_told_of_its_end)
{
    struct caller one, two;
    const char *url = scratch_store();
    open_on(&one, url);
    open_on(&two, url);
    add_job(&one, "mail");
    struct task_held task = take(&one, "mail");
    report(&two, &task, "complete");
    CHECK_VALUE(&two, "cairn_jobs_ended_total{type=\"mail\",outcome=\"succeeded\"}", 1);
    caller_close(&one);
    caller_close(&two);
}

/* Thirty minutes without a write: the process goes on under another name.  An hour: another process adds its
 * rows to those of the processes that are gone.  It counts on, and nothing is counted twice or falls. */
TEST(totals_neither_fall_nor_double_when_a_process_is_taken_for_gone)
{
    struct caller one, two;
    const char *url = scratch_store();
    open_on(&one, url);
    open_on(&two, url);
    do_job(&one, "mail", "complete");
    do_job(&two, "mail", "complete");
    CHECK_VALUE(&one, "cairn_jobs_enqueued_total", 1);
    CHECK_VALUE(&two, "cairn_jobs_enqueued_total", 2);
    for (int round = 1; round <= 3; round++) {
        advance(&two, 61LL * 60 * 1000);
        add_job(&two, "later");
        advance(&two, 11000);
        add_job(&two, "later"); /* folds what is gone */
        CHECK_VALUE(&two, "cairn_jobs_enqueued_total", 2 + 2 * round + (round - 1));
        advance(&one, 61LL * 60 * 1000 + 11000);
        CHECK_VALUE(&one, "cairn_jobs_enqueued_total", 2 + 2 * round + (round - 1));
        do_job(&one, "mail", "complete");
        CHECK_VALUE(&one, "cairn_jobs_enqueued_total", 2 + 3 * round);
        CHECK_VALUE(&one, "cairn_jobs_ended_total{type=\"mail\",outcome=\"succeeded\"}",
                    2 + round);
        CHECK_VALUE(&one, "cairn_handler_seconds_count{type=\"mail\"}", 2 + round);
        CHECK_VALUE(&two, "cairn_jobs_enqueued_total", 2 + 3 * round);
    }
    caller_close(&one);
    caller_close(&two);
}

TEST(a_thousand_types_are_a_hundred_labels_and_other)
{
    struct caller caller;
    double sum = 0;
    caller_open(&caller);
    for (int i = 0; i < 1000; i++) {
        char type[16];
        snprintf(type, sizeof type, "t%03d", i);
        add_job(&caller, type);
    }
    for (int i = 0; i < 10; i++) {
        call_for(&caller, 200, "POST", "/v1/tasks/claim",
                 "{\"worker\":\"w\",\"types\":[\"t%%\"],\"max\":100}");
        CHECK_INT(json_array_size(part(&caller, "tasks")), 100);
    }
    CHECK_VALUE(&caller, "cairn_jobs_enqueued_total", 1000);
    CHECK_INT(lines(&caller, "cairn_queue_wait_seconds_count{"), 101);
    CHECK_VALUE(&caller, "cairn_queue_wait_seconds_count{type=\"t000\"}", 1);
    CHECK_VALUE(&caller, "cairn_queue_wait_seconds_count{type=\"other\"}", 900);
    CHECK_INT(lines(&caller, "cairn_type_leased{"), 101);
    add_job(&caller, "other"); /* a type of this name is no second line */
    CHECK_VALUE(&caller, "cairn_type_ready{type=\"other\"}", 1);
    CHECK_INT(lines(&caller, "cairn_type_ready{type=\"other\"}"), 1);
    for (const char *at = caller.text; at && *at; at = strchr(at, '\n')) {
        static const char begin[] = "cairn_type_leased{";
        at += *at == '\n';
        const char *end = strchr(at, '}');
        if (strncmp(at, begin, strlen(begin)) == 0 && end)
            sum += strtod(end + 1, NULL);
    }
    CHECK(sum == 1000, "%f are leased", sum);
    caller_close(&caller);
}

TEST(hostile_names_are_escaped)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"a\\\"} 1\\\\n{b\\\\\\\\\"}");
    CHECK_VALUE(&caller, "cairn_type_ready{type=\"a\\\"} 1\\\\n{b\\\\\\\\\"}", 1);
    CHECK_VALUE(&caller, "cairn_jobs_enqueued_total", 1);
    caller_close(&caller);
}
