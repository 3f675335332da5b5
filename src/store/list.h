/* store/list.h - lists of jobs and instances, newest first, put together from the verbs of a store.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A list is read in two steps.  A walk gives numbers (seq) in falling order, from the narrowest index
 * that there is: one for each status, merged here.  Then the rows with these numbers are read, and those
 * that do not match are left out.  Nothing is sorted, and a page that follows another begins at its
 * number.
 *
 * A filter that no index serves makes the walk long.  So it looks at no more than LIST_SCAN_MAX numbers,
 * or for LIST_SCAN_US, and says how far it came.
 */
#ifndef STORE_LIST_H
#define STORE_LIST_H

#include "store/store.h"

enum { LIST_SCAN_MAX = 20000 };
#define LIST_SCAN_US (40 * US_PER_MS)

/* How a list ended. */
struct list_end {
    size_t count; /* of rows */
    int64_t
        next; /* all that matches and has this number or more was shown; 0: nothing is left */
    int64_t
        scanned_to_us; /* the walk was cut short: when the job or instance `next` was created; else 0 */
};

cairn_code list_jobs(struct store_tx *tx, const struct list_filter *filter,
                     struct job_row *ret_rows, size_t room, struct list_end *ret_end,
                     cairn_error *reterr);
cairn_code list_instances(struct store_tx *tx, const struct list_filter *filter,
                          struct instance_row *ret_rows, size_t room, struct list_end *ret_end,
                          cairn_error *reterr);

/* Which open records of the dead letter queue.  A zeroed filter means all. */
struct dlq_filter {
    const char *instance_id, *workflow, *step; /* NULL: any */
    const char *group;                         /* of its error; NULL: any */
    int64_t before_id;                         /* 0: from the newest */
    size_t scan_max; /* how many records are looked at; 0: LIST_SCAN_MAX */
    bool is_row;     /* of the input only its beginning, and its length */
};

/* Newest first.  Only records of an instance have an index; other filters look at each record, and may end
 * early as a list does. */
cairn_code list_records(struct store_tx *tx, const struct dlq_filter *filter,
                        struct dlq_row *ret_rows, size_t room, struct list_end *ret_end,
                        cairn_error *reterr);

/* How many there are of each status that the filter wants, counted up to COUNT_MAX.  ret_counts has room
 * for each status of the kind. */
enum { COUNT_MAX = 10000 };
struct list_count {
    size_t n;
    bool is_more; /* than n */
};
cairn_code list_counts(struct store_tx *tx, enum list_kind kind,
                       const struct list_filter *filter, struct list_count *ret_counts,
                       cairn_error *reterr);

/* The same by where instances of a workflow stand, among the newest STANDS_MAX of each status, since steps are looked
 * at; if there are others, any count may be greater.  The filter's workflow is given; its version, parent (is_root) and times are looked at. */
enum { STANDS_MAX = 5000 };
cairn_code list_stands(struct store_tx *tx, const struct list_filter *filter,
                       struct list_count *ret_counts, cairn_error *reterr);

/* For the back ends: the words of a set of statuses, with a comma before and behind each; NULL: any.
 * False: memory ran out. */
bool list_statuses(struct arena *arena, const struct words *words, uint32_t statuses,
                   const char **ret_text);

#endif
