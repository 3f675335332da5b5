/* http/exchange.h - one request and its answer, on one connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     begun ----> body taken ----> calling ----> suspended ----> answered
 *       |             |               '----------------------------^
 *       |-------------'--- refused: the rest of the body is discarded, then answered
 *       '----------------- refused at once, and the connection closed
 *
 * Everything but on_done() and is_wanted() runs in the server's thread.
 */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include "http/held.h"
#include "http/http.h"
#include "http/intake.h"
#include "http/page.h"
#include "http/stream.h"

#include <microhttpd.h>
#include <pthread.h>

/* What exchanges share. */
struct http {
    struct MHD_Daemon *daemon;
    bool has_tokens;
    int listen_fd; /* -1 while it is the daemon's, until http_quiesce() */
    cairn_engine *engine;
    http_tell tell;
    void *tell_arg;
    bool tells_requests;
    int64_t refused_us; /* when a refused token was told last; of the server's thread */
    size_t refused_more;
    struct stream *stream;
    struct deadlines *deadlines;
    struct ui *ui;
    struct budget budget; /* of the bodies that exchanges hold */

    /* Held while a call is handed to the engine, so that the engine is not closed meanwhile. */
    pthread_mutex_t gate;
    _Atomic bool is_closed;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t idle;
    struct tokens *tokens;
    struct held *held;      /* calls that are under way */
    size_t revoked;         /* of these: no longer allowed */
    pthread_cond_t settled; /* none of them is */
    size_t answering;       /* exchanges that were read whole and are not over */
};

/* Hands a call to the engine; false: that is being closed. */
bool http_call(struct http *http, const cairn_request *request, cairn_done done);

/* Lets the engine end the calls that are not wanted any more. */
void http_end_unwanted(struct http *http);

/* Callbacks of libmicrohttpd, whose cls is the struct http. */
void *exchange_new(void *cls, const char *target, struct MHD_Connection *connection);
enum MHD_Result exchange_go_on(void *cls, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *bytes,
                               size_t *len, void **exchange);
void exchange_over(void *cls, struct MHD_Connection *connection, void **exchange,
                   enum MHD_RequestTerminationCode why);

#endif
