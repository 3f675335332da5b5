/* tests/sim/differential.c - the same random operations on SQLite and on another database give the
 * same answers, rows and events, after every operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ids and tokens come from the engines' seed, so they must be the same, too.  $CAIRN_SIM_FROM
 * and $CAIRN_SIM_SEEDS choose the seeds.
 */
#include "differential.h"
#include "base/buf.h"
#include "cairn.h"
#include "scratch.h"
#include "test.h"

#include <jansson.h>
#include <stdlib.h>

enum { OPERATIONS = 40 };

int twin_below(struct twins *twins, int bound)
{
    return (int)rng_below(&twins->rng, (uint64_t)bound);
}

/* ---- texts that can be compared ---------------------------------------------------------- */

/* JSON by value: keys in order, numbers as numbers. */
void twin_add_json(struct buf *out, const char *text)
{
    json_t *value =
        text ? json_loads(text, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL) : NULL;
    char *canonical =
        value ? json_dumps(value, JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    buf_printf(out, " %s", canonical ? canonical : "-");
    free(canonical);
    json_decref(value);
}

void twin_add_text(struct buf *out, const char *text)
{
    buf_printf(out, " %s", text ? text : "-");
}

void twin_add_time(struct buf *out, int64_t at_us)
{
    buf_printf(out, " %lld", (long long)(at_us ? at_us - SIM_START_US : -1));
}

void twin_add_step(struct buf *out, const cairn_step *step)
{
    buf_printf(out, "\n  %d %s %s %s %d/%d undo %d priority %d commit %lld", step->seq,
               step->name, step->kind, step->status, step->attempts, step->max_attempts,
               step->compensation_attempts, step->priority, (long long)step->commit_no);
    twin_add_text(out, step->id);
    twin_add_text(out, step->handler);
    twin_add_text(out, step->error);
    twin_add_text(out, step->undo_error);
    twin_add_text(out, step->waiting_event);
    twin_add_text(out, step->locked_by);
    twin_add_json(out, step->input);
    twin_add_json(out, step->output);
    twin_add_json(out, step->metadata);
    twin_add_time(out, step->next_run_at_us);
    twin_add_time(out, step->started_at_us);
    twin_add_time(out, step->finished_at_us);
    twin_add_time(out, step->deadline_at_us);
    twin_add_time(out, step->locked_until_us);
}

static void add_events(struct buf *out, const cairn_page *events)
{
    for (size_t i = 0; i < cairn_page_count(events); i++) {
        const cairn_event *event = cairn_page_event(events, i);
        buf_printf(out, "\n  %s", event->type);
        twin_add_text(out, event->step);
        twin_add_json(out, event->data);
        twin_add_time(out, event->at_us);
    }
}

/* The latest event of a step (NULL: of the instance) says its status; without one it is planned. */
static void check_told(const cairn_page *events, const char *step, const char *status)
{
    json_t *data = NULL;
    for (size_t i = cairn_page_count(events); i > 0 && !data; i--) {
        const cairn_event *event = cairn_page_event(events, i - 1);
        bool is_of_it = step ? event->step && strcmp(event->step, step) == 0 : !event->step;
        if (is_of_it)
            data = json_loads(event->data, 0, NULL);
    }
    const char *told = data ? json_string_value(json_object_get(data, "status")) : "pending";
    CHECK(told && strcmp(told, status) == 0, "%s is %s, but its events say %s",
          step ? step : "the instance", status, told ? told : "nothing");
    json_decref(data);
}

static void check_replay(const cairn_instance *row, const cairn_page *steps,
                         const cairn_page *events)
{
    check_told(events, NULL, row->status);
    for (size_t i = 0; i < cairn_page_count(steps); i++) {
        const cairn_step *step = cairn_page_step(steps, i);
        check_told(events, step->name, step->status);
    }
}

static void dump_instance(struct side *side, const char *id, struct buf *out)
{
    cairn_error error = {0};
    cairn_page *instances = NULL;
    cairn_page *steps = NULL;
    cairn_page *events = NULL;
    CHECK_OK(cairn_instance_get(side->engine, id, &instances, &error));
    const cairn_instance *row = cairn_page_instance(instances, 0);
    buf_printf(out, "\n%s %s %d %s generation %d", row->id, row->workflow, row->version,
               row->status, row->generation);
    twin_add_text(out, row->key);
    twin_add_text(out, row->parent);
    twin_add_json(out, row->input);
    twin_add_json(out, row->output);
    twin_add_json(out, row->last_error);
    twin_add_json(out, row->undo_error);
    twin_add_time(out, row->created_at_us);
    twin_add_time(out, row->started_at_us);
    twin_add_time(out, row->finished_at_us);
    twin_add_time(out, row->start_at_us);
    for (size_t i = 0; i < row->current_step_count; i++)
        twin_add_text(out, row->current_steps[i]);
    CHECK_OK(cairn_instance_steps(side->engine, id, NULL, 1000, &steps, &error));
    for (size_t i = 0; i < cairn_page_count(steps); i++)
        twin_add_step(out, cairn_page_step(steps, i));
    CHECK_OK(cairn_instance_events(side->engine, id, NULL, 1000, &events, &error));
    add_events(out, events);
    if (cairn_page_count(events) < 1000)
        check_replay(row, steps, events);
    twin_add_logs(side, id, out);
    cairn_page_free(events);
    cairn_page_free(steps);
    cairn_page_free(instances);
}

static void dump_job(struct side *side, const char *id, struct buf *out)
{
    cairn_error error = {0};
    cairn_page *jobs = NULL;
    cairn_page *events = NULL;
    CHECK_OK(cairn_job_get(side->engine, id, &jobs, &error));
    const cairn_job *row = cairn_page_job(jobs, 0);
    buf_printf(out, "\n%s %s %s %d/%d", row->id, row->type, row->status, row->attempt,
               row->max_attempts);
    twin_add_text(out, row->leased_by);
    twin_add_text(out, row->last_error);
    twin_add_json(out, row->payload);
    twin_add_json(out, row->result);
    twin_add_time(out, row->run_at_us);
    twin_add_time(out, row->lease_until_us);
    twin_add_time(out, row->updated_at_us);
    CHECK_OK(cairn_job_events(side->engine, id, NULL, 1000, &events, &error));
    add_events(out, events);
    cairn_page_free(events);
    cairn_page_free(jobs);
}

static void check_same(struct twins *twins, const char *what, const struct buf *first,
                       const struct buf *second)
{
    const char *a = buf_text(first), *b = buf_text(second);
    size_t same = 0;
    while (a[same] && a[same] == b[same])
        same++;
    size_t from = same > 200 ? same - 200 : 0;
    CHECK(strcmp(a, b) == 0,
          "seed %llu, operation %d: %s differ\n--- sqlite\n...%.600s\n--- %s\n...%.600s\n"
          "replay: CAIRN_TEST_STORE=%s CAIRN_SIM_FROM=%llu CAIRN_SIM_SEEDS=1 test_differential",
          (unsigned long long)twins->seed, twins->operation, what, a + from, scratch_kind(),
          b + from, scratch_kind(), (unsigned long long)twins->seed);
}

static void compare(struct twins *twins)
{
    struct buf dumps[2] = {{0}, {0}};
    check_same(twins, "the answers", &twins->sides[0].answer, &twins->sides[1].answer);
    twin_learn_instances(twins);
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < twins->instance_count; k++)
            dump_instance(&twins->sides[i], twins->instances[k], &dumps[i]);
        for (size_t k = 0; k < twins->job_count; k++)
            dump_job(&twins->sides[i], twins->jobs[k], &dumps[i]);
    }
    check_same(twins, "the rows", &dumps[0], &dumps[1]);
    buf_done(&dumps[0]);
    buf_done(&dumps[1]);
}

