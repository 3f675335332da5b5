/* engine/await.h - requests that are answered when a job or an instance has ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Such a request is a read that is repeated: it is read once; if the job or instance has not ended,
 * the request waits, without a thread, until there is a reason to read it again.  The local engine
 * has one when a commit of its own has ended that very job or instance, or a look (waits.c) says that
 * another process has.  The remote engine lets the server wait, and asks again when the server has waited for as long as it may.
 */
#ifndef ENGINE_AWAIT_H
#define ENGINE_AWAIT_H

#include "engine/request.h"

enum { AWAIT_FIRST_US = 5 * 1000, AWAIT_LONGEST_US = 500 * 1000 }; /* between two readings */

/* When it is submitted. */
void await_begin(struct request *request, int64_t now_us);

/* After it was read: whether it must be read again, later.  If its time is over, the answer is what
 * was read, or the reason why it could not be read. */
bool await_goes_on(struct request *request, int64_t now_us);

/* Forgets what was read. */
void await_again(struct request *request);

#endif
