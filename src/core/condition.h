/* core/condition.h - the expressions of conditions: "{{ gt .inventory_count 0 }}".
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A condition is one action of core/expression.h, "{{ ... }}" or "{{- ... -}}", with nothing but
 * white space around it.  In it .instance_id and .step_name say whose condition this is; fields of
 * the data with these names are hidden.
 */
#ifndef CORE_CONDITION_H
#define CORE_CONDITION_H

#include "core/expression.h"

/* Whether the expression is well-formed: known functions, the right number of arguments, within
 * the limits.  CAIRN_E_BAD_INPUT if not; the message names the column (characters, from 1). */
cairn_code condition_check(const char *expression, cairn_error *reterr);

/* Adds the steps whose output a well-formed expression asks for. */
cairn_code condition_steps(const char *expression, struct arena *arena,
                           struct expression_steps *steps, cairn_error *reterr);

/* Its value.
 *
 * CAIRN_E_BAD_INPUT  it is not well-formed, yields no boolean, or its parts cannot be compared.
 * CAIRN_E_BAD_JSON, CAIRN_E_TOO_LARGE
 *                    a text of the scope that it asks for cannot be read. */
cairn_code condition_evaluate(const char *expression, const struct expression_scope *scope,
                              bool *ret_is_true, cairn_error *reterr);

#endif