/* ---- operations -------------------------------------------------------------------------- */

void twin_answer(struct side *side, const char *what, cairn_code code)
{
    buf_printf(&side->answer, "%s: %s", what, cairn_code_name(code));
}

static void deploy(struct twins *twins)
{
    char name[16];
    struct buf text = {0};
    snprintf(name, sizeof name, "w%d", twins->workflows++);
    workflow_make(&twins->rng, name, twins->has_sagas, 0, &text);
    for_both(side, twins)
        twin_answer(side, "deploy",
                    cairn_workflow_deploy(side->engine, "w.json", buf_text(&text), NULL, NULL));
    buf_done(&text);
}

static void pick_name(struct twins *twins, char ret_name[16])
{
    int which = twin_below(twins, twins->workflows + twins->functions);
    bool is_function = which >= twins->workflows;
    snprintf(ret_name, 16, "%c%d", is_function ? 'f' : 'w',
             is_function ? which - twins->workflows : which);
}

static const char *draw_on_existing(struct twins *twins)
{
    static const char *const words[] = {NULL, "fail", "restart_failed", "new_if_ended"};
    return words[twin_below(twins, 4)];
}

static void start(struct twins *twins)
{
    char name[16];
    cairn_enqueued started = {0};
    cairn_start_options options = CAIRN_START_DEFAULTS;
    pick_name(twins, name);
    options.workflow = name;
    options.version = name[0] == 'f' ? twin_below(twins, 3) : 0;
    options.input = "{\"n\": 1, \"b\": [true, null], \"a\": \"\\u00fc\"}";
    options.key = twin_below(twins, 4) ? NULL : "same";
    options.on_existing = options.key ? draw_on_existing(twins) : NULL;
    if (twin_below(twins, 5) == 0)
        options.start_at_us = twins->now_us + twin_below(twins, 5000) * US_PER_MS;
    if (twins->instance_count && twin_below(twins, 4) == 0) {
        options.tell_instance = twins->instances[twin_below(twins, (int)twins->instance_count)];
        options.tell_event = twin_below(twins, 2) ? "e0" : "e1";
    }
    for_both(side, twins)
    {
        started = (cairn_enqueued){0};
        twin_answer(side, "start",
                    cairn_instance_start(side->engine, &options, &started, NULL));
        buf_printf(&side->answer, " %s %d", started.id, started.existing);
    }
    if (started.id[0] && !started.existing)
        strcpy(twins->instances[twins->instance_count++], started.id);
}

