/* tests/unit/test_word.c - how similar two words are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/word.h"
#include "test.h"

#include <stdint.h>
#include <string.h>

TEST(each_change_counts_and_swapped_neighbours_count_once)
{
    static const struct {
        const char *one, *other;
        size_t distance;
    } cases[] = {{"", "", 0},         {"list", "list", 0}, {"", "list", 4},
                 {"list", "", 4},     {"lst", "list", 1},  {"lists", "list", 1},
                 {"lest", "list", 1}, {"lsit", "list", 1}, {"wait", "lsit", 2},
                 {"ab", "ba", 1},     {"abc", "cab", 2},   {"show", "list", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_INT(word_distance(cases[i].one, cases[i].other), cases[i].distance);
        CHECK_INT(word_distance(cases[i].other, cases[i].one), cases[i].distance);
    }
}

TEST(long_words_are_like_no_other)
{
    char word[66];
    memset(word, 'x', sizeof word);
    word[65] = '\0';
    CHECK(word_distance(word, "x") == SIZE_MAX, "65 letters");
    CHECK(word_distance("x", word) == SIZE_MAX, "65 letters, the other way");
    word[64] = '\0';
    CHECK_INT(word_distance(word, "x"), 63);
}
