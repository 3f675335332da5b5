/* tests/store/test_insert.c - inserting jobs, and transactions as such.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

static cairn_code insert(struct rig *rig, struct job_row *rows, size_t count,
                         enum insert_result *ret_results)
{
    return rig->ops->insert_jobs(rig->tx, rows, count, ret_results, &rig->error);
}

TEST(a_new_job_is_kept_as_it_was_given)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row row = job_of(rig, "billing.invoice.v1");
    row.payload =
        "{\"text\": \"quote ' \\\" and \\u00e9 \xF0\x9F\x98\x80\", \"n\": [1, 2.5, null]}";
    row.key = "order:1";
    row.priority = -7;
    row.max_attempts = 9;
    row.attempt = 2;
    row.run_at_us = RIG_START_US - 1;
    row.created_at_us = RIG_START_US - 3;
    row.updated_at_us = RIG_START_US - 2;
    row.timeout_ms = 2500;
    row.retry = "{\"backoff\": \"linear\", \"base_ms\": 10}";
    begin_write(rig);
    add(rig, row);
    commit(rig);

    begin_read(rig);
    struct job_row seen = get(rig, row.id);
    CHECK(seen.seq > 0, "seq is %lld", (long long)seen.seq);
    CHECK_STR(seen.id, row.id);
    CHECK_STR(seen.type, "billing.invoice.v1");
    CHECK(is_same_json(seen.payload, row.payload), "payload is %s", seen.payload);
    CHECK_STR(seen.key, "order:1");
    CHECK_INT(seen.status, JOB_PENDING);
    CHECK_INT(seen.priority, -7);
    CHECK_INT(seen.max_attempts, 9);
    CHECK_INT(seen.attempt, 2);
    CHECK_INT(seen.is_ready, true);
    CHECK_INT(seen.run_at_us, RIG_START_US - 1);
    CHECK_INT(seen.created_at_us, RIG_START_US - 3);
    CHECK_INT(seen.updated_at_us, RIG_START_US - 2);
    CHECK_INT(seen.lease_until_us, 0);
    CHECK_INT(seen.call_until_us, 0);
    CHECK_INT(seen.timeout_ms, 2500);
    CHECK(is_same_json(seen.retry, row.retry), "retry is %s", seen.retry);
    CHECK_INT(seen.deleted_at_us, 0);
    CHECK(!seen.leased_by && !seen.token && !seen.ended_by && !seen.ended_token &&
              !seen.last_error && !seen.result,
          "a text is set that was not given");
}

TEST(later_jobs_have_greater_seqs)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row rows[3] = {job_of(rig, "a"), job_of(rig, "b"), job_of(rig, "c")};
    enum insert_result results[3];
    begin_write(rig);
    MUST(rig, insert(rig, rows, 3, results));
    const char *last = add(rig, job_of(rig, "a"));
    commit(rig);

    begin_read(rig);
    int64_t seq = 0;
    for (int i = 0; i < 3; i++) {
        CHECK_INT(results[i], INSERT_DONE);
        CHECK(get(rig, rows[i].id).seq > seq, "row %d does not come after its forerunner", i);
        seq = get(rig, rows[i].id).seq;
    }
    CHECK(get(rig, last).seq > seq, "a later call does not come later");
}

TEST(a_known_key_stands_for_the_job_that_has_it)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row first = job_of(rig, "a"), second = job_of(rig, "b");
    enum insert_result result;
    first.key = second.key = "same";
    begin_write(rig);
    add(rig, first);
    commit(rig);

    begin_write(rig);
    const char *unused = second.id;
    MUST(rig, insert(rig, &second, 1, &result));
    CHECK_INT(result, INSERT_EXISTING);
    CHECK_STR(second.id, first.id);
    commit(rig);

    begin_read(rig);
    struct job_row row;
    CHECK_INT(rig->ops->get_job(rig->tx, unused, &row, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_STR(get(rig, first.id).type, "a");
}

TEST(a_key_that_repeats_in_one_call_is_the_firsts)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row rows[4] = {job_of(rig, "a"), job_of(rig, "b"), job_of(rig, "c"),
                              job_of(rig, "d")};
    enum insert_result results[4];
    rows[0].key = rows[2].key = "x";
    rows[3].key = "y";
    begin_write(rig);
    MUST(rig, insert(rig, rows, 4, results));
    commit(rig);
    CHECK_INT(results[0], INSERT_DONE);
    CHECK_INT(results[1], INSERT_DONE);
    CHECK_INT(results[2], INSERT_EXISTING);
    CHECK_INT(results[3], INSERT_DONE);
    CHECK_STR(rows[2].id, rows[0].id);
    begin_read(rig);
    list(rig, (struct list_filter){0}, ROWS_MAX);
    CHECK_INT(rig->count, 3);
}

TEST(jobs_without_a_key_do_not_collide)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    add(rig, job_of(rig, "a"));
    add(rig, job_of(rig, "a"));
    commit(rig);
}

TEST(an_empty_key_is_a_key)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row first = job_of(rig, "a"), second = job_of(rig, "a");
    enum insert_result result;
    first.key = second.key = "";
    begin_write(rig);
    add(rig, first);
    MUST(rig, insert(rig, &second, 1, &result));
    CHECK_INT(result, INSERT_EXISTING);
    CHECK_STR(get(rig, first.id).key, "");
}

TEST(a_key_outlives_the_deletion_of_its_job)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row first = job_of(rig, "a"), second = job_of(rig, "a");
    enum insert_result result;
    first.key = second.key = "k";
    first.status = JOB_CANCELLED;
    first.is_ready = false;
    first.deleted_at_us = RIG_START_US;
    begin_write(rig);
    add(rig, first);
    MUST(rig, insert(rig, &second, 1, &result));
    CHECK_INT(result, INSERT_EXISTING);
    CHECK_STR(second.id, first.id);
}

TEST(the_same_id_again_is_recognised)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row row = job_of(rig, "a"), keyed = job_of(rig, "a");
    enum insert_result results[3];
    keyed.key = "k";
    begin_write(rig);
    add(rig, row);
    add(rig, keyed);
    commit(rig);

    begin_write(rig);
    struct job_row rows[3] = {row, keyed, job_of(rig, "b")};
    MUST(rig, insert(rig, rows, 3, results));
    commit(rig);
    CHECK_INT(results[0], INSERT_AGAIN);
    CHECK_INT(results[1], INSERT_AGAIN);
    CHECK_INT(results[2], INSERT_DONE);
    CHECK_STR(rows[0].id, row.id);
    CHECK_STR(rows[1].id, keyed.id);
}

/* A claim that comes before the answer takes what is new, and nothing else of the call. */
TEST(rows_that_were_sent_are_what_they_are_otherwise)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    enum insert_result results[3];
    bool is_sent = false;
    struct job_row first = job_of(rig, "z");
    first.key = "k";
    begin_write(rig);
    add(rig, first);
    commit(rig);
    struct job_row rows[] = {job_of(rig, "a"), job_of(rig, "a"), job_of(rig, "a")};
    rows[1].key = "k";
    begin_write(rig);
    if (rig->ops->send_insert_jobs)
        MUST(rig, rig->ops->send_insert_jobs(rig->tx, rows, 3, &is_sent, &rig->error));
    if (is_sent) {
        claim(rig, 9, 1, (const char *[]){"a"});
        check_rows(rig, 2, (const char *[]){rows[0].id, rows[2].id});
    }
    MUST(rig, insert(rig, rows, 3, results));
    CHECK_INT(results[0], INSERT_DONE);
    CHECK_INT(results[1], INSERT_EXISTING);
    CHECK_STR(rows[1].id, first.id);
    CHECK_INT(results[2], INSERT_DONE);
    CHECK(rows[0].seq < rows[2].seq, "they are out of order");
    commit(rig);
}

