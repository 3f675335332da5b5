/* http/http.c - the server's thread: its start, its limits, its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/http.h"

#include "base/error.h"
#include "base/mem.h"
#include "http/deadline.h"
#include "http/exchange.h"
#include "http/tls.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a connection may use for its headers and as its window on a body, and how the answers
 * that are there have to go out when the server stops. */
enum { CONNECTION_MEMORY = 16 * 1024, THREAD_STACK = 512 * 1024, FAREWELL_S = 5 };

static void http_free(struct http *http)
{
    pthread_mutex_destroy(&http->gate);
    pthread_mutex_destroy(&http->lock);
    pthread_cond_destroy(&http->idle);
    pthread_cond_destroy(&http->settled);
    stream_free(http->stream);
    ui_free(http->ui);
    tokens_free(http->tokens);
    deadlines_stop(http->deadlines);
    if (http->listen_fd >= 0)
        close(http->listen_fd);
    mem_free(http);
}

/* A silent connection is libmicrohttpd's to close, after idle_s; so a head that begins as late
 * as that still has its time. */
static cairn_code start_deadlines(struct http *http, const struct http_config *config,
                                  cairn_error *reterr)
{
    int64_t request_ms = config->request_ms ? config->request_ms : REQUEST_MS;
    int64_t idle_ms = (int64_t)config->idle_s * 1000;
    return deadlines_start(idle_ms + request_ms, request_ms, &http->deadlines, reterr);
}

/* The socket is libmicrohttpd's from then on. */
static cairn_code start_daemon(struct http *http, const struct http_config *config,
                               cairn_error *reterr)
{
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)(uintptr_t)tls_show},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)TLS_PRIORITIES},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                     (config->is_tls ? MHD_USE_TLS : 0);
    http->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, exchange_go_on, http, MHD_OPTION_ARRAY,
        config->is_tls ? tls : none, MHD_OPTION_LISTEN_SOCKET, config->listen_fd,
        MHD_OPTION_URI_LOG_CALLBACK, exchange_new, http, MHD_OPTION_NOTIFY_COMPLETED,
        exchange_over, http, MHD_OPTION_NOTIFY_CONNECTION, deadline_notify, http->deadlines,
        MHD_OPTION_CONNECTION_LIMIT, config->max_connections, MHD_OPTION_CONNECTION_TIMEOUT,
        config->idle_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK, MHD_OPTION_END);
    if (!http->daemon)
        return fail(reterr, CAIRN_E_INTERNAL, "could not start the HTTP server: %s",
                    strerror(errno));
    http->listen_fd = -1;
    return CAIRN_OK;
}

cairn_code http_start(const struct http_config *config, struct http **ret_http,
                      cairn_error *reterr)
{
    struct http *http = mem_zalloc(sizeof *http);
    if (!http) {
        close(config->listen_fd);
        tokens_free(config->tokens);
        return fail_memory(reterr);
    }
    http->listen_fd = config->listen_fd;
    http->engine = config->engine;
    http->tokens = config->tokens;
    http->has_tokens = config->tokens;
    http->tell = config->tell;
    http->tell_arg = config->tell_arg;
    http->tells_requests = config->tell && config->tells_requests;
    http->budget.max = config->large_bodies ? config->large_bodies : LARGE_BODIES_MAX;
    http->stream = stream_new(http);
    pthread_mutex_init(&http->gate, NULL);
    pthread_mutex_init(&http->lock, NULL);
    pthread_cond_init(&http->idle, NULL);
    pthread_cond_init(&http->settled, NULL);
    cairn_code code =
        http->stream ? ui_new(&config->page, &http->ui, reterr) : fail_memory(reterr);
    if (!code)
        code = start_deadlines(http, config, reterr);
    if (!code)
        code = start_daemon(http, config, reterr);
    if (code)
        http_free(http);
    else
        *ret_http = http;
    return code;
}

bool http_call(struct http *http, const cairn_request *request, cairn_done done)
{
    pthread_mutex_lock(&http->gate);
    bool is_open = !http->is_closed;
    if (is_open)
        cairn_call_async(http->engine, request, done);
    pthread_mutex_unlock(&http->gate);
    return is_open;
}

void http_end_unwanted(struct http *http)
{
    pthread_mutex_lock(&http->gate);
    if (!http->is_closed)
        cairn_end_unwanted(http->engine);
    pthread_mutex_unlock(&http->gate);
}

void http_set_tokens(struct http *http, struct tokens *tokens)
{
    pthread_mutex_lock(&http->lock);
    struct tokens *before = http->tokens;
    http->tokens = tokens;
    stream_keep_known(http->stream, tokens);
    held_revoke(http, tokens);
    pthread_mutex_unlock(&http->lock);
    held_settle(http);
    tokens_free(before);
}

void http_quiesce(struct http *http)
{
    http->listen_fd = MHD_quiesce_daemon(http->daemon);
    pthread_mutex_lock(&http->gate);
    http->is_closed = true;
    pthread_mutex_unlock(&http->gate);
}

void http_stop(struct http *http)
{
    struct timespec until;
    stream_close(http->stream);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FAREWELL_S;
    pthread_mutex_lock(&http->lock);
    while (http->answering > 0 &&
           pthread_cond_timedwait(&http->idle, &http->lock, &until) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&http->lock);
    MHD_stop_daemon(http->daemon);
    http_free(http); /* not before: the server's thread may still be using the socket */
}
