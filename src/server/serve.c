/* server/serve.c - cairn serve: opens the store, listens, and stops in good order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cairn.h"
#include "http/http.h"
#include "http/listen.h"
#include "server/server.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { EXIT_DONE = 0, EXIT_USAGE = 2, EXIT_UNREACHABLE = 3 };

/* File descriptors that are not connections: the store's, the log's, the threads'. */
enum { SPARE_FILES = 64 };

static void complain(const cairn_error *error)
{
    fprintf(stderr, "cairn: %s\n", error->message);
    if (error->detail[0])
        fprintf(stderr, "    %s\n", error->detail);
    if (error->hint[0])
        fprintf(stderr, "    %s\n", error->hint);
}

/* A server of a server would only add a hop and hide the tokens of the one behind. */
static bool is_store_url(const char *url)
{
    if (!url)
        url = getenv("CAIRN_URL");
    if (!url || (strncmp(url, "http:", 5) != 0 && strncmp(url, "https:", 6) != 0))
        return true;
    fprintf(stderr,
            "cairn: cannot serve \"%s\": it is a server already\n"
            "    give a store with --url, such as sqlite:cairn.db\n",
            url);
    return false;
}

/* Raises the limit of open files as far as it goes, and holds connections within it. */
static void fit_connections(struct serve_options *options)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files))
        return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur == RLIM_INFINITY ||
        files.rlim_cur >= (rlim_t)options->max_connections + SPARE_FILES)
        return;
    unsigned fit =
        files.rlim_cur > 2 * SPARE_FILES ? (unsigned)files.rlim_cur - SPARE_FILES : SPARE_FILES;
    if (!options->is_quiet)
        fprintf(
            stderr,
            "cairn: at most %u connections instead of %u: the limit of open files is %llu\n",
            fit, options->max_connections, (unsigned long long)files.rlim_cur);
    options->max_connections = fit;
}

static void stop_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

/* Before any thread starts: they inherit it, and only wait_for_stop() takes these signals. */
static void block_signals(void)
{
    sigset_t set;
    stop_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* After the first signal a second one ends the process at once. */
static void wait_for_stop(void)
{
    sigset_t set;
    stop_signals(&set);
    while (sigwaitinfo(&set, NULL) < 0 && errno == EINTR) {
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static int open_store(const struct serve_options *options, cairn_engine **ret_engine)
{
    cairn_error error;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = options->url;
    open.virtual_clock = options->is_virtual;
    open.aging_rate = options->aging_rate;
    open.missing_cooldown_ms = options->missing_cooldown_ms;
    open.missing_throttle_ms = options->missing_throttle_ms;
    open.missing_jitter = options->missing_jitter;
    cairn_code code = cairn_open(&open, ret_engine, &error);
    if (!code)
        return EXIT_DONE;
    complain(&error);
    return code == CAIRN_E_BAD_INPUT ? EXIT_USAGE : EXIT_UNREACHABLE;
}

/* With the socket open: the store, the server, the end. */
static int serve(const struct serve_options *options, int listen_fd, const char *where,
                 const struct tokens *tokens)
{
    cairn_engine *engine;
    cairn_error error;
    struct http *http;
    int status = open_store(options, &engine);
    if (status) {
        close(listen_fd);
        return status;
    }
    struct http_config config = {.engine = engine,
                                 .listen_fd = listen_fd,
                                 .tokens = tokens,
                                 .max_connections = options->max_connections,
                                 .idle_s = options->idle_s,
                                 .request_ms = options->request_s * 1000};
    if (http_start(&config, &http, &error)) {
        complain(&error);
        cairn_close(engine);
        return EXIT_UNREACHABLE;
    }
    if (!options->is_quiet)
        fprintf(stderr, "cairn: listening on http://%s, store %s%s\n", where, cairn_url(engine),
                options->is_virtual ? ", virtual clock" : "");
    wait_for_stop();
    http_quiesce(http);
    cairn_close(engine); /* finishes the commit under way, answers what waits */
    http_stop(http);
    return EXIT_DONE;
}

int serve_run(const struct serve_options *given)
{
    struct serve_options options = *given;
    cleanup(tokens_freep) struct tokens *tokens = NULL;
    cairn_error error;
    char where[LISTEN_TEXT];
    int listen_fd;
    if (!is_store_url(options.url))
        return EXIT_USAGE;
    if (options.token_file && tokens_read(options.token_file, &tokens, &error)) {
        complain(&error);
        return EXIT_USAGE;
    }
    cairn_code code = listen_open(options.listen, !tokens, &listen_fd, where, &error);
    if (code) {
        complain(&error);
        return code == CAIRN_E_UNREACHABLE ? EXIT_UNREACHABLE : EXIT_USAGE;
    }
    mallopt(M_ARENA_MAX, 2); /* threads here allocate little; an arena each costs memory */
    fit_connections(&options);
    block_signals();
    return serve(&options, listen_fd, where, tokens);
}
