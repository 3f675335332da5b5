/* tests/spec/test_stops.c - an answer means done, for descendants too, on every URL and for every engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A family is stopped through one engine.  When that is answered, no claim by anybody gives a step of it, and
 * every row says so, whichever engine is asked.
 */
#include "everywhere.h"

#include <stdlib.h>

#define MAP(steps) "{map: m, over: \"{{ .list }}\", max_parallel: 1000, steps: [" steps "]}"
#define ACTIVE "pending,running,waiting_signal,paused,dlq"
#define STEP "{step: c, handler: t.v1}"

/* ---- families -------------------------------------------------------------------------------- */

static void deploy(struct world *world, const char *name, const char *elements)
{
    char text[1000];
    snprintf(text, sizeof text, "{workflow: %s, version: 1, steps: [%s]}", name, elements);
    CHECK_DONE(world,
               cairn_workflow_deploy(world->engine, "w.yaml", text, NULL, &world->error));
}

/* {"list": [0, 0, ...]} */
static char *make_input(size_t size)
{
    char *input = malloc(20 + 2 * size);
    size_t used = (size_t)sprintf(input, "{\"list\": [0");
    for (size_t i = 1; i < size; i++)
        used += (size_t)sprintf(input + used, ",0");
    sprintf(input + used, "]}");
    return input;
}

static cairn_enqueued start(struct world *world, size_t size)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_enqueued started = {0};
    char *input = make_input(size);
    options.workflow = "w";
    options.input = input;
    CHECK_DONE(world, cairn_instance_start(world->engine, &options, &started, &world->error));
    free(input);
    return started;
}

static size_t count_of(struct world *world, cairn_engine *engine, const char *status,
                       const char *workflow)
{
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    cairn_page *page;
    filter.status = status;
    filter.workflow = workflow;
    filter.limit = 1000;
    CHECK_DONE(world, cairn_instance_list(engine, &filter, &page, &world->error));
    size_t count = cairn_page_count(page);
    cairn_page_free(page);
    return count;
}

static size_t count_instances(struct world *world, cairn_engine *engine, const char *status)
{
    return count_of(world, engine, status, NULL);
}

static size_t claim(struct world *world, cairn_engine *engine, uint32_t max)
{
    cairn_claim_options options = claim_by("w", max, 0);
    cairn_page *tasks;
    CHECK_DONE(world, cairn_claim(engine, &options, &tasks, &world->error));
    size_t count = cairn_page_count(tasks);
    cairn_page_free(tasks);
    return count;
}

/* Until the whole family is there: what a call leaves to do is done before a claim is answered. */
static void grow(struct world *world, size_t size)
{
    while (count_instances(world, world->engine, NULL) < size)
        claim(world, world->engine, 1);
}

/* By both engines.  The eldest may wait for leases of its children. */
static void check_stopped(struct world *world, const char *what)
{
    cairn_engine *engines[] = {world->other ? world->other : world->engine, world->engine};
    for (int i = 0; i < 2; i++) {
        size_t given = claim(world, engines[i], 1000);
        CHECK(given == 0, "%s was answered, and a claim gives %zu steps", what, given);
        size_t active = count_of(world, engines[i], ACTIVE, NULL) -
                        count_of(world, engines[i], ACTIVE, "w");
        CHECK(active == 0, "%s was answered, and %zu of the family go on", what, active);
    }
}

static void stop(struct world *world, const char *id, bool is_abort)
{
    CHECK_DONE(world,
               is_abort ? cairn_instance_abort(world->engine, id, "ada", "no", &world->error)
                        : cairn_instance_cancel(world->engine, id, "ada", "no", &world->error));
}

/* ---- stops ----------------------------------------------------------------------------------- */

static void check_size(size_t size, bool is_abort)
{
    struct world world;
    open_world(&world);
    deploy(&world, "w", MAP(STEP));
    cairn_enqueued started = start(&world, size);
    grow(&world, size + 1);
    stop(&world, started.id, is_abort);
    check_stopped(&world, is_abort ? "an abort" : "a cancel");
    close_world(&world);
}

