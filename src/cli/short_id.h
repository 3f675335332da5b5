/* cli/short_id.h - ids of jobs and instances that are given in part.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Wherever a command takes an id, the beginning of one will do (4 characters or more), or its last
 * 8 characters.  call() completes them, so that no command needs to know.
 */
#ifndef CLI_SHORT_ID_H
#define CLI_SHORT_ID_H

#include "cli/call.h"

enum { ID_ROOM = 37 };

/* Completes the id in a target such as "/v1/instances/ID/steps", and writes the target into `full`, which
 * stays empty if there is nothing to complete.  If no id or more than one fits, ret_answer is filled in as if
 * the server had said so.  The answer is an exit code. */
int target_complete(cairn_engine *engine, const char *target, struct buf *full,
                    struct answer *ret_answer);

/* If the id in the target of an answer of 404 is one of the other kind, which is easily mistaken, the answer's
 * hint says so. */
void target_hint(cairn_engine *engine, const char *target, struct answer *answer);

/* The same as target_complete() for an id alone; `list` is "/v1/jobs" or "/v1/instances".  An error is printed. */
int id_complete(cairn_engine *engine, const char *list, const char *given,
                char ret_id[ID_ROOM]);

/* The whole of an id that was completed last; any other is returned as it is. */
const char *id_shown(const char *given);

#endif
