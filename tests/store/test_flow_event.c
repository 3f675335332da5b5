/* tests/store/test_flow_event.c - the audit trail of instances, and of everything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

struct trail {
    struct event_row rows[ROWS_MAX];
    size_t count;
};

static void append(struct rig *rig, const char *instance_id, const char *type, const char *step)
{
    struct event_row row = {.subject_id = instance_id,
                            .type = type,
                            .step = step,
                            .data = "{\"status\":\"running\"}",
                            .at_us = rig->tx->now_us};
    MUST(rig, rig->ops->append_events(rig->tx, &row, 1, &rig->error));
}

static void append_job_event(struct rig *rig, const char *job_id, enum job_event type)
{
    struct event_row row = {.subject_id = job_id, .type = job_event_name(type), .data = "{}"};
    MUST(rig, rig->ops->append_events(rig->tx, &row, 1, &rig->error));
}

static struct trail *list_events(struct rig *rig, const char *instance_id, int64_t after,
                                 size_t room)
{
    struct trail *trail = arena_zalloc(&rig->arena, sizeof *trail);
    trail->count = SIZE_MAX;
    MUST(rig, rig->ops->list_events(rig->tx, instance_id, after, trail->rows, room,
                                    &trail->count, &rig->error));
    CHECK(trail->count <= room, "%zu events came into room for %zu", trail->count, room);
    return trail;
}

static void check_trail(const struct trail *trail, size_t count, const char *const *types)
{
    for (size_t i = 0; i < count && i < trail->count; i++) {
        CHECK_STR(trail->rows[i].type, types[i]);
        CHECK(!i || trail->rows[i - 1].id < trail->rows[i].id, "ids are not in order");
    }
    CHECK_INT(trail->count, count);
}
#define CHECK_TRAIL(trail, ...)                                                \
    check_trail(trail, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), \
                (const char *[]){__VA_ARGS__})

TEST(an_event_of_an_instance_comes_back_as_it_was_given)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = new_instance(rig, "w").id;
    commit(rig);
    pass_us(rig, 7);
    begin_write(rig);
    append(rig, id, "workflow_started", NULL);
    append(rig, id, "step_ready", "it's \"s0\"");
    commit(rig);
    begin_read(rig);
    struct trail *trail = list_events(rig, id, 0, 9);
    CHECK_TRAIL(trail, "workflow_started", "step_ready");
    CHECK(trail->rows[0].id > 0, "id is %lld", (long long)trail->rows[0].id);
    CHECK_TEXT(trail->rows[0].step, NULL); /* the instance's own */
    CHECK_TEXT(trail->rows[1].step, "it's \"s0\"");
    for (int i = 0; i < 2; i++) {
        CHECK_STR(trail->rows[i].subject_id, id);
        CHECK_JSON(trail->rows[i].data, "{\"status\":\"running\"}");
        CHECK_INT(trail->rows[i].at_us, RIG_START_US + 7);
    }
}

TEST(events_of_an_instance_are_listed_oldest_first_page_by_page)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    struct event_row rows[] = {
        {.subject_id = a, .type = "workflow_started", .data = "{}", .at_us = RIG_START_US},
        {.subject_id = b, .type = "workflow_paused", .data = "{}", .at_us = RIG_START_US},
        {.subject_id = a, .type = "step_ready", .data = "{}", .at_us = RIG_START_US},
        {.subject_id = a, .type = "step_completed", .data = "{}", .at_us = RIG_START_US},
    };
    MUST(rig, rig->ops->append_events(rig->tx, rows, 4, &rig->error));
    CHECK_TRAIL(list_events(rig, a, 0, 9), "workflow_started", "step_ready", "step_completed");
    CHECK_TRAIL(list_events(rig, b, 0, 9), "workflow_paused");
    struct trail *page = list_events(rig, a, 0, 2);
    CHECK_TRAIL(page, "workflow_started", "step_ready");
    page = list_events(rig, a, page->rows[1].id, 2);
    CHECK_TRAIL(page, "step_completed");
    check_trail(list_events(rig, a, page->rows[0].id, 2), 0, NULL);
    check_trail(list_events(rig, "nobody", 0, 2), 0, NULL);
}

