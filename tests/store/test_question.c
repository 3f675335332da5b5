/* tests/store/test_question.c - events, lists, the registry, counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

static const char *add_with(struct rig *rig, const char *type, enum job_status status)
{
    struct job_row row = job_of(rig, type);
    row.status = status;
    row.is_ready = status == JOB_PENDING;
    row.lease_until_us = status == JOB_LEASED ? RIG_START_US + 5 : 0;
    return add(rig, row);
}

/* ---- Events ---------------------------------------------------------------------------------
 */

TEST(events_are_listed_oldest_first_with_the_time_of_their_transaction)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = add_with(rig, "a", JOB_PENDING), *other = add_with(rig, "a", JOB_PENDING);
    struct event_row first[] = {
        {.subject_id = id,
         .type = job_event_name(EVENT_CREATED),
         .data = "{\"a\": \"\xC3\xA9\"}"},
        {.subject_id = other, .type = job_event_name(EVENT_CREATED), .data = "{}"},
        {.subject_id = id, .type = job_event_name(EVENT_LEASED), .data = "[]"},
        {.subject_id = id, .type = job_event_name(EVENT_STARTED), .data = NULL}};
    MUST(rig, rig->ops->append_events(rig->tx, first, 4, &rig->error));
    commit(rig);
    pass_us(rig, 9);
    begin_write(rig);
    struct event_row last = {
        .subject_id = id, .type = job_event_name(EVENT_SUCCEEDED), .data = "{}"};
    MUST(rig, rig->ops->append_events(rig->tx, &last, 1, &rig->error));
    MUST(rig, rig->ops->append_events(rig->tx, NULL, 0, &rig->error));
    commit(rig);

    struct event_row seen[9];
    size_t count;
    begin_read(rig);
    MUST(rig, rig->ops->list_events(rig->tx, id, 0, seen, 9, &count, &rig->error));
    CHECK_INT(count, 4);
    CHECK_STR(seen[0].type, job_event_name(EVENT_CREATED));
    CHECK_STR(seen[0].type, "created");
    CHECK_STR(seen[0].subject_id, id);
    CHECK(is_same_json(seen[0].data, "{\"a\":\"\xC3\xA9\"}"), "data is %s", seen[0].data);
    CHECK_INT(seen[0].at_us, RIG_START_US);
    CHECK_STR(seen[1].type, job_event_name(EVENT_LEASED));
    CHECK_STR(seen[2].type, job_event_name(EVENT_STARTED));
    CHECK_STR(seen[3].type, job_event_name(EVENT_SUCCEEDED));
    CHECK_INT(seen[3].at_us, RIG_START_US + 9);
    for (size_t i = 1; i < count; i++)
        CHECK(seen[i].id > seen[i - 1].id, "event %zu does not come later", i);

    MUST(rig, rig->ops->list_events(rig->tx, id, seen[1].id, seen, 1, &count, &rig->error));
    CHECK_INT(count, 1);
    CHECK_STR(seen[0].type, job_event_name(EVENT_STARTED));
    MUST(rig, rig->ops->list_events(rig->tx, id, seen[0].id, seen, 9, &count, &rig->error));
    CHECK_INT(count, 1);
    MUST(rig, rig->ops->list_events(rig->tx, id, seen[0].id, seen, 9, &count, &rig->error));
    CHECK_INT(count, 0);
}

TEST(every_type_of_event_can_be_kept)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct event_row seen[JOB_EVENT_COUNT];
    size_t count;
    begin_write(rig);
    const char *id = add_with(rig, "a", JOB_PENDING);
    for (enum job_event type = EVENT_CREATED; type < JOB_EVENT_COUNT; type++) {
        struct event_row event = {.subject_id = id, .type = job_event_name(type), .data = "{}"};
        MUST(rig, rig->ops->append_events(rig->tx, &event, 1, &rig->error));
    }
    MUST(rig,
         rig->ops->list_events(rig->tx, id, 0, seen, JOB_EVENT_COUNT, &count, &rig->error));
    CHECK_INT(count, JOB_EVENT_COUNT - 1);
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(job_event_from(seen[i].type), i + 1);
        CHECK_STR(seen[i].type, job_event_name((enum job_event)(i + 1)));
    }
}

