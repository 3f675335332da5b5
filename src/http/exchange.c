/* http/exchange.c - one request and its answer, on one connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/exchange.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/trace.h"
#include "http/deadline.h"
#include "http/digest.h"
#include "http/framing.h"
#include "http/tell.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Who finds the other one done first takes the answer on. */
enum phase { CALLING, SUSPENDED, ANSWERED };

enum { METHOD_TEXT = 16 }; /* of those that are routes; others are cut off in the log */

struct exchange {
    struct http *http;
    struct MHD_Connection *connection;
    struct visitor *visitor;
    int fd;
    char *target;
    size_t target_len; /* as it came, before skip_authority() */
    struct intake intake;
    bool is_begun, is_called, is_answering;
    char trace[TRACE_TEXT]; /* its header traceparent; "": none that is valid */
    char method[METHOD_TEXT];
    int64_t begun_us;    /* when its headers were there */
    unsigned status;     /* of the answer; 0: none yet */
    cairn_error refusal; /* code: why this is not passed on */
    char *caller;        /* the name of its token; NULL: none */
    const char *role;    /* of its token; NULL: none is needed */
    struct held held;
    _Atomic enum phase phase;
    cairn_response *response;
    struct stream_client *client; /* of GET /v1/stream, until its response owns it */
};

/* Proxies send a whole URL; what counts is its path. */
static const char *skip_authority(const char *target)
{
    if (strncasecmp(target, "http://", 7) != 0 && strncasecmp(target, "https://", 8) != 0)
        return target;
    const char *path = strpbrk(strchr(target, ':') + 3, "/?");
    return path && *path == '/' ? path : "/";
}

/* libmicrohttpd would put every query parameter into the connection's memory.  When that is full,
 * at some 200 parameters, it neither answers nor releases the exchange.  It calls us before it
 * looks at the query, and we read the query from our own copy: so it gets an empty one. */
static void hide_query(const char *target)
{
    char *query = strchr(target, '?');
    if (query)
        query[1] = '\0';
}

void *exchange_new(void *cls, const char *target, struct MHD_Connection *connection)
{
    struct exchange *exchange = mem_zalloc(sizeof *exchange);
    const struct http *http = cls;
    char *copy = mem_strdup(ui_strip(http->ui, skip_authority(target)));
    size_t len = strlen(target);
    hide_query(target);
    if (!exchange || !copy) {
        mem_free(exchange);
        mem_free(copy);
        return NULL;
    }
    exchange->http = cls;
    exchange->connection = connection;
    exchange->visitor = deadline_visitor(connection);
    exchange->target = copy;
    exchange->target_len = len;
    exchange->intake.budget = &exchange->http->budget;
    exchange->fd =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    return exchange;
}

void exchange_over(void *cls, struct MHD_Connection *connection, void **held,
                   enum MHD_RequestTerminationCode why)
{
    (void)why;
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
    struct http_event event = {.what = HTTP_REQUEST,
                               .method = exchange->method,
                               .path = exchange->target,
                               .status = exchange->status,
                               .took_us = monotonic_us() - exchange->begun_us,
                               .caller = exchange->caller,
                               .trace = exchange->trace[0] ? exchange->trace : NULL};
    if (exchange->is_begun)
        tell_request(http, connection, &event);
    deadline_await(exchange->visitor, AWAIT_HEAD); /* of the next request */
    intake_drop(&exchange->intake);
    stream_leave(exchange->client);
    held_done(&exchange->held);
    cairn_response_free(exchange->response);
    mem_free(exchange->caller);
    mem_free(exchange->target);
    mem_free(exchange);
}

/* ---- what comes in --------------------------------------------------------------------- */

