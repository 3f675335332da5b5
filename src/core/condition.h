/* core/condition.h - the expressions of conditions: "{{ gt .inventory_count 0 }}".
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A condition is a Go template of one action, "{{ ... }}" or "{{- ... -}}", with nothing but
 * white space around it.  In it stands a value, or a function and its arguments; parentheses
 * make a function call an argument of another.
 *
 *     eq a b ...     a equals b, or any of the others
 *     ne gt lt ge le two arguments
 *     and or         two or more booleans; the rest is not looked at once the answer is known
 *     not            one boolean
 *     .user.age      a field of the input; "." is the input itself
 *     .instance_id .step_name
 *                    whose condition this is; fields of the input with these names are hidden
 *     "a\n" `raw`    strings, as in Go
 *     5 -1.5 1e3     numbers, as in JSON
 *     true false
 *
 * A field that is absent or null is missing; so is any field of what is no object.  What is
 * missing is the zero of what it is compared with (0, "", false), equal to what else is
 * missing, and false by itself.
 *
 * Numbers compare exactly, whatever their type; strings compare byte by byte.  A string that is a
 * JSON number compares with a number as that number; any other string is not equal to a number,
 * and has no order with it.  Booleans are equal or not, but have no order.  Objects and arrays
 * cannot be compared, nor values of any other two types.
 *
 * Pipes, variables, nil and all other actions and functions of Go are refused.
 */
#ifndef CORE_CONDITION_H
#define CORE_CONDITION_H

#include "cairn.h"

#include <stdbool.h>

/* Whether the expression is well-formed: known functions, the right number of arguments, at
 * most 4096 bytes and 64 parentheses inside each other.  CAIRN_E_BAD_INPUT if not; the message
 * names the column (characters, from 1). */
cairn_code condition_check(const char *expression, cairn_error *reterr);

/* Its value for an input (JSON; NULL is as good as null).
 *
 * CAIRN_E_BAD_INPUT  it is not well-formed, yields no boolean, or its parts cannot be compared.
 * CAIRN_E_BAD_JSON, CAIRN_E_TOO_LARGE
 *                    the input cannot be read. */
cairn_code condition_evaluate(const char *expression, const char *input,
                              const char *instance_id, const char *step_name, bool *ret_is_true,
                              cairn_error *reterr);

#endif
