/* The laws of marks: where the walk of an index may begin (store/postgres/mark.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/mark.h"

#include "base/clock.h"
#include "test.h"

static struct walk_facts facts_at(int64_t open_xid, int64_t own_xid, int64_t now_us)
{
    return (struct walk_facts){
        .open_xid = open_xid, .own_xid = own_xid, .now_us = now_us, .settle_us = US_PER_SEC};
}

/* Transaction 12 is open while 10 walks, though nothing that 10 sees says so. */
TEST(a_mark_waits_for_the_transactions_that_were_open)
{
    struct mark mark;
    struct walk_facts first = facts_at(10, 10, 0), again = facts_at(10, 10, 500);
    struct walk_facts later = facts_at(12, 13, 1000), ended = facts_at(13, 15, 2000);
    mark_init(&mark);
    mark_saw(&mark, 0, 100, &first);
    mark_saw(&mark, 0, 110, &again);
    CHECK_INT(mark.low, 0);
    mark_saw(&mark, 0, 120, &later);
    CHECK_INT(mark.low, 0);
    mark_saw(&mark, 0, 130, &ended);
    CHECK_INT(mark.low, 100);
}

TEST(what_an_open_transaction_left_below_is_not_passed)
{
    struct mark mark;
    struct walk_facts first = facts_at(10, 10, 0), ended = facts_at(13, 13, 2000);
    mark_init(&mark);
    mark_saw(&mark, 0, 100, &first);
    mark_saw(&mark, 0, 40, &ended); /* transaction 12 has committed an entry at 40 */
    CHECK_INT(mark.low, 40);
}

TEST(a_walk_without_a_number_of_its_own_says_nothing_of_others)
{
    struct mark mark;
    struct walk_facts first = facts_at(10, 10, 0), none = facts_at(99, 0, 1000);
    mark_init(&mark);
    mark_saw(&mark, 0, 100, &first);
    mark_saw(&mark, 0, 120, &none);
    CHECK_INT(mark.low, 0);
}

TEST(a_long_transaction_does_not_hold_a_mark_for_ever)
{
    struct mark mark;
    struct walk_facts open = facts_at(5, 10, 0), later = facts_at(5, 99, US_PER_SEC + 1);
    mark_init(&mark);
    mark_saw(&mark, 0, 100, &open);
    mark_saw(&mark, 0, 300, &later);
    CHECK_INT(mark.low, 100);
}

TEST(our_own_writes_lower_a_mark_and_a_walk_from_above_says_nothing)
{
    struct mark mark;
    struct walk_facts first = facts_at(10, 10, 0), none = facts_at(11, 11, 0);
    mark_init(&mark);
    mark_saw(&mark, 0, 100, &first);
    mark_saw(&mark, 0, 100, &none);
    CHECK_INT(mark.low, 100);
    mark_lower(&mark, 7);
    CHECK_INT(mark.low, 7);
    mark_saw(&mark, 100, 200, &none); /* it began before the write was known */
    mark_saw(&mark, 100, 200, &none);
    CHECK_INT(mark.low, 7);
}

/* A round passes every key below the mark once, however long portions take. */
TEST(a_round_looks_at_everything_below)
{
    for (int64_t took_us = 10; took_us < 100000; took_us *= 10) {
        struct mark mark;
        int64_t from, to, expected = 100000;
        int portions = 0;
        mark_init(&mark);
        mark.low = expected;
        mark_begin_round(&mark);
        while (mark_portion(&mark, &from, &to) && portions < 200000) {
            CHECK_INT(to, expected);
            CHECK(from < to && from >= 0, "a portion from %lld to %lld", (long long)from,
                  (long long)to);
            expected = from;
            mark_checked(&mark, from, to, took_us);
            portions++;
        }
        CHECK_INT(expected, 0);
    }
}

/* The end of a round, where nothing is, does not make the next one begin with all there is. */
TEST(a_round_begins_with_a_small_portion)
{
    struct mark mark;
    int64_t from, to;
    mark_init(&mark);
    mark.low = INT64_C(1000000000000);
    for (int round = 0; round < 2; round++) {
        mark_begin_round(&mark);
        CHECK(mark_portion(&mark, &from, &to) && to - from < 1000, "it has %lld keys",
              (long long)(to - from));
        while (mark_portion(&mark, &from, &to))
            mark_checked(&mark, from, to, 10);
    }
}

/* The bound that mark.h names: a portion a full claim, at most a twentieth of the time. */
TEST(looking_below_takes_a_twentieth_of_the_time_and_goes_on)
{
    struct mark_pace pace = {.is_marking = true};
    int64_t now_us = 10 * US_PER_SEC, spent_us = 0, begin_us = now_us;
    for (int i = 0; i < 100000; i++, now_us += 100) {
        if (!pace_may_check(&pace, false, now_us))
            continue;
        pace_checked(&pace, 500, now_us);
        spent_us += 500;
    }
    int64_t all_us = now_us - begin_us;
    CHECK(spent_us <= all_us / 20 + 500, "%lld of %lld us", (long long)spent_us,
          (long long)all_us);
    CHECK(spent_us >= all_us / 25, "%lld of %lld us", (long long)spent_us, (long long)all_us);
}

TEST(marks_are_used_while_walks_are_slow_and_no_longer)
{
    struct mark_pace pace = {0};
    for (int i = 0; i < 10; i++)
        pace_walked(&pace, i % 3 ? 5000 : 50, 1); /* now and then the machine is busy */
    CHECK(!pace.is_marking, "two slow walks in a row are chance");
    for (int i = 0; i < 3; i++)
        pace_walked(&pace, 5000, 1);
    CHECK(pace.is_marking, "three are not");
    pace_checked(&pace, 9000, 1);
    pace_round_ended(&pace, true);
    CHECK(pace.is_marking, "there is still much below");
    pace_checked(&pace, 50, 2);
    pace_round_ended(&pace, true);
    CHECK(!pace.is_marking, "there is little below");
}

TEST(a_set_is_sorted_and_finds_its_pairs)
{
    struct mark_set set;
    bool is_found;
    mark_set_init(&set);
    set.pace.is_marking = true;
    for (int i = 0; i < 200; i++) {
        char type[16];
        snprintf(type, sizeof type, "t%d", i * 7 % 50);
        CHECK(mark_set_add(&set, type, i * 11 % 4 - 2), "memory ran out");
    }
    for (size_t i = 1; i < set.count; i++) {
        int order = strcmp(set.items[i - 1].type, set.items[i].type);
        CHECK(order < 0 || (order == 0 && set.items[i - 1].rank < set.items[i].rank),
              "pair %zu is out of order", i);
    }
    mark_set_find(&set, "t7", 1, &is_found);
    CHECK(is_found, "t7 is not found");
    mark_set_find(&set, "t7", 9, &is_found);
    CHECK(!is_found, "t7 of rank 9 is found");
    mark_set_done(&set);
}
