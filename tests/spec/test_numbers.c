/* tests/spec/test_numbers.c - a JSON number is a decimal, and what is accepted once is accepted again.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The laws of values, for values that are drawn: accept(v) implies accept(read(write(v))), which is equal
 * by decimal value and no larger than the limit; and after its first round through a store a value is what
 * it is.  On PostgreSQL plain SQL stores what no request may, which can be listed, shown, claimed and
 * reported all the same.
 */
#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/random.h"
#include "flow_world.h"
#include "scratch.h"
#include "world.h"

#include <stdlib.h>

enum { MIB = 1 << 20 };

/* ---- equal by value ------------------------------------------------------------------------- */

static bool read_any(const json_t *json, char room[24], struct number *ret_number)
{
    size_t len = 0;
    const char *text = json_number_text(json, &len);
    if (!text && json_is_integer(json)) {
        len = (size_t)snprintf(room, 24, "%lld", (long long)json_integer_value(json));
        text = room;
    }
    return text && number_read(text, len, ret_number);
}

static bool is_equal(const json_t *a, const json_t *b)
{
    char left[24], right[24];
    struct number one, other;
    if (read_any(a, left, &one))
        return read_any(b, right, &other) && number_compare(&one, &other) == 0;
    if (json_is_array(a) && json_is_array(b)) {
        bool is_same = json_array_size(a) == json_array_size(b);
        for (size_t i = 0; is_same && i < json_array_size(a); i++)
            is_same = is_equal(json_array_get(a, i), json_array_get(b, i));
        return is_same;
    }
    if (json_is_object(a) && json_is_object(b)) {
        const char *key;
        json_t *member;
        bool is_same = json_object_size(a) == json_object_size(b);
        json_object_foreach((json_t *)a, key, member)
        {
            is_same = is_same && is_equal(member, json_object_get(b, key));
        }
        return is_same;
    }
    return json_equal(a, b);
}

static bool is_same_value(const char *a, const char *b)
{
    json_t *one = json_tree(a, strlen(a)), *other = json_tree(b, strlen(b));
    bool is_same = one && other && is_equal(one, other);
    json_decref(one);
    json_decref(other);
    return is_same;
}

/* ---- drawn values --------------------------------------------------------------------------- */

static void draw_digits(struct rng *rng, struct buf *buf, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_char(buf, (char)('0' + rng_below(rng, rng_below(rng, 2) ? 10 : 1)));
}

static void draw_number(struct rng *rng, struct buf *buf)
{
    static const int reaches[] = {2, 30, 300};
    if (rng_below(rng, 3) == 0)
        buf_char(buf, '-');
    buf_char(buf, (char)('1' + rng_below(rng, 9)));
    draw_digits(rng, buf, rng_below(rng, rng_below(rng, 2) ? 3 : 40));
    if (rng_below(rng, 2)) {
        buf_char(buf, '.');
        draw_digits(rng, buf, 1 + rng_below(rng, rng_below(rng, 2) ? 3 : 30));
    }
    if (rng_below(rng, 2))
        buf_printf(buf, "%s%d", rng_below(rng, 2) ? "e" : "E+",
                   (int)rng_below(rng, (uint64_t)reaches[rng_below(rng, 3)]));
    else if (rng_below(rng, 4) == 0)
        buf_printf(buf, "e-%d", (int)rng_below(rng, (uint64_t)reaches[rng_below(rng, 3)]));
}

static void draw_value(struct rng *rng, struct buf *buf, int depth)
{
    static const char *const others[] = {"null", "true", "\"1e5 , 2\"", "\"\\u00e9\\n\\\\\"",
                                         "0",    "-0",   "0.000",       "0e5",
                                         "{}",   "[ ]"};
    static const char *const blanks[] = {"", "", " ", "\n "};
    size_t count = rng_below(rng, 5);
    bool is_object = rng_below(rng, 2);
    if (depth == 3 || rng_below(rng, 3) == 0) {
        if (rng_below(rng, 3))
            draw_number(rng, buf);
        else
            buf_str(buf, others[rng_below(rng, sizeof others / sizeof *others)]);
        return;
    }
    buf_char(buf, is_object ? '{' : '[');
    for (size_t i = 0; i < count; i++) {
        buf_printf(buf, "%s%s", i ? "," : "", blanks[rng_below(rng, 4)]);
        if (is_object)
            buf_printf(buf, "\"k%zu\"%s:%s", i * 7 % 5, blanks[rng_below(rng, 4)],
                       blanks[rng_below(rng, 4)]);
        draw_value(rng, buf, depth + 1);
    }
    buf_char(buf, is_object ? '}' : ']');
}

