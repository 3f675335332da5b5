/* tests/spec/server.c - servers for tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server.h"

#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the real one --------------------------------------------------------------------------- */

static void run_program(const char *store, const char *port, const char *const *more, int out)
{
    const char *argv[24] = {getenv("CAIRN_PROGRAM"), "serve", "--url", store, "--listen"};
    char listen_at[64];
    int argc = 5;
    snprintf(listen_at, sizeof listen_at, "127.0.0.1:%s", port);
    argv[argc++] = listen_at;
    while (more && *more && argc < 23)
        argv[argc++] = *more++;
    dup2(out, STDERR_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nobody behind */
    execv(argv[0], (char **)argv);
    _exit(127);
}

/* "... listening on http://127.0.0.1:40123, store ..." */
static bool read_address(int in, struct server *server)
{
    char text[4096] = "";
    size_t len = 0;
    ssize_t got;
    while (len < sizeof text - 1 && (got = read(in, text + len, sizeof text - 1 - len)) > 0) {
        text[len += (size_t)got] = '\0';
        const char *start = strstr(text, "http://127.0.0.1:");
        if (start && strpbrk(start, ",\n ") && sscanf(start, "%127[^, \n]", server->url) == 1) {
            snprintf(server->port, sizeof server->port, "%s", strrchr(server->url, ':') + 1);
            return true;
        }
    }
    print_error("cairn serve said: %s\n", text);
    return false;
}

/* What it says later is read away, so that it never waits for us. */
static void *drain(void *arg)
{
    int in = (int)(intptr_t)arg;
    char text[512];
    while (read(in, text, sizeof text) > 0)
        ;
    close(in);
    return NULL;
}

void server_start(struct server *server, const char *store, const char *port,
                  const char *const *more)
{
    int ends[2];
    pthread_t drainer;
    CHECK(getenv("CAIRN_PROGRAM"), "CAIRN_PROGRAM does not name the program");
    CHECK_INT(pipe(ends), 0);
    server->pid = fork();
    if (server->pid == 0) {
        close(ends[0]);
        run_program(store, port, more, ends[1]);
    }
    close(ends[1]);
    CHECK(read_address(ends[0], server), "cairn serve did not start");
    CHECK_INT(pthread_create(&drainer, NULL, drain, (void *)(intptr_t)ends[0]), 0);
    pthread_detach(drainer);
}

void server_kill(struct server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
}

void server_stop(struct server *server)
{
    int status = 0;
    kill(server->pid, SIGTERM);
    waitpid(server->pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "cairn serve ended with %d", status);
}

/* ---- the one that misbehaves ---------------------------------------------------------------- */

/* Reads one request with its body; false: the other side has gone. */
static bool read_request(int peer, char *text, size_t room)
{
    size_t len = 0, wanted = SIZE_MAX;
    while (len < wanted) {
        ssize_t got = read(peer, text + len, room - 1 - len);
        if (got <= 0)
            return false;
        text[len += (size_t)got] = '\0';
        const char *end = strstr(text, "\r\n\r\n");
        const char *length = strcasestr(text, "content-length:");
        if (end)
            wanted = (size_t)(end + 4 - text) + (length ? strtoul(length + 15, NULL, 10) : 0);
    }
    return true;
}

static void send_text(int peer, const char *text)
{
    for (size_t len = strlen(text); len;) {
        ssize_t sent = send(peer, text, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        text += sent;
        len -= (size_t)sent;
    }
}

static void serve_peer(struct fake *fake, int peer)
{
    static const char healthy[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                  "Content-Length: 15\r\n\r\n{\"status\":\"ok\"}";
    char text[16384];
    while (read_request(peer, text, sizeof text)) {
        if (strncmp(text, "GET /healthz", 12) == 0) {
            send_text(peer, healthy);
            continue;
        }
        atomic_fetch_add(&fake->requests, 1);
        if (fake->answer)
            send_text(peer, fake->answer);
        break;
    }
    close(peer);
}

static void *run_fake(void *arg)
{
    struct fake *fake = arg;
    int peer;
    while ((peer = accept(fake->listener, NULL, NULL)) >= 0)
        serve_peer(fake, peer);
    return NULL;
}

void fake_start(struct fake *fake, const char *answer)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    fake->answer = answer;
    atomic_init(&fake->requests, 0);
    fake->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(fake->listener, (struct sockaddr *)&address, len), 0);
    CHECK_INT(listen(fake->listener, 16), 0);
    getsockname(fake->listener, (struct sockaddr *)&address, &len);
    snprintf(fake->url, sizeof fake->url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    CHECK_INT(pthread_create(&fake->thread, NULL, run_fake, fake), 0);
}

void fake_stop(struct fake *fake)
{
    shutdown(fake->listener, SHUT_RDWR); /* ends the accept */
    pthread_join(fake->thread, NULL);
    close(fake->listener);
}
