/* definition/task.h - the keys of a step: attempts, retry, compensation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DEFINITION_TASK_H
#define DEFINITION_TASK_H

#include "definition/mapping.h"

void task_parse(const struct mapping *mapping, struct element *element);

/* on_failure, of any element that can fail. */
void policy_parse(const struct mapping *mapping, struct element *element);

#endif
