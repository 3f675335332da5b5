/* tests/store/test_flow_chain.c - the chain from a row to its events: read from either end, in pages of
 * any size, it is what the list of all events says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

enum { EVENTS_MAX = 12000 };

struct history {
    int64_t ids[EVENTS_MAX];
    size_t count;
};

/* ---- writing -------------------------------------------------------------------------------- */

/* A commit with `count` events of each instance, by turns, and holes in between. */
static void tell(struct rig *rig, struct instance_row *rows, size_t row_count, size_t count)
{
    size_t made = 0;
    int64_t next = 0;
    struct event_row *events = arena_array(&rig->arena, count * row_count, sizeof *events);
    begin_write(rig);
    for (size_t i = 0; i < count * row_count; i++, next++) {
        struct instance_row *row = &rows[i % row_count];
        if (next % EVENT_SLOTS == 0)
            MUST(rig, rig->ops->number_events(rig->tx, &next, &rig->error));
        next += next % 8 == 3; /* it is not used */
        row->event_count++;
        events[made++] = (struct event_row){
            .id = next,
            .prev = row->last_event,
            .number = row->event_count,
            .subject_id = row->id,
            .type = i % 3 ? "step_ready" : "step_completed",
            .step = i % 5 ? "s" : NULL,
            .data = arena_printf(&rig->arena, "{\"number\":%d}", row->event_count % 9),
        };
        row->last_event = next;
    }
    MUST(rig, rig->ops->append_events(rig->tx, events, made, &rig->error));
    for (size_t i = 0; i < row_count; i++)
        update_instance(rig, rows[i]);
    commit(rig);
}

static void tell_loose(struct rig *rig, const char *id)
{
    struct event_row event = {.subject_id = id, .type = "step_started", .data = "{}"};
    begin_write(rig);
    MUST(rig, rig->ops->append_events(rig->tx, &event, 1, &rig->error));
    commit(rig);
}

/* ---- reading -------------------------------------------------------------------------------- */

static void add_page(struct history *history, const char *id, const struct event_row *rows,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].subject_id, id) != 0)
            continue;
        CHECK(history->count < EVENTS_MAX, "there are too many");
        history->ids[history->count++] = rows[i].id;
    }
}

enum way { ALL, OLDEST, NEWEST };

/* The ids of a subject's events, read in pages. */
static struct history *read_history(struct rig *rig, const char *id, enum way way, size_t room)
{
    struct history *history = mem_zalloc(sizeof *history);
    struct event_row *rows = mem_alloc(room * sizeof *rows);
    int64_t cursor = 0;
    for (size_t count = room; count == room;) {
        struct arena arena = {0};
        begin_read(rig);
        rig->tx->arena = &arena;
        MUST(rig, way == NEWEST ? rig->ops->list_events_before(rig->tx, id, cursor, rows, room,
                                                               &count, &rig->error)
                                : rig->ops->list_events(rig->tx, way == ALL ? NULL : id, cursor,
                                                        rows, room, &count, &rig->error));
        add_page(history, id, rows, count);
        for (size_t i = 1; i < count; i++)
            CHECK((rows[i].id > rows[i - 1].id) == (way != NEWEST), "a page is out of order");
        cursor = count ? rows[count - 1].id : cursor;
        arena_done(&arena);
        commit(rig);
    }
    mem_free(rows);
    return history;
}

static void free_history(struct history **history)
{
    mem_free(*history);
}

/* Both ends say what the list of all events says. */
static void check_history(struct rig *rig, const char *id, size_t room, size_t wanted)
{
    cleanup(free_history) struct history *all = read_history(rig, id, ALL, 1000);
    cleanup(free_history) struct history *oldest = read_history(rig, id, OLDEST, room);
    cleanup(free_history) struct history *newest = read_history(rig, id, NEWEST, room);
    CHECK_INT(all->count, wanted);
    CHECK_INT(oldest->count, wanted);
    CHECK_INT(newest->count, wanted);
    for (size_t i = 0; i < wanted; i++) {
        CHECK_INT(oldest->ids[i], all->ids[i]);
        CHECK_INT(newest->ids[wanted - 1 - i], all->ids[i]);
    }
}

TEST(a_history_is_the_same_from_either_end_and_in_pages_of_any_size)
{
    static const size_t commits[] = {1, 3, 96, 1, 2, 250, 1, 700, 2};
    cleanup(rig_closep) struct rig *rig = rig_open();
    size_t told = 0, loose = 0;
    begin_write(rig);
    struct instance_row rows[2] = {new_instance(rig, "w"), new_instance(rig, "w")};
    commit(rig);
    for (size_t i = 0; i < sizeof commits / sizeof *commits; i++) {
        tell(rig, rows, 1 + i % 2, commits[i]);
        told += commits[i];
        if (i % 3 == 1) {
            tell_loose(rig, rows[0].id);
            loose++;
        }
    }
    begin_read(rig);
    CHECK_INT(get_instance(rig, rows[0].id).event_count, told);
    commit(rig);
    for (size_t room = 1; room < 500; room = room * 3 + 1)
        check_history(rig, rows[0].id, room, told + loose);
    check_history(rig, rows[1].id, 100, (size_t)rows[1].event_count);
}

