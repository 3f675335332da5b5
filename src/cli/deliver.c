/* cli/deliver.c - cairn deliver: sends the events that handlers emit to a URL, in order per instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The store keeps the order: it hands out no event of an instance while an earlier one is claimed and not
 * acknowledged.  So several processes may deliver from one store.  What this process must see to is that no
 * request of its own is under way when its claim runs out: before each one it looks whether enough of the
 * claim is left for the longest time that a request may take.
 */
#include "cli/deliver.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/random.h"
#include "cli/call.h"
#include "cli/log.h"
#include "cli/process.h"
#include "cli/say.h"
#include "http/secret.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { BATCH = 32, TIMEOUT_MS = 30000, ATTEMPTS = 100, SECRET_MIN = 16 };
enum { PAUSE_MS_MIN = 20, PAUSE_MS_MAX = 1000, MARGIN_MS = 1000 };

struct delivering {
    const struct args *args;
    cairn_engine *engine;
    struct poster *poster;
    struct log log;
    const char *url;
    char worker[128];
    char secret[SECRET_MAX + 2]; /* "": none */
    int64_t timeout_ms, lease_ms;
    int64_t claimed_us; /* when the latest claim was asked for, monotonic */
    int signal_fd;
    int signals; /* the first: end after this request; the second: end it */
};

/* ---- signals and time ------------------------------------------------------------------------- */

/* Waits for a signal, at most so long. */
static bool take_signal(struct delivering *d, int wait_ms)
{
    struct signalfd_siginfo info;
    struct pollfd one = {.fd = d->signal_fd, .events = POLLIN};
    if (poll(&one, 1, wait_ms) <= 0 || read(d->signal_fd, &info, sizeof info) <= 0)
        return false;
    if (d->signals++ == 0)
        log_tell(&d->log, LEVEL_INFO, "stopping", NULL,
                 "stopping after this request; a second signal ends it");
    return true;
}

static bool is_stopping(struct delivering *d)
{
    while (take_signal(d, 0))
        continue;
    return d->signals > 0;
}

static bool is_unwanted(void *arg)
{
    struct delivering *d = arg;
    return is_stopping(d) && d->signals > 1;
}

static void block_signals(struct delivering *d)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (!hangup_is_ignored())
        sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* before the engine starts threads */
    signal(SIGPIPE, SIG_IGN);
    d->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
}

/* Whether a request that begins now ends while the claim is held. */
static bool has_time(const struct delivering *d)
{
    int64_t used_ms = (monotonic_us() - d->claimed_us) / US_PER_MS;
    return used_ms + d->timeout_ms + MARGIN_MS <= d->lease_ms;
}

/* ---- what becomes of an event ----------------------------------------------------------------- */

static void tell(const struct delivering *d, enum log_level level, const char *word,
                 const cairn_outbox_event *event, int64_t attempts, const char *reason)
{
    struct log_fact facts[] = {{.name = "id", .text = event->id},
                               {.name = "instance_id", .text = event->instance_id},
                               {.name = "name", .text = event->event},
                               {.name = attempts ? "attempts" : NULL, .number = attempts},
                               {.name = reason ? "error" : NULL, .text = reason ? reason : ""},
                               {0}};
    char calls[40] = "";
    if (attempts)
        snprintf(calls, sizeof calls, ", attempt %" PRId64, attempts);
    log_tell(&d->log, level, word, facts, "event %s (%.128s) of %s: %s%s%s%s", event->id,
             event->event, event->instance_id, word, calls, reason ? ": " : "",
             reason ? reason : "");
}

static bool acknowledge(const struct delivering *d, const cairn_outbox_event *event,
                        const char *word)
{
    cairn_error error = {0};
    if (cairn_outbox_ack(d->engine, event->id, &error)) {
        tell(d, LEVEL_WARNING, "not acknowledged", event, 0, error.message);
        return false;
    }
    tell(d, LEVEL_DEBUG, word, event, 0, NULL);
    return true;
}

/* Gives an event back, and with it all later ones of its instance; reason NULL: nothing was wrong
 * with it.  True: it was given up instead, and later ones are still ours. */
