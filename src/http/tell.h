/* http/tell.h - what the server tells its log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HTTP_TELL_H
#define HTTP_TELL_H

#include "http/exchange.h"

/* A request is over: `status` is 0 if it was not answered. */
void tell_request(struct http *http, struct MHD_Connection *connection,
                  const struct http_event *event);

/* A token was not accepted.  At most one is told in a second, so that nobody can fill the log. */
void tell_refused(struct http *http, struct MHD_Connection *connection, const char *method,
                  const char *target);

#endif