/* ---- Jobs -----------------------------------------------------------------------------------
 */

TEST(a_job_that_does_not_exist_is_not_found_and_the_error_stays)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row absent = job_of(rig, "a"), row;
    snprintf(rig->error.message, sizeof rig->error.message, "as before");
    begin_read(rig);
    CHECK_INT(rig->ops->get_job(rig->tx, absent.id, &row, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_STR(rig->error.message, "as before");
}

TEST(a_deleted_job_can_be_read_but_is_not_listed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const enum job_status any[] = {JOB_NONE, JOB_CANCELLED};
    begin_write(rig);
    struct job_row row = job_of(rig, "a");
    row.status = JOB_CANCELLED;
    row.is_ready = false;
    row.key = "k";
    row.deleted_at_us = RIG_START_US;
    add(rig, row);
    CHECK_INT(get(rig, row.id).deleted_at_us, RIG_START_US);
    for (int i = 0; i < 2; i++) {
        list(rig, (struct list_filter){.statuses = STATUS_BIT(any[i])}, 9);
        CHECK_INT(rig->count, 0);
    }
    list(rig, (struct list_filter){.key = "k"}, 9);
    CHECK_INT(rig->count, 0);
}

TEST(jobs_are_listed_newest_first_and_whole)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct job_row row = job_of(rig, "a");
    row.payload = "[1]";
    row.result = "[2]";
    row.status = JOB_SUCCEEDED;
    row.is_ready = false;
    add(rig, row);
    const char *second = add_with(rig, "b", JOB_PENDING),
               *third = add_with(rig, "a", JOB_FAILED);
    commit(rig);
    begin_read(rig);
    list(rig, (struct list_filter){0}, 9);
    CHECK_ROWS(rig, third, second, row.id);
    CHECK(is_same_json(rig->rows[2].payload, "[1]"), "payload is %s", rig->rows[2].payload);
    CHECK(is_same_json(rig->rows[2].result, "[2]"), "result is %s", rig->rows[2].result);
}

TEST(every_status_can_be_filtered_and_paged)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *ids[JOB_STATUS_COUNT][3];
    for (int i = 0; i < 3; i++)
        for (enum job_status status = JOB_PENDING; status < JOB_STATUS_COUNT; status++)
            ids[status][i] = add_with(rig, i == 1 ? "x.y" : "x.z", status);
    commit(rig);

    begin_read(rig);
    for (enum job_status status = JOB_PENDING; status < JOB_STATUS_COUNT; status++) {
        const char *const *of = ids[status];
        struct list_filter filter = {.statuses = STATUS_BIT(status)};
        list(rig, filter, 9);
        CHECK_ROWS(rig, of[2], of[1], of[0]);
        list(rig, filter, 2);
        CHECK_ROWS(rig, of[2], of[1]);
        filter.before_seq = rig->rows[1].seq;
        list(rig, filter, 2);
        CHECK_ROWS(rig, of[0]);
        filter = (struct list_filter){.statuses = STATUS_BIT(status), .pattern = "x.y"};
        list(rig, filter, 9);
        CHECK_ROWS(rig, of[1]);
        filter.pattern = "x.%";
        list(rig, filter, 9);
        CHECK_ROWS(rig, of[2], of[1], of[0]);
        filter.pattern = "y%";
        list(rig, filter, 9);
        CHECK_INT(rig->count, 0);
    }
}

