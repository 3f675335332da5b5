/* tests/spec/test_simple_workflow_limits.c - bad input: a clear error, and nothing written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "world.h"

#include <stdlib.h>

enum { MIB = 1 << 20 };

/* `len` times the letter a, to be freed. */
static char *letters(size_t len)
{
    char *text = malloc(len + 1);
    if (!text)
        abort();
    memset(text, 'a', len);
    text[len] = '\0';
    return text;
}

/* A JSON string of exactly `len` bytes, quotes included. */
static char *json_of_length(size_t len)
{
    char *text = letters(len);
    text[0] = text[len - 1] = '"';
    return text;
}

static cairn_code add(struct world *world, const cairn_job_spec *spec)
{
    cairn_enqueued enqueued;
    return cairn_enqueue(world->engine, spec, 1, &enqueued, &world->error);
}

/* Refused, and nothing is there. */
#define CHECK_NOT_ADDED(world, spec, wanted)            \
    do {                                                \
        CHECK_REFUSED(world, add(world, spec), wanted); \
        CHECK_INT(world_count_jobs(world), 0);          \
    } while (0)

TEST(a_payload_of_a_mebibyte_is_taken_and_a_byte_more_is_not)
{
    struct world world;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    char *too_large = json_of_length(MIB + 1), *largest = json_of_length(MIB);
    spec.type = "t";
    spec.payload = too_large;
    CHECK_NOT_ADDED(&world, &spec, CAIRN_E_TOO_LARGE);
    spec.payload = largest;
    CHECK_DONE(&world, add(&world, &spec));
    struct held held = world_take(&world, "w");
    CHECK(strcmp(held.input, largest) == 0, "another payload came back");
    free(too_large);
    free(largest);
    world_close(&world);
}

TEST(a_result_beyond_the_limit_is_refused_and_the_lease_stands)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    char *too_large = json_of_length(MIB + 1);
    CHECK_REFUSED(&world, world_report(&world, &held, CAIRN_COMPLETE, too_large),
                  CAIRN_E_TOO_LARGE);
    free(too_large);
    CHECK_REFUSED(&world, world_report(&world, &held, CAIRN_COMPLETE, "{oops"),
                  CAIRN_E_BAD_JSON);
    world_check_status(&world, job.id, "leased");
    world_check_events(&world, job.id, "created leased started");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "{}"));
    world_close(&world);
}

TEST(names_of_256_bytes_are_taken_and_longer_ones_are_not)
{
    struct world world;
    world_open(&world);
    char *longest = letters(256), *too_long = letters(257);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = too_long;
    CHECK_NOT_ADDED(&world, &spec, CAIRN_E_TOO_LARGE);
    spec.type = "t";
    spec.key = too_long;
    CHECK_NOT_ADDED(&world, &spec, CAIRN_E_TOO_LARGE);

    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    cairn_page *tasks = NULL;
    const char *types[] = {"t"};
    claim.worker = too_long;
    claim.types = types;
    claim.type_count = 1;
    CHECK_REFUSED(&world, cairn_claim(world.engine, &claim, &tasks, &world.error),
                  CAIRN_E_TOO_LARGE);
    claim.worker = "w";
    claim.runtime = too_long;
    CHECK_REFUSED(&world, cairn_claim(world.engine, &claim, &tasks, &world.error),
                  CAIRN_E_TOO_LARGE);
    cairn_registry_spec entry = {.size = sizeof(cairn_registry_spec),
                                 .workflow_name = too_long,
                                 .runtime = "c",
                                 .is_enabled = true};
    CHECK_REFUSED(&world, cairn_registry_put(world.engine, &entry, &world.error),
                  CAIRN_E_TOO_LARGE);

    spec.type = spec.key = longest;
    CHECK_DONE(&world, add(&world, &spec));
    types[0] = longest;
    claim.worker = longest;
    claim.runtime = "a23456789_123456789.123456789-123456789_123456789_123456789_1234";
    CHECK_DONE(&world, cairn_claim(world.engine, &claim, &tasks, &world.error));
    CHECK_INT(cairn_page_count(tasks), 1);
    CHECK_STR(cairn_page_task(tasks, 0)->key, longest);
    cairn_page_free(tasks);
    free(longest);
    free(too_long);
    world_close(&world);
}

TEST(a_job_needs_a_type)
{
    struct world world;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    CHECK_NOT_ADDED(&world, &spec, CAIRN_E_BAD_INPUT);
    spec.type = "";
    CHECK_REFUSED(&world, add(&world, &spec), CAIRN_E_BAD_INPUT);
    CHECK(strstr(world.error.message, "type"), "\"%s\" does not name the field",
          world.error.message);
    CHECK_INT(world_count_jobs(&world), 0);
    world_close(&world);
}

