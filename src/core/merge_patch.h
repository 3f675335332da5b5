/* core/merge_patch.h - JSON changed by a merge patch (RFC 7396).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CORE_MERGE_PATCH_H
#define CORE_MERGE_PATCH_H

#include "base/buf.h"

#include <stdbool.h>

/* Adds `target` to the buffer, changed by `patch`; both are JSON.  Members keep their order, and what is not
 * changed its bytes, so that numbers keep their digits.  False: one of them is no JSON. */
bool merge_patch(const char *target, const char *patch, struct buf *out);

#endif
