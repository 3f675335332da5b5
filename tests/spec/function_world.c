/* tests/spec/function_world.c - durable functions in a world of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function_world.h"

#include "engine/local.h"
#include "faulty/faulty.h"
#include "scratch.h"
#include "worker/passage.h"

/* ---- opening --------------------------------------------------------------------------------
 */

static void clear(struct function_world *world, cairn_function run, cairn_commit_mode mode)
{
    memset(world, 0, sizeof *world);
    world->run = run;
    world->mode = mode;
    world->lease_ms = LEASE_MS;
}

static void deploy_and_start(struct function_world *world, const char *more)
{
    char text[300];
    snprintf(text, sizeof text, "{\"function\": \"f\", \"version\": 1%s}", more);
    CHECK_DONE(&world->flow.world, wf_deploy(&world->flow, text));
    fn_start(world, "f", 0);
}

void fn_begin_with(struct function_world *world, cairn_function run, cairn_commit_mode mode,
                   const char *more)
{
    clear(world, run, mode);
    wf_open(&world->flow);
    deploy_and_start(world, more);
}

void fn_begin(struct function_world *world, cairn_function run, cairn_commit_mode mode)
{
    fn_begin_with(world, run, mode, "");
}

void fn_begin_faulty(struct function_world *world, cairn_function run, cairn_commit_mode mode,
                     uint32_t retry_ms)
{
    static struct clock clock; /* only until the engine brings its own */
    cairn_error error;
    struct store *inner;
    struct local_engine *engine;
    clear(world, run, mode);
    world->flow.world.url = scratch_store();
    clock_init_virtual(&clock, START_US);
    struct store_config config = {
        .url = world->flow.world.url, .clock = &clock, .lock_wait_ms = 10000};
    CHECK_OK(store_open(&config, &inner, &error));
    world->faulty = faulty_wrap(inner, 0, 0);
    CHECK(world->faulty, "no memory");

    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.seed = 42;
    options.virtual_clock = true;
    options.start_us = START_US;
    options.retry_ms = retry_ms;
    CHECK_OK(local_engine_new(&options, world->faulty, &engine, &error));
    CHECK_OK(local_engine_start(engine, &error));
    world->flow.world.engine = &engine->base;
    deploy_and_start(world, "");
}

void fn_start(struct function_world *world, const char *name, int32_t version)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    options.workflow = name;
    options.version = version;
    options.input = "{\"n\": 1}";
    CHECK_DONE(&world->flow.world, wf_start(&world->flow, &options, &started));
    CHECK_INT(started.existing, 0);
}

void fn_end(struct function_world *world)
{
    wf_close(&world->flow);
}

/* ---- how steps behave -----------------------------------------------------------------------
 */

struct fn_step *fn_of(struct function_world *world, const char *key)
{
    for (size_t i = 0; i < world->step_count; i++)
        if (strcmp(world->steps[i].key, key) == 0)
            return &world->steps[i];
    CHECK(world->step_count < FN_STEPS_MAX, "more than %d steps", FN_STEPS_MAX);
    struct fn_step *step = &world->steps[world->step_count++];
    snprintf(step->key, sizeof step->key, "%s", key);
    return step;
}

void fn_fails(struct function_world *world, const char *key, cairn_outcome outcome, int times)
{
    fn_of(world, key)->outcome = outcome;
    fn_of(world, key)->outcome_count = times;
}

void fn_during(struct function_world *world, const char *key, fn_act act)
{
    fn_of(world, key)->during = act;
}

/* The called step that comes next in the alphabet; NULL: none. */
static const struct fn_step *called_after(const struct function_world *world, const char *key)
{
    const struct fn_step *next = NULL;
    for (size_t i = 0; i < world->step_count; i++) {
        const struct fn_step *step = &world->steps[i];
        if (step->calls && strcmp(step->key, key) > 0 &&
            (!next || strcmp(step->key, next->key) < 0))
            next = step;
    }
    return next;
}

void fn_check_calls(struct function_world *world, const char *wanted)
{
    char seen[1000] = "";
    size_t len = 0;
    for (const struct fn_step *step = called_after(world, ""); step;
         step = called_after(world, step->key))
        len += (size_t)snprintf(seen + len, sizeof seen - len, "%s%s:%d", len ? " " : "",
                                step->key, step->calls);
    CHECK(strcmp(seen, wanted) == 0, "the calls are \"%s\", not \"%s\"", seen, wanted);
}

