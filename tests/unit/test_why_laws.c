/* tests/unit/test_why_laws.c - laws of why, on facts that chance has made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"
#include "core/why.h"
#include "test.h"

#include <ctype.h>

enum { STEPS_MAX = 4 };
#define NOW (INT64_C(1794830400) * US_PER_SEC)

struct made {
    struct instance_row instance;
    struct step_row rows[STEPS_MAX];
    struct step_config configs[STEPS_MAX];
    struct why_type types[STEPS_MAX];
    struct children_row children[STEPS_MAX];
    cairn_why child_whys[STEPS_MAX];
    struct why_step steps[STEPS_MAX];
    struct why_facts facts;
};

static int64_t pick(struct rng *rng, int64_t below)
{
    return (int64_t)(rng_unit(rng) * (double)below);
}

static bool toss(struct rng *rng)
{
    return pick(rng, 2);
}

/* 0, or a time around now. */
static int64_t some_time(struct rng *rng)
{
    return toss(rng) ? 0 : NOW + (pick(rng, 41) - 20) * US_PER_SEC;
}

static const char *some_text(struct rng *rng)
{
    static const char *const texts[] = {NULL, "", "ada", "a {name} in braces",
                                        "it's\n\"two\" lines."};
    return texts[pick(rng, 5)];
}

static const char *some_error(struct rng *rng)
{
    static const char mismatch[] =
        "{\"step\": \"f\", \"message\": \"version_mismatch: remembered is a, but "
        "the code asks for b\", \"attempt\": 1}";
    static const char *const texts[] = {
        NULL, "{}", "{\"step\": \"s1\", \"message\": \"no {luck}\", \"attempt\": 2}", mismatch,
        "not JSON"};
    return texts[pick(rng, 5)];
}

static const struct limit_row limit = {.name = "per-tenant",
                                       .types = "a.%",
                                       .concurrency = 2,
                                       .rate_n = 100,
                                       .rate_per_ms = 60000};

static void make_type(struct rng *rng, struct why_type *type)
{
    *type = (struct why_type){.is_off = pick(rng, 6) == 0,
                              .is_runtime_there = toss(rng),
                              .is_judged = toss(rng),
                              .live = (int32_t)pick(rng, 3),
                              .ahead = pick(rng, 3),
                              .oldest_us = some_time(rng)};
    type->runtime = type->is_off || toss(rng) ? "go" : NULL;
    type->roomy = type->live && toss(rng) ? "w1" : NULL;
    type->last = toss(rng) ? "w0" : NULL;
    type->last_seen_us = NOW - US_PER_SEC;
    type->limit = pick(rng, 3) ? NULL : &limit;
    type->limit_group = type->limit && toss(rng) ? "acme {1}" : NULL;
    type->is_limit_rate = type->limit && toss(rng);
}

static const struct instance_row child = {.id = "01a2", .workflow = "pack"};

/* What a step that starts others waits for: one child, the elements of a map, or not known. */
static void make_children(struct rng *rng, struct made *made, size_t i)
{
    static const struct {
        const char *name;
        int32_t code;
    } urgencies[] = {{"person", CAIRN_URGENCY_PERSON},   {"stuck", CAIRN_URGENCY_STUCK},
                     {"failing", CAIRN_URGENCY_FAILING}, {"works", CAIRN_URGENCY_WORKS},
                     {"waits", CAIRN_URGENCY_WAITS},     {"ended", CAIRN_URGENCY_ENDED}};
    int64_t what = pick(rng, 3), urgency = pick(rng, 6);
    made->child_whys[i] = (cairn_why){.code = "event",
                                      .urgency = urgencies[urgency].name,
                                      .urgency_code = urgencies[urgency].code,
                                      .text = "Waits for the event {paid}."};
    made->children[i] = (struct children_row){
        .size = 10, .done = (int32_t)pick(rng, 5), .failed = (int32_t)pick(rng, 5)};
    if (what == 0)
        made->steps[i].child = &child;
    if (what == 0 && toss(rng))
        made->steps[i].child_why = &made->child_whys[i];
    if (what == 1)
        made->steps[i].children = &made->children[i];
}

