/* tests/api/test_commit_refused.c - what a commit of a passage may not say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "passage.h"
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

/* A valid commit with everything in it; `from` is replaced by `to`. */
static char *changed_commit(const struct passage *passage, const char *from, const char *to)
{
    char text[2200], *changed = calloc(1, sizeof text + strlen(to));
    snprintf(
        text, sizeof text,
        "{\"worker\":\"w\",\"token\":\"%s\",\"revision\":%lld,\"outcome\":\"go_on\","
        "\"output\":null,\"error\":\"e\",\"failed_step\":\"f\",\"extend_ms\":9000,"
        "\"steps\":[" STEP(
            "1", "k", "task", "completed",
            "") ","
                "{\"seq\":2,\"key\":\"l\",\"kind\":\"task\",\"status\":\"completed\",\"input\":"
                "{},"
                "\"output\":{},\"error\":\"x\",\"attempts\":0,\"max_attempts\":8,\"delay_ms\":"
                "0,"
                "\"until\":null,\"event\":null,\"timeout_ms\":null,\"signal_id\":null,"
                "\"compensation\":{\"handler\":\"h\",\"max_attempts\":6,\"timeout_ms\":70,"
                "\"retry\":{\"backoff\":\"linear\",\"base_ms\":71,\"max_ms\":72,\"jitter\":0.5}"
                ","
                "\"idempotent\":true,\"metadata\":{\"a\":1}},"
                "\"outbound\":[{\"event\":\"o\",\"payload\":1}]}],"
                "\"logs\":[{\"level\":\"info\",\"message\":\"m\",\"data\":{},\"step\":\"k\","
                "\"attempt\":4}],"
                "\"jobs\":[{\"id\":\"11111111-1111-4111-8111-111111111111\",\"seq\":3,"
                "\"type\":\"t\"}],"
                "\"instances\":[{\"id\":\"22222222-2222-4222-8222-222222222222\",\"seq\":5,"
                "\"workflow\":\"order\"}],"
                "\"claim\":{\"types\":[\"zz\"],\"max\":10}}",
        passage->token, passage->revision);
    const char *at = strstr(text, from);
    CHECK(at, "nothing to change in %s", text);
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return changed;
}

