/* engine/doctor.h - what the files of doctor share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_DOCTOR_H
#define ENGINE_DOCTOR_H

#include "base/error.h"
#include "engine/local.h"

/* Notes a finding: what, which, why, and what to do. */
void find(struct page_output *out, const char *check, const char *result, const char *format,
          ...) format_like(4, 5);

/* Looks at instances and steps. */
cairn_code doctor_flow(const struct store_ops *ops, struct store_tx *tx,
                       struct page_output *out, cairn_error *reterr);

#endif
