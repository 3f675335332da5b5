/* tests/fuzz/fuzz_error_group.c - patterns of errors: bounded, and the pattern of a pattern is itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/error_group.h"
#include "fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char once[ERROR_PATTERN_TEXT], twice[ERROR_PATTERN_TEXT], *error = malloc(len + 1);
    MUST(error);
    memcpy(error, bytes, len);
    error[len] = '\0';
    error_pattern(error, once);
    MUST(strlen(once) < ERROR_PATTERN_TEXT && strlen(once) <= strlen(error));
    error_pattern(once, twice);
    MUST(strcmp(once, twice) == 0);
    MUST(!strpbrk(once, "0123456789\t\r\n"));
    free(error);
    return 0;
}
