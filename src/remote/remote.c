/* remote/remote.c - opening a server, and requests to and from it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "remote/remote.h"

#include "base/error.h"
#include "base/mem.h"
#include "engine/await.h"
#include "engine/local.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* How long opening waits for a server to answer. */
enum { OPEN_MS = 2000 };

/* ---- typed requests -------------------------------------------------------------------- */

/* How long the server waits for the end of a job or an instance, at most. */
enum { AWAIT_MS = 30000 };

static cairn_code encode(struct transfer *transfer, struct request *request,
                         cairn_error *reterr)
{
    int64_t left_ms = (request->wait_until_us - monotonic_us()) / US_PER_MS + 1;
    if (request->await_ms)
        request->await_ms = left_ms < 1 ? 1 : left_ms > AWAIT_MS ? AWAIT_MS : left_ms;
    return encode_request(request, transfer, reterr);
}

/* Sends it again: it has not ended, or the server could not look. */
static void ask_again(struct transfer *transfer, struct request *request)
{
    await_again(request);
    buf_reset(&transfer->url);
    buf_str(&transfer->url, transfer->engine->base.url);
    request->code = encode(transfer, request, &request->error);
    if (!request->code) {
        loop_again(transfer, request->wait_until_us);
        return;
    }
    transfer_free(transfer);
    request->done(request);
}

static void request_answered(struct transfer *transfer)
{
    struct request *request = transfer->request;
    if (transfer->code) {
        request->code = transfer->code;
        request->error = transfer->error;
    } else {
        decode_answer(transfer, request);
    }
    if (await_goes_on(request, monotonic_us())) {
        ask_again(transfer, request);
        return;
    }
    transfer_free(transfer);
    request->done(request);
}

/* The server's limits are the ones that count.  Here only the form is looked at: texts are put
 * into a body as they are, so they must be what they claim to be. */
static cairn_code check_form(struct request *request)
{
    cairn_open_options limits = {.max_payload = INT32_MAX,
                                 .max_name = INT32_MAX,
                                 .max_error = INT32_MAX,
                                 .max_batch = INT32_MAX};
    return request_check(&limits, request);
}

static void remote_submit(cairn_engine *base, struct request *request)
{
    struct transfer *transfer = NULL;
    request->code = check_form(request);
    if (!request->code) {
        transfer = transfer_new((struct remote_engine *)base);
        await_begin(request, monotonic_us());
        request->code = transfer ? encode(transfer, request, &request->error)
                                 : fail_memory(&request->error);
    }
    if (request->code || !transfer) { /* NULL with no code: only an analyser believes that */
        transfer_free(transfer);
        request->done(request);
        return;
    }
    transfer->request = request;
    transfer->done = request_answered;
    loop_add(transfer);
}

/* ---- the JSON face --------------------------------------------------------------------- */

/* NULL: memory ran out. */
static cairn_response *take_response(struct transfer *transfer)
{
    struct cairn_response *response = response_of_json(&transfer->answer);
    if (response) {
        response->status = (int)transfer->status;
        response->content_type = transfer->content_type;
    }
    return response;
}

/* Without a server's answer, what it would have said. */
static void call_answered(struct transfer *transfer)
{
    transfer->error.code = transfer->code;
    cairn_response *response =
        transfer->code ? response_of_error(&transfer->error) : take_response(transfer);
    cairn_done done = transfer->call_done;
    void *arg = transfer->arg;
    transfer_free(transfer);
    done(arg, response);
}

static bool is_clean(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 0x7F)
            return false;
    return true;
}

/* How long the server may hold back its answer stands in the body of a claim, or in the query. */
static uint32_t wait_of_call(const struct transfer *transfer, const char *target)
{
    static const char name[] = "wait_ms=";
    struct slice body;
    uint64_t wait_ms = 0;
    const char *query = strstr(target, name);
    if (query)
        return (uint32_t)strtoul(query + strlen(name), NULL, 10);
    if (!scan_text(transfer->body.text, transfer->body.len, &body))
        return 0;
    struct slice claim = scan_find(body, "claim");
    if (!slice_uint(scan_find(claim.len ? claim : body, "wait_ms"), &wait_ms))
        return 0;
    return wait_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)wait_ms;
}

