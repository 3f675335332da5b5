/* http/tell.c - requests and refused tokens, for the log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/tell.h"

#include "base/clock.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { PATH_TOLD = 256, CLIENT_TEXT = 64 };

/* "127.0.0.1", without the port: it is another one each time. */
static void find_client(struct MHD_Connection *connection, char ret_text[CLIENT_TEXT])
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *from = info ? info->client_addr : NULL;
    socklen_t len = from && from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                        : sizeof(struct sockaddr_in);
    if (!from || getnameinfo(from, len, ret_text, CLIENT_TEXT, NULL, 0, NI_NUMERICHOST))
        snprintf(ret_text, CLIENT_TEXT, "unknown");
}

/* Queries hold what people search for, which is not the log's. */
static void tell(struct http *http, struct MHD_Connection *connection,
                 const struct http_event *event)
{
    struct http_event told = *event;
    char path[PATH_TOLD], client[CLIENT_TEXT];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(event->path, "?"), event->path);
    find_client(connection, client);
    told.path = path;
    told.client = client;
    http->tell(http->tell_arg, &told);
}

/* A change of settings has no history, and that of what is removed goes with it. */
static bool is_always_told(const struct http_event *event)
{
    static const char purge[] = "/v1/purge";
    bool is_purge = strcmp(event->method, "POST") == 0 &&
                    strncmp(event->path, purge, sizeof purge - 1) == 0;
    return event->status / 100 == 2 && (is_purge || strcmp(event->method, "PUT") == 0 ||
                                        strcmp(event->method, "DELETE") == 0);
}

void tell_request(struct http *http, struct MHD_Connection *connection,
                  const struct http_event *event)
{
    struct http_event told = *event;
    told.is_always_told = is_always_told(event);
    if (http->tells_requests || (http->tell && told.is_always_told))
        tell(http, connection, &told);
}

void tell_refused(struct http *http, struct MHD_Connection *connection, const char *method,
                  const char *target)
{
    int64_t now_us = monotonic_us();
    if (!http->tell)
        return;
    if (http->refused_us && now_us - http->refused_us < US_PER_SEC) {
        http->refused_more++;
        return;
    }
    struct http_event event = {
        .what = HTTP_REFUSED, .method = method, .path = target, .left_out = http->refused_more};
    http->refused_us = now_us;
    http->refused_more = 0;
    tell(http, connection, &event);
}
