/* tests/unit/test_faulty_store.c - a store that fails on cue, and only then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "faulty/faulty.h"
#include "test.h"

#define START_US INT64_C(1700000000000000)
#define JOB_ID "00000000-0000-7000-8000-000000000001"

static cairn_error error;

struct fixture {
    struct clock clock;
    struct store *store;
    struct store_session *session;
    struct store_tx *tx;
    struct arena arena;
};

static void set_up(struct fixture *f, uint64_t seed, double chance)
{
    *f = (struct fixture){0};
    clock_init_virtual(&f->clock, START_US);
    struct store_config config = {.url = "memory:", .clock = &f->clock};
    struct store *inner;
    CHECK_OK(store_open(&config, &inner, &error));
    f->store = faulty_wrap(inner, seed, chance);
    CHECK(f->store, "no memory");
}

static void tear_down(struct fixture *f)
{
    if (f->session)
        f->store->ops->session_close(f->session);
    f->store->ops->close(f->store);
    arena_done(&f->arena);
}

static cairn_code insert_job(struct fixture *f)
{
    enum insert_result result;
    struct job_row row = {.id = JOB_ID,
                          .type = "a.v1",
                          .payload = "{}",
                          .status = JOB_PENDING,
                          .max_attempts = 3,
                          .is_ready = true,
                          .run_at_us = START_US,
                          .created_at_us = START_US,
                          .updated_at_us = START_US};
    return f->store->ops->insert_jobs(f->tx, &row, 1, &result, &error);
}

/* Every verb once, in one transaction, with the care that the engine must take: after an error
 * only a rollback. */
static cairn_code use_every_verb(struct fixture *f)
{
    const struct store_ops *ops = f->store->ops;
    const char *ids[] = {JOB_ID}, *types[4], *pattern = "%";
    struct job_claim claim = {.worker = "w",
                              .token = "t",
                              .patterns = &pattern,
                              .pattern_count = 1,
                              .lease_until_us = START_US + US_PER_MIN};
    struct event_row events[2] = {
        {.subject_id = JOB_ID, .type = job_event_name(EVENT_CREATED), .data = "{}"}};
    struct registry_row entry = {
        .name = "z.v1", .intent_type = "workflow", .runtime = "c", .is_enabled = true};
    struct list_filter filter = {0};
    int64_t seqs[] = {1};
    struct job_row rows[2], with_payload = {.seq = 1, .id = JOB_ID, .payload = "[1]"};
    enum lock_result lock;
    struct job_counts counts;
    struct store_facts facts;
    struct due_times due;
    bool is_completed;
    size_t count;
    int64_t first;

    cairn_code code = CAIRN_OK;
    if (!f->session)
        code = ops->session_open(f->store, SESSION_WRITER, &f->session, &error);
    if (!code)
        code = ops->begin(f->session, &f->arena, &f->tx, &error);
    if (code)
        return code;
    bool is_done =
        !(code = insert_job(f)) &&
        !(code = ops->lock_jobs(f->tx, ids, 1, false, rows, &lock, &error)) &&
        !(code = ops->replace_payloads(f->tx, &with_payload, 1, &error)) &&
        !(code = ops->complete_jobs(f->tx, rows, 1, &is_completed, &error)) &&
        !(code = ops->update_jobs(f->tx, rows, 1, &error)) &&
        !(code = ops->lock_expired_jobs(f->tx, rows, 2, &count, &error)) &&
        !(code = ops->promote_jobs(f->tx, 2, &count, &error)) &&
        !(code = ops->claim_jobs(f->tx, &claim, rows, 2, &count, &error)) &&
        !(code = ops->find_claimed(f->tx, "w", "t", rows, 2, &count, &error)) &&
        !(code = ops->number_events(f->tx, &first, &error)) &&
        !(code = ops->append_events(f->tx, events, 1, &error)) &&
        !(code = ops->put_registry(f->tx, &entry, &error)) &&
        !(code = ops->next_due(f->tx, &due, &error)) &&
        !(code = ops->get_job(f->tx, JOB_ID, rows, &error)) &&
        !(code = ops->pick_jobs(f->tx, &filter, seqs, 1, rows, 2, &count, &error)) &&
        !(code = ops->list_events(f->tx, JOB_ID, 0, events, 2, &count, &error)) &&
        !(code = ops->list_events_before(f->tx, JOB_ID, 0, events, 2, &count, &error)) &&
        !(code = ops->get_registry(f->tx, "z.v1", &entry, &error)) &&
        !(code = ops->list_registry(f->tx, NULL, &entry, 1, &count, &error)) &&
        !(code = ops->count_jobs(f->tx, &counts, &error)) &&
        !(code = ops->list_types(f->tx, false, types, 4, &count, &error)) &&
        !(code = ops->product(f->tx, facts.product, &error)) &&
        !(code = ops->inspect(f->tx, &facts, &error));
    if (is_done)
        return ops->commit(f->tx, true, &error);
    ops->rollback(f->tx);
    return code;
}

