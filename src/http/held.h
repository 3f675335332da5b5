/* http/held.h - requests that are under way, and end with their token.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A call may wait in the engine: for a task, for an end, for descendants to be stopped.  Its token was looked at when its
 * headers came.  If the tokens are read again meanwhile, and this one is gone or may no longer do this, the call is
 * not wanted any more: the engine ends it, and it is answered with 401 or 403.
 */
#ifndef HTTP_HELD_H
#define HTTP_HELD_H

#include <stdbool.h>

struct http;
struct tokens;

/* Of a request that needs a token.  A zeroed struct needs none. */
struct held {
    struct held *next, **at; /* among those under way; at: NULL if it is not */
    char *secret;            /* its token; NULL: it needs none */
    unsigned needed;         /* one of these roles */
    unsigned roles;          /* those that the token has; 0: it is unknown */
    _Atomic bool is_revoked;
};

/* Keeps the token; false: memory ran out. */
bool held_keep(struct held *held, const char *secret, unsigned roles, unsigned needed);
void held_done(struct held *held);

/* From now on it ends with its token.  False: it may not begin. */
bool held_begin(struct http *http, struct held *held);
bool held_may_go_on(struct http *http, struct held *held); /* the same question */

/* It has ended. */
void held_end(struct http *http, struct held *held);

/* With the lock of http held: those that these tokens do not allow are revoked. */
void held_revoke(struct http *http, const struct tokens *tokens);

/* Ends those in the engine, and waits for it.  Without the lock. */
void held_settle(struct http *http);

#endif
