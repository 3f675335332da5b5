/* tests/store/test_purge.c - the retention policy, what is old, and what is removed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"
#include "store/event_log.h"

#include <stdlib.h>
#include <string.h>

enum { PAST_MAX = 32 };

/* ---- the policy ---------------------------------------------------------------------------- */

TEST(a_policy_is_read_as_it_was_written)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct retention_row row, seen;
    begin_write(rig);
    MUST(rig, rig->ops->lock_retention(rig->tx, &row, &rig->error));
    CHECK_INT(row.jobs_failed, INT64_C(90) * 24 * 3600 * 1000);
    CHECK_INT(row.set_at_us, 0);
    row.jobs_succeeded = 1;
    row.jobs_failed = -1;
    row.jobs_cancelled = 3;
    row.instances_completed = 4;
    row.instances_failed = 5;
    row.instances_cancelled = 6;
    row.instances_aborted = 7;
    row.keys = 8;
    row.set_at_us = RIG_START_US;
    row.next_at_us = RIG_START_US + 9;
    row.phase = 2;
    row.place = 10;
    row.earliest_us = RIG_START_US + 11;
    row.seen = 12;
    MUST(rig, rig->ops->put_retention(rig->tx, &row, &rig->error));
    MUST(rig, rig->ops->take_retention(rig->tx, &seen, &rig->error));
    CHECK(memcmp(&seen, &row, sizeof row) == 0, "the row is another one");
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->get_retention(rig->tx, &seen, &rig->error));
    CHECK(memcmp(&seen, &row, sizeof row) == 0, "the row is another one");
}

/* ---- what is old --------------------------------------------------------------------------- */

static size_t scan(struct rig *rig, enum list_kind kind, int64_t after, struct past_row *rows,
                   size_t room)
{
    size_t count = 0;
    MUST(rig, rig->ops->scan_past(rig->tx, kind, after, rows, room, &count, &rig->error));
    return count;
}

static const char *add_ended(struct rig *rig, const char *type, enum job_status status)
{
    struct job_row row = job_of(rig, type);
    row.status = status;
    row.is_ready = status == JOB_PENDING;
    row.updated_at_us = RIG_START_US + 5;
    if (status == JOB_LEASED) {
        row.leased_by = "w";
        row.token = "t";
        row.lease_until_us = RIG_START_US + 1000;
    }
    return add(rig, row);
}

TEST(jobs_are_scanned_in_order_with_their_ends)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct past_row rows[PAST_MAX];
    begin_write(rig);
    add_ended(rig, "a", JOB_PENDING);
    add_ended(rig, "b", JOB_LEASED);
    add_ended(rig, "c", JOB_SUCCEEDED);
    struct job_row deleted = job_of(rig, "d");
    deleted.status = JOB_SUCCEEDED;
    deleted.is_ready = false;
    deleted.deleted_at_us = RIG_START_US + 7;
    add(rig, deleted);
    CHECK_INT(scan(rig, LIST_JOBS, 0, rows, PAST_MAX), 4);
    CHECK_STR(rows[0].name, "a");
    CHECK_STR(rows[0].status, "pending");
    CHECK_INT(rows[0].ended_at_us, 0);
    CHECK_INT(rows[1].ended_at_us, 0);
    CHECK_STR(rows[2].status, "succeeded");
    CHECK_INT(rows[2].ended_at_us, RIG_START_US + 5);
    CHECK_INT(rows[2].created_at_us, RIG_START_US);
    CHECK_STR(rows[3].status, "cancelled");
    CHECK_INT(rows[3].ended_at_us, RIG_START_US + 7);
    CHECK_INT(scan(rig, LIST_JOBS, rows[1].seq, rows, 1), 1);
    CHECK_STR(rows[0].name, "c");
    CHECK_INT(scan(rig, LIST_INSTANCES, 0, rows, PAST_MAX), 0);
}

