/* examples/function.c - a durable function: an order, written as ordinary code.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     function [URL]        such as sqlite:orders.db; takes about two seconds
 *
 * Two orders are taken.  Each reserves, charges (the bank is busy at first, so it is tried again),
 * sleeps a second, has the warehouse pack it, waits for its word, and ships.  The piano is too
 * heavy: its order fails, and what was done is undone, the latest first.
 *
 * Kill the program at any moment and run it again: the orders go on where they were.  Then look at
 * them with `cairn list`, `cairn show ID` and `cairn logs ID`.
 */
#include <cairn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- steps: handlers like any other ---------------------------------------------------------
 *
 * A step may be called more than once (a retry, or a crash before its result was kept), so it
 * hands the outside world a key that stays the same: cairn_task.key. */

static cairn_outcome reserve(cairn_work *work, void *arg)
{
    (void)arg;
    printf("reserve   %s\n", cairn_work_task(work)->input);
    cairn_work_set_output(work, "{\"shelf\": 12}");
    return CAIRN_COMPLETE;
}

/* CAIRN_FAIL is tried again, as often and as late as the step's options say. */
static cairn_outcome charge(cairn_work *work, void *arg)
{
    (void)arg;
    if (cairn_work_task(work)->attempt == 1) {
        printf("charge    %s: the bank is busy\n", cairn_work_task(work)->input);
        cairn_work_set_error(work, "the bank is busy");
        return CAIRN_FAIL;
    }
    printf("charge    %s\n", cairn_work_task(work)->input);
    return CAIRN_COMPLETE;
}

/* CAIRN_DEAD is not: calling again would not help. */
static cairn_outcome ship(cairn_work *work, void *arg)
{
    (void)arg;
    if (strstr(cairn_work_task(work)->input, "piano")) {
        cairn_work_set_error(work, "too heavy");
        return CAIRN_DEAD;
    }
    printf("ship      %s\n", cairn_work_task(work)->input);
    return CAIRN_COMPLETE;
}

/* ---- the function ---------------------------------------------------------------------------
 *
 * It runs from the top each time it goes on: after the retry, after the sleep, after the signal,
 * after a crash.  Steps that have finished answer from memory.  So what is outside of steps must
 * do the same each time, and print nothing; and every code that is not CAIRN_OK is passed on. */

static cairn_code do_step(cairn_passage *passage, const char *key, cairn_handler run,
                          const char *undo)
{
    cairn_step_options step = CAIRN_STEP_DEFAULTS;
    step.key = key;
    step.run = run;
    step.input = cairn_passage_task(passage)->input; /* of the order */
    step.base_ms = 300;                              /* before the second call */
    step.compensation = undo; /* called with {"input", "output"}, should the order fail later */
    return cairn_passage_step(passage, &step, NULL, NULL);
}

/* A job that is recorded in the same commit in which the function remembers it: once, or not at
 * all. */
static cairn_code have_it_packed(cairn_passage *passage)
{
    char payload[128];
    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    snprintf(payload, sizeof payload, "{\"order\": \"%s\"}",
             cairn_passage_task(passage)->instance_id);
    job.type = "warehouse.pack.v1";
    job.payload = payload;
    return cairn_passage_start_job(passage, "pack", &job, NULL, NULL);
}

static cairn_code order(cairn_passage *passage, void *arg)
{
    const char *parcel;
    (void)arg;
    cairn_code code = do_step(passage, "reserve", reserve, "stock.release.v1");
    if (!code)
        code = do_step(passage, "charge", charge, "card.refund.v1");
    if (!code)
        code = cairn_passage_log(passage, "info", "paid", NULL, NULL); /* see `cairn logs` */

    /* Neither holds a thread, nor even this process. */
    if (!code)
        code = cairn_passage_sleep(passage, "cool_off", 1000, NULL);
    if (!code)
        code = have_it_packed(passage);
    if (!code)
        code = cairn_passage_wait_event(passage, NULL, "parcel.packed", 60000, &parcel, NULL);

    if (!code)
        code = do_step(passage, "ship", ship, NULL);
    return code ? code : cairn_passage_set_output(passage, parcel, NULL);
}

/* ---- others, who may be elsewhere -----------------------------------------------------------
 */

/* What undoes a step is a task like any other: any worker may have it. */
static cairn_outcome undo(cairn_work *work, void *arg)
{
    (void)arg;
    printf("undo      %s %s\n", cairn_work_task(work)->type, cairn_work_task(work)->input);
    return CAIRN_COMPLETE;
}

