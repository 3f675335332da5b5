/* engine/notice.h - tells the program that has opened an engine what an operator wants to know.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_NOTICE_H
#define ENGINE_NOTICE_H

#include "base/error.h"
#include "engine/engine.h"

/* A number of a notice; a list of them ends with one that has no name. */
struct notice_fact {
    const char *name;
    int64_t value;
};

/* Calls the program's notice function, if it has one, and keeps the notice for cairn_notices().
 * `event` is a word of the list in cairn.h.  Call it without holding a lock. */
void notice_tell(struct cairn_engine *engine, cairn_notice_level level, const char *event,
                 const struct notice_fact *facts, const char *format, ...) format_like(5, 6);

/* When the engine closes. */
void notices_done(struct cairn_engine *engine);

#endif