static const char *header(struct exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

static struct ui_request ui_request(struct exchange *exchange, const char *method)
{
    return (struct ui_request){
        .method = method,
        .target = exchange->target,
        .accept = header(exchange, "Accept"),
        .encodings = header(exchange, "Accept-Encoding"),
        .known = header(exchange, "If-None-Match"),
    };
}

static bool is_page(struct exchange *exchange, const char *method)
{
    struct ui_request request = ui_request(exchange, method);
    return ui_owns(exchange->http->ui, &request);
}

/* The page needs no token: it has no data. */
static unsigned needed_roles(struct exchange *exchange, const char *method)
{
    return is_page(exchange, method) ? 0 : access_roles(method, exchange->target);
}

/* The roles of a token, and its name.  The tokens may be replaced at any time. */
static unsigned find_roles(struct exchange *exchange, const char *secret)
{
    struct http *http = exchange->http;
    const char *name = NULL;
    pthread_mutex_lock(&http->lock);
    unsigned roles = tokens_roles(http->tokens, secret, &name);
    bool is_kept = !name || (exchange->caller = mem_strdup(name));
    pthread_mutex_unlock(&http->lock);
    if (!is_kept)
        fail_memory(&exchange->refusal);
    return roles;
}

/* The token that came with the request; NULL: none. */
static const char *find_secret(struct exchange *exchange)
{
    const char *words = header(exchange, "Authorization");
    bool is_bearer = words && strncasecmp(words, "Bearer ", 7) == 0;
    return is_bearer ? words + 7 + strspn(words + 7, " ") : NULL;
}

/* Says which role the token has and which would do: who is refused can then ask for the right token. */
static void refuse_role(struct exchange *exchange, unsigned roles, unsigned needed)
{
    const char *name = exchange->caller;
    char has[ROLES_TEXT], needs[ROLES_TEXT];
    access_role_names(roles, " and ", has);
    access_role_names(needed, " or ", needs);
    fail(&exchange->refusal, CAIRN_E_FORBIDDEN,
         "the token%s%s%s has the role %s, which does not allow this; it needs %s",
         name ? " \"" : "", name ? name : "", name ? "\"" : "", has, needs);
}

/* The token is not known, or its roles are not among those that are needed. */
static void refuse_token(struct exchange *exchange, bool is_there, unsigned roles,
                         unsigned needed)
{
    cairn_error *refusal = &exchange->refusal;
    if (roles) {
        refuse_role(exchange, roles, needed);
        return;
    }
    fail(refusal, CAIRN_E_UNAUTHORIZED, is_there ? "the token is unknown" : "no token");
    fail_hint(refusal, CAIRN_E_UNAUTHORIZED, "send the header Authorization: Bearer TOKEN");
}

static void check_access(struct exchange *exchange, const char *method)
{
    cairn_error *refusal = &exchange->refusal;
    unsigned needed = needed_roles(exchange, method);
    if (!exchange->http->has_tokens) {
        if (!access_is_local(header(exchange, "Host"), header(exchange, "Origin")) ||
            access_is_cross_site(method, header(exchange, "Sec-Fetch-Site")))
            fail(refusal, CAIRN_E_FORBIDDEN,
                 "without tokens only requests to a loopback address are taken, and none from "
                 "other sites' pages");
        return;
    }
    if (!needed)
        return;
    const char *secret = find_secret(exchange);
    unsigned roles = find_roles(exchange, secret ? secret : "");
    exchange->role = roles ? access_role_name(roles) : NULL;
    if (!roles && secret)
        tell_refused(exchange->http, exchange->connection, method, exchange->target);
    if (!(roles & needed))
        refuse_token(exchange, secret, roles, needed);
    else if (!held_keep(&exchange->held, secret, roles, needed))
        fail_memory(refusal);
}

/* The target is a text for libmicrohttpd, which ends it at a NUL byte; what the client sent goes
 * on to the version, which stands in the same line. */
static bool has_nul(const struct exchange *exchange, const char *url, const char *version)
{
    uintptr_t start = (uintptr_t)url, end = (uintptr_t)version;
    return end <= start || end - start != exchange->target_len + 1;
}

static void check_framing(struct exchange *exchange, const char *url, const char *version,
                          struct framing *ret_framing)
{
    cairn_error *refusal = &exchange->refusal;
    if (framing_check(exchange->connection, version, ret_framing, refusal))
        return;
    if (has_nul(exchange, url, version))
        fail(refusal, CAIRN_E_BAD_INPUT, "the path contains a NUL byte");
}

/* Kept for the log, which is the only one to want it. */
static void take_trace(struct exchange *exchange)
{
    const char *trace = header(exchange, "traceparent");
    if (exchange->http->tells_requests && trace_is_valid(trace))
        snprintf(exchange->trace, sizeof exchange->trace, "%s", trace);
}

/* The same of the metadata in a body, if the header did not say it.  A large body is not searched. */
static void take_body_trace(struct exchange *exchange)
{
    const struct buf *body = &exchange->intake.body;
    if (exchange->http->tells_requests && !exchange->trace[0] && body->len <= BODY_SMALL)
        trace_of_body(body->text, body->len, exchange->trace);
}

static void check_body(struct exchange *exchange, const struct framing *framing)
{
    const char *encoding = header(exchange, "Content-Encoding");
    if (framing->length > BODY_MAX)
        intake_refuse_size(&exchange->refusal);
    else if (encoding && strcasecmp(encoding, "identity") != 0)
        fail(&exchange->refusal, CAIRN_E_BAD_INPUT,
             "the body's encoding is not understood; send it without Content-Encoding");
}

/* Looks at the headers.  True: the request is refused at once, and the connection closed, since
 * where the body ends is not clear or the client may not send that much.  Other refusals wait
 * for the end of the body: a client that is still sending would not see the answer. */
static bool check_head(struct exchange *exchange, const char *method, const char *url,
                       const char *version)
{
    struct framing framing;
    check_framing(exchange, url, version, &framing);
    if (exchange->refusal.code)
        return true;
    bool is_large = framing.is_chunked || framing.length > BODY_SMALL;
    check_access(exchange, method);
    if (exchange->refusal.code)
        return is_large || header(exchange, "Expect");
    if (is_large && !needed_roles(exchange, method)) {
        intake_refuse_size(&exchange->refusal); /* what needs no token needs no large body */
        return true;
    }
    check_body(exchange, &framing);
    return exchange->refusal.code && header(exchange, "Expect");
}

/* Answers MHD_NO, which hangs up, when a refused client does not stop. */
static enum MHD_Result take_body(struct exchange *exchange, const char *bytes, size_t len)
{
    struct intake *intake = &exchange->intake;
    if (!exchange->refusal.code)
        intake_keep(intake, bytes, len, &exchange->refusal);
    return !exchange->refusal.code || intake_discard(intake, len) ? MHD_YES : MHD_NO;
}

/* ---- what goes out --------------------------------------------------------------------- */

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

static enum MHD_Result queue(struct exchange *exchange, unsigned status,
                             struct MHD_Response *response)
{
    if (exchange->http->is_closed)
        MHD_add_response_header(response, "Connection", "close");
    exchange->status = status;
    enum MHD_Result result = MHD_queue_response(exchange->connection, status, response);
    MHD_destroy_response(response);
    return result;
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
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (status == 401)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer realm=\"cairn\"");
    if (status == 405 || status == 204) {
        access_methods(exchange->target, allowed);
        MHD_add_response_header(response, "Allow", allowed);
    }
    return queue(exchange, (unsigned)status, response);
}

