/* worker/dispatch.c - the dispatcher: looks at what has come, sends what is due, sleeps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "worker/worker.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>

enum {
    REPORT_BYTES = 256 * 1024, /* of one report, beyond its first outcome */
    IDLE_WAIT_MS = 1000,       /* until_idle: no claim waits longer */
    HEARTBEAT_LEAST_US = 5 * 1000,
};

static void wake_at(struct cairn_worker *worker, int64_t at_us)
{
    if (at_us < worker->wake_at_us)
        worker->wake_at_us = at_us;
}

static bool is_resting(struct cairn_worker *worker, const struct rest *rest)
{
    bool is_so = rest->until_us > monotonic_us();
    if (is_so)
        wake_at(worker, rest->until_us);
    return is_so;
}

/* As many as one claim may ask for. */
static uint32_t free_slots(const struct cairn_worker *worker)
{
    size_t most = worker->engine->options.max_batch;
    assert(worker->running_count + worker->slots_promised <= worker->thread_count);
    uint32_t slots = worker->thread_count - worker->running_count - worker->slots_promised;
    return slots < most ? slots : (uint32_t)most;
}

/* Renew at a third of the lease: if one renewal is lost, the next still comes in time. */
static void expect_heartbeat(struct cairn_worker *worker, struct cairn_work *work)
{
    int64_t third_us = worker->lease_ms * US_PER_MS / 3;
    int64_t now_us = monotonic_us();
    work->lease_until_us = now_us + worker->lease_ms * US_PER_MS;
    work->heartbeat_at_us =
        now_us + (third_us < HEARTBEAT_LEAST_US ? HEARTBEAT_LEAST_US : third_us);
}

/* ---- what has come ------------------------------------------------------------------------- */

/* No handler here can execute it: it is offered to other workers after a random delay. */
static void release_task(struct cairn_worker *worker, struct cairn_work *work)
{
    work->outcome = CAIRN_RELEASE;
    work->is_missing_handler = work->task.instance_id != NULL;
    work->delay_ms = missing_rest_ms(&worker->engine->options, rng_unit(&worker->rng));
    works_push(&worker->unreported, work);
}

static void start_task(struct cairn_worker *worker, const cairn_task *task)
{
    struct cairn_work *work = work_new(task);
    if (!work)
        return; /* memory ran out: the lease will expire */
    work->worker = worker;
    if (strcmp(task->kind, "function") == 0)
        work->function = worker_find_function(worker, task);
    else
        work->handler = worker_find(worker, task->type);
    expect_heartbeat(worker, work);
    if (work->handler || work->function)
        pool_run(worker, work);
    else
        release_task(worker, work);
}

static void tasks_came(struct cairn_worker *worker, struct call *call)
{
    const struct page_output *page = &call->request->out.page;
    worker->slots_promised -= call->slots;
    if (call->request->code || call->slots == 0)
        return;
    memories_complete(&worker->engine->memories, call->request);
    worker->is_empty = page->count == 0;
    if (page->count)
        worker->pause_ms = 0;
    for (size_t i = 0; i < page->count && i < call->slots; i++)
        start_task(worker, &page->tasks[i]);
}

static void claim_answered(struct cairn_worker *worker, struct call *call)
{
    cairn_code code = call->request->code;
    worker->claim_out = NULL;
    tasks_came(worker, call);
    if (!code) {
        worker->claim_rest = (struct rest){0};
    } else if (code_is_retryable(code)) {
        rest_begin(&worker->claim_rest);
    } else {
        worker_fail(worker, code, &call->request->error);
    }
}

/* After a pause a handler may finish; the instance may also be resumed or stopped meanwhile. */
static bool is_final_stop(const char *stop)
{
    return stop && strcmp(stop, "paused") != 0;
}

