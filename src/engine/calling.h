/* engine/calling.h - what the calls of cairn.h share: options in, a request, its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The handles that are given out (cairn_jobs, cairn_instances, ...) are the request itself, whose
 * arena holds what they point to.
 */
#ifndef ENGINE_CALLING_H
#define ENGINE_CALLING_H

#include "base/error.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "engine/options.h"

#include <string.h>

/* The same of a claim and the functions that it names; false: memory has run out. */
cairn_code take_claim(struct arena *arena, cairn_claim_options *to,
                      const cairn_claim_options *from, cairn_error *reterr);

/* Submits and waits; a failure is told in reterr. */
cairn_code run_request(cairn_engine *engine, struct request *request, cairn_error *reterr);

/* A request that is freed when its scope ends, unless it is handed to the caller. */
#define SCOPED_REQUEST(name, op)                                   \
    cleanup(request_freep) struct request *name = request_new(op); \
    if (!name)                                                     \
    return fail_memory(reterr)

static inline struct request *hand_over(struct request **request)
{
    struct request *handle = *request;
    *request = NULL;
    return handle;
}

/* Runs it, and hands it over as the handle of what it brought; ret_handle points to a pointer. */
static inline cairn_code run_for_handle(cairn_engine *engine, struct request **request,
                                        void *ret_handle, cairn_error *reterr)
{
    cairn_code code = run_request(engine, *request, reterr);
    if (code)
        return code;
    struct request *handle = hand_over(request);
    memcpy(ret_handle, &handle, sizeof handle);
    return CAIRN_OK;
}

static inline const struct request *to_request(const void *handle)
{
    return handle;
}

#endif