TEST(a_pending_job_is_listed_ready_or_not)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row later = job_of(rig, "a");
    later.is_ready = false;
    later.run_at_us = RIG_START_US + 5;
    begin_write(rig);
    const char *first = add_with(rig, "b", JOB_PENDING);
    add(rig, later);
    const char *third = add_with(rig, "a", JOB_PENDING);
    list(rig, (struct list_filter){.statuses = STATUS_BIT(JOB_PENDING)}, 9);
    CHECK_ROWS(rig, third, later.id, first);
    list(rig, (struct list_filter){.statuses = STATUS_BIT(JOB_PENDING), .pattern = "a"}, 9);
    CHECK_ROWS(rig, third, later.id);
}

TEST(types_are_filtered_by_name_and_prefix)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = add_with(rig, "a.b", JOB_PENDING), *b = add_with(rig, "a.", JOB_SUCCEEDED);
    const char *c = add_with(rig, "a%", JOB_PENDING), *d = add_with(rig, "b", JOB_PENDING);
    list(rig, (struct list_filter){.pattern = "a.%"}, 9);
    CHECK_ROWS(rig, b, a);
    list(rig, (struct list_filter){.pattern = "a%"}, 9);
    CHECK_ROWS(rig, c, b, a);
    list(rig, (struct list_filter){.pattern = "a.b"}, 9);
    CHECK_ROWS(rig, a);
    list(rig, (struct list_filter){.pattern = "%"}, 9);
    CHECK_ROWS(rig, d, c, b, a);
    list(rig, (struct list_filter){.pattern = "' OR 1=1 --"}, 9);
    CHECK_INT(rig->count, 0);
}

TEST(a_key_finds_its_job)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row row = job_of(rig, "a");
    row.key = "it's %";
    begin_write(rig);
    add(rig, row);
    add_with(rig, "a", JOB_PENDING);
    list(rig, (struct list_filter){.key = "it's %"}, 9);
    CHECK_ROWS(rig, row.id);
    int64_t seq = rig->rows[0].seq;
    list(rig, (struct list_filter){.key = "it's %", .before_seq = seq}, 9);
    CHECK_INT(rig->count, 0);
    list(rig,
         (struct list_filter){
             .key = "it's %", .statuses = STATUS_BIT(JOB_PENDING), .pattern = "a%"},
         9);
    CHECK_ROWS(rig, row.id);
    list(rig, (struct list_filter){.key = "it's %", .statuses = STATUS_BIT(JOB_FAILED)}, 9);
    CHECK_INT(rig->count, 0);
    list(rig, (struct list_filter){.key = "it's %", .pattern = "b"}, 9);
    CHECK_INT(rig->count, 0);
    list(rig, (struct list_filter){.key = "it"}, 9);
    CHECK_INT(rig->count, 0);
}

TEST(paging_through_all_brings_each_job_once)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    for (int i = 0; i < 25; i++)
        add_with(rig, "a", i % 2 ? JOB_PENDING : JOB_SUCCEEDED);
    commit(rig);
    begin_read(rig);
    struct list_filter filter = {0};
    int seen = 0;
    do {
        list(rig, filter, 10);
        for (size_t i = 0; i < rig->count; i++, seen++) {
            CHECK(!filter.before_seq || rig->rows[i].seq < filter.before_seq,
                  "a job came twice");
            filter.before_seq = rig->rows[i].seq;
        }
    } while (rig->count == 10);
    CHECK_INT(seen, 25);
}

/* ---- The registry ---------------------------------------------------------------------------
 */

