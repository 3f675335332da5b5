/* engine/options.h - the structs of cairn.h that begin with `size`: which sizes are known.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A caller says with `size` how much of the struct it knows.  Every size that some version of the
 * library had is accepted.  Any other is rejected, since the library cannot know what such a struct
 * contains.  A change that adds members to the end of a struct adds its earlier size to options.c.
 */
#ifndef ENGINE_OPTIONS_H
#define ENGINE_OPTIONS_H

#include "base/arena.h"
#include "cairn.h"

/* The name of each of them here, its type, and the name of its defaults without _DEFAULTS. */
#define OPTIONS_KINDS(X)                                             \
    X(OPEN, cairn_open_options, CAIRN_OPEN)                          \
    X(JOB_SPEC, cairn_job_spec, CAIRN_JOB)                           \
    X(JOB_FILTER, cairn_job_filter, CAIRN_JOB_FILTER)                \
    X(REGISTRY, cairn_registry_spec, CAIRN_REGISTRY)                 \
    X(SCHEDULE, cairn_schedule_spec, CAIRN_SCHEDULE)                 \
    X(LIMIT, cairn_limit_spec, CAIRN_LIMIT)                          \
    X(CLAIM, cairn_claim_options, CAIRN_CLAIM)                       \
    X(FUNCTION_CODE, cairn_function_code, CAIRN_FUNCTION_CODE)       \
    X(KNOWN, cairn_known, CAIRN_KNOWN)                               \
    X(OUTBOUND, cairn_outbound, CAIRN_OUTBOUND)                      \
    X(REPORT, cairn_report, CAIRN_REPORT)                            \
    X(BEAT, cairn_beat, CAIRN_BEAT)                                  \
    X(WORKER, cairn_worker_options, CAIRN_WORKER)                    \
    X(START, cairn_start_options, CAIRN_START)                       \
    X(INSTANCE_FILTER, cairn_instance_filter, CAIRN_INSTANCE_FILTER) \
    X(SIGNAL, cairn_signal_options, CAIRN_SIGNAL)                    \
    X(FUNCTION, cairn_function_options, CAIRN_FUNCTION)              \
    X(STEP, cairn_step_options, CAIRN_STEP)                          \
    X(REQUEST, cairn_request, CAIRN_REQUEST)                         \
    X(COSTS, cairn_passage_costs, CAIRN_PASSAGE_COSTS)               \
    X(STATS, cairn_stats, CAIRN_STATS)                               \
    X(RETENTION, cairn_retention, CAIRN_RETENTION)                   \
    X(PURGE, cairn_purge_options, CAIRN_PURGE)                       \
    X(SCHEMA, cairn_schema, CAIRN_SCHEMA)                            \
    X(TRIAL, cairn_trial_options, CAIRN_TRIAL)

#define OPTIONS_KIND(kind, type, defaults) OPTIONS_##kind,
enum options_kind { OPTIONS_KINDS(OPTIONS_KIND) OPTIONS_COUNT };

/* CAIRN_E_BAD_INPUT if no version of the library had this size. */
cairn_code options_check(enum options_kind kind, size_t size, cairn_error *reterr);

/* Takes as much of `from` as its caller knows; the rest are defaults.  NULL: all. */
cairn_code options_take(enum options_kind kind, void *to, const void *from,
                        cairn_error *reterr);

/* The same for an array, whose entries all have the size of the first.  ret_array points to the
 * pointer that is set. */
cairn_code options_take_many(enum options_kind kind, struct arena *arena, const void *from,
                             size_t count, void *ret_array, cairn_error *reterr);

/* For a struct that the library fills in: copies as much of `from` as the caller knows. */
cairn_code options_give(enum options_kind kind, void *ret, const void *from,
                        cairn_error *reterr);

#endif