static bool has_job(struct fixture *f)
{
    const struct store_ops *ops = f->store->ops;
    struct store_session *session;
    struct store_tx *tx;
    struct job_row row;
    faulty_calm(f->store);
    CHECK_OK(ops->session_open(f->store, SESSION_READER, &session, &error));
    CHECK_OK(ops->begin(session, &f->arena, &tx, &error));
    cairn_code code = ops->get_job(tx, JOB_ID, &row, &error);
    ops->rollback(tx);
    ops->session_close(session);
    return code == CAIRN_OK;
}

/* The verbs of workflows are passed on alike; the store suite runs through the wrapper, too. */
static const enum faulty_verb LAST_JOB_VERB = FAULTY_INSPECT;

TEST(without_faults_it_passes_every_verb_on)
{
    struct fixture f;
    set_up(&f, 0, 0);
    CHECK_OK(use_every_verb(&f));
    for (enum faulty_verb verb = FAULTY_ANY + 1; verb <= LAST_JOB_VERB; verb++)
        CHECK(faulty_calls(f.store, verb) == 1, "%s was called %llu times",
              faulty_verb_name(verb), (unsigned long long)faulty_calls(f.store, verb));
    CHECK_INT(faulty_calls(f.store, FAULTY_ANY), LAST_JOB_VERB);
    CHECK_INT(faulty_failures(f.store), 0);
    CHECK_STR(f.store->ops->name, "sqlite");
    CHECK_INT(f.store->ops->writers, 1);
    CHECK(f.store->ops->watch, "other processes are not watched");
    CHECK(!f.store->ops->is_changed_elsewhere(f.session), "changed by nobody");
    CHECK(has_job(&f), "the job did not arrive");
    tear_down(&f);
}

/* A commit that fails after it was done is the one failure that leaves something behind. */
TEST(any_call_can_be_made_to_fail_before_and_after)
{
    for (enum faulty_moment moment = FAULTY_BEFORE; moment <= FAULTY_AFTER; moment++) {
        bool has_failed = true;
        uint64_t call = 1;
        for (; has_failed; call++) {
            struct fixture f;
            set_up(&f, 0, 0);
            struct faulty_rule rule = {
                .verb = FAULTY_ANY, .call = call, .moment = moment, .code = CAIRN_E_STORE_FULL};
            CHECK(faulty_add(f.store, &rule), "no memory");
            cairn_code code = use_every_verb(&f);
            has_failed = faulty_failures(f.store);
            CHECK_INT(code, has_failed ? CAIRN_E_STORE_FULL : CAIRN_OK);
            bool is_commit = faulty_calls(f.store, FAULTY_COMMIT) == 1;
            bool is_kept = !has_failed || (is_commit && moment == FAULTY_AFTER);
            CHECK(has_job(&f) == is_kept, "call %llu", (unsigned long long)call);
            tear_down(&f);
        }
        CHECK_INT(call - 1, LAST_JOB_VERB + 1); /* one more than there are verbs */
    }
}

