/* tests/engine/rig.c - an engine without threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

#include "scratch.h"

#include <stdlib.h>

static struct request *made[10000];
static size_t made_count;

static void note_done(struct request *request)
{
    *(bool *)request->arg = true;
}

struct request *rig_make(enum request_op op)
{
    struct request *request = request_new(op);
    if (!request || made_count == sizeof made / sizeof *made)
        abort();
    request->done = note_done;
    request->arg = arena_zalloc(&request->arena, sizeof(bool));
    made[made_count++] = request;
    return request;
}

bool rig_is_done(const struct request *request)
{
    return *(const bool *)request->arg;
}

void rig_init(struct rig *rig, uint32_t retry_ms)
{
    static struct clock opening;
    cairn_error error;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.virtual_clock = true;
    options.start_us = RIG_START_S * US_PER_SEC;
    options.seed = 7;
    options.retry_ms = retry_ms;
    clock_init_virtual(&opening, options.start_us);

    struct store *memory;
    rig->url = getenv("CAIRN_TEST_STORE") ? scratch_store() : "memory:";
    struct store_config config = {.url = rig->url, .clock = &opening, .lock_wait_ms = 5000};
    CHECK_OK(store_open(&config, &memory, &error));
    rig->faulty = faulty_wrap(memory, 1, 0);
    CHECK(rig->faulty, "no memory");
    CHECK_OK(local_engine_new(&options, rig->faulty, &rig->engine, &error));
}

void rig_close(struct rig *rig)
{
    cairn_close(&rig->engine->base);
    rig->engine = NULL;
}

void rig_done(struct rig *rig)
{
    cairn_close(rig->engine ? &rig->engine->base : NULL);
    while (made_count)
        request_free(made[--made_count]);
}

struct request *rig_enqueue(struct rig *rig, const char *type, const char *key)
{
    (void)rig;
    struct request *request = rig_make(OP_ENQUEUE);
    cairn_job_spec *spec = arena_zalloc(&request->arena, sizeof *spec);
    *spec = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
    spec->type = type;
    spec->key = key;
    request->in.enqueue.specs = spec;
    request->in.enqueue.count = 1;
    return request;
}

static cairn_claim_options claim_options(struct request *request, const char *type,
                                         uint32_t wait_ms)
{
    const char **types = arena_zalloc(&request->arena, sizeof *types);
    types[0] = type;
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "w";
    claim.types = types;
    claim.type_count = 1;
    claim.wait_ms = wait_ms;
    return claim;
}

struct request *rig_deploy(const char *text)
{
    struct request *request = rig_make(OP_DEPLOY);
    request->in.deploy =
        (struct deploy_input){.file = "w.json", .text = text, .len = strlen(text)};
    return request;
}

struct request *rig_start(const char *workflow)
{
    struct request *request = rig_make(OP_START);
    request->in.start = (cairn_start_options)CAIRN_START_DEFAULTS;
    request->in.start.workflow = workflow;
    return request;
}

struct request *rig_claim(struct rig *rig, const char *type, uint32_t wait_ms)
{
    (void)rig;
    struct request *request = rig_make(OP_CLAIM);
    request->in.claim = claim_options(request, type, wait_ms);
    return request;
}

struct request *rig_report(const struct request *claim, cairn_outcome outcome)
{
    const cairn_task *task = &claim->out.page.tasks[0];
    struct request *request = rig_make(OP_REPORT);
    cairn_report *report = arena_zalloc(&request->arena, sizeof *report);
    *report = (cairn_report)CAIRN_REPORT_DEFAULTS;
    report->task_id = task->id;
    report->token = task->token;
    report->outcome = outcome;
    request->in.report = (struct report_input){.worker = "w", .reports = report, .count = 1};
    return request;
}

struct request *rig_complete(struct rig *rig, const struct request *claim, bool is_claiming)
{
    (void)rig;
    struct request *request = rig_report(claim, CAIRN_COMPLETE);
    request->in.report.is_claiming = is_claiming;
    if (is_claiming)
        request->in.report.claim = claim_options(request, "%", 60000);
    return request;
}

struct request *rig_control(struct rig *rig, enum request_op op, const char *id)
{
    (void)rig;
    struct request *request = rig_make(op);
    request->in.id = id;
    return request;
}

void rig_answer(struct rig *rig, struct request *request)
{
    struct store_session *session;
    cairn_error error;
    struct store *store = rig->engine->store;
    CHECK_OK(store->ops->session_open(store, SESSION_READER, &session, &error));
    request->code = read_run(rig->engine, session, request);
    store->ops->session_close(session);
}

struct request *rig_read(struct rig *rig, enum request_op op, const char *id)
{
    struct request *request = rig_make(op);
    if (op == OP_JOB_EVENTS || op == OP_INSTANCE_EVENTS || op == OP_STEP_LIST)
        request->in.page = (struct page_input){.id = id, .limit = 1000};
    else
        request->in.id = id;
    rig_answer(rig, request);
    return request;
}

void rig_submit(struct rig *rig, struct request *request)
{
    rig->engine->base.ops->submit(&rig->engine->base, request);
}

void rig_run(struct rig *rig)
{
    while (committer_run_once(&rig->engine->committers[0]))
        ;
}

/* A committer that rests is woken early: the time of a rest is real, and tests do not wait. */
static void end_rest(struct rig *rig)
{
    rig->engine->committers[0].rest_until_us = 0;
}

