/* store/sqlite/event_digits.h - how many digits the numbers of a slot have in a row of the log; see 0011_event_log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_SQLITE_EVENT_DIGITS_H
#define STORE_SQLITE_EVENT_DIGITS_H

enum {
    KIND_DIGITS = 4,
    PREV_DIGITS = 16,
    SLOT_DIGITS = 4,
    SLOT_WIDTH = SLOT_DIGITS + 1 /* with the comma */
};

#endif
