/* api/raw.c - payloads alone, as they are kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"

static void write_text(struct answer *answer, const char *json)
{
    json_raw(&answer->out, json);
}

void write_payload(const struct request *request, struct answer *answer)
{
    write_text(answer, request->out.page.jobs->payload);
}

void write_result(const struct request *request, struct answer *answer)
{
    write_text(answer, request->out.page.jobs->result);
}

void write_input(const struct request *request, struct answer *answer)
{
    write_text(answer, request->out.page.instances->input);
}

void write_output(const struct request *request, struct answer *answer)
{
    write_text(answer, request->out.page.instances->output);
}

void write_step_input(const struct request *request, struct answer *answer)
{
    write_text(answer, ((const struct step_whole *)request->out.page.items)->base.input);
}

void write_step_output(const struct request *request, struct answer *answer)
{
    write_text(answer, ((const struct step_whole *)request->out.page.items)->base.output);
}

void write_record_input(const struct request *request, struct answer *answer)
{
    write_text(answer, request->out.page.dlq->input);
}