static void enqueue(struct twins *twins)
{
    cairn_enqueued enqueued = {0};
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "j";
    spec.max_attempts = 1 + twin_below(twins, 3);
    spec.key = twin_below(twins, 4) ? NULL : "same";
    spec.on_existing = spec.key ? draw_on_existing(twins) : NULL;
    spec.debounce_ms = spec.key && twin_below(twins, 2) ? twin_below(twins, 3000) : 0;
    for_both(side, twins)
    {
        enqueued = (cairn_enqueued){0};
        twin_answer(side, "enqueue", cairn_enqueue(side->engine, &spec, 1, &enqueued, NULL));
        buf_printf(&side->answer, " %s %d", enqueued.id, enqueued.existing);
    }
    if (enqueued.id[0] && !enqueued.existing)
        strcpy(twins->jobs[twins->job_count++], enqueued.id);
}

void twin_learn(struct twins *twins, const char *worker, const cairn_task *task)
{
    if (twins->task_count == TASKS_MAX)
        return;
    struct known_task *known = &twins->tasks[twins->task_count++];
    snprintf(known->worker, sizeof known->worker, "%s", worker);
    snprintf(known->id, sizeof known->id, "%s", task->id);
    snprintf(known->token, sizeof known->token, "%s", task->token);
    twin_learn_memory(known, task->memory);
}