TEST(after_a_stop_was_answered_nobody_is_given_a_step_of_the_family)
{
    static const size_t sizes[] = {1, 257, 600};
    for (size_t i = 0; i < 3; i++) {
        check_size(sizes[i], true);
        check_size(sizes[i], false);
    }
}

TEST(grandchildren_are_stopped_too)
{
    for (int is_abort = 0; is_abort < 2; is_abort++) {
        struct world world;
        open_world(&world);
        deploy(&world, "grandchild", STEP);
        deploy(&world, "child", "{start: s, workflow: grandchild}, " STEP);
        deploy(&world, "w", MAP("{start: s, workflow: child, input: \"{}\"}"));
        cairn_enqueued started = start(&world, 90);
        grow(&world, 1 + 3 * 90);
        stop(&world, started.id, is_abort);
        check_stopped(&world, "a stop");
        close_world(&world);
    }
}

TEST(a_restart_is_answered_when_those_of_before_are_stopped)
{
    struct world world;
    open_world(&world);
    deploy(&world, "child", "{start: s, workflow: grandchild}");
    deploy(&world, "grandchild", STEP);
    deploy(&world, "w",
           "{step: f, handler: first}, " MAP("{start: s, workflow: child, input: \"{}\"}"));
    cairn_enqueued started = start(&world, 300);
    const char *types[] = {"first"};
    cairn_claim_options options = claim_by("w", 1, 0);
    cairn_page *tasks;
    options.types = types;
    CHECK_DONE(&world, cairn_claim(world.engine, &options, &tasks, &world.error));
    char *output = make_input(300);
    CHECK_DONE(&world, cairn_task_complete(world.engine, "w", cairn_page_task(tasks, 0), output,
                                           &world.error));
    free(output);
    cairn_page_free(tasks);
    grow(&world, 1 + 3 * 300);
    CHECK_DONE(&world,
               cairn_instance_abort(world.engine, started.id, "ada", "no", &world.error));
    CHECK_DONE(&world, cairn_instance_restart(world.engine, started.id, &world.error));
    size_t given = claim(&world, world.other ? world.other : world.engine, 1000);
    CHECK(given == 0, "a restart was answered, and a claim gives %zu steps", given);
    close_world(&world);
}

/* A step fails beside the map, or in one of its children; a person rejects. */
TEST(a_failure_or_a_rejection_is_answered_when_the_children_are_stopped)
{
    static const char *const besides[] = {
        "{step: f, handler: first, max_attempts: 1, on_failure: compensate}", "{human: h}"};
    for (size_t i = 0; i < 2; i++) {
        struct world world;
        char text[400];
        open_world(&world);
        snprintf(text, sizeof text, "{fork: g, join: all, branches: [[%s], [" MAP(STEP) "]]}",
                 besides[i]);
        deploy(&world, "w", text);
        cairn_enqueued started = start(&world, 300);
        grow(&world, 301);
        const char *types[] = {"first"};
        cairn_claim_options options = claim_by("w", 1, 0);
        cairn_page *tasks;
        options.types = types;
        CHECK_DONE(&world, cairn_claim(world.engine, &options, &tasks, &world.error));
        if (cairn_page_count(tasks))
            CHECK_DONE(&world, cairn_task_fail(world.engine, "w", cairn_page_task(tasks, 0),
                                               "no", &world.error));
        else
            CHECK_DONE(&world, cairn_instance_decide(world.engine, started.id, "h", false,
                                                     "ada", "no", &world.error));
        cairn_page_free(tasks);
        check_stopped(&world, i ? "a rejection" : "a failure");
        close_world(&world);
    }
}

