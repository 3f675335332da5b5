/* tests/spec/test_is_idle.c - cairn_idle() and cairn_idle_for(): whether anything is left to do for a worker, on every URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "everywhere.h"

static bool is_idle_for(struct world *world, const char *type)
{
    int is_idle = -1;
    CHECK_DONE(world, cairn_idle(world->engine, &type, 1, &is_idle, &world->error));
    CHECK(is_idle == 0 || is_idle == 1, "%d", is_idle);
    return is_idle == 1;
}

#define CHECK_IDLE(world, type) CHECK(is_idle_for(world, type), "%s is not idle", type)
#define CHECK_BUSY(world, type) CHECK(!is_idle_for(world, type), "%s is idle", type)

static cairn_page *claim_one(struct world *world, const char *type)
{
    cairn_page *tasks;
    cairn_claim_options claim = claim_by("w", 1, 0);
    claim.types = &type;
    CHECK_DONE(world, cairn_claim(world->engine, &claim, &tasks, &world->error));
    CHECK_INT(cairn_page_count(tasks), 1);
    return tasks;
}

static void complete(struct world *world, cairn_page *tasks)
{
    CHECK_DONE(world, cairn_task_complete(world->engine, "w", cairn_page_task(tasks, 0), "{}",
                                          &world->error));
    cairn_page_free(tasks);
}

TEST(a_job_is_work_until_it_has_ended)
{
    struct world world;
    cairn_enqueued job;
    open_world(&world);
    CHECK_IDLE(&world, "%");
    add_jobs(&world, &job, 1);
    CHECK_BUSY(&world, "t.v1");
    CHECK_BUSY(&world, "t.%");
    CHECK_IDLE(&world, "other");
    CHECK_IDLE(&world, "t.v");
    cairn_page *tasks = claim_one(&world, "t.v1");
    CHECK_BUSY(&world, "t.%");
    CHECK_IDLE(&world, "other");
    complete(&world, tasks);
    CHECK_IDLE(&world, "t.%");
    close_world(&world);
}

TEST(what_is_planned_for_later_is_no_work_yet)
{
    struct world world;
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    int64_t now_us;
    open_virtual_world(&world);
    CHECK_DONE(&world, cairn_clock_now(world.engine, &now_us, &world.error));
    spec.type = "t.v1";
    spec.run_at_us = now_us + 60 * 1000 * 1000;
    CHECK_DONE(&world, cairn_enqueue(world.engine, &spec, 1, NULL, &world.error));
    CHECK_IDLE(&world, "t.v1");
    CHECK_DONE(&world, cairn_clock_advance(world.engine, 60 * 1000, NULL, &world.error));
    CHECK_BUSY(&world, "t.v1");
    close_world(&world);
}

TEST(a_step_that_is_leased_may_bring_work_for_anybody)
{
    struct world world;
    open_world(&world);
    start_instance(&world);
    CHECK_BUSY(&world, "t.v1");
    CHECK_IDLE(&world, "other");
    cairn_page *tasks = claim_one(&world, "t.v1");
    CHECK_BUSY(&world, "other");
    complete(&world, tasks);
    CHECK_IDLE(&world, "t.v1");
    close_world(&world);
}

TEST(what_the_registry_keeps_from_claims_is_no_work)
{
    struct world world;
    cairn_enqueued job;
    cairn_registry_spec entry = CAIRN_REGISTRY_DEFAULTS;
    open_world(&world);
    add_jobs(&world, &job, 1);
    start_instance(&world);
    entry.workflow_name = "t.v1";
    entry.runtime = "go";
    entry.is_enabled = false;
    CHECK_DONE(&world, cairn_registry_put(world.engine, &entry, &world.error));
    CHECK_IDLE(&world, "t.%");
    entry.is_enabled = true;
    CHECK_DONE(&world, cairn_registry_put(world.engine, &entry, &world.error));
    CHECK_BUSY(&world, "t.%");
    close_world(&world);
}

/* ---- with functions and a runtime, as JSON --------------------------------------------------- */

static void check_answer(struct world *world, const char *body, const char *answer)
{
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    cairn_response *response;
    request.method = "POST";
    request.target = "/v1/tasks/idle";
    request.body = body;
    request.body_len = strlen(body);
    CHECK_DONE(world, cairn_call(world->engine, &request, &response, &world->error));
    const char *seen = cairn_response_body(response, NULL);
    CHECK(strstr(seen, answer), "%s: %s", body, seen);
    cairn_response_free(response);
}