/* ---- the laws ------------------------------------------------------------------------------- */

static cairn_enqueued added;

static cairn_code add(struct world *world, const char *payload)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    spec.payload = payload;
    return cairn_enqueue(world->engine, &spec, 1, &added, &world->error);
}

/* A value through the store and a worker that answers with what it was given: what is read then. */
static char *echo(struct world *world, const char *value)
{
    CHECK_DONE(world, add(world, value));
    struct held held = world_take(world, "w");
    CHECK(strlen(held.input) <= MIB, "%zu bytes came back", strlen(held.input));
    CHECK(is_same_value(value, held.input), "%.200s came back as %.200s", value, held.input);
    CHECK_DONE(world, world_report(world, &held, CAIRN_COMPLETE, held.input));
    const cairn_job *job = world_job(world, added.id);
    CHECK(strcmp(job->result, held.input) == 0, "%.200s was kept as %.200s", held.input,
          job->result);
    CHECK(strcmp(job->payload, held.input) == 0, "%.200s is shown as %.200s", held.input,
          job->payload);
    return strdup(job->result);
}

TEST(what_is_accepted_once_is_accepted_again_and_is_a_fixed_point_after_its_first_round)
{
    struct world world;
    struct rng rng;
    world_open(&world);
    rng_init(&rng, 20261118);
    for (int round = 0; round < test_rounds(60, 2000); round++) {
        struct buf text = {0};
        draw_value(&rng, &text, 0);
        char *first = echo(&world, buf_text(&text)), *second = echo(&world, first);
        CHECK(strcmp(first, second) == 0, "%.200s became %.200s", first, second);
        free(first);
        free(second);
        buf_done(&text);
    }
    world_close(&world);
}

/* A list of one text again and again, of so many bytes. */
static char *list_of(const char *item, size_t bytes)
{
    struct buf buf = {0};
    buf_char(&buf, '[');
    while (buf.len + strlen(item) + 2 <= bytes) {
        buf_str(&buf, buf.len > 1 ? "," : "");
        buf_str(&buf, item);
    }
    while (buf.len < bytes - 1)
        buf_char(&buf, ' ');
    buf_char(&buf, ']');
    return buf_take(&buf, NULL);
}

TEST(a_value_as_large_as_may_be_comes_back_no_larger)
{
    static const char *const items[] = {"1", "{\"a\":1}", "12.50", "12345678901234567890"};
    struct world world;
    world_open(&world);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        char *large = list_of(items[i], MIB), *back = echo(&world, large);
        CHECK(strlen(back) <= MIB, "%zu bytes", strlen(back));
        free(back);
        mem_free(large);
    }
    world_close(&world);
}

TEST(numbers_count_as_long_as_they_are_written_out)
{
    struct world world;
    world_open(&world);
    char *small = list_of("1e308", 60000), *bomb = list_of("1e308", MIB);
    CHECK_REFUSED(&world, add(&world, small), CAIRN_E_TOO_LARGE);
    CHECK_STR(world.error.message, "payload is too large");
    char wanted[100];
    snprintf(wanted, sizeof wanted,
             "its numbers written out make %zu bytes, 1048576 are allowed",
             json_written(small, strlen(small)));
    CHECK_STR(world.error.detail, wanted);
    CHECK_REFUSED(&world, add(&world, bomb), CAIRN_E_TOO_LARGE);
    CHECK_INT(world_count_jobs(&world), 0);
    CHECK_DONE(&world, add(&world, "{\"a\":1}"));
    struct held held = world_take(&world, "w");
    CHECK_REFUSED(&world, world_report(&world, &held, CAIRN_COMPLETE, small),
                  CAIRN_E_TOO_LARGE);
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "1e308"));
    mem_free(small);
    mem_free(bomb);
    world_close(&world);
}

