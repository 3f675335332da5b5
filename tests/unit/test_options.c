/* tests/unit/test_options.c - structs with `size`: every function that takes one refuses a size that
 * no version of the library had, and does nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A case is a call with the struct filled in rightly but for its size.  The page of the header that
 * lists the structs is compared with the cases by check_defaults.py.
 */
#include "cairn.h"
#include "test.h"

struct bench {
    cairn_engine *engine;
    cairn_passage *passage;
    cairn_error error;
};

static cairn_code nothing(cairn_passage *passage, void *arg)
{
    (void)passage;
    (void)arg;
    return CAIRN_OK;
}

static cairn_outcome do_nothing(cairn_work *work, void *arg)
{
    (void)work;
    (void)arg;
    return CAIRN_COMPLETE;
}

/* ---- a call for each function --------------------------------------------------------------- */

/* cairn_open_options */
static cairn_code call_open(struct bench *bench, size_t size)
{
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    cairn_engine *engine = NULL;
    options.url = "memory:";
    options.size = size;
    cairn_code code = cairn_open(&options, &engine, &bench->error);
    cairn_close(engine);
    return code;
}

static cairn_code call_migrate_plan(struct bench *bench, size_t size)
{
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    char *plan = NULL;
    options.url = "memory:";
    options.size = size;
    cairn_code code = cairn_migrate_plan(&options, &plan, &bench->error);
    cairn_text_free(plan);
    return code;
}

static cairn_code call_trial_open(struct bench *bench, size_t size)
{
    cairn_trial_options options = CAIRN_TRIAL_DEFAULTS;
    cairn_engine *engine = NULL;
    options.size = size;
    cairn_code code = cairn_trial_open(NULL, &options, &engine, &bench->error);
    cairn_close(engine);
    return code;
}

/* cairn_job_spec */
static cairn_code call_enqueue(struct bench *bench, size_t size)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    cairn_enqueued enqueued;
    spec.type = "t";
    spec.size = size;
    return cairn_enqueue(bench->engine, &spec, 1, &enqueued, &bench->error);
}

static cairn_code call_start_job(struct bench *bench, size_t size)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    char id[40];
    spec.type = "t";
    spec.size = size;
    return cairn_passage_start_job(bench->passage, NULL, &spec, id, &bench->error);
}

/* cairn_job_filter */
static cairn_code call_job_list(struct bench *bench, size_t size)
{
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    cairn_page *jobs = NULL;
    filter.size = size;
    cairn_code code = cairn_job_list(bench->engine, &filter, &jobs, &bench->error);
    if (!code)
        cairn_page_free(jobs);
    return code;
}

static const char *const no_types[] = {"none"};

static cairn_claim_options claim_of(size_t size)
{
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "w";
    claim.types = no_types;
    claim.type_count = 1;
    claim.size = size;
    return claim;
}

/* cairn_claim_options */
static cairn_code call_claim(struct bench *bench, size_t size)
{
    cairn_claim_options claim = claim_of(size);
    cairn_page *tasks = NULL;
    cairn_code code = cairn_claim(bench->engine, &claim, &tasks, &bench->error);
    if (!code)
        cairn_page_free(tasks);
    return code;
}

static cairn_code call_report_claim(struct bench *bench, size_t size)
{
    cairn_claim_options claim = claim_of(size);
    cairn_page *tasks = NULL;
    cairn_code code =
        cairn_report_many(bench->engine, "w", NULL, 0, NULL, &claim, &tasks, &bench->error);
    if (!code)
        cairn_page_free(tasks);
    return code;
}

/* cairn_function_code */
static cairn_code call_claim_function(struct bench *bench, size_t size)
{
    cairn_function_code function = CAIRN_FUNCTION_CODE_DEFAULTS;
    cairn_claim_options claim = claim_of(sizeof claim);
    cairn_page *tasks = NULL;
    function.name = "none";
    function.version = 1;
    function.size = size;
    claim.functions = &function;
    claim.function_count = 1;
    cairn_code code = cairn_claim(bench->engine, &claim, &tasks, &bench->error);
    if (!code)
        cairn_page_free(tasks);
    return code;
}

