/* tests/spec/test_remote_function.c - commits of functions over connections that go wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"
#include "engine/calling.h"
#include "server.h"
#include "test.h"

static cairn_engine *open_fake(const struct fake *fake, uint32_t retry_ms)
{
    cairn_error error;
    cairn_engine *engine = NULL;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = fake->url;
    open.retry_ms = retry_ms;
    CHECK_OK(cairn_open(&open, &engine, &error));
    return engine;
}

/* Commits, and frees the request. */
static cairn_code commit(cairn_engine *engine, struct commit_input in, cairn_error *error)
{
    struct request *request = request_new(OP_COMMIT);
    in.worker = "w";
    in.task_id = "t";
    in.token = "k";
    in.extend_ms = 1000;
    request->in.commit = in;
    cairn_code code = run_request(engine, request, error);
    request_free(request);
    return code;
}

/* How often a commit is sent to a server that hangs up. */
static int times_sent(struct commit_input in)
{
    struct fake fake;
    cairn_error error;
    fake_start(&fake, NULL);
    cairn_engine *engine = open_fake(&fake, 300);
    CHECK_INT(commit(engine, in, &error), CAIRN_E_UNREACHABLE);
    int count = atomic_load(&fake.requests);
    cairn_close(engine);
    fake_stop(&fake);
    return count;
}

static struct commit_step step_in(const char *status)
{
    return (struct commit_step){.seq = 1, .key = "a", .kind = "task", .status = status};
}

TEST(a_commit_is_sent_again_where_the_engine_would_recognise_it)
{
    struct commit_step ended[] = {step_in("completed"), step_in("failed")};
    CHECK(times_sent((struct commit_input){.outcome = PASSAGE_COMPLETE}) > 1, "complete");
    CHECK(times_sent((struct commit_input){.outcome = PASSAGE_SUSPEND}) > 1, "suspend");
    CHECK(times_sent((struct commit_input){
              .outcome = PASSAGE_GO_ON, .steps = ended, .step_count = 2}) > 1,
          "steps that have ended");
}

TEST(a_commit_that_would_be_made_twice_is_sent_once)
{
    struct commit_step ready[] = {step_in("completed"), step_in("ready")};
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "w";
    claim.types = (const char *[]){"t"};
    claim.type_count = 1;
    CHECK_INT(times_sent((struct commit_input){.outcome = PASSAGE_GO_ON}), 1);
    CHECK_INT(times_sent((struct commit_input){
                  .outcome = PASSAGE_GO_ON, .steps = ready, .step_count = 2}),
              1);
    CHECK_INT(times_sent((struct commit_input){
                  .outcome = PASSAGE_SUSPEND, .is_claiming = true, .claim = claim}),
              1);
}

#define ANSWER(body)                                                                 \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" \
    "{" body "}"
#define COMMITTED "\"status\":\"ready\",\"stop\":null,\"lease_until\":null,\"revision\":4,"

TEST(an_answer_to_a_commit_that_makes_no_sense_is_an_error)
{
    static const struct {
        const char *answer;
        cairn_code code;
    } cases[] = {
        {ANSWER(COMMITTED "\"conflict\":false,\"events\":[],\"started\":[]"), CAIRN_OK},
        {ANSWER(COMMITTED "\"conflict\":true,\"events\":[{\"id\":\"a\",\"event\":\"b\"}],"
                          "\"started\":[]"),
         CAIRN_OK},
        {ANSWER(""), CAIRN_E_INTERNAL},
        {ANSWER(COMMITTED "\"conflict\":false,\"started\":[]"), CAIRN_E_INTERNAL},
        {ANSWER(COMMITTED "\"conflict\":false,\"events\":[]"), CAIRN_E_INTERNAL},
        {ANSWER(COMMITTED "\"events\":[{\"id\":\"a\"}],\"started\":[]"), CAIRN_E_INTERNAL},
        {ANSWER(COMMITTED "\"events\":[],\"started\":[{\"id\":\"a\"}]"), CAIRN_E_INTERNAL},
        {ANSWER("\"events\":[],\"started\":[]"), CAIRN_E_INTERNAL},
        {ANSWER("\"status\":1,\"events\":[],\"started\":[]"), CAIRN_E_INTERNAL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake fake;
        cairn_error error;
        fake_start(&fake, cases[i].answer);
        cairn_engine *engine = open_fake(&fake, 0);
        cairn_code code =
            commit(engine, (struct commit_input){.outcome = PASSAGE_SUSPEND}, &error);
        CHECK(code == cases[i].code, "case %zu: %s: %s", i, cairn_code_name(code),
              error.message);
        cairn_close(engine);
        fake_stop(&fake);
    }
}

#define TASK(more)                                                                           \
    ANSWER(                                                                                  \
        "\"tasks\":[{\"id\":\"i\",\"token\":\"t\",\"kind\":\"function\",\"type\":\"f\"" more \
        "}]")

TEST(a_functions_task_without_its_memory_is_an_error)
{
    static const struct {
        const char *answer;
        cairn_code code;
    } cases[] = {
        {TASK(",\"version\":1,\"revision\":2,\"places\":1,\"forced\":false,\"steps\":[],"
              "\"events\":[],\"effect\":1,\"effects\":[]"),
         CAIRN_OK},
        {TASK(""), CAIRN_E_INTERNAL},
        {TASK(",\"steps\":[]"), CAIRN_E_INTERNAL},
        {TASK(",\"steps\":[{}],\"events\":[]"), CAIRN_E_INTERNAL},
        {TASK(",\"steps\":[{\"name\":\"a\",\"kind\":\"task\"}],\"events\":[]"),
         CAIRN_E_INTERNAL},
        {TASK(",\"steps\":[],\"events\":[],\"places\":\"1\""), CAIRN_E_INTERNAL},
        {ANSWER("\"tasks\":[{\"id\":\"i\",\"token\":\"t\",\"type\":\"f\"}]"), CAIRN_E_INTERNAL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake fake;
        cairn_error error;
        cairn_page *tasks = NULL;
        cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
        claim.worker = "w";
        claim.types = (const char *[]){"f"};
        claim.type_count = 1;
        fake_start(&fake, cases[i].answer);
        cairn_engine *engine = open_fake(&fake, 0);
        cairn_code code = cairn_claim(engine, &claim, &tasks, &error);
        CHECK(code == cases[i].code, "case %zu: %s: %s", i, cairn_code_name(code),
              error.message);
        if (!code)
            CHECK_INT(cairn_page_task(tasks, 0)->memory->revision, 2);
        cairn_page_free(tasks);
        cairn_close(engine);
        fake_stop(&fake);
    }
}