static void heartbeat_answered(struct cairn_worker *worker, struct call *call)
{
    struct cairn_work *work = call->work;
    cairn_code code = call->request->code;
    worker->heartbeats_out--;
    work->is_heartbeat_out = false;
    if (work->is_over) {
        work_free(work);
        return;
    }
    if (!code) {
        atomic_store(&work->stop, call->request->out.heartbeat.stop);
        if (!is_final_stop(call->request->out.heartbeat.stop))
            expect_heartbeat(worker, work);
    } else if (!code_is_retryable(code) || monotonic_us() > work->lease_until_us) {
        atomic_store(&work->stop, "lease_lost");
    } else {
        work->heartbeat_at_us = monotonic_us() + rest_longer(0);
    }
}

/* ---- until idle ---------------------------------------------------------------------------- */

static void grow_pause(struct cairn_worker *worker)
{
    worker->pause_ms = worker->pause_ms ? worker->pause_ms * 2 : 50;
    if (worker->pause_ms > IDLE_WAIT_MS)
        worker->pause_ms = IDLE_WAIT_MS;
}

static void ask_again(struct cairn_worker *worker)
{
    worker->is_empty = false;
    grow_pause(worker);
}

static void idle_answered(struct cairn_worker *worker, struct call *call)
{
    cairn_code code = call->request->code;
    worker->is_check_out = false;
    if (code && !code_is_retryable(code))
        worker_fail(worker, code, &call->request->error);
    else if (!code && call->request->out.is_idle)
        worker->is_ending = true;
    else
        ask_again(worker);
}

/* After a claim without tasks, when this worker has nothing to do. */
static void check_idle(struct cairn_worker *worker)
{
    bool is_busy = worker->running_count || worker->unreported.count || worker->is_report_out ||
                   worker->is_check_out;
    if (!worker->is_until_idle || worker->is_ending || is_busy)
        return;
    if (worker->claim_out) {
        if (worker->claim_out->is_patient)
            abandon_claim(worker);
        return;
    }
    if (worker->is_empty && !send_idle(worker))
        ask_again(worker);
}

/* ---- taking -------------------------------------------------------------------------------- */

static void take_answer(struct cairn_worker *worker, struct call *call)
{
    switch (call->kind) {
    case CALL_CLAIM:
        claim_answered(worker, call);
        break;
    case CALL_REPORT:
        worker->is_report_out = false;
        tasks_came(worker, call);
        report_answered(worker, call);
        break;
    case CALL_HEARTBEAT:
        heartbeat_answered(worker, call);
        break;
    case CALL_IDLE:
        idle_answered(worker, call);
        break;
    }
    call_free(call);
}

static void take_finished(struct cairn_worker *worker, struct work_list *finished)
{
    struct cairn_work *work;
    while ((work = works_pop(finished))) {
        uint32_t i = 0;
        while (worker->running[i] != work)
            i++;
        assert(i < worker->running_count);
        worker->running[i] = worker->running[--worker->running_count];
        if (work->is_settled)
            passage_ended(worker, work);
        else
            works_push(&worker->unreported, work);
    }
}

static void take_all(struct cairn_worker *worker)
{
    struct work_list finished = {0};
    eventfd_t count;
    eventfd_read(worker->wake_fd, &count); /* before looking, so that nothing is missed */

    pthread_mutex_lock(&worker->lock);
    struct call *answered = worker->answered;
    worker->answered = NULL;
    works_append(&finished, &worker->finished);
    pthread_mutex_unlock(&worker->lock);

    take_finished(worker, &finished);
    while (answered) {
        struct call *next = answered->next;
        take_answer(worker, answered);
        answered = next;
    }
    if (atomic_load(&worker->is_stopping))
        worker->is_ending = true;
}

/* ---- sending ------------------------------------------------------------------------------- */

static size_t report_size(const struct cairn_work *work)
{
    size_t bytes =
        (work->output ? strlen(work->output) : 0) + (work->error ? strlen(work->error) : 0);
    for (size_t i = 0; i < work->outbound.count; i++)
        if (work->outbound.items[i].payload)
            bytes += strlen(work->outbound.items[i].payload);
    return bytes;
}