static struct instance_row add_ended_instance(struct rig *rig, const char *workflow,
                                              const char *parent)
{
    struct instance_row row = instance_of(rig, workflow);
    row.status = INSTANCE_COMPLETED;
    row.finished_at_us = RIG_START_US + 3;
    row.parent = parent;
    return add_instance(rig, row);
}

TEST(instances_are_scanned_with_what_holds_them)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct past_row rows[PAST_MAX];
    size_t count = 0;
    begin_write(rig);
    struct instance_row parent = add_ended_instance(rig, "p", NULL);
    struct instance_row child = add_ended_instance(rig, "c", parent.id);
    struct instance_row grandchild = add_ended_instance(rig, "g", child.id);
    struct instance_row open = new_instance(rig, "o");
    struct outbox_row event = {.instance_id = grandchild.id, .event = "e", .created_at_us = 1};
    MUST(rig, rig->ops->append_outbox(rig->tx, &event, 1, &rig->error));
    struct dlq_row dead = {.instance_id = open.id,
                           .workflow = "o",
                           .version = 1,
                           .step_name = "s",
                           .created_at_us = RIG_START_US,
                           .is_open = true};
    MUST(rig, rig->ops->append_dlq(rig->tx, &dead, 1, &rig->error));
    CHECK_INT(scan(rig, LIST_INSTANCES, 0, rows, PAST_MAX), 4);
    CHECK_STR(rows[0].name, "p");
    CHECK_INT(rows[0].ended_at_us, RIG_START_US + 3);
    CHECK(!rows[0].is_child && rows[0].has_children && !rows[0].is_held, "the parent");
    CHECK(rows[1].is_child && rows[1].has_children && !rows[1].is_held, "the child");
    CHECK(rows[2].is_child && !rows[2].has_children && rows[2].is_held, "the grandchild");
    CHECK(!rows[3].is_child && rows[3].is_held && !rows[3].ended_at_us, "the open one");
    MUST(rig, rig->ops->list_family(rig->tx, parent.id, rows, PAST_MAX, &count, &rig->error));
    CHECK_INT(count, 2);
    CHECK(rows[0].is_held != rows[1].is_held, "one of the two has an event");
    MUST(rig, rig->ops->close_dlq(rig->tx, open.id, -1, &rig->error));
    scan(rig, LIST_INSTANCES, grandchild.seq, rows, PAST_MAX);
    CHECK(!rows[0].is_held, "its dead letter is closed");
}

TEST(marks_of_purges_are_kept_until_their_instance_goes)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct past_row rows[PAST_MAX];
    struct family_size size;
    size_t count = 0, made = 0;
    bool is_begun = true;
    begin_write(rig);
    struct instance_row parent = add_ended_instance(rig, "p", NULL);
    struct instance_row child = add_ended_instance(rig, "c", parent.id);
    struct instance_row other = add_ended_instance(rig, "c", parent.id);
    struct instance_row grandchild = add_ended_instance(rig, "g", child.id);
    struct instance_row open = instance_of(rig, "o");
    open.parent = child.id;
    open = add_instance(rig, open);
    struct outbox_row event = {.instance_id = grandchild.id, .event = "e", .created_at_us = 1};
    MUST(rig, rig->ops->append_outbox(rig->tx, &event, 1, &rig->error));
    MUST(rig, rig->ops->measure_family(rig->tx, parent.id, &size, &rig->error));
    CHECK(size.members == 4 && size.open == 1 && size.held == 1, "%d, %d, %d",
          (int)size.members, (int)size.open, (int)size.held);
    MUST(rig, rig->ops->list_past_children(rig->tx, parent.id, 0, rows, PAST_MAX, &count,
                                           &rig->error));
    CHECK_INT(count, 2);
    CHECK(rows[0].seq == child.seq && rows[0].has_children && rows[0].is_child, "the first");
    CHECK(rows[1].seq == other.seq && !rows[1].has_children && !rows[1].is_held, "the second");
    MUST(rig, rig->ops->list_past_children(rig->tx, parent.id, child.seq, rows, 1, &count,
                                           &rig->error));
    CHECK(count == 1 && rows[0].seq == other.seq, "behind the first");
    MUST(rig, rig->ops->is_purge_begun(rig->tx, parent.id, &is_begun, &rig->error));
    CHECK(!is_begun, "there is no mark");
    const char *ids[] = {parent.id, child.id};
    MUST(rig, rig->ops->mark_purges(rig->tx, ids, 1, &made, &rig->error));
    CHECK_INT(made, 1);
    MUST(rig, rig->ops->mark_purges(rig->tx, ids, 2, &made, &rig->error));
    CHECK_INT(made, 1);
    MUST(rig, rig->ops->is_purge_begun(rig->tx, parent.id, &is_begun, &rig->error));
    CHECK(is_begun, "there is a mark");
    MUST(rig, rig->ops->list_begun_purges(rig->tx, rows, PAST_MAX, &count, &rig->error));
    CHECK(count == 2 && rows[0].seq == child.seq && rows[1].seq == parent.seq, "both");
    purge(rig, LIST_INSTANCES, ids, 1);
    MUST(rig, rig->ops->list_begun_purges(rig->tx, rows, PAST_MAX, &count, &rig->error));
    CHECK(count == 1 && rows[0].seq == child.seq, "the mark goes with its instance");
}

