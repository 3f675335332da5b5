/* tests/store/test_flow_log.c - what functions log: appended, listed per instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

struct logs {
    struct log_row rows[ROWS_MAX];
    size_t count;
};

static void append_log(struct rig *rig, const char *instance_id, const char *message)
{
    struct log_row row = {.instance_id = instance_id, .level = "info", .message = message};
    MUST(rig, rig->ops->append_logs(rig->tx, &row, 1, &rig->error));
}

static struct logs *list_logs(struct rig *rig, const char *instance_id, int64_t after,
                              size_t room)
{
    struct logs *logs = arena_zalloc(&rig->arena, sizeof *logs);
    logs->count = SIZE_MAX;
    MUST(rig, rig->ops->list_logs(rig->tx, instance_id, after, logs->rows, room, &logs->count,
                                  &rig->error));
    CHECK(logs->count <= room, "%zu lines came into room for %zu", logs->count, room);
    return logs;
}

/* Whether these are the lines with these messages, in this order. */
static void check_logs(const struct logs *logs, size_t count, const char *const *messages)
{
    for (size_t i = 0; i < count && i < logs->count; i++) {
        CHECK_STR(logs->rows[i].message, messages[i]);
        CHECK(logs->rows[i].id > (i ? logs->rows[i - 1].id : 0), "ids do not rise");
    }
    CHECK_INT(logs->count, count);
}
#define CHECK_LOGS(logs, ...)                                                \
    check_logs(logs, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), \
               (const char *[]){__VA_ARGS__})
#define CHECK_NO_LOGS(logs) check_logs(logs, 0, NULL)

TEST(a_line_of_a_log_comes_back_as_it_was_given)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = new_instance(rig, "f").id;
    commit(rig);
    pass_us(rig, 7);
    struct log_row rows[] = {{.id = 77, /* not the caller's to say, as the time is not */
                              .instance_id = id,
                              .level = "error",
                              .message = "it's \"broken\"\n\xF0\x9F\x98\x80",
                              .data = "{\"a\":[1,null]}",
                              .step = "charge#2",
                              .attempt = INT32_MAX,
                              .at_us = 1},
                             {.instance_id = id, .level = "debug", .message = ""},
                             {.instance_id = id,
                              .level = "warn",
                              .message = "m",
                              .data = "null",
                              .step = "s",
                              .attempt = 1}};
    begin_write(rig);
    MUST(rig, rig->ops->append_logs(rig->tx, rows, 3, &rig->error));
    commit(rig);
    begin_read(rig);
    struct logs *logs = list_logs(rig, id, 0, ROWS_MAX);
    CHECK_LOGS(logs, rows[0].message, "", "m");
    for (size_t i = 0; i < 3; i++) {
        CHECK_STR(logs->rows[i].instance_id, id);
        CHECK_STR(logs->rows[i].level, rows[i].level);
        CHECK_JSON(logs->rows[i].data, rows[i].data);
        CHECK_TEXT(logs->rows[i].step, rows[i].step);
        CHECK_INT(logs->rows[i].attempt, rows[i].attempt);
        CHECK_INT(logs->rows[i].at_us, RIG_START_US + 7);
    }
    CHECK_TEXT(logs->rows[1].data, NULL);
    CHECK_STR(logs->rows[2].data, "null"); /* a value, and not its absence */
}

TEST(the_log_of_an_instance_is_listed_oldest_first_page_by_page)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "f").id, *b = new_instance(rig, "f").id;
    CHECK_NO_LOGS(list_logs(rig, a, 0, ROWS_MAX));
    append_log(rig, a, "z");
    append_log(rig, b, "of b");
    append_log(rig, a, "y");
    CHECK_LOGS(list_logs(rig, a, 0, ROWS_MAX), "z", "y");
    commit(rig);
    pass_us(rig, 5);
    begin_write(rig);
    append_log(rig, b, "of b, too");
    append_log(rig, a, "x");
    append_log(rig, a, "w");
    commit(rig);

    begin_read(rig);
    struct logs *all = list_logs(rig, a, 0, ROWS_MAX);
    CHECK_LOGS(all, "z", "y", "x", "w");
    CHECK_INT(all->rows[1].at_us, RIG_START_US);
    CHECK_INT(all->rows[2].at_us, RIG_START_US + 5);
    CHECK_LOGS(list_logs(rig, b, 0, ROWS_MAX), "of b", "of b, too");
    CHECK_NO_LOGS(list_logs(rig, "nobody", 0, ROWS_MAX));
    CHECK_LOGS(list_logs(rig, a, 0, 2), "z", "y");
    CHECK_LOGS(list_logs(rig, a, all->rows[0].id, 2), "y", "x");
    CHECK_LOGS(list_logs(rig, a, all->rows[1].id, 4), "x", "w");
    CHECK_LOGS(list_logs(rig, a, all->rows[1].id + 1, 4), "x", "w"); /* one of b lies between */
    CHECK_NO_LOGS(list_logs(rig, a, all->rows[3].id, 4));
    CHECK_NO_LOGS(list_logs(rig, a, INT64_MAX, 4));
    CHECK_NO_LOGS(list_logs(rig, a, 0, 0));
}

TEST(many_lines_of_several_instances_are_appended_in_one_call)
{
    enum { LINES = 60, INSTANCES = 3 };
    cleanup(rig_closep) struct rig *rig = rig_open();
    const char *ids[INSTANCES];
    struct log_row rows[LINES];
    begin_write(rig);
    for (int i = 0; i < INSTANCES; i++)
        ids[i] = new_instance(rig, "f").id;
    for (int i = 0; i < LINES; i++)
        rows[i] = (struct log_row){.instance_id = ids[i % INSTANCES],
                                   .level = "info",
                                   .message = arena_printf(&rig->arena, "line %d", i),
                                   .step = i % 2 ? "odd" : NULL,
                                   .attempt = i % 2};
    MUST(rig, rig->ops->append_logs(rig->tx, rows, LINES, &rig->error));
    MUST(rig, rig->ops->append_logs(rig->tx, NULL, 0, &rig->error));
    commit(rig);
    begin_read(rig);
    for (int which = 0; which < INSTANCES; which++) {
        struct logs *logs = list_logs(rig, ids[which], 0, ROWS_MAX);
        CHECK_INT(logs->count, LINES / INSTANCES);
        for (int i = 0; i < LINES / INSTANCES; i++) {
            const struct log_row *wanted = &rows[i * INSTANCES + which];
            CHECK_STR(logs->rows[i].message, wanted->message);
            CHECK_TEXT(logs->rows[i].step, wanted->step);
            CHECK_INT(logs->rows[i].attempt, wanted->attempt);
        }
    }
}

TEST(lines_that_are_rolled_back_were_never_logged)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = new_instance(rig, "f").id;
    append_log(rig, id, "kept");
    commit(rig);
    begin_write(rig);
    append_log(rig, id, "lost");
    CHECK_LOGS(list_logs(rig, id, 0, ROWS_MAX), "kept", "lost");
    roll_back(rig);
    begin_write(rig);
    CHECK_LOGS(list_logs(rig, id, 0, ROWS_MAX), "kept");
    append_log(rig, id, "later");
    CHECK_LOGS(list_logs(rig, id, 0, ROWS_MAX), "kept", "later");
}