static bool give_back(const struct delivering *d, const cairn_outbox_event *event,
                      const char *reason)
{
    cleanup(buf_donep) struct buf body = {0}, target = {0};
    cleanup(answer_done) struct answer answer = {0};
    struct json_out out = {.buf = &body};
    target_path(&target, "/v1/outbox/{id}/release", event->id, NULL);
    json_open(&out, '{');
    json_str(json_key(&out, "worker"), d->worker);
    if (reason) {
        cleanup(buf_donep) struct buf clean = {0};
        buf_utf8(&clean, reason, strlen(reason));
        json_str(json_key(&out, "error"), buf_text(&clean));
        json_int(json_key(&out, "max_attempts"),
                 args_number(d->args, "max-attempts", ATTEMPTS));
    }
    json_close(&out, '}');
    int code = call_unsaid(d->engine, "POST", buf_text(&target), buf_text(&body), &answer);
    if (code || answer.status != 200)
        tell(d, LEVEL_WARNING, "not given back", event, 0,
             answer.tree ? text_of(answer.tree, "message") : "the store cannot be reached");
    else if (reason && is_true(answer.tree, "dead")) {
        tell(d, LEVEL_ERROR, "dead", event, int_of(answer.tree, "attempts"), reason);
        return true;
    } else if (reason)
        tell(d, LEVEL_WARNING, "not delivered", event, int_of(answer.tree, "attempts"), reason);
    return false;
}

static bool is_wanted(const struct delivering *d, const char *event)
{
    bool is_any = d->args->many_count == 0;
    for (size_t i = 0; i < d->args->many_count && !is_any; i++) {
        const char *pattern = d->args->many[i];
        size_t len = strlen(pattern);
        bool is_prefix = len && pattern[len - 1] == '%';
        is_any =
            is_prefix ? strncmp(pattern, event, len - 1) == 0 : strcmp(pattern, event) == 0;
    }
    return is_any;
}

/* False: later events of its instance must wait. */
static bool deliver(struct delivering *d, const cairn_outbox_event *event)
{
    char reason[POST_REASON];
    if (!is_wanted(d, event->event))
        return acknowledge(d, event, "left out");
    if (is_stopping(d) || !has_time(d))
        return give_back(d, event, NULL);
    switch (poster_send(d->poster, event, reason)) {
    case POST_DELIVERED:
        return acknowledge(d, event, "delivered");
    case POST_STOPPED:
        return give_back(d, event, NULL);
    default:
        return give_back(d, event, reason);
    }
}

/* Events come in order; once one of an instance could not be delivered, its later ones are left alone: they were
 * given back with it. */
static void deliver_all(struct delivering *d, const cairn_page *page)
{
    const char *held[BATCH];
    size_t held_count = 0;
    for (size_t i = 0; i < cairn_page_count(page); i++) {
        const cairn_outbox_event *event = cairn_page_outbox_event(page, i);
        bool is_held = false;
        for (size_t k = 0; k < held_count; k++)
            is_held |= strcmp(held[k], event->instance_id) == 0;
        if (!is_held && !deliver(d, event))
            held[held_count++] = event->instance_id;
    }
}

/* ---- the loop --------------------------------------------------------------------------------- */

static bool is_temporary(cairn_code code)
{
    return code == CAIRN_E_UNREACHABLE || code == CAIRN_E_BUSY || code == CAIRN_E_TOO_MANY ||
           code == CAIRN_E_STORE_FULL || code == CAIRN_E_STORE || code == CAIRN_E_TIMED_OUT;
}

/* Whether no event waits, here or for later. */
static bool is_idle(const struct delivering *d)
{
    cleanup(answer_done) struct answer answer = {0};
    return call_unsaid(d->engine, "GET", "/v1/outbox?limit=1", NULL, &answer) == EXIT_DONE &&
           answer.status == 200 && json_array_size(json_object_get(answer.tree, "items")) == 0;
}

/* One claim and what it brought.  *ret_count: how many events. */
static int deliver_some(struct delivering *d, size_t *ret_count)
{
    cairn_page *page = NULL;
    cairn_error error = {0};
    *ret_count = 0;
    d->claimed_us = monotonic_us();
    cairn_code code =
        cairn_outbox_claim(d->engine, d->worker, BATCH, (uint32_t)d->lease_ms, &page, &error);
    if (code && !is_temporary(code))
        return say_failure(&error);
    if (code) {
        log_tell(&d->log, LEVEL_WARNING, "store_lost", NULL, "could not claim events: %s",
                 error.message);
        return EXIT_DONE;
    }
    deliver_all(d, page);
    *ret_count = cairn_page_count(page);
    cairn_page_free(page);
    return EXIT_DONE;
}

