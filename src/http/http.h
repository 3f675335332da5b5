/* http/http.h - cairn_call_async() behind a socket.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One thread serves all connections.  While a call is under way its connection is suspended, so
 * a claim that waits costs neither a thread nor CPU.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "cairn.h"
#include "http/access.h"
#include "http/page.h"

#include <stdbool.h>
#include <stddef.h>

struct http;

enum { REQUEST_MS = 60000 };

struct http_config {
    cairn_engine *engine;
    int listen_fd;               /* from listen_open(); is the server's from then on */
    const struct tokens *tokens; /* outlives the server; NULL: every client may do everything */
    unsigned max_connections;
    unsigned idle_s;     /* a connection on which nothing moves for this long is closed */
    unsigned request_ms; /* how long the headers of a request, and then its body, may take to
                          * arrive; 0: REQUEST_MS */
    size_t
        large_bodies; /* bytes that all large bodies together may take; 0: as intake.h says */
    struct ui_config page;
};

cairn_code http_start(const struct http_config *config, struct http **ret_http,
                      cairn_error *reterr);

/* No connection is accepted any more, and no call reaches the engine: new ones are answered
 * with CAIRN_E_CLOSED.  The engine may be closed after this, which answers what waits. */
void http_quiesce(struct http *http);

/* Sends the answers that are there, for a few seconds at most, and releases everything.  After
 * http_quiesce() and cairn_close(). */
void http_stop(struct http *http);

#endif
