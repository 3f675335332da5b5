/* tests/spec/test_keys.c - what becomes of a start or an enqueue whose key is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_world.h"

/* ---- saying it shortly ----------------------------------------------------------------------- */

static cairn_job_spec spec_of(const char *key, const char *on_existing)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t.v1";
    spec.key = key;
    spec.on_existing = on_existing;
    spec.max_attempts = 1;
    return spec;
}

static cairn_code try_add(struct flow_world *fw, const cairn_job_spec *specs, size_t count,
                          cairn_enqueued *ret_jobs)
{
    return cairn_enqueue(fw->world.engine, specs, count, ret_jobs, &fw->world.error);
}

static cairn_enqueued add(struct flow_world *fw, const char *on_existing)
{
    cairn_enqueued job;
    cairn_job_spec spec = spec_of("k", on_existing);
    CHECK_DONE(&fw->world, try_add(fw, &spec, 1, &job));
    return job;
}

static cairn_enqueued add_debounced(struct flow_world *fw, const char *payload,
                                    const char *on_existing)
{
    cairn_enqueued job;
    cairn_job_spec spec = spec_of("k", on_existing);
    spec.debounce_ms = 5 * SECOND_MS;
    spec.payload = payload;
    CHECK_DONE(&fw->world, try_add(fw, &spec, 1, &job));
    return job;
}

static void end_job(struct flow_world *fw, cairn_outcome outcome)
{
    struct held held = world_take(&fw->world, "w");
    CHECK_INT(world_report(&fw->world, &held, outcome, outcome == CAIRN_COMPLETE ? "1" : "no"),
              CAIRN_OK);
}

static void purge_all(struct flow_world *fw)
{
    cairn_purged purged;
    cairn_purge_options options = CAIRN_PURGE_DEFAULTS;
    options.status = "succeeded";
    CHECK_DONE(&fw->world, cairn_purge(fw->world.engine, &options, &purged, &fw->world.error));
    CHECK_INT(purged.jobs + purged.instances, 1);
}

static void check_found(const cairn_enqueued *seen, const cairn_enqueued *first)
{
    CHECK_INT(seen->existing, 1);
    CHECK_STR(seen->id, first->id);
}

static void check_other(const cairn_enqueued *seen, const cairn_enqueued *first)
{
    CHECK_INT(seen->existing, 0);
    CHECK(strcmp(seen->id, first->id) != 0, "it is the earlier one");
}

static cairn_code try_start(struct flow_world *fw, const char *on_existing, const char *input,
                            cairn_enqueued *ret_started)
{
    cairn_start_options start = CAIRN_START_DEFAULTS;
    start.workflow = "w";
    start.key = "k";
    start.on_existing = on_existing;
    start.input = input;
    return wf_start(fw, &start, ret_started);
}

static cairn_enqueued start(struct flow_world *fw, const char *on_existing)
{
    cairn_enqueued started;
    CHECK_DONE(&fw->world, try_start(fw, on_existing, NULL, &started));
    return started;
}