/* cairn_known */
static cairn_code call_claim_known(struct bench *bench, size_t size)
{
    cairn_known known = CAIRN_KNOWN_DEFAULTS;
    cairn_claim_options claim = claim_of(sizeof claim);
    cairn_page *tasks = NULL;
    known.instance_id = "none";
    known.size = size;
    claim.known = &known;
    claim.known_count = 1;
    cairn_code code = cairn_claim(bench->engine, &claim, &tasks, &bench->error);
    if (!code)
        cairn_page_free(tasks);
    return code;
}

/* The task does not exist: a report that is read is refused for its lease. */
static cairn_code report(struct bench *bench, const cairn_report *report)
{
    cairn_code code =
        cairn_report_many(bench->engine, "w", report, 1, NULL, NULL, NULL, &bench->error);
    return code == CAIRN_E_LEASE_LOST ? CAIRN_OK : code;
}

static cairn_report report_of_nothing(void)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.task_id = "00000000-0000-4000-8000-000000000001";
    report.token = "t";
    return report;
}

/* cairn_report */
static cairn_code call_report(struct bench *bench, size_t size)
{
    cairn_report given = report_of_nothing();
    given.size = size;
    return report(bench, &given);
}

/* cairn_beat */
static cairn_code call_heartbeat_many(struct bench *bench, size_t size)
{
    cairn_beat beat = CAIRN_BEAT_DEFAULTS;
    beat.task_id = "00000000-0000-4000-8000-000000000000";
    beat.token = "t";
    beat.size = size;
    return cairn_heartbeat_many(bench->engine, "w", &beat, 1, &bench->error);
}

/* cairn_outbound */
static cairn_code call_outbound(struct bench *bench, size_t size)
{
    cairn_report given = report_of_nothing();
    cairn_outbound outbound = CAIRN_OUTBOUND_DEFAULTS;
    outbound.event = "e";
    outbound.size = size;
    given.outbound = &outbound;
    given.outbound_count = 1;
    return report(bench, &given);
}

/* cairn_worker_options */
static cairn_code call_worker_new(struct bench *bench, size_t size)
{
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    cairn_worker *worker = NULL;
    options.size = size;
    cairn_code code = cairn_worker_new(bench->engine, &options, &worker, &bench->error);
    cairn_worker_free(worker);
    return code;
}

/* cairn_function_options */
static cairn_code call_worker_function(struct bench *bench, size_t size)
{
    cairn_function_options options = CAIRN_FUNCTION_DEFAULTS;
    cairn_worker *worker = NULL;
    options.name = "g";
    options.run = nothing;
    options.size = size;
    cairn_code code = cairn_worker_new(bench->engine, NULL, &worker, &bench->error);
    if (!code)
        code = cairn_worker_function(worker, &options, &bench->error);
    cairn_worker_free(worker);
    return code;
}

/* cairn_start_options */
static cairn_code call_start(struct bench *bench, size_t size)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    options.workflow = "f";
    options.size = size;
    return cairn_instance_start(bench->engine, &options, NULL, &bench->error);
}

static cairn_code call_start_workflow(struct bench *bench, size_t size)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    char id[40];
    options.workflow = "f";
    options.size = size;
    return cairn_passage_start_workflow(bench->passage, NULL, &options, id, &bench->error);
}

/* cairn_instance_filter */
static cairn_code call_instance_list(struct bench *bench, size_t size)
{
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    cairn_page *instances = NULL;
    filter.size = size;
    cairn_code code = cairn_instance_list(bench->engine, &filter, &instances, &bench->error);
    if (!code)
        cairn_page_free(instances);
    return code;
}

