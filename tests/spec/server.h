/* tests/spec/server.h - servers for tests: a real `cairn serve`, and one that misbehaves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SPEC_SERVER_H
#define SPEC_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

/* The program that $CAIRN_PROGRAM names. */
struct server {
    pid_t pid;
    char url[128]; /* http://127.0.0.1:PORT */
    char port[16];
};

/* Starts it on a store and a port ("0": any free one) and waits until it listens.  `more` are
 * further options, ended by NULL; itself NULL: none. */
void server_start(struct server *server, const char *store, const char *port,
                  const char *const *more);
void server_kill(struct server *server); /* as a crash would; waits for its end */
void server_stop(struct server *server); /* asks it to; its exit code must be 0 */

/* A server that answers GET /healthz as ours does, and everything else as told. */
struct fake {
    const char *answer;  /* sent whole; NULL: the connection is closed without one */
    atomic_int requests; /* that were read whole, /healthz not counted */
    char url[128];
    int listener;
    pthread_t thread;
};

void fake_start(struct fake *fake, const char *answer);
void fake_stop(struct fake *fake);

#endif