/* The warehouse packs, and tells the order that waits for it. */
static cairn_outcome pack(cairn_work *work, void *arg)
{
    cairn_signal_options signal = CAIRN_SIGNAL_DEFAULTS;
    char order_id[64] = "";
    const char *found = strstr(cairn_work_task(work)->input, ": \"");
    if (found)
        sscanf(found, ": \"%63[^\"]", order_id);
    signal.instance_id = order_id;
    signal.event = "parcel.packed";
    signal.payload = "{\"parcel\": 1}";
    signal.id = cairn_work_task(work)->id; /* telling it twice is the same as once */
    cairn_code code = cairn_instance_signal(arg, &signal, NULL, NULL);
    return code == CAIRN_OK || code == CAIRN_E_WRONG_STATE ? CAIRN_COMPLETE : CAIRN_FAIL;
}

/* ---- the program ----------------------------------------------------------------------------
 */

static cairn_code make_worker(cairn_engine *engine, cairn_worker **ret_worker,
                              cairn_error *error)
{
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    cairn_function_options function = CAIRN_FUNCTION_DEFAULTS;
    options.lease_ms =
        2000; /* after a crash, what was being done is done again this much later */
    function.name = "order";
    function.run = order;
    cairn_code code = cairn_worker_new(engine, &options, ret_worker, error);
    if (!code)
        code = cairn_worker_function(*ret_worker, &function, error);
    if (!code)
        code = cairn_worker_handle(*ret_worker, "warehouse.pack.v1", pack, engine, error);
    if (!code)
        code = cairn_worker_handle(*ret_worker, "stock.release.v1", undo, NULL, error);
    if (!code)
        code = cairn_worker_handle(*ret_worker, "card.refund.v1", undo, NULL, error);
    return code;
}

static void *work(void *worker)
{
    cairn_error error;
    if (cairn_worker_run(worker, &error))
        fprintf(stderr, "function: the worker ended: %s\n", error.message);
    return NULL;
}

/* An order has a key: taking it twice is the same as once. */
static cairn_code take_order(cairn_engine *engine, const char *item, char ret_id[40],
                             cairn_error *error)
{
    char input[64];
    cairn_enqueued started;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    snprintf(input, sizeof input, "{\"item\": \"%s\"}", item);
    start.workflow = "order";
    start.input = input;
    start.key = item;
    cairn_code code = cairn_instance_start(engine, &start, &started, error);
    if (!code)
        memcpy(ret_id, started.id, sizeof started.id);
    return code;
}

static cairn_code await_end(cairn_engine *engine, const char *item, const char *id,
                            cairn_error *error)
{
    for (;;) {
        cairn_page *found;
        cairn_code code = cairn_instance_get(engine, id, &found, error);
        if (code)
            return code;
        const cairn_instance *instance = cairn_page_instance(found, 0);
        int is_over = instance->finished_at_us != 0;
        if (is_over)
            printf("%s: %s %s\n", item, instance->status,
                   instance->output ? instance->output : instance->last_error);
        cairn_page_free(found);
        if (is_over)
            return CAIRN_OK;
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    }
}

static cairn_code take_orders(cairn_engine *engine, cairn_error *error)
{
    char book[40], piano[40];
    cairn_code code = take_order(engine, "book", book, error);
    if (!code)
        code = take_order(engine, "piano", piano, error);
    if (!code)
        code = await_end(engine, "book", book, error);
    return code ? code : await_end(engine, "piano", piano, error);
}

int main(int argc, char **argv)
{
    cairn_engine *engine = NULL;
    cairn_worker *worker = NULL;
    cairn_error error;
    pthread_t thread;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = argc > 1 ? argv[1] : NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    cairn_code code = cairn_open(&open, &engine, &error);
    if (!code)
        code = make_worker(engine, &worker, &error);
    if (!code && pthread_create(&thread, NULL, work, worker) != 0) {
        fprintf(stderr, "function: could not start a thread\n");
        return 1;
    }
    if (!code) {
        code = take_orders(engine, &error);
        cairn_worker_stop(worker); /* its passages end at the next step, at no cost */
        pthread_join(thread, NULL);
    }
    cairn_worker_free(worker);
    cairn_close(engine);
    if (code)
        fprintf(stderr, "function: %s\n    %s\n    %s\n", error.message, error.detail,
                error.hint);
    return code ? 1 : 0;
}