/* cairn_signal_options */
static cairn_code call_signal(struct bench *bench, size_t size)
{
    cairn_signal_options options = CAIRN_SIGNAL_DEFAULTS;
    options.instance_id = cairn_passage_task(bench->passage)->instance_id;
    options.event = "e";
    options.size = size;
    return cairn_instance_signal(bench->engine, &options, NULL, &bench->error);
}

/* cairn_step_options */
static cairn_code call_step(struct bench *bench, size_t size)
{
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = "s";
    options.run = do_nothing;
    options.size = size;
    return cairn_passage_step(bench->passage, &options, NULL, &bench->error);
}

static cairn_code call_begin_step(struct bench *bench, size_t size)
{
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    cairn_work *work = NULL;
    options.key = "b";
    options.size = size;
    cairn_code code =
        cairn_passage_begin_step(bench->passage, &options, &work, NULL, &bench->error);
    if (!code && work)
        code =
            cairn_passage_end_step(bench->passage, work, CAIRN_COMPLETE, NULL, &bench->error);
    return code;
}

/* cairn_passage_costs */
static cairn_code call_count(struct bench *bench, size_t size)
{
    cairn_passage_costs costs = CAIRN_PASSAGE_COSTS_DEFAULTS;
    costs.size = size;
    cairn_code code = cairn_passage_costs_get(bench->passage, &costs, NULL);
    if (code)
        strcpy(bench->error.message, "it has no words for it");
    return code;
}

/* cairn_request */
static cairn_code call_call(struct bench *bench, size_t size)
{
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    cairn_response *response = NULL;
    request.target = "/healthz";
    request.size = size;
    cairn_code code = cairn_call(bench->engine, &request, &response, &bench->error);
    if (!code)
        cairn_response_free(response);
    return code;
}

static void note_status(void *arg, cairn_response *response)
{
    *(int *)arg = cairn_response_status(response);
    cairn_response_free(response);
}

static cairn_code call_async(struct bench *bench, size_t size)
{
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    int status = 0; /* the route answers in this thread */
    request.target = "/healthz";
    request.arg = &status;
    request.size = size;
    cairn_call_async(bench->engine, &request, note_status);
    strcpy(bench->error.message, "its words are in the response");
    return status == 400 ? CAIRN_E_BAD_INPUT : CAIRN_OK;
}

/* cairn_retention */
static cairn_code call_retention_get(struct bench *bench, size_t size)
{
    cairn_retention policy = CAIRN_RETENTION_DEFAULTS;
    policy.size = size;
    return cairn_retention_get(bench->engine, &policy, &bench->error);
}

static cairn_code call_retention_set(struct bench *bench, size_t size)
{
    cairn_retention policy = CAIRN_RETENTION_DEFAULTS;
    policy.keys_ms = 1;
    policy.size = size;
    return cairn_retention_set(bench->engine, &policy, &bench->error);
}

/* cairn_purge_options */
static cairn_code call_purge(struct bench *bench, size_t size)
{
    cairn_purge_options options = CAIRN_PURGE_DEFAULTS;
    cairn_purged purged;
    options.status = "failed";
    options.size = size;
    return cairn_purge(bench->engine, &options, &purged, &bench->error);
}

/* cairn_registry_spec */
static cairn_code call_registry_put(struct bench *bench, size_t size)
{
    cairn_registry_spec spec = CAIRN_REGISTRY_DEFAULTS;
    spec.workflow_name = "t";
    spec.runtime = "c";
    spec.size = size;
    return cairn_registry_put(bench->engine, &spec, &bench->error);
}

/* cairn_schedule_spec */
static cairn_code call_schedule_put(struct bench *bench, size_t size)
{
    cairn_schedule_spec spec = CAIRN_SCHEDULE_DEFAULTS;
    spec.name = "s";
    spec.cron = "@daily";
    spec.task = "t";
    spec.size = size;
    return cairn_schedule_put(bench->engine, &spec, &bench->error);
}

