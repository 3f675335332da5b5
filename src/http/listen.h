/* http/listen.h - an address in words, and the socket that listens there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HTTP_LISTEN_H
#define HTTP_LISTEN_H

#include "cairn.h"

#include <stdbool.h>

enum { LISTEN_TEXT = 128 };

/* "127.0.0.1:22476", "localhost:0", "[::1]:22476", "0.0.0.0:22476".  Port 0: any free one.
 * Refuses, with CAIRN_E_FORBIDDEN, an address that other machines can reach, if only loopback
 * is allowed.  ret_text says where it listens, as it stands in a URL.
 *
 * CAIRN_E_BAD_INPUT     this is no address.
 * CAIRN_E_UNREACHABLE   the address is taken, or not this machine's. */
cairn_code listen_open(const char *address, bool is_loopback_only, int *ret_fd,
                       char ret_text[LISTEN_TEXT], cairn_error *reterr);

#endif
