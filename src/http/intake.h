/* http/intake.h - a request's body while it comes in, and how much memory bodies may take.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A small body always has room, bounded by the number of connections.  Larger ones share a
 * budget, so clients that send large bodies, or half of them, keep out only each other.
 */
#ifndef HTTP_INTAKE_H
#define HTTP_INTAKE_H

#include "base/buf.h"
#include "cairn.h"

#include <stdbool.h>
#include <stddef.h>

#define MIB (1024u * 1024u)

enum {
    BODY_MAX = 16 * MIB,          /* of one body */
    BODY_SMALL = 64 * 1024,       /* bodies up to this size do not count against the budget */
    LARGE_BODIES_MAX = 256 * MIB, /* all larger ones together */
    DISCARD_MAX = 64 * MIB        /* how much of a refused body is read before we hang up */
};

/* What all bodies share; the server thread's own. */
struct budget {
    size_t max, used;
};

struct intake {
    struct budget *budget;
    struct buf body;
    size_t counted;   /* of the budget */
    size_t discarded; /* of a body that is refused */
};

/* Keeps bytes.  CAIRN_E_TOO_LARGE: the body is; CAIRN_E_TOO_MANY: the budget is used up; the
 * body is dropped then. */
cairn_code intake_keep(struct intake *intake, const char *bytes, size_t len,
                       cairn_error *reterr);
cairn_code intake_refuse_size(cairn_error *reterr);

/* Lets bytes of a refused body pass by.  False: it has been too much. */
bool intake_discard(struct intake *intake, size_t len);

void intake_drop(struct intake *intake);

#endif
