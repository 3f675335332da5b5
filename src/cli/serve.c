/* cli/serve.c - cairn serve: opens the store, listens, and stops in good order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/log.h"
#include "cli/process.h"
#include "cli/say.h"
#include "http/http.h"
#include "http/listen.h"
#include "http/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* File descriptors that are not connections: the store's, the log's, the threads'.  Where there are few of them half are
 * kept back; below the least a server could not even open its store beside its connections. */
enum { SPARE_FILES = 64, LEAST_FILES = 32 };

/* How often the certificate's end is looked at. */
enum { DAY_S = 86400 };

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

/* Raises the limit of open files as far as it goes. */
static rlim_t raise_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files))
        return RLIM_INFINITY;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    return getrlimit(RLIMIT_NOFILE, &files) ? RLIM_INFINITY : files.rlim_cur;
}

/* How many connections fit into the limit of open files; 0: it is too low for a server, and an error was printed. */
static unsigned fit_connections(unsigned wanted, const struct log *log)
{
    rlim_t files = raise_files();
    if (files < LEAST_FILES) {
        say_error("cannot serve: the limit of open files is %llu, and it takes %d at least",
                  (unsigned long long)files, LEAST_FILES);
        say_more("raise it with ulimit -n, or LimitNOFILE of its service");
        return 0;
    }
    rlim_t room = files > (rlim_t)2 * SPARE_FILES ? files - SPARE_FILES : files / 2;
    if (files == RLIM_INFINITY || room >= wanted)
        return wanted;
    unsigned fit = (unsigned)room;
    log_tell(log, LEVEL_WARNING, "few_files", NULL,
             "at most %u connections instead of %u: the limit of open files is %llu", fit,
             wanted, (unsigned long long)files);
    return fit;
}

/* What a running server needs to hear signals. */
struct serving {
    struct log log;
    const char *token_file, *cert_file, *key_file; /* NULL: none */
    bool has_terminal; /* at its start, and stops when that is closed */
    struct http *http;
};

static void own_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

