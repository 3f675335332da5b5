/* core/condition.c - which way a condition sends a flow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/condition.h"

#include "base/error.h"
#include "base/mem.h"
#include "core/condition_inside.h"

cairn_code condition_check(const char *expression, cairn_error *reterr)
{
    cleanup(arena_done) struct arena arena = {0};
    struct node *tree;
    return condition_parse(expression, &arena, &tree, reterr);
}

cairn_code condition_steps(const char *expression, struct arena *arena,
                           struct expression_steps *steps, cairn_error *reterr)
{
    cleanup(arena_done) struct arena trees = {0};
    struct node *tree;
    TRY(condition_parse(expression, &trees, &tree, reterr));
    return node_steps(tree, arena, steps, reterr);
}

cairn_code condition_evaluate(const char *expression, const struct expression_scope *scope,
                              bool *ret_is_true, cairn_error *reterr)
{
    cleanup(arena_done) struct arena arena = {0};
    cleanup(evaluation_done) struct evaluation evaluation = {.scope = scope,
                                                             .text = expression,
                                                             .is_condition = true,
                                                             .arena = &arena,
                                                             .reterr = reterr};
    struct node *tree;
    struct value value;
    TRY(condition_parse(expression, &arena, &tree, reterr));
    TRY(evaluate(&evaluation, tree, &value));
    if (value.kind != VALUE_BOOL && value.kind != VALUE_MISSING)
        return fail(reterr, CAIRN_E_BAD_INPUT, "the condition yields %s, not a boolean",
                    value_kind_name(value.kind));
    *ret_is_true = value.kind == VALUE_BOOL && value.is_true;
    return CAIRN_OK;
}