TEST(the_failure_of_a_child_is_answered_when_its_siblings_are_stopped)
{
    struct world world;
    cairn_page *tasks;
    open_world(&world);
    deploy(&world, "w", MAP("{step: c, handler: t.v1, max_attempts: 1}"));
    start(&world, 300);
    grow(&world, 301);
    cairn_claim_options options = claim_by("w", 1, 0);
    CHECK_DONE(&world, cairn_claim(world.engine, &options, &tasks, &world.error));
    CHECK_DONE(&world, cairn_task_fail(world.engine, "w", cairn_page_task(tasks, 0), "no",
                                       &world.error));
    cairn_page_free(tasks);
    check_stopped(&world, "a failure");
    close_world(&world);
}

/* ---- what takes too long --------------------------------------------------------------------- */

static void await_all(struct world *world)
{
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    cairn_page *page, *ended;
    size_t count = 1;
    filter.status = "running";
    while (count) {
        CHECK_DONE(world, cairn_instance_list(world->engine, &filter, &page, &world->error));
        count = cairn_page_count(page);
        for (size_t i = 0; i < count; i++) {
            const char *id = cairn_page_instance(page, i)->id;
            CHECK_DONE(world, cairn_instance_wait(world->engine, id, PATIENCE_MS, &ended,
                                                  &world->error));
            CHECK_STR(cairn_page_instance(ended, 0)->status, "aborted");
            cairn_page_free(ended);
        }
        cairn_page_free(page);
    }
}

TEST(a_stop_that_takes_longer_than_retry_ms_says_so_and_goes_on)
{
    struct world world;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_engine *hasty;
    if (is_kind("memory") || is_kind("http")) /* there is no other engine with other options */
        return;
    open_world(&world);
    deploy(&world, "w", MAP(STEP));
    cairn_enqueued started = start(&world, 600);
    grow(&world, 601);
    cairn_close(world.other);
    open.url = world.url;
    open.retry_ms = 1;
    open.no_timers = true;
    CHECK_DONE(&world, cairn_open(&open, &hasty, &world.error));
    cairn_code code;
    do /* another engine may have the row; then nothing is done */
        code = cairn_instance_abort(hasty, started.id, "ada", "no", &world.error);
    while (code == CAIRN_E_BUSY && !strstr(world.error.message, "the instance is stopped; "));
    if (code) {
        CHECK(code == CAIRN_E_BUSY && strstr(world.error.message, " children will be told"),
              "%s: %s", cairn_code_name(code), world.error.message);
        cairn_page *page;
        CHECK_DONE(&world, cairn_instance_get(hasty, started.id, &page, &world.error));
        CHECK_STR(cairn_page_instance(page, 0)->status, "aborted");
        cairn_page_free(page);
    }
    world.other = hasty;
    await_all(&world);
    close_world(&world);
}

/* ---- starts ---------------------------------------------------------------------------------- */

TEST(children_are_there_when_the_call_that_wants_them_is_answered)
{
    struct world world;
    open_virtual_world(&world);
    deploy(&world, "grandchild", STEP);
    deploy(&world, "child", "{start: s, workflow: grandchild}");
    deploy(&world, "w",
           "{step: f, handler: t.v1}, {start: s, workflow: child, input: \"{}\"}, " MAP(STEP));
    start(&world, 257);
    for (int round = 0; round < 2; round++) {
        cairn_claim_options options = claim_by("w", 1, 0);
        cairn_page *tasks;
        CHECK_DONE(&world, cairn_claim(world.engine, &options, &tasks, &world.error));
        CHECK_INT(cairn_page_count(tasks), 1);
        CHECK_DONE(&world, cairn_task_complete(world.engine, "w", cairn_page_task(tasks, 0),
                                               "{\"list\": []}", &world.error));
        cairn_page_free(tasks);
        if (round == 0)
            CHECK_INT(count_instances(&world, world.engine, NULL), 3);
    }
    close_world(&world);

    open_virtual_world(&world);
    deploy(&world, "w", MAP(STEP));
    start(&world, 257);
    CHECK_INT(count_instances(&world, world.engine, NULL), 257);
    CHECK_INT(claim(&world, world.engine, 1), 1);
    CHECK_INT(count_instances(&world, world.engine, NULL), 258);
    close_world(&world);
}
