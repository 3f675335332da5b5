/* http/exchange.c - one request and its answer, on one connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/exchange.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MIB (1024u * 1024u)

/* One body, all bodies together, and how much of a refused one is read before we hang up: a
 * client that is still sending would not see the answer. */
enum { BODY_MAX = 16 * MIB, BODIES_MAX = 256 * MIB, DISCARD_MAX = 64 * MIB };

/* Who finds the other one done first takes the answer on. */
enum phase { CALLING, SUSPENDED, ANSWERED };

struct exchange {
    struct http *http;
    struct MHD_Connection *connection;
    int fd;
    char *target;
    struct buf body;
    size_t discarded;
    bool is_begun, is_called, is_answering;
    cairn_error refusal; /* code: why this is not passed on */
    _Atomic enum phase phase;
    cairn_response *response;
    struct stream_client *client; /* of GET /v1/stream, until its response owns it */
};

/* Proxies send a whole URL; what counts is its path. */
static const char *skip_authority(const char *target)
{
    if (strncasecmp(target, "http://", 7) != 0)
        return target;
    target += 7 + strcspn(target + 7, "/?");
    return *target == '/' ? target : "/";
}

void *exchange_new(void *cls, const char *target, struct MHD_Connection *connection)
{
    struct exchange *exchange = mem_zalloc(sizeof *exchange);
    char *copy = mem_strdup(skip_authority(target));
    if (!exchange || !copy) {
        mem_free(exchange);
        mem_free(copy);
        return NULL;
    }
    exchange->http = cls;
    exchange->connection = connection;
    exchange->target = copy;
    exchange->fd =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    return exchange;
}

static void drop_body(struct exchange *exchange)
{
    exchange->http->body_bytes -= exchange->body.len;
    buf_done(&exchange->body);
}

void exchange_over(void *cls, struct MHD_Connection *connection, void **held,
                   enum MHD_RequestTerminationCode why)
{
    (void)connection, (void)why;
    struct http *http = cls;
    struct exchange *exchange = *held;
    if (!exchange)
        return;
    *held = NULL;
    if (exchange->is_answering) {
        pthread_mutex_lock(&http->lock);
        if (--http->answering == 0)
            pthread_cond_signal(&http->idle);
        pthread_mutex_unlock(&http->lock);
    }
    drop_body(exchange);
    stream_leave(exchange->client);
    cairn_response_free(exchange->response);
    mem_free(exchange->target);
    mem_free(exchange);
}

/* ---- what comes in --------------------------------------------------------------------------
 */

