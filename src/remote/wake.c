/* remote/wake.c - cairn_wake() for calls that wait at a server.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The server is asked to end the claims of a worker, so that no task is lost that it is just giving
 * to one.  A claim may reach the server after that request, on another connection: while one is
 * under way that is older than the request, it is sent again.
 */
#include "remote/remote.h"

#include "base/json.h"
#include "base/mem.h"

#include <string.h>

/* The worker's name as JSON; none if the transfer is not a claim that waits. */
static struct slice worker_of(const struct transfer *transfer)
{
    struct slice body;
    bool is_waiting = transfer->is_wake || transfer->wait_ms;
    if (!is_waiting || !scan_text(transfer->body.text, transfer->body.len, &body))
        return (struct slice){0};
    return scan_find(body, "worker");
}

static bool is_worker(const struct transfer *transfer, struct slice worker)
{
    struct slice own = worker_of(transfer);
    return own.len && own.len == worker.len && memcmp(own.text, worker.text, own.len) == 0;
}

static void wake_answered(struct transfer *wake)
{
    bool is_again = false;
    if (!wake->code && wake->status == 200)
        for (struct transfer *it = wake->engine->active; it; it = it->next)
            is_again |= it->number < wake->number && is_worker(it, worker_of(wake));
    if (is_again)
        loop_again(wake, INT64_MAX);
    else
        transfer_free(wake);
}

/* `worker` is JSON; none: all that waits, which only the thread knows. */
static void send_wake(struct remote_engine *engine, struct slice worker)
{
    struct transfer *wake = transfer_new(engine);
    if (!wake)
        return;
    strcpy(wake->method, "POST");
    buf_str(&wake->url, "/v1/tasks/wake");
    if (worker.len)
        buf_printf(&wake->body, "{\"worker\":%.*s}", (int)worker.len, worker.text);
    wake->has_body = worker.len > 0;
    wake->is_wake = wake->is_repeatable = true;
    wake->done = wake_answered;
    if (buf_failed(&wake->url) || buf_failed(&wake->body))
        transfer_free(wake);
    else
        loop_add(wake);
}

void remote_wake(cairn_engine *base, const char *worker)
{
    cleanup(buf_done) struct buf name = {0};
    struct json_out out = {.buf = &name};
    if (worker)
        json_str(&out, worker);
    if (!buf_failed(&name))
        send_wake((struct remote_engine *)base, (struct slice){name.text, name.len});
}

/* A claim that could not be sent yet ends here, without tasks. */
static void end_unsent(struct remote_engine *engine, struct slice worker)
{
    static const char claims[] = "/v1/tasks/claim";
    for (struct transfer **at = &engine->delayed; *at;) {
        struct transfer *claim = *at;
        const char *path = strstr(buf_text(&claim->url), claims);
        if (!path || path[sizeof claims - 1] || (worker.len && !is_worker(claim, worker))) {
            at = &claim->next;
            continue;
        }
        *at = claim->next;
        claim->next = NULL;
        claim->status = 200;
        buf_reset(&claim->answer);
        buf_str(&claim->answer, "{\"tasks\":[]}");
        claim->done(claim);
    }
}

/* A wait for an end is a question: it is asked again, without waiting. */
static void end_wait(struct transfer *wait)
{
    static const char name[] = "wait_ms=";
    char *query = strstr(wait->url.text, name);
    if (!query)
        return;
    for (char *digit = query + strlen(name); *digit >= '0' && *digit <= '9'; digit++)
        *digit = '0';
    if (wait->request)
        wait->request->wait_until_us = 0;
    wait->retry_at_us = 0;
    if (wait->easy)
        loop_restart(wait);
}

static void end_waits(struct transfer *list)
{
    for (struct transfer *next; list; list = next) {
        next = list->next;
        end_wait(list);
    }
}

/* A request for this worker that is under way serves for a later one, too. */
static bool join_earlier(struct transfer *list, const struct transfer *wake)
{
    for (struct transfer *it = list; it; it = it->next)
        if (it->is_wake && is_worker(it, worker_of(wake))) {
            it->number = wake->number;
            return true;
        }
    return false;
}

bool wake_begin(struct transfer *wake)
{
    struct remote_engine *engine = wake->engine;
    end_unsent(engine, worker_of(wake));
    if (wake->has_body) {
        bool is_joined =
            join_earlier(engine->active, wake) || join_earlier(engine->delayed, wake);
        if (is_joined)
            transfer_free(wake);
        return !is_joined;
    }
    end_waits(engine->active);
    end_waits(engine->delayed);
    for (struct transfer *it = engine->active; it; it = it->next) {
        struct slice worker = worker_of(it);
        if (worker.len && !it->is_wake)
            send_wake(engine, worker);
    }
    transfer_free(wake);
    return false;
}