/* cairn_limit_spec */
static cairn_code call_limit_put(struct bench *bench, size_t size)
{
    cairn_limit_spec spec = CAIRN_LIMIT_DEFAULTS;
    spec.name = "l";
    spec.types = "t";
    spec.concurrency = 1;
    spec.size = size;
    return cairn_limit_put(bench->engine, &spec, &bench->error);
}

/* cairn_schema */
static cairn_code call_schema(struct bench *bench, size_t size)
{
    cairn_schema schema = CAIRN_SCHEMA_DEFAULTS;
    schema.size = size;
    return cairn_schema_get(bench->engine, &schema, &bench->error);
}

/* cairn_stats */
static cairn_code call_stats(struct bench *bench, size_t size)
{
    cairn_stats stats = CAIRN_STATS_DEFAULTS;
    stats.size = size;
    return cairn_stats_get(bench->engine, &stats, &bench->error);
}

static const struct {
    const char *name;
    size_t size;
    cairn_code (*call)(struct bench *bench, size_t size);
} cases[] = {
    {"cairn_open", sizeof(cairn_open_options), call_open},
    {"cairn_migrate_plan", sizeof(cairn_open_options), call_migrate_plan},
    {"cairn_enqueue", sizeof(cairn_job_spec), call_enqueue},
    {"cairn_passage_start_job", sizeof(cairn_job_spec), call_start_job},
    {"cairn_job_list", sizeof(cairn_job_filter), call_job_list},
    {"cairn_claim", sizeof(cairn_claim_options), call_claim},
    {"cairn_report_many, its claim", sizeof(cairn_claim_options), call_report_claim},
    {"cairn_claim, its functions", sizeof(cairn_function_code), call_claim_function},
    {"cairn_claim, what it knows", sizeof(cairn_known), call_claim_known},
    {"cairn_report_many", sizeof(cairn_report), call_report},
    {"cairn_heartbeat_many", sizeof(cairn_beat), call_heartbeat_many},
    {"cairn_report_many, its events", sizeof(cairn_outbound), call_outbound},
    {"cairn_worker_new", sizeof(cairn_worker_options), call_worker_new},
    {"cairn_worker_function", sizeof(cairn_function_options), call_worker_function},
    {"cairn_instance_start", sizeof(cairn_start_options), call_start},
    {"cairn_passage_start_workflow", sizeof(cairn_start_options), call_start_workflow},
    {"cairn_instance_list", sizeof(cairn_instance_filter), call_instance_list},
    {"cairn_instance_signal", sizeof(cairn_signal_options), call_signal},
    {"cairn_passage_step", sizeof(cairn_step_options), call_step},
    {"cairn_passage_begin_step", sizeof(cairn_step_options), call_begin_step},
    {"cairn_passage_costs_get", sizeof(cairn_passage_costs), call_count},
    {"cairn_call", sizeof(cairn_request), call_call},
    {"cairn_call_async", sizeof(cairn_request), call_async},
    {"cairn_stats_get", sizeof(cairn_stats), call_stats},
    {"cairn_registry_put", sizeof(cairn_registry_spec), call_registry_put},
    {"cairn_schedule_put", sizeof(cairn_schedule_spec), call_schedule_put},
    {"cairn_limit_put", sizeof(cairn_limit_spec), call_limit_put},
    {"cairn_schema_get", sizeof(cairn_schema), call_schema},
    {"cairn_retention_get", sizeof(cairn_retention), call_retention_get},
    {"cairn_retention_set", sizeof(cairn_retention), call_retention_set},
    {"cairn_purge", sizeof(cairn_purge_options), call_purge},
    {"cairn_trial_open", sizeof(cairn_trial_options), call_trial_open},
};

/* ---- a passage to call them in --------------------------------------------------------------- */

