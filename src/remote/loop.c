/* remote/loop.c - the thread that carries all transfers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "remote/remote.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/await.h"

#include <assert.h>
#include <signal.h>
#include <string.h>

enum {
    FIRST_DELAY_US = 20 * 1000, /* before a server that did not answer is tried again */
    LONGEST_DELAY_US = 1000 * 1000,
    IDLE_MS = 60 * 60 * 1000, /* curl's own timers and a wakeup end it earlier */
};

static void list_push(struct transfer **list, struct transfer *transfer)
{
    transfer->next = *list;
    *list = transfer;
}

static void list_remove(struct transfer **list, struct transfer *transfer)
{
    while (*list != transfer) {
        assert(*list);
        list = &(*list)->next;
    }
    *list = transfer->next;
    transfer->next = NULL;
}

static CURL *take_handle(struct remote_engine *engine)
{
    if (engine->handle_count)
        return engine->handles[--engine->handle_count];
    return curl_easy_init();
}

static void keep_handle(struct remote_engine *engine, CURL *easy)
{
    if (engine->handle_count == HANDLES_KEPT) {
        curl_easy_cleanup(easy);
        return;
    }
    curl_easy_reset(easy);
    engine->handles[engine->handle_count++] = easy;
}

static void end(struct transfer *transfer, cairn_code code)
{
    transfer->code = code;
    transfer->done(transfer);
}

/* Gives the handle back; the transfer is in no list after this. */
static void leave(struct remote_engine *engine, struct transfer *transfer)
{
    curl_multi_remove_handle(engine->multi, transfer->easy);
    keep_handle(engine, transfer->easy);
    transfer->easy = NULL;
    list_remove(&engine->active, transfer);
}

static void begin(struct remote_engine *engine, struct transfer *transfer)
{
    if (transfer->began_us == 0)
        transfer->began_us = monotonic_us();
    CURL *easy = take_handle(engine);
    if (!easy) {
        end(transfer, fail_memory(&transfer->error));
        return;
    }
    cairn_code code = transfer_prepare(transfer, easy);
    if (!code && curl_multi_add_handle(engine->multi, easy))
        code = fail_memory(&transfer->error);
    if (code) {
        transfer->easy = NULL;
        keep_handle(engine, easy);
        end(transfer, code);
        return;
    }
    list_push(&engine->active, transfer);
}

void loop_restart(struct transfer *transfer)
{
    leave(transfer->engine, transfer);
    begin(transfer->engine, transfer);
}

static cairn_code unreachable(struct transfer *transfer, CURLcode result)
{
    const char *words =
        transfer->curl_error[0] ? transfer->curl_error : curl_easy_strerror(result);
    const char *url = transfer->engine->base.url;
    cairn_error *error = &transfer->error;
    bool is_unsure = transfer->body_at > 0 && !transfer->is_repeatable;

    if (is_unsure)
        fail(error, CAIRN_E_UNREACHABLE, "the connection to %s was lost before it answered",
             url);
    else
        fail(error, CAIRN_E_UNREACHABLE, "could not reach the server at %s", url);
    fail_detail(error, CAIRN_E_UNREACHABLE, "%s", words);
    if (result == CURLE_PEER_FAILED_VERIFICATION)
        return fail_hint(
            error, CAIRN_E_UNREACHABLE,
            "its certificate must be valid now, for this host, and signed by an authority "
            "of this system or of the file that CAIRN_CA_FILE names");
    if (result == CURLE_SSL_CONNECT_ERROR)
        return fail_hint(error, CAIRN_E_UNREACHABLE,
                         "if the server has no certificate, its URL begins with http:");
    if (result == CURLE_SSL_CACERT_BADFILE)
        return fail_hint(error, CAIRN_E_UNREACHABLE, "check the file that CAIRN_CA_FILE names");
    if (is_unsure)
        return fail_hint(error, CAIRN_E_UNREACHABLE,
                         "it may have been carried out: look before you repeat it");
    return fail_hint(error, CAIRN_E_UNREACHABLE,
                     result == CURLE_GOT_NOTHING
                         ? "if the server has a certificate, its URL begins with https:"
                         : "is `cairn serve` running there?");
}

