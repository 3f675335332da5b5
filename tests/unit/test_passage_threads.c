/* tests/unit/test_passage_threads.c - threads that ask for something while a function ends, or later.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whatever they ask for, and whenever: they are answered, at last with CAIRN_E_CLOSED.
 */
#include "base/random.h"
#include "fake_engine.h"
#include "test.h"

#include <sched.h>
#include <semaphore.h>

/* ---- every call ---------------------------------------------------------------------------- */

/* What a thread works with. */
struct asker {
    pthread_t thread;
    cairn_passage *passage;
    struct rng rng;
    sem_t ended;     /* the run has */
    int before;      /* calls that it makes until then */
    bool was_open;   /* a call was let in after another was told of the end */
    bool was_unread; /* a fact that cannot be read */
    char key[8];
};

static cairn_outcome complete_it(cairn_work *work, void *arg)
{
    (void)arg;
    cairn_work_set_output(work, "1");
    if (strcmp(cairn_work_task(work)->kind, "step") != 0)
        return CAIRN_DEAD;
    sched_yield();
    return CAIRN_COMPLETE;
}

static cairn_step_options step_of(const struct asker *asker, cairn_handler run)
{
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = asker->key;
    options.run = run;
    options.arg = NULL;
    return options;
}

static cairn_code ask_step(struct asker *asker)
{
    const char *output;
    cairn_step_options options = step_of(asker, complete_it);
    return cairn_passage_step(asker->passage, &options, &output, NULL);
}

static cairn_code ask_halves(struct asker *asker)
{
    cairn_work *work;
    const char *output = NULL;
    cairn_step_options options = step_of(asker, NULL);
    cairn_code code = cairn_passage_begin_step(asker->passage, &options, &work, &output, NULL);
    if (code || !work)
        return code;
    sched_yield();
    return cairn_passage_end_step(asker->passage, work, CAIRN_COMPLETE, &output, NULL);
}

static cairn_code ask_sleep(struct asker *asker)
{
    return cairn_passage_sleep(asker->passage, asker->key, 0, NULL);
}

static cairn_code ask_sleep_until(struct asker *asker)
{
    return cairn_passage_sleep_until(asker->passage, NULL, 1, NULL);
}

static cairn_code ask_wait(struct asker *asker)
{
    cairn_error error;
    const char *payload = NULL;
    if (rng_below(&asker->rng, 8)) /* mostly refused, since it would suspend */
        return cairn_passage_wait_event(asker->passage, "e", "", -1, &payload, &error);
    return cairn_passage_wait_event(asker->passage, asker->key, "e", -1, &payload, &error);
}

static cairn_code ask_now(struct asker *asker)
{
    int64_t now_us;
    return cairn_passage_now(asker->passage, &now_us, NULL);
}

static cairn_code ask_random(struct asker *asker)
{
    double number;
    return cairn_passage_random(asker->passage, &number, NULL);
}

static cairn_code ask_uuid(struct asker *asker)
{
    char id[40];
    return cairn_passage_uuid(asker->passage, id, NULL);
}

static cairn_code ask_job(struct asker *asker)
{
    char id[40];
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "mail.v1";
    return cairn_passage_start_job(asker->passage, asker->key, &spec, id, NULL);
}

static cairn_code ask_workflow(struct asker *asker)
{
    char id[40];
    cairn_start_options options = CAIRN_START_DEFAULTS;
    options.workflow = "kid";
    return cairn_passage_start_workflow(asker->passage, asker->key, &options, id, NULL);
}

static cairn_code ask_call(struct asker *asker)
{
    const char *output;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    options.workflow = rng_below(&asker->rng, 8) ? "" : "kid";
    return cairn_passage_call(asker->passage, asker->key, &options, -1, &output, NULL);
}

static cairn_code ask_log(struct asker *asker)
{
    return cairn_passage_log(asker->passage, "info", asker->key, "{}", NULL);
}

static cairn_code ask_output(struct asker *asker)
{
    return cairn_passage_set_output(asker->passage, "[1]", NULL);
}

static cairn_code ask_error(struct asker *asker)
{
    return cairn_passage_set_error(asker->passage, "mine");
}

typedef cairn_code (*ask)(struct asker *asker);
static const ask calls[] = {ask_step, ask_halves, ask_sleep,  ask_sleep_until, ask_wait,
                            ask_now,  ask_random, ask_uuid,   ask_job,         ask_workflow,
                            ask_call, ask_log,    ask_output, ask_error};
