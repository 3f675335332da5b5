// tests/unit/test_cplusplus.cpp - cairn.h in C++: every _DEFAULTS, without a warning, and the same
// values as in C.
//
// SPDX-License-Identifier: Apache-2.0
#include "cairn.h"

#include <cstdio>
#include <cstring>

// In test_cplusplus_c.c: the same, made by C.
extern "C" {
extern const cairn_open_options c_open;
extern const cairn_job_spec c_job;
extern const cairn_report c_report;
extern const cairn_step_options c_step;
}

static int failures = 0;

template <typename T> static void check_size(const T &options, const char *name)
{
    if (options.size == sizeof(T))
        return;
    std::printf("# the size of %s is %zu\n", name, options.size);
    failures++;
}

static void check(bool is_so, const char *claim)
{
    if (is_so)
        return;
    std::printf("# not so: %s\n", claim);
    failures++;
}

#define CHECK_SIZE(type, defaults)       \
    do {                                 \
        const type options = defaults;   \
        check_size(options, #defaults);  \
    } while (0)
#define CHECK(claim) check(claim, #claim)

int main()
{
    CHECK_SIZE(cairn_open_options, CAIRN_OPEN_DEFAULTS);
    CHECK_SIZE(cairn_schema, CAIRN_SCHEMA_DEFAULTS);
    CHECK_SIZE(cairn_trial_options, CAIRN_TRIAL_DEFAULTS);
    CHECK_SIZE(cairn_job_spec, CAIRN_JOB_DEFAULTS);
    CHECK_SIZE(cairn_job_filter, CAIRN_JOB_FILTER_DEFAULTS);
    CHECK_SIZE(cairn_registry_spec, CAIRN_REGISTRY_DEFAULTS);
    CHECK_SIZE(cairn_schedule_spec, CAIRN_SCHEDULE_DEFAULTS);
    CHECK_SIZE(cairn_limit_spec, CAIRN_LIMIT_DEFAULTS);
    CHECK_SIZE(cairn_function_code, CAIRN_FUNCTION_CODE_DEFAULTS);
    CHECK_SIZE(cairn_known, CAIRN_KNOWN_DEFAULTS);
    CHECK_SIZE(cairn_claim_options, CAIRN_CLAIM_DEFAULTS);
    CHECK_SIZE(cairn_outbound, CAIRN_OUTBOUND_DEFAULTS);
    CHECK_SIZE(cairn_report, CAIRN_REPORT_DEFAULTS);
    CHECK_SIZE(cairn_beat, CAIRN_BEAT_DEFAULTS);
    CHECK_SIZE(cairn_worker_options, CAIRN_WORKER_DEFAULTS);
    CHECK_SIZE(cairn_start_options, CAIRN_START_DEFAULTS);
    CHECK_SIZE(cairn_instance_filter, CAIRN_INSTANCE_FILTER_DEFAULTS);
    CHECK_SIZE(cairn_signal_options, CAIRN_SIGNAL_DEFAULTS);
    CHECK_SIZE(cairn_function_options, CAIRN_FUNCTION_DEFAULTS);
    CHECK_SIZE(cairn_step_options, CAIRN_STEP_DEFAULTS);
    CHECK_SIZE(cairn_passage_costs, CAIRN_PASSAGE_COSTS_DEFAULTS);
    CHECK_SIZE(cairn_request, CAIRN_REQUEST_DEFAULTS);
    CHECK_SIZE(cairn_stats, CAIRN_STATS_DEFAULTS);
    CHECK_SIZE(cairn_retention, CAIRN_RETENTION_DEFAULTS);
    CHECK_SIZE(cairn_purge_options, CAIRN_PURGE_DEFAULTS);

    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_job_spec jobs[2] = {CAIRN_JOB_DEFAULTS, CAIRN_JOB_DEFAULTS};
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    cairn_step_options step = CAIRN_STEP_DEFAULTS;
    CHECK(open.retry_ms == c_open.retry_ms && open.max_payload == c_open.max_payload);
    CHECK(open.missing_cooldown_ms == c_open.missing_cooldown_ms && !open.url);
    CHECK(jobs[1].priority == c_job.priority && jobs[1].max_attempts == c_job.max_attempts);
    CHECK(report.outcome == c_report.outcome && report.delay_ms == c_report.delay_ms);
    CHECK(std::strcmp(step.backoff, c_step.backoff) == 0 && step.retries == c_step.retries);

    cairn_engine *engine = nullptr;
    cairn_error error;
    cairn_enqueued enqueued[2];
    open.url = "memory:";
    jobs[0].type = jobs[1].type = "t.v1";
    CHECK(cairn_open(&open, &engine, &error) == CAIRN_OK);
    CHECK(cairn_enqueue(engine, jobs, 2, enqueued, &error) == CAIRN_OK);
    cairn_close(engine);

    std::printf("1..1\n%sok 1 - the header in C++\n", failures ? "not " : "");
    return failures != 0;
}