TEST(what_not_every_store_and_reader_can_keep_is_refused_at_entry)
{
    static const char *const refused[] = {"1e309", "[-1.8e308]", "{\"a\":1e-16384}",
                                          "0e-99999"};
    static const char *const taken[] = {"1.7976931348623157e308", "1e-400", "1e-16383",
                                        "-9223372036854775809", "0e99999"};
    struct world world;
    world_open(&world);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK_REFUSED(&world, add(&world, refused[i]), CAIRN_E_BAD_JSON);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        free(echo(&world, taken[i]));
    world_close(&world);
}

/* ---- how much one answer holds ---------------------------------------------------------------- */

/* Claims by one worker until nothing is left: at most 16 MiB in each answer, and nothing is left out. */
static size_t claim_all(struct world *world, uint32_t max, size_t *ret_answers)
{
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    const char *types[] = {"t"};
    size_t total = 0;
    claim.worker = "w";
    claim.types = types;
    claim.type_count = 1;
    claim.max = max;
    for (*ret_answers = 0;; (*ret_answers)++) {
        cairn_page *page = NULL;
        size_t bytes = 0;
        CHECK_DONE(world, cairn_claim(world->engine, &claim, &page, &world->error));
        size_t count = cairn_page_count(page);
        for (size_t i = 0; i < count; i++)
            bytes += strlen(cairn_page_task(page, i)->input);
        cairn_page_free(page);
        if (count == 0)
            return total;
        CHECK(bytes <= 16 * MIB || count == 1, "%zu bytes in %zu tasks", bytes, count);
        total += count;
    }
}

TEST(a_claim_leases_what_fits_into_an_answer)
{
    struct world world;
    size_t answers;
    world_open(&world);
    char *large = list_of("12.5", MIB);
    for (int i = 0; i < 36; i++)
        CHECK_DONE(&world, add(&world, i % 9 == 8 ? "1" : large));
    world_reopen(&world); /* which knows nothing of sizes */
    CHECK_INT(claim_all(&world, 100, &answers), 36);
    CHECK(answers <= 3, "%zu answers", answers);
    for (int i = 0; i < 36; i++)
        CHECK_DONE(&world, add(&world, "1"));
    CHECK_INT(claim_all(&world, 100, &answers), 36);
    CHECK_INT(answers, 1);
    mem_free(large);
    world_close(&world);
}

/* ---- workflows ------------------------------------------------------------------------------ */

#define NUMBERS "[6.02e23,12345678901234567890,0.10,-0.000000000000000000000000123]"

static void begin_with(struct flow_world *fw, const char *text, const char *input)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    wf_open(fw);
    CHECK_DONE(&fw->world, wf_deploy(fw, "{workflow: kid, version: 1, steps: [{step: k}]}"));
    CHECK_DONE(&fw->world, wf_deploy(fw, text));
    options.workflow = "w";
    options.input = input;
    CHECK_DONE(&fw->world, wf_start(fw, &options, NULL));
}

TEST(templates_children_and_signals_hand_numbers_on_as_they_are)
{
    struct flow_world fw;
    begin_with(&fw,
               FLOW("{step: a, input: {whole: \"{{ . }}\", one: \"{{ index $.input.n 1 }}\", "
                    "own: 123456789012345678901, text: \"{{ json . }}\"}}, "
                    "{start: s, workflow: kid, input: \"{{ $.input }}\"}, "
                    "{wait: x, event: e}, {step: b}"),
               "{\"n\":" NUMBERS "}");
    struct task a = wf_take_step(&fw, "a");
    CHECK(is_same_value(a.input, "{\"whole\":{\"n\":" NUMBERS
                                 "},\"one\":12345678901234567890,\"own\":123456789012345678901,"
                                 "\"text\":\"{\\\"n\\\":[6.02e23,12345678901234567890,0.1,"
                                 "-1.23e-25]}\"}"),
          "%s", a.input);
    CHECK_DONE(&fw.world, wf_report(&fw, &a, CAIRN_COMPLETE, NUMBERS));
    struct task k = wf_take_step(&fw, "k");
    CHECK(is_same_value(k.input, "{\"n\":" NUMBERS "}"), "%s", k.input);
    CHECK_DONE(&fw.world, wf_report(&fw, &k, CAIRN_COMPLETE, NUMBERS));
    wf_signal(&fw, "e", NUMBERS);
    struct task b = wf_take_step(&fw, "b");
    CHECK(is_same_value(b.input, NUMBERS), "%s", b.input);
    wf_close(&fw);
}

