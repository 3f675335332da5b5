/* http/listen.c - an address in words, and the socket that listens there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/listen.h"

#include "base/error.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 1024, HOST_MAX = 256 };

static void free_addresses(struct addrinfo **addresses)
{
    if (*addresses)
        freeaddrinfo(*addresses);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static cairn_code refuse(const char *address, cairn_error *reterr)
{
    fail(reterr, CAIRN_E_BAD_INPUT, "\"%.100s\" is not an address to listen on", address);
    return fail_hint(reterr, CAIRN_E_BAD_INPUT,
                     "HOST:PORT, such as 127.0.0.1:22476 or [::1]:22476");
}

/* Takes "host:port" and "[host]:port" apart. */
static cairn_code split(const char *address, char host[HOST_MAX], const char **ret_port,
                        cairn_error *reterr)
{
    const char *colon = strrchr(address, ':');
    if (!colon || colon == address)
        return refuse(address, reterr);
    const char *start = address, *end = colon;
    if (*address == '[') {
        if (end[-1] != ']')
            return refuse(address, reterr);
        start++;
        end--;
    } else if (memchr(address, ':', (size_t)(colon - address))) {
        return refuse(address, reterr);
    }
    size_t len = (size_t)(end - start);
    if (len == 0 || len >= HOST_MAX)
        return refuse(address, reterr);
    memcpy(host, start, len);
    host[len] = '\0';

    size_t digits = strspn(colon + 1, "0123456789");
    if (digits == 0 || digits > 5 || colon[1 + digits] || atoi(colon + 1) > 65535)
        return refuse(address, reterr);
    *ret_port = colon + 1;
    return CAIRN_OK;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *ip4 = (const struct sockaddr_in *)address;
        return ntohl(ip4->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *ip6 = (const struct sockaddr_in6 *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&ip6->sin6_addr);
}

/* Where the socket really listens, port 0 replaced. */
static void describe(int fd, char ret_text[LISTEN_TEXT])
{
    struct sockaddr_storage bound = {0};
    socklen_t len = sizeof bound;
    char host[INET6_ADDRSTRLEN] = "?", port[8] = "?";
    if (getsockname(fd, (struct sockaddr *)&bound, &len) == 0)
        getnameinfo((struct sockaddr *)&bound, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(ret_text, LISTEN_TEXT, bound.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host,
             port);
}

static cairn_code bind_one(const struct addrinfo *where, const char *address, int *ret_fd,
                           cairn_error *reterr)
{
    static const int on = 1;
    cleanup(close_fd) int fd = socket(where->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, where->ai_addr, where->ai_addrlen) || listen(fd, BACKLOG)) {
        bool is_taken = errno == EADDRINUSE;
        fail(reterr, CAIRN_E_UNREACHABLE, "could not listen on %s: %s", address,
             strerror(errno));
        return is_taken ? fail_hint(reterr, CAIRN_E_UNREACHABLE,
                                    "stop the program that listens there, or choose another "
                                    "address with --listen; port 0 is any free port")
                        : CAIRN_E_UNREACHABLE;
    }
    *ret_fd = fd;
    fd = -1;
    return CAIRN_OK;
}

cairn_code listen_open(const char *address, bool is_loopback_only, int *ret_fd,
                       char ret_text[LISTEN_TEXT], cairn_error *reterr)
{
    char host[HOST_MAX];
    const char *port = NULL;
    TRY(split(address, host, &port, reterr));
    cleanup(free_addresses) struct addrinfo *found = NULL;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    int why = getaddrinfo(host, port, &hints, &found);
    if (why) {
        refuse(address, reterr);
        return fail_detail(reterr, CAIRN_E_BAD_INPUT, "%s: %s", host, gai_strerror(why));
    }
    if (is_loopback_only && !is_loopback(found->ai_addr)) {
        fail(reterr, CAIRN_E_FORBIDDEN,
             "cannot listen on %s without tokens: other machines can reach it", address);
        return fail_hint(reterr, CAIRN_E_FORBIDDEN,
                         "give --token-file, or listen on 127.0.0.1");
    }
    TRY(bind_one(found, address, ret_fd, reterr));
    describe(*ret_fd, ret_text);
    return CAIRN_OK;
}