TEST(every_field_is_refused_when_it_is_wrong_and_named)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"\"worker\":\"w\"", "\"worker\":1", "\"worker\" must be a string"},
        {"\"worker\":\"w\",", "", "\"worker\" is missing"},
        {"\"token\":", "\"nekot\":", "\"token\" is missing"},
        {"\"revision\":", "\"revision\":-", "\"revision\" must be from 0"},
        {"\"revision\":", "\"revision\":0.5,\"r\":", "\"revision\" must be an integer"},
        {"\"revision\":", "\"r\":", "\"revision\" is missing"},
        {"\"go_on\"", "\"goon\"",
         "\"outcome\" must be go_on, complete, fail, suspend, again or mismatch, not \"goon\""},
        {"\"go_on\"", "null", "\"outcome\" is missing"},
        {"\"go_on\"", "[]", "\"outcome\" must be a string"},
        {"\"error\":\"e\"", "\"error\":[]", "\"error\" must be a string"},
        {"\"failed_step\":\"f\"", "\"failed_step\":1", "\"failed_step\" must be a string"},
        {"9000", "0", "\"extend_ms\" must be from 1"},
        {"9000", "\"9\"", "\"extend_ms\" must be an integer"},
        {"9000", "4294967296", "\"extend_ms\" must be from 1"},
        {"\"steps\":[", "\"steps\":{},\"x\":[", "\"steps\" must be an array of objects"},
        {"\"steps\":[", "\"steps\":[1,", "\"steps\" must be an array of objects"},
        {"\"seq\":2", "\"seq\":0", "\"steps[1].seq\" must be from 1"},
        {"\"seq\":2", "\"seq\":\"2\"", "\"steps[1].seq\" must be an integer"},
        {"\"seq\":2,", "", "\"steps[1].seq\" is missing"},
        {"\"key\":\"l\",", "", "\"steps[1].key\" is missing"},
        {"\"key\":\"k\"", "\"key\":{}", "\"steps[0].key\" must be a string"},
        {"\"kind\":\"task\"", "\"kind\":\"fork\"",
         "\"steps[0].kind\" must be task, sleep, wait, value or start, not \"fork\""},
        {"\"kind\":\"task\",", "", "\"steps[0].kind\" is missing"},
        {"\"completed\"", "\"running\"",
         "\"steps[0].status\" must be completed, failed, ready, waiting or forgotten"},
        {"\"error\":\"x\"", "\"error\":7", "\"steps[1].error\" must be a string"},
        {"\"attempts\":0", "\"attempts\":-1", "\"steps[1].attempts\" must be from 0"},
        {"\"max_attempts\":8", "\"max_attempts\":0",
         "\"steps[1].max_attempts\" must be from 1"},
        {"\"delay_ms\":0", "\"delay_ms\":-1", "\"steps[1].delay_ms\" must be from 0"},
        {"\"delay_ms\":0", "\"delay_ms\":9000000000000000", "\"steps[1].delay_ms\" must be"},
        {"\"until\":null", "\"until\":\"soon\"", "\"steps[1].until\" must be a time"},
        {"\"event\":null", "\"event\":1", "\"steps[1].event\" must be a string"},
        {"\"timeout_ms\":null", "\"timeout_ms\":-1", "\"steps[1].timeout_ms\" must be from 0"},
        {"\"signal_id\":null", "\"signal_id\":1", "\"steps[1].signal_id\" must be a string"},
        {"\"compensation\":{", "\"compensation\":\"h\",\"x\":{",
         "\"steps[1].compensation\" must be an object"},
        {"\"handler\":\"h\",", "", "\"steps[1].compensation.handler\" is missing"},
        {"\"max_attempts\":6", "\"max_attempts\":-1",
         "\"steps[1].compensation.max_attempts\" must be from 0"},
        {"\"timeout_ms\":70", "\"timeout_ms\":-1",
         "\"steps[1].compensation.timeout_ms\" must be from 0"},
        {"\"handler\":\"h\"", "\"handler\":\"h\",\"y\":1",
         "\"steps[1].compensation.y\" is unknown"},
        {"\"linear\"", "\"odd\"",
         "\"steps[1].compensation.retry.backoff\" must be fixed, linear, exponential or "
         "quadratic, not \"odd\""},
        {"\"backoff\":\"linear\",", "", "\"steps[1].compensation.retry.backoff\" is missing"},
        {"\"base_ms\":71", "\"base_ms\":-1",
         "\"steps[1].compensation.retry.base_ms\" must be from 0"},
        {"\"max_ms\":72", "\"max_ms\":\"1\"",
         "\"steps[1].compensation.retry.max_ms\" must be an integer"},
        {"\"jitter\":0.5", "\"jitter\":1.5",
         "\"steps[1].compensation.retry.jitter\" must be from 0 to 1"},
        {"\"jitter\":0.5", "\"jitter\":-0.5",
         "\"steps[1].compensation.retry.jitter\" must be from 0 to 1"},
        {"\"jitter\":0.5", "\"jitter\":\"0\"",
         "\"steps[1].compensation.retry.jitter\" must be a number"},
        {"\"jitter\":0.5", "\"jitter\":0.5,\"y\":1",
         "\"steps[1].compensation.retry.y\" is unknown"},
        {"\"idempotent\":true", "\"idempotent\":1",
         "\"steps[1].compensation.idempotent\" must be true or false"},
        {"\"idempotent\":true", "\"idempotent\":false", "max_attempts must be 0 or 1"},
        {"{\"a\":1}", "[]", "metadata is not a JSON object"},
        {"\"event\":\"o\"", "\"event\":null", "\"steps[1].outbound[0].event\" is missing"},
        {"\"event\":\"o\"", "\"event\":\"o\",\"y\":1", "\"steps[1].outbound[0].y\" is unknown"},
        {"\"outbound\":[", "\"outbound\":1,\"x\":[", "\"steps[1].outbound\" must be an array"},
        {"\"level\":\"info\"", "\"level\":\"loud\"",
         "\"logs[0].level\" must be debug, info, warn or error, not \"loud\""},
        {"\"message\":\"m\",", "", "\"logs[0].message\" is missing"},
        {"\"message\":\"m\"", "\"message\":1", "\"logs[0].message\" must be a string"},
        {"\"step\":\"k\"", "\"step\":1", "\"logs[0].step\" must be a string"},
        {"\"attempt\":4", "\"attempt\":-4", "\"logs[0].attempt\" must be from 0"},
        {"\"attempt\":4", "\"attempt\":4,\"y\":1", "\"logs[0].y\" is unknown"},
        {"\"id\":\"1", "\"di\":\"1", "\"jobs[0].id\" is missing"},
        {"\"seq\":3", "\"seq\":-3", "\"jobs[0].seq\" must be from 1"},
        {"\"type\":\"t\"", "\"type\":7", "\"jobs[0].type\" must be a string"},
        {"\"id\":\"2", "\"di\":\"2", "\"instances[0].id\" is missing"},
        {"\"seq\":5", "\"seq\":null", "\"instances[0].seq\" is missing"},
        {"\"workflow\":\"order\"", "\"workflow\":7", "\"instances[0].workflow\" must be"},
        {"\"types\":[\"zz\"]", "\"types\":[]", "\"claim.types\" must have 1 to 100 entries"},
        {"\"max\":10", "\"max\":0", "\"claim.max\" must be from 1"},
        {"\"max\":10", "\"max\":10,\"y\":1", "\"claim.y\" is unknown"},
        {"\"claim\":", "\"surplus\":1,\"claim\":", "\"surplus\" is unknown"},
        {"\"seq\":1", "\"seq\":1,\"surplus\":1", "\"steps[0].surplus\" is unknown"},
    };
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *body = changed_commit(&passage, cases[i].from, cases[i].to);
        call(&caller, "POST", commit_target(&passage), "%s", body);
        CHECK(caller.status == 400, "case %zu is %d: %s to %s", i, caller.status, body,
              caller.text);
        CHECK(strstr(text_at(&caller, "message"), cases[i].message), "case %zu: %s, not %s", i,
              text_at(&caller, "message"), cases[i].message);
        free(body);
    }
    call_for(&caller, 200, "GET", about(&passage, "/steps"), NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1); /* nothing was kept */
    caller_close(&caller);
}