static void claim(struct twins *twins)
{
    const char *all = "%";
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    options.worker = twin_below(twins, 2) ? "v0" : "v1";
    options.types = &all;
    options.type_count = 1;
    options.max = (uint32_t)(1 + twin_below(twins, 3));
    options.lease_ms = twin_below(twins, 2) ? 1000 : 30000;
    cairn_function_code code = CAIRN_FUNCTION_CODE_DEFAULTS;
    if (twins->has_functions && twin_below(twins, 3) == 0) { /* of one function, one version */
        code.name = "f0";
        code.version = 1 + twin_below(twins, 2);
        options.functions = &code;
        options.function_count = 1;
        options.type_count = 0;
    }
    int run = twins->has_functions ? twin_below(twins, 4) : 0;
    for_both(side, twins)
    {
        cairn_page *tasks = NULL;
        twin_answer(side, "claim", cairn_claim(side->engine, &options, &tasks, NULL));
        for (size_t i = 0; tasks && i < cairn_page_count(tasks); i++) {
            const cairn_task *task = cairn_page_task(tasks, i);
            buf_printf(&side->answer, "\n  %s %s %s %s %d/%d", task->id, task->token,
                       task->kind, task->type, task->attempt, task->max_attempts);
            twin_add_json(&side->answer, task->input);
            twin_add_json(&side->answer, task->signal);
            twin_add_text(&side->answer, task->step);
            twin_add_text(&side->answer, task->reason);
            twin_add_time(&side->answer, task->lease_until_us);
            twin_add_memory(&side->answer, task->memory);
            if (task->memory && run >= 2)
                twin_run_passage(side, options.worker, task, run == 3);
            if (side == twins->sides)
                twin_learn(twins, options.worker, task);
        }
        cairn_page_free(tasks);
    }
}

static void report(struct twins *twins)
{
    static const cairn_outcome outcomes[] = {CAIRN_COMPLETE, CAIRN_COMPLETE, CAIRN_COMPLETE,
                                             CAIRN_COMPLETE, CAIRN_FAIL,     CAIRN_RETRY,
                                             CAIRN_DEAD,     CAIRN_RELEASE,  CAIRN_WAIT};
    size_t back =
        twin_below(twins, 3) ? 1 : 1 + (size_t)twin_below(twins, (int)twins->task_count);
    const struct known_task *task = &twins->tasks[twins->task_count - back];
    cairn_outbound outbound = CAIRN_OUTBOUND_DEFAULTS;
    cairn_report what = CAIRN_REPORT_DEFAULTS;
    what.task_id = task->id;
    what.token = task->token;
    what.outcome = outcomes[twin_below(twins, 9)];
    if (what.outcome == CAIRN_COMPLETE) {
        what.output = twin_below(twins, 2) ? "{\"z\": 1.5, \"n\": 2}" : NULL;
        outbound.event = "told";
        what.outbound = &outbound;
        what.outbound_count = strchr(task->id, '.') && twin_below(twins, 3) == 0;
    } else if (what.outcome == CAIRN_WAIT) {
        what.event = twin_below(twins, 2) ? "e0" : "e1";
        what.timeout_ms = twin_below(twins, 2) ? -1 : twin_below(twins, 3000);
    } else if (what.outcome == CAIRN_RETRY) {
        what.delay_ms = twin_below(twins, 3) - 1;
    }
    if (what.outcome != CAIRN_COMPLETE && what.outcome != CAIRN_WAIT &&
        what.outcome != CAIRN_RELEASE)
        what.error = "oops";
    for_both(side, twins)
    {
        cairn_reported reported = {0};
        twin_answer(side, "report",
                    cairn_report_many(side->engine, task->worker, &what, 1, &reported, NULL,
                                      NULL, NULL));
        buf_printf(&side->answer, " %s %s", cairn_code_name(reported.code), reported.status);
    }
}

static void heartbeat(struct twins *twins)
{
    const struct known_task *task = &twins->tasks[twin_below(twins, (int)twins->task_count)];
    for_both(side, twins)
    {
        int64_t until_us = 0;
        const char *stop = NULL;
        twin_answer(side, "heartbeat",
                    cairn_heartbeat(side->engine, task->worker, task->id, task->token, 5000,
                                    &until_us, &stop, NULL));
        twin_add_text(&side->answer, stop);
        twin_add_time(&side->answer, until_us);
    }
}

