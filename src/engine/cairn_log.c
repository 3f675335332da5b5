/* engine/cairn_log.c - the calls of cairn.h about what functions have logged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"

#include "engine/calling.h"

cairn_code cairn_log_list(cairn_engine *engine, const char *instance_id, const char *cursor,
                          uint32_t limit, cairn_logs **ret_logs, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_LOG_LIST);
    request->in.events =
        (struct events_input){.id = instance_id, .cursor = cursor, .limit = limit};
    return run_for_handle(engine, &request, ret_logs, reterr);
}

size_t cairn_logs_count(const cairn_logs *logs)
{
    return to_request(logs)->out.logs.count;
}

const cairn_log *cairn_logs_at(const cairn_logs *logs, size_t index)
{
    const struct logs_output *out = &to_request(logs)->out.logs;
    return index < out->count ? &out->items[index] : NULL;
}

const char *cairn_logs_next(const cairn_logs *logs)
{
    return to_request(logs)->out.logs.next;
}

void cairn_logs_free(cairn_logs *logs)
{
    request_free((struct request *)logs);
}
