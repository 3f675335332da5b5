/* base/error.h - fills in a cairn_error: the code for programs, message, detail and hint for people.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every function here takes a NULL cairn_error and then says nothing.  Messages are lower case
 * without a full stop: "could not" if it may work later, "cannot" if it never will.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "cairn.h"

#define format_like(f, a) __attribute__((format(printf, f, a)))

/* Sets code and message, clears detail and hint, and returns the code:
 *     return fail(reterr, CAIRN_E_NOT_FOUND, "job \"%s\" does not exist", id); */
cairn_code fail(cairn_error *reterr, cairn_code code, const char *format, ...)
    format_like(3, 4);

/* Adds the facts, or what to do; both after fail(), both returning the error's code. */
cairn_code fail_detail(cairn_error *reterr, cairn_code code, const char *format, ...)
    format_like(3, 4);
cairn_code fail_hint(cairn_error *reterr, cairn_code code, const char *format, ...)
    format_like(3, 4);

/* Memory ran out.  Needs none itself. */
cairn_code fail_memory(cairn_error *reterr);

void error_clear(cairn_error *error);

/* Returns from the enclosing function if a call does not succeed: its code, or its exit code. */
#define TRY(call)           \
    do {                    \
        int code_ = (call); \
        if (code_)          \
            return code_;   \
    } while (0)

/* The same if memory ran out: NEED(rows && ids, reterr); */
#define NEED(allocated, reterr)         \
    do {                                \
        if (!(allocated))               \
            return fail_memory(reterr); \
    } while (0)

#endif