TEST(a_commit_starts_children_of_its_own_instance_only)
{
    static const int lengths[] = {1, 8, 35};
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char more[400];
        snprintf(
            more, sizeof more,
            ",\"steps\":[" STEP(
                "1", "k", "start", "completed",
                "") "],"
                    "\"instances\":[{\"id\":\"22222222-2222-4222-8222-222222222222\",\"seq\":1,"
                    "\"workflow\":\"order\",\"tell_instance\":\"%.*s\",\"tell_event\":\"e\"}]",
            lengths[i], passage.instance);
        commit_for(&caller, 400, &passage, "go_on", more);
        CHECK(strstr(text_at(&caller, "message"), "tell_instance"), "%s", caller.text);
    }
    caller_close(&caller);
}

TEST(a_commit_that_comes_twice_starts_its_child_once)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    char more[400];
    long long revision = passage.revision;
    snprintf(
        more, sizeof more,
        ",\"extend_ms\":9000,\"steps\":[" STEP(
            "1", "k", "start", "completed",
            "") "],"
                "\"instances\":[{\"id\":\"22222222-2222-4222-8222-222222222222\",\"seq\":1,"
                "\"workflow\":\"order\",\"tell_instance\":\"%s\",\"tell_event\":\"e\"}]",
        passage.instance);
    for (int i = 0; i < 2; i++) {
        passage.revision = revision;
        commit_for(&caller, 200, &passage, "go_on", more);
        call_for(&caller, 200, "GET", "/v1/instances", NULL);
        CHECK_INT(json_array_size(part(&caller, "items")), 2);
    }
    caller_close(&caller);
}

TEST(a_step_that_the_commit_forgets_is_not_named_again)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    commit_for(&caller, 200, &passage, "go_on",
               ",\"steps\":[" STEP("1", "k", "task", "failed", ",\"error\":\"e\"") "]");
    commit_for(&caller, 400, &passage, "go_on",
               ",\"steps\":[" STEP("1", "k", "task", "forgotten",
                                   "") "," STEP("1", "k", "task", "completed", "") "]");
    CHECK(strstr(text_at(&caller, "message"), "forgotten"), "%s", caller.text);
    call_for(&caller, 200, "GET", about(&passage, "/steps"), NULL);
    CHECK_STR(text_at(&caller, "items.1.status"), "failed"); /* nothing was forgotten */
    caller_close(&caller);
}

TEST(a_place_that_is_forgotten_when_it_is_new_stays_free)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    commit_for(&caller, 200, &passage, "go_on",
               ",\"steps\":[" STEP("1", "k", "task", "forgotten",
                                   "") "," STEP("2", "l", "task", "completed", "") "]");
    call_for(&caller, 200, "GET", about(&passage, "/steps"), NULL);
    CHECK_STR(text_at(&caller, "items.1.name"), "l");
    commit_for(&caller, 400, &passage, "go_on",
               ",\"steps\":[" STEP("1", "k", "task", "completed", "") "]");
    commit_for(&caller, 200, &passage, "go_on",
               ",\"steps\":[" STEP("3", "k", "task", "completed", "") "]");
    caller_close(&caller);
}