static const char *header(struct exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

static void check_access(struct exchange *exchange, const char *method)
{
    const struct tokens *tokens = exchange->http->tokens;
    cairn_error *refusal = &exchange->refusal;
    unsigned needed = access_roles(method, exchange->target);
    if (!tokens) {
        if (!access_is_local(header(exchange, "Host"), header(exchange, "Origin")))
            fail(refusal, CAIRN_E_FORBIDDEN,
                 "without tokens only requests to a loopback address are taken, and none from "
                 "other sites' pages");
        return;
    }
    if (!needed)
        return;
    const char *words = header(exchange, "Authorization");
    bool is_bearer = words && strncasecmp(words, "Bearer ", 7) == 0;
    unsigned roles = is_bearer ? tokens_roles(tokens, words + 7 + strspn(words + 7, " ")) : 0;
    if (!roles) {
        fail(refusal, CAIRN_E_UNAUTHORIZED, is_bearer ? "the token is unknown" : "no token");
        fail_hint(refusal, CAIRN_E_UNAUTHORIZED, "send the header Authorization: Bearer TOKEN");
    } else if (!(roles & needed)) {
        fail(refusal, CAIRN_E_FORBIDDEN, "the token's role does not allow this");
    }
}

static void refuse_size(struct exchange *exchange)
{
    fail(&exchange->refusal, CAIRN_E_TOO_LARGE, "the request body is too large");
    fail_detail(&exchange->refusal, CAIRN_E_TOO_LARGE, "%u bytes are allowed",
                (unsigned)BODY_MAX);
    drop_body(exchange);
}

static void check_headers(struct exchange *exchange, const char *method)
{
    const char *length = header(exchange, "Content-Length");
    const char *encoding = header(exchange, "Content-Encoding");
    check_access(exchange, method);
    if (exchange->refusal.code)
        return;
    if (length && strtoull(length, NULL, 10) > BODY_MAX)
        refuse_size(exchange);
    else if (encoding && strcasecmp(encoding, "identity") != 0)
        fail(&exchange->refusal, CAIRN_E_BAD_INPUT,
             "the body's encoding is not understood; send it without Content-Encoding");
}

static void keep_body(struct exchange *exchange, const char *bytes, size_t len)
{
    struct http *http = exchange->http;
    if (exchange->body.len + len > BODY_MAX) {
        refuse_size(exchange);
        return;
    }
    if (http->body_bytes + len > BODIES_MAX) {
        fail(&exchange->refusal, CAIRN_E_TOO_MANY, "too many large requests at once");
        drop_body(exchange);
        return;
    }
    size_t before = exchange->body.len;
    buf_add(&exchange->body, bytes, len);
    http->body_bytes += exchange->body.len - before;
    if (buf_failed(&exchange->body)) {
        fail_memory(&exchange->refusal);
        drop_body(exchange);
    }
}

/* Answers MHD_NO, which hangs up, when a refused client does not stop. */
static enum MHD_Result take_body(struct exchange *exchange, const char *bytes, size_t len)
{
    if (!exchange->refusal.code)
        keep_body(exchange, bytes, len);
    if (exchange->refusal.code)
        exchange->discarded += len;
    return exchange->discarded > DISCARD_MAX ? MHD_NO : MHD_YES;
}

/* ---- what goes out --------------------------------------------------------------------------
 */

static void free_response(void *response)
{
    cairn_response_free(response);
}

static struct MHD_Response *wrap(cairn_response *response)
{
    size_t len;
    const char *body = cairn_response_body(response, &len);
    struct MHD_Response *wrapped = MHD_create_response_from_buffer_with_free_callback_cls(
        len, (void *)body, free_response, response);
    if (!wrapped)
        cairn_response_free(response);
    return wrapped;
}

/* What http/ itself refuses looks like what the engine refuses. */
static struct MHD_Response *error_body(const cairn_error *error)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    json_key(&out, "code");
    json_str(&out, cairn_code_name(error->code));
    json_key(&out, "message");
    json_str(&out, error->message);
    json_key(&out, "detail");
    json_str(&out, error->detail);
    json_key(&out, "hint");
    json_str(&out, error->hint);
    json_close(&out, '}');
    struct MHD_Response *response =
        buf_failed(&buf)
            ? NULL
            : MHD_create_response_from_buffer(buf.len, buf.text, MHD_RESPMEM_MUST_COPY);
    buf_done(&buf);
    return response;
}

static void count_answering(struct exchange *exchange)
{
    struct http *http = exchange->http;
    if (exchange->is_answering)
        return;
    exchange->is_answering = true;
    pthread_mutex_lock(&http->lock);
    http->answering++;
    pthread_mutex_unlock(&http->lock);
}

