/* http/framing.h - whether a request's head says clearly where the request ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A proxy in front of the server may read an unclear head in another way, and then take the rest
 * of one client's body for the next client's request.  What libmicrohttpd lets pass is refused
 * here; after such a refusal the connection is closed.
 */
#ifndef HTTP_FRAMING_H
#define HTTP_FRAMING_H

#include "cairn.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

/* How a body comes. */
struct framing {
    bool is_chunked;
    uint64_t length; /* as declared; 0 if it is chunked */
};

/* Refused with CAIRN_E_BAD_INPUT: more than one Content-Length, Transfer-Encoding or Host; the
 * first two together; a length that is not a number; an encoding other than chunked; HTTP/1.1
 * without Host; a folded header, or one whose name has white space in it. */
cairn_code framing_check(struct MHD_Connection *connection, const char *version,
                         struct framing *ret_framing, cairn_error *reterr);

#endif
