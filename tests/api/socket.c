/* tests/api/socket.c - a real server in its own process, and clients that are mere sockets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "socket.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_S = 120, ARGS_MAX = 24 };

/* Starts the program with its standard error in a pipe. */
static pid_t spawn(const char *const *options, int *ret_fd)
{
    char *args[ARGS_MAX] = {(char *)"cairn", (char *)"serve"};
    int ends[2];
    const char *program = getenv("CAIRN_PROGRAM");
    CHECK(program, "CAIRN_PROGRAM is not set; run this by ./test or meson test");
    for (size_t i = 0; options[i] && i < ARGS_MAX - 3; i++)
        args[i + 2] = (char *)options[i];
    CHECK(pipe2(ends, 0) == 0, "no pipe");
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test must not leave a server behind */
        dup2(ends[1], STDERR_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(program, args);
        _exit(127);
    }
    close(ends[1]);
    CHECK(pid > 0, "no process");
    *ret_fd = ends[0];
    return pid;
}

/* Reads until `wanted` has come and its line has ended, or to the end. */
static void read_until(int fd, const char *wanted, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    while (used + 1 < room) {
        ssize_t more = read(fd, text + used, room - 1 - used);
        if (more <= 0)
            break;
        used += (size_t)more;
        text[used] = '\0';
        const char *found = wanted ? strstr(text, wanted) : NULL;
        if (found && strchr(found, '\n'))
            break;
    }
}

struct server server_start(const char *const *options)
{
    struct server server = {0};
    const char *all[ARGS_MAX] = {"--listen", "127.0.0.1:0", "--url", "memory:"};
    int fd;
    for (size_t i = 0; options && options[i] && i < ARGS_MAX - 6; i++)
        all[i + 4] = options[i];
    signal(SIGPIPE, SIG_IGN);
    server.pid = spawn(all, &fd);
    read_until(fd, "listening on", server.line, sizeof server.line);
    const char *address = strstr(server.line, "http://");
    CHECK(address, "the server said: %s", server.line);
    server.port =
        atoi(strrchr(address, ':') > address + 5 ? strchr(address + 7, ':') + 1 : "0");
    CHECK(server.port > 0, "the server said: %s", server.line);
    close(fd);
    return server;
}

struct server server_start_plain(void)
{
    return server_start(NULL);
}

static int exit_code(pid_t pid)
{
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int server_stop(struct server *server)
{
    kill(server->pid, SIGTERM);
    return exit_code(server->pid);
}

int server_run(const char *const *options, char *said, size_t room)
{
    int fd;
    pid_t pid = spawn(options, &fd);
    read_until(fd, NULL, said, room);
    close(fd);
    return exit_code(pid);
}

int client_open(const struct server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)server->port)};
    struct timeval patience = {.tv_sec = PATIENCE_S};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(client >= 0, "no socket");
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    CHECK(connect(client, (struct sockaddr *)&address, sizeof address) == 0,
          "cannot connect to port %d", server->port);
    return client;
}

/* A server may hang up in the middle; what it said then is what the test looks at. */
void client_send(int client, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(client, bytes, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes += sent;
        len -= (size_t)sent;
    }
}

void client_say(int client, const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    client_send(client, text, (size_t)len);
    free(text);
}

static bool receive_exactly(int client, char *to, size_t len)
{
    while (len > 0) {
        ssize_t more = recv(client, to, len, 0);
        if (more <= 0)
            return false;
        to += more;
        len -= (size_t)more;
    }
    return true;
}

static struct reply hear(int client, bool is_head)
{
    static char *kept;
    struct reply reply = {0};
    size_t used = 0;
    free(kept);
    kept = reply.body = calloc(1, 1);
    while (used + 1 < sizeof reply.head && !strstr(reply.head, "\r\n\r\n")) {
        if (!receive_exactly(client, reply.head + used, 1))
            return reply;
        used++;
    }
    sscanf(reply.head, "HTTP/1.%*d %d", &reply.status);
    const char *length = strcasestr(reply.head, "\r\nContent-Length: ");
    if (!length || is_head)
        return reply;
    reply.len = strtoul(length + 18, NULL, 10);
    free(kept);
    kept = reply.body = calloc(1, reply.len + 1);
    CHECK(receive_exactly(client, reply.body, reply.len), "the reply is cut: %s", reply.head);
    return reply;
}

struct reply client_hear(int client)
{
    return hear(client, false);
}

struct reply client_hear_head(int client)
{
    return hear(client, true);
}

bool client_is_dropped(int client)
{
    struct pollfd wait = {.fd = client, .events = POLLRDHUP};
    return poll(&wait, 1, PATIENCE_S * 1000) == 1;
}

struct reply request(const struct server *server, const char *method, const char *target,
                     const char *headers, const char *body)
{
    int client = client_open(server);
    client_say(
        client, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%sContent-Length: %zu\r\n\r\n%s",
        method, target, server->port, headers, body ? strlen(body) : 0, body ? body : "");
    struct reply reply = hear(client, strcmp(method, "HEAD") == 0);
    close(client);
    return reply;
}
