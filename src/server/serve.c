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
#include <getopt.h>
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

struct serve_options {
    const char *listen, *url, *token_file;
    unsigned max_connections, idle_s;
    bool is_virtual, is_quiet, is_help;
};

static const char usage[] =
    "usage: cairn serve [options]\n"
    "\n"
    "Serves the HTTP interface (GET /openapi.json describes it) and applies timers, until it\n"
    "receives SIGINT or SIGTERM.\n"
    "\n"
    "  --listen HOST:PORT     where (default 127.0.0.1:22476; port 0: any free one)\n"
    "  --url URL              the store: sqlite:FILE or postgres://HOST/DB\n"
    "                         (default $CAIRN_URL, else sqlite:cairn.db)\n"
    "  --token-file FILE      take only requests with a token; lines of ROLE TOKEN [NAME], "
    "where\n"
    "                         ROLE is produce, work or operate.  Without it only loopback\n"
    "                         addresses may be listened on\n"
    "  --virtual-clock        time stands still until POST /v1/clock/advance\n"
    "  --max-connections N    connections at once (default 10000)\n"
    "  --idle-timeout SEC     close a connection on which nothing moves (default 60)\n"
    "  -q, --quiet            say nothing but errors\n"
    "  -h, --help             show this\n"
    "\n"
    "example:\n"
    "  cairn serve --url sqlite:orders.db &\n"
    "  curl -d '{\"type\": \"billing.invoice.v1\"}' http://127.0.0.1:22476/v1/jobs\n";

static void complain(const cairn_error *error)
{
    fprintf(stderr, "cairn: %s\n", error->message);
    if (error->detail[0])
        fprintf(stderr, "    %s\n", error->detail);
    if (error->hint[0])
        fprintf(stderr, "    %s\n", error->hint);
}

static bool parse_number(const char *name, const char *text, unsigned least, unsigned most,
                         unsigned *ret_number)
{
    size_t digits = strspn(text, "0123456789");
    unsigned long value = digits && digits <= 9 && !text[digits] ? strtoul(text, NULL, 10) : 0;
    if (value >= least && value <= most) {
        *ret_number = (unsigned)value;
        return true;
    }
    fprintf(stderr, "cairn: %s must be an integer from %u to %u, not \"%s\"\n", name, least,
            most, text);
    return false;
}

static bool parse_options(int argc, char **argv, struct serve_options *options)
{
    static const struct option known[] = {
        {"listen", required_argument, NULL, 'l'},
        {"url", required_argument, NULL, 'u'},
        {"token-file", required_argument, NULL, 't'},
        {"virtual-clock", no_argument, NULL, 'v'},
        {"max-connections", required_argument, NULL, 'm'},
        {"idle-timeout", required_argument, NULL, 'i'},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int letter;
    bool is_good = true;
    optind = 0;
    opterr = 0;
    while (is_good && (letter = getopt_long(argc, argv, ":qh", known, NULL)) != -1) {
        switch (letter) {
        case 'l':
            options->listen = optarg;
            break;
        case 'u':
            options->url = optarg;
            break;
        case 't':
            options->token_file = optarg;
            break;
        case 'v':
            options->is_virtual = true;
            break;
        case 'm':
            is_good = parse_number("--max-connections", optarg, 1, 1000000,
                                   &options->max_connections);
            break;
        case 'i':
            is_good = parse_number("--idle-timeout", optarg, 1, 86400, &options->idle_s);
            break;
        case 'q':
            options->is_quiet = true;
            break;
        case 'h':
            options->is_help = true;
            return true;
        default:
            fprintf(stderr,
                    letter == ':' ? "cairn: %s needs a value\n" : "cairn: unknown option %s\n",
                    argv[optind - 1]);
            is_good = false;
        }
    }
    if (is_good && optind < argc) {
        fprintf(stderr, "cairn: serve takes no argument \"%s\"\n", argv[optind]);
        is_good = false;
    }
    if (!is_good)
        fprintf(stderr, "    cairn serve --help shows the options\n");
    return is_good;
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
                                 .idle_s = options->idle_s};
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

int cmd_serve(int argc, char **argv)
{
    struct serve_options options = {
        .listen = "127.0.0.1:22476", .max_connections = 10000, .idle_s = 60};
    cleanup(tokens_freep) struct tokens *tokens = NULL;
    cairn_error error;
    char where[LISTEN_TEXT];
    int listen_fd;
    if (!parse_options(argc, argv, &options) || !is_store_url(options.url))
        return EXIT_USAGE;
    if (options.is_help) {
        fputs(usage, stdout);
        return EXIT_DONE;
    }
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
