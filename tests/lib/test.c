/* tests/lib/test.c - runs the tests that registered themselves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test.h"

#include <stdlib.h>

enum { TESTS_MAX = 2000 };
static struct CMUnitTest tests[TESTS_MAX];
static size_t test_count;

void test_register(const char *name, CMUnitTestFunction run)
{
    if (test_count == TESTS_MAX)
        abort();
    tests[test_count++] = (struct CMUnitTest){.name = name, .test_func = run};
}

int test_rounds(int few, int many)
{
    return getenv("CAIRN_TEST_LONG") ? many : few;
}

void test_failed(const char *file, int line, const char *claim, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char seen[1024];
    vsnprintf(seen, sizeof seen, format, args);
    va_end(args);
    print_error("%s:%d: not so: %s\n    %s\n", file, line, claim, seen);
    _fail(file, line);
}

int main(int argc, char **argv)
{
    struct CMUnitTest chosen[TESTS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < test_count; i++)
        if (argc < 2 || strstr(tests[i].name, argv[1]))
            chosen[count++] = tests[i];
    if (count == 0) {
        fprintf(stderr, "no test is named like \"%s\"\n", argc < 2 ? "" : argv[1]);
        return 2;
    }
    return _cmocka_run_group_tests(argv[0], chosen, count, NULL, NULL);
}
