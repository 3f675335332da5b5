/* http/access.c - which role a request needs, and what a foreign web page may not do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/access.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A worker registers its functions: the one file that it may deploy.  The parameter comes first and
 * as it is; the route refuses any other file, and a parameter that is given twice. */
static bool is_function_deploy(const char *method, const char *target)
{
    static const char start[] = "/v1/workflows?only=function";
    size_t len = sizeof start - 1;
    return strcmp(method, "POST") == 0 && strncmp(target, start, len) == 0 &&
           (target[len] == '\0' || target[len] == '&');
}

/* A path that is spelled differently, such as with needless percent signs, is not found and so is
 * the operator's: this can only be too strict. */
unsigned access_roles(const char *method, const char *target)
{
    if (strcmp(method, "HEAD") == 0)
        method = "GET";
    if (is_function_deploy(method, target))
        return WORKERS;
    const struct operation *operation = operation_find(method, target);
    return operation ? operation->roles : ROLE_OPERATE;
}

bool access_is_download(const char *target)
{
    const struct operation *operation = operation_find("GET", target);
    return operation && operation->is_download;
}

const char *access_role_name(unsigned roles)
{
    if (roles & ROLE_OPERATE)
        return "operate";
    if (roles & ROLE_PRODUCE)
        return "produce";
    return roles & ROLE_WORK ? "work" : "view";
}

void access_methods(const char *target, char ret_methods[ALLOW_TEXT])
{
    size_t used = 0;
    ret_methods[0] = '\0';
    for (const struct operation *it = NULL; (it = operation_at(target, it));) {
        const char *more = strcmp(it->method, "GET") == 0 ? "GET, HEAD" : it->method;
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
    size_t scheme = strncasecmp(origin, "https://", 8) == 0 ? 8 : 7;
    return host && (scheme == 8 || strncasecmp(origin, "http://", 7) == 0) &&
           strcasecmp(origin + scheme, host) == 0;
}

bool access_is_cross_site(const char *method, const char *site)
{
    bool is_reading = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    return site && !is_reading &&
           (strcasecmp(site, "cross-site") == 0 || strcasecmp(site, "same-site") == 0);
}