TEST(numbers_out_of_range_are_refused)
{
    struct world world;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    spec.max_attempts = 0;
    CHECK_NOT_ADDED(&world, &spec, CAIRN_E_BAD_INPUT);
    spec.max_attempts = -3;
    CHECK_REFUSED(&world, add(&world, &spec), CAIRN_E_BAD_INPUT);
    CHECK(strstr(world.error.message, "max_attempts"), "\"%s\" does not name the field",
          world.error.message);
    spec.max_attempts = 3;
    spec.run_at_us = -1;
    CHECK_NOT_ADDED(&world, &spec, CAIRN_E_BAD_INPUT);
    spec.run_at_us = INT64_MAX;
    CHECK_NOT_ADDED(&world, &spec, CAIRN_E_BAD_INPUT);
    world_close(&world);
}

static void check_claim_refused(struct world *world, const cairn_claim_options *claim)
{
    cairn_page *tasks = NULL;
    CHECK_REFUSED(world, cairn_claim(world->engine, claim, &tasks, &world->error),
                  CAIRN_E_BAD_INPUT);
}

TEST(a_claim_must_make_sense)
{
    const char *types[] = {"t"}, *empty[] = {""};
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    cairn_claim_options good = CAIRN_CLAIM_DEFAULTS;
    good.worker = "w";
    good.types = types;
    good.type_count = 1;

    cairn_claim_options claim = good;
    claim.worker = NULL;
    check_claim_refused(&world, &claim);
    claim.worker = "";
    check_claim_refused(&world, &claim);
    claim = good;
    claim.type_count = 0;
    check_claim_refused(&world, &claim);
    claim = good;
    claim.types = empty;
    check_claim_refused(&world, &claim);
    claim = good;
    claim.max = 0;
    check_claim_refused(&world, &claim);
    claim = good;
    claim.lease_ms = 0;
    check_claim_refused(&world, &claim);
    world_check_status(&world, job.id, "pending");
    world_close(&world);
}

TEST(a_report_must_make_sense)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    CHECK_REFUSED(&world, world_retry(&world, &held, CAIRN_RETRY, -2), CAIRN_E_BAD_INPUT);
    CHECK_REFUSED(&world, world_report(&world, &held, (cairn_outcome)77, NULL),
                  CAIRN_E_BAD_INPUT);
    CHECK_INT(world_beat(&world, &held, 0, NULL, NULL), CAIRN_OK); /* a look leaves no event */
    struct held nobody = held;
    nobody.worker[0] = '\0';
    CHECK_REFUSED(&world, world_report(&world, &nobody, CAIRN_COMPLETE, NULL),
                  CAIRN_E_BAD_INPUT);
    world_check_status(&world, job.id, "leased");
    world_check_events(&world, job.id, "created leased started");
    world_close(&world);
}

TEST(what_is_not_json_is_refused)
{
    const char *texts[] = {"",
                           "{",
                           "{\"a\":1",
                           "nonsense",
                           "{\"a\":1} trailing",
                           "{'a':1}",
                           "{\"a\":1,\"a\":2}",
                           "\"\\u0000\"",
                           "{\"a\\u0000b\":1}",
                           "1e400",
                           "[1,]",
                           "NaN",
                           "\"\xff\xfe\"",
                           "\"\xc3\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xc0\xaf\""};
    struct world world;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        spec.payload = texts[i];
        cairn_code code = add(&world, &spec);
        CHECK(code == CAIRN_E_BAD_JSON, "%s was answered with %s", texts[i],
              cairn_code_name(code));
        CHECK(world.error.message[0], "no message about %s", texts[i]);
    }
    CHECK_INT(world_count_jobs(&world), 0);
    world_close(&world);
}

TEST(any_json_value_is_a_payload)
{
    const char *texts[] = {"null",
                           "true",
                           "0",
                           "-1.5e3",
                           "\"text\"",
                           "[]",
                           " { } ",
                           "[[1]]",
                           "{}",
                           "1e300",
                           "9223372036854775807",
                           "\"\\ud83d\\ude00\""};
    struct world world;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        spec.payload = texts[i];
        CHECK_DONE(&world, add(&world, &spec));
        struct held held = world_take(&world, "w");
        CHECK(is_same_json(held.input, texts[i]), "%s came back as %s", texts[i], held.input);
        CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, texts[i]));
        CHECK(is_same_json(world_job(&world, held.id)->result, texts[i]), "%s ended as %s",
              texts[i], world.seen ? cairn_page_job(world.seen, 0)->result : "nothing");
    }
    world_close(&world);
}

TEST(nesting_beyond_the_limit_is_refused)
{
    char deep[300] = "";
    memset(deep, '[', 65);
    memset(deep + 65, ']', 65);
    struct world world;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    spec.payload = deep;
    cairn_code code = add(&world, &spec);
    CHECK(code == CAIRN_E_BAD_JSON || code == CAIRN_E_TOO_LARGE, "%s", cairn_code_name(code));
    CHECK_INT(world_count_jobs(&world), 0);
    memset(deep, 0, sizeof deep);
    memset(deep, '[', 64);
    memset(deep + 64, ']', 64);
    CHECK_DONE(&world, add(&world, &spec));
    world_close(&world);
}

