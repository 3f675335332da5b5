/* tests/fuzz/fuzz_http.c - bytes that a stranger sends to the HTTP server.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The input is sent as it is to the real server of src/http/, over a UNIX socket; what comes back
 * must be HTTP.  A server with tokens gets inputs that contain "Bearer", one without gets the
 * others.  The server is made anew now and then, so that what inputs leave behind stays bounded.
 */
#include "base/error.h"
#include "base/mem.h"
#include "fuzz.h"
#include "http/http.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { INPUTS_PER_SERVER = 500, ANSWER_MAX = 1 << 20, PATIENCE_MS = 50 };

struct site {
    cairn_engine *engine;
    struct http *http;
    struct sockaddr_un address;
    int served;
};

static struct tokens *read_tokens(void)
{
    struct tokens *tokens;
    char path[] = "/tmp/cairn-fuzz-XXXXXX";
    static const char text[] = "operate secret root\nwork worker\n";
    cairn_error error;
    int fd = mkstemp(path);
    MUST(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1);
    close(fd);
    MUST(tokens_read(path, &tokens, &error) == CAIRN_OK);
    unlink(path);
    return tokens;
}

static int listen_somewhere(struct sockaddr_un *ret_address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t len = sizeof(sa_family_t); /* Linux then chooses an abstract name */
    MUST(fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, 16) == 0);
    len = sizeof address;
    MUST(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
    *ret_address = address;
    return fd;
}

static void open_site(struct site *site, bool is_with)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_error error;
    open.url = "memory:";
    open.seed = 1;
    open.virtual_clock = true;
    MUST(cairn_open(&open, &site->engine, &error) == CAIRN_OK);
    struct http_config config = {.engine = site->engine,
                                 .listen_fd = listen_somewhere(&site->address),
                                 .tokens = is_with ? read_tokens() : NULL,
                                 .max_connections = 64,
                                 .idle_s = 5};
    MUST(http_start(&config, &site->http, &error) == CAIRN_OK);
    site->served = 0;
}

static void close_site(struct site *site)
{
    http_quiesce(site->http);
    cairn_close(site->engine);
    http_stop(site->http);
    *site = (struct site){0};
}

static int connect_to(const struct site *site)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* An abstract name that Linux has chosen is a NUL and five digits. */
    socklen_t len = offsetof(struct sockaddr_un, sun_path) + 6;
    MUST(fd >= 0 && connect(fd, (const struct sockaddr *)&site->address, len) == 0);
    return fd;
}

/* Sends all and reads what is answered, both without blocking for long. */
static size_t converse(int fd, const uint8_t *bytes, size_t len, char *answer)
{
    size_t sent = 0, got = 0;
    bool is_open = true;
    if (len == 0)
        shutdown(fd, SHUT_WR);
    while (is_open && got < ANSWER_MAX) {
        struct pollfd wait = {.fd = fd, .events = POLLIN | (sent < len ? POLLOUT : 0)};
        if (poll(&wait, 1, PATIENCE_MS) <= 0)
            break;
        if (sent < len && wait.revents & POLLOUT) {
            ssize_t some = send(fd, bytes + sent, len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
            sent = some > 0 ? sent + (size_t)some : len;
            if (sent == len)
                shutdown(fd, SHUT_WR);
        }
        if (wait.revents & (POLLIN | POLLHUP)) {
            ssize_t some = recv(fd, answer + got, ANSWER_MAX - got, MSG_DONTWAIT);
            is_open = some > 0;
            got += some > 0 ? (size_t)some : 0;
        }
    }
    return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct site with, without;
    static char answer[ANSWER_MAX];
    bool is_with = memmem(bytes, len, "Bearer", 6) != NULL;
    struct site *site = is_with ? &with : &without;
    if (!site->http)
        open_site(site, is_with);

    int fd = connect_to(site);
    size_t got = converse(fd, bytes, len, answer);
    close(fd);
    MUST(got == 0 || (got >= 9 && memcmp(answer, "HTTP/1.", 7) == 0));
    MUST(got == 0 || !memmem(answer, got < 16 ? got : 16, " 500 ", 5));
    if (++site->served == INPUTS_PER_SERVER)
        close_site(site);
    return 0;
}
