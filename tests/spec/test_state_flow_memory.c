/* tests/spec/test_state_flow_memory.c - what a durable function remembers: loops, branches, values,
 * what it starts, and code that is another than the one remembered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#include "function_world.h"

#include <jansson.h>

/* The function does what world->mine says: "a b" are steps, "sleep:x" sleeps for a second, "wait:go"
 * waits for an event, "now" asks for the time. */
static cairn_code scripted(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    const char *script = world->mine;
    char word[64];
    int read = 0;
    int64_t now_us;
    for (; sscanf(script, " %63s%n", word, &read) == 1; script += read) {
        char *name = strchr(word, ':');
        if (name)
            *name++ = '\0';
        if (name && strcmp(word, "sleep") == 0)
            PASS_ON(cairn_passage_sleep(passage, name, 1000, NULL));
        else if (name)
            PASS_ON(cairn_passage_wait_event(passage, name, name, -1, NULL, NULL));
        else if (strcmp(word, "now") == 0)
            PASS_ON(cairn_passage_now(passage, &now_us, NULL));
        else
            PASS_ON(fn_step(world, word));
    }
    return CAIRN_OK;
}

static void begin_script(struct function_world *world, const char *script,
                         cairn_commit_mode mode)
{
    static char text[200];
    fn_begin(world, scripted, mode);
    snprintf(text, sizeof text, "%s", script);
    world->mine = text;
}

static void change_script(struct function_world *world, const char *script)
{
    strcpy(world->mine, script);
}

/* ---- loops and branches --------------------------------------------------------------------- */

TEST(in_a_loop_the_second_use_of_a_key_is_remembered_as_key_2)
{
    struct function_world world;
    MODES(mode)
    {
        begin_script(&world, "a a sleep:s a", mode);
        fn_passage(&world, "waiting");
        wf_advance(&world.flow, SECOND_MS);
        fn_passage(&world, "completed");
        fn_check_steps(&world,
                       "f:completed a:completed a#2:completed s:completed a#3:completed");
        fn_check_calls(&world, "a:1 a#2:1 a#3:1");
        fn_end(&world);
    }
}

TEST(a_key_with_a_hash_or_without_a_letter_is_refused)
{
    struct function_world world;
    begin_script(&world, "a#2", CAIRN_COMMIT_STEP);
    fn_passage(&world, "failed");
    CHECK(strstr(wf_instance(&world.flow)->last_error, "#"), "the error is %s",
          wf_instance(&world.flow)->last_error);
    fn_check_calls(&world, "");
    fn_end(&world);
}

static cairn_code branching(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    const char *payload = NULL;
    PASS_ON(cairn_passage_wait_event(passage, NULL, "choice", -1, &payload, NULL));
    PASS_ON(fn_step(world, strcmp(payload, "1") == 0 ? "left" : "right"));
    PASS_ON(cairn_passage_sleep(passage, NULL, 1000, NULL));
    return fn_step(world, "end");
}

TEST(a_branch_follows_what_is_remembered)
{
    struct function_world world;
    const char *const choices[] = {"1", "2"};
    for (int i = 0; i < 2; i++) {
        fn_begin(&world, branching, CAIRN_COMMIT_PASSAGE);
        fn_passage(&world, "waiting");
        wf_signal(&world.flow, "choice", choices[i]);
        fn_passage(&world, "waiting");
        wf_advance(&world.flow, SECOND_MS);
        fn_passage(&world, "completed");
        fn_check_calls(&world, i == 0 ? "end:1 left:1" : "end:1 right:1");
        fn_end(&world);
    }
}

/* ---- another version of the code ------------------------------------------------------------ */

static void check_doctor(struct flow_world *fw)
{
    cairn_page *findings;
    bool is_named = false;
    CHECK_INT(cairn_doctor(fw->world.engine, &findings, NULL), CAIRN_OK);
    for (size_t i = 0; i < cairn_page_count(findings); i++) {
        const cairn_finding *finding = cairn_page_finding(findings, i);
        is_named |= strcmp(finding->check, "versions") == 0 &&
                    strcmp(finding->result, "warning") == 0 && strstr(finding->text, fw->id);
    }
    cairn_page_free(findings);
    CHECK(is_named, "doctor does not name %s", fw->id);
}

static void check_mismatch(struct function_world *world, const char *step, const char *old,
                           const char *new)
{
    fn_check_status(world, "paused");
    const char *error = wf_instance(&world->flow)->last_error;
    json_t *tree = json_loads(error ? error : "", 0, NULL);
    CHECK_STR(json_string_value(json_object_get(tree, "step")), step);
    json_decref(tree);
    CHECK(error && strstr(error, "version_mismatch: ") && strstr(error, old) &&
              strstr(error, new),
          "%s does not show %s and %s", error ? error : "", old, new);
    fn_check_idle(world);
    sg_check_event(&world->flow, "workflow_paused", NULL,
                   "{\"reason\": \"version_mismatch\", \"status\": \"paused\"}");
    check_doctor(&world->flow);
}