TEST(a_registry_entry_is_kept_and_replaced)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct registry_row row = {.name = "a.b",
                               .intent_type = "workflow",
                               .runtime = "go",
                               .description = "it's here",
                               .is_enabled = true,
                               .created_at_us = RIG_START_US,
                               .updated_at_us = RIG_START_US};
    struct registry_row seen;
    begin_write(rig);
    MUST(rig, rig->ops->put_registry(rig->tx, &row, &rig->error));
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->get_registry(rig->tx, "a.b", &seen, &rig->error));
    CHECK_STR(seen.name, "a.b");
    CHECK_STR(seen.intent_type, "workflow");
    CHECK_STR(seen.runtime, "go");
    CHECK_STR(seen.description, "it's here");
    CHECK_INT(seen.is_enabled, true);
    CHECK_INT(seen.created_at_us, RIG_START_US);
    CHECK_INT(seen.updated_at_us, RIG_START_US);
    roll_back(rig);

    pass_us(rig, 7);
    row = (struct registry_row){.name = "a.b",
                                .intent_type = "other",
                                .runtime = "python",
                                .created_at_us = RIG_START_US + 7,
                                .updated_at_us = RIG_START_US + 7};
    begin_write(rig);
    MUST(rig, rig->ops->put_registry(rig->tx, &row, &rig->error));
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->get_registry(rig->tx, "a.b", &seen, &rig->error));
    CHECK_STR(seen.intent_type, "other");
    CHECK_STR(seen.runtime, "python");
    CHECK(!seen.description, "description is %s", seen.description);
    CHECK_INT(seen.is_enabled, false);
    CHECK_INT(seen.created_at_us, RIG_START_US);
    CHECK_INT(seen.updated_at_us, RIG_START_US + 7);
}

TEST(an_unknown_registry_entry_is_not_found_and_the_error_stays)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct registry_row row;
    snprintf(rig->error.message, sizeof rig->error.message, "as before");
    begin_read(rig);
    CHECK_INT(rig->ops->get_registry(rig->tx, "x", &row, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_STR(rig->error.message, "as before");
}

TEST(the_registry_is_listed_in_order_of_name_bytewise)
{
    static const char *const names[] = {"b", "a", "B", "a.b", "\xC3\xA9", "a_b", "~"};
    static const char *const sorted[] = {"B", "a", "a.b", "a_b", "b", "~", "\xC3\xA9"};
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct registry_row rows[9];
    size_t count;
    begin_write(rig);
    for (int i = 0; i < 7; i++) {
        struct registry_row row = {
            .name = names[i], .intent_type = "workflow", .runtime = "go", .is_enabled = true};
        MUST(rig, rig->ops->put_registry(rig->tx, &row, &rig->error));
    }
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->list_registry(rig->tx, NULL, rows, 9, &count, &rig->error));
    CHECK_INT(count, 7);
    for (int i = 0; i < 7; i++)
        CHECK_STR(rows[i].name, sorted[i]);
    MUST(rig, rig->ops->list_registry(rig->tx, "a.b", rows, 2, &count, &rig->error));
    CHECK_INT(count, 2);
    CHECK_STR(rows[0].name, "a_b");
    CHECK_STR(rows[1].name, "b");
    MUST(rig, rig->ops->list_registry(rig->tx, "\xC3\xA9", rows, 2, &count, &rig->error));
    CHECK_INT(count, 0);
}

/* ---- Counts ---------------------------------------------------------------------------------
 */

TEST(an_empty_store_counts_nothing)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_counts counts;
    const char *types[4];
    size_t count;
    begin_read(rig);
    MUST(rig, rig->ops->count_jobs(rig->tx, &counts, &rig->error));
    CHECK(!counts.pending && !counts.ready && !counts.leased && !counts.oldest_ready_us,
          "something is counted");
    MUST(rig, rig->ops->list_types(rig->tx, false, types, 4, &count, &rig->error));
    CHECK_INT(count, 0);
}

TEST(ends_are_found_in_one_question)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    const char *ids[JOB_STATUS_COUNT + 1];
    bool is_ended[JOB_STATUS_COUNT + 1] = {0};
    size_t count = 0;
    begin_write(rig);
    for (enum job_status status = JOB_PENDING; status < JOB_STATUS_COUNT; status++)
        ids[count++] = add_with(rig, "a", status);
    ids[count++] = "00000000-0000-4000-8000-000000000000";
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->find_ended(rig->tx, ids, count, is_ended, &rig->error));
    for (size_t i = 0; i < count; i++) /* what is not there has ended as well */
        CHECK_INT(is_ended[i], JOB_PENDING + i != JOB_PENDING && JOB_PENDING + i != JOB_LEASED);
}

