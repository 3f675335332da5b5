/* store/sqlite/purge_event.h - removing the events of what is purged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_SQLITE_PURGE_EVENT_H
#define STORE_SQLITE_PURGE_EVENT_H

#include "store/store.h"

/* Removes the chains that end in these events (0: there is none). */
cairn_code sqlite_purge_events(struct store_tx *tx, const int64_t *last_events, size_t count,
                               cairn_error *reterr);

#endif