TEST(another_key_than_the_remembered_one_pauses_with_version_mismatch)
{
    struct function_world world;
    MODES(mode)
    {
        begin_script(&world, "a sleep:s b", mode);
        fn_passage(&world, "waiting");
        wf_advance(&world.flow, SECOND_MS);
        change_script(&world, "other sleep:s b");
        fn_passage(&world, "ready");
        check_mismatch(&world, "a", "step \\\"a\\\"", "step \\\"other\\\"");
        fn_check_calls(&world, "a:1");
        fn_check_steps(&world, "f:ready a:completed s:completed");
        fn_end(&world);
    }
}

TEST(another_kind_than_the_remembered_one_pauses_with_version_mismatch)
{
    struct function_world world;
    MODES(mode)
    {
        begin_script(&world, "a sleep:s b", mode);
        fn_passage(&world, "waiting");
        wf_advance(&world.flow, SECOND_MS);
        change_script(&world, "a wait:s b");
        fn_passage(&world, "ready");
        check_mismatch(&world, "s", "sleep \\\"s\\\"", "wait \\\"s\\\"");
        fn_check_calls(&world, "a:1");
        fn_end(&world);
    }
}

TEST(a_new_step_before_all_remembered_ones_were_visited_is_a_mismatch)
{
    struct function_world world;
    begin_script(&world, "a sleep:s b", CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_advance(&world.flow, SECOND_MS);
    change_script(&world, "a b sleep:s");
    fn_passage(&world, "ready");
    check_mismatch(&world, "s", "sleep \\\"s\\\"", "step \\\"b\\\"");
    fn_check_calls(&world, "a:1");
    fn_end(&world);
}

TEST(code_that_only_grows_at_its_end_matches)
{
    struct function_world world;
    begin_script(&world, "a sleep:s b", CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_advance(&world.flow, SECOND_MS);
    change_script(&world, "a sleep:s b c now d");
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:1 b:1 c:1 d:1");
    fn_end(&world);
}

TEST(a_mismatch_is_judged_by_the_passage_that_meets_it_and_keeps_what_went_before)
{
    struct function_world world;
    begin_script(&world, "a wait:go b sleep:s c", CAIRN_COMMIT_PASSAGE);
    fn_passage(&world, "waiting");
    change_script(&world, "b wait:go");
    fn_check_idle(&world); /* nothing is judged before there is something to do */
    wf_signal(&world.flow, "go", NULL);
    fn_passage(&world, "ready");
    fn_check_status(&world, "paused");
    fn_check_steps(&world, "f:ready a:completed go:completed");
    fn_end(&world);
}

TEST(code_that_completes_without_asking_for_what_is_remembered_pauses)
{
    struct function_world world;
    static const char *const scripts[] = {"", "a", "sleep:s", "a sleep:s"};
    MODES(mode)
    {
        for (int i = 0; i < 4; i++) {
            begin_script(&world, "a b sleep:s", mode);
            fn_passage(&world, "waiting");
            wf_advance(&world.flow, SECOND_MS);
            change_script(&world, scripts[i]);
            fn_passage(&world, "ready");
            check_mismatch(&world, i % 2 ? "b" : "a",
                           i % 2 ? "step \\\"b\\\"" : "step \\\"a\\\"",
                           "completed without asking for it");
            fn_check_steps(&world, "f:ready a:completed b:completed s:completed");

            change_script(&world, "b sleep:s a"); /* in any order */
            CHECK_DONE(&world.flow.world, wf_resume(&world.flow));
            fn_passage(&world, "completed");
            fn_check_calls(&world, "a:1 b:1");
            fn_end(&world);
        }
    }
}

TEST(resume_without_force_pauses_again)
{
    struct function_world world;
    begin_script(&world, "a sleep:s b", CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_advance(&world.flow, SECOND_MS);
    change_script(&world, "other sleep:s b");
    fn_passage(&world, "ready");
    CHECK_DONE(&world.flow.world, wf_resume(&world.flow));
    fn_check_status(&world, "running");
    fn_passage(&world, "ready");
    check_mismatch(&world, "a", "step \\\"a\\\"", "step \\\"other\\\"");
    CHECK_INT(fn_count_events(&world, "workflow_paused", NULL), 2);
    change_script(&world, "a sleep:s b"); /* the old code is back */
    CHECK_DONE(&world.flow.world, wf_resume(&world.flow));
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:1 b:1");
    fn_end(&world);
}

static void force(struct function_world *world)
{
    struct world *w = &world->flow.world;
    CHECK_DONE(w, cairn_instance_resume(w->engine, world->flow.id, 1, &w->error));
}

TEST(resume_with_force_goes_on_and_what_matches_answers_from_memory)
{
    struct function_world world;
    MODES(mode)
    {
        begin_script(&world, "a sleep:s b", mode);
        fn_passage(&world, "waiting");
        wf_advance(&world.flow, SECOND_MS);
        change_script(&world, "other a sleep:s b sleep:t c");
        fn_passage(&world, "ready");
        force(&world);
        fn_passage(&world, "waiting"); /* in t: a and s are remembered */
        fn_check_calls(&world, "a:1 b:1 other:1");
        wf_advance(&world.flow, SECOND_MS);
        fn_passage(&world, "completed"); /* for good: nothing is judged again */
        fn_check_calls(&world, "a:1 b:1 c:1 other:1");
        fn_check_steps(&world,
                       "f:completed a:completed s:completed other:completed b:completed "
                       "t:completed c:completed");
        fn_end(&world);
    }
}

TEST(resume_with_force_lets_code_complete_that_leaves_steps_out)
{
    struct function_world world;
    begin_script(&world, "a b sleep:s c", CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_advance(&world.flow, SECOND_MS);
    change_script(&world, "b");
    fn_passage(&world, "ready");
    check_mismatch(&world, "a", "nor for 1 more", "completed without asking for it");
    force(&world);
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:1 b:1");
    fn_end(&world);
}

/* Only completing is judged: a failure is undone with all that is remembered. */
static cairn_code give_up(cairn_passage *passage, void *arg)
{
    (void)arg;
    cairn_passage_set_error(passage, "not today");
    return CAIRN_E_STEP_FAILED;
}

TEST(code_that_fails_without_asking_for_what_is_remembered_has_failed)
{
    struct function_world world;
    begin_script(&world, "a sleep:s b", CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_advance(&world.flow, SECOND_MS);
    world.run = give_up;
    fn_passage(&world, "failed");
    fn_check_status(&world, "failed");
    fn_end(&world);
}

TEST(resume_with_force_forgets_a_key_of_another_kind_and_does_it_anew)
{
    struct function_world world;
    MODES(mode)
    {
        begin_script(&world, "a sleep:s b", mode);
        fn_passage(&world, "waiting");
        wf_advance(&world.flow, SECOND_MS);
        change_script(&world, "a wait:s b");
        fn_passage(&world, "ready");
        force(&world);
        fn_passage(&world, "waiting");
        fn_check_status(&world, "waiting_signal");
        CHECK_STR(fn_row(&world, "s")->kind, "wait");
        wf_signal(&world.flow, "s", NULL);
        fn_passage(&world, "completed");
        fn_check_calls(&world, "a:1 b:1");
        fn_end(&world);
    }
}

TEST(resume_with_force_asks_the_new_code_at_once_though_the_old_one_waits)
{
    struct function_world world;
    begin_script(&world, "a wait:go b", CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    fn_pause(&world);
    change_script(&world, "x y a");
    force(&world);
    fn_during(&world, "x", fn_pause); /* what was left behind does not hold it up */
    fn_passage(&world, "ready");
    CHECK_DONE(&world.flow.world, wf_resume(&world.flow));
    fn_passage(&world, "completed");
    fn_check_steps(&world, "f:completed a:completed go:skipped x:completed y:completed");
    fn_check_calls(&world, "a:1 x:1 y:1");
    fn_end(&world);
}

/* The passage has read that the wait goes on, and another wait is left behind. */
TEST(an_event_between_claim_and_suspend_wakes_the_next_passage_whatever_else_waits)
{
    struct function_world world;
    struct runner runner;
    char status[24];
    begin_script(&world, "a sleep:s", CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    fn_pause(&world);
    change_script(&world, "x wait:go b");
    force(&world);
    fn_passage(&world, "waiting");
    fn_check_steps(&world, "f:waiting a:completed s:waiting x:completed go:waiting");
    fn_pause(&world);
    force(&world);
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    CHECK_INT(wf_signal(&world.flow, "go", NULL).taken, 1);
    fn_play(&world, &runner);
    CHECK_DONE(&world.flow.world, fn_finish(&world, &runner, status));
    CHECK_STR(status, "ready");
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:1 b:1 x:1");
    fn_end(&world);
}

TEST(a_retry_that_the_new_code_does_not_ask_for_starts_no_passages)
{
    struct function_world world;
    begin_script(&world, "a b", CAIRN_COMMIT_STEP);
    fn_fails(&world, "b", CAIRN_FAIL, 1);
    fn_passage(&world, "ready");
    fn_pause(&world);
    change_script(&world, "a sleep:s c");
    force(&world);
    wf_advance(&world.flow, 10 * SECOND_MS);
    fn_passage(&world, "waiting");
    fn_check_idle(&world);
    wf_advance(&world.flow, SECOND_MS);
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:1 b:1 c:1");
    fn_end(&world);
}

/* The step "a" with one call, or with four. */
static cairn_code call_once(cairn_passage *passage, void *arg)
{
    (void)passage;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = "a";
    options.retries = 0;
    return fn_step_as(arg, &options, NULL);
}

static cairn_code call_four_times(cairn_passage *passage, void *arg)
{
    (void)passage;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = "a";
    options.retries = 3;
    return fn_step_as(arg, &options, NULL);
}

TEST(a_step_is_never_called_more_often_than_the_code_allows_now)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, call_four_times, mode);
        fn_fails(&world, "a", CAIRN_FAIL, 2);
        fn_passage(&world, "ready");
        world.run = call_once;
        wf_advance(&world.flow, SECOND_MS);
        fn_passage(&world, "failed");
        fn_check_calls(&world, "a:1");
        fn_check_steps(&world, "f:failed a:failed");
        CHECK_INT(fn_row(&world, "a")->attempts, 1);
        fn_end(&world);
    }
}

TEST(a_restart_forgets_that_the_code_was_forced)
{
    struct function_world world;
    begin_script(&world, "a sleep:s b", CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_advance(&world.flow, SECOND_MS);
    change_script(&world, "other sleep:s b");
    fn_passage(&world, "ready");
    force(&world);
    fn_passage(&world, "completed");
    fn_restart(&world);
    fn_passage(&world, "waiting");
    wf_advance(&world.flow, SECOND_MS);
    change_script(&world, "a sleep:s b");
    fn_passage(&world, "ready");
    fn_check_status(&world, "paused");
    fn_end(&world);
}

/* ---- values --------------------------------------------------------------------------------- */

struct values {
    int64_t now_us[2];
    double chance[2];
    char id[2][40];
};

static cairn_code asking(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    struct values *values = (struct values *)world->mine + world->passages - 1;
    for (int i = 0; i < 2; i++) {
        PASS_ON(cairn_passage_now(passage, &values->now_us[i], NULL));
        PASS_ON(cairn_passage_random(passage, &values->chance[i], NULL));
        PASS_ON(cairn_passage_uuid(passage, values->id[i], NULL));
    }
    PASS_ON(fn_step(world, "a"));
    return cairn_passage_sleep(passage, NULL, 1000, NULL);
}

TEST(now_random_and_uuid_are_the_same_in_every_passage)
{
    struct function_world world;
    MODES(mode)
    {
        struct values values[2] = {0};
        fn_begin(&world, asking, mode);
        world.mine = values;
        fn_passage(&world, "waiting");
        wf_advance(&world.flow, SECOND_MS);
        world_reopen(&world.flow.world);
        fn_passage(&world, "completed");
        CHECK_INT(values[0].now_us[0], START_US);
        for (int i = 0; i < 2; i++) {
            CHECK_INT(values[1].now_us[i], values[0].now_us[i]);
            CHECK(values[1].chance[i] == values[0].chance[i], "%g after %g",
                  values[1].chance[i], values[0].chance[i]);
            CHECK(values[0].chance[i] >= 0 && values[0].chance[i] < 1, "chance is %g",
                  values[0].chance[i]);
            CHECK_STR(values[1].id[i], values[0].id[i]);
            CHECK_INT(strlen(values[0].id[i]), 36);
        }
        CHECK(values[0].chance[0] != values[0].chance[1], "chance repeats itself");
        CHECK(strcmp(values[0].id[0], values[0].id[1]) != 0, "the id repeats itself");
        fn_check_steps(&world, "f:completed now:completed random:completed uuid:completed "
                               "now#2:completed random#2:completed uuid#2:completed "
                               "a:completed sleep:completed");
        CHECK_STR(fn_row(&world, "now")->kind, "value");
        fn_end(&world);
    }
}

static void values_are_durable(struct function_world *world)
{
    fn_check_steps(world, "f:running now:completed random:completed uuid:completed "
                          "now#2:completed random#2:completed uuid#2:completed");
}

TEST(in_step_mode_the_code_of_a_step_never_sees_a_value_that_a_crash_could_change)
{
    struct function_world world;
    struct values values[2] = {0};
    fn_begin(&world, asking, CAIRN_COMMIT_STEP);
    world.mine = values;
    fn_during(&world, "a", values_are_durable);
    fn_passage(&world, "waiting");
    fn_check_calls(&world, "a:1");
    fn_end(&world);
}
