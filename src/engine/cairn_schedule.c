/* engine/cairn_schedule.c - the calls of cairn.h about schedules.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"

#include "engine/calling.h"

cairn_code cairn_schedule_put(cairn_engine *engine, const cairn_schedule_spec *spec,
                              cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_SCHEDULE_PUT);
    TRY(options_take(OPTIONS_SCHEDULE, &request->in.schedule, spec, reterr));
    return run_request(engine, request, reterr);
}

CALL_TO_GET(cairn_schedule_get, OP_SCHEDULE_GET, PAGE_SCHEDULE)
CALL_TO_LIST(cairn_schedule_list, OP_SCHEDULE_LIST, PAGE_SCHEDULE)
CALL_BY_ID(cairn_schedule_delete, OP_SCHEDULE_DELETE)
CALL_BY_ID(cairn_schedule_pause, OP_SCHEDULE_STOP)
CALL_BY_ID(cairn_schedule_resume, OP_SCHEDULE_RESUME)
CALL_TO_GET(cairn_schedule_trigger, OP_SCHEDULE_TRIGGER, PAGE_SCHEDULE_RUN)

cairn_code cairn_schedule_next(cairn_engine *engine, const char *name, int32_t count,
                               cairn_page **ret_times, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_SCHEDULE_NEXT);
    request->in.schedule_next = (struct schedule_next_input){.name = name, .count = count};
    return run_for_page(engine, &request, PAGE_SCHEDULE_TIME, ret_times, reterr);
}