static void make_step(struct rng *rng, struct made *made, size_t i)
{
    struct step_row *row = &made->rows[i];
    bool is_runner = made->instance.is_function && i == 0;
    *row = (struct step_row){
        .name = "s1",
        .seq = (int32_t)i,
        .kind =
            is_runner ? KIND_FUNCTION : (enum step_kind)(1 + pick(rng, STEP_KIND_COUNT - 1)),
        .status = (enum step_status)(1 + pick(rng, STEP_STATUS_COUNT - 1)),
        .handler = "a.b",
        .task_type = "a.b",
        .attempts = (int32_t)pick(rng, 3),
        .compensation_attempts = (int32_t)pick(rng, 3),
        .max_attempts = 3,
        .next_run_at_us = some_time(rng),
        .started_at_us = some_time(rng),
        .updated_at_us = NOW - US_PER_SEC,
        .deadline_at_us = some_time(rng),
        .is_held = pick(rng, 4) == 0,
        .is_effect_begun = toss(rng),
        .locked_by = pick(rng, 3) == 0 ? "w1" : NULL,
        .locked_until_us = NOW + (pick(rng, 41) - 20) * US_PER_SEC,
        .call_until_us = some_time(rng),
        .ended_by = toss(rng) ? "w0" : NULL,
        .ended_outcome = toss(rng) ? "release" : NULL,
        .stop = pick(rng, 3) ? STOP_NONE : (enum step_stop)(1 + pick(rng, STEP_STOP_COUNT - 1)),
        .waiting_event = some_text(rng),
        .error = some_text(rng),
        .undo_error = some_text(rng)};
    made->configs[i].is_timeout_continue = toss(rng);
    made->configs[i].compensation.max_attempts = 3;
    made->configs[i].compensation.handler = toss(rng) ? "a.undo" : NULL;
    made->steps[i] = (struct why_step){.row = row, .config = &made->configs[i]};
    make_type(rng, &made->types[i]);
    if (pick(rng, 4))
        made->steps[i].type = &made->types[i];
    if (toss(rng))
        made->steps[i].record = "17";
    if (row->kind != KIND_START)
        return;
    if (toss(rng))
        row->task_type = NULL; /* no handler undoes it: its children are rolled back */
    make_children(rng, made, i);
}

static void make_facts(struct rng *rng, struct made *made)
{
    made->instance = (struct instance_row){
        .id = "01a1",
        .workflow = "order",
        .version = 1,
        .status = (enum instance_status)(1 + pick(rng, INSTANCE_STATUS_COUNT - 1)),
        .goal = (enum instance_goal)pick(rng, INSTANCE_GOAL_COUNT),
        .start_at_us = some_time(rng),
        .created_at_us = NOW - 60 * US_PER_SEC,
        .started_at_us = some_time(rng),
        .finished_at_us = NOW,
        .updated_at_us = NOW + (pick(rng, 21) - 20) * US_PER_SEC,
        .undo_first = (int32_t)pick(rng, 4) - 2,
        .awaited_count = (int32_t)pick(rng, 3),
        .is_function = toss(rng),
        .paused_by = some_text(rng),
        .paused_reason = pick(rng, 3) ? some_text(rng)
                         : toss(rng)  ? PAUSED_BY_FAILURE
                                      : PAUSED_BY_MISMATCH,
        .paused_at_us = some_time(rng),
        .stop_by = some_text(rng),
        .stop_reason = some_text(rng),
        .last_error = some_error(rng),
        .undo_error = some_error(rng),
        .input = toss(rng) ? "{\"it\": \"it's\"}" : NULL};
    made->facts = (struct why_facts){.now_us = NOW,
                                     .opened_us = some_time(rng),
                                     .instance = &made->instance,
                                     .steps = made->steps,
                                     .step_count = (size_t)pick(rng, STEPS_MAX + 1),
                                     .undo_record = pick(rng, 4) ? NULL : "18",
                                     .save_point = toss(rng) ? "paid" : NULL,
                                     .undone = (int32_t)pick(rng, 3),
                                     .to_undo = (int32_t)pick(rng, 3),
                                     .is_rejected = toss(rng)};
    for (size_t i = 0; i < made->facts.step_count; i++)
        make_step(rng, made, i);
}

