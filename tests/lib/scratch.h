/* tests/lib/scratch.h - fresh places for tests: folders, files, databases.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * $CAIRN_TEST_STORE says which store a suite runs on: sqlite, postgres, pgbouncer or memory.  For
 * postgres, $CAIRN_TEST_POSTGRES is a URL of the private server that ./test starts, and
 * $CAIRN_TEST_PGBOUNCER one of the pooler before it; without them a suite fails, it does not
 * skip.
 */
#ifndef SCRATCH_H
#define SCRATCH_H

/* A folder that is removed when the program ends. */
const char *scratch_folder(void);

/* A path in it that nothing has yet; valid until the program ends. */
const char *scratch_path(const char *suffix);

/* The URL of a store with nothing in it, of the kind that $CAIRN_TEST_STORE names ("sqlite" if not
 * set); valid until the program ends.  It may have its tables already: making them is most of the
 * work of a short test, so ./test makes them once, in the database $CAIRN_TEST_TEMPLATE and in the
 * file $CAIRN_TEST_TEMPLATE_FILE. */
const char *scratch_store(void);

/* The URL of a store of a given kind, without tables.  PostgreSQL databases are dropped at exit. */
const char *scratch_store_of(const char *kind);

/* The kind itself. */
const char *scratch_kind(void);

#endif
