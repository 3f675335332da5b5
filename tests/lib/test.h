/* tests/lib/test.h - tests named as sentences, on top of cmocka.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     TEST(a_lease_is_held_exactly_while_running)
 *     {
 *         CHECK(row.status == JOB_LEASED, "status is %d", row.status);
 *     }
 *
 * A TEST registers itself; every file with tests is linked with lib/test.c, which has main(). A
 * failed CHECK leaves the test by longjmp, so check in the test's own thread only.  With an
 * argument the program runs only the tests whose name contains it.
 */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* base/error.h has a fail() of its own; CHECK is for tests */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void test_register(const char *name, CMUnitTestFunction run);
void test_failed(const char *file, int line, const char *claim, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#define TEST(name)                                                 \
    static void name(void);                                        \
    static void run_##name(void **state)                           \
    {                                                              \
        (void)state;                                               \
        name();                                                    \
    }                                                              \
    __attribute__((constructor)) static void register_##name(void) \
    {                                                              \
        test_register(#name, run_##name);                          \
    }                                                              \
    static void name(void)

/* How many seeds or rounds to try: few of them, or in a long run (./test --long) many. */
int test_rounds(int few, int many);

/* The claim, then a printf format that says what was seen. */
#define CHECK(claim, ...)                                         \
    do {                                                          \
        if (!(claim))                                             \
            test_failed(__FILE__, __LINE__, #claim, __VA_ARGS__); \
    } while (0)

#define CHECK_INT(seen, wanted)                                                 \
    do {                                                                        \
        long long seen_ = (long long)(seen), wanted_ = (long long)(wanted);     \
        CHECK(seen_ == wanted_, "%s is %lld, not %lld", #seen, seen_, wanted_); \
    } while (0)

#define CHECK_STR(seen, wanted)                                                       \
    do {                                                                              \
        const char *seen_ = (seen), *wanted_ = (wanted);                              \
        CHECK(seen_ &&strcmp(seen_, wanted_) == 0, "%s is \"%s\", not \"%s\"", #seen, \
              seen_ ? seen_ : "(null)", wanted_);                                     \
    } while (0)

/* A call that must succeed, with a cairn_error named `error` in scope. */
#define CHECK_OK(call)                                                                 \
    do {                                                                               \
        cairn_code code_ = (call);                                                     \
        CHECK(code_ == CAIRN_OK, "%s: %s (%s)", cairn_code_name(code_), error.message, \
              error.detail);                                                           \
    } while (0)

#endif