/* An engine that is given a store gives it its clock. */
TEST(the_clock_of_the_wrapper_is_that_of_the_store)
{
    struct fixture f;
    struct clock other;
    set_up(&f, 0, 0);
    clock_init_virtual(&other, START_US + 5);
    f.store->clock = &other;
    CHECK_OK(f.store->ops->session_open(f.store, SESSION_WRITER, &f.session, &error));
    CHECK_OK(f.store->ops->begin(f.session, &f.arena, &f.tx, &error));
    CHECK_INT(f.tx->now_us, START_US + 5);
    f.store->ops->rollback(f.tx);
    tear_down(&f);
}

TEST(rows_go_to_the_arena_that_the_transaction_has_now)
{
    struct fixture f;
    struct arena elsewhere = {0};
    struct job_row row;
    set_up(&f, 0, 0);
    CHECK_OK(f.store->ops->session_open(f.store, SESSION_WRITER, &f.session, &error));
    CHECK_OK(f.store->ops->begin(f.session, &f.arena, &f.tx, &error));
    CHECK_OK(insert_job(&f));
    f.tx->arena = &elsewhere;
    CHECK_OK(f.store->ops->get_job(f.tx, JOB_ID, &row, &error));
    f.tx->arena = &f.arena;
    f.store->ops->rollback(f.tx);
    arena_done(&f.arena);
    CHECK_STR(row.id, JOB_ID);
    arena_done(&elsewhere);
    tear_down(&f);
}

TEST(a_rule_counts_from_when_it_was_added)
{
    struct fixture f;
    set_up(&f, 0, 0);
    CHECK_OK(use_every_verb(&f));
    struct faulty_rule rule = {
        .verb = FAULTY_BEGIN, .call = 2, .times = 3, .code = CAIRN_E_UNREACHABLE};
    CHECK(faulty_add(f.store, &rule), "no memory");
    static const bool fails[] = {false, true, true, true, false, false};
    for (size_t i = 0; i < sizeof fails / sizeof *fails; i++) {
        cairn_code code = f.store->ops->begin(f.session, &f.arena, &f.tx, &error);
        CHECK(code == (fails[i] ? CAIRN_E_UNREACHABLE : CAIRN_OK), "begin %zu", i);
        if (!code)
            f.store->ops->rollback(f.tx);
    }
    CHECK_INT(faulty_failures(f.store), 3);
    tear_down(&f);
}

TEST(a_store_can_stay_broken_until_it_is_calmed)
{
    struct fixture f;
    set_up(&f, 0, 0);
    struct faulty_rule rule = {
        .verb = FAULTY_ANY, .call = 3, .times = UINT64_MAX, .code = CAIRN_E_UNREACHABLE};
    CHECK(faulty_add(f.store, &rule), "no memory");
    for (int i = 0; i < 5; i++)
        CHECK_INT(use_every_verb(&f), CAIRN_E_UNREACHABLE);
    faulty_calm(f.store);
    CHECK_OK(use_every_verb(&f));
    tear_down(&f);
}

/* How 100 tries go, as a text. */
static void record_fate(uint64_t seed, char fate[101])
{
    struct fixture f;
    set_up(&f, seed, 0.05);
    for (int i = 0; i < 100; i++) {
        cairn_code code = use_every_verb(&f);
        CHECK(code == CAIRN_OK || code == CAIRN_E_BUSY || code == CAIRN_E_UNREACHABLE, "%s",
              cairn_code_name(code));
        fate[i] = (char)('a' + (int)code);
    }
    fate[100] = '\0';
    uint64_t failures = faulty_failures(f.store);
    CHECK(failures > 20 && failures < 95, "%llu failures", (unsigned long long)failures);
    tear_down(&f);
}

