/* tests/spec/world.c - an engine on an empty store, with a clock that the test owns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "world.h"

#include "scratch.h"

#include <jansson.h>
#include <stdlib.h>

enum { INPUTS_MAX = 4096 };
static char *inputs[INPUTS_MAX];
static size_t input_count;

static void open_at(struct world *world, int64_t start_us)
{
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = world->url;
    options.seed = world->seed;
    options.virtual_clock = true;
    options.start_us = start_us;
    CHECK_DONE(world, cairn_open(&options, &world->engine, &world->error));
}

void world_open_seeded(struct world *world, uint64_t seed)
{
    *world = (struct world){.url = scratch_store(), .seed = seed};
    open_at(world, START_US);
}

void world_open(struct world *world)
{
    world_open_seeded(world, 42);
}

void world_close(struct world *world)
{
    cairn_page_free(world->seen);
    cairn_close(world->engine);
    while (input_count)
        free(inputs[--input_count]);
    *world = (struct world){0};
}

void world_reopen(struct world *world)
{
    if (strcmp(scratch_kind(), "memory") == 0)
        return;
    int64_t now_us = world_now_us(world);
    cairn_close(world->engine);
    world->engine = NULL;
    if (world->seed)
        world->seed++; /* another process has other luck */
    open_at(world, now_us);
}

int64_t world_now_us(struct world *world)
{
    int64_t now_us = 0;
    CHECK_DONE(world, cairn_clock_now(world->engine, &now_us, &world->error));
    return now_us;
}

void world_advance(struct world *world, int64_t ms)
{
    int64_t before_us = world_now_us(world), now_us = 0;
    CHECK_DONE(world, cairn_clock_advance(world->engine, ms, &now_us, &world->error));
    CHECK_INT(now_us, before_us + ms * 1000);
}

cairn_enqueued world_add_spec(struct world *world, const cairn_job_spec *spec)
{
    cairn_enqueued enqueued = {.existing = -1};
    CHECK_DONE(world, cairn_enqueue(world->engine, spec, 1, &enqueued, &world->error));
    CHECK_INT(enqueued.existing, 0);
    CHECK(strlen(enqueued.id) == 36, "the id is \"%s\"", enqueued.id);
    return enqueued;
}

cairn_enqueued world_add(struct world *world, const char *type)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = type;
    return world_add_spec(world, &spec);
}

static char *keep_input(const char *input)
{
    CHECK(input_count < INPUTS_MAX, "%d inputs are too many", INPUTS_MAX);
    char *copy = strdup(input ? input : "");
    inputs[input_count++] = copy;
    return copy;
}

static struct held hold(const char *worker, const cairn_task *task)
{
    struct held held = {.input = keep_input(task->input),
                        .attempt = task->attempt,
                        .max_attempts = task->max_attempts,
                        .lease_until_us = task->lease_until_us};
    CHECK_STR(task->kind, "job");
    CHECK(task->token && task->token[0], "a task without a token");
    snprintf(held.worker, sizeof held.worker, "%s", worker);
    snprintf(held.id, sizeof held.id, "%s", task->id);
    snprintf(held.token, sizeof held.token, "%s", task->token);
    snprintf(held.type, sizeof held.type, "%s", task->type);
    snprintf(held.key, sizeof held.key, "%s", task->key ? task->key : "");
    return held;
}

size_t world_take_many(struct world *world, const char *worker, const char *pattern,
                       uint32_t max, struct held *ret_held)
{
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    cairn_page *tasks = NULL;
    options.worker = worker;
    options.types = &pattern;
    options.type_count = 1;
    options.max = max;
    CHECK_DONE(world, cairn_claim(world->engine, &options, &tasks, &world->error));

    size_t count = cairn_page_count(tasks);
    CHECK(count <= max, "%zu tasks instead of at most %u", count, max);
    for (size_t i = 0; i < count; i++)
        ret_held[i] = hold(worker, cairn_page_task(tasks, i));
    cairn_page_free(tasks);
    return count;
}

struct held world_take(struct world *world, const char *worker)
{
    struct held held = {0};
    size_t count = world_take_many(world, worker, "%", 1, &held);
    CHECK(count == 1, "there is nothing to take");
    return held;
}