TEST(broken_utf_8_is_refused_in_every_name)
{
    const char *broken[] = {"a\xff", "\xc3", "a\xed\xa0\x80", "\xc0\xaf",
                            "\xf8\x88\x80\x80\x80"};
    struct world world;
    world_open(&world);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
        spec.type = broken[i];
        CHECK_NOT_ADDED(&world, &spec, CAIRN_E_BAD_INPUT);
        spec.type = "t";
        spec.key = broken[i];
        CHECK_NOT_ADDED(&world, &spec, CAIRN_E_BAD_INPUT);

        cairn_page *tasks = NULL;
        cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
        const char *types[] = {"t"};
        claim.worker = broken[i];
        claim.types = types;
        claim.type_count = 1;
        CHECK_REFUSED(&world, cairn_claim(world.engine, &claim, &tasks, &world.error),
                      CAIRN_E_BAD_INPUT);
        cairn_registry_spec entry = {.size = sizeof(cairn_registry_spec),
                                     .workflow_name = broken[i],
                                     .runtime = "c",
                                     .is_enabled = true};
        CHECK_REFUSED(&world, cairn_registry_put(world.engine, &entry, &world.error),
                      CAIRN_E_BAD_INPUT);
    }
    world_close(&world);
}

TEST(sql_in_a_name_is_only_text)
{
    const char *text = "x'; DROP TABLE workflow_run; --\"`$1 :id ?1 \\ %";
    struct held held[2];
    struct world world;
    world_open(&world);
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = spec.key = text;
    spec.payload = "{\"a'; DROP TABLE workflow_run; --\":\"b'; --\"}";
    cairn_enqueued job = world_add_spec(&world, &spec);
    CHECK_INT(world_take_many(&world, "w' OR '1'='1", text, 2, held), 1);
    CHECK_STR(held[0].type, text);
    CHECK_STR(held[0].key, text);
    CHECK(is_same_json(held[0].input, spec.payload), "the input is %s", held[0].input);
    CHECK_STR(world_job(&world, job.id)->leased_by, "w' OR '1'='1");
    CHECK_DONE(&world, world_report(&world, &held[0], CAIRN_FAIL, text));
    CHECK_STR(world_job(&world, job.id)->last_error, text);
    CHECK_INT(world_count_jobs(&world), 1);
    world_close(&world);
}

TEST(a_long_error_is_cut_and_kept)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    char *story = letters(100000);
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_FAIL, story));
    const char *kept = world_job(&world, job.id)->last_error;
    CHECK(kept && strlen(kept) <= 4096 && strlen(kept) > 4000, "%zu bytes are kept",
          kept ? strlen(kept) : 0);
    free(story);
    world_close(&world);
}

TEST(more_jobs_than_a_batch_may_have_are_refused)
{
    enum { COUNT = 1001 };
    cairn_job_spec *specs = calloc(COUNT, sizeof *specs);
    cairn_enqueued *enqueued = calloc(COUNT, sizeof *enqueued);
    struct world world;
    world_open(&world);
    for (int i = 0; i < COUNT; i++)
        specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS, specs[i].type = "t";
    CHECK_REFUSED(&world, cairn_enqueue(world.engine, specs, COUNT, enqueued, &world.error),
                  CAIRN_E_TOO_LARGE);
    CHECK_INT(world_count_jobs(&world), 0);
    CHECK_DONE(&world, cairn_enqueue(world.engine, specs, COUNT - 1, enqueued, &world.error));
    free(specs);
    free(enqueued);
    world_close(&world);
}

TEST(a_registry_entry_needs_a_name_and_a_runtime)
{
    struct world world;
    world_open(&world);
    cairn_page *registry = NULL;
    cairn_registry_spec entry = {.size = sizeof(cairn_registry_spec),
                                 .workflow_name = "",
                                 .runtime = "c",
                                 .is_enabled = true};
    CHECK_REFUSED(&world, cairn_registry_put(world.engine, &entry, &world.error),
                  CAIRN_E_BAD_INPUT);
    entry = (cairn_registry_spec){.size = sizeof(cairn_registry_spec),
                                  .workflow_name = "t",
                                  .runtime = "",
                                  .is_enabled = true};
    CHECK_REFUSED(&world, cairn_registry_put(world.engine, &entry, &world.error),
                  CAIRN_E_BAD_INPUT);
    entry.runtime = "Go";
    CHECK_REFUSED(&world, cairn_registry_put(world.engine, &entry, &world.error),
                  CAIRN_E_BAD_INPUT);
    CHECK_DONE(&world, cairn_registry_list(world.engine, NULL, 100, &registry, &world.error));
    CHECK_INT(cairn_page_count(registry), 0);
    cairn_page_free(registry);
    world_close(&world);
}
