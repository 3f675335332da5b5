/* tests/store/test_flow_definition.c - workflow definitions: name, version, content.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static struct definition_row definition(const char *name, int32_t version)
{
    return (struct definition_row){.name = name,
                                   .version = version,
                                   .hash = HASH_A,
                                   .content = "{\"workflow\":\"w\",\"n\":[1,0.10]}",
                                   .created_at_us = RIG_START_US + version};
}

static enum put_result put(struct rig *rig, struct definition_row row)
{
    enum put_result result;
    MUST(rig, rig->ops->put_definition(rig->tx, &row, &result, &rig->error));
    return result;
}

TEST(a_definition_is_kept_as_it_was_given)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct definition_row row = definition("order", 3), seen;
    begin_write(rig);
    CHECK_INT(put(rig, row), PUT_DONE);
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->get_definition(rig->tx, "order", 3, &seen, &rig->error));
    CHECK_STR(seen.name, "order");
    CHECK_INT(seen.version, 3);
    CHECK_STR(seen.hash, HASH_A);
    CHECK_STR(seen.content, row.content); /* the canonical text, byte for byte */
    CHECK_INT(seen.created_at_us, RIG_START_US + 3);
}

TEST(the_same_content_again_is_the_same)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct definition_row row = definition("order", 1), later = row, seen;
    later.created_at_us += 5;
    begin_write(rig);
    CHECK_INT(put(rig, row), PUT_DONE);
    CHECK_INT(put(rig, later), PUT_SAME);
    MUST(rig, rig->ops->get_definition(rig->tx, "order", 1, &seen, &rig->error));
    CHECK_INT(seen.created_at_us, row.created_at_us);
}

TEST(other_content_under_a_known_version_is_refused_and_nothing_written)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct definition_row row = definition("order", 1), other = row, seen;
    other.hash = HASH_B;
    other.content = "{}";
    begin_write(rig);
    CHECK_INT(put(rig, row), PUT_DONE);
    commit(rig);
    begin_write(rig);
    CHECK_INT(put(rig, other), PUT_OTHER);
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->get_definition(rig->tx, "order", 1, &seen, &rig->error));
    CHECK_STR(seen.hash, HASH_A);
    CHECK_STR(seen.content, row.content);
}

TEST(version_0_is_the_highest)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const int32_t versions[] = {2, 10, 9, INT32_MAX, 1};
    static const int32_t highest[] = {2, 10, 10, INT32_MAX, INT32_MAX};
    begin_write(rig);
    put(rig, definition("orde", 77));
    put(rig, definition("orders", 78));
    for (int i = 0; i < 5; i++) {
        struct definition_row seen;
        CHECK_INT(put(rig, definition("order", versions[i])), PUT_DONE);
        MUST(rig, rig->ops->get_definition(rig->tx, "order", 0, &seen, &rig->error));
        CHECK_INT(seen.version, highest[i]);
        CHECK_STR(seen.name, "order");
    }
}

TEST(a_definition_that_is_not_there_is_not_found)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct definition_row seen;
    begin_write(rig);
    put(rig, definition("b", 2));
    strcpy(rig->error.message, "as it was");
    CHECK_INT(rig->ops->get_definition(rig->tx, "b", 1, &seen, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_INT(rig->ops->get_definition(rig->tx, "b", 3, &seen, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_INT(rig->ops->get_definition(rig->tx, "a", 0, &seen, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_INT(rig->ops->get_definition(rig->tx, "B", 2, &seen, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_INT(rig->ops->get_definition(rig->tx, "c", 2, &seen, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_STR(rig->error.message, "as it was");
}

TEST(definitions_are_listed_by_name_then_version_page_by_page)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const struct {
        const char *name;
        int32_t version;
    } wanted[] = {{"B", 1}, {"a", 1}, {"a", 2}, {"a", 10}, {"a.b", 1}, {"b", 3}};
    enum { COUNT = sizeof wanted / sizeof *wanted };
    static const int order[COUNT] = {3, 0, 5, 2, 4, 1};
    begin_write(rig);
    for (int i = 0; i < COUNT; i++)
        put(rig, definition(wanted[order[i]].name, wanted[order[i]].version));

    for (size_t room = 1; room <= COUNT + 1; room++) {
        const char *after_name = NULL;
        int32_t after_version = 0;
        size_t seen = 0, count;
        do {
            struct definition_row rows[COUNT + 1];
            MUST(rig, rig->ops->list_definitions(rig->tx, after_name, after_version, rows, room,
                                                 &count, &rig->error));
            CHECK(count <= room, "%zu rows came into room for %zu", count, room);
            for (size_t i = 0; i < count; i++, seen++) {
                CHECK(seen < COUNT, "too many rows");
                CHECK_STR(rows[i].name, wanted[seen].name);
                CHECK_INT(rows[i].version, wanted[seen].version);
                CHECK_STR(rows[i].hash, HASH_A);
                after_name = rows[i].name;
                after_version = rows[i].version;
            }
        } while (count);
        CHECK_INT(seen, COUNT);
    }
}
