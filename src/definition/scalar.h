/* definition/scalar.h - what an unquoted word of YAML stands for (its core schema).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DEFINITION_SCALAR_H
#define DEFINITION_SCALAR_H

#include "definition/node.h"

enum scalar_kind scalar_kind_of(const char *text);

#endif
