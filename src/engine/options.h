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

/* The name of each of them here, its type and its defaults. */
#define OPTIONS_KINDS(X)                                                      \
    X(OPEN, cairn_open_options, CAIRN_OPEN_DEFAULTS)                          \
    X(JOB_SPEC, cairn_job_spec, CAIRN_JOB_DEFAULTS)                           \
    X(JOB_FILTER, cairn_job_filter, CAIRN_JOB_FILTER_DEFAULTS)                \
    X(REGISTRY, cairn_registry_spec, CAIRN_REGISTRY_DEFAULTS)                 \
    X(CLAIM, cairn_claim_options, CAIRN_CLAIM_DEFAULTS)                       \
    X(FUNCTION_CODE, cairn_function_code, CAIRN_FUNCTION_CODE_DEFAULTS)       \
    X(OUTBOUND, cairn_outbound, CAIRN_OUTBOUND_DEFAULTS)                      \
    X(REPORT, cairn_report, CAIRN_REPORT_DEFAULTS)                            \
    X(BEAT, cairn_beat, CAIRN_BEAT_DEFAULTS)                                  \
    X(WORKER, cairn_worker_options, CAIRN_WORKER_DEFAULTS)                    \
    X(START, cairn_start_options, CAIRN_START_DEFAULTS)                       \
    X(INSTANCE_FILTER, cairn_instance_filter, CAIRN_INSTANCE_FILTER_DEFAULTS) \
    X(SIGNAL, cairn_signal_options, CAIRN_SIGNAL_DEFAULTS)                    \
    X(FUNCTION, cairn_function_options, CAIRN_FUNCTION_DEFAULTS)              \
    X(STEP, cairn_step_options, CAIRN_STEP_DEFAULTS)                          \
    X(REQUEST, cairn_request, CAIRN_REQUEST_DEFAULTS)                         \
    X(COSTS, cairn_passage_costs, CAIRN_PASSAGE_COSTS_DEFAULTS)               \
    X(STATS, cairn_stats, CAIRN_STATS_DEFAULTS)                               \
    X(SCHEMA, cairn_schema, CAIRN_SCHEMA_DEFAULTS)

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
