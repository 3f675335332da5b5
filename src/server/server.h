/* server/server.h - cairn serve.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <stdbool.h>

struct serve_options {
    const char *listen;     /* HOST:PORT; port 0: any free one */
    const char *url;        /* NULL: $CAIRN_URL, else sqlite:cairn.db */
    const char *token_file; /* NULL: no tokens, and loopback only */
    unsigned max_connections, idle_s;
    unsigned request_s; /* how long the headers, and then the body, may take to arrive */
    double aging_rate;  /* points of priority a second */

    /* Of steps whose worker has no handler for them; see cairn_open_options. */
    unsigned missing_cooldown_ms, missing_throttle_ms;
    double missing_jitter;
    bool is_virtual; /* the clock stands still until it is moved */
    bool is_quiet;   /* say nothing but errors */
};

#define SERVE_DEFAULTS                                                                        \
    {                                                                                         \
        .listen = "127.0.0.1:22476", .max_connections = 10000, .idle_s = 60, .request_s = 60, \
        .aging_rate = 0.5, .missing_cooldown_ms = 5000, .missing_throttle_ms = 60000,         \
        .missing_jitter = 0.2                                                                 \
    }

/* Serves until SIGINT or SIGTERM.  Returns the exit code: 0 stopped, 2 wrong usage, 3 the store
 * could not be reached or the address is taken. */
int serve_run(const struct serve_options *options);

#endif
