/* tests/unit/test_effect.c - keys of effects, and the entries that a function keeps of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/effect.h"
#include "test.h"

TEST(a_key_counts_the_effects_of_its_step)
{
    struct arena arena = {0};
    CHECK_STR(effect_key(&arena, "i", "pay", 0, false), "i:pay");
    CHECK_STR(effect_key(&arena, "i", "pay", 0, true), "i:pay:undo");
    CHECK_STR(effect_key(&arena, "i", "pay", 1, false), "i:pay~2");
    CHECK_STR(effect_key(&arena, "i", "pay", 1, true), "i:pay~2:undo");
    CHECK_STR(effect_key(&arena, "i", "pay", INT32_MAX, false), "i:pay~2147483648");
    arena_done(&arena);
}

TEST(names_that_look_like_a_later_key_are_reserved)
{
    CHECK(effect_is_reserved("pay~2") && effect_is_reserved("~0") &&
              effect_is_reserved("a~b~12"),
          "a reserved name is not");
    CHECK(!effect_is_reserved("pay") && !effect_is_reserved("pay~") &&
              !effect_is_reserved("~a") && !effect_is_reserved("pay~2x") &&
              !effect_is_reserved("") && !effect_is_reserved("a~2~"),
          "a free name is reserved");
}

TEST(entries_are_found_by_any_name_and_replaced)
{
    struct arena arena = {0};
    static const char *const names[] = {"pay", "1:3:pay", "", ":", "a b\n", "pa"};
    enum { NAMES = sizeof names / sizeof *names };
    const char *entries = NULL;
    CHECK_INT(effect_find(entries, "pay", 7), 7);
    for (int round = 1; round <= 3; round++)
        for (int i = 0; i < NAMES; i++) {
            CHECK(effect_put(&arena, &entries, names[i], round * 10 + i), "no memory");
            for (int k = 0; k < NAMES; k++) {
                int wanted = k <= i ? round * 10 + k : round > 1 ? (round - 1) * 10 + k : -1;
                CHECK_INT(effect_find(entries, names[k], -1), wanted);
            }
        }
    struct effect_entry entry;
    int count = 0;
    for (const char *at = entries; effect_next(&at, &entry);)
        count++;
    CHECK_INT(count, NAMES);
    arena_done(&arena);
}

TEST(a_text_that_is_cut_short_ends_the_list)
{
    static const char *const broken[] = {"", "1", "1:", "1:3", "1:3:", "1:3:pa", "x"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        CHECK_INT(effect_find(broken[i], "pay", -1), -1);
}