static cairn_code explain(struct transfer *transfer, CURLcode result)
{
    switch (result) {
    case CURLE_OUT_OF_MEMORY:
        return fail_memory(&transfer->error);
    case CURLE_WRITE_ERROR:
        if (!transfer->is_too_large)
            return fail_memory(&transfer->error);
        return fail(&transfer->error, CAIRN_E_TOO_LARGE, "the answer of %s is too large",
                    transfer->engine->base.url);
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        fail(&transfer->error, CAIRN_E_BAD_INPUT, "cannot use the URL %s",
             transfer->engine->base.url);
        return fail_detail(&transfer->error, CAIRN_E_BAD_INPUT, "%s",
                           curl_easy_strerror(result));
    default:
        return unreachable(transfer, result);
    }
}

/* What was not sent, or may be sent twice, is tried again until its time is over.  That counts from
 * the first failure, since a claim may have waited long before; a server that was silent has used
 * it up. */
static bool try_again(struct remote_engine *engine, struct transfer *transfer, CURLcode result)
{
    if (transfer->body_at > 0 && !transfer->is_repeatable)
        return false;
    int64_t now_us = monotonic_us();
    if (transfer->give_up_us == 0) {
        int64_t from_us = result == CURLE_OPERATION_TIMEDOUT ? transfer->began_us : now_us;
        transfer->give_up_us = from_us + transfer->retry_ms * US_PER_MS;
        transfer->delay_us = FIRST_DELAY_US;
    }
    if (now_us + transfer->delay_us > transfer->give_up_us)
        return false;
    transfer->retry_at_us = now_us + transfer->delay_us;
    transfer->delay_us *= 2;
    if (transfer->delay_us > LONGEST_DELAY_US)
        transfer->delay_us = LONGEST_DELAY_US;
    list_push(&engine->delayed, transfer);
    return true;
}

/* The types that a Cairn server sends, as constants. */
static const char *known_content_type(const char *sent)
{
    static const char *const known[] = {"application/json",
                                        "text/plain; version=0.0.4; charset=utf-8",
                                        "text/plain", "text/html", "text/event-stream"};
    for (size_t i = 0; sent && i < sizeof known / sizeof *known; i++)
        if (strncmp(sent, known[i], strlen(known[i])) == 0)
            return known[i];
    return "application/octet-stream";
}

static void note_lost(struct remote_engine *engine, const cairn_error *why)
{
    if (engine->lost_us)
        return;
    engine->lost_us = monotonic_us();
    notice_tell(&engine->base, CAIRN_NOTICE_ERROR, "store_lost", NULL, "lost the server: %s",
                why->message);
}

static void note_reached(struct remote_engine *engine)
{
    if (!engine->lost_us)
        return;
    int64_t after_ms = (monotonic_us() - engine->lost_us) / US_PER_MS;
    const struct notice_fact facts[] = {{"after_ms", after_ms}, {0}};
    engine->lost_us = 0;
    notice_tell(&engine->base, CAIRN_NOTICE_INFO, "store_recovered", facts,
                "the server answers again after %lld ms", (long long)after_ms);
}

static void finish(struct remote_engine *engine, CURLMsg *message)
{
    struct transfer *transfer = NULL;
    CURLcode result = message->data.result;
    char *content_type = NULL;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &transfer->status);
    curl_easy_getinfo(message->easy_handle, CURLINFO_CONTENT_TYPE, &content_type);
    transfer->content_type = known_content_type(content_type);
    leave(engine, transfer);

    if (result == CURLE_OK) {
        note_reached(engine);
        end(transfer, CAIRN_OK);
        return;
    }
    cairn_code code = explain(transfer, result);
    if (code == CAIRN_E_UNREACHABLE)
        note_lost(engine, &transfer->error);
    bool is_hopeless = code != CAIRN_E_UNREACHABLE || result == CURLE_PEER_FAILED_VERIFICATION;
    if (is_hopeless || !try_again(engine, transfer, result))
        end(transfer, code);
}

static void finish_all(struct remote_engine *engine)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(engine->multi, &left)))
        if (message->msg == CURLMSG_DONE)
            finish(engine, message);
}

/* Takes what callers have handed in, in their order.  False: the engine closes. */
static bool take_queue(struct remote_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    struct transfer *newest = engine->queue, *oldest = NULL;
    engine->queue = NULL;
    bool is_closing = engine->is_closing;
    pthread_mutex_unlock(&engine->lock);

    while (newest) {
        struct transfer *next = newest->next;
        list_push(&oldest, newest);
        newest = next;
    }
    while (oldest) {
        struct transfer *next = oldest->next;
        oldest->next = NULL;
        if (is_closing)
            list_push(&engine->delayed, oldest);
        else if (!oldest->is_wake || wake_begin(oldest))
            begin(engine, oldest);
        oldest = next;
    }
    return !is_closing;
}