/* Before any thread starts: they inherit it, and only wait_for_stop() takes these signals. */
static void block_signals(void)
{
    sigset_t set;
    own_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static bool has_terminal(void)
{
    int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static cairn_code reload_tokens(const struct serving *serving, cairn_error *reterr)
{
    struct tokens *tokens;
    if (!serving->token_file)
        return CAIRN_OK;
    TRY(tokens_read(serving->token_file, &tokens, reterr));
    http_set_tokens(serving->http, tokens);
    return CAIRN_OK;
}

static cairn_code load_certificate(const struct serving *serving, cairn_error *reterr)
{
    return serving->cert_file ? tls_load(serving->cert_file, serving->key_file, reterr)
                              : CAIRN_OK;
}

/* A renewal that failed is not noticed otherwise before clients refuse the certificate. */
static void tell_certificate(const struct serving *serving)
{
    if (!serving->cert_file)
        return;
    struct tls_life life = tls_life();
    time_t now = time(NULL);
    bool is_early = now < life.begins_at;
    char at[INSTANT_TEXT];
    const struct log_fact facts[] = {{.name = "file", .text = serving->cert_file},
                                     {.name = is_early ? "begins_at" : "ends_at", .text = at},
                                     {.name = NULL}};
    if (!is_early && now < life.warns_at)
        return;
    instant_format((is_early ? life.begins_at : life.ends_at) * (int64_t)1000000, at);
    log_tell(&serving->log, LEVEL_WARNING, is_early ? "certificate_early" : "certificate_ends",
             facts, "certificate \"%s\" %s %s%s", serving->cert_file,
             is_early              ? "is not valid before"
             : life.ends_at <= now ? "ended at"
                                   : "ends at",
             at,
             is_early ? ": clients refuse it until then"
                      : ": renew it, and send SIGHUP to the server");
}

static bool tell_reload(const struct log *log, cairn_code code, const cairn_error *error)
{
    if (code)
        log_tell(log, LEVEL_ERROR, "reload_failed", NULL,
                 "%s; what was read before stays%s%s%s", error->message,
                 *error->hint ? " (" : "", error->hint, *error->hint ? ")" : "");
    return code == CAIRN_OK;
}

/* What cannot be read stays as it was. */
static void reload(const struct serving *serving)
{
    cairn_error error;
    const struct log *log = &serving->log;
    bool has_tokens = tell_reload(log, reload_tokens(serving, &error), &error);
    bool has_pair = tell_reload(log, load_certificate(serving, &error), &error);
    if (has_tokens && has_pair)
        log_tell(log, LEVEL_INFO, "reloaded", NULL, "%s",
                 serving->token_file || serving->cert_file
                     ? "read tokens and certificate again"
                     : "SIGHUP: there is neither a token file nor a certificate to read again");
    tell_certificate(serving);
}

/* The terminal of a server that was started from one has been closed: SIGHUP means that, too. */
static bool is_hangup(const struct serving *serving)
{
    return serving->has_terminal && !has_terminal();
}

/* After the first signal a second one ends the process at once. */
static void wait_for_stop(const struct serving *serving)
{
    sigset_t set;
    own_signals(&set);
    for (;;) {
        const struct timespec day = {.tv_sec = DAY_S};
        int signal = sigtimedwait(&set, NULL, &day);
        if (signal == SIGHUP && !is_hangup(serving))
            reload(serving);
        else if (signal < 0 && errno == EAGAIN)
            tell_certificate(serving);
        else if (signal > 0 || errno != EINTR)
            break;
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigdelset(&set, SIGHUP);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Called by threads of the engine. */
static void tell_notice(void *arg, int level, const char *text, const char *json)
{
    const struct serving *serving = arg;
    log_notice(&serving->log, level, text, json);
}

static void tell_refused(const struct log *log, const struct http_event *event)
{
    const struct log_fact facts[] = {{.name = "client", .text = event->client},
                                     {.name = "method", .text = event->method},
                                     {.name = "path", .text = event->path},
                                     {.name = "left_out", .number = (int64_t)event->left_out},
                                     {.name = NULL}};
    char more[64] = "";
    if (event->left_out)
        snprintf(more, sizeof more, ", and %zu more since the last", event->left_out);
    log_tell(log, LEVEL_WARNING, "token_refused", facts, "refused a token of %s for %s %s%s",
             event->client, event->method, event->path, more);
}

/* Called by the server's thread. */
static void tell_http(void *arg, const struct http_event *event)
{
    const struct serving *serving = arg;
    struct log_fact facts[] = {
        {.name = "method", .text = event->method},
        {.name = "path", .text = event->path},
        {.name = "status", .number = event->status},
        {.name = "took_us", .number = event->took_us},
        {.name = "client", .text = event->client},
        {.name = NULL}, /* what not every request has */
        {.name = NULL},
        {.name = NULL},
    };
    size_t count = 5;
    if (event->caller)
        facts[count++] = (struct log_fact){.name = "token", .text = event->caller};
    if (event->trace)
        facts[count++] = (struct log_fact){.name = "traceparent", .text = event->trace};
    if (event->what == HTTP_REFUSED)
        tell_refused(&serving->log, event);
    else
        log_tell(&serving->log, event->is_always_told ? LEVEL_INFO : LEVEL_DEBUG, "request",
                 facts, "%s %s %u %" PRId64 "us%s%s%s%s", event->method, event->path,
                 event->status, event->took_us, event->caller ? " by " : "",
                 event->caller ? event->caller : "", event->trace ? " traceparent " : "",
                 event->trace ? event->trace : "");
}

static void tell_started(const struct serving *serving, const char *url, const char *store,
                         bool is_virtual)
{
    const struct log_fact facts[] = {{.name = "url", .text = url},
                                     {.name = "store", .text = store},
                                     {.name = "version", .text = CAIRN_VERSION},
                                     {.name = NULL}};
    log_tell(&serving->log, LEVEL_INFO, "started", facts, "listening on %s, store %s%s", url,
             store, is_virtual ? ", virtual clock" : "");
}

/* With the socket open: the store, the server, the end. */
static int serve(struct serving *serving, const cairn_open_options *open, const char *where,
                 struct http_config *config)
{
    cairn_error error;
    char url[LISTEN_TEXT + 16];
    cairn_code code = cairn_open(open, &config->engine, &error);
    if (code) {
        close(config->listen_fd);
        tokens_free(config->tokens);
        say_failure(&error);
        return code == CAIRN_E_BAD_INPUT ? EXIT_USAGE : EXIT_STORE;
    }
    if (http_start(config, &serving->http, &error)) {
        say_failure(&error);
        cairn_close(config->engine);
        return error.code == CAIRN_E_BAD_INPUT ? EXIT_USAGE : EXIT_STORE;
    }
    snprintf(url, sizeof url, "%s://%s", config->is_tls ? "https" : "http", where);
    tell_started(serving, url, cairn_url(config->engine), open->virtual_clock);
    tell_certificate(serving);
    wait_for_stop(serving);
    log_tell(&serving->log, LEVEL_INFO, "stopping", NULL, "stopping");
    http_quiesce(serving->http);
    cairn_close(config->engine); /* finishes the commit under way, answers what waits */
    http_stop(serving->http);
    tls_unload();
    log_tell(&serving->log, LEVEL_INFO, "stopped", NULL, "stopped");
    return EXIT_DONE;
}

/* A server that nobody may talk to is a mistake; one whose last token was removed is not. */
static cairn_code read_first_tokens(const struct serving *serving, struct tokens **ret_tokens,
                                    cairn_error *reterr)
{
    if (!serving->token_file)
        return CAIRN_OK;
    TRY(tokens_read(serving->token_file, ret_tokens, reterr));
    if (tokens_count(*ret_tokens))
        return CAIRN_OK;
    fail(reterr, CAIRN_E_BAD_INPUT, "token file \"%s\" has no token", serving->token_file);
    return fail_hint(reterr, CAIRN_E_BAD_INPUT,
                     "cairn token add NAME --role ROLE --token-file %s", serving->token_file);
}

/* What can be wrong before anything is opened: files, and the address. */
static int prepare(const struct args *args, const struct serving *serving,
                   struct http_config *config, char where[LISTEN_TEXT])
{
    cleanup(tokens_freep) struct tokens *tokens = NULL;
    cairn_error error;
    const char *listen = args_text(args, "listen");
    if (read_first_tokens(serving, &tokens, &error) || load_certificate(serving, &error)) {
        say_failure(&error);
        return EXIT_USAGE;
    }
    cairn_code code = listen_open(listen ? listen : "127.0.0.1:22476", !tokens,
                                  &config->listen_fd, where, &error);
    if (code) {
        say_failure(&error);
        return code == CAIRN_E_UNREACHABLE ? EXIT_STORE : EXIT_USAGE;
    }
    config->tokens = tokens;
    tokens = NULL;
    return EXIT_DONE;
}

int run_serve(const struct args *args)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    char where[LISTEN_TEXT];
    struct serving serving = {
        .log = log_of(args),
        .token_file = args_text(args, "token-file"),
        .cert_file = args_text(args, "tls-cert"),
        .key_file = args_text(args, "tls-key"),
        .has_terminal = has_terminal() && !hangup_is_ignored(),
    };
    struct http_config config = {
        .is_tls = serving.cert_file,
        .tell = tell_http,
        .tell_arg = &serving,
        .tells_requests = serving.log.least == LEVEL_DEBUG,
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
    open.notice_arg = &serving;
    if (!tuning_read(args, &open) || !is_store_url(open.url))
        return EXIT_USAGE;
    TRY(prepare(args, &serving, &config, where));
    mallopt(M_ARENA_MAX, 2); /* threads here allocate little; an arena each costs memory */
    config.max_connections =
        fit_connections((unsigned)args_number(args, "max-connections", 10000), &serving.log);
    if (!config.max_connections)
        return EXIT_NO;
    block_signals();
    return serve(&serving, &open, where, &config);
}
