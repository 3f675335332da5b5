/* engine/read.h - what the questions about workflows and instances share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_READ_H
#define ENGINE_READ_H

#include "engine/workset.h"

/* A question in its transaction. */
struct question {
    const struct store_ops *ops;
    struct store_tx *tx;
    struct request *request;
    struct arena *arena; /* the request's: answers live there */
    cairn_error *error;
};

/* read_flow.c: CAIRN_E_NOT_FOUND is told. */
cairn_code question_instance(struct question *q, const char *id, struct instance_row *ret_row);

/* Where a page goes on from; NULL is the beginning. */
int64_t page_cursor(const char *cursor);

/* Ends a page for which one row more than `limit` was asked: how many are shown, and the cursor of
 * the next page if there is one.  `last` is the number of the last row that is shown. */
cairn_code page_end(struct question *q, size_t found, uint32_t limit, int64_t last,
                    size_t *ret_count, const char **ret_next);

/* read_context.c */
cairn_code read_context(struct question *q);

/* read_parts.c: what belongs to an instance. */
cairn_code list_steps(struct question *q);
cairn_code list_logs(struct question *q);
cairn_code list_decisions(struct question *q);
cairn_code list_instance_events(struct question *q);
cairn_code list_all_events(struct question *q);
cairn_code list_dlq(struct question *q);
cairn_code get_dlq(struct question *q);

#endif
