/* core/condition.c - expressions that decide where a flow goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/condition.h"

#include "base/error.h"

#include <ctype.h>
#include <string.h>

cairn_code condition_check(const char *when, cairn_error *reterr)
{
    const char *end = when + strlen(when);
    while (isspace((unsigned char)*when))
        when++;
    while (end > when && isspace((unsigned char)end[-1]))
        end--;
    if (end == when)
        return fail(reterr, CAIRN_E_BAD_INPUT, "is empty");
    if (end - when < 4 || strncmp(when, "{{", 2) != 0 || strncmp(end - 2, "}}", 2) != 0)
        return fail(reterr, CAIRN_E_BAD_INPUT, "must be an expression in {{ and }}");
    when += 2;
    end -= 2;
    while (when < end && isspace((unsigned char)*when))
        when++;
    if (when == end)
        return fail(reterr, CAIRN_E_BAD_INPUT, "is empty");
    return CAIRN_OK;
}