cairn_code rig_do(struct rig *rig, struct request *request)
{
    rig_submit(rig, request);
    for (int i = 0; i < 100 && !rig_is_done(request); i++) {
        end_rest(rig);
        rig_run(rig);
    }
    CHECK(rig_is_done(request), "%s is not done", request_op_name(request->op));
    return request->code;
}

const char *rig_events(struct rig *rig, const char *id)
{
    static char text[4096];
    struct request *request = rig_read(rig, OP_JOB_EVENTS, id);
    CHECK(request->code == CAIRN_OK, "events of %s: %s", id, request->error.message);
    text[0] = '\0';
    for (size_t i = 0; i < request->out.page.count; i++) {
        strcat(text, i ? " " : "");
        strcat(text, request->out.page.events[i].type);
    }
    return text;
}

struct request *rig_claim_function(struct rig *rig)
{
    static const char file[] = "{\"function\": \"f\", \"version\": 1}";
    struct request *deploy = rig_make(OP_DEPLOY), *start = rig_make(OP_START);
    deploy->in.deploy = (struct deploy_input){.text = file, .len = sizeof file - 1};
    start->in.start = (cairn_start_options)CAIRN_START_DEFAULTS;
    start->in.start.workflow = "f";
    CHECK_INT(rig_do(rig, deploy), CAIRN_OK);
    CHECK_INT(rig_do(rig, start), CAIRN_OK);
    struct request *claim = rig_claim(rig, "f", 0);
    claim->in.claim.lease_ms = RIG_LEASE_MS;
    CHECK_INT(rig_do(rig, claim), CAIRN_OK);
    CHECK_INT(claim->out.page.count, 1);
    return claim;
}

struct request *rig_commit(const cairn_task *task, int32_t place, int64_t revision)
{
    struct request *request = rig_make(OP_COMMIT);
    struct commit_step *step = arena_zalloc(&request->arena, sizeof *step);
    CHECK(step, "no memory");
    *step = (struct commit_step){.seq = place,
                                 .key = arena_printf(&request->arena, "s%d", (int)place),
                                 .kind = "task",
                                 .status = "completed"};
    request->in.commit = (struct commit_input){.worker = "w",
                                               .task_id = task->id,
                                               .token = task->token,
                                               .revision = revision,
                                               .steps = step,
                                               .step_count = 1,
                                               .outcome = PASSAGE_GO_ON,
                                               .extend_ms = RIG_LEASE_MS};
    return request;
}