/* What the engine has ended because the token is no longer good; what it had done is answered. */
static bool is_ended_by_token(const struct exchange *exchange)
{
    return exchange->held.is_revoked && exchange->response &&
           cairn_response_status(exchange->response) == 503;
}

static enum MHD_Result send_answer(struct exchange *exchange)
{
    if (is_ended_by_token(exchange)) {
        cairn_response_free(exchange->response);
        refuse_token(exchange, true, exchange->held.roles, exchange->held.needed);
        exchange->response = response_of_error(&exchange->refusal);
    }
    cairn_response *response = exchange->response;
    exchange->response = NULL;
    if (!response)
        return MHD_NO;
    int status = cairn_response_status(response);
    const char *content_type = cairn_response_content_type(response);
    struct MHD_Response *wrapped = wrap(response);
    if (wrapped && status == 200 && access_is_download(exchange->target))
        MHD_add_response_header(wrapped, "Content-Disposition", "attachment");
    return send_response(exchange, status, content_type, wrapped);
}

/* What http/ itself refuses looks like what the engine refuses. */
static enum MHD_Result send_refusal(struct exchange *exchange)
{
    exchange->response = response_of_error(&exchange->refusal);
    return send_answer(exchange);
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

static enum MHD_Result send_page(struct exchange *exchange, const char *method)
{
    unsigned status;
    struct ui_request request = ui_request(exchange, method);
    struct MHD_Response *response =
        ui_answer(exchange->http->ui, &request, &status, &exchange->refusal);
    if (!response)
        return send_refusal(exchange);
    count_answering(exchange);
    return queue(exchange, status, response);
}

/* ---- the call -------------------------------------------------------------------------- */

/* In a thread of the engine's, or in ours before cairn_call_async() returns. */
static void on_done(void *arg, cairn_response *response)
{
    struct exchange *exchange = arg;
    struct MHD_Connection *connection = exchange->connection;
    exchange->response = response;
    held_end(exchange->http, &exchange->held);
    if (atomic_exchange(&exchange->phase, ANSWERED) == SUSPENDED)
        MHD_resume_connection(connection);
}

/* A client that has closed its side, wholly or by half, takes no more tasks, nor one whose token is gone.  Its socket
 * stays open while the call is under way, since a suspended connection is not looked after. */
static bool is_wanted(void *arg)
{
    const struct exchange *exchange = arg;
    if (exchange->held.is_revoked)
        return false;
    struct pollfd client = {.fd = exchange->fd, .events = POLLRDHUP};
    return poll(&client, 1, 0) == 0;
}

static enum MHD_Result call(struct exchange *exchange, const char *method)
{
    enum phase calling = CALLING;
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    request.method = strcmp(method, "HEAD") == 0 ? "GET" : method;
    request.target = exchange->target;
    request.body = exchange->intake.body.text;
    request.body_len = exchange->intake.body.len;
    request.wanted = is_wanted;
    request.arg = exchange;
    request.caller = exchange->caller;
    request.role = exchange->role;
    request.page = ui_name(exchange->http->ui);
    count_answering(exchange);
    exchange->is_called = true;
    struct held *held = &exchange->held;
    if (!held_begin(exchange->http, held)) {
        refuse_token(exchange, true, held->roles, held->needed);
        return send_refusal(exchange);
    }
    if (!http_call(exchange->http, &request, on_done)) {
        held_end(exchange->http, held);
        fail(&exchange->refusal, CAIRN_E_CLOSED, "the server is stopping");
        return send_refusal(exchange);
    }
    if (held->is_revoked) /* before it was the engine's to end */
        http_end_unwanted(exchange->http);
    take_body_trace(exchange);
    intake_drop(&exchange->intake); /* the engine has copied what it needs */
    if (atomic_load(&exchange->phase) == ANSWERED)
        return send_answer(exchange);