/* Begins those whose delay is over. */
static void take_delayed(struct remote_engine *engine)
{
    int64_t now_us = monotonic_us();
    struct transfer *transfer = engine->delayed;
    engine->delayed = NULL;
    while (transfer) {
        struct transfer *next = transfer->next;
        transfer->next = NULL;
        if (transfer->retry_at_us <= now_us)
            begin(engine, transfer);
        else
            list_push(&engine->delayed, transfer);
        transfer = next;
    }
}

/* How long nothing is to be done but what curl or a caller asks for. */
static int idle_ms(const struct remote_engine *engine)
{
    if (!engine->delayed)
        return IDLE_MS;
    int64_t first_us = engine->delayed->retry_at_us;
    for (struct transfer *it = engine->delayed; it; it = it->next)
        if (it->retry_at_us < first_us)
            first_us = it->retry_at_us;
    int64_t left_us = first_us - monotonic_us();
    return left_us <= 0 ? 0 : (int)(left_us / US_PER_MS) + 1;
}

static void end_all(struct remote_engine *engine)
{
    while (engine->active) {
        struct transfer *transfer = engine->active;
        leave(engine, transfer);
        list_push(&engine->delayed, transfer);
    }
    while (engine->delayed) {
        struct transfer *transfer = engine->delayed;
        list_remove(&engine->delayed, transfer);
        end(transfer, fail(&transfer->error, CAIRN_E_CLOSED, "the engine is closing"));
    }
}

static void *run(void *arg)
{
    struct remote_engine *engine = arg;
    while (take_queue(engine)) {
        int running;
        take_delayed(engine);
        curl_multi_perform(engine->multi, &running);
        finish_all(engine);
        curl_multi_poll(engine->multi, NULL, 0, idle_ms(engine), NULL);
    }
    end_all(engine);
    return NULL;
}

cairn_code loop_start(struct remote_engine *engine, cairn_error *reterr)
{
    engine->multi = curl_multi_init();
    if (!engine->multi)
        return fail_memory(reterr);

    /* Signals are the program's own business, and a broken connection is no reason to die. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&engine->thread, NULL, run, engine);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        return CAIRN_OK;
    curl_multi_cleanup(engine->multi);
    engine->multi = NULL;
    return fail(reterr, CAIRN_E_TOO_MANY, "could not start a thread: %s", strerror(failed));
}

void loop_stop(struct remote_engine *engine)
{
    if (!engine->multi)
        return;
    pthread_mutex_lock(&engine->lock);
    engine->is_closing = true;
    pthread_mutex_unlock(&engine->lock);
    curl_multi_wakeup(engine->multi);
    pthread_join(engine->thread, NULL);
    while (engine->handle_count)
        curl_easy_cleanup(engine->handles[--engine->handle_count]);
    curl_multi_cleanup(engine->multi);
    engine->multi = NULL;
}

void loop_again(struct transfer *transfer, int64_t latest_us)
{
    int64_t at_us;
    transfer->pause_us = transfer->pause_us ? transfer->pause_us * 2 : AWAIT_FIRST_US;
    if (transfer->pause_us > AWAIT_LONGEST_US)
        transfer->pause_us = AWAIT_LONGEST_US;
    at_us = monotonic_us() + transfer->pause_us;
    transfer->retry_at_us = at_us < latest_us ? at_us : latest_us;
    transfer->began_us = transfer->give_up_us = 0;
    transfer->code = CAIRN_OK;
    buf_reset(&transfer->answer);
    list_push(&transfer->engine->delayed, transfer);
}

void loop_add(struct transfer *transfer)
{
    struct remote_engine *engine = transfer->engine;
    pthread_mutex_lock(&engine->lock);
    bool is_closing = engine->is_closing;
    if (!is_closing) {
        transfer->number = ++engine->last_number;
        list_push(&engine->queue, transfer);
        curl_multi_wakeup(engine->multi); /* within the lock: later it may be gone */
    }
    pthread_mutex_unlock(&engine->lock);
    if (is_closing)
        end(transfer, fail(&transfer->error, CAIRN_E_CLOSED, "the engine is closing"));
}
