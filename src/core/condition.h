/* core/condition.h - the expressions of conditions: "{{ gt .inventory_count 0 }}".
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Go-template expressions: eq ne gt lt ge le and or not, parentheses, nested fields, strings,
 * numbers, booleans, .instance_id, .step_name.
 */
#ifndef CORE_CONDITION_H
#define CORE_CONDITION_H

#include "cairn.h"

#include <stdbool.h>

/* Whether the expression is well-formed: not empty, known functions, the right number of arguments.
 * CAIRN_E_BAD_INPUT, with the place in the message. */
cairn_code condition_check(const char *expression, cairn_error *reterr);

/* Its value for an input (JSON).  CAIRN_E_BAD_INPUT: it yields no boolean, or its parts cannot be
 * compared. */
cairn_code condition_evaluate(const char *expression, const char *input,
                              const char *instance_id, const char *step_name, bool *ret_is_true,
                              cairn_error *reterr);

#endif
