/* tests/fuzz/fuzz_condition.c - conditions: checked, and evaluated on data.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The input is an expression, a line end, and the JSON that it is evaluated on.  What
 * condition_check() refuses must not evaluate, and evaluating twice must give the same.
 */
#include "base/mem.h"
#include "core/condition.h"
#include "fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *expression = malloc(len + 1);
    MUST(expression);
    memcpy(expression, bytes, len);
    expression[len] = '\0';
    char *data = strchr(expression, '\n');
    if (data)
        *data++ = '\0';

    cairn_error error, again;
    bool first = false, second = false;
    const struct expression_scope scope = {
        .data = data, .input = data, .instance_id = "id", .step_name = "step"};
    cairn_code checked = condition_check(expression, &error);
    cairn_code code = condition_evaluate(expression, &scope, &first, &error);
    MUST(!checked || code);
    MUST(!code || error.message[0]);
    MUST(condition_evaluate(expression, &scope, &second, &again) == code);
    MUST(code || first == second);
    free(expression);
    return 0;
}
