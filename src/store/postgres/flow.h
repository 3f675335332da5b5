/* store/postgres/flow.h - what the files for workflows share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_POSTGRES_FLOW_H
#define STORE_POSTGRES_FLOW_H

#include "store/postgres/postgres.h"

/* ---- timers --------------------------------------------------------------------------------
 */

/* Timers that this transaction sets. */
void postgres_note_flow_due(struct store_tx *tx, int64_t due_us);
void postgres_note_instance(struct store_tx *tx, const struct instance_row *row);
void postgres_note_step(struct store_tx *tx, const struct step_row *row);

/* How a step is marked: rank is what the index of ready steps has between type and next_run_at. */
enum { STEP_PRIORITY_BITS = 7, STEP_PRIORITY_MASK = 127 };
int64_t step_rank(int32_t version, int32_t priority);
int64_t step_key(int64_t next_run_at_us);

/* ---- rows ----------------------------------------------------------------------------------
 */

/* How many columns a row has when it is read whole. */
enum { INSTANCE_COLUMNS = 38, STEP_COLUMNS = 46 };

/* The columns in the order that every query lists them, from `first` on. */
void postgres_read_instance(struct postgres_reader *reader, int first,
                            struct instance_row *ret_row);
void postgres_read_step(struct postgres_reader *reader, int first, struct step_row *ret_row);

/* Runs a query whose rows are instances, or steps, and reads all of them. */
cairn_code postgres_run_instances(struct store_tx *tx, enum postgres_query query,
                                  const struct postgres_params *params,
                                  struct instance_row *ret_rows, size_t room, size_t *ret_count,
                                  cairn_error *reterr);
cairn_code postgres_run_steps(struct store_tx *tx, enum postgres_query query,
                              const struct postgres_params *params, struct step_row *ret_rows,
                              size_t room, size_t *ret_count, cairn_error *reterr);

#endif
