/* engine/batch_event.c - the audit trail of a batch: gathered in order, appended once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/batch.h"

#include <stdio.h>
#include <string.h>

static bool make_room(struct batch *batch)
{
    if (batch->event_count < batch->event_room)
        return true;
    size_t room = batch->event_room ? batch->event_room * 2 : 64;
    struct job_event_row *events = arena_array(&batch->arena, room, sizeof *events);
    if (!events)
        return false;
    if (batch->event_count)
        memcpy(events, batch->events, batch->event_count * sizeof *events);
    batch->events = events;
    batch->event_room = room;
    return true;
}

cairn_code batch_add_event(struct batch *batch, const char *job_id, enum job_event type,
                           const char *data, cairn_error *reterr)
{
    if (!make_room(batch))
        return fail_memory(reterr);
    batch->events[batch->event_count++] = (struct job_event_row){
        .job_id = job_id, .type = type, .data = data ? data : "{}", .at_us = batch->tx->now_us};
    return CAIRN_OK;
}

static void write_facts(struct json_out *out, const struct event_facts *facts)
{
    json_open(out, '{');
    if (facts->worker) {
        json_key(out, "worker");
        json_str(out, facts->worker);
    }
    if (facts->attempt) {
        json_key(out, "attempt");
        json_int(out, facts->attempt);
    }
    if (facts->error) {
        json_key(out, "error");
        json_str(out, facts->error);
    }
    if (facts->reason) {
        json_key(out, "reason");
        json_str(out, facts->reason);
    }
    if (facts->run_at_us) {
        json_key(out, "run_at");
        json_time(out, facts->run_at_us);
    }
    if (facts->extend_us) {
        char seconds[32];
        snprintf(seconds, sizeof seconds, "%g", (double)facts->extend_us / (double)US_PER_SEC);
        json_key(out, "extended_by_seconds");
        json_raw(out, seconds);
    }
    json_close(out, '}');
}

cairn_code event_data(struct batch *batch, const struct event_facts *facts,
                      const char **ret_data, cairn_error *reterr)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    write_facts(&out, facts);
    const char *data =
        buf_failed(&buf) ? NULL : arena_strndup(&batch->arena, buf.text, buf.len);
    buf_done(&buf);
    if (!data)
        return fail_memory(reterr);
    *ret_data = data;
    return CAIRN_OK;
}

cairn_code batch_append_events(struct batch *batch, cairn_error *reterr)
{
    if (batch->event_count == 0)
        return CAIRN_OK;
    return batch->ops->append_events(batch->tx, batch->events, batch->event_count, reterr);
}
