/* core/condition.h - expressions that decide where a flow goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CORE_CONDITION_H
#define CORE_CONDITION_H

#include "cairn.h"

/* Whether the text has the form of an expression: {{ ... }}, not empty, and nothing around it.
 * CAIRN_E_BAD_INPUT if not; the message goes on after the name of the field: "is empty". */
cairn_code condition_check(const char *when, cairn_error *reterr);

#endif