/* Queues a response, which is released here.  NULL: memory ran out, hang up. */
static enum MHD_Result send_response(struct exchange *exchange, int status,
                                     const char *content_type, struct MHD_Response *response)
{
    char allowed[ALLOW_TEXT];
    if (!response)
        return MHD_NO;
    count_answering(exchange);
    if (content_type)
        MHD_add_response_header(response, "Content-Type", content_type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (status == 401)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer realm=\"cairn\"");
    if (status == 405 || status == 204) {
        access_methods(exchange->target, allowed);
        MHD_add_response_header(response, "Allow", allowed);
    }
    if (exchange->http->is_closed)
        MHD_add_response_header(response, "Connection", "close");
    enum MHD_Result result =
        MHD_queue_response(exchange->connection, (unsigned)status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_refusal(struct exchange *exchange)
{
    return send_response(exchange, cairn_code_http_status(exchange->refusal.code),
                         "application/json", error_body(&exchange->refusal));
}

static enum MHD_Result send_answer(struct exchange *exchange)
{
    cairn_response *response = exchange->response;
    exchange->response = NULL;
    if (!response)
        return MHD_NO;
    int status = cairn_response_status(response);
    const char *content_type = cairn_response_content_type(response);
    return send_response(exchange, status, content_type, wrap(response));
}

static enum MHD_Result send_options(struct exchange *exchange)
{
    char allowed[ALLOW_TEXT];
    access_methods(exchange->target, allowed);
    if (allowed[0])
        return send_response(exchange, 204, NULL,
                             MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT));
    fail(&exchange->refusal, CAIRN_E_NOT_FOUND, "this route does not exist");
    return send_refusal(exchange);
}

/* ---- the call -------------------------------------------------------------------------------
 */

/* In a thread of the engine's, or in ours before cairn_call_async() returns. */
static void on_done(void *arg, cairn_response *response)
{
    struct exchange *exchange = arg;
    struct MHD_Connection *connection = exchange->connection;
    exchange->response = response;
    if (atomic_exchange(&exchange->phase, ANSWERED) == SUSPENDED)
        MHD_resume_connection(connection);
}

/* A client that has closed its side, wholly or by half, takes no more tasks.  Its socket stays
 * open while the call is under way, since a suspended connection is not looked after. */
static int is_wanted(void *arg)
{
    const struct exchange *exchange = arg;
    struct pollfd client = {.fd = exchange->fd, .events = POLLRDHUP};
    return poll(&client, 1, 0) == 0;
}

/* False: the engine is being closed. */
static bool start_call(struct exchange *exchange, const char *method)
{
    struct http *http = exchange->http;
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    request.method = strcmp(method, "HEAD") == 0 ? "GET" : method;
    request.target = exchange->target;
    request.body = exchange->body.text;
    request.body_len = exchange->body.len;
    request.wanted = is_wanted;
    request.arg = exchange;

    pthread_mutex_lock(&http->gate);
    bool is_open = !http->is_closed;
    if (is_open)
        cairn_call_async(http->engine, &request, on_done);
    pthread_mutex_unlock(&http->gate);
    return is_open;
}

static enum MHD_Result call(struct exchange *exchange, const char *method)
{
    enum phase calling = CALLING;
    count_answering(exchange);
    exchange->is_called = true;
    if (!start_call(exchange, method)) {
        fail(&exchange->refusal, CAIRN_E_CLOSED, "the server is stopping");
        return send_refusal(exchange);
    }
    drop_body(exchange); /* the engine has copied what it needs */
    if (atomic_load(&exchange->phase) == ANSWERED)
        return send_answer(exchange);

    /* Suspend first: on_done() resumes only what says that it is suspended. */
    MHD_suspend_connection(exchange->connection);
    if (!atomic_compare_exchange_strong(&exchange->phase, &calling, SUSPENDED))
        MHD_resume_connection(exchange->connection);
    return MHD_YES;
}

/* ---- the stream -----------------------------------------------------------------------------
 */

static bool is_stream(const struct exchange *exchange, const char *method)
{
    static const char path[] = "/v1/stream";
    size_t len = sizeof path - 1;
    return strcmp(method, "GET") == 0 && strncmp(exchange->target, path, len) == 0 &&
           (exchange->target[len] == '\0' || exchange->target[len] == '?');
}

static enum MHD_Result join_stream(struct exchange *exchange)
{
    const char *after = header(exchange, "Last-Event-ID");
    if (!after)
        after =
            MHD_lookup_connection_value(exchange->connection, MHD_GET_ARGUMENT_KIND, "cursor");
    drop_body(exchange);
    if (stream_join(exchange->http->stream, exchange->connection, exchange->fd, after,
                    &exchange->client, &exchange->refusal))
        return send_refusal(exchange);
    return MHD_YES;
}

static enum MHD_Result send_stream(struct exchange *exchange)
{
    struct stream_client *client = exchange->client;
    exchange->client = NULL;
    return send_response(exchange, 200, "text/event-stream", stream_response(client));
}

/* libmicrohttpd calls this once with the headers, for each piece of the body, once more with
 * none, and again after a resume. */
enum MHD_Result exchange_go_on(void *cls, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *bytes,
                               size_t *len, void **held)
{
    (void)cls, (void)connection, (void)url, (void)version;
    struct exchange *exchange = *held;
    if (!exchange)
        return MHD_NO; /* there was no memory for it */

    if (!exchange->is_begun) {
        exchange->is_begun = true;
        check_headers(exchange, method);
        if (exchange->refusal.code && header(exchange, "Expect"))
            return send_refusal(exchange); /* the client waits before it sends the body */
        return MHD_YES;
    }
    if (*len) {
        enum MHD_Result result = take_body(exchange, bytes, *len);
        *len = 0;
        return result;
    }
    if (exchange->is_called)
        return send_answer(exchange);
    if (exchange->client)
        return send_stream(exchange);
    if (exchange->refusal.code)
        return send_refusal(exchange);
    if (strcmp(method, "OPTIONS") == 0)
        return send_options(exchange);
    if (is_stream(exchange, method))
        return join_stream(exchange);
    return call(exchange, method);
}