enum { CALLS = sizeof calls / sizeof calls[0] };

static bool can_read_facts(const cairn_passage *passage)
{
    cairn_passage_costs costs = CAIRN_PASSAGE_COSTS_DEFAULTS;
    (void)cairn_passage_stop(passage);
    return strcmp(cairn_passage_task(passage)->type, "order") == 0 &&
           cairn_passage_costs_get(passage, &costs, NULL) == CAIRN_OK;
}

static cairn_passage *open_for(struct fake_engine *fake, cairn_commit_mode mode,
                               uint32_t lease_ms)
{
    struct passage_options options = {.exchange = fake_exchange,
                                      .exchange_arg = fake,
                                      .worker = "w",
                                      .task = &fake->task,
                                      .commit = mode,
                                      .lease_ms = lease_ms,
                                      .seed = 1};
    cairn_passage *passage = NULL;
    fake_init(fake);
    CHECK_INT(passage_new(&options, &passage, NULL), CAIRN_OK);
    return passage;
}

TEST(every_call_after_the_end_is_told_so)
{
    struct fake_engine fake;
    cairn_error error = {0};
    struct asker asker = {.passage = open_for(&fake, CAIRN_COMMIT_STEP, 1000), .key = "a"};
    rng_init(&asker.rng, 1);
    CHECK_OK(cairn_passage_end(asker.passage, CAIRN_OK, NULL, &error));
    for (size_t i = 0; i < CALLS; i++)
        CHECK(calls[i](&asker) == CAIRN_E_CLOSED, "call %zu", i);
    CHECK_INT(cairn_passage_sleep(asker.passage, "a", 1, &error), CAIRN_E_CLOSED);
    CHECK_STR(error.message, "the run of \"order\" has ended");
    CHECK_INT(cairn_passage_end(asker.passage, CAIRN_OK, NULL, &error), CAIRN_E_CLOSED);
    CHECK(can_read_facts(asker.passage), "its facts are gone");
    cairn_passage_free(asker.passage);
    CHECK_STR(fake.said, "complete\n");
}

/* ---- a step that is under way -------------------------------------------------------------- */

struct slow {
    cairn_passage *passage;
    sem_t has_begun, may_end;
    cairn_code code;
    cairn_error error;
};

static cairn_outcome run_slowly(cairn_work *work, void *arg)
{
    struct slow *slow = arg;
    sem_post(&slow->has_begun);
    sem_wait(&slow->may_end);
    cairn_work_set_output(work, "\"late\"");
    return CAIRN_COMPLETE;
}

static void *execute_slowly(void *arg)
{
    struct slow *slow = arg;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = "a";
    options.run = run_slowly;
    options.arg = slow;
    slow->code = cairn_passage_step(slow->passage, &options, NULL, &slow->error);
    return NULL;
}

static pthread_t begin_slowly(struct slow *slow, cairn_passage *passage)
{
    pthread_t thread;
    slow->passage = passage;
    sem_init(&slow->has_begun, 0, 0);
    sem_init(&slow->may_end, 0, 0);
    CHECK_INT(pthread_create(&thread, NULL, execute_slowly, slow), 0);
    sem_wait(&slow->has_begun);
    return thread;
}

static void check_closed(const struct slow *slow)
{
    CHECK_INT(slow->code, CAIRN_E_CLOSED);
    CHECK_STR(slow->error.message, "the run of \"order\" has ended");
}

static void *let_it_end(void *arg)
{
    struct slow *slow = arg;
    while (cairn_passage_set_output(slow->passage, "1", NULL) == CAIRN_OK)
        sched_yield(); /* until the end has begun: it waits for the code */
    sem_post(&slow->may_end);
    return NULL;
}