TEST(a_commit_has_as_many_events_as_it_likes)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row row = new_instance(rig, "w");
    commit(rig);
    tell(rig, &row, 1, 2 * EVENT_SLOTS);
    check_history(rig, row.id, 1000, 2 * EVENT_SLOTS);
}

TEST(each_event_of_a_chain_says_what_it_was_given)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct event_row rows[ROWS_MAX];
    size_t count;
    begin_write(rig);
    struct instance_row row = new_instance(rig, "w");
    commit(rig);
    pass_us(rig, 5);
    tell(rig, &row, 1, 40);
    for (int way = 0; way < 2; way++) {
        begin_read(rig);
        MUST(rig, rig->ops->list_events(rig->tx, way ? row.id : NULL, 0, rows, ROWS_MAX, &count,
                                        &rig->error));
        CHECK_INT(count, 40);
        for (int i = 0; i < 40; i++) {
            CHECK_STR(rows[i].subject_id, row.id);
            CHECK_STR(rows[i].type, i % 3 ? "step_ready" : "step_completed");
            CHECK_TEXT(rows[i].step, i % 5 ? "s" : NULL);
            CHECK_JSON(rows[i].data, arena_printf(&rig->arena, "{\"number\":%d}", (i + 1) % 9));
            CHECK_INT(rows[i].at_us, RIG_START_US + 5);
        }
        commit(rig);
    }
}

/* ---- claims --------------------------------------------------------------------------------- */

static struct job_row add_told(struct rig *rig, int64_t event_id)
{
    struct job_row row = job_of(rig, "a");
    row.last_event = event_id;
    row.event_count = 1;
    add(rig, row);
    struct event_row event = {
        .id = event_id, .number = 1, .subject_id = row.id, .type = "created", .data = "{}"};
    MUST(rig, rig->ops->append_events(rig->tx, &event, 1, &rig->error));
    return row;
}

static void claim_told(struct rig *rig, int64_t event_id)
{
    static const char *const types[] = {"a"};
    struct job_claim claim = {.worker = "w",
                              .token = "t",
                              .patterns = types,
                              .pattern_count = 1,
                              .lease_until_us = rig->tx->now_us + US_PER_MIN,
                              .event_id = event_id,
                              .events_each = 2};
    MUST(rig,
         rig->ops->claim_jobs(rig->tx, &claim, rig->rows, ROWS_MAX, &rig->count, &rig->error));
}

TEST(a_claim_goes_on_with_the_chain_of_each_job)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    int64_t first, next;
    begin_write(rig);
    MUST(rig, rig->ops->number_events(rig->tx, &first, &rig->error));
    add_told(rig, first);
    commit(rig);
    begin_write(rig);
    MUST(rig, rig->ops->number_events(rig->tx, &next, &rig->error));
    CHECK(next > first, "numbers go back");
    add(rig, job_of(rig, "a")); /* from before there were chains */
    claim_told(rig, next + 5);
    CHECK_INT(rig->count, 2);
    for (int i = 0; i < 2; i++) {
        struct job_row row = get(rig, rig->rows[i].id);
        CHECK_INT(rig->rows[i].prev_event, i ? 0 : first);
        CHECK_INT(rig->rows[i].last_event, next + 6 + 2 * i);
        CHECK_INT(rig->rows[i].event_count, i ? 2 : 3);
        CHECK_INT(row.last_event, rig->rows[i].last_event);
        CHECK_INT(row.event_count, rig->rows[i].event_count);
    }
}

TEST(a_claim_of_a_job_with_a_later_event_has_numbers_behind_it)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct store_session *second;
    struct store_tx *early;
    int64_t first, later;
    if (rig->ops->writers == 1)
        return; /* no two transactions write at once */
    begin_write(rig);
    MUST(rig, rig->ops->number_events(rig->tx, &first, &rig->error));
    early = rig->tx;
    MUST(rig, rig->ops->session_open(rig->store, SESSION_WRITER, &second, &rig->error));
    MUST(rig, rig->ops->begin(second, &rig->arena, &rig->tx, &rig->error));
    MUST(rig, rig->ops->number_events(rig->tx, &later, &rig->error));
    CHECK(later > first, "numbers go back");
    add_told(rig, later);
    commit(rig);
    rig->tx = early;
    claim_told(rig, first);
    CHECK_INT(rig->count, 1);
    CHECK_INT(rig->rows[0].prev_event, later);
    CHECK(rig->rows[0].last_event - 1 > later, "an event comes before an earlier one");
    CHECK(rig->rows[0].last_event >> EVENT_SLOT_BITS != later >> EVENT_SLOT_BITS,
          "it has a number of another transaction");
    commit(rig);
    rig->ops->session_close(second);
}
