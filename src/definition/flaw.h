/* definition/flaw.h - the errors of a workflow file, collected while it is read.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reading continues after a flaw, so that all of them are reported at once, in the order of the
 * file.
 */
#ifndef DEFINITION_FLAW_H
#define DEFINITION_FLAW_H

#include "base/arena.h"
#include "base/error.h"
#include "definition/definition.h"

/* Further flaws are dropped. */
enum { FLAWS_MAX = 200 };

struct place {
    int line, column; /* from 1; 0: the file as a whole */
};

struct flaw {
    cairn_flaw error;
    cairn_code code; /* CAIRN_E_BAD_INPUT, or CAIRN_E_TOO_LARGE beyond a limit */
};

struct flaws {
    struct arena *arena;
    struct flaw *list;
    size_t count, room;
    bool is_out_of_memory;
};

void flaw_add(struct flaws *flaws, struct place at, const char *format, ...) format_like(3, 4);
void flaw_limit(struct flaws *flaws, struct place at, const char *format, ...)
    format_like(3, 4);

/* Reports the first flaw in reterr, the others in its detail, and up to `room` in ret_errors. */
cairn_code flaws_tell(struct flaws *flaws, const char *file, cairn_flaw *ret_errors,
                      size_t room, size_t *ret_count, cairn_error *reterr);

/* A name for a message: in quotes, and cut if it is long. */
enum { QUOTED_TEXT = 80 };
const char *quoted(char to[QUOTED_TEXT], const char *name);

#endif