TEST(jobs_are_counted_by_what_they_wait_for)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_counts counts;
    struct job_row later = job_of(rig, "a"), oldest = job_of(rig, "a");
    later.is_ready = false;
    later.run_at_us = RIG_START_US + 5;
    oldest.run_at_us = RIG_START_US - 5;
    begin_write(rig);
    add_with(rig, "b", JOB_PENDING);
    add(rig, later);
    add(rig, oldest);
    for (enum job_status status = JOB_LEASED; status < JOB_STATUS_COUNT; status++)
        add_with(rig, "a", status);
    add_with(rig, "a", JOB_LEASED);
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->count_jobs(rig->tx, &counts, &rig->error));
    CHECK_INT(counts.pending, 3);
    CHECK_INT(counts.ready, 2);
    CHECK_INT(counts.leased, 2);
    CHECK_INT(counts.oldest_ready_us, RIG_START_US - 5);
}

TEST(types_of_unfinished_jobs_and_of_the_registry_are_listed_in_order)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    const char *types[9];
    size_t count;
    struct job_row later = job_of(rig, "later");
    struct registry_row entry = {
        .name = "known", .intent_type = "workflow", .runtime = "go", .is_enabled = true};
    later.is_ready = false;
    later.run_at_us = RIG_START_US + 5;
    begin_write(rig);
    add_with(rig, "ready", JOB_PENDING);
    add_with(rig, "ready", JOB_PENDING);
    add_with(rig, "READY", JOB_PENDING);
    add_with(rig, "taken", JOB_LEASED);
    add_with(rig, "done", JOB_SUCCEEDED);
    add_with(rig, "dead", JOB_FAILED);
    add(rig, later);
    MUST(rig, rig->ops->put_registry(rig->tx, &entry, &rig->error));
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->list_types(rig->tx, false, types, 9, &count, &rig->error));
    CHECK_INT(count, 5);
    CHECK_STR(types[0], "READY");
    CHECK_STR(types[1], "known");
    CHECK_STR(types[2], "later");
    CHECK_STR(types[3], "ready");
    CHECK_STR(types[4], "taken");
    MUST(rig, rig->ops->list_types(rig->tx, false, types, 2, &count, &rig->error));
    CHECK_INT(count, 2);
    CHECK_STR(types[1], "known");
    MUST(rig, rig->ops->list_types(rig->tx, true, types, 9, &count, &rig->error));
    CHECK_INT(count, 2);
    CHECK_STR(types[0], "READY");
    CHECK_STR(types[1], "ready");
}

TEST(inspection_finds_a_sound_store_and_expired_leases)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct store_facts facts;
    begin_write(rig);
    add_with(rig, "a", JOB_LEASED); /* until 5 us after the start */
    add_with(rig, "a", JOB_LEASED);
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->inspect(rig->tx, &facts, &rig->error));
    CHECK_INT(facts.expired_leases, 0);
    CHECK(facts.product[0], "the product has no name");
    CHECK_INT(facts.schema_version, facts.newest_schema_version);
    CHECK(facts.schema_version >= 1, "schema version is %d", facts.schema_version);
    CHECK(facts.is_intact && !facts.damage[0], "damage: %s", facts.damage);
    roll_back(rig);
    pass_us(rig, 6);
    begin_read(rig);
    MUST(rig, rig->ops->inspect(rig->tx, &facts, &rig->error));
    CHECK_INT(facts.expired_leases, 2);
}

TEST(own_commits_are_not_changes_by_others)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    if (!rig->ops->is_changed_elsewhere)
        return;
    rig->ops->is_changed_elsewhere(rig->writer);
    begin_write(rig);
    add_with(rig, "a", JOB_PENDING);
    commit(rig);
    bool is_sure = strncmp(rig->url, "postgres", 8) != 0; /* it may answer true when unsure */
    CHECK(!is_sure || !rig->ops->is_changed_elsewhere(rig->writer), "an own commit counts");
}
