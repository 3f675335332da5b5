/* cli/serve.c - cairn serve: opens the store, listens, and stops in good order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/say.h"
#include "http/http.h"
#include "http/listen.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* File descriptors that are not connections: the store's, the log's, the threads'. */
enum { SPARE_FILES = 64 };

/* A server of a server would only add a hop and hide the tokens of the one behind. */
static bool is_store_url(const char *url)
{
    if (!url)
        url = getenv("CAIRN_URL");
    if (!url || (strncmp(url, "http:", 5) != 0 && strncmp(url, "https:", 6) != 0))
        return true;
    say_error("cannot serve \"%s\": it is a server already", url);
    say_more("give a store with --url, such as sqlite:cairn.db");
    return false;
}

/* Raises the limit of open files as far as it goes, and answers how many connections fit in. */
static unsigned fit_connections(unsigned wanted, bool is_quiet)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files))
        return wanted;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur == RLIM_INFINITY || files.rlim_cur >= (rlim_t)wanted + SPARE_FILES)
        return wanted;
    unsigned fit =
        files.rlim_cur > 2 * SPARE_FILES ? (unsigned)files.rlim_cur - SPARE_FILES : SPARE_FILES;
    if (!is_quiet)
        say_error("at most %u connections instead of %u: the limit of open files is %llu", fit,
                  wanted, (unsigned long long)files.rlim_cur);
    return fit;
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

/* That a new store has got its tables is no news. */
static bool is_new_store(const char *json)
{
    return strstr(json, "\"event\":\"migrated\"") && strstr(json, "\"from\":0,");
}

/* Called by threads of the engine. */
static void tell_notice(void *arg, int level, const char *text, const char *json)
{
    const struct args *args = arg;
    bool is_wanted = !args_has(args, "quiet") && !is_new_store(json);
    if (level == CAIRN_NOTICE_ERROR || is_wanted)
        say_error("%s", text);
}

/* With the socket open: the store, the server, the end. */
static int serve(const struct args *args, const cairn_open_options *open, const char *where,
                 struct http_config *config)
{
    cairn_error error;
    struct http *http;
    cairn_code code = cairn_open(open, &config->engine, &error);
    if (code) {
        close(config->listen_fd);
        say_failure(&error);
        return code == CAIRN_E_BAD_INPUT ? EXIT_USAGE : EXIT_STORE;
    }
    if (http_start(config, &http, &error)) {
        say_failure(&error);
        cairn_close(config->engine);
        return error.code == CAIRN_E_BAD_INPUT ? EXIT_USAGE : EXIT_STORE;
    }
    if (!args_has(args, "quiet"))
        say_error("listening on http://%s, store %s%s", where, cairn_url(config->engine),
                  open->virtual_clock ? ", virtual clock" : "");
    wait_for_stop();
    http_quiesce(http);
    cairn_close(config->engine); /* finishes the commit under way, answers what waits */
    http_stop(http);
    return EXIT_DONE;
}

int run_serve(const struct args *args)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cleanup(tokens_freep) struct tokens *tokens = NULL;
    cairn_error error;
    char where[LISTEN_TEXT];
    const char *listen = args_text(args, "listen"), *token_file = args_text(args, "token-file");
    struct http_config config = {
        .idle_s = (unsigned)args_number(args, "idle-timeout", 60),
        .request_ms = (unsigned)args_number(args, "request-timeout", 60) * 1000,
        .page = {.is_off = args_has(args, "no-ui"),
                 .base = args_text(args, "ui-base"),
                 .folder = args_text(args, "ui-dir")},
    };
    open.url = args_text(args, "url");
    open.virtual_clock = args_has(args, "virtual-clock");
    open.serves = true;
    open.notice = tell_notice;
    open.notice_arg = (void *)args;
    if (!tuning_read(args, &open) || !is_store_url(open.url))
        return EXIT_USAGE;
    if (token_file && tokens_read(token_file, &tokens, &error)) {
        say_failure(&error);
        return EXIT_USAGE;
    }
    cairn_code code = listen_open(listen ? listen : "127.0.0.1:22476", !tokens,
                                  &config.listen_fd, where, &error);
    if (code) {
        say_failure(&error);
        return code == CAIRN_E_UNREACHABLE ? EXIT_STORE : EXIT_USAGE;
    }
    mallopt(M_ARENA_MAX, 2); /* threads here allocate little; an arena each costs memory */
    config.tokens = tokens;
    config.max_connections = fit_connections(
        (unsigned)args_number(args, "max-connections", 10000), args_has(args, "quiet"));
    block_signals();
    return serve(args, &open, where, &config);
}