/* ---- removing ------------------------------------------------------------------------------ */

/* Events in rows of the log: `count` subjects with `each` events, all in one commit. */
static void tell(struct rig *rig, struct job_row *rows, size_t count, int each)
{
    struct event_row *events = calloc(count * (size_t)each, sizeof *events);
    int64_t next = 0;
    MUST(rig, rig->ops->number_events(rig->tx, &next, &rig->error));
    size_t at = 0;
    for (int n = 0; n < each; n++)
        for (size_t i = 0; i < count; i++) {
            events[at++] = (struct event_row){.id = next,
                                              .subject_id = rows[i].id,
                                              .type = "leased",
                                              .data = "{}",
                                              .prev = rows[i].last_event,
                                              .number = ++rows[i].event_count};
            rows[i].last_event = next++;
        }
    MUST(rig, rig->ops->append_events(rig->tx, events, at, &rig->error));
    MUST(rig, rig->ops->update_jobs(rig->tx, rows, count, &rig->error));
    free(events);
}

/* A job whose row outlives the transaction, as far as this needs it. */
static struct job_row lock_named(struct rig *rig, const char *id, char kept[ID_TEXT])
{
    struct job_row row = lock_one(rig, id);
    snprintf(kept, ID_TEXT, "%s", id);
    return (struct job_row){.seq = row.seq,
                            .id = kept,
                            .type = "a",
                            .status = row.status,
                            .run_at_us = row.run_at_us,
                            .created_at_us = row.created_at_us,
                            .updated_at_us = row.updated_at_us};
}

static size_t count_events(struct rig *rig, const char *id)
{
    static struct event_row rows[600];
    size_t count = 0;
    MUST(rig, rig->ops->list_events(rig->tx, id, 0, rows, 600, &count, &rig->error));
    for (size_t i = 1; i < count; i++)
        CHECK(rows[i].id > rows[i - 1].id, "ids rise");
    return count;
}

/* Jobs that share rows of the log go one after the other: the list of all events shows the others alone, and
 * each that is left has its own history. */
TEST(events_of_purged_jobs_are_shown_nowhere)
{
    enum { JOBS = 24, EACH = 3, COMMITS = 2 };
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row rows[JOBS];
    char ids[JOBS][ID_TEXT];
    for (int round = 0; round < COMMITS; round++) {
        begin_write(rig);
        for (size_t i = 0; i < JOBS && round == 0; i++)
            add_ended(rig, "a", JOB_SUCCEEDED);
        if (round == 0) {
            struct past_row past[PAST_MAX];
            CHECK_INT(scan(rig, LIST_JOBS, 0, past, PAST_MAX), JOBS);
            for (size_t i = 0; i < JOBS; i++)
                rows[i] = lock_named(rig, past[i].id, ids[i]);
        }
        tell(rig, rows, JOBS, EACH);
        commit(rig);
    }
    for (size_t gone = 0; gone < JOBS; gone++) {
        size_t at = (gone * 5) % JOBS;
        begin_write(rig);
        purge(rig, LIST_JOBS, &rows[at].id, 1);
        commit(rig);
        rows[at].seq = 0;
        begin_read(rig);
        CHECK_INT(count_events(rig, NULL), (JOBS - gone - 1) * EACH * COMMITS);
        for (size_t i = 0; i < JOBS; i++)
            CHECK_INT(count_events(rig, rows[i].id), rows[i].seq ? EACH * COMMITS : 0);
        roll_back(rig);
    }
}