static void send_signal(struct twins *twins, const char *instance)
{
    char id[16];
    cairn_signal_options options = CAIRN_SIGNAL_DEFAULTS;
    options.instance_id = instance;
    options.event = twin_below(twins, 2) ? "e0" : "e1";
    options.payload = "{\"p\": 1}";
    snprintf(id, sizeof id, "m%d",
             twin_below(twins, 6) ? twins->signals++ : twin_below(twins, 5));
    options.id = twin_below(twins, 3) ? id : NULL;
    options.no_latch = twin_below(twins, 6) == 0;
    for_both(side, twins)
    {
        cairn_signalled signalled = {0};
        twin_answer(side, "signal",
                    cairn_instance_signal(side->engine, &options, &signalled, NULL));
        buf_printf(&side->answer, " %d %d %d", signalled.existing, signalled.taken,
                   signalled.kept);
    }
}

static void control(struct twins *twins, const char *id)
{
    int what = twin_below(twins, 9);
    int is_forced = twins->has_functions && twin_below(twins, 3) == 0;
    for_both(side, twins)
    {
        cairn_engine *engine = side->engine;
        twin_answer(side, "control",
                    what < 2   ? cairn_instance_pause(engine, id, NULL)
                    : what < 5 ? cairn_instance_resume(engine, id, is_forced, NULL)
                    : what < 6 ? cairn_instance_retry(engine, id, NULL)
                    : what < 7 ? cairn_instance_restart(engine, id, NULL)
                    : what < 8 ? cairn_instance_cancel(engine, id, "ann", "why not", NULL)
                               : cairn_instance_abort(engine, id, "bob", "why not", NULL));
        buf_printf(&side->answer, " %d", what);
    }
}

/* About some human step of the instance, whether or not anybody waits for that. */
static void decide(struct twins *twins, const char *id)
{
    char name[16] = "";
    bool is_confirmed = twin_below(twins, 5) > 0;
    cairn_error error = {0};
    cairn_page *steps = NULL;
    CHECK_OK(cairn_instance_steps(twins->sides[0].engine, id, NULL, 1000, &steps, &error));
    for (size_t i = 0; i < cairn_page_count(steps); i++) {
        const cairn_step *step = cairn_page_step(steps, i);
        bool is_asked = strcmp(step->status, "waiting_decision") == 0;
        if (strcmp(step->kind, "human") == 0 && (!name[0] || is_asked))
            snprintf(name, sizeof name, "%s", step->name);
    }
    cairn_page_free(steps);
    for_both(side, twins)
        twin_answer(side, "decide",
                    cairn_instance_decide(side->engine, id, name[0] ? name : "h0", is_confirmed,
                                          "eve", "so", NULL));
}

static void add_record(struct buf *out, const cairn_dlq_record *record)
{
    buf_printf(out, "\n  %s %s %s %s %s %d", record->instance_id, record->workflow_id,
               record->step_id, record->step_name, record->step_type, record->is_open);
    twin_add_json(out, record->input);
    twin_add_text(out, record->error);
    twin_add_text(out, record->reason);
    twin_add_time(out, record->created_at_us);
}

/* The open records are the same, though not their numbers; one of them is requeued, or the one
 * that is first of all and perhaps closed. */
static void requeue(struct twins *twins)
{
    const char *input = twin_below(twins, 3) ? NULL : "{\"n\": 2}";
    size_t pick = (size_t)twin_below(twins, 4);
    for_both(side, twins)
    {
        char id[32] = "1";
        cairn_error error = {0};
        cairn_page *dlq = NULL;
        CHECK_OK(cairn_dlq_list(side->engine, NULL, 100, &dlq, &error));
        for (size_t i = 0; i < cairn_page_count(dlq); i++) {
            add_record(&side->answer, cairn_page_dlq_record(dlq, i));
            if (i <= pick)
                snprintf(id, sizeof id, "%s", cairn_page_dlq_record(dlq, i)->id);
        }
        cairn_page_free(dlq);
        twin_answer(side, " requeue", cairn_dlq_requeue(side->engine, id, input, NULL));
    }
}

static void advance(struct twins *twins)
{
    int64_t ms = twin_below(twins, 2) ? twin_below(twins, 3000) : twin_below(twins, 40000);
    for_both(side, twins)
    {
        twin_answer(side, "advance",
                    cairn_clock_advance(side->engine, ms, &twins->now_us, NULL));
        twin_add_time(&side->answer, twins->now_us);
    }
}