static cairn_outcome execute(cairn_work *work, void *arg)
{
    struct function_world *world = arg;
    const cairn_task *task = cairn_work_task(work);
    struct fn_step *step = fn_of(world, task->step);
    char text[100];
    if (step->calls < FN_CALLS_MAX) {
        step->called_at_us[step->calls] = fn_now_us(world);
        step->attempts[step->calls] = task->attempt;
    }
    step->calls++;
    snprintf(step->call_key, sizeof step->call_key, "%s", task->key);
    fn_act act = step->during;
    step->during = NULL;
    if (act)
        act(world);
    if (step->outcome_count > 0) {
        step->outcome_count--;
        snprintf(text, sizeof text, "%s is broken", task->step);
        cairn_work_set_error(work, text);
        return step->outcome;
    }
    snprintf(text, sizeof text, "{\"by\": \"%s\"}", task->step);
    cairn_work_set_output(work, text);
    return CAIRN_COMPLETE;
}

cairn_code fn_step_as(struct function_world *world, cairn_step_options *options,
                      const char **ret_output)
{
    if (world->is_crashed)
        return CAIRN_E_INTERNAL;
    if (!options->run)
        options->run = execute;
    if (!options->arg)
        options->arg = world;
    return cairn_passage_step(world->passage, options, ret_output, &world->flow.world.error);
}

cairn_code fn_step(struct function_world *world, const char *key)
{
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = key;
    return fn_step_as(world, &options, &world->heard);
}

cairn_code fn_step_undoable(struct function_world *world, const char *key)
{
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    char type[80];
    snprintf(type, sizeof type, "undo.%s", key);
    options.key = key;
    options.compensation = type;
    return fn_step_as(world, &options, &world->heard);
}

/* ---- acts -----------------------------------------------------------------------------------
 */

void fn_crash(struct function_world *world)
{
    world->is_crashed = true;
}

void fn_lose_lease(struct function_world *world)
{
    wf_advance(&world->flow, LEASE_MS + 1);
}

void fn_pause(struct function_world *world)
{
    CHECK_DONE(&world->flow.world, wf_pause(&world->flow));
}

void fn_cancel(struct function_world *world)
{
    CHECK_DONE(&world->flow.world, wf_cancel(&world->flow));
}

void fn_abort(struct function_world *world)
{
    CHECK_DONE(&world->flow.world, wf_abort(&world->flow));
}

void fn_restart(struct function_world *world)
{
    CHECK_DONE(&world->flow.world, wf_restart(&world->flow));
}

/* ---- passages -------------------------------------------------------------------------------
 */

bool fn_claim(struct function_world *world, const char *worker, struct runner *ret_runner)
{
    static const char *const types[] = {"f"};
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    struct world *w = &world->flow.world;
    struct runner runner = {0};
    snprintf(runner.worker, sizeof runner.worker, "%s", worker);
    options.worker = runner.worker;
    options.types = types;
    options.type_count = 1;
    options.lease_ms = LEASE_MS;
    CHECK_DONE(w, cairn_claim(w->engine, &options, &runner.tasks, &w->error));
    if (cairn_page_count(runner.tasks) == 0) {
        cairn_page_free(runner.tasks);
        return false;
    }
    const cairn_task *task = cairn_page_task(runner.tasks, 0);
    CHECK_STR(task->kind, "function");
    CHECK_DONE(w, cairn_passage_open(w->engine, runner.worker, task, world->mode,
                                     world->lease_ms, &runner.passage, &w->error));
    *ret_runner = runner;
    return true;
}

void fn_play(struct function_world *world, struct runner *runner)
{
    cairn_passage *outer = world->passage;
    world->passage = runner->passage;
    world->is_crashed = false;
    world->passages++;
    runner->code = world->run(runner->passage, world);
    world->passage = outer;
}

cairn_code fn_finish(struct function_world *world, struct runner *runner, char ret_status[24])
{
    world->costs.size = sizeof world->costs;
    cairn_passage_costs_get(runner->passage, &world->costs, NULL);
    memset(&world->flow.world.error, 0, sizeof world->flow.world.error);
    cairn_code code =
        cairn_passage_end(runner->passage, runner->code, ret_status, &world->flow.world.error);
    cairn_passage_free(runner->passage);
    cairn_page_free(runner->tasks);
    *runner = (struct runner){0};
    return code;
}

