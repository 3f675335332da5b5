/* tests/spec/test_linear_start.c - starting: section "Start Flow" of linear-workflow.md, and
 * the design's rulings on definitions, keys and limits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_world.h"

#include <stdlib.h>

#define ABC FLOW("{step: a}, {step: b}, {step: c}")

TEST(a_start_inserts_every_step_and_only_the_first_is_ready)
{
    struct flow_world fw;
    wf_begin(&fw, ABC);
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "a:ready b:pending c:pending");
    wf_check_current(&fw, "a");
    CHECK_INT(wf_step(&fw, "a")->next_run_at_us, START_US);
    CHECK_INT(wf_step(&fw, "b")->next_run_at_us, 0);
    wf_check_events(&fw, "workflow_started step_ready:a");
    wf_close(&fw);
}

TEST(an_instance_says_what_it_was_started_with)
{
    struct flow_world fw;
    wf_begin(&fw, ABC);
    const cairn_instance *instance = wf_instance(&fw);
    CHECK_STR(instance->workflow, "w");
    CHECK_INT(instance->version, 1);
    CHECK_INT(instance->generation, 1);
    CHECK(is_same_json(instance->input, "{\"n\": 1}"), "the input is %s", instance->input);
    CHECK(!instance->output && !instance->key && !instance->last_error, "too much is set");
    CHECK_INT(instance->created_at_us, START_US);
    CHECK_INT(instance->started_at_us, START_US);
    CHECK_INT(instance->finished_at_us, 0);
    wf_close(&fw);
}

TEST(a_step_says_what_the_file_said)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, handler: billing.reserve.v1, max_attempts: 5, priority: 80, "
                       "metadata: {team: orders}}, {step: b}"));
    const cairn_step *step = wf_step(&fw, "a");
    CHECK_STR(step->handler, "billing.reserve.v1");
    CHECK_INT(step->max_attempts, 5);
    CHECK_INT(step->priority, 80);
    CHECK(is_same_json(step->metadata, "{\"team\": \"orders\"}"), "%s", step->metadata);
    CHECK_STR(step->kind, "task");
    step = wf_step(&fw, "b");
    CHECK_STR(step->handler, "b");
    CHECK_INT(step->max_attempts, 3);
    CHECK_INT(step->priority, 50);
    wf_close(&fw);
}

TEST(the_input_of_a_step_is_the_output_of_the_one_before)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    struct task task = wf_take_step(&fw, "a");
    CHECK(is_same_json(task.input, "{\"n\": 1}"), "the input is %s", task.input);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "[1, 2]"));
    task = wf_take_step(&fw, "b");
    CHECK(is_same_json(task.input, "[1, 2]"), "the input is %s", task.input);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "\"done\""));
    CHECK(is_same_json(wf_instance(&fw)->output, "\"done\""), "the output is %s",
          wf_instance(&fw)->output);
    wf_close(&fw);
}

TEST(the_definition_is_not_needed_once_an_instance_has_started)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {wait: s, event: go}, {sleep: z, for: 1s}, {step: b}"));
    wf_sql(&fw, "DELETE FROM {workflow_definition}", NULL);
    world_reopen(&fw.world);
    wf_do(&fw, "a");
    wf_signal(&fw, "go", NULL);
    wf_advance(&fw, 1000);
    wf_do(&fw, "b");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_key_has_one_instance)
{
    struct flow_world fw;
    cairn_enqueued first, second, other;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    wf_open(&fw);
    CHECK_DONE(&fw.world, wf_deploy(&fw, ABC));
    options.workflow = "w";
    options.key = "order-17";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, &first));
    CHECK_DONE(&fw.world, wf_start(&fw, &options, &second));
    CHECK_INT(first.existing, 0);
    CHECK_INT(second.existing, 1);
    CHECK_STR(second.id, first.id);
    CHECK_STR(wf_instance(&fw)->key, "order-17");
    wf_check_events(&fw, "workflow_started step_ready:a");
    options.key = "order-18";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, &other));
    CHECK(strcmp(other.id, first.id) != 0, "two keys, one instance");
    wf_close(&fw);
}

TEST(a_key_belongs_to_its_workflow)
{
    struct flow_world fw;
    cairn_enqueued first, second;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    wf_open(&fw);
    CHECK_DONE(&fw.world, wf_deploy(&fw, ABC));
    CHECK_DONE(&fw.world, wf_deploy(&fw, "{workflow: other, version: 1, steps: [{step: a}]}"));
    options.workflow = "w";
    options.key = "k";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, &first));
    options.workflow = "other";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, &second));
    CHECK_INT(second.existing, 0);
    wf_close(&fw);
}

TEST(a_delayed_start_is_pending_until_its_time)
{
    struct flow_world fw;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    wf_open(&fw);
    CHECK_DONE(&fw.world, wf_deploy(&fw, ABC));
    options.workflow = "w";
    options.start_at_us = START_US + MINUTE_US;
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    wf_check_status(&fw, "pending");
    wf_check_steps(&fw, "a:pending b:pending c:pending");
    wf_check_current(&fw, "");
    wf_advance(&fw, MINUTE_MS - 1);
    wf_check_nothing_to_take(&fw);
    wf_check_status(&fw, "pending");
    wf_advance(&fw, 1);
    wf_check_status(&fw, "running");
    CHECK_INT(wf_instance(&fw)->started_at_us, START_US + MINUTE_US);
    CHECK_INT(wf_instance(&fw)->start_at_us, START_US + MINUTE_US);
    wf_do(&fw, "a");
    wf_close(&fw);
}

TEST(a_start_in_the_past_is_a_start_now)
{
    struct flow_world fw;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    wf_open(&fw);
    CHECK_DONE(&fw.world, wf_deploy(&fw, ABC));
    options.workflow = "w";
    options.start_at_us = START_US - MINUTE_US;
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    wf_check_status(&fw, "running");
    wf_do(&fw, "a");
    wf_close(&fw);
}

TEST(the_same_content_again_is_a_no_op)
{
    struct flow_world fw;
    bool existing = true;
    wf_open(&fw);
    CHECK_DONE(&fw.world, cairn_workflow_deploy(fw.world.engine, "a.yaml", ABC, &existing,
                                                &fw.world.error));
    CHECK_INT(existing, 0);
    const char *json = "{\"workflow\": \"w\", \"version\": 1,\n \"steps\": "
                       "[{\"step\": \"a\"}, {\"step\": \"b\"}, {\"step\": \"c\"}]}";
    CHECK_DONE(&fw.world, cairn_workflow_deploy(fw.world.engine, "a.json", json, &existing,
                                                &fw.world.error));
    CHECK_INT(existing, 1);
    wf_close(&fw);
}

TEST(other_content_under_the_same_version_is_refused)
{
    struct flow_world fw;
    wf_begin(&fw, ABC);
    CHECK_REFUSED(&fw.world, wf_deploy(&fw, FLOW("{step: a}")), CAIRN_E_CONFLICT);
    cairn_page *definitions = NULL;
    CHECK_DONE(&fw.world,
               cairn_workflow_get(fw.world.engine, "w", 1, &definitions, &fw.world.error));
    CHECK_INT(cairn_page_count(definitions), 1);
    CHECK(strstr(cairn_page_workflow(definitions, 0)->content, "\"c\""), "it was overwritten");
    CHECK_INT(strlen(cairn_page_workflow(definitions, 0)->hash), 64);
    cairn_page_free(definitions);
    wf_close(&fw);
}

TEST(without_a_version_the_highest_is_started)
{
    struct flow_world fw;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    wf_open(&fw);
    CHECK_DONE(&fw.world, wf_deploy(&fw, "{workflow: w, version: 10, steps: [{step: ten}]}"));
    CHECK_DONE(&fw.world, wf_deploy(&fw, "{workflow: w, version: 9, steps: [{step: nine}]}"));
    options.workflow = "w";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    CHECK_INT(wf_instance(&fw)->version, 10);
    wf_check_steps(&fw, "ten:ready");
    options.version = 9;
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    CHECK_INT(wf_instance(&fw)->version, 9);
    wf_check_steps(&fw, "nine:ready");
    wf_close(&fw);
}

TEST(what_does_not_exist_is_not_found)
{
    struct flow_world fw;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_page *instances;
    cairn_page *steps;
    cairn_page *events;
    const char *nobody = "01234567-89ab-7def-8123-456789abcdef";
    wf_open(&fw);
    CHECK_DONE(&fw.world, wf_deploy(&fw, ABC));
    options.workflow = "nowhere";
    CHECK_REFUSED(&fw.world, wf_start(&fw, &options, NULL), CAIRN_E_NOT_FOUND);
    options.workflow = "w";
    options.version = 2;
    CHECK_REFUSED(&fw.world, wf_start(&fw, &options, NULL), CAIRN_E_NOT_FOUND);
    cairn_engine *engine = fw.world.engine;
    cairn_error *error = &fw.world.error;
    CHECK_REFUSED(&fw.world, cairn_instance_get(engine, nobody, &instances, error),
                  CAIRN_E_NOT_FOUND);
    CHECK_REFUSED(&fw.world, cairn_instance_steps(engine, nobody, NULL, 10, &steps, error),
                  CAIRN_E_NOT_FOUND);
    CHECK_REFUSED(&fw.world, cairn_instance_events(engine, nobody, NULL, 10, &events, error),
                  CAIRN_E_NOT_FOUND);
    snprintf(fw.id, sizeof fw.id, "%s", nobody);
    CHECK_REFUSED(&fw.world, wf_pause(&fw), CAIRN_E_NOT_FOUND);
    CHECK_REFUSED(&fw.world, wf_resume(&fw), CAIRN_E_NOT_FOUND);
    CHECK_REFUSED(&fw.world, wf_restart(&fw), CAIRN_E_NOT_FOUND);
    CHECK_REFUSED(&fw.world, wf_again(&fw), CAIRN_E_NOT_FOUND);
    CHECK_REFUSED(&fw.world, wf_cancel(&fw), CAIRN_E_NOT_FOUND);
    CHECK_REFUSED(&fw.world, wf_abort(&fw), CAIRN_E_NOT_FOUND);
    cairn_signalled signalled;
    CHECK_REFUSED(&fw.world, wf_signal_as(&fw, "go", NULL, &signalled), CAIRN_E_NOT_FOUND);
    wf_close(&fw);
}

TEST(a_file_that_is_wrong_is_refused_and_nothing_is_written)
{
    struct flow_world fw;
    cairn_page *definitions = NULL;
    static const char *const wrong[] = {
        "",
        "{",
        "{workflow: w, version: 1, steps: []}",
        "{workflow: w, version: 0, steps: [{step: a}]}",
        "{workflow: '', version: 1, steps: [{step: a}]}",
        FLOW("{step: a}, {step: a}"),
        FLOW("{step: a, colour: red}"),
        FLOW("{step: a, max_attempts: 0}"),
        FLOW("{step: a, on_failure: shrug}"),
        FLOW("{sleep: z, for: 10 minutes}"),
        FLOW("{wait: s}"),
    };
    wf_open(&fw);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_REFUSED(&fw.world, wf_deploy(&fw, wrong[i]), CAIRN_E_BAD_INPUT);
    CHECK_DONE(&fw.world,
               cairn_workflow_list(fw.world.engine, NULL, 100, &definitions, &fw.world.error));
    CHECK_INT(cairn_page_count(definitions), 0);
    cairn_page_free(definitions);
    wf_close(&fw);
}

static size_t count_instances(struct flow_world *fw)
{
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    cairn_page *instances = NULL;
    CHECK_DONE(&fw->world,
               cairn_instance_list(fw->world.engine, &filter, &instances, &fw->world.error));
    size_t count = cairn_page_count(instances);
    cairn_page_free(instances);
    return count;
}

TEST(what_is_beyond_a_limit_is_refused_and_nothing_is_written)
{
    struct flow_world fw;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    static char input[300], key[300];
    wf_open_limited(&fw, 200);
    CHECK_DONE(&fw.world, wf_deploy(&fw, ABC));
    options.workflow = "w";
    memset(input, ' ', 250);
    memcpy(input, "{}", 2);
    options.input = input;
    CHECK_REFUSED(&fw.world, wf_start(&fw, &options, NULL), CAIRN_E_TOO_LARGE);
    options.input = "{\"a\":";
    CHECK_REFUSED(&fw.world, wf_start(&fw, &options, NULL), CAIRN_E_BAD_JSON);
    options.input = NULL;
    memset(key, 'k', 257);
    options.key = key;
    CHECK_REFUSED(&fw.world, wf_start(&fw, &options, NULL), CAIRN_E_TOO_LARGE);
    CHECK_INT(count_instances(&fw), 0);

    options.key = NULL;
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    CHECK(is_same_json(wf_instance(&fw)->input, "{}"), "%s", wf_instance(&fw)->input);
    struct task task = wf_take_step(&fw, "a");
    CHECK_REFUSED(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, input), CAIRN_E_TOO_LARGE);
    wf_check_steps(&fw, "a:running b:pending c:pending");
    cairn_signal_options signal = CAIRN_SIGNAL_DEFAULTS;
    cairn_signalled signalled;
    signal.instance_id = fw.id;
    signal.event = "go";
    signal.payload = input;
    CHECK_REFUSED(&fw.world,
                  cairn_instance_signal(fw.world.engine, &signal, &signalled, &fw.world.error),
                  CAIRN_E_TOO_LARGE);
    wf_close(&fw);
}

/* Ten thousand steps are the limit; the file of one more is refused. */
static char *many_steps(int count)
{
    size_t room = (size_t)count * 24 + 100;
    char *text = malloc(room);
    int len = snprintf(text, room, "{\"workflow\": \"w\", \"version\": 1, \"steps\": [");
    for (int i = 0; i < count; i++)
        len +=
            snprintf(text + len, room - (size_t)len, "%s{\"step\": \"s%d\"}", i ? "," : "", i);
    snprintf(text + len, room - (size_t)len, "]}");
    return text;
}

TEST(ten_thousand_steps_are_accepted_and_one_more_is_not)
{
    struct flow_world fw;
    char *most = many_steps(10000), *more = many_steps(10001);
    wf_begin(&fw, most);
    wf_do(&fw, "s0");
    wf_check_current(&fw, "s1");
    CHECK(wf_deploy(&fw, more) == CAIRN_E_TOO_LARGE ||
              wf_deploy(&fw, more) == CAIRN_E_BAD_INPUT,
          "10001 steps: %s", fw.world.error.message);
    free(most);
    free(more);
    wf_close(&fw);
}