static void deliver(struct twins *twins)
{
    bool is_acknowledged = twin_below(twins, 2);
    uint32_t max = (uint32_t)(1 + twin_below(twins, 3));
    for_both(side, twins)
    {
        cairn_page *outbox = NULL;
        twin_answer(side, "outbox",
                    cairn_outbox_claim(side->engine, "d", max, 2000, &outbox, NULL));
        for (size_t i = 0; outbox && i < cairn_page_count(outbox); i++) {
            const cairn_outbox_event *event = cairn_page_outbox_event(outbox, i);
            buf_printf(&side->answer, "\n  %s %s %s", event->instance_id, event->step,
                       event->event);
            twin_add_json(&side->answer, event->payload);
            twin_add_time(&side->answer, event->created_at_us);
            if (is_acknowledged)
                twin_answer(side, " ack", cairn_outbox_ack(side->engine, event->id, NULL));
        }
        cairn_page_free(outbox);
    }
}

static void operate(struct twins *twins)
{
    int what = twin_below(twins, 100);
    const char *instance = twins->instance_count
                               ? twins->instances[twin_below(twins, (int)twins->instance_count)]
                               : NULL;
    if (!instance || (what < 8 && twins->instance_count < STARTS_OF_TWINS_MAX))
        start(twins);
    else if (what < 12 && twins->job_count < STARTS_OF_TWINS_MAX)
        enqueue(twins);
    else if (what < 38 && twins->task_count && twins->has_functions)
        twin_commit(twins);
    else if (what < 40 && twins->task_count)
        report(twins);
    else if (what < 44 && twins->task_count)
        heartbeat(twins);
    else if (what < 56)
        send_signal(twins, instance);
    else if (what < 66)
        control(twins, instance);
    else if (what < 78)
        advance(twins);
    else if (what < 82)
        deliver(twins);
    else if (what < 86 && twins->has_sagas)
        decide(twins, instance);
    else if (what < 90 && (twins->has_sagas || twins->has_functions))
        requeue(twins);
    else
        claim(twins);
}

static void open_side(struct side *side, const char *url, uint64_t seed)
{
    cairn_error error = {0};
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = url;
    options.seed = seed;
    options.virtual_clock = true;
    options.start_us = SIM_START_US;
    CHECK_OK(cairn_open(&options, &side->engine, &error));
}

static void play_twins(uint64_t seed, enum twin_kind kind)
{
    struct twins twins = {.seed = seed,
                          .now_us = SIM_START_US,
                          .has_sagas = kind == TWIN_SAGAS,
                          .has_functions = kind == TWIN_FUNCTIONS};
    rng_init(&twins.rng, seed + 1);
    open_side(&twins.sides[0], scratch_store_of("memory"), seed + 7);
    open_side(&twins.sides[1], scratch_store(), seed + 7);
    for (int i = 0; i < (twins.has_functions ? 1 : 2); i++)
        deploy(&twins);
    for (int i = 0; i < (twins.has_functions ? 3 : 0); i++)
        twin_deploy_function(&twins);
    for (twins.operation = 1; twins.operation <= OPERATIONS; twins.operation++) {
        buf_reset(&twins.sides[0].answer);
        buf_reset(&twins.sides[1].answer);
        operate(&twins);
        compare(&twins);
    }
    for_both(side, &twins)
    {
        cairn_close(side->engine);
        buf_done(&side->answer);
    }
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void play_all(enum twin_kind kind)
{
    uint64_t from = setting("CAIRN_SIM_FROM", 1), count = setting("CAIRN_SIM_SEEDS", 20);
    for (uint64_t i = 0; i < count; i++)
        play_twins(from + i, kind);
}

TEST(the_same_operations_give_the_same_rows_and_events)
{
    play_all(TWIN_LINEAR);
}

TEST(the_same_operations_on_graphs_of_all_kinds_give_the_same_rows_and_events)
{
    play_all(TWIN_SAGAS);
}

TEST(the_same_operations_on_functions_give_the_same_rows_logs_and_events)
{
    play_all(TWIN_FUNCTIONS);
}
