/* store/event_log.h - the events of a commit, sorted into rows of the log.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row of the log holds the events whose ids differ in their last bits alone, the slots.  Events of a
 * commit are much alike: type, step and data that several have in common are kept once.  Each back end
 * writes such a row in its own form.
 */
#ifndef STORE_EVENT_LOG_H
#define STORE_EVENT_LOG_H

#include "store/store.h"

enum {
    EVENTS_A_POST = 100
}; /* one event in so many of a subject can be found without a walk */

struct event_log {
    int64_t id;
    size_t slots;                    /* up to and with the last one that is used */
    const struct event_row **events; /* by slot; NULL: it is not used */
    const uint16_t *kinds;           /* by slot: which of `said` has its type, step and data */
    const struct event_row **said;
    size_t said_count;
    bool is_plain;  /* every slot is used, and all events say the same */
    bool has_prevs; /* some event is not its subject's first */
};

/* How a back end writes them. */
struct event_writer {
    cairn_code (*log)(struct store_tx *tx, const struct event_log *log, cairn_error *reterr);
    cairn_code (*posts)(struct store_tx *tx, const struct event_row *const *events,
                        size_t count, cairn_error *reterr);
    cairn_code (*loose)(struct store_tx *tx, const struct event_row *events, size_t count,
                        cairn_error *reterr);
};

/* append_events() of spec/verbs.txt. */
cairn_code event_log_append(struct store_tx *tx, const struct event_writer *writer,
                            const struct event_row *events, size_t count, cairn_error *reterr);

#endif
