/* tests/api/socket.h - a real server in its own process, and clients that are mere sockets.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * $CAIRN_PROGRAM is the program to start.  Sockets give up after 20 seconds, so that a server
 * that does not answer fails the test instead of hanging it.
 */
#ifndef SOCKET_H
#define SOCKET_H

#include "test.h"

#include <sys/types.h>

struct server {
    pid_t pid;
    int port;
    char line[300]; /* what it said first */
};

/* Starts it on a free port, on a store in memory unless options say otherwise.  The list of
 * options ends with NULL. */
struct server server_start(const char *const *options);
struct server server_start_plain(void);

/* SIGTERM; answers the exit code. */
int server_stop(struct server *server);

/* Runs it with exactly these options until it ends by itself; what it said goes to `said`. */
int server_run(const char *const *options, char *said, size_t room);

int client_open(const struct server *server);
void client_send(int client, const char *bytes, size_t len);
void client_say(int client, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct reply {
    int status;      /* 0: the server hung up without a word */
    char head[2048]; /* status line and headers */
    char *body;      /* ends with NUL; released by the next client_hear() */
    size_t len;
};

/* Reads one reply; that of a HEAD has no body, whatever its length says. */
struct reply client_hear(int client);
struct reply client_hear_head(int client);

/* Whether the server hangs up, sooner or later. */
bool client_is_dropped(int client);

/* One request on a connection of its own; `headers` are whole lines or "". */
struct reply request(const struct server *server, const char *method, const char *target,
                     const char *headers, const char *body);

#endif