/* As many as fit; a report that was rejected together with others is sent alone. */
static void take_unreported(struct cairn_worker *worker, struct work_list *ret_works)
{
    size_t bytes = 0;
    while (worker->unreported.first) {
        struct cairn_work *next = worker->unreported.first;
        bytes += report_size(next);
        bool is_full = bytes > REPORT_BYTES || next->is_alone ||
                       ret_works->count >= worker->engine->options.max_batch;
        if (ret_works->count && (is_full || ret_works->first->is_alone))
            return;
        works_push(ret_works, works_pop(&worker->unreported));
    }
}

static void send_reports(struct cairn_worker *worker)
{
    struct work_list works = {0};
    if (worker->is_report_out || !worker->unreported.count)
        return;
    if (is_resting(worker, &worker->report_rest))
        return;
    take_unreported(worker, &works);
    assert(works.first); /* the first is always taken */
    uint32_t slots = free_slots(worker);
    if (worker->is_ending || works.first->is_alone)
        slots = 0;
    if (!send_report(worker, &works, slots)) {
        works_append(&worker->unreported, &works);
        rest_begin(&worker->report_rest);
        wake_at(worker, worker->report_rest.until_us);
    }
}

static void send_heartbeats(struct cairn_worker *worker)
{
    int64_t now_us = monotonic_us();
    for (uint32_t i = 0; i < worker->running_count; i++) {
        struct cairn_work *work = worker->running[i];
        if (work->is_heartbeat_out || is_final_stop(atomic_load(&work->stop)))
            continue;
        if (work->heartbeat_at_us <= now_us && !send_heartbeat(worker, work))
            work->heartbeat_at_us = now_us + rest_longer(0);
        if (!work->is_heartbeat_out)
            wake_at(worker, work->heartbeat_at_us);
    }
}

static uint32_t claim_wait_ms(const struct cairn_worker *worker)
{
    if (!worker->is_until_idle)
        return worker->wait_ms;
    uint32_t wait_ms = worker->running_count ? IDLE_WAIT_MS : worker->pause_ms;
    return wait_ms < worker->wait_ms ? wait_ms : worker->wait_ms;
}

static void send_claims(struct cairn_worker *worker)
{
    uint32_t slots = free_slots(worker);
    bool is_reporting = worker->is_report_out && worker->unreported.count;
    bool is_waiting = worker->claim_out || is_reporting || worker->is_check_out;
    if (worker->is_ending || is_waiting || slots == 0)
        return;
    if (is_resting(worker, &worker->claim_rest))
        return;
    if (!send_claim(worker, slots, claim_wait_ms(worker))) {
        rest_begin(&worker->claim_rest);
        wake_at(worker, worker->claim_rest.until_us);
    }
}

/* ---- the loop ------------------------------------------------------------------------------ */

static bool is_over(const struct cairn_worker *worker)
{
    return worker->is_ending && !worker->running_count && !worker->unreported.count &&
           !worker->is_report_out && !worker->is_check_out && !worker->heartbeats_out &&
           !worker->claim_out;
}

static void sleep_until_woken(struct cairn_worker *worker)
{
    struct pollfd wake = {.fd = worker->wake_fd, .events = POLLIN};
    int timeout_ms = -1;
    if (worker->wake_at_us != INT64_MAX) {
        int64_t left_us = worker->wake_at_us - monotonic_us();
        int64_t left_ms = left_us <= 0 ? 0 : left_us / US_PER_MS + 1;
        timeout_ms = left_ms > INT32_MAX ? INT32_MAX : (int)left_ms;
    }
    poll(&wake, 1, timeout_ms);
}

void worker_dispatch(struct cairn_worker *worker)
{
    for (;;) {
        worker->wake_at_us = INT64_MAX;
        take_all(worker);
        send_reports(worker);
        send_heartbeats(worker);
        check_idle(worker);
        if (worker->is_ending && worker->claim_out)
            abandon_claim(worker);
        send_claims(worker);
        if (is_over(worker))
            return;
        sleep_until_woken(worker);
    }
}
