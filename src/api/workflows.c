/* api/workflows.c - /v1/workflows: deploy, look.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static const char *const deploy_params[] = {"file", "only", NULL};

/* The body is the workflow itself, YAML or JSON; `file` is its name, for errors. */
static void read_deploy(struct call *call, struct request *request)
{
    const char *only = target_param(&call->target, "only");
    if (only && strcmp(only, "function") != 0) {
        request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                             "query parameter \"only\" must be function, not \"%.64s\"", only);
        return;
    }
    request->in.deploy = (struct deploy_input){
        .file = target_param(&call->target, "file"),
        .text = call->text,
        .len = call->text_len,
        .is_function_only = only != NULL,
    };
}

static void write_names(struct json_out *out, const cairn_workflow *definition)
{
    json_key(out, "name");
    json_str(out, definition->name);
    json_key(out, "version");
    json_int(out, definition->version);
    json_key(out, "hash");
    json_str(out, definition->hash);
}

static void write_deployed(const struct call *call, const struct request *request,
                           struct answer *answer)
{
    (void)call;
    answer->status = request->out.is_existing ? 200 : 201;
    json_open(&answer->out, '{');
    write_names(&answer->out, request->out.page.definitions);
    json_key(&answer->out, "existing");
    json_bool(&answer->out, request->out.is_existing);
    json_close(&answer->out, '}');
}

static void write_definition(struct json_out *out, const cairn_workflow *definition)
{
    json_open(out, '{');
    write_names(out, definition);
    json_key(out, "created_at");
    json_time(out, definition->created_at_us);
    json_key(out, "definition");
    json_raw(out, definition->content);
    json_close(out, '}');
}

static void read_get(struct call *call, struct request *request)
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
    request->in.definition = (struct definition_input){
        .name = call->target.segments[2],
        .version = (int32_t)number,
    };
}

static void write_one(const struct call *call, const struct request *request,
                      struct answer *answer)
{
    (void)call;
    write_definition(&answer->out, request->out.page.definitions);
}

static void read_list(struct call *call, struct request *request)
{
    request->in.page.cursor = target_param(&call->target, "cursor");
    target_limit(&call->target, request, &request->in.page.limit);
}

static void write_list(const struct call *call, const struct request *request,
                       struct answer *answer)
{
    (void)call;
    const struct page_output *page = &request->out.page;
    json_open(&answer->out, '{');
    json_key(&answer->out, "items");
    json_open(&answer->out, '[');
    for (size_t i = 0; i < page->count; i++)
        write_definition(&answer->out, &page->definitions[i]);
    json_close(&answer->out, ']');
    write_next(&answer->out, page->next);
    json_close(&answer->out, '}');
}

static const struct route routes[] = {
    {"POST", "/v1/workflows", OP_DEPLOY, deploy_params, read_deploy, write_deployed, 0},
    {"GET", "/v1/workflows", OP_DEFINITION_LIST, page_params, read_list, write_list, 0},
    {"GET", "/v1/workflows/{name}/{version}", OP_DEFINITION_GET, NULL, read_get, write_one, 0},
};

const struct route_list workflow_routes = {routes, sizeof routes / sizeof *routes};
