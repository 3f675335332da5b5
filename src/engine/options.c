/* engine/options.c - the structs of cairn.h that begin with `size`: which sizes are known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/options.h"

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { EARLIER_MAX = 3 };

#define DEFAULT(kind, type, defaults) static const type default_##kind = defaults##_DEFAULTS;
OPTIONS_KINDS(DEFAULT)

#define KIND(kind, type, defaults) \
    [OPTIONS_##kind] = {#type, #defaults "_DEFAULTS", sizeof(type), &default_##kind},
static const struct {
    const char *name, *name_of_defaults;
    size_t size;
    const void *defaults;
} kinds[] = {OPTIONS_KINDS(KIND)};

/* Sizes that structs had in earlier versions: the offset of the first member that was added. */
static const size_t earlier[OPTIONS_COUNT][EARLIER_MAX] = {
    [OPTIONS_OPEN] = {offsetof(cairn_open_options, notice),
                      offsetof(cairn_open_options, serves),
                      offsetof(cairn_open_options, map_elements)},
    [OPTIONS_CLAIM] = {offsetof(cairn_claim_options, functions),
                       offsetof(cairn_claim_options, known)},
    [OPTIONS_JOB_FILTER] = {offsetof(cairn_job_filter, q), offsetof(cairn_job_filter, tags)},
    [OPTIONS_INSTANCE_FILTER] = {offsetof(cairn_instance_filter, q),
                                 offsetof(cairn_instance_filter, tags)},
    [OPTIONS_JOB_SPEC] = {offsetof(cairn_job_spec, metadata), offsetof(cairn_job_spec, tags),
                          offsetof(cairn_job_spec, timeout_ms)},
    [OPTIONS_START] = {offsetof(cairn_start_options, metadata),
                       offsetof(cairn_start_options, tags)},
    [OPTIONS_REQUEST] = {offsetof(cairn_request, caller)},
    [OPTIONS_STEP] = {offsetof(cairn_step_options, compensation_backoff)},
};

static bool is_known(enum options_kind kind, size_t size)
{
    for (size_t i = 0; i < EARLIER_MAX && earlier[kind][i]; i++)
        if (earlier[kind][i] == size)
            return true;
    return size == kinds[kind].size;
}

cairn_code options_check(enum options_kind kind, size_t size, cairn_error *reterr)
{
    if (is_known(kind, size))
        return CAIRN_OK;
    fail(reterr, CAIRN_E_BAD_INPUT, "%s has the size %zu, which this library does not know",
         kinds[kind].name, size);
    return fail_hint(reterr, CAIRN_E_BAD_INPUT, "begin with %s of the cairn.h of this library",
                     kinds[kind].name_of_defaults);
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
    memcpy(to, kinds[kind].defaults, kinds[kind].size);
    if (!from)
        return CAIRN_OK;
    TRY(options_check(kind, size_of(from), reterr));
    memcpy(to, from, size_of(from));
    memcpy(to, &kinds[kind].size, sizeof kinds[kind].size);
    return CAIRN_OK;
}

cairn_code options_take_many(enum options_kind kind, struct arena *arena, const void *from,
                             size_t count, void *ret_array, cairn_error *reterr)
{
    size_t stride = count ? size_of(from) : 0;
    char *array = arena_room(arena, count, kinds[kind].size);
    NEED(array, reterr);
    for (size_t i = 0; i < count; i++) {
        const char *entry = (const char *)from + i * stride;
        if (size_of(entry) != stride)
            return fail(reterr, CAIRN_E_BAD_INPUT,
                        "entry %zu of %s has another size than the first", i + 1,
                        kinds[kind].name);
        TRY(options_take(kind, array + i * kinds[kind].size, entry, reterr));
    }
    memcpy(ret_array, &array, sizeof array);
    return CAIRN_OK;
}

cairn_code options_give(enum options_kind kind, void *ret, const void *from,
                        cairn_error *reterr)
{
    size_t size = size_of(ret);
    TRY(options_check(kind, size, reterr));
    memcpy(ret, from, size);
    memcpy(ret, &size, sizeof size);
    return CAIRN_OK;
}