void fn_drop(struct runner *runner)
{
    cairn_passage_free(runner->passage);
    cairn_page_free(runner->tasks);
    *runner = (struct runner){0};
}

static struct runner run_one(struct function_world *world)
{
    struct runner runner;
    CHECK(fn_claim(world, "w", &runner), "there is no passage to take");
    fn_play(world, &runner);
    return runner;
}

void fn_passage(struct function_world *world, const char *status)
{
    struct runner runner = run_one(world);
    char seen[24] = "";
    CHECK(!world->is_crashed, "it has crashed");
    CHECK_DONE(&world->flow.world, fn_finish(world, &runner, seen));
    CHECK(strcmp(seen, status) == 0, "the function is %s, not %s", seen, status);
}

void fn_passage_refused(struct function_world *world, cairn_code code)
{
    struct runner runner = run_one(world);
    CHECK_REFUSED(&world->flow.world, fn_finish(world, &runner, NULL), code);
}

void fn_passage_crashed(struct function_world *world)
{
    struct runner runner = run_one(world);
    fn_drop(&runner);
    if (!world->faulty)
        world_reopen(&world->flow.world);
    fn_lose_lease(world);
}

void fn_check_idle(struct function_world *world)
{
    wf_check_nothing_to_take(&world->flow);
}

/* ---- looking --------------------------------------------------------------------------------
 */

int64_t fn_now_us(struct function_world *world)
{
    return world_now_us(&world->flow.world);
}

void fn_check_steps(struct function_world *world, const char *wanted)
{
    wf_check_steps(&world->flow, wanted);
}

void fn_check_status(struct function_world *world, const char *wanted)
{
    wf_check_status(&world->flow, wanted);
}

const cairn_step *fn_row(struct function_world *world, const char *key)
{
    return wf_step(&world->flow, key);
}

size_t fn_count_events(struct function_world *world, const char *type, const char *step)
{
    struct world *w = &world->flow.world;
    cairn_page *events = NULL;
    size_t count = 0;
    CHECK_DONE(
        w, cairn_instance_events(w->engine, world->flow.id, NULL, 1000, &events, &w->error));
    for (size_t i = 0; i < cairn_page_count(events); i++) {
        const cairn_event *event = cairn_page_event(events, i);
        bool is_its = !step || (event->step && strcmp(event->step, step) == 0);
        count += is_its && strcmp(event->type, type) == 0;
    }
    cairn_page_free(events);
    return count;
}

void fn_check_logs(struct function_world *world, const char *wanted)
{
    struct world *w = &world->flow.world;
    cairn_page *logs = NULL;
    char seen[2000] = "";
    size_t len = 0;
    int64_t last_id = 0;
    CHECK_DONE(w, cairn_instance_logs(w->engine, world->flow.id, NULL, 1000, &logs, &w->error));
    for (size_t i = 0; i < cairn_page_count(logs); i++) {
        const cairn_log *log = cairn_page_log(logs, i);
        CHECK(log->id > last_id, "log %zu does not have a higher id", i);
        last_id = log->id;
        len += (size_t)snprintf(seen + len, sizeof seen - len, "%s%s:%s", i ? " " : "",
                                log->level, log->message);
        CHECK(len < sizeof seen, "more logs than fit");
    }
    cairn_page_free(logs);
    CHECK(strcmp(seen, wanted) == 0, "the logs are \"%s\", not \"%s\"", seen, wanted);
}

void fn_undo_all(struct function_world *world, const char *keys)
{
    char key[64], type[80];
    int read = 0;
    for (; sscanf(keys, " %63s%n", key, &read) == 1; keys += read) {
        fn_check_status(world, "compensating");
        struct task task = wf_take_undo(&world->flow, key);
        snprintf(type, sizeof type, "undo.%s", key);
        CHECK_STR(task.type, type);
        wf_check_nothing_to_take(&world->flow); /* strictly one at a time */
        CHECK_DONE(&world->flow.world, wf_report(&world->flow, &task, CAIRN_COMPLETE, NULL));
    }
    wf_check_nothing_to_take(&world->flow);
}