/* What is not known here is sent once, unless it only reads. */
static void set_patience(struct transfer *transfer, const char *target)
{
    const struct operation *operation = operation_find(transfer->method, target);
    transfer->is_repeatable =
        operation ? operation->repeat == REPEAT_ALWAYS : strcmp(transfer->method, "POST") != 0;
    transfer->wait_ms = operation ? operation->wait_ms : 0;
    if (!transfer->wait_ms)
        transfer->wait_ms = wait_of_call(transfer, target);
}

static cairn_code fill_call(struct transfer *transfer, const cairn_request *request)
{
    const char *method = request->method ? request->method : "GET";
    const char *target = request->target ? request->target : "";
    if (strlen(method) >= METHOD_MAX || !method[0] ||
        strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") < strlen(method))
        return fail(&transfer->error, CAIRN_E_BAD_INPUT, "method \"%.32s\" does not exist",
                    method);
    if (target[0] != '/' || !is_clean(target))
        return fail(&transfer->error, CAIRN_E_BAD_INPUT,
                    "target must begin with / and be percent-encoded");
    strcpy(transfer->method, method);
    buf_str(&transfer->url, target);
    if (request->body)
        buf_add(&transfer->body, request->body, request->body_len);
    if (buf_failed(&transfer->url) || buf_failed(&transfer->body))
        return fail_memory(&transfer->error);
    transfer->has_body = request->body != NULL;
    set_patience(transfer, target);
    return CAIRN_OK;
}

static void remote_call(cairn_engine *base, const cairn_request *request, cairn_done done)
{
    struct transfer *transfer = transfer_new((struct remote_engine *)base);
    if (!transfer) {
        done(request->arg, NULL);
        return;
    }
    transfer->call_done = done;
    transfer->arg = request->arg;
    transfer->done = call_answered;
    transfer->code = fill_call(transfer, request);
    if (transfer->code)
        call_answered(transfer);
    else
        loop_add(transfer);
}

/* ---- opening and closing --------------------------------------------------------------- */

static void remote_close(cairn_engine *base)
{
    struct remote_engine *engine = (struct remote_engine *)base;
    loop_stop(engine);
    for (int i = 0; i < engine->word_count; i++)
        mem_free(engine->words[i]);
    curl_slist_free_all(engine->headers);
    pthread_mutex_destroy(&engine->lock);
    notices_done(base);
    memories_done(&base->memories);
    mem_free(engine->base.url);
    mem_free(engine->ca_file);
    mem_free(engine);
}

static void remote_abandon(cairn_engine *base)
{
    mem_free(base->url);
    mem_free(base);
}

static const struct engine_ops remote_ops = {.submit = remote_submit,
                                             .call = remote_call,
                                             .wake = remote_wake,
                                             .close = remote_close,
                                             .abandon = remote_abandon};

static void start_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static bool add_header(struct remote_engine *engine, const char *header)
{
    struct curl_slist *more = curl_slist_append(engine->headers, header);
    if (more)
        engine->headers = more;
    return more != NULL;
}

static cairn_code add_headers(struct remote_engine *engine, const char *token,
                              cairn_error *reterr)
{
    /* No "Expect": bodies are small, and asking first doubles the way. */
    if (!add_header(engine, "Content-Type: application/json") || !add_header(engine, "Expect:"))
        return fail_memory(reterr);
    if (!token || !token[0])
        return CAIRN_OK;
    if (!is_clean(token))
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "the token has a character that no token can have");
    struct buf header = {0};
    buf_printf(&header, "Authorization: Bearer %s", token);
    bool is_added = !buf_failed(&header) && add_header(engine, header.text);
    buf_done(&header);
    return is_added ? CAIRN_OK : fail_memory(reterr);
}

static bool is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
           strcmp(host, "[::1]") == 0;
}

static bool has_part(CURLU *parsed, CURLUPart part)
{
    char *text = NULL;
    if (curl_url_get(parsed, part, &text, 0))
        return false;
    curl_free(text);
    return true;
}

static void url_cleanup(CURLU **parsed)
{
    curl_url_cleanup(*parsed);
}

