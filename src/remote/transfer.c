/* remote/transfer.c - one HTTP request and its answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "remote/remote.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#include <string.h>

/* A server answers at once, or within its own retry_ms if its database is away.  That is often as
 * long as ours: a little more, so that its answer comes first. */
enum { PATIENCE_MS_MIN = 1000, SERVER_MS = 2000 };

/* How long a server that has accepted may be silent, beyond what it was allowed on purpose. */
static int64_t patience_ms(const struct transfer *transfer)
{
    int64_t left_ms = transfer->retry_ms;
    if (transfer->give_up_us)
        left_ms = (transfer->give_up_us - monotonic_us()) / US_PER_MS;
    return (left_ms < PATIENCE_MS_MIN ? PATIENCE_MS_MIN : left_ms) + SERVER_MS;
}

struct transfer *transfer_new(struct remote_engine *engine)
{
    struct transfer *transfer = mem_zalloc(sizeof *transfer);
    if (!transfer)
        return NULL;
    uint32_t retry_ms = engine->base.options.retry_ms;
    transfer->engine = engine;
    transfer->retry_ms = retry_ms;
    transfer->connect_ms = retry_ms < 1000 ? 1000 : retry_ms > 10000 ? 10000 : retry_ms;
    transfer->content_type = "application/json";
    buf_str(&transfer->url, engine->base.url);
    if (buf_failed(&transfer->url)) {
        transfer_free(transfer);
        return NULL;
    }
    return transfer;
}

void transfer_free(struct transfer *transfer)
{
    if (!transfer)
        return;
    buf_done(&transfer->url);
    buf_done(&transfer->body);
    buf_done(&transfer->answer);
    mem_free(transfer);
}

/* Hands out the body.  That curl asks for it here, instead of having it all, is what tells us
 * whether any of it can have reached the server. */
static size_t read_body(char *to, size_t size, size_t count, void *arg)
{
    struct transfer *transfer = arg;
    size_t left = transfer->body.len - transfer->body_at;
    size_t len = size * count < left ? size * count : left;
    if (len)
        memcpy(to, transfer->body.text + transfer->body_at, len);
    transfer->body_at += len;
    return len;
}

/* A kept connection may die under a request, and curl would send it again by itself.  It must
 * rewind the body for that, and so it cannot where twice would do harm. */
static int rewind_body(void *arg, curl_off_t offset, int origin)
{
    struct transfer *transfer = arg;
    if (!transfer->is_repeatable || origin != SEEK_SET || offset < 0 ||
        (size_t)offset > transfer->body.len)
        return CURL_SEEKFUNC_FAIL;
    transfer->body_at = (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

static size_t write_answer(char *from, size_t size, size_t count, void *arg)
{
    struct transfer *transfer = arg;
    size_t len = size * count;
    if (transfer->answer.len + len > ANSWER_MAX) {
        transfer->is_too_large = true;
        return 0;
    }
    buf_add(&transfer->answer, from, len);
    return buf_failed(&transfer->answer) ? 0 : len;
}

static void prepare_method(struct transfer *transfer, CURL *easy)
{
    const char *method = transfer->method;
    if (strcmp(method, "HEAD") == 0) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
        return;
    }
    bool is_post = strcmp(method, "POST") == 0;
    if (transfer->has_body || is_post) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)transfer->body.len);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_body);
        curl_easy_setopt(easy, CURLOPT_READDATA, transfer);
        curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, rewind_body);
        curl_easy_setopt(easy, CURLOPT_SEEKDATA, transfer);
    } else {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    }
    if (!is_post && strcmp(method, "GET") != 0)
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

cairn_code transfer_prepare(struct transfer *transfer, CURL *easy)
{
    struct remote_engine *engine = transfer->engine;
    transfer->easy = easy;
    transfer->body_at = 0;
    transfer->is_too_large = false;
    transfer->curl_error[0] = '\0';
    buf_reset(&transfer->answer);

    prepare_method(transfer, easy);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->curl_error);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, engine->headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write_answer);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L); /* a job may be asked for by any name */
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)transfer->connect_ms);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                     (long)(patience_ms(transfer) + (int64_t)transfer->wait_ms));
    if (engine->is_local)
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
    if (engine->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, engine->ca_file);

    /* Everything else at its default, notably: certificates are checked, redirects not
     * followed, so a token is sent to no other host. */
    if (curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") ||
        curl_easy_setopt(easy, CURLOPT_USERAGENT, "libcairn/" CAIRN_VERSION) ||
        curl_easy_setopt(easy, CURLOPT_URL, buf_text(&transfer->url)))
        return fail_memory(&transfer->error);
    return CAIRN_OK;
}