static cairn_page *open_bench(struct bench *bench)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    const char *types[] = {"f"};
    cairn_page *tasks = NULL;
    cairn_error error = {0};
    *bench = (struct bench){0};
    open.url = "memory:";
    open.virtual_clock = true;
    CHECK_OK(cairn_open(&open, &bench->engine, &error));
    CHECK_OK(cairn_workflow_deploy(bench->engine, "f", "{\"function\": \"f\", \"version\": 1}",
                                   NULL, &error));
    start.workflow = "f";
    CHECK_OK(cairn_instance_start(bench->engine, &start, NULL, &error));
    claim.worker = "w";
    claim.types = types;
    claim.type_count = 1;
    CHECK_OK(cairn_claim(bench->engine, &claim, &tasks, &error));
    CHECK_INT(cairn_page_count(tasks), 1);
    CHECK_OK(cairn_passage_open(bench->engine, "w", cairn_page_task(tasks, 0),
                                CAIRN_COMMIT_STEP, 30000, &bench->passage, &error));
    return tasks;
}

static void close_bench(struct bench *bench, cairn_page *tasks)
{
    cairn_error error = {0};
    if (bench->passage)
        CHECK_OK(cairn_passage_end(bench->passage, CAIRN_OK, NULL, &error));
    cairn_passage_free(bench->passage);
    cairn_page_free(tasks);
    cairn_close(bench->engine);
}

TEST(a_size_that_no_version_had_is_refused_by_every_function)
{
    struct bench bench;
    cairn_page *tasks = open_bench(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = cases[i].size;
        const size_t unknown[] = {0, 1, sizeof(size_t), size - 1, size + 1, size + 8, SIZE_MAX};
        for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++) {
            bench.error = (cairn_error){0};
            cairn_code code = cases[i].call(&bench, unknown[k]);
            CHECK(code == CAIRN_E_BAD_INPUT, "%s with the size %zu is %s", cases[i].name,
                  unknown[k], cairn_code_name(code));
            CHECK(bench.error.message[0], "%s says nothing", cases[i].name);
        }
    }
    cairn_stats stats = CAIRN_STATS_DEFAULTS;
    CHECK_INT(cairn_stats_get(bench.engine, &stats, &bench.error), CAIRN_OK);
    CHECK_INT(stats.enqueued, 0); /* nothing was done */
    CHECK_INT(stats.started, 1);  /* but for the passage */
    close_bench(&bench, tasks);
}

TEST(the_size_of_this_version_is_taken_by_every_function)
{
    struct bench bench;
    cairn_page *tasks = open_bench(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cairn_code code = cases[i].call(&bench, cases[i].size);
        CHECK(code == CAIRN_OK, "%s is %s: %s", cases[i].name, cairn_code_name(code),
              bench.error.message);
    }
    close_bench(&bench, tasks);
}

/* Earlier versions knew less of these. */
TEST(a_size_of_an_earlier_version_is_taken)
{
    struct bench bench;
    cairn_page *tasks = open_bench(&bench);
    CHECK_INT(call_open(&bench, offsetof(cairn_open_options, notice)), CAIRN_OK);
    CHECK_INT(call_claim(&bench, offsetof(cairn_claim_options, functions)), CAIRN_OK);
    CHECK_INT(call_claim(&bench, offsetof(cairn_claim_options, known)), CAIRN_OK);
    CHECK_INT(call_step(&bench, offsetof(cairn_step_options, compensation_backoff)), CAIRN_OK);
    close_bench(&bench, tasks);
}

/* What the passage has done must not be lost for a claim that cannot be read. */
TEST(a_passage_ends_though_the_claim_beside_its_end_is_refused)
{
    struct bench bench;
    cairn_page *tasks = open_bench(&bench), *more = NULL;
    cairn_claim_options claim = claim_of(0);
    char status[24] = "";
    CHECK_INT(
        cairn_passage_end_claim(bench.passage, CAIRN_OK, &claim, status, &more, &bench.error),
        CAIRN_E_BAD_INPUT);
    cairn_passage_free(bench.passage);
    bench.passage = NULL;
    CHECK_STR(status, "completed");
    CHECK(!more, "there are tasks");
    close_bench(&bench, tasks);
}