TEST(conditions_compare_numbers_as_decimals)
{
    struct flow_world fw;
    begin_with(&fw,
               FLOW("{condition: k, when: \"{{ lt .n 12345678901234567891 }}\", then: "
                    "[{condition: l, when: \"{{ eq .n 12345678901234567890 }}\", then: [{step: "
                    "yes}]}]}"),
               "{\"n\":12345678901234567890}");
    wf_take_step(&fw, "yes");
    wf_close(&fw);
}

/* ---- the order of members ------------------------------------------------------------------- */

TEST(objects_of_our_own_have_their_members_in_the_order_of_the_description)
{
    static const char *const members[] = {
        "\"step\":", "\"message\":", "\"attempt\":", "\"at\":"};
    struct flow_world fw;
    begin_with(&fw, FLOW("{step: a, max_attempts: 1}"), "{}");
    struct task a = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &a, CAIRN_DEAD, "no good"));
    const char *error = wf_instance(&fw)->last_error, *at = error;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        at = at ? strstr(at, members[i]) : NULL;
        CHECK(at, "%s is not in its place: %s", members[i], error);
    }
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    spec.retry = "{\"backoff\":\"fixed\",\"base_ms\":10,\"max_ms\":20,\"jitter\":0.5}";
    cairn_enqueued job = world_add_spec(&fw.world, &spec);
    CHECK_STR(world_job(&fw.world, job.id)->retry, spec.retry);
    wf_close(&fw);
}

/* ---- plain SQL ------------------------------------------------------------------------------ */

TEST(what_plain_sql_stores_can_be_listed_shown_claimed_and_reported)
{
    static const char *const values[] = {"[12345678901234567890]", "[1e400]", "[1e-16383]",
                                         "[602000000000000000000000.00]"};
    struct flow_world fw;
    wf_open(&fw);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char sql[200];
        if (strcmp(scratch_kind(), "postgres") != 0)
            break;
        snprintf(sql, sizeof sql,
                 "INSERT INTO {workflow_run} (type, payload, run_at) VALUES ('sql.v1', '%s', "
                 "'2001-01-01')",
                 values[i]);
        wf_sql(&fw, sql, NULL);
        CHECK_INT(world_count_jobs(&fw.world), i + 1);
        struct held held;
        CHECK_INT(world_take_many(&fw.world, "w", "sql.v1", 1, &held), 1);
        CHECK(is_same_value(held.input, values[i]), "%.100s", held.input);
        bool is_storable = !json_check(held.input, strlen(held.input), "payload", NULL);
        cairn_code code = world_report(&fw.world, &held, CAIRN_COMPLETE,
                                       is_storable ? held.input : "\"done\"");
        CHECK_DONE(&fw.world, code);
    }
    wf_close(&fw);
}

TEST(plain_sql_stores_nothing_that_is_longer_than_an_answer)
{
    static const char *const columns[] = {"payload", "result", "metadata"};
    struct flow_world fw;
    long long count = -1;
    wf_open(&fw);
    for (size_t i = 0; i < 3 && strcmp(scratch_kind(), "postgres") == 0; i++) {
        char sql[600];
        snprintf(sql, sizeof sql,
                 "DO $$ BEGIN INSERT INTO {workflow_run} (type, %s) VALUES ('big.v1', "
                 "jsonb_build_object('a', ('[' || repeat('1e308,', 60000) || '1]')::jsonb)); "
                 "RAISE 'it was taken'; EXCEPTION WHEN program_limit_exceeded THEN "
                 "IF SQLERRM NOT LIKE '%s is longer%%' THEN RAISE; END IF; END $$",
                 columns[i], columns[i]);
        wf_sql(&fw, sql, NULL);
        wf_sql(&fw, "SELECT count(*) FROM {workflow_run}", &count);
        CHECK_INT(count, 0);
    }
    wf_close(&fw);
}