void world_check_nothing_to_take(struct world *world)
{
    struct held held = {0};
    size_t count = world_take_many(world, "a-late-worker", "%", 1, &held);
    CHECK(count == 0, "job %s of type %s was brought", held.id, held.type);
}

static cairn_code report(struct world *world, const struct held *held, cairn_report *report)
{
    report->task_id = held->id;
    report->token = held->token;
    return cairn_report_many(world->engine, held->worker, report, 1, NULL, NULL, NULL,
                             &world->error);
}

cairn_code world_report(struct world *world, const struct held *held, cairn_outcome outcome,
                        const char *text)
{
    cairn_report what = CAIRN_REPORT_DEFAULTS;
    what.outcome = outcome;
    if (outcome == CAIRN_COMPLETE)
        what.output = text;
    else if (outcome != CAIRN_RELEASE)
        what.error = text;
    return report(world, held, &what);
}

cairn_code world_retry(struct world *world, const struct held *held, cairn_outcome outcome,
                       int64_t delay_ms)
{
    cairn_report what = CAIRN_REPORT_DEFAULTS;
    what.outcome = outcome;
    what.delay_ms = delay_ms;
    if (outcome == CAIRN_RETRY)
        what.error = "later, please";
    return report(world, held, &what);
}

cairn_code world_beat(struct world *world, const struct held *held, uint32_t extend_ms,
                      int64_t *ret_lease_until_us, const char **ret_stop)
{
    return cairn_heartbeat(world->engine, held->worker, held->id, held->token, extend_ms,
                           ret_lease_until_us, ret_stop, &world->error);
}

const cairn_job *world_job(struct world *world, const char *id)
{
    cairn_page_free(world->seen);
    world->seen = NULL;
    CHECK_DONE(world, cairn_job_get(world->engine, id, &world->seen, &world->error));
    CHECK_INT(cairn_page_count(world->seen), 1);
    const cairn_job *job = cairn_page_job(world->seen, 0);
    CHECK_STR(job->id, id);
    return job;
}

void world_check_status(struct world *world, const char *id, const char *status)
{
    CHECK_STR(world_job(world, id)->status, status);
}

size_t world_count_jobs(struct world *world)
{
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    cairn_page *jobs = NULL;
    filter.limit = 1000;
    CHECK_DONE(world, cairn_job_list(world->engine, &filter, &jobs, &world->error));
    CHECK(cairn_page_next(jobs) == NULL, "more than a thousand jobs");
    size_t count = cairn_page_count(jobs);
    cairn_page_free(jobs);
    return count;
}

void world_check_events(struct world *world, const char *id, const char *names)
{
    cairn_page *events = NULL;
    char seen[2000] = "";
    size_t len = 0;
    int64_t last_id = 0, last_us = START_US;
    CHECK_DONE(world, cairn_job_events(world->engine, id, NULL, 1000, &events, &world->error));
    for (size_t i = 0; i < cairn_page_count(events); i++) {
        const cairn_event *event = cairn_page_event(events, i);
        CHECK(event->id > last_id, "event %zu does not have a higher id", i);
        CHECK(event->at_us >= last_us, "event %zu (%s) is too early", i, event->type);
        CHECK(event->at_us <= world_now_us(world), "event %zu is in the future", i);
        CHECK(event->data && event->data[0] == '{', "event %zu has the data %s", i,
              event->data);
        last_id = event->id;
        last_us = event->at_us;
        len +=
            (size_t)snprintf(seen + len, sizeof seen - len, "%s%s", i ? " " : "", event->type);
        CHECK(len < sizeof seen, "more events than fit");
    }
    cairn_page_free(events);
    CHECK(strcmp(seen, names) == 0, "the events are \"%s\", not \"%s\"", seen, names);
}

bool is_same_json(const char *a, const char *b)
{
    /* jsonb writes -1.5e3 as -1500, which is the same number. */
    size_t flags = JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL;
    json_t *first = json_loads(a ? a : "", flags, NULL);
    json_t *second = json_loads(b ? b : "", flags, NULL);
    bool is_same = first && second && json_equal(first, second);
    json_decref(first);
    json_decref(second);
    return is_same;
}
