/* store/list_scan.h - a list under way; what list.c, list_names.c and list_count.c share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_LIST_SCAN_H
#define STORE_LIST_SCAN_H

#include "store/list.h"

enum {
    SOURCES_MAX = INSTANCE_STATUS_COUNT,
    PORTION_MOST = 1000, /* numbers or rows that are read at once */
    SCAN_LEAST = 2000,   /* so many are looked at, however long it takes */
};

/* Statuses of instances that stand somewhere. */
#define STANDING (STATUS_BIT(INSTANCE_RUNNING) | STATUS_BIT(INSTANCE_WAITING_SIGNAL))

/* Numbers of one walk, or those that were looked up. */
struct source {
    struct list_walk walk;
    int64_t *seqs;
    size_t at, count, portion;
    bool is_done; /* nothing follows what was read */
};

/* A list under way.  Rows of both kinds are read by their type. */
struct scan {
    struct store_tx *tx;
    const struct store_ops *ops;
    struct list_filter filter;
    enum list_kind kind;
    const struct row_type *type;
    size_t id_offset, key_offset, seq_offset, tags_offset;
    size_t parent_offset; /* of instances */
    struct source sources[SOURCES_MAX];
    size_t source_count;
    int64_t from, before; /* from <= seq < before */
    size_t scanned;
    int64_t give_up_us; /* monotonic */
    cairn_error *error;
};

/* list.c: from which number on and below which one, by the filter's cursor and times. */
cairn_code scan_find_bounds(struct scan *scan);
bool scan_is_any_status(const struct scan *scan);

/* list_names.c: the numbers of what has the ids or keys that the filter names, as the only source; and whether
 * a row has them. */
cairn_code scan_look_up(struct scan *scan);
bool scan_is_named(const struct scan *scan, const char *id, const char *key);

#endif