TEST(inserting_writes_no_event)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct event_row events[4];
    size_t count = SIZE_MAX;
    begin_write(rig);
    const char *id = add(rig, job_of(rig, "a"));
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->list_events(rig->tx, id, 0, events, 4, &count, &rig->error));
    CHECK_INT(count, 0);
}

TEST(inserting_nothing_is_allowed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    MUST(rig, insert(rig, NULL, 0, NULL));
    commit(rig);
}

TEST(names_may_hold_anything)
{
    static const char *const names[] = {"%",
                                        "_",
                                        "a%b",
                                        "it's",
                                        "\"quoted\"",
                                        "a;drop table x",
                                        "\xC3\xA9t\xC3\xA9",
                                        "\xF0\x9F\x98\x80",
                                        "a\\b",
                                        " ",
                                        "\x01\x7F",
                                        "NULL"};
    cleanup(rig_closep) struct rig *rig = rig_open();
    char longest[257];
    memset(longest, 'x', 256);
    longest[256] = '\0';
    begin_write(rig);
    for (size_t i = 0; i <= sizeof names / sizeof *names; i++) {
        const char *name = i < sizeof names / sizeof *names ? names[i] : longest;
        struct job_row row = job_of(rig, name);
        row.key = name;
        const char *id = add(rig, row);
        CHECK_STR(get(rig, id).type, name);
        CHECK_STR(get(rig, id).key, name);
    }
    commit(rig);
}

