/* capi.h - what the Go package needs of cairn.h in another form: structs are filled here, so that
 * Go passes plain arguments only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cairn.h>
#include <stdlib.h>
#include <string.h>

struct go_open {
    uint64_t seed;
    int64_t start_us;
    uint32_t retry_ms;
    size_t max_payload, max_batch;
    bool no_migrate, no_timers, virtual_clock;

    bool is_trial; /* then also: */
    double fail, crash, timeout, late, twice, restart;
};

static inline cairn_code go_open(const char *url, const char *token, const char *fail_of,
                                 struct go_open with, cairn_engine **ret_engine,
                                 cairn_error *reterr)
{
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = url;
    options.token = token;
    options.seed = with.seed;
    options.start_us = with.start_us;
    options.retry_ms = with.retry_ms;
    options.max_payload = with.max_payload;
    options.max_batch = with.max_batch;
    options.no_migrate = with.no_migrate;
    options.no_timers = with.no_timers;
    options.virtual_clock = with.virtual_clock;
    if (!with.is_trial)
        return cairn_open(&options, ret_engine, reterr);
    cairn_trial_options trial = CAIRN_TRIAL_DEFAULTS;
    trial.seed = with.seed;
    trial.fail = with.fail;
    trial.crash = with.crash;
    trial.timeout = with.timeout;
    trial.late = with.late;
    trial.twice = with.twice;
    trial.restart = with.restart;
    trial.fail_of = fail_of;
    return cairn_trial_open(&options, &trial, ret_engine, reterr);
}

static inline cairn_code go_call(cairn_engine *engine, const char *method, const char *target,
                                 const char *body, size_t body_len,
                                 cairn_response **ret_response, cairn_error *reterr)
{
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    request.method = method;
    request.target = target;
    request.body = body;
    request.body_len = body_len;
    return cairn_call(engine, &request, ret_response, reterr);
}

/* The tasks of a page, as an array of pointers. */
static inline void go_tasks(const cairn_page *page, const cairn_task **ret_tasks)
{
    size_t count = cairn_page_count(page);
    for (size_t i = 0; i < count; i++)
        ret_tasks[i] = cairn_page_task(page, i);
}

static inline void go_report_init(cairn_report *report)
{
    *report = (cairn_report)CAIRN_REPORT_DEFAULTS;
}

static inline void go_claim_init(cairn_claim_options *options)
{
    *options = (cairn_claim_options)CAIRN_CLAIM_DEFAULTS;
}

static inline void go_step_init(cairn_step_options *options)
{
    *options = (cairn_step_options)CAIRN_STEP_DEFAULTS;
}

static inline void go_job_init(cairn_job_spec *spec)
{
    *spec = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
}

static inline void go_start_init(cairn_start_options *options)
{
    *options = (cairn_start_options)CAIRN_START_DEFAULTS;
}

/* A library from before these calls: claims wait for a second at most, and there are no notices. */
#ifdef CAIRN_ABI
enum { GO_CAN_WAKE = 1 };

static inline void go_wake(cairn_engine *engine, const char *worker)
{
    cairn_wake(engine, worker);
}

static inline int go_notices(cairn_engine *engine, cairn_response **ret_response)
{
    return cairn_notices(engine, ret_response);
}
#else
enum { GO_CAN_WAKE = 0 };

static inline void go_wake(cairn_engine *engine, const char *worker)
{
    (void)engine, (void)worker;
}

static inline int go_notices(cairn_engine *engine, cairn_response **ret_response)
{
    (void)engine, (void)ret_response;
    return 0;
}
#endif