static int deliver_until_stopped(struct delivering *d)
{
    int pause = PAUSE_MS_MIN;
    while (!is_stopping(d)) {
        size_t count = 0;
        int exit_code = deliver_some(d, &count);
        if (exit_code)
            return exit_code;
        if (count) {
            pause = PAUSE_MS_MIN;
            continue;
        }
        if (args_has(d->args, "until-idle") && is_idle(d))
            return EXIT_DONE;
        take_signal(d, pause);
        pause = pause * 2 < PAUSE_MS_MAX ? pause * 2 : PAUSE_MS_MAX;
    }
    return EXIT_DONE;
}

/* ---- the command line ------------------------------------------------------------------------- */

/* The first line of the file, without the white space around it. */
static int read_secret(struct delivering *d)
{
    const char *path = args_text(d->args, "secret-file");
    cleanup(secret_closep) FILE *file = NULL;
    cairn_error error = {0};
    if (!path)
        return EXIT_DONE;
    if (secret_open("secret file", path, &file, &error))
        return say_failure(&error);
    if (!fgets(d->secret, sizeof d->secret, file))
        d->secret[0] = '\0';
    d->secret[strcspn(d->secret, " \t\r\n")] = '\0';
    size_t len = strlen(d->secret);
    if (len >= SECRET_MIN && len <= SECRET_MAX)
        return EXIT_DONE;
    say_error("the first line of the secret file \"%s\" has %zu bytes: it must have %d to %d, "
              "without "
              "blanks",
              path, len, SECRET_MIN, SECRET_MAX);
    say_more("Make one with: (umask 077; openssl rand -hex 32 > %s)", path);
    return EXIT_USAGE;
}

static int check_events(const struct args *args)
{
    for (size_t i = 0; i < args->many_count; i++) {
        const char *percent = strchr(args->many[i], '%');
        if (args->many[i][0] && (!percent || !percent[1]))
            continue;
        say_error("--events cannot be \"%s\": it takes a name, or a prefix such as order.%%",
                  args->many[i]);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

static int read_options(struct delivering *d)
{
    const char *why;
    d->url = args_text(d->args, "to");
    if (!d->url) {
        say_error("deliver needs an address: --to URL");
        return EXIT_USAGE;
    }
    if (!post_url_check(d->url, &why)) {
        say_error("--to cannot be \"%s\": %s", d->url, why);
        return EXIT_USAGE;
    }
    d->timeout_ms = args_number(d->args, "timeout", TIMEOUT_MS);
    d->lease_ms = args_number(d->args, "lease", 2 * d->timeout_ms + 5 * MARGIN_MS);
    if (d->lease_ms < d->timeout_ms + 2 * MARGIN_MS) {
        say_error("--lease must be at least 2 seconds longer than --timeout");
        return EXIT_USAGE;
    }
    int exit_code = check_events(d->args);
    return exit_code ? exit_code : read_secret(d);
}

/* Two processes never have the same name: what one of them claims is its own. */
static void make_name(char name[128])
{
    char host[65] = "";
    struct rng rng;
    rng_init(&rng, 0);
    gethostname(host, sizeof host - 1);
    snprintf(name, 128, "deliver:%s:%ld:%016" PRIx64, host[0] ? host : "host", (long)getpid(),
             rng_next(&rng));
}

static int run(struct delivering *d)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    cleanup(poster_freep) struct poster *poster = NULL;
    int exit_code = store_open_for(d->args, &engine);
    if (exit_code)
        return exit_code;
    struct post_options options = {.url = d->url,
                                   .secret = d->secret[0] ? d->secret : NULL,
                                   .timeout_ms = d->timeout_ms,
                                   .is_unwanted = is_unwanted,
                                   .arg = d};
    poster = d->poster = poster_new(&options);
    if (!poster) {
        say_error("memory ran out");
        return EXIT_NO;
    }
    d->engine = engine;
    log_tell(&d->log, LEVEL_INFO, "started", NULL, "delivering the events of %s to %s%s",
             cairn_url(engine), d->url, d->secret[0] ? ", signed" : ", not signed");
    exit_code = deliver_until_stopped(d);
    log_tell(&d->log, LEVEL_INFO, "stopped", NULL, "stopped");
    return exit_code;
}

int run_deliver(const struct args *args)
{
    struct delivering d = {.args = args, .log = log_of(args)};
    int exit_code = read_options(&d);
    if (exit_code)
        return exit_code;
    make_name(d.worker);
    block_signals(&d);
    exit_code = run(&d);
    close(d.signal_fd);
    explicit_bzero(d.secret, sizeof d.secret);
    return exit_code;
}