TEST(a_payload_of_a_megabyte_comes_back)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    size_t len = 1 << 20;
    char *payload = arena_alloc(&rig->arena, len + 1);
    memset(payload, 'x', len);
    payload[0] = payload[len - 1] = '"';
    payload[len] = '\0';
    struct job_row row = job_of(rig, "a");
    row.payload = payload;
    begin_write(rig);
    add(rig, row);
    commit(rig);
    begin_read(rig);
    CHECK(strcmp(get(rig, row.id).payload, payload) == 0, "it has %zu bytes",
          strlen(get(rig, row.id).payload));
}

TEST(a_rollback_leaves_nothing)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row row = job_of(rig, "a"), seen;
    struct event_row event = {
        .subject_id = row.id, .type = job_event_name(EVENT_CREATED), .data = "{}"};
    struct registry_row entry = {.name = "a", .intent_type = "workflow", .runtime = "go"};
    size_t count;
    row.key = "k";
    begin_write(rig);
    add(rig, row);
    MUST(rig, rig->ops->append_events(rig->tx, &event, 1, &rig->error));
    MUST(rig, rig->ops->put_registry(rig->tx, &entry, &rig->error));
    roll_back(rig);

    begin_read(rig);
    CHECK_INT(rig->ops->get_job(rig->tx, row.id, &seen, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_INT(rig->ops->get_registry(rig->tx, "a", &entry, &rig->error), CAIRN_E_NOT_FOUND);
    MUST(rig, rig->ops->list_events(rig->tx, row.id, 0, &event, 1, &count, &rig->error));
    CHECK_INT(count, 0);
    roll_back(rig);

    begin_write(rig);
    add(rig, row); /* neither its id nor its key is taken */
    commit(rig);
}

TEST(a_rollback_takes_back_a_claim_and_an_update)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = add(rig, job_of(rig, "a"));
    const char *other = add(rig, job_of(rig, "b"));
    commit(rig);

    begin_write(rig);
    CLAIM(rig, 1, "a");
    CHECK_INT(rig->count, 1);
    struct job_row row = lock_one(rig, other);
    row.status = JOB_CANCELLED;
    row.is_ready = false;
    MUST(rig, rig->ops->update_jobs(rig->tx, &row, 1, &rig->error));
    roll_back(rig);

    begin_write(rig);
    CHECK_INT(get(rig, id).status, JOB_PENDING);
    CHECK_INT(get(rig, other).status, JOB_PENDING);
    CLAIM(rig, 5, "%");
    CHECK_ROWS(rig, id, other);
}

TEST(a_commit_survives_reopening)
{
    const char *url = scratch_store();
    struct rig *rig = rig_open_url(url);
    struct job_row row = job_of(rig, "a");
    char id[ID_TEXT];
    snprintf(id, sizeof id, "%s", row.id);
    begin_write(rig);
    add(rig, row);
    commit(rig);
    rig_close(rig);
    if (strcmp(scratch_kind(), "memory") == 0)
        return; /* it keeps nothing, which is what it is for */

    rig = rig_open_url(url);
    begin_read(rig);
    CHECK_STR(get(rig, id).type, "a");
    rig_close(rig);
}

TEST(a_reader_sees_what_was_committed_when_it_began)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row row;
    begin_read(rig);
    CHECK_INT(
        rig->ops->get_job(rig->tx, "0190163d-8694-739b-aea5-966c26f8ad91", &row, &rig->error),
        CAIRN_E_NOT_FOUND);
    CHECK_INT(rig->tx->now_us, RIG_START_US);
    roll_back(rig);

    begin_write(rig);
    const char *id = add(rig, job_of(rig, "a"));
    commit(rig);
    begin_read(rig);
    CHECK_STR(get(rig, id).id, id);
    commit(rig);
}

TEST(a_transaction_has_the_time_of_the_clock)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    CHECK_INT(rig->tx->now_us, RIG_START_US);
    commit(rig);
    pass_us(rig, 1);
    begin_write(rig);
    CHECK_INT(rig->tx->now_us, RIG_START_US + 1);
    commit(rig);
}
