/* engine/flow_batch.h - what a batch does to instances, one request at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each is refused by request->code, alone; a code that is returned ends the transaction.
 */
#ifndef ENGINE_FLOW_BATCH_H
#define ENGINE_FLOW_BATCH_H

#include "engine/world.h"

/* flow_batch_signal.c */
cairn_code flow_batch_signal(struct batch *batch, struct request *request, cairn_error *reterr);

/* flow_batch_control.c */
cairn_code flow_batch_control(struct batch *batch, struct request *request,
                              cairn_error *reterr);
cairn_code flow_batch_decide(struct batch *batch, struct request *request, cairn_error *reterr);
cairn_code flow_batch_requeue(struct batch *batch, struct request *request,
                              cairn_error *reterr);
/* Finds out which instance a requeue is about, so that it can be locked with all others. */
cairn_code flow_batch_name_record(struct batch *batch, struct request *request,
                                  cairn_error *reterr);
cairn_code no_such_instance(struct request *request, const char *id);

/* flow_batch_outbox.c */
cairn_code flow_batch_claim_outbox(struct batch *batch, struct request *request,
                                   cairn_error *reterr);
cairn_code flow_batch_ack_outbox(struct batch *batch, struct request *request,
                                 cairn_error *reterr);
/* What was emitted and is not yet in the store. */
cairn_code flow_batch_append_outbox(struct batch *batch, cairn_error *reterr);

#endif
