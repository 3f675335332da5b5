/* http/access.c - which route is for which role, and what a strange web page may not do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/access.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PRODUCE = ROLE_PRODUCE | ROLE_OPERATE, WORK = ROLE_WORK | ROLE_OPERATE };

/* {} stands for one segment.  A path that is spelled differently, such as with needless percent
 * signs, is not found here and so is the operator's: the table can only be too strict. */
static const struct gate {
    const char *method, *path;
    unsigned roles;
} gates[] = {
    {"POST", "/v1/jobs", PRODUCE},
    {"GET", "/v1/jobs", PRODUCE | WORK},
    {"GET", "/v1/jobs/{}", PRODUCE | WORK},
    {"DELETE", "/v1/jobs/{}", ROLE_OPERATE},
    {"GET", "/v1/jobs/{}/events", PRODUCE | WORK},
    {"POST", "/v1/jobs/{}/cancel", PRODUCE},
    {"POST", "/v1/jobs/{}/retry", ROLE_OPERATE},
    {"POST", "/v1/tasks/claim", WORK},
    {"POST", "/v1/tasks/report", WORK},
    {"POST", "/v1/tasks/{}/complete", WORK},
    {"POST", "/v1/tasks/{}/fail", WORK},
    {"POST", "/v1/tasks/{}/retry", WORK},
    {"POST", "/v1/tasks/{}/dead", WORK},
    {"POST", "/v1/tasks/{}/release", WORK},
    {"POST", "/v1/tasks/{}/wait", WORK},
    {"POST", "/v1/tasks/{}/heartbeat", WORK},
    {"POST", "/v1/tasks/{}/commit", WORK},
    {"GET", "/v1/tasks/{}/context", WORK},
    {"POST", "/v1/workflows", ROLE_OPERATE},
    {"GET", "/v1/workflows", PRODUCE | WORK},
    {"GET", "/v1/workflows/{}/{}", PRODUCE | WORK},
    {"POST", "/v1/instances", PRODUCE},
    {"GET", "/v1/instances", PRODUCE | WORK},
    {"GET", "/v1/instances/{}", PRODUCE | WORK},
    {"GET", "/v1/instances/{}/steps", PRODUCE | WORK},
    {"GET", "/v1/instances/{}/events", PRODUCE | WORK},
    {"GET", "/v1/instances/{}/logs", PRODUCE | WORK},
    {"GET", "/v1/instances/{}/decisions", PRODUCE | WORK},
    {"POST", "/v1/instances/{}/signal", PRODUCE},
    {"POST", "/v1/instances/{}/steps/{}/decision", ROLE_OPERATE},
    {"POST", "/v1/instances/{}/pause", ROLE_OPERATE},
    {"POST", "/v1/instances/{}/resume", ROLE_OPERATE},
    {"POST", "/v1/instances/{}/restart", ROLE_OPERATE},
    {"POST", "/v1/instances/{}/retry", ROLE_OPERATE},
    {"POST", "/v1/instances/{}/cancel", ROLE_OPERATE},
    {"POST", "/v1/instances/{}/abort", ROLE_OPERATE},
    {"GET", "/v1/dlq", PRODUCE | WORK},
    {"GET", "/v1/dlq/{}", PRODUCE | WORK},
    {"POST", "/v1/dlq/{}/requeue", ROLE_OPERATE},
    {"POST", "/v1/outbox/claim", WORK},
    {"POST", "/v1/outbox/{}/ack", WORK},
    {"GET", "/v1/events", PRODUCE},
    {"GET", "/v1/stream", PRODUCE},
    {"GET", "/v1/registry", ROLE_OPERATE},
    {"PUT", "/v1/registry/{}", ROLE_OPERATE},
    {"GET", "/v1/clock", ROLE_ANY},
    {"POST", "/v1/clock/advance", ROLE_OPERATE},
    {"GET", "/v1/stats", ROLE_ANY},
    {"GET", "/v1/doctor", ROLE_OPERATE},
    {"GET", "/metrics", ROLE_ANY},
    {"GET", "/openapi.json", ROLE_ANY},
    {"GET", "/healthz", 0},
    {"GET", "/readyz", 0},
};

enum { GATE_COUNT = sizeof gates / sizeof *gates };

/* The length of the path that a target begins with. */
static size_t path_length(const char *target)
{
    return strcspn(target, "?");
}

/* A worker registers its functions: the one file that it may deploy.  The parameter comes first and
 * as it is; the route refuses any other file, and a parameter that is given twice. */
static bool is_function_deploy(const char *method, const char *target)
{
    static const char start[] = "/v1/workflows?only=function";
    size_t len = sizeof start - 1;
    return strcmp(method, "POST") == 0 && strncmp(target, start, len) == 0 &&
           (target[len] == '\0' || target[len] == '&');
}

static bool is_match(const char *pattern, const char *path, size_t len)
{
    const char *end = path + len;
    while (*pattern) {
        if (*pattern == '{') {
            const char *segment = path;
            while (path < end && *path != '/')
                path++;
            if (path == segment)
                return false;
            pattern += 2;
        } else {
            if (path == end || *path != *pattern)
                return false;
            path++;
            pattern++;
        }
    }
    return path == end;
}

unsigned access_roles(const char *method, const char *target)
{
    size_t len = path_length(target);
    if (strcmp(method, "HEAD") == 0)
        method = "GET";
    if (is_function_deploy(method, target))
        return WORK;
    for (size_t i = 0; i < GATE_COUNT; i++)
        if (strcmp(gates[i].method, method) == 0 && is_match(gates[i].path, target, len))
            return gates[i].roles;
    return ROLE_OPERATE;
}

void access_methods(const char *target, char ret_methods[ALLOW_TEXT])
{
    size_t len = path_length(target), used = 0;
    ret_methods[0] = '\0';
    for (size_t i = 0; i < GATE_COUNT; i++) {
        if (!is_match(gates[i].path, target, len))
            continue;
        const char *more = strcmp(gates[i].method, "GET") == 0 ? "GET, HEAD" : gates[i].method;
        used += (size_t)snprintf(ret_methods + used, ALLOW_TEXT - used, "%s, ", more);
    }
    if (used)
        snprintf(ret_methods + used, ALLOW_TEXT - used, "OPTIONS");
}

/* "localhost", "127.0.0.1:22476", "[::1]:80" */
static bool is_loopback_name(const char *host)
{
    char name[64];
    struct in_addr address;
    size_t len = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (len >= sizeof name)
        return false;
    memcpy(name, host, len);
    name[len] = '\0';
    if (strcasecmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0)
        return true;
    return inet_pton(AF_INET, name, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

bool access_is_local(const char *host, const char *origin)
{
    if (host && !is_loopback_name(host))
        return false;
    if (!origin)
        return true;
    return host && strncasecmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, host) == 0;
}