/* One after the other, beside each other, and out of order: only what is named goes, and nothing of it stays. */
TEST(of_many_jobs_those_that_are_named_go)
{
    enum { JOBS = 9, LONG = EVENTS_A_POST * 2 + 1 };
    static const size_t gone[] = {7, 0, 3, 4, 5}, kept[] = {1, 2, 6, 8};
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct past_row past[PAST_MAX];
    struct job_row rows[JOBS];
    char ids[JOBS][ID_TEXT];
    const char *named[sizeof gone / sizeof *gone];
    begin_write(rig);
    for (size_t i = 0; i < JOBS; i++)
        rows[i] = lock_named(rig, add_ended(rig, "a", JOB_SUCCEEDED), ids[i]);
    tell(rig, rows, JOBS, LONG);
    commit(rig);
    begin_write(rig);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        named[i] = ids[gone[i]];
    purge(rig, LIST_JOBS, named, sizeof gone / sizeof *gone);
    commit(rig);
    begin_read(rig);
    CHECK_INT(scan(rig, LIST_JOBS, 0, past, PAST_MAX), 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK_STR(past[i].id, ids[kept[i]]);
        CHECK_INT(count_events(rig, past[i].id), LONG);
    }
    CHECK_INT(count_events(rig, ids[0]) + count_events(rig, ids[4]), 0);
}

/* A page of all events goes on behind what was purged, wherever its cursor stands. */
TEST(a_cursor_before_purged_events_goes_on_with_the_next)
{
    enum { JOBS = 8 };
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row rows[JOBS];
    struct event_row events[JOBS];
    char ids[JOBS][ID_TEXT];
    const char *all[JOBS];
    size_t count = 0;
    begin_write(rig);
    for (size_t i = 0; i < JOBS; i++)
        rows[i] = lock_named(rig, add_ended(rig, "a", JOB_SUCCEEDED), ids[i]);
    tell(rig, rows, JOBS, 1);
    commit(rig);
    begin_write(rig);
    for (size_t i = 0; i < JOBS; i++)
        all[i] = ids[i];
    purge(rig, LIST_JOBS, all + 1, JOBS - 2);
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->list_events(rig->tx, NULL, 0, events, 1, &count, &rig->error));
    CHECK_INT(count, 1);
    CHECK_STR(events[0].subject_id, rows[0].id);
    MUST(rig, rig->ops->list_events(rig->tx, NULL, events[0].id + 2, events, 1, &count,
                                    &rig->error));
    CHECK_INT(count, 1);
    CHECK_STR(events[0].subject_id, rows[JOBS - 1].id);
    CHECK_INT(events[0].id, rows[JOBS - 1].last_event);
}

TEST(an_instance_is_removed_and_others_stay)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct past_row rows[PAST_MAX];
    struct step_row step;
    begin_write(rig);
    struct instance_row gone = add_ended_instance(rig, "w", NULL);
    struct instance_row kept = add_ended_instance(rig, "w", NULL);
    add_pending_steps(rig, &gone, 3);
    add_pending_steps(rig, &kept, 3);
    struct log_row line = {.instance_id = gone.id, .level = "info", .message = "m"};
    MUST(rig, rig->ops->append_logs(rig->tx, &line, 1, &rig->error));
    purge(rig, LIST_INSTANCES, &gone.id, 1);
    commit(rig);
    begin_read(rig);
    CHECK_INT(scan(rig, LIST_INSTANCES, 0, rows, PAST_MAX), 1);
    CHECK_STR(rows[0].id, kept.id);
    CHECK_INT(rig->ops->get_step(rig->tx, gone.id, "s0", &step, &rig->error),
              CAIRN_E_NOT_FOUND);
    get_step(rig, kept.id, "s2");
}

