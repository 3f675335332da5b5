/* api/route.c - which operation a method and a path belong to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* The pattern's next segment: its length, and *path moved behind it. */
static size_t next_segment(const char **path)
{
    const char *start = *path;
    size_t len = strcspn(start, "/");
    *path = start[len] ? start + len + 1 : start + len;
    return len;
}

/* may_be_empty: a {name} matches an empty segment, too. */
static bool is_match(const char *pattern, const struct target *target, bool may_be_empty)
{
    const char *rest = pattern + 1;
    for (size_t i = 0; i < target->segment_count; i++) {
        const char *wanted = rest;
        size_t len = next_segment(&rest);
        if (len == 0 || target->segment_count > SEGMENTS_MAX)
            return false;
        const char *segment = target->segments[i];
        if (*wanted == '{' ? !*segment && !may_be_empty
                           : strncmp(segment, wanted, len) != 0 || segment[len] != '\0')
            return false;
    }
    return *rest == '\0';
}

/* The first {name} that an empty segment stands for, without its brackets; its length. */
static int empty_name(const struct operation *operation, const struct target *target,
                      const char **ret_name)
{
    const char *rest = operation->path + 1;
    for (size_t i = 0; i < target->segment_count; i++) {
        *ret_name = rest + 1;
        size_t len = next_segment(&rest);
        if (!*target->segments[i])
            return (int)len - 2;
    }
    return 0;
}

/* A path such as /v1/jobs/ comes from a program whose id was empty: it is told so, rather than
 * that there is no such route. */
static bool refuse_empty(const char *method, const struct target *target,
                         struct request *request)
{
    for (size_t i = 0; i < operation_count; i++) {
        const struct operation *operation = &operations[i];
        const char *name = "";
        if (strcmp(operation->method, method) != 0 || !is_match(operation->path, target, true))
            continue;
        int len = empty_name(operation, target, &name);
        request->code =
            fail(&request->error, CAIRN_E_BAD_INPUT, "the %.*s is empty", len, name);
        return true;
    }
    return false;
}

static void refuse_path(const struct target *target, struct request *request)
{
    char path[128] = "";
    size_t used = 0;
    for (size_t i = 0; i < target->segment_count && i < SEGMENTS_MAX && used < sizeof path; i++)
        used += (size_t)snprintf(path + used, sizeof path - used, "/%s", target->segments[i]);
    request->code =
        fail(&request->error, CAIRN_E_NOT_FOUND, "route \"%s\" does not exist", path);
    fail_hint(&request->error, request->code, "GET /openapi.json describes all routes");
}

const struct operation *route_find(const char *method, const struct target *target,
                                   struct request *request)
{
    char allowed[64] = "";
    size_t used = 0;
    for (size_t i = 0; i < operation_count; i++) {
        const struct operation *operation = &operations[i];
        if (!is_match(operation->path, target, false))
            continue;
        if (strcmp(operation->method, method) == 0)
            return operation;
        if (used < sizeof allowed)
            used += (size_t)snprintf(allowed + used, sizeof allowed - used, "%s%s",
                                     used ? ", " : "", operation->method);
    }
    if (!used) {
        if (!refuse_empty(method, target, request))
            refuse_path(target, request);
        return NULL;
    }
    request->code = fail(&request->error, CAIRN_E_METHOD_NOT_ALLOWED,
                         "method %.16s is not allowed here", method);
    fail_hint(&request->error, request->code, "allowed: %s", allowed);
    return NULL;
}

void route_read_params(const struct operation *operation, const struct target *target,
                       struct request *request)
{
    const char *rest = operation->path + 1;
    size_t count = 0;
    for (size_t i = 0; i < target->segment_count; i++) {
        bool is_param = *rest == '{';
        next_segment(&rest);
        if (!is_param)
            continue;
        uint32_t place = operation->params[count++];
        if (place)
            memcpy((char *)request + place, &target->segments[i], sizeof(const char *));
    }
}