TEST(a_function_is_work_for_those_who_have_its_version)
{
    struct world world;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    open_world(&world);
    CHECK_DONE(&world, cairn_workflow_deploy(world.engine, "f", "{function: f, version: 3}",
                                             NULL, &world.error));
    start.workflow = "f";
    CHECK_DONE(&world, cairn_instance_start(world.engine, &start, &started, &world.error));
    CHECK_BUSY(&world, "f");
    check_answer(&world, "{\"functions\":[{\"name\":\"f\",\"version\":2}]}", "\"idle\":true");
    check_answer(&world, "{\"functions\":[{\"name\":\"f\",\"version\":3}]}", "\"idle\":false");
    check_answer(&world, "{\"functions\":[{\"name\":\"f\",\"version\":4,\"from_version\":3}]}",
                 "\"idle\":false");
    close_world(&world);
}

TEST(another_runtimes_types_are_no_work_for_a_runtime)
{
    struct world world;
    cairn_enqueued job;
    cairn_registry_spec entry = CAIRN_REGISTRY_DEFAULTS;
    open_world(&world);
    add_jobs(&world, &job, 1);
    entry.workflow_name = "t.v1";
    entry.runtime = "go";
    CHECK_DONE(&world, cairn_registry_put(world.engine, &entry, &world.error));
    check_answer(&world, "{\"types\":[\"t.%\"],\"runtime\":\"c\"}", "\"idle\":true");
    check_answer(&world, "{\"types\":[\"t.%\"],\"runtime\":\"go\"}", "\"idle\":false");
    check_answer(&world, "{}", "\"code\":\"bad_input\"");
    check_answer(&world, "{\"types\":[\"a%b\"]}", "\"code\":\"bad_input\"");
    close_world(&world);
}

/* ---- the law --------------------------------------------------------------------------------- */

static const char *const law_types[] = {"a.v1", "a.v2", "b.v1"};
static const char *const law_patterns[] = {"a.v1", "a.%", "b.v1", "%"};
static const char *const law_runtimes[] = {NULL, "c", "go"};

/* What a worker would claim with. */
struct served {
    const char *types[2];
    cairn_function_code functions[1];
    cairn_claim_options claim;
};

static unsigned next_random(unsigned *seed, unsigned bound)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 16) % bound;
}

static void draw_claim(unsigned *seed, struct served *ret_served)
{
    const cairn_function_code code = CAIRN_FUNCTION_CODE_DEFAULTS;
    cairn_claim_options claim = claim_by("w", 1, 0);
    *ret_served = (struct served){.functions = {code}};
    for (size_t i = 0; i < 2; i++)
        ret_served->types[i] = law_patterns[next_random(seed, 4)];
    ret_served->functions[0].name = "f";
    ret_served->functions[0].version = (int32_t)next_random(seed, 4) + 1;
    ret_served->functions[0].from_version = ret_served->functions[0].version > 2 ? 2 : 0;
    claim.types = ret_served->types;
    claim.type_count = next_random(seed, 3);
    claim.functions = ret_served->functions;
    claim.function_count = claim.type_count ? next_random(seed, 2) : 1;
    claim.runtime = law_runtimes[next_random(seed, 3)];
    ret_served->claim = claim;
}

/* Of the law: what is leased, by type; and how many steps. */
struct leases {
    cairn_page *tasks[64];
    size_t count;
};

static bool is_for(const cairn_claim_options *claim, const char *const *runtimes,
                   const char *type)
{
    for (size_t i = 0; i < claim->type_count; i++) {
        size_t len = strlen(claim->types[i]);
        bool is_prefix = claim->types[i][len - 1] == '%';
        if (is_prefix ? strncmp(type, claim->types[i], len - 1) == 0
                      : strcmp(type, claim->types[i]) == 0)
            for (size_t t = 0; t < 3; t++)
                if (strcmp(law_types[t], type) == 0)
                    return !runtimes[t] || !claim->runtime ||
                           strcmp(runtimes[t], claim->runtime) == 0;
    }
    return false;
}

