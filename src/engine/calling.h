/* engine/calling.h - what the calls of cairn.h share: options in, a request, its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_CALLING_H
#define ENGINE_CALLING_H

#include "base/mem.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "engine/page.h"

/* A request that is freed when its scope ends, unless a page has taken it. */
#define SCOPED_REQUEST(name, op)                                   \
    cleanup(request_freep) struct request *name = request_new(op); \
    if (!name)                                                     \
    return fail_memory(reterr)

/* Copies a claim and the functions that it names. */
cairn_code take_claim(struct arena *arena, cairn_claim_options *to,
                      const cairn_claim_options *from, cairn_error *reterr);

/* Submits the request and waits for its end. */
cairn_code run_request(cairn_engine *engine, struct request *request, cairn_error *reterr);

/* The same; *ret_page is the list that it brings, and owns the request from then on. */
cairn_code run_for_page(cairn_engine *engine, struct request **request, enum page_kind kind,
                        cairn_page **ret_page, cairn_error *reterr);

/* Requests that need no more than an id, or a place in a list. */
cairn_code run_id(cairn_engine *engine, enum request_op op, const char *id,
                  cairn_error *reterr);
cairn_code run_page(cairn_engine *engine, enum request_op op, enum page_kind kind,
                    const struct page_input *in, cairn_page **ret_page, cairn_error *reterr);

/* The calls of cairn.h that are no more than that: one about something that has an id, one that gets
 * it, one that lists things, and one that lists what belongs to something that has an id. */
#define CALL_BY_ID(call, op)                                                   \
    cairn_code call(cairn_engine *engine, const char *id, cairn_error *reterr) \
    {                                                                          \
        return run_id(engine, op, id, reterr);                                 \
    }

#define CALL_TO_GET(call, op, kind)                                              \
    cairn_code call(cairn_engine *engine, const char *id, cairn_page **ret_page, \
                    cairn_error *reterr)                                         \
    {                                                                            \
        const struct page_input in = {.id = id};                                 \
        return run_page(engine, op, kind, &in, ret_page, reterr);                \
    }

#define CALL_TO_LIST(call, op, kind)                                          \
    cairn_code call(cairn_engine *engine, const char *cursor, uint32_t limit, \
                    cairn_page **ret_page, cairn_error *reterr)               \
    {                                                                         \
        const struct page_input in = {.cursor = cursor, .limit = limit};      \
        return run_page(engine, op, kind, &in, ret_page, reterr);             \
    }

#define CALL_TO_LIST_OF(call, op, kind)                                                       \
    cairn_code call(cairn_engine *engine, const char *id, const char *cursor, uint32_t limit, \
                    cairn_page **ret_page, cairn_error *reterr)                               \
    {                                                                                         \
        const struct page_input in = {.id = id, .cursor = cursor, .limit = limit};            \
        return run_page(engine, op, kind, &in, ret_page, reterr);                             \
    }

/* Gets something when it has ended. */
cairn_code run_wait(cairn_engine *engine, enum request_op op, const char *id,
                    int64_t timeout_ms, enum page_kind kind, cairn_page **ret_page,
                    cairn_error *reterr);

#endif
