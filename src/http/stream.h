/* http/stream.h - GET /v1/stream: what happens, sent as it happens.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One thread follows the events of the engine for all clients, while there are any.  A client has
 * a place in the events of its own: those that come back with the id of the last event they saw
 * are given what they missed, a page at a time, until they have caught up with the thread.
 *
 *     joining ----> waiting <----> sending ----> over
 *
 * Clients that want digests and want the same share one (http/digest.h): it is put together once for each of
 * their periods.
 *
 * A client that waits is suspended; it costs neither a thread nor CPU.
 */
#ifndef HTTP_STREAM_H
#define HTTP_STREAM_H

#include "cairn.h"

#include <microhttpd.h>

struct http;
struct stream;
struct stream_client;
struct stream_want;
struct tokens;

struct stream *stream_new(struct http *http); /* NULL: memory ran out */

/* Ends the thread and every client.  After the engine is closed, before the server is. */
void stream_close(struct stream *stream);
void stream_free(struct stream *stream);

/* Suspends the connection until the client has its place; then its handler is called again and
 * asks for the response.  `after` is the id of the last event it knows; NULL: the present.  `secret` is its
 * token; NULL: the server has none.
 *
 * CAIRN_E_BAD_INPUT  that is no id.
 * CAIRN_E_TOO_MANY   there are as many clients as there may be. */
cairn_code stream_join(struct stream *stream, struct MHD_Connection *connection, int fd,
                       const char *after, const struct stream_want *want, const char *secret,
                       struct stream_client **ret_client, cairn_error *reterr);

/* Ends the clients whose tokens are not among these, or may no longer follow. */
void stream_keep_known(struct stream *stream, const struct tokens *tokens);

/* The response owns the client from then on.  NULL: memory ran out, and the client is gone. */
struct MHD_Response *stream_response(struct stream_client *client);
void stream_leave(struct stream_client *client); /* may be NULL */

#endif