/* Looks at the URL, and keeps it without a slash at the end. */
static cairn_code read_url(struct remote_engine *engine, const char *url, cairn_error *reterr)
{
    cleanup(url_cleanup) CURLU *parsed = curl_url();
    char *host = NULL;
    if (!parsed)
        return fail_memory(reterr);
    if (!is_clean(url) || curl_url_set(parsed, CURLUPART_URL, url, 0) ||
        curl_url_get(parsed, CURLUPART_HOST, &host, 0)) {
        fail(reterr, CAIRN_E_BAD_INPUT, "cannot read the URL \"%.128s\"", url);
        return fail_hint(reterr, CAIRN_E_BAD_INPUT, "such as http://127.0.0.1:22476");
    }
    engine->is_local = is_loopback(host);
    curl_free(host);
    if (has_part(parsed, CURLUPART_USER) || has_part(parsed, CURLUPART_PASSWORD)) {
        fail(reterr, CAIRN_E_BAD_INPUT, "cannot use a user name or password in an http URL");
        return fail_hint(reterr, CAIRN_E_BAD_INPUT, "give a token, or set CAIRN_TOKEN");
    }
    if (has_part(parsed, CURLUPART_QUERY) || has_part(parsed, CURLUPART_FRAGMENT))
        return fail(reterr, CAIRN_E_BAD_INPUT, "cannot use the URL \"%.128s\": it has a query",
                    url);
    engine->base.url = mem_strdup(url);
    if (!engine->base.url)
        return fail_memory(reterr);
    for (size_t len = strlen(url); len && engine->base.url[len - 1] == '/'; len--)
        engine->base.url[len - 1] = '\0';
    return CAIRN_OK;
}

static void response_freep(cairn_response **response)
{
    cairn_response_free(*response);
}

/* {"status": "ok"}, from a server that is one of ours as far as can be told. */
static cairn_code read_health(struct remote_engine *engine, const cairn_response *response,
                              cairn_error *reterr)
{
    struct slice answer;
    if (response->status != 200 && response->status != 404)
        return decode_error(engine, response->status, response->body, response->len, reterr);
    if (scan_text(response->body, response->len, &answer) &&
        slice_is(scan_find(answer, "status"), "\"ok\""))
        return CAIRN_OK;
    fail(reterr, CAIRN_E_UNREACHABLE, "the server at %s does not answer as Cairn does",
         engine->base.url);
    return fail_hint(reterr, CAIRN_E_UNREACHABLE,
                     "is `cairn serve` running there, and is the path of the URL right?");
}

/* Asks whether a server is there, so that a wrong URL is known at once. */
static cairn_code check_server(struct remote_engine *engine, cairn_error *reterr)
{
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    cleanup(response_freep) cairn_response *response = NULL;
    uint32_t retry_ms = engine->base.options.retry_ms;
    request.method = "GET";
    request.target = "/healthz";
    engine->base.options.retry_ms = retry_ms < OPEN_MS ? retry_ms : OPEN_MS;
    cairn_code code = cairn_call(&engine->base, &request, &response, reterr);
    engine->base.options.retry_ms = retry_ms;
    return code ? code : read_health(engine, response, reterr);
}

cairn_code remote_engine_open(const cairn_open_options *options, const char *url,
                              cairn_engine **ret_engine, cairn_error *reterr)
{
    static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
    pthread_once(&curl_once, start_curl);

    struct remote_engine *engine = mem_zalloc(sizeof *engine);
    if (!engine)
        return fail_memory(reterr);
    pthread_mutex_init(&engine->lock, NULL);
    memories_init(&engine->base.memories);
    engine->base.ops = &remote_ops;
    engine->base.options = *options;
    const char *token = options->token ? options->token : getenv("CAIRN_TOKEN");
    const char *ca_file = getenv("CAIRN_CA_FILE");
    engine->ca_file = ca_file && *ca_file ? mem_strdup(ca_file) : NULL;

    cairn_code code = ca_file && *ca_file && !engine->ca_file ? fail_memory(reterr)
                                                              : read_url(engine, url, reterr);
    if (!code)
        code = add_headers(engine, token, reterr);
    if (!code)
        code = loop_start(engine, reterr);
    if (!code)
        code = check_server(engine, reterr);
    if (code) {
        remote_close(&engine->base);
        return code;
    }
    *ret_engine = &engine->base;
    return CAIRN_OK;
}
