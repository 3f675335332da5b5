/* engine/cairn_limit.c - the calls of cairn.h about limits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"

#include "engine/calling.h"

cairn_code cairn_limit_put(cairn_engine *engine, const cairn_limit_spec *spec,
                           cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_LIMIT_PUT);
    TRY(options_take(OPTIONS_LIMIT, &request->in.limit, spec, reterr));
    return run_request(engine, request, reterr);
}

CALL_TO_GET(cairn_limit_get, OP_LIMIT_GET, PAGE_LIMIT)
CALL_TO_LIST(cairn_limit_list, OP_LIMIT_LIST, PAGE_LIMIT)
CALL_BY_ID(cairn_limit_delete, OP_LIMIT_DELETE)