static bool can_lead_on(const struct leases *leases, const cairn_claim_options *claim,
                        const char *const *runtimes)
{
    for (size_t i = 0; i < leases->count; i++) {
        const cairn_task *task = cairn_page_task(leases->tasks[i], 0);
        if (task->instance_id || is_for(claim, runtimes, task->type))
            return true;
    }
    return false;
}

/* Asks, then claims: what comes is kept. */
static void check_law(struct world *world, unsigned *seed, const char *const *runtimes,
                      struct leases *leases)
{
    struct served served;
    int is_idle = -1;
    cairn_page *tasks = NULL;
    draw_claim(seed, &served);
    bool is_leading = can_lead_on(leases, &served.claim, runtimes);
    cairn_code code = cairn_idle_for(world->engine, &served.claim, &is_idle, &world->error);
    CHECK_DONE(world, code);
    code = cairn_claim(world->engine, &served.claim, &tasks, &world->error);
    if (code == CAIRN_E_WRONG_RUNTIME)
        return; /* it names what it is not given */
    CHECK_DONE(world, code);
    bool is_given = cairn_page_count(tasks) > 0;
    CHECK(is_idle == (!is_given && !is_leading), "idle is %d, but %s and %s", is_idle,
          is_given ? "something is given" : "nothing is given",
          is_leading ? "something leased can lead on" : "nothing leased can");
    if (is_given && leases->count < 64)
        leases->tasks[leases->count++] = tasks;
    else
        cairn_page_free(tasks);
}

static void end_one(struct world *world, unsigned *seed, struct leases *leases)
{
    if (!leases->count)
        return;
    size_t i = next_random(seed, (unsigned)leases->count);
    cairn_page *tasks = leases->tasks[i];
    const cairn_task *task = cairn_page_task(tasks, 0);
    leases->tasks[i] = leases->tasks[--leases->count];
    if (strcmp(task->kind, "function") == 0) {
        cairn_passage *passage;
        CHECK_DONE(world, cairn_passage_open(world->engine, "w", task, CAIRN_COMMIT_PASSAGE,
                                             30000, &passage, &world->error));
        CHECK_DONE(world, cairn_passage_end(passage, CAIRN_OK, NULL, &world->error));
        cairn_passage_free(passage);
    } else {
        CHECK_DONE(world, cairn_task_complete(world->engine, "w", task, "{}", &world->error));
    }
    cairn_page_free(tasks);
}

static void add_work(struct world *world, unsigned *seed)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    spec.type = law_types[next_random(seed, 3)];
    start.workflow = "f";
    start.version = (int32_t)next_random(seed, 3) + 1;
    if (next_random(seed, 2))
        CHECK_DONE(world, cairn_enqueue(world->engine, &spec, 1, NULL, &world->error));
    else
        CHECK_DONE(world, cairn_instance_start(world->engine, &start, &started, &world->error));
}

static void give_to_runtime(struct world *world, unsigned *seed, const char **runtimes)
{
    cairn_registry_spec entry = CAIRN_REGISTRY_DEFAULTS;
    size_t t = next_random(seed, 3);
    runtimes[t] = law_runtimes[next_random(seed, 2) + 1];
    entry.workflow_name = law_types[t];
    entry.runtime = runtimes[t];
    CHECK_DONE(world, cairn_registry_put(world->engine, &entry, &world->error));
}

TEST(idle_is_exactly_a_claim_that_brings_nothing_beside_leases_that_lead_to_nothing)
{
    struct world world;
    const char *runtimes[3] = {NULL};
    struct leases leases = {.count = 0};
    unsigned seed = 8;
    char file[64];
    open_world(&world);
    for (int version = 1; version <= 3; version++) {
        snprintf(file, sizeof file, "{function: f, version: %d}", version);
        CHECK_DONE(&world, cairn_workflow_deploy(world.engine, "f", file, NULL, &world.error));
    }
    for (int i = 0; i < 300; i++) {
        switch (next_random(&seed, 8)) {
        case 0:
        case 1:
            add_work(&world, &seed);
            break;
        case 2:
        case 3:
            end_one(&world, &seed, &leases);
            break;
        case 4:
            if (next_random(&seed, 4) == 0)
                give_to_runtime(&world, &seed, runtimes);
            break;
        default:
            check_law(&world, &seed, runtimes, &leases);
        }
    }
    while (leases.count)
        cairn_page_free(leases.tasks[--leases.count]);
    close_world(&world);
}
