/* tests/unit/test_law.c - laws about the end of a run: how they are read, and when they hold.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/law.h"
#include "test.h"

#include <string.h>

static const char *const steps[] = {"charge", "ship", "a step (odd)"};
enum { STEP_TOTAL = 3 };

static cairn_code read_law(const char *text, struct law *law, cairn_error *error)
{
    return law_read(text, steps, STEP_TOTAL, law, error);
}

static bool holds(const char *text, const struct law_step *facts, cairn_instance_status status)
{
    struct law law;
    cairn_error error = {0};
    if (read_law(text, &law, &error))
        CHECK(false, "%s: %s", text, error.message);
    return law_holds(&law, facts, status);
}

/* Every operator against what it means, for all values of two facts. */
TEST(operators_mean_what_they_say)
{
    for (int bits = 0; bits < 4; bits++) {
        bool a = bits & 1, b = bits & 2;
        const struct law_step facts[STEP_TOTAL] = {{.is_done = a}, {.is_done = b}};
        CHECK_INT(holds("done(charge)", facts, 0), a);
        CHECK_INT(holds("not done(charge)", facts, 0), !a);
        CHECK_INT(holds("not not done(charge)", facts, 0), a);
        CHECK_INT(holds("done(charge) and done(ship)", facts, 0), a && b);
        CHECK_INT(holds("done(charge) or done(ship)", facts, 0), a || b);
        CHECK_INT(holds("done(charge) => done(ship)", facts, 0), !a || b);
    }
}

/* not binds more than and, and more than or, or more than =>, which groups to the right. */
TEST(operators_bind_in_order)
{
    static const char *const pairs[][2] = {
        {"not done(charge) and done(ship)", "(not done(charge)) and done(ship)"},
        {"done(charge) or done(ship) and undone(charge)",
         "done(charge) or (done(ship) and undone(charge))"},
        {"done(charge) or done(ship) => undone(charge)",
         "(done(charge) or done(ship)) => undone(charge)"},
        {"done(charge) => done(ship) => undone(charge)",
         "done(charge) => (done(ship) => undone(charge))"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int bits = 0; bits < 8; bits++) {
            const struct law_step facts[STEP_TOTAL] = {
                {.is_done = bits & 1, .is_undone = bits & 4}, {.is_done = bits & 2}};
            CHECK_INT(holds(pairs[i][0], facts, 0), holds(pairs[i][1], facts, 0));
        }
}

TEST(facts_are_told_apart)
{
    const struct law_step facts[STEP_TOTAL] = {
        {.is_called = true}, {.is_undone = true}, {.is_done = true}};
    CHECK(holds("called(charge) and not done(charge) and not undone(charge)", facts, 0),
          "it holds");
    CHECK(holds("undone(ship) and not called(ship)", facts, 0), "it holds");
    CHECK(holds("done(\"a step (odd)\")", facts, 0), "it holds");
    CHECK(holds("  ended( failed )  ", facts, CAIRN_INSTANCE_FAILED), "it holds");
    CHECK(!holds("ended(failed)", facts, CAIRN_INSTANCE_COMPLETED), "it does not hold");
    CHECK(!holds("ended(failed) or ended(completed) or ended(cancelled) or ended(aborted)",
                 facts, 0),
          "it does not hold");
}

TEST(what_cannot_be_read_is_refused)
{
    static const char *const wrong[] = {
        "",
        " ",
        "done",
        "done(",
        "done()",
        "done(charge",
        "done(nothing)",
        "ended(running)",
        "done(charge) and",
        "done(charge) done(ship)",
        "done(charge)) ",
        "(done(charge)",
        "not",
        "=> done(charge)",
        "Done(charge)",
        "doneish(charge)",
        "done(charge) => ",
        "done(\"charge)",
        "done(charge) && done(ship)",
        "notdone(charge)",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct law law;
        cairn_error error = {0};
        CHECK_INT(read_law(wrong[i], &law, &error), CAIRN_E_BAD_INPUT);
        CHECK(error.message[0] && error.hint[0], "it says why, and what to do");
    }
}

TEST(size_and_depth_are_bounded)
{
    static char text[3 * LAW_TEXT_MAX];
    struct law law;
    cairn_error error = {0};
    memset(text, '(', sizeof text - 1);
    CHECK_INT(read_law(text, &law, &error), CAIRN_E_TOO_LARGE);
    text[LAW_DEPTH_MAX + 1] = '\0';
    CHECK_INT(read_law(text, &law, &error), CAIRN_E_TOO_LARGE);
    text[0] = '\0';
    for (int i = 0; i <= LAW_DEPTH_MAX; i++)
        strcat(text, "done(ship)=>");
    strcat(text, "done(ship)");
    CHECK_INT(read_law(text, &law, &error), CAIRN_E_TOO_LARGE);
    text[0] = '\0';
    for (int i = 0; i < LAW_NODES_MAX / 2; i++)
        strcat(text, "done(ship) or ");
    strcat(text, "done(ship)");
    CHECK_INT(read_law(text, &law, &error), CAIRN_E_TOO_LARGE);
    text[strlen(text) - strlen(" or done(ship)")] = '\0';
    CHECK_INT(read_law(text, &law, &error), CAIRN_OK);
}
