/* tests/unit/states_text.h - docs/states.md, printed from the tables of core/instance.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STATES_TEXT_H
#define STATES_TEXT_H

#include "base/buf.h"

void states_text(struct buf *out);

#endif
