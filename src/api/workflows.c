/* api/workflows.c - workflows and their instances, where the tables do not suffice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* The body is the workflow itself, YAML or JSON. */
void read_deploy(struct call *call, struct request *request)
{
    request->in.deploy.text = call->text;
    request->in.deploy.len = call->text_len;
}

/* Whether it was there is not part of the definition. */
void write_deployed(const struct request *request, struct answer *answer)
{
    answer->status = request->out.is_existing ? 200 : 201;
    json_open(&answer->out, '{');
    fields_write(&answer->out, &workflow_names_object, request->out.page.items, WRITE_ANSWER);
    json_bool(json_key(&answer->out, "existing"), request->out.is_existing);
    json_close(&answer->out, '}');
}

/* A segment of the path that is a number. */
void read_definition(struct call *call, struct request *request)
{
    const char *version = call->target.segments[3];
    size_t digits = strspn(version, "0123456789");
    long long number = digits && digits <= 10 && !version[digits] ? atoll(version) : -1;
    if (number < 0 || number > INT32_MAX) {
        request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                             "version \"%.64s\" is not a whole number from 1", version);
        fail_hint(&request->error, request->code, "0 stands for the highest");
        return;
    }
    request->in.definition.version = (int32_t)number;
}

/* "on", "off", or a truth value. */
static bool read_latch(struct fields *fields)
{
    struct request *request = fields->request;
    if (!slice_is_string(scan_find(fields->object, "latch")))
        return field_bool(fields, "latch", true);
    const char *text = field_text(fields, "latch", OPTIONAL);
    bool is_off = text && strcmp(text, "off") == 0;
    if (text && !is_off && strcmp(text, "on") != 0 && !request->code)
        request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                             "field \"latch\" must be \"on\" or \"off\", not \"%.64s\"", text);
    return !is_off;
}

void read_signal(struct call *call, struct request *request)
{
    fields_read(&call->body, &signal_spec_object, &request->in.signal);
    request->in.signal.no_latch = !read_latch(&call->body);
}
