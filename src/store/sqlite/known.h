/* store/sqlite/known.h - rows that a writer has read or written, as the file has them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A worker claims a step, and soon reports about it: its instance and the step are read in one transaction,
 * written, and read again in the next.  Nothing else has written them in between, and SQLite can say so.  So
 * a session keeps copies of the rows, and answers from them for as long as they are the file's:
 *
 *   - a commit by another connection, of this process or another one, changes PRAGMA data_version: all
 *     copies go when the next transaction begins;
 *   - every row that any statement of this connection writes is told to the update hook: its copy goes;
 *   - a rollback lets all copies go, and so does the next transaction where others have added triggers.
 *
 * The file decides, in other words; a copy only saves looking.  A copy also tells which columns a change
 * changes, so that the others, their indexes and their checks need not be written.
 *
 * Not for two threads at a time, as the session itself.
 */
#ifndef STORE_SQLITE_KNOWN_H
#define STORE_SQLITE_KNOWN_H

#include "store/sqlite/sqlite.h"

struct known_rows; /* of one session */

struct known_rows *known_new(void);        /* NULL: memory ran out; then nothing is known */
void known_free(struct known_rows *known); /* may be NULL */

/* Has this connection tell which rows it writes, and ask for what is to be written.  False: memory ran out. */
bool known_watch(struct known_rows *known, sqlite3 *db);

/* For tests: who else is told of each row that is written, as by sqlite3_update_hook().  NULL: nobody. */
typedef void known_observer(void *arg, int what, const char *database, const char *table,
                            sqlite3_int64 number);
void known_observe(struct known_rows *known, known_observer *observer);

/* When a transaction has begun: forgets all if another connection has written since the last one. */
void known_begin(struct known_rows *known, int64_t data_version);
void known_forget(struct known_rows *known); /* may be NULL */

/* A row by its number (rowid) in its table, copied to the arena; false: it is not known. */
bool known_step(struct store_tx *tx, int64_t number, struct step_row *ret_row);
bool known_instance(struct store_tx *tx, const char *id, struct instance_row *ret_row);
int64_t known_instance_seq(struct store_tx *tx, const char *id); /* 0: not known */

/* A row that was read whole, or inserted, in this transaction.  What is too large is not kept. */
void known_put_step(struct store_tx *tx, const struct step_row *row);
void known_put_instance(struct store_tx *tx, const struct instance_row *row);

/* Writes the columns of rows, each once, that differ from their copies, which are then what was written.  Of a row that is
 * not known nothing is done. */
cairn_code known_change_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                              bool *ret_is_known, cairn_error *reterr);
cairn_code known_change_instances(struct store_tx *tx, const struct instance_row *rows,
                                  size_t count, bool *ret_is_known, cairn_error *reterr);

#endif
