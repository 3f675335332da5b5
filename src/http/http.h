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

/* Something that the log may want to know. */
struct http_event {
    enum { HTTP_REQUEST, HTTP_REFUSED } what; /* a request is over; a token was not accepted */
    const char *method, *path;                /* without the query */
    unsigned status;                          /* of a request; 0: it was not answered */
    int64_t took_us;                          /* the same */
    const char *caller;                       /* the name of its token; NULL: none */
    const char *client;                       /* where it came from */
    const char *
        trace; /* of a request: its traceparent, or that of the metadata in its body; NULL: none */
    bool is_always_told; /* of a request: nothing but the log keeps who made it */
    size_t left_out;     /* refusals that were not told, since there is at most one a second */
};

/* Called by the server's thread; the texts are valid during the call only. */
typedef void (*http_tell)(void *arg, const struct http_event *event);

struct http_config {
    cairn_engine *engine;
    int listen_fd;         /* from listen_open(); is the server's from then on */
    struct tokens *tokens; /* the server's from then on; NULL: every client may do everything */
    bool is_tls;           /* by the certificate of tls_load() */
    http_tell tell;        /* NULL: nobody wants to know */
    void *tell_arg;
    bool tells_requests; /* and not only refused tokens */
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

/* From now on these tokens count, also on connections that are open; they are the server's.  What is under way
 * with a token that is gone, or may no longer do it, has ended when this returns.  Only for a server that was started
 * with tokens. */
void http_set_tokens(struct http *http, struct tokens *tokens);

/* No connection is accepted any more, and no call reaches the engine: new ones are answered
 * with CAIRN_E_CLOSED.  The engine may be closed after this, which answers what waits. */
void http_quiesce(struct http *http);

/* Sends the answers that are there, for a few seconds at most, and releases everything.  After
 * http_quiesce() and cairn_close(). */
void http_stop(struct http *http);

#endif
