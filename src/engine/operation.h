/* engine/operation.h - what the engine does with each kind of request.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_OPERATION_H
#define ENGINE_OPERATION_H

#include "engine/request.h"

struct batch;
struct check;
struct question;

struct engine_operation {
    const char *name; /* as messages say it */

    /* Whether the request keeps within the limits; also cuts error texts and fills in defaults. */
    cairn_code (*check)(struct check *check);

    /* Changes rows, at the request's turn in a batch.  A refusal is request->code; a code that is
     * returned ends the transaction.  NULL: a read; or a claim, which comes after all others. */
    cairn_code (*apply)(struct batch *batch, struct request *request);

    /* Answers the request, in a transaction: a read, or a control after its change was written. */
    cairn_code (*answer)(struct question *question);
};

const struct engine_operation *engine_operation_of(enum request_op op);

#endif
