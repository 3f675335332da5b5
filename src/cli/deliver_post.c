/* cli/deliver_post.c - cairn deliver: one event as an HTTP request, signed.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Everything in an event comes from handlers, so nothing of it but its number is put into a header.
 */
#include "cli/deliver.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/say.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <nettle/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Of an answer the beginning is kept, for the reason; what is longer than ANSWER_MAX is not read. */
enum { ANSWER_KEPT = 200, ANSWER_MAX = 64 << 10, CONNECT_MS_MAX = 10000 };

struct poster {
    struct post_options options;
    CURL *easy;
    struct buf body;
    char answer[ANSWER_KEPT + 1];
    size_t answer_len; /* of what has come */
    bool is_stopped;
    char curl_error[CURL_ERROR_SIZE];
};

/* ---- the address ------------------------------------------------------------------------------ */

bool post_url_check(const char *url, const char **why)
{
    const char *host = strncasecmp(url, "http://", 7) == 0    ? url + 7
                       : strncasecmp(url, "https://", 8) == 0 ? url + 8
                                                              : NULL;
    *why = "it takes http://... or https://...";
    if (!host || !*host || *host == '/')
        return false;
    *why = "a name and a password in it would be written to the log";
    if (memchr(host, '@', strcspn(host, "/?#")))
        return false;
    for (const char *at = url; *at; at++)
        if ((unsigned char)*at <= ' ' || *at == 0x7f) {
            *why = "it has a blank or a control character";
            return false;
        }
    return true;
}

/* ---- the request ------------------------------------------------------------------------------ */