/* `count` entries in a field of this name. */
static char *long_list(const struct passage *passage, const char *name, size_t count)
{
    size_t room = 300 + count * 80;
    char *body = malloc(room);
    size_t used = (size_t)snprintf(body, room,
                                   "{\"worker\":\"w\",\"token\":\"%s\",\"revision\":%lld,"
                                   "\"outcome\":\"suspend\",\"%s\":[",
                                   passage->token, passage->revision, name);
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(body + used, room - used,
                                 strcmp(name, "steps") == 0
                                     ? "%s{\"seq\":%zu,\"key\":\"k%zu\",\"kind\":\"task\","
                                       "\"status\":\"completed\"}"
                                     : "%s{}",
                                 i ? "," : "", i + 1, i);
    snprintf(body + used, room - used, "]}");
    return body;
}

TEST(lists_are_bounded)
{
    static const char *const names[] = {"steps", "logs", "jobs", "instances"};
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    for (size_t i = 0; i < 4; i++) {
        char *body = long_list(&passage, names[i], 1001);
        call_for(&caller, 413, "POST", commit_target(&passage), "%s", body);
        CHECK_STR(text_at(&caller, "code"), "too_large");
        CHECK(strstr(text_at(&caller, "message"), names[i]), "%s", caller.text);
        free(body);
    }
    char *body = long_list(&passage, "steps", 1000);
    call_for(&caller, 200, "POST", commit_target(&passage), "%s", body);
    free(body);
    claim_passage(&caller);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.steps")), 1000);
    caller_close(&caller);
}

TEST(texts_are_bounded)
{
    static const char *const names[] = {"\"l\"", "\"h\"", "\"f\"", "\"o\"", "\"t\""};
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    for (size_t i = 0; i < 5; i++) {
        char name[260] = "\"";
        memset(name + 1, 'n', 257);
        strcpy(name + 258, "\"");
        char *body = changed_commit(&passage, names[i], name);
        call_for(&caller, 413, "POST", commit_target(&passage), "%s", body);
        CHECK_STR(text_at(&caller, "code"), "too_large");
        free(body);
    }
    char *large = malloc((1 << 20) + 30);
    strcpy(large, "\"output\":\"");
    memset(large + 10, 'x', 1 << 20);
    strcpy(large + 10 + (1 << 20), "\"");
    char *body = changed_commit(&passage, "\"output\":{}", large);
    call_for(&caller, 413, "POST", commit_target(&passage), "%s", body);
    free(body);
    free(large);
    caller_close(&caller);
}

TEST(what_does_not_fit_together_is_refused)
{
    static const char *const commits[] = {
        STEP("2", "a", "task", "completed", ""), /* not the next place */
        STEP("1", "a", "task", "waiting", ""),   /* a task does not wait */
        STEP("1", "a", "wait", "waiting", ""),   /* for what? */
        STEP("1", "a", "value", "ready", ""),    /* a value is there */
        STEP("2", "a", "task", "forgotten", ""), /* nor is this the next place */
        STEP("1", "a", "task", "forgotten", "") "," STEP("1", "a", "task", "completed", ""),
        STEP("1", "a", "task", "completed", "") "," STEP("1", "b", "task", "completed", ""),
    };
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    for (size_t i = 0; i < sizeof commits / sizeof *commits; i++) {
        char more[300];
        snprintf(more, sizeof more, ",\"steps\":[%s]", commits[i]);
        call(&caller, "POST", commit_target(&passage),
             "{\"worker\":\"w\",\"token\":\"%s\",\"revision\":%lld,\"outcome\":\"go_on\"%s}",
             passage.token, passage.revision, more);
        CHECK(caller.status == 400, "case %zu is %d: %s", i, caller.status, caller.text);
    }
    commit_for(&caller, 200, &passage, "complete", "");
    add_job(&caller, "job");
    struct task_held held = take(&caller, "job");
    strcpy(passage.id, held.id);
    strcpy(passage.token, held.token);
    call(&caller, "POST", commit_target(&passage),
         "{\"worker\":\"w\",\"token\":\"%s\",\"revision\":0,\"outcome\":\"complete\"}",
         held.token);
    CHECK(caller.status >= 400 && caller.status < 500, "a job has no commits: %s", caller.text);
    caller_close(&caller);
}
