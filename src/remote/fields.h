/* remote/fields.h - objects of an answer, read by the tables of api/operation.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fields that a table does not name are passed over, so that a newer server can say more than
 * this library knows.  All structs begin zeroed.
 */
#ifndef REMOTE_FIELDS_H
#define REMOTE_FIELDS_H

#include "api/operation.h"
#include "remote/remote.h"

struct reader {
    struct remote_engine *engine;
    struct arena *arena;
    cairn_error *error;
};

/* The answer is not what a server of ours would send. */
cairn_code not_understood(struct reader *reader, const char *what);

cairn_code read_object(struct reader *reader, struct slice value, const struct object *object,
                       void *ret);

/* A list of objects, in the arena. */
cairn_code read_list(struct reader *reader, struct slice list, const struct object *object,
                     void **ret_items, size_t *ret_count);

#endif
