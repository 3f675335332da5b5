/* engine/options.c - the structs of cairn.h that begin with `size`: which sizes are known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/options.h"

#include "base/error.h"

#include <stddef.h>
#include <string.h>

enum { SIZES_MAX = 4 };

/* The size now, then those of earlier versions. */
static const struct {
    const char *name, *defaults;
    size_t sizes[SIZES_MAX];
} kinds[] = {
    [OPTIONS_OPEN] = {"cairn_open_options",
                      "CAIRN_OPEN_DEFAULTS",
                      {sizeof(cairn_open_options), offsetof(cairn_open_options, notice)}},
    [OPTIONS_JOB_SPEC] = {"cairn_job_spec", "CAIRN_JOB_DEFAULTS", {sizeof(cairn_job_spec)}},
    [OPTIONS_JOB_FILTER] = {"cairn_job_filter",
                            "CAIRN_JOB_FILTER_DEFAULTS",
                            {sizeof(cairn_job_filter)}},
    [OPTIONS_REGISTRY] = {"cairn_registry_spec",
                          "CAIRN_REGISTRY_DEFAULTS",
                          {sizeof(cairn_registry_spec)}},
    [OPTIONS_CLAIM] = {"cairn_claim_options",
                       "CAIRN_CLAIM_DEFAULTS",
                       {sizeof(cairn_claim_options), offsetof(cairn_claim_options, functions)}},
    [OPTIONS_FUNCTION_CODE] = {"cairn_function_code",
                               "CAIRN_FUNCTION_CODE_DEFAULTS",
                               {sizeof(cairn_function_code)}},
    [OPTIONS_OUTBOUND] = {"cairn_outbound",
                          "CAIRN_OUTBOUND_DEFAULTS",
                          {sizeof(cairn_outbound)}},
    [OPTIONS_REPORT] = {"cairn_report", "CAIRN_REPORT_DEFAULTS", {sizeof(cairn_report)}},
    [OPTIONS_WORKER] = {"cairn_worker_options",
                        "CAIRN_WORKER_DEFAULTS",
                        {sizeof(cairn_worker_options)}},
    [OPTIONS_START] = {"cairn_start_options",
                       "CAIRN_START_DEFAULTS",
                       {sizeof(cairn_start_options)}},
    [OPTIONS_INSTANCE_FILTER] = {"cairn_instance_filter",
                                 "CAIRN_INSTANCE_FILTER_DEFAULTS",
                                 {sizeof(cairn_instance_filter)}},
    [OPTIONS_SIGNAL] = {"cairn_signal_options",
                        "CAIRN_SIGNAL_DEFAULTS",
                        {sizeof(cairn_signal_options)}},
    [OPTIONS_FUNCTION] = {"cairn_function_options",
                          "CAIRN_FUNCTION_DEFAULTS",
                          {sizeof(cairn_function_options)}},
    [OPTIONS_STEP] = {"cairn_step_options",
                      "CAIRN_STEP_DEFAULTS",
                      {sizeof(cairn_step_options)}},
    [OPTIONS_REQUEST] = {"cairn_request", "CAIRN_REQUEST_DEFAULTS", {sizeof(cairn_request)}},
    [OPTIONS_COSTS] = {"cairn_passage_costs",
                       "CAIRN_PASSAGE_COSTS_DEFAULTS",
                       {sizeof(cairn_passage_costs)}},
    [OPTIONS_STATS] = {"cairn_stats", "CAIRN_STATS_DEFAULTS", {sizeof(cairn_stats)}},
    [OPTIONS_SCHEMA] = {"cairn_schema", "CAIRN_SCHEMA_DEFAULTS", {sizeof(cairn_schema)}},
};

cairn_code options_check(enum options_kind kind, size_t size, cairn_error *reterr)
{
    for (size_t i = 0; i < SIZES_MAX && kinds[kind].sizes[i]; i++)
        if (kinds[kind].sizes[i] == size)
            return CAIRN_OK;
    fail(reterr, CAIRN_E_BAD_INPUT, "%s has the size %zu, which this library does not know",
         kinds[kind].name, size);
    return fail_hint(reterr, CAIRN_E_BAD_INPUT, "begin with %s of the cairn.h of this library",
                     kinds[kind].defaults);
}

/* `from` need not be aligned for size_t when it is an entry of an array of another size. */
static size_t size_of(const void *from)
{
    size_t size;
    memcpy(&size, from, sizeof size);
    return size;
}

cairn_code options_take(enum options_kind kind, void *to, const void *from, cairn_error *reterr)
{
    if (!from)
        return CAIRN_OK;
    cairn_code code = options_check(kind, size_of(from), reterr);
    if (code)
        return code;
    memcpy(to, from, size_of(from));
    memcpy(to, &kinds[kind].sizes[0], sizeof kinds[kind].sizes[0]);
    return CAIRN_OK;
}

cairn_code options_take_many(enum options_kind kind, void *to, const void *from, size_t count,
                             cairn_error *reterr)
{
    size_t stride = count ? size_of(from) : 0;
    cairn_code code = CAIRN_OK;
    for (size_t i = 0; i < count && !code; i++) {
        const char *entry = (const char *)from + i * stride;
        if (size_of(entry) != stride)
            code = fail(reterr, CAIRN_E_BAD_INPUT,
                        "entry %zu of %s has another size than the first", i + 1,
                        kinds[kind].name);
        else
            code = options_take(kind, (char *)to + i * kinds[kind].sizes[0], entry, reterr);
    }
    return code;
}

cairn_code options_give(enum options_kind kind, void *ret, const void *from,
                        cairn_error *reterr)
{
    size_t size = size_of(ret);
    cairn_code code = options_check(kind, size, reterr);
    if (code)
        return code;
    memcpy(ret, from, size);
    memcpy(ret, &size, sizeof size);
    return CAIRN_OK;
}