TEST(a_seed_repeats_the_same_faults)
{
    char one[101], two[101], other[101];
    record_fate(7, one);
    record_fate(7, two);
    record_fate(8, other);
    CHECK_STR(two, one);
    CHECK(strcmp(one, other) != 0, "two seeds, one fate");
}

TEST(wrapping_runs_out_of_memory_cleanly)
{
    struct fixture f;
    set_up(&f, 0, 0);
    mem_fail_after(0);
    struct store *outer = faulty_wrap(f.store, 0, 0);
    bool is_added = faulty_add(f.store, &(struct faulty_rule){.call = 1, .code = CAIRN_E_BUSY});
    mem_fail_after(-1);
    CHECK(!outer && !is_added, "memory came from nowhere");
    CHECK_OK(use_every_verb(&f));
    tear_down(&f);
}

/* One call of a verb that functions need, each on an instance that is not there. */
static cairn_code call_function_verb(struct fixture *f, enum faulty_verb verb)
{
    const struct store_ops *ops = f->store->ops;
    struct step_ref ref = {.instance_id = JOB_ID};
    struct log_row log = {.instance_id = JOB_ID, .level = "info", .message = "m"};
    const char *id = JOB_ID;
    struct signal_row signal;
    struct step_row step;
    struct instance_row instance;
    bool is_found;
    size_t count;
    switch (verb) {
    case FAULTY_DELETE_STEPS:
        return ops->delete_steps(f->tx, &ref, 1, &error);
    case FAULTY_LIST_SIGNALS:
        return ops->list_signals(f->tx, &id, 1, 0, &signal, 1, &count, &error);
    case FAULTY_READ_STEPS:
        return ops->read_steps(f->tx, &ref, 1, &step, &is_found, &error);
    case FAULTY_LIST_MEMOS:
        return ops->list_memos(f->tx, &ref, 1, &step, 1, &count, &error);
    case FAULTY_READ_INSTANCES:
        return ops->read_instances(f->tx, &id, 1, &instance, &is_found, &error);
    case FAULTY_APPEND_LOGS:
        return ops->append_logs(f->tx, &log, 0, &error);
    default:
        return ops->list_logs(f->tx, JOB_ID, 0, &log, 1, &count, &error);
    }
}

TEST(the_verbs_of_functions_fail_on_cue)
{
    static const struct {
        enum faulty_verb verb;
        const char *name;
    } verbs[] = {{FAULTY_DELETE_STEPS, "delete_steps"},
                 {FAULTY_LIST_SIGNALS, "list_signals"},
                 {FAULTY_READ_STEPS, "read_steps"},
                 {FAULTY_LIST_MEMOS, "list_memos"},
                 {FAULTY_READ_INSTANCES, "read_instances"},
                 {FAULTY_APPEND_LOGS, "append_logs"},
                 {FAULTY_LIST_LOGS, "list_logs"}};
    struct fixture f;
    set_up(&f, 0, 0);
    CHECK_OK(f.store->ops->session_open(f.store, SESSION_WRITER, &f.session, &error));
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        struct faulty_rule rule = {.verb = verbs[i].verb, .call = 2, .code = CAIRN_E_BUSY};
        CHECK(faulty_add(f.store, &rule), "no memory");
        CHECK_OK(f.store->ops->begin(f.session, &f.arena, &f.tx, &error));
        CHECK_OK(call_function_verb(&f, verbs[i].verb));
        CHECK(call_function_verb(&f, verbs[i].verb) == CAIRN_E_BUSY, "%s", verbs[i].name);
        f.store->ops->rollback(f.tx);
        CHECK_INT(faulty_calls(f.store, verbs[i].verb), 2);
        CHECK_INT(faulty_failures(f.store), i + 1);
        CHECK_STR(faulty_verb_name(verbs[i].verb), verbs[i].name);
    }
    tear_down(&f);
}