TEST(entries_of_an_array_have_one_size)
{
    struct bench bench;
    cairn_page *tasks = open_bench(&bench);
    cairn_job_spec specs[2] = {CAIRN_JOB_DEFAULTS, CAIRN_JOB_DEFAULTS};
    cairn_enqueued enqueued[2];
    specs[0].type = specs[1].type = "t";
    specs[1].size = 0;
    CHECK_INT(cairn_enqueue(bench.engine, specs, 2, enqueued, &bench.error), CAIRN_E_BAD_INPUT);
    CHECK(strstr(bench.error.message, "entry 2"), "%s", bench.error.message);
    close_bench(&bench, tasks);
}

/* ---- cairn_sizeof() -------------------------------------------------------------------------- */

#define SIZE(name)          \
    {                       \
#name, sizeof(name) \
    }

TEST(the_library_knows_the_size_of_every_struct)
{
    static const struct {
        const char *name;
        size_t size;
    } structs[] = {
        SIZE(cairn_beat),
        SIZE(cairn_claim_options),
        SIZE(cairn_decision),
        SIZE(cairn_dlq_record),
        SIZE(cairn_effect),
        SIZE(cairn_enqueued),
        SIZE(cairn_error),
        SIZE(cairn_event),
        SIZE(cairn_finding),
        SIZE(cairn_why),
        SIZE(cairn_why_action),
        SIZE(cairn_flaw),
        SIZE(cairn_function_code),
        SIZE(cairn_function_options),
        SIZE(cairn_instance),
        SIZE(cairn_instance_filter),
        SIZE(cairn_job),
        SIZE(cairn_job_filter),
        SIZE(cairn_job_spec),
        SIZE(cairn_kept_stop),
        SIZE(cairn_known),
        SIZE(cairn_log),
        SIZE(cairn_limit),
        SIZE(cairn_limit_rate),
        SIZE(cairn_limit_spec),
        SIZE(cairn_memory),
        SIZE(cairn_open_options),
        SIZE(cairn_outbound),
        SIZE(cairn_outbox_event),
        SIZE(cairn_passage_costs),
        SIZE(cairn_purge_options),
        SIZE(cairn_purged),
        SIZE(cairn_received),
        SIZE(cairn_retention),
        SIZE(cairn_registry_entry),
        SIZE(cairn_registry_spec),
        SIZE(cairn_report),
        SIZE(cairn_reported),
        SIZE(cairn_request),
        SIZE(cairn_schedule),
        SIZE(cairn_schedule_run),
        SIZE(cairn_schedule_spec),
        SIZE(cairn_schedule_time),
        SIZE(cairn_schema),
        SIZE(cairn_signal_options),
        SIZE(cairn_signalled),
        SIZE(cairn_start_options),
        SIZE(cairn_stats),
        SIZE(cairn_step),
        SIZE(cairn_step_options),
        SIZE(cairn_task),
        SIZE(cairn_trial_options),
        SIZE(cairn_worker_options),
        SIZE(cairn_workflow),
    };
    for (size_t i = 0; i < sizeof structs / sizeof *structs; i++)
        CHECK(cairn_sizeof(structs[i].name) == structs[i].size, "%s: %zu, not %zu",
              structs[i].name, cairn_sizeof(structs[i].name), structs[i].size);
    CHECK_INT(cairn_sizeof("cairn_engine"), 0); /* a caller never sees what is in it */
    CHECK_INT(cairn_sizeof("cairn_tas"), 0);
    CHECK_INT(cairn_sizeof(""), 0);
    CHECK_INT(cairn_sizeof(NULL), 0);
    CHECK_INT(cairn_abi(), CAIRN_ABI);
}
