/* http/deadline.h - connections whose request takes too long to arrive are closed.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * libmicrohttpd closes a connection on which nothing moves; one byte now and then is enough to
 * keep it for ever.  So each connection has a deadline as a whole for what it is sending:
 *
 *     opened ----> head ----> body ----> none (the server's turn) ----> head ...
 *
 * One thread waits for the earliest deadline.  It closes nothing itself: it shuts the socket
 * down, and the server's thread then finds the connection ended.
 */
#ifndef HTTP_DEADLINE_H
#define HTTP_DEADLINE_H

#include "cairn.h"

#include <microhttpd.h>
#include <stdint.h>

struct deadlines;
struct visitor; /* a connection */

/* head_ms: from the opening, or the end of the last answer, until the headers are complete.
 * body_ms: from then until the body is. */
cairn_code deadlines_start(int64_t head_ms, int64_t body_ms, struct deadlines **ret_deadlines,
                           cairn_error *reterr);
void deadlines_stop(struct deadlines *deadlines); /* after the server; may be NULL */

/* Callback of libmicrohttpd (MHD_OPTION_NOTIFY_CONNECTION), whose cls is the deadlines. */
void deadline_notify(void *cls, struct MHD_Connection *connection, void **visitor,
                     enum MHD_ConnectionNotificationCode what);

struct visitor *deadline_visitor(struct MHD_Connection *connection);

/* What is awaited from now on.  The visitor may be NULL. */
enum awaited { AWAIT_NOTHING, AWAIT_HEAD, AWAIT_BODY, AWAITED_COUNT };
void deadline_await(struct visitor *visitor, enum awaited awaited);

#endif