    /* Suspend first: on_done() resumes only what says that it is suspended. */
    MHD_suspend_connection(exchange->connection);
    if (!atomic_compare_exchange_strong(&exchange->phase, &calling, SUSPENDED))
        MHD_resume_connection(exchange->connection);
    return MHD_YES;
}

/* ---- the stream ------------------------------------------------------------------------ */

static bool is_stream(const struct exchange *exchange, const char *method)
{
    static const char path[] = "/v1/stream";
    size_t len = sizeof path - 1;
    return strcmp(method, "GET") == 0 && strncmp(exchange->target, path, len) == 0 &&
           (exchange->target[len] == '\0' || exchange->target[len] == '?');
}

/* Whether the route takes these parameters; if not, its refusal is the answer. */
static bool is_stream_accepted(struct exchange *exchange)
{
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    request.target = exchange->target;
    request.arg = exchange;
    if (!http_call(exchange->http, &request, on_done)) {
        fail(&exchange->refusal, CAIRN_E_CLOSED, "the server is stopping");
        exchange->response = response_of_error(&exchange->refusal);
    }
    /* The library has no stream: what it does not refuse is answered with 404, and at once. */
    bool is_accepted = exchange->response && cairn_response_status(exchange->response) == 404;
    if (is_accepted) {
        cairn_response_free(exchange->response);
        exchange->response = NULL;
    }
    return is_accepted;
}

/* The tokens are looked at again, and kept meanwhile: a stream ends with its token, and one that has
 * just been removed must not begin another. */
static cairn_code join_with_token(struct exchange *exchange, const char *after,
                                  const struct stream_want *want)
{
    struct http *http = exchange->http;
    cairn_error *refusal = &exchange->refusal;
    const struct held *held = &exchange->held;
    const char *name;
    pthread_mutex_lock(&http->lock);
    unsigned roles = held->secret ? tokens_roles(http->tokens, held->secret, &name) : 0;
    cairn_code code = CAIRN_OK;
    if (held->secret && !(roles & held->needed))
        refuse_token(exchange, true, roles, held->needed);
    else
        code = stream_join(http->stream, exchange->connection, exchange->fd, after, want,
                           held->secret, &exchange->client, refusal);
    pthread_mutex_unlock(&http->lock);
    return code ? code : refusal->code;
}

static enum MHD_Result join_stream(struct exchange *exchange)
{
    struct stream_want want;
    char cursor[WANT_TEXT];
    const char *after = header(exchange, "Last-Event-ID");
    intake_drop(&exchange->intake);
    if (!is_stream_accepted(exchange))
        return send_answer(exchange);
    if (want_read(exchange->target, &want, cursor, &exchange->refusal) ||
        join_with_token(exchange, after ? after : cursor, &want))
        return send_refusal(exchange);
    return MHD_YES;
}

/* It has waited for its place, and its token may be gone since. */
static enum MHD_Result send_stream(struct exchange *exchange)
{
    struct stream_client *client = exchange->client;
    struct held *held = &exchange->held;
    exchange->client = NULL;
    if (!held_may_go_on(exchange->http, held)) {
        stream_leave(client);
        refuse_token(exchange, true, held->roles, held->needed);
        return send_refusal(exchange);
    }
    return send_response(exchange, 200, "text/event-stream", stream_response(client));
}

/* libmicrohttpd calls this once with the headers, for each piece of the body, once more with
 * none, and again after a resume. */
enum MHD_Result exchange_go_on(void *cls, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *bytes,
                               size_t *len, void **held)
{
    (void)cls, (void)connection;
    struct exchange *exchange = *held;
    if (!exchange)
        return MHD_NO; /* there was no memory for it */

    if (!exchange->is_begun) {
        exchange->is_begun = true;
        exchange->begun_us = monotonic_us();
        snprintf(exchange->method, sizeof exchange->method, "%s", method);
        take_trace(exchange);
        if (check_head(exchange, method, url, version)) {
            deadline_await(exchange->visitor, AWAIT_NOTHING);
            return send_refusal(exchange);
        }
        deadline_await(exchange->visitor, AWAIT_BODY);
        return MHD_YES;
    }
    if (*len) {
        enum MHD_Result result = take_body(exchange, bytes, *len);
        *len = 0;
        return result;
    }
    deadline_await(exchange->visitor, AWAIT_NOTHING);
    if (exchange->is_called)
        return send_answer(exchange);
    if (exchange->client)
        return send_stream(exchange);
    if (exchange->refusal.code)
        return send_refusal(exchange);
    if (is_page(exchange, method))
        return send_page(exchange, method);
    if (strcmp(method, "OPTIONS") == 0)
        return send_options(exchange);
    if (is_stream(exchange, method))
        return join_stream(exchange);
    return call(exchange, method);
}
