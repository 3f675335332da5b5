/* engine/options.h - the structs of cairn.h that begin with `size`: which sizes are known.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A caller says with `size` how much of the struct it knows.  Every size that some version of the
 * library had is accepted.  Any other is rejected, since the library cannot know what such a struct
 * contains.  A change that adds members to the end of a struct adds the size before it to the table
 * in options.c.
 */
#ifndef ENGINE_OPTIONS_H
#define ENGINE_OPTIONS_H

#include "cairn.h"

enum options_kind {
    OPTIONS_OPEN,
    OPTIONS_JOB_SPEC,
    OPTIONS_JOB_FILTER,
    OPTIONS_REGISTRY,
    OPTIONS_CLAIM,
    OPTIONS_FUNCTION_CODE,
    OPTIONS_OUTBOUND,
    OPTIONS_REPORT,
    OPTIONS_WORKER,
    OPTIONS_START,
    OPTIONS_INSTANCE_FILTER,
    OPTIONS_SIGNAL,
    OPTIONS_FUNCTION,
    OPTIONS_STEP,
    OPTIONS_REQUEST,
    OPTIONS_COSTS,
    OPTIONS_STATS,
    OPTIONS_SCHEMA
};

/* CAIRN_E_BAD_INPUT if no version of the library had this size. */
cairn_code options_check(enum options_kind kind, size_t size, cairn_error *reterr);

/* Takes as much of `from` as its caller knows; the rest of `to` stays as it is.  NULL: all. */
cairn_code options_take(enum options_kind kind, void *to, const void *from,
                        cairn_error *reterr);

/* The same for an array, whose entries all have the size of the first.  `to` has room for count
 * entries of this library's size, each filled with defaults. */
cairn_code options_take_many(enum options_kind kind, void *to, const void *from, size_t count,
                             cairn_error *reterr);

/* For a struct that the library fills in: copies as much of `from` as the caller knows. */
cairn_code options_give(enum options_kind kind, void *ret, const void *from,
                        cairn_error *reterr);

#endif
