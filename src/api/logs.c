/* api/logs.c - what functions have logged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"

#include <inttypes.h>
#include <stdio.h>

/* Ids are strings here, since not every reader has 64-bit integers. */
static void write_log(struct json_out *out, const cairn_log *log)
{
    char id[24];
    snprintf(id, sizeof id, "%" PRId64, log->id);
    json_open(out, '{');
    json_key(out, "id");
    json_str(out, id);
    json_key(out, "level");
    json_str(out, log->level);
    json_key(out, "message");
    json_str(out, log->message);
    json_key(out, "data");
    json_raw(out, log->data);
    json_key(out, "step");
    json_str(out, log->step);
    json_key(out, "attempt");
    json_int(out, log->attempt);
    json_key(out, "at");
    json_time(out, log->at_us);
    json_close(out, '}');
}

void write_logs(const struct call *call, const struct request *request, struct answer *answer)
{
    (void)call;
    const struct page_output *page = &request->out.page;
    json_open(&answer->out, '{');
    json_key(&answer->out, "items");
    json_open(&answer->out, '[');
    for (size_t i = 0; i < page->count; i++)
        write_log(&answer->out, &page->logs[i]);
    json_close(&answer->out, ']');
    write_next(&answer->out, page->next);
    json_close(&answer->out, '}');
}