TEST(many_events_keep_their_order_and_what_each_says)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct event_row rows[ROWS_MAX];
    begin_write(rig);
    const char *id = new_instance(rig, "w").id;
    for (int i = 0; i < ROWS_MAX; i++) { /* most say the same, then each says something else */
        int fact = i < 40 ? i % 3 : i;
        rows[i] = (struct event_row){.subject_id = id,
                                     .type = i % 2 ? "step_ready" : "step_completed",
                                     .step = i % 5 ? "s" : NULL,
                                     .data = arena_printf(&rig->arena, "{\"n\":%d}", fact),
                                     .at_us = RIG_START_US};
    }
    MUST(rig, rig->ops->append_events(rig->tx, rows, ROWS_MAX, &rig->error));
    MUST(rig, rig->ops->append_events(rig->tx, rows, 5, &rig->error));
    commit(rig);

    begin_read(rig);
    struct trail *trail = list_events(rig, id, 0, ROWS_MAX);
    CHECK_INT(trail->count, ROWS_MAX);
    for (int i = 0; i < ROWS_MAX; i++) {
        CHECK_STR(trail->rows[i].type, rows[i].type);
        CHECK_TEXT(trail->rows[i].step, rows[i].step);
        CHECK_JSON(trail->rows[i].data, rows[i].data);
        CHECK_INT(trail->rows[i].at_us, RIG_START_US);
    }
    CHECK_INT(list_events(rig, id, trail->rows[ROWS_MAX - 1].id, 9)->count, 5);
}

TEST(events_of_instances_and_jobs_are_listed_together)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    const char *job = add(rig, job_of(rig, "mail"));
    append(rig, a, "workflow_started", NULL);
    append_job_event(rig, job, EVENT_CREATED);
    append(rig, b, "step_ready", "s0");
    append_job_event(rig, job, EVENT_LEASED);
    commit(rig);

    begin_read(rig);
    struct trail *trail = list_events(rig, NULL, 0, ROWS_MAX);
    CHECK_TRAIL(trail, "workflow_started", "created", "step_ready", "leased");
    CHECK_STR(trail->rows[0].subject_id, a);
    CHECK_STR(trail->rows[1].subject_id, job);
    CHECK_TEXT(trail->rows[1].step, NULL);
    CHECK_STR(trail->rows[2].subject_id, b);
    CHECK_STR(trail->rows[2].step, "s0");
    CHECK_TRAIL(list_events(rig, NULL, trail->rows[0].id, 2), "created", "step_ready");
    check_trail(list_events(rig, NULL, trail->rows[3].id, 2), 0, NULL);
    CHECK_TRAIL(list_events(rig, a, 0, 9), "workflow_started");

    struct event_row rows[ROWS_MAX];
    size_t count;
    MUST(rig, rig->ops->list_events(rig->tx, job, 0, rows, ROWS_MAX, &count, &rig->error));
    CHECK_INT(count, 2);
    CHECK_INT(rows[0].id, trail->rows[1].id); /* one sequence of ids */
    CHECK_INT(rows[1].id, trail->rows[3].id);
}

TEST(a_list_of_all_events_never_passes_an_open_transaction)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    if (rig->ops->writers == 1)
        return; /* no two transactions write at once */
    struct store_session *second;
    struct store_tx *tx, *slow;
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    commit(rig);

    begin_write(rig);
    append(rig, a, "workflow_started", NULL); /* the lower id, not committed yet */
    CHECK_TRAIL(list_events(rig, a, 0, 9), "workflow_started"); /* it may have been queued */
    slow = rig->tx;
    MUST(rig, rig->ops->session_open(rig->store, SESSION_WRITER, &second, &rig->error));
    MUST(rig, rig->ops->begin(second, &rig->arena, &tx, &rig->error));
    rig->tx = tx;
    append(rig, b, "workflow_paused", NULL);
    commit(rig);
    begin_read(rig);
    check_trail(list_events(rig, NULL, 0, 9), 0, NULL);
    commit(rig);

    rig->tx = slow;
    commit(rig);
    begin_read(rig);
    CHECK_TRAIL(list_events(rig, NULL, 0, 9), "workflow_started", "workflow_paused");
    rig->ops->session_close(second);
}