void post_sign(const char *secret, int64_t time_s, const char *body, size_t len,
               char ret_text[SIGNATURE_TEXT])
{
    struct hmac_sha256_ctx hmac;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char time[32];
    int time_len = snprintf(time, sizeof time, "%" PRId64 ".", time_s);
    hmac_sha256_set_key(&hmac, strlen(secret), (const uint8_t *)secret);
    hmac_sha256_update(&hmac, (size_t)time_len, (const uint8_t *)time);
    hmac_sha256_update(&hmac, len, (const uint8_t *)body);
    hmac_sha256_digest(&hmac, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(ret_text + 2 * i, 3, "%02x", digest[i]);
}

/* As POST /v1/outbox/claim answers it. */
static void write_body(struct buf *body, const cairn_outbox_event *event)
{
    struct json_out out = {.buf = body};
    buf_reset(body);
    json_open(&out, '{');
    json_str(json_key(&out, "id"), event->id);
    json_str(json_key(&out, "instance_id"), event->instance_id);
    json_key(&out, "step");
    if (event->step)
        json_str(&out, event->step);
    else
        json_raw(&out, "null");
    json_str(json_key(&out, "event"), event->event);
    json_raw(json_key(&out, "payload"), event->payload ? event->payload : "null");
    json_time(json_key(&out, "created_at"), event->created_at_us);
    json_close(&out, '}');
}

static bool add_header(struct curl_slist **headers, const char *text)
{
    struct curl_slist *longer = curl_slist_append(*headers, text);
    if (longer)
        *headers = longer;
    return longer != NULL;
}

static bool add_signature(const struct poster *poster, struct curl_slist **headers)
{
    char text[SIGNATURE_TEXT + 40], signature[SIGNATURE_TEXT];
    struct clock clock;
    clock_init_real(&clock);
    int64_t now_s = clock_now_us(&clock) / US_PER_SEC;
    snprintf(text, sizeof text, "Cairn-Timestamp: %" PRId64, now_s);
    if (!add_header(headers, text))
        return false;
    if (!poster->options.secret)
        return true;
    post_sign(poster->options.secret, now_s, buf_text(&poster->body), poster->body.len,
              signature);
    snprintf(text, sizeof text, "Cairn-Signature: v1=%s", signature);
    return add_header(headers, text);
}

static bool make_headers(const struct poster *poster, const cairn_outbox_event *event,
                         struct curl_slist **headers)
{
    char id[80];
    snprintf(id, sizeof id, "Cairn-Event-Id: %.40s", event->id);
    return add_header(headers, "Content-Type: application/json") &&
           add_header(headers, "Expect:") && add_header(headers, id) &&
           add_signature(poster, headers);
}

/* ---- the answer ------------------------------------------------------------------------------- */

static size_t take_answer(char *from, size_t size, size_t count, void *arg)
{
    struct poster *poster = arg;
    size_t len = size * count, at = poster->answer_len;
    for (size_t i = 0; i < len && at + i < ANSWER_KEPT; i++)
        poster->answer[at + i] = from[i];
    poster->answer_len += len;
    poster->answer[poster->answer_len < ANSWER_KEPT ? poster->answer_len : ANSWER_KEPT] = '\0';
    return poster->answer_len > ANSWER_MAX ? 0 : len;
}

static int watch(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    struct poster *poster = arg;
    (void)a, (void)b, (void)c, (void)d;
    poster->is_stopped |=
        poster->options.is_unwanted && poster->options.is_unwanted(poster->options.arg);
    return poster->is_stopped;
}

/* A receiver's words may be anything; their first line is kept. */
static void write_reason(const struct poster *poster, long status, char reason[POST_REASON])
{
    cleanup(buf_donep) struct buf clean = {0};
    buf_clean(&clean, poster->answer, strcspn(poster->answer, "\r\n"));
    snprintf(reason, POST_REASON, "the receiver answered with status %ld%s%s%s", status,
             status >= 300 && status < 400 ? "; redirects are not followed" : "",
             clean.len ? ": " : "", buf_text(&clean));
}

static enum post_end judge(const struct poster *poster, CURLcode code, char reason[POST_REASON])
{
    long status = 0;
    curl_easy_getinfo(poster->easy, CURLINFO_RESPONSE_CODE, &status);
    bool is_long = code == CURLE_WRITE_ERROR && poster->answer_len > ANSWER_MAX;
    if (poster->is_stopped) {
        snprintf(reason, POST_REASON, "stopped");
        return POST_STOPPED;
    }
    if (code && !is_long) {
        const char *why = poster->curl_error[0] ? poster->curl_error : curl_easy_strerror(code);
        snprintf(reason, POST_REASON, "%s", why);
        return POST_FAILED;
    }
    if (status >= 200 && status < 300)
        return POST_DELIVERED;
    write_reason(poster, status, reason);
    return POST_FAILED;
}

static void prepare(struct poster *poster, struct curl_slist *headers)
{
    CURL *easy = poster->easy;
    int64_t timeout_ms = poster->options.timeout_ms;
    curl_easy_reset(easy); /* the connection is kept */
    curl_easy_setopt(easy, CURLOPT_URL, poster->options.url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)poster->body.len);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, buf_text(&poster->body));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "cairn");
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, poster->curl_error);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, poster);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, watch);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, poster);
    const char *ca_file = getenv("CAIRN_CA_FILE");
    if (ca_file && *ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     (long)(timeout_ms < CONNECT_MS_MAX ? timeout_ms : CONNECT_MS_MAX));
}

enum post_end poster_send(struct poster *poster, const cairn_outbox_event *event,
                          char reason[POST_REASON])
{
    struct curl_slist *headers = NULL;
    enum post_end end = POST_FAILED;
    snprintf(reason, POST_REASON, "memory ran out");
    poster->answer[0] = poster->curl_error[0] = '\0';
    poster->answer_len = 0;
    poster->is_stopped = false;
    write_body(&poster->body, event);
    if (!buf_failed(&poster->body) && make_headers(poster, event, &headers)) {
        prepare(poster, headers);
        end = judge(poster, curl_easy_perform(poster->easy), reason);
    }
    curl_slist_free_all(headers);
    return end;
}

/* ---- a poster --------------------------------------------------------------------------------- */

struct poster *poster_new(const struct post_options *options)
{
    struct poster *poster = mem_zalloc(sizeof *poster);
    if (!poster)
        return NULL;
    poster->options = *options;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
        poster->easy = curl_easy_init();
    if (!poster->easy)
        poster_freep(&poster);
    return poster;
}

void poster_freep(struct poster **poster)
{
    if (!*poster)
        return;
    if ((*poster)->easy)
        curl_easy_cleanup((*poster)->easy);
    buf_done(&(*poster)->body);
    mem_free(*poster);
    *poster = NULL;
}