/* ---- the laws ------------------------------------------------------------------------------- */

static bool is_one_of(const char *word, const char *words)
{
    size_t len = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += len)
        if ((at == words || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

/* What the states of an instance allow. */
static bool is_allowed(const char *action, enum instance_status status)
{
    bool is_final = instance_is_final(status);
    if (is_one_of(action, "about workers doctor work type-enable start-again limit"))
        return true;
    if (is_one_of(action, "requeue edit")) /* of a step, or of a compensation that failed */
        return !is_final || status == INSTANCE_FAILED;
    if (strcmp(action, "cancel") == 0)
        return instance_may(status, INSTANCE_COMPENSATING, false) || status == INSTANCE_PENDING;
    if (strcmp(action, "abort") == 0)
        return !is_final;
    if (is_one_of(action, "resume resume-force"))
        return status == INSTANCE_PAUSED;
    if (strcmp(action, "retry") == 0)
        return status == INSTANCE_FAILED;
    if (strcmp(action, "restart") == 0)
        return status != INSTANCE_PENDING && status != INSTANCE_COMPENSATING;
    return is_one_of(action, "signal approve reject") && !is_final;
}

/* Every {name} of the sentence is a value, and every value is in it. */
static void check_sentence(const cairn_why *why)
{
    json_t *values = json_loads(why->values, 0, NULL), *value;
    const char *name;
    size_t named = 0;
    CHECK(values, "%s: %s", why->code, why->values);
    for (const char *at = why->sentence; (at = strchr(at, '{')); at++) {
        char key[32] = "";
        snprintf(key, sizeof key, "%.*s", (int)strcspn(at + 1, "}"), at + 1);
        CHECK(json_object_get(values, key), "%s: {%s} has no value", why->code, key);
        named++;
    }
    json_object_foreach(values, name, value)
    {
        char braced[40];
        snprintf(braced, sizeof braced, "{%s}", name);
        CHECK(strstr(why->sentence, braced), "%s: %s is not in %s", why->code, name,
              why->sentence);
    }
    CHECK(named == json_object_size(values), "%s: %s", why->code, why->sentence);
    CHECK(isupper((unsigned char)why->sentence[0]) || why->sentence[0] == '{', "%s",
          why->sentence);
    CHECK(why->text[strlen(why->text) - 1] == '.' || why->text[strlen(why->text) - 1] == '?',
          "%s", why->text);
    json_decref(values);
}

/* It ends with this, and before it is nothing, or what is being undone. */
static void check_text(const cairn_why *why, const char *said, bool is_undo)
{
    size_t len = strlen(why->text), end = strlen(said);
    CHECK(len >= end && strcmp(why->text + len - end, said) == 0, "%s, not %s", why->text,
          said);
    const char *before = is_undo ? "Undoing s1: " : "";
    CHECK(len - end == strlen(before) && strncmp(why->text, before, len - end) == 0, "%s",
          why->text);
}

static void check_limit(const cairn_why *why, const struct why_type *type, bool is_undo)
{
    char said[128];
    snprintf(said, sizeof said, "%s%s%s.",
             type->is_limit_rate ? "Waits for its time: per-tenant lets 100 begin in 1m 0s"
                                 : "Waits for a place: per-tenant allows 2 at a time",
             type->limit_group ? " for " : "", type->limit_group ? type->limit_group : "");
    check_text(why, said, is_undo);
    CHECK_INT(why->urgency_code, CAIRN_URGENCY_WAITS);
    CHECK_STR(why->actions[0].action, "limit");
}

/* A limit is told of before workers that could take the task, and after workers that are not there. */
static bool is_limit_told(const struct why_type *type)
{
    bool is_elsewhere = type && type->runtime && type->is_judged && !type->is_runtime_there;
    return type && type->limit && type->live && !type->is_off && !is_elsewhere;
}

/* A child is as urgent as what it waits for; what has ended, or is not known, is at work. */
static void check_child(const cairn_why *why, const struct why_step *step, bool is_undo)
{
    char said[128] = "Waits for pack 01a2.";
    const cairn_why *own = step->child_why;
    if (own)
        snprintf(said, sizeof said, "Waits for pack 01a2: %s", own->text);
    check_text(why, said, is_undo);
    CHECK_INT(why->urgency_code, own && own->urgency_code != CAIRN_URGENCY_ENDED
                                     ? own->urgency_code
                                     : CAIRN_URGENCY_WORKS);
}

static void check_mapping(const cairn_why *why, const struct why_step *step, bool is_undo)
{
    char said[128];
    snprintf(said, sizeof said, "%d of 10 elements done, %d failed.", (int)step->children->done,
             (int)step->children->failed);
    check_text(why, said, is_undo);
    CHECK_INT(why->urgency_code, CAIRN_URGENCY_WORKS);
}

static int children_told, maps_told, limits_told;

/* What a step says of its children, if its children are what it waits for. */
static void check_step(const cairn_why *why, const struct why_step *step)
{
    const struct step_row *row = step->row;
    bool is_undo = row->status == STEP_COMPENSATION;
    bool is_told = is_one_of(why->code, "child mapping");
    bool is_waiting =
        row->status == STEP_WAITING || (is_undo && !row->task_type && row->kind == KIND_START);
    if (row->kind == KIND_START && is_waiting && (step->child || step->children))
        CHECK(is_told || row->locked_by || row->is_held, "%s: %s", why->code, why->text);
    else
        CHECK(!is_told, "%s: %s", why->code, why->text);
    bool is_limited = strcmp(why->code, "limited") == 0;
    if (is_one_of(why->code, "limited about_to busy unclaimed"))
        CHECK(is_limited == is_limit_told(step->type), "%s: %s", why->code, why->text);
    if (is_limited)
        check_limit(why, step->type, is_undo);
    if (strcmp(why->code, "child") == 0)
        check_child(why, step, is_undo);
    if (strcmp(why->code, "mapping") == 0)
        check_mapping(why, step, is_undo);
    children_told += strcmp(why->code, "child") == 0;
    maps_told += strcmp(why->code, "mapping") == 0;
    limits_told += is_limited;
}

static void check_item(const cairn_why *why, enum instance_status status)
{
    CHECK(why->code && why->urgency && why->urgency_code > 0, "no code");
    check_sentence(why);
    for (size_t i = 0; i < why->action_count; i++) {
        json_t *values = json_loads(why->actions[i].values, 0, NULL);
        CHECK(values, "%s", why->actions[i].values);
        json_decref(values);
        CHECK(strncmp(why->actions[i].cli, "cairn ", 6) == 0, "%s", why->actions[i].cli);
        CHECK(is_allowed(why->actions[i].action, status), "%s offers %s while it is %s",
              why->code, why->actions[i].action, instance_status_name(status));
    }
}

static void check_made(struct made *made)
{
    struct arena arena = {0};
    struct why_list list;
    enum instance_status status = made->instance.status;
    CHECK(why_instance(&arena, &made->facts, &list), "memory");
    CHECK(list.count > 0, "nothing is said");
    int32_t last = -2;
    unsigned seen = 0;
    for (size_t i = 0; i < list.count; i++) {
        const cairn_why *why = &list.items[i];
        check_item(why, status);
        CHECK(why->seq < STEPS_MAX, "place %d", (int)why->seq);
        if (why->seq >= 0 && made->steps[why->seq].row)
            check_step(why, &made->steps[why->seq]);
        CHECK(!(seen & 1u << (why->seq + 1)), "place %d has two sentences", (int)why->seq);
        seen |= 1u << (why->seq + 1);
        bool is_equal = i && why->urgency_code == list.items[i - 1].urgency_code;
        CHECK(!i || why->urgency_code >= list.items[i - 1].urgency_code, "not in order");
        CHECK(!is_equal || why->seq > last, "not in order of places");
        last = why->seq;
    }
    if (instance_is_final(status) || status == INSTANCE_PENDING)
        CHECK_INT(list.count, 1);
    arena_done(&arena);
}

TEST(whatever_the_facts_are_one_row_fits_and_its_sentence_is_whole)
{
    struct rng rng;
    int rounds = test_rounds(20000, 1000000);
    rng_init(&rng, 17);
    for (int i = 0; i < rounds; i++) {
        struct made made = {0};
        make_facts(&rng, &made);
        check_made(&made);
    }
    CHECK(children_told > 10 && maps_told > 10 && limits_told > 10, "%d, %d, %d", children_told,
          maps_told, limits_told);
}

TEST(a_step_alone_has_one_row_whatever_it_is)
{
    struct rng rng;
    int rounds = test_rounds(20000, 1000000);
    rng_init(&rng, 18);
    for (int i = 0; i < rounds; i++) {
        struct made made = {0};
        struct arena arena = {0};
        cairn_why why;
        make_facts(&rng, &made);
        make_step(&rng, &made, 0);
        struct why_other other = {.now_us = NOW,
                                  .instance = &made.instance,
                                  .step = &made.steps[0],
                                  .previous = some_text(&rng),
                                  .decided_by = some_text(&rng),
                                  .comment = some_text(&rng),
                                  .decided_us = some_time(&rng),
                                  .condition = toss(&rng) ? "is_large" : NULL,
                                  .branches = "a, b",
                                  .branch_count = (int32_t)pick(&rng, 3)};
        CHECK(why_step(&arena, &other, &why), "memory");
        check_sentence(&why);
        check_step(&why, &made.steps[0]);
        arena_done(&arena);
    }
}

TEST(a_job_has_one_row_whatever_it_is)
{
    struct rng rng;
    int rounds = test_rounds(20000, 1000000);
    rng_init(&rng, 19);
    for (int i = 0; i < rounds; i++) {
        struct arena arena = {0};
        struct why_type type;
        cairn_why why;
        make_type(&rng, &type);
        struct job_row row = {.id = "01a1",
                              .type = "mail.send",
                              .status = (enum job_status)(1 + pick(&rng, JOB_STATUS_COUNT - 1)),
                              .attempt = (int32_t)pick(&rng, 3),
                              .max_attempts = 3,
                              .run_at_us = NOW + (pick(&rng, 41) - 20) * US_PER_SEC,
                              .lease_until_us = NOW + (pick(&rng, 41) - 20) * US_PER_SEC,
                              .leased_by = "w1",
                              .created_at_us = NOW,
                              .updated_at_us = NOW,
                              .deleted_at_us = pick(&rng, 4) ? 0 : NOW,
                              .last_error = some_text(&rng)};
        struct why_job_facts facts = {
            .now_us = NOW, .job = &row, .type = pick(&rng, 4) ? &type : NULL};
        bool is_over = row.status == JOB_FAILED || row.status == JOB_CANCELLED;
        CHECK(why_job(&arena, &facts, &why), "memory");
        check_sentence(&why);
        if (strcmp(why.code, "job_ready") == 0 && is_limit_told(facts.type))
            check_limit(&why, facts.type, false);
        else
            CHECK(strncmp(why.text, "Waits for ", 10) != 0, "%s", why.text);
        for (size_t k = 0; k < why.action_count; k++) {
            CHECK(strcmp(why.actions[k].action, "job-retry") != 0 || is_over, "retry");
            CHECK(strcmp(why.actions[k].action, "job-cancel") != 0 ||
                      row.status == JOB_PENDING || row.status == JOB_LEASED,
                  "cancel");
        }
        arena_done(&arena);
    }
}