/* ---- keys ---------------------------------------------------------------------------------- */

TEST(the_owner_of_a_key_is_found_and_a_key_is_freed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    enum insert_result result;
    char purged[ID_TEXT];
    begin_write(rig);
    id_make(&rig->rng, RIG_START_US, purged);
    struct job_row job = job_of(rig, "a");
    struct instance_row instance = instance_of(rig, "w");
    job.key = instance.key = "k";
    const char *job_id = add(rig, job);
    MUST(rig, rig->ops->insert_instances(rig->tx, &instance, 1, &result, &rig->error));
    struct key_row kept = {
        .kind = "job", .workflow = "", .key = "old", .id = purged, .ended_at_us = RIG_START_US};
    MUST(rig, rig->ops->keep_keys(rig->tx, &kept, 1, &rig->error));
    struct key_row keys[] = {{.kind = "instance", .workflow = "w", .key = "k"},
                             {.kind = "instance", .workflow = "other", .key = "k"},
                             {.kind = "job", .workflow = "", .key = "k"},
                             {.kind = "job", .workflow = "", .key = "old"},
                             {.kind = "job", .workflow = "", .key = "free"}};
    MUST(rig, rig->ops->find_keys(rig->tx, keys, 5, &rig->error));
    CHECK_STR(keys[0].id, instance.id);
    CHECK_STR(keys[2].id, job_id);
    CHECK_STR(keys[3].id, purged);
    CHECK(!keys[1].id && !keys[4].id, "these are free");
    CHECK_INT(keys[0].ended_at_us + keys[2].ended_at_us, 0);
    CHECK_INT(keys[3].ended_at_us, RIG_START_US);

    struct key_row freed[] = {keys[0], keys[3]};
    MUST(rig, rig->ops->free_keys(rig->tx, freed, 2, &rig->error));
    MUST(rig, rig->ops->find_keys(rig->tx, keys, 5, &rig->error));
    CHECK(!keys[0].id && !keys[3].id, "they are not free");
    CHECK_STR(keys[2].id, job_id);
    struct job_row changed = get(rig, job_id);
    changed.payload = "[2]";
    MUST(rig, rig->ops->replace_payloads(rig->tx, &changed, 1, &rig->error));
    CHECK_STR(get(rig, job_id).payload, "[2]");
}

TEST(a_kept_key_is_known)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    enum insert_result result;
    int64_t first_us = 0;
    size_t count = 0;
    char owner[ID_TEXT], other[ID_TEXT];
    begin_write(rig);
    id_make(&rig->rng, RIG_START_US, owner);
    id_make(&rig->rng, RIG_START_US, other);
    CHECK_INT(rig->ops->first_key(rig->tx, &first_us, &rig->error), CAIRN_E_NOT_FOUND);
    struct key_row keys[] = {
        {.kind = "job", .workflow = "", .key = "k", .id = owner, .ended_at_us = RIG_START_US},
        {.kind = "instance",
         .workflow = "w",
         .key = "k",
         .id = other,
         .ended_at_us = RIG_START_US - 5}};
    MUST(rig, rig->ops->keep_keys(rig->tx, keys, 2, &rig->error));
    MUST(rig, rig->ops->keep_keys(rig->tx, keys, 1, &rig->error)); /* replaces the first */
    struct job_row jobs[2] = {job_of(rig, "a"), job_of(rig, "a")};
    enum insert_result results[2];
    jobs[0].key = "k";
    jobs[1].key = "free";
    MUST(rig, rig->ops->insert_jobs(rig->tx, jobs, 2, results, &rig->error));
    CHECK_INT(results[0], INSERT_EXISTING);
    CHECK_STR(jobs[0].id, owner);
    CHECK_INT(results[1], INSERT_DONE);
    struct instance_row instance = instance_of(rig, "w");
    instance.key = "k";
    MUST(rig, rig->ops->insert_instances(rig->tx, &instance, 1, &result, &rig->error));
    CHECK_INT(result, INSERT_EXISTING);
    CHECK_STR(instance.id, other);
    instance = instance_of(rig, "another");
    instance.key = "k";
    MUST(rig, rig->ops->insert_instances(rig->tx, &instance, 1, &result, &rig->error));
    CHECK_INT(result, INSERT_DONE);
    MUST(rig, rig->ops->first_key(rig->tx, &first_us, &rig->error));
    CHECK_INT(first_us, RIG_START_US - 5);
    MUST(rig, rig->ops->drop_keys(rig->tx, RIG_START_US, 10, &count, &rig->error));
    CHECK_INT(count, 1);
    instance = instance_of(rig, "w");
    instance.key = "k";
    MUST(rig, rig->ops->insert_instances(rig->tx, &instance, 1, &result, &rig->error));
    CHECK_INT(result, INSERT_DONE);
}