TEST(a_run_that_ends_waits_for_a_steps_code_drops_its_result_and_has_failed)
{
    struct fake_engine fake;
    struct slow slow;
    struct code b = {0};
    pthread_t other;
    cairn_passage *passage = open_for(&fake, CAIRN_COMMIT_STEP, 600000);
    pthread_t thread = begin_slowly(&slow, passage);
    CHECK_INT(do_step(passage, "b", &b, NULL, NULL), CAIRN_E_WRONG_STATE);
    CHECK_INT(pthread_create(&other, NULL, let_it_end, &slow), 0);
    char status[24];
    CHECK_INT(cairn_passage_end(passage, CAIRN_OK, status, NULL), CAIRN_OK);
    CHECK_STR(status, "failed");
    pthread_join(thread, NULL);
    pthread_join(other, NULL);
    check_closed(&slow);
    cairn_passage_free(passage);
    CHECK_INT(b.calls, 0);
    CHECK(strstr(fake.said, "fail"), "%s", fake.said);
    CHECK(strstr(fake.said, "error step \"b\" is asked for while step \"a\" is being executed"),
          "%s", fake.said);
    CHECK(!strstr(fake.said, "1.a"), "of the dropped step: %s", fake.said);
}

TEST(a_step_that_does_not_end_holds_the_run_as_long_as_the_lease_and_the_handle_longer)
{
    struct fake_engine fake;
    struct slow slow;
    char status[24];
    cairn_passage *passage = open_for(&fake, CAIRN_COMMIT_PASSAGE, 1);
    pthread_t thread = begin_slowly(&slow, passage);
    CHECK_INT(cairn_passage_end(passage, CAIRN_E_STEP_FAILED, status, NULL), CAIRN_OK);
    CHECK_STR(status, "failed");
    cairn_passage_free(passage); /* its code is still inside */
    sem_post(&slow.may_end);
    pthread_join(thread, NULL);
    check_closed(&slow);
    CHECK_STR(fake.said, "fail error the function ended while step \"a\" was being executed\n");
}

TEST(a_function_that_returns_before_it_ends_a_step_has_failed)
{
    struct fake_engine fake;
    cairn_work *work;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    cairn_passage *passage = open_for(&fake, CAIRN_COMMIT_STEP, 600000);
    options.key = "a";
    CHECK_INT(cairn_passage_begin_step(passage, &options, &work, NULL, NULL), CAIRN_OK);
    check_end(passage, CAIRN_OK, "failed");
    CHECK_STR(fake.said, "fail error the function ended while step \"a\" was being executed\n");
}

/* ---- the law ------------------------------------------------------------------------------- */

static bool is_told(struct asker *asker)
{
    snprintf(asker->key, sizeof asker->key, "k%d", (int)rng_below(&asker->rng, 3));
    bool is_closed = calls[rng_below(&asker->rng, CALLS)](asker) == CAIRN_E_CLOSED;
    asker->was_unread |= !can_read_facts(asker->passage);
    return is_closed;
}

static void *ask_on(void *arg)
{
    struct asker *asker = arg;
    bool is_closed = false;
    for (int i = 0; i < asker->before; i++) {
        bool was_closed = is_closed;
        is_closed = is_told(asker);
        asker->was_open |= was_closed && !is_closed;
    }
    sem_wait(&asker->ended);
    for (int i = 0; i < 4; i++)
        asker->was_open |= !is_told(asker);
    return NULL;
}

TEST(a_thousand_interleavings_of_every_call_with_the_end)
{
    enum { ASKERS = 2 };
    static struct fake_engine fake;
    struct rng rng;
    rng_init(&rng, 26);
    for (int round = 0; round < 1000; round++) {
        struct asker askers[ASKERS] = {0};
        cairn_passage *passage = open_for(
            &fake, rng_below(&rng, 2) ? CAIRN_COMMIT_STEP : CAIRN_COMMIT_PASSAGE, 600000);
        for (size_t i = 0; i < ASKERS; i++) {
            askers[i].passage = passage;
            askers[i].before = (int)rng_below(&rng, 30);
            rng_init(&askers[i].rng, (uint64_t)round * ASKERS + i + 1);
            sem_init(&askers[i].ended, 0, 0);
            CHECK_INT(pthread_create(&askers[i].thread, NULL, ask_on, &askers[i]), 0);
        }
        for (uint64_t turns = rng_below(&rng, 8); turns > 0; turns--)
            sched_yield();
        cairn_passage_end(passage, rng_below(&rng, 2) ? CAIRN_OK : CAIRN_E_STEP_FAILED, NULL,
                          NULL);
        for (size_t i = 0; i < ASKERS; i++) {
            sem_post(&askers[i].ended);
            pthread_join(askers[i].thread, NULL);
            CHECK(!askers[i].was_open, "round %d: a call was let in after the end", round);
            CHECK(!askers[i].was_unread, "round %d: a fact was not readable", round);
        }
        cairn_passage_free(passage);
    }
}
