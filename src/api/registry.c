/* api/registry.c - /v1/registry: which runtime owns a type, and whether it may be claimed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"

static void write_entry(struct json_out *out, const cairn_registry_entry *entry)
{
    json_open(out, '{');
    json_key(out, "workflow_name");
    json_str(out, entry->workflow_name);
    json_key(out, "intent_type");
    json_str(out, entry->intent_type);
    json_key(out, "runtime");
    json_str(out, entry->runtime);
    json_key(out, "is_enabled");
    json_bool(out, entry->is_enabled);
    json_key(out, "description");
    json_str(out, entry->description);
    json_key(out, "created_at");
    json_time(out, entry->created_at_us);
    json_key(out, "updated_at");
    json_time(out, entry->updated_at_us);
    json_close(out, '}');
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
        write_entry(&answer->out, &page->registry[i]);
    json_close(&answer->out, ']');
    write_next(&answer->out, page->next);
    json_close(&answer->out, '}');
}

static void read_put(struct call *call, struct request *request)
{
    cairn_registry_entry *entry = &request->in.registry;
    entry->workflow_name = route_param(call);
    entry->runtime = field_text(&call->body, "runtime", REQUIRED);
    entry->is_enabled = field_bool(&call->body, "is_enabled", true);
    entry->description = field_text(&call->body, "description", OPTIONAL);
}

static void write_put(const struct call *call, const struct request *request,
                      struct answer *answer)
{
    (void)call;
    write_entry(&answer->out, request->out.page.registry);
}

static const struct route routes[] = {
    {"GET", "/v1/registry", OP_REGISTRY_LIST, page_params, read_list, write_list, 0},
    {"PUT", "/v1/registry/{name}", OP_REGISTRY_PUT, NULL, read_put, write_put, 0},
};

const struct route_list registry_routes = {routes, sizeof routes / sizeof *routes};
