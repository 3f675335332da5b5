/* server/server.h - cairn serve.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

/* Serves until SIGINT or SIGTERM; argv[0] is "serve".  Returns the exit code: 0 stopped, 2
 * wrong usage, 3 the store could not be reached or the address is taken. */
int cmd_serve(int argc, char **argv);

#endif