/* ---- bulk actions, space ------------------------------------------------------------------- */

TEST(old_bulk_actions_go)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    char ids[2][ID_TEXT];
    size_t count = 0;
    struct bulk_row seen;
    begin_write(rig);
    for (int i = 0; i < 2; i++) {
        id_make(&rig->rng, RIG_START_US, ids[i]);
        struct bulk_row row = {.id = ids[i],
                               .target = "jobs",
                               .action = "cancel",
                               .started_at_us = RIG_START_US,
                               .status = i ? "running" : "done",
                               .skipped = "{}",
                               .skipped_sample = "[]",
                               .finished_at_us = i ? 0 : RIG_START_US + 1,
                               .next_at_us = RIG_START_US};
        MUST(rig, rig->ops->put_bulk(rig->tx, &row, &rig->error));
    }
    MUST(rig, rig->ops->drop_bulks(rig->tx, RIG_START_US + 1, 10, &count, &rig->error));
    CHECK_INT(count, 0);
    MUST(rig, rig->ops->drop_bulks(rig->tx, RIG_START_US + 2, 10, &count, &rig->error));
    CHECK_INT(count, 1);
    CHECK_INT(rig->ops->get_bulk(rig->tx, ids[0], &seen, &rig->error), CAIRN_E_NOT_FOUND);
    MUST(rig, rig->ops->get_bulk(rig->tx, ids[1], &seen, &rig->error));
}

/* What is free is returned, but for a little; only a file has anything to return. */
TEST(free_space_is_returned)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct past_row past[PAST_MAX];
    bool is_more = true, is_file = strcmp(scratch_kind(), "sqlite") == 0;
    uint64_t full = 0, cut = 0;
    char *payload = calloc(1, 100002);
    memset(payload, '1', 100001);
    begin_write(rig);
    for (int i = 0; i < 20; i++) {
        struct job_row row = job_of(rig, "a");
        row.payload = payload;
        add(rig, row);
    }
    commit(rig);
    begin_write(rig);
    MUST(rig, rig->ops->measure(rig->tx, &full, &rig->error));
    CHECK_INT(scan(rig, LIST_JOBS, 0, past, PAST_MAX), 20);
    for (int i = 0; i < 20; i++)
        purge(rig, LIST_JOBS, &past[i].id, 1);
    commit(rig);
    begin_write(rig);
    MUST(rig, rig->ops->shrink(rig->tx, 10, &is_more, &rig->error));
    CHECK_INT(is_more, is_file);
    while (is_more)
        MUST(rig, rig->ops->shrink(rig->tx, 100, &is_more, &rig->error));
    MUST(rig, rig->ops->measure(rig->tx, &cut, &rig->error));
    CHECK(!is_file || cut < full / 2, "%llu of %llu bytes", (unsigned long long)cut,
          (unsigned long long)full);
    commit(rig);
    free(payload);
}
