/* store/sqlite/flow.h - the verbs of workflows, and what their files share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_SQLITE_FLOW_H
#define STORE_SQLITE_FLOW_H

#include "store/sqlite/sqlite.h"

/* ---- Shared ---------------------------------------------------------------------------------
 */

/* A step's id: its instance's number, then its place.  The queries and the table know it, too.
 */
enum { PLACE_BITS = 20, PLACES_MAX = 1 << PLACE_BITS };

int64_t step_id(int64_t instance_seq, int64_t place);

/* The number of an instance.  CAIRN_E_NOT_FOUND, with reterr as it was. */
cairn_code find_instance_seq(struct store_tx *tx, const char *id, int64_t *ret_seq,
                             cairn_error *reterr);

/* A row of a query that selects the columns of a step; instance_id lives in the arena, or is
 * NULL if the query selects it as well. */
cairn_code read_step(struct query *query, struct arena *arena, const char *instance_id,
                     struct step_row *ret_row, cairn_error *reterr);
cairn_code read_steps(struct query *query, struct store_tx *tx, const char *instance_id,
                      const char *what, struct step_row *ret_rows, size_t room,
                      size_t *ret_count, cairn_error *reterr);

#endif
