/* engine/bulk.h - one action on many jobs, instances or dead letters.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An action is a row of workflow_bulk.  A process that leases it walks what its filter matches, from the newest
 * that existed when it was asked for to the oldest: a hundred in a commit, in which the row moves its cursor too.
 * So each object is touched once, and after a crash another process goes on where the row says.
 */
#ifndef ENGINE_BULK_H
#define ENGINE_BULK_H

#include "engine/check.h"
#include "engine/read.h"
#include "store/list.h"

enum bulk_target { BULK_INSTANCES, BULK_JOBS, BULK_DLQ };

/* What an action does to each object. */
struct bulk_action {
    enum bulk_target target;
    const char *word;
    enum request_op op;
    bool is_stop; /* needs who and why */
};

/* NULL: there is none for this target. */
const struct bulk_action *bulk_action_find(const char *target, const char *word);
cairn_code bulk_action_refuse(const char *target, const char *word, cairn_error *reterr);

/* What a filter, a JSON object, asks for.  target: as in bulk_target. */
struct bulk_filter {
    struct list_filter list;
    struct dlq_filter dlq;
};
cairn_code bulk_filter_read(enum bulk_target target, const char *json, struct arena *arena,
                            struct bulk_filter *ret_filter, cairn_error *reterr);

/* An object that is matched. */
struct bulk_object {
    const char *id;
    int64_t seq;
    const char *input; /* of a dead letter */
    const char *instance_id;
};

/* Matching objects before a number, the newest first; *ret_next: where to go on; 0: there are no more. */
cairn_code bulk_find(struct store_tx *tx, enum bulk_target target,
                     const struct bulk_filter *filter, int64_t before,
                     struct bulk_object *ret_objects, size_t room, size_t *ret_count,
                     int64_t *ret_next, cairn_error *reterr);

/* The public shape of a row. */
cairn_code bulk_show(struct arena *arena, const struct bulk_row *row,
                     struct bulk_item *ret_item, cairn_error *reterr);

/* bulk.c: when there is a portion to be made, and the request that makes it. */
int64_t bulk_next_us(struct local_engine *engine); /* monotonic; with the lock held */
void bulk_submit(struct local_engine *engine);     /* with the lock held */
void bulk_look(struct local_engine *engine);       /* there is news; with the lock held */

#endif