static void open_and_deploy(struct flow_world *fw)
{
    wf_open(fw);
    CHECK_INT(wf_deploy(fw, FLOW("{step: a, max_attempts: 1}")), CAIRN_OK);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

TEST(a_known_key_is_found_unless_something_else_is_said)
{
    struct flow_world fw;
    wf_open(&fw);
    cairn_enqueued first = add(&fw, "new_if_ended"), seen;
    CHECK_INT(first.existing, 0);
    static const char *const finding[] = {NULL, "return", "restart_failed", "new_if_ended"};
    for (size_t i = 0; i < 4; i++) {
        seen = add(&fw, finding[i]);
        check_found(&seen, &first);
    }
    CHECK_INT(world_count_jobs(&fw.world), 1);
    world_check_events(&fw.world, first.id, "created");
    wf_close(&fw);
}

TEST(fail_is_refused_while_anything_has_the_key)
{
    struct flow_world fw;
    wf_open(&fw);
    cairn_enqueued first = add(&fw, "fail"), seen;
    cairn_job_spec specs[] = {spec_of(NULL, NULL), spec_of("k", "fail"), spec_of("l", NULL)};
    CHECK_REFUSED(&fw.world, try_add(&fw, specs + 1, 1, &seen), CAIRN_E_CONFLICT);
    CHECK(strstr(fw.world.error.message, first.id), "the message does not name the owner");
    cairn_enqueued several[3];
    CHECK_REFUSED(&fw.world, try_add(&fw, specs, 3, several), CAIRN_E_CONFLICT);
    CHECK_INT(world_count_jobs(&fw.world), 1);
    end_job(&fw, CAIRN_COMPLETE);
    CHECK_REFUSED(&fw.world, try_add(&fw, specs + 1, 1, &seen), CAIRN_E_CONFLICT);
    purge_all(&fw);
    CHECK_REFUSED(&fw.world, try_add(&fw, specs + 1, 1, &seen), CAIRN_E_CONFLICT);
    cairn_job_spec twice[] = {spec_of("m", NULL), spec_of("m", "fail")};
    CHECK_REFUSED(&fw.world, try_add(&fw, twice, 2, several), CAIRN_E_CONFLICT);
    CHECK_INT(world_count_jobs(&fw.world), 0);
    wf_close(&fw);
}

TEST(restart_failed_retries_a_failed_job_and_nothing_else)
{
    struct flow_world fw;
    wf_open(&fw);
    cairn_enqueued first = add(&fw, "restart_failed"), seen;
    end_job(&fw, CAIRN_DEAD);
    world_check_status(&fw.world, first.id, "failed");
    seen = add(&fw, "new_if_ended");
    check_other(&seen, &first);
    CHECK(!world_job(&fw.world, first.id)->idempotency_key, "it has its key still");
    end_job(&fw, CAIRN_DEAD);
    cairn_enqueued again = add(&fw, "restart_failed");
    check_found(&again, &seen);
    world_check_status(&fw.world, seen.id, "pending");
    world_check_events(&fw.world, seen.id, "created leased started failed retried");
    end_job(&fw, CAIRN_COMPLETE);
    again = add(&fw, "restart_failed");
    check_found(&again, &seen);
    world_check_status(&fw.world, seen.id, "succeeded");
    wf_close(&fw);
}

TEST(new_if_ended_takes_the_key)
{
    struct flow_world fw;
    wf_open(&fw);
    cairn_enqueued first = add(&fw, NULL), seen;
    struct held held = world_take(&fw.world, "w");
    seen = add(&fw, "new_if_ended"); /* it runs */
    check_found(&seen, &first);
    CHECK_INT(world_report(&fw.world, &held, CAIRN_COMPLETE, "1"), CAIRN_OK);
    cairn_enqueued second = add(&fw, "new_if_ended");
    check_other(&second, &first);
    seen = add(&fw, NULL);
    check_found(&seen, &second);
    CHECK_STR(world_job(&fw.world, second.id)->idempotency_key, "k");
    CHECK_DONE(&fw.world, cairn_job_delete(fw.world.engine, second.id, &fw.world.error));
    seen = add(&fw, "restart_failed"); /* a deleted job has not failed */
    check_found(&seen, &second);
    seen = add(&fw, "new_if_ended");
    check_other(&seen, &second);
    wf_close(&fw);
}

TEST(a_purged_owner_does_not_keep_its_key_from_those_who_want_a_new_one)
{
    static const char *const words[] = {"restart_failed", "new_if_ended"};
    for (size_t i = 0; i < 2; i++) {
        struct flow_world fw;
        open_and_deploy(&fw);
        cairn_enqueued first = add(&fw, NULL), seen;
        end_job(&fw, CAIRN_COMPLETE);
        purge_all(&fw);
        seen = add(&fw, NULL);
        check_found(&seen, &first);
        seen = add(&fw, words[i]);
        check_other(&seen, &first);
        cairn_enqueued again = add(&fw, NULL);
        check_found(&again, &seen);
        end_job(&fw, CAIRN_COMPLETE);

        first = start(&fw, NULL);
        wf_do(&fw, "a");
        CHECK_DONE(&fw.world,
                   cairn_instance_delete(fw.world.engine, first.id, &fw.world.error));
        seen = start(&fw, NULL);
        check_found(&seen, &first);
        seen = start(&fw, words[i]);
        check_other(&seen, &first);
        wf_close(&fw);
    }
}

TEST(many_in_one_call_are_taken_in_their_order)
{
    struct flow_world fw;
    wf_open(&fw);
    cairn_enqueued old = add(&fw, NULL), seen[5];
    end_job(&fw, CAIRN_COMPLETE);
    cairn_job_spec specs[] = {spec_of("k", NULL), spec_of("k", "new_if_ended"),
                              spec_of("l", "new_if_ended"), spec_of("k", "restart_failed"),
                              spec_of(NULL, NULL)};
    CHECK_DONE(&fw.world, try_add(&fw, specs, 5, seen));
    check_found(&seen[0], &old);
    check_other(&seen[1], &old);
    check_found(&seen[3], &seen[1]);
    CHECK_INT(seen[2].existing + seen[4].existing, 0);
    CHECK_INT(world_count_jobs(&fw.world), 4);
    wf_close(&fw);
}

TEST(words_that_make_no_sense_are_refused)
{
    struct flow_world fw;
    wf_open(&fw);
    cairn_enqueued seen;
    cairn_job_spec unknown = spec_of("k", "replace"), keyless = spec_of(NULL, "fail"),
                   late = spec_of("k", NULL), free_bounce = spec_of(NULL, NULL);
    late.debounce_ms = 1;
    late.run_at_us = START_US;
    free_bounce.debounce_ms = 1;
    CHECK_REFUSED(&fw.world, try_add(&fw, &unknown, 1, &seen), CAIRN_E_BAD_INPUT);
    CHECK_REFUSED(&fw.world, try_add(&fw, &keyless, 1, &seen), CAIRN_E_BAD_INPUT);
    CHECK_REFUSED(&fw.world, try_add(&fw, &late, 1, &seen), CAIRN_E_BAD_INPUT);
    CHECK_REFUSED(&fw.world, try_add(&fw, &free_bounce, 1, &seen), CAIRN_E_BAD_INPUT);
    wf_close(&fw);
}

/* ---- debounce -------------------------------------------------------------------------------- */

TEST(debounce_waits_for_the_last_one_and_takes_its_payload)
{
    struct flow_world fw;
    wf_open(&fw);
    cairn_enqueued first = add_debounced(&fw, "{\"n\": 1}", NULL), seen;
    wf_advance(&fw, 4 * SECOND_MS);
    world_check_nothing_to_take(&fw.world);
    seen =
        add_debounced(&fw, "{\"n\": 2}", "fail"); /* pending: it is moved, whatever is said */
    check_found(&seen, &first);
    wf_advance(&fw, 4 * SECOND_MS);
    world_check_nothing_to_take(&fw.world);
    wf_advance(&fw, SECOND_MS);
    struct held held = world_take(&fw.world, "w");
    CHECK(is_same_json(held.input, "{\"n\": 2}"), "the payload is %s", held.input);
    seen = add_debounced(&fw, "{\"n\": 3}", NULL); /* it runs: on_existing decides */
    check_found(&seen, &first);
    CHECK_INT(world_report(&fw.world, &held, CAIRN_COMPLETE, "1"), CAIRN_OK);
    CHECK(is_same_json(world_job(&fw.world, first.id)->payload, "{\"n\": 2}"),
          "it has another");
    seen = add_debounced(&fw, "{\"n\": 4}", "new_if_ended");
    check_other(&seen, &first);
    world_check_nothing_to_take(&fw.world);
    world_check_events(&fw.world, first.id, "created debounced leased started succeeded");
    wf_close(&fw);
}

TEST(debounce_moves_what_was_ready_and_leaves_other_types_alone)
{
    struct flow_world fw;
    wf_open(&fw);
    cairn_enqueued first = add(&fw, NULL), seen[2];
    cairn_job_spec other = spec_of("k", NULL);
    other.type = "other.v1";
    other.debounce_ms = SECOND_MS;
    CHECK_REFUSED(&fw.world, try_add(&fw, &other, 1, seen), CAIRN_E_CONFLICT);
    seen[0] = add_debounced(&fw, "2", NULL);
    check_found(&seen[0], &first);
    world_check_nothing_to_take(&fw.world);
    cairn_job_spec twice[] = {spec_of("k", NULL), spec_of("k", NULL)};
    twice[0].debounce_ms = twice[1].debounce_ms = 2 * SECOND_MS;
    twice[0].payload = "3";
    twice[1].payload = "4";
    CHECK_DONE(&fw.world, try_add(&fw, twice, 2, seen));
    wf_advance(&fw, 2 * SECOND_MS);
    struct held held = world_take(&fw.world, "w");
    CHECK_STR(held.input, "4");
    wf_close(&fw);
}

/* ---- instances ------------------------------------------------------------------------------- */

TEST(a_start_can_insist_on_being_the_first)
{
    struct flow_world fw;
    cairn_enqueued seen;
    open_and_deploy(&fw);
    cairn_enqueued first = start(&fw, "fail");
    CHECK_REFUSED(&fw.world, try_start(&fw, "fail", NULL, &seen), CAIRN_E_CONFLICT);
    CHECK(strstr(fw.world.error.message, first.id), "the message does not name the owner");
    seen = start(&fw, NULL);
    check_found(&seen, &first);
    wf_close(&fw);
}

TEST(a_start_restarts_a_failed_instance_from_its_own_input)
{
    struct flow_world fw;
    cairn_enqueued seen;
    open_and_deploy(&fw);
    CHECK_DONE(&fw.world, try_start(&fw, NULL, "{\"n\": 1}", &seen));
    cairn_enqueued first = seen;
    seen = start(&fw, "restart_failed"); /* it runs */
    check_found(&seen, &first);
    CHECK_INT(wf_instance(&fw)->generation, 1);
    wf_do_badly(&fw, "a");
    wf_check_status(&fw, "failed");
    CHECK_DONE(&fw.world, try_start(&fw, "restart_failed", "{\"n\": 2}", &seen));
    check_found(&seen, &first);
    wf_check_status(&fw, "running");
    CHECK_INT(wf_instance(&fw)->generation, 2);
    struct task task = wf_take_step(&fw, "a");
    CHECK(is_same_json(task.input, "{\"n\": 1}"), "its input is %s", task.input);
    CHECK_INT(wf_report(&fw, &task, CAIRN_COMPLETE, "1"), CAIRN_OK);
    seen = start(&fw, "restart_failed");
    check_found(&seen, &first);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_start_takes_the_key_of_one_that_has_ended)
{
    struct flow_world fw;
    cairn_enqueued seen;
    open_and_deploy(&fw);
    cairn_enqueued first = start(&fw, "new_if_ended");
    seen = start(&fw, "new_if_ended");
    check_found(&seen, &first);
    wf_do(&fw, "a");
    seen = start(&fw, "new_if_ended");
    check_other(&seen, &first);
    strcpy(fw.id, first.id);
    CHECK(!wf_instance(&fw)->key, "it has its key still");
    strcpy(fw.id, seen.id);
    CHECK_STR(wf_instance(&fw)->key, "k");
    cairn_enqueued again = start(&fw, NULL);
    check_found(&again, &seen);
    wf_close(&fw);
}
