/* definition/config.h - a step's config JSON, as core/step_config.h describes it: writing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DEFINITION_CONFIG_H
#define DEFINITION_CONFIG_H

#include "base/buf.h"
#include "definition/element.h"

/* Writes nothing if all is default.  Places must be known. */
void config_write(struct buf *buf, const struct element *element);
void config_write_join(struct buf *buf, const struct element *fork);

#endif
