/* engine/await.c - requests that are answered when a job or an instance has ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/await.h"

#include "base/clock.h"
#include "base/error.h"
#include "core/instance.h"
#include "core/job.h"

#include <stdio.h>

void await_begin(struct request *request, int64_t now_us)
{
    if (!request->await_ms)
        return;
    request->await_from_us = now_us;
    request->wait_until_us =
        request->await_ms < 0 ? INT64_MAX : instant_add(now_us, request->await_ms * US_PER_MS);
    snprintf(request->await_id, sizeof request->await_id, "%s",
             request->in.id ? request->in.id : "");
}

static bool has_ended(const struct request *request)
{
    if (request->op == OP_JOB_GET)
        return job_is_final((enum job_status)request->out.page.jobs[0].status_code);
    return instance_is_final((enum instance_status)request->out.page.instances[0].status_code);
}

bool await_goes_on(struct request *request, int64_t now_us)
{
    if (!request->await_ms)
        return false;
    bool is_store_away = request->code == CAIRN_E_UNREACHABLE || request->code == CAIRN_E_BUSY;
    if (request->code ? !is_store_away : has_ended(request))
        return false;
    if (!request->code && request->op == OP_INSTANCE_GET) /* that of its key, perhaps */
        snprintf(request->await_id, sizeof request->await_id, "%s",
                 request->out.page.instances[0].id);
    return now_us < request->wait_until_us;
}

void await_again(struct request *request)
{
    arena_done(&request->arena);
    request->in.id = request->await_id;
    request->code = CAIRN_OK;
    error_clear(&request->error);
}
